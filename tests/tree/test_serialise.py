from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provetree.tree.tree import Tree
from testkit.tree_strategies import trees

FILES = Path(__file__).parent / "files"


def same_bits(a: Tree, b: Tree) -> bool:
    """Equal to the last bit, the signs of zeros included."""
    return a == b and all(
        getattr(a, name).tobytes() == getattr(b, name).tobytes()
        for name in ("feature", "threshold", "category", "missing_left", "value", "n_samples")
    )


@settings(max_examples=50, deadline=None)
@given(trees())
def test_dicts_and_json_round_trip_to_the_last_bit(tree: Tree) -> None:
    assert same_bits(Tree.from_dict(tree.to_dict()), tree)
    text = tree.to_json()
    assert same_bits(Tree.from_json(text), tree)
    assert same_bits(Tree.from_json(text.encode()), tree)
    assert Tree.from_json(tree.to_json(indent=1)) == tree

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is not JSON")

    json.loads(text, parse_constant=refuse)


def test_the_form_is_stamped_and_plain() -> None:
    tree = Tree(
        feature=[0, -1, -1],
        threshold=[math.nan, 0, 0],
        missing_left=[True, False, False],
        missing_seen=[True, False, False],
        value=[[0], [1], [2]],
        n_samples=[0, 1, 2],
        n_features=1,
        class_names=np.array([5]),
    )
    assert tree.to_dict() == {
        "format": "provetree-tree",
        "version": 1,
        "n_features": 1,
        "n_classes": 1,
        "feature_names": None,
        "class_names": [5],
        "categories": [None],
        "nodes": [
            {
                "feature": 0,
                "threshold": "nan",
                "missing_left": True,
                "missing_seen": True,
                "left": 1,
                "right": 2,
            },
            {"n_samples": 1, "value": [1.0]},
            {"n_samples": 2, "value": [2.0]},
        ],
    }


def test_files_of_version_1_are_still_read() -> None:
    tree = Tree.from_json((FILES / "tree-v1.json").read_text(encoding="utf-8"))
    X = [[math.nan, 0.0, 1.0], [4.0, 1.0, -math.inf], [4.0, 0.0, math.nan], [9.0, 0.0, 7.0]]
    assert tree.predict(X).tolist() == [0, 1, 2, 0]
    assert tree.class_names == ("no", "yes", "later")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "x", "must have the format"),
        (["version"], 7, "up to version 6. Got version 7"),
        (["version"], "1", "up to version 6"),
        (["nodes"], [], "at least one node"),
        (["nodes"], None, "damaged"),
        (["nodes"], [3], "damaged"),
        (["nodes", 0, "left"], 2, "'left' entries do not fit"),
        (["nodes", 0, "missing_left"], None, "'missing_left' entries do not fit"),
        (["nodes", 0, "feature"], 99, "must hold ints from -1"),
        (["nodes", 0, "feature"], 10**30, "damaged|too large|out of bounds"),
        (["nodes", 0, "threshold"], "three", "could not convert"),
        (["n_features"], 1, "must hold ints from -1"),
        (["n_classes"], 7, "'n_classes' does not fit"),
        (["n_features"], 10**12, "'n_features' of a tree must be"),
        (["class_names"], ["a"], "class names"),
        (["categories"], None, "damaged"),
    ],
)
def test_damaged_trees_are_refused(path: list[Any], value: Any, message: str) -> None:
    data = json.loads((FILES / "tree-v1.json").read_text(encoding="utf-8"))
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        Tree.from_dict(data)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '"x"', "[" * 100_000])
def test_other_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="stored tree"):
        Tree.from_json(text)


@settings(max_examples=50, deadline=None)
@given(trees(max_depth=2), st.data())
def test_no_change_to_a_file_crashes(tree: Tree, data: st.DataObject) -> None:
    stored = tree.to_dict()
    place: Any = stored
    key: Any = data.draw(st.sampled_from(sorted(stored)))
    while isinstance(place[key], (dict, list)) and place[key] and data.draw(st.booleans()):
        place = place[key]
        choices = sorted(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(list(choices)))
    place[key] = data.draw(
        st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=3), st.just([]))
    )
    with contextlib.suppress(ValueError):
        Tree.from_dict(stored)
