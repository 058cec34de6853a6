"""Trees put together: a split over two trees, and the leaf of some rows."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from provetree.problem.combinations import Combination
from provetree.problem.rules import FixedSplit
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree
from provetree.tree.values import Values

if TYPE_CHECKING:
    from provetree.problem.problem import Problem

__all__ = ["fixed_splits_of", "grafted", "labelled_leaf"]


def labelled_leaf(problem: Problem, label: int | None = None) -> Tree:
    """Return the tree of a problem that has no splits, and predicts a class if one is given."""
    return build_tree(problem, [-1], [0], None if label is None else [label])


def grafted(
    here: Tree,
    split: FixedSplit,
    missing_left: bool,
    left: Tree,
    right: Tree,
    missing_seen: bool,
) -> Tree:
    """Return the tree that begins with a split; `here` is the leaf of all of its rows."""
    sums: list[Combination] = []

    def features(tree: Tree) -> list[int]:
        """Return the features of a tree, its sums numbered among those of both."""
        found = []
        for feature in tree.feature.tolist():
            if feature >= tree.n_features:
                one = tree.combinations[feature - tree.n_features]
                if one not in sums:
                    sums.append(one)
                feature = tree.n_features + sums.index(one)
            found.append(feature)
        return found

    def joined(name: str, first: Any) -> list[Any]:
        return [first, *getattr(left, name).tolist(), *getattr(right, name).tolist()]

    def codes(tree: Tree) -> list[tuple[int, ...]]:
        return [tree.codes_left(node) for node in range(tree.n_nodes)]

    groups = [split.codes, *codes(left), *codes(right)]
    own = [split.column, *features(left), *features(right)]
    labels = joined("label", -1)
    return Tree(
        feature=own,
        threshold=joined("threshold", split.threshold),
        category=[group[0] if group else -1 for group in groups],
        groups=groups,
        missing_left=joined("missing_left", missing_left),
        missing_seen=joined("missing_seen", missing_seen),
        value=_joined_values(here.values, left.values, right.values),
        n_samples=joined("n_samples", int(here.n_samples[0])),
        label=labels,
        n_features=here.n_features,
        feature_names=here.feature_names,
        class_names=here.class_names,
        categories=here.categories,
        combinations=sums,
    )


def _joined_values(here: Values, left: Values, right: Values) -> Values:
    parts: dict[str, Any] = {}
    for each in fields(here):
        array = getattr(here, each.name)
        if isinstance(array, np.ndarray):
            others = [getattr(values, each.name) for values in (left, right)]
            parts[each.name] = np.concatenate([array[:1], *others])
    return replace(here, **parts)


def fixed_splits_of(tree: Tree, paths: list[str] | None = None) -> dict[str, dict[str, Any]]:
    """Return the splits of a tree in the form of the parameter ``fixed_splits``.

    Parameters
    ----------
    tree : Tree
        A tree whose splits are about one column each.
    paths : list of str, optional
        The nodes to keep, and all above them; None is every split.

    Returns
    -------
    dict
        A split for each path: "" is the root, "L" its left side.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier, fixed_splits_of
    >>> clf = OptimalTreeClassifier(max_depth=1).fit([[1.0], [2.0]], [0, 1])
    >>> fixed_splits_of(clf.tree_)
    {'': {'column': 0, 'threshold': 1.5}}
    """
    found: dict[str, dict[str, Any]] = {}
    waiting = [(0, "")]
    while waiting:
        node, path = waiting.pop(0)
        feature = int(tree.feature[node])
        if feature < 0 or not (paths is None or any(each.startswith(path) for each in paths)):
            continue
        if feature >= tree.n_features:
            raise ValueError(
                "The 'fixed_splits' are about one column each. "
                f"Got a split about {tree.question_names[feature]!r}."
            )
        column = feature if tree.feature_names is None else tree.feature_names[feature]
        split: dict[str, Any] = {"column": column}
        if tree.codes_left(node):
            missing = [None] if tree.missing_left[node] else []
            split["categories"] = [*tree.names_left(node), *missing]
        else:
            threshold = float(tree.threshold[node])
            split["threshold"] = None if math.isnan(threshold) else threshold
            if tree.missing_seen[node]:
                split["missing"] = "left" if tree.missing_left[node] else "right"
        found[path] = split
        waiting += [(int(tree.left[node]), f"{path}L"), (int(tree.right[node]), f"{path}R")]
    return found
