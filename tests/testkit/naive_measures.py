"""The naive twin for losses other than errors: it tries every tree, and is easy to believe.

Costs follow the definitions word by word. Targets become whole numbers (every float is one, times
a power of two), so that the sums of a leaf are exact; each leaf is rounded once, to the nearest
float. Leaves never cost less than nothing, so that adding them up loses no more than the last bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

CLASS_LOSSES = ("gini", "entropy", "pessimistic")
NUMBER_LOSSES = ("squared_error", "absolute_error")
LOSSES = ("squared_error", "gini", "entropy", "pessimistic", "linear", "absolute_error")


@dataclass(frozen=True, eq=False)
class MeasureCase:
    """A small problem: its table, its loss and the limits of its trees.

    ``penalty`` is the cost of a split as a share of the cost of the best single leaf. ``targets``
    has the outputs of each row, or its cost of each action, and is None where classes are at hand.
    """

    loss: str
    ranks: NDArray[np.uint32]  # columns x rows
    values: tuple[NDArray[np.float64], ...]  # of each column, by rank
    classes: NDArray[np.int32]
    weights: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_classes: int
    targets: NDArray[np.float64] | None  # rows x outputs or actions
    max_depth: int
    max_splits: int
    min_samples_leaf: int
    penalty: float

    @property
    def n_rows(self) -> int:
        return len(self.weights)

    @property
    def outputs(self) -> list[list[float]]:
        """The targets as numbers of Python, by output or action."""
        return [] if self.targets is None else self.targets.T.tolist()


def whole_numbers(numbers: Sequence[Sequence[float]]) -> tuple[list[list[int]], int]:
    """Integers and an exponent: each number is exactly its integer times two to the exponent."""
    ratios = [[value.as_integer_ratio() for value in row] for row in numbers]
    bits = max((bottom.bit_length() - 1 for row in ratios for _, bottom in row), default=0)
    return [[top * (2**bits // bottom) for top, bottom in row] for row in ratios], -bits


def added_errors(weight: float, errors: float) -> float:
    """C4.5's AddErrs at a confidence of 0.25: what a leaf is charged beyond the errors it makes."""
    z = 0.6744897501960817  # the upper quarter of the normal distribution begins here
    if errors < 1e-6:
        return -weight * math.expm1(math.log(0.25) / weight)
    if errors < 0.9999:
        none = -weight * math.expm1(math.log(0.25) / weight)
        return none + errors * (added_errors(weight, 1.0) - none)
    if errors + 0.5 >= weight:
        return 0.67 * (weight - errors)
    middle = errors + 0.5
    spread = math.sqrt(z * z * (middle * (1 - middle / weight) + z * z / 4))
    rate = Fraction(middle + z * z / 2 + spread) / (Fraction(weight) + Fraction(z * z))
    return float(Fraction(weight) * rate - Fraction(errors))


class Leaves:
    """What a leaf of some rows of a case costs, less what every tree pays (``constant``)."""

    def __init__(self, case: MeasureCase) -> None:
        self.weights = [int(w) for w in case.weights]
        self.classes = [int(c) for c in case.classes]
        self.n_classes = case.n_classes
        self.targets, self.exponent = whole_numbers(case.outputs)
        self.constant = Fraction(0)
        if case.loss == "linear":
            # Every tree pays the least cost of each row; the rest is never negative.
            least = [min(costs) for costs in zip(*self.targets, strict=True)]
            self.constant = self.exact(sum(w * c for w, c in zip(self.weights, least, strict=True)))
            self.targets = [
                [c - low for c, low in zip(costs, least, strict=True)] for costs in self.targets
            ]
        self.cost: Callable[[list[int]], float] = getattr(self, case.loss)

    def exact(self, whole: int) -> Fraction:
        return whole * Fraction(2) ** self.exponent

    def totals(self, rows: list[int]) -> list[int]:
        """The weight of each class."""
        totals = [0] * self.n_classes
        for i in rows:
            totals[self.classes[i]] += self.weights[i]
        return totals

    def squared_error(self, rows: list[int]) -> float:
        weight = sum(self.weights[i] for i in rows)
        scaled = 0  # the squared errors times the weight, a whole number
        for y in self.targets:
            total = sum(self.weights[i] * y[i] for i in rows)
            squares = sum(self.weights[i] * y[i] * y[i] for i in rows)
            scaled += weight * squares - total * total
        return math.ldexp(scaled / weight, 2 * self.exponent)

    def absolute_error(self, rows: list[int]) -> float:
        # A median is one of the values, so that the best of them all is best.
        cost = sum(
            min(
                sum(self.weights[i] * abs(y[i] - middle) for i in rows)
                for middle in {y[i] for i in rows}
            )
            for y in self.targets
        )
        return math.ldexp(cost, self.exponent)

    def linear(self, rows: list[int]) -> float:
        cost = min(sum(self.weights[i] * costs[i] for i in rows) for costs in self.targets)
        return math.ldexp(cost, self.exponent)

    def gini(self, rows: list[int]) -> float:
        totals = self.totals(rows)
        weight = sum(totals)
        return (weight * weight - sum(w * w for w in totals)) / weight

    def entropy(self, rows: list[int]) -> float:
        totals = self.totals(rows)
        weight = sum(totals)
        return math.fsum(w * math.log(weight / w) for w in totals if 0 < w < weight)

    def pessimistic(self, rows: list[int]) -> float:
        totals = self.totals(rows)
        weight, errors = sum(totals), sum(totals) - max(totals)
        return errors + added_errors(weight, errors)


@dataclass
class NaiveMeasures:
    """Least costs of the trees of one case for sets of its rows (bit i of an int is row i)."""

    case: MeasureCase
    split_penalty: float = 0.0
    leaves: Leaves = field(init=False)
    _leaf: dict[int, float] = field(default_factory=dict)
    _best: dict[tuple[int, int, int], float] = field(default_factory=dict)
    _splits: dict[int, list[tuple[int, int, int, int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.leaves = Leaves(self.case)
        self.all_rows = (1 << self.case.n_rows) - 1
        self.ranks = self.case.ranks.tolist()
        self.counts = self.case.counts.tolist()

    def solve(self) -> float:
        """The least cost of all trees within the limits, less the constant."""
        return self.best(self.all_rows, self.case.max_depth, self.case.max_splits)

    def best(self, rows: int, depth: int, budget: int) -> float:
        """The least cost of all trees of that depth with so many splits."""
        full = 2**depth // 2 - 1  # splits of a full tree below a split here
        budget = min(budget, 2 * full + 1 if depth else 0)
        known = self._best.get((rows, depth, budget))
        if known is None:
            known = self.leaf(rows)
            for _, _, _, left, right in self.splits(rows) if budget > 0 else ():
                # What a full tree on the left cannot use is left for the right, and so on.
                for for_left in range(max(0, budget - 1 - full), min(budget - 1, full) + 1):
                    cost = self.split_penalty + (
                        self.best(left, depth - 1, for_left)
                        + self.best(right, depth - 1, budget - 1 - for_left)
                    )
                    known = min(known, cost)
            self._best[rows, depth, budget] = known
        return known

    def leaf(self, rows: int) -> float:
        if rows not in self._leaf:
            self._leaf[rows] = self.leaves.cost(list(members(rows)))
        return self._leaf[rows]

    def splits(self, rows: int) -> list[tuple[int, int, int, int, int]]:
        """All splits with enough rows on both sides: column, both ranks beside it, both sides."""
        if rows not in self._splits:
            self._splits[rows] = list(self._make_splits(rows))
        return self._splits[rows]

    def _make_splits(self, rows: int) -> Iterator[tuple[int, int, int, int, int]]:
        least = self.case.min_samples_leaf
        for column in range(len(self.ranks)):
            ranks = {self.ranks[column][i] for i in members(rows)}
            for low, high in pairwise(sorted(ranks)):
                left, right = self.sides(rows, column, low)
                if min(self.size(left), self.size(right)) >= least:
                    yield column, low, high, left, right

    def sides(self, rows: int, column: int, low: int) -> tuple[int, int]:
        left = sum(1 << i for i in members(rows) if self.ranks[column][i] <= low)
        return left, rows & ~left

    def size(self, rows: int) -> int:
        return sum(self.counts[i] for i in members(rows))


def members(rows: int) -> Iterator[int]:
    while rows:
        low = rows & -rows
        yield low.bit_length() - 1
        rows ^= low


def root_cost(case: MeasureCase) -> float:
    """What the best single leaf costs, less the constant."""
    return Leaves(case).cost(list(range(case.n_rows)))


def walk_measured_tree(case: MeasureCase, found: Any) -> tuple[float, int]:
    """Check a tree of the core row by row; return the cost of its leaves, and its splits.

    Every node's rows are listed, so that nothing the core says is taken on trust. The cost is
    without penalties and without the constant.
    """
    leaves = Leaves(case)
    costs: list[float] = []
    next_node = 0

    def visit(rows: list[int], depth: int) -> int:
        nonlocal next_node
        node = next_node
        next_node += 1
        assert sum(int(case.counts[i]) for i in rows) >= case.min_samples_leaf
        check_label(case, leaves, rows, int(found["label"][node]))
        column, low = int(found["column"][node]), int(found["rank_low"][node])
        if column < 0:
            assert (low, found["rank_high"][node]) == (-1, -1)
            assert (found["left"][node], found["right"][node]) == (-1, -1)
            costs.append(leaves.cost(rows))
            return 0
        assert depth < case.max_depth
        ranks = case.ranks[column]
        left, right = ([i for i in rows if (ranks[i] <= low) == side] for side in (True, False))
        assert max(ranks[i] for i in left) == low
        assert min(ranks[i] for i in right) == found["rank_high"][node]
        assert found["left"][node] == next_node
        splits = 1 + visit(left, depth + 1)
        assert found["right"][node] == next_node
        return splits + visit(right, depth + 1)

    splits = visit(list(range(case.n_rows)), 0)
    assert next_node == len(found["column"])
    assert splits <= case.max_splits
    return math.fsum(costs), splits


def check_label(case: MeasureCase, leaves: Leaves, rows: list[int], label: int) -> None:
    """A node tells its heaviest class, its cheapest action, or nothing."""
    if case.loss in CLASS_LOSSES:
        totals = leaves.totals(rows)
        assert label == totals.index(max(totals))
    elif case.loss == "linear":
        # Costs are rounded in the core, which may prefer an action that is as good as the best.
        sums = [sum(leaves.weights[i] * costs[i] for i in rows) for costs in leaves.targets]
        whole = [
            leaves.weights[i] * costs[i] for costs in leaves.targets for i in range(case.n_rows)
        ]
        assert sums[label] - min(sums) <= 1e-9 * sum(whole)
    else:
        assert label == 0
