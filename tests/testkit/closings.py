"""What a proof says it has closed: the splits of a node, a bound, and the reason."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from provetree import _core
from provetree.problem.problem import Problem
from testkit.naive import NaiveSearch

__all__ = ["Closing", "closings_of", "costs_of_splits", "heard"]


@dataclass(frozen=True)
class Closing:
    path: list[tuple[int, int, bool]]
    whole: bool
    column: int
    first: int
    last: int
    left_splits: int
    depth: int
    splits: int
    bound: int
    reason: str

    def covers(self, column: int, low: int, high: int) -> bool:
        """Whether the split of a node between two neighbouring ranks is in the region."""
        return self.whole or (self.column == column and self.first < high and low <= self.last)


def heard(problem: Problem, **options: object) -> tuple[int, Problem, list[Closing]]:
    """What a proof finds as optimum, the problem with the costs of the proof, and the closings."""
    cost, proven, error_scale, split_penalty, closings = _core.parts.closings(
        problem.table,
        max_depth=problem.max_depth,
        max_splits=problem.max_splits,
        min_samples_leaf=problem.min_samples_leaf,
        error_scale=problem.error_scale,
        split_penalty=problem.split_penalty,
        time_limit=math.inf,
        memory_limit=1 << 28,
        **options,
    )
    assert proven
    scaled = replace(problem, error_scale=error_scale, split_penalty=split_penalty)
    return cost, scaled, [Closing(*closing) for closing in closings]


def closings_of(problem: Problem, switches: int) -> tuple[NaiveSearch, int, list[Closing]]:
    """A twin with the costs of the proof, the cost of the optimum in them, and the closings."""
    cost, scaled, closings = heard(problem, switches=switches)
    twin = NaiveSearch(scaled)
    least = twin.solve()[0]
    assert cost == NaiveSearch(problem).solve()[0]
    return twin, least, closings


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
