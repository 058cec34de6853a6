"""HiGHS as a solver, and as the writer of MPS and LP files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import highspy
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

__all__ = ["Highs", "quiet_highs", "write_model"]


_Status = highspy.HighsModelStatus
_Kind = highspy.cb.HighsCallbackType
#: Each of these callbacks tells primal and dual bound; the last may stop the search.
_TOLD_BY = (
    _Kind.kCallbackMipImprovingSolution,
    _Kind.kCallbackMipLogging,
    _Kind.kCallbackMipInterrupt,
)
_STOPPABLE = (_Kind.kCallbackMipInterrupt, _Kind.kCallbackSimplexInterrupt)
#: The presolve rule "enumeration", new in HiGHS 1.14, cuts off optima: small models of trees were
#: called infeasible, or a poor start optimal (seen in 1.14.0 and 1.15.1, not in 1.13.1).
FAULTY_PRESOLVE = 1 << 16
#: Presolve hardly looks at the clock. It does not begin on a model with more entries than so many
#: for each second of the time limit: it took 40 s over a limit of 10 s for half a million.
_PRESOLVED_PER_SECOND = 20_000
_WRITABLE = (".mps", ".lp", ".mps.gz", ".lp.gz")


class Highs(BaseSolver):
    """The solver HiGHS.

    Parameters
    ----------
    options : dict, optional
        Options of HiGHS, by name.

    Examples
    --------
    >>> from provetree.solvers.highs import Highs
    >>> from provetree.solvers.model import ModelBuilder
    >>> builder = ModelBuilder("small")
    >>> x = builder.variables("x", 2, upper=3, integer=True, cost=[-1, -1])
    >>> builder.add("(1)", (), (x, [2, 2]), upper=7)
    >>> Highs({"random_seed": 1}).solve(builder.build()).objective
    -3.0
    """

    def _solve(
        self, model: Model, start: Float | None, limits: SolveLimits, trace: Trace
    ) -> Outcome:
        outcome = self._run(model, start, limits, trace, {})
        if outcome.status == "infeasible" and self.options.get("presolve") != "off":
            # Presolve has called feasible models infeasible in many versions of HiGHS, so that
            # word is taken only if the search without it says the same.
            if limits.time_limit is not None:
                left = limits.time_limit - trace.seconds
                limits = replace(limits, time_limit=max(left, 0.01))
            again = Trace(trace.on_progress, started=trace.started)
            outcome = self._run(model, start, limits, again, {"presolve": "off"})
        return outcome

    def _run(
        self,
        model: Model,
        start: Float | None,
        limits: SolveLimits,
        trace: Trace,
        options: dict[str, Any],
    ) -> Outcome:
        solver = _loaded(model)
        self._set(solver, model, limits, options)
        if start is not None:
            point = highspy.HighsSolution()
            point.col_value = np.asarray(start, dtype=np.float64).tolist()
            point.value_valid = True
            solver.setSolution(point)
        with _own_threads(limits), interrupts() as interrupted:

            def watch(kind: Any, message: str, out: Any, answer: Any, data: Any) -> None:
                if kind in _TOLD_BY:
                    primal = _finite(out.mip_primal_bound, math.inf)
                    trace.tell_from_callback(primal, out.mip_dual_bound)
                if kind in _STOPPABLE and (interrupted.is_set() or trace.failure is not None):
                    answer.user_interrupt = True

            solver.setCallback(watch, None)
            for kind in {*_TOLD_BY, *_STOPPABLE}:
                solver.startCallback(kind)
            solver.run()
            solver.setCallback(None, None)
            return _outcome(solver, model, limits, trace)

    def _set(self, solver: Any, model: Model, limits: SolveLimits, options: dict[str, Any]) -> None:
        """Set the options of a run: limits, the user's, and those of this run."""
        wanted: dict[str, Any] = {
            "mip_rel_gap": limits.relative_gap,
            "mip_abs_gap": limits.absolute_gap,
            "time_limit": math.inf if limits.time_limit is None else limits.time_limit,
        }
        if limits.n_jobs is not None:
            wanted["threads"] = limits.n_jobs
        if model.matrix.nnz > _PRESOLVED_PER_SECOND * wanted["time_limit"]:
            wanted["presolve"] = "off"
        wanted |= {**self.options, **options}
        wanted["presolve_rule_off"] = wanted.get("presolve_rule_off", 0) | FAULTY_PRESOLVE
        for name, value in wanted.items():
            if solver.setOptionValue(name, value) == highspy.HighsStatus.kError:
                raise SolverError(f"HiGHS does not take the option {name} = {value!r}.")


@contextmanager
def _own_threads(limits: SolveLimits) -> Iterator[None]:
    """Let a solve have its number of threads.

    HiGHS keeps the threads of a solve for the next one, and gives up where that asks for another
    number of them.
    """
    forget = getattr(highspy.Highs, "resetGlobalScheduler", None)  # not in the oldest versions
    if limits.n_jobs is None or forget is None:
        yield
        return
    forget(True)
    try:
        yield
    finally:
        forget(True)


def write_model(model: Model, path: str | Path) -> None:
    """Write a model to an MPS or LP file.

    Parameters
    ----------
    model : Model
    path : str or pathlib.Path
        The file; its ending, .mps or .lp, says in which format.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree.solvers.highs import write_model
    >>> from provetree.solvers.model import ModelBuilder
    >>> builder = ModelBuilder("small")
    >>> x = builder.variables("x", 2, upper=3, integer=True, cost=[-1, -1])
    >>> builder.add("(1)", (), (x, [2, 2]), upper=7)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.mps"
    >>> write_model(builder.build(), path)
    >>> "x_1" in path.read_text()
    True
    """
    target = Path(path)
    if not target.name.lower().endswith(_WRITABLE):
        raise ValueError(f"The path of a model must end in .mps or .lp. Got '{target}' instead.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder '{target.parent}' to write the model to.")
    solver = _loaded(model, named=True)
    if solver.writeModel(str(target)) == highspy.HighsStatus.kError:
        raise OSError(f"The model could not be written to '{target}'.")


def quiet_highs(**options: Any) -> Any:
    """Return HiGHS without a model, silent, with some of its options set."""
    untyped: Any = highspy  # some versions type the class, but not its constructor
    solver = untyped.Highs()
    for name, value in {"output_flag": False, **options}.items():
        solver.setOptionValue(name, value)
    return solver


def _loaded(model: Model, *, named: bool = False) -> Any:
    """Return HiGHS with the model in it, silent."""
    solver = quiet_highs()
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = model.n_variables, model.n_constraints
    lp.model_name_ = "".join(c if c.isalnum() else "_" for c in model.name)
    lp.offset_ = model.offset
    lp.col_cost_ = model.objective
    lp.col_lower_, lp.col_upper_ = model.lower, model.upper
    lp.row_lower_, lp.row_upper_ = model.row_lower, model.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = model.matrix.indptr
    lp.a_matrix_.index_ = model.matrix.indices
    lp.a_matrix_.value_ = model.matrix.data
    if model.integer.any():
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[whole] for whole in model.integer.tolist()]
    if named:
        lp.col_names_ = model.variable_names()
        lp.row_names_ = model.constraint_names()
    if solver.passModel(lp) == highspy.HighsStatus.kError:
        raise SolverError("HiGHS does not take the model: it holds numbers that are not allowed.")
    return solver


def _outcome(solver: Any, model: Model, limits: SolveLimits, trace: Trace) -> Outcome:
    status = solver.getModelStatus()
    if status == _Status.kModelEmpty:
        return trace.outcome("optimal", np.empty(0), model.offset, model.offset)
    if status in (_Status.kInfeasible, _Status.kUnboundedOrInfeasible):
        # "Unbounded or infeasible" is infeasible where every variable has bounds.
        infeasible = status == _Status.kInfeasible or model.is_bounded
        return trace.outcome("infeasible" if infeasible else "unbounded")
    if status == _Status.kUnbounded:
        return trace.outcome("unbounded")
    is_mip = bool(model.integer.any())
    info = solver.getInfo()
    point: Float | None = None
    objective, bound = math.inf, -math.inf
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        point = np.asarray(solver.getSolution().col_value, dtype=np.float64)
        objective = float(info.objective_function_value)
    if is_mip:
        bound = _finite(info.mip_dual_bound, -math.inf)
    elif status == _Status.kOptimal:
        bound = objective
    word: OutcomeStatus
    if status == _Status.kOptimal:
        word = limits.optimal_or_gap(objective, bound)
    elif status == _Status.kTimeLimit:
        word = "time_limit"
    elif status == _Status.kInterrupt:
        word = "interrupted"
    else:
        raise SolverError(f"HiGHS gave up: {solver.modelStatusToString(status).lower()}.")
    nodes = max(0, int(info.mip_node_count)) if is_mip else 0
    return trace.outcome(word, point, objective, bound, nodes)


def _finite(value: float, otherwise: float) -> float:
    return float(value) if abs(value) < highspy.kHighsInf else otherwise
