"""The worker's side of a proof on a cluster: a table that is sent once, and tasks solved on it."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from provetree import __version__, _core
from provetree.problem.problem import Problem

#: Seconds between two looks at whether anybody still wants the answer.
_BETWEEN_LOOKS = 0.1


class Answer(NamedTuple):
    """What a worker hands back for a task."""

    number: int
    text: bytes
    seconds: float


class ProofTable:
    """The table of a proof as workers keep it.

    It travels without what is made on a worker: the core's table, made once, and its solvers, one
    for each thread that is at work.

    Examples
    --------
    >>> import pickle
    >>> from provetree import build_problem
    >>> from provetree.cluster.worker import ProofTable
    >>> problem = build_problem([[1.0], [2.0]], [0, 1], n_classes=2, max_depth=1)
    >>> pickle.loads(pickle.dumps(ProofTable(problem, memory_limit=2**20))).n_rows
    2
    """

    def __init__(self, problem: Problem, memory_limit: int, kernel: str = "auto") -> None:
        self._arguments = problem.table_arguments
        self._memory_limit, self._kernel = memory_limit, kernel
        self.n_rows = problem.n_rows
        #: What it takes to send it, about.
        self.n_bytes = sum(int(getattr(part, "nbytes", 0)) for part in self._arguments)
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._table: _core.Table | None = None
        self._job = ""
        self._cut = 2**62
        self._free: list[_core.TaskSolver] = []
        self._busy: list[_core.TaskSolver] = []

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_arguments", "_memory_limit", "_kernel", "n_rows", "n_bytes")
        return {"version": __version__, **{name: getattr(self, name) for name in kept}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        sent = state.pop("version")
        if sent != __version__:
            raise RuntimeError(
                f"A worker has provetree {__version__}, and the client has {sent}: "
                "both need the same version."
            )
        vars(self).update(state)
        self._begin()

    @contextmanager
    def solver(self, job: str, cut: int) -> Iterator[_core.TaskSolver]:
        """Lend a solver for tasks of a job."""
        with self._lock:
            if self._table is None:
                self._table = _core.Table(*self._arguments)
            if job != self._job:
                self._job, self._free, self._cut = job, [], cut
            self._cut = min(self._cut, cut)
            solver = self._free.pop() if self._free else None
            if solver is None:
                # The number of a job comes before what the core is told.
                text = job.partition(" ")[2]
                solver = _core.TaskSolver(self._table, text, self._memory_limit, self._kernel)
            solver.lower_cut(self._cut)
            self._busy.append(solver)
        stopped = False
        try:
            yield solver
        except Stopped:
            stopped = True
            raise
        finally:
            with self._lock:
                self._busy.remove(solver)
                if job == self._job and not stopped:
                    self._free.append(solver)

    def lower_cut(self, job: str, cut: int) -> None:
        """Tell all that are at work that trees of this cost, and more, are of no use any longer."""
        with self._lock:
            if job == self._job and cut < self._cut:
                self._cut = cut
                for solver in self._busy:
                    solver.lower_cut(cut)


class Stopped(Exception):
    """Nobody wants the answer any more."""


def solve_tasks(
    table: ProofTable,
    job: str,
    tasks: list[tuple[int, bytes]],
    cut: int,
    seconds: float,
    group_seconds: float = math.inf,
    wanted: Callable[[], bool] | None = None,
) -> list[Answer]:
    """Solve some tasks, one after the other, on a worker.

    A task that takes longer than `seconds`, where it can be divided, is handed back with what is
    known by then. Tasks that are not begun after `group_seconds` have no answer: others may have
    nothing to do. `wanted` says whether anybody waits for the answers; by default the worker of
    Dask is asked.
    """
    wanted = _wanted_by_dask() if wanted is None else wanted
    answers: list[Answer] = []
    with table.solver(job, cut) as solver, _watched(solver, wanted):
        end = time.perf_counter() + group_seconds
        for number, task in tasks:
            began = time.perf_counter()
            if answers and began > end:
                break
            answer = solver.solve(task, seconds)
            if answer is None:
                raise Stopped
            answers.append(Answer(number, answer, time.perf_counter() - began))
    return answers


@contextmanager
def _watched(solver: _core.TaskSolver, wanted: Callable[[], bool]) -> Iterator[None]:
    """Stop a solver from beside it once nobody wants its answers."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_BETWEEN_LOOKS):
            if not wanted():
                solver.stop()
                return

    thread = threading.Thread(target=watch, name="provetree-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _wanted_by_dask() -> Callable[[], bool]:
    """Return what tells whether the task at hand was cancelled, or its worker is leaving.

    Dask does not end a thread that runs; it marks its task, and this looks at the mark.
    """
    from distributed import get_worker

    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return (
            task is not None
            and task.state in ("executing", "long-running")
            and worker.status.name in ("running", "paused", "closing_gracefully")
        )

    return wanted


def lower_cut_on(table_key: str, job: str, cut: int, dask_worker: Any) -> None:
    """Hand a better cost to the tasks of a worker; Dask runs this beside them."""
    table = dask_worker.data.get(table_key)
    if table is not None:
        table.lower_cut(job, cut)
