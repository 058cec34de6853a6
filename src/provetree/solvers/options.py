"""The option that chooses a solver, written down once for all estimators that have it."""

from __future__ import annotations

from provetree.options import Allowed, _word
from provetree.solvers.solver import SOLVERS

__all__ = ["SOLVER_VALUES"]

#: The name of a solver, or an object that is one.
SOLVER_VALUES: tuple[Allowed, ...] = (
    *(_word(name) for name in SOLVERS),
    Allowed(
        "an object with a method 'solve'",
        "Solver",
        lambda value: callable(getattr(value, "solve", None)),
    ),
)
