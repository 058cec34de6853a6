"""A lower bound for very large tables: a sum over blocks of rows.

The rows are divided into blocks. A tree makes at least as many errors on a block as the best tree
of that block, so the sum over the blocks is a bound. Blocks are small enough to be solved exactly,
or to be searched until most of the bound is proven. Their trees are good trees for the whole table.
Blocks without time left count as zero.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.solution import DEFAULT_MEMORY_LIMIT, Limits, Progress, Solution, Status
from provetree.tree.build import build_tree

if TYPE_CHECKING:
    from provetree.problem.problem import Problem

__all__ = ["BlockBound", "SharedTime"]

#: Tables with fewer rows use the search alone, which proves a bound in time.
LARGE = 100_000
#: The part of a time limit for the search; the blocks get the rest. If the best tree of the first
#: block makes an error in so many rows, the search of the whole table cannot use a sample and will
#: not get far.
_SEARCH_SHARE, _NOISY_SEARCH_SHARE, _NOISY = 0.6, 0.15, 1 / 8
#: Rows of the first block, of those after it, and the largest number of rows.
_FIRST, _SECOND, _LARGEST = 2_000, 8_000, 32_000
#: With this part of the time of a whole proof a search has most of the bound; with less it has
#: almost nothing.
_LEAST_PART = 0.15
#: The part of the time for evaluating trees of blocks on the whole table.
_TRYING = 0.1
#: The greatest depth at which blocks can be solved in time.
_DEEPEST = 4
#: Ties between the trees of a block do not matter.
_NO_TIE_RULE = _core.SWITCHES["tie_rule"]


class SharedTime:
    """How a search of a large table and blocks of its rows share a time limit.

    The search itself may take ``search_seconds``. Under rules it has all of the time: the trees of
    blocks know none.

    Examples
    --------
    >>> from provetree import Limits, build_problem
    >>> problem = build_problem([[1.0], [2.0]], [0, 1], n_classes=2, max_depth=1)
    >>> SharedTime(problem, Limits(10.0)).search_seconds
    10.0
    """

    def __init__(
        self, problem: Problem, limits: Limits, kernel: str = "auto", *, under_rules: bool = False
    ) -> None:
        self._problem, self._began = problem, time.perf_counter()
        self._seconds = self.search_seconds = limits.seconds
        self._blocks: BlockBound | None = None
        large = problem.n_rows >= LARGE and 0 < problem.max_depth <= _DEEPEST
        if not large or under_rules or problem.is_measured or math.isinf(limits.seconds):
            return
        self._blocks = BlockBound(
            problem, kernel=kernel, n_jobs=limits.n_jobs, memory_limit=limits.memory_limit
        )
        self._blocks.more(limits.seconds / 20)
        noisy = self._blocks.bound > _NOISY * problem.error_scale * self._blocks.weight
        share = _NOISY_SEARCH_SHARE if noisy else _SEARCH_SHARE
        self.search_seconds = share * limits.seconds

    def improve(
        self, solution: Solution, on_progress: Callable[[Progress], None] | None = None
    ) -> Solution:
        """Return a solution that its limit ended, with the bound of blocks or a better tree.

        A solution that blocks cannot help is returned as it is. `on_progress` is called after each
        block.
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
        except KeyboardInterrupt:  # between two blocks; inside a block the core handles it
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


class _Block(NamedTuple):
    """The result for a block: bound, status, ordered columns and ranks of its tree."""

    bound: int
    status: Status
    splits: tuple[list[int], list[int]] | None = None


class BlockBound:
    """Solves one block after the other, adds up what they prove, and keeps the best of their trees.

    No tree of the problem costs less than ``bound``. The best tree seen has the ``cost`` (2**62
    before there is one) and the ``splits``: column and rank of each node in preorder. ``done`` rows
    of ``weight`` were searched.

    Examples
    --------
    >>> from provetree import build_problem
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
        second: int = _SECOND,
        kernel: str = "auto",
        n_jobs: int = 1,
        memory_limit: int = DEFAULT_MEMORY_LIMIT,
    ) -> None:
        self._problem, self._kernel, self._n_jobs = problem, kernel, n_jobs
        self._size, self._second = first, second
        self._memory_limit = memory_limit // n_jobs
        # Merged rows may be sorted, and a block must resemble the whole table: shuffle, with a
        # fixed seed.
        self._order = np.random.default_rng(0).permutation(problem.n_rows)
        self.bound, self.cost = 0, 2**62
        self.splits: tuple[list[int], list[int]] | None = None
        self.done = self.n_blocks = self.weight = 0
        self.interrupted = False
        # Seconds per row of a whole proof, and seconds spent on blocks and on trees.
        self._per_row = self._spent = self._trying = 0.0

    def more(self, seconds: float) -> bool:
        """Search the next block, or one with each thread; False if there is none left.

        The seconds are for all remaining blocks. The first block may use all of them; later blocks
        get a share in proportion to their rows, so that all rows contribute.
        """
        began, rest = time.perf_counter(), len(self._order) - self.done
        if rest == 0:
            return False
        n_blocks = min(self._n_jobs if self.n_blocks else 1, math.ceil(rest / self._size))
        ends = [self.done + min(i * self._size, rest) for i in range(n_blocks + 1)]
        blocks = [np.sort(self._order[a:b]) for a, b in itertools.pairwise(ends)]
        n_rows = ends[-1] - self.done
        share = seconds
        if self.n_blocks:
            share = seconds * n_rows / rest
            share = min(seconds, max(share, _LEAST_PART * self._per_row * len(blocks[0])))
        if n_blocks == 1:
            found = [self._search(blocks[0], began + share)]
        else:
            with ThreadPoolExecutor(n_blocks) as threads:
                found = list(threads.map(self._search, blocks, [began + share] * n_blocks))
        for block in found:
            self.bound += block.bound
            self.interrupted = self.interrupted or block.status == "interrupted"
        self.done += n_rows
        self.weight += sum(int(self._problem.weights[rows].sum()) for rows in blocks)
        self.n_blocks += n_blocks
        for block in found:
            self._try(block)
        optimal = all(block.status == "optimal" for block in found)
        self._plan(len(blocks[0]), time.perf_counter() - began, share, optimal)
        return True

    def _search(self, rows: NDArray[np.intp], end: float) -> _Block:
        """Search some rows until a moment, and return their bound and tree."""
        problem = self._problem
        kept, ranks, values = [], [], []
        for c, of_column in enumerate(problem.ranks):
            known, dense = np.unique(of_column[rows], return_inverse=True)
            if len(known) > 1:
                kept.append(c)
                ranks.append(dense.reshape(-1).astype(np.uint32))
                values.append(known)
        weights = problem.weights[rows]
        if not kept:
            totals = np.zeros(problem.n_classes, dtype=np.int64)
            np.add.at(totals, problem.classes[rows], weights)
            return _Block(int(weights.sum() - totals.max()) * problem.error_scale, "optimal")
        # Without penalties and minimum leaf sizes trees only get better, so the bound holds.
        table = _core.Table(
            np.array(ranks),
            np.concatenate(values, dtype=np.float64),
            np.cumsum([len(known) for known in values], dtype=np.int64),
            problem.classes[rows],
            weights,
            problem.counts[rows],
            problem.n_classes,
        )
        found = _core.search(
            table,
            max_depth=problem.max_depth,
            max_splits=problem.max_splits,
            min_samples_leaf=1,
            error_scale=1,
            split_penalty=0,
            time_limit=max(end - time.perf_counter(), 1e-3),
            memory_limit=self._memory_limit,
            kernel=self._kernel,
            switches=_NO_TIE_RULE,
        )
        local, low = np.asarray(found["column"]).tolist(), np.asarray(found["rank_low"]).tolist()
        column = [-1 if c < 0 else kept[c] for c in local]
        rank = [0 if c < 0 else int(values[c][r]) for c, r in zip(local, low, strict=True)]
        bound = int(found["lower_bound"]) * problem.error_scale
        return _Block(bound, found["status"], (column, rank))

    def _plan(self, n_rows: int, took: float, share: float, optimal: bool) -> None:
        """Choose the size of the next block: the larger, the more it proves of its rows."""
        self._spent += took
        if self.n_blocks == 1:
            self._size, self._per_row = self._second, took / n_rows
        elif optimal and 2 * took <= share:
            self._size = min(2 * self._size, max(_LARGEST, self._size))

    def _try(self, block: _Block) -> None:
        """Evaluate a block's tree on the whole table, and keep it if it is the best so far."""
        if block.splits is None or self._trying > _TRYING * self._spent:
            return
        began, problem = time.perf_counter(), self._problem
        column, rank = block.splits
        column, rank = _without_idle_splits(problem, column, rank)
        routed = _core.route_rows(problem.table, column, rank)
        leaves = np.array(column) < 0
        if (routed["counts"][leaves] >= problem.min_samples_leaf).all():
            table = routed["weights"][leaves]
            errors = int(table.sum() - table.max(axis=1).sum())
            cost = problem.error_scale * errors + problem.split_penalty * int((~leaves).sum())
            if cost < self.cost:
                self.cost, self.splits = cost, (column, rank)
        self._trying += time.perf_counter() - began


def _without_idle_splits(
    problem: Problem, column: list[int], rank: list[int]
) -> tuple[list[int], list[int]]:
    """Return the tree without splits into two leaves of the same class."""
    totals = _core.route_rows(problem.table, column, rank)["weights"]
    labels = totals.argmax(axis=1).tolist()

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
