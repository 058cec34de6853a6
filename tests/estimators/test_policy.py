"""OptimalPolicyTree: brute force, values, action costs, budgets, conventions, bad input."""

from __future__ import annotations

import inspect
import itertools
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from provetree import OptimalPolicyTree, Tree, load_model, verify
from provetree.options import POLICY_OPTIONS, ParameterError
from testkit.naive_tables import least_cost
from testkit.sklearn_checks import all_checks

RNG = np.random.default_rng(8)
X = RNG.integers(0, 9, size=(80, 3)).astype(float)
REWARDS = np.column_stack(
    [np.zeros(80), X[:, 0] - 4 + RNG.normal(size=80), X[:, 1] - 6 + RNG.normal(size=80)]
)
NAMED = pd.DataFrame(REWARDS, columns=["wait", "pills", "surgery"])


class PolicyOfNumbers(OptimalPolicyTree):
    """Acts where a number is above zero: rewards for checks that know one column of targets."""

    def fit(self, X, y, sample_weight=None):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        numbers = np.asarray(y)
        if numbers.dtype.kind in "OUS":
            numbers = np.unique(numbers, return_inverse=True)[1].reshape(numbers.shape)
        numbers = numbers.reshape(len(numbers), -1)
        return super().fit(X, np.column_stack([np.zeros(len(numbers)), numbers]), sample_weight)

    def score(self, X, y, sample_weight=None):
        numbers = np.asarray(y).reshape(len(y), -1)
        rewards = np.column_stack([np.zeros(len(numbers)), numbers])
        return super().score(X, rewards, sample_weight)


@pytest.mark.filterwarnings("default")
@all_checks(PolicyOfNumbers(max_depth=2))
def test_all_checks_pass(estimator, check):
    check(estimator)


def test_it_is_no_classifier_and_no_regressor():
    assert not is_classifier(OptimalPolicyTree())
    assert not is_regressor(OptimalPolicyTree())


def test_the_signature_and_the_docstring_are_the_table():
    parameters = inspect.signature(OptimalPolicyTree).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        option.name: option.default for option in POLICY_OPTIONS
    }
    assert list(parameters) == [option.name for option in POLICY_OPTIONS]
    for option in POLICY_OPTIONS:
        assert option.documentation() in inspect.getdoc(OptimalPolicyTree)


def random_rewards(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 13)), int(rng.integers(2, 5))
    table = rng.integers(0, 5, size=(n, int(rng.integers(1, 4)))).astype(float)
    rewards = rng.normal(size=(n, k)) + np.outer(table[:, 0] - 2, rng.normal(size=k))
    rewards = np.round(rewards * float(rng.choice([1, 100, 1e6])), int(rng.integers(0, 9)))
    weights = rng.integers(1, 4, n) if rng.random() < 0.5 else np.ones(n, dtype=int)
    return rng, table, rewards, weights


@pytest.mark.parametrize("seed", range(80))
def test_against_brute_force(seed):
    rng, table, rewards, weights = random_rewards(seed)
    costs = np.round(rng.normal(size=rewards.shape[1]), 2) if seed % 3 == 0 else None
    limits = {
        "max_depth": int(rng.integers(1, 4)),
        "max_leaf_nodes": int(rng.integers(2, 6)) if rng.random() < 0.3 else None,
        "min_samples_leaf": int(rng.integers(1, 3)),
        "alpha": float(rng.choice([0.0, 0.0, 0.05])),
    }
    policy = OptimalPolicyTree(action_costs=costs, **limits).fit(table, rewards, weights)
    net = rewards - (0 if costs is None else costs)
    expected = least_cost(
        "linear",
        table,
        targets=np.ascontiguousarray(-net),
        weights=weights,
        depth=limits["max_depth"],
        leaves=limits["max_leaf_nodes"],
        min_leaf=limits["min_samples_leaf"],
        alpha=limits["alpha"],
    )
    scale = 1e-9 * np.ptp(net, axis=1) @ weights
    assert policy.objective_ == pytest.approx(expected, rel=1e-9, abs=scale)
    checked = verify(policy.tree_, table, net, sample_weight=weights, **limits)
    assert checked.ok
    assert checked.cost == pytest.approx(policy.objective_, rel=1e-9, abs=scale)
    chosen = net[np.arange(len(net)), policy.predict_index(table)]
    assert policy.value_ == pytest.approx(np.average(chosen, weights=weights), abs=scale)
    assert (policy.status_, policy.gap_) == ("optimal", 0.0)
    if limits["alpha"] == 0:
        assert policy.value_bound_ == pytest.approx(policy.value_, rel=1e-12, abs=1e-12)


def all_trees(table, rewards, weights, depth):
    """Total reward and use of the actions of every tree, brute force."""

    def below(rows, depth):
        found = [
            (float(weights[rows] @ rewards[rows, a]), (float(weights[rows].sum()), a))
            for a in range(rewards.shape[1])
        ]
        options = [(total, {a: w}) for total, (w, a) in found]
        if depth == 0:
            return options
        for x in table.T:
            for threshold in np.unique(x[rows])[:-1]:
                left = below(rows[x[rows] <= threshold], depth - 1)
                right = below(rows[x[rows] > threshold], depth - 1)
                for (a, use), (b, more) in itertools.product(left, right):
                    both = {k: use.get(k, 0) + more.get(k, 0) for k in {*use, *more}}
                    options.append((a + b, both))
        return options

    return below(np.arange(len(table)), depth)


@pytest.mark.parametrize("seed", range(25))
def test_budgets_against_brute_force(seed):
    """The claims: within the budget, best of all that use no more, and no tree above the bound."""
    rng, table, rewards, weights = random_rewards(100 + seed)
    table, k = table[:8, :2], rewards.shape[1]
    rewards, weights = rewards[:8], weights[:8]
    depth, total = int(rng.integers(1, 3)) if k < 4 else 1, float(weights.sum())
    budget = np.ones(k)
    limited = rng.permutation(k)[: int(rng.integers(1, k))]
    budget[limited] = rng.choice([0.0, 0.1, 0.3, 0.5, 0.9], len(limited))
    policy = OptimalPolicyTree(max_depth=depth, budget=budget).fit(table, rewards, weights)
    assert (policy.treatment_shares_ <= budget + 1e-12).all()
    assert policy.treatment_shares_.sum() == pytest.approx(1.0)
    assert (policy.prices_ >= 0).all()
    assert (policy.prices_[budget == 1] == 0).all()
    rounding = 1e-9 * max(1.0, float(np.ptp(rewards)))
    for reward, use in all_trees(table, rewards, weights, depth):
        shares = np.array([use.get(a, 0.0) for a in range(k)]) / total
        net = reward / total - policy.prices_ @ shares
        mine = policy.value_ - policy.prices_ @ policy.treatment_shares_
        assert net <= mine + rounding  # the best at its prices
        if (shares[limited] <= policy.treatment_shares_[limited] + 1e-12).all():
            assert reward / total <= policy.value_ + rounding  # of all that use no more
        if (shares <= budget + 1e-12).all():
            assert reward / total <= policy.value_bound_ + rounding
    # The objective is at the prices.
    priced = verify(policy.tree_, table, rewards - policy.prices_, sample_weight=weights)
    assert priced.cost == pytest.approx(policy.objective_, rel=1e-9, abs=rounding * total)


def test_a_budget_that_does_not_bind_changes_nothing():
    free = OptimalPolicyTree(max_depth=2).fit(X, REWARDS)
    within = OptimalPolicyTree(max_depth=2, budget=free.treatment_shares_).fit  # too tight in all
    with pytest.raises(ValueError, match="at least one action without a limit"):
        within(X, REWARDS)
    share = float(free.treatment_shares_[1])
    same = OptimalPolicyTree(max_depth=2, budget={1: share}).fit(X, REWARDS)
    assert same.tree_ == free.tree_
    assert same.prices_.tolist() == [0.0, 0.0, 0.0]
    assert same.value_ == free.value_ == pytest.approx(same.value_bound_)


def test_smaller_budgets_have_smaller_values_and_larger_prices():
    values, prices = [], []
    for share in (0.4, 0.25, 0.1, 0.0):
        policy = OptimalPolicyTree(max_depth=2, budget={"pills": share}).fit(X, NAMED)
        assert policy.treatment_shares_[1] <= share
        values.append(policy.value_)
        prices.append(policy.prices_[1])
        assert policy.value_ <= policy.value_bound_ + 1e-12
    assert values == sorted(values, reverse=True)
    assert prices == sorted(prices)


def test_budgets_with_penalties_and_weights():
    weights = RNG.integers(0, 4, 80)
    policy = OptimalPolicyTree(max_depth=3, alpha=0.03, budget={1: 0.2}).fit(X, REWARDS, weights)
    free = OptimalPolicyTree(max_depth=3, alpha=0.03).fit(X, REWARDS, weights)
    chosen = policy.predict_index(X)
    assert weights[chosen == 1].sum() / weights.sum() <= 0.2
    assert policy.get_n_leaves() <= 8
    # The penalty of a split is that of the problem without prices.
    penalty = verify(free.tree_, X, REWARDS, sample_weight=weights, alpha=0.03)
    each = (penalty.cost - penalty.errors) / penalty.n_splits
    priced = verify(policy.tree_, X, REWARDS - policy.prices_, sample_weight=weights)
    expected = priced.errors + each * policy.tree_.n_splits
    assert policy.objective_ == pytest.approx(expected, rel=1e-9)


def test_a_budget_when_time_is_up():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3000, 8))
    rewards = rng.normal(size=(3000, 4)) + np.array([0, 2, 1, 0])
    policy = OptimalPolicyTree(max_depth=4, budget={1: 0.05, 2: 0.05}, time_limit=0.01)
    policy.fit(table, rewards)
    assert policy.status_ == "time_limit"
    assert (policy.treatment_shares_[1:3] <= 0.05).all()
    assert policy.value_ <= policy.value_bound_
    assert policy.lower_bound_ <= policy.objective_


def test_values_and_their_errors():
    policy = OptimalPolicyTree(max_depth=2).fit(X[:40], REWARDS[:40])
    mean, error = policy.value(X[40:], REWARDS[40:])
    seen = REWARDS[40:][np.arange(40), policy.predict_index(X[40:])]
    assert mean == pytest.approx(seen.mean())
    assert error == pytest.approx(seen.std(ddof=1) / math.sqrt(40))
    assert policy.score(X[40:], REWARDS[40:]) == mean
    weights = RNG.integers(0, 3, 40)
    weighted = policy.value(X[40:], REWARDS[40:], weights)
    assert weighted.mean == pytest.approx(np.average(seen, weights=weights))
    assert math.isnan(policy.value(X[:1], REWARDS[:1]).standard_error)
    own = policy.value(X[:40], REWARDS[:40])
    assert own.mean == pytest.approx(policy.value_)


def test_action_costs_are_taken_off():
    dear = OptimalPolicyTree(max_depth=2, action_costs={"surgery": 1.5}).fit(X, NAMED)
    cheap = OptimalPolicyTree(max_depth=2).fit(X, REWARDS - [0, 0, 1.5])
    assert dear.value_ == pytest.approx(cheap.value_)
    assert dear.predict_index(X).tolist() == cheap.predict_index(X).tolist()
    assert dear.value(X, NAMED).mean == pytest.approx(dear.value_)
    by_array = OptimalPolicyTree(max_depth=2, action_costs=[0, 0, 1.5]).fit(X, REWARDS)
    assert by_array.value_ == pytest.approx(dear.value_)


def test_names_of_actions():
    for given in (NAMED, pl.DataFrame(NAMED.to_dict("list"))):
        policy = OptimalPolicyTree(max_depth=2).fit(X, given)
        assert policy.actions_.tolist() == ["wait", "pills", "surgery"]
        assert set(policy.predict(X)) <= {"wait", "pills", "surgery"}
    assert OptimalPolicyTree().fit(X, REWARDS.tolist()).actions_.tolist() == [0, 1, 2]
    numbers = pd.DataFrame(REWARDS, columns=[10, 20, 30])
    assert set(OptimalPolicyTree().fit(X, numbers).predict(X)) <= {10, 20, 30}
    mixed = pd.DataFrame(REWARDS, columns=["none", 20, 30])
    assert OptimalPolicyTree(budget={20: 0.1}).fit(X, mixed).actions_.tolist() == ["none", 20, 30]


@pytest.mark.parametrize("library", [pd, pl])
def test_tables_with_categories_and_missing_values(library):
    city = ["a", "b", "c", None] * 20
    age = [float(x) if x < 8 else None for x in X[:, 0]]
    table = library.DataFrame({"age": age, "city": city})
    rewards = np.column_stack([np.zeros(80), np.array([2.0, -1, -1, 3] * 20)])
    policy = OptimalPolicyTree(max_depth=2).fit(table, rewards)
    assert policy.value_ == 1.25
    assert policy.predict(table).tolist() == [1, 0, 0, 1] * 20
    assert policy.feature_names_in_.tolist() == ["age", "city"]


def test_copies_files_and_pickles(tmp_path):
    policy = OptimalPolicyTree(budget={"pills": 0.2}, action_costs={"surgery": 1}).fit(X, NAMED)
    assert clone(policy).get_params() == policy.get_params()
    again = pickle.loads(pickle.dumps(policy))
    assert again.predict(X).tolist() == policy.predict(X).tolist()
    policy.save(tmp_path / "model.json")
    stored = load_model(tmp_path / "model.json")
    assert stored.predict(X).tolist() == policy.predict(X).tolist()
    assert stored.proof.status == "optimal"
    assert Tree.from_text(policy.export_text(legend=True)) == policy.tree_
    with pytest.raises(NotFittedError):
        OptimalPolicyTree().predict(X)


def test_pictures_and_texts():
    import matplotlib

    matplotlib.use("agg")
    policy = OptimalPolicyTree(max_depth=2).fit(X, NAMED)
    assert any("pills" in text.get_text() for text in policy.plot().texts)
    assert "pills" in policy.export_graphviz()
    shown = policy._repr_html_()
    assert "pills" in shown
    reward = f"{80 * policy.value_:.6g}"
    assert f"Proven optimal: a reward of {reward} in all, and no tree of depth 2 brings" in shown
    assert policy.decision_path(X).shape == (80, policy.tree_.n_nodes)
    assert policy.feature_importances_.sum() == pytest.approx(1.0)


def test_model_selection_by_value():
    scores = cross_val_score(OptimalPolicyTree(max_depth=1), X, REWARDS, cv=4)
    assert len(scores) == 4
    search = GridSearchCV(OptimalPolicyTree(), {"max_depth": [0, 1, 2]}, cv=4).fit(X, REWARDS)
    assert search.best_params_["max_depth"] > 0


def test_threads_start_trees_and_checkpoints(tmp_path):
    one = OptimalPolicyTree(max_depth=3).fit(X, REWARDS)
    two = OptimalPolicyTree(max_depth=3, n_jobs=2).fit(X, REWARDS)
    assert two.value_ == pytest.approx(one.value_)
    greedy = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, REWARDS.argmax(axis=1))
    for budget in (None, {1: 0.2}):
        begun = OptimalPolicyTree(max_depth=3, budget=budget)
        begun.fit(X, REWARDS, initial_tree=greedy)
        plain = OptimalPolicyTree(max_depth=3, budget=budget).fit(X, REWARDS)
        assert begun.value_ == pytest.approx(plain.value_)
    file = tmp_path / "proof"
    stopped = OptimalPolicyTree(max_depth=3, max_work=20_000, checkpoint=file).fit(X, REWARDS)
    assert stopped.status_ == "work_limit"
    assert stopped.value_ <= one.value_ + 1e-12
    assert stopped.value_bound_ >= one.value_ - 1e-12
    resumed = OptimalPolicyTree(max_depth=3, checkpoint=file).fit(X, REWARDS)
    assert resumed.value_ == pytest.approx(one.value_)
    with pytest.raises(ValueError, match="keeps one proof, and a 'budget' takes several"):
        OptimalPolicyTree(budget={1: 0.2}, checkpoint=file).fit(X, REWARDS)


def with_cell(value, dtype=float):
    rewards = REWARDS.astype(dtype)
    rewards[3, 1] = value
    return rewards


BAD_REWARDS = {
    "one row too few": (REWARDS[:79], "X has 80 rows and rewards have 79"),
    "flat": (REWARDS[:, 0], r"two or more actions, shape \(n_rows, n_actions\).*\(80,\)"),
    "one action": (REWARDS[:, :1], r"two or more actions.*Got an array of shape \(80, 1\)"),
    "no action": (REWARDS[:, :0], r"two or more actions.*Got an array of shape \(80, 0\)"),
    "three dimensions": (REWARDS[:, :, None], r"two or more actions.*\(80, 3, 1\)"),
    "missing": (with_cell(np.nan), r"must hold no missing values\. Got NaN"),
    "none": (with_cell(None, object), r"must hold no missing values\. Got None"),
    "infinite": (with_cell(-np.inf), "must hold finite numbers"),
    "text": (with_cell("much", object), r"must hold numbers\. Got 'much'"),
    "beyond 2**53": (with_cell(2**53 + 1, object), r"at most 2\*\*53"),
    "whole numbers beyond 2**53": (with_cell(2**60, np.int64), r"at most 2\*\*53"),
    "nothing": (None, "requires rewards to be passed, but they are None"),
    "ragged": ([[1, 2], [1]] * 40, "rows of equal length"),
    "complex": (with_cell(1j, complex), "Complex data not supported"),
    "twice the same name": (
        pd.DataFrame(REWARDS, columns=["a", "b", "a"]),
        r"a name of its own for each action\. Got 'a' twice",
    ),
}


@pytest.mark.parametrize("name", BAD_REWARDS)
def test_bad_rewards(name):
    rewards, words = BAD_REWARDS[name]
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        OptimalPolicyTree().fit(X, rewards)
    assert "\n" not in str(caught.value)


BAD_PARAMETERS = {
    "unknown action in budget": ({"budget": {"pill": 0.2}}, r"'budget'.*must name actions.*'pill'"),
    "unknown action in costs": ({"action_costs": {"x": 1}}, r"'action_costs'.*must name.*Got 'x'"),
    "share above one": ({"budget": {"pills": 1.5}}, r"\[0\.0, 1\.0\]\. Got 1\.5 for the action"),
    "share below zero": ({"budget": {"pills": -0.1}}, r"\[0\.0, 1\.0\]\. Got -0\.1"),
    "share of text": ({"budget": {"pills": "few"}}, r"'budget'.*must hold numbers\. Got 'few'"),
    "no way out": ({"budget": [0.9, 0.9, 0.9]}, "at least one action without a limit"),
    "too many shares": ({"budget": [1, 0.5, 0.5, 0.5]}, r"shape \(3,\)\. Got shape \(4,\)"),
    "infinite cost": ({"action_costs": [0, 0, np.inf]}, r"must be finite\. Got inf.*'surgery'"),
    "too few costs": ({"action_costs": [0, 1]}, r"shape \(3,\)\. Got shape \(2,\)"),
    "budget of a number": ({"budget": 0.3}, r"'budget' parameter.*Got 0\.3 instead"),
    "costs of a word": ({"action_costs": "dear"}, r"'action_costs' parameter.*Got 'dear'"),
    "depth": ({"max_depth": -1}, r"'max_depth' parameter of OptimalPolicyTree.*Got -1"),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters(name):
    params, words = BAD_PARAMETERS[name]
    with pytest.raises((ValueError, ParameterError), match=words) as caught:
        OptimalPolicyTree(**params).fit(X, NAMED)
    assert "\n" not in str(caught.value)


def test_values_need_the_actions_of_training():
    policy = OptimalPolicyTree().fit(X, NAMED)
    with pytest.raises(ValueError, match=r"actions of training in their order.*Got 2 columns"):
        policy.value(X, REWARDS[:, :2])
    with pytest.raises(ValueError, match=r"Got \['surgery', 'pills', 'wait'\]"):
        policy.value(X, NAMED[["surgery", "pills", "wait"]])
    assert policy.value(X, REWARDS).mean == pytest.approx(policy.value_)


def test_actions_that_are_all_alike_are_one_leaf():
    policy = OptimalPolicyTree().fit(X, np.full((80, 3), 2.5))
    assert (policy.status_, policy.value_, policy.get_n_leaves()) == ("optimal", 2.5, 1)
    none = OptimalPolicyTree(budget={0: 0.0}).fit(X, np.full((80, 3), 2.5))
    assert none.treatment_shares_[0] == 0
    assert none.value_ == 2.5


def test_no_bound_is_below_the_tree_where_weights_are_rounded() -> None:
    """The bound is worked out with the weights as the search rounds them."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        X, weights = rng.integers(0, 5, (12, 1)), rng.random(12)
        rewards = np.column_stack([np.ones(12), rng.integers(0, 2, 12)])
        policy = OptimalPolicyTree(max_depth=1, budget=[None, 0.5]).fit(X, rewards, weights)
        assert policy.value_bound_ >= policy.value_
