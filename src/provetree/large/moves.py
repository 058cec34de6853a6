"""Better splits for a tree at hand, by counts of all rows per column and bin.

A split may move to another column and threshold while the subtrees below it stay as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from provetree.number_types import Float
from provetree.problem.prepare import Prepared
from provetree.tree.tree import Tree

__all__ = ["edges_of", "moved"]

#: Bins of a column for moving splits.
_BINS = 2_000
_SPLIT_FIELDS = ("feature", "threshold", "category", "missing_left")


def moved(tree: Tree, edges: list[Float | None], parts: list[Any]) -> Tree | None:
    """Return the tree with splits moved to where all rows want them; None where they stay.

    `parts` has what :func:`provetree.large.passes.count_moves` has counted.
    """
    moves = []
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        sums = {
            c: np.sum([part[node, c] for part in parts if (node, c) in part], axis=0)
            for c, of_column in enumerate(edges)
            if of_column is not None and any((node, c) in part for part in parts)
        }
        move = _best_move(tree, node, sums, edges)
        if move is not None:
            moves.append(move)
    if not moves:
        return None
    changes = {name: getattr(tree, name).copy() for name in _SPLIT_FIELDS}
    touched: set[int] = set()
    for _, node, column, threshold, missing_left in sorted(moves, key=lambda m: -m[0]):
        # What a move gains was counted with everything else as it is: one to a path.
        if touched & (_above(tree, node) | _below(tree, node)):
            continue
        touched.add(node)
        changes["feature"][node], changes["threshold"][node] = column, threshold
        changes["category"][node], changes["missing_left"][node] = -1, missing_left
    return tree.replaced(**changes)


def edges_of(tree: Tree, prepared: Prepared) -> list[Float | None]:
    """Return thresholds of each column of numbers: between values of the sample, and the tree's."""
    found: list[Float | None] = []
    for c, level in enumerate(prepared.encoder.categories):
        if level is not None:
            found.append(None)
            continue
        values = prepared.encoded[:, c]
        values = np.unique(values[np.isfinite(values)])
        if len(values) > _BINS:
            values = values[np.linspace(0, len(values) - 1, _BINS).round().astype(int)]
        own = tree.threshold[(tree.feature == c) & (tree.category < 0)]
        found.append(np.unique(np.concatenate([(values[1:] + values[:-1]) / 2, own])))
    return found


def _best_move(
    tree: Tree, node: int, sums: dict[int, Float], edges: list[Float | None]
) -> tuple[float, int, int, float, bool] | None:
    """Return gain, node, column, threshold and side of missing values of the best move."""
    now = None
    column = int(tree.feature[node])
    best: tuple[float, int, int, float, bool] | None = None
    for c, dearer in sums.items():
        of_column = edges[c]
        if of_column is None or len(of_column) == 0:
            continue
        # Sending the bins up to an edge left costs this much more than sending all right.
        costs, missing = np.cumsum(dearer[:-1])[: len(of_column)], float(dearer[-1])
        if c == column and tree.category[node] < 0:
            at = np.searchsorted(of_column, tree.threshold[node])
            if at < len(of_column) and of_column[at] == tree.threshold[node]:
                now = float(costs[at]) + (missing if tree.missing_left[node] else 0.0)
        k = int(costs.argmin())
        cost = float(costs[k]) + min(0.0, missing)
        if best is None or cost < best[0]:
            # Without missing values the side stays as it was.
            side = missing < 0 if missing else bool(tree.missing_left[node])
            best = (cost, node, c, float(of_column[k]), side)
    if now is None or best is None or best[0] >= now - 1e-9:
        return None
    return (now - best[0], *best[1:])


def _above(tree: Tree, node: int) -> set[int]:
    parents = {
        int(child): at
        for at in range(tree.n_nodes)
        if tree.feature[at] >= 0
        for child in (tree.left[at], tree.right[at])
    }
    found = {node}
    while node in parents:
        node = parents[node]
        found.add(node)
    return found


def _below(tree: Tree, node: int) -> set[int]:
    if tree.feature[node] < 0:
        return {node}
    return {node} | _below(tree, int(tree.left[node])) | _below(tree, int(tree.right[node]))
