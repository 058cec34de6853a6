from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provetree.problem.weights import MAX_TOTAL_WEIGHT, integer_weights


@pytest.mark.parametrize(
    ("weights", "whole", "scale"),
    [
        ([1.0, 1.0], [1, 1], 1),
        ([2.0, 6.0], [1, 3], Fraction(1, 2)),
        ([3.0, 6.0], [1, 2], Fraction(1, 3)),
        ([0.5, 1.5], [1, 3], 2),
        ([0.1, 0.3, 0.25], [2, 6, 5], 20),
        ([1e6] * 2000, [1] * 2000, Fraction(1, 10**6)),
        ([1e300, 3e300], [1, 3], None),
        ([5e-324, 1e-323], [1, 2], None),
        ([7 / 3, 7 / 9], [3, 1], None),
    ],
)
def test_simple_weights_are_kept_exactly(
    weights: list[float], whole: list[int], scale: Fraction | None
) -> None:
    found = integer_weights(np.array(weights))
    assert found.weights.tolist() == whole
    assert found.error == 0.0
    if scale is not None:
        assert found.scale == scale


def test_balanced_class_weights_are_kept_exactly() -> None:
    counts = np.array([762, 610])
    weights = np.repeat(counts.sum() / (2 * counts), counts)
    found = integer_weights(weights)
    assert found.error == 0.0
    assert set(found.weights.tolist()) == {305, 381}  # 610 and 762, halved
    totals = [int(found.weights[:762].sum()), int(found.weights[762:].sum())]
    assert totals[0] == totals[1]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=30))
def test_any_weights_become_small_positive_integers(given_weights: list[float]) -> None:
    weights = np.array(given_weights)
    found = integer_weights(weights)
    assert found.weights.dtype == np.int64
    assert found.weights.min() >= 1
    assert found.weights.sum() <= MAX_TOTAL_WEIGHT
    for whole, weight in zip(found.weights.tolist(), given_weights, strict=True):
        back = Fraction(whole) / found.scale
        if found.error < np.inf:  # beside huge weights, tiny ones vanish
            allowed = Fraction(weight) * Fraction(found.error * (1 + 1e-6) + 1e-14)
            assert abs(back - Fraction(weight)) <= allowed
    if weights.max() <= 1000 * weights.min():
        assert found.error <= 1e-4


def test_the_error_is_told() -> None:
    weights = np.random.default_rng(0).random(1000)
    found = integer_weights(weights)
    assert 0 < found.error < 1e-2
    back = found.weights / float(found.scale)
    assert np.max(np.abs(back / weights - 1)) == pytest.approx(found.error, rel=1e-6)


def test_large_whole_weights_that_do_not_fit_are_rounded() -> None:
    found = integer_weights(np.array([2.0**31 + 1, 2.0**31]))
    assert found.weights.sum() <= MAX_TOTAL_WEIGHT
    assert 0 < found.error < 1e-8
