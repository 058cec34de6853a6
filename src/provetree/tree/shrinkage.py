"""Shrinks what nodes predict towards the nodes above them: hierarchical shrinkage.

Agarwal, Tan, Ronen, Singh and Yu, "Hierarchical Shrinkage: improving the accuracy and
interpretability of tree-based methods", ICML 2022. Few rows in a node are little reason to depart
from what their parent says.
"""

from __future__ import annotations

import numpy as np

from provetree.number_types import Float, Int32

__all__ = ["shrunk_towards_path"]


def shrunk_towards_path(
    value: Float, weight: Float, left: Int32, right: Int32, strength: float
) -> Float:
    """Return what each node predicts after shrinkage along its path.

    The root keeps its value. Each step from a node to a child adds the difference of their values,
    divided by ``1 + strength / weight`` of the node, so that steps away from few rows count less.

    Parameters
    ----------
    value : array of float, shape (n_nodes, n_outputs)
        What each node would predict by itself: means, or class shares.
    weight : array of float, shape (n_nodes,)
        The weight of the rows of each node.
    left, right : array of int, shape (n_nodes,)
        The children in preorder, -1 for leaves.
    strength : float
        The weight of rows at which a step counts half; zero shrinks nothing.

    Returns
    -------
    array of float, shape (n_nodes, n_outputs)

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.tree.shrinkage import shrunk_towards_path
    >>> value, weight = np.array([[2.0], [1.0], [5.0]]), np.array([4.0, 3.0, 1.0])
    >>> left, right = np.array([1, -1, -1]), np.array([2, -1, -1])
    >>> shrunk_towards_path(value, weight, left, right, 4.0).ravel().tolist()
    [2.0, 1.5, 3.5]
    """
    shrunk = np.array(value, dtype=np.float64)
    for node in np.flatnonzero(left >= 0).tolist():  # parents come before their children
        above = float(weight[node])
        kept = above / (above + strength) if above > 0 else 0.0
        for child in (int(left[node]), int(right[node])):
            shrunk[child] = shrunk[node] + kept * (value[child] - value[node])
    return shrunk
