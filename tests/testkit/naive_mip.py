"""Every tree of a small table with every labeling: the least cost under side constraints."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

# A tree: its leaves as tuples of rows, and the features of its splits.
Shape = tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]


def shapes(X: Any, rows: tuple[int, ...], depth: int) -> Iterator[Shape]:
    """All trees of a depth on some rows, without empty leaves."""
    yield (rows,), ()
    if depth == 0:
        return
    for feature in range(X.shape[1]):
        values = sorted({float(X[i, feature]) for i in rows})
        for threshold in values[:-1]:
            left = tuple(i for i in rows if X[i, feature] <= threshold)
            right = tuple(i for i in rows if X[i, feature] > threshold)
            for (l_leaves, l_splits), (r_leaves, r_splits) in product(
                list(shapes(X, left, depth - 1)), list(shapes(X, right, depth - 1))
            ):
                yield l_leaves + r_leaves, (feature, *l_splits, *r_splits)


def least_cost(
    X: Any,
    y: Any,
    *,
    n_classes: int,
    depth: int,
    penalty: Fraction,
    weights: Any,
    min_samples_leaf: int = 1,
    max_splits: int | None = None,
    min_recall: dict[int, Fraction] | None = None,
    max_false: dict[int, Fraction] | None = None,
    max_difference: Fraction | None = None,
    groups: Any = None,
    positive: int = 1,
    column_limits: tuple[tuple[tuple[int, ...], int], ...] = (),
) -> Fraction | None:
    """The least cost of a tree that keeps to everything, None if there is none."""
    best: Fraction | None = None
    for leaves, splits in shapes(X, tuple(range(len(y))), depth):
        if min(map(len, leaves)) < min_samples_leaf:
            continue
        if max_splits is not None and len(splits) > max_splits:
            continue
        if any(sum(f in limited for f in splits) > k for limited, k in column_limits):
            continue
        for labels in product(range(n_classes), repeat=len(leaves)):
            predicted = np.empty(len(y), dtype=int)
            for leaf, label in zip(leaves, labels, strict=True):
                predicted[list(leaf)] = label
            errors = int(weights[predicted != y].sum())
            cost = Fraction(errors) + penalty * len(splits)
            if best is not None and cost >= best:
                continue
            if _keeps(
                predicted, y, weights, min_recall, max_false, max_difference, groups, positive
            ):
                best = cost
    return best


def _rate(chosen: Any, among: Any, weights: Any) -> Fraction | None:
    total = int(weights[among].sum())
    return None if total == 0 else Fraction(int(weights[chosen & among].sum()), total)


def _keeps(
    predicted: Any,
    y: Any,
    weights: Any,
    min_recall: dict[int, Fraction] | None,
    max_false: dict[int, Fraction] | None,
    max_difference: Fraction | None,
    groups: Any,
    positive: int,
) -> bool:
    for k, least in (min_recall or {}).items():
        recall = _rate(predicted == k, y == k, weights)
        if recall is not None and recall < least:
            return False
    for k, most in (max_false or {}).items():
        rate = _rate(predicted == k, y != k, weights)
        if rate is not None and rate > most:
            return False
    if max_difference is not None:
        rates = [_rate(predicted == positive, groups == g, weights) for g in set(groups.tolist())]
        known = [rate for rate in rates if rate is not None]
        return max(known) - min(known) <= max_difference
    return True
