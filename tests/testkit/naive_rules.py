"""The naive twin of rules: every tree that keeps them, tried one by one.

A split is the set of rows that it sends left, with its column. Costs are exact: fractions, or whole
numbers of small units, which are much quicker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from itertools import chain, combinations
from typing import Any, TypeAlias

from testkit.naive_pairs import thresholds

INFINITE = 10**15

#: A fraction, or a whole number of units.
Exact: TypeAlias = Fraction | int


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
    prices: Mapping[int, Exact] = field(default_factory=dict)
    path_prices: Mapping[int, Exact] = field(default_factory=dict)

    def in_units(self, units: int) -> NaiveRules:
        """The same rules with prices in whole units."""
        return replace(
            self,
            prices={c: whole(price * units) for c, price in self.prices.items()},
            path_prices={c: whole(price * units) for c, price in self.path_prices.items()},
        )


def whole(number: Any) -> int:
    """A number that is whole, as such."""
    assert number == int(number)
    return int(number)


def leaf_totals(y: Sequence[int], weights: Sequence[int]) -> Callable[[int], dict[int, int]]:
    """What a leaf holds of each class; rows are bits, so equal weights are counted together."""
    alike: dict[int, dict[int, int]] = {}
    for i, (label, weight) in enumerate(zip(y, weights, strict=True)):
        rows = alike.setdefault(label, {})
        rows[weight] = rows.get(weight, 0) | 1 << i

    def totals(rows: int) -> dict[int, int]:
        return {
            label: sum(weight * (rows & own).bit_count() for weight, own in of_weight.items())
            for label, of_weight in alike.items()
        }

    return totals


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
    return list(dict.fromkeys(found))


def ruled_cost(
    splits: Sequence[NaiveSplit],
    everything: int,
    leaf: Callable[[int], Exact],
    rules: NaiveRules,
    *,
    max_depth: int,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int = 1,
    penalty: Exact = 0,
) -> Exact | None:
    """The least cost of all trees that keep the rules; None where there is none."""
    most = 2**max_depth if max_leaf_nodes is None else min(2**max_depth, max_leaf_nodes)
    best = INFINITE
    priced = sorted(rules.prices)
    for some in chain.from_iterable(combinations(priced, n) for n in range(len(priced) + 1)):
        out = frozenset(priced) - frozenset(some)
        cost = _best_without(
            splits, everything, leaf, rules, out, max_depth, most, min_samples_leaf, penalty
        )
        best = min(best, cost + sum(rules.prices[c] for c in some))
    return None if best >= INFINITE // 2 else best


def _best_without(
    splits: Sequence[NaiveSplit],
    everything: int,
    leaf: Callable[[int], Exact],
    rules: NaiveRules,
    out: frozenset[int],
    max_depth: int,
    most: int,
    least: int,
    penalty: Exact,
) -> Exact:
    groups = None if rules.groups is None else [frozenset(group) for group in rules.groups]

    @cache
    def best(rows: int, path: str, asked: frozenset[int], leaves: int) -> Exact:
        fixed = path in rules.fixed
        found: Exact = INFINITE
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
            own = penalty
            if split.column not in asked:
                own += rules.path_prices.get(split.column, 0)
            for share in _shares(leaves, max_depth - len(path)):
                cost = best(left, path + "L", now, share) + own
                cost += best(right, path + "R", now, leaves - share)
                found = min(found, cost)
        return found

    return best(everything, "", frozenset(), most)


def monotone_cost(
    splits: Sequence[NaiveSplit],
    everything: int,
    y: Sequence[int],
    weights: Sequence[Any],
    directions: Sequence[int],
    *,
    max_depth: int,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int = 1,
    penalty: Exact = 0,
) -> Exact:
    """The least cost of trees of two classes, of any labels, whose splits keep the directions.

    At a split on a column that must rise, no leaf of the left side may predict more than a leaf of
    the right side. What is kept of a subtree is the range of its labels.
    """
    totals = leaf_totals(y, weights)

    @cache
    def best(rows: int, depth: int, leaves: int) -> dict[tuple[int, int], Exact]:
        held = totals(rows)
        found: dict[tuple[int, int], Exact] = {
            (label, label): held.get(1 - label, 0) for label in (0, 1)
        }
        if depth == 0 or leaves < 2:
            return found
        for split in splits:
            left, right = rows & split.left, rows & ~split.left
            if min(left.bit_count(), right.bit_count()) < max(1, min_samples_leaf):
                continue
            way = directions[split.column] if split.ordered else 0
            for share in _shares(leaves, depth):
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


def _shares(leaves: int, depth: int) -> Iterable[int]:
    """The leaves of the left side; where there are enough for full trees, one way is all ways."""
    return (leaves // 2,) if leaves >= 1 << depth else range(1, leaves)


def _bits(holds: Iterable[bool]) -> int:
    return sum(1 << i for i, one in enumerate(holds) if one)
