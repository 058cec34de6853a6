"""The solvers a benchmark can run: this library and its peers, behind one function each.

A solver function takes a table, a depth and a time limit, fits once and says what came out.
Functions import their library inside, so that a missing peer is reported and not fatal.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Literal

import numpy as np

from provetree.bench.data import BenchTable


@dataclass(frozen=True)
class Fit:
    """What one call of a solver's ``fit`` gave.

    Examples
    --------
    >>> from provetree.bench.solvers import Fit
    >>> Fit(seconds=0.5, errors=3, errors_float32=3, proven=True, lower_bound=None).proven
    True
    """

    seconds: float  # processor time of ``fit``, without imports and without counting the errors
    #: Training errors of the returned tree, counted from its predictions on the table as given.
    errors: int
    #: The same, counted on the table rounded to float32: what a solver that works in float32 has
    #: proven.
    errors_float32: int
    proven: bool  # whether the solver claims to have proven its tree optimal
    lower_bound: float | None  # proven lower bound on the errors, where the solver tells one
    cost: float | None = None  # errors plus the price of the leaves, where leaves have a price
    depth: int | None = None  # depth of the tree, for solvers that have no limit on the depth


SolverFunction = Callable[..., Fit]
"""``fit(table, depth, limit)``, and ``fit(table, depth, limit, price)`` where leaves may have a
price (a share of the rows)."""


@dataclass(frozen=True)
class Solver:
    """A solver by name.

    Examples
    --------
    >>> from provetree.bench.solvers import SOLVERS
    >>> SOLVERS["provetree"].installed
    True
    """

    name: str  # name used on the command line and in the reports
    distribution: str  # name of the Python distribution, for its version
    module: str  # module whose presence tells that the solver is installed
    fit: SolverFunction  # ``fit(table, depth, limit) -> Fit``
    priced: Literal["no", "can", "must"] = "no"  # whether its leaves have a price

    @property
    def installed(self) -> bool:
        """Whether the solver can be imported here."""
        return importlib.util.find_spec(self.module) is not None

    @property
    def version(self) -> str | None:
        """Installed version, or None."""
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return None


def _fit_seconds(model: Any, X: object, y: object) -> float:
    # Solvers have one thread each: on an idle machine that is what a user waits for, and on a busy
    # one it does not depend on what else is running.
    start = time.process_time()
    model.fit(X, y)
    return time.process_time() - start


def _count(predictions: object, table: BenchTable) -> int:
    return int(np.count_nonzero(np.asarray(predictions) != table.y))


def _errors(model: Any, table: BenchTable) -> tuple[int, int]:
    """Return the errors on a table, and on the table rounded to float32."""
    rounded = table.rounded_to_float32()
    return _count(model.predict(table.X), table), _count(model.predict(rounded.X), table)


def _cost(errors: int, n_leaves: int, table: BenchTable, price: float) -> float | None:
    return errors + price * len(table.y) * n_leaves if price else None


def _fit_provetree(table: BenchTable, depth: int, limit: float, price: float = 0.0) -> Fit:
    from provetree import OptimalTreeClassifier

    # A price per leaf in shares of the rows is a penalty per split in shares of the root's error.
    root_error = len(table.y) - int(np.bincount(table.y).max())
    alpha = price * len(table.y) / root_error if price and root_error else 0.0
    model = OptimalTreeClassifier(max_depth=depth, alpha=alpha, time_limit=limit)
    seconds = _fit_seconds(model, table.X, table.y)
    errors = _errors(model, table)
    cost = _cost(errors[0], model.get_n_leaves(), table, price)
    return Fit(seconds, *errors, model.status_ == "optimal", float(model.lower_bound_), cost)


def _fit_itemsets(**options: Any) -> SolverFunction:
    """DL8 or DL8.5 of this library; other columns than Boolean ones are made so beforehand."""

    def fit(table: BenchTable, depth: int, limit: float) -> Fit:
        from provetree import Binarizer, DL85Classifier

        X: np.ndarray[Any, Any] = table.X
        if not np.isin(X, (0.0, 1.0)).all():
            X = Binarizer("optimal-depth-one").fit(X, table.y).transform(X)
        model = DL85Classifier(max_depth=depth, time_limit=limit, **options)
        seconds = _fit_seconds(model, X, table.y)
        errors = _count(model.predict(X), table)
        return Fit(seconds, errors, errors, model.status_ == "optimal", float(model.lower_bound_))

    return fit


def _fit_pycontree(table: BenchTable, depth: int, limit: float) -> Fit:
    from pycontree import ConTree

    # A gap of zero asks for a proof; upper bounds and the order by Gini index are its own
    # (faster) defaults.
    model = ConTree(
        max_depth=depth, max_gap=0, use_upper_bound=True, sort_gini=True, time_limit=limit
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seconds = _fit_seconds(model, table.X, table.y)
    # It tells of a time limit by a warning only, and of the errors not at all: they are counted
    # from predictions.
    stopped = any("time limit" in str(warning.message) for warning in caught)
    return Fit(seconds, *_errors(model, table), not stopped, None)


def _fit_binary(model: Any, table: BenchTable) -> tuple[float, int, int]:
    """Fit a peer that takes columns of 0 and 1; return seconds and errors, alike in float32."""
    X, y = _binary(table)
    seconds = _fit_seconds(model, X, y)
    errors = _count(model.predict(X), table)
    return seconds, errors, errors


def _fit_pystreed(table: BenchTable, depth: int, limit: float, price: float = 0.0) -> Fit:
    from pystreed import STreeDClassifier

    task = "cost-complex-accuracy" if price else "accuracy"
    model = STreeDClassifier(task, max_depth=depth, time_limit=limit, cost_complexity=price)
    found = _fit_binary(model, table)
    cost = _cost(found[1], model.get_n_leaves(), table, price)
    return Fit(*found, bool(model.fit_result.is_optimal()), None, cost)


def _fit_pydl85(table: BenchTable, depth: int, limit: float) -> Fit:
    from pydl85 import DL85Classifier

    # Its own defaults: similarity bounds and the special algorithm for depth two are on.
    model = DL85Classifier(max_depth=depth, time_limit=max(1, round(limit)))
    found = _fit_binary(model, table)
    return Fit(*found, not model.timeout_, None)


def _fit_imodels(table: BenchTable, depth: int, limit: float, price: float) -> Fit:
    from imodels import FastSmallTreeClassifier

    del depth  # it has no limit on the depth
    model = FastSmallTreeClassifier(regularization=price, time_limit=limit)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a time limit, which `optimal_` tells too
        found = _fit_binary(model, table)
    cost = _cost(found[1], int(model.n_leaves_), table, price)
    return Fit(*found, bool(model.optimal_), None, cost, int(model.estimator_.get_depth()))


def _fit_gosdt(table: BenchTable, depth: int, limit: float, price: float) -> Fit:
    from gosdt import GOSDTClassifier

    X, y = _binary(table)
    # Its depth counts the leaves; it refuses small prices unless they are allowed.
    model: Any = GOSDTClassifier(
        regularization=price,
        depth_budget=depth + 1,
        time_limit=max(1, round(limit)),
        allow_small_reg=True,
        worker_limit=1,
    )
    seconds = _fit_seconds(model, X.astype(np.bool_), y)
    # Its own predict does not run with newer versions of scikit-learn.
    predictions, n_leaves = _walk_gosdt(model.trees_[0].tree, X)
    errors = _count(model.classes_[predictions], table)
    proven = model.result_.status.name == "CONVERGED"
    return Fit(seconds, errors, errors, proven, None, _cost(errors, n_leaves, table, price))


def _walk_gosdt(node: Any, X: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], int]:
    if not hasattr(node, "feature"):
        return np.full(len(X), int(node.prediction)), 1
    yes = X[:, node.feature] == 1
    predictions = np.empty(len(X), dtype=np.int64)
    predictions[yes], left = _walk_gosdt(node.left_child, X[yes])
    predictions[~yes], right = _walk_gosdt(node.right_child, X[~yes])
    return predictions, left + right


def _binary(table: BenchTable) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return a table of 0 and 1 as the solvers for binary columns take it."""
    if not np.isin(table.X, (0.0, 1.0)).all():
        raise ValueError(f"Table '{table.name}' has columns that are not of 0 and 1.")
    return table.X.astype(np.int32), table.y.astype(np.int32)


ITEMSET_VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "dl8": {"algorithm": "dl8", "branching": "data_order"},
    "dl85-data-order": {"branching": "data_order"},
    "dl85-ascending": {"branching": "information_gain_ascending"},
    "dl85-descending": {"branching": "information_gain"},
    "dl85-no-partial": {"branching": "data_order", "cache_partial_results": False},
}
"""DL8 and DL8.5 of this library with the switches that the paper compares."""

_SOLVERS = (
    Solver("provetree", "provetree", "provetree", _fit_provetree, "can"),
    Solver("pycontree", "pycontree", "pycontree", _fit_pycontree),
    Solver("pystreed", "pystreed", "pystreed", _fit_pystreed, "can"),
    Solver("pydl8.5", "pydl8.5", "pydl85", _fit_pydl85),
    Solver("imodels", "imodels", "imodels", _fit_imodels, "must"),
    Solver("gosdt", "gosdt", "gosdt", _fit_gosdt, "must"),
    *(
        Solver(name, "provetree", "provetree", _fit_itemsets(**options))
        for name, options in ITEMSET_VARIANTS.items()
    ),
)
SOLVERS: Mapping[str, Solver] = {solver.name: solver for solver in _SOLVERS}
"""Every solver a benchmark can run, by name."""

SUITE_PEERS = {"contree": ("pycontree",), "cp4im": ("pystreed", "pydl8.5")}
"""The peers each suite is measured with unless others are asked for."""

PRICED_PEERS = ("pystreed", "imodels", "gosdt")
"""The peers for binary columns that can charge a price per leaf."""


def warm_up(solver: Solver) -> None:
    """Fit a few rows, so that imports and first-call costs are paid before the clock starts.

    Examples
    --------
    >>> from provetree.bench.solvers import SOLVERS, warm_up
    >>> warm_up(SOLVERS["provetree"])
    """
    column = np.arange(24)
    # Columns of 0 and 1, which all solvers take.
    X = np.column_stack([column % 2, column % 5 > 1, column > 11]).astype(np.float64)
    table = BenchTable("warm-up", X, (column % 3 > 0).astype(np.int64))
    solver.fit(table, 2, 10.0, *((0.05,) if solver.priced == "must" else ()))
