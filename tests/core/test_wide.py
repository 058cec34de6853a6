"""Tables with many columns: what they get changes nothing but the time.

The wide way is compared with the plain search, which knows nothing of it, and the parts of it with
plain code. Tables small enough for the naive twin are treated as wide ones with the other parts of
the search.
"""

from __future__ import annotations

import numpy as np
import pytest

from provetree import _core
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import ALWAYS_WIDE, OFF, core_search, same_tree
from testkit.random_problems import random_problem


def wide_problem(seed: int) -> Problem:
    """A tree of depth two or three on some of very many columns, with little or much noise."""
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([2, 2, 3]))
    n = int(rng.integers(40, 500 if depth == 2 else 90))
    n_columns = int(rng.integers(64, 200 if depth == 2 else 80))
    n_classes = int(rng.choice([2, 2, 3]))
    X = rng.normal(size=(n, n_columns))
    if rng.random() < 0.4:  # ties, and sparse columns
        X = np.round(X * rng.choice([0.5, 1, 3])) * (rng.random(X.shape) < rng.choice([0.1, 0.8]))
    features, thresholds = rng.integers(0, n_columns, 7), rng.normal(size=7) * 0.4
    node = np.zeros(n, dtype=np.intp)
    for _ in range(depth):
        node = 2 * node + 1 + (X[np.arange(n), features[node]] > thresholds[node])
    y = (node + rng.integers(0, 2)) % n_classes
    y = np.where(rng.random(n) < rng.choice([0.0, 0.02, 0.2]), rng.integers(0, n_classes, n), y)
    y[:n_classes] = np.arange(n_classes)
    return build_problem(
        X,
        y,
        n_classes=n_classes,
        max_depth=depth,
        sample_weight=rng.integers(1, 4, n).astype(float) if rng.random() < 0.25 else None,
        alpha=float(rng.choice([0.0, 0.0, 0.02])),
        min_samples_leaf=int(rng.choice([1, 1, 4])),
        max_leaf_nodes=int(rng.integers(3, 2**depth)) if rng.random() < 0.2 else None,
    )


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.slow) for b in range(1, 6))]
)
def test_many_columns_give_the_tree_of_the_plain_search(block: int) -> None:
    for seed in range(block * 12, (block + 1) * 12):
        problem = wide_problem(seed)
        wide = core_search(problem, switches=OFF["bits"])
        plain = core_search(problem, switches=OFF["wide"] | OFF["lazy_rows"] | OFF["bits"])
        assert wide["status"] == plain["status"] == "optimal"
        assert (wide["cost"], wide["lower_bound"]) == (plain["cost"], plain["cost"]), seed
        assert same_tree(wide, plain), seed


def test_depth_two_is_the_same_with_every_limit() -> None:
    for seed in range(300):
        problem = random_problem(seed, max_depth=2)
        if not problem.columns or problem.max_splits < 2:
            continue
        args = {
            "table": problem.table,
            "min_samples_leaf": problem.min_samples_leaf,
            "splits": int(min(3, problem.max_splits)),
            "error_scale": problem.error_scale,
            "split_penalty": problem.split_penalty,
        }
        top = problem.error_scale * int(problem.weights.sum()) + 3 * problem.split_penalty
        free = {**args, "min_samples_leaf": 1}
        exact = _core.parts.depth_two(**args, limit=top + 1, switches=OFF["wide"])[2]
        least = _core.parts.depth_two(**free, limit=top + 1, switches=OFF["wide"])[2]
        for limit in {1, top // 7 + 1, top // 3 + 1, top + 1}:
            wide = _core.parts.depth_two(**args, limit=limit, switches=ALWAYS_WIDE)
            plain = _core.parts.depth_two(**args, limit=limit, switches=OFF["wide"])
            assert wide[0] == plain[0], (seed, limit)  # the limit, or the optimum below it
            assert wide[1] <= least, (seed, limit)  # a bound without the minimum leaf size
            assert wide[2] >= exact, (seed, limit)  # the cost of a tree


def test_a_column_that_few_rows_have_is_closed_unseen() -> None:
    """Words of a text: each is in few rows, and four tell the class of nearly all."""
    rng = np.random.default_rng(1)
    X = (rng.random((600, 1000)) < 0.01).astype(float)
    X[:, :2] = rng.random((600, 2)) < 0.5
    y = (X[:, 0] == X[:, 1]).astype(int)
    y ^= rng.random(600) < 0.05
    problem = build_problem(X, y, n_classes=2, max_depth=2)
    wide, plain = core_search(problem), core_search(problem, switches=OFF["wide"])
    assert (wide["cost"], wide["status"]) == (plain["cost"], plain["status"])
    assert same_tree(wide, plain)
    assert wide["counters"]["lanes"] * 5 < plain["counters"]["lanes"]


def test_a_stopped_search_of_depth_two_keeps_what_it_has() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 200)), rng.integers(0, 2, 300)
    y = np.where(rng.random(300) < 0.8, (X[:, 3] > 0) ^ (X[:, 7] > 0.2), y).astype(int)
    problem = build_problem(X, y, n_classes=2, max_depth=2)
    optimum = core_search(problem)["cost"]
    leaf = min(np.bincount(y))
    costs = []
    for max_work in (400_000, 700_000, 1_500_000):
        found = core_search(problem, max_work=max_work)
        if found["status"] == "optimal":
            continue
        assert found["status"] == "work_limit"
        assert found["lower_bound"] <= optimum <= found["cost"]
        costs.append(found["cost"])
    assert costs
    assert min(costs) < leaf
