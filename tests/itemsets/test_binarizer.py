"""The binarizer: its questions, its names, and trees read back over the original columns."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from provetree import Binarizer, DL85Classifier, OptimalTreeClassifier, Tree, verify
from provetree.itemsets.binary_columns import choose_thresholds
from provetree.options import ParameterError
from testkit.sklearn_checks import all_checks


@pytest.mark.filterwarnings("default")
@all_checks(
    Binarizer(), Binarizer("all"), Binarizer("optimal-depth-one"), Binarizer(missing="separate")
)
def test_all_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


def mixed_table(seed: int, n: int = 60, missing: bool = True) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    income = np.round(rng.normal(size=n), 1)
    colour = rng.choice(["red", "green", "blue"], n).astype(object)
    if missing:
        age[rng.random(n) < 0.15] = np.nan
        colour[rng.random(n) < 0.1] = None
    table = pd.DataFrame({"age": age, "income": income, "colour": pd.Categorical(colour)})
    y = np.where(np.nan_to_num(age, nan=70.0) < 45, "yes", "no")
    return table, np.where(rng.random(n) < 0.25, rng.choice(["yes", "no", "maybe"], n), y)


def test_names() -> None:
    table = pd.DataFrame(
        {"age": [20.0, 30.0, np.nan], "colour": pd.Categorical(["red", None, "blue"])}
    )
    names = Binarizer("all").fit(table).get_feature_names_out().tolist()
    assert names == [
        "age <= 25",
        "age <= 25 or missing",
        "age is missing",
        "colour = blue",
        "colour = red",
        "colour is missing",
    ]


def test_set_output() -> None:
    table, y = mixed_table(0)
    binarizer = Binarizer().set_output(transform="pandas").fit(table, y)
    out = binarizer.transform(table)
    assert isinstance(out, pd.DataFrame)
    assert out.columns.tolist() == binarizer.get_feature_names_out().tolist()
    assert all(dtype.kind == "b" for dtype in out.dtypes)
    plain = Binarizer().fit(table, y).transform(table)
    assert np.array_equal(out.to_numpy(), plain)


def test_thresholds_of_each_strategy() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, rng.integers(2, 30), rng.integers(1, 50)).astype(float)
        y = rng.integers(0, 3, len(x))
        values = np.unique(x)
        everything = choose_thresholds(x, "all")
        assert len(everything) == len(values) - 1
        assert ((values[:-1] <= everything) & (everything < values[1:])).all()
        for n in (1, 3, 8):
            quantile = choose_thresholds(x, "quantile", n)
            assert len(quantile) <= n
            assert set(quantile) <= set(everything)
            assert len(everything) > n or len(quantile) == len(everything)
        near = choose_thresholds(x, "optimal-depth-one", classes=y)
        assert set(near) <= set(everything)
        # As its name says: among them is a best single split.
        best = OptimalTreeClassifier(max_depth=1).fit(x.reshape(-1, 1), y).objective_
        totals = [error(y)] + [error(y[x <= t]) + error(y[x > t]) for t in near]
        assert min(totals) == best


def error(y: Any) -> int:
    return len(y) - int(np.bincount(y).max()) if len(y) else 0


def test_quantiles_share_the_rows_out() -> None:
    x = np.arange(900.0)
    assert choose_thresholds(x, "quantile", 8).tolist() == [99.5 + 100 * i for i in range(8)]


@pytest.mark.parametrize("missing", ["both", "separate"])
@pytest.mark.parametrize("strategy", ["all", "quantile", "optimal-depth-one"])
def test_restored_trees_predict_the_same(strategy: str, missing: str) -> None:
    for seed in range(5):
        table, y = mixed_table(seed)
        new, _ = mixed_table(seed + 1000)
        new = new.assign(colour=new["colour"].cat.add_categories("pink"))
        new.loc[:5, "colour"] = "pink"  # not known from training
        binarizer = Binarizer(strategy, missing=missing).fit(table, y)
        for model in (DL85Classifier(2), OptimalTreeClassifier(max_depth=2)):
            model.fit(binarizer.transform(table), y)
            restored = binarizer.restore_tree(model.tree_)
            for rows in (table, new):
                encoded = binarizer.encoder_.transform(rows)
                expected = model.tree_.predict(binarizer.transform(rows).astype(float))
                assert restored.predict(encoded).tolist() == expected.tolist()
                names = model.classes_[restored.predict(encoded)]
                assert names.tolist() == model.predict(binarizer.transform(rows)).tolist()
            report = verify(restored, table, y, max_depth=2)
            assert report.ok
            assert report.cost == model.objective_
            assert Tree.from_text(restored.to_text()) == restored


def test_all_thresholds_with_both_sides_are_the_problem_of_the_exact_search() -> None:
    for seed in range(15):
        table, y = mixed_table(seed, n=40)
        binarized = Binarizer("all").fit_transform(table)
        for depth in (1, 2):
            exact = OptimalTreeClassifier(max_depth=depth).fit(table, y)
            assert DL85Classifier(depth).fit(binarized, y).objective_ == exact.objective_


def test_readable() -> None:
    table, y = mixed_table(3)
    binarizer = Binarizer("all").fit(table, y)
    tree = binarizer.restore_tree(DL85Classifier(2).fit(binarizer.transform(table), y).tree_)
    text = tree.to_text(legend=False)
    assert text.startswith("age <= ")
    assert tree.feature_names == ("age", "income", "colour")
    assert tree.class_names == ("maybe", "no", "yes")


def test_labels_of_other_costs_survive() -> None:
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 0, 1]
    binarizer = Binarizer("all").fit(X)
    model = DL85Classifier(0, cost_matrix=[[0, 1], [9, 0]]).fit(binarizer.transform(X), y)
    assert binarizer.restore_tree(model.tree_).predict(X).tolist() == [1, 1, 1, 1]


def test_missing_values_are_refused_where_they_are_not_known() -> None:
    binarizer = Binarizer("all").fit(pd.DataFrame({"age": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r"Column 'age' holds missing values.*training had none"):
        binarizer.transform(pd.DataFrame({"age": [np.nan]}))
    with pytest.raises(ValueError, match=r"Column 0 holds missing values.*'missing' is 'error'"):
        Binarizer(missing="error").fit([[1.0], [np.nan]])


def test_infinities_and_neighbours_in_float() -> None:
    X = np.array([[-np.inf], [1.0], [np.nextafter(1.0, 2.0)], [np.inf]])
    answers = Binarizer("all").fit_transform(X)
    assert answers.sum(axis=0).tolist() == [1, 2, 3]


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="'strategy' parameter of Binarizer must be"):
        Binarizer("some").fit([[1.0]])
    with pytest.raises(ValueError, match="requires y to be passed"):
        Binarizer("optimal-depth-one").fit([[1.0], [2.0]])
    binarizer = Binarizer("all").fit([[1.0], [2.0], [3.0]])
    leaf = Tree(feature=[-1], threshold=[0], value=[[1]], n_samples=[1], n_features=5)
    with pytest.raises(ValueError, match=r"over the 2 Boolean columns\. Got a tree over 5"):
        binarizer.restore_tree(leaf)
    other = OptimalTreeClassifier().fit([[1.0, 1.0], [5.0, 2.0]], [0, 1]).tree_
    with pytest.raises(ValueError, match="between 0 and 1"):
        binarizer.restore_tree(other)


def test_pipeline_clone_and_pickle() -> None:
    table, y = mixed_table(1)
    model = make_pipeline(Binarizer("optimal-depth-one"), DL85Classifier(2)).fit(table, y)
    again = pickle.loads(pickle.dumps(clone(model).fit(table, y)))
    assert again.predict(table).tolist() == model.predict(table).tolist()


def test_a_table_without_anything_to_ask() -> None:
    binarizer = Binarizer("all").fit([[1.0], [1.0]])
    assert binarizer.transform([[1.0]]).shape == (1, 0)
