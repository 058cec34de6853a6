"""Chooses how the class shares of leaves are smoothed, by the log loss on rows held out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.problem.prepare import Prepared
from provetree.tree.smoothing import Smoothing, log_loss
from provetree.tree.tree import Tree

__all__ = ["SMOOTHINGS", "choose_smoothing", "held_out_log_losses"]

#: What is tried, from the weakest on; strengths are multiples of the mean weight of a row.
SMOOTHINGS: tuple[Smoothing, ...] = tuple(
    Smoothing(method, strength)
    for strength in (0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0)
    for method in ("laplace", "shrinkage")
    if method == "shrinkage" or strength <= 25.0
)

#: The training rows and the rows held out, for each fold.
Folds: TypeAlias = "Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]"


def choose_smoothing(trees: Iterable[Tree], prepared: Prepared, folds: Folds) -> Smoothing:
    """Return the smoothing of the least log loss on rows held out, the weakest on a tie.

    Parameters
    ----------
    trees : iterable of Tree
        For each fold the tree that was found on its training rows.
    prepared : Prepared
        The table. The weights of its rows count in training and in the loss.
    folds : sequence of pairs of arrays of int
        The training rows and the rows held out, for each tree.

    Returns
    -------
    Smoothing

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.problem.prepare import prepare
    >>> from provetree.selection.probabilities import choose_smoothing
    >>> X, y = np.arange(20.0).reshape(-1, 1), np.array([0, 1] * 3 + [1] * 14)
    >>> folds = [(np.arange(0, 20, 2), np.arange(1, 20, 2))]
    >>> trees = [OptimalTreeClassifier().fit(X[train], y[train]).tree_ for train, _ in folds]
    >>> choose_smoothing(trees, prepare(X, y, max_depth=3), folds).method
    'shrinkage'
    """
    mean_weight = 1.0 if prepared.weights is None else float(prepared.weights.mean())
    tried = [Smoothing(each.method, each.strength * mean_weight) for each in SMOOTHINGS]
    losses = held_out_log_losses(trees, prepared, folds, tried)
    return tried[int(np.argmin(losses))]


def held_out_log_losses(
    trees: Iterable[Tree],
    prepared: Prepared,
    folds: Folds,
    smoothings: Sequence[Smoothing | None],
) -> list[float]:
    """Return the mean log loss of all rows held out, for each of several smoothings."""
    totals, weight = np.zeros(len(smoothings)), 0.0
    for tree, (_, rows) in zip(trees, folds, strict=True):
        leaves, codes = tree.apply(prepared.encoded[rows]), prepared.codes[rows]
        own = np.ones(len(rows)) if prepared.weights is None else prepared.weights[rows]
        weight += float(own.sum())
        for i, smoothing in enumerate(smoothings):
            each = tree.with_smoothing(smoothing).probabilities()
            totals[i] += float(own.sum()) * log_loss(each[leaves], codes, own)
    return [float(total / weight) if weight > 0 else math.nan for total in totals]
