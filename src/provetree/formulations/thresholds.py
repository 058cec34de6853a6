"""Models that split by comparing a scaled value with a threshold variable: OCT and (P).

Here stand the scaled columns, epsilon, and what the two models share: the variables a, b, d, z, l,
the constraints on the way of each row, and how a point is read and written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from provetree.formulations.cuts import cuts_of
from provetree.formulations.formulation import Formulation, Scaling
from provetree.number_types import Bool, Float, Int
from provetree.problem.columns import Column, Ranks
from provetree.problem.problem import Problem
from provetree.problem.scaling import unit_interval
from provetree.solvers.model import Expression, Index, ModelBuilder
from provetree.tree.layout import PlacedTree

__all__ = ["SMALLEST_GAP", "ScaledColumns", "SickColumnError", "ThresholdModel", "scale_columns"]


#: Solvers keep constraints to 1e-6; a gap must be well above that to be kept.
SMALLEST_GAP = 1e-5


class SickColumnError(ValueError):
    """Two values of a column are too close to each other for a solver."""


@dataclass(frozen=True, eq=False)
class ScaledColumns:
    """Ordered columns as numbers from 0 to 1: the value behind each rank of each column.

    ``epsilon`` is the smallest gap between neighbouring values of each column. All values are
    multiples of ``step``; 0 where that is not so.

    Examples
    --------
    >>> from provetree import build_problem
    >>> problem = build_problem([[1.0], [2.0], [5.0]], [0, 1, 0], n_classes=2, max_depth=1)
    >>> columns = scale_columns(problem, "minmax")
    >>> columns.values[0].tolist(), columns.epsilon.tolist()
    ([0.0, 0.25, 1.0], [0.25])
    """

    values: list[Float]
    epsilon: Float
    step: float

    @property
    def smallest(self) -> float:
        """Epsilon of the narrowest column."""
        return float(self.epsilon.min(initial=1.0))

    @property
    def largest(self) -> float:
        """Epsilon of the widest column."""
        return float(self.epsilon.max(initial=0.0))


def scale_columns(problem: Problem, scaling: Scaling) -> ScaledColumns:
    """Return the columns of a problem scaled to 0..1; values too close to each other raise.

    Missing and infinite values stand one average gap beyond the others.
    """
    most = max((len(column.values) for column in problem.columns), default=2)
    if scaling == "rank":
        # One unit for all columns: every threshold is then a multiple of it.
        step = 1.0 / max(1, most - 1)
        values = [np.arange(len(column.values)) / max(1, most - 1) for column in problem.columns]
    else:
        step = 0.0
        values = [unit_interval(column.values) for column in problem.columns]
    epsilon = np.array([np.diff(v).min() for v in values]) if values else np.empty(0)
    for column, gap in zip(problem.columns, epsilon.tolist(), strict=True):
        if gap < SMALLEST_GAP:
            raise SickColumnError(_sick(problem, column, gap, scaling))
    return ScaledColumns(values, epsilon, step)


def _sick(problem: Problem, column: Column, gap: float, scaling: Scaling) -> str:
    names = problem.feature_names
    name = f"x{column.feature}" if names is None else names[column.feature]
    advice = (
        'use scaling="rank", which keeps all trees, or round the column'
        if scaling == "minmax"
        else "round the column"
    )
    return (
        f"Two values of column '{name}' differ by {gap:.2g} of its range, and solvers cannot tell "
        f"apart what differs by less than {SMALLEST_GAP:g}: {advice}."
    )


class ThresholdModel(Formulation):
    """What OCT and (P) share."""

    #: Number of each shared constraint in the paper of the model.
    numbers: ClassVar[dict[str, str]]

    def _split_variables(self, builder: ModelBuilder) -> None:
        """Add a, b, d, z, l."""
        layout, n = self.layout, self.rows.n
        self.scaled = scale_columns(self.problem, self.settings.scaling)
        p = len(self.problem.columns)
        step = self.scaled.step or None
        self.a = builder.variables("a", (p, layout.n_branches), upper=1, integer=True)
        self.b = builder.variables("b", layout.n_branches, upper=1, step=step)
        self.d = builder.variables("d", layout.n_branches, upper=1, integer=True)
        # In the tightened model the chosen cuts settle where every row is.
        whole = not self.settings.tighten
        self.z = builder.variables("z", (n, layout.n_leaves), upper=1, integer=whole, step=1.0)
        self.l = builder.variables("l", layout.n_leaves, upper=1, integer=True)

    def _values(self, ranks: Ranks) -> Float:
        """Return the scaled values behind ranks, shape (n, p)."""
        if not self.scaled.values:
            return np.empty((ranks.shape[1], 0))
        return np.column_stack([v[r] for v, r in zip(self.scaled.values, ranks, strict=True)])

    def _split_constraints(self, builder: ModelBuilder) -> None:
        """Add the shape of splits: one column, threshold in range, splits below splits."""
        a, b, d = self.a, self.b, self.d
        builder.add(
            self.numbers["one column"],
            len(d),
            (a.T, 1.0),
            (d, -1.0),
            equals=0,
            meaning="a split has one column",
        )
        builder.at_most(self.numbers["threshold"], b, d, "no threshold without a split")
        above = d[(np.arange(1, len(d)) - 1) // 2]
        number, meaning = self.numbers["hierarchy"], "no split below a node without one"
        builder.at_most(number, d[1:], above, meaning)

    def _leaf_constraints(self, builder: ModelBuilder) -> None:
        """Add what holds for rows and leaves: one leaf each, open leaves, least rows."""
        z, n, n_leaves = self.z, self.rows.n, self.layout.n_leaves
        builder.at_most(self.numbers["open"], z, self.l, "rows in open leaves only")
        builder.add(
            self.numbers["least rows"],
            n_leaves,
            (z.T, self.rows.counts),
            (self.l, -float(self.settings.min_samples_leaf)),
            lower=0,
            meaning="an open leaf has enough rows",
        )
        builder.add(
            self.numbers["one leaf"], n, (z, 1.0), equals=1, meaning="each row has one leaf"
        )

    def _label_constraints(self, builder: ModelBuilder, number: str) -> None:
        """Add that a leaf that is open has one class."""
        builder.add(
            number,
            self.layout.n_leaves,
            (self.c.T, 1.0),
            (self.l, -1.0),
            equals=0,
            meaning="an open leaf has one class",
        )

    def _closed_leaves(self, builder: ModelBuilder, number: str) -> None:
        """Add that a node without a split sends nothing left."""
        leaf, level = np.nonzero(self.layout.goes_left)
        above = self.d[self.layout.ancestors[leaf, level]]
        meaning = "nothing goes left at a node without a split"
        builder.at_most(number, self.l[leaf], above, meaning)

    def _ways(self) -> tuple[Float, Index, list[Index]]:
        """Return the values of the rows that are sent down, and what says where they go.

        That is a variable for each row and leaf, and more variables of the rows: a row must keep to
        the way to a leaf where all of them are one.
        """
        return self._values(self.rows.ranks), self.z, []

    def _path_constraints(self, builder: ModelBuilder) -> None:
        """Add, for each row and each ancestor of each leaf, that the row went the right way."""
        if self.settings.tighten:
            self._tight_path_constraints(builder)
            return
        small, large = self.scaled.smallest, self.scaled.largest
        values, z, others = self._ways()
        n_present = 1 + len(others)
        for side, goes in (("left", self.layout.goes_left), ("right", ~self.layout.goes_left)):
            leaf, level = np.nonzero(goes)
            branch = self.layout.ancestors[leaf, level]
            left = side == "left"
            here = values + (self.scaled.epsilon - small) if left else values
            big = 1.0 + large if left else -1.0
            builder.add(
                self.numbers[side],
                (len(values), len(branch)),
                (self.a.T[branch][np.newaxis], here[:, np.newaxis]),
                (self.b[branch], -1.0),
                (z[:, leaf], big),
                *((x[:, np.newaxis], big) for x in others),
                upper=n_present * big - small if left else np.inf,
                lower=-np.inf if left else n_present * big,
                meaning=f"who goes {side} is {'' if left else 'not '}below the threshold",
            )

    def _tight_path_constraints(self, builder: ModelBuilder) -> None:
        """Add the choice of each threshold as variables g; the way of the rows follows from them.

        ``g[t, j, k]`` is one where branch t splits column j at its cut k or below. No big-M is
        left: a row is on the right of a branch if the cut lies below it, and g says that with one
        variable for each column. The threshold b is the value above the chosen cut, which is what
        the paper's constraints ask of it.
        """
        n_branches = self.layout.n_branches
        cuts = self.cuts = cuts_of(self.problem)
        self.g = g = builder.variables("g", (n_branches, cuts.n), upper=1, integer=True)
        lower = np.setdiff1d(np.arange(cuts.n), cuts.last)
        meaning = "at a cut or below is at the next or below"
        builder.at_most("tight: order of cuts", g[:, lower], g[:, lower + 1], meaning)
        builder.add(
            "tight: cuts of a column",
            (n_branches, len(self.a)),
            (g[:, cuts.last], 1.0),
            (self.a.T, -1.0),
            equals=0,
            meaning="a split on a column is at one of its cuts",
        )
        value = np.concatenate([v[1:] for v in self.scaled.values] or [np.empty(0)])
        value[lower] -= value[lower + 1]
        builder.add(
            "tight: threshold",
            n_branches,
            (g, value),
            (self.b, -1.0),
            equals=0,
            meaning="a threshold is the value above the cut",
        )
        ranks = self.rows.ranks.T
        under = (cuts.first + np.maximum(ranks, 1) - 1).astype(np.int32)
        for left in (True, False):
            for level in range(self.layout.depth):
                self._tight_side(builder, left, level, under, ranks > 0)

    def _tight_side(
        self, builder: ModelBuilder, left: bool, level: int, under: Index, has_under: Bool
    ) -> None:
        """Add that rows on a side of the branches of a level are sent there by the cut.

        Left of a branch: z <= d - g; right of it: z + d <= 1 + g. Here z are the leaves on the
        side, and g the sum over columns of the variable of the highest cut under the row. `under`
        (rows x columns) is that cut, any cut where there is none, and `has_under` tells whether
        there is one.
        """
        side, sign = ("left", 1.0) if left else ("right", -1.0)
        branches = self.layout.branches_at(level)
        leaves = self.layout.leaves_of(branches, left=left)
        shape = (len(branches), len(under), leaves.shape[1] + 1 + under.shape[1])

        def fill(columns: Index, coefficients: Float) -> None:  # keeps no copies of the arrays
            columns, coefficients = columns.reshape(shape), coefficients.reshape(shape)
            splits = leaves.shape[1]
            for at, branch in enumerate(branches.tolist()):
                columns[at, :, :splits] = self.z[:, leaves[at]]
                columns[at, :, splits] = self.d[branch]
                columns[at, :, splits + 1 :] = self.g[branch, under]
            coefficients[:, :, :splits] = 1.0
            coefficients[:, :, splits] = -sign
            coefficients[:, :, splits + 1 :] = sign * has_under

        builder.ragged(
            f"{self.numbers[side]} tight, level {level + 1}",
            np.broadcast_to(np.int64(shape[2]), (shape[0] * shape[1],)),
            fill,
            upper=0.0 if left else 1.0,
            meaning=f"who goes {side} is {'' if left else 'not '}below the threshold",
        )

    def _symmetry_cuts(self, builder: ModelBuilder) -> None:
        """Cut off trees that a smaller one matches: empty sides, and siblings of one class."""
        layout, c = self.layout, self.c
        if layout.depth == 0:
            return
        builder.add(
            "tight: siblings",
            (len(c), layout.n_leaves // 2),
            (c[:, 0::2], 1.0),
            (c[:, 1::2], 1.0),
            upper=1,
            meaning="two leaves of one split have different classes",
        )
        for side in ("left", "right"):
            for level in range(layout.depth):
                branches = layout.branches_at(level)
                builder.add(
                    f"tight: {side} side, level {level + 1}",
                    len(branches),
                    (self.l[layout.leaves_of(branches, left=side == "left")], 1.0),
                    (self.d[branches], -1.0),
                    lower=0,
                    meaning="neither side of a split is empty",
                )
        if "closed" not in self.numbers:
            self._closed_leaves(builder, "tight: closed")

    def _class_cuts(self, builder: ModelBuilder, errors: Expression) -> None:
        """Add what a small tree must get wrong: all rows of a class that no leaf predicts.

        There is one leaf more than there are splits, and each has one class, so the number of
        splits alone says how many classes are left out.
        """
        self.u = builder.variables("u", self.n_classes, upper=1, step=1.0)
        builder.add(
            "tight: leaves",
            (),
            (self.l, 1.0),
            (self.d, -1.0),
            equals=1,
            meaning="one leaf more than splits",
        )
        builder.add(
            "tight: classes without a leaf",
            self.n_classes,
            (self.c, 1.0),
            (self.u, 1.0),
            lower=1,
            meaning="a class has a leaf or is left out",
        )
        builder.add(
            "tight: rows of classes without a leaf",
            (),
            (errors.columns, errors.coefficients),
            (self.u, -self.class_weights),
            lower=0,
            meaning="the rows of a class that is left out are errors",
        )

    # -- points and trees ------------------------------------------------------------------

    def decode(self, point: Float) -> PlacedTree:
        """Read the tree from a point; where rows are decides each threshold, not b itself."""
        layout = self.layout
        splits = point[self.d] > 0.5
        column = np.where(splits, point[self.a].argmax(axis=0) if len(self.a) else -1, -1)
        leaf = point[self.z].argmax(axis=1)
        rank = np.zeros(layout.n_branches, dtype=np.int64)
        for branch in np.flatnonzero(splits).tolist():
            goes_left = layout.left_leaves[branch, leaf]
            goes_right = layout.right_leaves[branch, leaf]
            ranks = self.rows.ranks[column[branch]]
            if not goes_left.any():
                rank[branch] = -1 if not goes_right.any() else int(ranks[goes_right].min()) - 1
            else:
                rank[branch] = int(ranks[goes_left].max())
        c = point[self.c]
        of_leaves = np.where(c.max(axis=0) > 0.5, c.argmax(axis=0), -1)
        return self._placed(column.astype(np.int64), rank, of_leaves)

    def encode(self, placed: PlacedTree) -> Float:
        """Write a tree as a point."""
        rows = self.rows
        point = np.zeros(self.model.n_variables)
        branches = np.flatnonzero(placed.column >= 0)
        columns = placed.column[branches]
        point[self.d[branches]] = 1.0
        point[self.a[columns, branches]] = 1.0
        point[self.b[branches]] = [
            self.scaled.values[c][k + 1]
            for c, k in zip(columns.tolist(), placed.rank[branches].tolist(), strict=True)
        ]
        node = placed.route(rows.ranks)
        leaf = self._leaf_at(node)
        point[self.z[np.arange(rows.n), leaf]] = 1.0
        used, first = np.unique(leaf, return_index=True)
        point[self.l[used]] = 1.0
        point[self.c[placed.label[node[first]], used]] = 1.0
        if self.settings.tighten:
            cuts = self.cuts.first[columns] + placed.rank[branches]
            for branch, column, cut in zip(branches, columns, cuts, strict=True):
                point[self.g[branch, cut : self.cuts.last[column] + 1]] = 1.0
            point[self.u] = point[self.c].sum(axis=1) < 0.5
        self._encode_rest(point, leaf)
        self._encode_counts(point)
        return point

    c: Index

    def _encode_rest(self, point: Float, leaf: Int) -> None:
        """Set what the model has beyond the shared variables."""
        raise NotImplementedError

    def uses(self, columns: Bool) -> Expression:
        """Return the number of splits on some of the ordered columns."""
        places = self.a[columns].reshape(-1)
        return Expression(places, np.ones(len(places)))

    def predicted(self, builder: ModelBuilder, name: str, amounts: Float, label: int) -> Expression:
        """Return the amount predicted to be of a class; see :class:`Formulation`."""
        return self._predicted_by_leaf(builder, name, self.z, self.c[label], amounts)
