"""Gurobi as a solver (the extra ``gurobi``; large models need a licence of one's own)."""

from __future__ import annotations

import math
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

__all__ = ["Gurobi"]


#: The names of Gurobi's status codes, and what they are called here.
_STATUS: dict[str, OutcomeStatus] = {
    "OPTIMAL": "optimal",
    "TIME_LIMIT": "time_limit",
    "INFEASIBLE": "infeasible",
    "INF_OR_UNBD": "infeasible",
    "UNBOUNDED": "unbounded",
    "INTERRUPTED": "interrupted",
}
_TOO_LARGE, _NO_LICENCE = 10010, 10009


class Gurobi(BaseSolver):
    """The solver Gurobi.

    Parameters
    ----------
    options : dict, optional
        Parameters of Gurobi, by name.

    Examples
    --------
    >>> from provetree.solvers.solver import get_solver  # doctest: +SKIP
    >>> get_solver("gurobi")  # doctest: +SKIP
    """

    package: ClassVar[str] = "gurobipy"

    def _solve(
        self, model: Model, start: Float | None, limits: SolveLimits, trace: Trace
    ) -> Outcome:
        import gurobipy

        try:
            with (
                gurobipy.Env(params={"OutputFlag": 0}) as environment,
                gurobipy.Model(model.name, env=environment) as solver,
            ):
                self._set(solver, limits)
                x = _load(solver, model)
                if start is not None:
                    x.Start = start
                _optimize(solver, trace)
                return _outcome(solver, x, model, limits, trace)
        except gurobipy.GurobiError as error:
            raise SolverError(_explained(error, model)) from error

    def _set(self, solver: Any, limits: SolveLimits) -> None:
        settings: dict[str, Any] = {
            "MIPGap": limits.relative_gap,
            "MIPGapAbs": limits.absolute_gap,
            # "Infeasible or unbounded" helps nobody; without these reductions Gurobi can tell.
            "DualReductions": 0,
            # Ten times finer than usual: big-M turns what is not quite whole into room for rows.
            "IntFeasTol": 1e-6,
        }
        if limits.time_limit is not None:
            settings["TimeLimit"] = limits.time_limit
        if limits.n_jobs is not None:
            settings["Threads"] = limits.n_jobs
        for name, value in {**settings, **self.options}.items():
            solver.setParam(name, value)


def _load(solver: Any, model: Model) -> Any:
    """Hand the model over, and return its variables."""
    from gurobipy import GRB

    kinds = np.where(model.integer, GRB.INTEGER, GRB.CONTINUOUS)
    x = solver.addMVar(
        model.n_variables, lb=model.lower, ub=model.upper, obj=model.objective, vtype=kinds
    )
    solver.ObjCon = model.offset
    equal = model.row_lower == model.row_upper
    below = np.isfinite(model.row_upper) & ~equal
    above = np.isfinite(model.row_lower) & ~equal
    for rows, sense, bounds in (
        (equal, "=", model.row_lower),
        (below, "<", model.row_upper),
        (above, ">", model.row_lower),
    ):
        if rows.any():
            solver.addMConstr(model.matrix[rows], x, sense, bounds[rows])
    return x


def _optimize(solver: Any, trace: Trace) -> None:
    """Run the solver, which tells the trace how it goes and stops at Ctrl-C."""
    from gurobipy import GRB

    with interrupts() as interrupted:

        def watch(inner: Any, where: int) -> None:
            if where == GRB.Callback.MIP:
                primal = inner.cbGet(GRB.Callback.MIP_OBJBST)
                dual = inner.cbGet(GRB.Callback.MIP_OBJBND)
                trace.tell_from_callback(_finite(primal, math.inf), _finite(dual, -math.inf))
            if interrupted.is_set() or trace.failure is not None:
                inner.terminate()

        solver.optimize(watch)


def _outcome(solver: Any, x: Any, model: Model, limits: SolveLimits, trace: Trace) -> Outcome:
    from gurobipy import GRB

    by_code = {getattr(GRB, name): word for name, word in _STATUS.items()}
    status = by_code.get(solver.Status)
    if status is None:
        raise SolverError(f"Gurobi gave up with status {solver.Status}.")
    if status in ("infeasible", "unbounded"):
        return trace.outcome(status)
    is_mip = bool(model.integer.any())
    point: Float | None = None
    objective = math.inf
    if solver.SolCount > 0:
        point, objective = np.asarray(x.X, dtype=np.float64), float(solver.ObjVal)
    bound = _finite(float(solver.ObjBound), -math.inf) if is_mip else objective
    if status == "optimal":
        status = limits.optimal_or_gap(objective, bound)
    nodes = int(solver.NodeCount) if is_mip else 0
    return trace.outcome(status, point, objective, bound, nodes)


def _explained(error: Any, model: Model) -> str:
    if error.errno == _TOO_LARGE:
        return (
            f"The model has {model.n_variables} variables and {model.n_constraints} constraints, "
            "more than the licence of Gurobi allows: install a full licence, or use another solver."
        )
    if error.errno == _NO_LICENCE:
        return f"Gurobi found no valid licence: {error}"
    return f"Gurobi failed: {error}"


def _finite(value: float, otherwise: float) -> float:
    return float(value) if abs(value) < 1e100 else otherwise  # GRB.INFINITY
