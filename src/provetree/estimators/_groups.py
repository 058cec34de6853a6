"""Groups of table rows, counted for the merged rows of a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.problem.problem import Problem

if TYPE_CHECKING:
    from provetree.estimators._tree_classifier import Prepared


def group_weights(
    prepared: Prepared, groups: ArrayLike
) -> tuple[tuple[object, ...], NDArray[np.int64]]:
    """Return the names of the groups, and how much of each merged row belongs to each of them.

    Parameters
    ----------
    prepared : Prepared
        The training table and its problem.
    groups : array-like of shape (n_samples,)
        The group of each table row.
    """
    n_samples = len(prepared.codes)
    names, codes = numbered_groups(groups, n_samples)
    problem = prepared.problem
    weights = np.ones(n_samples) if prepared.weights is None else prepared.weights
    # As integer_weights makes them; checked against the merged rows below.
    scale = problem.weight_scale
    whole = np.array([round(w * scale) for w in weights.tolist()], dtype=np.int64)
    present = weights > 0
    row_of = merged_row_of(problem, prepared.encoded[present], prepared.codes[present])
    found = np.zeros((problem.n_rows, len(names)), dtype=np.int64)
    np.add.at(found, (row_of, codes[present]), whole[present])
    # Rounding of a weight here and there may differ by a unit: it goes to the row's first group.
    missing = problem.weights - found.sum(axis=1)
    found[np.arange(problem.n_rows), found.argmax(axis=1)] += missing
    return names, found


def numbered_groups(
    groups: ArrayLike, n_samples: int, parameter: str = "groups"
) -> tuple[tuple[object, ...], NDArray[np.intp]]:
    """Return the names of the groups, and for each table row the number of its group.

    `parameter` is what messages call the groups. Names are the same group where Python calls them
    equal: 1 and 1.0 are, 1 and "1" are not.

    Examples
    --------
    >>> from provetree.estimators._groups import numbered_groups
    >>> names, codes = numbered_groups([1, "1", 1.0], 3)
    >>> names, codes.tolist()
    ((1, '1'), [0, 1, 0])
    """
    # A list of numbers and strings would become an array of strings, in which 1 and "1" are equal.
    given = np.asarray(groups, dtype=None if hasattr(groups, "dtype") else object)
    if given.shape != (n_samples,):
        raise ValueError(
            f"The '{parameter}' must be a 1D array with one entry per row, shape "
            f"({n_samples},). Got shape {given.shape} instead."
        )
    numbers: dict[object, int] = {}
    codes = np.empty(n_samples, dtype=np.intp)
    for row, name in enumerate(given.tolist()):
        if _is_missing(name):
            raise ValueError(f"The '{parameter}' must not hold missing values. Got {name!r}.")
        try:
            codes[row] = numbers.setdefault(name, len(numbers))
        except TypeError:
            raise ValueError(
                f"The '{parameter}' must be names such as numbers or strings. "
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


def _is_missing(name: object) -> bool:
    if name is None or type(name).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(name, float) and name != name


def merged_row_of(
    problem: Problem, encoded: NDArray[np.float64], codes: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Return for each table row the merged row of the problem it went into.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.estimators._groups import merged_row_of
    >>> X, y = np.array([[1.0], [2.0], [1.0]]), np.array([0, 1, 0])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1)
    >>> row = merged_row_of(problem, X, y)
    >>> problem.ranks[0, row].tolist()
    [0, 1, 0]
    """
    columns = [problem.classes.astype(np.int64), *problem.ranks.astype(np.int64)]
    wanted = [codes.astype(np.int64)]
    for column in problem.columns:
        x = encoded[:, column.feature]
        missing = np.isnan(x)
        if column.kind == "category":
            level = problem.categories[column.feature]
            code = np.where(missing, 0 if level is None else len(level), x)
            wanted.append((code != column.category).astype(np.int64))
            continue
        first = 1 if column.kind == "missing_first" else 0
        last = len(column.values) - (column.kind == "missing_last")
        rank = first + np.searchsorted(column.values[first:last], np.where(missing, 0.0, x))
        at_missing = 0 if column.kind == "missing_first" else len(column.values) - 1
        wanted.append(np.where(missing, at_missing, rank))
    known = np.ascontiguousarray(np.stack(columns, axis=1))
    rows = np.ascontiguousarray(np.stack(wanted, axis=1))
    width = f"V{known.shape[1] * known.itemsize}"
    place = {key: i for i, key in enumerate(known.view(width).ravel().tolist())}
    return np.array([place[key] for key in rows.view(width).ravel().tolist()], dtype=np.intp)
