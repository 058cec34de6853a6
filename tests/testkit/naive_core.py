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


def order_columns(
    ranks: NDArray[np.uint32],
    values: list[NDArray[np.float64]],
    has_missing: list[bool],
    n_categories: list[int],
    rows: list[int],
    *,
    keep_duplicates: bool,
) -> list[tuple[list[int], int, int, int, list[float]]]:
    """Ranks, feature, kind, category and values of each ordered column."""
    columns: list[tuple[list[int], int, int, int, list[float]]] = []
    for f, (own, missing, level) in enumerate(zip(values, has_missing, n_categories, strict=True)):
        here, numbers = [int(ranks[f, row]) for row in rows], own.tolist()
        codes = [*numbers, level] if missing else numbers
        if len(codes) < 2:
            continue
        if level >= 0:
            for rank, code in enumerate(codes):
                columns.append(([int(x != rank) for x in here], f, 3, int(code), [0.0, 1.0]))
        elif missing:
            last = len(numbers)
            first = [0 if x == last else x + 1 for x in here]
            columns.append((first, f, 1, -1, [np.nan, *numbers]))
            columns.append((here, f, 2, -1, [*numbers, np.nan]))
        else:
            columns.append((here, f, 0, -1, numbers))
    kept: list[tuple[list[int], int, int, int, list[float]]] = []
    for column in columns:
        top = len(column[-1]) - 1
        mirror = [top - x for x in column[0]]
        known = any(len(one[-1]) - 1 == top and one[0] in (column[0], mirror) for one in kept)
        if (
            top == 1 and len(set(column[0])) == 2
        ):  # the one split of the column may be one of an earlier column
            for ranks_of_other, *_, numbers_of_other in kept:
                for rank in range(len(numbers_of_other) - 1 if len(numbers_of_other) <= 32 else 0):
                    split = [int(x > rank) for x in ranks_of_other]
                    known = known or split in (column[0], mirror)
        if keep_duplicates or not known:
            kept.append(column)
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
