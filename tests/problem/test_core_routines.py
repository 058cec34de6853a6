"""The small routines of the core against their numpy twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core_twins
from provetree import _core

floats = st.one_of(
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324]),
)


def assert_ranked_like_the_twin(table: np.ndarray) -> None:
    ranks, values, ends, missing = _core.rank_columns(table)
    twin_ranks, twin_values, twin_ends, twin_missing = core_twins.rank_columns(table)
    assert ranks.dtype == np.uint32
    assert values.dtype == np.float64
    np.testing.assert_array_equal(ranks, twin_ranks)
    np.testing.assert_array_equal(values, twin_values)
    assert not np.signbit(values[values == 0]).any()
    assert (ends, missing) == (twin_ends, twin_missing)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(floats, st.just(np.nan)), max_size=40), st.integers(1, 11))
def test_rank_columns(x: list[float], n_columns: int) -> None:
    table = np.array([np.roll(x, c) for c in range(n_columns)], dtype=np.float64)
    assert_ranked_like_the_twin(table)
    assert_ranked_like_the_twin(table.T)
    assert_ranked_like_the_twin(table[:, ::-2])


@pytest.mark.parametrize("n", [100, 1000, 5000])
@pytest.mark.parametrize("spread", [1, 3, 50, 10**9])
def test_rank_long_columns(n: int, spread: int) -> None:
    rng = np.random.default_rng(n + spread)
    table = np.stack([rng.integers(0, spread + 1, n), rng.normal(size=n) * spread], axis=1)
    assert_ranked_like_the_twin(table)
    table[rng.random(table.shape) < 0.1] = np.nan
    assert_ranked_like_the_twin(table)


@pytest.mark.parametrize("seed", range(100))
def test_distinct_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_columns = int(rng.integers(1, 9)), int(rng.integers(1, 40))
    top = int(rng.choice([1, 2, 3]))
    columns = rng.integers(0, top + 1, (n_columns, n))
    tops = columns.max(axis=1).astype(np.uint32)
    turned = np.where(rng.random((n_columns, 1)) < 0.5, columns, tops[:, None] - columns)
    ranks = np.ascontiguousarray(turned, dtype=np.uint32)
    assert _core.distinct_columns(ranks, tops).tolist() == core_twins.distinct_columns(ranks, tops)


def merged_contents(
    ranks: np.ndarray, classes: np.ndarray, merged: tuple[np.ndarray, ...]
) -> list[tuple[object, ...]]:
    first, weights, counts = merged
    return [
        (tuple(ranks[:, i].tolist()), int(classes[i]), int(weight), int(count))
        for i, weight, count in zip(first.tolist(), weights, counts, strict=True)
    ]


@pytest.mark.parametrize("seed", range(60))
def test_merge_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_columns = int(rng.integers(1, [6, 60, 3000][seed % 3])), int(rng.integers(1, 5))
    top = int(rng.choice([1, 2, 4, 1000]))
    ranks = rng.integers(0, top, (n_columns, n)).astype(np.uint32)
    classes = rng.integers(0, 3, n).astype(np.int32)
    weights = rng.integers(1, 2**20, n)
    counts = rng.integers(1, 4, n)

    merged = _core.merge_rows(ranks, classes, weights, counts)
    contents = merged_contents(ranks, classes, merged)
    twin = merged_contents(ranks, classes, core_twins.merge_rows(ranks, classes, weights, counts))
    assert sorted(contents) == sorted(twin)

    # The order depends on the contents only.
    order = rng.permutation(n)
    shuffled = np.ascontiguousarray(ranks[:, order])
    again = _core.merge_rows(shuffled, classes[order], weights[order], counts[order])
    assert merged_contents(shuffled, classes[order], again) == contents
