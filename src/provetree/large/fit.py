"""The tree of a table larger than memory, with a bound.

The rows are divided into blocks. A tree makes at least as many errors on a block as the best tree
of that block, so the sum over all blocks bounds every tree of the table. Trees of the blocks and of
a sample are counted on all rows; the best of them is improved on all rows: each split may move to
another column and threshold while the subtrees below it stay, judged by counts per column and bin.
The errors of the tree are counted on all rows, exactly. The bound holds whatever the trees are.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.large.passes import Look, Reading, count_moves, count_trees, look_at, solve_blocks
from provetree.large.table import DaskTable
from provetree.number_types import Float
from provetree.problem.prepare import Prepared
from provetree.problem.problem import _least_rows
from provetree.search.engine import ExactSearch
from provetree.solution import Limits, Progress, Solution
from provetree.tree.tree import Tree
from provetree.tree.values import ClassTotals

__all__ = ["LargeTable"]

#: Rows of all samples together.
_SAMPLE = 200_000
#: Rows of a block, by the depth of trees: what is solved in some seconds. The larger, the better
#: the bound.
_BLOCK = {0: 80_000, 1: 80_000, 2: 80_000, 3: 20_000}
_DEEP_BLOCK = 5_000
#: Trees that are counted on all rows, and bins of a column for moving splits.
_TRIED, _BINS = 8, 2_000
#: Passes over the rows that improve the tree, at most.
_ROUNDS = 3
#: The part of a time limit for blocks.
_BLOCK_SHARE = 0.6
#: Bytes for each cell of a table that is searched in memory.
BYTES_PER_CELL = 40
#: Tables up to this many bytes are searched in memory, where no other limit is given.
IN_MEMORY = 2 * 2**30


@dataclass(frozen=True)
class _Counted:
    """A tree with its class totals and rows on the whole table."""

    tree: Tree
    cost: float


class LargeTable:
    """A table of Dask that was looked over: how it is read, how many rows it has, a sample.

    Parameters
    ----------
    table : DaskTable
        The parts.
    n_jobs : int or None
        Threads, where there is no client.
    owner : str
        Who asks, for messages.
    """

    def __init__(self, table: DaskTable, n_jobs: int | None, owner: str) -> None:
        self._table, self._n_jobs = table, n_jobs
        most = max(100, _SAMPLE // max(1, len(table.parts)))
        looks: list[Look] = table.each(look_at, most, n_jobs=n_jobs)
        _check(looks, owner)
        self._sizes = [look.n_rows for look in looks]
        self.n_rows = sum(self._sizes)
        seen = [look for look in looks if look.n_rows]
        self.sample = _joined([look.sample for look in seen])
        self._whole = all(look.whole for look in looks)
        self.labels = np.concatenate([look.labels for look in seen])
        weights = [look.weights for look in seen if look.weights is not None]
        self.weights: Float | None = np.concatenate(weights) if weights else None

    @property
    def n_bytes(self) -> int:
        """What a search of all rows in memory would take, about."""
        return self.n_rows * self._table.n_columns * BYTES_PER_CELL

    def whole(self) -> tuple[Any, NDArray[Any], Float | None]:
        """Return all rows, labels and weights, in memory."""
        parts = self._table.each(_same, n_jobs=self._n_jobs)
        kept = [part for part in parts if len(part[1])]
        weights = [w for _, _, w in kept]
        return (
            _joined([X for X, _, _ in kept]),
            np.concatenate([np.asarray(y).ravel() for _, y, _ in kept]),
            None if weights[0] is None else np.concatenate([np.asarray(w) for w in weights]),
        )

    def solve(
        self,
        prepared: Prepared,
        limits: dict[str, Any],
        seconds: float | None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Solution:
        """Return the best tree found and a bound for all trees; `prepared` is of the sample."""
        began = time.perf_counter()
        reading = Reading(prepared.encoder, prepared.classes)
        least = limits.pop("min_samples_leaf")
        history: list[Progress] = []

        def tell(cost: float, bound: float) -> None:
            history.append(Progress(time.perf_counter() - began, cost, min(cost, bound)))
            if on_progress is not None:
                on_progress(history[-1])

        first = self._tree_of_sample(prepared, limits, None if seconds is None else seconds / 10)
        best = self._best_of([first], reading, least)
        tell(best.cost, 0.0)
        solved = self._solve_blocks(reading, limits, seconds, began)
        bound = math.fsum(one.bound for one in solved)
        trees = [tree for one in solved for tree in one.trees]
        best = self._best_of([best.tree, *self._promising(trees, prepared)], reading, least)
        tell(best.cost, bound)
        for _ in range(_ROUNDS):
            if seconds is not None and time.perf_counter() - began > 0.9 * seconds:
                break
            moved = self._moved(best, reading, prepared)
            better = None if moved is None else self._best_of([moved], reading, least)
            if better is None or better.cost >= best.cost:
                break
            best = better
            tell(best.cost, bound)
        cost, bound = _as_whole(best.cost), _as_whole(min(bound, best.cost))
        return Solution(
            tree=best.tree,
            cost=cost,
            lower_bound=bound,
            # Sums of other weights may round, and a proof must not.
            status="optimal" if bound >= cost and self._whole else "feasible",
            history=tuple(history),
            counters={
                "rows": self.n_rows,
                "partitions": len(self._sizes),
                "blocks": sum(one.n_blocks for one in solved),
                "blocks_proven": sum(one.proven for one in solved),
            },
        )

    def _tree_of_sample(
        self, prepared: Prepared, limits: dict[str, Any], seconds: float | None
    ) -> Tree:
        limited = replace(prepared.problem, min_samples_leaf=1)
        return ExactSearch().solve(limited, Limits(60.0 if seconds is None else seconds)).tree

    def _solve_blocks(
        self, reading: Reading, limits: dict[str, Any], seconds: float | None, began: float
    ) -> list[Any]:
        most = _BLOCK.get(limits["max_depth"], _DEEP_BLOCK)
        each = None
        if seconds is not None:
            from provetree.options import thread_count

            left = _BLOCK_SHARE * seconds - (time.perf_counter() - began)
            groups = max(1, min(len(self._sizes), self.n_rows // most))
            each = max(0.01, left * thread_count(self._n_jobs) / groups)
        return self._table.groups(
            self._sizes, most, solve_blocks, reading, limits, most, each, n_jobs=self._n_jobs
        )

    def _promising(self, trees: list[Tree], prepared: Prepared) -> list[Tree]:
        """Return the trees that are best on the sample."""
        weights = np.ones(len(prepared.codes)) if prepared.weights is None else prepared.weights
        sample = count_trees_on(prepared, weights, trees)
        order = np.argsort(sample, kind="stable")[:_TRIED]
        return [trees[i] for i in order]

    def _best_of(self, trees: list[Tree], reading: Reading, least: int | float) -> _Counted:
        """Count trees on all rows, and return the best that keeps to the least leaf size."""
        single = trees[0]
        leaf = Tree(
            feature=[-1],
            threshold=[0.0],
            value=np.ones((1, len(reading.classes))),
            n_samples=[1],
            n_features=single.n_features,
            feature_names=single.feature_names,
            class_names=single.class_names,
            categories=single.categories,
        )
        trees = [*trees, leaf]
        parts = self._table.each(count_trees, reading, trees, n_jobs=self._n_jobs)
        best: _Counted | None = None
        for i, tree in enumerate(trees):
            totals = np.sum([part[i][0] for part in parts], axis=0)
            counts = np.sum([part[i][1] for part in parts], axis=0)
            leaves = tree.feature < 0
            if (
                i < len(trees) - 1
                and (counts[leaves] < _least_rows(least, int(counts.sum()))).any()
            ):
                continue
            cost = float(totals.sum() - totals[leaves].max(axis=1).sum())
            if best is None or cost < best.cost:
                best = _Counted(_with_totals(tree, totals, counts), cost)
        assert best is not None
        return best

    def _moved(self, best: _Counted, reading: Reading, prepared: Prepared) -> Tree | None:
        """Return the tree with splits moved to where all rows want them; None where they stay."""
        tree = best.tree
        edges = _edges(tree, prepared)
        parts = self._table.each(count_moves, reading, tree, edges, n_jobs=self._n_jobs)
        moves = []
        for node in np.flatnonzero(tree.feature >= 0).tolist():
            sums = {
                c: np.sum([part[node, c] for part in parts if (node, c) in part], axis=0)
                for c, of_column in enumerate(edges)
                if of_column is not None and any((node, c) in part for part in parts)
            }
            move = _best_move(tree, node, sums, edges)
            if move is not None:
                moves.append(move)
        if not moves:
            return None
        changes = {name: getattr(tree, name).copy() for name in _SPLIT_FIELDS}
        touched: set[int] = set()
        for _, node, column, threshold, missing_left in sorted(moves, key=lambda m: -m[0]):
            # What a move gains was counted with everything else as it is: one to a path.
            if touched & (_above(tree, node) | _below(tree, node)):
                continue
            touched.add(node)
            changes["feature"][node], changes["threshold"][node] = column, threshold
            changes["category"][node], changes["missing_left"][node] = -1, missing_left
        return tree.replaced(**changes)


_SPLIT_FIELDS = ("feature", "threshold", "category", "missing_left")


def _same(number: int, X: Any, y: Any, w: Any) -> tuple[Any, Any, Any]:
    return X, y, w


def _check(looks: list[Look], owner: str) -> None:
    """Raise what is wrong with a part, with its number."""
    seen = [(number, look) for number, look in enumerate(looks) if look.n_rows]
    if not seen:
        raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required: {owner}.")
    first, kinds = seen[0][0], seen[0][1].kinds
    for number, look in seen:
        if look.fault is not None:
            raise ValueError(look.fault)
        names = [name for name, _ in look.kinds]
        if names != [name for name, _ in kinds]:
            raise ValueError(
                f"All partitions must have the same columns: the partition {number} has "
                f"{', '.join(names)}, and the partition {first} has "
                f"{', '.join(name for name, _ in kinds)}."
            )
        for (name, kind), (_, other) in zip(look.kinds, kinds, strict=True):
            if kind != other:
                raise ValueError(
                    f"All partitions must have the same types: column {name!r} holds {kind} values "
                    f"in the partition {number}, and {other} values in the partition {first}."
                )


def _joined(parts: list[Any]) -> Any:
    if not hasattr(parts[0], "iloc"):
        return np.concatenate(parts)
    import pandas
    from pandas.api.types import union_categoricals

    joined = pandas.concat(parts, ignore_index=True)
    for place, name in enumerate(joined.columns):
        columns = [part.iloc[:, place] for part in parts]
        if all(str(column.dtype) == "category" for column in columns):
            joined[name] = pandas.Series(union_categoricals(columns), index=joined.index)
    return joined


def count_trees_on(prepared: Prepared, weights: Float, trees: list[Tree]) -> Float:
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


def _edges(tree: Tree, prepared: Prepared) -> list[Float | None]:
    """Return thresholds of each column of numbers: between values of the sample, and the tree's."""
    found: list[Float | None] = []
    for c, level in enumerate(prepared.encoder.categories):
        if level is not None:
            found.append(None)
            continue
        values = prepared.encoded[:, c]
        values = np.unique(values[np.isfinite(values)])
        if len(values) > _BINS:
            values = values[np.linspace(0, len(values) - 1, _BINS).round().astype(int)]
        own = tree.threshold[(tree.feature == c) & (tree.category < 0)]
        found.append(np.unique(np.concatenate([(values[1:] + values[:-1]) / 2, own])))
    return found


def _best_move(
    tree: Tree, node: int, sums: dict[int, Float], edges: list[Float | None]
) -> tuple[float, int, int, float, bool] | None:
    """Return gain, node, column, threshold and side of missing values of the best move."""
    now = None
    column = int(tree.feature[node])
    best: tuple[float, int, int, float, bool] | None = None
    for c, dearer in sums.items():
        of_column = edges[c]
        if of_column is None or len(of_column) == 0:
            continue
        # Sending the bins up to an edge left costs this much more than sending all right.
        costs, missing = np.cumsum(dearer[:-1])[: len(of_column)], float(dearer[-1])
        if c == column and tree.category[node] < 0:
            at = np.searchsorted(of_column, tree.threshold[node])
            if at < len(of_column) and of_column[at] == tree.threshold[node]:
                now = float(costs[at]) + (missing if tree.missing_left[node] else 0.0)
        k = int(costs.argmin())
        cost = float(costs[k]) + min(0.0, missing)
        if best is None or cost < best[0]:
            # Without missing values the side stays as it was.
            side = missing < 0 if missing else bool(tree.missing_left[node])
            best = (cost, node, c, float(of_column[k]), side)
    if now is None or best is None or best[0] >= now - 1e-9:
        return None
    return (now - best[0], *best[1:])


def _above(tree: Tree, node: int) -> set[int]:
    parents = {
        int(child): at
        for at in range(tree.n_nodes)
        if tree.feature[at] >= 0
        for child in (tree.left[at], tree.right[at])
    }
    found = {node}
    while node in parents:
        node = parents[node]
        found.add(node)
    return found


def _below(tree: Tree, node: int) -> set[int]:
    if tree.feature[node] < 0:
        return {node}
    return {node} | _below(tree, int(tree.left[node])) | _below(tree, int(tree.right[node]))


def _as_whole(cost: float) -> float:
    return int(cost) if float(cost).is_integer() else cost
