"""Old names of parameters and modules: they work for one version, with a ``FutureWarning``."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from inspect import signature
from typing import Any, TypeVar

from provetree.options import ParameterError

__all__ = ["moved", "new_names", "renamed", "renamed_parameters"]

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def new_names(
    given: Mapping[str, Any], names: Mapping[str, str], owner: str, *, stacklevel: int = 3
) -> dict[str, Any]:
    """Return values under the new names of their parameters; `names` leads from old to new.

    Examples
    --------
    >>> from provetree.renamed import new_names
    >>> new_names({"threads": 2, "n_jobs": 2}, {"threads": "n_jobs"}, "MIPTreeClassifier")
    Traceback (most recent call last):
        ...
    provetree.options.ParameterError: The 'threads' parameter of MIPTreeClassifier is the old name \
of 'n_jobs': give only 'n_jobs'. Got both instead.
    """
    values = dict(given)
    for old in names.keys() & given.keys():
        sentence = f"The {old!r} parameter of {owner} is the old name of {names[old]!r}"
        if names[old] in given:
            raise ParameterError(f"{sentence}: give only {names[old]!r}. Got both instead.")
        warnings.warn(
            f"{sentence}, and the next version will not know it.",
            FutureWarning,
            stacklevel=stacklevel,
        )
        values[names[old]] = values.pop(old)
    return values


def renamed(owner: str, **names: str) -> Callable[[Function], Function]:
    """Decorate a function: keyword arguments may still have their old names.

    Examples
    --------
    >>> import warnings
    >>> from provetree.renamed import renamed
    >>> @renamed("grow", threads="n_jobs")
    ... def grow(n_jobs=1):
    ...     return n_jobs
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     grow(threads=4), str(heard[0].message)
    (4, "The 'threads' parameter of grow is the old name of 'n_jobs', and the next version will \
not know it.")
    """

    def decorate(function: Function) -> Function:
        known = signature(function)

        @wraps(function)
        def call(*args: Any, **given: Any) -> Any:
            if names.keys() & given.keys():
                by_place = known.bind_partial(*args).arguments
                clash = {name: value for name, value in by_place.items() if name in names.values()}
                given = new_names(clash | given, names, owner)
                given = {name: value for name, value in given.items() if name not in clash}
            return function(*args, **given)

        return call  # type: ignore[return-value]

    return decorate


def renamed_parameters(**names: str) -> Callable[[Class], Class]:
    """Decorate an estimator: its parameters may still have their old names.

    They may in the constructor, in ``set_params``, as attributes, and in pickles. ``get_params``
    and ``clone`` know the new names only.

    Examples
    --------
    >>> import warnings
    >>> from provetree import MIPTreeClassifier
    >>> warnings.simplefilter("ignore", FutureWarning)
    >>> clf = MIPTreeClassifier(threads=2)
    >>> clf.n_jobs, clf.threads, "threads" in clf.get_params()
    (2, 2, False)
    """

    def decorate(cls: Class) -> Class:
        kind: Any = cls
        owner, set_params, set_state = kind.__name__, kind.set_params, kind.__setstate__

        @wraps(set_params)
        def with_new_names(self: Any, **given: Any) -> Any:
            return set_params(self, **new_names(given, names, owner))

        @wraps(set_state)
        def restore(self: Any, state: Mapping[str, Any]) -> None:
            # A pickle is no call of the user's: it is read without a word.
            set_state(self, {names.get(name, name): value for name, value in state.items()})

        kind.__init__ = renamed(owner, **names)(kind.__init__)
        kind.set_params, kind.__setstate__ = with_new_names, restore
        for old, new in names.items():
            setattr(kind, old, _old_attribute(old, new, owner))
        return cls

    return decorate


def _old_attribute(old: str, new: str, owner: str) -> property:
    def get(self: Any) -> Any:
        new_names({old: None}, {old: new}, owner)
        return getattr(self, new)

    def set_(self: Any, value: Any) -> None:
        setattr(self, *next(iter(new_names({old: value}, {old: new}, owner).items())))

    return property(get, set_, doc=f"The old name of ``{new}``.")


def moved(old: str, new: str, *names: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module whose names, or all names, stand elsewhere now.

    Examples
    --------
    >>> import warnings
    >>> from provetree.renamed import moved
    >>> find = moved("provetree.old", "provetree.solution")
    >>> with warnings.catch_warnings(record=True) as heard:
    ...     warnings.simplefilter("always")
    ...     limits = find("Limits")
    >>> print(heard[0].message)
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
