"""Several threads at one search: the same optimum, the same tree, the same claims when stopped."""

from __future__ import annotations

import numpy as np
import pytest

from provetree import OptimalTreeClassifier
from provetree.options import thread_count
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import (
    EAGER_IMPROVEMENT,
    OFF,
    TINY_SAMPLES,
    core_search,
    same_tree,
    walk_tree,
)
from testkit.naive import naive_search
from testkit.random_problems import some_problem

BLOCK = 60
BLOCKS = 6
WAYS = (0, TINY_SAMPLES, TINY_SAMPLES | EAGER_IMPROVEMENT)


def noisy_problem(seed: int, n: int = 400, depth: int = 3) -> Problem:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 4)), 2)
    y = (X[:, 0] * X[:, 1] + 0.7 * rng.normal(size=n) > 0).astype(int)
    return build_problem(X, y, n_classes=2, max_depth=depth)


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.slow) for b in range(1, BLOCKS))]
)
@pytest.mark.parametrize("way", WAYS, ids=["plain", "samples", "improvement"])
def test_the_tree_is_that_of_the_naive_twin(block: int, way: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem = some_problem(seed)
        right = naive_search(problem)
        for n_jobs in (2, 3):
            found = core_search(problem, switches=way | OFF["bits"], n_jobs=n_jobs)
            assert found["status"] == "optimal", seed
            assert (found["cost"], found["lower_bound"]) == (right["cost"], right["cost"]), seed
            assert same_tree(found, right), seed


@pytest.mark.parametrize("seed", range(6))
def test_larger_tables_give_the_tree_of_one_thread(seed: int) -> None:
    problem = noisy_problem(seed)
    one = core_search(problem)
    for n_jobs in (2, 5):
        for way in WAYS:
            found = core_search(problem, n_jobs=n_jobs, switches=way)
            assert found["cost"] == found["lower_bound"] == one["cost"]
            assert same_tree(found, one)


def patterned_problem(seed: int) -> Problem:
    """Trees of depth five get all rows right, or nearly so; many do."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(int(rng.integers(150, 400)), 8)), 1)
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.3) ^ (X[:, 2] > 1)).astype(int)
    y[rng.random(len(y)) < rng.choice([0.0, 0.01])] = 2
    return build_problem(X, y, n_classes=3, max_depth=5)


def test_deep_trees_that_the_tie_rule_does_not_settle_are_those_of_one_thread() -> None:
    unsettled = 0
    for seed in range(7, 13):
        problem = patterned_problem(seed)
        one = core_search(problem, switches=EAGER_IMPROVEMENT)
        for n_jobs in (2, 3):
            found = core_search(problem, n_jobs=n_jobs, switches=EAGER_IMPROVEMENT)
            assert found["cost"] == found["lower_bound"] == one["cost"], seed
            assert same_tree(found, one), seed
        unsettled += not one["counters"]["tie_rule_complete"]
    assert unsettled > 0


@pytest.mark.parametrize("limit", [0.0, 0.01, 0.05, 0.2])
def test_a_stop_leaves_a_real_tree_and_a_valid_bound(limit: float) -> None:
    problem = noisy_problem(1, n=700)
    best = core_search(problem)
    for way in WAYS:
        found = core_search(problem, n_jobs=3, time_limit=limit, switches=way)
        assert walk_tree(problem, found)[0] == found["cost"]
        assert found["lower_bound"] <= best["cost"] <= found["cost"]
        assert (found["status"] == "optimal") == (found["lower_bound"] == found["cost"])


def test_an_interrupt_ends_all_threads() -> None:
    problem = noisy_problem(2, n=3000, depth=6)

    class Enough(Exception):
        pass

    def enough(*moment: object) -> None:
        raise Enough

    with pytest.raises(Enough):
        core_search(problem, n_jobs=3, on_progress=enough)


def test_work_is_counted_by_one_thread() -> None:
    problem = noisy_problem(3, n=1000, depth=5)
    one, two = (core_search(problem, n_jobs=n, max_work=5_000_000) for n in (1, 4))
    assert one["counters"] == two["counters"]
    assert same_tree(one, two)


def test_the_estimator_takes_the_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    trees = [OptimalTreeClassifier(n_jobs=n).fit(X, y).tree_ for n in (None, 1, 2, -1)]
    assert all(tree == trees[0] for tree in trees)
    assert thread_count(None) == 1
    assert thread_count(3) == 3
    assert thread_count(-1) >= thread_count(-2) >= 1
    with pytest.raises(ValueError, match=r"'n_jobs' parameter .* must be an int other than 0 or"):
        OptimalTreeClassifier(n_jobs=0).fit(X, y)
