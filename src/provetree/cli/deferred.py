"""Packages that scikit-learn imports when it starts and that no command here calls.

They are most of the time that ``provetree fit`` would take on a small file. In the process of a
command, and only there, they are executed when somebody first asks one of them for a name. pandas,
which scikit-learn imports where it is installed and otherwise does without, counts as not installed
while scikit-learn is imported. No result depends on either.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

__all__ = ["DEFERRED", "defer_unused_packages"]

#: What ``sklearn.tree`` loads and does not call: CART knows neither neighbours nor statistics.
DEFERRED = ("scipy.stats", "sklearn.neighbors")


class _Around(Loader):
    """A loader around that of a module."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)


class _Late(_Around):
    """Executes a module when one of its names is first asked for, not when it is imported."""

    def exec_module(self, module: ModuleType) -> None:
        def find(name: str) -> object:
            del module.__dict__["__getattr__"]
            self._loader.exec_module(module)
            return getattr(module, name)

        module.__dict__["__getattr__"] = find


class _WithoutPandas(_Around):
    """Executes a module that takes pandas for not installed meanwhile."""

    def exec_module(self, module: ModuleType) -> None:
        # None in this place is Python's way to say that a package cannot be imported.
        hidden = sys.modules.setdefault("pandas", None) is None  # type: ignore[arg-type]
        try:
            self._loader.exec_module(module)
        finally:
            if hidden:
                del sys.modules["pandas"]


class _Finder(MetaPathFinder):
    """Finds scikit-learn and the deferred packages as usual, with a loader around their own."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        around = {"sklearn": _WithoutPandas, **dict.fromkeys(DEFERRED, _Late)}.get(fullname)
        if around is None:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = around(spec.loader)
        return spec


def defer_unused_packages() -> None:
    """Defer what no command calls; for a process that is a command and nothing else.

    Examples
    --------
    >>> import subprocess, sys
    >>> code = (
    ...     "from provetree.cli.deferred import defer_unused_packages; defer_unused_packages();"
    ...     "import sys, scipy.stats; print('scipy.stats._stats_py' in sys.modules);"
    ...     "print(scipy.stats.norm.cdf(0.0))"
    ... )
    >>> print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
    False
    0.5
    <BLANKLINE>
    """
    sys.meta_path.insert(0, _Finder())
