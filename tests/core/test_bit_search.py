"""The search on bits: the same optimum, bound and tree as the sweeps give, by every kernel.

Small tables are compared with the naive twin together with the other parts of the search; here are
tables with more rows and columns, and what is special about bits.
"""

from __future__ import annotations

import numpy as np
import pytest

from core_calls import KERNELS, OFF, core_search, same_tree, walk_tree
from provetree.problem.problem import Problem, build_problem

BLOCK = 25
BLOCKS = 8


def few_valued_problem(seed: int) -> Problem:
    """Binary and low-cardinality columns, missing values, weights, leaf budgets and sizes, many classes."""
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([3, 3, 4, 5], p=[0.4, 0.2, 0.3, 0.1]))
    n = int(rng.integers(5, (300, 200, 60)[depth - 3]))
    n_features = int(rng.integers(1, (12, 7, 4)[depth - 3]))
    n_classes = int(rng.choice([1, 2, 2, 2, 3, 5, 8]))
    top = int(rng.choice([2, 2, 2, 3, 6]))
    X = rng.integers(0, top, size=(n, n_features)).astype(float)
    if rng.random() < 0.3:
        X *= rng.choice([1.0, 10.0, -3.0], n_features)
    if rng.random() < 0.2:
        X[rng.random(X.shape) < 0.1] = np.nan
    z = np.nan_to_num(X)
    score = z[:, 0] * 2 + z[:, -1] + z[:, n_features // 2] * z[:, 0]
    y = (score.astype(int) % n_classes).astype(int)
    y = np.where(rng.random(n) < 0.2, rng.integers(0, n_classes, n), y)
    weight = rng.integers(1, 4, n).astype(float) if rng.random() < 0.2 else None
    return build_problem(
        X,
        y,
        n_classes=n_classes,
        max_depth=depth,
        sample_weight=weight,
        alpha=float(rng.choice([0.0, 0.0, 0.01, 0.05])),
        max_leaf_nodes=int(rng.integers(2, 2**depth + 1)) if rng.random() < 0.35 else None,
        min_samples_leaf=int(rng.integers(2, max(3, n // 6))) if rng.random() < 0.3 else 1,
    )


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.slow) for b in range(1, BLOCKS))]
)
def test_bits_give_the_tree_of_the_sweeps(block: int) -> None:
    by_bits = 0
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem = few_valued_problem(seed)
        swept = core_search(problem, switches=OFF["bits"])
        for kernel in KERNELS:
            found = core_search(problem, kernel=kernel)
            by_bits += found["counters"]["panels"] == 0
            assert found["status"] == "optimal", seed
            assert (found["cost"], found["lower_bound"]) == (swept["cost"], swept["cost"]), seed
            complete = [each["counters"]["tie_rule_complete"] for each in (found, swept)]
            assert not all(complete) or same_tree(found, swept), seed
            assert walk_tree(problem, found)[0] == swept["cost"], seed
    assert by_bits > BLOCK


def test_a_small_memory_limit_changes_nothing() -> None:
    for seed in range(20):
        problem = few_valued_problem(seed)
        found = core_search(problem, memory_limit=1 << 12)
        assert found["cost"] == core_search(problem)["cost"], seed


@pytest.mark.parametrize("limit", [0.01, 0.05, 0.2])
def test_a_stop_leaves_a_real_tree_and_a_valid_bound(limit: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(2_000, 60)).astype(float)
    y = (X[:, :7].sum(axis=1) + (rng.random(2_000) < 0.2) > 3).astype(int)
    problem = build_problem(X, y, n_classes=2, max_depth=5)
    found = core_search(problem, time_limit=limit)
    assert found["counters"]["panels"] == 0
    assert found["status"] == "time_limit"
    assert walk_tree(problem, found)[0] == found["cost"]
    assert 0 <= found["lower_bound"] <= found["cost"]


def test_tables_that_do_not_fit_are_swept() -> None:
    rng = np.random.default_rng(0)
    few = rng.integers(0, 2, size=(300, 5)).astype(float)
    many = rng.normal(size=(300, 5))
    y = rng.integers(0, 2, 300)
    for X, n_classes in ((many, 2), (few, 9)):
        problem = build_problem(X, y, n_classes=n_classes, max_depth=3)
        assert core_search(problem)["counters"]["panels"] > 0
