"""Criteria and costs of OptimalTreeClassifier: brute force, verify, weights, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from provetree import OptimalTreeClassifier, verify
from provetree.options import ParameterError
from testkit.naive_tables import least_cost
from testkit.sklearn_checks import all_checks

PURITY = ("gini", "entropy", "pessimistic")
IRIS_X, IRIS_Y = load_iris(return_X_y=True)


@pytest.mark.filterwarnings("default")
@all_checks(
    OptimalTreeClassifier(max_depth=2, criterion="gini"),
    OptimalTreeClassifier(max_depth=2, criterion="entropy", alpha=0.01),
    OptimalTreeClassifier(max_depth=2, cost_matrix={}),
)
def test_all_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("default")
@all_checks(
    OptimalTreeClassifier(max_depth=1, criterion="pessimistic"),
    without={"check_class_weight_classifiers"},  # its weights are no whole numbers
)
def test_checks_of_pessimistic_errors_pass(estimator, check):
    check(estimator)


def random_table(seed, n_classes=None):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 13))
    X = rng.integers(0, 5, size=(n, int(rng.integers(1, 4)))).astype(float)
    k = int(rng.integers(2, 4)) if n_classes is None else n_classes
    y = np.where(rng.random(n) < 0.7, X[:, 0].astype(int) % k, rng.integers(0, k, n))
    y[:k] = np.arange(k)  # every class has a row
    weights = rng.integers(1, 5, n) if rng.random() < 0.5 else np.ones(n, dtype=int)
    limits = {
        "max_depth": int(rng.integers(1, 4)),
        "max_leaf_nodes": int(rng.integers(2, 6)) if rng.random() < 0.3 else None,
        "min_samples_leaf": int(rng.integers(1, 4)),
        "alpha": float(rng.choice([0.0, 0.0, 0.02, 0.2])),
    }
    return rng, X, y, weights, limits


def brute_force(loss, X, weights, limits, classes=None, targets=None):
    return least_cost(
        loss,
        X,
        classes,
        targets,
        weights=weights,
        depth=limits["max_depth"],
        leaves=limits["max_leaf_nodes"],
        min_leaf=limits["min_samples_leaf"],
        alpha=limits["alpha"],
    )


def must_be_claimed(clf, X, y, weights, limits, **costs):
    """The cost that a classifier claims must be the one on the rows."""
    checked = verify(clf.tree_, X, y, sample_weight=weights, **limits, **costs)
    assert checked.ok
    assert checked.cost == pytest.approx(clf.objective_, rel=1e-9, abs=1e-12)
    assert clf.status_ == "optimal"
    assert clf.lower_bound_ == clf.objective_


@pytest.mark.parametrize("criterion", PURITY)
@pytest.mark.parametrize("seed", range(60))
def test_purity_against_brute_force(criterion, seed):
    _, X, y, weights, limits = random_table(seed)
    clf = OptimalTreeClassifier(criterion=criterion, **limits).fit(X, y, sample_weight=weights)
    expected = brute_force(criterion, X, weights, limits, classes=y)
    assert clf.objective_ == pytest.approx(expected, rel=1e-9, abs=1e-12)
    must_be_claimed(clf, X, y, weights, limits, criterion=criterion)


@pytest.mark.parametrize("seed", range(80))
def test_costs_against_brute_force(seed):
    rng, X, y, weights, limits = random_table(seed)
    k = y.max() + 1
    by_row = seed % 2 == 0
    if by_row:
        costs = np.round(rng.normal(size=(len(y), k)) * 3, int(rng.integers(0, 9)))
        clf = OptimalTreeClassifier(**limits)
        clf.fit(X, y, sample_weight=weights, sample_costs=costs)
        asked = {"sample_costs": costs}
    else:
        matrix = rng.integers(0, 6, size=(k, k)) / float(rng.choice([1, 3]))
        matrix[np.diag_indices(k)] = 0 if rng.random() < 0.7 else matrix.min(axis=1)
        costs = matrix[y]
        clf = OptimalTreeClassifier(cost_matrix=matrix, **limits)
        clf.fit(X, y, sample_weight=weights)
        asked = {"cost_matrix": matrix}
    expected = brute_force("linear", X, weights, limits, targets=np.ascontiguousarray(costs))
    assert clf.objective_ == pytest.approx(expected, rel=1e-9, abs=1e-9)
    must_be_claimed(clf, X, y, weights, limits, **asked)
    # Leaves predict their cheapest class.
    leaves = clf.apply(X)
    for leaf in np.unique(leaves):
        totals = (weights[:, None] * costs)[leaves == leaf].sum(axis=0)
        assert totals[clf.tree_.label[leaf]] == pytest.approx(totals.min(), abs=1e-9)


def test_equal_rows_merge_under_a_cost_matrix_and_nothing_changes():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, size=(200, 3)).astype(float)
    y = rng.integers(0, 3, 200)
    matrix = np.array([[0, 1, 7], [2, 0, 1], [1, 3, 0.5]])
    merged = OptimalTreeClassifier(max_depth=2, cost_matrix=matrix).fit(X, y)
    by_row = OptimalTreeClassifier(max_depth=2).fit(X, y, sample_costs=matrix[y])
    assert merged.objective_ == pytest.approx(by_row.objective_, rel=1e-12)
    assert merged.predict(X).tolist() == by_row.predict(X).tolist()
    assert merged.tree_ == by_row.tree_


def test_costs_of_one_for_each_error_are_errors():
    errors = OptimalTreeClassifier(max_depth=2).fit(IRIS_X, IRIS_Y)
    costs = OptimalTreeClassifier(max_depth=2, cost_matrix=1 - np.eye(3)).fit(IRIS_X, IRIS_Y)
    assert costs.objective_ == errors.objective_
    pairs = OptimalTreeClassifier(max_depth=2, cost_matrix={}).fit(IRIS_X, IRIS_Y)
    assert pairs.tree_ == costs.tree_


def test_pairs_of_labels_are_a_matrix():
    y = np.array(["ill", "well", "maybe"])[IRIS_Y]
    pairs = {("maybe", "well"): 5, ("well", "well"): 0.25, ("well", "ill"): 2}
    matrix = [[0, 1, 1], [1, 0, 5], [2, 1, 0.25]]  # ill, maybe, well
    by_pairs = OptimalTreeClassifier(max_depth=2, cost_matrix=pairs).fit(IRIS_X, y)
    by_matrix = OptimalTreeClassifier(max_depth=2, cost_matrix=matrix).fit(IRIS_X, y)
    assert by_pairs.tree_ == by_matrix.tree_
    for costs in (pairs, matrix, np.array(matrix), pd.DataFrame(matrix)):
        checked = verify(by_pairs.tree_, IRIS_X, y, cost_matrix=costs)
        assert checked.cost == pytest.approx(by_pairs.objective_)
    # A fold may lack a class.
    rest = y != "ill"
    fold = OptimalTreeClassifier(max_depth=1, cost_matrix={**pairs, ("ill", "maybe"): 3})
    assert fold.fit(IRIS_X[rest], y[rest]).classes_.tolist() == ["maybe", "well"]


def test_dear_errors_move_the_predictions():
    X, y = np.arange(10.0).reshape(-1, 1), np.array([0, 0, 0, 1, 0, 0, 1, 1, 1, 1])
    clf = OptimalTreeClassifier(max_depth=1).fit(X, y)
    careful = OptimalTreeClassifier(max_depth=1, cost_matrix=[[0, 1], [5, 0]]).fit(X, y)
    assert (clf.predict(X) != y).sum() == 1
    assert (careful.predict(X)[y == 1] == 1).all()
    # The shares of a leaf stay those of its rows, whatever its prediction.
    leaf = OptimalTreeClassifier(max_depth=0, cost_matrix={(1, 0): 9.0}).fit(X, y == 1)
    assert leaf.predict_proba(X[:1]).tolist() == [[0.5, 0.5]]
    dear = OptimalTreeClassifier(max_depth=0, cost_matrix={(1, 0): 9.0}).fit(X[:5], y[:5])
    assert dear.predict_proba(X[:1]).tolist() == [[0.8, 0.2]]
    assert dear.predict(X[:1]).tolist() == [1]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_never_less_pure_than_greedy(criterion):
    for depth in (2, 3):
        greedy = DecisionTreeClassifier(max_depth=depth, criterion=criterion, random_state=0)
        tree = greedy.fit(IRIS_X, IRIS_Y).tree_
        leaves = tree.children_left < 0
        cost = (tree.impurity * tree.weighted_n_node_samples)[leaves].sum()
        if criterion == "entropy":
            cost *= np.log(2)  # scikit-learn's are bits
        best = OptimalTreeClassifier(max_depth=depth, criterion=criterion).fit(IRIS_X, IRIS_Y)
        assert best.objective_ <= cost * (1 + 1e-9)


def test_leaves_of_one_class_side_by_side_have_other_shares():
    X = np.array([[0.0]] * 10 + [[1.0]] * 10)
    y = np.array([1] * 10 + [1] * 7 + [0] * 3)
    assert OptimalTreeClassifier(max_depth=1).fit(X, y).get_n_leaves() == 1
    pure = OptimalTreeClassifier(max_depth=1, criterion="gini").fit(X, y)
    assert pure.predict([[0.0], [1.0]]).tolist() == [1, 1]
    assert pure.predict_proba([[0.0], [1.0]])[:, 1].tolist() == [1.0, 0.7]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_purity_scales_with_the_weights(criterion):
    rng = np.random.default_rng(0)
    w = rng.integers(1, 5, 150)
    whole = OptimalTreeClassifier(max_depth=2, criterion=criterion)
    whole.fit(IRIS_X, IRIS_Y, sample_weight=w)
    for scale in (0.1, 1 / 3, 2.0):
        scaled = OptimalTreeClassifier(max_depth=2, criterion=criterion)
        scaled.fit(IRIS_X, IRIS_Y, sample_weight=scale * w)
        assert scaled.objective_ == pytest.approx(scale * whole.objective_, rel=1e-9)
    repeated = OptimalTreeClassifier(max_depth=2, criterion=criterion)
    repeated.fit(np.repeat(IRIS_X, w, axis=0), np.repeat(IRIS_Y, w))
    assert repeated.objective_ == pytest.approx(whole.objective_, rel=1e-12)


def test_pessimistic_errors_count_rows():
    y = IRIS_Y == 2
    w = np.full(150, 2)
    doubled = OptimalTreeClassifier(max_depth=2, criterion="pessimistic")
    doubled.fit(IRIS_X, y, sample_weight=w)
    repeated = OptimalTreeClassifier(max_depth=2, criterion="pessimistic")
    repeated.fit(np.repeat(IRIS_X, 2, axis=0), np.repeat(y, 2))
    once = OptimalTreeClassifier(max_depth=2, criterion="pessimistic").fit(IRIS_X, y)
    assert doubled.objective_ == pytest.approx(repeated.objective_, rel=1e-12)
    assert doubled.objective_ < 2 * once.objective_  # twice the rows are more than twice as sure
    for fitting in (
        lambda: doubled.fit(IRIS_X, y, sample_weight=w / 4),
        lambda: doubled.set_params(class_weight={True: 0.5}).fit(IRIS_X, y),
    ):
        with pytest.raises(ValueError, match=r"counts rows, so that weights must be whole numbers"):
            fitting()


def test_class_weights_multiply_costs():
    weighted = OptimalTreeClassifier(max_depth=1, class_weight={1: 3}, cost_matrix={(0, 1): 2})
    weighted.fit(IRIS_X, IRIS_Y)
    matrix = [[0, 2, 1], [3, 0, 3], [1, 1, 0]]
    dearer = OptimalTreeClassifier(max_depth=1, cost_matrix=matrix).fit(IRIS_X, IRIS_Y)
    assert weighted.objective_ == pytest.approx(dearer.objective_)


@pytest.mark.parametrize("params", [{"criterion": "gini"}, {"cost_matrix": {(1, 2): 3.0}}])
def test_threads_start_trees_and_checkpoints(params, tmp_path):
    one = OptimalTreeClassifier(max_depth=3, **params).fit(IRIS_X, IRIS_Y)
    two = OptimalTreeClassifier(max_depth=3, n_jobs=2, **params).fit(IRIS_X, IRIS_Y)
    assert two.objective_ == pytest.approx(one.objective_, rel=1e-9)
    start = DecisionTreeClassifier(max_depth=3, random_state=0).fit(IRIS_X, IRIS_Y)
    begun = OptimalTreeClassifier(max_depth=3, **params)
    begun.fit(IRIS_X, IRIS_Y, initial_tree=start)
    assert begun.objective_ == pytest.approx(one.objective_, rel=1e-9)
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 3, 100)
    file = tmp_path / "proof"
    stopped = OptimalTreeClassifier(max_depth=3, max_work=30_000, checkpoint=file, **params)
    stopped.fit(X, y)
    assert stopped.status_ == "work_limit"
    assert stopped.lower_bound_ <= stopped.objective_
    # The file belongs to these costs alone.
    with pytest.raises(ValueError, match="checkpoint"):
        OptimalTreeClassifier(max_depth=3, checkpoint=file, criterion="entropy").fit(X, y)
    resumed = OptimalTreeClassifier(max_depth=3, checkpoint=file, **params).fit(X, y)
    whole = OptimalTreeClassifier(max_depth=3, **params).fit(X, y)
    assert resumed.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert stopped.lower_bound_ <= whole.objective_ <= stopped.objective_ + 1e-9


BAD_MATRICES = {
    "wrong size": ([[0, 1], [1, 0]], r"one row and one column for each of the 3 classes.*\(2, 2\)"),
    "flat": ([0, 1, 2], r"a 2D array-like|shape \(3,\)"),
    "negative": ([[0, 1, 1], [-2, 0, 1], [1, 1, 0]], r"must hold costs >= 0\. Got -2"),
    "missing": ([[0, 1, np.nan]] * 3, r"must hold no missing values\. Got NaN"),
    "infinite": ([[0, 1, np.inf]] * 3, r"must hold finite numbers"),
    "text": ([["a", "b", "c"]] * 3, r"must hold numbers\. Got 'a'"),
    "beyond 2**53": ([[0, 1, 2**53 + 1]] * 3, r"at most 2\*\*53"),
    "unknown label": ({(0, 7): 1.0}, r"must name labels of y\. Got 7"),
    "no pair": ({0: 1.0}, r"keys of the form \(true label, predicted label\)\. Got 0"),
    "text in pairs": ({(0, 1): "dear"}, r"must hold numbers\. Got 'dear'"),
}


@pytest.mark.parametrize("name", BAD_MATRICES)
def test_bad_cost_matrices(name):
    matrix, words = BAD_MATRICES[name]
    with pytest.raises(ValueError, match=words) as caught:
        OptimalTreeClassifier(cost_matrix=matrix).fit(IRIS_X, IRIS_Y)
    assert "'cost_matrix'" in str(caught.value)
    assert "\n" not in str(caught.value)


BAD_COSTS = {
    "one column": (np.zeros((150, 1)), r"shape \(150, 3\)\. Got an array of shape \(150, 1\)"),
    "too few rows": (np.zeros((149, 3)), r"shape \(150, 3\)\. Got an array of shape \(149, 3\)"),
    "flat": (np.zeros(150), r"shape \(150, 3\)\. Got an array of shape \(150,\)"),
    "missing": (np.full((150, 3), np.nan), r"must hold no missing values"),
    "infinite": (np.full((150, 3), np.inf), r"must hold finite numbers"),
    "text": (np.full((150, 3), "dear"), r"must hold numbers\. Got 'dear'"),
    "ragged": ([[1, 2, 3], [1, 2]] * 75, r"rows of equal length"),
}


@pytest.mark.parametrize("name", BAD_COSTS)
def test_bad_sample_costs(name):
    costs, words = BAD_COSTS[name]
    with pytest.raises(ValueError, match=words) as caught:
        OptimalTreeClassifier().fit(IRIS_X, IRIS_Y, sample_costs=costs)
    assert "'sample_costs'" in str(caught.value)


def test_costs_and_other_criteria_exclude_each_other():
    matrix, costs = 1 - np.eye(3), np.zeros((150, 3))
    clf = OptimalTreeClassifier(criterion="gini", cost_matrix=matrix)
    with pytest.raises(ValueError, match=r"'criterion' must be 'errors'\. Got 'gini' instead"):
        clf.fit(IRIS_X, IRIS_Y)
    with pytest.raises(ValueError, match=r"'sample_costs'.*must be 'errors'"):
        OptimalTreeClassifier(criterion="entropy").fit(IRIS_X, IRIS_Y, sample_costs=costs)
    with pytest.raises(ValueError, match="a 'cost_matrix' or 'sample_costs', not both"):
        OptimalTreeClassifier(cost_matrix=matrix).fit(IRIS_X, IRIS_Y, sample_costs=costs)
    with pytest.raises(ParameterError, match=r"'criterion' parameter.*Got 'squared_error'"):
        OptimalTreeClassifier(criterion="squared_error").fit(IRIS_X, IRIS_Y)


def test_a_right_prediction_that_is_not_the_cheapest_is_told():
    with pytest.warns(UserWarning, match=r"dearer to predict \(2\) than 1 \(1\) where 0 is true"):
        OptimalTreeClassifier(cost_matrix=[[2, 1], [0, 0]]).fit([[0], [1]], [0, 1])
    # A right prediction that costs something is nothing strange.
    clf = OptimalTreeClassifier(max_depth=1, cost_matrix=[[1, 5], [4, 2]]).fit([[0], [1]], [0, 1])
    assert clf.objective_ == 3.0


def test_verify_refuses_an_unknown_criterion():
    clf = OptimalTreeClassifier(max_depth=1).fit(IRIS_X, IRIS_Y)
    with pytest.raises(ValueError, match="'criterion' must be one of 'errors', 'gini'"):
        verify(clf.tree_, IRIS_X, IRIS_Y, criterion="purity")


def test_the_words_of_a_proof_know_the_costs():
    from provetree.export.model_file import StoredModel
    from provetree.export.words import proof_sentence

    costs = (1 - np.eye(3))[IRIS_Y]
    by_row = OptimalTreeClassifier(max_depth=2).fit(IRIS_X, IRIS_Y, sample_costs=costs)
    matrix = OptimalTreeClassifier(max_depth=2, cost_matrix={}).fit(IRIS_X, IRIS_Y)
    for clf in (by_row, matrix):
        words = proof_sentence(StoredModel.of(clf).proof)
        assert words.startswith("Proven optimal: costs of 6 in all, and no tree of depth 2 costs")
    plain = by_row.fit(IRIS_X, IRIS_Y)
    assert "6 training errors" in proof_sentence(StoredModel.of(plain).proof)


@pytest.mark.parametrize("criterion", PURITY)
def test_the_best_split_between_blocks_may_leave_too_few_rows(criterion):
    """Of three classes; the next best split must then be found, too."""
    X = np.array([[1, 1], [2, 3], [1, 2], [0, 2], [0, 0], [0, 2]], dtype=float)
    y = np.array([2, 2, 1, 0, 2, 1])
    clf = OptimalTreeClassifier(max_depth=2, min_samples_leaf=2, criterion=criterion).fit(X, y)
    least = least_cost(criterion, X, y, depth=2, min_leaf=2)
    assert clf.objective_ == pytest.approx(least, rel=1e-9)
