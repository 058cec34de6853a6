"""The estimator: what it learns, tells and keeps."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from provetree import OptimalTreeClassifier, Solution, Tree, verify
from provetree.estimators import _searched_tree


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def noise(seed=0, n=60, p=3, k=3):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 8, size=(n, p)).astype(float), rng.integers(0, k, size=n)


# -- what is learned -----------------------------------------------------------------------


def test_fitted_attributes(iris):
    X, y = iris
    clf = OptimalTreeClassifier(max_depth=2)
    assert clf.fit(X, y) is clf
    assert (clf.status_, clf.objective_, clf.lower_bound_, clf.gap_) == ("optimal", 6, 6, 0.0)
    assert isinstance(clf.objective_, int)
    assert isinstance(clf.tree_, Tree)
    assert isinstance(clf.solution_, Solution)
    assert clf.solution_.tree is clf.tree_
    assert clf.history_[-1].cost == 6
    assert all(isinstance(count, int) for count in clf.counters_.values())
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.n_features_in_ == 4
    assert not hasattr(clf, "feature_names_in_")
    assert (clf.predict(X) != y).sum() == 6
    assert clf.score(X, y) == 1 - 6 / 150
    assert clf.get_depth() == 2
    assert clf.get_n_leaves() == 3


def test_the_objective_is_what_verify_counts():
    X, y = noise()
    w = np.arange(len(y)) % 4
    clf = OptimalTreeClassifier(max_depth=2, alpha=0.02, min_samples_leaf=2)
    clf.fit(X, y, sample_weight=w)
    report = verify(clf.tree_, X, y, sample_weight=w, alpha=0.02, max_depth=2, min_samples_leaf=2)
    assert report.cost == pytest.approx(clf.objective_, abs=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_never_worse_than_greedy_search(depth):
    for seed in range(5):
        X, y = noise(seed)
        greedy = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        clf = OptimalTreeClassifier(max_depth=depth).fit(X, y)
        assert clf.objective_ <= (greedy.predict(X) != y).sum()
        assert clf.objective_ == (clf.predict(X) != y).sum()


def test_the_accuracy_that_scikit_learn_asks_for():
    # The tag poor_score excuses the estimator from these lines of check_classifiers_train.
    X, y = make_blobs(n_samples=300, random_state=0)
    X = StandardScaler().fit_transform(X)
    assert OptimalTreeClassifier().fit(X, y).score(X, y) > 0.83
    assert OptimalTreeClassifier().fit(X[y != 2], y[y != 2]).score(X[y != 2], y[y != 2]) > 0.83


def test_limits_on_size_hold():
    X, y = noise(1)
    clf = OptimalTreeClassifier(max_depth=3, max_leaf_nodes=4, min_samples_leaf=0.1).fit(X, y)
    assert clf.get_n_leaves() <= 4
    assert clf.tree_.n_samples[clf.tree_.feature < 0].min() >= 6
    assert OptimalTreeClassifier(max_depth=0).fit(X, y).get_n_leaves() == 1
    assert OptimalTreeClassifier(max_leaf_nodes=1).fit(X, y).get_depth() == 0
    assert OptimalTreeClassifier(alpha=1.0).fit(X, y).get_depth() == 0


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(5)
    for seed in range(4):
        X, y = noise(seed, n=40)
        X[rng.random(X.shape) < 0.1] = np.nan
        w = rng.integers(0, 3, len(y))
        first = OptimalTreeClassifier(max_depth=2).fit(X, y, sample_weight=w)
        order = rng.permutation(len(y))
        other = OptimalTreeClassifier(max_depth=2).fit(X[order], y[order], sample_weight=w[order])
        assert other.tree_ == first.tree_
        assert other.objective_ == first.objective_


def test_float64_is_kept():
    # One second apart: float32 has steps of 128 seconds here.
    start = 1_700_000_000
    X = (start + np.arange(16.0))[:, None]
    y = np.arange(16) >= 7
    clf = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert clf.objective_ == 0
    assert (clf.predict(X) == y).all()
    assert clf.tree_.threshold[0] == start + 6.5


def test_two_adjacent_numbers_are_told_apart():
    a = 0.1
    X = np.array([[a], [np.nextafter(a, 1)]])
    clf = OptimalTreeClassifier().fit(X, ["low", "high"])
    assert clf.predict(X).tolist() == ["low", "high"]


# -- labels --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        np.array([-1, 1]),
        np.array([5, 9]),
        np.array([False, True]),
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([-1.0, 1.0]),
        np.array([0, 255], dtype=np.uint8),
        np.array([2**40, 2**62]),
        np.array([3, 1, 2]),
        np.array([1, 2], dtype=object),
        np.array([True, False], dtype=object),
        np.array([b"no", b"yes"], dtype=object),
    ],
    ids=lambda labels: f"{labels.dtype}-{len(labels)}",
)
@pytest.mark.filterwarnings("ignore:Support for labels represented as bytes")
def test_labels_come_back_as_they_are(labels):
    rng = np.random.default_rng(0)
    codes = np.arange(30) % len(labels)
    X = codes[:, None] + 0.4 * rng.random((30, 1))
    y = labels[codes]
    if isinstance(labels[0], bytes):
        with pytest.raises((TypeError, ValueError), match=r"bytes|label"):
            OptimalTreeClassifier().fit(X, y)
        return
    clf = OptimalTreeClassifier().fit(X, y)
    assert clf.predict(X).tolist() == y.tolist()
    assert clf.classes_.tolist() == sorted(labels.tolist())
    assert clf.objective_ == 0
    assert clf.predict_proba(X).shape == (30, len(labels))


def test_a_list_of_strings_is_fine():
    clf = OptimalTreeClassifier().fit([[0], [1], [2]], ["a", "b", "b"])
    assert clf.predict([[0], [9]]).tolist() == ["a", "b"]


def test_a_single_class():
    clf = OptimalTreeClassifier().fit([[0.0], [1.0], [2.0]], ["only"] * 3)
    assert (clf.objective_, clf.gap_, clf.get_depth()) == (0, 0.0, 0)
    assert clf.predict([[7.0]]).tolist() == ["only"]
    assert clf.predict_proba([[7.0]]).tolist() == [[1.0]]


def test_many_classes():
    X = np.arange(600.0)[:, None]
    y = np.repeat(np.arange(300), 2)
    clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert clf.objective_ == 600 - 8
    assert clf.predict_proba(X).shape == (600, 300)


# -- weights -------------------------------------------------------------------------------


def test_a_row_of_weight_two_is_two_rows_and_of_weight_zero_none():
    X, y = noise(3, n=40)
    w = np.arange(40) % 3
    weighted = OptimalTreeClassifier(max_depth=2).fit(X, y, sample_weight=w)
    repeated = OptimalTreeClassifier(max_depth=2).fit(np.repeat(X, w, 0), np.repeat(y, w))
    assert weighted.objective_ == repeated.objective_
    assert weighted.tree_.threshold.tolist() == pytest.approx(
        repeated.tree_.threshold.tolist(), nan_ok=True
    )
    assert weighted.tree_.value.tolist() == repeated.tree_.value.tolist()


def test_weights_of_ones_are_no_weights():
    X, y = noise(4, n=40)
    plain = OptimalTreeClassifier(max_depth=2).fit(X, y)
    for ones in (np.ones(40), [1] * 40, 1, 1.0, np.float32(1)):
        assert OptimalTreeClassifier(max_depth=2).fit(X, y, sample_weight=ones).tree_ == plain.tree_


def test_costs_are_in_the_units_of_the_weights():
    X = [[0.0], [0.0], [0.0]]
    y = [0, 1, 1]
    assert OptimalTreeClassifier().fit(X, y, sample_weight=[0.25, 1, 1]).objective_ == 0.25
    assert OptimalTreeClassifier().fit(X, y, sample_weight=[3e6, 1e7, 1]).objective_ == 3_000_000
    assert OptimalTreeClassifier().fit(X, y, sample_weight=[1e-8, 1, 1]).objective_ == 1e-8


def test_class_weights_multiply_row_weights():
    X, y = noise(6, n=40, k=2)
    by_class = OptimalTreeClassifier(max_depth=2, class_weight={1: 3}).fit(X, y)
    by_row = OptimalTreeClassifier(max_depth=2).fit(X, y, sample_weight=np.where(y == 1, 3, 1))
    assert by_class.tree_ == by_row.tree_
    both = OptimalTreeClassifier(max_depth=2, class_weight={0: 2, 1: 0.5})
    both.fit(X, y, sample_weight=np.where(y == 1, 4, 1))
    twos = OptimalTreeClassifier(max_depth=2).fit(X, y, sample_weight=np.full(40, 2))
    assert both.tree_ == twos.tree_


@pytest.mark.parametrize("kind", [str, bool, float])
def test_class_weights_of_any_labels(kind):
    X, y = noise(6, n=40, k=2)
    labels = np.array(["no", "yes"]) if kind is str else np.array([0, 1]).astype(kind)
    weight = {labels[1].item(): 3}
    clf = OptimalTreeClassifier(max_depth=2, class_weight=weight).fit(X, labels[y])
    plain = OptimalTreeClassifier(max_depth=2, class_weight={1: 3}).fit(X, y)
    assert clf.objective_ == plain.objective_


def test_balanced_classes():
    X, y = noise(7, n=50, k=2)
    y[:10] = 1
    counts = np.bincount(y)
    balanced = OptimalTreeClassifier(max_depth=2, class_weight="balanced").fit(X, y)
    weight = {c: 50 / (2 * counts[c]) for c in (0, 1)}
    by_hand = OptimalTreeClassifier(max_depth=2, class_weight=weight).fit(X, y)
    assert balanced.objective_ == pytest.approx(by_hand.objective_)
    assert balanced.tree_.value[0].tolist() == pytest.approx([25, 25])


def test_balanced_counts_a_row_of_weight_two_twice():
    X, y = noise(8, n=30, k=2)
    w = 1 + np.arange(30) % 2
    weighted = OptimalTreeClassifier(max_depth=2, class_weight="balanced")
    weighted.fit(X, y, sample_weight=w)
    repeated = OptimalTreeClassifier(max_depth=2, class_weight="balanced")
    repeated.fit(np.repeat(X, w, 0), np.repeat(y, w))
    assert weighted.objective_ == pytest.approx(repeated.objective_)
    assert weighted.predict(X).tolist() == repeated.predict(X).tolist()


def test_a_heavy_class_is_never_wrong():
    X, y = make_blobs(centers=2, random_state=0, cluster_std=20)
    clf = OptimalTreeClassifier(class_weight={0: 1000, 1: 0.0001}).fit(X, y)
    assert (clf.predict(X)[y == 0] == 0).all()


def test_a_class_of_weight_zero_is_never_predicted():
    X, y = noise(9, n=40)
    clf = OptimalTreeClassifier(class_weight={2: 0}).fit(X, y)
    assert set(clf.predict(X)) <= {0, 1}
    assert clf.classes_.tolist() == [0, 1, 2]
    assert (clf.predict_proba(X)[:, 2] == 0).all()


# -- prediction ----------------------------------------------------------------------------


def test_methods_agree_with_each_other():
    X, y = noise(10)
    clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    leaves = clf.apply(X)
    assert (clf.tree_.feature[leaves] == -1).all()
    path = clf.decision_path(X)
    assert path.shape == (len(X), clf.tree_.n_nodes)
    assert (path.toarray()[np.arange(len(X)), leaves] == 1).all()
    proba = clf.predict_proba(X)
    assert np.allclose(proba.sum(axis=1), 1)
    assert (clf.classes_[proba.argmax(axis=1)] == clf.predict(X)).all()


@pytest.mark.parametrize(
    "method",
    ["predict", "predict_proba", "apply", "decision_path", "score"],
)
def test_not_fitted(method):
    arguments = ([[1.0]], [0]) if method == "score" else ([[1.0]],)
    with pytest.raises(NotFittedError):
        getattr(OptimalTreeClassifier(), method)(*arguments)


@pytest.mark.parametrize(
    "method",
    ["get_depth", "get_n_leaves", "export_text", "export_graphviz", "plot", "to_sklearn"],
)
def test_not_fitted_without_rows(method):
    with pytest.raises(NotFittedError):
        getattr(OptimalTreeClassifier(), method)()


def test_importances_are_those_of_scikit_learn():
    for seed in range(4):
        X, y = noise(seed)
        w = 1 + np.arange(len(y)) % 3
        clf = OptimalTreeClassifier(max_depth=3).fit(X, y, sample_weight=w)
        assert clf.feature_importances_ == pytest.approx(clf.to_sklearn().feature_importances_)
    leaf = OptimalTreeClassifier(max_depth=0).fit(X, y)
    assert leaf.feature_importances_.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(NotFittedError):
        _ = OptimalTreeClassifier().feature_importances_


# -- tools of scikit-learn -----------------------------------------------------------------


def test_pickle_copy_and_clone(iris):
    X, y = iris
    clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    for again in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert again.tree_ == clf.tree_
        assert again.solution_ == clf.solution_
        assert (again.predict(X) == clf.predict(X)).all()
        assert again.to_sklearn().predict(X).tolist() == clf.predict(X).tolist()
    fresh = clone(clf)
    assert fresh.get_params() == clf.get_params()
    assert not hasattr(fresh, "tree_")


def test_grid_search_and_pipeline(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), OptimalTreeClassifier())
    grid = {"optimaltreeclassifier__max_depth": [0, 1, 2]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"optimaltreeclassifier__max_depth": 2}
    assert search.best_score_ > 0.9
    assert cross_val_score(OptimalTreeClassifier(max_depth=2), X, y, cv=3).min() > 0.85


def test_a_fit_forgets_the_fit_before(iris):
    X, y = iris
    clf = OptimalTreeClassifier(max_depth=1).fit(X, y)
    clf.fit([["a"], ["b"]], ["no", "yes"])
    assert clf.n_features_in_ == 1
    assert clf.predict([["b"]]).tolist() == ["yes"]


def test_inputs_are_not_changed():
    X, y = noise(11)
    X[0, 0] = np.nan
    w = np.arange(len(y), dtype=float)
    before = [array.copy() for array in (X, y, w)]
    OptimalTreeClassifier(max_depth=2, class_weight="balanced").fit(X, y, sample_weight=w)
    for array, kept in zip((X, y, w), before, strict=True):
        assert np.array_equal(array, kept, equal_nan=array.dtype == float)


# -- limits --------------------------------------------------------------------------------


def test_a_time_limit_keeps_the_best_tree_so_far():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 12)), rng.integers(0, 2, 3000)
    clf = OptimalTreeClassifier(max_depth=5, time_limit=0.3).fit(X, y)
    assert clf.status_ == "time_limit"
    assert clf.objective_ == (clf.predict(X) != y).sum()
    assert 0 <= clf.lower_bound_ < clf.objective_
    assert clf.gap_ == pytest.approx((clf.objective_ - clf.lower_bound_) / clf.objective_)
    greedy = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y)
    assert clf.objective_ <= (greedy.predict(X) != y).sum()


class Interrupted:
    """An engine that Ctrl-C stopped: its tree is a single leaf."""

    def solve(self, problem, limits=None, on_progress=None):
        leaf = Tree(
            feature=[-1],
            threshold=[np.nan],
            value=[np.bincount(problem.classes, problem.weights, problem.n_classes)],
            n_samples=[problem.n_samples],
            n_features=problem.n_features,
        )
        return Solution(leaf, problem.root_error, 0, "interrupted")


def test_an_interrupt_leaves_a_fitted_estimator(monkeypatch):
    monkeypatch.setattr(_searched_tree, "ExactSearch", lambda **options: Interrupted())
    clf = OptimalTreeClassifier()
    with pytest.warns(ConvergenceWarning, match=r"interrupted.*best tree so far: cost 1, .* 0\."):
        clf.fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    assert (clf.status_, clf.objective_, clf.lower_bound_, clf.gap_) == ("interrupted", 1, 0, 1.0)
    assert clf.predict([[0.0]]).tolist() == ["b"]


INTERRUPT = """
import warnings
import numpy as np
from provetree import OptimalTreeClassifier, _core
from testkit.interrupts import ctrl_c_within
rng = np.random.default_rng(0)
X, y = rng.normal(size=(5000, 12)), rng.integers(0, 2, 5000)
warnings.simplefilter("ignore")
with ctrl_c_within(_core, "search"):
    clf = OptimalTreeClassifier(max_depth=6, time_limit=3600).fit(X, y)
assert clf.status_ == "interrupted", clf.status_
assert (clf.predict(X) != y).sum() == clf.objective_
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_ctrl_c_ends_the_search_not_the_program():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr.decode()


def test_two_fits_in_two_threads(iris):
    from concurrent.futures import ThreadPoolExecutor

    X, y = iris
    with ThreadPoolExecutor(2) as pool:
        trees = list(pool.map(lambda _: OptimalTreeClassifier().fit(X, y).tree_, range(4)))
    assert all(a == b for a, b in itertools.pairwise(trees))
