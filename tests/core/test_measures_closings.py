"""Whatever a proof of another loss closes is checked by brute force."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from provetree import _core
from testkit.closings import Closing
from testkit.core_calls import ALWAYS_WIDE, EAGER_IMPROVEMENT, OFF, TINY_SAMPLES
from testkit.measure_calls import measure_table, search_options, tolerance
from testkit.naive_measures import LOSSES, MeasureCase, NaiveMeasures
from testkit.random_measures import random_case

SWITCHES = (
    0,
    OFF["bits"],
    OFF["bits"] | OFF["start"],
    OFF["bits"] | TINY_SAMPLES,
    OFF["bits"] | ALWAYS_WIDE,
    EAGER_IMPROVEMENT,
)
QUICK = 24
BLOCK = 500
BLOCKS = 4


def costs_of_splits(twin: NaiveMeasures, closing: Closing) -> Iterator[float]:
    """What the best trees that begin with each split of the region cost."""
    rows = twin.all_rows
    for column, rank, right in closing.path:
        rows = twin.sides(rows, column, rank)[right]
    full = 2 ** (closing.depth - 1) - 1
    below, fixed = closing.splits - 1, closing.left_splits
    for column, low, high, left, right_rows in twin.splits(rows):
        if not closing.covers(column, low, high):
            continue
        for share in [fixed] if fixed >= 0 else range(max(0, below - full), min(below, full) + 1):
            yield twin.split_penalty + (
                twin.best(left, closing.depth - 1, share)
                + twin.best(right_rows, closing.depth - 1, below - share)
            )


def check(case: MeasureCase, switches: int, where: Any) -> Counter[str]:
    table = measure_table(case)
    options = search_options(case, table)
    _, proven, scale, penalty, closings = _core.parts.closings(table, switches=switches, **options)
    assert proven, where
    unit = float(table.cost_unit) / scale  # the proof may count in parts of a unit
    twin = NaiveMeasures(case, penalty * unit)
    seen: Counter[str] = Counter()
    for closing in (Closing(*one) for one in closings):
        seen[closing.reason] += 1
        if closing.depth > 0:
            least = min(costs_of_splits(twin, closing), default=math.inf)
            assert closing.bound * unit <= least + tolerance(case), (*where, closing)
    return seen


def check_seeds(loss: str, seeds: range) -> None:
    seen: Counter[str] = Counter()
    for seed in seeds:
        case = random_case(loss, seed, max_depth=2 + seed % 2)
        seen += check(case, SWITCHES[seed // 2 % len(SWITCHES)], (loss, seed))
    assert sum(seen.values()) > 0


@pytest.mark.parametrize("loss", LOSSES)
def test_every_closing_is_true(loss: str) -> None:
    check_seeds(loss, range(QUICK))


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("loss", LOSSES)
def test_many_more_closings_are_true(loss: str, block: int) -> None:
    check_seeds(loss, range(QUICK + block * BLOCK, QUICK + (block + 1) * BLOCK))
