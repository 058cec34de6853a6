"""The costs that trees can have, against all of them written down."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np

from provetree.mip.costs import PossibleCosts


def test_next_cost_and_spacing_against_all_costs():
    rng = np.random.default_rng(31)
    for _ in range(100):
        penalty = Fraction(int(rng.integers(0, 60)), int(rng.integers(1, 24)))
        splits = int(rng.integers(0, 9))
        costs = PossibleCosts(penalty, splits)
        written = sorted({e + k * penalty for e in range(40) for k in range(splits + 1)})
        low = [cost for cost in written if cost <= 30]  # above it, some are left out
        gaps = [b - a for a, b in pairwise(low)]
        assert costs.spacing == min(gaps)
        for _ in range(5):
            bound = Fraction(int(rng.integers(-40, 240)), 12)
            assert costs.at_least(bound) == next(c for c in written if c >= bound)
            for cost in (c for c in low if abs(c - bound) < 1):
                assert costs.at_least(cost) == cost


def test_penalties_of_any_fineness():
    costs = PossibleCosts(Fraction(1, 10**300), 3)
    assert costs.at_least(Fraction(1, 10**300)) == Fraction(1, 10**300)
    assert costs.at_least(Fraction(1, 2)) == 1
    assert costs.spacing == Fraction(1, 10**300)
