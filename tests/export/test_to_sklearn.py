"""The tree as scikit-learn's own: same leaves, same shares, same numbers of nodes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, export_graphviz, export_text, plot_tree

from provetree import OptimalTreeClassifier, Tree
from provetree.export import UnsupportedTreeError, to_sklearn

NAN = float("nan")


def fitted(seed, *, missing=False, weights=False, depth=3, classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4)).round(1)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, classes, 60)
    w = rng.integers(1, 4, 60) if weights else None
    return OptimalTreeClassifier(max_depth=depth).fit(X, y, sample_weight=w), X, y, w


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_rows_end_in_the_same_leaves(seed, missing, weights):
    clf, X, y, w = fitted(seed, missing=missing, weights=weights)
    model = clf.to_sklearn()
    assert type(model) is DecisionTreeClassifier
    assert (model.apply(X) == clf.apply(X)).all()
    assert (model.predict(X) == clf.predict(X)).all()
    assert np.allclose(model.predict_proba(X), clf.predict_proba(X))
    if not missing:  # scikit-learn 1.3 forgets missing values here
        assert (model.decision_path(X) != clf.decision_path(X)).nnz == 0
    assert model.score(X, y, sample_weight=w) == pytest.approx(clf.score(X, y, sample_weight=w))
    assert model.get_depth() == clf.get_depth()
    assert model.get_n_leaves() == clf.get_n_leaves()
    assert model.classes_.tolist() == clf.classes_.tolist()
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("depth", [0, 1])
def test_the_insides_are_what_scikit_learn_would_write(depth):
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    y, w = ["a", "a", "b", "b", "a"], [1, 2, 3, 4, 1]
    clf = OptimalTreeClassifier(max_depth=depth).fit(X, y, sample_weight=w)
    ours = clf.to_sklearn()
    theirs = DecisionTreeClassifier(max_depth=1, min_samples_split=2 if depth else 9)
    theirs.fit(X, y, sample_weight=w)
    for name in (
        "node_count",
        "max_depth",
        "children_left",
        "children_right",
        "feature",
        "threshold",
        "impurity",
        "n_node_samples",
        "weighted_n_node_samples",
        "value",
        "n_leaves",
    ):
        mine, expected = getattr(ours.tree_, name), getattr(theirs.tree_, name)
        assert np.allclose(mine, expected), name
        assert np.shape(mine) == np.shape(expected), name
    assert ours.tree_.compute_feature_importances() == pytest.approx(
        theirs.tree_.compute_feature_importances()
    )


@pytest.mark.parametrize("classes", [1, 2, 7])
def test_any_number_of_classes(classes):
    clf, X, _, _ = fitted(1, classes=classes)
    assert (clf.to_sklearn().predict(X) == clf.predict(X)).all()


@pytest.mark.parametrize(
    "labels", [[-1, 1], ["no", "yes"], [False, True], [2.0, 5.0]], ids=["int", "str", "bool", "fl"]
)
def test_labels_are_kept(labels):
    y = np.array(labels * 10)
    X = np.arange(20.0)[:, None] % 2
    model = OptimalTreeClassifier().fit(X, y).to_sklearn()
    assert (model.predict(X) == y).all()
    assert model.predict(X).dtype == y.dtype


def test_names_are_kept():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"age": [1.0, 2.0, 3.0]})
    model = OptimalTreeClassifier().fit(table, [0, 1, 1]).to_sklearn()
    assert model.feature_names_in_.tolist() == ["age"]
    assert model.predict(table).tolist() == [0, 1, 1]


def test_no_names_are_made_up():
    clf, X, _, _ = fitted(0)
    model = clf.to_sklearn()
    assert not hasattr(model, "feature_names_in_")
    model.predict(X)  # without a warning about names


def test_missing_values_alone_on_a_side():
    X = np.array([[NAN], [NAN], [1.0], [5.0], [-1e30]])
    for y in ([1, 1, 0, 0, 0], [0, 0, 1, 1, 1]):
        clf = OptimalTreeClassifier(max_depth=1).fit(X, y)
        model = clf.to_sklearn()
        assert model.predict(X).tolist() == y
        assert (model.apply(X) == clf.apply(X)).all()


def test_scikit_learns_own_tools_work():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    clf, X, _, _ = fitted(2, missing=True)
    model = clf.to_sklearn()
    assert "class: " in export_text(model)
    assert export_graphviz(model, filled=True, class_names=True).startswith("digraph")
    assert plot_tree(model, filled=True)
    pyplot.close("all")
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == clf.predict(X)).all()
    assert clone(model).max_depth == clf.get_depth()


def test_float32_that_cannot_tell_rows_apart_is_an_error():
    X = (1_700_000_000 + np.arange(16.0))[:, None]
    y = np.arange(16) >= 7
    clf = OptimalTreeClassifier(max_depth=1).fit(X, y)
    with pytest.raises(
        UnsupportedTreeError, match=r"float32, and the split 'x0 <= 1700000006.5' separates"
    ):
        clf.to_sklearn()
    shifted = OptimalTreeClassifier(max_depth=1).fit(X - X.min(), y)
    assert (shifted.to_sklearn().predict(X - X.min()) == y).all()


def test_float32_matters_only_to_rows_that_reach_the_split():
    # On the left x1 is split at 50; the rows that float32 moves across 50 are on the right.
    near = np.nextafter(50.0, 51.0)
    X = np.array([[0, 0], [0, 100], [0, 0], [0, 100], [1, 50.0], [1, near]])
    y = np.array([0, 1, 0, 1, 2, 2])
    clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert clf.objective_ == 0
    assert (clf.to_sklearn().predict(X) == y).all()


# -- categories ----------------------------------------------------------------------------


@pytest.mark.parametrize("alone", ["a", "d"])
def test_the_first_and_the_last_category_can_be_said(alone):
    X = np.array([["a"], ["b"], ["c"], ["d"], [None]], dtype=object)
    y = np.array([row[0] == alone for row in X])
    clf = OptimalTreeClassifier(max_depth=1).fit(X, y)
    encoded = clf.encoder_.transform(X)
    model = clf.to_sklearn()
    assert (model.predict(encoded) == y).all()
    assert (model.apply(encoded) == clf.apply(X)).all()


def test_a_category_in_the_middle_cannot():
    X = [["a"], ["b"], ["c"]]
    clf = OptimalTreeClassifier(max_depth=1).fit(X, [0, 1, 0])
    with pytest.raises(UnsupportedTreeError, match="'x0 = b' takes a category out of the middle"):
        clf.to_sklearn()


def test_categories_that_splits_above_took_away_do_not_count():
    X = [["a"], ["b"], ["c"], ["d"]]
    clf = OptimalTreeClassifier(max_depth=3).fit(X, [0, 1, 2, 3])
    encoded = clf.encoder_.transform(X)
    assert clf.to_sklearn().predict(encoded).tolist() == [0, 1, 2, 3]


def test_a_missing_category_can_be_said():
    X = np.array([["a"], ["b"], ["c"], [None]], dtype=object)
    clf = OptimalTreeClassifier(max_depth=1).fit(X, [0, 0, 0, 1])
    encoded = clf.encoder_.transform(X)
    model = clf.to_sklearn()
    assert model.predict(encoded).tolist() == [0, 0, 0, 1]
    assert (model.apply(encoded) == clf.apply(X)).all()


def test_a_tree_without_names():
    tree = Tree(
        feature=[0, -1, -1],
        threshold=[0.5, NAN, NAN],
        value=[[0, 0], [3, 0], [1, 2]],
        n_samples=[0, 3, 3],
        n_features=1,
    )
    assert to_sklearn(tree).predict([[0], [1], [5]]).tolist() == [0, 1, 1]
    assert to_sklearn(tree, classes=["x", "y"]).predict([[0], [1]]).tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="'classes' parameter of to_sklearn must hold the 2"):
        to_sklearn(tree, classes=["x"])
