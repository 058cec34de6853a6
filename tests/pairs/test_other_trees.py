"""Trees of numbers and of actions with splits about two columns, against brute force."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from provetree import OptimalPolicyTree, OptimalTreeRegressor, verify
from testkit.naive_pairs import decimal, naive_divisions, naive_reward, naive_squares


def random_rows(seed: int) -> tuple[np.random.Generator, np.ndarray, set[int], dict[str, int]]:
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([1, 2]))
    n, p = int(rng.integers(2, (16, 10)[depth - 1])), int(rng.integers(2, 4))
    X = rng.integers(0, 8, (n, p)) / rng.choice([10.0, 1.0, 0.004], p)  # short decimals
    X[rng.random(X.shape) < 0.08] = np.nan
    columns = [[decimal(x) for x in column] for column in X.T.tolist()]
    divisions = naive_divisions(columns, [None] * p, 2)
    return rng, X, divisions, {"max_depth": depth, "min_samples_leaf": int(rng.integers(1, 3))}


@pytest.mark.parametrize("seed", range(120))
def test_squared_errors(seed: int) -> None:
    rng, X, divisions, limits = random_rows(seed)
    y = rng.integers(-20, 20, len(X)) / 4
    reg = OptimalTreeRegressor(**limits, splits="pairs").fit(X, y)
    least = naive_squares(divisions, [Fraction(x) for x in y], **limits)
    assert reg.status_ == "optimal"
    assert reg.objective_ == pytest.approx(float(least), abs=1e-9)
    assert verify(reg.tree_, X, y).cost == pytest.approx(float(least), abs=1e-9)


@pytest.mark.parametrize("seed", range(120))
def test_rewards(seed: int) -> None:
    rng, X, divisions, limits = random_rows(seed + 1000)
    rewards = rng.integers(-5, 6, (len(X), int(rng.integers(2, 4))))
    policy = OptimalPolicyTree(**limits, splits="pairs").fit(X, rewards)
    most = naive_reward(divisions, rewards.tolist(), **limits)
    assert policy.status_ == "optimal"
    assert policy.value_ * len(X) == pytest.approx(float(most), abs=1e-9)
    chosen = policy.predict(X)
    assert sum(rewards[i, a] for i, a in enumerate(chosen)) == pytest.approx(float(most))


def test_a_budget_has_pairs_too() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2)).round(2)
    gain = np.where(X[:, 0] - X[:, 1] > 0.3, 2.0, -1.0)
    rewards = np.column_stack([np.zeros(80), gain])
    policy = OptimalPolicyTree(max_depth=1, splits="pairs", budget={1: 0.9}).fit(X, rewards)
    assert policy.tree_.question_names[int(policy.tree_.feature[0])] == "x0 - x1"
    tight = OptimalPolicyTree(max_depth=1, splits="pairs", budget={1: 0.2}).fit(X, rewards)
    assert tight.treatment_shares_[1] <= 0.2
