"""Tables of numpy, pandas and polars, with names, categories and missing values."""

from __future__ import annotations

import numpy as np
import pytest

from provetree import OptimalTreeClassifier

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

AGE = [20.0, 30.0, 40.0, 50.0, 60.0, 70.0]
COLOUR = ["red", "blue", "green", "blue", "red", "green"]
BOUGHT = ["no", "yes", "no", "yes", "no", "no"]


def mixed(library):
    return library.DataFrame({"age": AGE, "colour": COLOUR})


# -- names ---------------------------------------------------------------------------------


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_names_are_kept_and_checked(library):
    table = mixed(library)
    clf = OptimalTreeClassifier().fit(table, BOUGHT)
    assert clf.feature_names_in_.tolist() == ["age", "colour"]
    assert clf.tree_.feature_names == ("age", "colour")
    assert "colour = blue" in clf.export_text()
    assert clf.predict(table).tolist() == BOUGHT
    with pytest.raises(ValueError, match=r"feature names should match .* another order"):
        clf.predict(table[["colour", "age"]])
    other = library.DataFrame({"age": AGE, "shade": COLOUR})
    with pytest.raises(ValueError, match=r"'shade' unseen .* 'colour' seen at fit time"):
        clf.predict(other)


def test_names_that_come_and_go_are_warned_about():
    clf = OptimalTreeClassifier().fit(pd.DataFrame({"a": [0.0, 1.0]}), [0, 1])
    for ask in (clf.predict, clf.encode):
        with pytest.warns(UserWarning, match="does not have valid feature names") as caught:
            ask(np.array([[0.0]]))
        assert caught[0].filename == __file__
    clf.fit(np.array([[0.0], [1.0]]), [0, 1])
    assert not hasattr(clf, "feature_names_in_")
    with pytest.warns(UserWarning, match="fitted without feature names"):
        clf.predict(pd.DataFrame({"a": [0.0]}))


def test_names_that_are_not_strings():
    table = pd.DataFrame([[0.0, 5.0], [1.0, 5.0]])
    clf = OptimalTreeClassifier().fit(table, [0, 1])
    assert not hasattr(clf, "feature_names_in_")
    assert clf.predict(table).tolist() == [0, 1]
    with pytest.raises(TypeError, match="string names"):
        OptimalTreeClassifier().fit(pd.DataFrame([[0.0, 5.0]], columns=["a", 1]), [0])


# -- the same table in any library ---------------------------------------------------------


def test_the_same_numbers_give_the_same_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 2, 50)
    names = ["a", "b", "c"]
    clf = OptimalTreeClassifier(max_depth=2)
    objective = clf.fit(X, y).objective_
    expected = clf.predict(X).tolist()
    frame = pd.DataFrame(X, columns=names)
    nulls = pl.DataFrame({name: pl.Series(X[:, i]).fill_nan(None) for i, name in enumerate(names)})
    for table in (
        X.tolist(),
        np.asfortranarray(X),
        X.astype(object),
        np.ma.masked_invalid(X),
        frame,
        frame.convert_dtypes(),
        frame.astype(object),
        pl.DataFrame(X, schema=names),
        nulls,
    ):
        assert clf.fit(table, y).objective_ == objective
        assert clf.predict(table).tolist() == expected


@pytest.mark.parametrize(
    "dtype",
    ["int8", "uint64", "float16", "float32", "bool", "Int64", "UInt8", "Float64", "boolean"],
)
def test_types_of_numbers_in_pandas(dtype):
    table = pd.DataFrame({"a": pd.Series([0, 1, 0, 1], dtype=dtype)})
    clf = OptimalTreeClassifier().fit(table, [0, 1, 0, 1])
    assert clf.predict(table).tolist() == [0, 1, 0, 1]
    assert clf.encoder_.categories == [None]


def test_missing_values_of_nullable_types():
    table = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3, 4], dtype="Int64"),
            "truth": pd.array([True, False, None, True], dtype="boolean"),
        }
    )
    clf = OptimalTreeClassifier().fit(table, [0, 1, 0, 0])
    assert clf.predict(table).tolist() == [0, 1, 0, 0]
    assert np.isnan(clf.encoder_.transform(table)).sum() == 2


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.UInt64, pl.Float32, pl.Float64, pl.Boolean, pl.Decimal(10, 2)], ids=str
)
def test_types_of_numbers_in_polars(dtype):
    values = pl.Series("a", [0, 1, None, 1])
    table = pl.DataFrame({"a": values.cast(dtype)})
    clf = OptimalTreeClassifier().fit(table, [0, 1, 2, 1])
    assert clf.predict(table).tolist() == [0, 1, 2, 1]
    assert clf.encoder_.categories == [None]


# -- categories ----------------------------------------------------------------------------


def category_tables():
    yield "object array", np.array(COLOUR, dtype=object)[:, None]
    yield "text array", np.array(COLOUR)[:, None]
    yield "list", [[colour] for colour in COLOUR]
    yield "pandas object", pd.DataFrame({"c": pd.Series(COLOUR, dtype=object)})
    yield "pandas string", pd.DataFrame({"c": pd.Series(COLOUR, dtype="string")})
    yield "pandas category", pd.DataFrame({"c": pd.Categorical(COLOUR)})
    yield "polars string", pl.DataFrame({"c": COLOUR})
    yield "polars categorical", pl.DataFrame({"c": pl.Series(COLOUR, dtype=pl.Categorical)})
    enum = pl.Enum(["red", "green", "blue", "unused"])
    yield "polars enum", pl.DataFrame({"c": pl.Series(COLOUR, dtype=enum)})


@pytest.mark.parametrize(
    "table", [pytest.param(table, id=name) for name, table in category_tables()]
)
def test_categories_of_any_type(table):
    clf = OptimalTreeClassifier(max_depth=1).fit(table, BOUGHT)
    assert clf.objective_ == 0
    assert clf.predict(table).tolist() == BOUGHT
    assert sorted(clf.encoder_.categories[0]) == ["blue", "green", "red"]


def test_text_and_numbers_in_one_array():
    rows = [[age, colour] for age, colour in zip(AGE, COLOUR, strict=True)]
    for table in (rows, np.array(rows, dtype=object)):
        clf = OptimalTreeClassifier().fit(table, BOUGHT)
        assert clf.encoder_.categories == [None, ["blue", "green", "red"]]
        assert clf.predict(table).tolist() == BOUGHT


def test_numbers_that_are_categories():
    # In numbers, 1 against 0 and 2 takes two splits.
    X = np.array([[0], [1], [2]] * 4)
    y = (X[:, 0] == 1).astype(int)
    assert OptimalTreeClassifier(max_depth=1).fit(X, y).objective_ == 4
    for chosen in ([0], [True], np.array([0]), np.array([True])):
        clf = OptimalTreeClassifier(max_depth=1, categorical_features=chosen).fit(X, y)
        assert clf.objective_ == 0
    table = pd.DataFrame(X, columns=["a"])
    named = OptimalTreeClassifier(max_depth=1, categorical_features=["a"]).fit(table, y)
    assert named.objective_ == 0
    assert named.predict(pd.DataFrame({"a": [7]})).tolist() == [0]


def test_unknown_categories_belong_to_the_rest():
    clf = OptimalTreeClassifier(max_depth=1).fit(mixed(pd)[["colour"]], BOUGHT)
    assert "colour = blue" in clf.export_text()
    unknown = pd.DataFrame({"colour": ["violet", "blue", None]})
    assert clf.predict(unknown).tolist() == ["no", "yes", "no"]
    longer = pd.DataFrame({"colour": pd.Categorical(["violet"], categories=["blue", "violet"])})
    assert clf.predict(longer).tolist() == ["no"]
    assert clf.predict(pl.DataFrame({"colour": ["violet"]})).tolist() == ["no"]


def test_a_missing_category_is_a_category():
    table = pd.DataFrame({"colour": ["red", None, "blue", None, np.nan]})
    clf = OptimalTreeClassifier(max_depth=1).fit(table, [0, 1, 0, 1, 1])
    assert clf.objective_ == 0
    assert "colour is missing" in clf.export_text()
    assert clf.predict(table).tolist() == [0, 1, 0, 1, 1]


def test_categories_without_an_order_by_type():
    table = pd.DataFrame({"c": pd.Categorical([3, "x", 3, (1, 2)])})
    clf = OptimalTreeClassifier().fit(table, [0, 1, 0, 1])
    assert clf.predict(table).tolist() == [0, 1, 0, 1]


def test_a_column_of_many_categories():
    names = [f"item {i}" for i in range(2000)]
    y = np.arange(2000) == 77
    clf = OptimalTreeClassifier(max_depth=1).fit(pd.DataFrame({"item": names}), y)
    assert clf.objective_ == 0
    assert clf.predict(pd.DataFrame({"item": ["item 77", "item 2001"]})).tolist() == [True, False]


# -- missing values and infinities ---------------------------------------------------------


def test_the_side_of_missing_values_is_learned():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [np.nan], [np.nan]])
    for y in ([0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1]):
        clf = OptimalTreeClassifier(max_depth=1).fit(X, y)
        assert clf.objective_ == 0
        assert clf.predict(X).tolist() == y
    alone = OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 0, 0, 1, 1])
    assert alone.objective_ == 0
    assert "x0 is missing" in alone.export_text()


def test_missing_values_that_training_did_not_know_follow_the_larger_side():
    clf = OptimalTreeClassifier().fit([[1.0], [2.0], [9.0]], ["low", "low", "high"])
    assert clf.predict([[np.nan]]).tolist() == ["low"]


def test_columns_of_missing_values_alone():
    X = np.full((4, 2), np.nan)
    X[:, 1] = [1, 2, 3, 4]
    clf = OptimalTreeClassifier().fit(X, [0, 0, 1, 1])
    assert clf.objective_ == 0
    assert clf.tree_.feature[0] == 1
    nothing = OptimalTreeClassifier().fit(X[:, :1], [0, 0, 1, 0])
    assert (nothing.objective_, nothing.get_depth()) == (1, 0)
    frame = pd.DataFrame({"a": [None, None], "b": ["x", "y"]})
    assert OptimalTreeClassifier().fit(frame, [0, 1]).objective_ == 0


def test_infinities_are_values_like_others():
    X = np.array([[-np.inf], [0.0], [5.0], [np.inf]])
    for y in ([0, 1, 1, 1], [0, 0, 0, 1], [1, 0, 0, 1]):
        clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
        assert clf.objective_ == 0
        assert clf.predict(X).tolist() == y
    both = np.array([[-np.inf], [np.inf], [np.nan]])
    clf = OptimalTreeClassifier(max_depth=2).fit(both, [0, 1, 2])
    assert clf.predict(both).tolist() == [0, 1, 2]


@pytest.mark.parametrize("extreme", [1e308, 5e-324, -1.7e308])
def test_extreme_numbers(extreme):
    X = np.array([[0.0], [extreme]])
    clf = OptimalTreeClassifier().fit(X, [0, 1])
    assert clf.predict(X).tolist() == [0, 1]


def test_constant_columns_and_one_row():
    clf = OptimalTreeClassifier().fit(np.ones((5, 3)), [0, 1, 1, 0, 1])
    assert (clf.objective_, clf.get_depth()) == (2, 0)
    one = OptimalTreeClassifier().fit([[1.0, 2.0]], ["a"])
    assert one.predict([[9.0, 9.0]]).tolist() == ["a"]


def test_labels_from_tables():
    X = [[0.0], [1.0], [2.0]]
    for y in (
        pd.Series(["a", "b", "b"]),
        pd.Series(["a", "b", "b"], dtype="category"),
        pd.Series(["a", "b", "b"], dtype="string"),
        pl.Series(["a", "b", "b"]),
        pl.Series(["a", "b", "b"], dtype=pl.Categorical),
    ):
        assert OptimalTreeClassifier().fit(X, y).predict(X).tolist() == ["a", "b", "b"]
    for y in (
        pd.Series([0, 1, 1], dtype="Int64"),
        pd.Series([False, True, True], dtype="boolean"),
        pl.Series([0, 1, 1]),
        pl.Series([False, True, True]),
    ):
        clf = OptimalTreeClassifier().fit(X, y)
        assert clf.predict(X).tolist() == list(y)
        assert clf.classes_.dtype != object
    weights = pl.Series([1.0, 2.0, 0.0])
    assert OptimalTreeClassifier(max_depth=0).fit(X, [0, 1, 1], weights).objective_ == 1
