"""An independent check of a tree: plain loops over the raw table, nothing shared with engines.

It reads the user's table, follows the tree row by row, and adds up costs as exact fractions. So it
finds mistakes in ranking, merging, weights or search. What rows cost in their leaves is for
:mod:`provetree.tree.judges` to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

from provetree.tree.judges import judge_of, plain_label
from provetree.tree.tree import Tree


@dataclass(frozen=True)
class VerifiedCost:
    """What a tree costs on a table, and which limits it breaks.

    Parameters
    ----------
    cost : int or float
        ``errors + alpha * root_error * n_splits``; an int if it is made of whole numbers. For
        actions, alpha is a share of what the best single action costs beyond the best of each row.
    errors : int or float
        Weight of the misclassified rows; what the leaves cost, for other criteria than errors, for
        costs of predictions, and for numbers and actions.
    n_errors : int
        Number of rows of a weight above zero that are misclassified, not predicted exactly, or
        for which another action is better.
    root_error : int or float
        What the best single leaf would cost.
    n_rows : int
        Number of rows of a weight above zero.
    n_splits, n_leaves, depth : int
        Size of the tree.
    smallest_leaf : int
        Rows in the leaf with the fewest.
    violations : tuple of str
        A sentence for each limit that the tree breaks; empty if there is none.

    Examples
    --------
    >>> from provetree import Tree, verify
    >>> leaf = Tree(feature=[-1], threshold=[0], value=[[2, 1]], n_samples=[3], n_features=1)
    >>> verify(leaf, [[1.0], [2.0], [3.0]], [0, 1, 0]).cost
    1
    """

    cost: float
    errors: float
    n_errors: int
    root_error: float
    n_rows: int
    n_splits: int
    n_leaves: int
    depth: int
    smallest_leaf: int
    violations: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether the tree respects all limits."""
        return not self.violations


def verify(
    tree: Tree,
    X: Any,
    y: Iterable[Any],
    *,
    sample_weight: Iterable[float] | None = None,
    alpha: float = 0.0,
    max_depth: int | None = None,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int | float | None = None,
    criterion: str = "errors",
    cost_matrix: Any = None,
    sample_costs: Any = None,
) -> VerifiedCost:
    """Recompute the cost of a tree on a raw table, and check it against limits.

    Parameters
    ----------
    tree : Tree
        The tree to check.
    X : array or table, shape (n_rows, n_features)
        The table as the user has it: categories are compared with ``tree.categories``.
    y : array, shape (n_rows,)
        The classes: one of ``tree.class_names``, or their positions if it has none. For a tree of
        numbers, the numbers; for a tree of actions, a row of costs or rewards for each row.
    sample_weight : array, optional
        Weight of each row; one by default.
    alpha : float
        Penalty per split, as a fraction of the error of the best single leaf.
    max_depth, max_leaf_nodes, min_samples_leaf : optional
        Limits to check; a fraction of the rows is allowed for ``min_samples_leaf``.
    criterion : {"errors", "gini", "entropy", "pessimistic"}
        What the leaves of a tree of classes cost.
    cost_matrix, sample_costs : optional
        What the predictions of a tree of classes cost, as for
        :class:`~provetree.OptimalTreeClassifier`: by class, in the order of ``tree.labels``, or
        for each row.

    Returns
    -------
    VerifiedCost

    Examples
    --------
    >>> from provetree import Tree, verify
    >>> nan = float("nan")
    >>> tree = Tree(feature=[0, -1, -1], threshold=[1.5, nan, nan],
    ...             value=[[0, 0], [1, 0], [0, 1]], n_samples=[0, 1, 1], n_features=1,
    ...             class_names=["no", "yes"])
    >>> report = verify(tree, [[1.0], [2.0], [3.0]], ["no", "yes", "no"], max_depth=0)
    >>> report.cost, report.violations
    (1, ('The depth is 1, and at most 0 is allowed.',))
    >>> verify(tree, [[1.0], [2.0], [3.0]], ["no", "yes", "no"], criterion="gini").cost
    1
    """
    rows = _rows(X)
    labels = _rows(y)
    weights: list[Any] = [1] * len(rows) if sample_weight is None else list(sample_weight)
    if not len(rows) == len(labels) == len(weights):
        raise ValueError(
            "The table, the classes and the weights must have the same number of rows. "
            f"Got {len(rows)}, {len(labels)} and {len(weights)}."
        )

    judge = judge_of(tree, criterion, cost_matrix, by_row=sample_costs is not None)
    if sample_costs is not None:
        labels = _rows(sample_costs)
    leaf_rows = {node: 0 for node in range(tree.n_nodes) if tree.feature[node] < 0}
    for row, label, given in zip(rows, labels, weights, strict=True):
        weight = _exact(given)
        if weight == 0:
            continue
        leaf = _leaf_of(tree, row)
        leaf_rows[leaf] += 1
        judge.see(leaf, label, weight)

    depth = _depth(tree)
    n_leaves = len(leaf_rows)
    n_rows = sum(leaf_rows.values())
    n_splits = tree.n_nodes - n_leaves
    smallest = min(leaf_rows.values())
    errors, root_error = judge.cost(), judge.root_error()
    cost = errors + _exact(alpha) * (root_error - judge.least) * n_splits

    limits = (max_depth, max_leaf_nodes, min_samples_leaf)
    violations = _violations(depth, n_leaves, smallest, n_rows, *limits)
    return VerifiedCost(
        cost=_number(cost),
        errors=_number(errors),
        n_errors=judge.n_errors,
        root_error=_number(root_error),
        n_rows=n_rows,
        n_splits=n_splits,
        n_leaves=n_leaves,
        depth=depth,
        smallest_leaf=smallest,
        violations=tuple(violations),
    )


def _violations(
    depth: int,
    n_leaves: int,
    smallest: int,
    n_rows: int,
    max_depth: int | None,
    max_leaf_nodes: int | None,
    min_samples_leaf: int | float | None,
) -> Iterator[str]:
    """Say which limits a tree breaks."""
    if max_depth is not None and depth > max_depth:
        yield f"The depth is {depth}, and at most {max_depth} is allowed."
    if max_leaf_nodes is not None and n_leaves > max_leaf_nodes:
        yield f"There are {n_leaves} leaves, and at most {max_leaf_nodes} are allowed."
    if min_samples_leaf is not None and n_leaves > 1:
        least = int(min_samples_leaf)
        if isinstance(min_samples_leaf, float):
            least = math.ceil(_exact(min_samples_leaf) * n_rows)
        if smallest < least:
            yield f"A leaf has {smallest} rows, and at least {least} are needed."


def _leaf_of(tree: Tree, row: Sequence[Any]) -> int:
    node = 0
    while tree.feature[node] >= 0:
        feature = int(tree.feature[node])
        if feature >= tree.n_features:
            x, levels = _sum_of(tree, feature, row), None
        else:
            x, levels = row[feature], tree.categories[feature]
        if _is_missing(x):
            left = bool(tree.missing_left[node])
        elif levels is not None:
            left = any(plain_label(x) == name for name in tree.names_left(node))
        else:
            left = float(x) <= float(tree.threshold[node])
        node = int(tree.left[node]) if left else int(tree.right[node])
    return node


def _sum_of(tree: Tree, feature: int, row: Sequence[Any]) -> float:
    """Return a combination of columns for one row; NaN where one of them is missing."""
    asked = tree.combinations[feature - tree.n_features]
    terms = [
        math.nan if _is_missing(row[column]) else coefficient * float(row[column])
        for coefficient, column in asked.terms
    ]
    return reduce(add, terms)


def _depth(tree: Tree) -> int:
    deepest = 0
    waiting = [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        if tree.feature[node] >= 0:
            waiting += [(int(child[node]), depth + 1) for child in (tree.left, tree.right)]
    return deepest


def _rows(X: Any) -> list[Sequence[Any]]:
    if hasattr(X, "iloc") and len(X.shape) == 2:
        return list(zip(*(list(X.iloc[:, j]) for j in range(X.shape[1])), strict=True))
    if hasattr(X, "iter_rows"):
        return list(X.iter_rows())
    return list(X)


def _is_missing(x: Any) -> bool:
    if x is None or type(x).__name__ in ("NAType", "NaTType"):
        return True
    return bool(x != x)  # NaN of any float type


def _exact(x: Any) -> Fraction:
    """Return the decimal a person would write for ``x``, exactly."""
    return Fraction(repr(float(x)))


def _number(x: Fraction) -> float:
    return int(x) if x.denominator == 1 else float(x)
