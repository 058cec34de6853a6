from __future__ import annotations

import datetime
import math
import pickle
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from provetree.problem.table import TableEncoder

NAN = math.nan


def encoded(X: Any, **options: Any) -> list[list[float]]:
    return TableEncoder(**options).fit_transform(X).tolist()


def same(found: Any, wanted: Any) -> None:
    np.testing.assert_array_equal(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, np.bool_, object])
def test_arrays_of_numbers_stay_as_they_are(dtype: Any) -> None:
    X = np.array([[1, 0], [0, 1], [1, 1]]).astype(dtype)
    encoder = TableEncoder()
    found = encoder.fit_transform(X)
    assert found.dtype == np.float64
    same(found, [[1, 0], [0, 1], [1, 1]])
    assert encoder.categories == [None, None]
    assert encoder.feature_names is None


def test_float64_arrays_are_not_copied() -> None:
    X = np.arange(6.0).reshape(3, 2)
    assert np.shares_memory(TableEncoder().fit_transform(X), X)


def test_infinities_and_missing_values_pass() -> None:
    same(encoded([[math.inf, NAN], [-math.inf, 1.0]]), [[math.inf, NAN], [-math.inf, 1.0]])
    same(encoded([[None, 1], [2.5, None]]), [[NAN, 1.0], [2.5, NAN]])
    same(encoded([[Decimal("1.5")], [Decimal("NaN")]]), [[1.5], [NAN]])


def test_text_becomes_categories_in_alphabetical_order() -> None:
    for X in (
        np.array([["b", "x"], ["a", "y"], ["c", "x"]]),
        np.array([["b", "x"], ["a", "y"], ["c", "x"]], dtype=object),
        [["b", "x"], ["a", "y"], ["c", "x"]],
        pd.DataFrame([["b", "x"], ["a", "y"], ["c", "x"]]),
        pl.DataFrame({"0": ["b", "a", "c"], "1": ["x", "y", "x"]}),
    ):
        encoder = TableEncoder()
        same(encoder.fit_transform(X), [[1, 0], [0, 1], [2, 0]])
        assert encoder.categories == [["a", "b", "c"], ["x", "y"]]


def pandas_frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [30, 40, 50],
            "height": pd.array([1.5, None, 1.7], dtype="Float64"),
            "n": pd.array([1, None, 3], dtype="Int64"),
            "flag": [True, False, True],
            "maybe": pd.array([True, None, False], dtype="boolean"),
            "colour": ["red", None, "blue"],
            "text": pd.array(["x", pd.NA, "y"], dtype="string"),
            "size": pd.Categorical(["S", "L", None], categories=["S", "M", "L"], ordered=True),
            "mixed": np.array([1, None, 2.5], dtype=object),
        }
    )


WANTED = [
    [30, 1.5, 1, 1, 1, 1, 0, 0, 1],
    [40, NAN, NAN, 0, NAN, NAN, NAN, 1, NAN],
    [50, 1.7, 3, 1, 0, 0, 1, NAN, 2.5],
]


def test_pandas_columns_of_every_type() -> None:
    frame = pandas_frame()
    encoder = TableEncoder()
    same(encoder.fit_transform(frame), WANTED)
    assert encoder.feature_names == tuple(frame.columns)
    # A category type keeps its own order, and only what is there counts.
    assert encoder.categories == [None] * 5 + [["blue", "red"], ["x", "y"], ["S", "L"], None]
    same(encoder.transform(frame), WANTED)


def test_polars_columns_of_every_type() -> None:
    frame = pl.DataFrame(
        {
            "age": pl.Series([30, 40, 50], dtype=pl.UInt8),
            "height": pl.Series([1.5, None, 1.7], dtype=pl.Float64),
            "n": pl.Series([1, None, 3], dtype=pl.Int32),
            "flag": [True, False, True],
            "maybe": [True, None, False],
            "colour": ["red", None, "blue"],
            "text": pl.Series(["x", None, "y"], dtype=pl.Categorical),
            "size": pl.Series(["S", "L", None], dtype=pl.Enum(["L", "S"])),
            "nothing": pl.Series([None, None, None]),
        }
    )
    wanted = np.array(WANTED)
    wanted[:, 7] = [1, 0, NAN]
    wanted[:, 8] = NAN
    encoder = TableEncoder()
    same(encoder.fit_transform(frame), wanted)
    assert encoder.feature_names == tuple(frame.columns)
    assert encoder.categories[5:8] == [["blue", "red"], ["x", "y"], ["L", "S"]]


def test_unknown_categories_are_minus_one_and_missing_ones_nan() -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"c": ["a", "b"]}))
    same(encoder.transform(pd.DataFrame({"c": ["b", "z", None]})), [[1], [-1], [NAN]])
    same(encoder.transform(pl.DataFrame({"c": ["b", "z", None]})), [[1], [-1], [NAN]])
    same(
        encoder.transform(pd.DataFrame({"c": pd.Categorical(["z", "a", None])})), [[-1], [0], [NAN]]
    )
    # A batch in which all are missing often comes as a column of floats.
    same(encoder.transform(pd.DataFrame({"c": [NAN, NAN]})), [[NAN], [NAN]])
    same(encoder.transform([[3.0]]), [[-1]])


def test_text_of_which_all_is_missing_stays_text() -> None:
    for column in (
        pd.array([None, None], dtype="string"),
        pl.Series([None, None], dtype=pl.String),
    ):
        frame = (
            pd.DataFrame if isinstance(column, pd.api.extensions.ExtensionArray) else pl.DataFrame
        )
        encoder = TableEncoder()
        same(encoder.fit_transform(frame({"c": column})), [[NAN], [NAN]])
        assert encoder.categories == [[]]
        same(encoder.transform(frame({"c": ["red", "blue"]})), [[-1], [-1]])
        same(encoder.transform(np.array([[3.0], [NAN]])), [[-1], [NAN]])


def test_numbers_can_be_called_categories() -> None:
    X = np.array([[10, 1], [20, 2], [10, 3]])
    encoder = TableEncoder([0])
    same(encoder.fit_transform(X), [[0, 1], [1, 2], [0, 3]])
    assert encoder.categories == [[10, 20], None]
    assert all(isinstance(value, int) for value in encoder.categories[0] or [])
    same(
        encoder.transform([[20, 1], [15, 1], [99, 1], [NAN, 1]]),
        [[1, 1], [-1, 1], [-1, 1], [NAN, 1]],
    )
    encoder = TableEncoder([True, False])
    same(encoder.fit_transform(X + 0.5), [[0, 1.5], [1, 2.5], [0, 3.5]])
    assert encoder.categories == [[10.5, 20.5], None]
    frame = pd.DataFrame({"a": [1, 2], "b": [7, 5]})
    same(TableEncoder(["b"]).fit_transform(frame), [[1, 1], [2, 0]])
    same(TableEncoder([]).fit_transform(frame), frame)
    same(TableEncoder(None).fit_transform(frame), frame)


def test_a_category_type_of_numbers_can_be_called_numbers() -> None:
    frame = pd.DataFrame({"a": pd.Categorical([30, 10, None])})
    same(TableEncoder(None).fit_transform(frame), [[30], [10], [NAN]])
    same(TableEncoder().fit_transform(frame), [[1], [0], [NAN]])


def test_encoders_can_be_pickled() -> None:
    encoder = TableEncoder().fit(pandas_frame())
    same(pickle.loads(pickle.dumps(encoder)).transform(pandas_frame()), WANTED)


def test_names_need_to_be_strings() -> None:
    assert TableEncoder().fit(pd.DataFrame({0: [1.0], 1: [2.0]})).feature_names is None


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (csr_matrix(np.eye(2)), TypeError, "Sparse data"),
        (np.zeros(3), ValueError, "Reshape your data"),
        (np.float64(3.0), ValueError, "scalar array"),
        (np.zeros((2, 2, 2)), ValueError, "got 3D array instead"),
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (np.zeros((2, 2), dtype=complex), ValueError, "Complex data not supported"),
        ([[1.0, 2.0], [1.0]], ValueError, "rows of equal length"),
        (
            np.array([[{"foo": "bar"}], [1.0]]),
            TypeError,
            "argument must be a string or a real number",
        ),
        ([["a"], [3]], ValueError, "Column 0 mixes text and numbers"),
        ([[10**400]], ValueError, "too large for float64"),
        (pd.Series([1.0, 2.0]), ValueError, "Reshape your data"),
        (pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])}), ValueError, "'t' holds dates"),
        (pl.DataFrame({"t": [datetime.date(2020, 1, 1)]}), ValueError, "'t' holds dates"),
        ([[datetime.date(2020, 1, 1)]], ValueError, "Column 0 holds dates"),
        (pl.DataFrame({"t": [[1, 2]]}), TypeError, "'t' holds a value of type list"),
    ],
)
def test_other_tables_get_one_clear_sentence(X: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        TableEncoder().fit(X)


def test_text_where_numbers_belong_gets_one_clear_sentence() -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"age": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r"Column 'age' must hold numbers.*'old'"):
        encoder.transform(pd.DataFrame({"age": ["old", "young"]}))
    with pytest.raises(ValueError, match=r"Column 'c' must hold numbers.*'red'"):
        TableEncoder(None).fit(pd.DataFrame({"c": pd.Categorical(["red"])}))
    with pytest.raises(ValueError, match="Column 1 must hold numbers"):
        TableEncoder([0]).fit([["a", "b"]])


def test_tables_of_another_width_get_one_clear_sentence() -> None:
    with pytest.raises(ValueError, match=r"X has 3 features, but .* expecting 2 features"):
        TableEncoder().fit([[1, 2]]).transform([[1, 2, 3]])
    with pytest.raises(ValueError, match="must be fitted"):
        TableEncoder().transform([[1, 2, 3]])


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("all", "Got 'all' instead"),
        ([5], "Got the position 5 for 2 columns"),
        ([-1], "Got the position -1 for 2 columns"),
        ([True], "Got a mask of 1 for 2 columns"),
        (["c"], "Got 'c', which is no column"),
        ([0.5], "Got an array of float64"),
        ([[0]], r"Got an array of shape \(1, 1\)"),
        (3, r"Got an array of shape \(\)"),
    ],
)
def test_choices_of_columns_are_checked(chosen: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TableEncoder(chosen).fit(pd.DataFrame({"a": [1, 2], "b": [7, 5]}))
    if chosen == ["c"]:
        with pytest.raises(ValueError, match="Got names, but the columns"):
            TableEncoder(chosen).fit([[1, 2]])


cells = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just(pd.NA)
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(cells, min_size=2, max_size=2), min_size=1, max_size=4),
    st.sampled_from(["list", "array", "pandas"]),
)
def test_any_table_is_encoded_or_refused(rows: list[list[Any]], kind: str) -> None:
    X: Any = rows
    if kind == "array":
        X = np.empty((len(rows), 2), dtype=object)
        X[:] = rows
    elif kind == "pandas":
        X = pd.DataFrame(rows)
    try:
        encoder = TableEncoder()
        found = encoder.fit_transform(X)
    except (ValueError, TypeError):
        return
    assert found.shape == (len(rows), 2)
    same(encoder.transform(X), found)
    for j, categories in enumerate(encoder.categories):
        codes = found[:, j][~np.isnan(found[:, j])]
        if categories is not None:
            assert set(codes.tolist()) == set(range(len(categories)))
