"""Plain numpy twins of the small routines of the core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def dense_ranks(x: NDArray[np.float64]) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """The position of each value among the distinct values, and these in rising order."""
    values, ranks = np.unique(x + 0.0, return_inverse=True)
    return ranks.reshape(-1).astype(np.uint32), values


def merge_rows(
    ranks: NDArray[np.uint32],
    classes: NDArray[np.int32],
    weights: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """One row for all that agree in all ranks and in class, with the sums of the others."""
    contents: dict[Any, list[int]] = {}
    for i, content in enumerate(zip(*ranks.tolist(), classes.tolist(), strict=True)):
        contents.setdefault(content, []).append(i)
    groups = [contents[content] for content in sorted(contents)]
    return (
        np.array([group[0] for group in groups], dtype=np.int64),
        np.array([weights[group].sum() for group in groups], dtype=np.int64),
        np.array([counts[group].sum() for group in groups], dtype=np.int64),
    )
