"""Tables of few values under squared error and Gini: sums over pairs of columns beside the panels.

The switch "bits" turns the sums off. Both ways must prove the same cost, whatever the targets,
weights, limits, kernels and threads are, and the tree must have that cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from testkit.core_calls import KERNELS, OFF
from testkit.measure_calls import (
    TESTING,
    measure_search,
    measure_table,
    penalty_units,
    tolerance,
)
from testkit.naive_measures import MeasureCase, NaiveMeasures, walk_measured_tree
from testkit.random_cells import few_valued

BLOCK = 25
BLOCKS = 12


def runs(seed: int) -> Iterator[tuple[str, int, int]]:
    """Kernel, switches and threads."""
    for kernel in KERNELS:
        yield kernel, 0, 1
    parts = tuple(OFF.values())
    yield KERNELS[seed % len(KERNELS)], parts[seed % len(parts)] | TESTING[seed % len(TESTING)], 1
    yield "auto", 0, 2


def check(case: MeasureCase, seed: int, *, twin: bool) -> None:
    """Check all ways against the panels or the naive twin."""
    table = measure_table(case)
    unit, penalty = float(table.cost_unit), penalty_units(case, table)
    if twin:
        least = NaiveMeasures(case, penalty * unit).solve()
    else:
        least = measure_search(case, table, switches=OFF["bits"])["cost"] * unit
    for kernel, switches, n_jobs in runs(seed):
        found = measure_search(case, table, kernel=kernel, switches=switches, n_jobs=n_jobs)
        where = f"{case.loss} {seed}, kernel {kernel}, switches {switches:b}, {n_jobs} threads"
        assert found["status"] == "optimal", where
        assert found["lower_bound"] == found["cost"], where
        leaves, splits = walk_measured_tree(case, found)
        assert abs(found["cost"] * unit - least) <= tolerance(case), where
        assert abs(leaves + splits * penalty * unit - least) <= tolerance(case), where


@pytest.mark.parametrize("loss", ["squared_error", "gini"])
def test_sums_over_pairs_agree_with_panels(loss: str) -> None:
    for seed in range(8):
        depth = 5 if seed % 4 == 3 else 4
        n = (12, 40, 90, 30)[seed % 4]
        check(few_valued(loss, seed, depth=depth, n=n), seed, twin=False)


@pytest.mark.parametrize("columns", [*range(6, 21), 30])
def test_sums_over_pairs_of_many_columns_agree_with_panels(columns: int) -> None:
    """Cells are added to the sums by code that is made for so many features, or for any number."""
    check(few_valued("squared_error", columns, depth=3, n=30, columns=columns), columns, twin=False)


def test_trees_of_depth_five_have_as_few_splits_as_by_panels() -> None:
    """What the proof knows of cells serves the choice among equally good trees, at its costs."""
    for seed in range(10):
        of_seed = few_valued("squared_error", 40 + seed, depth=5, n=26)
        assert of_seed.targets is not None
        rounded = np.round(of_seed.targets) % 5
        case = replace(of_seed, targets=rounded, max_splits=31, penalty=(0.0, 0.1)[seed % 2])
        table = measure_table(case)
        by_cells, by_panels = (
            measure_search(case, table, switches=off) for off in (0, OFF["bits"])
        )
        assert by_cells["counters"]["tie_rule_complete"], seed
        assert by_panels["counters"]["tie_rule_complete"], seed
        assert by_cells["cost"] == by_panels["cost"], seed
        own, other = (walk_measured_tree(case, one)[1] for one in (by_cells, by_panels))
        assert own == other, seed


@pytest.mark.parametrize("min_samples_leaf", [1, 6])
def test_sums_over_pairs_spare_panels(min_samples_leaf: int) -> None:
    of_seed = few_valued("squared_error", 10, depth=4, n=90)
    ones = np.ones(of_seed.n_rows, dtype=np.int64)
    case = replace(of_seed, weights=ones, min_samples_leaf=min_samples_leaf)
    table = measure_table(case)
    on, off = (measure_search(case, table, switches=bits)["counters"] for bits in (0, OFF["bits"]))
    assert on["panels"] < off["panels"] / 10


@pytest.mark.parametrize("loss", ["squared_error", "gini"])
def test_sums_over_pairs_agree_with_the_naive_twin(loss: str) -> None:
    for seed in range(100, 125):
        check(few_valued(loss, seed, depth=3, n=3 + seed % 10), seed, twin=True)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(BLOCKS))
def test_many_tables_of_few_values(block: int) -> None:
    for seed in range(1000 + block * BLOCK, 1000 + (block + 1) * BLOCK):
        loss = ("squared_error", "gini")[seed % 2]
        n = 5 + seed % 90
        check(few_valued(loss, seed, depth=4 if n > 20 else 5, n=n), seed, twin=False)


def test_rows_that_agree_in_all_columns_stay_together() -> None:
    """One cell of many rows, and cells that a node of another column has in common."""
    rng = np.random.default_rng(0)
    case = few_valued("squared_error", 3, depth=4, n=60)
    repeated = rng.integers(0, 12, case.n_rows)
    assert case.targets is not None
    same = MeasureCase(
        **{
            **vars(case),
            "ranks": np.ascontiguousarray(case.ranks[:, repeated]),
            "targets": case.targets + rng.normal(size=case.targets.shape),
            "min_samples_leaf": 1,
            "max_splits": 15,
        }
    )
    dense = np.array([np.unique(own, return_inverse=True)[1].reshape(-1) for own in same.ranks])
    check(
        MeasureCase(**{**vars(same), "ranks": np.ascontiguousarray(dense.astype(np.uint32))}),
        0,
        twin=False,
    )
