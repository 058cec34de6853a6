"""From what an engine found on ordered columns to a tree on the user's features.

An engine names the column and the rank each node splits at; here these become features,
thresholds halfway between the neighbouring values of the node, categories, and the side
missing values take. Class totals come from the problem's integer weights, so they are
exact and do not depend on the order of the rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.tree.threshold import midpoint
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from provetree.problem.problem import Problem


def build_tree(
    problem: Problem, column: ArrayLike, rank: ArrayLike, label: ArrayLike | None = None
) -> Tree:
    """Return the tree whose splits are given as ordered columns and ranks.

    Parameters
    ----------
    problem : Problem
        The problem the splits were found on.
    column : array of int, shape (n_nodes,)
        The ordered column of each node in preorder, -1 for a leaf.
    rank : array of int, shape (n_nodes,)
        Rows of the node with at most this rank go left; ignored for leaves.
    label : array of int, shape (n_nodes,), optional
        The class each leaf predicts where it is not the heaviest one; -1 for the heaviest.

    Returns
    -------
    Tree

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.tree.build import build_tree
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1)
    >>> tree = build_tree(problem, column=[0, -1, -1], rank=[1, 0, 0])
    >>> tree.threshold[0], tree.value.tolist()
    (np.float64(3.0), [[2.0, 1.0], [2.0, 0.0], [0.0, 1.0]])
    """
    columns = np.asarray(column, dtype=np.int64).tolist()
    ranks = np.asarray(rank, dtype=np.int64).tolist()
    n_nodes = len(columns)
    feature = np.full(n_nodes, -1, dtype=np.int32)
    threshold = np.full(n_nodes, np.nan)
    category = np.full(n_nodes, -1, dtype=np.int32)
    missing_left = np.zeros(n_nodes, dtype=np.bool_)
    missing_seen = np.zeros(n_nodes, dtype=np.bool_)
    value = np.zeros((n_nodes, problem.n_classes))
    n_samples = np.zeros(n_nodes, dtype=np.int64)

    waiting: list[NDArray[np.intp]] = [np.arange(problem.n_rows)]
    for node, (c, k) in enumerate(zip(columns, ranks, strict=True)):
        rows = waiting.pop()
        if c < 0:
            weights = problem.weights[rows]
            value[node] = np.bincount(problem.classes[rows], weights, problem.n_classes)
            n_samples[node] = problem.counts[rows].sum()
            continue
        row_ranks = problem.ranks[c, rows]
        goes_left = row_ranks <= k
        left, right = rows[goes_left], rows[~goes_left]
        if len(left) == 0 or len(right) == 0:
            raise ValueError(f"Node {node} splits column {c} at rank {k} into an empty side.")
        waiting += [right, left]

        split = problem.columns[c]
        feature[node] = split.feature
        if split.kind == "category":
            category[node] = split.category
            continue
        low = float(split.values[row_ranks[goes_left].max()])
        high = float(split.values[row_ranks[~goes_left].min()])
        if math.isnan(low):  # only missing values go left: no number may follow, -inf neither
            threshold[node] = math.nan
        elif math.isnan(high):  # only missing values go right
            threshold[node] = math.inf
        else:
            threshold[node] = midpoint(low, high)
        if split.kind == "missing_first":
            missing_left[node] = True
            missing_seen[node] = row_ranks.min() == 0
        elif split.kind == "missing_last":
            missing_seen[node] = row_ranks.max() == len(split.values) - 1

    return Tree(
        feature=feature,
        threshold=threshold,
        category=category,
        missing_left=missing_left,
        missing_seen=missing_seen,
        label=label,
        value=problem.to_user_weight(value),
        n_samples=n_samples,
        n_features=problem.n_features,
        feature_names=problem.feature_names,
        class_names=problem.class_names,
        categories=problem.categories,
    )
