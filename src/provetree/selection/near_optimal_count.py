"""Counts all trees that are nearly as good as the best.

The optimum is proven first. Then every tree that costs at most the slack more is counted, split by
split, without being written down: the count is exact, however many there are.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from provetree.options import TREE_OPTIONS, byte_count, validate
from provetree.problem.prepare import Prepared, prepare
from provetree.search.engine import ExactSearch
from provetree.selection.near_optimal import NearOptimalTrees
from provetree.selection.near_optimal_options import OWNER, check_options, whole_slack
from provetree.selection.tree_levels import NumberedTrees
from provetree.solution import Limits

__all__ = ["count_trees_of", "near_optimal_trees"]

#: What the counted splits may take where nobody says.
_MEMORY = 2**30
#: Of the time, for the proof of the optimum; the rest is for counting.
_SHARE_OF_PROOF = 0.5
_SHARED = ("min_samples_leaf", "class_weight", "time_limit", "max_memory")
_OPTIONS = tuple(option for option in TREE_OPTIONS if option.name in _SHARED)


def near_optimal_trees(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    slack: float = 0.01,
    max_depth: int = 3,
    min_samples_leaf: int | float = 1,
    alpha: float = 0.0,
    class_weight: Mapping[Any, float] | str | None = None,
    categorical_features: Any = "from_dtype",
    redundant_splits: bool = False,
    time_limit: float | None = 60.0,
    max_memory: int | str | None = None,
) -> NearOptimalTrees:
    """Return all trees that cost at most a slack more than the best tree.

    A tree is its splits. Two splits of a node are one where they are about the same column and
    divide the training rows of the node alike, wherever their thresholds lie between two values.
    Splits on different columns are different, also where they divide the rows alike. A leaf
    predicts the class of the largest weight, and of equal ones the first. See the page on
    near-optimal trees of the documentation.

    Parameters
    ----------
    X : array-like or table of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        Their labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights.
    slack : int or float, default=0.01
        How much worse than the best a tree may be: an int is a number of errors, a float below 1
        is a share of the rows (of their weight), 0.01 one point of accuracy.
    max_depth : {1, 2, 3}, default=3
        The most splits on the way to a leaf.
    min_samples_leaf, alpha, class_weight, categorical_features
        As for :class:`~provetree.OptimalTreeClassifier`. Penalties of splits are part of what a
        tree costs.
    redundant_splits : bool, default=False
        Whether trees count as well in which both sides of a split are leaves of the same class.
    time_limit : float, default=60.0
        Seconds for the whole call; None for no limit. If they do not suffice, the count is a lower
        bound.
    max_memory : int or str, default=None
        What the count may hold, as bytes or text such as "2GB"; None for 1 GiB. If it does not
        suffice, the count is a lower bound.

    Returns
    -------
    NearOptimalTrees

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from provetree import near_optimal_trees
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> found = near_optimal_trees(X, y, slack=2, max_depth=2)
    >>> print(found.sentence)
    2,576 trees of depth 2 make at most 24 errors; the best make 22.
    """
    validate(_OPTIONS, locals(), OWNER)
    check_options(slack, max_depth, alpha, redundant_splits)
    begun = time.monotonic()
    prepared = prepare(
        X,
        y,
        sample_weight,
        owner=OWNER,
        max_depth=max_depth,
        min_samples_leaf=min_samples_leaf,
        alpha=alpha,
        class_weight=class_weight,
        categorical_features=categorical_features,
        merge=False,
    )
    left = None if time_limit is None else max(time_limit - (time.monotonic() - begun), 1e-3)
    memory = _MEMORY if max_memory is None else byte_count(max_memory)
    return count_trees_of(
        prepared, slack, max_depth, redundant_splits=redundant_splits, seconds=left, memory=memory
    )


def count_trees_of(
    prepared: Prepared,
    slack: float,
    max_depth: int,
    *,
    redundant_splits: bool = False,
    seconds: float | None = None,
    memory: int = _MEMORY,
    switches: int = 0,
) -> NearOptimalTrees:
    """Return the near-optimal trees of a prepared table whose rows are not merged."""
    problem = prepared.problem
    begun = time.monotonic()
    best = ExactSearch().solve(
        problem, Limits(None if seconds is None else seconds * _SHARE_OF_PROOF)
    )
    limit = problem.to_whole_cost(best.cost) + whole_slack(problem, slack)
    if best.status != "optimal":
        return NearOptimalTrees(prepared, best, None, limit)
    left = None if seconds is None else max(seconds - (time.monotonic() - begun), 0.0)
    trees = NumberedTrees(
        problem,
        max_depth,
        limit,
        redundant_splits=redundant_splits,
        time_limit=left,
        memory_limit=memory,
        switches=switches,
    )
    if trees.root.status == "too_many":
        raise ValueError(
            f"The 'slack' of {OWNER} must ask for at most 2**128 trees, and {slack!r} asks for "
            "more."
        )
    return NearOptimalTrees(prepared, best, trees, limit)
