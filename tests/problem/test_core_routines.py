"""The small routines of the core against their numpy twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provetree import _core
from testkit import naive_core

floats = st.one_of(
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324]),
)


def assert_ranked_like_the_twin(table: np.ndarray) -> None:
    ranks, values, ends, missing = _core.rank_columns(table)
    twin_ranks, twin_values, twin_ends, twin_missing = naive_core.rank_columns(table)
    assert ranks.dtype == np.uint32
    assert values.dtype == np.float64
    np.testing.assert_array_equal(ranks, twin_ranks)
    np.testing.assert_array_equal(values, twin_values)
    assert not np.signbit(values[values == 0]).any()
    assert (ends.tolist(), missing.astype(bool).tolist()) == (twin_ends, twin_missing)


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


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_rank_columns_of_two_values(n: int) -> None:
    """The second value of a column may come late, be the lower one, or not stay the last."""
    rng = np.random.default_rng(n)
    table = np.where(rng.random((n, 40)) < rng.random(40) ** 6, rng.normal(size=40), 0.0)
    table[-1, :20] = rng.choice([-1.0, 0.0, 1.0, np.nan, -0.0], 20)
    assert_ranked_like_the_twin(table)
    assert_ranked_like_the_twin(np.asfortranarray(table))


@pytest.mark.parametrize("seed", range(200))
def test_order_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_features = int(rng.integers(1, 9)), int(rng.integers(0, 30))
    table = rng.integers(0, int(rng.choice([2, 3, 4])), (n, n_features)).astype(float)
    table[rng.random(table.shape) < rng.choice([0.0, 0.2])] = np.nan
    turned = rng.random(n_features) < 0.3
    table[:, turned] = 3.0 - table[:, turned]
    n_categories = np.where(rng.random(n_features) < 0.3, 4, -1)
    rows = rng.permutation(n)[: int(rng.integers(1, n + 1))]
    ranks, values, ends, missing = _core.rank_columns(table)
    keep = bool(seed % 2)
    twin = naive_core.order_columns(
        ranks,
        np.split(values, ends[:-1]) if n_features else [],
        missing.astype(bool).tolist(),
        n_categories.tolist(),
        rows.tolist(),
        keep_duplicates=keep,
    )
    got, features, kinds, categories, flat, stops = _core.order_columns(
        ranks, values, ends, missing, n_categories, rows, keep
    )
    assert got.shape == (len(twin), len(rows))
    columns = zip(got.tolist(), features, kinds, categories, strict=True)
    assert [tuple(c) for c in columns] == [column[:-1] for column in twin]
    for own, column in zip(np.split(flat, stops[:-1]) if len(twin) else [], twin, strict=True):
        np.testing.assert_array_equal(own, column[-1])


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
    twin = merged_contents(ranks, classes, naive_core.merge_rows(ranks, classes, weights, counts))
    assert sorted(contents) == sorted(twin)

    # The order depends on the contents only.
    order = rng.permutation(n)
    shuffled = np.ascontiguousarray(ranks[:, order])
    again = _core.merge_rows(shuffled, classes[order], weights[order], counts[order])
    assert merged_contents(shuffled, classes[order], again) == contents


@pytest.mark.parametrize("kernel", _core.available_kernels())
@pytest.mark.parametrize("seed", range(40))
def test_order_binary_table(seed: int, kernel: str) -> None:
    """In one call what ranking, merging and ordering do one after the other."""
    rng = np.random.default_rng(seed)
    n, n_features = int(rng.integers(1, [6, 70, 300][seed % 3])), int(rng.integers(1, 150))
    bits = rng.random((n, n_features)) < rng.random(n_features) ** 3
    copied = rng.random(n_features) < 0.3
    bits[:, copied] = bits[:, rng.integers(0, n_features, copied.sum())] ^ (
        rng.random(copied.sum()) < 0.5
    )
    bits = bits[rng.integers(0, max(1, n // 2), n)]
    two = rng.choice([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, 5e-324], (2, n_features))
    table = np.where(bits, two[0], two[1])
    layouts = [
        table,
        np.asfortranarray(table),
        table[:, ::-1][:, ::-1],
        np.repeat(table, 2, 0)[::2],
    ]
    table = layouts[seed % 4]
    classes = rng.integers(0, 3, n).astype(np.int32)
    weights, counts = rng.integers(1, 2**20, n), rng.integers(1, 4, n)
    keep = bool(seed // 4 % 2)

    made = _core.order_binary_table(table, classes, weights, counts, keep, kernel)
    assert made is not None
    merged, (got, features, kinds, categories, flat, stops) = made
    ranks, values, ends, _ = naive_core.rank_columns(table)
    contents = merged_contents(ranks, classes, merged)
    twin = merged_contents(ranks, classes, naive_core.merge_rows(ranks, classes, weights, counts))
    assert sorted(contents) == sorted(twin)
    columns = naive_core.order_columns(
        ranks,
        np.split(values, ends[:-1]),
        [False] * n_features,
        [-1] * n_features,
        merged[0].tolist(),
        keep_duplicates=keep,
    )
    assert got.shape == (len(columns), len(merged[0]))
    found = zip(got.tolist(), features, kinds, categories, strict=True)
    assert [tuple(c) for c in found] == [column[:-1] for column in columns]
    assert flat.tolist() == [value for column in columns for value in column[-1]]
    assert not np.signbit(flat[flat == 0]).any()
    assert stops.tolist() == list(range(2, 2 * len(columns) + 1, 2))

    # The order of the rows depends on their contents only.
    order = rng.permutation(n)
    again = _core.order_binary_table(
        table[order], classes[order], weights[order], counts[order], keep, kernel
    )
    assert again is not None
    assert merged_contents(ranks[:, order], classes[order], again[0]) == contents


@pytest.mark.parametrize("kernel", _core.available_kernels())
@pytest.mark.parametrize("other", [2.0, np.nan, -1.0])
@pytest.mark.parametrize("place", [(0, 0), (0, 66), (5, 3), (99, 66)])
def test_no_binary_table(place: tuple[int, int], other: float, kernel: str) -> None:
    """A third value, or a missing one, wherever it is."""
    table = np.random.default_rng(0).integers(0, 2, (100, 67)).astype(float)
    ones = np.ones(100, dtype=np.int64)
    classes = np.zeros(100, dtype=np.int32)
    assert _core.order_binary_table(table, classes, ones, ones, False, kernel) is not None
    table[place] = other
    assert _core.order_binary_table(table, classes, ones, ones, False, kernel) is None
