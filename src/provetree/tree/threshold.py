"""Thresholds between two neighbouring training values.

A split is proven for the values it was trained on, so the threshold must lie between them.
Programs that read a tree often keep their data, or the threshold, in float32. The threshold is
chosen so that they agree whenever the two values differ in float32.
"""

from __future__ import annotations

import math
from ctypes import c_float

#: The largest finite float32.
_FLOAT32_MAX = float.fromhex("0x1.fffffep+127")
#: Digits of a number that may end in rounding noise, and how many fewer a clean one has.
_LONG, _SHORTER = 14, 4
#: The part of the distance of two values that counts as noise.
_NOISE = 1e-6


def midpoint(a: float, b: float) -> float:
    """Return a threshold ``t`` with ``a <= t < b``, halfway between them where possible.

    Wherever ``a`` and ``b`` differ in float32, also ``float32(a) <= t < float32(b)`` and
    ``float32(a) <= float32(t) < float32(b)`` hold. The midpoint is returned whenever it
    meets all of that, without the noise of binary arithmetic in its last digits. An
    infinite value counts as far away: the threshold between a finite and an infinite value
    is the largest finite float32, where that lies between.

    Examples
    --------
    >>> from provetree.tree.threshold import midpoint
    >>> midpoint(1.9, 3.0)
    2.45
    >>> midpoint(0.1, 1.3), (0.1 + 1.3) / 2
    (0.7, 0.7000000000000001)
    >>> midpoint(1.0, 1.0000000000000002)
    1.0
    """
    if not a < b:
        raise ValueError(f"A threshold needs two values in rising order. Got {a!r} and {b!r}.")
    a32, b32 = to_float32(a), to_float32(b)
    plain = _plain_midpoint(a, b)
    # Halfway to a value beyond float32 would itself overflow to infinity in float32.
    within_float32 = min(max(plain, -_FLOAT32_MAX), _FLOAT32_MAX)
    if a32 < b32:
        # max(a, a32) always qualifies: rounding is monotone, so a < b32 and a32 < b.
        for t in (_without_noise(plain, a, b), plain, within_float32, max(a, a32)):
            if a <= t < b and a32 <= t < b32 and a32 <= to_float32(t) < b32:
                return t
    return plain if plain < b else a


def sum_threshold(a: float, b: float) -> float:
    """Return a threshold between two sums of columns, of as few digits as the distance allows.

    It lies in the middle half between the two, where no rounding of the sums can reach it; where
    they are neighbours in float64 it is the lower one. Zero is the shortest number of all.

    Examples
    --------
    >>> from provetree.tree.threshold import sum_threshold
    >>> sum_threshold(2.83, 3.29), sum_threshold(-1.0, 2.0), sum_threshold(3.21, 3.22)
    (3.0, 0.0, 3.215)
    """
    quarter = b / 4 - a / 4
    low, high = a + quarter, b - quarter
    middle = a / 2 + b / 2
    if low <= 0 <= high:
        return 0.0
    for digits in range(1, 18):
        t = float(f"{middle:.{digits}g}")
        if a <= t < b and low <= t <= high:
            return t
    return middle if a <= middle < b else a


def _without_noise(middle: float, a: float, b: float) -> float:
    """Return the short decimal that differs from the number only by rounding, if there is one.

    The middle of 2794.41 and 2798.4 is 2796.4049999999997; people mean 2796.405.
    """
    if len(repr(middle)) <= _LONG:
        return middle
    short = float(f"{middle:.14g}")
    near = abs(short - middle) <= _NOISE * (b - a)
    return short if near and len(repr(short)) <= len(repr(middle)) - _SHORTER else middle


def _plain_midpoint(a: float, b: float) -> float:
    if math.isinf(a) or math.isinf(b):
        if math.isinf(a) and math.isinf(b):
            return 0.0
        if math.isinf(b):
            return _FLOAT32_MAX if a <= _FLOAT32_MAX else a
        return -_FLOAT32_MAX if b > -_FLOAT32_MAX else math.nextafter(b, -math.inf)
    middle = (a + b) / 2
    if math.isinf(middle):
        middle = a / 2 + b / 2
    return middle


def to_float32(x: float) -> float:
    """Round to float32 as a C cast does, without the warning NumPy gives on overflow."""
    return c_float(x).value
