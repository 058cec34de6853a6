"""Refuses tables, classes, weights and limits that no problem can be made of, one sentence each."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.number_types import Float

__all__ = ["check_classes", "check_codes", "check_limits", "check_targets", "check_weights"]


def check_weights(sample_weight: ArrayLike, n_rows: int) -> Float:
    """Return row weights as float64; raise if they are wrong.

    Examples
    --------
    >>> from provetree.problem.checks import check_weights
    >>> check_weights([1, 0, 2], 3).tolist()
    [1.0, 0.0, 2.0]
    """
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"The 'sample_weight' must be an array of numbers: {error}") from None
    except OverflowError:
        raise ValueError(
            "The 'sample_weight' must hold finite numbers. Got one too large for float64."
        ) from None
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(
            "The 'sample_weight' must be a 1D array with one weight per row, shape "
            f"({n_rows},). Got shape {weights.shape} instead."
        )
    if not np.isfinite(weights).all():
        raise ValueError("The 'sample_weight' must hold finite numbers. Got NaN or infinity.")
    if weights.min() < 0:
        raise ValueError(f"The 'sample_weight' must hold numbers >= 0. Got {weights.min()}.")
    if weights.max() == 0:
        raise ValueError("The 'sample_weight' must hold a number above zero. Got only zeros.")
    return weights


def check_classes(table: Float, codes: NDArray[np.generic], n_classes: int) -> None:
    """Refuse a table without rows, and classes that do not fit it."""
    if table.ndim != 2 or len(table) == 0:
        raise ValueError(
            "The table must be a 2D array with at least one row. "
            f"Got an array of shape {table.shape} instead."
        )
    if codes.shape != (len(table),):
        raise ValueError(
            f"The classes must be a 1D array with one entry for each of the {len(table)} rows. "
            f"Got an array of shape {codes.shape} instead."
        )
    if codes.dtype.kind not in "iub":
        raise ValueError(f"The classes must be ints. Got an array of {codes.dtype} instead.")
    low, high = int(codes.min()), int(codes.max())
    if low < 0 or high >= n_classes:
        raise ValueError(
            f"The classes must be ints in the range [0, {n_classes}). Got {low} to {high} instead."
        )


def check_targets(targets: Float, n_rows: int) -> None:
    """Refuse targets that are not finite numbers, one row of them for each row of the table."""
    if targets.ndim not in (1, 2) or len(targets) != n_rows or targets.size == 0:
        raise ValueError(
            f"The targets must have one entry, or one row of entries, for each of the {n_rows} "
            f"rows. Got an array of shape {targets.shape} instead."
        )
    if not np.isfinite(targets).all():
        raise ValueError("The targets must hold finite numbers. Got NaN or infinity.")


def check_codes(feature: int, values: Float, n_categories: int) -> None:
    """Refuse codes of a category feature that stand for no category."""
    if len(values) == 0:
        return
    if values[0] < 0 or values[-1] >= n_categories or (values != np.floor(values)).any():
        raise ValueError(
            f"The codes of category feature {feature} must be ints in the range "
            f"[0, {n_categories}). Got {values[0]} to {values[-1]} instead."
        )


def check_limits(
    max_depth: int, max_leaf_nodes: int | None, min_samples_leaf: int | float, alpha: float
) -> None:
    """Refuse limits on the tree that allow none."""
    _must("max_depth", max_depth, max_depth >= 0, "an int in the range [0, inf)")
    _must(
        "max_leaf_nodes",
        max_leaf_nodes,
        max_leaf_nodes is None or max_leaf_nodes >= 1,
        "an int in the range [1, inf) or None",
    )
    is_share = isinstance(min_samples_leaf, (float, np.floating))
    _must(
        "min_samples_leaf",
        min_samples_leaf,
        0.0 < min_samples_leaf < 1.0 if is_share else min_samples_leaf >= 1,
        "an int in the range [1, inf) or a float in the range (0.0, 1.0)",
    )
    _must("alpha", alpha, 0.0 <= alpha < math.inf, "a float in the range [0.0, inf)")


def _must(name: str, value: object, holds: bool, allowed: str) -> None:
    if not holds:
        raise ValueError(f"The '{name}' parameter must be {allowed}. Got {value!r} instead.")
