"""Model (P) of Ales, Huré and Lambert (2024), section 2.1: errors first, then fewest splits."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import numpy as np

from provetree.formulations.thresholds import ThresholdModel
from provetree.number_types import Float, Int
from provetree.solvers.model import Expression, ModelBuilder

__all__ = ["ModelP"]


class ModelP(ThresholdModel):
    """Model (P).

    With n rows, J columns, K classes, B branches and L = B + 1 leaves of depth delta, it has
    ``JB + 2B + KL + L + nL + nKL`` variables and
    ``3B + 2L + nL + delta L / 2 + n + n delta L + nKL`` constraints.

    The penalty of a split is ``1 / (gamma + 1)``, gamma being the limit on splits: all splits
    together weigh less than one error.

    Without ``max_splits``, gamma is the number of branches.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.formulations.formulation import Settings
    >>> from provetree.formulations.p import ModelP
    >>> problem = build_problem([[1.0], [2.0], [5.0]], [0, 1, 0], n_classes=2, max_depth=1)
    >>> model = ModelP(problem, Settings(depth=1)).model
    >>> model.n_variables, model.n_constraints
    (27, 35)
    """

    name: ClassVar[str] = "p"
    title: ClassVar[str] = "(P)"
    numbers: ClassVar[dict[str, str]] = {
        "one column": "(1)",
        "threshold": "(2)",
        "hierarchy": "(3)",
        "open": "(7)",
        "least rows": "(6)",
        "closed": "(8)",
        "one leaf": "(9)",
        "left": "(10)",
        "right": "(11)",
    }

    def _build(self, builder: ModelBuilder) -> None:
        rows, layout = self.rows, self.layout
        n, n_leaves, n_classes = rows.n, layout.n_leaves, self.n_classes
        limit = self.settings.max_splits
        gamma = layout.n_branches if limit is None else limit
        self._split_variables(builder)
        self.c = builder.variables("c", (n_classes, n_leaves), upper=1, integer=True)
        wrong = rows.classes[:, np.newaxis] != np.arange(n_classes)
        cost = np.where(wrong, rows.weights[:, np.newaxis], 0.0)[:, :, np.newaxis]
        shape = (n, n_classes, n_leaves)
        self.theta = builder.variables("theta", shape, upper=1, cost=cost, step=1.0)
        self.penalty = Fraction(1, gamma + 1)
        builder.cost(self.d, self.model_penalty)

        self._split_constraints(builder)
        builder.add("(4)", (), (self.d, 1.0), upper=gamma, meaning="limit on splits")
        self._label_constraints(builder, "(5)")
        self._leaf_constraints(builder)
        self._closed_leaves(builder, self.numbers["closed"])
        self._path_constraints(builder)
        builder.add(
            "(12)",
            shape,
            (self.theta, 1.0),
            (self.c, -1.0),
            (self.z[:, np.newaxis], -1.0),
            lower=-1,
            meaning="a row in a leaf of a class is counted",
        )
        if self.settings.tighten:
            self._symmetry_cuts(builder)
            amounts = np.broadcast_to(cost, shape).reshape(-1)
            wrong_places = np.flatnonzero(amounts)
            errors = Expression(self.theta.reshape(-1)[wrong_places], amounts[wrong_places])
            self._class_cuts(builder, errors)
            self._tight_counts(builder)

    def _tight_counts(self, builder: ModelBuilder) -> None:
        """Add that a row in a leaf is counted for one class, and for that of the leaf."""
        n, _, n_leaves = self.theta.shape
        builder.add(
            "tight: counts",
            (n, n_leaves),
            (self.theta.transpose(0, 2, 1), 1.0),
            (self.z, -1.0),
            equals=0,
            meaning="a row in a leaf is counted once",
        )
        meaning = "a row is counted for the class of its leaf"
        builder.at_most("tight: classes", self.theta, self.c, meaning)

    def _encode_rest(self, point: Float, leaf: Int) -> None:
        point[self.theta] = point[self.c] * point[self.z][:, np.newaxis]
