"""Tuning, runner-ups, stability and refitted leaves where numbers are predicted."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import d2_absolute_error_score, r2_score
from sklearn.model_selection import KFold

from provetree import (
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    build_problem,
    refit_leaves,
    runner_up_splits,
    stability,
    tuning_path,
)
from provetree.options import ParameterError
from provetree.selection.frontier import solve_frontier
from testkit.sklearn_checks import all_checks

LOSSES = ("squared_error", "absolute_error", "gini", "entropy", "linear")


def table(n: int = 90, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    y = np.where(X[:, 0] > 0.2, 3.0, X[:, 1]) + (X[:, 2] > 1) + rng.normal(0, 0.4, n)
    return X, y.round(2)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_every_size_of_a_frontier_is_searched_right(loss: str, seed: int) -> None:
    """Each size costs what a search of its own finds."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 25))
    X = rng.integers(0, 6, size=(n, 3)).astype(float)
    limits: dict[str, Any] = {"max_depth": 3, "min_samples_leaf": int(rng.integers(1, 3))}
    if seed % 2:
        limits["sample_weight"] = rng.integers(0, 4, n) / 2
    if loss in ("gini", "entropy"):
        learned: dict[str, Any] = {"y": rng.integers(0, 3, n), "n_classes": 3}
    else:
        learned = {"y": rng.normal(size=(n, 2)) if loss == "linear" else rng.normal(size=n) + 1e6}
    problem = build_problem(X, loss=loss, **learned, **limits)
    for point in solve_frontier(problem, 6):
        alone = build_problem(X, loss=loss, max_leaf_nodes=point.n_leaves, **learned, **limits)
        found = solve_frontier(alone, point.n_leaves)[-1]
        assert point.status == found.status == "optimal"
        assert point.cost == point.lower_bound
        assert point.cost == pytest.approx(found.cost, rel=1e-9, abs=1e-9)
        assert point.tree.n_leaves <= point.n_leaves


@pytest.mark.parametrize(
    ("criterion", "score"),
    [("squared_error", r2_score), ("absolute_error", d2_absolute_error_score)],
)
def test_scores_are_those_of_separate_fits(criterion: str, score: Any) -> None:
    X, y = table()
    path = tuning_path(X, y, criterion=criterion, max_depth=2, cv=3)
    assert path.score == {"squared_error": "R²", "absolute_error": "D²"}[criterion]
    for point in path.points:
        reg = OptimalTreeRegressor(2, criterion, max_leaf_nodes=point.n_leaves)
        held_out = np.empty(len(y))
        for train, test in KFold(3, shuffle=True, random_state=0).split(X):
            held_out[test] = clone(reg).fit(X[train], y[train]).predict(X[test])
        # Folds of the same size: the mean of their scores is that of all rows held out.
        assert point.cv_score == pytest.approx(score(y, held_out))
        fitted = reg.fit(X, y)
        assert point.errors == pytest.approx(fitted.objective_)
        assert point.train_score == pytest.approx(score(y, fitted.predict(X)))


@pytest.mark.filterwarnings("default")
@all_checks(
    OptimalTreeRegressorCV(cv=2, max_depth=2, min_samples_leaf=1, forest_share=0.0),
    # A row of weight two is one row of a fold, a row twice may be in two folds.
    without={
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence",
        "check_sample_weights_invariance",
    },
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_several_outputs_and_weights() -> None:
    X, y = table()
    both = np.column_stack([y, -2 * y])
    one = tuning_path(X, y, criterion="squared_error", max_depth=2, cv=3)
    two = tuning_path(X, both, np.full(len(y), 0.5), criterion="squared_error", max_depth=2, cv=3)
    for a, b in zip(one.points, two.points, strict=True):
        assert b.errors == pytest.approx(2.5 * a.errors)
        assert b.cv_score == pytest.approx(a.cv_score)


def test_one_limit_on_time_for_the_whole_call() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 8)), rng.normal(size=400)
    began = time.process_time()
    limits = {"max_work": None, "time_limit": 1.5}  # a fast machine comes to the end of its steps
    reg = OptimalTreeRegressorCV(max_depth=5, shrinkage=0.0, **limits).fit(X, y)
    assert time.process_time() - began < 6.0  # far less than sixteen paths of this limit
    assert reg.path_.points[-1].status == "time_limit"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_samples_leaf", []),
        ("min_samples_leaf", [1, 0]),
        ("criterion", "gini"),
        ("cv", 1),
        ("forest_share", 1.5),
        ("forest_share", [0.5, -1]),
        ("shrinkage", -1.0),
        ("shrinkage", "some"),
        ("max_work", 0),
    ],
)
def test_bad_parameters(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of OptimalTreeRegressorCV"):
        OptimalTreeRegressorCV(**{name: value}).fit([[1.0], [2.0]], [0.5, 1.5])


def test_class_weights_are_for_classes() -> None:
    with pytest.raises(ValueError, match="'class_weight' parameter of tuning_path must be None"):
        tuning_path(*table(), criterion="squared_error", class_weight="balanced")


def least_without(reg: OptimalTreeRegressor, X: Any, y: Any, feature: int) -> float:
    """The cost of the best tree whose root is a leaf or splits another column, by trying all."""
    whole = float(((y - y.mean()) ** 2).sum())
    penalty, leaves = reg.alpha * whole, reg.max_leaf_nodes or 2**reg.max_depth
    least = whole
    for other in set(range(X.shape[1])) - {feature}:
        for threshold in np.unique(X[:, other])[:-1]:
            left = X[:, other] <= threshold
            if min(left.sum(), (~left).sum()) < reg.min_samples_leaf:
                continue
            for share in range(1, leaves):
                cost = penalty
                for side, most in ((left, share), (~left, leaves - share)):
                    best = [((y[side] - y[side].mean()) ** 2).sum()]
                    if most > 1:
                        limits = {"min_samples_leaf": reg.min_samples_leaf, "max_leaf_nodes": most}
                        stump = OptimalTreeRegressor(1, **limits).fit(X[side], y[side])
                        best.append(stump.objective_ + penalty * stump.tree_.n_splits)
                    cost += min(best)
                least = min(least, cost)
    return least


@pytest.mark.parametrize(
    "limits", [{}, {"alpha": 0.02}, {"min_samples_leaf": 2}, {"max_leaf_nodes": 3}]
)
@pytest.mark.parametrize("seed", range(2))
def test_runner_ups_are_those_of_trying_all(seed: int, limits: dict[str, Any]) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(14, 3)).astype(float)
    y = rng.integers(0, 9, size=14).astype(float)
    reg = OptimalTreeRegressor(max_depth=2, **limits).fit(X, y)
    found = runner_up_splits(reg, X, y)
    assert [one.node for one in found] == np.flatnonzero(reg.tree_.feature >= 0).tolist()
    expected = least_without(reg, X, y, int(reg.tree_.feature[0])) - reg.objective_
    assert found[0].status == "optimal"
    assert found[0].extra == pytest.approx(expected, abs=1e-6)
    whole = float(((y - y.mean()) ** 2).sum())
    assert found[0].explained == pytest.approx(expected / whole, abs=1e-6)
    assert "of R²" in found[0].sentence or found[0].extra == 0


def test_runner_ups_of_a_cross_validated_tree() -> None:
    X, y = table(40)
    reg = OptimalTreeRegressorCV(max_depth=2, cv=2).fit(X, y)
    assert len(runner_up_splits(reg, X, y)) == reg.tree_.n_splits


def test_stability_of_numbers() -> None:
    X, y = table()
    found = stability(OptimalTreeRegressor(max_depth=1).fit(X, y), X, y, n_refits=5, time_limit=9)
    assert found.n_proven == 5
    assert 0.5 < found.agreement <= 1.0
    exact = stability(OptimalTreeRegressor(max_depth=0).fit(X, y), X, np.ones(len(y)), n_refits=2)
    assert exact.agreement in (0.0, 1.0)


@pytest.mark.parametrize(
    ("criterion", "centre"), [("squared_error", np.mean), ("absolute_error", np.median)]
)
def test_leaves_are_estimated_on_other_rows(criterion: str, centre: Any) -> None:
    X, y = table()
    reg = OptimalTreeRegressor(2, criterion).fit(X[:60], y[:60])
    honest = refit_leaves(reg, X[60:], y[60:])
    leaves = reg.apply(X[60:])
    for leaf in np.unique(leaves):
        own = y[60:][leaves == leaf]
        assert honest.tree_.value[leaf, 0] == pytest.approx(centre(own))
        assert honest.tree_.n_samples[leaf] == len(own)
    assert not hasattr(honest, "status_")
    with pytest.raises(ValueError, match="'laplace' parameter of refit_leaves must be 0"):
        refit_leaves(reg, X, y, laplace=1.0)
    with pytest.raises(ValueError, match="must have 1 columns"):
        refit_leaves(reg, X, np.column_stack([y, y]))


@pytest.mark.parametrize(
    "options", [{"criterion": "gini"}, {"criterion": "entropy"}, {"cost_matrix": [[0, 2], [5, 0]]}]
)
def test_runner_ups_of_other_criteria(options: dict[str, Any]) -> None:
    """At depth one, the runner-up is the best tree without the column."""
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(40, 3)).astype(float)
    y = (X[:, 0] + rng.normal(size=40) > 2).astype(int)
    clf = OptimalTreeClassifier(max_depth=1, **options).fit(X, y)
    found = runner_up_splits(clf, X, y)[0]
    others = [c for c in range(3) if c != clf.tree_.feature[0]]
    without = OptimalTreeClassifier(max_depth=1, **options).fit(X[:, others], y)
    assert found.extra == pytest.approx(without.objective_ - clf.objective_)
    assert found.status == "optimal"
