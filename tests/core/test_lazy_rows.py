"""Lazy rows: solving the children of the root on a sample of the rows changes nothing but the time.

The sample is compared with the plain search, which knows nothing of it. How it behaves on tables
small enough for the naive twin is tested with the other parts of the search.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import OFF, TINY_SAMPLES, core_search, same_tree, walk_tree

BLOCK = 40
BLOCKS = 6


def planted_problem(seed: int) -> Problem:
    """A tree of depth three with some noise: the kind of table that a sample is used for."""
    rng = np.random.default_rng(seed)
    n, n_features = int(rng.integers(1500, 3000)), int(rng.integers(1, 6))
    n_classes = int(rng.choice([2, 2, 3, 5]))
    X = rng.normal(size=(n, n_features))
    if rng.random() < 0.5:
        X = np.round(X * rng.choice([2, 5, 20, 100]))
    features, thresholds = rng.integers(0, n_features, 7), rng.normal(size=7)
    node = np.zeros(n, dtype=np.intp)
    for _ in range(3):
        node = 2 * node + 1 + (X[np.arange(n), features[node]] > thresholds[node])
    y = rng.integers(0, n_classes, 8)[node - 7]
    noisy = rng.random(n) < rng.choice([0.0, 0.01, 0.03, 0.08])
    y = np.where(noisy, rng.integers(0, n_classes, n), y)
    y[:n_classes] = np.arange(n_classes)
    if rng.random() < 0.3:  # rows that come several times
        times = rng.integers(1, 4, n)
        X, y = np.repeat(X, times, axis=0), np.repeat(y, times)
    weight = rng.integers(1, rng.choice([3, 300]), len(y)).astype(float)
    return build_problem(
        X,
        y,
        n_classes=n_classes,
        max_depth=3,
        sample_weight=weight if rng.random() < 0.3 else None,
        alpha=float(rng.choice([0.0, 0.0, 0.01])),
        max_leaf_nodes=int(rng.integers(4, 9)) if rng.random() < 0.3 else None,
    )


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.slow) for b in range(1, BLOCKS))]
)
def test_a_sample_gives_the_tree_of_the_plain_search(block: int) -> None:
    sampled = 0
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem = planted_problem(seed)
        lazy, plain = core_search(problem), core_search(problem, switches=OFF["lazy_rows"])
        assert plain["counters"]["samples"] == 0
        sampled += lazy["counters"]["samples"] > 0
        assert lazy["status"] == "optimal"
        assert (lazy["cost"], lazy["lower_bound"]) == (plain["cost"], plain["cost"]), seed
        assert same_tree(lazy, plain), seed
    assert sampled > BLOCK / 2


def test_a_sample_leaves_most_rows_out_where_there_is_little_noise() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 4))
    y = ((X[:, 0] > 0.3) & (X[:, 1] < 0.5) | (X[:, 2] > 1.5)).astype(int)
    y ^= rng.random(20_000) < 0.01
    counters = core_search(build_problem(X, y, n_classes=2, max_depth=3))["counters"]
    assert 0 < counters["sampled_rows"] < 5_000


def test_much_noise_switches_samples_off() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2_000, 3)), rng.integers(0, 2, 2_000)
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    assert core_search(problem)["counters"]["samples"] == 0
    grown = core_search(problem, switches=TINY_SAMPLES)
    assert grown["counters"]["samples"] > 0
    assert grown["cost"] == core_search(problem)["cost"]


@pytest.mark.parametrize("limit", [0.02, 0.1, 0.4])
def test_a_stop_leaves_a_real_tree_and_a_valid_bound(limit: float) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6_000, 6))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0.4).astype(int)
    y = np.where(rng.random(6_000) < 0.3, (X[:, 0] > 0).astype(int), y)
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    best = core_search(problem)
    assert best["status"] == "optimal"
    found = core_search(problem, time_limit=limit, switches=TINY_SAMPLES)
    assert walk_tree(problem, found)[0] == found["cost"]
    assert found["lower_bound"] <= best["cost"] <= found["cost"]
    assert math.isfinite(found["cost"])
