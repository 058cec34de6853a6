"""The naive twin of rules: every tree that keeps them, tried one by one.

A split is the set of rows that it sends left, with its column. Costs are exact fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import chain, combinations
from typing import Any

from testkit.naive_pairs import thresholds

INFINITE = Fraction(10**12)


@dataclass(frozen=True)
class NaiveSplit:
    """The column, the rows that go left as bits, and whether it tells low numbers from high."""

    column: int
    left: int
    ordered: bool = True


@dataclass
class NaiveRules:
    """Rules by positions of columns; fixed splits are the ways in which they can divide rows."""

    fixed: Mapping[str, Sequence[NaiveSplit] | None] = field(default_factory=dict)  # None: a leaf
    forbidden: Mapping[str, Iterable[int]] = field(default_factory=dict)
    groups: Sequence[Iterable[int]] | None = None
    directions: Sequence[int] | None = None
    prices: Mapping[int, Fraction] = field(default_factory=dict)
    path_prices: Mapping[int, Fraction] = field(default_factory=dict)


def naive_splits(columns: Sequence[Sequence[Any]], is_category: Sequence[bool]) -> list[NaiveSplit]:
    """All splits of a table; None is a missing value."""
    found = []
    for c, (column, grouped) in enumerate(zip(columns, is_category, strict=True)):
        missing = _bits(x is None for x in column)
        if grouped:
            found += [NaiveSplit(c, _bits(x == value for x in column)) for value in set(column)]
        else:
            for left in thresholds(column):
                present = _bits(x is not None for x in column)
                is_missing = left == missing or left & present in (0, present)
                found.append(NaiveSplit(c, left, not is_missing))
    return found


def ruled_cost(
    splits: Sequence[NaiveSplit],
    everything: int,
    leaf: Callable[[int], Fraction],
    rules: NaiveRules,
    *,
    max_depth: int,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int = 1,
    penalty: Fraction = Fraction(0),
) -> Fraction | None:
    """The least cost of all trees that keep the rules; None where there is none."""
    most = 2**max_depth if max_leaf_nodes is None else min(2**max_depth, max_leaf_nodes)
    best = INFINITE
    priced = sorted(rules.prices)
    for some in chain.from_iterable(combinations(priced, n) for n in range(len(priced) + 1)):
        out = frozenset(priced) - frozenset(some)
        cost = _best_without(
            splits, everything, leaf, rules, out, max_depth, most, min_samples_leaf, penalty
        )
        best = min(best, cost + sum((rules.prices[c] for c in some), Fraction(0)))
    return None if best >= INFINITE / 2 else best


def _best_without(
    splits: Sequence[NaiveSplit],
    everything: int,
    leaf: Callable[[int], Fraction],
    rules: NaiveRules,
    out: frozenset[int],
    max_depth: int,
    most: int,
    least: int,
    penalty: Fraction,
) -> Fraction:
    groups = None if rules.groups is None else [frozenset(group) for group in rules.groups]

    @cache
    def best(rows: int, path: str, asked: frozenset[int], leaves: int) -> Fraction:
        fixed = path in rules.fixed
        found = INFINITE
        if not fixed or rules.fixed[path] is None:
            found = leaf(rows)
        if len(path) == max_depth or leaves < 2 or (fixed and rules.fixed[path] is None):
            return found
        forbidden = {
            c for above, some in rules.forbidden.items() if path.startswith(above) for c in some
        }
        for split in rules.fixed[path] or () if fixed else splits:
            now = asked | {split.column}
            if split.column in forbidden | out:
                continue
            if groups is not None and not any(now <= group for group in groups):
                continue
            left, right = rows & split.left, rows & ~split.left
            if min(left.bit_count(), right.bit_count()) < max(1, least):
                continue
            for share in range(1, leaves):
                cost = best(left, path + "L", now, share) + penalty
                if split.column not in asked:
                    cost += rules.path_prices.get(split.column, Fraction(0))
                cost += best(right, path + "R", now, leaves - share)
                found = min(found, cost)
        return found

    return best(everything, "", frozenset(), most)


def monotone_cost(
    splits: Sequence[NaiveSplit],
    everything: int,
    y: Sequence[int],
    weights: Sequence[Fraction],
    directions: Sequence[int],
    *,
    max_depth: int,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int = 1,
    penalty: Fraction = Fraction(0),
) -> Fraction:
    """The least cost of trees of two classes, of any labels, whose splits keep the directions.

    At a split on a column that must rise, no leaf of the left side may predict more than a leaf of
    the right side. What is kept of a subtree is the range of its labels.
    """

    @cache
    def best(rows: int, depth: int, leaves: int) -> dict[tuple[int, int], Fraction]:
        own = [i for i in range(len(y)) if rows >> i & 1]
        found = {
            (label, label): sum((weights[i] for i in own if y[i] != label), Fraction(0))
            for label in (0, 1)
        }
        if depth == 0 or leaves < 2:
            return found
        for split in splits:
            left, right = rows & split.left, rows & ~split.left
            if min(left.bit_count(), right.bit_count()) < max(1, min_samples_leaf):
                continue
            way = directions[split.column] if split.ordered else 0
            for share in range(1, leaves):
                for (low, high), cost in best(left, depth - 1, share).items():
                    for (low2, high2), cost2 in best(right, depth - 1, leaves - share).items():
                        if (way > 0 and high > low2) or (way < 0 and low < high2):
                            continue
                        key = min(low, low2), max(high, high2)
                        total = cost + cost2 + penalty
                        found[key] = min(found.get(key, INFINITE), total)
        return found

    most = 2**max_depth if max_leaf_nodes is None else min(2**max_depth, max_leaf_nodes)
    return min(best(everything, max_depth, most).values())


def _bits(holds: Iterable[bool]) -> int:
    return sum(1 << i for i, one in enumerate(holds) if one)
