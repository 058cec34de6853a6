"""The best prunings of one tree: for every number of leaves, which of its nodes end up as leaves.

A dynamic programme from the leaves up: the best pruning of a node to so many leaves divides them
between its two sides. It scores all sizes of a fold after a single search.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.tree.tree import Tree

__all__ = ["best_prunings"]


def best_prunings(tree: Tree, costs: Float, max_leaf_nodes: int) -> list[NDArray[np.intp]]:
    """Return the leaves of the best pruning to at most 1, 2, ..., `max_leaf_nodes` leaves.

    `costs` holds what each node costs as a leaf. Of equal costs, the smaller tree is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import OptimalTreeRegressor
    >>> from provetree.selection.prunings import best_prunings
    >>> reg = OptimalTreeRegressor(max_depth=2).fit([[1], [2], [3], [4]], [0.0, 1.0, 5.0, 9.0])
    >>> [leaves.tolist() for leaves in best_prunings(reg.tree_, reg.tree_.values.impurity(), 3)]
    [[0], [1, 4], [1, 5, 6]]
    """
    least: list[list[float]] = [[]] * tree.n_nodes  # for each node, of 1, 2, ... leaves
    sides: list[list[tuple[int, int]]] = [[]] * tree.n_nodes  # how many go left and right
    for node in range(tree.n_nodes - 1, -1, -1):
        least[node], sides[node] = [float(costs[node])], [(0, 0)]
        if tree.feature[node] < 0:
            continue
        left, right = least[tree.left[node]], least[tree.right[node]]
        for leaves in range(2, min(len(left) + len(right), max_leaf_nodes) + 1):
            best, shared = least[node][-1], sides[node][-1]
            for a in range(max(1, leaves - len(right)), min(len(left), leaves - 1) + 1):
                cost = left[a - 1] + right[leaves - a - 1]
                if cost < best:
                    best, shared = cost, (a, leaves - a)
            least[node].append(best)
            sides[node].append(shared)
    return [
        _leaves_of(tree, sides, min(leaves, len(least[0])))
        for leaves in range(1, max_leaf_nodes + 1)
    ]


def _leaves_of(tree: Tree, sides: list[list[tuple[int, int]]], n_leaves: int) -> NDArray[np.intp]:
    """Return the nodes that are leaves of the best pruning to a number of leaves."""
    found = []
    waiting = [(0, n_leaves)]
    while waiting:
        node, leaves = waiting.pop()
        left, right = sides[node][leaves - 1]
        if left == 0:
            found.append(node)
        else:
            waiting += [(int(tree.right[node]), right), (int(tree.left[node]), left)]
    return np.array(found, dtype=np.intp)
