"""Paths and trees over candidate splits, and what they are worth in whole numbers.

A path is a leaf, a candidate for each node on the way to it, and a target. Its worth is the
integer weight it predicts right, times the error scale, less the price of a leaf that has rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from provetree.colgen.couplings import CouplingRow, coupling_rows
from provetree.colgen.items import Items
from provetree.number_types import Bool, Int, Int32
from provetree.problem.problem import Problem
from provetree.problem.side_constraints import SideConstraints

#: How far a bound of the LP may be off; its values are at most 2**20.
LP_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Paths:
    """Several paths, as arrays: leaf, candidates (paths x depth) and target."""

    leaf: Int32
    candidates: Int32
    target: Int32

    def __len__(self) -> int:
        return len(self.leaf)

    def keys(self) -> list[tuple[int, ...]]:
        """Return a hashable name of each path."""
        whole = np.column_stack([self.leaf, self.candidates, self.target])
        return [tuple(row) for row in whole.tolist()]

    def take(self, which: Bool | NDArray[np.intp]) -> Paths:
        """Return some of the paths."""
        return Paths(self.leaf[which], self.candidates[which], self.target[which])

    @staticmethod
    def none(depth: int) -> Paths:
        """Return no paths."""
        return Paths.of(np.empty(0), np.empty((0, depth)), np.empty(0))

    @staticmethod
    def of(leaf: object, candidates: object, target: object) -> Paths:
        """Return paths from anything array-like."""
        return Paths(
            np.ascontiguousarray(leaf, dtype=np.int32),
            np.ascontiguousarray(candidates, dtype=np.int32),
            np.ascontiguousarray(target, dtype=np.int32),
        )

    @staticmethod
    def joined(parts: list[Paths]) -> Paths:
        """Return all paths of several lists."""
        return Paths(
            np.concatenate([part.leaf for part in parts]),
            np.concatenate([part.candidates for part in parts]),
            np.concatenate([part.target for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class CandidateTree:
    """A candidate for every node of the complete tree, and a target for every leaf."""

    candidates: Int32
    targets: Int32

    @property
    def key(self) -> bytes:
        """A hashable name of the tree."""
        return self.candidates.tobytes() + self.targets.tobytes()


@dataclass(frozen=True, eq=False)
class Totals:
    """Integer totals of paths: weight of each kind, and table rows."""

    weights: Int
    counts: Int


class PathModel:
    """The candidate problem in whole numbers: the worth of paths, and the constraints."""

    def __init__(self, problem: Problem, items: Items, side: SideConstraints) -> None:
        self.problem = problem
        self.items = items
        self.candidates = items.candidates
        self.n_targets = problem.n_classes
        self.min_count = problem.min_samples_leaf
        self.leaf_price = problem.split_penalty
        kinds = np.arange(len(items.kind_class))
        self.profit = np.zeros((len(kinds), self.n_targets), dtype=np.int64)
        self.profit[kinds, items.kind_class] = problem.error_scale
        kind_weight = items.weights.sum(axis=0)
        #: Worth if every row were right; what costs and worths are converted by.
        self.whole = int(problem.error_scale * kind_weight.sum())
        leaves = problem.max_splits + 1
        most = min(
            self.candidates.n_leaves, problem.n_rows, problem.n_samples // self.min_count or 1
        )
        self.max_leaves = leaves if leaves < most else None
        self.side = side
        self.rows: list[CouplingRow] = coupling_rows(
            side,
            items.kind_class,
            items.kind_group,
            kind_weight,
            self.n_targets,
            self.max_leaves,
        )
        # The LP works with worths of ordinary size; whole numbers stay as they are up to 2**20.
        self.unit = max(1.0, self.whole / 2**20)

    @property
    def is_plain(self) -> bool:
        """Whether the recursion alone decides the problem: nothing but a leaf budget couples."""
        return not self.side.any

    def cost(self, worth: int) -> int:
        """Return the integer cost of a tree of this worth, in the units of the problem."""
        return self.whole - worth - self.leaf_price

    def whole_bound(self, bound: float) -> float:
        """Return a bound of the LP as one on whole worths: rounded down, errors allowed for.

        An int, or infinite as the bound is. Where a unit of the LP is many whole numbers the
        allowance is many too, so that such a bound proves less but never too much.
        """
        if not math.isfinite(bound):
            return bound
        return math.floor((bound + LP_ROUNDING) * self.unit)

    def lp_cutoff(self, worth: int) -> float:
        """Return the LP value up to which nothing better than a worth is left."""
        return math.nextafter((worth + 1) / self.unit - LP_ROUNDING, -math.inf)

    def item_profit(self) -> Int:
        """Return the profit of each item for each target."""
        return np.ascontiguousarray(self.items.weights @ self.profit)

    def totals(self, paths: Paths) -> Totals:
        """Return the kinds and rows on each path."""
        values = np.column_stack([self.items.weights, self.items.counts])
        sums = self.items.core.totals(paths.leaf, paths.candidates, np.ascontiguousarray(values))
        sums = sums.reshape(len(paths), values.shape[1])
        return Totals(sums[:, :-1], sums[:, -1])

    def worths(self, paths: Paths, totals: Totals) -> Int:
        """Return the integer worth of each path."""
        right = (totals.weights * self.profit[:, paths.target].T).sum(axis=1)
        return np.asarray(right - self.leaf_price * (totals.counts > 0), dtype=np.int64)

    def row_value(self, row: CouplingRow, paths: Paths, totals: Totals) -> Int:
        """Return what each path adds to a constraint."""
        value = (totals.weights * row.per_kind[:, paths.target].T).sum(axis=1)
        return np.asarray(value + row.per_active_leaf * (totals.counts > 0), dtype=np.int64)

    def allowed(self, totals: Totals) -> Bool:
        """Tell which paths have no rows or enough of them."""
        enough: Bool = totals.counts >= self.min_count
        enough[totals.counts == 0] = True
        return enough

    def tree_paths(self, tree: CandidateTree) -> Paths:
        """Return the paths of a tree."""
        leaves = np.arange(self.candidates.n_leaves)
        return Paths.of(leaves, tree.candidates[self.candidates.path_nodes], tree.targets)

    def evaluate(self, tree: CandidateTree) -> tuple[int, bool]:
        """Return the integer worth of a tree and whether it keeps all constraints, exactly."""
        paths = self.tree_paths(tree)
        totals = self.totals(paths)
        keeps = bool(self.allowed(totals).all())
        for row in self.rows:
            keeps = keeps and row.holds(int(self.row_value(row, paths, totals).sum()))
        return int(self.worths(paths, totals).sum()), keeps
