"""A naive twin of all rules at once, in whole numbers: quick enough for 100,000 small tables.

It shares nothing with `naive_rules`, which keeps the rules one by one in exact fractions. Rows are
bits, so tables may have many rows as long as they have few splits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

from testkit.naive_rules import NaiveRules, NaiveSplit

INFINITE = 1 << 60

#: What trees cost, by the lowest and the highest class of their leaves.
Costs = dict[tuple[int, int], int]


@dataclass
class NaiveLimits:
    """Limits of a tree, and its penalty per split in the units of leaf costs."""

    max_depth: int
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    penalty: int = 0


@dataclass
class NaiveTable:
    """All splits of a table, its rows, and what their leaves cost by class."""

    splits: Sequence[NaiveSplit]
    everything: int
    #: Of a leaf of some rows: the cost of each label that matters for directions, else of one.
    leaf: Callable[[int], Costs]
    units: int = 1  # in which a price of one is counted
    rules: NaiveRules = field(default_factory=NaiveRules)


def error_leaf(masks: dict[int, list[tuple[int, int]]], units: int, by_label: bool) -> Callable:
    """Errors of a leaf; `masks` are (weight, rows of that weight) of each class."""

    def leaf(rows: int) -> Costs:
        totals = {
            c: sum(w * (rows & own).bit_count() for w, own in some) for c, some in masks.items()
        }
        whole = sum(totals.values())
        if by_label:
            return {(c, c): (whole - totals.get(c, 0)) * units for c in (0, 1)}
        return {(0, 0): (whole - max(totals.values())) * units}

    return leaf


def least_cost(table: NaiveTable, limits: NaiveLimits) -> int | None:
    """The least cost of all trees that keep all the rules; None where there is none."""
    priced = sorted(table.rules.prices)
    best = INFINITE
    for number in range(1 << len(priced)):
        inside = [c for at, c in enumerate(priced) if number >> at & 1]
        paid = sum(round(table.rules.prices[c] * table.units) for c in inside)
        out = frozenset(priced).difference(inside)
        costs = _trees_without(table, limits, out)
        best = min(best, min(costs.values(), default=INFINITE) + paid)
    return None if best >= INFINITE // 2 else best


def _trees_without(table: NaiveTable, limits: NaiveLimits, out: frozenset[int]) -> Costs:
    rules = table.rules
    groups = None if rules.groups is None else [frozenset(group) for group in rules.groups]
    splits = [split for split in table.splits if split.column not in out]
    path_prices = {c: round(price * table.units) for c, price in rules.path_prices.items()}
    by_path = bool(rules.fixed) or any(rules.forbidden)
    by_columns = bool(groups or path_prices)
    ways = rules.directions
    least = max(1, limits.min_samples_leaf)

    @cache
    def best(rows: int, path: str, asked: frozenset[int], leaves: int) -> Costs:
        # Without rules that name nodes, only the length of a path matters.
        is_fixed = path in rules.fixed
        here = rules.fixed.get(path)
        found: Costs = {} if is_fixed and here is not None else dict(table.leaf(rows))
        if len(path) == limits.max_depth or leaves < 2 or (is_fixed and here is None):
            return found
        forbidden: set[int] = set(out)
        for above, some in rules.forbidden.items():
            if path.startswith(above):
                forbidden.update(some)
        for split in splits if here is None else here:
            if split.column in forbidden:
                continue
            left, right = rows & split.left, rows & ~split.left
            if left.bit_count() < least or right.bit_count() < least:
                continue
            own, now = limits.penalty, asked
            if by_columns:
                now = asked | {split.column}
                if groups is not None and not any(now <= group for group in groups):
                    continue
                if split.column not in asked:
                    own += path_prices.get(split.column, 0)
            way = ways[split.column] if ways is not None and split.ordered else 0
            low_path, high_path = (path + "L", path + "R") if by_path else (path + "x", path + "x")
            shares = range(1, leaves)
            if leaves >= 2 ** (limits.max_depth - len(path)):  # enough for all shapes
                shares = range(leaves // 2, leaves // 2 + 1)
            for share in shares:
                for (lo, hi), cost in best(left, low_path, now, share).items():
                    for (lo2, hi2), cost2 in best(right, high_path, now, leaves - share).items():
                        if (way > 0 and hi > lo2) or (way < 0 and lo < hi2):
                            continue
                        key = (min(lo, lo2), max(hi, hi2))
                        total = cost + cost2 + own
                        if total < found.get(key, INFINITE):
                            found[key] = total
        return found

    most = 2**limits.max_depth
    if limits.max_leaf_nodes is not None:
        most = min(most, limits.max_leaf_nodes)
    return best(table.everything, "", frozenset(), most)
