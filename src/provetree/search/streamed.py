"""Trees of depth two over sums of two columns that are too many to be kept.

Memory grows with the rows, not with rows times sums. The core orders each sum when it is wanted and
sweeps it below many splits at once. A few sums that are good by themselves are searched first, in
the ordinary way. Then the core proves that no tree of the whole family costs less, or names the
sums of one that does; these join the few, and the ordinary search gives the tree.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from provetree import _core
from provetree.number_types import Float, Int, Int32
from provetree.problem.combinations import Combination, Derived, Ratio
from provetree.problem.ordering import ordered_rows
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.search.engine import ExactSearch, chosen_kernel
from provetree.solution import Limits, Progress, Solution

__all__ = ["MOST_CELLS", "MOST_DEPTH", "StreamedSearch"]

#: Deeper trees divide the rows, and with them the columns in order, level by level.
MOST_DEPTH = 2
#: From so many cells (rows x sums) on, sums are left aside where they can be.
MOST_CELLS = 2**20
#: So many sums are searched in the ordinary way.
FEW = 24
#: Bytes for orders that are kept between two rounds, where the memory limit leaves so many.
ROOM = 2**25
#: Of the time, where it is limited: the bound of all sums needs the rest.
_SHARE_OF_FEW = 1 / 3
#: So many rows choose the few, where there are more than twice as many.
SAMPLE = 2**13
#: What a problem has for each row, beside ranks.
_OF_ROWS = ("classes", "weights", "counts")


class StreamedSearch:
    """The search over sums that a prepared table leaves aside.

    After :meth:`solve`, `searched` is the problem of the tree: its splits may be about the columns
    of the table and about those sums that were searched in the ordinary way. What is proven is
    proven of all of them.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.prepare import prepare
    >>> from provetree.search.streamed import StreamedSearch
    >>> X = np.random.default_rng(0).random((60, 3))
    >>> y = X[:, 0] + X[:, 2] > 1
    >>> prepared = prepare(X, y, max_depth=2, splits="pairs", most_cells=0)
    >>> len(prepared.aside), len(prepared.problem.combinations)
    (6, 0)
    >>> solution = StreamedSearch(prepared).solve(prepared.problem)
    >>> solution.status, solution.cost
    ('optimal', 0)
    """

    def __init__(
        self,
        prepared: Prepared,
        *,
        few: int = FEW,
        room: int = ROOM,
        sample: int = SAMPLE,
        switches: int = 0,
    ) -> None:
        self.prepared, self.few, self.room = prepared, few, room
        self.sample, self.switches = sample, switches
        self.searched = prepared.problem

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Solution:
        """Return the best tree found within the limits; see :meth:`provetree.Engine.solve`."""
        run = _Run(self, problem, Limits() if limits is None else limits, on_progress)
        self.searched, solution = run.solve()
        return solution


class _Run:
    """One search: the rows, the sums as the core takes them, and the time since its start."""

    def __init__(
        self,
        owner: StreamedSearch,
        problem: Problem,
        limits: Limits,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.started = time.perf_counter()
        self.owner, self.problem = owner, problem
        self.limits, self.on_progress = limits, on_progress
        self.prepared, self.family = owner.prepared, owner.prepared.aside
        self.rows = self._numbers_behind_rows()
        self.sums = _as_arrays(self.family, self.rows)
        self.history: list[Progress] = []

    def _numbers_behind_rows(self) -> Float:
        """Return the encoded row behind each row of the problem."""
        prepared, problem = self.prepared, self.problem
        present = prepared.whole_weights() > 0
        table = prepared.encoded[present]
        codes = prepared.codes[present].astype(np.int32)
        weights = prepared.whole_weights()[present]
        orders = problem.combinations  # groups of categories; they merge no rows
        rows, _, _ = ordered_rows(
            table, problem.categories, orders, codes, weights, merge=True, keep_duplicates=False
        )
        return np.ascontiguousarray(table[rows.first])

    def solve(self) -> tuple[Problem, Solution]:
        problem = self.problem
        is_sampled = problem.max_splits > 1 and problem.n_rows > 2 * self.owner.sample
        stumps = self._stumps(self.owner.sample if is_sampled else problem.n_rows)
        if isinstance(stumps, str):  # no time to look at each sum once
            return problem, self._cut_off(self._searched(problem), 0, stumps)
        chosen = set(_best_sums(stumps, self.owner.few))
        begun = time.perf_counter()
        first = self._with_sums(chosen)
        found = self._searched(first, _SHARE_OF_FEW)
        spare = time.perf_counter() - begun  # another search of a few may take as long
        if problem.max_splits < 2 and found.status == "optimal":
            # The best sum by itself is among the few: nothing can be better.
            return first, self._counted(found, {})
        if problem.max_splits < 2 or found.status == "interrupted":
            return first, self._cut_off(found, 0, found.status)
        if is_sampled:
            stumps = self._stumps(problem.n_rows)
            if isinstance(stumps, str):
                return first, self._cut_off(found, 0, stumps)
        proof = self._proof(first, stumps[0], self._refined(first, found), spare)
        if not chosen.issuperset(proof["sums"]):
            more = self._with_sums(chosen.union(proof["sums"]))
            again = self._searched(more)
            if self._refined(more, again) <= self._refined(first, found):
                first, found = more, again
        return first, self._proven(found, self._refined(first, found), proof)

    def _stumps(self, n_rows: int) -> tuple[Int32, Int32, Int] | str:
        """Return what each column can do alone, on so many rows; or why that was stopped."""
        problem, sums = self.problem, self.sums
        if n_rows < problem.n_rows:
            # Merged rows are in no order.
            some = slice(None, None, -(-problem.n_rows // n_rows))
            columns = {name: getattr(problem, name)[some] for name in _OF_ROWS}
            ranks = np.ascontiguousarray(problem.ranks[:, some])
            problem = replace(problem, ranks=ranks, **columns)
            sums = (np.ascontiguousarray(self.rows[some]), *sums[1:])
        return _core.sum_stumps(
            problem.table,
            sums,
            min_samples_leaf=problem.min_samples_leaf,
            time_limit=self._seconds_left(),
            kernel=chosen_kernel(),
        )

    def _proven(self, found: Solution, cost: int, proof: _core.SumsProof) -> Solution:
        """Return a solution with what is proven of all sums."""
        if proof["end"] != "complete" or (found.status != "optimal" and cost > proof["cost"]):
            end = found.status if proof["end"] == "complete" else proof["end"]
            return self._cut_off(found, proof["lower_bound"], end, proof)
        if cost != proof["cost"]:
            raise RuntimeError(
                f"provetree: the best tree of some sums costs {cost} and that of all sums "
                f"{proof['cost']}; please report this."
            )
        found = replace(found, status="optimal", lower_bound=found.cost)
        return self._counted(found, proof["counters"])

    @property
    def _factor(self) -> int:
        """What costs are multiplied by, so that a split more counts less than anything else."""
        return self.problem.max_splits + 1

    def _refined(self, problem: Problem, found: Solution) -> int:
        return problem.to_whole_cost(found.cost) * self._factor + found.tree.n_splits

    def _proof(self, problem: Problem, relaxed: Int32, known: int, spare: float) -> _core.SumsProof:
        """Let the core prove that no tree of all sums costs less than what is known."""

        def tell(_: float, cost: int, bound: int) -> None:
            # A better cost than what is known is of a tree that is put together only at the end.
            costs = max(cost, known) // self._factor, bound // self._factor
            self._tell(*(self.problem.to_user_cost(x) for x in costs))

        return _core.prove_sums(
            self.problem.table,
            self.sums,
            relaxed,
            known=known,
            max_splits=problem.max_splits,
            min_samples_leaf=problem.min_samples_leaf,
            error_scale=problem.error_scale * self._factor,
            split_penalty=problem.split_penalty * self._factor + 1,
            time_limit=max(0.0, self._seconds_left() - spare),
            room=min(self.owner.room, self.limits.memory_limit),
            kernel=chosen_kernel(),
            switches=self.owner.switches,
            on_progress=tell,
        )

    def _with_sums(self, chosen: set[int]) -> Problem:
        """Return the problem whose splits may be about some of the sums as well."""
        whole = self.problem
        derived = (*(self.family[s] for s in sorted(chosen)), *whole.combinations)
        _, columns, ranks = ordered_rows(
            self.rows,
            whole.categories,
            derived,
            whole.classes,
            whole.weights,
            merge=False,
            keep_duplicates=False,
        )
        ranks.flags.writeable = False
        return replace(whole, columns=columns, ranks=ranks, combinations=derived)

    def _searched(self, problem: Problem, share: float = 1.0) -> Solution:
        """Search some sums in the ordinary way, for a share of the time that is left.

        Its bounds are not told, for they are of these sums.
        """

        def tell(now: Progress) -> None:
            self._tell(now.cost, 0)

        seconds = max(self._seconds_left() * share, 1e-3)  # no limit is zero
        limits = replace(self.limits, time_limit=None if math.isinf(seconds) else seconds)
        return ExactSearch().solve(problem, limits, tell)

    def _tell(self, cost: float, bound: float) -> None:
        """Keep a moment where cost or bound are better than before, and hand it on."""
        moment = Progress(time.perf_counter() - self.started, cost, bound)
        if self.history:
            last = self.history[-1]
            moment = replace(
                moment, cost=min(cost, last.cost), lower_bound=max(bound, last.lower_bound)
            )
        if not self.history or (moment.cost, moment.lower_bound) != (last.cost, last.lower_bound):
            self.history.append(moment)
        if self.on_progress is not None:
            self.on_progress(moment)

    def _seconds_left(self) -> float:
        if self.limits.time_limit is None:
            return math.inf
        return max(0.0, self.limits.time_limit - (time.perf_counter() - self.started))

    def _cut_off(
        self,
        found: Solution,
        bound: int,
        end: str,
        proof: _core.SumsProof | None = None,
    ) -> Solution:
        """Return a tree with the bound of a proof that was stopped."""
        lower = min(self.problem.to_user_bound(bound // self._factor), found.cost)
        status: Literal["optimal", "time_limit", "interrupted"] = "time_limit"
        if lower >= found.cost:
            status = "optimal"
        elif "interrupted" in (end, found.status):
            status = "interrupted"
        changed = replace(found, status=status, lower_bound=lower)
        return self._counted(changed, proof["counters"] if proof else {})

    def _counted(self, found: Solution, more: dict[str, int]) -> Solution:
        """Return a solution with the counters of all parts and the history of the whole search."""
        counters = dict(found.counters)
        for name, count in more.items():
            counters[name] = counters.get(name, 0) + count
        counters["sums"] = len(self.family)
        with suppress(KeyboardInterrupt):  # nothing is left to be stopped
            self._tell(found.cost, found.lower_bound)
        return replace(found, counters=counters, history=tuple(self.history))


def _as_arrays(family: Sequence[Derived], rows: Float) -> tuple[Any, ...]:
    """Return the sums as the core takes them."""
    sums = [x for x in family if isinstance(x, (Combination, Ratio))]
    pairs = np.array([x.columns for x in sums], dtype=np.uint32).reshape(-1, 2)
    factors = np.array(
        [(1.0, 1.0) if isinstance(x, Ratio) else x.coefficients for x in sums]
    ).reshape(-1, 2)
    return (
        rows,
        np.array([isinstance(x, Ratio) for x in sums], dtype=np.uint8),
        *(np.ascontiguousarray(pairs[:, k]) for k in (0, 1)),
        *(np.ascontiguousarray(factors[:, k]) for k in (0, 1)),
    )


def _best_sums(stumps: tuple[Int32, Int32, Int], few: int) -> list[int]:
    """Return the sums whose own split has the fewest errors, the first of equal ones first."""
    relaxed, feasible, about = stumps
    sums = about[np.lexsort((relaxed, feasible))]
    sums = sums[sums >= 0]
    _, first = np.unique(sums, return_index=True)
    return [int(s) for s in sums[np.sort(first)][: max(few, 1)]]
