"""The process that runs CP-SAT: models of whole numbers come in, progress and points go out.

OR-Tools and highspy each bring a HiGHS library of their own under one name, so that a process can
load only one of them: this module must never import highspy. The standard streams carry pickles.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, BinaryIO

__all__ = ["serve", "solve"]


def solve(task: dict[str, Any], stop: threading.Event, send: Callable[..., None]) -> None:
    """Solve one model and send what happens.

    Parameters
    ----------
    task : dict
        The model in whole numbers: ``lower``, ``upper`` and ``costs`` of the variables; ``starts``,
        ``columns``, ``values``, ``row_lower`` and ``row_upper`` of the constraints; a ``start`` or
        None; ``parameters`` of CP-SAT; ``send_points``, whether every better point is sent.
    stop : threading.Event
        Set when the solve is to stop.
    send : callable
        Takes frames: ``("progress", objective, bound, point)`` from time to time, and last
        ``("done", status, point, bound, branches, processor seconds)``.
    """
    from ortools.sat.python import cp_model

    model, variables = _model(task)

    class Watch(cp_model.CpSolverSolutionCallback):
        best: float | None = None

        def on_solution_callback(self) -> None:
            self.best = self.objective_value
            point = [self.value(v) for v in variables] if task["send_points"] else None
            send("progress", self.best, self.best_objective_bound, point)

        def bound(self, value: float) -> None:
            send("progress", self.best, value, None)

    solver = cp_model.CpSolver()
    for name, value in task["parameters"].items():
        setattr(solver.parameters, name, value)
    watch = Watch()
    solver.best_bound_callback = watch.bound
    ended = threading.Event()

    def stop_when_asked() -> None:
        stop.wait()
        while not ended.is_set():  # asked before the search has begun, it would be forgotten
            solver.stop_search()
            time.sleep(0.02)

    threading.Thread(target=stop_when_asked, daemon=True).start()
    begun = time.process_time()
    status = solver.solve(model, watch)
    seconds = time.process_time() - begun
    ended.set()
    stop.set()  # lets the thread go
    point = None
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        point = [solver.value(variable) for variable in variables]
    name, bound = solver.status_name(status), solver.best_objective_bound
    send("done", name, point, bound, solver.num_branches, seconds)


def _model(task: dict[str, Any]) -> tuple[Any, list[Any]]:
    """Return CP-SAT's form of a model, and its variables."""
    from ortools.sat.python import cp_model

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
    return model, variables


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Solve the models that come in, one after another, until the input ends.

    None in place of a model asks the current solve to stop.
    """
    tasks: queue.Queue[dict[str, Any]] = queue.Queue()
    current: list[threading.Event] = [threading.Event()]

    def listen() -> None:
        while True:
            try:
                message = pickle.load(source)
            except EOFError:
                os._exit(0)  # nobody is there to take an answer
            if message is None:
                current[0].set()
            else:
                current[0] = threading.Event()
                tasks.put(message)

    writing = threading.Lock()

    def send(*frame: object) -> None:
        with writing:
            pickle.dump(frame, target)
            target.flush()

    threading.Thread(target=listen, daemon=True).start()
    while True:
        task = tasks.get()
        try:
            solve(task, current[0], send)
        except Exception as error:  # told to the other side, which raises it
            send("failed", f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    # What libraries print goes to the error stream: the standard output carries frames.
    frames = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, frames)
