"""Workers: a crash, an overrun or rubbish in a solver's process is contained and told."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from provetree.bench import process, worker
from provetree.bench.data import BenchTable
from provetree.bench.solvers import SOLVERS, Solver

TABLE = BenchTable("tiny", np.arange(8.0).reshape(-1, 1), np.array([0, 0, 0, 0, 1, 1, 1, 0]))


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_answer_is_the_last_line() -> None:
    fit = {"seconds": 0.5, "errors": 1, "errors_float32": 1, "proven": True, "lower_bound": None}
    run = worker.run_worker(
        "provetree",
        TABLE,
        1,
        5.0,
        command=python(f"print('chatter'); print({json.dumps([fit])!r})"),
    )
    assert run.outcome == "done"
    assert run.fits[0].errors == 1


def test_request_carries_the_table() -> None:
    code = (
        "import json, sys, numpy; r = json.load(sys.stdin); a = numpy.load(r['path']);"
        "assert a['X'].shape == (8, 1) and a['y'].sum() == 3;"
        "assert r['depth'] == 2 and r['repeat'] == 4;"
        "print('[]')"
    )
    run = worker.run_worker("provetree", TABLE, 2, 5.0, repeat=4, command=python(code))
    assert run.outcome == "done", run.message


def test_crash_is_told_in_one_line() -> None:
    run = worker.run_worker("provetree", TABLE, 1, 5.0, command=python("raise SystemError('no')"))
    assert run.outcome == "crashed"
    assert run.message == "SystemError: no"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_abort_is_contained() -> None:
    run = worker.run_worker("provetree", TABLE, 1, 5.0, command=python("import os; os.abort()"))
    assert run.outcome == "crashed"
    assert run.message == "ended by signal SIGABRT"


def test_overrun_is_killed() -> None:
    run = worker.run_worker(
        "provetree", TABLE, 1, 0.2, grace=0.3, command=python("import time; time.sleep(36000)")
    )
    assert run.outcome == "killed"
    assert run.message == "overran its limit of 0.2 s"


def test_our_own_solver_runs_in_a_worker() -> None:
    run = worker.run_worker("provetree", TABLE, 2, 10.0, repeat=3, core=process.default_core())
    assert run.outcome == "done", run.message
    assert len(run.fits) >= 3  # fits of milliseconds are repeated more often
    assert all(fit.proven and fit.errors == 0 for fit in run.fits)


def test_a_missing_solver_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Solver, "installed", property(lambda self: False))
    run = worker.run_worker("pycontree", TABLE, 2, 10.0)
    assert (run.outcome, run.message) == ("not_installed", "pycontree is not installed")


@pytest.mark.skipif(not SOLVERS["pycontree"].installed, reason="pycontree is not installed")
def test_pycontree_runs_in_a_worker() -> None:
    run = worker.run_worker("pycontree", TABLE, 2, 10.0)
    assert run.outcome == "done", run.message
    assert run.fits[0].proven
    assert run.fits[0].errors == 0


def test_one_thread_per_library() -> None:
    environment = process.one_core_environment()
    assert environment["OMP_NUM_THREADS"] == environment["OPENBLAS_NUM_THREADS"] == "1"
