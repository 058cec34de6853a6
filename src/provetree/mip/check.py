"""The last look at a tree before it leaves: on the raw rows, without the model it came from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from provetree.problem.constrained import RawRows
from provetree.problem.side_constraints import SideConstraints
from provetree.tree.tree import Tree

__all__ = ["CheckedTree", "TreeLimits", "check_tree"]


@dataclass(frozen=True)
class TreeLimits:
    """What a tree was to keep to."""

    depth: int
    min_samples_leaf: int = 1
    max_splits: int | None = None
    side: SideConstraints | None = None

    def broken_size(self, depth: int, n_splits: int, smallest_leaf: int) -> tuple[str, ...]:
        """Say which limits on its size a tree breaks."""
        broken: list[str] = []
        if depth > self.depth:
            broken.append(f"Its depth is {depth}, more than {self.depth}.")
        if self.max_splits is not None and n_splits > self.max_splits:
            broken.append(f"It has {n_splits} splits, more than {self.max_splits}.")
        if smallest_leaf < self.min_samples_leaf:
            broken.append(f"A leaf has {smallest_leaf} rows, fewer than {self.min_samples_leaf}.")
        return tuple(broken)


@dataclass(frozen=True)
class CheckedTree:
    """The errors of a tree, and the limits that it breaks."""

    errors: int
    n_splits: int
    broken: tuple[str, ...]

    def cost(self, penalty: Fraction | int, charged: int | None = None) -> Fraction:
        """Return the errors plus the penalties: one per split, or as many as are charged."""
        return Fraction(self.errors) + penalty * (self.n_splits if charged is None else charged)


def check_tree(tree: Tree, rows: RawRows, limits: TreeLimits) -> CheckedTree:
    """Work a tree out on raw rows.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.problem.constrained import RawRows
    >>> leaf = Tree(feature=[-1], threshold=[0], value=[[2, 1]], n_samples=[3], n_features=1)
    >>> rows = RawRows(np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0]), np.ones(3, int))
    >>> check_tree(leaf, rows, TreeLimits(depth=0)).errors
    1
    """
    leaf = tree.apply(rows.X)
    predicted = tree.label[leaf].astype(np.int64)
    errors = int(rows.weights[predicted != rows.classes].sum())
    smallest = int(np.bincount(leaf, minlength=tree.n_nodes)[tree.feature < 0].min())
    broken = list(limits.broken_size(tree.depth, tree.n_splits, smallest))
    if limits.side is not None:
        splits = tree.feature[tree.feature >= 0].astype(np.int64)
        broken += limits.side.broken(predicted, rows.classes, rows.weights, rows.groups, splits)
    return CheckedTree(errors, tree.n_splits, tuple(broken))
