"""Good trees of every number of leaves in little time, where a proof of all of them is too long.

Some sizes are searched, each for its share of the time and of the steps: first among trees that are
shallow, where the search is quick, then among all. Every other size has the best pruning of the
trees that were found. Bounds are those of the searches: a tree of few leaves costs at least what
the best of many does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from provetree.problem.problem import Problem
from provetree.search.engine import ExactSearch
from provetree.selection.frontier import FrontierPoint
from provetree.selection.pruning import pruned_trees
from provetree.solution import Limits, Solution, Status
from provetree.tree.tree import Tree

__all__ = ["SHALLOW", "searched_sizes", "solve_sizes"]

#: Costs of impurities are equal when they differ by no more than this part of a single leaf's.
_ROUNDING = 1e-9
#: Trees of this depth are searched first: few steps find very good ones.
SHALLOW = 4
#: A search has at least these seconds: a first tree takes as long as it takes.
_LEAST_SECONDS = 1e-3


def searched_sizes(max_leaves: int) -> list[int]:
    """Return the sizes that are searched: every small one, and then about every fourth part more.

    Examples
    --------
    >>> from provetree.selection.sizes import searched_sizes
    >>> searched_sizes(8), searched_sizes(16)
    ([2, 3, 4, 5, 6, 8], [2, 3, 4, 5, 6, 8, 11, 16])
    """
    found, size = [], max_leaves
    while size > 6:
        found.append(size)
        size = max(6, round(size / 1.4))
    return [*range(2, min(max_leaves, 6) + 1), *reversed(found)]


def solve_sizes(
    problem: Problem,
    max_leaves: int,
    sizes: Sequence[int],
    seconds: float | None,
    work: int | None,
    worth: float = 0.0,
) -> list[FrontierPoint]:
    """Return trees of 1, 2, ..., `max_leaves` leaves; `sizes` are searched.

    Parameters
    ----------
    problem : Problem
        A problem of classes without a penalty.
    max_leaves : int
        The last size.
    sizes : sequence of int
        The sizes to search, from the smallest on.
    seconds : float or None
        The time of all searches together.
    work : int or None
        The steps of each search.
    worth : float
        A deep tree takes the place of a shallow one of its size when it saves more than this share
        of what a single leaf costs: it is harder to read, and to prove.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.selection.sizes import solve_sizes
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 1, 0, 0])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=2)
    >>> [(p.n_leaves, p.cost, p.status) for p in solve_sizes(problem, 4, [3], None, None)]
    [(1, 1, 'optimal'), (2, 1, 'work_limit'), (3, 0, 'optimal'), (4, 0, 'optimal')]
    """
    search = _Sizes(problem, max_leaves, worth)
    end = math.inf if seconds is None else time.monotonic() + seconds
    asked = sorted({min(size, problem.max_splits + 1) for size in sizes if size > 1})
    depths = sorted({min(problem.max_depth, SHALLOW), problem.max_depth})
    due = [(size, depth) for size in asked for depth in depths if size > 1 and depth < size]
    for number, (size, depth) in enumerate(due):
        left = end - time.monotonic()
        if search.is_done or (left <= 0 and number > 0):
            break
        share = None if math.isinf(left) else max(left / (len(due) - number), _LEAST_SECONDS)
        search.solve(size, depth, Limits(share, max_work=work))
    return search.points()


class _Sizes:
    """The best tree and the best bound of each size so far."""

    def __init__(self, problem: Problem, max_leaves: int, worth: float) -> None:
        self.problem = problem
        leaf = ExactSearch().solve(problem.with_limits(max_splits=0))
        self.trees: list[Tree] = [leaf.tree] * max_leaves
        self.costs: list[float] = [leaf.cost] * max_leaves
        self.bounds: list[float] = [leaf.lower_bound] + [0] * (max_leaves - 1)
        self.ended: Status = "work_limit"
        self.tolerance = _ROUNDING * abs(leaf.cost) if problem.is_measured else 0.0
        self.price_of_depth = worth * abs(leaf.cost)

    @property
    def is_done(self) -> bool:
        """Whether no larger tree can be better, or nobody wants to know."""
        return self.costs[-1] <= self.bounds[-1] or self.ended == "interrupted"

    def solve(self, size: int, depth: int, limits: Limits) -> None:
        """Search one size; its tree and its prunings serve all sizes they are better for."""
        problem = self.problem.with_limits(max_splits=size - 1)
        whole = depth >= problem.max_depth
        found = ExactSearch().solve(problem if whole else problem.of_depth(depth), limits)
        if found.status != "optimal":
            self.ended = found.status
        if whole:
            self._keep_bound(size, found)
        for leaves, (cost, tree) in enumerate(self._prunings(found), start=1):
            deeper = tree.depth > SHALLOW >= self.trees[leaves - 1].depth
            price = self.price_of_depth if deeper else 0.0
            if cost < self.costs[leaves - 1] - self.tolerance - price:
                self.costs[leaves - 1], self.trees[leaves - 1] = cost, tree

    def _prunings(self, found: Solution) -> list[tuple[float, Tree]]:
        prunings = pruned_trees(self.problem, found.tree, len(self.trees))
        n_leaves = found.tree.n_leaves
        return [
            # The search says what its own tree costs, to the last digit.
            (cost, tree) if leaves < n_leaves else (found.cost, found.tree)
            for leaves, (cost, tree) in enumerate(prunings, start=1)
        ]

    def _keep_bound(self, size: int, found: Solution) -> None:
        last = len(self.bounds) if size > self.problem.max_splits else size
        for leaves in range(1, last + 1):
            self.bounds[leaves - 1] = max(self.bounds[leaves - 1], found.lower_bound)

    def points(self) -> list[FrontierPoint]:
        found = []
        for i, (tree, cost) in enumerate(zip(self.trees, self.costs, strict=True)):
            proven = cost <= self.bounds[i] + self.tolerance
            status: Status = "optimal" if proven else self.ended
            bound = cost if proven else self.bounds[i]
            found.append(FrontierPoint(i + 1, tree, cost, bound, status))
        return found
