"""Questions as plain data: of a tree, of rows, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.studio.table import StudioTable
from provetree.studio.wishes import Split, WishError
from provetree.tree.tree import Tree

__all__ = [
    "goes_left",
    "node_at",
    "paths",
    "read_split",
    "split_of",
    "splits_above",
]

_WORDS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


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
    column, code = int(tree.feature[node]), int(tree.category[node])
    if code >= 0:
        levels = tree.levels_of(column) or ()
        return {"column": column, "categories": [levels[code] if code < len(levels) else None]}
    threshold = float(tree.threshold[node])
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
        if not isinstance(chosen, list) or len(chosen) != 1:
            raise WishError(f"'{name}' is a column of categories: name one of them.")
        if chosen[0] is not None and chosen[0] not in levels:
            raise WishError(f"'{name}' has no category {chosen[0]!r}.")
        return {"column": column, "categories": chosen}
    threshold = given.get("threshold")
    if isinstance(threshold, str):  # numbers that JSON does not have
        threshold = _WORDS.get(threshold, threshold)
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float)):
        raise WishError(f"'{name}' is a column of numbers: its threshold must be a number.")
    if math.isnan(threshold) and given.get("missing") != "left":
        raise WishError(f"The threshold of '{name}' must be a number. Got nan instead.")
    split: dict[str, Any] = {"column": column, "threshold": float(threshold)}
    side = given.get("missing")
    if side is not None:
        if side not in ("left", "right"):
            raise WishError(f"Missing values go 'left' or 'right'. Got {side!r} instead.")
        split["missing"] = side
    return split


def goes_left(
    split: Split, encoded: Float, levels: Sequence[Sequence[Any] | None]
) -> NDArray[np.bool_]:
    """Return which rows answer a question with yes; the rest, and those without a side, do not."""
    column = int(split["column"])
    x = encoded[:, column]
    if "categories" in split:
        of_column = list(levels[column] or ())
        codes = [len(of_column) if c is None else of_column.index(c) for c in split["categories"]]
        found = np.isin(np.where(np.isnan(x), len(of_column), x), codes)
        return np.asarray(found, dtype=np.bool_)
    left = x <= split["threshold"]
    if split.get("missing") == "left":
        left |= np.isnan(x)
    return np.asarray(left, dtype=np.bool_)
