"""A bound for tables that are too large to prove much about as a whole: a sum over blocks.

The rows are divided into blocks. A tree makes its errors somewhere, so it makes at least as many as
the best trees of the blocks make together. Blocks are small enough to be solved exactly, their best
trees are good trees for the whole table, and blocks that there is no time for count as zero.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.solution import DEFAULT_MEMORY_LIMIT, Limits, Progress, Solution, Status
from provetree.tree.build import build_tree

if TYPE_CHECKING:
    from provetree.problem.problem import Problem

__all__ = ["BlockBound", "SharedTime"]

#: Tables with fewer rows are left to the search alone: it says something about them in time.
LARGE = 100_000
#: The part of a time limit that the search has; the blocks have the rest. Where the best tree of
#: the first block makes an error in so many rows, the search of the whole table has no sample to
#: work on and will not come far.
_SEARCH_SHARE, _NOISY_SEARCH_SHARE, _NOISY = 0.6, 0.15, 1 / 8
#: Rows of the first block.
_FIRST, _LARGEST, _SMALLEST = 2_000, 32_000, 200
#: What is planned takes this much longer than it did: larger blocks are harder.
_CARE = 1.5
#: Larger blocks are taken as long as they prove this part of what smaller ones did in a second.
_AS_GOOD = 0.9
#: Depth that blocks can be solved to in time.
_DEEPEST = 4
#: Which of equally good trees of a block is found does not matter.
_NO_TIE_RULE = 1 << _core.SWITCHES.index("tie_rule")


class SharedTime:
    """How a search of a large table and blocks of its rows share a time limit.

    Parameters
    ----------
    problem : Problem
    limits : Limits
        The limits of both together.
    kernel : str
        The kernels that searches use.

    Attributes
    ----------
    search_seconds : float
        The time limit of the search.

    Examples
    --------
    >>> from provetree import Limits, build_problem
    >>> from provetree.search.blocks import SharedTime
    >>> problem = build_problem([[1.0], [2.0]], [0, 1], n_classes=2, max_depth=1)
    >>> SharedTime(problem, Limits(10.0)).search_seconds
    10.0
    """

    def __init__(self, problem: Problem, limits: Limits, kernel: str = "auto") -> None:
        self._problem, self._began = problem, time.perf_counter()
        self._seconds = self.search_seconds = limits.seconds
        self._blocks: BlockBound | None = None
        large = problem.n_rows >= LARGE and 0 < problem.max_depth <= _DEEPEST
        if not large or math.isinf(limits.seconds):
            return
        self._blocks = BlockBound(problem, kernel=kernel, memory_limit=limits.memory_limit)
        self._blocks.more(limits.seconds / 20)
        noisy = self._blocks.bound > _NOISY * problem.error_scale * self._blocks.weight
        share = _NOISY_SEARCH_SHARE if noisy else _SEARCH_SHARE
        self.search_seconds = share * limits.seconds

    def improve(
        self, solution: Solution, on_progress: Callable[[Progress], None] | None = None
    ) -> Solution:
        """Return a solution that its limit ended, with the bound of blocks or a better tree.

        Parameters
        ----------
        solution : Solution
            What the search found; returned as it is where blocks cannot help.
        on_progress : callable, optional
            Called with a :class:`~provetree.solution.Progress` after each block.
        """
        blocks, problem = self._blocks, self._problem
        if blocks is None or solution.status != "time_limit":
            return solution
        history = list(solution.history)
        cost, bound = solution.cost, solution.lower_bound
        interrupted = blocks.interrupted
        try:
            while not interrupted:
                cost = min(cost, problem.to_user_cost(blocks.cost))
                bound = min(cost, max(bound, problem.to_user_cost(blocks.bound)))
                now = Progress(time.perf_counter() - self._began, cost, bound)
                last = history[-1] if history else None
                if last is None or (last.cost, last.lower_bound) != (cost, bound):
                    history.append(now)
                if on_progress is not None:
                    on_progress(now)
                left = self._seconds - (time.perf_counter() - self._began)
                if left <= 0 or not blocks.more(left):
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


class BlockBound:
    """Solves one block after the other, adds up what they prove, and keeps the best of their trees.

    Parameters
    ----------
    problem : Problem
    first : int
        Rows of the first block.
    kernel : str
        The kernels that searches use.
    memory_limit : int
        Bytes that the caches of the search of a block may hold.

    Attributes
    ----------
    bound : int
        No tree of the problem costs less, in integer units.
    cost : int
        The cost of the best tree seen, 2**62 before there is one.
    splits : tuple of two lists, or None
        That tree: ordered column and rank of each node in preorder.
    done, weight : int
        Rows that were looked at, and their weight.

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

    def __init__(
        self,
        problem: Problem,
        *,
        first: int = _FIRST,
        kernel: str = "auto",
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
    ) -> None:
        self._problem, self._size, self._kernel = problem, first, kernel
        self._memory_limit = memory_limit
        # Merged rows may be sorted; a block must look like the whole table. Always the same order.
        self._order = np.random.default_rng(0).permutation(problem.n_rows)
        self.bound, self.cost = 0, 2**62
        self.splits: tuple[list[int], list[int]] | None = None
        self.done = self.n_blocks = self.weight = 0
        self.interrupted = False
        self._rate, self._growing = 0.0, True

    def more(self, seconds: float) -> bool:
        """Solve the next block within so many seconds; False if there is none left."""
        rows = np.sort(self._order[self.done : self.done + self._size])
        if len(rows) == 0:
            return False
        # Other programs slow this one down; how hard blocks are shows in its own time.
        began, bound = time.thread_time(), self.bound
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
                memory_limit=self._memory_limit,
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
        self.weight += int(weights.sum())
        self.n_blocks += 1
        self._plan(len(rows), time.thread_time() - began, seconds, self.bound - bound)
        return True

    def _plan(self, n_rows: int, took: float, had: float, proven: int) -> None:
        """Choose the size of the next block: the larger, the more it proves of its rows.

        Blocks grow as long as all rows fit into the time, or as they prove as much in a second.
        """
        rest, left = len(self._order) - self.done, had - took
        rate = proven / max(took, 1e-9)
        if not self._growing or n_rows < self._size:
            pass
        elif _CARE * took / n_rows * rest <= left or (
            rate >= _AS_GOOD * self._rate and 2 * _CARE * took <= left
        ):
            self._rate = rate
            self._size = min(2 * self._size, _LARGEST)
        else:
            self._growing = False
            self._size = max(self._size // 2, _SMALLEST)
        if took > had / 8:
            self._growing = False
            self._size = max(n_rows // 2, _SMALLEST)

    def _try(self, found: _core.SearchResult, kept: list[int], values: list[NDArray[Any]]) -> None:
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
