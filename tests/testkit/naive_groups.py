"""The naive twin of groups of categories: every division of the rows that a split may make."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from testkit.naive_pairs import thresholds


def naive_group_divisions(
    columns: Sequence[Sequence[Any]],
    is_category: Sequence[bool],
    scores: Sequence[Sequence[Fraction]],
    weights: Sequence[Fraction],
    most: int = 10,
) -> set[int]:
    """The sets of rows that some split sends left, as bits; None is a missing value.

    `scores` hold, for each order of many categories, a number for each row.
    """
    found: set[int] = set()
    for column, grouped in zip(columns, is_category, strict=True):
        if not grouped:
            found |= set(thresholds(column))
            continue
        known = sorted({x for x in column if x is not None})
        values = [*known, None] if None in column else known
        groups: list[Sequence[Any]] = [(value,) for value in values]
        if len(known) <= most:
            groups += [g for size in range(1, len(values)) for g in combinations(values, size)]
        else:
            for score in scores:
                order = sorted(values, key=lambda v: _mean(column, v, score, weights))
                groups += [order[:size] for size in range(1, len(order))]
        found |= {sum(1 << i for i, x in enumerate(column) if x in group) for group in groups}
    return found


def _mean(
    column: Sequence[Any], value: Any, score: Sequence[Fraction], weights: Sequence[Fraction]
) -> Fraction:
    own = [i for i, x in enumerate(column) if x == value]
    return sum((weights[i] * score[i] for i in own), Fraction(0)) / sum(weights[i] for i in own)
