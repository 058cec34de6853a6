"""Runs CP-SAT in a process of its own: subproblems (2) and (3), and separation model (8).

ortools and highspy both bring a library named libhighs, of different versions, and one process
cannot hold both; so this module must never import highspy. Requests and answers are pickles on the
standard streams. CP-SAT knows whole numbers only: objectives are multiplied by 1e5, as published.
"""

from __future__ import annotations

import pickle
import sys
import time
from importlib import import_module
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

#: The papers' scaling factor.
SCALE = 1e5


def solve_subproblem(request: dict[str, Any]) -> dict[str, Any]:
    """Solve subproblem (2) or (3) for one leaf.

    Parameters
    ----------
    request : dict
        ``sides``: for each level a matrix (candidates x items), true where the candidate keeps the
        item on the way to the leaf; ``gamma`` and ``allowed`` for each level; ``worth``: items x
        targets; ``item_price``, ``counts``: by item; ``leaf_price``, ``min_count``,
        ``time_limit``, ``workers``.

    Returns
    -------
    dict
        ``status``; ``chosen`` candidates and ``target`` (a position among the targets); ``bound``
        on the objective without alpha, rounding included; CPU ``seconds`` of CP-SAT.
    """
    sat = _cp_model()
    m = sat.CpModel()
    terms: list[Any] = []
    weights: list[float] = []

    def pay(variable: Any, value: float) -> None:
        if value != 0.0:
            terms.append(variable)
            weights.append(value)

    u: list[list[Any]] = []
    for gamma, allowed in zip(request["gamma"], request["allowed"], strict=True):
        row = [m.new_bool_var("") for _ in gamma]
        m.add_exactly_one(row)  # (2b), (3b)
        for variable, price, is_allowed in zip(row, gamma.tolist(), allowed.tolist(), strict=True):
            pay(variable, -price)
            if not is_allowed:
                m.add(variable == 0)
        u.append(row)
    worth: NDArray[np.float64] = request["worth"]
    n_items, n_targets = worth.shape
    w = [m.new_bool_var("") for _ in range(n_targets)]
    m.add_exactly_one(w)  # (3h)
    counts, item_price = request["counts"], request["item_price"]
    leaf_price, min_count = request["leaf_price"], request["min_count"]
    active = m.new_bool_var("")
    counted = []
    for i in range(n_items):
        price = float(item_price[i])
        is_counted = counts[i] > 0 and (leaf_price > 0 or min_count > 1)
        if not np.any(worth[i]) and price == 0.0 and not is_counted:
            continue
        y = m.new_bool_var("")
        follows = [
            sum(row[a] for a in np.flatnonzero(side[:, i]).tolist())
            for row, side in zip(u, request["sides"], strict=True)
        ]
        for side_sum in follows:
            m.add(y <= side_sum)  # (2c), (2d), (3c), (3d)
        m.add(sum(follows) - (len(u) - 1) <= y)  # (2e), (3e)
        pay(y, -price)
        if is_counted:
            m.add(y <= active)
            counted.append((y, int(counts[i])))
        for t, value in enumerate(worth[i].tolist()):
            if value == 0.0:
                continue
            z = m.new_bool_var("")
            if value > 0:
                m.add(z <= y)  # (3f)
                m.add(z <= w[t])  # (3g)
            else:
                m.add(z >= y + w[t] - 1)
            pay(z, value)
    if counted:
        pay(active, -leaf_price)
        m.add(sum(c * y for y, c in counted) >= min_count * active)
    scaled = [round(SCALE * value) for value in weights]
    m.maximize(sum(c * v for c, v in zip(scaled, terms, strict=True)))
    solver = _solver(sat, request)
    start = time.process_time()
    status = solver.solve(m)
    seconds = time.process_time() - start
    if status == sat.INFEASIBLE:
        return {"status": "infeasible", "seconds": seconds}
    if status != sat.OPTIMAL:
        return {"status": "time_limit", "seconds": seconds}
    return {
        "status": "optimal",
        "chosen": [next(a for a, v in enumerate(row) if solver.value(v)) for row in u],
        "target": next(t for t, v in enumerate(w) if solver.value(v)),
        "bound": (solver.best_objective_bound + 0.5 * len(weights)) / SCALE,
        "seconds": seconds,
    }


def solve_separation(request: dict[str, Any]) -> dict[str, Any]:
    """Solve separation model (8); every violated row on the way to the best is returned.

    Parameters
    ----------
    request : dict
        ``per_column``: number of thresholds of each column; ``literals``: for each path its
        (column, threshold, goes right); ``values`` of the paths; ``least``, ``time_limit``.

    Returns
    -------
    dict
        ``status``; ``rows``, each the number of thresholds it is right of, by column; CPU
        ``seconds``.
    """
    sat = _cp_model()
    m = sat.CpModel()
    per_column: list[int] = request["per_column"]
    psi = [[m.new_bool_var("") for _ in range(max(1, n))] for n in per_column]
    for column, n in zip(psi, per_column, strict=True):
        if n == 0:
            m.add(column[0] == 0)  # the split that sends every row left
        for low, high in pairwise(column):
            m.add_implication(low.negated(), high.negated())  # (8c)
    theta = []
    for path in request["literals"]:
        literals = [psi[c][k] if right else psi[c][k].negated() for c, k, right in path]
        t = m.new_bool_var("")
        m.add_bool_and(literals).only_enforce_if(t)  # (8b)
        m.add_bool_or([literal.negated() for literal in literals] + [t])
        theta.append(t)
    values: list[float] = request["values"]
    m.maximize(sum(round(SCALE * v) * t for v, t in zip(values, theta, strict=True)))

    class Collector(sat.CpSolverSolutionCallback):  # type: ignore[misc, name-defined]
        """Keeps every solution on the way to the best."""

        def __init__(self) -> None:
            super().__init__()
            self.rows: list[list[int]] = []

        def on_solution_callback(self) -> None:
            value = sum(v for v, t in zip(values, theta, strict=True) if self.boolean_value(t))
            if value > request["least"]:
                self.rows.append(
                    [
                        sum(int(self.boolean_value(v)) for v in column) if n else 0
                        for column, n in zip(psi, per_column, strict=True)
                    ]
                )

    solver = _solver(sat, request)
    collector = Collector()
    start = time.process_time()
    status = solver.solve(m, collector)
    seconds = time.process_time() - start
    done = status in (sat.OPTIMAL, sat.FEASIBLE)
    return {
        "status": "optimal" if done else "time_limit",
        "rows": collector.rows,
        "seconds": seconds,
    }


def _cp_model() -> Any:
    return import_module("ortools.sat.python.cp_model")


def _solver(sat: Any, request: dict[str, Any]) -> Any:
    solver = sat.CpSolver()
    solver.parameters.num_workers = request.get("workers", 1)
    if np.isfinite(request["time_limit"]):
        solver.parameters.max_time_in_seconds = max(request["time_limit"], 0.01)
    return solver


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until the stream ends."""
    solvers = {"subproblem": solve_subproblem, "separation": solve_separation}
    while True:
        try:
            name, request = pickle.load(requests)
        except EOFError:
            return
        try:
            answer: Any = solvers[name](request)
        except Exception as error:  # told to the other side, which raises it
            answer = {"status": "error", "message": f"{type(error).__name__}: {error}"}
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
