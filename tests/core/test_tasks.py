"""Splits of the root as tasks: what passes as text gives the same trees as what stays in memory."""

from __future__ import annotations

import numpy as np
import pytest

from provetree.problem.problem import Problem
from testkit.core_calls import (
    ALWAYS_WIDE,
    EAGER_IMPROVEMENT,
    EAGER_THREADS,
    NO_SHARING,
    OFF,
    TEXT_TASKS,
    TINY_SAMPLES,
    assert_same_answer,
    core_search,
    same_tree,
)
from testkit.random_problems import labelled_at_random, random_problem


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("switches", [EAGER_THREADS, OFF["bits"], OFF["bits"] | TINY_SAMPLES])
def test_tasks_as_text_give_the_same_tree(switches: int, n_jobs: int) -> None:
    tried = 0
    for seed in range(150):
        problem = random_problem(seed, max_depth=3 + seed % 2)
        plain = core_search(problem, switches=switches)
        text = core_search(problem, switches=switches | TEXT_TASKS, n_jobs=n_jobs)
        assert (text["cost"], text["lower_bound"]) == (plain["cost"], plain["lower_bound"]), seed
        assert same_tree(text, plain), seed
        tried += plain["counters"]["intervals"] > 0 or plain["counters"]["nodes"] > 0
    assert tried > 20


def check_sharing(seed: int) -> int:
    """Compare threads that share splits after a few steps with one thread; how many were shared."""
    problem = random_problem(seed, max_depth=3 + seed % 2) if seed % 3 else deep_problem(seed)
    switches = OFF["bits"] | (0, TINY_SAMPLES, EAGER_IMPROVEMENT, ALWAYS_WIDE)[seed // 3 % 4]
    plain = core_search(problem, switches=switches)
    text = TEXT_TASKS if seed % 7 == 0 else 0
    shared = core_search(problem, switches=switches | EAGER_THREADS | text, n_jobs=2 + seed % 3)
    assert_same_answer(shared, plain, seed)
    return int(shared["counters"]["shared"])


def deep_problem(seed: int) -> Problem:
    """A problem of few rows whose splits are worth sharing more than once."""
    rng = np.random.default_rng(seed)
    depth = 5 if seed % 5 == 0 else 4  # the choice among equal trees is a search of its own then
    n = int(rng.integers(12, 30 if depth == 4 else 20))
    X = np.round(rng.normal(size=(n, int(rng.integers(1, 4)))), int(rng.integers(0, 3)))
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.2] = np.nan
    return labelled_at_random(rng, X, depth, alphas=(0.0, 0.0, 0.02), leaf_budgets=depth == 4)


def test_threads_join_in_at_splits_that_take_long() -> None:
    assert sum(check_sharing(seed) for seed in range(90)) > 100


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(20))
def test_thousands_of_shared_searches(part: int) -> None:
    assert sum(check_sharing(seed) for seed in range(500 * part, 500 * part + 500)) > 500


def test_nothing_is_shared_where_it_is_switched_off() -> None:
    switches = OFF["bits"] | NO_SHARING | EAGER_THREADS
    found = core_search(deep_problem(3), switches=switches, n_jobs=2)
    assert found["counters"]["shared"] == 0
