"""The best prunings of a tree: for every number of leaves the subtree of the least cost.

A large tree holds good small ones. Where a search has no time for every size, the prunings of the
trees it found stand in.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.losses import class_cost
from provetree.problem.problem import Problem
from provetree.tree.tree import Tree

__all__ = ["node_costs", "pruned_trees"]


def node_costs(problem: Problem, tree: Tree) -> list[float]:
    """Return what each node of a tree would cost as a leaf, in the user's units.

    Examples
    --------
    >>> from provetree import ExactSearch, build_problem
    >>> from provetree.selection.pruning import node_costs
    >>> problem = build_problem([[1], [2], [3]], [0, 1, 1], n_classes=2, max_depth=1)
    >>> node_costs(problem, ExactSearch().solve(problem).tree)
    [1, 0, 0]
    """
    scale = float(problem.weight_scale)
    totals = np.round(tree.value * scale).astype(np.int64)
    if problem.loss == "errors":
        wrong = totals.sum(axis=1) - totals.max(axis=1)
        return [problem.to_user_cost(int(cost)) for cost in wrong]
    if problem.loss == "linear":
        return [float(cost) for cost in (tree.value @ class_costs(problem)).min(axis=1)]
    return [class_cost(problem.loss, row) / scale for row in totals.tolist()]


def class_costs(problem: Problem) -> Float:
    """Return what each prediction costs for each class, from the rows of a problem that say so."""
    assert problem.targets is not None  # for the type checker
    costs = np.zeros((problem.n_classes, problem.targets.shape[1]))
    costs[problem.classes] = problem.targets
    return costs


def pruned_trees(problem: Problem, tree: Tree, max_leaves: int) -> list[tuple[float, Tree]]:
    """Return cost and tree of the best pruning to at most 1, 2, ... leaves.

    Examples
    --------
    >>> from provetree import ExactSearch, build_problem
    >>> from provetree.selection.pruning import pruned_trees
    >>> problem = build_problem([[1], [2], [3], [4]], [0, 1, 1, 0], n_classes=2, max_depth=2)
    >>> found = pruned_trees(problem, ExactSearch().solve(problem).tree, 3)
    >>> [(cost, tree.n_leaves) for cost, tree in found]
    [(2, 1), (1, 2), (0, 3)]
    """
    costs = node_costs(problem, tree)
    least: list[Float] = [np.empty(0)] * tree.n_nodes  # of each node, by leaves less one
    taken: list[NDArray[np.intp]] = [np.empty(0, dtype=np.intp)] * tree.n_nodes
    for node in range(tree.n_nodes - 1, -1, -1):  # children come after their parent
        if tree.feature[node] < 0:
            least[node] = np.array([costs[node]])
            taken[node] = np.array([0])
            continue
        left, right = least[tree.left[node]], least[tree.right[node]]
        most = min(len(left) + len(right), max_leaves)
        own, how = np.full(most, math.inf), np.zeros(most, dtype=np.intp)
        own[0] = costs[node]
        for i, of_left in enumerate(left, start=1):
            for j, of_right in enumerate(right, start=1):
                # Strictly less: of equal prunings the one of fewer leaves stays.
                if i + j <= most and of_left + of_right < own[i + j - 1]:
                    own[i + j - 1], how[i + j - 1] = of_left + of_right, i
        least[node], taken[node] = own, how
    found: list[tuple[float, Tree]] = []
    for leaves in range(1, max_leaves + 1):
        best = int(np.argmin(least[0][:leaves])) + 1
        if best < leaves:
            found.append(found[-1])  # no larger pruning is better
        else:
            cut = _cut(tree, taken, best)
            found.append((_exact_cost(problem, cut), cut))
    return found


def _exact_cost(problem: Problem, tree: Tree) -> float:
    """Add up the leaves in one go: whole numbers stay whole."""
    costs = node_costs(problem, tree)
    leaves = [costs[node] for node in np.flatnonzero(tree.feature < 0).tolist()]
    return sum(leaves) if all(isinstance(cost, int) for cost in leaves) else math.fsum(leaves)


def _cut(tree: Tree, taken: list[NDArray[np.intp]], leaves: int) -> Tree:
    """Return the tree cut to the prunings that were taken."""
    if leaves == tree.n_leaves:
        return tree
    keep: list[int] = []
    cut: set[int] = set()
    waiting = [(0, leaves)]
    while waiting:
        node, size = waiting.pop()
        keep.append(node)
        if size == 1:
            cut.add(node)
            continue
        of_left = int(taken[node][size - 1])
        waiting += [(int(tree.right[node]), size - of_left), (int(tree.left[node]), of_left)]
    chosen = np.array(keep)  # in preorder, as the tree is
    feature = tree.feature[chosen].copy()
    feature[[place for place, node in enumerate(keep) if node in cut]] = -1
    parts: dict[str, Any] = {
        name: getattr(tree, name)[chosen]
        for name in ("threshold", "category", "missing_left", "missing_seen", "value", "n_samples")
    }
    names: dict[str, Any] = {
        name: getattr(tree, name)
        for name in ("n_features", "feature_names", "class_names", "categories")
    }
    return Tree(feature=feature, **parts, **names)
