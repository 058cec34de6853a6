"""SCIP as a solver (the extra ``scip``)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from provetree.number_types import Float
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

__all__ = ["Scip"]


_STATUS: dict[str, OutcomeStatus] = {
    "optimal": "optimal",
    "gaplimit": "gap_limit",
    "timelimit": "time_limit",
    "userinterrupt": "interrupted",
    "infeasible": "infeasible",
    "unbounded": "unbounded",
}


class Scip(BaseSolver):
    """The solver SCIP.

    Parameters
    ----------
    options : dict, optional
        Parameters of SCIP, by name.

    Examples
    --------
    >>> from provetree.solvers.solver import get_solver  # doctest: +SKIP
    >>> get_solver("scip")  # doctest: +SKIP
    """

    package: ClassVar[str] = "pyscipopt"

    def _solve(
        self, model: Model, start: Float | None, limits: SolveLimits, trace: Trace
    ) -> Outcome:
        import pyscipopt

        solver = pyscipopt.Model(model.name)
        solver.hideOutput()
        settings: dict[str, Any] = {
            "limits/gap": limits.relative_gap,
            "limits/absgap": limits.absolute_gap,
            # Ctrl-C is looked at here, so that the best point so far is kept.
            "misc/catchctrlc": False,
        }
        if limits.time_limit is not None:
            settings["limits/time"] = limits.time_limit
        for name, value in {**settings, **self.options}.items():
            solver.setParam(name, value)
        variables = _load(solver, model)
        if start is not None:
            point = solver.createSol()
            for variable, value in zip(variables, start.tolist(), strict=True):
                solver.setSolVal(point, variable, value)
            solver.addSol(point)
        with interrupts() as interrupted:
            watch = _watch(trace, interrupted.is_set)
            solver.includeEventhdlr(watch, "provetree", "tells progress, takes Ctrl-C")
            solver.optimize()
        return _outcome(solver, variables, model, limits, trace)


def _watch(trace: Trace, stopped: Callable[[], bool]) -> Any:
    """Return what tells the trace of improvements, and stops the solver when asked to."""
    import pyscipopt

    event: Any = getattr(pyscipopt, "SCIP_EVENTTYPE")  # noqa: B009  (not among its types)
    caught = (event.BESTSOLFOUND, event.NODESOLVED, event.LPSOLVED)

    class Watch(pyscipopt.Eventhdlr):
        def eventinit(self) -> None:
            for kind in caught:
                self.model.catchEvent(kind, self)

        def eventexit(self) -> None:
            for kind in caught:
                self.model.dropEvent(kind, self)

        def eventexec(self, event: Any) -> None:
            solver = self.model
            primal, dual = solver.getPrimalbound(), solver.getDualbound()
            trace.tell_from_callback(
                math.inf if solver.isInfinity(primal) else primal,
                -math.inf if solver.isInfinity(-dual) else dual,
            )
            if stopped() or trace.failure is not None:
                solver.interruptSolve()

    return Watch()


def _load(solver: Any, model: Model) -> list[Any]:
    """Hand the model over; SCIP takes variables and constraints one by one."""
    import pyscipopt

    bounds = zip(
        model.variable_names(),
        model.lower.tolist(),
        model.upper.tolist(),
        model.integer.tolist(),
        model.objective.tolist(),
        strict=True,
    )
    variables = [
        solver.addVar(
            name,
            vtype="I" if whole else "C",
            lb=None if math.isinf(low) else low,
            ub=None if math.isinf(high) else high,
            obj=cost,
        )
        for name, low, high, whole, cost in bounds
    ]
    starts, columns = model.matrix.indptr.tolist(), model.matrix.indices.tolist()
    values = model.matrix.data.tolist()
    rows = zip(starts[:-1], starts[1:], model.row_lower, model.row_upper, strict=True)
    for first, last, low, high in rows:
        if math.isinf(low) and math.isinf(high):
            continue
        if first == last:
            if low > 0 or high < 0:  # no entries: 0 is out of bounds, and no point is inside
                impossible = solver.addVar("impossible", lb=1, ub=1)
                solver.addCons(impossible <= 0)
            continue
        terms = pyscipopt.quicksum(values[k] * variables[columns[k]] for k in range(first, last))
        if low == high:
            solver.addCons(terms == low)
        elif math.isinf(low):
            solver.addCons(terms <= high)
        elif math.isinf(high):
            solver.addCons(terms >= low)
        else:
            solver.addCons((terms <= high) >= low)
    solver.addObjoffset(model.offset)
    return variables


def _outcome(
    solver: Any, variables: list[Any], model: Model, limits: SolveLimits, trace: Trace
) -> Outcome:
    word = solver.getStatus()
    status = _STATUS.get(word)
    if word == "inforunbd":
        status = "infeasible" if model.is_bounded else "unbounded"
    if status is None:
        raise SolverError(f"SCIP gave up: {word}.")
    if status in ("infeasible", "unbounded"):
        return trace.outcome(status)
    point: Float | None = None
    objective, bound = math.inf, -math.inf
    if solver.getNSols() > 0:
        best = solver.getBestSol()
        point = np.array([solver.getSolVal(best, variable) for variable in variables])
        objective = float(solver.getSolObjVal(best))
    dual = float(solver.getDualbound())
    if not solver.isInfinity(abs(dual)):
        bound = dual
    if status in ("optimal", "gap_limit"):
        status = limits.optimal_or_gap(objective, bound)
    return trace.outcome(status, point, objective, bound, int(solver.getNTotalNodes()))
