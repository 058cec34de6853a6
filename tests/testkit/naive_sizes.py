"""The naive twin of the search of all sizes: plain recursion over every tree of every size."""

from __future__ import annotations

import math

from provetree.problem.problem import Problem
from testkit.naive import NaiveSearch

#: Costs of trees of at most 1, 2, ... leaves.
Costs = list[float]


def naive_sizes(problem: Problem, depth: int | None = None) -> Costs:
    """Return the least cost of 1, 2, ... 2**depth leaves, for a problem without a penalty."""
    twin = NaiveSearch(problem)
    known: dict[tuple[int, int], Costs] = {}

    def best(rows: int, depth: int) -> Costs:
        if (rows, depth) in known:
            return known[rows, depth]
        fits = twin.size(rows) >= problem.min_samples_leaf
        leaf = twin.leaf(rows)[0] if fits else math.inf
        costs = [leaf] * 2**depth
        for column, low, _ in twin.splits(rows) if depth > 0 else ():
            left, right = (best(side, depth - 1) for side in twin.sides(rows, column, low))
            for i, of_left in enumerate(left):
                for j, of_right in enumerate(right):
                    # Leaves of sides i and j: i + 1 and j + 1, so the tree is at i + j + 1.
                    costs[i + j + 1] = min(costs[i + j + 1], of_left + of_right)
        for s in range(1, len(costs)):
            costs[s] = min(costs[s], costs[s - 1])
        known[rows, depth] = costs
        return costs

    return best((1 << problem.n_rows) - 1, problem.max_depth if depth is None else depth)
