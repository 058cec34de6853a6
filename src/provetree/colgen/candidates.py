"""Candidate splits: which splits each node of the complete tree may choose from.

The papers sample them with CART on random parts of the table; quantiles of the columns, all
splits, or the user's own sets are other sources. Nodes are numbered as in a heap: the root is 0,
the children of j are 2j + 1 and 2j + 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from provetree import _core
from provetree.number_types import Int, Int32
from provetree.options import thread_count
from provetree.problem.problem import Problem

#: (column, rank): rows of at most this rank in the ordered column go left.
Split: TypeAlias = tuple[int, int]

#: The split of a node without others: all rows go left, and the node is removed from the tree.
PASS: Split = (-1, 0)

#: The papers keep 150 / nodes splits of the root and 100 / nodes of every other node.
ROOT_SPLITS = 150
NODE_SPLITS = 100
#: CART runs of the papers' threshold sampling, and the share of the rows in each.
SAMPLE_RUNS = 300
SAMPLE_SHARE = 0.9
#: Limit on runs: Algorithm 1 never stops on tables whose root splits all differ.
MOST_SAMPLE_RUNS = 20_000
#: Runs between two checks of the time.
_SAMPLES_AT_ONCE = 25
#: Thresholds of a column that a node can choose from.
_MOST_THRESHOLDS = 65_535
#: Categories that a message lists.
_MOST_SHOWN = 10


@dataclass(frozen=True, eq=False)
class CandidateSet:
    """The sorted candidate splits of every node of a complete tree.

    A node has at least one: :data:`PASS` where nothing else is known.

    Examples
    --------
    >>> candidates = CandidateSet.of(1, [[(0, 3), (0, 1), (2, 0)]])
    >>> candidates.splits, candidates.n_paths, candidates.group_sizes
    ((((0, 1), (0, 3), (2, 0)),), 6, (2, 1))
    """

    depth: int
    splits: tuple[tuple[Split, ...], ...]

    @classmethod
    def of(
        cls, depth: int, splits: Sequence[Iterable[Split]], *, with_pass: bool = False
    ) -> CandidateSet:
        """Sort the splits of each node; nodes without one get :data:`PASS`.

        With `with_pass` every node gets it, so that smaller trees are candidates too.
        """
        if len(splits) != 2**depth - 1:
            raise ValueError(
                f"A tree of depth {depth} has {2**depth - 1} nodes with candidate splits. "
                f"Got sets for {len(splits)}."
            )
        sets = [{(int(c), int(k)) for c, k in node} for node in splits]
        return cls(
            depth, tuple(tuple(sorted(s | {PASS} if with_pass or not s else s)) for s in sets)
        )

    @property
    def n_nodes(self) -> int:
        """Number of nodes that split."""
        return len(self.splits)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of the complete tree."""
        return int(2**self.depth)

    @cached_property
    def sizes(self) -> Int32:
        """Number of candidates of each node."""
        return np.array([len(node) for node in self.splits], dtype=np.int32)

    @cached_property
    def offsets(self) -> Int:
        """Where the candidates of each node begin in a list of all."""
        return np.concatenate([[0], np.cumsum(self.sizes)])

    @cached_property
    def path_nodes(self) -> Int32:
        """The nodes on the way to each leaf, shape (leaves, depth)."""
        leaf = np.arange(self.n_leaves)[:, None]
        level = np.arange(self.depth)[None, :]
        return ((1 << level) - 1 + (leaf >> (self.depth - level))).astype(np.int32)

    @cached_property
    def link_starts(self) -> Int:
        """Where the (1d) constraints of each leaf and level begin, shape (leaves, depth)."""
        sizes = self.sizes[self.path_nodes]
        return (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)

    @property
    def n_paths(self) -> int:
        """Number of paths: ways to choose the splits on the way to each leaf."""
        return sum(int(np.prod(self.sizes[nodes].astype(object))) for nodes in self.path_nodes)

    @cached_property
    def groups(self) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
        """(node, column, ranks) of the candidates of each node that share a column."""
        found: list[tuple[int, int, tuple[int, ...]]] = []
        for j, node in enumerate(self.splits):
            for column in sorted({c for c, _ in node}):
                found.append((j, column, tuple(k for c, k in node if c == column)))
        return tuple(found)

    @property
    def group_sizes(self) -> tuple[int, ...]:
        """Number of candidates in each group."""
        return tuple(len(ranks) for _, _, ranks in self.groups)

    @property
    def groups_per_node(self) -> tuple[int, ...]:
        """Number of groups of each node."""
        count = Counter(j for j, _, _ in self.groups)
        return tuple(count[j] for j in range(self.n_nodes))

    def place(self, node: int, split: Split) -> int:
        """Return the index of a split among the candidates of a node, -1 if it is not one."""
        return self._places[node].get(split, -1)

    @cached_property
    def _places(self) -> tuple[dict[Split, int], ...]:
        return tuple({split: a for a, split in enumerate(node)} for node in self.splits)


@dataclass(frozen=True, eq=False)
class SampledTrees:
    """Trees of CART runs: column and rank of each node in heap order, -1 where a node is a leaf."""

    column: Int32
    rank: Int32

    def __len__(self) -> int:
        return len(self.column)

    def splits(self, tree: int) -> list[Split | None]:
        """Return the split of each node of one tree."""
        return [
            None if c < 0 else (int(c), int(k))
            for c, k in zip(self.column[tree], self.rank[tree], strict=True)
        ]


def run_cart(
    problem: Problem, n_trees: int, share: float, seed: int, first: int = 0, n_jobs: int | None = 1
) -> SampledTrees:
    """Run CART (Gini) on random parts of the rows, drawn without replacement.

    Run number i depends on the seed and on ``first + i`` only.

    Examples
    --------
    >>> from provetree import build_problem
    >>> X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 1, 1, 1, 1, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1)
    >>> run_cart(problem, 1, 1.0, seed=0).splits(0)
    [(0, 2)]
    """
    column, rank = _core.colgen.sample_trees(
        problem.table,
        depth=problem.max_depth,
        share=share,
        seed=seed,
        first=first,
        n_trees=n_trees,
        threads=thread_count(n_jobs),
    )
    shape = (n_trees, 2**problem.max_depth - 1)
    return SampledTrees(column.reshape(shape), rank.reshape(shape))


def papers_q(depth: int, factor: float = 1.0) -> tuple[int, int]:
    """Return how many splits the papers keep at the root and at every other node.

    Examples
    --------
    >>> papers_q(4), papers_q(4, factor=10)
    ((10, 6), (100, 66))
    """
    nodes = 2**depth - 1
    return max(1, int(factor * ROOT_SPLITS / nodes)), max(1, int(factor * NODE_SPLITS / nodes))


def sampled_candidates(
    problem: Problem,
    full_tree: SampledTrees,
    *,
    seed: int,
    runs: int = SAMPLE_RUNS,
    share: float = SAMPLE_SHARE,
    until_root_settles: bool = False,
    factor: float = 1.0,
    with_pass: bool = False,
    n_jobs: int | None = 1,
    keep_going: Callable[[], bool] | None = None,
) -> CandidateSet:
    """Sample candidate splits with CART, as the papers do (Algorithm 1 of Firat et al.).

    The splits of `full_tree`, CART on all rows, are candidates in any case. With
    `until_root_settles` sampling ends after so many runs in a row without a new split of the root,
    or when `keep_going`, asked now and then, says no. `factor` is the multiple of the papers'
    number of splits to keep.
    """
    nodes = 2**problem.max_depth - 1
    frequency: list[Counter[Split]] = [Counter() for _ in range(nodes)]
    roots: set[Split | None] = set()
    quiet, done = 0, 0
    while (quiet if until_root_settles else done) < runs and done < MOST_SAMPLE_RUNS:
        if keep_going is not None and not keep_going():
            break
        n_trees = _SAMPLES_AT_ONCE if until_root_settles else min(_SAMPLES_AT_ONCE, runs - done)
        trees = run_cart(problem, n_trees, share, seed, done, n_jobs)
        for tree in range(n_trees):
            splits = trees.splits(tree)
            quiet = quiet + 1 if splits[0] in roots else 0
            roots.add(splits[0])
            for j, split in enumerate(splits):
                if split is not None:
                    frequency[j][split] += 1
            done += 1
            if until_root_settles and quiet >= runs:
                break

    at_root, elsewhere = papers_q(problem.max_depth, factor)
    kept: list[set[Split]] = []
    for j, counter in enumerate(frequency):
        # Equally frequent splits are ordered by column and rank.
        order = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
        kept.append({split for split, _ in order[: at_root if j == 0 else elsewhere]})
    for splits_of_node, split in zip(kept, full_tree.splits(0), strict=True):
        splits_of_node.update(() if split is None else (split,))
    return CandidateSet.of(problem.max_depth, kept, with_pass=with_pass)


def quantile_candidates(
    problem: Problem, full_tree: SampledTrees, *, per_column: int, with_pass: bool = False
) -> CandidateSet:
    """Take quantiles of every column as the candidates of every node, and CART's splits.

    Examples
    --------
    >>> from provetree import build_problem
    >>> X, y = np.arange(12.0)[:, None], np.array([0, 1] * 6)
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1)
    >>> cart = run_cart(problem, 1, 1.0, seed=0)
    >>> quantile_candidates(problem, cart, per_column=2).sizes.tolist()
    [3]
    """
    splits: set[Split] = set()
    total = int(problem.counts.sum())
    for c, column in enumerate(problem.columns):
        at_rank = np.bincount(problem.ranks[c], problem.counts, len(column.values))
        below = np.cumsum(at_rank)[:-1]  # rows left of each threshold
        wanted = total * np.arange(1, per_column + 1) / (per_column + 1)
        for place in np.clip(np.searchsorted(below, wanted), 0, len(below) - 1).tolist():
            splits.add((c, place))
    kept = [set(splits) for _ in range(2**problem.max_depth - 1)]
    for splits_of_node, split in zip(kept, full_tree.splits(0), strict=True):
        splits_of_node.update(() if split is None else (split,))
    return CandidateSet.of(problem.max_depth, kept, with_pass=with_pass)


def all_candidates(problem: Problem) -> CandidateSet:
    """Take every split of every column at every node: the proof is then one for all trees.

    Examples
    --------
    >>> from provetree import build_problem
    >>> X, y = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> all_candidates(build_problem(X, y, n_classes=2, max_depth=1)).splits
    (((-1, 0), (0, 0), (0, 1), (0, 2)),)
    """
    most = max((len(column.values) - 1 for column in problem.columns), default=0)
    if most > _MOST_THRESHOLDS:
        raise ValueError(
            f"candidates='all' needs columns with at most {_MOST_THRESHOLDS} thresholds. "
            f"Got one with {most}."
        )
    splits = [(c, k) for c, col in enumerate(problem.columns) for k in range(len(col.values) - 1)]
    every_node = [splits] * (2**problem.max_depth - 1)
    return CandidateSet.of(problem.max_depth, every_node, with_pass=True)


def covers_all_trees(problem: Problem, candidates: CandidateSet) -> bool:
    """Tell whether every tree of the problem can be made of the candidates."""
    n_splits = sum(len(column.values) - 1 for column in problem.columns)
    if problem.max_depth > 0 and int(candidates.sizes.min()) < n_splits:
        return False  # too few; to list all splits of a large table takes seconds
    every = all_candidates(problem).splits[0] if problem.max_depth > 0 else ()
    return all(set(every) <= set(node) for node in candidates.splits)


def given_candidates(
    problem: Problem,
    given: Mapping[object, Iterable[tuple[object, float]]] | Iterable[tuple[object, float]],
    *,
    with_pass: bool = False,
) -> CandidateSet:
    """Read the user's own split sets.

    They are pairs ``(feature, threshold)`` for every node, or a mapping from nodes to their pairs;
    nodes that it leaves out do not split. A feature is named by its position or its name. For a
    category feature the threshold is the category that goes left. The problem must be built with
    ``keep_duplicates=True``: a split of a column that was left out because another offers the same
    splits is no candidate.

    Examples
    --------
    >>> from provetree import build_problem
    >>> problem = build_problem(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), n_classes=2,
    ...                         max_depth=1)
    >>> given_candidates(problem, [(0, 1.5), (0, 1.7), (0, 2.5)]).splits
    (((0, 1), (0, 2)),)
    """
    nodes = 2**problem.max_depth - 1
    sets: list[set[Split]] = [set() for _ in range(nodes)]
    by_node = given if isinstance(given, Mapping) else dict.fromkeys(range(nodes), tuple(given))
    for node, splits in by_node.items():
        if not _is_index(node) or not 0 <= node < nodes:
            raise ValueError(
                f"The 'candidates' must name nodes from 0 to {nodes - 1} (a tree of depth "
                f"{problem.max_depth}). Got {node!r} instead."
            )
        if isinstance(splits, str) or not isinstance(splits, Iterable):
            raise ValueError(
                f"The 'candidates' must give each node a collection of pairs (feature, threshold). "
                f"Got {splits!r} for node {node} instead."
            )
        for entry in splits:
            sets[int(node)].update(_ordered_splits(problem, entry))
    return CandidateSet.of(problem.max_depth, sets, with_pass=with_pass)


def _ordered_splits(problem: Problem, entry: Any) -> list[Split]:
    """Return the ordered-column splits behind ``(feature, threshold)``: two with missing values."""
    try:
        name, threshold = entry
    except (TypeError, ValueError):
        raise ValueError(
            f"The 'candidates' must hold pairs (feature, threshold). Got {entry!r} instead."
        ) from None
    feature = _feature(problem, name)
    found: list[Split] = []
    levels = problem.categories[feature]
    if levels is not None and threshold not in levels:
        shown = ", ".join(map(repr, levels[:_MOST_SHOWN])) + ", ..." * (len(levels) > _MOST_SHOWN)
        raise ValueError(
            f"The 'candidates' must name a category of feature {name!r} as its threshold: {shown}. "
            f"Got {threshold!r} instead."
        )
    for c, column in enumerate(problem.columns):
        if column.feature != feature:
            continue
        if column.kind == "category":
            known = levels is not None and column.category < len(levels)
            if levels is not None and known and levels[column.category] == threshold:
                found.append((c, 0))
            continue
        number = _number(threshold)
        values = column.values
        first = 1 if column.kind == "missing_first" else 0
        last = len(values) - (column.kind == "missing_last")
        rank = first + int(np.searchsorted(values[first:last], number, side="right")) - 1
        if 0 <= rank < len(values) - 1:
            found.append((c, rank))
    return found


def _is_index(value: object) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _feature(problem: Problem, name: object) -> int:
    """Return the position of the feature that the user names."""
    if _is_index(name) and 0 <= name < problem.n_features:
        return int(name)
    names = problem.feature_names or ()
    same = names.count(name) if isinstance(name, str) else 0
    if same > 1:
        raise ValueError(
            f"The 'candidates' must name one feature. Got {name!r}, the name of {same} columns: "
            "give the position instead."
        )
    if same == 0:
        raise ValueError(
            f"The 'candidates' must name features of the table: a position from 0 to "
            f"{problem.n_features - 1} or a column name. Got {name!r} instead."
        )
    return names.index(str(name))


def _number(threshold: object) -> float:
    try:
        number = float(threshold)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = np.nan
    if np.isnan(number):
        raise ValueError(
            f"The 'candidates' must give numbers as thresholds. Got {threshold!r} instead."
        )
    return number
