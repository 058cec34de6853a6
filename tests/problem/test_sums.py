"""Sums of arrays are those of ``math.fsum``, whatever the sizes of the numbers and their order."""

from __future__ import annotations

import math

import numpy as np
import pytest

from provetree.problem.losses import mean_of
from provetree.problem.sums import exact_sum, exact_sums


@pytest.mark.parametrize("seed", range(60))
def test_sums_are_rounded_once(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40_000 if seed % 10 == 0 else 2_000))
    terms = rng.normal(size=n) * 10.0 ** rng.uniform(-30, 30, n if seed % 2 else 1)
    if seed % 3 == 0:  # nearly nothing is left
        terms = np.concatenate([terms, -terms[::-1] * (1 + 1e-15)])
    if seed % 7 == 0:
        terms = np.round(terms)
    assert exact_sum(terms) == math.fsum(terms)
    assert exact_sum(rng.permutation(terms)) == math.fsum(terms)
    several = np.stack([terms, terms * 1e-9, np.zeros(len(terms))])
    assert exact_sums(several) == [math.fsum(row) for row in several]


@pytest.mark.parametrize("n", [1, 199, 200, 20_000])
def test_zeros(n):
    assert exact_sum(np.zeros(n)) == 0.0
    assert exact_sums(np.zeros((2, n))) == [0.0, 0.0]


def test_means_and_squares_are_rounded_once() -> None:
    rng = np.random.default_rng(0)
    for seed in range(600):
        n = int(rng.integers(1, 40))
        targets = rng.normal(size=n) * 10.0 ** rng.integers(-8, 9)
        if seed % 3 == 0:
            targets += 10.0 ** rng.integers(0, 12)
        if seed % 5 == 0:  # sums half way between two doubles, and terms that cancel
            targets = rng.integers(-3, 4, n) * 2.0 ** rng.integers(-30, 80, n)
        weights = rng.integers(1, 9, n).astype(float)
        mean = math.fsum(weights * targets) / weights.sum()
        apart = weights * (targets - mean)
        squares = math.fsum(apart * (targets - mean)) - math.fsum(apart) ** 2 / weights.sum()
        assert mean_of(targets, weights) == (mean, max(squares, 0.0)), seed
