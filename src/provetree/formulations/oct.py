"""OCT, the model of Bertsimas and Dunn, as Vääräniemi (2023) states it with a corrected epsilon.

Constraints carry the numbers of the thesis; those of its model (9) without a number of their own
are "(9)" with a word. Section 3.4, a limit on splits, turns (7) into an inequality.
"""

from __future__ import annotations

from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.formulations.thresholds import ThresholdModel
from provetree.solvers.model import Expression, ModelBuilder

__all__ = ["OCT"]

Float: TypeAlias = NDArray[np.float64]


class OCT(ThresholdModel):
    """The model OCT.

    With n rows, p columns, K classes, B branches and L = B + 1 leaves of depth D, it has
    ``pB + 2B + nL + 3L + 2KL + 1`` variables and
    ``nDL + nL + n + 3KL + 3L + 3B`` constraints.

    Parameters
    ----------
    problem : Problem
    settings : Settings

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
        settings, rows = self.settings, self.rows
        n_leaves, n_classes = self.layout.n_leaves, self.n_classes
        total = self.total_weight
        self.scale = self.unit / settings.baseline
        alpha = float(settings.penalty / settings.baseline)
        self._split_variables(builder)
        shape = (n_classes, n_leaves)
        self.c = builder.variables("c", shape, upper=1, integer=True)
        self.loss = builder.variables("L", n_leaves, upper=total, cost=self.scale, step=1.0)
        self.n_class = builder.variables("N_k", shape, upper=total, step=1.0)
        self.n_leaf = builder.variables("N", n_leaves, upper=total, step=1.0)

        tight = settings.tighten
        c, loss, n_class = (
            x.reshape(-1) for x in (self.c, np.tile(self.loss, (n_classes, 1)), self.n_class)
        )
        n_leaf = np.tile(self.n_leaf, n_classes)
        # A leaf can hold no more of the other classes than there are; the thesis takes all rows.
        most = np.repeat(total - self.class_weights, n_leaves) if tight else np.full(len(c), total)
        builder.constraint(
            "(9) L lower",
            np.column_stack([loss, n_leaf, n_class, c]),
            np.column_stack([np.tile([1.0, -1.0, 1.0], (len(c), 1)), -most]),
            lower=-most,
            meaning="the loss of a leaf, at least",
        )
        if settings.side is None or not settings.side.chooses_labels:
            # It makes the class of a leaf the one of most rows. Minimising does so by itself,
            # and under side constraints another class may be needed.
            builder.constraint(
                "(9) L upper",
                np.column_stack([loss, n_leaf, n_class]),
                [1.0, -1.0, 1.0],
                upper=0,
                meaning="the loss of a leaf, at most",
            )
        for k in range(n_classes):
            of_class = np.flatnonzero(rows.classes == k)
            builder.constraint(
                f"(9) N_k, class {k + 1}",
                np.column_stack([self.n_class[k], self.z[of_class].T]),
                np.append(1.0, -rows.weights[of_class]),
                lower=0,
                upper=0,
                meaning="rows of the class in a leaf",
            )
        builder.constraint(
            "(9) N",
            np.column_stack([self.n_leaf, self.z.T]),
            np.append(1.0, -rows.weights),
            lower=0,
            upper=0,
            meaning="rows in a leaf",
        )
        builder.constraint(
            "(6) one label",
            np.column_stack([self.c.T, self.l]),
            [1.0] * n_classes + [-1.0],
            lower=0,
            upper=0,
            meaning="an open leaf has one class",
        )
        self.n_splits = None
        if settings.max_splits is None:
            self.n_splits = builder.variables(
                "C", upper=self.layout.n_branches, cost=alpha, step=1.0
            )
            builder.constraint(
                "(7)",
                [np.append(self.n_splits, self.d)],
                np.append(1.0, -np.ones(len(self.d))),
                lower=0,
                upper=0,
                meaning="number of splits",
            )
        else:
            if alpha > 0:  # the thesis has one or the other
                builder.cost(self.d, alpha)
            builder.constraint(
                "(7) at most",
                [self.d],
                1.0,
                upper=settings.max_splits,
                meaning="limit on splits",
            )
        self._path_constraints(builder)
        self._leaf_constraints(builder)
        self._split_constraints(builder)
        if tight:
            self._symmetry_cuts(builder)
            self._class_cuts(builder, Expression(self.loss, np.ones(n_leaves)))

    def _encode_rest(self, point: Float, leaf: NDArray[np.int64]) -> None:
        totals = np.zeros((self.n_classes, self.layout.n_leaves))
        np.add.at(totals, (self.rows.classes, leaf), self.rows.weights)
        point[self.n_class] = totals
        point[self.n_leaf] = totals.sum(axis=0)
        point[self.loss] = totals.sum(axis=0) - (totals * point[self.c]).sum(axis=0)
        if self.n_splits is not None:
            point[self.n_splits] = point[self.d].sum()
