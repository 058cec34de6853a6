"""Fits one model of ``bench tasks`` in a process of its own (``python -m ...task_solvers``).

The request is a JSON object on standard input; the answer is the last line of standard output.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from provetree.bench.process import START_GRACE, Answer, ask, pin
from provetree.bench.task_tables import TaskTable, read_task_table

__all__ = ["STREED_TASKS", "Measured", "Request", "fit", "missing_peer", "solve"]

#: Criteria of classes; the others are of numbers, and "policy" of rewards.
_OF_CLASSES = ("errors", "gini", "entropy", "pessimistic")
#: STreeD has two tasks for squared errors: the plain one, and its default, here at no price.
STREED_TASKS = {"pystreed": "regression", "pystreed-default": "cost-complex-regression"}
#: Fits of milliseconds are repeated until they took this many seconds; the best counts.
_LEAST_SPENT = 0.3


@dataclass(frozen=True)
class Request:
    """One model on one table.

    Examples
    --------
    >>> from provetree.bench.task_solvers import Request
    >>> Request(("numbers", "boston"), "squared_error", 3, 60.0).solver
    'provetree'
    """

    table: tuple[Any, ...]  # what :func:`~provetree.bench.task_tables.read_task_table` takes
    criterion: str
    depth: int
    limit: float
    solver: str = "provetree"
    core: int | None = None


@dataclass(frozen=True)
class Measured:
    """What came of a request.

    Examples
    --------
    >>> from provetree.bench.task_solvers import Measured
    >>> Measured("9 x 2", 0.1, 0.09, 3.5, 3.5, True).proven
    True
    """

    shape: str = ""
    seconds: float | None = None  # wall time of ``fit``
    search: float | None = None  # the part of it that the search took
    cost: float | None = None  # the objective of the tree
    bound: float | None = None  # what is proven, where the solver says
    proven: bool = False
    message: str = ""  # why there is nothing, in one line


def solve(request: Request) -> Measured:
    """Fit in a process of its own, on one core.

    Examples
    --------
    >>> from provetree.bench.task_solvers import Request, solve
    >>> solve(Request(("mixed", 40, 3, 1.0), "squared_error", 1, 5.0)).proven
    True
    """
    command = (sys.executable, "-m", "provetree.bench.task_solvers")
    answer: Answer = ask(command, asdict(request), request.limit, START_GRACE)
    return Measured(message=answer.message) if answer.value is None else Measured(**answer.value)


def missing_peer(solver: str) -> str | None:
    """Return one sentence if a solver is not installed, else None.

    Examples
    --------
    >>> from provetree.bench.task_solvers import missing_peer
    >>> missing_peer("provetree") is None
    True
    """
    module = solver.partition("-")[0]
    if importlib.util.find_spec(module) is not None:
        return None
    return f"{module} is not installed, and is left out: pip install 'provetree[bench]'."


def fit(request: Request) -> Measured:
    """Fit here, and fits of milliseconds again; the shortest counts."""
    table = read_task_table(*request.table)
    fit_one = _fit_streed if request.solver in STREED_TASKS else _fit_ours
    warm = replace(request, depth=1, limit=5.0)
    fit_one(table.rows(np.arange(min(50, len(table.y)))), warm)
    best = fit_one(table, request)
    spent = best.seconds or 0.0
    while 0 < spent < _LEAST_SPENT:
        again = fit_one(table, request)
        spent += again.seconds or _LEAST_SPENT
        best = min(best, again, key=lambda one: one.seconds or 0.0)
    return best


def _fit_ours(table: TaskTable, request: Request) -> Measured:
    model = _model(table, request)
    begun = time.perf_counter()
    model.fit(table.X, table.y)
    seconds = time.perf_counter() - begun
    search = float(model.history_[-1].seconds) if model.history_ else None
    costs = (float(model.objective_), float(model.lower_bound_))
    if request.criterion == "squared_error":
        costs = (_squared_error(model, table), costs[1])
    proven = model.status_ == "optimal"
    return Measured(table.shape_text, seconds, search, *costs, proven)


def _model(table: TaskTable, request: Request) -> Any:
    models: Any = importlib.import_module("provetree")
    options: dict[str, Any] = {"max_depth": request.depth, "time_limit": request.limit}
    if table.categorical:
        options["categorical_features"] = list(table.categorical)
    if request.criterion == "policy":
        return models.OptimalPolicyTree(**options)
    options["criterion"] = request.criterion
    if request.criterion in _OF_CLASSES:
        return models.OptimalTreeClassifier(**options)
    return models.OptimalTreeRegressor(**options)


def _squared_error(model: Any, table: TaskTable) -> float:
    """Return the cost as anyone can work it out from the predictions."""
    return float(((np.asarray(model.predict(table.X)).reshape(table.y.shape) - table.y) ** 2).sum())


def _fit_streed(table: TaskTable, request: Request) -> Measured:
    from pystreed import STreeDRegressor

    # The bins of a column become the questions "is it at most k"; otherwise its own defaults.
    X = np.column_stack(
        [column <= k for column in table.X.T for k in np.unique(column)[:-1]]
    ).astype(np.int32)
    model = STreeDRegressor(
        STREED_TASKS[request.solver],
        max_depth=request.depth,
        time_limit=request.limit,
        cost_complexity=0.0,
    )
    begun = time.perf_counter()
    model.fit(X, table.y)
    seconds = time.perf_counter() - begun
    cost = float(((np.asarray(model.predict(X)) - table.y) ** 2).sum())
    proven = bool(model.fit_result.is_optimal())
    return Measured(table.shape_text, seconds, None, cost, None, proven)


def _serve(given: dict[str, Any]) -> dict[str, Any]:
    words: Sequence[Any] = given.pop("table")
    request = Request(tuple(words), **given)
    pin(request.core)
    return asdict(fit(request))


if __name__ == "__main__":
    print(json.dumps(_serve(json.load(sys.stdin))), flush=True)
