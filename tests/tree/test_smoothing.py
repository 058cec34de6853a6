"""Smoothed probabilities: by hand, against a naive twin, and with labels that stay."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, OptimalTreeRegressor, Smoothing, Tree
from provetree.tree.shrinkage import shrunk_towards_path


def random_tree(rng: np.random.Generator) -> Tree:
    """A tree of random shape; leaves may be empty, pure or even."""
    feature: list[int] = []

    def grow(depth: int) -> None:
        feature.append(0 if depth < 4 and rng.random() < 0.6 else -1)
        if feature[-1] == 0:
            grow(depth + 1)
            grow(depth + 1)

    grow(0)
    n_classes = int(rng.integers(1, 4))
    value = rng.integers(0, rng.choice([2, 4, 50]), (len(feature), n_classes)).astype(float)
    if rng.random() < 0.3:
        value *= rng.choice([1e-6, 0.1, 1e9])
    count = [1] * len(feature)
    return Tree(
        feature=feature,
        threshold=[0.5] * len(feature),
        value=value,
        n_samples=count,
        n_features=1,
    )


def shrunk_naively(tree: Tree, strength: float) -> list[list[float]]:
    """The sum over the path as the paper writes it, node by node."""
    parent = {}
    for node in range(tree.n_nodes):
        if tree.feature[node] >= 0:
            parent[int(tree.left[node])] = parent[int(tree.right[node])] = node
    shares = tree.shares()
    found = []
    for node in range(tree.n_nodes):
        path = [node]
        while path[0] in parent:
            path.insert(0, parent[path[0]])
        total = shares[path[0]].copy()
        for above, below in itertools.pairwise(path):
            weight = tree.weight[above]
            if weight > 0:
                total += (shares[below] - shares[above]) / (1 + strength / weight)
        found.append(total.tolist())
    return found


@pytest.mark.parametrize("seed", range(60))
def test_shrinkage_is_the_sum_over_the_path(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree, strength = random_tree(rng), float(rng.choice([0.0, 0.5, 10.0, 1e6]))
    found = shrunk_towards_path(tree.shares(), tree.weight, tree.left, tree.right, strength)
    np.testing.assert_allclose(found, shrunk_naively(tree, strength), atol=1e-12)


@pytest.mark.parametrize("method", ["laplace", "shrinkage"])
def test_labels_stay(method: str) -> None:
    flipped = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        tree = random_tree(rng)
        smoothing = Smoothing(method, float(rng.choice([0.1, 1.0, 30.0, 1e4])))  # type: ignore
        smooth = tree.with_smoothing(smoothing)
        each = smooth.probabilities()
        np.testing.assert_allclose(each.sum(axis=1), 1.0)
        assert (each >= 0).all()
        np.testing.assert_array_equal(smooth.label, tree.label)
        np.testing.assert_array_equal(smooth.value, tree.value)
        np.testing.assert_array_equal(each.argmax(axis=1), tree.label)
        free = shrunk_towards_path(
            tree.shares(), tree.weight, tree.left, tree.right, smoothing.strength
        )
        flipped += int((free.argmax(axis=1) != tree.label).sum())
    assert flipped > 100  # there is something to hold back


def test_labels_of_costs_hold_nothing_back() -> None:
    """A leaf that costs gave another label than its heaviest is smoothed like any other."""
    value, label = [[0, 0], [6, 4], [2, 8]], [-1, 1, 1]
    tree = Tree(
        feature=[0, -1, -1],
        threshold=[1.0, 0, 0],
        value=value,
        n_samples=[0, 10, 10],
        n_features=1,
        label=label,
    ).with_smoothing(Smoothing("shrinkage", 20.0))
    np.testing.assert_allclose(tree.probabilities()[1:], [[0.5, 0.5], [0.3, 0.7]])
    assert tree.predict([[0.0]]).tolist() == [1]


def test_a_smoothed_tree_is_another_tree() -> None:
    tree = random_tree(np.random.default_rng(3))
    smooth = tree.with_smoothing(Smoothing("laplace", 2.0))
    assert smooth != tree
    assert smooth.with_smoothing(None) == tree
    assert pickle.loads(pickle.dumps(smooth)) == smooth
    assert tree.to_dict()["version"] == 1
    assert smooth.to_dict()["version"] == 4


def test_damaged_probabilities_are_refused() -> None:
    data = random_tree(np.random.default_rng(3)).with_smoothing(Smoothing("laplace", 2.0)).to_dict()
    leaf = next(node for node in data["nodes"] if "feature" not in node)
    leaf["probabilities"] = [0.25] * data["n_classes"]
    with pytest.raises(ValueError, match="its 'probabilities' do not fit"):
        Tree.from_dict(data)
    data["smoothing"]["method"] = "magic"
    with pytest.raises(ValueError, match="'method' of Smoothing must be one of 'laplace', 'shri"):
        Tree.from_dict(data)


@pytest.mark.parametrize("strength", [-1.0, math.nan, math.inf, True])
def test_bad_strengths(strength: float) -> None:
    with pytest.raises(ValueError, match=r"must be a float in the range \[0.0, inf\)"):
        Smoothing("laplace", strength)


def test_the_parameter_of_the_classifier() -> None:
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 0, 1]
    plain = OptimalTreeClassifier(max_depth=1).fit(X, y)
    for asked in ("laplace", "shrinkage", Smoothing("laplace", 3.0)):
        clf = OptimalTreeClassifier(max_depth=1, probabilities=asked).fit(X, y)
        assert clf.tree_.with_smoothing(None) == plain.tree_
        assert clf.tree_ == clf.solution_.tree
        smoothing = Smoothing.of(asked)
        np.testing.assert_array_equal(
            clf.predict_proba(X), plain.tree_.with_smoothing(smoothing).predict_proba(X)
        )
        np.testing.assert_array_equal(clf.predict_proba(X, laplace=0), plain.predict_proba(X))
        assert (clf.predict_proba(X) != plain.predict_proba(X)).any()
    with pytest.raises(ValueError, match="'probabilities' parameter of OptimalTreeClassifier must"):
        OptimalTreeClassifier(probabilities="some").fit(X, y)


def test_numbers_have_no_probabilities() -> None:
    tree = OptimalTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [1.0, 2.0]).tree_
    with pytest.raises(ValueError, match="Only trees of classes have class shares"):
        tree.with_smoothing(Smoothing("laplace", 1.0))


def test_rounded_steps_do_not_lead_below_zero() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        tree = Tree(
            feature=[0, 0, 0, -1, -1, -1, -1],
            threshold=[3, 2, 1, 0, 0, 0, 0],
            value=10.0 ** rng.uniform(-9, 9, (7, 3)) * rng.integers(0, 2, (7, 3)) + [0.1, 0, 0],
            n_samples=[4, 3, 2, 1, 1, 1, 1],
            n_features=1,
        )
        given = tree.with_smoothing(Smoothing("shrinkage", 1e-12)).probabilities()
        assert given.min() >= 0
        assert given.max() <= 1
