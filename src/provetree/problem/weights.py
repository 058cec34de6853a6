"""Integer weights: proofs are in integers, so row weights become integers.

Whole numbers, short decimals and simple ratios (as of ``class_weight="balanced"``) are kept
exactly. Other weights are scaled and rounded, and the largest relative error is reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from provetree.number_types import Float, Int

#: The engines add up weights in 32 bits, with a sign and a bit to spare.
MAX_TOTAL_WEIGHT = 2**30

_MOST_DECIMALS = 9
_MOST_RATIOS = 64  # most distinct weights for which a common denominator is sought
_MOST_DENOMINATOR = 2**20
_ROUNDING = 2.0**-51  # rounding error that a few float operations may add to a ratio


@dataclass(frozen=True, eq=False)
class IntegerWeights:
    """Row weights as integers."""

    weights: Int
    scale: Fraction  # integer units per unit of the user's weight
    error: float  # the largest relative error by rounding; 0.0 when all are kept exactly


def integer_weights(weights: Float) -> IntegerWeights:
    """Return positive, finite weights as integers with a total of at most 2**30.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.weights import integer_weights
    >>> exact = integer_weights(np.array([0.5, 1.5, 2.0]))
    >>> exact.weights.tolist(), exact.scale, exact.error
    ([1, 3, 4], Fraction(2, 1), 0.0)
    """
    for decimals in range(_MOST_DECIMALS + 1):
        exact = _as_decimals(weights, decimals)
        if exact is not None:
            return exact
    return _as_ratios(weights) or _rounded(weights)


def as_decimal(x: float) -> Fraction:
    """Return the decimal number a person would write for ``x``, exactly: 7/100 for 0.07."""
    return Fraction(repr(float(x)))


def _as_decimals(weights: Float, decimals: int) -> IntegerWeights | None:
    power = 10.0**decimals
    with np.errstate(over="ignore"):
        whole = np.rint(weights * power)
    # Division rounds correctly, so this holds exactly when the weights are these decimals.
    if whole.max() >= 2.0**53 or not np.array_equal(whole / power, weights):
        return None
    return _if_small(whole.astype(np.int64), Fraction(10**decimals))


def _as_ratios(weights: Float) -> IntegerWeights | None:
    distinct, place = np.unique(weights, return_inverse=True)
    if len(distinct) > _MOST_RATIOS:
        return None
    unit = float(distinct[0])
    ratios = []
    for weight in distinct.tolist():
        if weight / unit > MAX_TOTAL_WEIGHT:
            return None
        ratio = Fraction(weight / unit)
        simple = ratio.limit_denominator(_MOST_DENOMINATOR)
        if abs(simple - ratio) > ratio * Fraction(_ROUNDING):
            return None
        ratios.append(simple)
    common = math.lcm(*(ratio.denominator for ratio in ratios))
    wholes = [int(ratio * common) for ratio in ratios]
    if wholes[-1] > MAX_TOTAL_WEIGHT:
        return None
    per_row = np.array(wholes, dtype=np.int64)[place.reshape(-1)]
    return _if_small(per_row, common / Fraction(repr(unit)))


def _if_small(whole: Int, scale: Fraction) -> IntegerWeights | None:
    divisor = int(np.gcd.reduce(whole))
    whole = whole // divisor
    if float(whole.sum(dtype=np.float64)) > MAX_TOTAL_WEIGHT:
        return None
    return IntegerWeights(whole, scale / divisor, 0.0)


def _rounded(weights: Float) -> IntegerWeights:
    largest = float(weights.max())
    shares = weights / largest  # so that no sum overflows, however large the weights
    # Room for every row to be rounded up, and for tiny weights to count as one unit.
    factor = (MAX_TOTAL_WEIGHT - len(weights)) / float(shares.sum())
    whole = np.maximum(np.rint(shares * factor), 1.0)
    with np.errstate(divide="ignore", over="ignore"):
        error = float(np.max(np.abs(whole / (shares * factor) - 1.0)))
    return IntegerWeights(whole.astype(np.int64), Fraction(factor) / Fraction(largest), error)
