"""Runner-ups, stability, refitted leaves and sizes of trees by purity, by costs and of actions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from provetree import (
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeCV,
    refit_leaves,
    runner_up_splits,
    stability,
    tuning_path,
)
from testkit.naive_tables import least_cost

X, Y = load_iris(return_X_y=True)
X, Y = X[::3], Y[::3]
RNG = np.random.default_rng(4)
REWARDS = pd.DataFrame(
    np.column_stack([np.zeros(50), X[:, 2] - 4 + RNG.normal(size=50), 6 - X[:, 0] - X[:, 3]]),
    columns=["wait", "pills", "surgery"],
)
MATRIX = np.array([[0, 1, 4], [2, 0, 1], [1, 3, 0.25]])


@pytest.mark.parametrize("criterion", ["gini", "entropy", "pessimistic", "costs", "rewards"])
def test_runner_ups_of_stumps(criterion):
    """Of a single split, the runner-up is the best split on another column."""
    classes, targets, loss, y = Y, None, criterion, Y
    if criterion == "costs":
        classes, targets, loss = None, MATRIX[Y], "linear"
        model = OptimalTreeClassifier(max_depth=1, cost_matrix=MATRIX).fit(X, Y)
    elif criterion == "rewards":
        classes, targets, loss, y = (
            None,
            np.array([0.0, 0.5, 0]) - REWARDS.to_numpy(),
            "linear",
            REWARDS,
        )
        model = OptimalPolicyTree(max_depth=1, action_costs={"pills": 0.5}).fit(X, REWARDS)
    else:
        model = OptimalTreeClassifier(max_depth=1, criterion=criterion).fit(X, Y)
    (found,) = runner_up_splits(model, X, y)
    others = np.delete(X, model.tree_.feature[0], axis=1)
    targets = None if targets is None else np.ascontiguousarray(targets)
    least = least_cost(loss, others, classes, targets, depth=1)
    assert found.status == "optimal"
    assert found.extra == pytest.approx(least - model.objective_, rel=1e-6, abs=1e-7)
    assert found.extra_at_least == pytest.approx(found.extra, abs=1e-7)


def test_runner_ups_of_a_budget_are_at_its_prices():
    model = OptimalPolicyTree(max_depth=1, budget={"pills": 0.2}).fit(X, REWARDS)
    (found,) = runner_up_splits(model, X, REWARDS)
    others = np.delete(X, model.tree_.feature[0], axis=1)
    costs = np.ascontiguousarray(model.prices_ - REWARDS.to_numpy())
    least = least_cost("linear", others, targets=costs, depth=1)
    assert found.extra == pytest.approx(least - model.objective_, abs=1e-7)
    both = OptimalPolicyTree(max_depth=1, budget={"pills": 0.2}, alpha=0.01).fit(X, REWARDS)
    with pytest.raises(ValueError, match="a budget and a penalty for splits"):
        runner_up_splits(both, X, REWARDS)


def test_costs_of_rows_are_not_known_later():
    model = OptimalTreeClassifier(max_depth=2).fit(X, Y, sample_costs=MATRIX[Y])
    for look in (runner_up_splits, stability):
        with pytest.raises(ValueError, match=f"'sample_costs', and {look.__name__} knows costs by"):
            look(model, X, Y)
    refitted = refit_leaves(model, X[::2], Y[::2])
    leaves = model.tree_.feature < 0
    assert refitted.tree_.label[leaves].tolist() == model.tree_.label[leaves].tolist()


def test_refitted_leaves_predict_their_cheapest_class():
    table, y = np.zeros((10, 1)), np.array([0] * 6 + [1] * 4)
    model = OptimalTreeClassifier(max_depth=1, cost_matrix={(1, 0): 9}).fit([[0], [1]], [0, 1])
    refitted = refit_leaves(model, table, y)
    assert refitted.predict_proba([[0.0]]).tolist() == [[0.6, 0.4]]
    assert refitted.predict([[0.0]]).tolist() == [1]


def test_refitted_leaves_of_actions():
    policy = OptimalPolicyTree(max_depth=1, action_costs={"pills": 5.0}).fit(X, REWARDS)
    refitted = refit_leaves(policy, X, REWARDS)
    assert refitted.tree_.value == pytest.approx(policy.tree_.value)
    assert refitted.predict(X).tolist() == policy.predict(X).tolist()
    dear = REWARDS.assign(wait=-100.0, surgery=-100.0)
    assert set(refit_leaves(policy, X, dear).predict(X)) == {"pills"}
    within = OptimalPolicyTree(max_depth=1, budget={"pills": 0.1}).fit(X, REWARDS)
    assert refit_leaves(within, X, dear).predict(X).tolist() == within.predict(X).tolist()


def test_stability_of_actions_keeps_their_names():
    policy = OptimalPolicyTree(max_depth=1, budget={"pills": 0.3}).fit(X, REWARDS)
    found = stability(policy, X, REWARDS, n_refits=3)
    assert found.n_proven == 3
    assert 0.0 < found.agreement <= 1.0


@pytest.mark.parametrize("criterion", ["gini", "entropy", "pessimistic"])
def test_sizes_by_purity(criterion):
    path = tuning_path(X, Y, criterion=criterion, max_depth=2, cv=3)
    for point in path.points:
        alone = OptimalTreeClassifier(
            max_depth=2, max_leaf_nodes=point.n_leaves, criterion=criterion
        ).fit(X, Y)
        assert point.status == "optimal"
        assert point.errors == pytest.approx(alone.objective_, rel=1e-9)
    chosen = OptimalTreeCV(max_depth=2, cv=3, criterion=criterion).fit(X, Y)
    assert chosen.path_.points[-1].errors == pytest.approx(path.points[-1].errors)
    assert chosen.score(X, Y) > 0.9
