"""Naive twins of DL8 and DL8.5: the paper's pseudo-code on sets and lists, and brute force.

The twins follow Algorithms 1 and 2 line by line, with frozensets of (column, value) for itemsets.
Their one addition is the paper's omission: a node of DL8.5 that no split improves is a leaf.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Itemset = frozenset[tuple[int, int]]
# A tree: None for a leaf, or (column, tree of the zeros, tree of the ones).
Shape = Any
LeafCostFunction = Callable[[list[int]], float]  # of positions of rows


@dataclass
class NaiveItemsets:
    """One database; rows are lists of 0 and 1."""

    rows: Sequence[Sequence[int]]
    classes: Sequence[int]
    weights: Sequence[int]
    n_classes: int
    max_depth: int
    min_support: int
    leaf_cost: LeafCostFunction
    whole: bool = True
    branching: str = "data_order"
    cache_partial_results: bool = True
    cache: dict[Itemset, tuple[float, Shape, float]] = field(default_factory=dict)
    calls: list[Itemset] = field(default_factory=list)
    hits: int = 0

    def cover(self, itemset: Itemset) -> list[int]:
        return [
            i for i, row in enumerate(self.rows) if all(row[column] == v for column, v in itemset)
        ]

    def cost_of(self, itemset: Itemset) -> float:
        return self.leaf_cost(self.cover(itemset))

    def columns(self, itemset: Itemset) -> list[int]:
        """The columns with enough rows on both sides, in the order of branching."""
        n_columns = len(self.rows[0])
        usable = [
            column
            for column in range(n_columns)
            if all(
                len(self.cover(itemset | {(column, value)})) >= self.min_support for value in (0, 1)
            )
        ]
        if self.branching == "data_order":
            return usable
        sign = 1 if self.branching == "information_gain" else -1
        return sorted(usable, key=lambda column: sign * self.left_over(itemset, column))

    def left_over(self, itemset: Itemset, column: int) -> int:
        """Entropy after the split, in units of 2**-32 bits: ties are ties."""

        def term(n: int) -> float:
            return n * math.log2(n) if n > 0 else 0.0

        total = 0.0
        weight = 0
        for value in (0, 1):
            by_class = [0] * self.n_classes
            for i in self.cover(itemset | {(column, value)}):
                by_class[self.classes[i]] += self.weights[i]
            total += term(sum(by_class)) - sum(term(n) for n in by_class)
            weight += sum(by_class)
        return math.floor(total / weight * 2**32 + 0.5)

    def dl8(self) -> tuple[float, Shape]:
        return self._dl8(frozenset())

    def _dl8(self, itemset: Itemset) -> tuple[float, Shape]:
        self.calls.append(itemset)
        if itemset in self.cache:
            self.hits += 1
            _, shape, cost = self.cache[itemset]
            return cost, shape
        cost = self.cost_of(itemset)
        best: tuple[float, Shape] = (cost, None)
        if cost == 0 or len(itemset) == self.max_depth:
            return best
        for column in self.columns(itemset):
            cost_0, shape_0 = self._dl8(itemset | {(column, 0)})
            if cost_0 <= best[0]:
                cost_1, shape_1 = self._dl8(itemset | {(column, 1)})
                if cost_0 + cost_1 <= best[0]:
                    best = (cost_0 + cost_1, (column, shape_0, shape_1))
        self.cache[itemset] = (math.inf, best[1], best[0])
        return best

    def dl85(self) -> tuple[float, Shape]:
        _, shape, cost = self._dl85(frozenset(), math.inf)
        return cost, shape

    def _dl85(self, itemset: Itemset, init_ub: float) -> tuple[float, Shape, float]:
        self.calls.append(itemset)
        leaf = self.cost_of(itemset)
        if leaf == 0 or len(itemset) == self.max_depth:
            return init_ub, None, leaf
        if itemset in self.cache:
            known = self.cache[itemset]
            if known[1] != "no tree" or init_ub <= known[0]:
                self.hits += 1
                return known
        shape: Shape = "no tree"
        cost, ub = math.inf, init_ub
        for column in self.columns(itemset):
            _, shape_0, cost_0 = self._dl85(itemset | {(column, 0)}, ub)
            if shape_0 == "no tree" or cost_0 > ub:
                continue
            _, shape_1, cost_1 = self._dl85(itemset | {(column, 1)}, self.rest(ub, cost_0))
            if shape_1 == "no tree":
                continue
            if cost_0 + cost_1 <= ub:
                shape, cost = (column, shape_0, shape_1), cost_0 + cost_1
                ub = cost - 1 if self.whole else math.nextafter(cost, -math.inf)
            if cost_0 + cost_1 == 0:
                break
        if leaf <= ub:
            shape, cost = None, leaf
        if shape != "no tree" or self.cache_partial_results:
            self.cache[itemset] = (init_ub, shape, cost)
        return init_ub, shape, cost

    def rest(self, ub: float, cost: float) -> float:
        if self.whole or ub == math.inf:
            return ub - cost
        return math.nextafter(math.nextafter(ub, math.inf) - cost, math.inf)

    def brute_force(self) -> float:
        """The least cost of any tree, without cache, bounds or pruning."""
        return self._brute(frozenset(), self.max_depth)

    def _brute(self, itemset: Itemset, depth: int) -> float:
        best = self.cost_of(itemset)
        if depth > 0:
            for column in range(len(self.rows[0])):
                sides = [itemset | {(column, value)} for value in (0, 1)]
                if all(len(self.cover(side)) >= self.min_support for side in sides):
                    best = min(best, sum(self._brute(side, depth - 1) for side in sides))
        return best


def tree_cost(shape: Shape, rows: Sequence[Sequence[int]], leaf_cost: LeafCostFunction) -> float:
    """What a tree costs, worked out from its leaves."""

    def walk(at: Shape, inside: list[int]) -> float:
        if at is None:
            return leaf_cost(inside)
        column, zeros, ones = at
        return walk(zeros, [i for i in inside if rows[i][column] == 0]) + walk(
            ones, [i for i in inside if rows[i][column] == 1]
        )

    return walk(shape, list(range(len(rows))))
