"""Probabilities of two classes that go the way that columns must.

At a split with a direction, a number between both sides is the most that the lower side may have
and the least that the upper side may have; leaves beyond are moved to it. scikit-learn does the
same with its middle value. What leaves predict stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from provetree.number_types import Float

if TYPE_CHECKING:
    from provetree.tree.tree import Tree

__all__ = ["ordered_shares"]


def ordered_shares(tree: Tree, shares: Float, directions: Sequence[int]) -> Float:
    """Return the shares of the nodes of a tree, moved as little as keeps the directions.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.tree.ordered_shares import ordered_shares
    >>> tree = Tree(feature=[0, -1, -1], threshold=[3.0, 0, 0], n_features=1,
    ...             value=[[0, 0], [6, 4], [8, 2]], n_samples=[0, 10, 10])
    >>> ordered_shares(tree, tree.shares(), (1,))[1:, 1].round(3).tolist()
    [0.3, 0.3]
    """
    ones = shares[:, 1].copy()
    least, most = tree.label.copy(), tree.label.copy()  # of the labels below each node
    for node in reversed(range(tree.n_nodes)):
        if tree.feature[node] >= 0:
            below = [int(tree.left[node]), int(tree.right[node])]
            least[node], most[node] = least[below].min(), most[below].max()
    bounds = {0: (0.0, 1.0)}
    for node in range(tree.n_nodes):
        low, high = bounds[node]
        feature = int(tree.feature[node])
        if feature < 0:
            label = int(tree.label[node])
            low, high = (max(low, 0.5), high) if label == 1 else (low, min(high, 0.5))
            ones[node] = min(max(ones[node], low), high)
            continue
        ones[node] = min(max(ones[node], low), high)
        left, right = int(tree.left[node]), int(tree.right[node])
        of_number = feature < tree.n_features and math.isfinite(tree.threshold[node])
        way = directions[feature] if of_number else 0
        bounds[left] = bounds[right] = (low, high)
        if way:
            lower, upper = (left, right) if way > 0 else (right, left)
            middle = min(max((ones[lower] + ones[upper]) / 2, low), high)
            # The labels keep the direction, so that at most one of these moves it.
            if most[lower] == 1:
                middle = max(middle, 0.5)
            if least[upper] == 0:
                middle = min(middle, 0.5)
            bounds[lower], bounds[upper] = (low, middle), (middle, high)
    return np.column_stack([1.0 - ones, ones])
