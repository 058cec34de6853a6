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


@settings(max_examples=200, deadline=None)
@given(st.lists(floats, max_size=40))
def test_dense_ranks(x: list[float]) -> None:
    column = np.array(x, dtype=np.float64)
    ranks, values = _core.dense_ranks(column)
    twin_ranks, twin_values = core_twins.dense_ranks(column)
    assert ranks.dtype == np.uint32
    assert values.dtype == np.float64
    np.testing.assert_array_equal(ranks, twin_ranks)
    np.testing.assert_array_equal(values, twin_values)


@pytest.mark.parametrize("n", [100, 1000, 5000])
@pytest.mark.parametrize("spread", [3, 50, 10**9])
def test_dense_ranks_of_long_columns(n: int, spread: int) -> None:
    rng = np.random.default_rng(n + spread)
    for x in (rng.integers(-spread, spread, n).astype(float), rng.normal(size=n) * spread):
        ranks, values = _core.dense_ranks(x)
        twin_ranks, twin_values = core_twins.dense_ranks(x)
        np.testing.assert_array_equal(ranks, twin_ranks)
        np.testing.assert_array_equal(values, twin_values)


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
