"""The search on bits: the same optimum, bound and tree as the sweeps give, by every kernel.

Small tables are compared with the naive twin together with the other parts of the search; here are
tables with more rows and columns, and what is special about bits.
"""

from __future__ import annotations

import numpy as np
import pytest

from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import (
    EAGER_THREADS,
    KERNELS,
    OFF,
    TINY_SAMPLES,
    core_search,
    same_tree,
    walk_tree,
)

BLOCK = 25
BLOCKS = 8


def few_valued_problem(seed: int) -> Problem:
    """Few values a column, missing ones, weights, leaf budgets and sizes, up to 8 classes."""
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


def problem_without_errors(seed: int, n: int | None = None) -> Problem:
    """Classes by a tree of depth three, so that some tree makes no errors."""
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([3, 4, 5], p=[0.4, 0.4, 0.2]))
    n_features = int(rng.integers(2, 8 if n is None else 16))
    n = int(rng.integers(5, 70)) if n is None else n
    top = int(rng.choice([2, 2, 3, 5]))
    X = rng.integers(0, top, size=(n, n_features)).astype(float)
    if rng.random() < 0.2:
        X[rng.random(X.shape) < 0.1] = np.nan
    goes_right = np.nan_to_num(X)[:, rng.integers(0, n_features, 7)] >= rng.integers(1, top, 7)
    leaf = np.zeros(n, dtype=int)
    for first in (0, 1, 3):  # the splits of each level
        leaf = 2 * leaf + goes_right[np.arange(n), first + leaf]
    n_classes = int(rng.choice([2, 2, 3, 4]))
    return build_problem(
        X,
        rng.integers(0, n_classes, 8)[leaf],
        n_classes=n_classes,
        max_depth=depth,
        alpha=float(rng.choice([0.0, 0.0, 0.0, 0.001])),
        max_leaf_nodes=int(rng.integers(2, 2**depth + 1)) if rng.random() < 0.3 else None,
        min_samples_leaf=2 if rng.random() < 0.15 else 1,
    )


def splits_of(found: object) -> int:
    return int((np.asarray(found["column"]) >= 0).sum())  # type: ignore[index]


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.slow) for b in range(1, 5))]
)
def test_samples_find_the_fewest_splits_without_errors(block: int) -> None:
    grown = 0
    for seed in range(block * 60, (block + 1) * 60):
        problem = problem_without_errors(seed)
        swept = core_search(problem, switches=OFF["bits"])
        for kernel, switches in ((KERNELS[-1], TINY_SAMPLES), (KERNELS[-1], 0), (KERNELS[0], 0)):
            found = core_search(problem, kernel=kernel, switches=switches)
            grown += found["counters"]["samples"] > 0
            assert (found["cost"], found["lower_bound"]) == (swept["cost"], swept["cost"]), seed
            complete = [each["counters"]["tie_rule_complete"] for each in (found, swept)]
            assert not all(complete) or same_tree(found, swept), seed
            assert not complete[0] or splits_of(found) <= splits_of(swept), seed
    assert grown > 10


@pytest.mark.parametrize("seed", range(6))
def test_samples_of_larger_tables(seed: int) -> None:
    """Tables of which a sample is taken without being asked for; sweeps are the witness."""
    problem = problem_without_errors(1000 + seed, n=1500 + 500 * seed)
    swept = core_search(problem, switches=OFF["bits"])
    found = core_search(problem)
    assert (found["cost"], found["status"]) == (swept["cost"], "optimal")
    assert walk_tree(problem, found)[0] == swept["cost"]
    complete = [each["counters"]["tie_rule_complete"] for each in (found, swept)]
    assert not all(complete) or same_tree(found, swept)


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_give_the_tree_of_one(n_jobs: int) -> None:
    for seed in range(40):
        problem = few_valued_problem(seed) if seed % 4 else problem_without_errors(seed)
        one = core_search(problem)
        for memory_limit in (1 << 28, 1 << 12):
            found = core_search(
                problem, n_jobs=n_jobs, switches=EAGER_THREADS, memory_limit=memory_limit
            )
            assert found["status"] == "optimal", seed
            assert (found["cost"], found["lower_bound"]) == (one["cost"], one["cost"]), seed
            complete = [each["counters"]["tie_rule_complete"] for each in (found, one)]
            assert not all(complete) or same_tree(found, one), seed
            assert walk_tree(problem, found)[0] == one["cost"], seed


def test_a_small_memory_limit_changes_nothing() -> None:
    for seed in range(20):
        problem = few_valued_problem(seed)
        found = core_search(problem, memory_limit=1 << 12)
        assert found["cost"] == core_search(problem)["cost"], seed


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("limit", [0.01, 0.05, 0.2])
def test_a_stop_leaves_a_real_tree_and_a_valid_bound(limit: float, n_jobs: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(6_000, 150)).astype(float)
    y = (X[:, :7].sum(axis=1) + 2 * rng.random(6_000) > 4).astype(int)
    problem = build_problem(X, y, n_classes=2, max_depth=6)  # minutes of work
    # The search for better trees sweeps, once a fast machine comes to it.
    off = OFF["improvement"]
    found = core_search(problem, time_limit=limit, n_jobs=n_jobs, switches=off)
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


@pytest.mark.parametrize("depth", [3, 4, 5])
@pytest.mark.parametrize(("n", "switches"), [(60, TINY_SAMPLES), (2000, 0)])
def test_one_error_that_no_split_takes_away(n: int, switches: int, depth: int) -> None:
    """A leaf with one error costs as much as the dearest tree without errors may."""
    X = np.random.default_rng(0).integers(0, 2, (n, 8)).astype(float)
    X[1] = X[0]
    y = np.zeros(n, dtype=int)
    y[0] = 1
    problem = build_problem(X, y, n_classes=2, max_depth=depth)
    found = core_search(problem, switches=switches)
    assert (found["cost"], found["status"], found["column"].tolist()) == (1, "optimal", [-1])
