"""Calls the exact search of the C++ core and turns its answer into a tree."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from provetree import _core
from provetree.problem.cost_scale import checked_cost
from provetree.problem.problem import Problem
from provetree.search.blocks import SharedTime
from provetree.solution import ClusterProgress, Limits, Progress, Solution
from provetree.tree.build import build_tree
from provetree.tree.node_values import OnRows

#: Name of the environment variable that chooses the kernels.
KERNEL_VARIABLE = "PROVETREE_KERNEL"

#: Columns and ranks of a tree in preorder.
Splits: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


class Workers(Protocol):
    """Who solves the splits of the root elsewhere, and what is known of them."""

    def begin(self, job: str) -> None:
        """Begin a search; what was out before is no longer wanted."""
        ...

    def trade(
        self, tasks: list[tuple[int, bytes]], cut: int
    ) -> tuple[list[tuple[int, bytes]], int, int] | None:
        """Hand out tasks; return answers, how many may be out, and how many workers there are.

        None to give up.
        """
        ...

    def end(self) -> None:
        """Take back all that is out."""
        ...

    #: Why they could not go on, where they could not.
    sorrow: str | None

    @property
    def n_workers(self) -> int:
        """Workers now."""
        ...

    @property
    def n_out(self) -> int:
        """Tasks that are with them now."""
        ...

    @property
    def counts(self) -> dict[str, int]:
        """What they did, for the counters of the solution."""
        ...


#: Lends workers to the search of a problem, within limits and with these kernels.
Lender: TypeAlias = Callable[[Problem, Limits, str], AbstractContextManager[Workers]]

_forced: ContextVar[str | None] = ContextVar("provetree_kernel", default=None)


@dataclass(frozen=True)
class ExactSearch:
    """The search over all thresholds that proves trees optimal.

    The environment variable ``PROVETREE_KERNEL`` ("baseline", "avx2", "avx512") chooses the
    kernels; without it the fastest that the processor supports are used. The answer is the same.

    Parameters
    ----------
    switches : int
        Bits that switch off single bounds and caches, for tests. The answer is the same.
    initial : tuple of two tuples of int, optional
        A tree to begin with: the ordered column of each node in preorder, -1 for a leaf, and the
        greatest rank that goes left.
    checkpoint : str, optional
        A file that keeps a long proof, and from which it continues.
    checkpoint_seconds : float
        Seconds between two writes of that file.
    workers : callable, optional
        Lends workers elsewhere, who solve the splits of the root. The answer is the same.
    on_certified : callable, optional
        Called with what the core has found, claims of a certificate among it, where these are
        wanted.
    directions : tuple of int
        For each ordered column -1, 0 or 1: which way predictions may go along it. Two classes.
    groups : tuple of tuples of int
        For each ordered column the numbers of the groups it is in; the columns of a path share one.
    prices : tuple of int
        What paths pay once, in weights; at most 64.
    priced : tuple of tuples of int
        For each ordered column the numbers of the prices it asks for.
    below : int, optional
        Trees that cost less are looked for, in whole costs of the problem. Where there is none the
        status is "nothing_below": then this is proven, and the tree is any one.
    known : Handover, optional
        What a search of the same rows under the same limits has proven, with more columns; see
        :class:`provetree.search.proven_by_columns.ProvenByColumns`. The answer is the same.
    hand_over : callable, optional
        Called with what this search has proven, where there is anything to hand over.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import ExactSearch, build_problem
    >>> X = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0]])
    >>> problem = build_problem(X, np.array([0, 0, 1, 1]), n_classes=2, max_depth=2)
    >>> solution = ExactSearch().solve(problem)
    >>> solution.cost, solution.status, solution.tree.n_splits
    (0, 'optimal', 1)
    """

    switches: int = 0
    initial: Splits | None = None
    checkpoint: str | None = None
    checkpoint_seconds: float = 20.0
    workers: Lender | None = None
    on_certified: Callable[[_core.SearchResult], None] | None = None
    directions: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    prices: tuple[int, ...] = ()
    priced: tuple[tuple[int, ...], ...] = ()
    below: int | None = None
    known: _core.Handover | None = None
    hand_over: Callable[[_core.Handover], None] | None = None

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Solution:
        """Return the best tree found within the limits; see :meth:`provetree.Engine.solve`."""
        limits = Limits() if limits is None else limits
        kernel = chosen_kernel()
        lent = nullcontext() if self.workers is None else self.workers(problem, limits, kernel)
        with lent as workers:
            return self._solved(problem, limits, kernel, workers, on_progress)

    def _solved(
        self,
        problem: Problem,
        limits: Limits,
        kernel: str,
        workers: Workers | None,
        on_progress: Callable[[Progress], None] | None,
    ) -> Solution:
        def progress(seconds: float, cost: int, bound: int) -> Progress:
            return Progress(seconds, problem.to_user_cost(cost), problem.to_user_bound(bound))

        def tell(seconds: float, cost: int, bound: int) -> None:
            if on_progress is not None:
                now = progress(seconds, cost, bound)
                if workers is not None:
                    counts = (workers.n_workers, workers.n_out)
                    now = ClusterProgress(now.seconds, now.cost, now.lower_bound, *counts)
                on_progress(now)

        ruled = bool(self.directions or self.groups or self.prices)
        shared = SharedTime(problem, limits, kernel, under_rules=ruled)
        wanted = {"below": self.below, "known": self.known}
        given: dict[str, Any] = {name: one for name, one in wanted.items() if one is not None}
        found = _core.search(
            problem.table,
            None if on_progress is None else tell,
            workers=workers,
            max_depth=problem.max_depth,
            max_splits=problem.max_splits,
            min_samples_leaf=problem.min_samples_leaf,
            # Targets are counted so many times already.
            error_scale=1 if problem.is_measured else problem.error_scale,
            split_penalty=problem.split_penalty,
            time_limit=shared.search_seconds,
            memory_limit=limits.memory_limit,
            kernel=kernel,
            switches=self.switches,
            max_work=limits.max_work or 0,
            n_jobs=limits.n_jobs,
            initial_column=self.initial[0] if self.initial else (),
            initial_rank=self.initial[1] if self.initial else (),
            checkpoint=self.checkpoint or "",
            checkpoint_seconds=self.checkpoint_seconds,
            certify=self.on_certified is not None,
            directions=self.directions,
            groups=self.groups,
            prices=self.prices,
            priced=self.priced,
            hands_over=self.hand_over is not None,
            **given,
        )
        if self.hand_over is not None and "handover" in found:
            self.hand_over(found["handover"])
        if self.on_certified is not None:
            self.on_certified(found)
        counters = found["counters"]
        if workers is not None:
            counters |= workers.counts
            if workers.sorrow is not None:
                warnings.warn(
                    f"{workers.sorrow} The best tree so far and its bound are kept.",
                    UserWarning,
                    stacklevel=2,
                )
        on_rows = OnRows(problem, found["column"].tolist(), found["rank_low"].tolist())
        cost, bound = _user_costs(problem, found, on_rows)
        solution = Solution(
            tree=build_tree(
                problem,
                found["column"],
                found["rank_low"],
                # Where an action is not the one of least cost by rounding, it stays the core's.
                # Under directions, a leaf may have to predict the class of fewer rows.
                found["label"] if problem.loss == "linear" or self.directions else None,
                on_rows=on_rows,
            ),
            cost=cost,
            lower_bound=bound,
            status=found["status"],
            history=tuple(progress(*moment) for moment in found["history"]),
            counters=counters,
        )
        return shared.improve(solution, on_progress)


def _user_costs(
    problem: Problem, found: _core.SearchResult, on_rows: OnRows
) -> tuple[float, float]:
    """Return cost and bound of a search in the user's units.

    The cost of a measured loss is worked out anew on the rows. Where it is proven optimal, which
    holds to a tolerance, it is its own bound.
    """
    if not problem.is_measured:
        return problem.to_user_cost(found["cost"]), problem.to_user_cost(found["lower_bound"])
    leaves = on_rows.leaves_cost(found["label"].tolist())
    cost = checked_cost(problem, found["cost"], leaves, len(on_rows.columns) // 2)
    if found["status"] == "optimal":
        return cost, cost
    return cost, min(cost, problem.to_user_bound(found["lower_bound"]))


def chosen_kernel() -> str:
    """Return the name of the kernels that searches use now, or "auto".

    Examples
    --------
    >>> with _force_kernel("baseline"):
    ...     chosen_kernel()
    'baseline'
    """
    forced = _forced.get()
    if forced is not None:
        return forced
    named = os.environ.get(KERNEL_VARIABLE, "").strip().lower()
    return _known_kernel(f"The {KERNEL_VARIABLE} environment variable", named) if named else "auto"


@contextmanager
def _force_kernel(name: str) -> Iterator[None]:
    """Use the named kernels within a ``with`` block, in this thread or task only."""
    token = _forced.set(_known_kernel("The kernel", name))
    try:
        yield
    finally:
        _forced.reset(token)


def _known_kernel(who: str, name: str) -> str:
    known = ["auto", *_core.available_kernels()]
    if name not in known:
        allowed = ", ".join(repr(kernel) for kernel in known)
        raise ValueError(f"{who} must be one of {allowed} on this machine. Got {name!r} instead.")
    return name
