"""Ratios of two positive columns, which a split may be about as well.

``x / y <= t`` and ``x - t*y <= 0`` are the same question where y is positive. Trees ask the second
one: it is a sum of two columns, which every export knows, and it has an answer for any numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np

from provetree.number_types import Float
from provetree.problem.columns import RankedFeatures
from provetree.problem.combinations import Ratio

__all__ = ["ranked_ratios", "ratios_among"]

#: Ratios that differ by less than this part of them are equal but for rounding.
_NOISE = 1e-12
#: Ratios beyond these bounds, or one over them, lose digits.
_LARGEST = 1e300


def ratios_among(
    table: Float, weights: Float | None, levels: Sequence[object], among: Collection[int]
) -> tuple[Ratio, ...]:
    """Return the ratios of two of some columns whose training values are all positive.

    One of ``x / y`` and ``y / x`` is enough: they order the rows alike, in two directions.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.ratios import ratios_among
    >>> X = np.array([[1.0, 5.0, 0.0], [2.0, 7.0, 3.0]])
    >>> ratios_among(X, None, [None] * 3, [0, 1, 2])
    (Ratio(columns=(0, 1)),)
    """
    present = table if weights is None else table[weights > 0]
    positive = []
    for column in sorted(among):
        values = present[:, column]
        values = values[~np.isnan(values)]
        if levels[column] is None and len(values) and values.min() > 0 and values.max() < np.inf:
            positive.append(column)
    found = []
    for pair in combinations(positive, 2):
        values = Ratio(pair).values(present)
        values = values[~np.isnan(values)]
        if len(values) and values.max() < _LARGEST and values.min() > 1 / _LARGEST:
            found.append(Ratio(pair))
    return tuple(found)


def ranked_ratios(table: Float, family: Sequence[Ratio]) -> RankedFeatures:
    """Rank each ratio on the rows of a table; missing ratios come last.

    Neighbours that differ by less than 1e-12 of their size share a rank, and the highest stands for
    them: so ``x - t*y``, with t between two ranks, is on the right side of zero in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.combinations import Ratio
    >>> from provetree.problem.ratios import ranked_ratios
    >>> table = np.array([[1.0, 3.0], [2.0, 6.0], [2.0, np.nan], [4.0, 1.0]])
    >>> ranked_ratios(table, [Ratio((0, 1))]).ranks.tolist()
    [[0, 0, 2, 1]]
    """
    ranks = np.empty((len(family), len(table)), dtype=np.uint32)
    has_missing = np.zeros(len(family), dtype=np.uint8)
    values: list[Float] = []
    for row, ratio in enumerate(family):
        found = ratio.values(table)
        order = np.argsort(found, kind="stable")
        present = found[order][: len(found) - int(np.isnan(found).sum())]
        has_missing[row] = len(present) < len(found)
        last = np.append(np.diff(present) > _NOISE * present[1:], True)[: len(present)]
        in_order = np.full(len(table), int(last.sum()), dtype=np.uint32)
        in_order[: len(present)] = np.cumsum(last) - last
        ranks[row, order] = in_order
        values.append(present[last])
    return RankedFeatures(
        ranks,
        np.concatenate([*values, np.empty(0)]),
        np.cumsum([len(of_row) for of_row in values], dtype=np.int64),
        has_missing,
        np.full(len(family), -1, dtype=np.int64),
    )
