"""Whatever a proof closes is checked by brute force, and together it covers every split."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import pytest

from testkit.closings import closings_of, costs_of_splits
from testkit.core_calls import ALWAYS_WIDE, EAGER_IMPROVEMENT, OFF, TINY_SAMPLES
from testkit.random_problems import random_problem

SWITCHES = (
    0,
    OFF["bits"],
    OFF["bits"] | TINY_SAMPLES,
    OFF["bits"] | ALWAYS_WIDE,
    EAGER_IMPROVEMENT,
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
