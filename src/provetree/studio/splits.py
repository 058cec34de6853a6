"""Questions as plain data: of a tree, of rows, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from provetree.studio.table import StudioTable
from provetree.studio.wishes import Split, WishError
from provetree.tree.tree import Tree

__all__ = [
    "node_at",
    "paths",
    "read_split",
    "split_of",
    "splits_above",
]

_WORDS = {"inf": math.inf, "-inf": -math.inf}


def paths(tree: Tree) -> list[str]:
    """Return the path of each node."""
    found = [""] * tree.n_nodes
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        found[int(tree.left[node])] = found[node] + "L"
        found[int(tree.right[node])] = found[node] + "R"
    return found


def node_at(tree: Tree, path: object) -> int:
    """Return the node at a path, or say that there is none."""
    if isinstance(path, str):
        found = paths(tree)
        if path in found:
            return found.index(path)
    raise WishError(f"The tree has no node at {path!r}.")


def split_of(tree: Tree, node: int) -> Split:
    """Return the question of a split in the form of `fixed_splits`."""
    column = int(tree.feature[node])
    if tree.codes_left(node):
        missing = [None] if tree.missing_left[node] else []
        return {"column": column, "categories": [*tree.names_left(node), *missing]}
    threshold = float(tree.threshold[node])
    if math.isnan(threshold):  # is it missing?
        return {"column": column, "threshold": None}
    split: dict[str, Any] = {"column": column, "threshold": threshold}
    if tree.missing_seen[node]:
        split["missing"] = "left" if tree.missing_left[node] else "right"
    return split


def splits_above(tree: Tree, path: str) -> dict[str, Split]:
    """Return the questions on the way to a node."""
    return {path[:at]: split_of(tree, node_at(tree, path[:at])) for at in range(len(path))}


def read_split(table: StudioTable, given: Any) -> Split:
    """Return a question that came from the page, checked against the table."""
    if not isinstance(given, Mapping):
        raise WishError("A question is an object with a column, and a threshold or categories.")
    if given.get("leaf") is True:
        return {"leaf": True}
    column = table.column(given.get("column"))
    name, levels = table.names[column], table.levels[column]
    if levels is not None:
        chosen = given.get("categories")
        if not isinstance(chosen, list) or not chosen:
            raise WishError(f"'{name}' is a column of categories: name one of them.")
        for each in chosen:
            if each is not None and each not in levels:
                raise WishError(f"'{name}' has no category {each!r}.")
        return {"column": column, "categories": chosen}
    threshold = given.get("threshold", "")
    if threshold is None:  # is it missing?
        return {"column": column, "threshold": None}
    if isinstance(threshold, str):  # numbers that JSON does not have
        threshold = _WORDS.get(threshold, threshold)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
        raise WishError(f"'{name}' is a column of numbers: its threshold must be a number.")
    if math.isnan(threshold):
        raise WishError(f"The threshold of '{name}' must be a number. Got nan instead.")
    split: dict[str, Any] = {"column": column, "threshold": float(threshold)}
    side = given.get("missing")
    if side is not None:
        if side not in ("left", "right"):
            raise WishError(f"Missing values go 'left' or 'right'. Got {side!r} instead.")
        split["missing"] = side
    return split
