"""BinOCT of Verwer and Zhang (2019): thresholds chosen by the digits of a binary number.

Each node has one variable per digit; the digits halve the list of thresholds of a column again and
again. A *range* is one such halving: digit 1 takes its lower half, digit 0 its upper half. Rows
that a half settles must go left, or right. All thresholds of a column are offered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from provetree.formulations.formulation import Formulation
from provetree.number_types import Bool, Float, Int
from provetree.solvers.model import Expression, Index, ModelBuilder
from provetree.tree.layout import PlacedTree

__all__ = ["BinOCT", "Ranges", "threshold_ranges"]


@dataclass(frozen=True, eq=False)
class Ranges:
    """The halvings that one digit decides, for all columns.

    The thresholds ``low..high`` of a column are halved after ``middle``. ``path`` (ranges x digits
    before) tells which half each digit took: true for the upper one.
    """

    column: Int
    low: Int
    middle: Int
    high: Int
    path: Bool


def threshold_ranges(n_thresholds: list[int]) -> list[Ranges]:
    """Return the ranges of each digit, for columns of so many thresholds.

    Examples
    --------
    >>> len(threshold_ranges([1])), len(threshold_ranges([5, 2]))
    (0, 3)
    """
    column = np.arange(len(n_thresholds))
    low = np.zeros(len(n_thresholds), dtype=np.int64)
    high = np.array(n_thresholds, dtype=np.int64) - 1
    path = np.zeros((len(n_thresholds), 0), dtype=np.bool_)
    found: list[Ranges] = []
    while True:
        wide = high > low
        column, low, high, path = column[wide], low[wide], high[wide], path[wide]
        if len(column) == 0:
            return found
        middle = (low + high) // 2
        found.append(Ranges(column, low, middle, high, path))
        upper = np.ones((len(column), 1), dtype=np.bool_)
        path = np.vstack([np.hstack([path, ~upper]), np.hstack([path, upper])])
        column = np.concatenate([column, column])
        low, high = np.concatenate([low, middle + 1]), np.concatenate([middle, high])


@dataclass(frozen=True, eq=False)
class _Settled:
    """The rows that one half of the ranges of a digit settles.

    Range after range: ``member`` holds its rows, ``sizes`` how many, and ``needed`` which digits
    before must have a given value, with a sign that says which.
    """

    digit: int
    member: Int
    sizes: Int
    needed: Bool
    sign: float


class BinOCT(Formulation):
    """The model BinOCT.

    With n rows, p columns, K classes, R ranges, J digits, B branches and L = B + 1 leaves, it has
    ``pB + JB + nL + 2KL`` variables and ``B + n + L + (2R + p)B + KL`` constraints.

    The published model splits at every node and knows no least number of rows. A limit on splits or
    a penalty lets nodes go without a split (rows then go right), a least number of rows adds a
    variable for each leaf that is not empty.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.formulations.binoct import BinOCT
    >>> from provetree.formulations.formulation import Settings
    >>> problem = build_problem([[1.0], [2.0], [5.0]], [0, 1, 0], n_classes=2, max_depth=1)
    >>> model = BinOCT(problem, Settings(depth=1)).model
    >>> model.n_variables, model.n_constraints
    (16, 13)
    """

    name: ClassVar[str] = "binoct"
    title: ClassVar[str] = "BinOCT"

    def _build(self, builder: ModelBuilder) -> None:
        settings, rows, layout = self.settings, self.rows, self.layout
        n_branches, n_leaves, n_classes = layout.n_branches, layout.n_leaves, self.n_classes
        n_thresholds = [len(column.values) - 1 for column in self.problem.columns]
        self.ranges = threshold_ranges(n_thresholds)
        p, n_digits = len(n_thresholds), len(self.ranges)
        #: Nodes may go without a split: not published.
        side = settings.side
        self.sparse = bool(
            settings.penalty > 0
            or settings.max_splits is not None
            or settings.min_samples_leaf > 1
            or (side is not None and side.limits_columns)
        )
        cost = self.model_penalty
        self.f = builder.variables("f", (n_branches, p), upper=1, integer=True, cost=cost)
        self.t = builder.variables("t", (n_branches, n_digits), upper=1, integer=True)
        # Splits settle where every row is, so these need not be declared whole.
        self.l = builder.variables("l", (rows.n, n_leaves), upper=1, step=1.0)
        self.p = builder.variables("p", (n_leaves, n_classes), upper=1, integer=True)
        most = np.broadcast_to(self.class_weights, (n_leaves, n_classes))
        self.e = builder.variables("e", (n_leaves, n_classes), upper=most, cost=1.0, step=1.0)

        builder.add(
            "features",
            n_branches,
            (self.f, 1.0),
            lower=-np.inf if self.sparse else 1,
            upper=1,
            meaning="a node has one column",
        )
        builder.add("rows", rows.n, (self.l, 1.0), equals=1, meaning="each row has one leaf")
        builder.add("labels", n_leaves, (self.p, 1.0), equals=1, meaning="a leaf has one class")
        for digit in range(n_digits):
            self._range_constraints(builder, digit)
        self._end_constraints(builder)
        for k in range(n_classes):
            of_class = np.flatnonzero(rows.classes == k)
            builder.add(
                f"errors, class {k + 1}",
                n_leaves,
                (self.l[of_class].T, rows.weights[of_class]),
                (self.p[:, k], -self.class_weights[k]),
                (self.e[:, k], -1.0),
                upper=0,
                meaning="rows of another class are errors",
            )
        if self.sparse:
            self._sparse_constraints(builder)
        if settings.min_samples_leaf > 1:
            self._least_rows(builder)

    def _range_constraints(self, builder: ModelBuilder, digit: int) -> None:
        """Add, for each range of a digit and each node, where the rows it settles must go."""
        ranges = self.ranges[digit]
        halves = {
            # The upper half is taken: the rows from the range's start to its thresholds go left.
            "lower": (ranges.low + 1, ranges.middle + 1, ranges.path, -1.0),
            # The lower half is taken: the rows above its thresholds go right.
            "upper": (ranges.middle + 1, ranges.high, ~ranges.path, 1.0),
        }
        for half, (first, last, needed, sign) in halves.items():
            member, sizes = _members(self.rows.ranks, ranges.column, first, last)
            settled = _Settled(digit, member, sizes, needed, sign)
            for level in range(self.layout.depth):
                self._settle(builder, half, level, settled)

    def _settle(self, builder: ModelBuilder, half: str, level: int, settled: _Settled) -> None:
        """Add the constraints of one half of the ranges, for the branches of a level."""
        branches = self.layout.branches_at(level)
        leaves = self.layout.leaves_of(branches, left=half == "upper")
        sizes, n_needed = settled.sizes, settled.needed.sum(axis=1)
        lengths = 2 + n_needed + sizes * leaves.shape[1]
        total = int(lengths.sum())

        def fill(columns: Index, coefficients: Float) -> None:
            for at, (branch, below) in enumerate(zip(branches.tolist(), leaves, strict=True)):
                part = slice(at * total, (at + 1) * total)
                self._fill_ranges(columns[part], coefficients[part], branch, below, settled)

        upper = sizes * (1.0 + (1 + n_needed if settled.sign > 0 else 0))
        builder.ragged(
            f"{half} ranges, digit {settled.digit + 1}, level {level + 1}",
            np.tile(lengths, len(branches)),
            fill,
            upper=np.tile(upper, len(branches)),
            meaning=f"rows go {'left' if half == 'lower' else 'right'} of the threshold",
        )

    def _fill_ranges(
        self, columns: Index, coefficients: Float, branch: int, leaves: Int, settled: _Settled
    ) -> None:
        """Write the constraints of one node: M f + sum of l + sign * M (sum of t) <= bound."""
        sizes, sign, member = settled.sizes, settled.sign, settled.member
        n_needed = settled.needed.sum(axis=1)
        lengths = 2 + n_needed + sizes * len(leaves)
        starts = np.cumsum(lengths) - lengths
        columns[starts] = self.f[branch, self.ranges[settled.digit].column]
        coefficients[starts] = sizes
        columns[starts + 1] = self.t[branch, settled.digit]
        coefficients[starts + 1] = sign * sizes
        which, before = np.nonzero(settled.needed)
        place = np.arange(len(which)) - np.repeat(np.cumsum(n_needed) - n_needed, n_needed)
        columns[starts[which] + 2 + place] = self.t[branch, before]
        coefficients[starts[which] + 2 + place] = sign * sizes[which]
        which = np.repeat(np.arange(len(sizes)), sizes)
        place = np.arange(len(member)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        first = starts[which] + 2 + n_needed[which] + place * len(leaves)
        for offset, leaf in enumerate(leaves.tolist()):
            columns[first + offset] = self.l[member, leaf]
            coefficients[first + offset] = 1.0

    def _end_constraints(self, builder: ModelBuilder) -> None:
        """Add that rows below all thresholds go left, and rows above all go right."""
        ranks, layout = self.rows.ranks, self.layout
        for j, column in enumerate(self.problem.columns):
            lowest = np.flatnonzero(ranks[j] == 0)[:, np.newaxis]
            highest = np.flatnonzero(ranks[j] == len(column.values) - 1)[:, np.newaxis]
            ends = len(lowest) + len(highest)
            for level in range(layout.depth):
                branches = layout.branches_at(level)
                left, right = (
                    layout.leaves_of(branches, left=side)[:, np.newaxis] for side in (True, False)
                )
                builder.add(
                    f"ends, column {j + 1}, level {level + 1}",
                    len(branches),
                    (self.f[branches, j], float(ends)),
                    (self.l[highest, left].reshape(len(branches), -1), 1.0),
                    (self.l[lowest, right].reshape(len(branches), -1), 1.0),
                    upper=ends,
                    meaning="the ends of a column go to their sides",
                )

    def _sparse_constraints(self, builder: ModelBuilder) -> None:
        """Add what nodes without a split mean, and the limit on splits."""
        f, n = self.f, self.rows.n
        for level in range(self.layout.depth):
            branches = self.layout.branches_at(level)
            leaves = self.layout.leaves_of(branches, left=True)
            builder.add(
                f"extension: no split, level {level + 1}",
                len(branches),
                (self.l[:, leaves].transpose(1, 0, 2).reshape(len(branches), -1), 1.0),
                (f[branches], -float(n)),
                upper=0,
                meaning="rows go right where nothing splits",
            )
        below = np.arange(1, len(f))
        terms = (f[below], 1.0), (f[(below - 1) // 2], -1.0)
        meaning = "no split below a node without one"
        builder.add("extension: hierarchy", len(below), *terms, upper=0, meaning=meaning)
        self._limit_splits(builder, "extension: splits", f.reshape(-1))

    def _least_rows(self, builder: ModelBuilder) -> None:
        """Add the least number of rows of a leaf that is not empty."""
        self.open = builder.variables("u", self.layout.n_leaves, upper=1, integer=True)
        counts = self.rows.counts
        for number, factor, lower, upper in (
            ("extension: open", float(counts.sum()), -np.inf, 0.0),
            ("extension: least rows", float(self.settings.min_samples_leaf), 0.0, np.inf),
        ):
            builder.add(
                number,
                self.layout.n_leaves,
                (self.l.T, counts),
                (self.open, -factor),
                lower=lower,
                upper=upper,
                meaning="a leaf is empty or has enough rows",
            )

    # -- points and trees ------------------------------------------------------------------

    def decode(self, point: Float) -> PlacedTree:
        """Read the tree from a point: digits give thresholds."""
        layout = self.layout
        chosen = point[self.f]
        used = chosen.max(axis=1, initial=0.0) > 0.5
        column = np.where(used, chosen.argmax(axis=1) if chosen.shape[1] else -1, -1)
        rank = np.zeros(layout.n_branches, dtype=np.int64)
        for branch in np.flatnonzero(used).tolist():
            low, high = 0, len(self.problem.columns[column[branch]].values) - 2
            for digit in point[self.t[branch]] > 0.5:
                middle = (low + high) // 2
                if low < high:
                    low, high = (low, middle) if digit else (middle + 1, high)
            rank[branch] = low
        return self._placed(column.astype(np.int64), rank, point[self.p].argmax(axis=1))

    def encode(self, placed: PlacedTree) -> Float:
        """Write a tree as a point; where every node must split, leaves split into like leaves."""
        layout, rows = self.layout, self.rows
        column, rank, label = placed.column.copy(), placed.rank.copy(), placed.label.copy()
        for unsplit in np.flatnonzero(column < 0).tolist():  # a node comes before its children
            label[2 * unsplit + 1 : 2 * unsplit + 3] = max(label[unsplit], 0)
            if not self.sparse:
                column[unsplit], rank[unsplit] = 0, 0
        leaf = self._leaf_at(PlacedTree(layout, column, rank, label).route(rows.ranks))

        point = np.zeros(self.model.n_variables)
        for branch in np.flatnonzero(column >= 0).tolist():
            point[self.f[branch, column[branch]]] = 1.0
            low, high = 0, len(self.problem.columns[column[branch]].values) - 2
            for digit in self.t[branch]:
                middle = (low + high) // 2
                if low < high:
                    point[digit] = float(rank[branch] <= middle)
                    low, high = (low, middle) if rank[branch] <= middle else (middle + 1, high)
        point[self.l[np.arange(rows.n), leaf]] = 1.0
        classes = np.maximum(label[layout.n_branches :], 0)
        point[self.p[np.arange(layout.n_leaves), classes]] = 1.0
        totals = np.zeros((layout.n_leaves, self.n_classes))
        np.add.at(totals, (leaf, rows.classes), rows.weights)
        point[self.e] = totals * (1.0 - point[self.p])
        if self.settings.min_samples_leaf > 1:
            point[self.open[np.unique(leaf)]] = 1.0
        self._encode_counts(point)
        return point

    def uses(self, columns: Bool) -> Expression:
        """Return the number of splits on some of the ordered columns."""
        places = self.f[:, columns].reshape(-1)
        return Expression(places, np.ones(len(places)))

    def predicted(self, builder: ModelBuilder, name: str, amounts: Float, label: int) -> Expression:
        """Return the amount predicted to be of a class; see :class:`Formulation`."""
        return self._predicted_by_leaf(builder, name, self.l, self.p[:, label], amounts)


def _members(ranks: NDArray[np.uint32], column: Int, first: Int, last: Int) -> tuple[Int, Int]:
    """Return the rows whose rank lies in each range, range after range, and how many."""
    members: list[Int] = []
    sizes = np.zeros(len(column), dtype=np.int64)
    found: list[Int] = []
    for j in np.unique(column).tolist():
        of_column = np.flatnonzero(column == j)
        order = np.argsort(ranks[j], kind="stable")
        ordered = ranks[j][order].astype(np.int64)
        start = np.searchsorted(ordered, first[of_column], "left")
        end = np.searchsorted(ordered, last[of_column], "right")
        length = np.maximum(end - start, 0)
        sizes[of_column] = length
        place = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        members.append(order[np.repeat(start, length) + place])
        found.append(np.repeat(of_column, length))
    which = np.concatenate(found)
    return np.concatenate(members)[np.argsort(which, kind="stable")], sizes
