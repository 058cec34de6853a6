"""What the nodes of a tree hold, worked out on the rows of a problem that reach them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.number_types import Float
from provetree.problem.losses import class_cost, median_of
from provetree.tree.values import Actions, ClassTotals, Numbers, Values

if TYPE_CHECKING:
    from provetree.problem.problem import Problem

__all__ = ["OnRows"]


class OnRows:
    """A tree of splits on ordered columns, in preorder, on the rows of a problem.

    The column of a leaf is -1, and rows of at most the rank of a split go left. Each figure is
    worked out once. Means, medians and totals come from correctly rounded sums, so that they depend
    neither on the order of the rows nor on a large offset.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.tree.node_values import OnRows
    >>> problem = build_problem([[1], [2], [4]], [5.0, 6.0, 9.0], loss="squared_error", max_depth=1)
    >>> tree = OnRows(problem, [0, -1, -1], [1, 0, 0])
    >>> tree.leaves_cost([-1, 0, 0]), tree.values.value.ravel().tolist()
    (0.5, [6.666666666666667, 5.5, 9.0])
    """

    def __init__(self, problem: Problem, columns: list[int], ranks: list[int]) -> None:
        self.problem, self.columns, self.ranks = problem, columns, ranks
        with_rows = problem.targets is not None
        self.routed = _core.route_rows(problem.table, columns, ranks, with_rows)

    @cached_property
    def leaves(self) -> list[int]:
        """The numbers of the leaves."""
        return [node for node, column in enumerate(self.columns) if column < 0]

    @property
    def weight(self) -> Float:
        """The weight of the rows of each node, in the user's units."""
        return self.problem.to_user_weight(self.routed["weights"].sum(axis=1))

    @cached_property
    def values(self) -> Values:
        """What the nodes hold."""
        problem = self.problem
        if problem.predicts == "classes" or problem.targets is None:
            return ClassTotals(problem.to_user_weight(self._class_weights))
        if problem.predicts == "numbers":
            return self._numbers()
        sign = -1.0 if problem.predicts == "rewards" else 1.0
        value = np.zeros((len(self.columns), problem.targets.shape[1]))  # splits follow from leaves
        value[self.leaves] = sign * self._totals / problem.weight_unit + 0.0  # no minus zero
        return Actions(value, self.weight, sign < 0)

    def leaves_cost(self, labels: Sequence[int]) -> float:
        """Return what the leaves cost on the rows, for their whole weights.

        `labels` are the actions of the leaves; where one is -1, it is what costs least.
        """
        problem = self.problem
        if problem.targets is None:
            totals = self.routed["weights"][self.leaves].tolist()
            return math.fsum(class_cost(problem.loss, of_leaf) for of_leaf in totals)
        if problem.loss != "linear":
            _, costs = self._centres
            return math.fsum(math.fsum(of_leaf) for of_leaf in costs[self.leaves].tolist())
        return math.fsum(
            min(totals) if labels[leaf] < 0 else totals[labels[leaf]]
            for leaf, totals in zip(self.leaves, self._totals.tolist(), strict=True)
        )

    @property
    def _class_weights(self) -> NDArray[np.int64]:
        """The whole weight of each class in each node."""
        problem = self.problem
        if problem.targets is None:
            return self.routed["weights"]
        # Where rows have costs of their own, the core knows no classes.
        totals = np.zeros((len(self.columns), problem.n_classes), dtype=np.int64)
        for node in range(len(self.columns)):
            rows = self._rows_of(node)
            np.add.at(totals[node], problem.classes[rows], problem.weights[rows])
        return totals

    def _numbers(self) -> Numbers:
        value, costs = self._centres
        weight, each = self.weight, costs / self.routed["weights"].sum(axis=1)[:, np.newaxis]
        squared = self.problem.loss == "squared_error"
        spread = np.sqrt(each) if squared else each
        for array in (value, weight, spread):
            array.flags.writeable = False
        return Numbers(value, weight, spread, "mean" if squared else "median")

    @cached_property
    def _centres(self) -> tuple[Float, Float]:
        """What each node predicts for each output, and what its rows cost then."""
        problem, routed = self.problem, self.routed
        assert problem.targets is not None  # for the type checker
        if problem.loss == "squared_error":
            reached = routed["rows"], routed["begin"], routed["end"]
            return _core.node_means(problem.targets, problem.weights, *reached)
        value, costs = np.empty((2, len(self.columns), problem.targets.shape[1]))
        for node in range(len(self.columns)):
            rows = self._rows_of(node)
            weights = problem.weights[rows].astype(np.float64)
            for output, targets in enumerate(problem.targets[rows].T):
                value[node, output], costs[node, output] = median_of(targets, weights)
        return value, costs

    @cached_property
    def _totals(self) -> Float:
        """The total cost of each action over the rows of each leaf."""
        problem, routed = self.problem, self.routed
        assert problem.targets is not None  # for the type checker
        begin, end = routed["begin"], routed["end"]
        return _core.node_totals(
            problem.targets,
            problem.weights,
            routed["rows"],
            [begin[leaf] for leaf in self.leaves],
            [end[leaf] for leaf in self.leaves],
        )

    def _rows_of(self, node: int) -> NDArray[np.int64]:
        routed = self.routed
        return routed["rows"][routed["begin"][node] : routed["end"][node]]
