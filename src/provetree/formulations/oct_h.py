"""OCT-H, the model of Bertsimas and Dunn (2017) with hyperplanes in place of single columns.

Constraints carry the numbers of OCT in the thesis of Vääräniemi (2023) where they are those of OCT,
and "(H)" with a word where they are those of hyperplanes. Columns are scaled to 0..1, the absolute
coefficients of a split sum to at most one, and a split leaves a gap of mu between its sides: the
optimum is that of all trees whose splits do so. The penalty is for each column of each split.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from provetree.formulations.formulation import Settings
from provetree.formulations.oct import OCT
from provetree.number_types import Bool, Float, Int
from provetree.problem.constrained import constrained
from provetree.problem.hyperplanes import widest_gap
from provetree.problem.pairs import pair_combinations
from provetree.problem.problem import Problem
from provetree.problem.rows import problem_rows, representatives
from provetree.solvers.model import Expression, ModelBuilder
from provetree.tree.layout import PlacedTree
from provetree.tree.oblique import ObliqueNode, Rows, oblique_tree, with_sums
from provetree.tree.tree import Tree

__all__ = ["OCTH"]

#: Coefficients of a solver below this are none.
_NO_COEFFICIENT = 1e-7
#: A gap of a solver may fall short of mu by this part of it.
_SHORT_OF_GAP = 1e-3


class OCTH(OCT):
    """The model OCT-H.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.formulations.formulation import Settings
    >>> from provetree.formulations.oct_h import OCTH
    >>> X = [[0.0, 0.0], [1.0, 2.0], [2.0, 1.0]]
    >>> problem = build_problem(X, [0, 1, 1], n_classes=2, max_depth=1)
    >>> OCTH(problem, Settings(depth=1)).model.variable_names()[:8]
    ['a_1_1', 'a_2_1', 'size_1_1', 'size_2_1', 's_1_1', 's_2_1', 'b_1', 'd_1']
    """

    name: ClassVar[str] = "oct-h"
    title: ClassVar[str] = "OCT-H"

    def __init__(self, problem: Problem, settings: Settings) -> None:
        asked = constrained(problem)
        raw = asked.rows
        _must_be_numbers(problem, raw.X)
        first = representatives(problem, problem_rows(problem, raw.X, raw.classes))
        #: The values behind each row of the problem, in the units of the table.
        self.table: Float = raw.X[first]
        lowest = self.table.min(axis=0)
        span = self.table.max(axis=0) - lowest
        self.scales: Float = np.where(span > 0, span, 1.0)
        #: The same, each column from 0 to 1.
        self.unit_values: Float = (self.table - lowest) / self.scales
        most = settings.max_columns or self.table.shape[1]
        self.most_columns = int(min(most, self.table.shape[1]))
        super().__init__(problem, settings)

    # -- the model -------------------------------------------------------------------------

    def _split_variables(self, builder: ModelBuilder) -> None:
        """Add a, its absolute values, s, b, d, z, l."""
        layout, n = self.layout, self.rows.n
        shape = (self.table.shape[1], layout.n_branches)
        # A constant column divides nothing.
        varies = (np.ptp(self.unit_values, axis=0) > 0).astype(float)[:, np.newaxis]
        width = np.broadcast_to(varies, shape)
        self.a = builder.variables("a", shape, lower=-width, upper=width)
        self.size = builder.variables("size", shape, upper=width)
        self.s = builder.variables("s", shape, upper=width, integer=True)
        self.b = builder.variables("b", layout.n_branches, lower=-1, upper=1)
        self.d = builder.variables("d", layout.n_branches, upper=1, integer=True)
        self.z = builder.variables("z", (n, layout.n_leaves), upper=1, integer=True)
        self.l = builder.variables("l", layout.n_leaves, upper=1, integer=True)

    def _split_constraints(self, builder: ModelBuilder) -> None:
        """Add the shape of splits: norm, columns, threshold in range, splits below splits."""
        a, size, s, b, d = self.a, self.size, self.s, self.b, self.d
        builder.add(
            "(H) size lower",
            a.shape,
            (size, 1.0),
            (a, 1.0),
            lower=0,
            meaning="the absolute value of a coefficient",
        )
        builder.add(
            "(H) size upper",
            a.shape,
            (size, 1.0),
            (a, -1.0),
            lower=0,
            meaning="the absolute value of a coefficient",
        )
        builder.add(
            "(H) norm",
            len(d),
            (size.T, 1.0),
            (d, -1.0),
            upper=0,
            meaning="absolute coefficients of a split sum to at most one",
        )
        builder.at_most("(H) used", size, s, "a coefficient needs its column to be used")
        builder.at_most("(H) used by splits", s, d, "columns are used by splits only")
        builder.add(
            "(H) some column",
            len(d),
            (s.T, 1.0),
            (d, -1.0),
            lower=0,
            meaning="a split has a column",
        )
        if self.most_columns < len(a):
            builder.add(
                "(H) most columns",
                len(d),
                (s.T, 1.0),
                (d, -float(self.most_columns)),
                upper=0,
                meaning="a split has few columns",
            )
        builder.at_most("(H) b upper", b, d, "no threshold without a split")
        builder.add(
            "(H) b lower",
            len(d),
            (b, 1.0),
            (d, 1.0),
            lower=0,
            meaning="no threshold without a split",
        )
        above = d[(np.arange(1, len(d)) - 1) // 2]
        builder.at_most(self.numbers["hierarchy"], d[1:], above, "no split below a node without")

    def _path_constraints(self, builder: ModelBuilder) -> None:
        """Add that rows went the right way, with a gap of mu between the sides.

        Sums and thresholds lie in -1..1, so 2 (and mu) frees a row. Tightened, one constraint
        stands for all leaves on a side of a branch: a row is in one of them at most.
        """
        mu, layout = self.settings.gap, self.layout
        values = self.unit_values[self.rows.source]
        for side, goes in (("left", layout.goes_left), ("right", ~layout.goes_left)):
            left = side == "left"
            big = 2.0 + mu if left else -2.0
            leaf, level = np.nonzero(goes)
            branch = layout.ancestors[leaf, level]
            groups = [(branch, self.z[:, leaf][:, :, np.newaxis])]
            if self.settings.tighten:
                groups = [
                    (
                        layout.branches_at(at),
                        self.z[:, layout.leaves_of(layout.branches_at(at), left=left)],
                    )
                    for at in range(layout.depth)
                ]
            for at, (branches, places) in enumerate(groups):
                builder.add(
                    self.numbers[side] + (f" level {at + 1}" if self.settings.tighten else ""),
                    (len(values), len(branches)),
                    (self.a.T[branches][np.newaxis], values[:, np.newaxis]),
                    (self.b[branches], -1.0),
                    (places, big),
                    upper=big - mu if left else np.inf,
                    lower=-np.inf if left else big,
                    meaning=f"who goes {side} is {'' if left else 'not '}below the threshold",
                )
        if self.settings.tighten:
            self._first_row_left(builder)

    def _first_row_left(self, builder: ModelBuilder) -> None:
        """Cut off mirrored trees: turning a and b round swaps the sides of a split.

        With -a and mu - b in place of a and b the two constraints of the sides change places, so
        every tree has a copy whose splits send the first row left wherever it passes.
        """
        leaf, level = np.nonzero(~self.layout.goes_left)
        above = self.d[self.layout.ancestors[leaf, level]]
        builder.add(
            "tight: first row",
            len(leaf),
            (self.z[0][leaf], 1.0),
            (above, 1.0),
            upper=1,
            meaning="splits send the first row left",
        )

    def _price_splits(self, builder: ModelBuilder) -> None:
        """Add the price of the columns of splits, and the limit on splits."""
        self.n_splits = None
        alpha = float(self.settings.penalty / self.settings.baseline)
        if alpha > 0:
            builder.cost(self.s, alpha)
        self._limit_splits(builder, "(7) at most", self.d)

    def uses(self, columns: Bool) -> Expression:
        """Refuse limits on columns: a split of hyperplanes has its own."""
        raise ValueError(
            "The 'max_column_uses' parameter of MIPTreeClassifier must be None with formulation "
            "'oct-h', where 'max_columns_per_split' limits the columns of a question."
        )

    # -- what engines ask ------------------------------------------------------------------

    def charged(self, tree: Tree) -> int:
        """Return the number of columns of all splits: each has its penalty."""
        asked: list[int] = tree.feature[tree.feature >= 0].tolist()
        return int(sum(len(tree.columns_of(feature)) for feature in asked))

    @property
    def most_charged(self) -> int:
        """The most columns that the splits of a tree can have."""
        return self.layout.n_branches * self.most_columns

    def search_problem(self) -> Problem:
        """Return the problem whose best tree is a start: sums of two columns where allowed."""
        if self.most_columns < 2:
            return self.problem
        sums = pair_combinations(self.table, self.problem.categories)
        return with_sums(self.problem, self.table, sums)

    # -- points and trees ------------------------------------------------------------------

    def decode(self, point: Float) -> PlacedTree:
        """Hyperplanes have no place on ordered columns."""
        raise NotImplementedError("OCT-H has trees of hyperplanes: use tree_at.")

    def encode(self, placed: PlacedTree) -> Float:
        """Hyperplanes have no place on ordered columns."""
        raise NotImplementedError("OCT-H has trees of hyperplanes: use point_of.")

    def tree_at(self, point: Float, *, keep_labels: bool) -> Tree:
        """Read the tree from a point: where rows are decides each hyperplane."""
        row_leaf = np.zeros(self.problem.n_rows, dtype=np.int64)
        row_leaf[self.rows.source] = point[self.z].argmax(axis=1)
        root = self._node_at(point, 0, np.arange(self.problem.n_rows), row_leaf)
        root = self._collapsed(root) if not keep_labels else root
        return self._tree(root, keep_labels=keep_labels)

    def _tree(self, root: ObliqueNode, *, keep_labels: bool) -> Tree:
        return oblique_tree(self.problem, self.table, self.scales, root, keep_labels=keep_labels)

    def _node_at(self, point: Float, at: int, rows: Rows, row_leaf: Int) -> ObliqueNode:
        """Return the part of a point's tree below a node of the layout."""
        layout = self.layout
        if at >= layout.n_branches or point[self.d[at]] < 0.5:
            c = point[self.c[:, self._leaf_at(np.array([at]))[0]]]
            label = int(c.argmax()) if c.max() > 0.5 else self._heaviest(rows)
            return ObliqueNode(rows, label)
        left = layout.left_leaves[at, row_leaf[rows]]
        if left.all() or not left.any():
            return self._node_at(point, 2 * at + 1 + int(not left.any()), rows, row_leaf)
        a = point[self.a[:, at]]
        columns = np.flatnonzero((point[self.s[:, at]] > 0.5) & (np.abs(a) > _NO_COEFFICIENT))
        # Solvers keep constraints to 1e-6, so a gap may fall short of mu by a little.
        direction = self._direction(rows, left, columns, self.settings.gap * (1 - _SHORT_OF_GAP))
        if direction is None:
            # The solver's rows are where its own hyperplane cannot have them: that one decides.
            left = self.unit_values[rows] @ a < point[self.b[at]] - self.settings.gap / 2
            if left.all() or not left.any():
                return self._node_at(point, 2 * at + 1 + int(not left.any()), rows, row_leaf)
            direction = np.where(np.isin(np.arange(len(a)), columns), a, 0.0)
        return ObliqueNode(
            rows,
            -1,
            direction,
            self._node_at(point, 2 * at + 1, rows[left], row_leaf),
            self._node_at(point, 2 * at + 2, rows[~left], row_leaf),
        )

    def _direction(self, rows: Rows, left: Bool, columns: Int, least: float) -> Float | None:
        """Return the direction of the widest gap; None where that is less than the least."""
        if not len(columns):
            return None
        found, gap = widest_gap(self.unit_values[np.ix_(rows, columns)], left)
        if gap < least:
            return None
        found[np.abs(found) <= _NO_COEFFICIENT] = 0.0
        direction = np.zeros(self.table.shape[1])
        direction[columns] = found
        return direction

    def _heaviest(self, rows: Rows) -> int:
        problem = self.problem
        return int(np.bincount(problem.classes[rows], problem.weights[rows]).argmax())

    def _collapsed(self, node: ObliqueNode) -> ObliqueNode:
        """Return a tree without splits between two leaves whose rows have one heaviest class."""
        if node.left is None or node.right is None:
            return ObliqueNode(node.rows, self._heaviest(node.rows))
        left, right = self._collapsed(node.left), self._collapsed(node.right)
        if left.direction is None and right.direction is None and left.label == right.label:
            return ObliqueNode(node.rows, left.label)
        return ObliqueNode(node.rows, -1, node.direction, left, right)

    # -- starts ----------------------------------------------------------------------------

    def start_of(self, tree: Tree) -> tuple[Tree, Float]:
        """Return a tree of the model near a given one, and its point.

        Questions keep to the gap and to the limit on columns. One that does not is replaced by the
        purest division that does, along its own direction or of one column.
        """
        root = self._started(tree, 0, np.arange(self.problem.n_rows), self.layout.depth)
        root = self._collapsed(root)
        return self._tree(root, keep_labels=False), self._point(root)

    def _started(self, tree: Tree, at: int, rows: Rows, levels: int) -> ObliqueNode:
        feature = int(tree.feature[at])
        if feature < 0 or levels == 0:
            return ObliqueNode(rows, self._heaviest(rows))
        below = (int(tree.left[at]), int(tree.right[at]))
        asked = tree.with_combinations(self.table[rows])[:, feature]
        left = asked <= tree.threshold[at]
        if left.all() or not left.any():
            return self._started(tree, below[int(not left.any())], rows, levels)
        columns, p = np.array(tree.columns_of(feature)), self.table.shape[1]
        direction = None
        if len(columns) <= self.most_columns and self._large_enough(rows, left):
            direction = self._direction(rows, left, columns, self.settings.gap)
            if direction is None:  # more columns may leave a wider gap for the same division
                direction = self._direction(rows, left, np.arange(p), self.settings.gap)
                if direction is not None and np.count_nonzero(direction) > self.most_columns:
                    direction = None
        if direction is None:
            found = self._purest(rows, tree, feature)
            if found is None:
                return ObliqueNode(rows, self._heaviest(rows))
            direction, left = found
        sides = ((below[0], rows[left]), (below[1], rows[~left]))
        return ObliqueNode(
            rows, -1, direction, *(self._started(tree, *side, levels - 1) for side in sides)
        )

    def _large_enough(self, rows: Rows, left: Bool) -> bool:
        counts = self.problem.counts[rows]
        least = self.settings.min_samples_leaf
        return bool(counts[left].sum() >= least and counts[~left].sum() >= least)

    def _purest(self, rows: Rows, tree: Tree, feature: int) -> tuple[Float, Bool] | None:
        """Return the purest division with a gap: along a question's own direction, or a column."""
        p = self.table.shape[1]
        directions = list(np.eye(p)[np.ptp(self.unit_values[rows], axis=0) > 0])
        combination = tree.combination_of(feature)
        if combination is not None and len(combination.columns) <= self.most_columns:
            own = np.zeros(p)
            own[list(combination.columns)] = combination.coefficients
            own *= self.scales
            directions.insert(0, own / np.abs(own).sum())
        values, classes = self.unit_values[rows], self.problem.classes[rows]
        weights = self.problem.weights[rows].astype(np.float64)
        best: tuple[float, Float, Bool] | None = None
        for direction in directions:
            sums = values @ direction
            order = np.argsort(sums, kind="stable")
            wide = np.flatnonzero(np.diff(sums[order]) >= self.settings.gap)
            totals = np.zeros((len(rows), self.n_classes))
            totals[np.arange(len(rows)), classes[order]] = weights[order]
            below = np.cumsum(totals, axis=0)
            for k in wide.tolist():
                left = sums <= sums[order[k]]
                if not self._large_enough(rows, left):
                    continue
                impurity = _impurity(below[k]) + _impurity(below[-1] - below[k])
                if best is None or impurity < best[0] - 1e-9:
                    best = (impurity, direction, left)
        return None if best is None else (best[1], best[2])

    def _point(self, root: ObliqueNode) -> Float:
        """Write a tree as a point of the model."""
        point = np.zeros(self.model.n_variables)
        leaf = np.zeros(self.problem.n_rows, dtype=np.int64)
        waiting = [(0, root)]
        while waiting:
            at, node = waiting.pop()
            if node.direction is None or node.left is None or node.right is None:
                place = int(self._leaf_at(np.array([at]))[0])
                leaf[node.rows] = place
                point[self.l[place]] = 1.0
                point[self.c[node.label, place]] = 1.0
                continue
            left, right, a = node.left, node.right, node.direction
            a = a / np.abs(a).sum()
            if self.settings.tighten and 0 in right.rows:
                left, right, a = right, left, -a
            point[self.d[at]] = 1.0
            point[self.a[:, at]] = a
            point[self.size[:, at]] = np.abs(a)
            point[self.s[:, at]] = a != 0
            point[self.b[at]] = (self.unit_values[right.rows] @ a).min()
            waiting += [(2 * at + 1, left), (2 * at + 2, right)]
        placed = leaf[self.rows.source]
        point[self.z[np.arange(self.rows.n), placed]] = 1.0
        if self.settings.tighten:
            point[self.u] = point[self.c].sum(axis=1) < 0.5
        self._encode_rest(point, placed)
        self._encode_counts(point)
        return point


def _impurity(totals: Float) -> float:
    weight = float(totals.sum())
    return weight - float(np.square(totals).sum()) / weight if weight > 0 else 0.0


def _must_be_numbers(problem: Problem, table: Float) -> None:
    """Refuse tables that have no hyperplanes."""
    names = problem.feature_names
    for column, levels in enumerate(problem.categories):
        wrong = "categories" if levels is not None else ""
        if not wrong and not np.isfinite(table[:, column]).all():
            wrong = "missing or infinite values"
        if not wrong and np.ptp(table[:, column] / 4) > np.finfo(np.float64).max / 4:
            wrong = "a range beyond all floats"
        if wrong:
            name = f"x{column}" if names is None else names[column]
            raise ValueError(
                "The 'formulation' parameter of MIPTreeClassifier can be 'oct-h' for tables of "
                f"finite numbers. Got {wrong} in column '{name}': fill missing ones in, make "
                "columns of 0 and 1 of categories, or divide large numbers."
            )
