"""What nodes hold is what a loop over their rows says: any loss, weights and offset."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from provetree import ExactSearch, Problem, _core, build_problem
from provetree.problem.losses import leaf_cost, mean_of, median_of
from provetree.tree.node_values import OnRows
from testkit.core_calls import core_search


def random_problem(seed: int, loss: str, **more: Any) -> Problem:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 300))
    X = rng.integers(0, 5, size=(n, 4)).astype(np.float64)
    y = rng.normal(size=(n, 1 + seed % 3)) + (0.0, 1e9, -3.0)[seed % 3]
    weights = rng.integers(1, 5, n) / 4 if seed % 2 else None
    return build_problem(X, y, max_depth=3, loss=loss, sample_weight=weights, **more)


def rows_of_nodes(problem: Problem, columns: list[int], ranks: list[int]) -> list[Any]:
    """The rows that reach each node, node by node."""
    found, waiting = [], [np.arange(problem.n_rows)]
    for column, rank in zip(columns, ranks, strict=True):
        rows = waiting.pop()
        found.append(rows)
        if column >= 0:
            left = problem.ranks[column, rows] <= rank
            waiting += [rows[~left], rows[left]]
    return found


def best_splits(problem: Problem) -> tuple[list[int], list[int], list[int]]:
    found = core_search(problem)
    return found["column"].tolist(), found["rank_low"].tolist(), found["label"].tolist()


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("seed", range(12))
def test_numbers_of_nodes(loss: str, seed: int) -> None:
    problem = random_problem(seed, loss)
    columns, ranks, labels = best_splits(problem)
    tree, reached = OnRows(problem, columns, ranks), rows_of_nodes(problem, columns, ranks)
    centre_of = mean_of if loss == "squared_error" else median_of
    assert problem.targets is not None
    for node, rows in enumerate(reached):
        weights = problem.weights[rows].astype(np.float64)
        assert tree.values.weight[node] == problem.to_user_weight(weights.sum())
        for output, targets in enumerate(problem.targets[rows].T):
            centre = centre_of(targets, weights)
            each = centre.cost / weights.sum()
            spread = math.sqrt(each) if loss == "squared_error" else each
            assert tree.values.value[node, output] == centre.value
            assert tree.values.spread[node, output] == spread
    leaves = [leaf_cost(problem, rows) for rows, c in zip(reached, columns, strict=True) if c < 0]
    assert tree.leaves_cost(labels) == math.fsum(leaves)


@pytest.mark.parametrize("predicts", ["costs", "rewards"])
@pytest.mark.parametrize("seed", range(6))
def test_actions_of_leaves(predicts: str, seed: int) -> None:
    problem = random_problem(3 * seed + 1, "linear", predicts=predicts)
    columns, ranks, labels = best_splits(problem)
    tree, reached = OnRows(problem, columns, ranks), rows_of_nodes(problem, columns, ranks)
    sign = -1 if predicts == "rewards" else 1
    total = 0.0
    assert problem.targets is not None
    for node, rows in enumerate(reached):
        if columns[node] >= 0:
            continue
        costs = [
            math.fsum((problem.targets[rows, action] * problem.weights[rows]).tolist())
            for action in range(problem.targets.shape[1])
        ]
        assert tree.values.value[node].tolist() == [sign * x / problem.weight_unit for x in costs]
        total += costs[labels[node]]
    assert tree.leaves_cost(labels) == pytest.approx(total, rel=1e-15)


def test_a_tree_is_that_of_its_checked_parts() -> None:
    """Trees of numbers whose weights are whole skip the checks, and are the same."""
    for seed in range(0, 12, 2):
        tree = ExactSearch().solve(random_problem(seed, "squared_error")).tree
        assert tree.replaced() == tree
        for part in ("value", "threshold", "n_samples", "label", "left", "missing_left"):
            assert not getattr(tree, part).flags.writeable
        assert not tree.values.weight.flags.writeable


@pytest.mark.parametrize(
    ("begin", "end", "rows"),
    [([0], [5], [0, 1, 2]), ([2], [2], [0, 1, 2]), ([-1], [2], [0, 1, 2]), ([0], [3], [0, 1, 3])],
)
def test_nodes_must_have_rows_of_the_table(
    begin: list[int], end: list[int], rows: list[int]
) -> None:
    numbers, weights = np.ones((3, 1)), np.ones(3, dtype=np.int64)
    for sums in (_core.node_means, _core.node_totals):
        with pytest.raises(ValueError, match="Nodes need"):
            sums(numbers, weights, np.array(rows, dtype=np.int64), begin, end)
