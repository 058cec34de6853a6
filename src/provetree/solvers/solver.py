"""The thin interface to mixed-integer solvers: a model in, a point, a bound and a trace out.

Each solver stands in a file of its own and is imported when it is asked for. Whoever has another
solver writes a class with the one method of :class:`Solver`.
"""

from __future__ import annotations

import math
import signal
import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from types import FrameType
from typing import Any, ClassVar, Literal, Protocol

from provetree.number_types import Float
from provetree.solvers.model import Model

__all__ = [
    "SOLVERS",
    "BaseSolver",
    "Moment",
    "Outcome",
    "SolveLimits",
    "Solver",
    "SolverError",
    "SolverMissingError",
    "Trace",
    "get_solver",
    "interrupts",
]


OutcomeStatus = Literal[
    "optimal", "gap_limit", "time_limit", "interrupted", "infeasible", "unbounded"
]

#: Where each solver lives, and the extra that installs it.
SOLVERS: dict[str, tuple[str, str, str | None]] = {
    "highs": ("provetree.solvers.highs", "Highs", None),
    "gurobi": ("provetree.solvers.gurobi", "Gurobi", "gurobi"),
    "scip": ("provetree.solvers.scip", "Scip", "scip"),
    "cp-sat": ("provetree.solvers.cpsat", "CpSat", "cpsat"),
}


class SolverError(RuntimeError):
    """A solver could not do what was asked of it.

    Examples
    --------
    >>> from provetree.solvers.solver import SolverError
    >>> raise SolverError("The licence of Gurobi allows smaller models only.")
    Traceback (most recent call last):
        ...
    provetree.solvers.solver.SolverError: The licence of Gurobi allows smaller models only.
    """


class SolverMissingError(SolverError, ImportError):
    """A solver is not installed.

    Examples
    --------
    >>> from provetree.solvers.solver import SolverError, SolverMissingError
    >>> issubclass(SolverMissingError, SolverError)
    True
    """


@dataclass(frozen=True)
class SolveLimits:
    """When a solver may stop.

    Parameters
    ----------
    time_limit : float or None
        Seconds; None for no limit.
    relative_gap : float
        Stop when ``(objective - bound) / |objective|`` is this small.
    absolute_gap : float
        Stop when ``objective - bound`` is this small.
    n_jobs : int or None
        Threads the solver may use; None leaves it to the solver.

    Examples
    --------
    >>> from provetree.solvers.solver import SolveLimits
    >>> SolveLimits(time_limit=10.0).relative_gap
    0.0
    """

    time_limit: float | None = None
    relative_gap: float = 0.0
    absolute_gap: float = 1e-6
    n_jobs: int | None = None

    @property
    def threads(self) -> int | None:
        """The old name of ``n_jobs``."""
        warnings.warn(
            "SolveLimits.threads is called n_jobs now; the old name goes with the next version.",
            FutureWarning,
            stacklevel=2,
        )
        return self.n_jobs

    def optimal_or_gap(self, objective: float, bound: float) -> OutcomeStatus:
        """Say whether a solver that is done has proven its point, or stopped at a gap."""
        close = self.absolute_gap * (1 + 1e-9) + 1e-12 * abs(objective)
        return "gap_limit" if objective - bound > close else "optimal"


@dataclass(frozen=True)
class Moment:
    """Where a solver stood: seconds, best objective (infinite: none yet) and proven bound.

    Examples
    --------
    >>> from provetree.solvers.solver import Moment
    >>> Moment(0.5, 20.0, 15.0).bound
    15.0
    """

    seconds: float
    objective: float
    bound: float


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a solver gives back.

    Parameters
    ----------
    status : str
        "optimal", "gap_limit", "time_limit", "interrupted", "infeasible" or "unbounded".
    point : array of float or None
        The best point, None if there is none.
    objective : float
        Its objective, infinite if there is none.
    bound : float
        No point of the model has a lower objective.
    history : tuple of Moment
        Moments at which the objective or the bound improved.
    n_nodes : int
        Nodes of the solver's search tree, 0 where the solver does not count them.

    Examples
    --------
    >>> from provetree.solvers.solver import Outcome
    >>> Outcome("infeasible", None, float("inf"), float("inf")).point is None
    True
    """

    status: OutcomeStatus
    point: Float | None
    objective: float
    bound: float
    history: tuple[Moment, ...] = ()
    n_nodes: int = 0


class Solver(Protocol):
    """A solver of mixed-integer models.

    Examples
    --------
    >>> from provetree.solvers.solver import Solver, get_solver
    >>> solver: Solver = get_solver("highs")
    """

    def solve(
        self,
        model: Model,
        *,
        start: Float | None = None,
        limits: SolveLimits = ...,
        on_progress: Callable[[Moment], None] | None = None,
    ) -> Outcome:
        """Solve a model.

        Parameters
        ----------
        model : Model
        start : array of float, shape (n_variables,), optional
            A point of the model to start from.
        limits : SolveLimits
        on_progress : callable, optional
            Called with a :class:`Moment` from time to time.
        """
        ...


def get_solver(name: str) -> Solver:
    """Return the solver of a name.

    Parameters
    ----------
    name : {"highs", "gurobi", "scip", "cp-sat"}

    Raises
    ------
    SolverMissingError
        If the solver is not installed; the message names the extra that installs it.

    Examples
    --------
    >>> from provetree.solvers.model import ModelBuilder
    >>> from provetree.solvers.solver import get_solver
    >>> builder = ModelBuilder("knapsack")
    >>> x = builder.variables("x", 3, upper=1, integer=True, cost=[-5, -4, -3])
    >>> builder.add("(1)", (), (x, [2, 3, 1]), upper=5, meaning="weight")
    >>> outcome = get_solver("highs").solve(builder.build())
    >>> outcome.status, outcome.point.tolist(), outcome.objective, outcome.bound
    ('optimal', [1.0, 1.0, 0.0], -9.0, -9.0)
    """
    if name not in SOLVERS:
        known = ", ".join(repr(known) for known in SOLVERS)
        raise ValueError(f"The solver must be one of {known}. Got {name!r} instead.")
    module, class_name, extra = SOLVERS[name]
    try:
        solver: Solver = getattr(import_module(module), class_name)()
    except ImportError as error:
        if extra is None:
            raise
        raise SolverMissingError(
            f"The solver '{name}' is not installed: pip install 'provetree[{extra}]' "
            f"brings it ({error})."
        ) from error
    return solver


@dataclass
class Trace:
    """Records how objective and bound approach each other, and passes every moment on.

    Examples
    --------
    >>> trace = Trace()
    >>> for bound in (1.0, 1.0, 2.0):
    ...     trace.tell(4.0, bound)
    >>> [moment.bound for moment in trace.moments]
    [1.0, 2.0]
    """

    on_progress: Callable[[Moment], None] | None = None
    moments: list[Moment] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)
    #: What :meth:`tell_from_callback` caught.
    failure: BaseException | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def tell(self, objective: float, bound: float) -> None:
        """Note the state of a search; neither figure ever gets worse."""
        last = self.moments[-1] if self.moments else Moment(0.0, math.inf, -math.inf)
        moment = Moment(self.seconds, min(objective, last.objective), max(bound, last.bound))
        if moment.objective < last.objective or moment.bound > last.bound:
            self.moments.append(moment)
        if self.on_progress is not None:
            self.on_progress(moment)

    def tell_from_callback(self, objective: float, bound: float) -> None:
        """Note the state; keep an error for later, as it must not travel through C or C++."""
        if self.failure is None:
            try:
                self.tell(objective, bound)
            except BaseException as error:
                self.failure = error

    def outcome(
        self,
        status: OutcomeStatus,
        point: Float | None = None,
        objective: float = math.inf,
        bound: float = -math.inf,
        n_nodes: int = 0,
    ) -> Outcome:
        """Return the outcome of the search, or raise what a callback raised."""
        if self.failure is not None:
            raise self.failure
        if status in ("infeasible", "unbounded"):
            point, n_nodes = None, 0
            objective = bound = math.inf if status == "infeasible" else -math.inf
        else:
            self.tell(objective, bound)
        return Outcome(status, point, objective, bound, tuple(self.moments), n_nodes)


class BaseSolver(ABC):
    """What the solvers of this library share; `options` are those of the solver, by name."""

    #: The package that must be there before a model is built.
    package: ClassVar[str | None] = None

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        if self.package is not None:
            import_module(self.package)
        self.options = dict(options or {})

    def solve(
        self,
        model: Model,
        *,
        start: Float | None = None,
        limits: SolveLimits | None = None,
        on_progress: Callable[[Moment], None] | None = None,
    ) -> Outcome:
        """Solve a model; see :class:`Solver`."""
        return self._solve(model, start, limits or SolveLimits(), Trace(on_progress))

    @abstractmethod
    def _solve(
        self, model: Model, start: Float | None, limits: SolveLimits, trace: Trace
    ) -> Outcome:
        """Solve a model, and note in the trace how it goes."""


@contextmanager
def interrupts() -> Iterator[threading.Event]:
    """Turn Ctrl-C into an event within a ``with`` block.

    Only the main thread receives Ctrl-C; elsewhere the event is never set.

    Examples
    --------
    >>> import signal
    >>> from provetree.solvers.solver import interrupts
    >>> with interrupts() as interrupted:
    ...     signal.raise_signal(signal.SIGINT)
    ...     interrupted.is_set()
    True
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def handler(number: int, frame: FrameType | None) -> None:
        event.set()

    previous = signal.signal(signal.SIGINT, handler)
    try:
        yield event
    finally:
        # None: the handler before was not installed from Python and cannot be put back from it.
        signal.signal(signal.SIGINT, signal.default_int_handler if previous is None else previous)
