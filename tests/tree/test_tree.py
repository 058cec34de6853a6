from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provetree.export.sklearn import UnsupportedTreeError, to_sklearn
from provetree.tree.tree import Tree
from provetree.tree.verify import verify
from testkit.tree_strategies import trees

NAN = math.nan


def example_tree(**changes: Any) -> Tree:
    """Income, with missing values to the left, then colour on the right."""
    fields: dict[str, Any] = {
        "feature": [0, -1, 1, -1, -1],
        "threshold": [3.0, NAN, NAN, NAN, NAN],
        "category": [-1, -1, 1, -1, -1],
        "missing_left": [True, False, False, False, False],
        "missing_seen": [True, False, False, False, False],
        "value": [[0, 0], [5, 1], [0, 0], [0, 4], [2, 2]],
        "n_samples": [0, 6, 0, 4, 4],
        "n_features": 2,
        "feature_names": ["income", "colour"],
        "class_names": ["no", "yes"],
        "categories": [None, ["blue", "red"]],
    }
    return Tree(**{**fields, **changes})


def asked(tree: Tree, feature: int, row: list[float]) -> float:
    """What a feature is for one row."""
    if feature < tree.n_features:
        return row[feature]
    each = tree.combinations[feature - tree.n_features]
    products = [times * row[column] for times, column in each.terms]
    total = products[0]
    for product in products[1:]:  # from the first to the last: sums of floats depend on it
        total += product
    return total


def walk(tree: Tree, row: list[float]) -> list[int]:
    """The nodes a row passes, one step at a time."""
    way = [0]
    while tree.feature[way[-1]] >= 0:
        node = way[-1]
        x = asked(tree, int(tree.feature[node]), row)
        if math.isnan(x):
            left = tree.missing_left[node]
        elif tree.category[node] >= 0:
            left = x == tree.category[node]
        else:
            left = x <= tree.threshold[node]
        way.append(int(tree.left[node] if left else tree.right[node]))
    return way


def test_shape_and_totals_follow_from_the_leaves() -> None:
    tree = example_tree()
    assert (tree.n_nodes, tree.n_splits, tree.n_leaves, tree.depth) == (5, 2, 3, 2)
    assert tree.left.tolist() == [1, -1, 3, -1, -1]
    assert tree.right.tolist() == [2, -1, 4, -1, -1]
    assert tree.value.tolist() == [[7, 7], [5, 1], [2, 6], [0, 4], [2, 2]]
    assert tree.n_samples.tolist() == [14, 6, 8, 4, 4]
    assert tree.label.tolist() == [0, 0, 1, 1, 0]
    assert tree.node_depth.tolist() == [0, 1, 1, 2, 2]


def test_rows_are_routed_by_number_category_and_missing_value() -> None:
    tree = example_tree()
    X = [[3.0, 0.0], [NAN, 0.0], [3.1, 1.0], [3.1, 0.0], [math.inf, -1.0], [9.0, NAN]]
    assert tree.apply(X).tolist() == [1, 1, 3, 4, 4, 4]
    assert tree.predict(X).tolist() == [0, 0, 1, 0, 0, 0]
    assert tree.predict_proba([[3.0, 0.0], [3.1, 1.0]]).tolist() == [[5 / 6, 1 / 6], [0.0, 1.0]]


def test_the_category_after_the_last_is_the_missing_one() -> None:
    tree = example_tree(category=[-1, -1, 2, -1, -1])
    assert tree.missing_left.tolist() == [True, False, True, False, False]
    assert tree.apply([[9.0, NAN], [9.0, 0.0], [9.0, -1.0]]).tolist() == [3, 4, 4]


@pytest.mark.parametrize(("missing_left", "way"), [(True, [1, 2, 2, 2]), (False, [2, 2, 2, 2])])
def test_a_threshold_of_nan_sends_every_number_right(missing_left: bool, way: list[int]) -> None:
    tree = Tree(
        feature=[0, -1, -1],
        threshold=[NAN] * 3,
        missing_left=[missing_left] * 3,
        missing_seen=[True] * 3,
        value=[[0]] * 3,
        n_samples=[0] * 3,
        n_features=1,
    )
    assert tree.apply([[NAN], [-math.inf], [0.0], [math.inf]]).tolist() == way


def test_missing_values_without_a_learned_side_follow_the_heavier_one() -> None:
    unseen = [False] * 5
    assert not example_tree(missing_seen=unseen).missing_left[0]
    heavy = [[0, 0], [5, 9], [0, 0], [0, 4], [2, 2]]
    assert example_tree(missing_seen=unseen, value=heavy).missing_left[0]


def test_a_leaf_without_rows_gives_even_shares() -> None:
    leaf = Tree(feature=[-1], threshold=[0], value=[[0, 0]], n_samples=[0], n_features=1)
    assert leaf.predict_proba([[1.0]]).tolist() == [[0.5, 0.5]]
    assert leaf.depth == 0


@settings(max_examples=60, deadline=None)
@given(trees(), st.data())
def test_the_fast_walk_is_the_slow_walk(tree: Tree, data: st.DataObject) -> None:
    cell = st.one_of(
        st.floats(), st.integers(-1, 4).map(float), st.sampled_from(tree.threshold.tolist())
    )
    row = st.lists(cell, min_size=tree.n_features, max_size=tree.n_features)
    X = data.draw(st.lists(row, min_size=1, max_size=5))
    ways = [walk(tree, row) for row in X]
    assert tree.apply(X).tolist() == [way[-1] for way in ways]
    path = tree.decision_path(X)
    assert path.shape == (len(X), tree.n_nodes)
    assert [np.flatnonzero(row).tolist() for row in path.toarray()] == ways
    shares = tree.predict_proba(X)
    assert np.allclose(shares.sum(axis=1), 1.0)


def test_no_rows_give_no_answers() -> None:
    tree = example_tree()
    assert tree.predict(np.empty((0, 2))).shape == (0,)
    assert tree.predict_proba(np.empty((0, 2))).shape == (0, 2)
    assert tree.decision_path(np.empty((0, 2))).shape == (0, 5)


def test_trees_cannot_be_changed() -> None:
    tree = example_tree()
    with pytest.raises(AttributeError, match="cannot be changed"):
        tree.n_features = 3
    with pytest.raises(AttributeError, match="cannot be changed"):
        del tree.value
    for name in ("feature", "threshold", "value", "left", "label", "n_samples", "missing_left"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(tree, name)[0] = 1


def test_what_is_given_is_copied() -> None:
    threshold = np.array([3.0, NAN, NAN, NAN, NAN])
    tree = example_tree(threshold=threshold)
    threshold[0] = 7.0
    assert tree.threshold[0] == 3.0


@settings(max_examples=50, deadline=None)
@given(trees())
def test_pickles_are_equal_and_hash_alike(tree: Tree) -> None:
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    assert repr(again) == repr(tree)


def test_trees_differ_if_anything_does() -> None:
    tree = example_tree()
    assert tree == example_tree()
    assert tree != "a tree"
    different: list[dict[str, Any]] = [
        {"threshold": [3.5, NAN, NAN, NAN, NAN]},
        {"category": [-1, -1, 0, -1, -1]},
        {"missing_left": [False] * 5},
        {"value": [[0, 0], [5, 1], [0, 0], [0, 4], [2, 3]]},
        {"n_samples": [0, 6, 0, 4, 5]},
        {"class_names": None},
        {"feature_names": ["income", "color"]},
    ]
    for change in different:
        assert example_tree(**change) != tree


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"feature": []}, "at least one node"),
        ({"feature": [0, -1, 1, -1, 0]}, "ends before its last leaf"),
        ({"feature": [0, -1, -1, -1, -1]}, "goes on after its last leaf"),
        ({"feature": [2, -1, 1, -1, -1]}, "from -1 to 1. Got -1 to 2"),
        ({"threshold": [1.0]}, "one entry per node"),
        ({"value": [[1.0]] * 4}, "one row per node"),
        ({"value": [[NAN, 0]] * 5}, "finite numbers"),
        ({"value": [[-1, 0]] * 5}, "finite numbers"),
        ({"n_samples": [-1] * 5}, "n_samples"),
        ({"category": [-1, -1, 3, -1, -1]}, "one of their codes"),
        ({"category": [1, -1, -1, -1, -1]}, "feature with categories"),
        ({"feature_names": ["one"]}, "was given 1 names"),
        ({"class_names": ["one"]}, "was given 1 class names"),
        ({"categories": [None]}, "categories of 1"),
    ],
)
def test_arrays_that_are_no_tree_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        example_tree(**change)


def test_a_table_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match=r"table of 2 columns. Got an array of shape \(1, 3\)"):
        example_tree().predict([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="table of 2 columns"):
        example_tree().predict([1.0, 2.0])


def test_very_deep_trees_work() -> None:
    depth = 2000
    n = 2 * depth + 1
    feature = [0, -1] * depth + [-1]
    tree = Tree(
        feature=feature,
        threshold=[float(i) for i in range(n)],
        value=[[1.0, 2.0]] * n,
        n_samples=[1] * n,
        n_features=1,
    )
    assert tree.depth == depth
    assert tree.apply([[math.inf]]).tolist() == [n - 1]
    assert Tree.from_json(tree.to_json()) == tree
    assert Tree.from_text(tree.to_text()) == tree


def test_a_leaf_may_predict_another_class_than_its_largest():
    nan = float("nan")
    arrays = {
        "feature": [0, -1, -1],
        "threshold": [1.5, nan, nan],
        "value": [[0, 0], [5, 1], [2, 2]],
        "n_samples": [0, 6, 4],
        "n_features": 1,
        "class_names": ["no", "yes"],
    }
    plain, chosen = Tree(**arrays), Tree(**arrays, label=[0, 1, 1])
    assert plain.label.tolist() == [0, 0, 0]
    assert chosen.label.tolist() == [0, 1, 1]
    assert chosen.has_other_labels
    assert not plain.has_other_labels
    assert chosen.predict([[1.0], [2.0]]).tolist() == [1, 1]
    assert chosen != plain
    assert Tree(**arrays, label=[-1, -1, -1]) == plain
    assert verify(chosen, [[1.0], [2.0]], ["no", "yes"]).cost == 1
    for copy in (
        pickle.loads(pickle.dumps(chosen)),
        Tree.from_json(chosen.to_json()),
        Tree.from_text(chosen.to_text()),
    ):
        assert copy == chosen
    assert plain.to_dict()["version"] == 1
    assert chosen.to_dict()["version"] == 2
    assert "yes: 16.7% of 6 rows [5, 1]" in chosen.to_text()
    with pytest.raises(UnsupportedTreeError, match="a leaf of this tree predicts another"):
        to_sklearn(chosen)
    with pytest.raises(ValueError, match="must hold ints from -1 to 1"):
        Tree(**arrays, label=[0, 2, 0])
