"""The rows and ordered columns of a problem: features ranked, equal rows merged, sums added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from provetree import _core
from provetree.number_types import Float, Int, Int32
from provetree.problem.category_groups import CategoryOrder, ranked_orders
from provetree.problem.checks import check_codes
from provetree.problem.columns import ColumnSequence, RankedFeatures, Ranks
from provetree.problem.combinations import Combination, Derived, Ratio
from provetree.problem.pairs import ranked_sums
from provetree.problem.ratios import ranked_ratios

__all__ = ["MAX_CELLS", "Rows", "ordered_rows"]

#: Cells of ranks (columns x rows) a problem may have: one GiB of 32-bit ranks.
MAX_CELLS = 2**28


#: How each kind of derived features is ranked.
_RANKED: dict[type, Callable[..., RankedFeatures]] = {
    Combination: ranked_sums,
    CategoryOrder: ranked_orders,
    Ratio: ranked_ratios,
}


class Rows(NamedTuple):
    """The rows of a problem: one of the table rows behind each, their weight and number."""

    first: Int
    weights: Int
    counts: Int


def ordered_rows(
    table: Float,
    levels: tuple[tuple[object, ...] | None, ...],
    derived: tuple[Derived, ...],
    classes: Int32,
    weights: Int,
    *,
    merge: bool,
    keep_duplicates: bool,
) -> tuple[Rows, ColumnSequence, Ranks]:
    """Return the rows of the problem, its ordered columns, and the ranks of the rows in them."""
    each_row = np.ones(len(table), dtype=np.int64)
    if merge and not derived and table.size <= MAX_CELLS and levels.count(None) == len(levels):
        # Binary tables are common and need no sorting.
        binary = _core.order_binary_table(table, classes, weights, each_row, keep_duplicates)
        if binary is not None:
            merged, (ranks, of_columns, kinds, categories, values, ends) = binary
            columns = ColumnSequence(of_columns, kinds, categories, values, ends)
            return Rows(*merged), columns, ranks
    features = _rank_features(table, levels)
    if merge:
        rows = Rows(*_core.merge_rows(features.ranks, classes, weights, each_row))
    else:
        rows = Rows(np.arange(len(table)), weights, each_row)
    n_cells = len(rows.first) * (features.most_columns + len(derived))
    if n_cells > MAX_CELLS:
        raise ValueError(_too_many(n_cells, sum(not isinstance(x, CategoryOrder) for x in derived)))
    if not derived:
        return rows, *features.ordered(rows.first, keep_duplicates=keep_duplicates)
    # They follow from the columns, so only the rows that are left need them.
    features, left = features.of_rows(rows.first), table[rows.first]
    for kind, of_kind in groupby(derived, key=type):
        features = features.followed_by(_RANKED[kind](left, list(of_kind)))
    every_row = np.arange(len(rows.first), dtype=np.int64)
    return rows, *features.ordered(every_row, keep_duplicates=keep_duplicates)


def _too_many(n_cells: int, n_sums: int) -> str:
    """Say that a table is too large."""
    if n_sums:
        return (
            f"The table has {n_cells} cells (rows x columns) with its {n_sums} sums of two "
            f"columns, and at most {MAX_CELLS} are supported. Use fewer columns, fewer 'n_angles' "
            "or splits='columns'."
        )
    return (
        f"The table has {n_cells} cells (rows x columns, a category feature counting as one "
        f"column per category), and at most {MAX_CELLS} are supported. "
        "Use fewer rows or group rare categories."
    )


def _rank_features(table: Float, levels: Sequence[tuple[object, ...] | None]) -> RankedFeatures:
    """Rank the values of each feature; missing values get the rank after the last."""
    n_categories = np.full(len(levels), -1, dtype=np.int64)
    by_category = [index for index, level in enumerate(levels) if level is not None]
    for index in by_category:
        n_categories[index] = len(levels[index] or ())
    features = RankedFeatures(*_core.rank_columns(table), n_categories)
    for index in by_category:
        check_codes(index, features.values_of(index), int(n_categories[index]))
    return features
