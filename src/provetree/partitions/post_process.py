"""PostProcess and EnumInterval (Algorithms 5 and 6): move thresholds so that fewer rows are wrong.

Splits keep their columns, and correctly classified representatives keep their path, so the tree
stays as good for the partition. Among the thresholds that allow this, the one with the fewest rows
on the wrong side is taken, and of these the one in the widest gap.
"""

from __future__ import annotations

import numpy as np

from provetree.number_types import Bool, Float, Int
from provetree.tree.threshold import midpoint
from provetree.tree.tree import Tree

__all__ = ["enum_interval", "post_process"]


def enum_interval(
    x: Float, weights: Int, wants_left: Bool, low: float, high: float, threshold: float
) -> float:
    """Return the threshold of a split with the fewest rows on the wrong side (Algorithm 5).

    `x` and `weights` are of the rows that want to go left or right. `low` is the greatest value of
    a representative that must go left, `high` the least of one that must go right; infinite where
    there is none. The threshold so far stays unless another one is better.

    Examples
    --------
    >>> x, left = np.array([1.0, 2.0, 4.0, 8.0]), np.array([True, True, False, False])
    >>> enum_interval(x, np.ones(4, int), left, 1.0, 8.0, 1.5)
    3.0
    """
    inside = x[(x >= low) & (x <= high)]
    ends = [bound for bound in (low, high) if np.isfinite(bound)]
    values = np.unique(np.concatenate([inside, ends]))
    against = int(weights[wants_left & (x > threshold)].sum())
    against += int(weights[~wants_left & (x <= threshold)].sum())
    if len(values) < 2:
        return threshold
    order = np.argsort(x, kind="stable")
    upto = np.searchsorted(x[order], values[:-1], side="right")
    left_mass = np.append(0, np.cumsum(np.where(wants_left, weights, 0)[order]))
    right_mass = np.append(0, np.cumsum(np.where(wants_left, 0, weights)[order]))
    errors = (left_mass[-1] - left_mass[upto]) + right_mass[upto]
    gaps = np.diff(values)
    least = int(errors.min())
    if least > against:
        return threshold
    best = np.flatnonzero(errors == least)
    best = best[gaps[best].argmax()]
    return midpoint(float(values[best]), float(values[best + 1]))


def post_process(
    tree: Tree,
    table: Float,
    classes: Int,
    weights: Int,
    clusters: Int,
    representatives: Float,
    labels: Int,
) -> Tree:
    """Move the thresholds of a tree so that more rows follow right representatives.

    The result has no more wrong rows, and right representatives stay right. Moving one threshold
    changes which rows reach the nodes below, so a move that raises the number of errors on the rows
    is undone; then Proposition 4 holds for every tree.

    Examples
    --------
    >>> from provetree import Tree
    >>> nan = float("nan")
    >>> tree = Tree(feature=[0, -1, -1], threshold=[1.5, nan, nan], n_features=1,
    ...             value=[[0, 0], [1, 0], [0, 1]], n_samples=[0, 1, 1])
    >>> X, y = np.array([[0.0], [2.0], [4.0], [6.0]]), np.array([0, 0, 1, 1])
    >>> moved = post_process(tree, X, y, np.ones(4, int), y, np.array([[1.0], [5.0]]), [0, 1])
    >>> float(moved.threshold[0])
    3.0
    """
    # Thresholds of sums are moved as those of columns are.
    table, representatives = map(tree.with_combinations, (table, representatives))
    walk, ways = _Walk(tree, table), _Walk(tree, representatives)
    thresholds = tree.threshold.copy()
    passes = ways.reached(thresholds)
    right = ways.predicted(passes) == np.asarray(labels)
    errors = int(weights[walk.predicted(walk.reached(thresholds)) != classes].sum())
    here = {0: np.ones(len(table), dtype=np.bool_)}  # rows at each node, the thresholds above moved
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        j, left = int(tree.feature[node]), int(tree.left[node])
        # Rows that reach the node whose representative passes it, too. A split between missing
        # values and the rest has nothing to move, nor has one that takes a category.
        rows = here[node] & passes[node][clusters] & np.isfinite(table[:, j])
        if tree.category[node] < 0 and np.isfinite(thresholds[node]) and rows.any():
            of_rows = clusters[rows]
            x = representatives[:, j]
            kept = right & passes[node] & np.isfinite(x)
            before = float(thresholds[node])
            found = enum_interval(
                table[rows, j],
                weights[rows],
                passes[left][of_rows] == right[of_rows],
                float(x[kept & passes[left]].max(initial=-np.inf)),
                float(x[kept & ~passes[left]].min(initial=np.inf)),
                before,
            )
            if found != before:
                thresholds[node] = found
                wrong = walk.predicted(walk.reached(thresholds)) != classes
                now = int(weights[wrong].sum())
                if now > errors:
                    thresholds[node] = before
                else:
                    errors = now
        goes_left = walk.goes_left(node, float(thresholds[node]))
        here[left] = here[node] & goes_left
        here[int(tree.right[node])] = here[node] & ~goes_left
    if np.array_equal(thresholds, tree.threshold, equal_nan=True):
        return tree
    seen = tree.missing_seen | (tree.feature >= 0) & (tree.category < 0)
    return tree.replaced(threshold=thresholds, missing_seen=seen)


class _Walk:
    """Routes rows through a tree whose thresholds change."""

    def __init__(self, tree: Tree, table: Float) -> None:
        self.tree, self.table = tree, table

    def goes_left(self, node: int, threshold: float) -> Bool:
        """Tell which rows go left at a split."""
        tree = self.tree
        x = self.table[:, tree.feature[node]]
        by_category = tree.category[node] >= 0
        left = x == tree.category[node] if by_category else x <= threshold
        return np.asarray(np.where(np.isnan(x), tree.missing_left[node], left), dtype=np.bool_)

    def reached(self, thresholds: Float) -> list[Bool]:
        """Return the rows that reach each node."""
        tree = self.tree
        reached = [np.ones(len(self.table), dtype=np.bool_)] * tree.n_nodes
        for node in np.flatnonzero(tree.feature >= 0).tolist():  # parents come first
            left = self.goes_left(node, float(thresholds[node]))
            reached[int(tree.left[node])] = reached[node] & left
            reached[int(tree.right[node])] = reached[node] & ~left
        return reached

    def predicted(self, reached: list[Bool]) -> Int:
        """Return the class predicted for each row, from the rows that reach each node."""
        found = np.zeros(len(self.table), dtype=np.int64)
        for node, rows in enumerate(reached):
            if self.tree.feature[node] < 0:
                found[rows] = self.tree.label[node]
        return found
