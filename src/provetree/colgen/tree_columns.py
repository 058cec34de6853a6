"""Relaxations under coupling constraints with whole trees as columns.

A master over trees has one row per constraint and a few dozen columns; its pricing problem, the
best tree for changed worths of the rows, is the recursion. Its bound is that of the path master
with all routes, the convex hull of the trees, for a fraction of the time. Multipliers are rounded
to fractions of a power of two, so that every bound is computed in whole numbers and holds exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import highspy
import numpy as np

from provetree.colgen.generation import Clock
from provetree.colgen.integer_step import recursion_for
from provetree.colgen.master import MasterError, add_empty_rows
from provetree.colgen.paths import CandidateTree, PathModel
from provetree.colgen.pricing import Allowed
from provetree.number_types import Float, Int
from provetree.solvers.highs import quiet_highs

#: Sums of scaled worths stay below this.
_MOST_BITS = 60
#: Rounds without progress after which the multipliers count as optimal.
_MOST_ROUNDS = 500


@dataclass(frozen=True, eq=False)
class TreeColumn:
    """A tree as a column: its worth and what it adds to each constraint."""

    tree: CandidateTree
    worth: int
    values: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TreeLp:
    """How a relaxation over trees ended.

    ``bound`` holds for all trees that are allowed, in whole numbers; ``rho`` and ``mass`` tell how
    much of each candidate and of each target of each leaf the solution uses.
    """

    status: Literal["optimal", "infeasible", "cutoff"]
    bound: float
    value: float
    rho: Float
    mass: Float
    is_tree: bool


@dataclass(eq=False)
class TreeColumns:
    """Solves relaxations over trees; columns are kept between calls."""

    model: PathModel
    clock: Clock
    columns: list[TreeColumn] = field(default_factory=list, init=False)
    iterations: int = field(default=0, init=False)
    _known: set[bytes] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        # The recursion itself keeps a budget of leaves.
        self._rows = [row for row in self.model.rows if row.per_active_leaf == 0]
        self._total = int(self.model.items.weights.sum())
        # Candidates and targets of the columns, one row each, with room for more.
        candidates = self.model.candidates
        self._chosen = np.zeros((64, candidates.n_nodes), dtype=np.intp)
        self._targets = np.zeros((64, candidates.n_leaves), dtype=np.intp)

    def add(self, tree: CandidateTree) -> TreeColumn:
        """Return a tree as a column, kept for this and later relaxations."""
        paths = self.model.tree_paths(tree)
        totals = self.model.totals(paths)
        values = tuple(int(self.model.row_value(row, paths, totals).sum()) for row in self._rows)
        column = TreeColumn(tree, int(self.model.worths(paths, totals).sum()), values)
        if tree.key not in self._known:
            self._known.add(tree.key)
            n = len(self.columns)
            if n == len(self._chosen):
                self._chosen = np.concatenate([self._chosen, np.zeros_like(self._chosen)])
                self._targets = np.concatenate([self._targets, np.zeros_like(self._targets)])
            self._chosen[n] = self.model.candidates.offsets[:-1] + tree.candidates
            self._targets[n] = tree.targets
            self.columns.append(column)
        return column

    def solve(self, allowed: Allowed, best_worth: int | None, on_tree: Any) -> TreeLp:
        """Solve the relaxation over the allowed trees; stop once none is better.

        `on_tree` is told about every tree that is found; it returns the worth of the best so far.
        """
        usable = self._fitting(allowed)
        bound: float = math.inf
        empty = np.zeros(len(allowed.candidate)), np.zeros(allowed.target.shape)
        seen = {column.tree.key for column in usable}
        for _ in range(_MOST_ROUNDS):
            self.clock.check()
            self.iterations += 1
            with self.clock.part("master"):
                value, y, multipliers, phase_one = self._master(usable)
            with self.clock.part("pricing"):
                scaled, shift = self._scaled(multipliers, phase_one)
                profit = self._profit(scaled, shift, phase_one)
                price = 0 if phase_one else self.model.leaf_price << shift
                tree = recursion_for(self.model, allowed, profit, price, self.clock.left)
            if tree is None:
                return TreeLp("infeasible", -math.inf, -math.inf, *empty, False)
            column = self.add(tree)
            new_bound = self._bound(column, scaled, shift, phase_one)
            if phase_one:
                if new_bound < 0:  # no mix of trees satisfies the constraints
                    return TreeLp("infeasible", -math.inf, -math.inf, *empty, False)
            else:
                bound = min(bound, new_bound)
            best_worth = on_tree(tree)
            if best_worth is not None and bound <= best_worth:
                return TreeLp("cutoff", bound, value, *empty, False)
            if tree.key in seen:
                break  # no new column for these multipliers: the optimum up to rounding
            seen.add(tree.key)
            usable.append(column)
        rho, mass = self._shares(usable, y, allowed)
        is_tree = bool(len(y)) and float(y.max()) > 1 - 1e-9
        return TreeLp("optimal", bound, value, rho, mass, is_tree)

    def decided(self, tree: CandidateTree, allowed: Allowed) -> TreeLp:
        """Return the relaxation's result if the recursion's tree satisfies the constraints."""
        column = self.add(tree)
        rho, mass = self._shares([column], np.ones(1), allowed)
        return TreeLp("optimal", column.worth, column.worth, rho, mass, True)

    def _fitting(self, allowed: Allowed) -> list[TreeColumn]:
        """Return the columns at hand that may be used."""
        n = len(self.columns)
        leaves = np.arange(self.model.candidates.n_leaves)
        fits = allowed.candidate[self._chosen[:n]].all(axis=1)
        fits &= allowed.target[leaves, self._targets[:n]].all(axis=1)
        return [self.columns[i] for i in np.flatnonzero(fits).tolist()]

    def _master(self, columns: list[TreeColumn]) -> tuple[float, Float, Float, bool]:
        """Solve the master over trees; return value, shares, multipliers, whether in phase one.

        The multipliers are per unit of the constraint's own value.
        """
        for phase_one in (False, True):
            h = quiet_highs(threads=1)
            infinite = highspy.kHighsInf
            sizes = [
                max(1.0, float(max((abs(c.values[k]) for c in columns), default=1)))
                for k in range(len(self._rows))
            ]
            low, high = [1.0], [1.0]
            for row, size in zip(self._rows, sizes, strict=True):
                low.append(row.low / size if row.has_low else -infinite)
                high.append(row.high / size if row.has_high else infinite)
            add_empty_rows(h, low, high)
            n = len(low)
            rows = np.arange(n, dtype=np.int32)
            for c in columns:
                entries = np.array(
                    [1.0] + [v / s for v, s in zip(c.values, sizes, strict=True)], dtype=np.float64
                )
                cost = 0.0 if phase_one else -c.worth / self.model.unit
                h.addCol(cost, 0.0, infinite, n, rows, entries)
            if phase_one:
                for k in range(len(self._rows)):
                    for sign in (1.0, -1.0):
                        h.addCol(1.0, 0.0, infinite, 1, rows[k + 1 : k + 2], np.array([sign]))
                if not columns:
                    h.addCol(0.0, 0.0, infinite, 1, rows[:1], np.ones(1))
            h.run()
            if h.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                solution = h.getSolution()
                y = np.asarray(solution.col_value, dtype=np.float64)[: len(columns)]
                dual = -np.asarray(solution.row_dual, dtype=np.float64)[1:] / np.array(sizes)
                dual = dual if phase_one else dual * self.model.unit
                return -h.getObjectiveValue() * self.model.unit, y, dual, phase_one
        raise MasterError("The master over trees could not be solved, each time from scratch.")

    def _scaled(self, multipliers: Float, phase_one: bool) -> tuple[list[int], int]:
        """Return the multipliers as whole numbers of 2**-shift, of the right sign."""
        cleaned = [
            0.0 if (m > 0 and not row.has_high) or (m < 0 and not row.has_low) else float(m)
            for m, row in zip(multipliers.tolist(), self._rows, strict=True)
        ]
        # Everything an item could add: its profit and the constraints at their largest.
        largest = float(0 if phase_one else self.model.whole) + 1.0
        for m, row in zip(cleaned, self._rows, strict=True):
            largest += abs(m) * float(np.abs(row.per_kind).max()) * self._total
            largest += abs(m) * float(max(abs(row.low) if row.has_low else 0, 1))
            largest += abs(m) * float(max(abs(row.high) if row.has_high else 0, 1))
        room = _MOST_BITS - math.ceil(math.log2(largest)) - 2
        shift = max(0, min(40 if phase_one else 20, room))
        return [round(m * 2.0**shift) for m in cleaned], shift

    def _profit(self, scaled: list[int], shift: int, phase_one: bool) -> Int:
        kinds = self.model.profit * 0 if phase_one else self.model.profit << shift
        for m, row in zip(scaled, self._rows, strict=True):
            kinds = kinds - m * row.per_kind
        return np.ascontiguousarray(self.model.items.weights @ kinds)

    def _bound(self, column: TreeColumn, scaled: list[int], shift: int, phase_one: bool) -> float:
        """Return what no allowed tree that keeps the constraints exceeds, in whole numbers."""
        value = 0 if phase_one else column.worth << shift
        for m, row, v in zip(scaled, self._rows, column.values, strict=True):
            value -= m * v
            value += m * (row.high if m > 0 else row.low) if m else 0
        return value >> shift if not phase_one else value

    def _shares(self, columns: list[TreeColumn], y: Float, allowed: Allowed) -> tuple[Float, Float]:
        rho = np.zeros(len(allowed.candidate))
        mass = np.zeros(allowed.target.shape)
        leaves = np.arange(len(mass))
        for column, share in zip(columns, y.tolist(), strict=False):
            if share > 1e-9:
                rho[self.model.candidates.offsets[:-1] + column.tree.candidates] += share
                mass[leaves, column.tree.targets] += share
        return rho, mass
