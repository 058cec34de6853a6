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
from collections.abc import Callable, Mapping, Sequence
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

    Its class totals are those of the rows; the labels of its leaves are those the costs choose. No
    tree costs less than `bound` at its costs, so that it is optimal where it costs just that.
    """

    tree: Tree
    false_positives: int
    false_negatives: int
    status: Status
    costs: tuple[int, int] = (1, 1)  # of a false positive and of a false negative
    bound: int = 0

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
    bound = weighted.to_whole_cost(found.lower_bound)
    return _point(problem, tree, found.status, costs, bound)


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
        # What no tree costs less than, for each pair of costs; errors are at least none.
        self.bounds: dict[tuple[int, int], int] = {(1, 0): 0, (0, 1): 0}
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
            self.points.setdefault(found.place, found)
            self.bounds[found.costs] = max(found.bound, self.bounds.get(found.costs, 0))
            x, y = found.place
            if height * x + width * y < height * few[0] + width * few[1]:
                self._ask(few, found.place)
                self._ask(found.place, many)

    def result(self) -> ErrorHull:
        """Return the corners of the hull of all points found."""
        corners = _lower_hull(sorted(self.points))
        bounds = _MixedBounds(self.bounds)
        # Single leaves have no errors of one kind, so the first and the last corner have none: no
        # tree lies beyond them, and the edges between them are all there is.
        complete = all(
            bounds.prove(few, (few[1] - many[1], many[0] - few[0]))
            for few, many in pairwise(corners)
        )
        points = []
        for i, place in enumerate(corners):
            before = corners[i - 1] if i else None
            after = corners[i + 1] if i + 1 < len(corners) else None
            costs = _costs_between(_ratio(before, place), _ratio(place, after))
            if not bounds.prove(place, costs):
                # Corners that are not known yet may be better there. Where it was found, it was
                # the best one, if that search came to its end.
                sure = [pair for pair in self.bounds if min(pair) and bounds.prove(place, pair)]
                costs = min(sure, key=sum, default=costs)
            status = "optimal" if bounds.prove(place, costs) else self.status
            known = replace(self.points[place], costs=costs, bound=bounds.at(costs))
            points.append(replace(known, status=status))
        return ErrorHull(tuple(points), complete)


class _MixedBounds:
    """Bounds on what trees cost at any costs, from those at some costs.

    Where no tree costs less than `c` at costs `(a, b)`, and none less than `d` at `(e, f)`, none
    costs less than ``p * c + q * d`` at ``(p * a + q * e, p * b + q * f)``: add up p times the one
    and q times the other. Per unit of both costs together, the best bound is the upper hull of the
    known ones.
    """

    def __init__(self, bounds: Mapping[tuple[int, int], int]) -> None:
        known = sorted(
            (Fraction(b, a + b), Fraction(bound, a + b)) for (a, b), bound in bounds.items()
        )
        self.hull: list[tuple[Fraction, Fraction]] = []
        for t, v in known:
            while len(self.hull) >= 2:
                (t1, v1), (t2, v2) = self.hull[-2:]
                if (t2 - t1) * (v - v1) - (v2 - v1) * (t - t1) < 0:
                    break
                self.hull.pop()
            self.hull.append((t, v))

    def at(self, costs: tuple[int, int]) -> int:
        """Return what no tree costs less than, at costs above zero; all costs are whole."""
        total = sum(costs)
        t = Fraction(costs[1], total)
        (t1, v1), (t2, v2) = next(
            pair for pair in pairwise(self.hull) if pair[0][0] <= t <= pair[1][0]
        )
        return math.ceil(total * (v1 + (v2 - v1) * (t - t1) / (t2 - t1)))

    def prove(self, place: tuple[int, int], costs: tuple[int, int]) -> bool:
        """Tell whether nothing costs less than the errors at a place."""
        return costs[0] * place[0] + costs[1] * place[1] <= self.at(costs)


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


def _point(
    problem: Problem, tree: Tree, status: Status, costs: tuple[int, int], bound: int = 0
) -> HullPoint:
    """Return the point of a tree whose class totals are those of the problem."""
    whole = np.rint(tree.value * problem.weight_unit).astype(np.int64)
    leaf, positive = tree.feature < 0, tree.label == POSITIVE
    false_positives = int(whole[leaf & positive, 0].sum())
    false_negatives = int(whole[leaf & ~positive, POSITIVE].sum())
    return HullPoint(tree, false_positives, false_negatives, status, costs, bound)
