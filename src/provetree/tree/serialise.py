"""Trees as plain dicts and as strict JSON, stamped with a format version.

JSON has no NaN and no infinities, so these are written as the strings "nan", "inf" and "-inf".
All other floats are written with enough digits to read them back exactly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from provetree.tree.tree import Tree

FORMAT = "provetree-tree"
#: The newest version that can be read. Version 2 adds leaves that predict another class than their
#: heaviest. Trees without such leaves are still written as version 1, for older readers.
VERSION = 2


def version_of(tree: Tree) -> int:
    """Return the oldest version of the format that can hold a tree."""
    return 2 if tree.has_other_labels else 1


def to_dict(tree: Tree) -> dict[str, Any]:
    """Return the tree as plain lists and dicts."""
    nodes: list[dict[str, Any]] = []
    for node in range(tree.n_nodes):
        feature = int(tree.feature[node])
        if feature < 0:
            leaf: dict[str, Any] = {
                "n_samples": int(tree.n_samples[node]),
                "value": tree.value[node].tolist(),
            }
            if tree.label[node] != tree.value[node].argmax():
                leaf["label"] = int(tree.label[node])
            nodes.append(leaf)
            continue
        split: dict[str, Any] = {"feature": feature}
        if tree.category[node] >= 0:
            split["category"] = int(tree.category[node])
        else:
            split["threshold"] = write_float(float(tree.threshold[node]))
        split["missing_left"] = bool(tree.missing_left[node])
        split["missing_seen"] = bool(tree.missing_seen[node])
        split["left"] = int(tree.left[node])
        split["right"] = int(tree.right[node])
        nodes.append(split)
    return {
        "format": FORMAT,
        "version": version_of(tree),
        "n_features": tree.n_features,
        "n_classes": tree.n_classes,
        "feature_names": _names(tree.feature_names),
        "class_names": _names(tree.class_names),
        "categories": [_names(level) for level in tree.categories],
        "nodes": nodes,
    }


def from_dict(data: Mapping[str, Any]) -> Tree:
    """Return the tree that :func:`to_dict` wrote; raise if the data is wrong."""
    if not isinstance(data, Mapping):
        raise ValueError(f"A stored tree must be a mapping. Got {type(data).__name__} instead.")
    check_stamp(data.get("format"), data.get("version"))
    try:
        return _read(data)
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"The stored tree is damaged: {type(error).__name__}: {error}.") from None


def to_json(tree: Tree, *, indent: int | None = None) -> str:
    """Return the tree as strict JSON."""
    return json.dumps(to_dict(tree), indent=indent, allow_nan=False)


def from_json(text: str | bytes) -> Tree:
    """Return the tree that :func:`to_json` wrote."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"A stored tree must be JSON: {error}.") from None
    return from_dict(data)


def check_stamp(form: object, version: object) -> None:
    """Raise if a stored tree has another format or an unknown version."""
    if form != FORMAT:
        raise ValueError(f"A stored tree must have the format {FORMAT!r}. Got {form!r} instead.")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise ValueError(
            f"This version of provetree reads stored trees up to version {VERSION}. "
            f"Got version {version!r}."
        )


def write_float(x: float) -> float | str:
    """Return ``x``, or its name if JSON has no number for it."""
    return x if math.isfinite(x) else str(x)


def write_name(name: object) -> object:
    """Return the name of a class or category as JSON can hold it."""
    if isinstance(name, float) and not math.isfinite(name):
        return {"float": str(name)}
    return name


def read_name(name: object) -> object:
    """Return what :func:`write_name` wrote."""
    return float(name["float"]) if isinstance(name, Mapping) else name


def _names(names: tuple[Any, ...] | None) -> list[object] | None:
    return None if names is None else [write_name(name) for name in names]


def _read_names(names: list[object] | None) -> list[object] | None:
    return None if names is None else [read_name(name) for name in names]


def tree_of_nodes(nodes: Sequence[Mapping[str, Any]], n_classes: int, **names: Any) -> Tree:
    """Return the tree of nodes in preorder, each a mapping with what its split or leaf has."""
    zeros = [0.0] * n_classes
    return Tree(
        feature=[node.get("feature", -1) for node in nodes],
        threshold=[float(node.get("threshold", "nan")) for node in nodes],
        category=[node.get("category", -1) for node in nodes],
        missing_left=[bool(node.get("missing_left", False)) for node in nodes],
        missing_seen=[bool(node.get("missing_seen", False)) for node in nodes],
        value=[zeros if "feature" in node else node["value"] for node in nodes],
        n_samples=[node.get("n_samples", 0) for node in nodes],
        label=[node.get("label", -1) for node in nodes],
        **names,
    )


def _read(data: Mapping[str, Any]) -> Tree:
    nodes = data["nodes"]
    n_classes = data["n_classes"]
    if any(len(node["value"]) != n_classes for node in nodes if "feature" not in node):
        raise ValueError("The stored tree is damaged: its 'n_classes' does not fit.")
    is_split = ["feature" in node for node in nodes]
    tree = tree_of_nodes(
        nodes,
        n_classes,
        n_features=data["n_features"],
        feature_names=data["feature_names"],
        class_names=_read_names(data["class_names"]),
        categories=[_read_names(level) for level in data["categories"]],
    )
    # Redundant values are stored for other readers; if they disagree, the file is damaged.
    for name in ("left", "right", "missing_left"):
        stored = [node[name] for node in nodes if "feature" in node]
        if not np.array_equal(stored, getattr(tree, name)[is_split]):
            raise ValueError(f"The stored tree is damaged: its {name!r} entries do not fit.")
    return tree
