"""The last look at a tree before it leaves: on the raw rows, without the model it came from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.mip.side_constraints import SideConstraints
from provetree.tree.tree import Tree

__all__ = ["CheckedTree", "RawRows", "TreeLimits", "check_tree"]

Float: TypeAlias = NDArray[np.float64]
Int: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RawRows:
    """The rows of a table as they were given, those of weight zero left out.

    Parameters
    ----------
    X : array of float, shape (n, n_features)
        The encoded table.
    classes : array of int, shape (n,)
    weights : array of int, shape (n,)
        Whole weights.
    groups : array of int, shape (n,), optional
        The group of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.mip.check import RawRows
    >>> len(RawRows(np.zeros((2, 1)), np.array([0, 1]), np.ones(2, int)).classes)
    2
    """

    X: Float
    classes: Int
    weights: Int
    groups: Int | None = None


@dataclass(frozen=True)
class TreeLimits:
    """What a tree was to keep to.

    Examples
    --------
    >>> from provetree.mip.check import TreeLimits
    >>> TreeLimits(depth=2).min_samples_leaf
    1
    """

    depth: int
    min_samples_leaf: int = 1
    max_splits: int | None = None
    side: SideConstraints | None = None


@dataclass(frozen=True)
class CheckedTree:
    """The errors of a tree, and the limits that it breaks.

    Examples
    --------
    >>> from provetree.mip.check import CheckedTree
    >>> CheckedTree(3, 1, ()).cost(2)
    Fraction(5, 1)
    """

    errors: int
    n_splits: int
    broken: tuple[str, ...]

    def cost(self, penalty: Fraction | int) -> Fraction:
        """Return the errors plus a penalty per split."""
        return Fraction(self.errors) + penalty * self.n_splits


def check_tree(tree: Tree, rows: RawRows, limits: TreeLimits) -> CheckedTree:
    """Work a tree out on raw rows.

    Parameters
    ----------
    tree : Tree
    rows : RawRows
    limits : TreeLimits

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import Tree
    >>> from provetree.mip.check import RawRows, TreeLimits, check_tree
    >>> leaf = Tree(feature=[-1], threshold=[0], value=[[2, 1]], n_samples=[3], n_features=1)
    >>> rows = RawRows(np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0]), np.ones(3, int))
    >>> check_tree(leaf, rows, TreeLimits(depth=0)).errors
    1
    """
    leaf = tree.apply(rows.X)
    predicted = tree.label[leaf].astype(np.int64)
    errors = int(rows.weights[predicted != rows.classes].sum())
    broken: list[str] = []
    if tree.depth > limits.depth:
        broken.append(f"Its depth is {tree.depth}, more than {limits.depth}.")
    if limits.max_splits is not None and tree.n_splits > limits.max_splits:
        broken.append(f"It has {tree.n_splits} splits, more than {limits.max_splits}.")
    smallest = int(np.bincount(leaf, minlength=tree.n_nodes)[tree.feature < 0].min())
    if smallest < limits.min_samples_leaf:
        broken.append(f"A leaf has {smallest} rows, fewer than {limits.min_samples_leaf}.")
    if limits.side is not None:
        splits = tree.feature[tree.feature >= 0].astype(np.int64)
        broken += limits.side.broken(predicted, rows.classes, rows.weights, rows.groups, splits)
    return CheckedTree(errors, tree.n_splits, tuple(broken))
