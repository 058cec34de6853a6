"""OCT, the model of Bertsimas and Dunn, as Vääräniemi (2023) states it with a corrected epsilon.

Constraints carry the numbers of the thesis; those of its model (9) without a number of their own
are "(9)" with a word. Section 3.4, a limit on splits, turns (7) into an inequality.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from provetree.formulations.thresholds import ThresholdModel
from provetree.number_types import Float, Int
from provetree.solvers.model import Expression, ModelBuilder

__all__ = ["OCT"]


class OCT(ThresholdModel):
    """The model OCT.

    With n rows, p columns, K classes, B branches and L = B + 1 leaves of depth D, it has
    ``pB + 2B + nL + 3L + 2KL + 1`` variables and
    ``nDL + nL + n + 3KL + 3L + 3B`` constraints.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.formulations.formulation import Settings
    >>> from provetree.formulations.oct import OCT
    >>> problem = build_problem([[1.0], [2.0], [5.0]], [0, 1, 0], n_classes=2, max_depth=1)
    >>> model = OCT(problem, Settings(depth=1)).model
    >>> model.n_variables, model.n_constraints
    (24, 36)
    >>> model.variable_names()[:6]
    ['a_1_1', 'b_1', 'd_1', 'z_1_1', 'z_1_2', 'z_2_1']
    """

    name: ClassVar[str] = "oct"
    title: ClassVar[str] = "OCT"
    numbers: ClassVar[dict[str, str]] = {
        "one column": "(1) sum a = d",
        "threshold": "(1) b <= d",
        "hierarchy": "(2)",
        "open": "(3) z <= l",
        "least rows": "(3) N_min",
        "one leaf": "(4)",
        "left": "(5) left",
        "right": "(5) right",
    }

    def _build(self, builder: ModelBuilder) -> None:
        settings = self.settings
        n_leaves, total = self.layout.n_leaves, self.total_weight
        self.scale = self.unit / settings.baseline
        self._split_variables(builder)
        shape = (self.n_classes, n_leaves)
        self.c = builder.variables("c", shape, upper=1, integer=True)
        self.loss = builder.variables("L", n_leaves, upper=total, cost=self.scale, step=1.0)
        self.n_class = builder.variables("N_k", shape, upper=total, step=1.0)
        self.n_leaf = builder.variables("N", n_leaves, upper=total, step=1.0)
        self._loss_constraints(builder)
        self._count_constraints(builder)
        self._label_constraints(builder, "(6) one label")
        self._price_splits(builder)
        self._path_constraints(builder)
        self._leaf_constraints(builder)
        self._split_constraints(builder)
        if settings.tighten:
            self._symmetry_cuts(builder)
            self._class_cuts(builder, Expression(self.loss, np.ones(n_leaves)))

    def _loss_constraints(self, builder: ModelBuilder) -> None:
        """Add what is lost in a leaf: the rows that are not of its class."""
        settings, total, shape = self.settings, self.total_weight, self.c.shape
        # A leaf can hold no more of the other classes than there are; the thesis takes all rows.
        most = np.full(shape, total)
        if settings.tighten:
            most[:] = (total - self.class_weights)[:, np.newaxis]
        loss = ((self.loss, 1.0), (self.n_leaf, -1.0), (self.n_class, 1.0))
        builder.add(
            "(9) L lower",
            shape,
            *loss,
            (self.c, -most),
            lower=-most,
            meaning="the loss of a leaf, at least",
        )
        if settings.side is None or not settings.side.chooses_labels:
            # It makes the class of a leaf the one of most rows. Minimising does so by itself,
            # and under side constraints another class may be needed.
            builder.add("(9) L upper", shape, *loss, upper=0, meaning="the loss of a leaf, at most")

    def _count_constraints(self, builder: ModelBuilder) -> None:
        """Add the numbers of rows in leaves, by class and of all."""
        rows, n_leaves = self.rows, self.layout.n_leaves
        for k in range(self.n_classes):
            of_class = np.flatnonzero(rows.classes == k)
            builder.add(
                f"(9) N_k, class {k + 1}",
                n_leaves,
                (self.n_class[k], 1.0),
                (self.z[of_class].T, -rows.weights[of_class]),
                equals=0,
                meaning="rows of the class in a leaf",
            )
        builder.add(
            "(9) N",
            n_leaves,
            (self.n_leaf, 1.0),
            (self.z.T, -rows.weights),
            equals=0,
            meaning="rows in a leaf",
        )

    def _price_splits(self, builder: ModelBuilder) -> None:
        """Add the price of splits, or the limit on them."""
        settings = self.settings
        alpha = float(settings.penalty / settings.baseline)
        self.n_splits = None
        if settings.max_splits is None:
            most = self.layout.n_branches
            self.n_splits = builder.variables("C", upper=most, cost=alpha, step=1.0)
            builder.add(
                "(7)",
                (),
                (self.n_splits, 1.0),
                (self.d, -1.0),
                equals=0,
                meaning="number of splits",
            )
            return
        if alpha > 0:  # the thesis has one or the other
            builder.cost(self.d, alpha)
        self._limit_splits(builder, "(7) at most", self.d)

    def _encode_rest(self, point: Float, leaf: Int) -> None:
        totals = np.zeros((self.n_classes, self.layout.n_leaves))
        np.add.at(totals, (self.rows.classes, leaf), self.rows.weights)
        point[self.n_class] = totals
        point[self.n_leaf] = totals.sum(axis=0)
        point[self.loss] = totals.sum(axis=0) - (totals * point[self.c]).sum(axis=0)
        if self.n_splits is not None:
            point[self.n_splits] = point[self.d].sum()
