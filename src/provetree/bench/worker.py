"""Runs one solver on one table in a process of its own (``python -m provetree.bench.worker``).

A fresh process contains a peer's crash or overrun, and no solver inherits another's memory or
caches. The request is a JSON object on standard input; the answer is one JSON line, the last line
of standard output.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from provetree.bench.data import BenchTable
from provetree.bench.solvers import SOLVERS, Fit, warm_up

START_GRACE = 60.0
"""Seconds a worker may need beyond its time limit, for starting and for stopping, before it is
killed."""

REPEAT_BUDGET = 0.5
"""A worker repeats its fit while the fits so far took less than this many seconds."""

LEAST_SPENT = 0.3
"""Fits of milliseconds are repeated until they took this many seconds, whatever `repeat` is."""

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

Outcome = Literal["done", "killed", "crashed", "not_installed"]


@dataclass(frozen=True)
class Run:
    """What became of one worker.

    Parameters
    ----------
    outcome : {"done", "killed", "crashed", "not_installed"}
        ``killed`` where it overran its limit, ``crashed`` where its process died or raised.
    fits : tuple of Fit
        The fits that came back, empty unless done.
    message : str
        Why there are none, in one line.

    Examples
    --------
    >>> from provetree.bench.worker import Run
    >>> Run("killed", (), "overran its limit of 5 s").outcome
    'killed'
    """

    outcome: Outcome
    fits: tuple[Fit, ...]
    message: str = ""


def default_core() -> int | None:
    """Return the core workers are pinned to: the last this process may use, None where unknown.

    Examples
    --------
    >>> from provetree.bench.worker import default_core
    >>> core = default_core()
    >>> core is None or core >= 0
    True
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    return max(os.sched_getaffinity(0))


def one_core_environment() -> dict[str, str]:
    """Return the environment of a worker: this one's, with every thread pool set to one thread.

    Examples
    --------
    >>> from provetree.bench.worker import one_core_environment
    >>> one_core_environment()["OMP_NUM_THREADS"]
    '1'
    """
    return {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, "1")}


def run_worker(
    solver: str,
    table: BenchTable,
    depth: int,
    limit: float,
    *,
    repeat: int = 1,
    core: int | None = None,
    command: Sequence[str] | None = None,
    grace: float = START_GRACE,
    price: float = 0.0,
) -> Run:
    """Fit `solver` on `table` in a fresh process on one core; an overrun is killed.

    Parameters
    ----------
    solver : str
        A name of `provetree.bench.solvers.SOLVERS`.
    table : BenchTable
        The table.
    depth : int
        Maximum depth of the tree.
    limit : float
        Time limit in seconds, given to the solver and enforced from outside.
    repeat : int, default=1
        Most fits to make; only short fits are repeated.
    core : int, optional
        Core to pin the process to, where the system can.
    command : sequence of str, optional
        Command of the worker; this Python and this module when not given.
    grace : float, default=60.0
        Seconds beyond `limit` after which the process is killed.
    price : float, default=0.0
        Price of a leaf, as a share of the rows.

    Returns
    -------
    Run
        What became of it.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench import BenchTable
    >>> from provetree.bench.worker import run_worker
    >>> table = BenchTable("tiny", np.arange(6.0).reshape(-1, 1), np.array([0, 0, 0, 1, 1, 1]))
    >>> run_worker("provetree", table, depth=1, limit=5.0).fits[0].errors
    0
    """
    if command is None:
        if not SOLVERS[solver].installed:
            return Run("not_installed", (), f"{SOLVERS[solver].distribution} is not installed")
        command = (sys.executable, "-m", "provetree.bench.worker")
    with tempfile.TemporaryDirectory(prefix="provetree-bench-") as folder:
        path = Path(folder) / "table.npz"
        np.savez(path, X=table.X, y=table.y)
        request = {
            "solver": solver,
            "name": table.name,
            "path": str(path),
            "depth": depth,
            "limit": limit,
            "repeat": repeat,
            "core": core,
            "price": price,
        }
        try:
            done = subprocess.run(
                command,
                input=json.dumps(request),
                capture_output=True,
                text=True,
                timeout=limit + grace,
                env=one_core_environment(),
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Run("killed", (), f"overran its limit of {limit:g} s")
    if done.returncode != 0:
        return Run("crashed", (), _why(done.returncode, done.stderr))
    answer = json.loads(done.stdout.splitlines()[-1])
    return Run("done", tuple(Fit(**fit) for fit in answer))


def _why(returncode: int, stderr: str) -> str:
    if returncode < 0:
        try:
            return f"ended by signal {signal.Signals(-returncode).name}"
        except ValueError:
            return f"ended by signal {-returncode}"
    lines = [line for line in stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"exit status {returncode}"


def _serve(request: dict[str, Any]) -> list[dict[str, Any]]:
    if request["core"] is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {request["core"]})
    with np.load(request["path"]) as arrays:
        table = BenchTable(request["name"], arrays["X"], arrays["y"])
    solver = SOLVERS[request["solver"]]
    warm_up(solver)
    fits: list[Fit] = []
    spent = 0.0
    # Only solvers that know prices are told one.
    price = (request["price"],) if request["price"] else ()
    while (len(fits) < request["repeat"] and spent < REPEAT_BUDGET) or spent < LEAST_SPENT:
        fits.append(solver.fit(table, request["depth"], request["limit"], *price))
        spent += fits[-1].seconds
    return [asdict(fit) for fit in fits]


def main() -> None:
    """Serve the request on standard input."""
    answer = _serve(json.load(sys.stdin))
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
