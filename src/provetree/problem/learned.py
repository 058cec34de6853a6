"""What a tree is to learn about each row of a table: a class, numbers, or the costs of actions."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.number_types import Float, Int, Int32
from provetree.problem.checks import check_classes, check_targets, check_weights
from provetree.problem.losses import LOSSES, OF_NUMBERS, OF_TARGETS
from provetree.problem.weights import MAX_TOTAL_WEIGHT, IntegerWeights, integer_weights

__all__ = ["Learned", "Predicts", "present_rows", "what_is_learned", "whole_weights"]

#: What leaves predict: classes, numbers, or the action of least cost or of largest reward. Rewards
#: are costs of the other sign.
Predicts: TypeAlias = Literal["classes", "numbers", "costs", "rewards"]

_ONE = Fraction(1)


class Learned(NamedTuple):
    """What a tree is to learn about each row: its class, or its targets, or both.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.learned import Learned
    >>> learned = Learned(np.array([0, 1]), 2, None, "classes", np.array([[0.0, 5.0], [1.0, 0.0]]))
    >>> learned.merges, learned.targets_of(np.array([1])).tolist()
    (True, [[1.0, 0.0]])
    """

    classes: Int32
    n_classes: int
    targets: Float | None  # of each row by itself
    predicts: Predicts
    cost_matrix: Float | None = None  # targets by class

    @property
    def merges(self) -> bool:
        """Whether rows that agree in all columns and in the class are the same to every tree."""
        return self.targets is None

    def of_rows(self, rows: NDArray[np.bool_]) -> Learned:
        """Return what is learned about some of the rows."""
        targets = None if self.targets is None else self.targets[rows]
        return self._replace(classes=self.classes[rows], targets=targets)

    def targets_of(self, rows: Int) -> Float | None:
        """Return the targets of some of the rows, None where classes are all there is."""
        if self.cost_matrix is not None:
            return np.ascontiguousarray(self.cost_matrix[self.classes[rows]])
        return None if self.targets is None else np.ascontiguousarray(self.targets[rows])


def what_is_learned(
    table: Float,
    y: ArrayLike,
    n_classes: int | None,
    loss: str,
    targets: ArrayLike | None,
    predicts: Predicts | None,
    cost_matrix: ArrayLike | None = None,
) -> Learned:
    """Return classes and targets of the rows of a table; raise if they are wrong."""
    if loss not in LOSSES:
        raise ValueError(
            f"The 'loss' must be one of {', '.join(map(repr, LOSSES))}. Got {loss!r} instead."
        )
    if loss not in OF_TARGETS:
        if n_classes is None or targets is not None or cost_matrix is not None:
            raise ValueError(
                f"The loss {loss!r} needs 'n_classes' and takes no 'targets' and no 'cost_matrix'."
            )
        codes = np.asarray(y)
        check_classes(table, codes, n_classes)
        return Learned(codes.astype(np.int32), int(n_classes), None, "classes")
    if cost_matrix is not None:
        return _by_class(table, np.asarray(y), loss, n_classes, cost_matrix)
    if targets is None:
        numbers, codes, n_classes = np.array(y, dtype=np.float64), np.zeros(len(table), int), 1
        if predicts is None:
            predicts = "numbers" if loss in OF_NUMBERS else "costs"
    else:
        numbers, codes = np.array(targets, dtype=np.float64), np.asarray(y)
    check_classes(table, codes, n_classes or 1)
    check_targets(numbers, len(table))
    numbers = np.ascontiguousarray(numbers.reshape(len(table), -1))
    return Learned(codes.astype(np.int32), int(n_classes or 1), numbers, predicts or "classes")


def _by_class(
    table: Float,
    codes: NDArray[np.generic],
    loss: str,
    n_classes: int | None,
    cost_matrix: ArrayLike,
) -> Learned:
    costs = np.array(cost_matrix, dtype=np.float64)
    n_classes = len(costs) if n_classes is None else int(n_classes)
    check_classes(table, codes, n_classes)
    if loss != "linear" or costs.shape != (n_classes, n_classes):
        raise ValueError(
            "The 'cost_matrix' needs the loss 'linear' and one row and column for each class. "
            f"Got the loss {loss!r}, {n_classes} classes and an array of shape {costs.shape}."
        )
    check_targets(costs, n_classes)
    return Learned(codes.astype(np.int32), n_classes, None, "classes", costs)


def present_rows(
    table: Float, learned: Learned, sample_weight: ArrayLike | None, loss: str
) -> tuple[Float, Learned, IntegerWeights]:
    """Return the rows of a weight above zero, with whole weights."""
    if sample_weight is None:
        ones = np.ones(len(table), dtype=np.int64)
        return table, learned, IntegerWeights(ones, _ONE, 0.0)
    given = check_weights(sample_weight, len(table))
    present = given > 0
    if not present.all():
        table, learned, given = table[present], learned.of_rows(present), given[present]
    return table, learned, whole_weights(given, loss)


def whole_weights(weights: Float, loss: str) -> IntegerWeights:
    """Return weights above zero as whole numbers, in the way that a loss needs."""
    return counted_weights(weights) if loss == "pessimistic" else integer_weights(weights)


def counted_weights(weights: Float) -> IntegerWeights:
    """Return weights that count rows, as they are.

    A loss that depends on how many rows there are needs them. The others scale with the weights, so
    that these may be any numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.learned import counted_weights
    >>> counted_weights(np.array([2.0, 4.0])).weights.tolist()
    [2, 4]
    >>> counted_weights(np.array([2.0, 0.5]))
    Traceback (most recent call last):
        ...
    ValueError: The criterion 'pessimistic' counts rows, so that weights must be whole numbers. \
Got 0.5.
    """
    odd = weights[weights != np.rint(weights)]
    if len(odd):
        raise ValueError(
            "The criterion 'pessimistic' counts rows, so that weights must be whole numbers. "
            f"Got {odd[0]:g}."
        )
    total = float(weights.sum())
    if total > MAX_TOTAL_WEIGHT:
        raise ValueError(
            "The criterion 'pessimistic' counts rows, so that weights must add up to at most "
            f"{MAX_TOTAL_WEIGHT}. Got {total:g}."
        )
    return IntegerWeights(weights.astype(np.int64), Fraction(1), 0.0)
