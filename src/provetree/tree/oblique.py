"""Trees of hyperplanes: questions about sums of any columns of numbers, made for the rows at hand.

An engine knows a split by the rows it sends left and the columns it may be about. Here it becomes a
question in the units of the table, with coefficients that people can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Bool, Float
from provetree.problem.combinations import Combination
from provetree.problem.hyperplanes import readable_coefficients
from provetree.problem.ordering import ordered_rows
from provetree.problem.problem import Problem
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree

__all__ = ["ObliqueNode", "oblique_tree", "with_sums"]

Rows: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ObliqueNode:
    """A node of a tree: a question about a sum with what lies on its two sides, or a leaf."""

    rows: Rows  # of the problem, that reach the node
    label: int = -1  # of a leaf
    direction: Float | None = None  # of all columns, on their scales; zero for those not asked
    left: ObliqueNode | None = None
    right: ObliqueNode | None = None

    @property
    def goes_left(self) -> Bool:
        """Which of the rows of a split are on its left."""
        assert self.left is not None  # for the type checker
        return np.isin(self.rows, self.left.rows)


def with_sums(problem: Problem, table: Float, sums: Sequence[Combination]) -> Problem:
    """Return a problem whose splits may be about some sums as well.

    `table` holds the values behind each row of the problem, in its order.
    """
    _, columns, ranks = ordered_rows(
        table,
        problem.categories,
        tuple(sums),
        problem.classes,
        problem.weights,
        merge=False,
        keep_duplicates=True,
    )
    return replace(problem, columns=columns, ranks=ranks, combinations=tuple(sums))


def oblique_tree(
    problem: Problem, table: Float, scales: Float, root: ObliqueNode, *, keep_labels: bool
) -> Tree:
    """Return the tree of some hyperplanes.

    `table` holds the values behind each row of the problem. Every question divides the rows of its
    node as it is told to, in float64; where its first coefficient was negative, the sides change
    places.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.tree.oblique import ObliqueNode, oblique_tree
    >>> X, y = np.array([[1.0, 1.0], [1.0, 4.0], [2.0, 3.0]]), np.array([0, 1, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1, merge=False)
    >>> every, sides = np.arange(3), (ObliqueNode(np.array([0])), ObliqueNode(np.array([1, 2])))
    >>> root = ObliqueNode(every, -1, np.array([0.5, 0.5]), *sides)
    >>> print(oblique_tree(problem, X, np.ones(2), root, keep_labels=False).to_text(legend=False))
    x0 + x1 <= 4
    |   0: 100.0% of 1 row [1, 0]
    x0 + x1 > 4
    |   1: 100.0% of 2 rows [0, 2]
    """
    nodes: list[tuple[Combination | int | None, Rows, int]] = []  # question, rows on the left
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.direction is None or node.left is None or node.right is None:
            nodes.append((None, node.rows, node.label))
            continue
        asked, turned = _question(table, scales, node)
        left, right = (node.right, node.left) if turned else (node.left, node.right)
        nodes.append((asked, left.rows, -1))
        waiting += [right, left]
    sums = list(dict.fromkeys(each for each, _, _ in nodes if isinstance(each, Combination)))
    feature_of = {each: problem.n_features + at for at, each in enumerate(sums)}
    widened = with_sums(problem, table, sums)
    place = {column.feature: c for c, column in enumerate(widened.columns)}
    columns, ranks = [], []
    for question, left_rows, _ in nodes:
        if question is None:
            columns.append(-1)
            ranks.append(0)
            continue
        is_sum = isinstance(question, Combination)
        c = place[feature_of[question] if is_sum else question]  # type: ignore[index]
        columns.append(c)
        ranks.append(int(widened.ranks[c, left_rows].max()))
    labels = [label for _, _, label in nodes]
    return build_tree(widened, columns, ranks, labels if keep_labels else None)


def _question(table: Float, scales: Float, node: ObliqueNode) -> tuple[Combination | int, bool]:
    """Return what a split asks about, and whether its sides change places."""
    assert node.direction is not None  # for the type checker
    asked = np.flatnonzero(node.direction)
    turned = bool(node.direction[asked[0]] < 0)
    direction = -node.direction if turned else node.direction
    if len(asked) == 1:
        return int(asked[0]), turned
    coefficients = readable_coefficients(
        table[np.ix_(node.rows, asked)],
        scales[asked],
        direction[asked],
        node.goes_left ^ turned,
    )
    return Combination(tuple(asked.tolist()), tuple(coefficients.tolist())), turned
