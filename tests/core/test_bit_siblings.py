"""What a child has proven of its splits bounds its siblings' on bits, and changes no answer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from provetree.problem.problem import Problem, build_problem
from testkit.closings import closings_of, costs_of_splits
from testkit.core_calls import EAGER_THREADS, OFF, TINY_SAMPLES, core_search, same_tree
from testkit.naive import naive_search
from testkit.random_problems import random_problem


def alike_columns(seed: int, rows: int, columns: int, depth: int, **limits: float) -> Problem:
    """Columns that are two, with a row or two changed in each: siblings differ by few rows."""
    rng = np.random.default_rng(seed)
    roots = rng.integers(0, 2, (rows, 2))
    X = roots[:, rng.integers(0, 2, columns)]
    for column in range(columns):
        changed = rng.integers(0, rows, int(rng.integers(1, 3)))
        X[changed, column] ^= 1
    y = roots[:, 0] ^ (roots[:, 1] & (rng.random(rows) < 0.7)) ^ (rng.random(rows) < 0.2)
    classes = 2 + seed % 2
    if classes == 3:
        y = np.where(rng.random(rows) < 0.2, 2, y)
    return build_problem(X.astype(float), y, n_classes=classes, max_depth=depth, **limits)


def check_against_twin(problem: Problem, switches: int, seed: int) -> None:
    found = core_search(problem, switches=switches)
    wanted = naive_search(problem)["cost"]
    assert (found["cost"], found["lower_bound"]) == (wanted, wanted), seed


@pytest.mark.parametrize("switches", [0, TINY_SAMPLES, EAGER_THREADS])
def test_alike_columns_cost_what_the_naive_twin_says(switches: int) -> None:
    for seed in range(60):
        check_against_twin(alike_columns(seed, 10 + seed % 7, 4 + seed % 3, 4), switches, seed)


def test_every_bound_of_alike_columns_is_true() -> None:
    """With and without a price of splits, which the bounds between siblings contain."""
    told = 0
    for seed in range(24):
        problem = alike_columns(seed, 12, 5, 4, alpha=0.02 * (seed % 3))
        twin, _, closings = closings_of(problem, 0)
        for closing in closings:
            if closing.depth < 3 or not closing.path or closing.reason != "split_bound":
                continue
            told += 1
            least = min(costs_of_splits(twin, closing), default=math.inf)
            assert least >= closing.bound, (seed, closing)
    assert told > 150


@pytest.mark.parametrize("depth", [4, 5])
def test_they_leave_less_to_solve_and_the_same_tree(depth: int) -> None:
    solved = [0, 0]
    for seed in range(6):
        problem = alike_columns(seed, 120, 9, depth, alpha=0.01 * (seed % 2))
        found = [core_search(problem, switches=off) for off in (0, OFF["split_pairs"])]
        assert same_tree(*found), seed
        assert found[0]["cost"] == found[1]["cost"], seed
        for which, one in enumerate(found):
            assert one["status"] == "optimal", seed
            solved[which] += one["counters"]["depth_two_solves"]
    assert solved[0] < 0.95 * solved[1]


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
def test_thousands_of_small_problems(block: int) -> None:
    for seed in range(500 * block, 500 * block + 500):
        problem = random_problem(9_300_000 + seed, max_depth=4)
        check_against_twin(problem, (0, TINY_SAMPLES, EAGER_THREADS)[seed % 3], seed)
        problem = alike_columns(seed, 8 + seed % 9, 3 + seed % 5, 4, alpha=0.01 * (seed % 4))
        check_against_twin(problem, 0, seed)
