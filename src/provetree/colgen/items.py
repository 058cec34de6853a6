"""Items: merged rows that follow the candidate tree together.

Rows that take the same branch at every candidate of every node they can reach follow the same
paths whatever tree is chosen (step 5 of Patel et al.), so they are merged. An item knows how much
of each *kind* it holds; a kind is a class or, with groups, a class and a group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.colgen.candidates import CandidateSet
from provetree.number_types import Bool, Int
from provetree.problem.problem import Problem


@dataclass(eq=False)
class Items:
    """The rows of a problem as items of a candidate problem.

    ``core`` is the candidate problem in the core; unlabelled rows of cuts are added to it later.
    ``weights`` (items x kinds) is the weight of each kind in each item, ``counts`` the table rows
    behind each item; 0 for unlabelled rows.
    """

    candidates: CandidateSet
    core: _core.colgen.CandidateProblem
    weights: Int
    counts: Int
    kind_class: NDArray[np.intp]
    kind_group: NDArray[np.intp]

    @property
    def n_items(self) -> int:
        """Number of items, unlabelled rows included."""
        return len(self.counts)

    def add_unlabelled(self, buckets: NDArray[np.uint16]) -> int:
        """Add rows without class and weight; return the number of the first."""
        first = int(self.core.add_items(np.ascontiguousarray(buckets, dtype=np.uint16)))
        more = len(buckets)
        empty = np.zeros((more, self.weights.shape[1]), dtype=np.int64)
        self.weights = np.concatenate([self.weights, empty])
        self.counts = np.concatenate([self.counts, np.zeros(more, dtype=np.int64)])
        return first


def row_buckets(problem: Problem, candidates: CandidateSet) -> NDArray[np.uint16]:
    """Return for each row and group how many of the group's candidates send the row right."""
    buckets = np.zeros((problem.n_rows, len(candidates.groups)), dtype=np.uint16)
    for g, (_, column, ranks) in enumerate(candidates.groups):
        if column >= 0:
            buckets[:, g] = np.searchsorted(np.array(ranks), problem.ranks[column], side="left")
    return buckets


def reachable_groups(candidates: CandidateSet, buckets: NDArray[np.uint16]) -> Bool:
    """Tell for each row and group whether the row can reach the group's node."""
    n_rows = len(buckets)
    sizes = np.array(candidates.group_sizes)
    node_of = np.array([j for j, _, _ in candidates.groups])
    reach = np.zeros((n_rows, 2 * candidates.n_nodes + 1), dtype=np.bool_)
    reach[:, 0] = True
    for j in range(candidates.n_nodes):
        of_node = node_of == j
        goes_left = (buckets[:, of_node] < sizes[of_node]).any(axis=1)
        goes_right = (buckets[:, of_node] > 0).any(axis=1)
        reach[:, 2 * j + 1] = reach[:, j] & goes_left
        reach[:, 2 * j + 2] = reach[:, j] & goes_right
    return reach[:, node_of]


def build_items(
    problem: Problem,
    candidates: CandidateSet,
    *,
    merge: bool = True,
    group_weights: Int | None = None,
) -> Items:
    """Make the items of a problem; without `merge` every row is one.

    `group_weights` (rows x groups) is how much of each row's weight belongs to each group.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.colgen.candidates import CandidateSet
    >>> problem = build_problem(np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 1, 0]),
    ...                         n_classes=2, max_depth=1)
    >>> build_items(problem, CandidateSet.of(1, [[(0, 1), (0, 3)]])).weights.tolist()
    [[2, 0], [0, 2], [1, 1]]
    """
    buckets = row_buckets(problem, candidates)
    n_groups = 1 if group_weights is None else group_weights.shape[1]
    shares = problem.weights[:, None] if group_weights is None else group_weights
    n_kinds = problem.n_classes * n_groups
    weights = np.zeros((problem.n_rows, n_kinds), dtype=np.int64)
    rows = np.arange(problem.n_rows)
    for g in range(n_groups):
        weights[rows, problem.classes * n_groups + g] = shares[:, g]
    counts = problem.counts
    if merge:
        seen = np.where(reachable_groups(candidates, buckets), buckets, np.uint16(65535))
        keys = np.ascontiguousarray(seen).view(f"V{2 * seen.shape[1]}").ravel()
        _, first, item = np.unique(keys, return_index=True, return_inverse=True)
        item = item.reshape(-1)
        merged = np.zeros((len(first), n_kinds), dtype=np.int64)
        np.add.at(merged, item, weights)
        merged_counts = np.zeros(len(first), dtype=np.int64)
        np.add.at(merged_counts, item, counts)
        buckets, weights, counts = buckets[first], merged, merged_counts
    core = _core.colgen.CandidateProblem(
        candidates.depth, list(candidates.groups_per_node), list(candidates.group_sizes)
    )
    core.add_items(np.ascontiguousarray(buckets))
    kinds = np.arange(n_kinds)
    return Items(candidates, core, weights, counts.copy(), kinds // n_groups, kinds % n_groups)
