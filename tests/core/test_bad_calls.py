"""The core is private, but nothing that is passed to it may crash the process.

Every call below must raise TypeError or ValueError, or give an answer: a crash would end pytest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from provetree import _core
from testkit.core_calls import KERNELS, on_table

FINE: dict[str, Any] = {
    "ranks": np.array([[0, 1, 2, 2], [1, 1, 0, 1]], dtype=np.uint32),
    "values": np.array([1.0, 2.0, 4.0, 0.0, 1.0]),
    "value_ends": np.array([3, 5]),
    "classes": np.array([0, 1, 1, 0], dtype=np.int32),
    "weights": np.array([1, 2, 1, 1], dtype=np.int64),
    "counts": np.array([1, 2, 1, 1], dtype=np.int64),
    "n_classes": 2,
}
SEARCH: dict[str, Any] = {
    "max_depth": 3,
    "max_splits": 7,
    "min_samples_leaf": 1,
    "error_scale": 1,
    "split_penalty": 0,
    "time_limit": math.inf,
    "memory_limit": 1 << 20,
}
OBJECTIVE: dict[str, Any] = {"min_samples_leaf": 1, "error_scale": 1, "split_penalty": 0}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "search": (_core.search, SEARCH),
    "evaluate_panel": (
        _core.parts.evaluate_panel,
        {"min_samples_leaf": 1, "lanes": [(0, 1), (1, 1)]},
    ),
    "depth_one": (_core.parts.depth_one, OBJECTIVE),
    "depth_two": (_core.parts.depth_two, {**OBJECTIVE, "splits": 3, "limit": 100}),
}

BAD_TABLES: dict[str, dict[str, Any]] = {
    "ranks of one dimension": {"ranks": np.zeros(4, dtype=np.uint32)},
    "ranks of other rows": {"ranks": np.zeros((2, 5), dtype=np.uint32)},
    "no ranks": {"ranks": None},
    "ranks as text": {"ranks": np.full((2, 4), "a")},
    "ranks too large": {"ranks": np.full((2, 4), 3, dtype=np.uint32)},
    "ranks far too large": {"ranks": np.full((2, 4), 2**32 - 1, dtype=np.uint32)},
    "one end of values too few": {"value_ends": np.array([3])},
    "one end of values too many": {"value_ends": np.array([3, 5, 5])},
    "ends beyond the values": {"value_ends": np.array([3, 6])},
    "ends that fall": {"value_ends": np.array([6, 5])},
    "ends below zero": {"value_ends": np.array([-1, 5])},
    "no ends": {"value_ends": None},
    "values as text": {"values": np.array(["ab", "cd"])},
    "values of two dimensions": {"values": np.zeros((5, 1))},
    "values that are no array": {"values": [1.0, 2.0, 4.0, 0.0, 1.0]},
    "empty values": {"values": np.empty(0), "value_ends": np.array([0, 0])},
    "classes of other rows": {"classes": np.zeros(5, dtype=np.int32)},
    "class too high": {"classes": np.array([0, 1, 2, 0], dtype=np.int32)},
    "class below zero": {"classes": np.array([0, -1, 1, 0], dtype=np.int32)},
    "weights of other rows": {"weights": np.ones(3, dtype=np.int64)},
    "weight zero": {"weights": np.array([1, 0, 1, 1])},
    "weight below zero": {"weights": np.array([1, -5, 1, 1])},
    "weights too large": {"weights": np.full(4, 2**28 + 1)},
    "weights that overflow": {"weights": np.full(4, 2**63 - 1)},
    "counts of other rows": {"counts": np.ones((4, 1), dtype=np.int64)},
    "count zero": {"counts": np.array([1, 0, 1, 1])},
    "counts that overflow": {"counts": np.full(4, 2**62)},
    "no classes": {"n_classes": 0},
    "classes below zero": {"n_classes": -(2**31)},
    "classes beyond 32 bits": {"n_classes": 2**40},
    "number of classes as text": {"n_classes": "2"},
    "no rows": {
        "ranks": np.empty((2, 0), dtype=np.uint32),
        **{name: np.empty(0, dtype=np.int64) for name in ("weights", "counts")},
        "classes": np.empty(0, dtype=np.int32),
    },
    "nothing at all": {
        "ranks": np.empty((0, 0), dtype=np.uint32),
        "values": np.empty(0),
        "value_ends": np.empty(0, dtype=np.int64),
        **{name: np.empty(0, dtype=np.int64) for name in ("weights", "counts")},
        "classes": np.empty(0, dtype=np.int32),
    },
    "unknown kernel": {"kernel": "abacus"},
}


def call(name: str, **changes: Any) -> Any:
    function, options = CALLS[name]
    return on_table(function, **{**FINE, **options, **changes})


@pytest.mark.parametrize("name", CALLS)
def test_the_calls_are_fine_before_they_are_spoilt(name: str) -> None:
    call(name)


@pytest.mark.parametrize(
    ("name", "bad"),
    # Depth one knows no kernels.
    [pair for pair in product(CALLS, BAD_TABLES) if pair != ("depth_one", "unknown kernel")],
)
def test_bad_tables(name: str, bad: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        call(name, **BAD_TABLES[bad])


@pytest.mark.parametrize(
    "changes",
    [
        {"max_depth": -1},
        {"max_depth": 2**31},
        {"max_depth": 1.5},
        {"max_splits": -1},
        {"max_splits": 2**63},
        {"min_samples_leaf": 6},
        {"min_samples_leaf": 2**62},
        {"min_samples_leaf": "one"},
        {"error_scale": 0},
        {"error_scale": -1},
        {"error_scale": 2**62},
        {"split_penalty": -1},
        {"split_penalty": 2**62},
        {"time_limit": "soon"},
        {"time_limit": None},
        {"memory_limit": -1},
        {"memory_limit": 2**64},
        {"kernel": ""},
        {"kernel": None},
        {"switches": -1},
        {"switches": 2**32},
        {"start": None},
    ],
    ids=str,
)
def test_bad_options_of_the_search(changes: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        call("search", **changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"max_depth": 2**31 - 1, "max_splits": 2**62},
        {"max_splits": 0},
        {"max_depth": 0},
        {"min_samples_leaf": 0},
        {"min_samples_leaf": -(2**63)},
        {"min_samples_leaf": 5},
        {"time_limit": math.nan},
        {"time_limit": -1.0},
        {"time_limit": -math.inf},
        {"memory_limit": 2**64 - 1},
        {"switches": 2**32 - 1},
        {"values": np.repeat([np.nan, np.inf], [3, 2])},
        {"values": np.array([4.0, 2.0, 1.0, 1.0, 0.0])},
        {"values": np.zeros(2000), "value_ends": np.array([1000, 2000])},
        {"n_classes": 100_000},
        {"ranks": np.empty((0, 4), dtype=np.uint32), "value_ends": np.empty(0, dtype=np.int64)},
        {"ranks": np.zeros((2, 4), dtype=np.uint32)},
        {"weights": np.full(4, 2**28)},
        {"counts": np.full(4, 2**28)},
    ],
    ids=str,
)
def test_odd_options_that_still_have_an_answer(changes: dict[str, Any]) -> None:
    for kernel in KERNELS:
        found = call("search", **changes, kernel=kernel)
        assert found["status"] in ("optimal", "time_limit")
        assert found["lower_bound"] <= found["cost"]


@pytest.mark.parametrize(
    "lanes",
    [
        [(0, 0)],
        [(0, 4)],
        [(2, 1)],
        [(-1, 1)],
        [(0, -1)],
        [(2**32, 1)],
        [(0,)],
        [(0, 1, 2)],
        [0, 1],
        "ab",
        None,
        [(0, 1)] * 65,
        [(1, 1), (0, 1)],
        [(0, 2), (0, 1)],
    ],
    ids=str,
)
def test_bad_lanes(lanes: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        call("evaluate_panel", lanes=lanes)


def test_a_lane_needs_a_column_that_varies() -> None:
    constant = np.array([[0, 1, 2, 2], [1, 1, 1, 1]], dtype=np.uint32)
    with pytest.raises(ValueError, match="column that varies"):
        call("evaluate_panel", ranks=constant)


@pytest.mark.parametrize(
    "changes", [{"splits": 1}, {"splits": 4}, {"splits": -3}, {"limit": 2**63}]
)
def test_bad_options_of_depth_two(changes: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        call("depth_two", **changes)


@pytest.mark.parametrize(
    "x",
    [np.zeros(2), "text", None, [[None]], np.zeros((3, 1), dtype=complex), np.array([["a"]])],
    ids=str,
)
def test_bad_columns(x: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        _core.rank_columns(x)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"value_ends": np.array([2])}, "one end of values"),
        ({"has_missing": np.zeros(3, dtype=np.uint8)}, "one mark"),
        ({"n_categories": np.zeros(0, dtype=np.int64)}, "number of categories"),
        ({"value_ends": np.array([4, 2])}, "that rise"),
        ({"value_ends": np.array([2, 3])}, "up to the last end"),
        ({"rows": np.array([0, 3])}, "rows of the table"),
        ({"rows": np.array([-1])}, "rows of the table"),
    ],
    ids=str,
)
def test_bad_features_to_order(changes: dict[str, Any], words: str) -> None:
    fine = {
        "ranks": np.zeros((2, 3), dtype=np.uint32),
        "values": np.arange(4.0),
        "value_ends": np.array([2, 4]),
        "has_missing": np.zeros(2, dtype=np.uint8),
        "n_categories": np.full(2, -1),
        "rows": np.arange(3),
        "keep_duplicates": False,
    }
    assert len(_core.order_columns(**fine)) == 6
    with pytest.raises(ValueError, match=words):
        _core.order_columns(**{**fine, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"ranks": np.zeros(4, dtype=np.uint32)},
        {"ranks": np.zeros((2, 3), dtype=np.uint32)},
        {"classes": np.zeros(3, dtype=np.int32)},
        {"weights": np.zeros(5, dtype=np.int64)},
        {"counts": np.zeros(0, dtype=np.int64)},
        {"counts": None},
    ],
    ids=str,
)
def test_bad_rows_to_merge(changes: dict[str, Any]) -> None:
    names = ("ranks", "classes", "weights", "counts")
    with pytest.raises((TypeError, ValueError)):
        _core.merge_rows(**{**{name: FINE[name] for name in names}, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"table": np.zeros(4)},
        {"classes": np.zeros(3, dtype=np.int32)},
        {"weights": np.zeros(5, dtype=np.int64)},
        {"counts": np.zeros(0, dtype=np.int64)},
        {"counts": None},
        {"kernel": "abacus"},
    ],
    ids=str,
)
def test_bad_binary_tables(changes: dict[str, Any]) -> None:
    fine = {name: FINE[name] for name in ("classes", "weights", "counts")}
    fine |= {"table": np.zeros((len(FINE["classes"]), 2)), "keep_duplicates": False}
    assert _core.order_binary_table(**fine) is not None
    with pytest.raises((TypeError, ValueError)):
        _core.order_binary_table(**{**fine, **changes})


def test_missing_and_unknown_arguments() -> None:
    for name, (function, options) in CALLS.items():
        with pytest.raises(TypeError):
            function()
        with pytest.raises(TypeError):
            call(name, colour="red")
        for left_out in {**FINE, **options}:
            given = {k: v for k, v in {**FINE, **options}.items() if k != left_out}
            with pytest.raises(TypeError):
                on_table(function, **given)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_numbers_in_the_arrays(data: st.DataObject) -> None:
    n, n_columns = data.draw(st.integers(0, 5)), data.draw(st.integers(0, 3))
    ranks = data.draw(
        arrays(np.uint32, (n_columns, n), elements=st.sampled_from([0, 1, 2, 5, 2**31, 2**32 - 1]))
    )
    wide = st.sampled_from([1, 2, 3, 0, -1, 2**30, 2**31, 2**62, -(2**63)])
    changes = {
        "ranks": ranks,
        "values": [
            data.draw(arrays(np.float64, data.draw(st.integers(0, 6)), elements=st.floats()))
            for _ in range(n_columns)
        ],
        "classes": data.draw(arrays(np.int32, n, elements=st.sampled_from([0, 1, 2, -1, 2**30]))),
        "weights": data.draw(arrays(np.int64, n, elements=wide)),
        "counts": data.draw(arrays(np.int64, n, elements=wide)),
        "n_classes": data.draw(st.sampled_from([1, 2, 3, 0, -1, 1000])),
    }
    for name in CALLS:
        with suppress(TypeError, ValueError):
            call(name, **changes)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_options_of_a_good_table(data: st.DataObject) -> None:
    whole = st.one_of(st.integers(-2, 9), st.sampled_from([2**31 - 1, 2**40, 2**62, -(2**63)]))
    names = ("max_depth", "max_splits", "min_samples_leaf", "error_scale", "split_penalty")
    changes: dict[str, Any] = {name: data.draw(whole) for name in names}
    changes["time_limit"] = data.draw(st.floats())
    changes["switches"] = data.draw(st.integers(0, 2**32 - 1))
    changes["kernel"] = data.draw(st.sampled_from(["auto", *KERNELS]))
    with suppress(TypeError, ValueError):
        found = call("search", **changes)
        assert found["lower_bound"] <= found["cost"]
