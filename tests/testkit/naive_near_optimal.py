"""A naive twin of the counts of near-optimal trees: every tree of a small table, one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Rows = frozenset[int]


@dataclass(frozen=True)
class NaiveTree:
    """What a tree is: the splits it asks, as a nested tuple, and what follows from them."""

    shape: Any  # None for a leaf, else (feature, rows to one side, left, right)
    errors: float
    n_splits: int
    features: frozenset[int]
    predictions: tuple[tuple[int, int], ...]  # (row, class)
    label: int | None  # of a leaf
    margin: float = 1.0  # of its narrowest split


def margin_of(X: np.ndarray, present: Rows, left: Rows, right: Rows, feature: int) -> float:
    """Return the gap between the sides of a split of numbers as a share of the column's spread."""
    column = [X[i, feature] for i in present if math.isfinite(X[i, feature])]
    low, high = (
        sorted(X[i, feature] for i in side if not math.isnan(X[i, feature]))
        for side in (left, right)
    )
    if not low or not high:
        return 1.0  # missing or not
    gap = high[0] - low[-1] if low[-1] < high[0] else low[0] - high[-1]
    spread = max(column) - min(column)
    return min(1.0, gap / spread)


def divisions(
    X: np.ndarray, rows: Rows, feature: int, is_category: bool
) -> list[tuple[Rows, Rows]]:
    """Return the ways in which a column divides rows in two, each once."""
    values = {i: X[i, feature] for i in rows}
    missing = frozenset(i for i in rows if math.isnan(values[i]))
    found: list[tuple[Rows, Rows]] = []
    if is_category:
        for value in sorted({values[i] for i in rows - missing}):
            part = frozenset(i for i in rows - missing if values[i] == value)
            found.append((part, rows - part))
        found.append((missing, rows - missing))
    else:
        distinct = sorted({values[i] for i in rows - missing})
        for cut in [-math.inf, *distinct]:
            low = frozenset(i for i in rows - missing if values[i] <= cut and cut > -math.inf)
            found.append((low | missing, rows - low - missing))
            found.append((low, rows - low))
    seen, kept = set(), []
    for left, right in found:
        if left and right and frozenset((left, right)) not in seen:
            seen.add(frozenset((left, right)))
            kept.append((left, right))
    return kept


def all_trees(
    X: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray,
    categories: list[bool],
    depth: int,
    *,
    min_leaf: int = 1,
    redundant: bool = False,
    rows: Rows | None = None,
) -> Iterator[NaiveTree]:
    """Yield every tree of at most a depth on rows of a weight above zero."""
    if rows is None:
        rows = frozenset(np.flatnonzero(weights > 0).tolist())
    n_classes = int(y.max()) + 1
    totals = [sum(weights[i] for i in rows if y[i] == c) for c in range(n_classes)]
    label = int(np.argmax(totals))
    if len(rows) >= min_leaf:
        predictions = tuple((i, label) for i in sorted(rows))
        yield NaiveTree(None, sum(totals) - totals[label], 0, frozenset(), predictions, label)
    if depth == 0:
        return
    for feature in range(X.shape[1]):
        for left, right in divisions(X, rows, feature, categories[feature]):
            if min(len(left), len(right)) < min_leaf:
                continue
            sides = [
                list(
                    all_trees(
                        X,
                        y,
                        weights,
                        categories,
                        depth - 1,
                        min_leaf=min_leaf,
                        redundant=redundant,
                        rows=side,
                    )
                )
                for side in (left, right)
            ]
            for one, other in itertools.product(*sides):
                if not redundant and one.label is not None and one.label == other.label:
                    continue
                own = 1.0
                if not categories[feature]:
                    present = frozenset(np.flatnonzero(weights > 0).tolist())
                    own = margin_of(X, present, left, right, feature)
                yield NaiveTree(
                    (feature, left, one.shape, other.shape),
                    one.errors + other.errors,
                    1 + one.n_splits + other.n_splits,
                    one.features | other.features | {feature},
                    one.predictions + other.predictions,
                    None,
                    min(own, one.margin, other.margin),
                )
