"""Old import places: they go on working for one version, with a ``FutureWarning``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["moved"]


def moved(old: str, new: str, *names: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module whose names stand elsewhere now.

    Parameters
    ----------
    old, new : str
        The module, and the one that has the names now.
    *names : str
        The names that moved; all of the new module's where none are given.

    Examples
    --------
    >>> import warnings
    >>> from provetree._moved import moved
    >>> find = moved("provetree.old", "provetree.solution")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     find("Limits")
    <class 'provetree.solution.Limits'>
    >>> print(caught[0].message)
    provetree.old.Limits is provetree.solution.Limits now; the old place goes with the next version.
    """

    def find(name: str) -> Any:
        if name.startswith("__") or (names and name not in names):
            raise AttributeError(f"module {old!r} has no attribute {name!r}")
        value = getattr(import_module(new), name)
        warnings.warn(
            f"{old}.{name} is {new}.{name} now; the old place goes with the next version.",
            FutureWarning,
            stacklevel=2,
        )
        return value

    return find
