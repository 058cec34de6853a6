"""CP-SAT of OR-Tools as a solver (the extra ``cpsat``).

It works on whole numbers. Variables that may be fractional need a known step, and coefficients
must be fractions of small numbers: each constraint is then multiplied until all are whole. Nothing
is rounded; a model that does not fit is refused. The solver runs in a process of its own.
"""

from __future__ import annotations

import math
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib.util import find_spec
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.mip.model import Model
from provetree.mip.solver import (
    Moment,
    Outcome,
    OutcomeStatus,
    SolveLimits,
    SolverError,
    Trace,
    interrupts,
)

__all__ = ["CpSat"]

Float: TypeAlias = NDArray[np.float64]
Int: TypeAlias = NDArray[np.int64]

#: Largest denominator that a coefficient may have, and largest whole coefficient.
_LARGEST_DENOMINATOR = 10**6
_LARGEST_WHOLE = 2**40
#: A fraction in floats, times its denominator, is off by no more than this. Any number at all is
#: within 1e-6 of a fraction of the largest denominator, so this must be far below.
_ROUNDING = 1e-9
#: No bound: CP-SAT takes whole numbers of 64 bits, with room to add some.
_NO_BOUND = 2**62
#: Seconds between two looks at whether to stop.
_PATIENCE = 0.05


class CpSat:
    """The solver CP-SAT.

    Parameters
    ----------
    options : dict, optional
        Parameters of CP-SAT, by name.

    Examples
    --------
    >>> from provetree.mip.solver import get_solver  # doctest: +SKIP
    >>> get_solver("cp-sat")  # doctest: +SKIP
    """

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        # It is never imported here: see the worker.
        if find_spec("ortools") is None:
            raise ImportError("No module named 'ortools'")
        self.options = dict(options or {})

    def solve(
        self,
        model: Model,
        *,
        start: Float | None = None,
        limits: SolveLimits | None = None,
        on_progress: Callable[[Moment], None] | None = None,
    ) -> Outcome:
        """Solve a model; see :class:`provetree.mip.solver.Solver`."""
        limits = SolveLimits() if limits is None else limits
        step = _steps(model)
        # An objective may be multiplied by any number: the smallest cost becomes one.
        objective = model.objective * step
        smallest = float(np.abs(objective[objective != 0]).min(initial=math.inf))
        smallest = smallest if math.isfinite(smallest) else 1.0
        one_row = np.zeros(model.n_variables, dtype=np.int64)
        costs, scales = _whole(objective / smallest, one_row, 1)
        scale = float(scales[0]) / smallest
        parameters: dict[str, Any] = {
            "relative_gap_limit": limits.relative_gap,
            "absolute_gap_limit": limits.absolute_gap * scale,
        }
        if limits.time_limit is not None:
            parameters["max_time_in_seconds"] = limits.time_limit
        if limits.threads is not None:
            parameters["num_workers"] = limits.threads
        task = {
            "lower": np.ceil(model.lower / step - 1e-9).astype(np.int64).tolist(),
            "upper": np.floor(model.upper / step + 1e-9).astype(np.int64).tolist(),
            "costs": costs.tolist(),
            "start": None if start is None else np.round(start / step).astype(np.int64).tolist(),
            "parameters": {**parameters, **self.options},
            **_constraints(model, step),
        }
        trace = Trace(on_progress)
        with interrupts() as interrupted:
            status, values, reached, nodes = "UNKNOWN", None, -math.inf, 0
            for frame in _frames(task, interrupted.is_set):
                if frame[0] == "progress":
                    best = math.inf if frame[1] is None else frame[1] / scale + model.offset
                    trace.tell(best, frame[2] / scale + model.offset)
                else:
                    _, status, values, reached, nodes = frame
            outcome = _outcome(
                model, status, values, reached, step, scale, limits, trace, interrupted.is_set()
            )
            return replace(outcome, n_nodes=int(nodes))


def _frames(task: dict[str, Any], stopped: Callable[[], bool]) -> Any:
    """Run the worker, and give back its frames as they come."""
    command = [sys.executable, "-m", "provetree.mip.cpsat_worker"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for this process alone
    ) as worker:
        assert worker.stdin is not None  # for the type checker
        assert worker.stdout is not None
        frames: queue.Queue[Any] = queue.Queue()
        reader = threading.Thread(target=_read, args=(worker.stdout, frames), daemon=True)
        reader.start()
        try:
            pickle.dump(task, worker.stdin)
            worker.stdin.flush()
            asked = False
            while True:
                try:
                    frame = frames.get(timeout=_PATIENCE)
                except queue.Empty:
                    frame = ()
                if frame is None:
                    break
                if frame:
                    yield frame
                if stopped() and not asked:
                    asked = True
                    worker.stdin.write(b"s")
                    worker.stdin.flush()
                if frame and frame[0] == "done":
                    return
        except (BrokenPipeError, OSError):
            pass  # it died; why is on its error stream
        finally:
            worker.stdin.close()
            if worker.poll() is None:
                worker.kill()
        words = worker.stderr.read().decode(errors="replace") if worker.stderr else ""
        last = words.strip().splitlines()[-1:] or ["no reason given"]
        raise SolverError(f"CP-SAT failed: {last[0]}")


def _read(stream: IO[bytes], frames: queue.Queue[Any]) -> None:
    try:
        while True:
            frames.put(pickle.load(stream))
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        frames.put(None)


def _steps(model: Model) -> Float:
    step = np.where(model.integer, 1.0, model.step)
    if (step <= 0).any():
        name = model.variable_names()[int(np.argmax(step <= 0))]
        raise SolverError(
            f"CP-SAT works on whole numbers, and the variable {name} of the model may take any "
            'value: use scaling="rank", another formulation or another solver.'
        )
    if not model.is_bounded:
        raise SolverError("CP-SAT needs bounds on all variables, and the model leaves some out.")
    return np.asarray(step, dtype=np.float64)


def _constraints(model: Model, step: Float) -> dict[str, list[int]]:
    matrix = model.matrix
    row = np.repeat(np.arange(model.n_constraints), np.diff(matrix.indptr))
    values, scale = _whole(matrix.data * step[matrix.indices], row, model.n_constraints)
    low = np.ceil(np.maximum(model.row_lower * scale, -float(_NO_BOUND)) - 1e-6)
    high = np.floor(np.minimum(model.row_upper * scale, float(_NO_BOUND)) + 1e-6)
    return {
        "starts": matrix.indptr.tolist(),
        "columns": matrix.indices.tolist(),
        "values": values.tolist(),
        "row_lower": low.astype(np.int64).tolist(),
        "row_upper": high.astype(np.int64).tolist(),
    }


def _whole(values: Float, row: Int, n_rows: int) -> tuple[Int, Float]:
    """Return values as whole numbers, and what each row was multiplied by for it."""
    distinct, place = np.unique(values, return_inverse=True)
    place = place.reshape(-1)
    denominators = np.array([_denominator(value) for value in distinct.tolist()], dtype=np.int64)
    scale = np.ones(n_rows, dtype=np.int64)
    for denominator in np.unique(denominators).tolist():
        rows = np.unique(row[denominators[place] == denominator])
        scale[rows] = np.lcm(scale[rows], denominator)
        if scale.max() > _LARGEST_WHOLE:
            break
    scaled = values * scale[row]
    whole = np.round(scaled)
    if len(values) and (
        scale.max() > _LARGEST_WHOLE
        or (np.abs(scaled - whole) > _ROUNDING + 1e-15 * np.abs(scaled)).any()
        or np.abs(whole).max() > _LARGEST_WHOLE
    ):
        raise SolverError(
            "CP-SAT works on whole numbers, and the model has coefficients that are not fractions "
            'of small numbers: use scaling="rank", other weights or another solver.'
        )
    return whole.astype(np.int64), scale.astype(np.float64)


def _denominator(value: float) -> int:
    return Fraction(value).limit_denominator(_LARGEST_DENOMINATOR).denominator


def _outcome(
    model: Model,
    status: str,
    values: list[int] | None,
    reached: float,
    step: Float,
    scale: float,
    limits: SolveLimits,
    trace: Trace,
    interrupted: bool,
) -> Outcome:
    if status == "INFEASIBLE":
        return Outcome("infeasible", None, math.inf, math.inf, tuple(trace.moments))
    if status == "MODEL_INVALID":
        raise SolverError("CP-SAT does not take the model: its numbers are too large.")
    point: Float | None = None
    objective, bound = math.inf, -math.inf
    if values is not None:
        point = np.array(values, dtype=np.float64) * step
        objective = model.value(point)
    if math.isfinite(reached):
        bound = min(objective, reached / scale + model.offset)
    word: OutcomeStatus
    if status == "OPTIMAL":
        close = objective - bound <= limits.absolute_gap * (1 + 1e-9)
        word = "optimal" if close else "gap_limit"
    else:
        word = "interrupted" if interrupted else "time_limit"
    trace.tell(objective, bound)
    return Outcome(word, point, objective, bound, tuple(trace.moments))
