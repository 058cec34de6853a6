"""Hyperplanes between two sets of rows: the widest gap, and coefficients that people can read.

Everything here is about the rows of one node. A hyperplane is known by what it does to them: which
go left, and how wide the gap is that it leaves between the two sides.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import linprog

from provetree.number_types import Bool, Float

__all__ = ["normalised_gap", "readable_coefficients", "widest_gap"]

#: Coefficients are tried as whole numbers up to this before they are decimals.
_LARGEST_WHOLE = 12
#: Sums of rows on two sides must differ by this part of their size: no rounding reaches that far.
CLEAR = 1e-9


def widest_gap(values: Float, left: Bool) -> tuple[Float, float]:
    """Return the direction that leaves the widest gap between rows on two sides, and the gap.

    Of all ``a`` whose absolute values sum to at most one it has the largest ``gap`` with
    ``a @ x + gap <= b`` for rows on the left and ``a @ x >= b`` on the right, for some ``b``. A gap
    of zero means that no hyperplane divides the rows so.

    Parameters
    ----------
    values : array of float, shape (n_rows, n_columns)
        The rows; columns should be on like scales.
    left : array of bool, shape (n_rows,)
        Which rows are on the left; both sides have some.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.hyperplanes import widest_gap
    >>> direction, gap = widest_gap(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([True, False]))
    >>> round(gap, 9), round(float(np.abs(direction).sum()), 9)
    (1.0, 1.0)
    """
    n_columns = values.shape[1]
    sign = np.where(left, 1.0, -1.0)[:, np.newaxis]
    at_gap = np.where(left, 1.0, 0.0)[:, np.newaxis]
    # Variables: the positive and the negative part of a, then b, then the gap.
    rows = np.hstack([sign * values, -sign * values, -sign, at_gap])
    norm = np.append(np.ones(2 * n_columns), [0.0, 0.0])
    found = linprog(
        np.append(np.zeros(2 * n_columns + 1), -1.0),
        A_ub=np.vstack([rows, norm]),
        b_ub=np.append(np.zeros(len(rows)), 1.0),
        bounds=[(0.0, 1.0)] * (2 * n_columns) + [(None, None), (0.0, None)],
        method="highs",
    )
    if found.x is None:
        return np.zeros(n_columns), 0.0
    a = np.asarray(found.x[:n_columns] - found.x[n_columns : 2 * n_columns])
    return a, normalised_gap(values, a, left)


def normalised_gap(values: Float, direction: Float, left: Bool) -> float:
    """Return the gap that a direction leaves, as of one whose absolute values sum to one.

    It is zero or less where the direction does not divide the rows so.
    """
    size = float(np.abs(direction).sum())
    if not size > 0:
        return 0.0
    sums = values @ direction
    return float(sums[~left].min() - sums[left].max()) / size


def readable_coefficients(table: Float, scales: Float, direction: Float, left: Bool) -> Float:
    """Return coefficients in the units of the table, of as few digits as divide the rows alike.

    Whole numbers are tried first, then decimals with more and more digits. What is taken keeps at
    least half of the gap of the direction.

    Parameters
    ----------
    table : array of float, shape (n_rows, n_columns)
        The rows in their own units.
    scales : array of float, shape (n_columns,)
        The unit of each column in which the direction is given.
    direction : array of float, shape (n_columns,)
        The coefficients of the columns divided by their scales; none is zero.
    left : array of bool, shape (n_rows,)
        Which rows are on the left.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.hyperplanes import readable_coefficients
    >>> rows = np.array([[1.0, 2.0], [2.0, 2.0], [3.0, 1.0]])
    >>> direction, left = np.array([0.41, -0.59]), np.array([True, False, False])
    >>> readable_coefficients(rows, np.ones(2), direction, left).tolist()
    [1.0, -1.0]
    """
    least = normalised_gap(table / scales, direction, left) / 2
    for found in _roundings(direction / scales):
        if (found == 0).any() or not np.isfinite(found).all():
            continue
        products = table * found
        sums = products.sum(axis=1)
        clear = CLEAR * float(np.abs(products).sum(axis=1).max())
        if sums[~left].min() - sums[left].max() <= clear:
            continue
        if normalised_gap(table / scales, found * scales, left) >= least:
            return found
    return direction / scales


def _roundings(coefficients: Float) -> Iterator[Float]:
    """Yield shorter forms of coefficients, the shortest first."""
    largest = float(np.abs(coefficients).max())
    for whole in range(1, _LARGEST_WHOLE + 1):
        yield np.round(coefficients / largest * whole)
    smallest = float(np.abs(coefficients).min())
    for digits in range(1, 17):
        # One coefficient is one where that is among the short forms.
        yield np.array([_short(x, digits) for x in (coefficients / smallest).tolist()])


def _short(x: float, digits: int) -> float:
    return float(f"{x:.{digits}g}")
