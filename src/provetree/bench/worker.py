"""Runs one solver on one table in a process of its own (``python -m provetree.bench.worker``).

The request is a JSON object on standard input; the answer is one JSON line, the last line of
standard output.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from provetree.bench.data import BenchTable
from provetree.bench.process import START_GRACE, ask, pin
from provetree.bench.solvers import SOLVERS, Fit, warm_up

REPEAT_BUDGET = 0.5
"""A worker repeats its fit while the fits so far took less than this many seconds."""

LEAST_SPENT = 0.3
"""Fits of milliseconds are repeated until they took this many seconds, whatever `repeat` is."""

Outcome = Literal["done", "killed", "crashed", "not_installed"]


@dataclass(frozen=True)
class Run:
    """What became of one worker.

    Examples
    --------
    >>> from provetree.bench.worker import Run
    >>> Run("killed", (), "overran its limit of 5 s").outcome
    'killed'
    """

    #: ``killed`` where it overran its limit, ``crashed`` where its process died or raised.
    outcome: Outcome
    fits: tuple[Fit, ...]  # the fits that came back, empty unless done
    message: str = ""  # why there are none, in one line


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

    The limit in seconds is given to the solver, and enforced from outside after `grace` seconds
    more. Only short fits are repeated. The price of a leaf is a share of the rows. The command of
    the worker is this Python and this module when not given.

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
        answer = ask(command, request, limit, grace)
    return Run(answer.outcome, tuple(Fit(**fit) for fit in answer.value or ()), answer.message)


def main() -> None:
    """Serve the request on standard input."""
    request = json.load(sys.stdin)
    pin(request["core"])
    with np.load(request["path"]) as arrays:
        table = BenchTable(request["name"], arrays["X"], arrays["y"])
    solver = SOLVERS[request["solver"]]
    warm_up(solver)
    fits: list[Fit] = []
    spent = 0.0
    # Only solvers that know prices take one.
    price = (request["price"],) if request["price"] else ()
    while (len(fits) < request["repeat"] and spent < REPEAT_BUDGET) or spent < LEAST_SPENT:
        fits.append(solver.fit(table, request["depth"], request["limit"], *price))
        spent += fits[-1].seconds
    print(json.dumps([asdict(fit) for fit in fits]), flush=True)


if __name__ == "__main__":
    main()
