"""Turns the splits of an engine on ordered columns into a tree on the user's features.

An engine gives the column and rank of each split. They become features, thresholds halfway between
the neighbouring values of the node, categories, and the side of missing values. Class totals come
from the problem's integer weights, so they are exact and do not depend on the order of the rows.
Numbers and actions are worked out on the rows of each node, see :mod:`provetree.tree.node_values`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from provetree.problem.category_groups import CategoryOrder
from provetree.problem.combinations import Combination, Ratio
from provetree.tree.node_values import OnRows
from provetree.tree.threshold import midpoint, sum_threshold
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from provetree.problem.problem import Problem


def build_tree(
    problem: Problem,
    column: ArrayLike,
    rank: ArrayLike,
    label: ArrayLike | None = None,
    *,
    on_rows: OnRows | None = None,
) -> Tree:
    """Return the tree whose splits are given as ordered columns and ranks, in preorder.

    The column of a leaf is -1. Rows of at most the rank of a split go left. `label` holds the
    classes of leaves that do not predict the one with the largest total, or the actions of leaves.
    `on_rows` is this tree on the rows, where that is known.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.tree.build import build_tree
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([0, 0, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1)
    >>> tree = build_tree(problem, column=[0, -1, -1], rank=[1, 0, 0])
    >>> tree.threshold[0], tree.value.tolist()
    (np.float64(3.0), [[2.0, 1.0], [2.0, 0.0], [0.0, 1.0]])
    """
    if on_rows is None:
        columns = np.asarray(column, dtype=np.int64).tolist()
        on_rows = OnRows(problem, columns, np.asarray(rank, dtype=np.int64).tolist())
    routed = on_rows.routed
    splits = _user_splits(problem, on_rows.columns, on_rows.ranks, routed)
    names: dict[str, Any] = {
        "n_features": problem.n_features,
        "feature_names": problem.feature_names,
        "class_names": problem.class_names,
        "categories": problem.categories,
        "combinations": _numbered_again(problem, splits),
        "groups": splits.pop("groups"),
    }
    values = on_rows.values
    exact = problem.weight_scale == 1 and values.kind != "actions"
    if label is None and exact and problem.of_numbers:
        # Sums of integer weights are exact in any order: nothing is left to check or complete.
        seen, left = splits["missing_seen"], splits["missing_left"]
        sides = zip(seen, left, routed["heavier_left"], strict=True)
        del names["groups"]  # there are no categories
        return Tree._completed(
            groups=(),
            feature=np.array(splits["feature"], dtype=np.int32),
            threshold=np.array(splits["threshold"]),
            category=np.array(splits["category"], dtype=np.int32),
            missing_left=np.array([given if seen else bool(side) for seen, given, side in sides]),
            missing_seen=np.array(seen),
            left=routed["left"],
            right=routed["right"],
            values=values,
            n_samples=routed["counts"],
            label=routed["label"] if values.kind == "classes" else values.best(),
            node_depth=routed["depth"],
            **names,
        )
    return Tree(value=values, n_samples=routed["counts"], label=label, **splits, **names)


def _numbered_again(problem: Problem, splits: dict[str, Any]) -> tuple[Combination, ...]:
    """Return the combinations that the splits are about; the features are changed to fit."""
    if not problem.combinations:
        return ()
    n_features = problem.n_features
    asked: list[Combination | None] = [None] * len(splits["feature"])
    for node, feature in enumerate(splits["feature"]):
        derived = problem.combinations[feature - n_features] if feature >= n_features else None
        if isinstance(derived, Combination):
            asked[node] = derived
        elif isinstance(derived, Ratio):
            asked[node], splits["threshold"][node] = derived.question(splits["threshold"][node])
    used = list(dict.fromkeys(each for each in asked if each is not None))
    places = {each: n_features + place for place, each in enumerate(used)}
    for node, each in enumerate(asked):
        if each is not None:
            splits["feature"][node] = places[each]
    return tuple(used)


def _user_splits(
    problem: Problem, columns: list[int], ranks: list[int], routed: Mapping[str, Any]
) -> dict[str, Any]:
    """Return features, thresholds, categories and sides of missing values, for each node."""
    n_nodes = len(columns)
    last_left, first_right = routed["last_left"], routed["first_right"]
    feature, category, threshold = [-1] * n_nodes, [-1] * n_nodes, [math.nan] * n_nodes
    missing_left, missing_seen = [False] * n_nodes, [False] * n_nodes
    groups: list[tuple[int, ...]] = [()] * n_nodes
    between: dict[tuple[float, float], float] = {}  # binary columns have one threshold only
    splits = [node for node, c in enumerate(columns) if c >= 0]
    for node in splits:
        if last_left[node] < 0 or first_right[node] < 0:
            raise ValueError(
                f"Node {node} splits column {columns[node]} at rank {ranks[node]} into an empty "
                "side."
            )
    described = problem.columns.around(
        [columns[node] for node in splits],
        [last_left[node] for node in splits],
        [first_right[node] for node in splits],
    )
    for node, (of_feature, kind, of_category, low, high, top) in zip(
        splits, described, strict=True
    ):
        feature[node] = of_feature
        if kind == "category":
            category[node] = of_category
            continue
        if of_feature >= problem.n_features:
            asked = problem.combinations[of_feature - problem.n_features]
            if isinstance(asked, CategoryOrder):
                feature[node], groups[node] = asked.column, asked.group(int(low))
                continue
        if of_feature < problem.n_features and (low, high) in between:
            threshold[node] = between[low, high]
        elif math.isnan(low):  # only missing values go left: no number may follow, -inf neither
            threshold[node] = math.nan
        elif math.isnan(high):  # only missing values go right
            threshold[node] = math.inf
        elif of_feature >= problem.n_features:
            threshold[node] = sum_threshold(low, high)
        else:
            threshold[node] = between[low, high] = midpoint(low, high)
        if kind == "missing_first":
            missing_left[node] = True
            missing_seen[node] = routed["lowest"][node] == 0
        elif kind == "missing_last":
            missing_seen[node] = routed["highest"][node] == top
    if any(groups):
        _leave_out_absent(problem, feature, category, groups)
    return {
        "groups": groups,
        "feature": feature,
        "threshold": threshold,
        "category": category,
        "missing_left": missing_left,
        "missing_seen": missing_seen,
    }


def _leave_out_absent(
    problem: Problem, feature: list[int], category: list[int], groups: list[tuple[int, ...]]
) -> None:
    """Leave categories out of groups, in place, that splits further up have sent elsewhere."""
    waiting: list[dict[int, set[int]]] = [{}]  # what can come here, next node last
    for node, of_feature in enumerate(feature):
        known = waiting.pop()
        if of_feature < 0:
            continue
        left = right = known
        if groups[node] or category[node] >= 0:
            codes = known.get(of_feature)
            if codes is None:
                codes = set(range(len(problem.categories[of_feature] or ()) + 1))
            own = codes.intersection(groups[node] or (category[node],))
            if groups[node]:
                groups[node] = tuple(sorted(own))
            left, right = {**known, of_feature: own}, {**known, of_feature: codes - own}
        waiting += [right, left]
