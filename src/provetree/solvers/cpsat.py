"""CP-SAT of OR-Tools as a solver (the extra ``cpsat``).

It works on whole numbers. Variables that may be fractional need a known step, and coefficients
must be fractions of small numbers: each constraint is then multiplied until all are whole. Nothing
is rounded; a model that does not fit is refused. The solver runs in a process of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np

from provetree.number_types import Float, Int
from provetree.solvers.cpsat_process import CpSatProcess
from provetree.solvers.model import Model
from provetree.solvers.solver import (
    BaseSolver,
    Outcome,
    OutcomeStatus,
    SolveLimits,
    SolverError,
    Trace,
    interrupts,
)

__all__ = ["CpSat"]


#: Largest denominator that a coefficient may have, and largest whole coefficient.
_LARGEST_DENOMINATOR = 10**6
_LARGEST_WHOLE = 2**40
#: A fraction in floats, times its denominator, is off by no more than this. Any number at all is
#: within 1e-6 of a fraction of the largest denominator, so this must be far below.
_ROUNDING = 1e-9
#: No bound: CP-SAT takes whole numbers of 64 bits, with room to add some.
_NO_BOUND = 2**62


class CpSat(BaseSolver):
    """The solver CP-SAT.

    Parameters
    ----------
    options : dict, optional
        Parameters of CP-SAT, by name.
    keep_process : bool
        Keep the process for the next model; it ends with :meth:`close`. Otherwise every model
        starts one.
    on_point : callable, optional
        Called with every better point, as soon as it is found.

    Examples
    --------
    >>> from provetree.solvers.solver import get_solver  # doctest: +SKIP
    >>> get_solver("cp-sat")  # doctest: +SKIP
    """

    def __init__(
        self,
        options: dict[str, Any] | None = None,
        *,
        keep_process: bool = False,
        on_point: Callable[[Float], None] | None = None,
    ) -> None:
        # It is never imported here: see the worker.
        if find_spec("ortools") is None:
            raise ImportError("No module named 'ortools'")
        super().__init__(options)
        self.keep_process = keep_process
        self.on_point = on_point
        #: Processor seconds that CP-SAT itself took, models and transport not counted.
        self.seconds = 0.0
        self._process = CpSatProcess()

    def _solve(
        self, model: Model, start: Float | None, limits: SolveLimits, trace: Trace
    ) -> Outcome:
        task, step, scale = _task(model, start, limits, self.options)
        task["send_points"] = self.on_point is not None

        def tell(frame: tuple[Any, ...]) -> None:
            _, best, bound, point = frame
            if point is not None and self.on_point is not None:
                self.on_point(np.array(point, dtype=np.float64) * step)
            best = math.inf if best is None else best / scale + model.offset
            trace.tell(best, bound / scale + model.offset)

        with interrupts() as interrupted:
            try:
                last = self._process.solve(task, interrupted.is_set, tell)
            finally:
                if not self.keep_process:
                    self.close()
            _, status, values, reached, nodes, seconds = last
            self.seconds += seconds
            if status == "MODEL_INVALID":
                raise SolverError("CP-SAT does not take the model: its numbers are too large.")
            if status == "INFEASIBLE":
                return trace.outcome("infeasible")
            point = None if values is None else np.array(values, dtype=np.float64) * step
            objective = math.inf if point is None else model.value(point)
            bound = reached / scale + model.offset if math.isfinite(reached) else -math.inf
            bound = min(objective, bound)
            ended: OutcomeStatus = "interrupted" if interrupted.is_set() else "time_limit"
            if status == "OPTIMAL":
                ended = limits.optimal_or_gap(objective, bound)
            return trace.outcome(ended, point, objective, bound, int(nodes))

    def close(self) -> None:
        """End the process."""
        self._process.close()


def _task(
    model: Model, start: Float | None, limits: SolveLimits, options: dict[str, Any]
) -> tuple[dict[str, Any], Float, float]:
    """Return the model in whole numbers, the step of each variable, and the objective's scale."""
    step = _steps(model)
    costs, scale = _costs(model.objective * step)
    parameters: dict[str, Any] = {
        "relative_gap_limit": limits.relative_gap,
        "absolute_gap_limit": limits.absolute_gap * scale,
    }
    if limits.time_limit is not None:
        parameters["max_time_in_seconds"] = limits.time_limit
    if limits.n_jobs is not None:
        parameters["num_workers"] = limits.n_jobs
    task = {
        "lower": np.ceil(model.lower / step - 1e-9).astype(np.int64).tolist(),
        "upper": np.floor(model.upper / step + 1e-9).astype(np.int64).tolist(),
        "costs": costs.tolist(),
        "start": None if start is None else np.round(start / step).astype(np.int64).tolist(),
        "parameters": {**parameters, **options},
        **_constraints(model, step),
    }
    return task, step, scale


def _costs(objective: Float) -> tuple[Int, float]:
    """Return costs as whole numbers, and what they were multiplied by for it."""
    whole = np.round(objective)
    if np.array_equal(whole, objective) and np.abs(whole).max(initial=0.0) <= _LARGEST_WHOLE:
        common = int(np.gcd.reduce(whole.astype(np.int64), initial=0)) or 1
        return (whole / common).astype(np.int64), 1.0 / common
    # An objective may be multiplied by any number: the smallest cost becomes one.
    smallest = float(np.abs(objective[objective != 0]).min())
    costs, scales = _whole(objective / smallest, np.zeros(len(objective), dtype=np.int64), 1)
    return costs, float(scales[0]) / smallest


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
