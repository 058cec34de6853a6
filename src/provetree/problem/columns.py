"""Ordered columns: the one form in which engines see every kind of feature.

A column gives each row a rank, and a split sends the low ranks left. A number is one column;
a number with missing values is two, missing first and missing last, so that an engine finds
the best side for them; a category feature is one binary column per category. Columns that
offer no split, or only splits that an earlier column offers, are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.number_types import Float

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


class ColumnSequence(Sequence[Column]):
    """The ordered columns of a problem, each made when it is asked for.

    A table may have thousands of columns, of which a tree needs a handful. `values` holds those
    behind the ranks, one column after the other, and `ends` where those of each column end.
    """

    def __init__(
        self,
        features: NDArray[np.int32],
        kinds: NDArray[np.uint8],
        categories: NDArray[np.int32],
        values: Float,
        ends: NDArray[np.int64],
    ) -> None:
        values.flags.writeable = False
        self._features, self._kinds, self._categories = features, kinds, categories
        self.values, self.ends = values, ends

    def __len__(self) -> int:
        return len(self._features)

    @property
    def features(self) -> NDArray[np.int32]:
        """The feature of each column."""
        return self._features

    @property
    def kinds(self) -> NDArray[np.uint8]:
        """The kind of each column, as the core numbers them."""
        return self._kinds

    @overload
    def __getitem__(self, index: int) -> Column: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Column, ...]: ...

    def __getitem__(self, index: int | slice) -> Column | tuple[Column, ...]:
        if isinstance(index, slice):
            return tuple(self[c] for c in range(len(self))[index])
        c = range(len(self))[index]  # counts from the end where negative, and knows its bounds
        return Column(
            feature=int(self._features[c]),
            kind=_KINDS[self._kinds[c]],
            values=self.values[self.ends[c - 1] if c else 0 : self.ends[c]],
            category=int(self._categories[c]),
        )

    def around(
        self, columns: Sequence[int], low: Sequence[int], high: Sequence[int]
    ) -> Iterator[tuple[int, Kind, int, float, float, int]]:
        """Describe splits, all at once, by their columns and the ranks next to them.

        Yields the feature, the kind and the category of the column, the values behind both ranks,
        and the highest rank.
        """
        # One number at a time: a tree has few splits, and for these arrays take longer.
        end, value = self.ends.item, self.values.item
        for c, before, after in zip(columns, low, high, strict=True):
            start = end(c - 1) if c > 0 else 0
            yield (
                self._features.item(c),
                _KINDS[self._kinds.item(c)],
                self._categories.item(c),
                value(start + before),
                value(start + after),
                end(c) - start - 1,
            )

    def all_values(self) -> list[Float]:
        """Return the values behind the ranks of each column."""
        ends = self.ends.tolist()
        return [self.values[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def all_in_float32(self) -> bool:
        """Tell whether float32 holds all values exactly."""
        with np.errstate(over="ignore"):
            rounded = self.values.astype(np.float32)
        return bool(((rounded == self.values) | (self.values != self.values)).all())

    def take(self, columns: Sequence[int]) -> ColumnSequence:
        """Return some of the columns."""
        values = self.all_values()
        taken = [values[c] for c in columns]
        return ColumnSequence(
            self._features[columns],
            self._kinds[columns],
            self._categories[columns],
            np.concatenate([*taken, np.empty(0)]),
            np.cumsum([len(of_column) for of_column in taken], dtype=np.int64),
        )

    def followed_by(self, other: ColumnSequence) -> ColumnSequence:
        """Return these columns and after them others."""
        last = self.ends[-1] if len(self.ends) else 0
        return ColumnSequence(
            np.concatenate([self._features, other._features]),
            np.concatenate([self._kinds, other._kinds]),
            np.concatenate([self._categories, other._categories]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.ends, other.ends + last]),
        )

    def cut_after(self, rank: int) -> ColumnSequence:
        """Return the columns with the values up to a rank only: higher ones share it."""
        kept = [values[: rank + 1] for values in self.all_values()]
        return ColumnSequence(
            self._features,
            self._kinds,
            self._categories,
            np.concatenate([*kept, np.empty(0)]),
            np.cumsum([len(values) for values in kept], dtype=np.int64),
        )

    def of_feature(self, feature: int) -> Column | None:
        """Return the first column of a feature, None where it has no columns."""
        found = np.flatnonzero(self._features == feature)
        return self[int(found[0])] if len(found) else None


_KINDS: tuple[Kind, ...] = ("numeric", "missing_first", "missing_last", "category")


@dataclass(frozen=True, eq=False)
class RankedFeatures:
    """The features of a table with their values replaced by ranks."""

    ranks: Ranks  # shape (n_features, n_rows); the rank after the last is a missing value
    values: Float  # the distinct values in rising order, one feature after the other
    ends: NDArray[np.int64]  # where the values of each feature end
    has_missing: NDArray[np.uint8]
    n_categories: NDArray[np.int64]  # also the code of a missing value; -1 for numbers

    def values_of(self, feature: int) -> Float:
        """Return the distinct values of a feature."""
        return self.values[self.ends[feature - 1] if feature else 0 : self.ends[feature]]

    @property
    def most_columns(self) -> int:
        """Upper limit on the number of ordered columns they become."""
        n_ranks = self.ends + self.has_missing
        n_ranks[1:] -= self.ends[:-1]
        as_numbers = 1 + self.has_missing.astype(np.int64)
        columns = np.where(self.n_categories >= 0, n_ranks, as_numbers)
        return int(columns[n_ranks >= 2].sum())

    def of_rows(self, rows: NDArray[np.int64]) -> RankedFeatures:
        """Return the features of some of the rows, which must have all of their values."""
        return replace(self, ranks=np.ascontiguousarray(self.ranks[:, rows]))

    def followed_by(self, other: RankedFeatures) -> RankedFeatures:
        """Return these features and after them others of the same rows."""
        return RankedFeatures(
            np.concatenate([self.ranks, other.ranks]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.ends, other.ends + (self.ends[-1] if len(self.ends) else 0)]),
            np.concatenate([self.has_missing, other.has_missing]),
            np.concatenate([self.n_categories, other.n_categories]),
        )

    def ordered(
        self, rows: NDArray[np.int64], *, keep_duplicates: bool = False
    ) -> tuple[ColumnSequence, Ranks]:
        """Return the ordered columns, and the ranks of some of the rows in each.

        Constant columns are left out, and so are columns that order the rows as an earlier one
        does, forwards or backwards, and yes and no where it is a split of an earlier column of few
        values: they offer no other splits. With `keep_duplicates` the latter
        stay, for engines to which it matters which feature a split is on.
        """
        ranks, features, kinds, categories, values, ends = _core.order_columns(
            self.ranks,
            self.values,
            self.ends,
            self.has_missing,
            self.n_categories,
            rows,
            keep_duplicates,
        )
        return ColumnSequence(features, kinds, categories, values, ends), ranks
