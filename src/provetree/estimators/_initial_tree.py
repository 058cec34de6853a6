"""A tree to begin with: any tree that can say which training rows pass which node.

The tree is not read but watched: a split of it is whatever divides the training rows of its node,
and it is found again among the ordered columns of the problem. So trees of other libraries, with
other thresholds or rounded numbers, mean exactly what they do on these rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from provetree.problem.columns import Column
from provetree.problem.problem import Problem
from provetree.search.engine import Splits
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

    from provetree.problem.prepare import Prepared

Rows: TypeAlias = NDArray[np.intp]


def initial_splits(initial_tree: Any, X: Any, prepared: Prepared, owner: str) -> Splits | None:
    """Return the splits of a tree on the ordered columns of a problem, in preorder.

    Parameters
    ----------
    initial_tree : fitted classifier, Tree or None
        The tree to begin with.
    X : array-like or table
        The training rows, as the user gave them.
    prepared : Prepared
        What was made of them.
    owner : str
        The name of the class that is fitted, for the sentences.

    Raises
    ------
    ValueError
        Where the tree cannot be used, or does not keep to the limits.
    """
    if initial_tree is None:
        return None
    left, right, feature, passes = _nodes(initial_tree, X, prepared, owner)
    reader = _Reader(prepared, left, right, feature, passes, owner)
    reader.read(0, 0)
    problem = prepared.problem
    n_leaves = (len(reader.columns) + 1) // 2
    allowed = {
        "number of leaves": (n_leaves, problem.max_splits + 1),
        "depth": (reader.depth, problem.max_depth),
    }
    for what, (has, most) in allowed.items():
        if has > most:
            raise ValueError(
                f"The 'initial_tree' of {owner}.fit must keep to the limits of the estimator: its "
                f"{what} on these rows can be {most} at most. Got {has} instead."
            )
    if reader.smallest < problem.min_samples_leaf:
        raise ValueError(
            f"The 'initial_tree' of {owner}.fit must keep to the limits of the estimator: its "
            f"leaves must have {problem.min_samples_leaf} training rows or more. Got a leaf of "
            f"{reader.smallest} instead."
        )
    return tuple(reader.columns), tuple(reader.ranks)


def _nodes(
    initial_tree: Any, X: Any, prepared: Prepared, owner: str
) -> tuple[Rows, Rows, Rows, csc_matrix]:
    """Return the children and features of the nodes, and which rows pass them."""
    from sklearn.tree import DecisionTreeClassifier  # takes long to load, and few ask for it

    from provetree.estimators._tree_classifier import TreeClassifier

    if isinstance(initial_tree, Tree):
        if initial_tree.n_features != prepared.encoded.shape[1]:
            raise ValueError(
                f"The 'initial_tree' of {owner}.fit must be a tree over the columns of the table. "
                f"Got a tree over {initial_tree.n_features} columns instead of "
                f"{prepared.encoded.shape[1]}."
            )
        paths = initial_tree.decision_path(prepared.encoded)
        tree = initial_tree
    elif isinstance(initial_tree, TreeClassifier):
        check_is_fitted(initial_tree)
        paths, tree = initial_tree.decision_path(X), initial_tree.tree_
    elif isinstance(initial_tree, DecisionTreeClassifier):
        check_is_fitted(initial_tree)
        try:
            paths = initial_tree.decision_path(X)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"The 'initial_tree' of {owner}.fit must take the same table. "
                f"{type(initial_tree).__name__} says: {error}"
            ) from error
        arrays = initial_tree.tree_
        return (
            np.asarray(arrays.children_left, dtype=np.intp),
            np.asarray(arrays.children_right, dtype=np.intp),
            np.asarray(arrays.feature, dtype=np.intp),
            paths.tocsc(),
        )
    else:
        raise ValueError(
            f"The 'initial_tree' of {owner}.fit must be a fitted tree classifier of provetree, a "
            "fitted DecisionTreeClassifier of scikit-learn, a Tree or None. "
            f"Got {type(initial_tree).__name__} instead."
        )
    return (
        np.asarray(tree.left, dtype=np.intp),
        np.asarray(tree.right, dtype=np.intp),
        np.asarray(tree.feature, dtype=np.intp),
        paths.tocsc(),
    )


def _ranks(column: Column, table: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the rank of every row of an encoded table in an ordered column."""
    values = table[:, column.feature]
    missing = np.isnan(values)
    if column.kind == "category":
        return np.where(values == column.category, 0, 1)
    if column.kind == "missing_first":
        return np.where(missing, 0, 1 + np.searchsorted(column.values[1:], values))
    if column.kind == "missing_last":
        last = len(column.values) - 1
        return np.where(missing, last, np.searchsorted(column.values[:-1], values))
    return np.searchsorted(column.values, values)


class _Reader:
    """Finds the splits of a tree again, from the root down."""

    def __init__(
        self, prepared: Prepared, left: Rows, right: Rows, feature: Rows, passes: Any, owner: str
    ) -> None:
        self.problem: Problem = prepared.problem
        self.table = prepared.encoded
        present = np.ones(len(self.table), dtype=np.bool_)
        if prepared.weights is not None:
            present = prepared.weights > 0
        self.present = present
        self.left, self.right, self.feature, self.passes = left, right, feature, passes
        self.owner = owner
        self.ranks_of: dict[int, NDArray[np.intp]] = {}
        self.columns: list[int] = []
        self.ranks: list[int] = []
        self.depth = 0
        self.smallest = len(self.table)

    def rows(self, node: int) -> Rows:
        begin, end = self.passes.indptr[node : node + 2]
        rows = np.asarray(self.passes.indices[begin:end], dtype=np.intp)
        return rows[self.present[rows]]

    def read(self, node: int, depth: int) -> None:
        while self.left[node] >= 0 and self.left[node] != self.right[node]:
            sides = self.rows(self.left[node]), self.rows(self.right[node])
            if len(sides[0]) and len(sides[1]):
                break
            # No training row goes one of the ways: the split is none.
            node = int(self.right[node] if len(sides[1]) else self.left[node])
        else:
            self.columns.append(-1)
            self.ranks.append(0)
            self.depth = max(self.depth, depth)
            self.smallest = min(self.smallest, len(self.rows(node)))
            return
        column, rank, mirrored = self.find(node, *sides)
        self.columns.append(column)
        self.ranks.append(rank)
        first, second = int(self.left[node]), int(self.right[node])
        for child in (second, first) if mirrored else (first, second):
            self.read(child, depth + 1)

    def find(self, node: int, left: Rows, right: Rows) -> tuple[int, int, bool]:
        """Return a column and a rank that divide the rows of a node, and whether sides change."""
        own = int(self.feature[node])
        order = sorted(
            range(len(self.problem.columns)), key=lambda c: self.problem.columns[c].feature != own
        )
        for c in order:
            if c not in self.ranks_of:
                self.ranks_of[c] = _ranks(self.problem.columns[c], self.table)
            ranks = self.ranks_of[c]
            of_left, of_right = ranks[left], ranks[right]
            if of_left.max() < of_right.min():
                return c, int(of_left.max()), False
            if of_right.max() < of_left.min():
                return c, int(of_right.max()), True
        raise ValueError(
            f"The 'initial_tree' of {self.owner}.fit must split one column at a time, as trees of "
            f"provetree do. Node {node} divides its training rows as no column of the table can."
        )
