"""The arrays of a tree: copied, checked, and completed from the others where possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.number_types import Float, Int32

#: Names of classes and categories: plain values that JSON can hold exactly.
Name: TypeAlias = "str | int | float | bool | None"


def plain(name: object) -> Name:
    """Return the plain value that stands for a class or category in stored trees."""
    if isinstance(name, np.generic):
        name = name.item()
    if name is None or isinstance(name, (bool, int, float)):
        return name
    return str(name)


def named_levels(
    categories: Sequence[Iterable[object] | None],
) -> tuple[tuple[Name, ...] | None, ...]:
    """Return the categories of each feature as plain values."""
    return tuple(
        None if level is None else tuple(plain(name) for name in level) for level in categories
    )


def named(
    feature_names: Sequence[str] | None, class_names: Iterable[object] | None
) -> tuple[tuple[str, ...] | None, tuple[Name, ...] | None]:
    """Return the names of features and classes as plain values."""
    return (
        None if feature_names is None else tuple(str(name) for name in feature_names),
        None if class_names is None else tuple(plain(name) for name in class_names),
    )


def check_lengths(
    n_features: int,
    n_classes: int,
    levels: Sequence[object],
    feature_names: Sequence[str] | None,
    class_names: Sequence[object] | None,
) -> None:
    """Refuse names and categories of other numbers of features or classes."""
    if len(levels) != n_features:
        raise ValueError(f"A tree of {n_features} features was given categories of {len(levels)}.")
    if feature_names is not None and len(feature_names) != n_features:
        raise ValueError(f"A tree of {n_features} features was given {len(feature_names)} names.")
    if class_names is not None and len(class_names) != n_classes:
        raise ValueError(f"A tree of {n_classes} classes was given {len(class_names)} class names.")


def is_missing_code(code: int, level: tuple[Name, ...] | None) -> bool:
    """Return whether a code means a missing value; raise if it is not a code."""
    if level is None or not 0 <= code <= len(level):
        raise ValueError(
            "A category split of a tree needs a feature with categories and one of their "
            f"codes. Got the code {code} where the categories are {level}."
        )
    return code == len(level)


def completed_groups(
    given: Sequence[Iterable[int]] | None, codes: Int32, split: NDArray[np.bool_]
) -> tuple[tuple[int, ...], ...]:
    """Return the groups of categories of the nodes, and set `codes` to the first of each.

    A group of one is a category like others. Where no node has more, there are no groups.
    """
    if not given:
        return ()
    if len(given) != len(codes):
        raise ValueError(
            f"The 'groups' of a tree must have one entry per node. Got {len(given)} instead."
        )
    found = [tuple(sorted({int(code) for code in group})) for group in given]
    for node, group in enumerate(found):
        if group and split[node]:
            codes[node] = group[0]
        if len(group) < 2 or not split[node]:
            found[node] = ()
    return tuple(found) if any(found) else ()


def node_array(
    name: str,
    given: ArrayLike | None,
    dtype: type[np.generic],
    n_nodes: int | None = None,
    default: object = None,
) -> NDArray[Any]:
    """Return a writeable copy of one of the arrays, with its length checked."""
    if given is None:
        return np.full(n_nodes or 0, default, dtype=dtype)
    column = np.array(given, dtype=dtype)
    if column.ndim != 1 or (n_nodes is not None and len(column) != n_nodes):
        raise ValueError(
            f"The '{name}' array of a tree must have one entry per node. "
            f"Got shape {column.shape} instead."
        )
    return column


def class_totals(given: ArrayLike, n_nodes: int) -> Float:
    """Return a copy of the class totals of the nodes, checked to be weights."""
    values = np.array(given, dtype=np.float64)
    if values.ndim != 2 or len(values) != n_nodes or values.shape[1] < 1:
        raise ValueError(
            "The 'value' array of a tree must have one row per node and one column per class. "
            f"Got shape {values.shape} instead."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise ValueError("The 'value' array of a tree must hold finite numbers >= 0.")
    return values


def leaf_labels(
    given: ArrayLike | None, best: Int32, n_labels: int, split: NDArray[np.bool_]
) -> Int32:
    """Return the label of each node: the best one, unless a leaf has been given one."""
    if given is None:
        return best
    labels: Int32 = node_array("label", given, np.int32, len(best))
    if labels.min() < -1 or labels.max() >= n_labels:
        raise ValueError(
            f"The 'label' array of a tree must hold ints from -1 to {n_labels - 1}. "
            f"Got {labels.min()} to {labels.max()} instead."
        )
    chosen: Int32 = np.where(split | (labels < 0), best, labels)
    return chosen


def add_up_children(totals: NDArray[Any], left: Int32, right: Int32) -> None:
    """Set the totals of each split to the sums over its children, in place."""
    children = list(zip(left.tolist(), right.tolist(), strict=True))
    if totals.ndim == 2 and totals.shape[1] > 8:
        for node in reversed(range(len(children))):  # children come after their parent
            first, second = children[node]
            if first >= 0:
                totals[node] = totals[first] + totals[second]
        return
    # Adding one by one is faster for few numbers.
    for column in totals.T if totals.ndim == 2 else (totals,):
        sums = column.tolist()
        for node in reversed(range(len(children))):
            first, second = children[node]
            if first >= 0:
                sums[node] = sums[first] + sums[second]
        column[:] = sums


def preorder_links(feature: Int32, n_features: int) -> tuple[Int32, Int32, Int32]:
    """Return the children and depth of each node, which the preorder determines."""
    n_nodes = len(feature)
    if n_nodes == 0:
        raise ValueError("A tree must have at least one node.")
    if feature.min() < -1 or feature.max() >= n_features:
        raise ValueError(
            f"The 'feature' array of a tree must hold ints from -1 to {n_features - 1}. "
            f"Got {feature.min()} to {feature.max()} instead."
        )
    splits = (feature >= 0).tolist()
    left, right, depth = [-1] * n_nodes, [-1] * n_nodes, [0] * n_nodes
    waiting: list[int] = []  # splits that still wait for their right child
    for node, is_split in enumerate(splits):
        if node > 0:
            if not waiting:
                raise ValueError("The 'feature' array of a tree goes on after its last leaf.")
            parent = node - 1 if splits[node - 1] else waiting.pop()
            (left if parent == node - 1 else right)[parent] = node
            depth[node] = depth[parent] + 1
        if is_split:
            waiting.append(node)
    if waiting:
        raise ValueError("The 'feature' array of a tree ends before its last leaf.")
    return (
        np.array(left, dtype=np.int32),
        np.array(right, dtype=np.int32),
        np.array(depth, dtype=np.int32),
    )
