"""Which splits of a tree do not survive rounding the training rows to float32.

Thresholds are chosen so that float32 routes the rows as float64 does wherever it can tell them
apart. Where it cannot, programs that work in float32 must not be handed the tree without a word.
"""

from __future__ import annotations

import numpy as np

from provetree.number_types import Float
from provetree.problem.problem import Problem
from provetree.tree.threshold import to_float32
from provetree.tree.tree import Tree

__all__ = ["lost_in_float32"]


def lost_in_float32(tree: Tree, problem: Problem, encoded: Float) -> tuple[int, ...]:
    """Return the splits at which rounding to float32 sends a row of the table the other way.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import ExactSearch, build_problem
    >>> from provetree.estimators._float32 import lost_in_float32
    >>> X, y = 1.7e9 + np.array([[0.0], [1.0]]), np.array([0, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1)
    >>> lost_in_float32(ExactSearch().solve(problem).tree, problem, X)
    (0,)
    """
    if not tree.combinations and problem.columns.all_in_float32():
        return ()
    # Rounding keeps the order, so the two values next to a threshold speak for all.
    suspects = []
    for node in np.flatnonzero((tree.feature >= 0) & (tree.category < 0)).tolist():
        feature = int(tree.feature[node])
        if feature >= tree.n_features:  # what rounds is the sum
            suspects.append(node)
            continue
        column = problem.columns.of_feature(feature)
        if column is not None and _crosses(column.values, float(tree.threshold[node])):
            suspects.append(node)
    if not suspects:
        return ()
    # Only the rows that reach a split matter to it.
    passes = tree.decision_path(encoded).tocsc()
    table = tree.with_combinations(encoded)
    reaching = ((node, table[passes[:, [node]].indices]) for node in suspects)
    return tuple(node for node, rows in reaching if _moves(tree, node, rows))


def _crosses(values: Float, threshold: float) -> bool:
    """Tell whether a value next to the threshold lands on its other side in float32."""
    start, stop = int(values[0] != values[0]), len(values) - int(values[-1] != values[-1])
    at = start + int(np.searchsorted(values[start:stop], threshold, side="right"))
    if at > start and to_float32(float(values[at - 1])) > threshold:
        return True
    return at < stop and to_float32(float(values[at])) <= threshold


def _moves(tree: Tree, node: int, rows: Float) -> bool:
    x, threshold = rows[:, tree.feature[node]], float(tree.threshold[node])
    with np.errstate(over="ignore"):
        rounded = x.astype(np.float32).astype(np.float64)
    # A missing value is on neither side of a threshold, rounded or not.
    return bool(((x <= threshold) != (rounded <= threshold)).any())
