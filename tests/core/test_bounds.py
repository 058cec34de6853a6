"""The inequalities that every bound of the search rests on, checked with the naive twin.

For row sets S within T, without a least leaf size: more rows never cost less, and adding rows
never costs more than their weight. A least leaf size breaks the first of the two: rows of T may
make a split feasible that S alone does not allow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from provetree import _core
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import KERNELS, OFF, core_search
from testkit.naive import NaiveSearch, bits, naive_search
from testkit.random_problems import random_problem

SEEDS = range(400)


def constrained_and_relaxed(problem: Problem) -> tuple[NaiveSearch, NaiveSearch]:
    return NaiveSearch(problem), NaiveSearch(replace(problem, min_samples_leaf=1))


def weight_of(problem: Problem, rows: int) -> int:
    """Cost of getting all of these rows wrong."""
    return problem.error_scale * sum(int(problem.weights[i]) for i in bits(rows))


def nested_sets(problem: Problem, seed: int, count: int = 6) -> Iterator[tuple[int, int]]:
    """Random pairs of row sets (bit i stands for row i), the first within the second."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        outer = rng.random(problem.n_rows) < rng.choice([0.5, 0.9, 1.0])
        inner = outer & (rng.random(problem.n_rows) < rng.choice([0.3, 0.7, 0.95]))
        if inner.any():
            yield tuple(sum(1 << int(i) for i in np.flatnonzero(s)) for s in (inner, outer))  # type: ignore[misc]


def sub_problem(problem: Problem, rows: int) -> Problem:
    """The problem of some rows only; ranks stay as they are."""
    chosen = list(bits(rows))
    return replace(
        problem,
        ranks=np.ascontiguousarray(problem.ranks[:, chosen]),
        classes=problem.classes[chosen],
        weights=problem.weights[chosen],
        counts=problem.counts[chosen],
    )


def shapes(problem: Problem) -> Iterator[tuple[int, int]]:
    """(depth, splits) of the trees asked for and of smaller ones."""
    for depth in range(min(problem.max_depth, 2) + 1):
        for splits in {problem.max_splits, max(0, 2**depth - 2), 1}:
            yield depth, splits


def test_more_rows_never_cost_less_and_at_most_their_weight_more() -> None:
    compared = 0
    for seed in SEEDS:
        problem = random_problem(seed, max_depth=2)
        _, twin = constrained_and_relaxed(problem)
        for inner, outer in nested_sets(problem, seed):
            added = weight_of(problem, outer & ~inner)
            for depth, splits in shapes(problem):
                few = twin.best(inner, depth, splits)[0]
                many = twin.best(outer, depth, splits)[0]
                assert few <= many <= few + added, (seed, depth, splits)
                compared += 1
    assert compared > 2000


def test_splits_between_two_others_are_bounded_by_both() -> None:
    """What the intervals rest on, and what ``open_range`` makes of it."""
    compared = closed = 0
    for seed in SEEDS:
        problem = random_problem(seed, max_depth=2)
        _, twin = constrained_and_relaxed(problem)
        rng = np.random.default_rng(seed)
        every_row = (1 << problem.n_rows) - 1
        scale = problem.error_scale
        for column in range(len(problem.columns)):
            ranks = range(len(problem.columns[column].values) - 1)
            if len(ranks) < 3:
                continue
            sides = [twin.sides(every_row, column, rank) for rank in ranks]
            left = [twin.best(rows, 1, 1)[0] for rows, _ in sides]
            right = [twin.best(rows, 1, 1)[0] for _, rows in sides]
            weight = [weight_of(problem, rows) // scale for rows, _ in sides]
            a, b = sorted(int(i) for i in rng.choice(len(sides), 2, replace=False))
            cut = min(x + y for x, y in zip(left, right, strict=True)) + int(rng.integers(0, 4))
            is_open, bound, first, last = _core.parts.open_range(
                left_a=left[a],
                right_a=right[a],
                weight_a=weight[a],
                left_b=left[b],
                right_b=right[b],
                weight_b=weight[b],
                cut=cut,
                scale=scale,
            )
            for x in range(a + 1, b):
                from_a, to_b = scale * (weight[x] - weight[a]), scale * (weight[b] - weight[x])
                assert left[x] >= max(left[a], left[b] - to_b), (seed, x)
                assert right[x] >= max(right[b], right[a] - from_a), (seed, x)
                assert left[x] + right[x] >= bound, (seed, x)
                if left[x] + right[x] < cut:
                    assert is_open, (seed, x)
                    assert first <= weight[x] <= last, (seed, x)
                compared += 1
                closed += not is_open
    assert compared > 500
    assert closed > 20


def test_bounds_of_a_split_pass_between_nested_row_sets() -> None:
    """Each side of a split of S lies within the same side of T, whichever values S has."""
    compared = 0
    for seed in SEEDS:
        problem = random_problem(seed, max_depth=2)
        _, twin = constrained_and_relaxed(problem)
        for inner, outer in nested_sets(problem, seed, 3):
            for column, low, _ in twin.splits(outer):
                for few, many in zip(
                    twin.sides(inner, column, low), twin.sides(outer, column, low), strict=True
                ):
                    less, more = (twin.best(rows, 1, 1)[0] for rows in (few, many))
                    assert less <= more <= less + weight_of(problem, many & ~few), seed
                    compared += 1
    assert compared > 5000


def test_a_least_leaf_size_breaks_monotony_but_not_the_relaxed_bound() -> None:
    broken = compared = 0
    for seed in range(3000):
        problem = random_problem(seed, max_depth=2)
        if problem.min_samples_leaf == 1 or problem.max_depth == 0:
            continue
        twin, relaxed = constrained_and_relaxed(problem)
        for inner, outer in nested_sets(problem, seed):
            if twin.size(inner) < problem.min_samples_leaf:
                continue
            depth, splits = problem.max_depth, problem.max_splits
            few, many = (twin.best(rows, depth, splits)[0] for rows in (inner, outer))
            # Leaves only grow when rows are added: this half of the two holds on.
            assert many <= few + weight_of(problem, outer & ~inner), seed
            assert relaxed.best(inner, depth, splits)[0] <= many, seed
            assert relaxed.best(inner, depth, splits)[0] <= few, seed
            broken += few > many
            compared += 1
    assert compared > 1000
    assert broken > 20


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_the_core_proves_for_a_subset_holds_for_the_whole(kernel: str) -> None:
    """The relaxed bound of depth two on S bounds the constrained optimum on T."""
    compared = 0
    for seed in range(2000):
        problem = random_problem(seed, max_depth=2)
        if problem.min_samples_leaf == 1 or problem.max_splits < 2:
            continue
        twin = NaiveSearch(problem)
        splits = min(problem.max_splits, 3)
        for inner, outer in nested_sets(problem, seed, 4):
            if twin.size(outer) < problem.min_samples_leaf:
                continue
            lower, relaxed, upper = depth_two(sub_problem(problem, inner), splits, kernel)
            optimum = twin.best(outer, 2, splits)[0]
            assert relaxed <= optimum, (seed, bin(inner), bin(outer))
            assert relaxed <= lower <= upper, seed
            compared += 1
    assert compared > 500


def depth_two(problem: Problem, splits: int, kernel: str) -> tuple[int, int, int]:
    return _core.parts.depth_two(
        problem.table,
        min_samples_leaf=problem.min_samples_leaf,
        splits=splits,
        limit=(2**63 - 1) // 8,
        error_scale=problem.error_scale,
        split_penalty=problem.split_penalty,
        kernel=kernel,
    )


# Rows of (columns ..., class). With two rows to a leaf, the best tree splits rows off that a
# smaller set of rows could not split off: bounds that left such splits out proved 1.
FEASIBLE_WITH_MORE_ROWS_ONLY = [
    [0, 0, 7, 0],
    [1, 4, 6, 1],
    [2, 4, 2, 0],
    [3, 2, 5, 1],
    [3, 6, 3, 1],
    [4, 1, 2, 0],
    [5, 0, 5, 0],
    [5, 2, 1, 1],
    [6, 1, 1, 0],
    [6, 2, 1, 1],
    [6, 2, 6, 0],
    [7, 3, 0, 0],
    [7, 3, 6, 1],
    [8, 5, 4, 0],
]


@pytest.mark.parametrize("switches", [0, *OFF.values()])
def test_splits_too_small_for_a_subset_are_not_lost(switches: int) -> None:
    rows: Any = np.array(FEASIBLE_WITH_MORE_ROWS_ONLY, dtype=np.float64)
    problem = build_problem(
        rows[:, :3], rows[:, 3].astype(int), n_classes=2, max_depth=3, min_samples_leaf=2
    )
    assert naive_search(problem)["cost"] == 0
    for kernel in KERNELS:
        assert core_search(problem, kernel=kernel, switches=switches)["cost"] == 0
