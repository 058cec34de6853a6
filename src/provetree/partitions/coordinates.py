"""Rows as points: every column scaled to 0..1, so that distances treat columns alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.number_types import Float
from provetree.problem.scaling import unit_interval

__all__ = ["as_points", "coordinates", "unit_columns"]


#: Two categories, or a value and a missing one, are as far apart as the ends of a number column.
_HALF_UNIT = float(np.sqrt(0.5))


def as_points(X: ArrayLike, y: ArrayLike, owner: str) -> tuple[Float, NDArray[Any]]:
    """Return rows of finite numbers and their labels; raise if they are not.

    Examples
    --------
    >>> as_points([[1, 2], [3, None]], ["a", "b"], "greedy_partition")
    Traceback (most recent call last):
        ...
    ValueError: greedy_partition measures distances and needs finite numbers. Column 1 holds \
nan in row 1.
    """
    try:
        points = np.array(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{owner} needs a table of numbers: {error}") from None
    if points.ndim != 2 or len(points) == 0:
        raise ValueError(
            f"{owner} needs a 2D table with at least one row. Got shape {points.shape} instead."
        )
    labels = np.asarray(y)
    if labels.shape != (len(points),):
        raise ValueError(
            f"{owner} needs one label for each of the {len(points)} rows. "
            f"Got shape {labels.shape} instead."
        )
    bad = ~np.isfinite(points)
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise ValueError(
            f"{owner} measures distances and needs finite numbers. "
            f"Column {column} holds {points[row, column]} in row {row}."
        )
    return points, labels


def unit_columns(points: Float) -> Float:
    """Return numbers with every column scaled to 0..1 by its least and greatest value.

    Examples
    --------
    >>> unit_columns(np.array([[1.0, 7.0], [3.0, 7.0], [2.0, 7.0]])).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]
    """
    return coordinates(points, (None,) * points.shape[1])


def coordinates(table: Float, categories: Sequence[tuple[object, ...] | None]) -> Float:
    """Return the points between which partitions measure distances, from an encoded table.

    Numbers are scaled to 0..1; infinities are placed one average gap beyond the others. A missing
    value is at distance one from all present ones, and two categories are at distance one.

    Examples
    --------
    >>> points = coordinates(np.array([[0.0], [1.0], [2.0]]), [("a", "b", "c")])
    >>> float(np.linalg.norm(points[0] - points[1]).round(12))
    1.0
    """
    parts: list[Float] = []
    for x, levels in zip(table.T, categories, strict=True):
        missing = np.isnan(x)
        if levels is not None:
            codes = np.where(missing, len(levels), x)
            parts += [_HALF_UNIT * (codes == code) for code in np.unique(codes)]
            continue
        values, inverse = np.unique(x[~missing], return_inverse=True)
        scaled = np.zeros(len(x))
        if len(values) > 1:
            scaled[~missing] = unit_interval(values + 0.0)[inverse]
        parts.append(scaled)
        if missing.any() and not missing.all():
            parts[-1] = np.where(missing, 0.5, scaled)
            parts.append(missing.astype(np.float64))
    if not parts:
        return np.zeros((len(table), 0))
    return np.ascontiguousarray(np.column_stack(parts))
