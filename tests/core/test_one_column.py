"""Tables of one column: what their best tree costs is known from the runs of its values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from provetree import ExactSearch
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import OFF_UNDER_RULES
from testkit.naive import naive_search


def one_column(seed: int) -> Problem:
    """A table of one column with ties, weights, several classes, penalties and limits."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 16))
    X = rng.integers(0, int(rng.choice([3, 8, 20])), (n, 1)).astype(float)
    problem = build_problem(
        X,
        rng.integers(0, int(rng.choice([2, 3])), n),
        n_classes=3,
        max_depth=int(rng.integers(1, 4)),
        max_leaf_nodes=int(rng.integers(2, 7)) if seed % 4 == 0 else None,
        min_samples_leaf=1 + seed % 3 // 2,
        sample_weight=rng.integers(1, 4, n).astype(float) if seed % 2 else None,
    )
    return replace(problem, split_penalty=seed % 5 // 3, error_scale=1 + seed % 7 // 5)


@pytest.mark.parametrize("block", range(4))
def test_trees_below_a_cost_are_found_or_there_are_none(block: int) -> None:
    for seed in range(50 * block, 50 * (block + 1)):
        check(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(4, 2004))
def test_trees_below_a_cost_on_many_tables(block: int) -> None:
    for seed in range(50 * block, 50 * (block + 1)):
        check(seed)


def check(seed: int) -> None:
    problem = one_column(seed)
    best = naive_search(problem)["cost"]
    for below in (best - 1, best, best + 1, best + 3):
        for switches in (0, OFF_UNDER_RULES["column_runs"]):
            if below < 0:
                continue
            found = ExactSearch(switches=switches, below=below).solve(problem)
            cost = problem.to_whole_cost(found.cost)
            if below > best:
                assert (found.status, cost) == ("optimal", best), seed
            else:
                assert found.status == "nothing_below" or cost == best, seed
                assert below <= problem.to_whole_cost(found.lower_bound) <= best <= cost


def test_no_split_is_tried_where_no_tree_of_the_column_is_below() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((300, 1)), rng.integers(0, 2, 300)
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    best = int(ExactSearch().solve(problem).cost)
    known, unknown = (
        ExactSearch(switches=switches, below=best - 1).solve(problem)
        for switches in (0, OFF_UNDER_RULES["column_runs"])
    )
    assert known.status == unknown.status == "nothing_below"
    assert known.counters["intervals"] == 0 < unknown.counters["intervals"]
    assert known.lower_bound == unknown.lower_bound == best - 1
