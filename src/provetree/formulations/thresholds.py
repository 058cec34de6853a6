"""Models that split by comparing a scaled value with a threshold variable: OCT and (P).

Here stand the scaled columns, epsilon, and what the two models share: the variables a, b, d, z, l,
the constraints on the way of each row, and how a point is read and written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.formulations.cuts import cuts_of
from provetree.formulations.formulation import Formulation, Scaling
from provetree.problem.columns import Column
from provetree.problem.problem import Problem
from provetree.problem.scaling import unit_interval
from provetree.solvers.model import Expression, Index, ModelBuilder
from provetree.tree.layout import PlacedTree

__all__ = ["SMALLEST_GAP", "ScaledColumns", "SickColumnError", "ThresholdModel", "scale_columns"]

Float: TypeAlias = NDArray[np.float64]
Bool: TypeAlias = NDArray[np.bool_]

#: Solvers keep constraints to 1e-6; a gap must be well above that to be kept.
SMALLEST_GAP = 1e-5


class SickColumnError(ValueError):
    """Two values of a column are too close to each other for a solver.

    Examples
    --------
    >>> from provetree.formulations.thresholds import SickColumnError
    >>> issubclass(SickColumnError, ValueError)
    True
    """


@dataclass(frozen=True, eq=False)
class ScaledColumns:
    """Ordered columns as numbers from 0 to 1.

    Parameters
    ----------
    values : list of array of float
        The scaled value behind each rank of each column.
    epsilon : array of float
        The smallest gap between neighbouring values of each column.
    step : float
        All values are multiples of this; 0 where that is not so.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.formulations.thresholds import scale_columns
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
    """Return the columns of a problem scaled to 0..1.

    Missing and infinite values stand one average gap beyond the others.

    Parameters
    ----------
    problem : Problem
    scaling : {"minmax", "rank"}

    Raises
    ------
    SickColumnError
        If two values of a column are closer than :data:`SMALLEST_GAP` then.
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

    @property
    def values(self) -> Float:
        """The scaled value of each row in each column, shape (n, p)."""
        if not self.scaled.values:
            return np.empty((self.rows.n, 0))
        pairs = zip(self.scaled.values, self.rows.ranks, strict=True)
        return np.column_stack([v[r] for v, r in pairs])

    def _split_constraints(self, builder: ModelBuilder) -> None:
        """Add the shape of splits: one column, threshold in range, splits below splits."""
        a, b, d = self.a, self.b, self.d
        builder.constraint(
            self.numbers["one column"],
            np.column_stack([a.T, d]),
            [1.0] * len(a) + [-1.0],
            lower=0,
            upper=0,
            meaning="a split has one column",
        )
        builder.constraint(
            self.numbers["threshold"],
            np.column_stack([b, d]),
            [1.0, -1.0],
            upper=0,
            meaning="no threshold without a split",
        )
        below = np.arange(1, len(d))
        builder.constraint(
            self.numbers["hierarchy"],
            np.column_stack([d[below], d[(below - 1) // 2]]),
            [1.0, -1.0],
            upper=0,
            meaning="no split below a node without one",
        )

    def _leaf_constraints(self, builder: ModelBuilder) -> None:
        """Add what holds for rows and leaves: one leaf each, open leaves, least rows."""
        z, n, n_leaves = self.z, self.rows.n, self.layout.n_leaves

        def open_leaves(columns: Index, coefficients: Float) -> None:
            pairs = columns.reshape(n, n_leaves, 2)
            pairs[:, :, 0] = z
            pairs[:, :, 1] = self.l
            coefficients[:] = [1.0, -1.0]

        builder.filled(
            self.numbers["open"],
            n * n_leaves,
            2,
            open_leaves,
            upper=0,
            meaning="rows in open leaves only",
        )
        builder.constraint(
            self.numbers["least rows"],
            np.column_stack([z.T, self.l]),
            np.append(self.rows.counts, -float(self.settings.min_samples_leaf)),
            lower=0,
            meaning="an open leaf has enough rows",
        )
        builder.constraint(
            self.numbers["one leaf"], z, 1.0, lower=1, upper=1, meaning="each row has one leaf"
        )

    def _path_constraints(self, builder: ModelBuilder) -> None:
        """Add, for each row and each ancestor of each leaf, that the row went the right way."""
        if self.settings.tighten:
            self._tight_path_constraints(builder)
            return
        a, b, z = self.a, self.b, self.z
        n, p = self.rows.n, len(self.a)
        small, large = self.scaled.smallest, self.scaled.largest
        values = self.values
        leaf, level = np.nonzero(self.layout.goes_left)
        left = (self.layout.ancestors[leaf, level], leaf)
        leaf, level = np.nonzero(~self.layout.goes_left)
        right = (self.layout.ancestors[leaf, level], leaf)

        def fill_left(columns: Index, coefficients: Float) -> None:
            branch, below = left
            shape = (n, len(branch), p + 2)
            columns, coefficients = columns.reshape(shape), coefficients.reshape(shape)
            columns[:, :, :p] = a[:, branch].T
            columns[:, :, p] = b[branch]
            columns[:, :, p + 1] = z[:, below]
            coefficients[:, :, :p] = (values + (self.scaled.epsilon - small))[:, np.newaxis]
            coefficients[:, :, p] = -1.0
            coefficients[:, :, p + 1] = 1.0 + large

        def fill_right(columns: Index, coefficients: Float) -> None:
            branch, below = right
            shape = (n, len(branch), p + 2)
            columns, coefficients = columns.reshape(shape), coefficients.reshape(shape)
            columns[:, :, :p] = a[:, branch].T
            columns[:, :, p] = b[branch]
            columns[:, :, p + 1] = z[:, below]
            coefficients[:, :, :p] = values[:, np.newaxis]
            coefficients[:, :, p] = -1.0
            coefficients[:, :, p + 1] = -1.0

        builder.filled(
            self.numbers["left"],
            n * len(left[0]),
            p + 2,
            fill_left,
            upper=1.0 + large - small,
            meaning="who goes left is below the threshold",
        )
        builder.filled(
            self.numbers["right"],
            n * len(right[0]),
            p + 2,
            fill_right,
            lower=-1.0,
            meaning="who goes right is not below the threshold",
        )

    def _tight_path_constraints(self, builder: ModelBuilder) -> None:
        """Add the choice of each threshold as variables g; the way of the rows follows from them.

        ``g[t, j, k]`` is one where branch t splits column j at its cut k or below. No big-M is
        left: a row is on the right of a branch if the cut lies below it, and g says that with one
        variable for each column. The threshold b is the value above the chosen cut, which is what
        the paper's constraints ask of it.
        """
        layout = self.layout
        cuts = self.cuts = cuts_of(self.problem)
        self.g = g = builder.variables("g", (layout.n_branches, cuts.n), upper=1, integer=True)
        last = cuts.last
        not_last = np.ones(cuts.n, dtype=np.bool_)
        not_last[last] = False
        lower = np.flatnonzero(not_last)

        def order(columns: Index, coefficients: Float) -> None:
            pairs = columns.reshape(layout.n_branches, len(lower), 2)
            pairs[:, :, 0] = g[:, lower]
            pairs[:, :, 1] = g[:, lower + 1]
            coefficients[:] = [1.0, -1.0]

        builder.filled(
            "tight: order of cuts",
            layout.n_branches * len(lower),
            2,
            order,
            upper=0,
            meaning="at a cut or below is at the next or below",
        )
        builder.constraint(
            "tight: cuts of a column",
            np.column_stack([g[:, last].reshape(-1), self.a.T.reshape(-1)]),
            [1.0, -1.0],
            lower=0,
            upper=0,
            meaning="a split on a column is at one of its cuts",
        )
        value = np.concatenate([v[1:] for v in self.scaled.values] or [np.empty(0)])
        value[lower] -= value[lower + 1]
        builder.constraint(
            "tight: threshold",
            np.column_stack([g, self.b]),
            np.append(value, -1.0),
            lower=0,
            upper=0,
            meaning="a threshold is the value above the cut",
        )
        ranks = self.rows.ranks.T
        under = (cuts.first + np.maximum(ranks, 1) - 1).astype(np.int32)
        for side in ("left", "right"):
            for level in range(layout.depth):
                self._tight_side(builder, side, level, under, ranks > 0)

    def _tight_side(
        self, builder: ModelBuilder, side: str, level: int, under: Index, has_under: Bool
    ) -> None:
        """Add that rows on a side of the branches of a level are sent there by the cut.

        Left of a branch: z <= d - g; right of it: z + d <= 1 + g. Here z are the leaves on the
        side, and g the sum over columns of the variable of the highest cut under the row.

        Parameters
        ----------
        builder : ModelBuilder
        side : {"left", "right"}
        level : int
        under : array of int, shape (n, p)
            The highest cut under each row in each column, any cut where there is none.
        has_under : array of bool, shape (n, p)
            Whether there is one.
        """
        n, p = under.shape
        sign = 1.0 if side == "left" else -1.0
        below = self.layout.left_leaves if side == "left" else self.layout.right_leaves
        branches = np.arange(2**level - 1, 2 ** (level + 1) - 1)
        leaves = np.nonzero(below[branches])[1].reshape(len(branches), -1)
        n_leaves, width = leaves.shape[1], leaves.shape[1] + 1 + p

        def fill(columns: Index, coefficients: Float) -> None:
            shape = (len(branches), n, width)
            columns, coefficients = columns.reshape(shape), coefficients.reshape(shape)
            columns[:, :, :n_leaves] = self.z[:, leaves].transpose(1, 0, 2)
            columns[:, :, n_leaves] = self.d[branches, np.newaxis]
            for at, branch in enumerate(branches.tolist()):
                columns[at, :, n_leaves + 1 :] = self.g[branch, under]
            coefficients[:, :, :n_leaves] = 1.0
            coefficients[:, :, n_leaves] = -sign
            coefficients[:, :, n_leaves + 1 :] = sign * has_under

        builder.filled(
            f"{self.numbers[side]} tight, level {level + 1}",
            len(branches) * n,
            width,
            fill,
            upper=0.0 if sign > 0 else 1.0,
            meaning=f"who goes {side} is {'' if sign > 0 else 'not '}below the threshold",
        )

    def _symmetry_cuts(self, builder: ModelBuilder) -> None:
        """Cut off trees that a smaller one matches: empty sides, and siblings of one class."""
        layout, c = self.layout, self.c
        if layout.depth == 0:
            return
        builder.constraint(
            "tight: siblings",
            np.column_stack([c[:, 0::2].reshape(-1), c[:, 1::2].reshape(-1)]),
            1.0,
            upper=1,
            meaning="two leaves of one split have different classes",
        )
        for side, below in (("left", layout.left_leaves), ("right", layout.right_leaves)):
            for level in range(layout.depth):
                branches = np.arange(2**level - 1, 2 ** (level + 1) - 1)
                leaves = np.nonzero(below[branches])[1].reshape(len(branches), -1)
                builder.constraint(
                    f"tight: {side} side, level {level + 1}",
                    np.column_stack([self.l[leaves], self.d[branches]]),
                    [1.0] * leaves.shape[1] + [-1.0],
                    lower=0,
                    meaning="neither side of a split is empty",
                )
        leaf, above = np.nonzero(layout.goes_left)
        if "closed" not in self.numbers:
            builder.constraint(
                "tight: closed",
                np.column_stack([self.l[leaf], self.d[layout.ancestors[leaf, above]]]),
                [1.0, -1.0],
                upper=0,
                meaning="nothing goes left at a node without a split",
            )

    def _class_cuts(self, builder: ModelBuilder, errors: Expression) -> None:
        """Add what a small tree must get wrong: all rows of a class that no leaf predicts.

        There is one leaf more than there are splits, and each has one class, so the number of
        splits alone says how many classes are left out.
        """
        self.u = builder.variables("u", self.n_classes, upper=1, step=1.0)
        builder.constraint(
            "tight: leaves",
            [np.append(self.l, self.d)],
            np.repeat([1.0, -1.0], [len(self.l), len(self.d)]),
            lower=1,
            upper=1,
            meaning="one leaf more than splits",
        )
        builder.constraint(
            "tight: classes without a leaf",
            np.column_stack([self.c, self.u]),
            1.0,
            lower=1,
            meaning="a class has a leaf or is left out",
        )
        builder.constraint(
            "tight: rows of classes without a leaf",
            [np.append(errors.columns, self.u)],
            np.append(errors.coefficients, -self.class_weights),
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
        label = np.full(layout.n_branches + layout.n_leaves, -1, dtype=np.int64)
        c = point[self.c]
        label[layout.n_branches :] = np.where(c.max(axis=0) > 0.5, c.argmax(axis=0), -1)
        for unsplit in reversed(np.flatnonzero(column < 0).tolist()):
            label[unsplit] = label[2 * unsplit + 2]  # rows go right where nothing splits
        return PlacedTree(layout, column.astype(np.int64), rank, label)

    def encode(self, placed: PlacedTree) -> Float:
        """Write a tree as a point."""
        layout, rows = self.layout, self.rows
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
        ends = np.array(
            [layout.rightmost_leaf(t) for t in range(layout.n_branches + layout.n_leaves)]
        )
        leaf = ends[node]
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

    def _encode_rest(self, point: Float, leaf: NDArray[np.int64]) -> None:
        """Set what the model has beyond the shared variables."""
        raise NotImplementedError

    def uses(self, columns: Bool) -> Expression:
        """Return the number of splits on some of the ordered columns."""
        places = self.a[columns].reshape(-1)
        return Expression(places, np.ones(len(places)))

    def predicted(self, builder: ModelBuilder, name: str, amounts: Float, label: int) -> Expression:
        """Return the amount predicted to be of a class; see :class:`Formulation`."""
        return self._predicted_by_leaf(builder, name, self.z, self.c[label], amounts)
