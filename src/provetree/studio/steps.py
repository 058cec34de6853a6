"""The steps that people take: from what the page sends to new wishes and a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from provetree.export.words import counted, short_number
from provetree.studio.splits import node_at, read_split, split_of, splits_above
from provetree.studio.table import StudioTable
from provetree.studio.wishes import Split, WishError, Wishes
from provetree.studio.words import leaves_words, place_words
from provetree.tree.tree import Tree

__all__ = ["split_words", "stepped"]


def stepped(
    table: StudioTable, wishes: Wishes, tree: Tree | None, step: Mapping[str, Any]
) -> tuple[Wishes, str]:
    """Return the wishes after a step, and the step in words.

    Parameters
    ----------
    table : StudioTable
        What the trees are about.
    wishes : Wishes
        The wishes before.
    tree : Tree or None
        The tree that the person saw, for steps about one of its nodes.
    step : mapping
        What is wished: under "do" one of "take", "keep", "free", "forbid", "allow", "direction",
        "leaves", "depth", "least_rows" and "clear".
    """
    what = step.get("do")
    if what in ("take", "keep", "free"):
        return _at_node(table, wishes, tree, step)
    if what in ("forbid", "allow", "direction"):
        return _of_column(table, wishes, step)
    if what == "leaves":
        found = wishes.with_leaves(step.get("leaves"))
        return found, f"at most {leaves_words(found.max_leaf_nodes or 2**found.max_depth)}"
    if what == "depth":
        found = wishes.with_depth(step.get("depth"))
        return found, f"at most {counted(found.max_depth, 'question')} in a row"
    if what == "least_rows":
        found = wishes.with_least_rows(step.get("rows"))
        return found, f"at least {counted(int(found.min_samples_leaf), 'row')} in each leaf"
    if what == "clear":
        return wishes.without_rules(), "all rules taken back"
    raise WishError(f"There is no step {what!r}.")


def _at_node(
    table: StudioTable, wishes: Wishes, tree: Tree | None, step: Mapping[str, Any]
) -> tuple[Wishes, str]:
    if tree is None:
        raise WishError("There is no tree yet: wait for the search.")
    path = step.get("path")
    node = node_at(tree, path)
    assert isinstance(path, str)  # it names a node
    if step["do"] == "free":
        return wishes.freed(path), f"free again: {place_words(path)}"
    above = splits_above(tree, path)
    if step["do"] == "keep":
        split: Split = {"leaf": True} if tree.feature[node] < 0 else split_of(tree, node)
    else:
        split = read_split(table, step.get("split"))
    return (
        wishes.with_split(above, path, split),
        f"{split_words(table, split)} {place_words(path)}",
    )


def _of_column(table: StudioTable, wishes: Wishes, step: Mapping[str, Any]) -> tuple[Wishes, str]:
    column = table.column(step.get("column"))
    name = table.names[column]
    if step["do"] == "forbid":
        return wishes.without_column(column), f"not '{name}'"
    if step["do"] == "allow":
        return wishes.with_column(column), f"'{name}' allowed again"
    if table.levels[column] is not None:
        raise WishError(f"'{name}' is a column of categories, and these have no direction.")
    if len(table.prepared.classes) != 2:
        raise WishError("Directions need two classes: there is no up and down among more.")
    way = step.get("way")
    found = wishes.with_direction(column, way)
    label = table.prepared.classes[1]
    words = {
        0: "in any way",
        1: f"only towards {label!s} as it rises",
        -1: f"only away from {label!s} as it rises",
    }
    return found, f"'{name}' {words[found.directions.get(column, 0)]}"


def split_words(table: StudioTable, split: Split) -> str:
    """Return a question in words."""
    if "leaf" in split:
        return "a leaf"
    name = table.names[int(split["column"])]
    if "categories" in split:
        named = ["missing" if c is None else str(c) for c in split["categories"]]
        return f"{name} = {' or '.join(named)}"
    if split["threshold"] is None:
        return f"{name} is missing"
    return f"{name} <= {short_number(float(split['threshold']))}"
