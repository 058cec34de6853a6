"""The frontier: every size as if it had been searched by itself, in fewer searches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from provetree import ExactSearch, Limits, Problem, Solution, build_problem, verify
from provetree.selection.frontier import solve_frontier
from testkit.naive import NaiveSearch
from testkit.random_problems import random_table


def frontier_problem(seed: int) -> Problem:
    table = random_table(seed)
    options = {**table.options, "alpha": 0.0, "max_leaf_nodes": None}
    return build_problem(table.X, table.y, **options)


@pytest.mark.parametrize("seed", range(40))
def test_every_size_is_that_of_the_naive_twin(seed: int) -> None:
    problem = frontier_problem(seed)
    n_leaves = int(np.random.default_rng(seed).integers(1, 10))
    naive = NaiveSearch(problem)
    everything = (1 << problem.n_rows) - 1
    for point in solve_frontier(problem, n_leaves):
        budget = min(point.n_leaves - 1, problem.max_splits)
        cost, splits, _ = naive.best(everything, min(problem.max_depth, budget), budget)
        assert point.status == "optimal"
        assert point.cost == point.lower_bound == problem.to_user_cost(cost)
        assert point.tree.n_splits == splits


@dataclass(frozen=True)
class Counting:
    """The exact search, which counts its calls and can be told to give up."""

    calls: list[int]
    give_up_after: int = 10**9

    def solve(
        self, problem: Problem, limits: object = None, on_progress: object = None
    ) -> Solution:
        self.calls.append(problem.max_splits)
        solution = ExactSearch().solve(problem, Limits())
        if len(self.calls) > self.give_up_after:
            return Solution(solution.tree, solution.cost, 0, "time_limit")
        return solution


def test_few_sizes_need_a_search_of_their_own() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 2, 200)
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    counting = Counting([])
    points = solve_frontier(problem, 8, engine=counting)
    assert len(points) == 8
    # Searches within a budget of splits are the slow ones; without sharing there would be six.
    assert sum(splits < problem.max_splits for splits in counting.calls) <= 3


@pytest.mark.parametrize("seed", range(40))
def test_bounds_are_valid_where_searches_give_up(seed: int) -> None:
    problem = frontier_problem(seed)
    exact = solve_frontier(problem, 8)
    for after in (0, 1, 2):
        points = solve_frontier(problem, 8, engine=Counting([], after))
        for point, best in zip(points, exact, strict=True):
            assert point.lower_bound <= best.cost <= point.cost
            assert (point.status == "optimal") == (point.lower_bound == point.cost)


def test_no_time_at_all_leaves_a_leaf_and_valid_bounds() -> None:
    problem = frontier_problem(3)
    ticks = iter(range(0, 10**6, 10))
    points = solve_frontier(problem, 4, time_limit=1.0, clock=lambda: float(next(ticks)))
    assert [point.tree.n_splits for point in points] == [0] * 4
    assert points[0].status == "optimal"


def test_a_penalty_is_refused() -> None:
    X, y = np.array([[1.0], [2.0]]), np.array([0, 1])
    problem = build_problem(X, y, n_classes=2, max_depth=1, alpha=0.1)
    with pytest.raises(ValueError, match="without a penalty"):
        solve_frontier(problem, 2)


def test_costs_are_those_of_the_trees() -> None:
    table = random_table(11, max_depth=3)
    options = {**table.options, "alpha": 0.0, "max_leaf_nodes": None}
    problem = build_problem(table.X, table.y, **options)
    for point in solve_frontier(problem, 6):
        found = verify(point.tree, table.X, table.y, sample_weight=options["sample_weight"])
        assert found.errors == pytest.approx(point.cost)
