"""The tree of a table larger than memory, with a bound.

The rows are divided into blocks. A tree makes at least as many errors on a block as the best tree
of that block, so the sum over all blocks bounds every tree of the table. Trees of the blocks and of
a sample are counted on all rows; the best of them is improved on all rows (`moves`). The errors of
the tree are counted on all rows, exactly. The bound holds whatever the trees are.

Where rows merge once columns are divided into bins, all of them are searched at once as well
(`binned`): before the blocks, where bins lose nothing, else after them, where bins of a size that
rows still merge in can bring a better bound. The better of both bounds is kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.large.binned import bins_for, most_splits, search_on_bins
from provetree.large.moves import edges_of, moved
from provetree.large.passes import Reading, count_moves, count_trees, solve_blocks
from provetree.large.table import DaskTable, threads_at_hand
from provetree.number_types import Float
from provetree.problem.prepare import Prepared
from provetree.problem.problem import _least_rows
from provetree.search.engine import ExactSearch
from provetree.solution import Limits, Progress, Solution
from provetree.tree.tree import Tree
from provetree.tree.values import ClassTotals

__all__ = ["LargeSearch"]

#: Rows of a block, by the depth of trees: what is solved in some seconds. The larger, the better
#: the bound.
_BLOCK = {0: 80_000, 1: 80_000, 2: 80_000, 3: 20_000}
_DEEP_BLOCK = 5_000
#: Trees that are counted on all rows, and passes over the rows that improve the tree, at most.
_TRIED, _ROUNDS = 8, 3
#: The parts of a time limit that have passed when the tree of the sample, a search on bins that
#: lose nothing, the blocks, a search on other bins and the moves are over, at the latest.
_SAMPLE_SHARE, _EXACT_SHARE, _BLOCK_SHARE, _BINNED_SHARE, _MOVES_SHARE = 0.1, 0.3, 0.6, 0.8, 0.9
#: Seconds for the tree of the sample and for a search on bins, where there is no limit: blocks end
#: by themselves, and these may not.
_SAMPLE_SECONDS, _BINNED_SECONDS = 60.0, 600.0


@dataclass(frozen=True)
class _Counted:
    """A tree with its class totals and rows on the whole table."""

    tree: Tree
    cost: float


class LargeSearch:
    """One search of a table of Dask, step by step.

    Parameters
    ----------
    table : DaskTable
        The parts.
    sizes : list of int
        Their rows.
    prepared : Prepared
        The sample, and how all rows are read.
    limits : dict
        Depth, leaves and least leaf size, as ``build_problem`` takes them.
    seconds : float or None
        The time limit.
    n_jobs : int or None
        Threads, where there is no client.
    most_merged : int
        Rows that can be searched in memory.
    whole_weights : bool
        Whether all weights are whole numbers.
    on_progress : callable, optional
        Called with cost and bound whenever one of them changes.
    """

    def __init__(
        self,
        table: DaskTable,
        sizes: list[int],
        prepared: Prepared,
        limits: dict[str, Any],
        seconds: float | None,
        *,
        n_jobs: int | None,
        most_merged: int,
        whole_weights: bool,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._began = time.perf_counter()
        self._table, self._sizes, self._prepared, self._n_jobs = table, sizes, prepared, n_jobs
        self._seconds, self._most_merged, self._whole = seconds, most_merged, whole_weights
        self._limits = {name: x for name, x in limits.items() if name != "min_samples_leaf"}
        self._least = limits["min_samples_leaf"]
        self._reading = Reading(prepared.encoder, prepared.classes)
        self._on_progress = on_progress
        self._history: list[Progress] = []
        self._counters = {"rows": sum(sizes), "partitions": len(sizes)}
        self._bound = 0.0
        self._best = self._best_of([self._tree_of_sample()])

    def run(self) -> Solution:
        """Do all steps that can help, and return what they have found."""
        self._tell()
        self._search_bins(exact=True)
        if not self._proven:
            self._solve_blocks()
            self._search_bins(exact=False)
        self._move_splits()
        cost, bound = _as_whole(self._best.cost), _as_whole(self._bound)
        return Solution(
            tree=self._best.tree,
            cost=cost,
            lower_bound=bound,
            status="optimal" if self._proven else "feasible",
            history=tuple(self._history),
            counters=self._counters,
        )

    @property
    def _proven(self) -> bool:
        # Sums of other weights may round, and a proof must not.
        return self._whole and self._bound >= self._best.cost

    def _left(self, share: float) -> float | None:
        """Return the seconds until a part of the time limit has passed; None without a limit."""
        if self._seconds is None:
            return None
        return share * self._seconds - (time.perf_counter() - self._began)

    def _tell(self) -> None:
        now = Progress(time.perf_counter() - self._began, self._best.cost, self._bound)
        self._history.append(now)
        if self._on_progress is not None:
            self._on_progress(now)

    def _keep(self, bound: float, trees: list[Tree]) -> None:
        """Keep a bound that is better, and the best of some trees."""
        if trees:
            self._best = self._best_of([self._best.tree, *trees])
        # A bound of whole errors can be rounded up; sums of other weights may have rounded.
        bound = math.ceil(bound - 1e-6) if self._whole else bound
        self._bound = min(self._best.cost, max(self._bound, bound))
        self._tell()

    def _tree_of_sample(self) -> Tree:
        left = self._left(_SAMPLE_SHARE)
        seconds = _SAMPLE_SECONDS if left is None else max(left, 1e-3)
        problem = replace(self._prepared.problem, min_samples_leaf=1)
        return ExactSearch().solve(problem, Limits(seconds)).tree

    def _search_bins(self, *, exact: bool) -> None:
        """Search all rows on bins, where that can bring a better bound."""
        left = self._left(_EXACT_SHARE if exact else _BINNED_SHARE)
        seconds = _BINNED_SECONDS if left is None else left
        if not self._whole or seconds <= 0:
            return
        splits = most_splits(self._limits)
        weight = float(self._best.tree.value[self._best.tree.feature < 0].sum())
        gap = None if exact else self._best.cost - self._bound
        n_bins = bins_for(self._prepared, splits, weight, gap)
        if n_bins is None or ("merged_rows" in self._counters and not exact):
            return
        found = search_on_bins(
            self._table,
            self._reading,
            self._limits,
            n_bins,
            most_rows=self._most_merged,
            until=time.perf_counter() + seconds,
            n_jobs=self._n_jobs,
            exact=exact,
        )
        if found is None:
            return
        self._counters["merged_rows"] = found.n_rows
        self._counters["rerouted"] = math.floor(found.rerouted)
        self._keep(found.bound, [found.tree])

    def _solve_blocks(self) -> None:
        most = _BLOCK.get(self._limits["max_depth"], _DEEP_BLOCK)
        each, left = None, self._left(_BLOCK_SHARE)
        if left is not None:
            groups = max(1, min(len(self._sizes), sum(self._sizes) // most))
            at_once = min(groups, threads_at_hand(self._n_jobs))
            each = max(0.01, left * at_once / groups)
        solved = self._table.groups(
            self._sizes,
            most,
            solve_blocks,
            self._reading,
            self._limits,
            most,
            each,
            n_jobs=self._n_jobs,
        )
        self._counters["blocks"] = sum(one.n_blocks for one in solved)
        self._counters["blocks_proven"] = sum(one.proven for one in solved)
        trees = self._promising([tree for one in solved for tree in one.trees])
        self._keep(math.fsum(one.bound for one in solved), trees)

    def _promising(self, trees: list[Tree]) -> list[Tree]:
        """Return the trees that are best on the sample."""
        prepared = self._prepared
        weights = np.ones(len(prepared.codes)) if prepared.weights is None else prepared.weights
        sample = _costs_on_sample(prepared, weights, trees)
        order = np.argsort(sample, kind="stable")[:_TRIED]
        return [trees[i] for i in order]

    def _move_splits(self) -> None:
        """Improve the tree on all rows."""
        for _ in range(_ROUNDS):
            left = self._left(_MOVES_SHARE)
            if self._proven or (left is not None and left <= 0):
                return
            tree = self._best.tree
            edges = edges_of(tree, self._prepared)
            parts = self._table.each(count_moves, self._reading, tree, edges, n_jobs=self._n_jobs)
            better = moved(tree, edges, parts)
            if better is None:
                return
            before = self._best.cost
            self._keep(self._bound, [better])
            if self._best.cost >= before:
                return

    def _best_of(self, trees: list[Tree]) -> _Counted:
        """Count trees on all rows, and return the best that keeps to the least leaf size."""
        single = trees[0]
        leaf = Tree(
            feature=[-1],
            threshold=[0.0],
            value=np.ones((1, len(self._reading.classes))),
            n_samples=[1],
            n_features=single.n_features,
            feature_names=single.feature_names,
            class_names=single.class_names,
            categories=single.categories,
        )
        trees = [*trees, leaf]
        parts = self._table.each(count_trees, self._reading, trees, n_jobs=self._n_jobs)
        best: _Counted | None = None
        for i, tree in enumerate(trees):
            totals = np.sum([part[i][0] for part in parts], axis=0)
            counts = np.sum([part[i][1] for part in parts], axis=0)
            leaves = tree.feature < 0
            if (
                i < len(trees) - 1
                and (counts[leaves] < _least_rows(self._least, int(counts.sum()))).any()
            ):
                continue
            cost = float(totals.sum() - totals[leaves].max(axis=1).sum())
            if best is None or cost < best.cost:
                best = _Counted(_with_totals(tree, totals, counts), cost)
        assert best is not None
        return best


def _costs_on_sample(prepared: Prepared, weights: Float, trees: list[Tree]) -> Float:
    """Return what trees cost on the sample."""
    k = len(prepared.classes)
    costs = []
    for tree in trees:
        leaves = tree.apply(prepared.encoded)
        totals = np.bincount(leaves * k + prepared.codes, weights, minlength=tree.n_nodes * k)
        costs.append(weights.sum() - totals.reshape(-1, k).max(axis=1).sum())
    return np.array(costs)


def _with_totals(tree: Tree, totals: Float, counts: NDArray[np.int64]) -> Tree:
    """Return the tree with what its nodes have on all rows; children come after their parents."""
    totals, counts = totals.copy(), counts.copy()
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.feature[node] >= 0:
            sides = [int(tree.left[node]), int(tree.right[node])]
            totals[node], counts[node] = totals[sides].sum(axis=0), counts[sides].sum()
    return tree.replaced(value=ClassTotals(totals), n_samples=counts, label=None)


def _as_whole(cost: float) -> float:
    return int(cost) if float(cost).is_integer() else cost
