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
from types import MappingProxyType

import numpy as np

from provetree.bench.data import BenchTable


@dataclass(frozen=True)
class Fit:
    """What one call of a solver's ``fit`` gave.

    Parameters
    ----------
    seconds : float
        Wall time of ``fit`` alone: what a user waits for, without imports and without counting
        the errors.
    errors : int
        Training errors of the returned tree, counted from its predictions on the table as given.
    errors_float32 : int
        The same, counted on the table rounded to float32: what a solver that works in float32 has
        proven.
    proven : bool
        Whether the solver claims to have proven its tree optimal.
    lower_bound : float or None
        Proven lower bound on the errors, where the solver tells one.

    Examples
    --------
    >>> from provetree.bench.solvers import Fit
    >>> Fit(seconds=0.5, errors=3, errors_float32=3, proven=True, lower_bound=None).proven
    True
    """

    seconds: float
    errors: int
    errors_float32: int
    proven: bool
    lower_bound: float | None


SolverFunction = Callable[[BenchTable, int, float], Fit]


@dataclass(frozen=True)
class Solver:
    """A solver by name.

    Parameters
    ----------
    name : str
        Name used on the command line and in the reports.
    distribution : str
        Name of the Python distribution, for its version.
    module : str
        Module whose presence tells that the solver is installed.
    fit : callable
        ``fit(table, depth, limit) -> Fit``.

    Examples
    --------
    >>> from provetree.bench.solvers import SOLVERS
    >>> SOLVERS["provetree"].installed
    True
    """

    name: str
    distribution: str
    module: str
    fit: SolverFunction

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


def _count(predictions: object, table: BenchTable) -> int:
    return int(np.count_nonzero(np.asarray(predictions) != table.y))


def _fit_provetree(table: BenchTable, depth: int, limit: float) -> Fit:
    from provetree import OptimalTreeClassifier

    model = OptimalTreeClassifier(max_depth=depth, time_limit=limit)
    start = time.perf_counter()
    model.fit(table.X, table.y)
    seconds = time.perf_counter() - start
    return Fit(
        seconds=seconds,
        errors=_count(model.predict(table.X), table),
        errors_float32=_count(model.predict(table.rounded_to_float32().X), table),
        proven=model.status_ == "optimal",
        lower_bound=float(model.lower_bound_),
    )


def _fit_pycontree(table: BenchTable, depth: int, limit: float) -> Fit:
    from pycontree import ConTree

    # A gap of zero asks for a proof; upper bounds and the order by Gini index are its own
    # (faster) defaults.
    model = ConTree(
        max_depth=depth, max_gap=0, use_upper_bound=True, sort_gini=True, time_limit=limit
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model.fit(table.X, table.y)
        seconds = time.perf_counter() - start
    # It tells of a time limit by a warning only, and of the errors not at all: they are counted
    # from predictions.
    stopped = any("time limit" in str(warning.message) for warning in caught)
    return Fit(
        seconds=seconds,
        errors=_count(model.predict(table.X), table),
        errors_float32=_count(model.predict(table.rounded_to_float32().X), table),
        proven=not stopped,
        lower_bound=None,
    )


SOLVERS: Mapping[str, Solver] = MappingProxyType(
    {
        solver.name: solver
        for solver in (
            Solver("provetree", "provetree", "provetree", _fit_provetree),
            Solver("pycontree", "pycontree", "pycontree", _fit_pycontree),
        )
    }
)
"""Every solver a benchmark can run, by name."""

SUITE_PEERS: Mapping[str, tuple[str, ...]] = MappingProxyType({"contree": ("pycontree",)})
"""The peers each suite is measured with unless others are asked for."""


def warm_up(solver: Solver) -> None:
    """Fit a few rows, so that imports and first-call costs are paid before the clock starts.

    Parameters
    ----------
    solver : Solver
        The solver.

    Examples
    --------
    >>> from provetree.bench.solvers import SOLVERS, warm_up
    >>> warm_up(SOLVERS["provetree"])
    """
    column = np.arange(24.0)
    table = BenchTable(
        "warm-up", np.column_stack([column, column % 5]), (column % 3 > 0).astype(np.int64)
    )
    solver.fit(table, 2, 10.0)
