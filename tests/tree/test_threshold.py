from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from provetree.tree.threshold import midpoint

FLOAT32_MAX = float(np.finfo(np.float32).max)
FLOAT64_MAX = float(np.finfo(np.float64).max)


def next_in_float32(x: float) -> float:
    with np.errstate(over="ignore", under="ignore"):  # the one after the largest is infinite
        return float(np.nextafter(np.float32(x), np.float32(np.inf)))


numbers = st.floats(allow_nan=False)
# Pairs that are neighbours in float64 or in float32, where the trouble is.
close_pairs = st.one_of(
    numbers.map(lambda a: (a, math.nextafter(a, math.inf))),
    st.floats(width=32, allow_nan=False).map(lambda a: (a, next_in_float32(a))),
    st.tuples(st.floats(width=32, allow_nan=False), st.floats(-1e-7, 1e-7)).map(
        lambda ab: (ab[0], ab[0] * (1 + ab[1]))
    ),
)


def to_float32(x: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.float32(x))


@given(st.one_of(st.tuples(numbers, numbers), close_pairs))
@example((0.0, 5e-324))
@example((-5e-324, 0.0))
@example((5e-324, 1e-323))
@example((-math.inf, math.inf))
@example((-math.inf, -FLOAT64_MAX))
@example((-math.inf, -FLOAT32_MAX))
@example((FLOAT32_MAX, math.inf))
@example((FLOAT64_MAX, math.inf))
@example((-FLOAT64_MAX, FLOAT64_MAX))
@example((1e10, 1e300))
@example((-1e300, 1e10))
def test_thresholds_route_both_values_in_both_precisions(pair: tuple[float, float]) -> None:
    a, b = min(pair), max(pair)
    if not a < b:
        return
    t = midpoint(a, b)
    assert a <= t < b
    a32, b32 = to_float32(a), to_float32(b)
    if a32 < b32:
        assert a32 <= t < b32
        assert a32 <= to_float32(t) < b32


@given(st.floats(-1e30, 1e30), st.floats(-1e30, 1e30))
def test_the_midpoint_is_kept_wherever_float32_allows_it(x: float, y: float) -> None:
    a, b = min(x, y), max(x, y)
    # With room for several float32 between the two, nothing speaks against the middle.
    if to_float32(b) - to_float32(a) > 4 * np.spacing(np.float32(max(abs(a), abs(b)))):
        assert abs(midpoint(a, b) - (a + b) / 2) <= 1e-6 * (b - a)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (2794.41, 2798.4, 2796.405),
        (0.1, 1.3, 0.7),
        (1.1, 2.2, 1.65),
        (-0.3, 0.1, -0.1),
        # Nothing shorter is near: the middle itself.
        (1 / 3, 1 / 7, (1 / 3 + 1 / 7) / 2),
        (1e15 + 1, 1e15 + 2, 1e15 + 1.5),
    ],
)
def test_no_noise_in_the_last_digits(a: float, b: float, expected: float) -> None:
    assert midpoint(min(a, b), max(a, b)) == expected


@pytest.mark.parametrize(
    ("a", "b", "t"),
    [
        (1.9, 3.0, 2.45),
        (0.0, 1.0, 0.5),
        (37.0, 38.0, 37.5),
        (5.0, math.inf, FLOAT32_MAX),
        (-math.inf, 5.0, -FLOAT32_MAX),
        (-math.inf, math.inf, 0.0),
        (FLOAT64_MAX, math.inf, FLOAT64_MAX),
        (-FLOAT64_MAX, FLOAT64_MAX, 0.0),
    ],
)
def test_thresholds_people_would_choose(a: float, b: float, t: float) -> None:
    assert midpoint(a, b) == t


def test_unix_seconds_are_told_apart_though_float32_cannot() -> None:
    assert midpoint(1_700_000_000.0, 1_700_000_001.0) == 1_700_000_000.5


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (0.0, -0.0)])
def test_values_out_of_order_are_refused(a: float, b: float) -> None:
    with pytest.raises(ValueError, match="rising order"):
        midpoint(a, b)
