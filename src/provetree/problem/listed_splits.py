"""The problem of trees that may split at some places only.

Each ordered column keeps the splits that are listed: ranks count how many of them are below. Rows
that no split tells apart any more are merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from provetree.problem.columns import ColumnSequence
from provetree.problem.problem import Problem

__all__ = ["with_listed_splits"]


def with_listed_splits(
    problem: Problem, splits: Iterable[tuple[int, int]]
) -> tuple[Problem, list[list[float]]]:
    """Return the problem with these splits alone, and the thresholds of its columns.

    Parameters
    ----------
    problem : Problem
        A problem of errors.
    splits : iterable of (column, rank)
        Rows of at most this rank in the ordered column go left.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.problem.listed_splits import with_listed_splits
    >>> problem = build_problem([[1], [2], [3], [4]], [0, 1, 0, 0], n_classes=2, max_depth=2)
    >>> some, thresholds = with_listed_splits(problem, [(0, 1)])
    >>> some.ranks.tolist(), some.weights.tolist(), thresholds
    ([[0, 0, 1]], [1, 1, 2], [[2.0]])
    """
    by_column: dict[int, list[int]] = {}
    for column, rank in sorted(set(splits)):
        by_column.setdefault(column, []).append(rank)
    kept = list(by_column)
    ranks = [np.searchsorted(by_column[c], problem.ranks[c], side="left") for c in kept]
    rows = np.array([*ranks, problem.classes], dtype=np.int64).T
    distinct, place = np.unique(rows, axis=0, return_inverse=True)
    weights, counts = np.zeros((2, len(distinct)), dtype=np.int64)
    np.add.at(weights, place.ravel(), problem.weights)
    np.add.at(counts, place.ravel(), problem.counts)
    taken = problem.columns.take(kept)
    columns = ColumnSequence(
        taken._features,
        taken._kinds,
        taken._categories,
        np.concatenate([np.empty(0), *(np.arange(len(by_column[c]) + 1.0) for c in kept)]),
        np.cumsum([len(by_column[c]) + 1 for c in kept], dtype=np.int64),
    )
    few = max(0, len(distinct) - 1) if kept else 0
    listed = replace(
        problem,
        columns=columns,
        ranks=np.ascontiguousarray(distinct[:, :-1].T.astype(np.uint32)),
        classes=distinct[:, -1].astype(np.int32),
        weights=weights,
        counts=counts,
        max_depth=min(problem.max_depth, few),
        max_splits=min(problem.max_splits, few),
    )
    thresholds = [_thresholds(problem.columns[c].values, by_column[c]) for c in kept]
    return listed, thresholds


def _thresholds(values: np.ndarray, ranks: list[int]) -> list[float]:
    """Return the highest number that goes left at each rank; minus infinity where none does."""
    found = [float(values[rank]) for rank in ranks]
    return [-np.inf if x != x else x for x in found]
