"""Chooses the least rows of a leaf and the number of leaves together, by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from provetree.number_types import Float
from provetree.problem.prepare import Prepared
from provetree.selection.frontier import solve_frontier
from provetree.selection.path import (
    TuningPath,
    fold_scores,
    folds_of,
    joined_path,
    path_end,
)

__all__ = ["Chosen", "choose_least_rows"]

#: The share of the time limit that is kept for the tree of all rows.
_LAST_SHARE = 1 / 3


class Chosen(NamedTuple):
    """What the cross-validation chose."""

    path: TuningPath  # of all rows, with the chosen least rows of a leaf
    least_rows: int | float
    scores: list[Float]  # of each candidate: folds x numbers of leaves


def choose_least_rows(
    prepared: Prepared,
    candidates: Sequence[int | float],
    *,
    max_depth: int,
    max_leaf_nodes: int | None,
    cv: Any,
    time_limit: float | None,
    n_jobs: int | None,
) -> Chosen:
    """Return the tuning path with the least rows of a leaf that do best on rows held out.

    The folds of all candidates are solved first, then the path of all rows with the chosen one.
    """
    end = None if time_limit is None else time.monotonic() + time_limit
    every_row = np.arange(len(prepared.codes))
    n_leaves = path_end(prepared.problem_of(every_row, max_depth=max_depth), max_leaf_nodes)
    limits: list[dict[str, Any]] = [
        {"max_depth": max_depth, "min_samples_leaf": least} for least in candidates
    ]
    for_folds = None if time_limit is None else time_limit * (1 - _LAST_SHARE)
    scores = fold_scores(prepared, folds_of(cv, prepared), n_leaves, for_folds, n_jobs, limits)
    # Of equal scores, the largest leaves: they are the surest.
    best = max(range(len(candidates)), key=lambda i: (scores[i].mean(axis=0).max(), i))
    whole = prepared.problem_of(every_row, **limits[best])
    left = None if end is None else max(end - time.monotonic(), 0.0)
    size = 1 + int(scores[best].mean(axis=0).argmax())
    found = solve_frontier(whole, n_leaves, left, first=size)
    path = joined_path(found, prepared, scores[best])
    return Chosen(path, candidates[best], scores)
