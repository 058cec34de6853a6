"""What depth two of a measured loss proves without the minimum leaf size, against brute force.

That bound is what nodes of other rows take over: the minimum leaf size itself is not monotone.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from provetree import _core
from testkit.core_calls import KERNELS
from testkit.measure_calls import measure_table, penalty_units, tolerance
from testkit.naive_measures import LOSSES, NaiveMeasures
from testkit.random_measures import random_case

INFINITE = (2**63 - 1) // 8


@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_proven_without_the_minimum_leaf_size_is_never_too_much(loss: str) -> None:
    """Splits that the minimum forbids count: looked at or not, cheap or dear."""
    cheaper = 0
    for seed in range(90):
        case = random_case(loss, seed)
        least = 2 + seed % 5
        if case.n_rows < 2 * least:
            continue
        case = replace(case, min_samples_leaf=least, max_depth=2, max_splits=2 + seed % 2)
        table = measure_table(case)
        unit, penalty = float(table.cost_unit), penalty_units(case, table)
        lower, relaxed, upper = _core.parts.depth_two(
            table,
            min_samples_leaf=least,
            splits=case.max_splits,
            limit=INFINITE,
            error_scale=1,
            split_penalty=penalty,
            kernel=KERNELS[seed % len(KERNELS)],
        )
        assert relaxed <= lower <= upper, seed
        free = NaiveMeasures(replace(case, min_samples_leaf=1), penalty * unit).solve()
        assert relaxed * unit <= free + tolerance(case), seed
        bound = NaiveMeasures(case, penalty * unit).solve()
        assert abs(upper * unit - bound) <= tolerance(case), seed
        cheaper += free < bound - tolerance(case)
    assert cheaper > 8
