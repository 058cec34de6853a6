"""The bound of bins: all rows of a large table at once, with few values in each column.

Rows that have the same bins and the same label are merged, part by part and then together. Where
so few are left that they fit into memory, the exact search solves them. The best tree of the rows
makes, on the bins, at most as many errors more as its thresholds can reroute rows (`bins`), so

    errors of any tree >= bound of the search on bins - rows rerouted at most.

Columns of few values lose nothing, and a table of such columns alone is solved exactly. It is
looked at on the sample whether rows merge at all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.large.bins import (
    ColumnBins,
    Sketch,
    cuts_of,
    most_rerouted,
    sketched,
    tree_of_values,
)
from provetree.large.passes import Reading
from provetree.large.table import DaskTable
from provetree.number_types import Float
from provetree.options import thread_count
from provetree.problem.prepare import Prepared
from provetree.problem.problem import build_problem
from provetree.problem.weights import MAX_TOTAL_WEIGHT
from provetree.search.engine import ExactSearch
from provetree.solution import Limits
from provetree.tree.tree import Tree

__all__ = ["Binned", "Coding", "Merged", "bins_for", "most_splits", "search_on_bins"]

#: A column of so many values at most has a bin for each of them; the most bins of others.
FEW_VALUES, _MOST_BINS = 1_000, 30_000
#: Rows merge where the sample has no more different ones than this part of it.
_MERGING = 0.5
#: Of what is to be won, the part that bins may lose.
_LOSS = 0.25


@dataclass(frozen=True)
class Merged:
    """Rows of bins, each with its label once, and what they weigh."""

    rows: NDArray[Any]
    codes: NDArray[np.intp]
    weights: Float


@dataclass(frozen=True)
class Binned:
    """What a search on bins has shown: a bound for all trees of the rows, and a tree."""

    bound: float
    tree: Tree
    rerouted: float
    n_rows: int


class Coding:
    """Rows as the codes of their bins and categories, in one, two or four bytes a cell.

    Parameters
    ----------
    bins : sequence of ColumnBins or None
        The bins of each column of numbers.
    levels : sequence of sequence or None
        The categories of the others.
    """

    def __init__(
        self,
        bins: Sequence[ColumnBins | None],
        levels: Sequence[Sequence[object] | None],
    ) -> None:
        self._bins = bins
        #: The code of missing values in each column, which is the greatest.
        self._missing = [
            of_column.missing if of_column is not None else len(level or ())
            for of_column, level in zip(bins, levels, strict=True)
        ]
        self._type = np.min_scalar_type(max(self._missing))

    def merged(self, encoded: Float, codes: NDArray[np.intp], weights: Float) -> Merged:
        """Merge rows that have the same codes and the same label."""
        rows = np.empty(encoded.shape, dtype=self._type)
        for c, of_column in enumerate(self._bins):
            column = encoded[:, c]
            if of_column is not None:
                rows[:, c] = of_column.codes(column)
            else:
                rows[:, c] = np.where(np.isnan(column), self._missing[c], column)
        return _folded(rows, codes, weights)

    def numbers(self, rows: NDArray[Any]) -> Float:
        """Return codes as an encoded table: NaN is missing."""
        numbers = rows.astype(np.float64)
        numbers[rows == np.array(self._missing)] = np.nan
        return numbers


def bins_for(prepared: Prepared, n_splits: int, weight: float, gap: float | None) -> int | None:
    """Return the bins of a column with which a bound can close a gap; None where none can.

    Without a gap, only bins that lose nothing are of use. The sample says whether rows merge.
    """
    n_bins = FEW_VALUES
    if gap is not None:
        if not gap > 0:
            return None
        # s splits reroute s * weight / (2 * bins) at most.
        n_bins = max(n_bins, math.ceil(n_splits * weight / (2 * _LOSS * gap)))
        if n_bins > _MOST_BINS:
            return None
    encoded = prepared.encoded
    weights = np.ones(len(encoded))
    bins: list[ColumnBins | None] = []
    for c, level in enumerate(prepared.encoder.categories):
        if level is not None:
            bins.append(None)
            continue
        sketch = sketched(encoded[:, c], weights, n_bins)
        if gap is None and len(sketch.values) > FEW_VALUES // 2:
            return None
        cuts = cuts_of([sketch], n_bins)
        bins.append(ColumnBins.counted(cuts, encoded[:, c], weights))
    coding = Coding(bins, prepared.encoder.categories)
    merged = coding.merged(encoded, prepared.codes, weights)
    return n_bins if len(merged.rows) <= _MERGING * len(encoded) else None


def search_on_bins(
    table: DaskTable,
    reading: Reading,
    limits: dict[str, Any],
    n_bins: int,
    *,
    most_rows: int,
    until: float,
    n_jobs: int | None,
    exact: bool = False,
) -> Binned | None:
    """Search all rows on bins; None where too many rows are left, or the weights are too large.

    With `exact`, bins must lose nothing. The search ends at the moment `until`.
    """
    sketches = table.each(sketch_part, reading, 2 * n_bins, n_jobs=n_jobs)
    cuts = [
        None if level is not None else _cuts([part[c] for part in sketches if part], n_bins)
        for c, level in enumerate(reading.encoder.categories)
    ]
    counted = [part for part in table.each(count_part, reading, cuts, n_jobs=n_jobs) if part]
    bins = [
        None if of_column is None else ColumnBins.together([part[c] for part in counted])
        for c, of_column in enumerate(cuts)
    ]
    splits = most_splits(limits)
    lost = most_rerouted(bins, splits)
    if exact and lost > 0:
        return None
    coding = Coding(bins, reading.encoder.categories)
    merged = table.folded(merge_part, together, reading, coding, most_rows, n_jobs=n_jobs)
    if merged is None or not len(merged.codes) or merged.weights.sum() > MAX_TOTAL_WEIGHT:
        return None
    problem = build_problem(
        coding.numbers(merged.rows),
        merged.codes,
        n_classes=len(reading.classes),
        categories=reading.encoder.categories,
        sample_weight=merged.weights,
        **limits,
    )
    if problem.weight_error > 0:
        return None
    seconds = max(0.1, until - time.perf_counter())
    found = ExactSearch().solve(problem, Limits(seconds, n_jobs=thread_count(n_jobs)))
    bound = max(0.0, found.lower_bound - lost)
    return Binned(bound, tree_of_values(found.tree, bins), lost, len(merged.codes))


def sketch_part(
    number: int, X: Any, y: Any, w: Any, reading: Reading, most: int
) -> list[Sketch | None]:
    """Return a sketch of each column of numbers; nothing for a part without rows."""
    encoded, codes, weights = reading.rows(X, y, w)
    if not len(codes):
        return []
    return [
        None if level is not None else sketched(encoded[:, c], weights, most)
        for c, level in enumerate(reading.encoder.categories)
    ]


def count_part(
    number: int, X: Any, y: Any, w: Any, reading: Reading, cuts: list[Float | None]
) -> list[ColumnBins | None]:
    """Count the bins of each column of numbers; nothing for a part without rows."""
    encoded, codes, weights = reading.rows(X, y, w)
    if not len(codes):
        return []
    return [
        None if of_column is None else ColumnBins.counted(of_column, encoded[:, c], weights)
        for c, of_column in enumerate(cuts)
    ]


def merge_part(
    number: int, X: Any, y: Any, w: Any, reading: Reading, coding: Coding, most: int
) -> Merged | None:
    """Merge the rows of a part; None where more than `most` are left."""
    merged = coding.merged(*reading.rows(X, y, w))
    return merged if len(merged.codes) <= most else None


def together(
    parts: list[Merged | None], reading: Reading, coding: Coding, most: int
) -> Merged | None:
    """Merge the rows of some parts; None where more than `most` are left."""
    present = [part for part in parts if part is not None]
    if len(present) < len(parts):
        return None
    merged = _folded(
        np.concatenate([part.rows for part in present]),
        np.concatenate([part.codes for part in present]),
        np.concatenate([part.weights for part in present]),
    )
    return merged if len(merged.codes) <= most else None


def _folded(rows: NDArray[Any], codes: NDArray[np.intp], weights: Float) -> Merged:
    """Merge equal rows of the same label."""
    if not len(codes):
        return Merged(rows, codes, weights)
    order = np.lexsort((codes, *rows.T))
    rows, codes = rows[order], codes[order]
    new = np.ones(len(codes), dtype=bool)
    new[1:] = (codes[1:] != codes[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)
    first = np.flatnonzero(new)
    return Merged(rows[first], codes[first], np.add.reduceat(weights[order], first))


def _cuts(sketches: list[Sketch | None], n_bins: int) -> Float:
    return cuts_of([one for one in sketches if one is not None], n_bins)


def most_splits(limits: dict[str, Any]) -> int:
    """Return the splits that a tree may have."""
    splits: int = 2 ** int(limits["max_depth"]) - 1
    leaves = limits.get("max_leaf_nodes")
    return splits if leaves is None else min(splits, int(leaves) - 1)
