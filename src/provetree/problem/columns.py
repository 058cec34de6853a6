"""Ordered columns: the one form in which engines see every kind of feature.

A column gives each row a rank, and a split sends the low ranks left. A number is one column;
a number with missing values is two, missing first and missing last, so that an engine finds
the best side for them; a category feature is one binary column per category. Columns that
offer no split, or only splits that an earlier column offers, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree import _core

Float: TypeAlias = NDArray[np.float64]
#: Ranks are 32 bits wide: no table has more rows, and half the width is half the traffic.
Ranks: TypeAlias = NDArray[np.uint32]

Kind = Literal["numeric", "missing_first", "missing_last", "category"]


@dataclass(frozen=True, eq=False)
class Column:
    """One ordered column of a problem.

    Parameters
    ----------
    feature : int
        The feature of the table it comes from.
    kind : {"numeric", "missing_first", "missing_last", "category"}
        A number without missing values; a number whose missing values have the lowest or
        the highest rank; one category (rank 0) against the rest (rank 1).
    values : array of float
        The value behind each rank, NaN for the rank of the missing values. For a category
        column 0.0 and 1.0.
    category : int
        Code of the category of rank 0; -1 for numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> X = np.array([[1.5], [np.nan], [2.5]])
    >>> problem = build_problem(X, np.array([0, 1, 0]), n_classes=2, max_depth=1)
    >>> [(column.kind, column.values.tolist()) for column in problem.columns]
    [('missing_first', [nan, 1.5, 2.5]), ('missing_last', [1.5, 2.5, nan])]
    """

    feature: int
    kind: Kind
    values: Float
    category: int = -1


@dataclass(frozen=True, eq=False)
class RankedFeature:
    """A feature of the table with its values replaced by ranks.

    For numbers ``values`` are the distinct present values in rising order, for a category
    feature the distinct codes; rank ``len(values)`` stands for a missing value.
    """

    feature: int
    is_category: bool
    values: Float
    has_missing: bool
    missing_code: int = -1

    @property
    def n_ranks(self) -> int:
        """Number of distinct values, a missing one included."""
        return len(self.values) + self.has_missing

    @property
    def n_columns(self) -> int:
        """Upper limit on the number of ordered columns it becomes."""
        if self.n_ranks < 2:
            return 0
        if self.is_category:
            return self.n_ranks
        return 2 if self.has_missing else 1


def ordered_columns(
    features: Sequence[RankedFeature], ranks: Ranks, *, keep_duplicates: bool = False
) -> tuple[tuple[Column, ...], Ranks]:
    """Return the ordered columns of the features and the ranks of the rows in each.

    Constant columns are left out, and so are columns that order the rows as an earlier one
    does, forwards or backwards: they offer the same splits. With `keep_duplicates` the latter stay,
    for engines to which it matters which feature a split is on.
    """
    varying = [feature for feature in features if feature.n_ranks >= 2]
    columns: list[Column] = []
    if any(feature.is_category or feature.has_missing for feature in varying):
        by_column: list[Ranks] = []
        for feature in varying:
            for column, column_ranks in _columns_of(feature, ranks[feature.feature]):
                columns.append(column)
                by_column.append(column_ranks)
        stacked = np.array(by_column, dtype=np.uint32)
    else:
        for feature in varying:
            columns.append(Column(feature.feature, "numeric", feature.values))
        stacked = ranks[[feature.feature for feature in varying]]
    if not keep_duplicates and len(columns) > 1:
        tops = np.array([len(column.values) - 1 for column in columns], dtype=np.uint32)
        kept = _core.distinct_columns(stacked, tops)
        if len(kept) < len(columns):
            stacked = stacked[kept]
            columns = [columns[c] for c in kept.tolist()]
    return tuple(columns), stacked.reshape(len(columns), ranks.shape[1])


def _columns_of(feature: RankedFeature, ranks: Ranks) -> Iterator[tuple[Column, Ranks]]:
    index, values = feature.feature, feature.values
    if feature.is_category:
        codes = values.astype(np.int64).tolist()
        if feature.has_missing:
            codes.append(feature.missing_code)
        for rank, code in enumerate(codes):
            yield Column(index, "category", _BINARY, code), (ranks != rank).astype(np.uint32)
    elif feature.has_missing:
        n_values = len(values)
        first = np.where(ranks == n_values, 0, ranks + np.uint32(1)).astype(np.uint32)
        yield Column(index, "missing_first", _frozen(np.append(np.nan, values))), first
        yield Column(index, "missing_last", _frozen(np.append(values, np.nan))), ranks
    else:
        yield Column(index, "numeric", values), ranks


def _frozen(values: Float) -> Float:
    values.flags.writeable = False
    return values


_BINARY = _frozen(np.array([0.0, 1.0]))
