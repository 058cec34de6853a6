"""Frames: sums over pairs of columns that all nodes below one of depth four share.

A frame tells what each node below would sum up for itself, and cells choose among equally good
trees. The switch "frames" turns the first off: both ways must have the same tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from testkit.core_calls import KERNELS, NODE_FIELDS, OFF
from testkit.measure_calls import (
    TESTING,
    measure_search,
    measure_table,
    penalty_units,
    tolerance,
)
from testkit.naive_measures import MeasureCase, NaiveMeasures
from testkit.random_cells import few_valued

BLOCK = 100
BLOCKS = 40


def tree_of(found: Any) -> list[list[int]]:
    return [found[field].tolist() for field in NODE_FIELDS]


def check_same(case: MeasureCase, seed: int) -> None:
    """Check that a case has the same tree with frames and without, whatever else is on or off."""
    table = measure_table(case)
    parts = tuple(bit for name, bit in OFF.items() if name not in ("frames", "tie_rule"))
    more = (0, parts[seed % len(parts)], TESTING[seed % len(TESTING)])[seed % 3]
    alone = measure_search(case, table, switches=OFF["frames"] | more)
    for kernel in KERNELS:
        where = f"{case.loss} {seed}, kernel {kernel}, switches {more:b}"
        found = measure_search(case, table, kernel=kernel, switches=more)
        assert found["status"] == "optimal", where
        assert found["cost"] == alone["cost"] == found["lower_bound"], where
        if found["counters"]["tie_rule_complete"] and alone["counters"]["tie_rule_complete"]:
            assert tree_of(found) == tree_of(alone), where


@pytest.mark.parametrize("loss", ["squared_error", "gini"])
def test_frames_change_no_tree(loss: str) -> None:
    for seed in range(300, 315):
        depth, n = ((4, 20), (4, 90), (5, 30))[seed % 3]
        check_same(few_valued(loss, seed, depth=depth, n=n), seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(BLOCKS))
def test_frames_change_no_tree_of_many(block: int) -> None:
    for seed in range(7000 + block * BLOCK, 7000 + (block + 1) * BLOCK):
        loss = ("squared_error", "gini")[seed % 2]
        check_same(few_valued(loss, seed, depth=4 + (seed % 5 == 4), n=6 + seed % 95), seed)


def test_frames_agree_with_the_naive_twin() -> None:
    """Trees of depth four on so few rows that all of them can be tried."""
    for seed in range(400, 420):
        loss = ("squared_error", "gini")[seed % 2]
        case = few_valued(loss, seed, depth=4, n=5 + seed % 5)
        table = measure_table(case)
        unit, penalty = float(table.cost_unit), penalty_units(case, table)
        least = NaiveMeasures(case, penalty * unit).solve()
        found = measure_search(case, table)
        assert abs(found["cost"] * unit - least) <= tolerance(case), seed


def binary(seed: int, columns: int, n: int = 60) -> MeasureCase:
    """Columns of two values, and a target that some of them make."""
    rng = np.random.default_rng(seed)
    drawn = few_valued("squared_error", seed, depth=4, n=n, columns=columns)
    ranks = (rng.random((columns, n)) < rng.uniform(0.1, 0.9, (columns, 1))).astype(np.uint32)
    ranks[:, 0], ranks[:, 1] = 0, 1
    y = ranks[0] * 3.0 + ranks[-1] * ranks[columns // 2] * 2.0 + rng.normal(size=n)
    return replace(
        drawn,
        ranks=np.ascontiguousarray(ranks),
        values=tuple(np.array([0.0, 1.0]) for _ in ranks),
        targets=np.ascontiguousarray(y[:, None]),
        weights=np.ones(n, dtype=np.int64),
        max_splits=15,
        min_samples_leaf=1,
        penalty=0.0,
    )


@pytest.mark.parametrize("columns", [1, 2, 25, 39, 40, 41])
def test_frames_of_so_many_features(columns: int) -> None:
    """There are frames of up to 40 features."""
    check_same(binary(columns, columns), 0)


def test_frames_spare_steps() -> None:
    case = binary(5, 25, n=400)
    table = measure_table(case)
    on, off = (
        measure_search(case, table, switches=bits)["counters"]["row_steps"]
        for bits in (0, OFF["frames"])
    )
    assert on < off


def test_the_first_of_equal_columns_is_chosen() -> None:
    for seed in range(6):
        case = binary(50 + seed, 8)
        ranks = np.ascontiguousarray(np.repeat(case.ranks, 2, axis=0))
        twice = replace(case, ranks=ranks, values=case.values * 2, max_depth=2 + seed % 3)
        found = measure_search(twice, measure_table(twice))
        columns = found["column"][found["column"] >= 0]
        assert len(columns), seed
        assert not (columns % 2).any(), seed


def chosen_split(values: Sequence[float], ends: Sequence[int], depth: int, splits: int) -> Any:
    """Of a tree that cuts one column after these ranks: the split that the tie rule prefers."""
    if not ends:
        return ()

    def fits(count: int, budget: int) -> bool:
        return count <= min(budget, 2 ** (depth - 1) - 1)

    def order(at: int) -> tuple[float, int]:
        return values[ends[at]] - values[ends[at] + 1], ends[at]

    able = [
        at
        for at in range(len(ends))
        if fits(at, splits - 1) and fits(len(ends) - 1 - at, splits - 1 - at)
    ]
    at = min(able, key=order)
    below, above = ends[:at], ends[at + 1 :]
    return (
        ends[at],
        chosen_split(values, below, depth - 1, at),
        chosen_split(values, above, depth - 1, splits - 1 - at),
    )


def shape_of(found: Any, node: int = 0) -> Any:
    if found["column"][node] < 0:
        return ()
    return (
        int(found["rank_low"][node]),
        shape_of(found, int(found["left"][node])),
        shape_of(found, int(found["right"][node])),
    )


def test_of_the_orders_of_the_same_splits_the_tie_rule_chooses_one() -> None:
    """Trees of one column are intervals: whichever split comes first, they cost the same."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        depth = 2 + seed % 3
        most = min(2**depth - 1, 3 + seed % 5)
        values = np.cumsum(rng.choice([1.0, 2.0, 4.0], 10))
        ranks = np.arange(40) % 10
        y = rng.normal(size=10).round(3)[ranks] * 8
        case = replace(
            binary(seed, 1, n=40),
            ranks=np.ascontiguousarray(ranks[None].astype(np.uint32)),
            values=(values,),
            targets=np.ascontiguousarray(y[:, None]),
            max_depth=depth,
            max_splits=most,
        )
        costs = {
            ends: sum(
                ((y[part] - y[part].mean()) ** 2).sum()
                for low, high in pairwise((-1, *ends, 9))
                for part in [(ranks > low) & (ranks <= high)]
            )
            for ends in combinations(range(9), most)
        }
        best = min(costs, key=costs.__getitem__)
        found = measure_search(case, measure_table(case))
        assert shape_of(found) == chosen_split(values, best, depth, most), seed
