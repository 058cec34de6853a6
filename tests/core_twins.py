"""Plain numpy twins of the small routines of the core."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def rank_columns(
    table: NDArray[np.float64],
) -> tuple[NDArray[np.uint32], NDArray[np.float64], list[int], list[bool]]:
    """The position of each value among the distinct values of its column, the missing last."""
    ranks = np.zeros(table.T.shape, dtype=np.uint32)
    values: list[float] = []
    ends: list[int] = []
    for c, x in enumerate(table.T):
        present = ~np.isnan(x)
        distinct, inverse = np.unique(x[present] + 0.0, return_inverse=True)
        ranks[c] = len(distinct)
        ranks[c, present] = inverse.reshape(-1)
        values.extend(distinct.tolist())
        ends.append(len(values))
    return ranks, np.array(values), ends, np.isnan(table).any(axis=0).tolist()


def distinct_columns(ranks: NDArray[np.uint32], tops: NDArray[np.uint32]) -> list[int]:
    """Columns that differ from every earlier one and from its mirror image."""
    kept: list[int] = []
    for c, column in enumerate(ranks.tolist()):
        mirror = [int(tops[c]) - rank for rank in column]
        if not any(tops[k] == tops[c] and ranks[k].tolist() in (column, mirror) for k in kept):
            kept.append(c)
    return kept


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
