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

__all__ = ["best_prunings", "node_costs", "pruned_trees"]


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
    costs = np.array(node_costs(problem, tree), dtype=np.float64)
    found: list[tuple[float, Tree]] = []
    for leaves in best_prunings(tree, costs, max_leaves):
        if found and len(leaves) == found[-1][1].n_leaves:
            found.append(found[-1])  # no larger pruning is better
        else:
            cut = _cut(tree, set(leaves.tolist()))
            found.append((_exact_cost(problem, cut), cut))
    return found


def best_prunings(tree: Tree, costs: Float, max_leaf_nodes: int) -> list[NDArray[np.intp]]:
    """Return the leaves of the best pruning to at most 1, 2, ..., `max_leaf_nodes` leaves.

    `costs` holds what each node costs as a leaf. Of equal costs, the smaller tree is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import OptimalTreeRegressor
    >>> from provetree.selection.pruning import best_prunings
    >>> reg = OptimalTreeRegressor(max_depth=2).fit([[1], [2], [3], [4]], [0.0, 1.0, 5.0, 9.0])
    >>> [leaves.tolist() for leaves in best_prunings(reg.tree_, reg.tree_.values.impurity(), 3)]
    [[0], [1, 4], [1, 5, 6]]
    """
    least: list[list[float]] = [[]] * tree.n_nodes  # for each node, of 1, 2, ... leaves
    sides: list[list[tuple[int, int]]] = [[]] * tree.n_nodes  # how many go left and right
    for node in range(tree.n_nodes - 1, -1, -1):
        least[node], sides[node] = [float(costs[node])], [(0, 0)]
        if tree.feature[node] < 0:
            continue
        left, right = least[tree.left[node]], least[tree.right[node]]
        for leaves in range(2, min(len(left) + len(right), max_leaf_nodes) + 1):
            best, shared = least[node][-1], sides[node][-1]
            for a in range(max(1, leaves - len(right)), min(len(left), leaves - 1) + 1):
                cost = left[a - 1] + right[leaves - a - 1]
                if cost < best:
                    best, shared = cost, (a, leaves - a)
            least[node].append(best)
            sides[node].append(shared)
    return [
        _leaves_of(tree, sides, min(leaves, len(least[0])))
        for leaves in range(1, max_leaf_nodes + 1)
    ]


def _leaves_of(tree: Tree, sides: list[list[tuple[int, int]]], n_leaves: int) -> NDArray[np.intp]:
    """Return the nodes that are leaves of the best pruning to a number of leaves."""
    found = []
    waiting = [(0, n_leaves)]
    while waiting:
        node, leaves = waiting.pop()
        left, right = sides[node][leaves - 1]
        if left == 0:
            found.append(node)
        else:
            waiting += [(int(tree.right[node]), right), (int(tree.left[node]), left)]
    return np.array(found, dtype=np.intp)


def _exact_cost(problem: Problem, tree: Tree) -> float:
    """Add up the leaves in one go: whole numbers stay whole."""
    costs = node_costs(problem, tree)
    leaves = [costs[node] for node in np.flatnonzero(tree.feature < 0).tolist()]
    return sum(leaves) if all(isinstance(cost, int) for cost in leaves) else math.fsum(leaves)


def _cut(tree: Tree, leaves: set[int]) -> Tree:
    """Return the tree cut below the nodes that become leaves."""
    if len(leaves) == tree.n_leaves:
        return tree
    keep: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        keep.append(node)
        if node not in leaves:
            waiting += [int(tree.right[node]), int(tree.left[node])]
    chosen = np.array(keep)  # in preorder, as the tree is
    feature = tree.feature[chosen].copy()
    feature[[place for place, node in enumerate(keep) if node in leaves]] = -1
    parts: dict[str, Any] = {
        name: getattr(tree, name)[chosen]
        for name in ("threshold", "category", "missing_left", "missing_seen", "value", "n_samples")
    }
    names: dict[str, Any] = {
        name: getattr(tree, name)
        for name in ("n_features", "feature_names", "class_names", "categories", "combinations")
    }
    groups = [tree.groups[node] for node in keep] if tree.groups else None
    return Tree(feature=feature, groups=groups, **parts, **names)
