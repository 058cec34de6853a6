"""Optima of the contree tables that other solvers have proven, on the train parts.

They need the benchmark tables (environment variable PROVETREE_DATA); the slower ones are checked by
``provetree bench known``.
"""

from __future__ import annotations

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, verify
from provetree.bench.data import BenchTable, DataNotFoundError, load_table
from provetree.bench.known import KNOWN_OPTIMA, KnownOptimum

QUICK = [optimum for optimum in KNOWN_OPTIMA if optimum.quick]


def identify(optimum: KnownOptimum) -> str:
    return f"{optimum.table}-depth{optimum.depth}"


def train_part(name: str) -> BenchTable:
    try:
        return load_table(name, "train")
    except DataNotFoundError as error:
        pytest.skip(str(error))


def check(table: BenchTable, depth: int, errors: int) -> None:
    model = OptimalTreeClassifier(max_depth=depth, time_limit=60.0).fit(table.X, table.y)
    assert (model.status_, model.objective_, model.lower_bound_) == ("optimal", errors, errors)
    assert int((model.predict(table.X) != table.y).sum()) == errors
    verified = verify(model.tree_, table.X, table.y, max_depth=depth)
    assert verified.ok
    assert verified.errors == errors


@pytest.mark.parametrize("optimum", QUICK, ids=identify)
def test_known_optimum(optimum: KnownOptimum) -> None:
    check(train_part(optimum.table), optimum.depth, optimum.errors)


@pytest.mark.parametrize("optimum", [o for o in QUICK if o.depth == 3], ids=identify)
def test_published_count_is_the_optimum_of_the_table_rounded_to_float32(
    optimum: KnownOptimum,
) -> None:
    # The published solver rounds to float32, so rows that differ in float64 only look alike to it.
    table = train_part(optimum.table).rounded_to_float32()
    check(table, optimum.depth, optimum.errors)


def test_float64_can_separate_more_than_float32() -> None:
    # Unix seconds: float32 has steps of 128 s there, so the rounded table has one value only.
    seconds = 1_700_000_000.0 + np.arange(40.0).reshape(-1, 1)
    table = BenchTable("seconds", seconds, (np.arange(40) >= 20).astype(np.int64))
    check(table, 1, 0)
    check(table.rounded_to_float32(), 1, 20)
