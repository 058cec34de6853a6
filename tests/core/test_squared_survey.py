"""Surveys under squared error: bounds for splits of every kind of column, against the plain way.

Tables have numbers with and without ties and missing values, and categories, as ordered columns.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from provetree import _core
from testkit.core_calls import ALWAYS_WIDE, KERNELS, NODE_FIELDS, OFF

BLOCKS, PER_BLOCK = 4, 12
LEAF_LEFT, STUMP_LEFT, LEAF_RIGHT, STUMP_RIGHT = 0, 1, 4, 5


def dense(values: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    found, ranks = np.unique(values, return_inverse=True)
    return ranks.astype(np.uint32), found.astype(np.float64)


def random_columns(rng: np.random.Generator, n: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Ranks and values of ordered columns: numbers, missing first and last, one per category."""
    columns: list[tuple[NDArray[Any], NDArray[Any]]] = []
    for _ in range(rng.integers(1, 4)):
        kind = rng.integers(0, 4)
        if kind == 0:
            columns.append(dense(rng.normal(size=n)))
        elif kind == 1:
            columns.append(dense(rng.integers(0, rng.integers(2, 90), n)))
        elif kind == 2:
            ranks, values = dense(np.round(rng.normal(size=n) * rng.choice([3.0, 100.0])))
            ranks = np.where(rng.random(n) < 0.2, len(values), ranks)
            last, kept = dense(ranks)
            values = np.append(values[kept[:-1].astype(int)], np.nan)
            first = np.where(last == len(kept) - 1, 0, last + 1)
            columns += [(first, np.roll(values, 1)), (last, values)]
        else:
            codes = rng.integers(0, rng.integers(3, 9), n)
            two = np.array([0.0, 1.0])
            columns += [(np.where(codes == code, 0, 1), two) for code in np.unique(codes)]
    return [column for column in columns if column[0].max() > 0 and column[0].min() == 0]


def random_table(seed: int, most: int = 700) -> _core.Table | None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, most) if rng.random() < 0.8 else rng.integers(5, 20))
    columns = random_columns(rng, n)
    if not columns:
        return None
    y = rng.normal(size=n) + rng.choice([0.0, 2.0]) * (columns[0][0] > columns[0][0].mean())
    kind = rng.integers(0, 6)
    if kind == 0:
        y[rng.integers(0, n)] *= 1e4  # one row far away from all others
    elif kind == 1:
        y = 1e9 + y
    elif kind == 2:
        y = rng.integers(0, 3, n).astype(np.float64)
    elif kind == 3:
        y = np.abs(y) ** 5 * 1e-7
    weights = np.ones(n, dtype=np.int64)
    if rng.random() < 0.4:
        weights = rng.integers(1, rng.choice([4, 1000]), n)
    values = [values for _, values in columns]
    return _core.Table(
        ranks=np.ascontiguousarray(np.array([ranks for ranks, _ in columns], dtype=np.uint32)),
        values=np.concatenate(values),
        value_ends=np.cumsum([len(of) for of in values]).astype(np.int64),
        classes=np.zeros(n, dtype=np.int32),
        weights=weights,
        counts=np.ones(n, dtype=np.int64),
        n_classes=1,
        loss="squared_error",
        targets=np.ascontiguousarray(y[:, None]),
    )


def check(seed: int) -> tuple[int, int]:
    """Checks all bounds of one table, and tells how many there are and how many are tight."""
    table = random_table(seed)
    if table is None:
        return 0, 0
    surveys = [_core.parts.measured_survey(table, kernel) for kernel in KERNELS]
    assert all(survey == surveys[0] for survey in surveys), seed
    bounds = tight = 0
    for column, points in surveys[0]:
        for first in range(0, len(points), 64):
            known = np.array(points[first : first + 64], dtype=np.int64)
            positions = [int(position) for position in known[:, 0]]
            lanes = np.array(
                _core.parts.measured_lanes(table, 1, column, positions, "plain", "auto")
            )
            plain = lanes[:, [LEAF_LEFT, STUMP_LEFT, LEAF_RIGHT, STUMP_RIGHT]]
            assert (known[:, 1:] <= plain).all(), (seed, column)
            bounds += known.shape[0]
            tight += int((known[:, 2] + known[:, 4] > 0.8 * (plain[:, 1] + plain[:, 3])).sum())
    return bounds, tight


@pytest.mark.parametrize("block", range(BLOCKS))
def test_surveys_are_bounds_that_agree_between_kernels(block: int) -> None:
    found = [check(seed) for seed in range(block * PER_BLOCK, (block + 1) * PER_BLOCK)]
    bounds, tight = map(sum, zip(*found, strict=True))
    assert bounds > 50, bounds
    assert tight > 0.2 * bounds, (tight, bounds)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
def test_more_surveys(block: int) -> None:
    for seed in range(1000 + 250 * block, 1250 + 250 * block):
        check(seed)


def searched(table: _core.Table, depth: int, least: int, switches: int) -> tuple[int, str]:
    """The proven cost of the best tree of a depth, and the tree."""
    found = _core.search(
        table,
        None,
        max_depth=depth,
        max_splits=2**depth - 1,
        min_samples_leaf=least,
        error_scale=1,
        split_penalty=0,
        time_limit=math.inf,
        memory_limit=1 << 28,
        switches=switches | OFF["bits"],  # no cells
    )
    assert found["status"] == "optimal"
    return found["cost"], str([found[part].tolist() for part in NODE_FIELDS])


def check_search(seed: int) -> int:
    """Searches one table with and without surveys, and tells whether it had columns at all."""
    table = random_table(seed, most=240)
    if table is None:
        return 0
    depth, least = 2 + seed % 2, 1 + 4 * (seed % 3 // 2)
    with_surveys = searched(table, depth, least, ALWAYS_WIDE)
    assert with_surveys == searched(table, depth, least, OFF["wide"]), seed
    assert with_surveys == searched(table, depth, least, 0), seed
    return 1


def test_searches_with_and_without_surveys_find_the_same_trees() -> None:
    assert sum(check_search(seed) for seed in range(60)) > 40


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
def test_more_searches(block: int) -> None:
    assert sum(check_search(seed) for seed in range(1000 + 250 * block, 1250 + 250 * block)) > 150
