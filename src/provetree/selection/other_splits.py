"""The other splits of a node: for each column the best split on it, and what it costs, proven.

Below a split everything is best for its rows; the rest of the tree stays as it is. The searches are
those of :mod:`provetree.selection.runner_up`, one for each column.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from provetree.problem.node_problem import node_problem
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.selection.runner_up import (
    NodeSearch,
    cost_of_leaves,
    of_columns,
    splits_below,
    user_difference,
)
from provetree.solution import Engine, Status
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree

__all__ = ["OtherSplit", "other_splits"]

#: So many columns are searched once more.
_MOST_AGAIN = 8


@dataclass(frozen=True)
class OtherSplit:
    """The best split of a node on one column, with the best subtrees below it.

    Parameters
    ----------
    feature : int
        The column; -1 for a leaf in place of the node.
    tree : Tree or None
        A tree of this one split over the rows of the node; None where there is none: a leaf, or a
        column on which these rows cannot be divided.
    extra : int or float
        What the tree costs more with it than it costs now; below zero where it is better.
    extra_at_least : int or float
        A proven lower bound; equal to `extra` when it is proven.
    status : {"optimal", "time_limit", "interrupted"}
        Whether it is proven.
    """

    feature: int
    tree: Tree | None
    extra: float
    extra_at_least: float
    status: Status


def other_splits(
    tree: Tree,
    node: int,
    prepared: Prepared,
    *,
    engine: Engine,
    seconds: float,
    longer: float = 0.0,
    features: Collection[int] | None = None,
    only: int | None = None,
    is_best: bool = False,
) -> Iterator[OtherSplit]:
    """Yield a leaf and then the best split on each column, as soon as each is found.

    Columns that divide the rows well by one split come first. On large tables not all is proven in
    the `seconds` of each; the best of these columns are then searched once more for `longer`, and
    come again.

    Parameters
    ----------
    tree : Tree
        A tree of the prepared rows.
    node : int
        One of its nodes that has room below it.
    prepared : Prepared
        The training rows with the limits on the tree.
    engine : Engine
        What solves the subtrees.
    seconds, longer : float
        For each column, and for each of the best columns that are not proven by then.
    features : collection of int, default=None
        The columns that the splits, and those below them, may be about; None for all.
    only : int, default=None
        Look at this column alone.
    is_best : bool, default=False
        Whether the subtree of the node is proven the best one, so that nothing costs less.
    """
    rows = tree.decision_path(prepared.encoded).tocsc()
    here = rows.indices[rows.indptr[node] : rows.indptr[node + 1]]
    sizes = splits_below(tree)
    problem = node_problem(
        prepared,
        here,
        depth=prepared.problem.max_depth - int(tree.node_depth[node]),
        budget=prepared.problem.max_splits - (tree.n_splits - sizes[node]),
        keep_duplicates=True,
    )
    if features is not None:
        problem = of_columns(
            problem, [c for c, column in enumerate(problem.columns) if column.feature in features]
        )
    current = cost_of_leaves(tree, prepared, problem, here)
    current += problem.split_penalty * sizes[node]
    least = current if is_best and problem.weight_error == prepared.problem.weight_error == 0 else 0

    def told(search: NodeSearch, feature: int) -> OtherSplit:
        extra, bound = (user_difference(problem, x - current) for x in (search.cost, search.bound))
        return OtherSplit(feature, search.tree, extra, bound, search.status)

    everything: int | None = None

    def searched(feature: int, time_limit: float) -> OtherSplit:
        nonlocal everything
        search = NodeSearch(problem, engine, time.monotonic() + time_limit, time.monotonic)
        search.everything = everything
        stump = stumps[feature]
        start = (stump.cost(problem), stump.column, stump.rank)
        search.run_split(by_feature[feature], start, at_least=least)
        everything = search.everything
        return told(search, feature)

    if only is None:
        leaf = NodeSearch(problem, engine, time.monotonic() + seconds, time.monotonic)
        leaf.run([], at_least=least)
        yield told(leaf, -1)
    if problem.max_depth == 0 or problem.max_splits == 0:
        return
    by_feature = _by_feature(problem)
    stumps = {
        feature: stump
        for feature, columns in by_feature.items()
        if (only is None or feature == only)
        and (stump := _best_stump(problem, columns)).column >= 0  # else it divides no rows
    }
    unproven = []
    for feature in sorted(stumps, key=lambda feature: (stumps[feature].errors, feature)):
        if problem.max_depth == 1 or problem.max_splits == 1:
            extra = user_difference(problem, stumps[feature].cost(problem) - current)
            yield OtherSplit(feature, stumps[feature].tree(problem), extra, extra, "optimal")
            continue
        found = searched(feature, seconds)
        yield found
        if found.status != "optimal":
            unproven.append(found)
    if longer > seconds:
        for earlier in sorted(unproven, key=lambda found: found.extra)[:_MOST_AGAIN]:
            yield searched(earlier.feature, longer)


def _by_feature(problem: Problem) -> dict[int, list[int]]:
    """Return the ordered columns of each feature."""
    found: dict[int, list[int]] = {}
    for c, column in enumerate(problem.columns):
        found.setdefault(column.feature, []).append(c)
    return found


@dataclass(frozen=True)
class _Stump:
    """The best single split: its errors in whole units, its ordered column, its last rank."""

    errors: int
    column: int = -1
    rank: int = 0

    def cost(self, problem: Problem) -> int:
        return problem.error_scale * self.errors + problem.split_penalty

    def tree(self, problem: Problem) -> Tree:
        return build_tree(problem, [self.column, -1, -1], [self.rank, 0, 0])


def _best_stump(problem: Problem, columns: list[int]) -> _Stump:
    """Return the best split on some columns that leaves enough rows on both sides."""
    best = _Stump(problem.root_error + 1)
    for c in columns:
        ranks = problem.ranks[c]
        n_ranks = int(ranks.max()) + 1
        left = np.zeros((n_ranks, problem.n_classes), dtype=np.int64)
        np.add.at(left, (ranks, problem.classes), problem.weights)
        rows = np.cumsum(np.bincount(ranks, problem.counts, n_ranks))[:-1]
        totals = left.sum(axis=0)
        left = np.cumsum(left, axis=0)[:-1]
        errors = totals.sum() - left.max(axis=1) - (totals - left).max(axis=1)
        smaller = np.minimum(rows, problem.n_samples - rows)
        errors = np.where(smaller >= problem.min_samples_leaf, errors, problem.root_error + 1)
        if len(errors) and errors.min() < best.errors:
            best = _Stump(int(errors.min()), c, int(errors.argmin()))
    return best
