"""The losses a tree can be chosen by, and exactly what a leaf costs under each of them.

Engines prove in whole units and may round (see :class:`~provetree.problem.cost_scale.CostScale`).
The figures that users see are worked out here, on the rows: sums are rounded once
(:mod:`provetree.problem.sums`), so they depend neither on the order of the rows nor on a large
offset of the targets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.number_types import Float, Int
from provetree.problem.sums import exact_sum, exact_sums

if TYPE_CHECKING:
    from provetree.problem.problem import Problem

__all__ = [
    "LOSSES",
    "OF_NUMBERS",
    "OF_TARGETS",
    "Centre",
    "action_totals",
    "class_cost",
    "leaf_cost",
    "mean_of",
    "median_of",
    "targets_cost",
    "whole_totals",
]

#: Losses of numbers: what a leaf predicts is a mean or a median.
OF_NUMBERS = ("squared_error", "absolute_error")
#: Losses that need targets: numbers, or the cost of each action.
OF_TARGETS = (*OF_NUMBERS, "linear")
#: All losses, by the names the core knows.
LOSSES = ("errors", "gini", "entropy", "pessimistic", *OF_TARGETS)


class Centre(NamedTuple):
    """What a leaf predicts for one output, and what its rows cost then."""

    value: float
    cost: float


def mean_of(targets: Float, weights: Float) -> Centre:
    """Return the weighted mean of one output, and the sum of squares around it.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.losses import mean_of
    >>> mean_of(1e9 + np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0]))
    Centre(value=1000000001.0, cost=2.0)
    """
    return Centre(*_core.mean_and_squares(targets, weights))


def median_of(targets: Float, weights: Float) -> Centre:
    """Return the weighted median of one output, and the sum of distances from it.

    Where half of the weight lies on each side of a gap, the median is the middle of the gap.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.losses import median_of
    >>> median_of(np.array([4.0, 1.0, 2.0, 9.0]), np.ones(4))
    Centre(value=3.0, cost=10.0)
    """
    order = np.argsort(targets, kind="stable")
    ranked = targets[order]
    reached = np.cumsum(weights[order])  # whole numbers below 2**53: exact
    at = int(np.searchsorted(reached, reached[-1] / 2))
    median = float(ranked[at])
    if 2 * reached[at] == reached[-1] and at + 1 < len(ranked):
        median = median / 2 + float(ranked[at + 1]) / 2
    return Centre(median, exact_sum(weights * np.abs(targets - median)))


#: What a leaf predicts for one output, by the loss.
CENTRES: dict[str, Callable[[Float, Float], Centre]] = {
    "squared_error": mean_of,
    "absolute_error": median_of,
}


def action_totals(targets: Float, weights: Float) -> list[float]:
    """Return the total cost of each action, one column each.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.losses import action_totals
    >>> action_totals(np.array([[1.0, 0.5], [2.0, -1.0]]), np.array([1.0, 3.0]))
    [7.0, -2.5]
    """
    return exact_sums(np.multiply(targets.T, weights, order="C"))


def class_cost(loss: str, totals: Sequence[int]) -> float:
    """Return what a leaf costs whose classes have these whole weights.

    Examples
    --------
    >>> from provetree.problem.losses import class_cost
    >>> class_cost("errors", [3, 1]), class_cost("gini", [3, 1])
    (1.0, 1.5)
    """
    whole = sum(totals)
    wrong = whole - max(totals)
    if loss == "errors":
        return float(wrong)
    if loss == "gini":
        # Whole numbers up to the division, which rounds once.
        return (whole * whole - sum(n * n for n in totals)) / whole if whole else 0.0
    if loss == "entropy":
        return math.fsum(n * math.log(whole / n) for n in totals if n)
    if loss == "pessimistic":
        return wrong + _added_errors(whole, wrong)
    raise ValueError(f"The loss {loss!r} is not one of classes.")


#: C4.5's confidence level, and the square of the normal quantile that belongs to it.
_CONFIDENCE, _QUANTILE_SQUARED = 0.25, 0.6744897501960817**2


def _added_errors(rows: float, wrong: float) -> float:
    """Return the errors that C4.5 adds to those seen in a leaf (AddErrs)."""
    if rows <= 0:
        return 0.0
    if wrong < 1:  # whole weights: none wrong
        return rows * -math.expm1(math.log(_CONFIDENCE) / rows)
    if wrong + 0.5 >= rows:
        return 0.67 * (rows - wrong)
    seen, z = wrong + 0.5, _QUANTILE_SQUARED
    spread = math.sqrt(z * (seen * (1 - seen / rows) + z / 4))
    # Wilson's upper bound times the rows, less the errors: one fraction, where nothing cancels.
    return (rows * (0.5 + z / 2 + spread) - wrong * z) / (rows + z)


def whole_totals(problem: Problem, rows: Int | slice) -> list[int]:
    """Return the whole weight of each class among rows of a problem."""
    totals = np.zeros(problem.n_classes, dtype=np.int64)
    np.add.at(totals, problem.classes[rows], problem.weights[rows])
    return [int(total) for total in totals]


def leaf_cost(problem: Problem, rows: NDArray[np.intp] | slice, label: int | None = None) -> float:
    """Return what a leaf of these rows of a problem costs, for its whole weights.

    `label` is the action of the leaf; without it, the leaf predicts what costs least.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.problem.losses import leaf_cost
    >>> problem = build_problem([[1], [2], [3]], [5.0, 6.0, 7.0], loss="squared_error", max_depth=1)
    >>> leaf_cost(problem, slice(None))
    2.0
    """
    if problem.targets is None:
        return class_cost(problem.loss, whole_totals(problem, rows))
    targets, weights = problem.targets[rows], problem.weights[rows].astype(np.float64)
    return targets_cost(problem.loss, targets, weights, label)


def targets_cost(loss: str, targets: Float, weights: Float, label: int | None = None) -> float:
    """Return what a leaf of rows with these targets costs; see :func:`leaf_cost`.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.losses import targets_cost
    >>> targets_cost("linear", np.array([[1.0, 0.5], [2.0, -1.0]]), np.array([1.0, 3.0]), 0)
    7.0
    """
    if loss == "linear":
        totals = action_totals(targets, weights)
        return min(totals) if label is None else totals[label]
    centre = CENTRES[loss]
    return math.fsum(centre(output, weights).cost for output in targets.T)
