"""A tree to start from, found again on the ordered columns of a problem.

The tree is not read but watched: a split of it is whatever divides the training rows of its node,
and it is found again among the ordered columns. So trees of other libraries, with other thresholds
or rounded numbers, mean exactly what they do on these rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float, Int
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.problem.rows import column_ranks
from provetree.tree.tree import Tree

__all__ = ["StartTree", "holds_tree", "read_start_tree", "start_tree_of"]

Rows: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True)
class StartTree:
    """A tree on the ordered columns of a problem, its nodes in preorder."""

    columns: tuple[int, ...]  # the ordered column of each split, -1 for a leaf
    ranks: tuple[int, ...]  # rows of at most this rank go left
    labels: tuple[int, ...]  # the class of each leaf, -1 for a split
    depth: int  # on the training rows
    smallest_leaf: int  # the number of training rows of its smallest leaf

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (len(self.columns) + 1) // 2


def holds_tree(value: Any) -> bool:
    """Tell whether a value is a tree, or a fitted classifier that has one."""
    return isinstance(value, Tree) or _nodes_of(value) is not None


def start_tree_of(problem: Problem, tree: Tree, table: Float) -> StartTree:
    """Return a tree as splits on the ordered columns of a problem."""
    of_classes = problem.predicts == "classes"
    if tree.n_features != problem.n_features or (
        of_classes and tree.n_classes != problem.n_classes
    ):
        raise ValueError(
            f"The start tree has {tree.n_features} features and {tree.n_classes} classes, and the "
            f"table has {problem.n_features} and {problem.n_classes}."
        )
    nodes = _nodes_of_tree(tree)
    watched = _Watched(nodes, tree.apply(table), np.arange(len(table)))
    return _found(problem, table, watched, "start tree")


def read_start_tree(given: Any, X: Any, prepared: Prepared, what: str) -> StartTree:
    """Return the tree that a user gave, as splits on the ordered columns of a problem.

    `what` names the tree in the sentences about one that cannot be used on these rows.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from provetree.problem.prepare import prepare
    >>> from provetree.tree.start_tree import read_start_tree
    >>> X, y = [[1.0], [2.0], [4.0]], ["a", "a", "b"]
    >>> stump = DecisionTreeClassifier(max_depth=1).fit(X, y)
    >>> read_start_tree(stump, X, prepare(X, y, max_depth=1), "tree").ranks
    (1, 0, 0)
    """
    of_classes = prepared.problem.predicts == "classes"
    if isinstance(given, Tree) and (given.kind == "classes" or not of_classes):
        n_features = prepared.encoded.shape[1]
        if given.n_features != n_features:
            raise ValueError(
                f"The {what} must be a tree over the columns of the table. "
                f"Got a tree over {given.n_features} columns instead of {n_features}."
            )
        nodes, leaf = _nodes_of_tree(given), given.apply(prepared.encoded)
    else:
        found = _nodes_of(given, of_classes)
        if found is None:
            raise _refusal(given, what, of_classes)
        nodes, leaf = found, _leaves(given, X, what)
    present = np.arange(len(prepared.encoded))
    if prepared.weights is not None:
        present = np.flatnonzero(prepared.weights > 0)
    watched = _Watched(nodes, np.asarray(leaf, dtype=np.intp), present)
    return _found(prepared.problem, prepared.encoded, watched, what)


@dataclass(frozen=True)
class _Nodes:
    """Children, features and labels of the nodes of a tree; the children of a leaf are -1."""

    left: Rows
    right: Rows
    feature: Rows
    label: Rows


def _nodes_of_tree(tree: Tree) -> _Nodes:
    split = tree.feature >= 0
    arrays = (tree.left, tree.right, tree.feature)
    left, right, feature = (np.where(split, array, -1).astype(np.intp) for array in arrays)
    return _Nodes(left, right, feature, np.asarray(tree.label, dtype=np.intp))


def _nodes_of(estimator: Any, of_classes: bool = True) -> _Nodes | None:
    """Return the nodes of a fitted tree of this package or of scikit-learn, or None.

    Where classes are wanted, the tree must predict classes; else only its splits matter.
    """
    tree: Any = getattr(estimator, "tree_", None)
    if isinstance(tree, Tree):
        return _nodes_of_tree(tree) if tree.kind == "classes" or not of_classes else None
    if not hasattr(tree, "children_left"):
        return None
    if of_classes and not (hasattr(estimator, "predict_proba") and estimator.n_outputs_ == 1):
        return None
    return _Nodes(
        np.asarray(tree.children_left, dtype=np.intp),
        np.asarray(tree.children_right, dtype=np.intp),
        np.asarray(tree.feature, dtype=np.intp),
        np.asarray(tree.value[:, 0, :].argmax(axis=1), dtype=np.intp),
    )


def _refusal(given: Any, what: str, of_classes: bool) -> ValueError:
    """Return what to raise for something that holds no tree; what is not fitted raises itself."""
    if hasattr(given, "fit") and hasattr(given, "decision_path"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(given)
    allowed = "a fitted tree of provetree or of scikit-learn"
    if of_classes:
        allowed = (
            "a fitted tree classifier of provetree, a fitted DecisionTreeClassifier of scikit-learn"
        )
    return ValueError(
        f"The {what} must be {allowed}, a Tree or None. Got {type(given).__name__} instead."
    )


def _leaves(classifier: Any, X: Any, what: str) -> Rows:
    """Return the leaf of each training row, as the classifier itself says."""
    try:
        return np.asarray(classifier.apply(X), dtype=np.intp)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"The {what} must take the same table. {type(classifier).__name__} says: {error}"
        ) from error


class _Watched:
    """Which training rows pass which node of a tree."""

    def __init__(self, nodes: _Nodes, leaf: Rows, present: Rows) -> None:
        self.nodes = nodes
        # In preorder, the leaves below a node follow each other.
        first = np.zeros(len(nodes.left), dtype=np.intp)
        self.end = np.zeros(len(nodes.left), dtype=np.intp)
        order: list[int] = []
        waiting = [0]
        while waiting:
            node = waiting.pop()
            first[node] = len(order)
            order.append(node)
            if nodes.left[node] >= 0:
                waiting += [int(nodes.right[node]), int(nodes.left[node])]
        for node in reversed(order):
            last = nodes.right[node]
            self.end[node] = first[node] + 1 if last < 0 else self.end[last]
        self.first = first
        self.order = present[np.argsort(first[leaf[present]], kind="stable")]
        self.at = first[leaf[self.order]]

    def rows(self, node: int) -> Rows:
        """Return the rows that pass a node."""
        begin, end = np.searchsorted(self.at, (self.first[node], self.end[node]))
        return self.order[begin:end]

    def sides(self, node: int) -> tuple[Rows, Rows] | None:
        """Return the rows that go left and right at a node; None at a leaf."""
        if self.nodes.left[node] < 0:
            return None
        return self.rows(int(self.nodes.left[node])), self.rows(int(self.nodes.right[node]))


def _found(problem: Problem, table: Float, watched: _Watched, what: str) -> StartTree:
    """Find the splits of a tree again, from the root down."""
    find = _finder(problem, table, what)
    nodes = watched.nodes
    columns: list[int] = []
    ranks: list[int] = []
    labels: list[int] = []
    depth, smallest = 0, len(table)
    waiting = [(0, 0)]
    while waiting:
        node, level = waiting.pop()
        sides = watched.sides(node)
        while sides is not None and not (len(sides[0]) and len(sides[1])):
            # No training row goes one of the ways: the split is none.
            node = int(nodes.right[node] if len(sides[1]) else nodes.left[node])
            sides = watched.sides(node)
        if sides is None:
            columns.append(-1)
            ranks.append(0)
            labels.append(int(nodes.label[node]))
            depth = max(depth, level)
            smallest = min(smallest, len(watched.rows(node)))
            continue
        column, rank, mirrored = find(node, int(nodes.feature[node]), *sides)
        columns.append(column)
        ranks.append(rank)
        labels.append(-1)
        children = [int(nodes.right[node]), int(nodes.left[node])]
        waiting += [(child, level + 1) for child in (children[::-1] if mirrored else children)]
    return StartTree(tuple(columns), tuple(ranks), tuple(labels), depth, smallest)


def _finder(
    problem: Problem, table: Float, what: str
) -> Callable[[int, int, Rows, Rows], tuple[int, int, bool]]:
    """Return what finds a column and a rank that divide rows in a given way."""
    features = [column.feature for column in problem.columns]

    @cache
    def ranks_of(c: int) -> Int:
        return column_ranks(problem, c, problem.feature_values(table, features[c]))

    def find(node: int, feature: int, left: Rows, right: Rows) -> tuple[int, int, bool]:
        own = [c for c, of_column in enumerate(features) if of_column == feature]
        others = [c for c, of_column in enumerate(features) if of_column != feature]
        for candidates in (own, others):
            for mirrored, (low, high) in enumerate(((left, right), (right, left))):
                for c in candidates:
                    rank = int(ranks_of(c)[low].max())
                    if rank < ranks_of(c)[high].min():
                        return c, rank, bool(mirrored)
        raise ValueError(
            f"The {what} must split as trees of this estimator do, one column at a time or with "
            f"splits='pairs' one of its sums of two. Node {node} divides its training rows as none "
            "of these can."
        )

    return find
