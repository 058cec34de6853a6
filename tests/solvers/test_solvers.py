"""Every solver through the one interface: points, bounds, starts, limits, Ctrl-C, bad models.

HiGHS is always there; the others are tested where they are installed.
"""

from __future__ import annotations

import importlib
import signal
import sys
import threading

import numpy as np
import pytest

from provetree.solvers.highs import write_model
from provetree.solvers.model import ModelBuilder
from provetree.solvers.solver import (
    SOLVERS,
    SolveLimits,
    SolverError,
    SolverMissingError,
    get_solver,
)
from testkit.interrupts import ctrl_c_within

PACKAGES = {"gurobi": "gurobipy", "scip": "pyscipopt", "cp-sat": "ortools"}


@pytest.fixture(params=sorted(SOLVERS))
def solver(request):
    package = PACKAGES.get(request.param)
    if package is not None:
        pytest.importorskip(package, reason=f"the solver {request.param} is not installed")
    return get_solver(request.param)


def knapsack():
    builder = ModelBuilder("knapsack")
    x = builder.variables("x", 4, upper=1, integer=True, cost=[-5, -4, -3, -1])
    y = builder.variables("y", upper=2.0, cost=-0.5, step=0.5)
    builder.add("(1)", (), (x, [2, 3, 1, 4]), upper=5)
    builder.add("(2)", (), (x[:1], 1.0), (y, 1.0), upper=1.5)
    builder.offset = 20.0
    return builder.build()


def market_split(seed=0, n=40, m=4):
    """Hard for its size: zero is nearly never reached, and bounds stay at zero for ever."""
    rng = np.random.default_rng(seed)
    a = rng.integers(1, 100, (m, n)).astype(float)
    builder = ModelBuilder("market split")
    x = builder.variables("x", n, upper=1, integer=True)
    over = builder.variables("over", m, upper=a.sum(), cost=1.0, step=1.0)
    under = builder.variables("under", m, upper=a.sum(), cost=1.0, step=1.0)
    target = np.floor(a.sum(axis=1) / 2)
    columns = np.column_stack([np.tile(x, (m, 1)), over, under])
    coefficients = np.column_stack([a, -np.ones(m), np.ones(m)])
    builder.add("(1)", m, (columns, coefficients), equals=target)
    return builder.build(), target


def test_optimum_bound_and_trace(solver):
    model = knapsack()
    seen = []
    outcome = solver.solve(model, on_progress=seen.append)
    assert outcome.status == "optimal"
    assert outcome.objective == pytest.approx(20 - 9 - 0.25)
    assert outcome.bound == pytest.approx(outcome.objective)
    assert model.violation(outcome.point).size < 1e-6
    assert model.value(outcome.point) == pytest.approx(outcome.objective)
    assert outcome.history[-1].objective == pytest.approx(outcome.objective)
    objectives = [moment.objective for moment in outcome.history]
    bounds = [moment.bound for moment in outcome.history]
    assert objectives == sorted(objectives, reverse=True)
    assert bounds == sorted(bounds)


def test_random_models_agree_with_every_point(solver):
    rng = np.random.default_rng(5)
    # Each solve of CP-SAT starts a process.
    for _ in range(3 if type(solver).__name__ == "CpSat" else 12):
        n, m = 6, 4
        builder = ModelBuilder("random")
        cost = rng.integers(-5, 6, n)
        x = builder.variables("x", n, upper=1, integer=True, cost=cost)
        a = rng.integers(-3, 4, (m, n)).astype(float)
        upper = rng.integers(-4, 4, m).astype(float)
        builder.add("(1)", m, (np.tile(x, (m, 1)), a), lower=upper - 3, upper=upper)
        model = builder.build()
        points = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        activity = points @ a.T
        inside = ((activity <= upper) & (activity >= upper - 3)).all(axis=1)
        outcome = solver.solve(model)
        if not inside.any():
            assert outcome.status == "infeasible"
            assert outcome.point is None
        else:
            assert outcome.status == "optimal"
            assert outcome.objective == pytest.approx((points[inside] @ cost).min())


def test_infeasible_and_unbounded(solver):
    builder = ModelBuilder("infeasible")
    x = builder.variables("x", 2, upper=1, integer=True)
    builder.add("(1)", (), (x, 1.0), lower=3)
    outcome = solver.solve(builder.build())
    assert (outcome.status, outcome.point, outcome.bound) == ("infeasible", None, np.inf)

    builder = ModelBuilder("unbounded")
    x = builder.variables("x", 1, upper=3, integer=True)
    y = builder.variables("y", 2, cost=-1.0, step=1.0)
    builder.add("(1)", (), (np.append(x, y), [1.0, 1.0, -1.0]), equals=0)
    if type(solver).__name__ == "CpSat":
        with pytest.raises(SolverError, match="needs bounds on all variables"):
            solver.solve(builder.build())
    else:
        assert solver.solve(builder.build()).status == "unbounded"


def test_a_start_is_used(solver):
    model, target = market_split()
    point = np.zeros(model.n_variables)
    point[model.variable("under").positions] = target
    assert model.violation(point).size == 0
    outcome = solver.solve(model, start=point, limits=SolveLimits(time_limit=0.5))
    assert outcome.status == "time_limit"
    assert outcome.objective <= target.sum() + 1e-6
    assert outcome.bound <= outcome.objective
    assert model.violation(outcome.point).size < 1e-5


def test_ctrl_c_keeps_the_best_point(solver):
    model, target = market_split(1)
    point = np.zeros(model.n_variables)
    point[model.variable("under").positions] = target
    with ctrl_c_within(sys.modules[type(solver).__module__], "interrupts"):
        outcome = solver.solve(model, start=point, limits=SolveLimits(time_limit=600))
    assert outcome.status == "interrupted"
    assert outcome.objective <= target.sum() + 1e-6
    assert 0 - 1e-6 <= outcome.bound <= outcome.objective
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_in_the_callback_comes_back(solver):
    model, target = market_split(2)
    point = np.zeros(model.n_variables)
    point[model.variable("under").positions] = target

    def fail(moment):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        solver.solve(model, start=point, limits=SolveLimits(time_limit=60), on_progress=fail)


def test_gap_limit(solver):
    model, _ = market_split(3, n=12, m=1)
    outcome = solver.solve(model, limits=SolveLimits(relative_gap=0.99, absolute_gap=1e9))
    assert outcome.status in ("optimal", "gap_limit")
    assert outcome.bound <= outcome.objective


def test_in_another_thread(solver):
    found = []
    thread = threading.Thread(target=lambda: found.append(solver.solve(knapsack())))
    thread.start()
    thread.join()
    assert found[0].status == "optimal"


def test_unknown_and_missing_solvers(monkeypatch):
    with pytest.raises(ValueError, match="must be one of 'highs', 'gurobi', 'scip', 'cp-sat'"):
        get_solver("nope")
    real = importlib.import_module

    def absent(name, *rest):
        if name == "provetree.solvers.scip":
            raise ImportError("No module named 'pyscipopt'")
        return real(name, *rest)

    monkeypatch.setattr("provetree.solvers.solver.import_module", absent)
    with pytest.raises(SolverMissingError, match=r"pip install 'provetree\[scip\]'"):
        get_solver("scip")


def test_gurobi_says_that_a_licence_is_too_small():
    pytest.importorskip("gurobipy", reason="the solver gurobi is not installed")
    builder = ModelBuilder("large")
    x = builder.variables("x", 3000, upper=1, integer=True, cost=-1.0)
    builder.add("(1)", (), (x, 1.0), upper=5)
    model = builder.build()
    try:
        outcome = get_solver("gurobi").solve(model)
    except SolverError as error:
        assert "more than the licence of Gurobi allows" in str(error)  # noqa: PT017
    else:  # a full licence
        assert outcome.objective == -5


def test_cpsat_refuses_what_is_not_whole():
    pytest.importorskip("ortools", reason="the solver cp-sat is not installed")
    solver = get_solver("cp-sat")
    builder = ModelBuilder("free")
    builder.variables("y", upper=1.0)
    with pytest.raises(SolverError, match="the variable y of the model may take any value"):
        solver.solve(builder.build())
    # Every number is near a fraction of six digits; near is not enough.
    for odd in ([np.pi, np.e], [0.12345678912, 1.0], [1.0, np.sqrt(2) * 1e-3]):
        builder = ModelBuilder("odd")
        x = builder.variables("x", 2, upper=1, integer=True, cost=-1.0)
        builder.add("(1)", (), (x, odd), upper=3)
        with pytest.raises(SolverError, match="not fractions of small numbers"):
            solver.solve(builder.build())


def test_highs_names_a_bad_option():
    from provetree.solvers.highs import Highs

    with pytest.raises(SolverError, match="does not take the option nonsense = 1"):
        Highs({"nonsense": 1}).solve(knapsack())


@pytest.mark.parametrize("ending", ["mps", "lp"])
def test_files_hold_the_model(tmp_path, ending):
    import highspy

    path = tmp_path / f"model.{ending}"
    write_model(knapsack(), path)
    reader = highspy.Highs()
    reader.setOptionValue("output_flag", False)
    reader.readModel(str(path))
    reader.run()
    assert reader.getInfo().objective_function_value == pytest.approx(10.75)
    assert reader.getLp().col_names_ == ["x_1", "x_2", "x_3", "x_4", "y"]


def test_bad_paths(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.mps or \.lp"):
        write_model(knapsack(), tmp_path / "model.txt")
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        write_model(knapsack(), tmp_path / "nowhere" / "model.mps")
