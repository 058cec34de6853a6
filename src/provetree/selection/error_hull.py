"""The proven best trees along all weights of the two kinds of errors.

A tree is a point: the weight of its false positives and that of its false negatives. Where a false
positive costs `a` and a false negative `b`, the best tree is a corner of the lower convex hull of
these points, and one search proves it. The search for all corners begins with the two single
leaves. Between two points it asks for the best tree at the costs at which both are equally good:
either that is a new point below their line, or no tree lies below it, and the hull between the two
is proven.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from provetree.problem.problem import Problem
from provetree.problem.weights import MAX_TOTAL_WEIGHT
from provetree.search.engine import ExactSearch
from provetree.solution import Engine, Limits, Status
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree
from provetree.tree.values import ClassTotals

__all__ = ["ErrorHull", "HullPoint", "best_tree", "solve_hull", "with_coarse_weights"]

#: Code of the class whose rows count as positive.
POSITIVE = 1

#: Weights of many digits are rounded to so many units in all, or to so many for each row.
_LEAST_DIGITS, _UNITS_PER_ROW = 2**20, 64

#: The part of the time left that one search may use: a hard one must leave some for the others.
_TIME_SHARE = 0.25


@dataclass(frozen=True)
class HullPoint:
    """A tree, its two kinds of errors in whole units of weight, and costs at which it is best.

    Its class totals are those of the rows; the labels of its leaves are those the costs choose.
    """

    tree: Tree
    false_positives: int
    false_negatives: int
    status: Status
    costs: tuple[int, int] = (1, 1)  # of a false positive and of a false negative

    @property
    def place(self) -> tuple[int, int]:
        """False positives and false negatives."""
        return self.false_positives, self.false_negatives


@dataclass(frozen=True)
class ErrorHull:
    """The corners of the hull by rising false positives; `complete` where all of it is proven.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.selection.error_hull import solve_hull
    >>> X, y = [[1], [2], [3], [4], [5]], [0, 1, 0, 1, 1]
    >>> hull = solve_hull(build_problem(X, y, n_classes=2, max_depth=1))
    >>> [point.place for point in hull.points], hull.complete
    ([(0, 1), (1, 0)], True)
    """

    points: tuple[HullPoint, ...]
    complete: bool


def solve_hull(
    problem: Problem,
    time_limit: float | None = None,
    engine: Engine | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> ErrorHull:
    """Return the hull of a problem of two classes that counts errors, without a penalty.

    What is not proven within `time_limit` seconds says so; the widest gaps are searched first.
    Weights of many digits are rounded to fewer (:func:`with_coarse_weights`), and costs that would
    need more are rounded, too: then corners that are best in a sliver of costs only may be left
    out, and the hull is not complete.
    """
    problem = with_coarse_weights(problem)
    deadline = math.inf if time_limit is None else clock() + time_limit
    search = _Hull(problem, deadline, ExactSearch() if engine is None else engine, clock)
    search.run()
    return search.result()


def best_tree(
    problem: Problem, costs: tuple[int, int], time_limit: float | None, engine: Engine
) -> HullPoint:
    """Return the best tree where false positives and false negatives cost so much.

    Engines add up weights to a limit. Costs beyond it are rounded: those of the answer are what the
    tree is best at.
    """
    problem = with_coarse_weights(problem)
    costs = _rounded(costs, _class_weights(problem))
    factors = np.array(costs, dtype=np.int64)
    weighted = replace(problem, weights=problem.weights * factors[problem.classes])
    found = engine.solve(weighted, Limits(time_limit), None)
    totals = np.rint(found.tree.value * problem.weight_unit) / factors
    # Class totals are those of the rows themselves; the labels are those that the costs choose.
    values = ClassTotals(problem.to_user_weight(totals))
    tree = found.tree.replaced(value=values, label=found.tree.label)
    return _point(problem, tree, found.status, costs)


def with_coarse_weights(problem: Problem) -> Problem:
    """Return the problem with weights of fewer digits, where these leave no room for costs.

    Engines add up whole weights to a limit. Weights of many digits come close to it by themselves,
    and could not be multiplied by costs.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.selection.error_hull import with_coarse_weights
    >>> weights = [0.1 ** 0.5, 0.3 ** 0.5]
    >>> problem = build_problem([[1], [2]], [0, 1], n_classes=2, max_depth=1, sample_weight=weights)
    >>> with_coarse_weights(problem).weights.tolist()
    [383805, 664769]
    """
    total, n_rows = int(problem.weights.sum()), problem.n_samples
    most = min(max(_LEAST_DIGITS, _UNITS_PER_ROW * n_rows), MAX_TOTAL_WEIGHT // _UNITS_PER_ROW)
    if total <= max(most, n_rows):
        return problem
    factor = Fraction(most - problem.n_rows, total)
    exact = problem.weights * float(factor)
    weights = np.maximum(np.rint(exact), 1).astype(np.int64)
    error = float(np.max(np.abs(weights / exact - 1.0)))
    return replace(
        problem,
        weights=weights,
        weight_scale=problem.weight_scale * factor,
        weight_error=max(error, problem.weight_error),
    )


class _Hull:
    """Points found so far, and the pairs of neighbours between which trees may lie lower."""

    def __init__(
        self, problem: Problem, deadline: float, engine: Engine, clock: Callable[[], float]
    ) -> None:
        self.problem, self.deadline, self.engine, self.clock = problem, deadline, engine, clock
        leaf = build_tree(problem, [-1], [0])
        ends = [_point(problem, leaf.replaced(label=[k]), "time_limit", (1, 1)) for k in (0, 1)]
        self.points = {end.place: end for end in ends}
        self.proven: set[tuple[tuple[int, int], tuple[int, int]]] = set()
        self.status: Status = "time_limit"
        self.waiting: list[tuple[int, tuple[int, int], tuple[int, int]]] = []
        self._ask(ends[0].place, ends[1].place)

    def _ask(self, few: tuple[int, int], many: tuple[int, int]) -> None:
        """Put a pair of neighbours, by rising false positives, among those to be searched."""
        width, height = many[0] - few[0], few[1] - many[1]
        if width > 0 and height > 0:  # otherwise one of them is nowhere worse than the other
            heapq.heappush(self.waiting, (-width * height, few, many))

    def run(self) -> None:
        """Search until nothing waits any more, or the time is over."""
        while self.waiting:
            left = self.deadline - self.clock()
            if left <= 0 or self.status == "interrupted":
                return
            _, few, many = heapq.heappop(self.waiting)
            height, width = few[1] - many[1], many[0] - few[0]
            divisor = math.gcd(height, width)
            costs = (height // divisor, width // divisor)  # at which both cost the same
            seconds = None if math.isinf(left) else left * _TIME_SHARE
            found = best_tree(self.problem, costs, seconds, self.engine)
            if found.status == "interrupted":
                self.status = "interrupted"
            self._keep(found)
            x, y = found.place
            if height * x + width * y < height * few[0] + width * few[1]:
                self._ask(few, found.place)
                self._ask(found.place, many)
            elif found.costs == costs and found.status == "optimal":
                # No tree costs less than the two points here, so none lies below their line, and
                # both are best at these costs.
                self.proven.add((few, many))
                for place in (few, many):
                    self._keep(replace(self.points[place], status="optimal"))

    def _keep(self, point: HullPoint) -> None:
        known = self.points.get(point.place)
        if known is None or (known.status != "optimal" and point.status == "optimal"):
            self.points[point.place] = point

    def result(self) -> ErrorHull:
        """Return the corners of the hull of all points found."""
        corners = _lower_hull(sorted(self.points))
        # Single leaves have no errors of one kind, so the first and the last corner have none: no
        # tree lies beyond them, and the pairs between them are all there is.
        complete = all(self._is_proven(few, many) for few, many in pairwise(corners))
        points = []
        for i, place in enumerate(corners):
            before = corners[i - 1] if i else None
            after = corners[i + 1] if i + 1 < len(corners) else None
            point = self.points[place]
            status = point.status if point.status == "optimal" else self.status
            if place == (0, 0):
                status = "optimal"
            costs = _costs_between(_ratio(before, place), _ratio(place, after))
            points.append(replace(point, status=status, costs=costs))
        return ErrorHull(tuple(points), complete)

    def _is_proven(self, few: tuple[int, int], many: tuple[int, int]) -> bool:
        """Tell whether no tree lies below an edge; points on it may have been proven one by one."""
        at = few
        while at != many:
            ahead = [b for a, b in self.proven if a == at and _on_line(few, many, b)]
            if not ahead:
                return False
            at = max(ahead)
        return True


def _lower_hull(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the corners that some costs above zero of both errors choose.

    Examples
    --------
    >>> _lower_hull([(0, 9), (0, 6), (1, 4), (2, 2), (3, 2), (5, 1), (9, 0)])
    [(0, 6), (2, 2), (5, 1), (9, 0)]
    """
    hull: list[tuple[int, int]] = []
    for x, y in sorted(places):
        if hull and y >= hull[-1][1]:
            continue  # nowhere better than a point before it
        if hull and x == hull[-1][0]:
            hull.pop()
        while len(hull) >= 2:
            (x1, y1), (x2, y2) = hull[-2:]
            if (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1) > 0:
                break
            hull.pop()
        hull.append((x, y))
    return hull


def _on_line(few: tuple[int, int], many: tuple[int, int], place: tuple[int, int]) -> bool:
    """Tell whether a place lies on the line between two others."""
    (x1, y1), (x2, y2), (x, y) = few, many, place
    return x1 <= x <= x2 and (x2 - x1) * (y - y1) == (y2 - y1) * (x - x1)


def _ratio(few: tuple[int, int] | None, many: tuple[int, int] | None) -> Fraction | None:
    """Return the cost of a false negative, in false positives, at which two corners are equal."""
    if few is None or many is None:
        return None
    return Fraction(many[0] - few[0], few[1] - many[1])


def _costs_between(low: Fraction | None, high: Fraction | None) -> tuple[int, int]:
    """Return simple whole costs at which a corner is the best one.

    It is the best between two ratios. Costs from the middle, on a scale of ratios, stand for it
    best where rows change a little.

    Examples
    --------
    >>> from fractions import Fraction
    >>> _costs_between(Fraction(1, 2), Fraction(7, 2)), _costs_between(Fraction(9), None)
    ((1, 1), (1, 19))
    """
    if low is None and high is None:
        return 1, 1
    if high is None:
        assert low is not None  # for the type checker
        inner, outer = 2 * low, None
    elif low is None:
        inner, outer = Fraction(0), high / 2
    else:
        third = math.exp(math.log(high / low) / 3)
        inner, outer = low * Fraction(third), high / Fraction(third)
        if not low < inner < outer < high:
            inner, outer = low, high
    found = _simplest(inner, outer)
    return found.denominator, found.numerator


def _simplest(low: Fraction, high: Fraction | None) -> Fraction:
    """Return the fraction of the least denominator strictly between two; None is infinity.

    Examples
    --------
    >>> from fractions import Fraction
    >>> _simplest(Fraction(0), Fraction(1, 3)), _simplest(Fraction(5, 4), Fraction(7, 5))
    (Fraction(1, 4), Fraction(4, 3))
    """
    whole = math.floor(low)
    if high is None or whole + 1 < high:
        return Fraction(whole + 1)
    below, above = low - whole, high - whole
    return whole + 1 / _simplest(1 / above, 1 / below if below else None)


def _class_weights(problem: Problem) -> tuple[int, int]:
    """Return the weight of all negative and of all positive rows."""
    positive = int(problem.weights[problem.classes == POSITIVE].sum())
    return int(problem.weights.sum()) - positive, positive


def _rounded(costs: tuple[int, int], totals: tuple[int, int]) -> tuple[int, int]:
    """Return costs whose weights engines can add up: the same where they can.

    Examples
    --------
    >>> _rounded((3, 2), (10, 20)), _rounded((2**30, 2**29), (10, 20))
    ((3, 2), (53687089, 26843544))
    """
    total = costs[0] * totals[0] + costs[1] * totals[1]
    if total <= MAX_TOTAL_WEIGHT:
        return costs
    # Rounded down, and up to one where that is nothing: both keep to the limit.
    shrink = Fraction(max(1, MAX_TOTAL_WEIGHT - sum(totals)), total)
    return max(1, math.floor(costs[0] * shrink)), max(1, math.floor(costs[1] * shrink))


def _point(problem: Problem, tree: Tree, status: Status, costs: tuple[int, int]) -> HullPoint:
    """Return the point of a tree whose class totals are those of the problem."""
    whole = np.rint(tree.value * problem.weight_unit).astype(np.int64)
    leaf, positive = tree.feature < 0, tree.label == POSITIVE
    false_positives = int(whole[leaf & positive, 0].sum())
    false_negatives = int(whole[leaf & ~positive, POSITIVE].sum())
    return HullPoint(tree, false_positives, false_negatives, status, costs)
