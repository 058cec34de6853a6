"""Small tables for trees of splits about two columns, and their check against brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, Tree, verify
from testkit.naive_pairs import decimal, naive_cost, naive_divisions


def random_case(seed: int) -> dict[str, Any]:
    """A table of a seed: short decimals, ties, missing values, weights, categories, tiny n."""
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([1, 2, 3], p=[0.4, 0.45, 0.15]))
    n = int(rng.integers(1, (20, 14, 9)[depth - 1]))
    p = int(rng.integers(2, 4))
    columns = []
    for _ in range(p):
        kind = rng.choice(7, p=[0.2, 0.2, 0.2, 0.15, 0.15, 0.05, 0.05])
        x = {
            0: lambda: rng.integers(0, 4, n) / 10,  # 0.1 + 0.2 is 0.3
            1: lambda: rng.integers(-3, 4, n).astype(float),
            2: lambda: rng.integers(0, 200, n) / 100,
            3: lambda: rng.integers(1, 6, n) * 1000.0,
            4: lambda: rng.integers(1, 6, n) / 1e6,
            5: lambda: np.full(n, 2.0),
            6: lambda: rng.choice([0.0, 1.0, 7.5, math.inf, -math.inf], n),
        }[int(kind)]()
        if rng.random() < 0.3:
            x[rng.random(n) < rng.choice([0.15, 0.6])] = math.nan
        columns.append(x)
    categories: list[list[str] | None] = [None] * p
    if rng.random() < 0.25:
        columns.append(rng.integers(0, 3, n).astype(float))
        categories.append(["a", "b", "c"])
    weights = None
    if rng.random() < 0.3:
        weights = rng.integers(0, 4, n).astype(float)
        weights[0] = 1.0
    return {
        "X": np.column_stack(columns),
        "y": rng.integers(0, int(rng.choice([2, 3])), n),
        "weights": weights,
        "categories": categories,
        "n_angles": int(rng.choice([2, 4, 6], p=[0.7, 0.15, 0.15])),
        "splits": "ratios" if seed % 3 == 0 else "pairs",
        "limits": {
            "max_depth": depth,
            "max_leaf_nodes": int(rng.integers(2, 5)) if rng.random() < 0.2 else None,
            "min_samples_leaf": int(rng.integers(1, 4)) if rng.random() < 0.2 else 1,
            "alpha": float(rng.choice([0.05, 0.2])) if rng.random() < 0.2 else 0.0,
        },
    }


def check(seed: int) -> Tree:
    """Fit a random table, and compare with brute force."""
    case = random_case(seed)
    X, weights, limits = case["X"], case["weights"], case["limits"]
    present = np.ones(len(X), bool) if weights is None else weights > 0
    categorical = [level is not None for level in case["categories"]]
    fitted = OptimalTreeClassifier(
        **limits,
        splits=case["splits"],
        n_angles=case["n_angles"],
        categorical_features=categorical,
    ).fit(X, case["y"], weights)
    rows = X[present]
    columns = [[decimal(x) for x in column] for column in rows.T.tolist()]
    divisions = naive_divisions(
        columns, case["categories"], case["n_angles"], ratios=case["splits"] == "ratios"
    )
    whole = np.ones(len(X)) if weights is None else weights
    cost, n_splits = naive_cost(
        divisions, case["y"][present].tolist(), [Fraction(w) for w in whole[present]], **limits
    )
    assert fitted.status_ == "optimal", seed
    assert fitted.objective_ == pytest.approx(float(cost), abs=1e-12), seed
    assert fitted.tree_.n_splits == n_splits, seed
    # The tree that users see is the one that was proven, row by row.
    found = verify(fitted.tree_, X, case["y"], sample_weight=weights)
    assert found.cost + limits["alpha"] * found.root_error * n_splits == pytest.approx(float(cost))
    leaves = np.bincount(fitted.apply(X)[present], minlength=fitted.tree_.n_nodes)
    is_leaf = fitted.tree_.feature < 0
    assert leaves[is_leaf].tolist() == fitted.tree_.n_samples[is_leaf].tolist(), seed
    return fitted.tree_
