"""What an engine is asked for and what it gives back.

An engine takes a :class:`~provetree.problem.problem.Problem` and :class:`Limits`, tells its
:class:`Progress` while it works, and returns a :class:`Solution`: a tree, its cost, and a
lower bound that no tree of the problem can beat.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, Protocol, get_args

if TYPE_CHECKING:
    from provetree.problem.problem import Problem
    from provetree.tree.tree import Tree

Status = Literal[
    "optimal",
    "candidate_optimal",
    "feasible",
    "time_limit",
    "work_limit",
    "interrupted",
    "gap_limit",
    "nothing_below",
]

#: What users meet. "nothing_below" is an engine's answer to a search that asks for trees below a
#: cost; who asks so takes it off.
USER_STATUSES: tuple[Status, ...] = tuple(s for s in get_args(Status) if s != "nothing_below")

#: Enough for the caches of hard searches, and small compared with table and interpreter.
DEFAULT_MEMORY_LIMIT = 128 * 2**20


@dataclass(frozen=True)
class Limits:
    """How long a search may take and how much its caches may hold.

    Parameters
    ----------
    time_limit : float or None
        Seconds after which the best tree so far is returned; None for no limit.
    memory_limit : int
        Bytes the caches of the search may hold. The answer does not depend on it.
    max_work : int or None
        Row steps after which the best tree so far is returned; None for no limit. Engines that do
        not count steps take no notice of it.
    n_jobs : int
        Threads that an engine may use. The optimum does not depend on it.

    Examples
    --------
    >>> from provetree import Limits
    >>> Limits(time_limit=2.5).time_limit
    2.5
    """

    time_limit: float | None = None
    memory_limit: int = DEFAULT_MEMORY_LIMIT
    max_work: int | None = None
    n_jobs: int = 1

    def __post_init__(self) -> None:
        seconds, steps = self.time_limit, self.max_work
        for name, holds, allowed in (
            (
                "time_limit",
                seconds is None or seconds > 0,
                "a float in the range (0.0, inf) or None",
            ),
            ("memory_limit", self.memory_limit >= 0, "an int in the range [0, inf)"),
            ("max_work", steps is None or steps >= 1, "an int in the range [1, inf) or None"),
            ("n_jobs", self.n_jobs >= 1, "an int in the range [1, inf)"),
        ):
            if not holds:
                raise ValueError(
                    f"The {name!r} parameter of Limits must be {allowed}. "
                    f"Got {getattr(self, name)!r} instead."
                )

    @property
    def seconds(self) -> float:
        """The time limit as a plain number, infinite when there is none."""
        return math.inf if self.time_limit is None else float(self.time_limit)


@dataclass(frozen=True)
class Progress:
    """Where a search stood at one moment, in the user's units of cost.

    Examples
    --------
    >>> from provetree import Progress
    >>> Progress(seconds=0.5, cost=20, lower_bound=15).gap
    0.25
    """

    seconds: float
    cost: float
    lower_bound: float

    @property
    def gap(self) -> float:
        """Share of the cost that is not proven yet: 0.0 once it is optimal."""
        return relative_gap(self.cost, self.lower_bound)


@dataclass(frozen=True)
class ClusterProgress(Progress):
    """Where a search on a cluster stood: also its workers, and the tasks that were with them.

    Examples
    --------
    >>> from provetree.solution import ClusterProgress
    >>> ClusterProgress(0.5, 20, 15, workers=8, tasks=16).words
    '8 workers, 16 tasks'
    """

    workers: int
    tasks: int

    @property
    def words(self) -> str:
        """Workers and tasks in words."""
        return f"{self.workers} workers, {self.tasks} tasks"


@dataclass(frozen=True)
class Solution:
    """A tree, what it costs, and what is proven about it.

    Parameters
    ----------
    tree : Tree
        The best tree found.
    cost : int or float
        Its cost in the user's units: the weight of the misclassified rows plus the penalty
        for its splits. An int where costs of the problem are whole numbers.
    lower_bound : int or float
        No tree of the problem costs less.
    status : {"optimal", "candidate_optimal", "feasible", "time_limit", "work_limit", "interrupted"}
        Why the search ended. "optimal" is a proof for all trees of the problem. Methods that
        choose from candidate splits say "candidate_optimal" when the tree is proven the best of
        these, and "feasible" when they ended without such a proof; "gap_limit" says that a gap
        was asked for and reached.
    history : tuple of Progress
        Moments at which the best cost or the bound improved.
    counters : mapping of str to int
        Counts of what the search did.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import ExactSearch, build_problem
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0])
    >>> solution = ExactSearch().solve(build_problem(X, y, n_classes=2, max_depth=1))
    >>> solution.cost, solution.lower_bound, solution.status, solution.gap
    (1, 1, 'optimal', 0.0)
    """

    tree: Tree
    cost: float
    lower_bound: float
    status: Status
    history: tuple[Progress, ...] = ()
    counters: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counters", MappingProxyType(dict(self.counters)))

    @property
    def gap(self) -> float:
        """Share of the cost that is not proven: 0.0 exactly when the tree is optimal."""
        return relative_gap(self.cost, self.lower_bound)

    def __getstate__(self) -> dict[str, object]:
        # A mapping proxy cannot be pickled; a dict can.
        return {**self.__dict__, "counters": dict(self.counters)}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        self.__dict__.update(state)
        self.__post_init__()


@dataclass
class History:
    """The moments at which cost or bound of a search changed, told to whoever listens.

    Examples
    --------
    >>> from provetree.solution import History, Progress
    >>> history = History()
    >>> for bound in (1, 1, 2):
    ...     history.note(Progress(0.0, 3, bound))
    >>> len(history.moments)
    2
    """

    on_progress: Callable[[Progress], None] | None = None
    moments: list[Progress] = field(default_factory=list)

    def note(self, moment: Progress) -> None:
        """Keep a moment if cost or bound changed, and pass it on."""
        last = self.moments[-1] if self.moments else None
        if last is None or (moment.cost, moment.lower_bound) != (last.cost, last.lower_bound):
            self.moments.append(moment)
        if self.on_progress is not None:
            self.on_progress(moment)


class Engine(Protocol):
    """A method that solves problems.

    Examples
    --------
    >>> from provetree import Engine, ExactSearch
    >>> engine: Engine = ExactSearch()
    """

    def solve(
        self,
        problem: Problem,
        limits: Limits = ...,
        on_progress: Callable[[Progress], None] | None = ...,
    ) -> Solution:
        """Return the best tree found within the limits, and the proven bound.

        Parameters
        ----------
        problem : Problem
        limits : Limits, optional
            No limit on time by default.
        on_progress : callable, optional
            Called with a :class:`Progress` from time to time.
        """
        ...


def relative_gap(cost: float, lower_bound: float) -> float:
    """Return ``(cost - lower_bound) / cost``, and 0.0 when the two are equal.

    Costs below zero are rewards: there the larger size of the two takes the place of the cost.

    Examples
    --------
    >>> from provetree.solution import relative_gap
    >>> relative_gap(20, 15), relative_gap(-15, -20), relative_gap(0, -5)
    (0.25, 0.25, 1.0)
    """
    if cost <= lower_bound:
        return 0.0
    return float((cost - lower_bound) / max(abs(cost), abs(lower_bound)))
