"""Whatever a proof closes is checked by brute force, and together it covers every split."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from provetree import _core
from provetree.problem.problem import Problem
from testkit.closings import Closing
from testkit.core_calls import ALWAYS_WIDE, EAGER_IMPROVEMENT, OFF, TINY_SAMPLES
from testkit.naive import NaiveSearch
from testkit.random_problems import random_problem

SWITCHES = (
    0,
    OFF["bits"],
    OFF["bits"] | TINY_SAMPLES,
    OFF["bits"] | ALWAYS_WIDE,
    EAGER_IMPROVEMENT,
)


def closings_of(problem: Problem, switches: int) -> tuple[NaiveSearch, int, list[Closing]]:
    """A twin with the costs of the proof, the cost of the optimum in them, and the closings."""
    cost, proven, error_scale, split_penalty, closings = _core.parts.closings(
        problem.table,
        max_depth=problem.max_depth,
        max_splits=problem.max_splits,
        min_samples_leaf=problem.min_samples_leaf,
        error_scale=problem.error_scale,
        split_penalty=problem.split_penalty,
        time_limit=math.inf,
        memory_limit=1 << 28,
        switches=switches,
    )
    assert proven
    twin = NaiveSearch(replace(problem, error_scale=error_scale, split_penalty=split_penalty))
    least = twin.solve()[0]
    assert cost == NaiveSearch(problem).solve()[0]
    return twin, least, [Closing(*closing) for closing in closings]


def costs_of_splits(twin: NaiveSearch, closing: Closing) -> Iterator[int]:
    """What the best trees that begin with each split of the region cost."""
    rows = (1 << twin.problem.n_rows) - 1
    for column, rank, right in closing.path:
        rows = twin.sides(rows, column, rank)[right]
    full = 2 ** (closing.depth - 1) - 1
    for column, low, high in twin.splits(rows):
        left, right_rows = twin.sides(rows, column, low)
        too_small = min(twin.size(left), twin.size(right_rows)) < twin.problem.min_samples_leaf
        if too_small or not closing.covers(column, low, high):
            continue
        below = closing.splits - 1
        fixed = closing.left_splits
        shares = [fixed] if fixed >= 0 else range(max(0, below - full), min(below, full) + 1)
        for share in shares:
            yield (
                twin.problem.split_penalty
                + twin.best(left, closing.depth - 1, share)[0]
                + twin.best(right_rows, closing.depth - 1, below - share)[0]
            )


@pytest.mark.parametrize("switches", SWITCHES)
@pytest.mark.parametrize("block", range(4))
def test_every_closing_is_true(block: int, switches: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(30 * block, 30 * block + 30):
        problem = random_problem(seed, max_depth=2 + seed % 3)
        twin, _, closings = closings_of(problem, switches)
        for closing in closings:
            seen[closing.reason] += 1
            if closing.depth > 0:
                least = min(costs_of_splits(twin, closing), default=math.inf)
                assert least >= closing.bound, (seed, switches, closing)
    assert sum(seen.values()) > 0


@pytest.mark.parametrize("switches", [OFF["bits"], OFF["bits"] | OFF["start"]])
def test_budgets_that_few_rows_do_not_need(switches: int) -> None:
    """A node so small that its budget is none takes no bounds from nodes that save splits."""
    for seed in range(120):
        problem = replace(
            random_problem(seed, max_depth=4),
            max_depth=4,
            max_splits=5 + seed % 5,
            error_scale=1 + seed % 3,
            split_penalty=seed % 2,
        )
        twin, _, closings = closings_of(problem, switches)
        for closing in closings:
            if closing.depth >= 3:
                least = min(costs_of_splits(twin, closing), default=math.inf)
                assert least >= closing.bound, (seed, closing)


@pytest.mark.parametrize("switches", SWITCHES)
def test_together_they_cover_every_split_of_the_root(switches: int) -> None:
    covered = 0
    for seed in range(60):
        problem = random_problem(seed, max_depth=2 + seed % 2)
        twin, least, closings = closings_of(problem, switches)
        rows = (1 << problem.n_rows) - 1
        at_root = [c for c in closings if not c.path and c.bound >= least and c.reason != "solved"]
        if not at_root or twin.leaf(rows)[0] <= least:
            continue  # a leaf is best, or a start tree without errors left nothing to prove
        deepest = max(c.splits for c in at_root)
        shares = {c.left_splits for c in at_root if c.splits == deepest}
        for column, low, high in twin.splits(rows):
            left, right = twin.sides(rows, column, low)
            if min(twin.size(left), twin.size(right)) < problem.min_samples_leaf:
                continue
            here = [c for c in at_root if c.splits == deepest and c.covers(column, low, high)]
            covered += 1
            told = {c.left_splits for c in here}
            assert told >= shares or -1 in told, (seed, switches, column, low)
    assert covered > 100
