"""The naive twin of the exact search: tries every tree, and is short enough to be believed.

It minimises, over all trees within the limits, first the cost, then the number of splits, and
then from the root down (left before right) the column, the negative margin and the threshold.
Where a split budget can be shared out between two branches in several equally good ways, the
left branch gets the fewest splits.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from provetree.problem.problem import Problem
from provetree.solution import Limits, Progress, Solution
from provetree.tree.build import build_tree

# A tree as nested tuples: () for a leaf, or
# (column, -margin, rank_low, (splits left, left tree), (splits right, right tree)).
# Python compares such tuples in just the order of the tie rule.
Shape = tuple[Any, ...]
Key = tuple[int, int, Shape]  # cost, splits, shape


@dataclass
class NaiveSearch:
    """Best trees of one problem for sets of its rows (bit i of an int stands for row i)."""

    problem: Problem
    memo: dict[tuple[int, int, int], Key] = field(default_factory=dict)
    sizes: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        p = self.problem
        self.weights = [int(w) for w in p.weights]
        self.counts = [int(c) for c in p.counts]
        self.classes = [int(y) for y in p.classes]
        self.values = [column.values.tolist() for column in p.columns]
        # rows_at[c][k]: the rows of rank k in column c; rows_to[c][k]: of rank k or less
        self.rows_at: list[list[int]] = []
        self.rows_to: list[list[int]] = []
        for c, column in enumerate(p.columns):
            sets = [0] * len(column.values)
            for i, rank in enumerate(p.ranks[c].tolist()):
                sets[rank] |= 1 << i
            self.rows_at.append(sets)
            self.rows_to.append(list(accumulate(sets, operator.or_)))

    def solve(self) -> Key:
        p = self.problem
        return self.best((1 << p.n_rows) - 1, p.max_depth, p.max_splits)

    def best(self, rows: int, depth: int, budget: int) -> Key:
        """The least (cost, splits, shape) of all trees on these rows."""
        full = 2**depth // 2 - 1  # splits of a full tree below a split here
        budget = min(budget, 2**depth - 1)
        known = self.memo.get((rows, depth, budget))
        if known is None:
            found = self.leaf(rows)
            if found[0] > 0:  # nothing is better than a leaf without errors
                for c, low, high in self.splits(rows) if budget > 0 else ():
                    left, right = self.sides(rows, c, low)
                    if min(self.size(left), self.size(right)) < self.problem.min_samples_leaf:
                        continue
                    gap = margin(self.values[c], low, high)
                    # What a full tree on the left cannot use is left for the right, and so on.
                    for for_left in range(max(0, budget - 1 - full), min(budget - 1, full) + 1):
                        l_cost, *l_tree = self.best(left, depth - 1, for_left)
                        r_cost, *r_tree = self.best(right, depth - 1, budget - 1 - for_left)
                        cost = self.problem.split_penalty + l_cost + r_cost
                        shape = (c, -gap, low, tuple(l_tree), tuple(r_tree))
                        found = min(found, (cost, 1 + l_tree[0] + r_tree[0], shape))
            self.memo[rows, depth, budget] = known = found
        return known

    def leaf(self, rows: int) -> Key:
        totals = self.totals(rows)
        return (self.problem.error_scale * (sum(totals) - max(totals)), 0, ())

    def splits(self, rows: int) -> Iterator[tuple[int, int, int]]:
        """All (column, rank_low, rank_high) between values that the rows have."""
        for c, sets in enumerate(self.rows_at):
            present = [k for k, at in enumerate(sets) if at & rows]
            for low, high in pairwise(present):
                yield c, low, high

    def sides(self, rows: int, c: int, low: int) -> tuple[int, int]:
        left = rows & self.rows_to[c][low]
        return left, rows & ~left

    def size(self, rows: int) -> int:
        if rows not in self.sizes:
            self.sizes[rows] = sum(self.counts[i] for i in bits(rows))
        return self.sizes[rows]

    def totals(self, rows: int) -> list[int]:
        totals = [0] * self.problem.n_classes
        for i in bits(rows):
            totals[self.classes[i]] += self.weights[i]
        return totals

    def nodes(self, key: Key) -> list[tuple[int, int, int, int]]:
        """The tree as (column, rank_low, rank_high, label) of each node in preorder."""
        nodes: list[tuple[int, int, int, int]] = []

        def walk(rows: int, shape: Shape) -> None:
            totals = self.totals(rows)
            label = totals.index(max(totals))
            if shape == ():
                nodes.append((-1, -1, -1, label))
                return
            c, _, low, (_, left_shape), (_, right_shape) = shape
            left, right = self.sides(rows, c, low)
            high = next(k for k, at in enumerate(self.rows_at[c]) if at & right)
            nodes.append((c, low, high, label))
            walk(left, left_shape)
            walk(right, right_shape)

        walk((1 << self.problem.n_rows) - 1, key[2])
        return nodes


def naive_search(problem: Problem) -> dict[str, Any]:
    """The optimum by trying everything, in the form in which the core gives its answer."""
    twin = NaiveSearch(problem)
    key = twin.solve()
    column, rank_low, rank_high, label = np.array(twin.nodes(key), dtype=np.int32).T
    return {
        "column": column,
        "rank_low": rank_low,
        "rank_high": rank_high,
        "label": label,
        "cost": key[0],
        "lower_bound": key[0],
        "status": "optimal",
        "history": [(0.0, key[0], key[0])],
        "counters": {"states": len(twin.memo)},
    }


class NaiveEngine:
    """The naive twin as an engine."""

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Solution:
        found = naive_search(problem)
        cost = problem.to_user_cost(found["cost"])
        progress = Progress(0.0, cost, cost)
        if on_progress is not None:
            on_progress(progress)
        tree = build_tree(problem, found["column"], found["rank_low"])
        return Solution(tree, cost, cost, "optimal", (progress,), found["counters"])


def margin(values: Sequence[float], low: int, high: int) -> float:
    """Gap between the two neighbouring values; none beside the missing values."""
    gap = values[high] - values[low]
    return 0.0 if math.isnan(gap) else gap


def bits(rows: int) -> Iterator[int]:
    while rows:
        low = rows & -rows
        yield low.bit_length() - 1
        rows ^= low
