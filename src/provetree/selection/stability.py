"""Stability: how often the splits of a tree return when it is fitted on resampled rows."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from provetree.export.words import split_text
from provetree.problem.combinations import Combination
from provetree.problem.inputs import as_table
from provetree.selection.time_shares import started_jobs, time_shares
from provetree.tree.tree import Tree

__all__ = ["SplitStability", "Stability", "stability"]

#: Where no time is left, a refit is a greedy tree.
_LEAST_SECONDS = 1e-3

#: Column or combination of columns, categories that go left, and threshold.
Split: TypeAlias = tuple[int | Combination, tuple[int, ...], float]


@dataclass(frozen=True)
class SplitStability:
    """How often one split of a tree returned.

    Parameters
    ----------
    node : int
        The number of the split.
    split : str
        The split in words.
    same_place : float
        The share of refits that split the same column at the same place of the tree. Of a sum of
        two columns, the same sum.
    anywhere : float
        The share of refits that split the same column anywhere; for categories, the same category.
    low, high : float
        The middle half of the thresholds of that column in the refits; NaN for categories.

    Examples
    --------
    >>> from provetree.selection.stability import SplitStability
    >>> SplitStability(0, "age <= 37.5", 0.9, 1.0, 36.5, 38.5).anywhere
    1.0
    """

    node: int
    split: str
    same_place: float
    anywhere: float
    low: float
    high: float


@dataclass(frozen=True)
class Stability:
    """The stability of a tree under bootstrap refits.

    Parameters
    ----------
    splits : tuple of SplitStability
        The splits of the tree, from the root down.
    column_use : array of shape (n_features,)
        The share of refits that split each column.
    agreement : float
        The share of the training rows on which a refit predicts as the tree does, on average. For
        numbers, the share of the variance of the tree's predictions that the refit's explain.
    n_refits, n_proven : int
        How many trees were fitted, and how many of them are proven optimal.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeClassifier, stability
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifier(max_depth=1).fit(X, y)
    >>> found = stability(clf, X, y, n_refits=10)
    >>> found.n_refits, found.n_proven, found.agreement > 0.5
    (10, 10, True)
    """

    splits: tuple[SplitStability, ...]
    column_use: NDArray[np.float64]
    agreement: float
    n_refits: int
    n_proven: int


def stability(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_refits: int = 20,
    time_limit: float | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Stability:
    """Refit a tree on bootstrap samples, and count which of its splits recur.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or OptimalPolicyTree
        A fitted estimator; its clones are fitted.
    X : array-like or table of shape (n_samples, n_features)
        Its training rows.
    y : array-like of shape (n_samples,)
        Their labels, or the numbers to predict, or the rewards of each action.
    n_refits : int, default=20
        The number of samples. Each draws as many rows as there are, with replacement.
    time_limit : float, default=None
        Seconds for all refits together; None gives each the limit of the estimator. There are
        fewer refits where the time does not suffice for the least of each.
    random_state : int, default=0
        The seed of the samples.
    n_jobs : int, default=None
        Refits at once, as in joblib; None follows ``joblib.parallel_config``.

    Returns
    -------
    Stability

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeClassifier, stability
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> [split.anywhere for split in stability(clf, X, y, n_refits=10).splits][:1]
    [1.0]
    """
    check_is_fitted(model)
    if not isinstance(n_refits, Integral) or n_refits < 1:
        raise ValueError(
            "The 'n_refits' parameter of stability must be an int in the range [1, inf). "
            f"Got {n_refits!r} instead."
        )
    table = as_table(X, "stability")
    model._check_costs("stability")
    labels = y if hasattr(y, "columns") else np.asarray(y)  # actions have names
    rng = np.random.default_rng(random_state)
    # A bootstrap sample is the table with each row weighted by how often it was drawn.
    draws = [
        rng.multinomial(len(labels), np.full(len(labels), 1 / len(labels))) for _ in range(n_refits)
    ]
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    n_jobs = started_jobs(n_jobs, time_limit, __name__)
    left = None if time_limit is None else max(end - time.monotonic(), 0.0)
    shares = time_shares(left, n_refits, n_jobs)
    refits: list[tuple[Tree, bool, float]] = Parallel(n_jobs=n_jobs)(
        delayed(_refit)(model, table, labels, draw, seconds)
        for draw, seconds in zip(draws, _while_there_is_time(shares), strict=False)
    )
    n_refits = len(refits)
    tree: Tree = model.tree_
    splits_of = [_splits(other) for other, _, _ in refits]
    use = Counter(column for other, _, _ in refits for column in other.columns_used)
    return Stability(
        tuple(_of_split(tree, way, node, splits_of) for way, node in _places(tree).items()),
        np.array([use[f] / n_refits for f in range(tree.n_features)]),
        float(np.mean([agreement for _, _, agreement in refits])),
        n_refits,
        sum(proven for _, proven, _ in refits),
    )


def _while_there_is_time(shares: Iterable[float | None]) -> Iterator[float | None]:
    """Yield shares of the time until there is none; one refit is made in any case."""
    for number, seconds in enumerate(shares):
        if number and seconds is not None and seconds <= 0:
            return
        yield seconds


def _refit(
    model: Any, table: Any, labels: Any, draw: NDArray[np.int64], time_limit: float | None
) -> tuple[Tree, bool, float]:
    # What a model chose itself stays: it is the tree that is looked at, not the choice.
    fresh = model.chosen_classifier() if hasattr(model, "chosen_classifier") else clone(model)
    if time_limit is not None:
        fresh.set_params(time_limit=max(time_limit, _LEAST_SECONDS))
    refitted = fresh.fit(table, labels, sample_weight=draw)
    agreement = _agreement(refitted.tree_, refitted.predict(table), model.predict(table))
    return refitted.tree_, refitted.status_ == "optimal", agreement


def _agreement(tree: Tree, found: NDArray[Any], expected: NDArray[Any]) -> float:
    """Return the share of equal predictions, or the explained share of numbers."""
    if tree.kind != "numbers":
        return float(np.mean(found == expected))
    apart = float(np.square(found - expected).sum())
    varies = float(np.square(expected - expected.mean(axis=0)).sum())
    return max(0.0, 1.0 - apart / varies) if varies > 0 else float(apart == 0)


def _of_split(tree: Tree, way: str, node: int, splits_of: list[dict[str, Split]]) -> SplitStability:
    """Return how often one split came back: at its place, and anywhere."""
    feature, category, _ = _splits(tree)[way]
    same = anywhere = 0
    thresholds: list[float] = []
    for splits in splits_of:
        alike = {at: split[2] for at, split in splits.items() if split[:2] == (feature, category)}
        same += way in alike
        anywhere += bool(alike)
        thresholds += [threshold for threshold in alike.values() if math.isfinite(threshold)]
    low, high = np.quantile(thresholds, [0.25, 0.75]) if thresholds else (np.nan, np.nan)
    n_refits = len(splits_of)
    return SplitStability(
        node,
        split_text(tree, node),
        same / n_refits,
        anywhere / n_refits,
        float(low),
        float(high),
    )


def _splits(tree: Tree) -> dict[str, Split]:
    """Return column, categories and threshold of the splits by their way from the root."""
    return {
        way: (_asked(tree, node), tree.codes_left(node), float(tree.threshold[node]))
        for way, node in _places(tree).items()
    }


def _asked(tree: Tree, node: int) -> int | Combination:
    """Return the column of a split, or the combination of two that it is about."""
    feature = int(tree.feature[node])
    return tree.combination_of(feature) or feature


def _places(tree: Tree) -> dict[str, int]:
    """Return the splits by their way from the root: "" for the root, then l and r."""
    ways = {0: ""}
    for node in range(tree.n_nodes):
        if tree.feature[node] >= 0:
            ways[int(tree.left[node])] = f"{ways[node]}l"
            ways[int(tree.right[node])] = f"{ways[node]}r"
    return {way: node for node, way in sorted(ways.items()) if tree.feature[node] >= 0}
