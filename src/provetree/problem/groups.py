"""Groups of table rows (sensitive features), and how much of each merged row belongs to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.problem.inputs import is_missing
from provetree.problem.prepare import Prepared
from provetree.problem.rows import problem_rows

__all__ = ["group_weights", "numbered_groups"]


def group_weights(prepared: Prepared, groups: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return how much weight of each row of the problem belongs to each group.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.groups import group_weights
    >>> from provetree.problem.prepare import prepare
    >>> prepared = prepare([[1.0], [1.0], [2.0]], [0, 0, 1], max_depth=1)
    >>> group_weights(prepared, np.array([0, 1, 1])).tolist()
    [[1, 1], [0, 1]]
    """
    weights = prepared.whole_weights()
    present = np.flatnonzero(weights)
    rows = problem_rows(prepared.problem, prepared.encoded[present], prepared.codes[present])
    found = np.zeros((prepared.problem.n_rows, int(groups.max()) + 1), dtype=np.int64)
    np.add.at(found, (rows, groups[present]), weights[present])
    return found


def numbered_groups(
    sensitive_features: ArrayLike, n_samples: int
) -> tuple[tuple[object, ...], NDArray[np.intp]]:
    """Return the names of the groups, and for each table row the number of its group.

    Names are the same group where Python calls them equal: 1 and 1.0 are, 1 and "1" are not.

    Examples
    --------
    >>> from provetree.problem.groups import numbered_groups
    >>> names, codes = numbered_groups([1, "1", 1.0], 3)
    >>> names, codes.tolist()
    ((1, '1'), [0, 1, 0])
    """
    groups: Any = sensitive_features
    if getattr(groups, "ndim", 1) == 2 and np.shape(groups)[1] == 1:
        groups = np.asarray(groups)[:, 0]  # a table of one column is a list of groups, too
    # A list of numbers and strings would become an array of strings, in which 1 and "1" are equal.
    given = np.asarray(groups, dtype=None if hasattr(groups, "dtype") else object)
    if given.shape != (n_samples,):
        raise ValueError(
            "The 'sensitive_features' must be a 1D array with one entry per row, shape "
            f"({n_samples},). Got shape {given.shape} instead."
        )
    numbers: dict[object, int] = {}
    codes = np.empty(n_samples, dtype=np.intp)
    for row, name in enumerate(given.tolist()):
        if is_missing(name):
            raise ValueError(
                f"The 'sensitive_features' must not hold missing values. Got {name!r}."
            )
        try:
            codes[row] = numbers.setdefault(name, len(numbers))
        except TypeError:
            raise ValueError(
                "The 'sensitive_features' must be names such as numbers or strings. "
                f"Got a {type(name).__name__} instead."
            ) from None
    # The order of the groups must not depend on the order of the rows.
    try:
        names = sorted(numbers)  # type: ignore[type-var]
    except TypeError:
        names = sorted(numbers, key=lambda name: (type(name).__name__, repr(name)))
    place = np.empty(len(names), dtype=np.intp)
    place[[numbers[name] for name in names]] = np.arange(len(names))
    return tuple(names), place[codes]
