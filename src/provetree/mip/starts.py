"""CART on the columns of a problem: a tree to start a solver from.

CART chooses each split by Gini impurity alone. What it grew is then pruned exactly: of all trees
that arise by cutting branches off, within the limit on splits, the cheapest is taken.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float, Int
from provetree.problem.problem import Problem
from provetree.tree.layout import Layout, PlacedTree

__all__ = ["cart"]

Rows: TypeAlias = NDArray[np.intp]


def cart(
    problem: Problem,
    layout: Layout,
    *,
    min_samples_leaf: int = 1,
    penalty: Fraction | int = 0,
    max_splits: int | None = None,
) -> PlacedTree:
    """Return the tree that CART grows on a problem, pruned.

    The penalty of a split is in integer units of weight.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.tree.layout import Layout
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 1, 1, 0])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=2)
    >>> cart(problem, Layout(2)).n_splits, cart(problem, Layout(2), penalty=2).n_splits
    (2, 0)
    """
    column = np.full(layout.n_branches, -1, dtype=np.int64)
    rank = np.zeros(layout.n_branches, dtype=np.int64)
    n_nodes = layout.n_branches + layout.n_leaves
    label = np.full(n_nodes, -1, dtype=np.int64)
    #: Cheapest (cost, splits) below each node, by the number of splits that may be used.
    choices: list[list[Fraction]] = [[] for _ in range(n_nodes)]
    waiting: list[tuple[int, Rows]] = [(0, np.arange(problem.n_rows))]
    reached: list[int] = []
    while waiting:
        node, rows = waiting.pop()
        reached.append(node)
        totals = np.bincount(problem.classes[rows], problem.weights[rows], problem.n_classes)
        label[node] = int(totals.argmax())
        choices[node] = [Fraction(int(totals.sum() - totals.max()))]
        if node >= layout.n_branches:
            continue
        split = _best_split(problem, rows, min_samples_leaf)
        if split is not None:
            column[node], rank[node] = split
            left = problem.ranks[column[node], rows] <= rank[node]
            waiting += [(2 * node + 2, rows[~left]), (2 * node + 1, rows[left])]
    for node in reversed(reached):  # children come after their parent
        if node < layout.n_branches and column[node] >= 0:
            left, right = choices[2 * node + 1], choices[2 * node + 2]
            choices[node] = _joined(choices[node][0], left, right, Fraction(penalty), max_splits)
    _prune(column, label, choices, Fraction(penalty))
    return PlacedTree(layout, column, rank, label)


def _best_split(problem: Problem, rows: Rows, least: int) -> tuple[int, int] | None:
    """Return the column and rank of the lowest Gini impurity, the first of them on a tie."""
    classes, weights = problem.classes[rows], problem.weights[rows]
    best: tuple[float, int, int] | None = None
    for c, column in enumerate(problem.columns):
        n_ranks = len(column.values)
        ranks = problem.ranks[c, rows].astype(np.int64)
        cells = np.bincount(
            ranks * problem.n_classes + classes, weights, n_ranks * problem.n_classes
        ).reshape(n_ranks, problem.n_classes)
        counts = np.cumsum(np.bincount(ranks, problem.counts[rows], n_ranks))[:-1]
        below = np.cumsum(cells, axis=0, dtype=np.float64)
        left, right = below[:-1], below[-1] - below[:-1]
        impurity = _impurity(left) + _impurity(right)
        allowed = (counts >= least) & (problem.counts[rows].sum() - counts >= least)
        if not allowed.any():
            continue
        k = int(np.argmin(np.where(allowed, impurity, np.inf)))
        # Values that a node has no rows of make equal splits; only clear gains replace a column.
        if best is None or impurity[k] < best[0] * (1 - 1e-12):
            best = (float(impurity[k]), c, k)
    is_pure = bool((classes == classes[0]).all())
    if best is None or is_pure:
        return None
    return best[1], best[2]


def _impurity(totals: Float) -> Float:
    weight = totals.sum(axis=1)
    squares = np.square(totals).sum(axis=1)
    share = np.divide(squares, weight, out=np.zeros_like(weight), where=weight > 0)
    return np.asarray(weight - share)


def _joined(
    leaf: Fraction,
    left: list[Fraction],
    right: list[Fraction],
    penalty: Fraction,
    max_splits: int | None,
) -> list[Fraction]:
    """Return the least cost of a node for 0, 1, 2, ... splits; never rising."""
    most = len(left) + len(right) - 1
    if max_splits is not None:
        most = min(most, max_splits)
    costs = [leaf]
    for splits in range(1, most + 1):
        shares = range(max(0, splits - len(right)), min(splits, len(left)))
        cost = min(left[s] + right[splits - 1 - s] for s in shares) + penalty
        costs.append(min(cost, costs[-1]))
    return costs


def _prune(column: Int, label: Int, choices: list[list[Fraction]], penalty: Fraction) -> None:
    """Keep the splits of the cheapest tree, the fewest of them."""
    n_branches = len(column)
    keep = np.zeros(n_branches, dtype=np.bool_)
    waiting = [(0, len(choices[0]) - 1)]
    while waiting:
        node, budget = waiting.pop()
        costs = choices[node]
        splits = costs.index(costs[budget])
        if splits == 0:
            continue
        keep[node] = True
        label[node] = -1
        left, right = choices[2 * node + 1], choices[2 * node + 2]
        shares = range(max(0, splits - len(right)), min(splits, len(left)))
        share = next(
            s for s in shares if left[s] + right[splits - 1 - s] + penalty == costs[splits]
        )
        waiting += [(2 * node + 1, share), (2 * node + 2, splits - 1 - share)]
    column[~keep] = -1
    # Below a node that is a leaf now, nothing has a class.
    for node in range(1, len(label)):
        if not keep[(node - 1) // 2]:
            label[node] = -1
