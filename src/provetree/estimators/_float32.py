"""Which splits of a tree do not survive rounding the training rows to float32.

Thresholds are chosen so that float32 routes the rows as float64 does wherever it can tell them
apart. Where it cannot, programs that work in float32 must not be handed the tree without a word.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.tree.tree import Tree

__all__ = ["lost_in_float32"]

Float: TypeAlias = NDArray[np.float64]


def lost_in_float32(tree: Tree, encoded: Float) -> tuple[int, ...]:
    """Return the splits at which rounding to float32 sends a row of the table the other way.

    Parameters
    ----------
    tree : Tree
        The tree.
    encoded : array of shape (n_rows, n_features)
        The encoded training rows.

    Returns
    -------
    tuple of int
        The numbers of the splits.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import Tree
    >>> from provetree.estimators._float32 import lost_in_float32
    >>> nan = float("nan")
    >>> tree = Tree(feature=[0, -1, -1], threshold=[1.7e9, nan, nan], n_features=1,
    ...             value=[[0], [1], [1]], n_samples=[0, 1, 1])
    >>> lost_in_float32(tree, np.array([[1.7e9 - 500], [1.7e9 + 500]]))
    ()
    >>> lost_in_float32(tree, np.array([[1.7e9], [1.7e9 + 1]]))
    (0,)
    """
    suspects = []
    for node in np.flatnonzero((tree.feature >= 0) & (tree.category < 0)):
        x = encoded[:, tree.feature[node]]
        if _sides_change(x, float(tree.threshold[node])).any():
            suspects.append(int(node))
    if not suspects:
        return ()
    # Only the rows that reach a split matter to it.
    passes = tree.decision_path(encoded).tocsc()
    return tuple(
        node
        for node in suspects
        if _sides_change(
            encoded[passes[:, [node]].nonzero()[0], tree.feature[node]],
            float(tree.threshold[node]),
        ).any()
    )


def _sides_change(x: Float, threshold: float) -> NDArray[np.bool_]:
    with np.errstate(over="ignore"):
        rounded = x.astype(np.float32).astype(np.float64)
    # A missing value is on neither side of a threshold, rounded or not.
    changed: NDArray[np.bool_] = (x <= threshold) != (rounded <= threshold)
    return changed
