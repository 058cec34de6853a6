"""Bins of columns: few values in place of many, and what that can cost a tree.

Cuts come from sketches of all parts, and what lies between two cuts is counted on all rows. A
threshold inside a bin can be moved to either end of it. One of the two ends sends at most half of
the bin's rows another way, so a tree of s splits makes at most s times that many errors more on
the bins than on the rows. A bin of one value has no threshold inside, and costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.tree.tree import Tree

__all__ = ["ColumnBins", "Sketch", "cuts_of", "most_rerouted", "sketched", "tree_of_values"]


@dataclass(frozen=True)
class Sketch:
    """Some values of a column in a part, in rising order, and what weighs up to each of them."""

    values: Float
    weights: Float


def sketched(column: Float, weights: Float, most: int) -> Sketch:
    """Return a sketch of at most `most` values and those that are as heavy as such a share.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.large.bins import sketched
    >>> found = sketched(np.array([3.0, 1.0, np.nan, 1.0]), np.ones(4), most=5)
    >>> found.values.tolist(), found.weights.tolist()
    ([1.0, 3.0], [2.0, 1.0])
    """
    known = ~np.isnan(column)
    values, place = np.unique(column[known], return_inverse=True)
    each: Any = np.bincount(place.reshape(-1), weights[known], minlength=len(values))
    if len(values) <= most:
        return Sketch(values, each)
    upto = np.cumsum(each)
    steps = upto[-1] * np.arange(1, most + 1) / most
    kept = np.searchsorted(upto, steps * (1 - 1e-12))
    heavy = np.flatnonzero(each * most >= upto[-1])
    # With the value before a heavy one, what weighs up to it is what it weighs itself.
    at = np.unique(np.concatenate([kept, heavy, np.maximum(heavy - 1, 0), [len(values) - 1]]))
    return Sketch(values[at], np.diff(upto[at], prepend=0.0))


def cuts_of(sketches: Sequence[Sketch], n_bins: int) -> Float:
    """Return the upper ends of about `n_bins` bins of equal weight; heavy values have their own.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.large.bins import Sketch, cuts_of
    >>> cuts_of([Sketch(np.arange(4.0), np.ones(4))], n_bins=4).tolist()
    [0.0, 1.0, 2.0, 3.0]
    >>> cuts_of([Sketch(np.arange(8.0), np.ones(8))], n_bins=2).tolist()
    [3.0, 7.0]
    """
    values, place = np.unique(np.concatenate([s.values for s in sketches]), return_inverse=True)
    if len(values) <= n_bins:
        return values
    given = np.concatenate([s.weights for s in sketches])
    each = np.bincount(place.reshape(-1), given, minlength=len(values))
    upto = np.cumsum(each)
    kept = values[np.searchsorted(upto, upto[-1] * np.arange(1, n_bins + 1) / n_bins * (1 - 1e-12))]
    heavy = values[each * n_bins >= upto[-1]]
    below = np.nextafter(heavy, -np.inf)
    return np.unique(np.concatenate([kept, heavy, below, values[-1:]]))


@dataclass(frozen=True)
class ColumnBins:
    """The bins of a column of numbers, counted on all rows.

    Bin k has the values above cut k - 1, up to cut k; the last has those above all cuts.

    Parameters
    ----------
    cuts : array of float
        Upper ends in rising order.
    weights : array of float
        What weighs in each bin, one more than there are cuts.
    lows, highs : array of float
        Least and greatest value of each bin, infinities of the other sign where it is empty.
    """

    cuts: Float
    weights: Float
    lows: Float
    highs: Float

    @classmethod
    def counted(cls, cuts: Float, column: Float, weights: Float) -> ColumnBins:
        """Count the rows of a part.

        Examples
        --------
        >>> import numpy as np
        >>> from provetree.large.bins import ColumnBins
        >>> found = ColumnBins.counted(np.array([2.0]), np.array([1.0, 2.0, 9.0]), np.ones(3))
        >>> found.weights.tolist(), found.most_rerouted
        ([2.0, 1.0], 1.0)
        """
        known = ~np.isnan(column)
        values = column[known]
        at = np.searchsorted(cuts, values)
        n = len(cuts) + 1
        lows, highs = np.full(n, np.inf), np.full(n, -np.inf)
        np.minimum.at(lows, at, values)
        np.maximum.at(highs, at, values)
        weighed: Any = np.bincount(at, weights[known], minlength=n)
        return cls(cuts, weighed, lows, highs)

    @classmethod
    def together(cls, parts: Sequence[ColumnBins]) -> ColumnBins:
        """Return the bins of all parts."""
        return cls(
            parts[0].cuts,
            np.sum([part.weights for part in parts], axis=0),
            np.min([part.lows for part in parts], axis=0),
            np.max([part.highs for part in parts], axis=0),
        )

    @cached_property
    def most_rerouted(self) -> float:
        """The weight of the rows that one threshold can send another way, at most."""
        several = self.weights[self.lows < self.highs]
        return float(several.max(initial=0.0)) / 2

    @property
    def missing(self) -> int:
        """The code of missing values."""
        return len(self.cuts) + 1

    def codes(self, column: Float) -> NDArray[np.uint32]:
        """Return the bin of each row."""
        found = np.searchsorted(self.cuts, column).astype(np.uint32)
        found[np.isnan(column)] = self.missing
        return found

    def value_at(self, code: float) -> float:
        """Return a threshold on values for one between bins: the middle of the gap there."""
        if not np.isfinite(code):  # all numbers to one side
            return code
        present = np.flatnonzero(self.weights > 0)
        below, above = present[present <= code], present[present > code]
        if not len(below):
            return float(np.nextafter(self.lows[above[0]], -np.inf))
        a = float(self.highs[below[-1]])
        if not len(above):
            return a
        middle = a + (float(self.lows[above[0]]) - a) / 2
        return middle if a <= middle < self.lows[above[0]] else a


def most_rerouted(bins: Sequence[ColumnBins | None], n_splits: int) -> float:
    """Return how many more errors, at most, the best tree of so many splits makes on the bins."""
    return n_splits * max((one.most_rerouted for one in bins if one is not None), default=0.0)


def tree_of_values(tree: Tree, bins: Sequence[ColumnBins | None]) -> Tree:
    """Return a tree on bins as one on values: it sends every row the same way."""
    threshold = tree.threshold.copy()
    for node in np.flatnonzero((tree.feature >= 0) & (tree.category < 0)).tolist():
        of_column = bins[tree.feature[node]]
        if of_column is not None:
            threshold[node] = of_column.value_at(float(threshold[node]))
    return tree.replaced(threshold=threshold)
