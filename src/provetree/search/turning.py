"""Questions about two columns, turned: better directions than those of the family.

The best tree of the family is the start. At each of its splits, all lines that divide the rows of
the node differently are tried, for every pair of columns: the subtrees on both sides say what each
row costs on the left and on the right, and a line is swept round every row (n² log n). Then both
sides are solved again by the exact search. What comes out is never worse than the start.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Bool, Float, Int
from provetree.problem.category_groups import CategoryOrder
from provetree.problem.combinations import Combination
from provetree.problem.hyperplanes import readable_coefficients, widest_gap
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.problem.rows import unavoidable_error
from provetree.search.engine import ExactSearch
from provetree.solution import Limits, Solution
from provetree.tree.build import build_tree
from provetree.tree.start_tree import start_tree_of
from provetree.tree.tree import Tree

__all__ = ["best_line", "turn_pairs"]

Rows: TypeAlias = NDArray[np.intp]

#: Directions closer than this are one: their lines cannot be told apart by floats.
_SAME_ANGLE = 1e-9
#: A line must leave this part of the spread of the columns between its sides.
_LEAST_GAP = 1e-9
#: Lines of so many pairs are tried at a split, the most promising first.
_MOST_PAIRS = 3


def best_line(
    points: Float,
    costs: Int,
    counts: Int,
    least: int = 1,
    is_over: Callable[[], bool] = lambda: False,
) -> tuple[int, Bool] | None:
    """Return the rows on the left of the best line, and the sum of their costs.

    Any division by a line can be had with a line through a row of its left side that meets no
    other place: shift the line until it meets the left side, after turning it a little. So it is
    enough to sweep a line round each place; between two directions in which it meets a place the
    division stays the same.

    Parameters
    ----------
    points : array of float, shape (n_rows, 2)
        The rows, on like scales.
    costs : array of int, shape (n_rows,)
        What a row on the left costs beyond one on the right.
    counts : array of int, shape (n_rows,)
        How many rows of the table each stands for.
    least : int
        Both sides have at least so many rows of the table.
    is_over : callable
        Whether time is over; the best line so far is returned then.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.search.turning import best_line
    >>> points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> best_line(points, np.array([-1, -1, -1, 5]), np.ones(4, dtype=int))
    (-3, array([ True,  True,  True, False]))
    """
    places, at = np.unique(points, axis=0, return_inverse=True)
    at = at.reshape(-1)
    cost = np.bincount(at, costs, len(places))
    number = np.bincount(at, counts, len(places))
    n_rows = float(number.sum())
    best: tuple[float, int, float] | None = None
    for pivot in range(len(places) if len(places) > 1 else 0):
        if pivot % 16 == 0 and is_over():
            break
        ways = np.delete(places - places[pivot], pivot, axis=0)
        of_way, rows_of_way = np.delete(cost, pivot), np.delete(number, pivot)
        angle = np.arctan2(ways[:, 1], ways[:, 0])
        behind = np.where(angle > 0, angle - math.pi, angle + math.pi)
        # Swept from -pi on, a place leaves the left side at its angle and joins it behind that.
        events = np.concatenate([angle, behind])
        order = np.argsort(events)
        at_first = (angle > -math.pi) & (angle <= 0)
        total = cost[pivot] + of_way[at_first].sum()
        total = total + np.cumsum(np.concatenate([-of_way, of_way])[order])
        rows = number[pivot] + rows_of_way[at_first].sum()
        rows = rows + np.cumsum(np.concatenate([-rows_of_way, rows_of_way])[order])
        ordered = events[order]
        width = np.diff(ordered, append=ordered[0] + 2 * math.pi)
        allowed = (width > _SAME_ANGLE) & (rows >= least) & (n_rows - rows >= max(least, 1))
        if not allowed.any():
            continue
        k = int(np.argmin(np.where(allowed, total, np.inf)))
        if best is None or total[k] < best[0]:
            best = (float(total[k]), pivot, float(ordered[k] + width[k] / 2))
    if best is None:
        return None
    _, pivot, angle_of_line = best
    ways = places - places[pivot]
    side = math.cos(angle_of_line) * ways[:, 1] - math.sin(angle_of_line) * ways[:, 0]
    left_places = side > 0
    left_places[pivot] = True
    left = left_places[at]
    return int(costs[left].sum()), left


@dataclass(frozen=True)
class _Question:
    """What a split asks, apart from the tree it stands in; None in place of it is a leaf."""

    asked: int | Combination
    threshold: float
    category: int = -1
    missing_left: bool = False
    group: tuple[int, ...] = ()


def turn_pairs(prepared: Prepared, solution: Solution, seconds: float | None = None) -> Solution:
    """Return a solution whose tree is at least as good: its questions are turned where that helps.

    What is proven of the given tree holds for its family. A better tree is outside of it, and no
    cheaper one than the rows allow at all is proven: its bound is the weight of rows that are
    equal in all columns and differ in class.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import ExactSearch
    >>> from provetree.problem.prepare import prepare
    >>> from provetree.search.turning import turn_pairs
    >>> X = np.random.default_rng(1).random((150, 3))
    >>> prepared = prepare(X, X[:, 0] + 0.37 * X[:, 2] > 0.7, max_depth=1, splits="pairs")
    >>> found = ExactSearch().solve(prepared.problem)
    >>> better = turn_pairs(prepared, found)
    >>> found.cost > better.cost, better.cost, better.status
    (True, 0, 'optimal')
    """
    work = _Turning(prepared, solution, math.inf if seconds is None else seconds)
    return work.solution()


class _Turning:
    """One run: the rows, the current tree as questions in preorder, and its cost."""

    def __init__(self, prepared: Prepared, solution: Solution, seconds: float) -> None:
        self.started = time.perf_counter()
        self.end = self.started + seconds
        self.prepared, self.start = prepared, solution
        problem = self.problem = prepared.problem
        problem.must_count_errors("turn_pairs")
        whole = prepared.whole_weights()
        self.present = np.flatnonzero(whole > 0)
        self.table = prepared.encoded[self.present]
        self.classes = prepared.codes[self.present]
        self.weights = whole[self.present]
        self.penalty = Fraction(problem.split_penalty, problem.error_scale)
        n_leaves = min(problem.n_rows, problem.n_samples // problem.min_samples_leaf)
        self.has_budget = problem.max_splits < min(2.0**problem.max_depth, n_leaves) - 1
        derived = problem.combinations
        self.orders = tuple(x for x in derived if isinstance(x, CategoryOrder))
        columns = sorted(
            {c for x in derived if not isinstance(x, CategoryOrder) for c in x.columns}
        )
        self.pairs = sorted({x.columns for x in derived if len(x.columns) == 2})
        finite = self.table[:, columns]
        spans = np.ptp(np.where(np.isfinite(finite), finite, 0.0), axis=0) if columns else []
        self.scale = {c: float(s) if s > 0 else 1.0 for c, s in zip(columns, spans, strict=True)}
        self.tree = solution.tree
        self.cost = self._cost(self.tree)
        self.turned = 0
        self.interrupted = False

    def is_over(self) -> bool:
        return time.perf_counter() >= self.end

    def solution(self) -> Solution:
        first = self.cost
        try:
            while not self.is_over() and self._improved():
                self.turned += 1
        except KeyboardInterrupt:
            self.interrupted = True
        counters = {**self.start.counters, "turned_questions": self.turned}
        if self.cost >= first:
            return replace(self.start, counters=counters)
        floor = Fraction(unavoidable_error(self.problem))
        status = "optimal" if self.cost <= floor else "feasible"
        if self.interrupted or self.start.status == "interrupted":
            status = "interrupted"
        return replace(
            self.start,
            tree=self.tree,
            cost=self._user(self.cost),
            lower_bound=self._user(min(floor, self.cost)),
            status=status,  # type: ignore[arg-type]
            counters=counters,
        )

    def _user(self, cost: Fraction) -> float:
        units = cost * self.problem.error_scale
        return self.problem.to_user_cost(int(units))

    def _cost(self, tree: Tree) -> Fraction:
        """Return the weight of the rows that a tree gets wrong, and its penalties."""
        wrong = tree.label[tree.apply(self.table)] != self.classes
        return int(self.weights[wrong].sum()) + self.penalty * tree.n_splits

    # -- one round -------------------------------------------------------------------------

    def _improved(self) -> bool:
        """Turn the first question, from the root down, whose turning makes the tree better."""
        passes = _passing(self.tree, self.table)
        depth = _depths(self.tree)
        for node in np.flatnonzero(self.tree.feature >= 0).tolist():
            if self._turned_at(node, passes[node], int(depth[node])):
                return True
            if self.is_over():
                return False
        return False

    def _turned_at(self, node: int, rows: Rows, depth: int) -> bool:
        on_left, on_right = (
            self.weights[rows] * (self._labels_below(int(side[node]), rows) != self.classes[rows])
            for side in (self.tree.left, self.tree.right)
        )
        gain = on_left - on_right
        lines = []
        for pair in self.pairs:
            points = self.table[np.ix_(rows, np.array(pair))]
            if not np.isfinite(points).all():
                continue  # a row that lacks a column has no side of a line
            scaled = points / [self.scale[c] for c in pair]
            ones = np.ones(len(rows), dtype=np.int64)
            least = self.problem.min_samples_leaf
            found = best_line(scaled, gain, ones, least, self.is_over)
            if found is not None:
                lines.append((found[0], pair, found[1]))
            if self.is_over():
                break
        lines.sort(key=lambda line: line[0])
        for _, pair, left in lines[:_MOST_PAIRS]:
            asked = self._question(rows, pair, left)
            if asked is not None and self._taken(node, rows, depth, *asked):
                return True
        return False

    def _labels_below(self, node: int, rows: Rows) -> Int:
        """Return what rows are predicted to be if they go to a node, wherever they go now."""
        below = _questions(self.tree)[node : _end_of(self.tree, node)]
        leaf = node + _rough_tree(below, self.tree.combinations, self.problem).apply(
            self.table[rows]
        )
        return np.asarray(self.tree.label[leaf], dtype=np.int64)

    def _question(
        self, rows: Rows, pair: tuple[int, ...], left: Bool
    ) -> tuple[_Question, Bool] | None:
        """Return a question that divides the rows as a line does, and who is on its left."""
        points = self.table[np.ix_(rows, np.array(pair))]
        scales = np.array([self.scale[c] for c in pair])
        direction, gap = widest_gap(points / scales, left)
        if gap <= _LEAST_GAP:
            return None
        direction[np.abs(direction) < _LEAST_GAP] = 0.0
        asked = np.flatnonzero(direction)
        if direction[asked[0]] < 0:
            direction, left = -direction, ~left
        if len(asked) == 1:
            values = points[:, asked[0]]
            question: int | Combination = int(pair[asked[0]])
        else:
            coefficients = readable_coefficients(points, scales, direction, left)
            question = Combination(tuple(pair), tuple(coefficients.tolist()))
            values = question.values(self.table[rows])
        low, high = float(values[left].max()), float(values[~left].min())
        return (_Question(question, low / 2 + high / 2), left) if low < high else None

    def _taken(self, node: int, rows: Rows, depth: int, question: _Question, left: Bool) -> bool:
        """Solve both sides of a question, and keep it if the tree gets better."""
        questions = _questions(self.tree)
        first, middle, end = node + 1, int(self.tree.right[node]), _end_of(self.tree, node)
        both: list[_Question | None] = []
        for side, (begin, stop) in ((left, (first, middle)), (~left, (middle, end))):
            n_leaves = sum(q is None for q in questions[begin:stop])
            found = self._solved(rows[side], self.problem.max_depth - depth - 1, n_leaves)
            both += _questions(found)
        tree = self._made([*questions[:node], question, *both, *questions[end:]])
        cost = self._cost(tree)
        if cost >= self.cost:
            return False
        self.tree, self.cost = tree, cost
        return True

    def _solved(self, rows: Rows, depth: int, n_leaves: int) -> Tree:
        """Return the best tree of the family on some rows.

        Where there is a limit on leaves, it has no more of them than stand there now.
        """
        problem = self.prepared.problem_of(
            self.present[rows],
            keep_orders=True,
            max_depth=depth,
            min_samples_leaf=self.problem.min_samples_leaf,
        )
        penalty = self.penalty / self.problem.weight_scale * problem.weight_scale
        most = n_leaves - 1 if self.has_budget else problem.max_splits
        problem = problem.with_limits(max_splits=min(most, problem.max_splits))
        if penalty > 0:  # of weights that were rounded it may have any digits
            problem = problem.with_penalty(penalty)
        left = self.end - time.perf_counter()
        limits = Limits(None if math.isinf(left) else max(0.01, left))
        found = ExactSearch().solve(problem, limits)
        if found.status == "interrupted":
            raise KeyboardInterrupt
        return found.tree

    def _made(self, questions: Sequence[_Question | None]) -> Tree:
        """Return a tree of questions, with its values worked out on the rows."""
        sums = tuple(
            dict.fromkeys(
                q.asked for q in questions if q is not None and isinstance(q.asked, Combination)
            )
        )
        whole = self.problem
        rough = _rough_tree(questions, sums, whole)
        prepared = replace(self.prepared, problem=replace(whole, combinations=sums + self.orders))
        problem: Problem = prepared.problem_of(
            self.present,
            keep_orders=True,
            max_depth=whole.max_depth,
            min_samples_leaf=whole.min_samples_leaf,
            keep_duplicates=True,
        )
        placed = start_tree_of(problem, rough, self.table)
        return build_tree(problem, placed.columns, placed.ranks)


# -- trees as lists of questions ---------------------------------------------------------------


def _questions(tree: Tree) -> list[_Question | None]:
    """Return the questions of a tree, node by node."""
    found: list[_Question | None] = []
    for node, feature in enumerate(tree.feature.tolist()):
        if feature < 0:
            found.append(None)
            continue
        found.append(
            _Question(
                tree.combination_of(feature) or feature,
                float(tree.threshold[node]),
                int(tree.category[node]),
                bool(tree.missing_left[node]),
                tuple(tree.groups[node]) if len(tree.groups) else (),
            )
        )
    return found


def _rough_tree(
    questions: Sequence[_Question | None], sums: Sequence[Combination], problem: Problem
) -> Tree:
    """Return a tree that sends rows as the questions say; what its nodes hold means nothing."""
    place = {each: problem.n_features + k for k, each in enumerate(sums)}
    some = [q or _Question(-1, math.nan) for q in questions]
    n_nodes = len(some)
    groups: dict[str, Any] = {}
    if any(q.group for q in some):
        groups["groups"] = [q.group for q in some]
    return Tree(
        feature=[place[q.asked] if isinstance(q.asked, Combination) else q.asked for q in some],
        threshold=[q.threshold for q in some],
        category=[q.category for q in some],
        missing_left=[q.missing_left for q in some],
        value=np.ones((n_nodes, problem.n_classes)),
        n_samples=np.ones(n_nodes, dtype=np.int64),
        n_features=problem.n_features,
        categories=problem.categories,
        combinations=sums,
        **groups,
    )


def _end_of(tree: Tree, node: int) -> int:
    """Return the number after the last node below a node."""
    while tree.feature[node] >= 0:
        node = int(tree.right[node])
    return node + 1


def _depths(tree: Tree) -> Int:
    depth = np.zeros(tree.n_nodes, dtype=np.int64)
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        depth[[int(tree.left[node]), int(tree.right[node])]] = depth[node] + 1
    return depth


def _passing(tree: Tree, table: Float) -> list[Rows]:
    """Return the rows that pass each node."""
    leaf = tree.apply(table)
    return [
        np.flatnonzero((leaf >= node) & (leaf < _end_of(tree, node)))
        for node in range(tree.n_nodes)
    ]
