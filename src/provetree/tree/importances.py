"""How much each column of a tree matters, by what its splits save."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from provetree.tree.tree import Tree

__all__ = ["split_importances"]


def split_importances(tree: Tree) -> NDArray[np.float64]:
    """Return the share of each column in the total decrease of impurity.

    Each split of a column adds the impurity of its node less the impurities of its children, by
    their weights, as for scikit-learn's own trees. The columns of a sum share it equally.
    Impurity is Gini's for classes, the sum of squares (or of distances to the median) for numbers,
    and the cost of the best action for actions. All are zero for a tree without splits.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.tree.importances import split_importances
    >>> split_importances(Tree(feature=[1, -1, -1], threshold=[3.0, 0, 0], n_features=2,
    ...                        value=[[0, 0], [3, 1], [0, 2]], n_samples=[0, 4, 2]))
    array([0., 1.])
    """
    impurity = tree.values.impurity()
    splits = np.flatnonzero(tree.feature >= 0)
    decrease = impurity[splits] - impurity[tree.left[splits]] - impurity[tree.right[splits]]
    # Rounding may leave a split that changes nothing a little below zero.
    gains = np.zeros(tree.n_features)
    for split, gain in zip(splits.tolist(), np.maximum(decrease, 0.0).tolist(), strict=True):
        columns = tree.columns_of(int(tree.feature[split]))
        for column in columns:
            gains[column] += gain / len(columns)
    total = gains.sum()
    return gains / total if total > 0 else gains
