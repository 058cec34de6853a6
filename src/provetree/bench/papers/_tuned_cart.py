"""CART* of Firat et al.: CART with the best of 80 parameter combinations by cross-validation.

What ``GridSearchCV`` does, with a twelfth of the fits. CART is greedy: its depth and the least
number of rows to split only say where it stops. So one tree per criterion, class weight and least
leaf, grown as deep as any, holds the trees of all depths and all ``min_samples_split``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

Combination: TypeAlias = dict[str, Any]

#: Table 5 of the paper, with the names in the order in which ``ParameterGrid`` goes through them.
GRID: dict[str, tuple[Any, ...]] = {
    "class_weight": (None, "balanced"),
    "criterion": ("gini", "entropy"),
    "min_samples_leaf": (0.01, 0.05, 0.1, 0.2, 1),
    "min_samples_split": (0.02, 0.05, 0.1, 0.2),
}
FOLDS = 10
#: Of CART, which it needs for ties between columns.
SEED = 0


def tuned_cart(
    X: NDArray[np.float64], y: NDArray[np.int64], depths: Collection[int]
) -> dict[int, DecisionTreeClassifier]:
    """Return CART with the best combination of each depth, fitted on all rows.

    Parameters
    ----------
    X, y : array
        The training rows and their classes.
    depths : collection of int
        The depths to choose a combination for.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.papers._tuned_cart import tuned_cart
    >>> X, y = np.arange(100.0)[:, None], np.repeat([0, 1], 50)
    >>> {depth: float(cart.score(X, y)) for depth, cart in tuned_cart(X, y, (1, 2)).items()}
    {1: 1.0, 2: 1.0}
    """
    scores = cross_validated(X, y, depths)
    fitted = {}
    for depth in depths:
        # The first of the best, as GridSearchCV takes it.
        best = combinations()[int(scores[depth].argmax())]
        cart = DecisionTreeClassifier(max_depth=depth, random_state=SEED, **best)
        fitted[depth] = cart.fit(X, y)
    return fitted


def combinations() -> list[Combination]:
    """Return the 80 combinations in the order of ``ParameterGrid``.

    Examples
    --------
    >>> from sklearn.model_selection import ParameterGrid
    >>> from provetree.bench.papers._tuned_cart import GRID, combinations
    >>> len(combinations()), combinations() == list(ParameterGrid(GRID))
    (80, True)
    """
    return [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]


def cross_validated(
    X: NDArray[np.float64], y: NDArray[np.int64], depths: Collection[int], n_folds: int = FOLDS
) -> dict[int, NDArray[np.float64]]:
    """Return the mean accuracy of each combination over the folds, by depth.

    The same numbers as ``cv_results_["mean_test_score"]`` of ``GridSearchCV``, unless
    two columns split a node equally well: CART takes one of them at random, and what it draws
    depends on how many nodes came before. Columns without ties give the same trees.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds
        folds = list(StratifiedKFold(n_folds).split(X, y))
    X32 = np.ascontiguousarray(X, dtype=np.float32)  # what CART works on
    scores = [_of_fold(X32[train], y[train], X32[test], y[test], depths) for train, test in folds]
    # The mean of each row, as GridSearchCV takes it: equal to the last bit, for the sake of ties.
    return {
        depth: np.average(np.column_stack([of_fold[depth] for of_fold in scores]), axis=1)
        for depth in depths
    }


def _of_fold(
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    X_test: NDArray[np.float32],
    y_test: NDArray[np.int64],
    depths: Collection[int],
) -> dict[int, list[float]]:
    """Return by depth the accuracy of each combination, in the order of :func:`combinations`."""
    scores: dict[int, list[float]] = {depth: [] for depth in depths}
    grid = dict(GRID)
    least_to_split = grid.pop("min_samples_split")
    for values in product(*grid.values()):
        setting = dict(zip(grid, values, strict=True))
        cart = DecisionTreeClassifier(
            max_depth=max(depths),
            min_samples_split=min(least_to_split),
            random_state=SEED,
            **setting,
        )
        tree = cart.fit(X, y, check_input=False).tree_
        right = tree.value[:, 0, :].argmax(axis=1)
        reached = tree.apply(X_test)
        for share in least_to_split:
            least = math.ceil(share * len(X))  # as scikit-learn rounds it
            for depth in depths:
                ends = _ends(tree, depth, least)[reached]
                scores[depth].append(float(np.mean(cart.classes_[right[ends]] == y_test)))
    return scores


def _ends(tree: Any, depth: int, least_to_split: int) -> NDArray[np.intp]:
    """Return where the rows of each node end if nodes this deep or with fewer rows are leaves."""
    ends = np.arange(tree.node_count)  # of nodes in preorder
    level = np.zeros(tree.node_count, dtype=np.intp)
    for node in range(tree.node_count):
        children = (int(tree.children_left[node]), int(tree.children_right[node]))
        if children[0] == children[1]:
            continue
        cut = ends[node] != node or level[node] >= depth
        cut = cut or tree.n_node_samples[node] < least_to_split
        for child in children:
            level[child] = level[node] + 1
            if cut:
                ends[child] = ends[node]
    return ends
