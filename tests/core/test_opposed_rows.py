"""Pairs of rows of which trees that keep directions get one wrong, against all such labels.

A tree that keeps the directions is one way to label the rows so that none falls where it must rise.
The twin tries all these ways, so that what it says holds for trees of any depth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from provetree import ExactSearch, _core
from provetree.problem.problem import Problem, build_problem
from provetree.solution import Progress
from testkit.core_calls import OFF_UNDER_RULES, TINY_SAMPLES, core_search

#: What rules switch off, so that the searches compared differ in one thing only.
ROWS = OFF_UNDER_RULES["opposed_rows"]


def opposed_problem(seed: int, rows: int) -> tuple[Problem, list[int]]:
    """A table with ties, weights and columns of two values without a direction."""
    rng = np.random.default_rng(seed)
    columns, ways = [], []
    for _ in range(int(rng.integers(1, 4))):
        free = rng.random() < 0.2
        columns.append(rng.integers(0, 2 if free else int(rng.choice([3, 6, 40])), rows))
        ways.append(0 if free else int(rng.choice([-1, 1])))
    X = np.column_stack(columns).astype(float)
    towards = X @ np.array(ways)
    y = (towards > np.median(towards)) ^ (rng.random(rows) < rng.choice([0.1, 0.4, 0.9]))
    weights = rng.integers(1, 6, rows).astype(float) if seed % 3 == 0 else None
    problem = build_problem(
        X, y.astype(int), n_classes=2, max_depth=3, sample_weight=weights, keep_duplicates=True
    )
    return problem, [ways[column.feature] for column in problem.columns]


def opposed(
    problem: Problem, ways: list[int], errors: int, switches: int
) -> tuple[int, list[bool]]:
    return _core.parts.opposed_rows(problem.table, ways, errors, switches)


def wrong_of_all_labels(problem: Problem, ways: list[int]) -> tuple[list[int], np.ndarray]:
    """What each way to label the rows gets wrong, and which rows (way by row)."""
    n = problem.n_rows
    labels = (np.arange(1 << n)[:, None] >> np.arange(n)) & 1
    signed = problem.ranks.astype(int)
    for low in range(n):
        for high in range(n):
            below = all(
                way * (b - a) >= 0 if way else a == b
                for a, b, way in zip(signed[:, low], signed[:, high], ways, strict=True)
            )
            if below:
                labels = labels[labels[:, low] <= labels[:, high]]
    wrong = labels != problem.classes[None]
    return wrong @ problem.weights, wrong


def check_labels(seed: int) -> tuple[int, int]:
    """Compare with the twin; return how many rows are decided, and for how many errors."""
    rng = np.random.default_rng(10_000_000 + seed)
    problem, ways = opposed_problem(seed, int(rng.integers(2, 10)))
    if not ways or len(set(problem.classes.tolist())) < 2:
        return 0, 0
    costs, wrong = wrong_of_all_labels(problem, ways)
    errors = int(min(costs)) + int(rng.integers(0, 8))
    least, decided = opposed(problem, ways, errors, 0)
    assert least == min(costs), seed
    better = wrong[costs < errors]
    assert (better[:, decided]).all(), seed
    parts, of_parts = opposed(problem, ways, errors, TINY_SAMPLES)
    assert parts <= min(costs), seed
    assert (better[:, of_parts]).all(), seed
    return sum(decided), len(better)


@pytest.mark.parametrize("chunk", range(3))
def test_least_errors_and_decided_rows_are_those_of_all_labels(chunk: int) -> None:
    found = [check_labels(seed) for seed in range(100 * chunk, 100 * (chunk + 1))]
    assert sum(decided > 0 and better > 0 for decided, better in found) > 8


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(3, 1003))
def test_least_errors_and_decided_rows_on_many_tables(chunk: int) -> None:
    for seed in range(100 * chunk, 100 * (chunk + 1)):
        check_labels(seed)


def ruled(problem: Problem, ways: list[int], switches: int) -> dict[str, object]:
    return core_search(problem, switches=switches, directions=ways)


@pytest.mark.parametrize("seed", range(40))
def test_trees_cost_the_same_with_and_without(seed: int) -> None:
    """Alone, in parts of few rows, with a penalty, and where only trees below a cost count."""
    problem, ways = opposed_problem(seed, 40 + seed)
    problem = replace(problem, max_depth=3 + seed % 2, split_penalty=seed % 3)
    costs = [
        (found["cost"], found["lower_bound"])
        for switches in (ROWS, 0, TINY_SAMPLES, OFF_UNDER_RULES["split_order"])
        for found in [ruled(problem, ways, switches)]
    ]
    assert len(set(costs)) == 1, costs
    assert costs[0][0] == costs[0][1]


def check_below(seed: int) -> None:
    """Trees that cost less than something, where trees that do not may have decided rows right."""
    problem, ways = opposed_problem(seed, 10 + seed % 40)
    problem = replace(problem, max_depth=2 + seed % 2)
    best = ruled(problem, ways, ROWS)["cost"]
    told: list[Progress] = []
    for below in (best - 2, best, best + 1, best + 3):
        search = ExactSearch(
            switches=TINY_SAMPLES if seed % 3 else 0, directions=tuple(ways), below=max(below, 0)
        )
        found = search.solve(problem, None, told.append)
        cost, bound = map(problem.to_whole_cost, (found.cost, found.lower_bound))
        if below > best:
            assert (found.status, cost, bound) == ("optimal", best, best), seed
        else:
            assert found.status == "nothing_below" or cost == best, seed
            assert max(below, 0) <= bound <= best <= cost, seed
        for point in (*found.history, *told):
            low, high = map(problem.to_whole_cost, (point.lower_bound, point.cost))
            assert low <= best <= high, seed


@pytest.mark.parametrize("block", range(2))
def test_trees_below_a_cost_are_found_or_there_are_none(block: int) -> None:
    for seed in range(60 * block, 60 * (block + 1)):
        check_below(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(2, 1000))
def test_trees_below_a_cost_on_many_tables(block: int) -> None:
    for seed in range(60 * block, 60 * (block + 1)):
        check_below(seed)


def against(rows: int) -> tuple[Problem, list[int]]:
    """Data that go against all directions but one, with some noise."""
    rng = np.random.default_rng(7)
    X = rng.random((rows, 3))
    y = (X[:, 0] + X[:, 1] - 0.6 * X[:, 2] + rng.normal(0, 0.2, rows) < 0.7).astype(int)
    return build_problem(X, y, n_classes=2, max_depth=3), [1, 1, 1]


def test_they_decide_rows_where_data_go_against_the_directions() -> None:
    problem, ways = against(400)
    used, unused = ruled(problem, ways, 0)["counters"], ruled(problem, ways, ROWS)["counters"]
    assert used["rows_decided"] > 100
    assert unused["rows_decided"] == 0
    assert used["nodes"] * 4 < unused["nodes"]


def test_a_minimum_leaf_size_counts_all_rows() -> None:
    problem, ways = against(200)
    problem = replace(problem, min_samples_leaf=20)
    found = ruled(problem, ways, 0)
    assert found["counters"]["rows_decided"] == 0
    assert found["cost"] == ruled(problem, ways, ROWS)["cost"]


def test_limits_end_it_with_a_bound() -> None:
    problem, ways = against(3_000)
    found = core_search(problem, directions=ways, max_work=1)
    assert found["status"] == "work_limit"
    assert found["lower_bound"] <= ruled(problem, ways, 0)["cost"] <= found["cost"]
