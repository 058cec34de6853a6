"""Trees as plain dicts and as strict JSON, stamped with a format version.

A tree of classes has the class totals of its leaves. A tree of numbers also has the values of its
splits, as a median does not follow from those of the parts; a tree of actions has the totals of its
leaves and their actions. Both say their ``kind``.

JSON has no NaN and no infinities, so these are written as the strings "nan", "inf" and "-inf".
All other floats are written with enough digits to read them back exactly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from provetree.problem.combinations import Combination
from provetree.tree.smoothing import Smoothing
from provetree.tree.tree import Tree
from provetree.tree.values import Actions, ClassTotals, Numbers, Values

FORMAT = "provetree-tree"
#: The newest version that can be read. Version 2 adds leaves that predict another class than their
#: heaviest, version 3 trees of numbers and actions, version 4 smoothed probabilities, version 5
#: combinations of columns, version 6 groups of categories, both in trees of all kinds. A tree
#: is written as the oldest version that can hold it, for older readers.
VERSION = 6

#: Number and names of the outputs or actions, by the kind of tree.
_COUNT = {"classes": "n_classes", "numbers": "n_outputs", "actions": "n_actions"}
_NAMES = {"classes": "class_names", "numbers": "output_names", "actions": "action_names"}


def version_of(tree: Tree) -> int:
    """Return the oldest version of the format that can hold a tree."""
    smoothing = smoothing_of(tree)
    if tree.groups or (smoothing is not None and smoothing.directions):
        return 6
    if tree.combinations:
        return 5
    if tree.kind != "classes":
        return 3
    if smoothing_of(tree) is not None:
        return 4
    return 2 if tree.has_other_labels else 1


def smoothing_of(tree: Tree) -> Smoothing | None:
    """Return how the probabilities of a tree are smoothed, if they are."""
    return tree.values.smoothing if isinstance(tree.values, ClassTotals) else None


def to_dict(tree: Tree) -> dict[str, Any]:
    """Return the tree as plain lists and dicts."""
    nodes: list[dict[str, Any]] = []
    smoothed = None if smoothing_of(tree) is None else tree.probabilities()
    for node in range(tree.n_nodes):
        feature = int(tree.feature[node])
        if feature < 0:
            leaf: dict[str, Any] = {"n_samples": int(tree.n_samples[node])}
            if smoothed is not None:
                leaf["probabilities"] = smoothed[node].tolist()
            nodes.append(leaf | _node_values(tree, node))
            continue
        split: dict[str, Any] = {"feature": feature}
        if tree.kind == "numbers":
            split |= _node_values(tree, node)
        if len(tree.codes_left(node)) > 1:
            split["group"] = list(tree.codes_left(node))
        elif tree.category[node] >= 0:
            split["category"] = int(tree.category[node])
        else:
            split["threshold"] = write_float(float(tree.threshold[node]))
        split["missing_left"] = bool(tree.missing_left[node])
        split["missing_seen"] = bool(tree.missing_seen[node])
        split["left"] = int(tree.left[node])
        split["right"] = int(tree.right[node])
        nodes.append(split)
    combinations = [each.stored() for each in tree.combinations]
    return {
        "format": FORMAT,
        "version": version_of(tree),
        **({"combinations": combinations} if combinations else {}),
        **_kind_data(tree),
        "n_features": tree.n_features,
        _COUNT[tree.kind]: tree.n_classes,
        "feature_names": _names(tree.feature_names),
        _NAMES[tree.kind]: _names(tree.class_names),
        "categories": [_names(level) for level in tree.categories],
        "nodes": nodes,
    }


def _kind_data(tree: Tree) -> dict[str, Any]:
    """Return what a tree of another kind than classes says about its values."""
    values = tree.values
    if isinstance(values, Numbers):
        return {"kind": "numbers", "statistic": values.statistic}
    if isinstance(values, Actions):
        return {"kind": "actions", "rewards": values.rewards}
    return {} if values.smoothing is None else {"smoothing": values.smoothing.stored()}


def _node_values(tree: Tree, node: int) -> dict[str, Any]:
    """Return what a node holds."""
    values = tree.values
    data: dict[str, Any] = {"value": values.value[node].tolist()}
    if isinstance(values, Numbers):
        return data | {
            "weight": float(values.weight[node]),
            "spread": values.spread[node].tolist(),
        }
    if isinstance(values, Actions):
        return data | {"weight": float(values.weight[node]), "label": int(tree.label[node])}
    if tree.label[node] != values.value[node].argmax():
        data["label"] = int(tree.label[node])
    return data


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


def values_of(
    nodes: Sequence[Mapping[str, Any]], width: int, about: Mapping[str, Any]
) -> Values | list[list[float]]:
    """Return the values of nodes; `about` says the kind of tree and what its values are."""
    zeros = [0.0] * width
    value = [node.get("value", zeros) for node in nodes]
    kind = about.get("kind", "classes")
    if kind == "classes":
        smoothing = Smoothing.read(about.get("smoothing"))
        return value if smoothing is None else ClassTotals(np.array(value), smoothing)
    weight = [float(node.get("weight", 0.0)) for node in nodes]
    if kind == "numbers":
        spread = [node["spread"] for node in nodes]
        return Numbers(value, weight, spread, about["statistic"])  # type: ignore[arg-type]
    if kind == "actions":
        return Actions(value, weight, about["rewards"])  # type: ignore[arg-type]
    raise ValueError(f"The stored tree is damaged: its kind is {kind!r}.")


def tree_of_nodes(
    nodes: Sequence[Mapping[str, Any]], width: int, about: Mapping[str, Any], **names: Any
) -> Tree:
    """Return the tree of nodes in preorder, each a mapping with what its split or leaf has."""
    return Tree(
        feature=[node.get("feature", -1) for node in nodes],
        threshold=[float(node.get("threshold", "nan")) for node in nodes],
        category=[node.get("category", -1) for node in nodes],
        groups=[node.get("group", ()) for node in nodes],
        missing_left=[bool(node.get("missing_left", False)) for node in nodes],
        missing_seen=[bool(node.get("missing_seen", False)) for node in nodes],
        value=values_of(nodes, width, about),
        n_samples=[node.get("n_samples", 0) for node in nodes],
        label=[node.get("label", -1) for node in nodes],
        **names,
    )


def _read(data: Mapping[str, Any]) -> Tree:
    nodes = data["nodes"]
    kind = data.get("kind", "classes")
    if kind not in _COUNT:
        raise ValueError(f"The stored tree is damaged: its kind is {kind!r}.")
    width = data[_COUNT[kind]]
    if any(len(node["value"]) != width for node in nodes if "feature" not in node):
        raise ValueError(f"The stored tree is damaged: its {_COUNT[kind]!r} does not fit.")
    is_split = ["feature" in node for node in nodes]
    tree = tree_of_nodes(
        nodes,
        width,
        data,
        n_features=data["n_features"],
        feature_names=data["feature_names"],
        class_names=_read_names(data[_NAMES[kind]]),
        categories=[_read_names(level) for level in data["categories"]],
        combinations=[Combination.read(each) for each in data.get("combinations", ())],
    )
    # Redundant values are stored for other readers; if they disagree, the file is damaged.
    for name in ("left", "right", "missing_left"):
        stored = [node[name] for node in nodes if "feature" in node]
        if not np.array_equal(stored, getattr(tree, name)[is_split]):
            raise ValueError(f"The stored tree is damaged: its {name!r} entries do not fit.")
    if smoothing_of(tree) is not None:
        given = [node["probabilities"] for node in nodes if "feature" not in node]
        if not np.allclose(given, tree.probabilities()[tree.feature < 0], rtol=0, atol=1e-9):
            raise ValueError("The stored tree is damaged: its 'probabilities' do not fit.")
    return tree
