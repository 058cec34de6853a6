"""A bound for tables that are too large to prove anything about as a whole: sums over blocks of rows.

The rows are divided into blocks. A tree makes its errors somewhere, so it makes at least as many as
the best trees of the blocks make together. Blocks are small enough to be solved exactly, their best
trees are good trees for the whole table, and blocks that there is no time for count as zero.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.solution import Limits, Progress, Solution, Status
from provetree.tree.build import build_tree

if TYPE_CHECKING:
    from provetree.problem.problem import Problem

__all__ = ["BlockBound", "improve_by_blocks", "search_share"]

#: Tables with fewer rows are left to the search alone: it says something about them in time.
LARGE = 100_000
#: The part of a time limit that the search has; the blocks have the rest.
_SEARCH_SHARE = 0.6
#: Rows of the first block; the next ones are larger as long as time allows.
_FIRST, _LARGEST, _SMALLEST = 2_000, 32_000, 200
#: What is planned takes this much longer than it did: larger blocks are harder.
_CARE = 1.5
#: Depth that blocks can be solved to in time.
_DEEPEST = 4
#: Which of equally good trees of a block is found does not matter.
_NO_TIE_RULE = 1 << 5


def search_share(problem: Problem, limits: Limits) -> Limits:
    """Return the limits of the search itself: for a large table, time is left for the blocks.

    Examples
    --------
    >>> from provetree import Limits, build_problem
    >>> from provetree.search.blocks import search_share
    >>> problem = build_problem([[1.0], [2.0]], [0, 1], n_classes=2, max_depth=1)
    >>> search_share(problem, Limits(10.0)).time_limit
    10.0
    """
    seconds = limits.time_limit
    if seconds is None or math.isinf(seconds) or not _worthwhile(problem):
        return limits
    return replace(limits, time_limit=_SEARCH_SHARE * seconds)


def improve_by_blocks(
    problem: Problem,
    solution: Solution,
    seconds: float,
    kernel: str = "auto",
    on_progress: Callable[[Progress], None] | None = None,
) -> Solution:
    """Return a solution that a limit ended with the bound, and the tree if it is better, of blocks.

    Parameters
    ----------
    problem : Problem
    solution : Solution
        What the search found; returned as it is where blocks cannot help.
    seconds : float
        What is left of the time limit.
    kernel : str
        The kernels that searches use.
    on_progress : callable, optional
        Called with a :class:`~provetree.solution.Progress` after each block.
    """
    if solution.status != "time_limit" or seconds <= 0 or not _worthwhile(problem):
        return solution
    blocks = BlockBound(problem, kernel=kernel)
    history = list(solution.history)
    before = history[-1].seconds if history else 0.0
    began = time.perf_counter()
    cost, bound = solution.cost, solution.lower_bound
    interrupted = False
    try:
        while (left := seconds - (time.perf_counter() - began)) > 0 and blocks.more(left):
            cost = min(cost, problem.to_user_cost(blocks.cost))
            bound = min(cost, max(bound, problem.to_user_cost(blocks.bound)))
            now = Progress(before + time.perf_counter() - began, cost, bound)
            if not history or (now.cost, now.lower_bound) != (
                history[-1].cost,
                history[-1].lower_bound,
            ):
                history.append(now)
            if on_progress is not None:
                on_progress(now)
            if blocks.interrupted:
                break
        interrupted = blocks.interrupted
    except KeyboardInterrupt:  # between two blocks; inside one the core takes it
        interrupted = True
    tree = solution.tree
    if blocks.splits is not None and problem.to_user_cost(blocks.cost) < solution.cost:
        tree = build_tree(problem, *blocks.splits)
    status: Status = "interrupted" if interrupted else "time_limit"
    return Solution(
        tree=tree,
        cost=cost,
        lower_bound=bound,
        status="optimal" if bound >= cost else status,
        history=tuple(history),
        counters={**solution.counters, "blocks": blocks.n_blocks, "block_rows": blocks.done},
    )


def _worthwhile(problem: Problem) -> bool:
    return problem.n_rows >= LARGE and 0 < problem.max_depth <= _DEEPEST


class BlockBound:
    """Solves one block after the other, adds up what they prove, and keeps the best of their trees.

    Parameters
    ----------
    problem : Problem
    first : int
        Rows of the first block.
    kernel : str
        The kernels that searches use.

    Attributes
    ----------
    bound : int
        No tree of the problem costs less, in integer units.
    cost : int
        The cost of the best tree seen, 2**62 before there is one.
    splits : tuple of two lists, or None
        That tree: ordered column and rank of each node in preorder.
    done : int
        Rows that were looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.search.blocks import BlockBound
    >>> X, y = np.arange(8.0)[:, np.newaxis], np.array([0, 0, 0, 1, 0, 1, 1, 1])
    >>> blocks = BlockBound(build_problem(X, y, n_classes=2, max_depth=1), first=8)
    >>> blocks.more(1.0), blocks.bound, blocks.cost, blocks.more(1.0)
    (True, 1, 1, False)
    """

    def __init__(self, problem: Problem, *, first: int = _FIRST, kernel: str = "auto") -> None:
        self._problem, self._size, self._kernel = problem, first, kernel
        # Merged rows may be sorted; a block must look like the whole table. Always the same order.
        self._order = np.random.default_rng(0).permutation(problem.n_rows)
        self.bound, self.cost = 0, 2**62
        self.splits: tuple[list[int], list[int]] | None = None
        self.done = self.n_blocks = 0
        self.interrupted = False

    def more(self, seconds: float) -> bool:
        """Solve the next block within so many seconds; False if there is none left."""
        rows = np.sort(self._order[self.done : self.done + self._size])
        if len(rows) == 0:
            return False
        began = time.perf_counter()
        problem = self._problem
        kept, ranks, values = [], [], []
        for c, of_column in enumerate(problem.ranks):
            known, dense = np.unique(of_column[rows], return_inverse=True)
            if len(known) > 1:
                kept.append(c)
                ranks.append(dense.reshape(-1).astype(np.uint32))
                values.append(known)
        weights = problem.weights[rows]
        if kept:
            # Penalties and least rows are left out: without them trees are only better.
            found = _core.search(
                ranks=np.array(ranks),
                values=[known.astype(np.float64) for known in values],
                classes=problem.classes[rows],
                weights=weights,
                counts=problem.counts[rows],
                n_classes=problem.n_classes,
                max_depth=problem.max_depth,
                max_splits=problem.max_splits,
                min_samples_leaf=1,
                error_scale=1,
                split_penalty=0,
                time_limit=max(seconds, 1e-3),
                memory_limit=2**27,
                on_progress=None,
                kernel=self._kernel,
                switches=_NO_TIE_RULE,
            )
            self.bound += int(found["lower_bound"]) * problem.error_scale
            self.interrupted = found["status"] == "interrupted"
            self._try(found, kept, values)
        else:
            totals = np.zeros(problem.n_classes, dtype=np.int64)
            np.add.at(totals, problem.classes[rows], weights)
            self.bound += int(weights.sum() - totals.max()) * problem.error_scale
        self.done += len(rows)
        self.n_blocks += 1
        self._plan(len(rows), time.perf_counter() - began, seconds)
        return True

    def _plan(self, n_rows: int, took: float, had: float) -> None:
        """Double the block while the rows that are left fit into the time; halve one that eats it."""
        rest = len(self._order) - self.done
        if _CARE * took / n_rows * rest <= had - took:
            self._size = min(2 * self._size, _LARGEST)
        elif took > had / 8:
            self._size = max(self._size // 2, _SMALLEST)

    def _try(self, found: dict[str, Any], kept: list[int], values: list[NDArray[Any]]) -> None:
        """Work a block's tree out on the whole table, and keep it if it is the best so far."""
        problem = self._problem
        column = [-1 if c < 0 else kept[c] for c in np.asarray(found["column"]).tolist()]
        low = np.asarray(found["rank_low"]).tolist()
        local = np.asarray(found["column"]).tolist()
        rank = [0 if c < 0 else int(values[c][r]) for c, r in zip(local, low, strict=True)]
        column, rank = _without_idle_splits(problem, column, rank)
        totals, n_samples = _routed(problem, column, rank)
        leaves = np.array(column) < 0
        if (n_samples[leaves] < problem.min_samples_leaf).any():
            return
        table = totals[leaves]
        errors = int(table.sum() - table.max(axis=1).sum())
        cost = problem.error_scale * errors + problem.split_penalty * int((~leaves).sum())
        if cost < self.cost:
            self.cost, self.splits = cost, (column, rank)


def _routed(
    problem: Problem, column: list[int], rank: list[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the weight of each class and the number of rows at each node."""
    totals, n_samples, *_ = _core.route_rows(
        problem.ranks,
        problem.classes,
        problem.weights,
        problem.counts,
        problem.n_classes,
        column,
        rank,
    )
    return totals.reshape(len(column), problem.n_classes), n_samples


def _without_idle_splits(
    problem: Problem, column: list[int], rank: list[int]
) -> tuple[list[int], list[int]]:
    """Return the tree without splits into two leaves of one class, which cost and gain nothing."""
    labels = _routed(problem, column, rank)[0].argmax(axis=1).tolist()

    def pruned(node: int) -> tuple[list[int], list[int], set[int], int]:
        """Columns and ranks below a node, the labels of its leaves, and the node after it."""
        if column[node] < 0:
            return [-1], [0], {labels[node]}, node + 1
        columns, ranks, seen, after = pruned(node + 1)
        more, more_ranks, more_seen, after = pruned(after)
        seen = seen | more_seen
        if len(seen) == 1:
            return [-1], [0], seen, after
        return [column[node], *columns, *more], [rank[node], *ranks, *more_ranks], seen, after

    columns, ranks, _, _ = pruned(0)
    return columns, ranks
