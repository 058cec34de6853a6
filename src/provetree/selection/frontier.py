"""The proven best tree of every number of leaves, with work shared between the sizes.

Errors of trees up to depth four are searched for all sizes at once. Where that is not so, or takes
too long, sizes are searched one by one. A tree that is best with a penalty per split is the best of
its size, and its cost bounds the error of every other size: a few searches with penalties give the
corners of the frontier and lower bounds in between. Sizes that are not proven by then are searched
by themselves, within a budget of splits, which takes longer.

Errors are whole numbers, and so are penalties after scaling both. Other losses are counted in units
that are small beside any cost, so their penalties are rounded to one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from provetree import _core
from provetree.problem.problem import Problem
from provetree.search.engine import ExactSearch, chosen_kernel
from provetree.solution import Engine, Limits, Solution, Status
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree

__all__ = ["FrontierPoint", "solve_frontier"]

#: Trees of more splits than this are searched with the requested budget.
_MOST_UNBOUNDED = 63

#: Of the time, for the search of all sizes at once; the rest is for sizes that it leaves open.
_SHARE_AT_ONCE = 0.5

#: What the search of the size that matters most gets where no time is left: its greedy tree.
_LEAST_SECONDS = 2e-3


@dataclass(frozen=True)
class FrontierPoint:
    """The best tree of at most a number of leaves, its cost, and a lower bound for this size.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.selection.frontier import solve_frontier
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 1, 0, 0])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=2)
    >>> [(p.n_leaves, p.cost, p.status) for p in solve_frontier(problem, 4)]
    [(1, 1, 'optimal'), (2, 1, 'optimal'), (3, 0, 'optimal'), (4, 0, 'optimal')]
    """

    n_leaves: int
    tree: Tree
    cost: float
    lower_bound: float
    status: Status


def solve_frontier(
    problem: Problem,
    max_leaf_nodes: int,
    time_limit: float | None = None,
    engine: Engine | None = None,
    clock: Callable[[], float] = time.monotonic,
    *,
    first: int | None = None,
    on_tick: Callable[[], None] | None = None,
) -> list[FrontierPoint]:
    """Return the best trees of 1, 2, ..., `max_leaf_nodes` leaves, for a problem without a penalty.

    Sizes that are not proven within `time_limit` seconds, in all, say so. `first` is the number of
    leaves that matters most: where not all sizes can be proven at once, it gets half of the time
    that is left before any other. Sizes are searched one by one where an `engine` is given.
    `on_tick` is called every few milliseconds; what it raises ends the call.

    Each tree has as few splits as its cost allows, and is the same in every run. Of three and more
    levels it need not be the one among equally good trees that a search of its size alone prefers.
    """
    if problem.split_penalty:
        raise ValueError("A frontier needs a problem without a penalty for splits.")
    if problem.is_measured:
        problem = problem.with_fine_units()
    wanted = min(problem.max_splits, max_leaf_nodes - 1)
    search = _Frontier(
        problem,
        wanted,
        math.inf if time_limit is None else clock() + time_limit,
        ExactSearch() if engine is None else engine,
        clock,
        on_tick,
    )
    if engine is None:
        search.solve_at_once()
    if first is not None and not math.isinf(search.deadline):
        search.solve_size(min(first - 1, wanted))
    search.find_corners()
    search.fill_gaps()
    return search.points(max_leaf_nodes)


class _Frontier:
    """Least errors and bounds by number of splits, in whole units of weight or of the loss."""

    def __init__(
        self,
        problem: Problem,
        wanted: int,
        deadline: float,
        engine: Engine,
        clock: Callable[[], float],
        on_tick: Callable[[], None] | None = None,
    ) -> None:
        # A budget of splits makes a search slower, so corners are searched without one where the
        # depth alone keeps trees small.
        most = problem.max_splits if problem.max_splits <= _MOST_UNBOUNDED else wanted
        self.problem, self.wanted, self.most, self.deadline = problem, wanted, most, deadline
        self.engine, self.clock = engine, clock
        self.on_tick = on_tick
        self.tell = None if on_tick is None else lambda progress: on_tick()
        # A corner can prove many sizes at once, but a hard one must not use the time of small
        # sizes.
        self.half_time = (clock() + deadline) / 2
        self.interrupted = False
        root = problem.root_error
        leaf = build_tree(problem, [-1], [0])
        self.errors = [root] * (most + 1)
        self.costs = [_user_root(problem)] * (most + 1)
        self.trees: list[Tree] = [leaf] * (most + 1)
        self.bounds = [0] * (most + 1)
        self.bounds[0] = root

    def solve_at_once(self) -> None:
        """Search all sizes at once, where the loss and the depth allow it."""
        left = self.deadline - self.clock()
        depth = min(self.problem.max_depth, self.wanted)
        # Two levels take no time: there each tree is the one that a search of its size prefers.
        if self.problem.is_measured or not 2 < depth <= _core.DEEPEST_BY_SIZES or left <= 0:
            return
        found = _core.search_sizes(
            self.problem.table,
            max_depth=self.problem.max_depth,
            max_leaf_nodes=self.wanted + 1,
            min_samples_leaf=self.problem.min_samples_leaf,
            time_limit=left * _SHARE_AT_ONCE,
            memory_limit=Limits().memory_limit,
            kernel=chosen_kernel(),
            on_tick=self.on_tick,
        )
        self.interrupted |= found["status"] == "interrupted"
        for k, size in enumerate(found["sizes"]):
            self.bounds[k] = max(self.bounds[k], size["lower_bound"])
            if k > 0 and size["cost"] >= self.errors[k - 1]:
                continue  # the tree of the size before, which `_settle` takes over
            if size["cost"] < self.errors[k]:
                self.errors[k] = size["cost"]
                self.costs[k] = self.problem.to_user_cost(size["cost"])
                self.trees[k] = build_tree(self.problem, size["column"], size["rank_low"])
        if len(found["sizes"]) <= self.wanted:
            # There are no more rows to make leaves of: larger trees are no better.
            for k in range(len(found["sizes"]), self.wanted + 1):
                self.bounds[k] = max(self.bounds[k], found["sizes"][-1]["lower_bound"])
        self._settle()

    def solve_size(self, splits: int) -> None:
        """Search one size before all others, for half of the time; if there is none, greedily."""
        if splits > 0 and not self.proven(splits):
            self._solve(splits, 1, 0, until=self.deadline, share=0.5, least=_LEAST_SECONDS)
            self.half_time = (self.clock() + self.deadline) / 2

    def find_corners(self) -> None:
        """Find the corners of the lower convex hull of (splits, errors)."""
        if all(self.proven(k) for k in range(self.wanted + 1)):
            return
        largest = self._solve(self.most, 1, 0, until=self.half_time, share=0.5)
        if largest is None:
            return
        waiting = [(0, largest.tree.n_splits)]
        while waiting:
            few, many = waiting.pop()
            gain = self.errors[few] - self.errors[many]
            if many - few < 2 or gain <= 0:
                continue
            asked = range(few + 1, min(many, self.wanted + 1))
            if all(self.proven(k) for k in asked):
                continue
            # The penalty at which both ends cost the same: the search finds any point below their
            # line.
            found = self._solve(self.most, many - few, gain, until=self.half_time, share=0.5)
            if found is None:
                return
            between = found.tree.n_splits
            if few < between < many and found.status == "optimal":
                waiting += [(few, between), (between, many)]

    def proven(self, splits: int) -> bool:
        """Tell whether no tree of so many splits is better; units may round a bound up."""
        return self.errors[splits] <= self.bounds[splits]

    def fill_gaps(self) -> None:
        """Search the sizes that are not proven, each within its own budget of splits.

        Small sizes come first: they are the quickest to prove, and their unused time goes to
        larger ones.
        """
        for k in range(1, self.wanted + 1):
            if not self.proven(k):
                n_open = sum(not self.proven(j) for j in range(k, self.wanted + 1))
                self._solve(k, 1, 0, until=self.deadline, share=1 / n_open)

    def points(self, max_leaf_nodes: int) -> list[FrontierPoint]:
        points = []
        for n_leaves in range(1, max_leaf_nodes + 1):
            k = min(n_leaves - 1, self.wanted)
            cost, status = self.costs[k], self._open_status
            bound = min(cost, self.problem.to_user_cost(self.bounds[k]))
            if self.proven(k):
                bound, status = cost, "optimal"
            points.append(FrontierPoint(n_leaves, self.trees[k], cost, bound, status))
        return points

    @property
    def _open_status(self) -> Status:
        return "interrupted" if self.interrupted else "time_limit"

    def _solve(
        self, most: int, scale: int, penalty: int, *, until: float, share: float, least: float = 0.0
    ) -> Solution | None:
        """Solve with a budget and a penalty; keep the tree and the bounds for every size.

        The search gets a share of the time left until a moment, and no less than a share of the
        least seconds.
        """
        left = max(until - self.clock(), least)
        if left <= 0 or self.interrupted:
            return None
        if self.problem.is_measured:
            scale, penalty = 1, round(penalty / scale)
        problem = self.problem.with_limits(
            max_splits=most, error_scale=scale, split_penalty=penalty
        )
        limits = Limits(None if math.isinf(left) else left * share)
        solution = self.engine.solve(problem, limits, self.tell)
        self.interrupted |= solution.status == "interrupted"
        splits = solution.tree.n_splits
        errors = (problem.to_whole_cost(solution.cost) - penalty * splits) // scale
        if errors < self.errors[splits]:
            self.errors[splits], self.trees[splits] = errors, solution.tree
            self.costs[splits] = self.problem.to_user_cost(errors)
            if problem.is_measured:
                self.costs[splits] = solution.cost - _penalties(problem, splits)
        bound = problem.to_whole_cost(solution.lower_bound)
        for k in range(1, most + 1):
            # A tree of at most k splits pays at most k penalties, so the rest is errors.
            self.bounds[k] = max(self.bounds[k], -((penalty * k - bound) // scale))
        self._settle()
        return solution

    def _settle(self) -> None:
        """Use trees of smaller sizes for larger ones, and bounds of larger for smaller ones."""
        for k in range(1, self.most + 1):
            if self.errors[k - 1] <= self.errors[k]:
                self.errors[k], self.trees[k] = self.errors[k - 1], self.trees[k - 1]
                self.costs[k] = self.costs[k - 1]
        for k in range(self.most - 1, -1, -1):
            self.bounds[k] = max(self.bounds[k], self.bounds[k + 1])


def _user_root(problem: Problem) -> float:
    """Return what a single leaf costs in the user's units, without the rounding to units."""
    if not problem.is_measured:
        return problem.to_user_cost(problem.root_error)
    scale = problem.cost_scale
    return (scale.root + scale.constant) / scale.weight_scale


def _penalties(problem: Problem, n_splits: int) -> float:
    """Return what splits cost in the user's units, for a measured loss."""
    scale = problem.cost_scale
    return problem.split_penalty * n_splits * scale.unit / scale.weight_scale
