from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from provetree.tree.text import conditions
from provetree.tree.tree import Tree
from testkit.tree_strategies import trees

NAN = math.nan
FILES = Path(__file__).parent / "files"


def stump(**changes: Any) -> Tree:
    fields: dict[str, Any] = {
        "feature": [0, -1, -1],
        "threshold": [3.0, NAN, NAN],
        "value": [[0, 0], [3, 1], [0, 0.5]],
        "n_samples": [0, 4, 1],
        "n_features": 1,
        "feature_names": ["income"],
        "class_names": ["no", "yes"],
    }
    return Tree(**{**fields, **changes})


@settings(max_examples=80, deadline=None)
@given(trees())
def test_text_is_read_back_exactly(tree: Tree) -> None:
    text = tree.to_text()
    again = Tree.from_text(text)
    assert again == tree
    assert again.to_text() == text


@pytest.mark.parametrize(
    ("changes", "left", "right"),
    [
        ({}, "income <= 3", "income > 3"),
        ({"threshold": [2.45, NAN, NAN]}, "income <= 2.45", "income > 2.45"),
        (
            {"missing_seen": [1, 0, 0], "missing_left": [1, 0, 0]},
            "income <= 3 or missing",
            "income > 3",
        ),
        ({"missing_seen": [1, 0, 0]}, "income <= 3", "income > 3 or missing"),
        (
            {"missing_seen": [1, 0, 0], "missing_left": [1, 0, 0], "threshold": [NAN] * 3},
            "income is missing",
            "income is present",
        ),
        (
            {"missing_seen": [1, 0, 0], "threshold": [math.inf, NAN, NAN]},
            "income is present",
            "income is missing",
        ),
        (
            {"category": [1, -1, -1], "categories": [["low", "high"]]},
            "income = high",
            "income != high",
        ),
        (
            {"category": [2, -1, -1], "categories": [["low", "high"]]},
            "income is missing",
            "income is present",
        ),
        ({"category": [0, -1, -1], "categories": [[7]]}, "income = 7", "income != 7"),
        (
            {"category": [0, -1, -1], "categories": [["a = b"]]},
            'income = "a = b"',
            'income != "a = b"',
        ),
        ({"feature_names": ["a\nb"]}, '"a\\nb" <= 3', '"a\\nb" > 3'),
        ({"feature_names": ["Größe (cm)"]}, "Größe (cm) <= 3", "Größe (cm) > 3"),
        ({"feature_names": None}, "x0 <= 3", "x0 > 3"),
    ],
)
def test_conditions_read_as_people_would_say_them(
    changes: dict[str, Any], left: str, right: str
) -> None:
    assert conditions(stump(**changes), 0) == (left, right)


def test_the_whole_text() -> None:
    assert stump().to_text() == (
        "provetree-tree version 1\n"
        "income <= 3\n"
        "|   no: 75.0% of 4 rows [3, 1]\n"
        "income > 3\n"
        "|   yes: 100.0% of 1 row [0, 0.5]\n"
        'classes: ["no", "yes"]\n'
        'features: ["income"]'
    )
    assert stump().to_text(legend=False).startswith("income <= 3\n")


def test_a_leaf_alone() -> None:
    leaf = Tree(feature=[-1], threshold=[0], value=[[3, 1]], n_samples=[4], n_features=2)
    assert leaf.to_text() == (
        "provetree-tree version 1\n0: 75.0% of 4 rows [3, 1]\nclasses: 2\nfeatures: 2"
    )


def test_texts_of_version_1_are_still_read() -> None:
    from_text = Tree.from_text((FILES / "tree-v1.txt").read_text(encoding="utf-8"))
    from_json = Tree.from_json((FILES / "tree-v1.json").read_text(encoding="utf-8"))
    assert from_text == from_json
    assert from_text.n_splits == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: "", "must start with the line"),
        (lambda text: text.replace("version 1", "version 7"), "up to version 6"),
        (lambda text: text.replace("provetree-tree", "other-tree"), "must have the format"),
        (lambda text: text.replace("income > 3", "income > 4"), "damaged at the line"),
        (lambda text: text.replace("income <= 3", "outcome <= 3"), "damaged"),
        (lambda text: text.replace("income <= 3", "income <= three"), "could not convert"),
        (lambda text: text.replace("|   no", "no"), "damaged at the line"),
        (lambda text: text.replace("of 4 rows", "of rows"), "damaged at the line"),
        (lambda text: text.replace("[3, 1]", "[3]"), "damaged at the line"),
        (lambda text: text.replace("\n|   yes: 100.0% of 1 row [0, 0.5]", ""), "last leaf"),
        (lambda text: text.replace("\nclasses:", "\nyes: 1% of 1 row [1, 1]\nclasses:"), "damaged"),
        (lambda text: text.replace("classes", "groups"), "damaged"),
        (lambda text: text.replace('classes: ["no", "yes"]', f"classes: {10**12}"), "damaged"),
        (lambda text: text.replace('features: ["income"]', f"features: {10**12}"), "damaged"),
    ],
)
def test_damaged_texts_are_refused(change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tree.from_text(change(stump().to_text()))
