"""The process that runs CP-SAT: a model of whole numbers comes in, progress and a point go out.

OR-Tools and highspy each bring a HiGHS library of their own under one name, so that a process can
load only one of them. The standard streams carry pickled frames between this process and its
parent; a byte, or the end of the input, asks it to stop.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from typing import Any, BinaryIO

__all__ = ["main"]


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Read a model, solve it, and write what happens.

    Parameters
    ----------
    source, target : binary streams
        Where the model comes from, and where frames go to: ``("progress", objective, bound)`` from
        time to time, and last ``("done", status, values, bound, branches)``.
    """
    from ortools.sat.python import cp_model

    task: dict[str, Any] = pickle.load(source)
    model = cp_model.CpModel()
    bounds = zip(task["lower"], task["upper"], strict=True)
    variables = [model.new_int_var(low, high, "") for low, high in bounds]
    starts, columns, values = task["starts"], task["columns"], task["values"]
    for row, (low, high) in enumerate(zip(task["row_lower"], task["row_upper"], strict=True)):
        part = slice(starts[row], starts[row + 1])
        terms = cp_model.LinearExpr.weighted_sum(
            [variables[c] for c in columns[part]], values[part]
        )
        model.add_linear_constraint(terms, low, high)
    used = [i for i, cost in enumerate(task["costs"]) if cost]
    model.minimize(
        cp_model.LinearExpr.weighted_sum(
            [variables[i] for i in used], [task["costs"][i] for i in used]
        )
    )
    for variable, value in zip(variables, task["start"] or (), strict=False):
        model.add_hint(variable, value)

    writing = threading.Lock()

    def send(*frame: object) -> None:
        with writing:
            pickle.dump(frame, target)
            target.flush()

    class Watch(cp_model.CpSolverSolutionCallback):
        best: float | None = None

        def on_solution_callback(self) -> None:
            self.best = self.objective_value
            send("progress", self.best, self.best_objective_bound)

        def bound(self, value: float) -> None:
            send("progress", self.best, value)

    solver = cp_model.CpSolver()
    for name, value in task["parameters"].items():
        setattr(solver.parameters, name, value)
    watch = Watch()
    solver.best_bound_callback = watch.bound

    def wait_for_stop() -> None:
        source.read(1)
        while True:  # asked before the search has begun, it would be forgotten
            solver.stop_search()
            time.sleep(0.02)

    threading.Thread(target=wait_for_stop, daemon=True).start()
    status = solver.solve(model, watch)
    point = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        point = [solver.value(variable) for variable in variables]
    send(
        "done", solver.status_name(status), point, solver.best_objective_bound, solver.num_branches
    )


if __name__ == "__main__":
    # What libraries print goes to the error stream: the standard output carries frames.
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    main(sys.stdin.buffer, frames)
    os._exit(0)  # the thread that waits for a stop still reads
