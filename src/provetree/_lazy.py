"""Names of a package that are loaded on first use (PEP 562), so that importing it stays quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["lazy_names"]


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose names live in its modules.

    Parameters
    ----------
    package : str
        The package, ``__name__`` there.
    homes : mapping of str to str
        Each name, and the module below the package that defines it.

    Examples
    --------
    >>> from provetree._lazy import lazy_names
    >>> find, _ = lazy_names("provetree", {"Tree": "tree.tree"})
    >>> find("Tree").__name__
    'Tree'
    """

    def find(name: str) -> object:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value: object = getattr(import_module(f"{package}.{home}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return find, names
