"""The complete binary tree that models of trees are laid out on, and trees placed on it.

Nodes are numbered as in a heap: the root is 0, the children of node t are 2t + 1 and 2t + 2. The
first ``n_branches`` nodes may split, the ``n_leaves`` below them may not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Bool, Float, Int
from provetree.problem.columns import Ranks
from provetree.problem.problem import Problem
from provetree.tree.build import build_tree
from provetree.tree.start_tree import StartTree, start_tree_of
from provetree.tree.tree import Tree

__all__ = ["Layout", "PlacedTree", "place", "place_tree", "placed_to_tree"]


@dataclass(frozen=True)
class Layout:
    """The complete binary tree of a depth.

    Examples
    --------
    >>> from provetree.tree.layout import Layout
    >>> layout = Layout(2)
    >>> layout.n_branches, layout.n_leaves
    (3, 4)
    >>> layout.left_leaves.astype(int).tolist()
    [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]]
    """

    depth: int

    @property
    def n_branches(self) -> int:
        """Number of nodes that may split."""
        return self.n_leaves - 1

    @property
    def n_leaves(self) -> int:
        """Number of nodes at the bottom."""
        return 1 << self.depth

    @cached_property
    def ancestors(self) -> Int:
        """The branches above each leaf, from the root down, shape (n_leaves, depth)."""
        number = np.arange(self.n_leaves)[:, np.newaxis] + self.n_leaves
        return (number >> np.arange(self.depth, 0, -1)) - 1

    @cached_property
    def goes_left(self) -> Bool:
        """Whether the way to each leaf goes left at each of its ancestors."""
        number = np.arange(self.n_leaves)[:, np.newaxis] + self.n_leaves
        return np.asarray(((number >> np.arange(self.depth - 1, -1, -1)) & 1) == 0)

    @cached_property
    def left_leaves(self) -> Bool:
        """Which leaves lie below the left child of each branch, shape (n_branches, n_leaves)."""
        return self._leaves_below(left=True)

    @cached_property
    def right_leaves(self) -> Bool:
        """Which leaves lie below the right child of each branch."""
        return self._leaves_below(left=False)

    def _leaves_below(self, *, left: bool) -> Bool:
        below = np.zeros((self.n_branches, self.n_leaves), dtype=np.bool_)
        leaf, level = np.nonzero(self.goes_left == left)
        below[self.ancestors[leaf, level], leaf] = True
        return below

    def branches_at(self, level: int) -> Int:
        """Return the branches of a level; the root is level 0."""
        return np.arange(2**level - 1, 2 ** (level + 1) - 1)

    def leaves_of(self, branches: Int, *, left: bool) -> Int:
        """Return the leaves on one side of branches of one level, a row for each of them."""
        below = self.left_leaves if left else self.right_leaves
        return np.nonzero(below[branches])[1].reshape(len(branches), -1)

    def rightmost_leaf(self, node: int) -> int:
        """Return the leaf that rows reach from a node where nothing below it splits."""
        while node < self.n_branches:
            node = 2 * node + 2
        return node - self.n_branches


@dataclass(frozen=True, eq=False)
class PlacedTree:
    """A tree on a layout: what each node splits on, and the class where it is a leaf.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.tree.layout import Layout, PlacedTree
    >>> stump = PlacedTree(Layout(1), np.array([0]), np.array([1]), np.array([-1, 0, 1]))
    >>> stump.route(np.array([[0, 1, 2]], dtype=np.uint32)).tolist()
    [1, 1, 2]
    """

    layout: Layout
    column: Int  # the ordered column of each branch, -1 where it does not split
    rank: Int  # rows of at most this rank go left
    label: Int  # the class of each node that rows end in, -1 elsewhere

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return int((self.column >= 0).sum())

    def route(self, ranks: Ranks) -> Int:
        """Return the node each row ends in, from its ranks in the ordered columns."""
        n_rows = ranks.shape[1]
        node = np.zeros(n_rows, dtype=np.int64)
        rows = np.arange(n_rows)
        for _ in range(self.layout.depth):
            rows = rows[node[rows] < self.layout.n_branches]
            rows = rows[self.column[node[rows]] >= 0]
            at = node[rows]
            right = ranks[self.column[at], rows] > self.rank[at]
            node[rows] = 2 * at + 1 + right
        return node


def placed_to_tree(
    problem: Problem, placed: PlacedTree, *, keep_labels: bool, collapse: bool = False
) -> Tree:
    """Return a placed tree as a tree of the problem; splits with an empty side vanish.

    Without `keep_labels` leaves predict their heaviest class. `collapse` makes a leaf of a split
    whose sides predict the same class everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.tree.layout import Layout, PlacedTree, placed_to_tree
    >>> problem = build_problem([[1.0], [2.0], [4.0]], [0, 0, 1], n_classes=2, max_depth=1)
    >>> stump = PlacedTree(Layout(1), np.array([0]), np.array([1]), np.array([-1, 0, 1]))
    >>> print(placed_to_tree(problem, stump, keep_labels=True).to_text(legend=False))
    x0 <= 3
    |   0: 100.0% of 2 rows [2, 0]
    x0 > 3
    |   1: 100.0% of 1 row [0, 1]
    """
    nodes: list[tuple[int, int, int]] = []  # column, rank and label, in preorder
    waiting: list[tuple[int, NDArray[np.intp]]] = [(0, np.arange(problem.n_rows))]
    while waiting:
        node, rows = waiting.pop()
        column = int(placed.column[node]) if node < placed.layout.n_branches else -1
        if column < 0:
            label = int(placed.label[node])
            if not keep_labels:
                label = int(np.bincount(problem.classes[rows], problem.weights[rows]).argmax())
            nodes.append((-1, 0, label))
            continue
        right = problem.ranks[column, rows] > placed.rank[node]
        if right.all() or not right.any():
            waiting.append((2 * node + 1 + int(right.all()), rows))
            continue
        nodes.append((column, int(placed.rank[node]), -1))
        waiting += [(2 * node + 2, rows[right]), (2 * node + 1, rows[~right])]
    if collapse:
        nodes = _collapsed(nodes)
    columns, ranks, labels = zip(*nodes, strict=True)
    return build_tree(problem, columns, ranks, labels if keep_labels else None)


def _collapsed(nodes: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return nodes in preorder without splits between leaves of one class."""
    done: list[list[tuple[int, int, int]]] = []
    for node in reversed(nodes):
        if node[0] < 0:
            done.append([node])
            continue
        left, right = done.pop(), done.pop()
        alike = len(left) == len(right) == 1 and left[0][2] == right[0][2]
        done.append(left if alike else [node, *left, *right])
    return done[0]


def place(start: StartTree, layout: Layout) -> PlacedTree:
    """Return a start tree on a layout; one that is too deep for it raises a ``ValueError``.

    Examples
    --------
    >>> from provetree.tree.layout import Layout, place
    >>> from provetree.tree.start_tree import StartTree
    >>> place(StartTree((0, -1, -1), (1, 0, 0), (-1, 0, 1), 1, 5), Layout(1)).label.tolist()
    [-1, 0, 1]
    """
    if start.depth > layout.depth:
        raise ValueError(
            f"The start tree is deeper than the {layout.depth} levels that are allowed."
        )
    column = np.full(layout.n_branches, -1, dtype=np.int64)
    rank = np.zeros(layout.n_branches, dtype=np.int64)
    label = np.full(layout.n_branches + layout.n_leaves, -1, dtype=np.int64)
    waiting = [0]
    for c, k, of_leaf in zip(start.columns, start.ranks, start.labels, strict=True):
        at = waiting.pop()
        if c < 0:
            label[at] = of_leaf
        else:
            column[at], rank[at] = c, k
            waiting += [2 * at + 2, 2 * at + 1]
    return PlacedTree(layout, column, rank, label)


def place_tree(problem: Problem, tree: Tree, table: Float, layout: Layout) -> PlacedTree:
    """Return a tree of any origin as splits on the ordered columns of a problem.

    What counts is how the tree divides the rows of the problem: a split on a feature that was left
    out, because another orders the rows alike, becomes a split on that other.
    """
    return place(start_tree_of(problem, tree, table), layout)
