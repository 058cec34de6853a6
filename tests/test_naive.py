"""The naive twin is itself checked, against a listing of every single tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from provetree.problem.problem import Problem, build_problem
from testkit.naive import NaiveSearch, margin
from testkit.random_problems import random_table


def every_tree(problem: Problem, rows: list[int], depth: int) -> Iterator[tuple[Any, ...]]:
    """All trees on the rows as (cost, splits, shape): no budget, no bound, no memory."""
    weight = [0] * problem.n_classes
    for i in rows:
        weight[problem.classes[i]] += int(problem.weights[i])
    yield problem.error_scale * (sum(weight) - max(weight)), 0, ()
    if depth == 0:
        return
    for c, column in enumerate(problem.columns):
        ranks = problem.ranks[c]
        for low in sorted({int(ranks[i]) for i in rows})[:-1]:
            left = [i for i in rows if ranks[i] <= low]
            right = [i for i in rows if ranks[i] > low]
            if min(sum(problem.counts[left]), sum(problem.counts[right])) < (
                problem.min_samples_leaf
            ):
                continue
            gap = margin(column.values.tolist(), low, min(int(ranks[i]) for i in right))
            for l_cost, l_splits, l_shape in every_tree(problem, left, depth - 1):
                for r_cost, r_splits, r_shape in every_tree(problem, right, depth - 1):
                    yield (
                        problem.split_penalty + l_cost + r_cost,
                        1 + l_splits + r_splits,
                        (c, -gap, low, (l_splits, l_shape), (r_splits, r_shape)),
                    )


@pytest.mark.parametrize("seed", range(60))
def test_the_twin_finds_the_least_of_all_trees(seed: int) -> None:
    table = random_table(seed, max_depth=1 + seed % 3)
    few = np.arange(min(len(table.y), (12, 7, 5)[seed % 3]))
    if (
        table.options["sample_weight"] is not None
        and table.options["sample_weight"][few].max() == 0
    ):
        table.options["sample_weight"][0] = 1.0
    problem = table.with_rows(few).problem()
    trees = every_tree(problem, list(range(problem.n_rows)), problem.max_depth)
    best = min(tree for tree in trees if tree[1] <= problem.max_splits)
    assert NaiveSearch(problem).solve() == best


def test_tie_rule_prefers_fewer_splits_then_lower_columns_then_wide_margins() -> None:
    # Both columns separate the classes; only the second has room around its threshold.
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 9.0], [3.0, 9.0]])
    problem = build_problem(X, np.array([0, 0, 1, 1]), n_classes=2, max_depth=2)
    cost, splits, shape = NaiveSearch(problem).solve()
    assert (cost, splits, shape[0], shape[2]) == (0, 1, 0, 1)

    # One split can save one error at either end: the wider gap is on the right.
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    problem = build_problem(X, np.array([1, 0, 0, 1]), n_classes=2, max_depth=1)
    assert NaiveSearch(problem).solve()[2][:3] == (0, -7.0, 2)

    # Equal gaps: the lower threshold.
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    problem = build_problem(X, np.array([1, 0, 0, 1]), n_classes=2, max_depth=1)
    assert NaiveSearch(problem).solve()[2][:3] == (0, -1.0, 0)


def test_margins_beside_missing_values_are_zero_and_infinities_are_far() -> None:
    values = np.array([np.nan, -np.inf, -1e308, 1e308, np.inf])
    assert [margin(values.tolist(), k, k + 1) for k in range(4)] == [0.0, np.inf, np.inf, np.inf]


def test_a_budget_that_can_serve_either_side_goes_right() -> None:
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = np.array([0, 1, 1, 0])
    problem = build_problem(X, y, n_classes=2, max_depth=2, max_leaf_nodes=3)
    cost, splits, shape = NaiveSearch(problem).solve()
    (left_splits, _), (right_splits, _) = shape[3:]
    assert (cost, splits, left_splits, right_splits) == (1, 2, 0, 1)
