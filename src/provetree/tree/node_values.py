"""What the nodes of a tree hold, worked out on the rows of a problem that reach them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.problem.losses import CENTRES, action_totals, leaf_cost, whole_totals
from provetree.tree.values import Actions, ClassTotals, Numbers, Values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provetree.problem.problem import Problem

__all__ = ["leaves_cost", "node_rows", "values_on_rows"]

Rows: TypeAlias = NDArray[np.intp]


def node_rows(problem: Problem, columns: Sequence[int], ranks: Sequence[int]) -> list[Rows]:
    """Return the rows of a problem that reach each node of a tree, in preorder.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.tree.node_values import node_rows
    >>> problem = build_problem([[1], [2], [4]], [0, 1, 2], n_classes=3, max_depth=1)
    >>> [len(rows) for rows in node_rows(problem, [0, -1, -1], [1, 0, 0])]
    [3, 2, 1]
    """
    found: list[Rows] = []
    waiting = [np.arange(problem.n_rows)]  # in preorder the left side comes next
    for column, rank in zip(columns, ranks, strict=True):
        rows = waiting.pop()
        found.append(rows)
        if column >= 0:
            left = problem.ranks[column, rows] <= rank
            waiting += [rows[~left], rows[left]]
    return found


def values_on_rows(problem: Problem, reached: Sequence[Rows]) -> Values:
    """Return what nodes hold, given the rows that reach each of them.

    Means, medians and totals are worked out from correctly rounded sums, so that they depend
    neither on the order of the rows nor on a large offset.
    """
    if problem.predicts == "classes" or problem.targets is None:
        totals = [whole_totals(problem, rows) for rows in reached]
        return ClassTotals(problem.to_user_weight(np.array(totals, dtype=np.float64)))
    if problem.predicts == "numbers":
        return _numbers(problem, reached)
    sign = -1.0 if problem.predicts == "rewards" else 1.0
    scale = problem.weight_unit
    value = [
        # No minus zero.
        [sign * total / scale + 0.0 for total in action_totals(problem.targets[rows], weights)]
        for rows, weights in zip(reached, _weights(problem, reached), strict=True)
    ]
    return Actions(np.array(value), _user_weight(problem, reached), sign < 0)


def _numbers(problem: Problem, reached: Sequence[Rows]) -> Numbers:
    assert problem.targets is not None  # for the type checker
    centre_of = CENTRES[problem.loss]
    squared = problem.loss == "squared_error"
    value, spread = np.empty((2, len(reached), problem.targets.shape[1]))
    for node, (rows, weights) in enumerate(zip(reached, _weights(problem, reached), strict=True)):
        total = float(weights.sum())
        for output, targets in enumerate(problem.targets[rows].T):
            centre = centre_of(targets, weights)
            value[node, output] = centre.value
            each = centre.cost / total
            spread[node, output] = math.sqrt(each) if squared else each
    weight = _user_weight(problem, reached)
    return Numbers(value, weight, spread, "mean" if squared else "median")


def _weights(problem: Problem, reached: Sequence[Rows]) -> list[NDArray[np.float64]]:
    return [problem.weights[rows].astype(np.float64) for rows in reached]


def _user_weight(problem: Problem, reached: Sequence[Rows]) -> NDArray[np.float64]:
    return problem.to_user_weight([float(problem.weights[rows].sum()) for rows in reached])


def leaves_cost(
    problem: Problem, columns: Sequence[int], ranks: Sequence[int], labels: Sequence[int]
) -> float:
    """Return what the leaves of a tree cost on the rows of a problem, for its whole weights.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.tree.node_values import leaves_cost
    >>> problem = build_problem([[1], [2], [4]], [0, 1, 2], n_classes=3, max_depth=1)
    >>> leaves_cost(problem, [0, -1, -1], [1, 0, 0], [-1, 0, 2])
    1.0
    """
    reached = node_rows(problem, columns, ranks)
    return math.fsum(
        leaf_cost(problem, rows, label)
        for rows, column, label in zip(reached, columns, labels, strict=True)
        if column < 0
    )
