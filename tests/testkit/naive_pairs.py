"""The naive twin of splits about two columns: the family from its words, and every tree of it.

Numbers are the decimals that people wrote, as exact fractions, so that nothing is rounded. A split
is nothing but the set of rows that it sends left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, count, pairwise
from typing import Any

Cell = Fraction | float | None  # an infinity, or missing


def decimal(x: float) -> Cell:
    """A number as people write it; None where it is missing."""
    if math.isnan(x):
        return None
    return x if math.isinf(x) else Fraction(repr(float(x)))


def naive_family(columns: Sequence[Sequence[Cell]], n_angles: int) -> list[tuple[int, int, Any]]:
    """All (first, second, slope): a split may be about first + slope * second."""
    spreads = {}
    for c, column in enumerate(columns):
        values = sorted({x for x in column if x is not None})
        if len(values) >= 2 and not any(isinstance(x, float) for x in values):
            spreads[c] = quantile(values, Fraction(3, 4)) - quantile(values, Fraction(1, 4))
    slopes = naive_slopes(n_angles)
    return [
        (i, j, sign * slope * rounded(spreads[i] / spreads[j]))
        for i, j in combinations(spreads, 2)
        for slope in slopes
        for sign in (1, -1)
    ]


def quantile(values: Sequence[Any], share: Fraction) -> Fraction:
    """Between two neighbours of the ordered values, as far as the share says."""
    place = share * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    return Fraction(values[below] + (place - below) * (values[above] - values[below]))


def rounded(ratio: Fraction) -> Fraction:
    """The nearest of 1, 2 and 5 times a power of ten, where twice is as far as half."""
    grid = sorted(m * Fraction(10) ** k for k in range(-20, 21) for m in (1, 2, 5))
    for low, high in pairwise(grid):
        if ratio * ratio < low * high:
            return low
    return grid[-1]


@cache
def naive_slopes(n_angles: int) -> tuple[Fraction, ...]:
    """Slopes at even angles: the fraction of the smallest denominator near each, up to 1."""
    step = math.pi / 2 / (n_angles // 2 + 1)
    below = []
    angle = step
    while angle < math.pi / 4 - step / 8:
        below.append(
            next(
                Fraction(p, q)
                for q in count(1)
                for p in range(1, q + 1)
                if abs(math.atan(p / q) - angle) <= step / 4
            )
        )
        angle += step
    middle = [Fraction(1)] if n_angles // 2 % 2 else []
    return (*below, *middle, *(1 / slope for slope in reversed(below)))


def naive_divisions(
    columns: Sequence[Sequence[Any]],
    categories: Sequence[object | None],
    n_angles: int,
    ratios: bool = False,
) -> set[int]:
    """The sets of rows that some split of the family sends left, as bits."""
    found: set[int] = set()
    kinds = list(zip(columns, categories, strict=True))
    numbers = [[] if level else list(column) for column, level in kinds]
    for column, level in kinds:
        if level:  # one category from the rest; missing is one of them
            for value in set(column):
                found.add(_bits(x == value for x in column))
        else:
            found |= set(thresholds(column))
    for i, j, slope in naive_family(numbers, n_angles):
        pairs = zip(columns[i], columns[j], strict=True)
        found |= set(thresholds([None if None in (x, y) else x + slope * y for x, y in pairs]))
    positive = [
        column
        for column in numbers
        if ratios and any(column) and all(x is None or 0 < x < math.inf for x in column)
    ]
    for ours, theirs in combinations(positive, 2):
        pairs = zip(ours, theirs, strict=True)
        found |= set(thresholds([None if None in (x, y) else x / y for x, y in pairs]))
    return found


def thresholds(column: Sequence[Any]) -> Iterator[int]:
    """At most each value, with the missing ones left and right."""
    missing = _bits(x is None for x in column)
    yield missing
    for value in {x for x in column if x is not None}:
        low = _bits(x is not None and x <= value for x in column)
        yield low
        yield low | missing


def _bits(holds: Any) -> int:
    return sum(1 << i for i, one in enumerate(holds) if one)


def naive_best(
    divisions: set[int],
    everything: int,
    leaf: Callable[[int], Fraction],
    *,
    max_depth: int,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int = 1,
    penalty: Fraction = Fraction(0),
) -> tuple[Fraction, int]:
    """The least (cost, number of splits) of all trees; `leaf` says what a set of rows costs."""

    @cache
    def best(rows: int, depth: int, leaves: int) -> tuple[Fraction, int]:
        found = (leaf(rows), 0)
        if depth == 0 or leaves < 2:
            return found
        for left in {rows & division for division in divisions}:
            right = rows & ~left
            if min(left.bit_count(), right.bit_count()) < max(1, min_samples_leaf):
                continue
            for for_left in range(1, leaves):
                costs = best(left, depth - 1, for_left), best(right, depth - 1, leaves - for_left)
                cost = costs[0][0] + costs[1][0] + penalty
                found = min(found, (cost, costs[0][1] + costs[1][1] + 1))
        return found

    most = 2**max_depth if max_leaf_nodes is None else min(2**max_depth, max_leaf_nodes)
    return best(everything, max_depth, most)


def naive_cost(
    divisions: set[int],
    y: Sequence[int],
    weights: Sequence[Fraction],
    *,
    alpha: float = 0.0,
    **limits: Any,
) -> tuple[Fraction, int]:
    """The least (weight of the errors and penalties, number of splits) of all trees."""
    labels = sorted(set(y))

    def leaf(rows: int) -> Fraction:
        totals = dict.fromkeys(labels, Fraction(0))
        for i, label in enumerate(y):
            if rows >> i & 1:
                totals[label] += weights[i]
        return sum(totals.values()) - max(totals.values())

    everything = _bits(w > 0 for w in weights)
    penalty = Fraction(repr(alpha)) * leaf(everything)
    return naive_best(divisions, everything, leaf, penalty=penalty, **limits)


def naive_squares(divisions: set[int], y: Sequence[Fraction], **limits: Any) -> Fraction:
    """The least sum of squared errors of all trees of means."""

    def leaf(rows: int) -> Fraction:
        own = [x for i, x in enumerate(y) if rows >> i & 1]
        mean = sum(own) / len(own)
        return sum(((x - mean) ** 2 for x in own), Fraction(0))

    return naive_best(divisions, (1 << len(y)) - 1, leaf, **limits)[0]


def naive_reward(divisions: set[int], rewards: Sequence[Sequence[int]], **limits: Any) -> Fraction:
    """The most that trees of actions bring."""

    def leaf(rows: int) -> Fraction:
        own = [row for i, row in enumerate(rewards) if rows >> i & 1]
        return -Fraction(max(sum(column) for column in zip(*own, strict=True)))

    return -naive_best(divisions, (1 << len(rewards)) - 1, leaf, **limits)[0]
