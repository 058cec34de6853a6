"""Rules, questions and explanations say what the tree does."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from provetree import ExactSearch, OptimalTreeClassifier, Tree, build_problem
from provetree.export.svg import layout, tree_svg
from provetree.report.sentences import explain_row, question, rules, way_of
from testkit.random_problems import random_table

NAN, INF = math.nan, math.inf


def tree_of(seed: int) -> tuple[Tree, np.ndarray]:
    table = random_table(seed, max_depth=3)
    options = {**table.options, "alpha": 0.0, "max_leaf_nodes": None, "min_samples_leaf": 1}
    return ExactSearch().solve(build_problem(table.X, table.y, **options)).tree, table.X


@pytest.mark.parametrize("seed", range(30))
def test_every_leaf_has_a_rule_and_every_row_a_way(seed: int) -> None:
    tree, X = tree_of(seed)
    found = rules(tree)
    assert [rule.leaf for rule in found] == np.flatnonzero(tree.feature < 0).tolist()
    assert sum(rule.rows for rule in found) == tree.n_samples[0]
    assert not any("impossible" in rule.sentence for rule in found)
    for row in X[:10]:
        lines, leaf = explain_row(tree, row)
        assert leaf == tree.apply(row.reshape(1, -1))[0]
        assert len(lines) == len(way_of(tree, leaf)) == tree.node_depth[leaf]


def split(threshold=1.5, category=-1, left=False, seen=False, categories=None) -> Tree:
    return Tree(
        feature=[0, -1, -1],
        threshold=[threshold, NAN, NAN],
        category=[category, -1, -1],
        missing_left=[left, False, False],
        missing_seen=[seen, False, False],
        value=[[0, 0], [8, 2], [1, 9]],
        n_samples=[0, 10, 10],
        n_features=1,
        feature_names=["age"],
        class_names=["no", "yes"],
        categories=[categories],
    )


@pytest.mark.parametrize(
    ("tree", "asked", "left", "right"),
    [
        (split(), "Is age at most 1.5?", "age is at most 1.5", "age is above 1.5"),
        (
            split(seen=True, left=True),
            "Is age at most 1.5?",
            "age is at most 1.5 or is missing",
            "age is above 1.5",
        ),
        (
            split(NAN, seen=True, left=True),
            "Is age missing?",
            "age is missing",
            "age is not missing",
        ),
        (split(INF, seen=True), "Is age not missing?", "age is not missing", "age is missing"),
        (split(NAN, 1, categories=["a", "b"]), "Is age b?", "age is b", "age is not b"),
        (
            split(NAN, 2, categories=["a", "b"]),
            "Is age missing?",
            "age is missing",
            "age is not missing",
        ),
    ],
)
def test_words(tree: Tree, asked: str, left: str, right: str) -> None:
    assert question(tree, 0) == asked
    assert [rule.conditions for rule in rules(tree)] == [(left,), (right,)]


@pytest.mark.parametrize(
    ("tree", "value", "line"),
    [
        (split(), 1.0, "age is 1, which is at most 1.5"),
        (
            split(),
            NAN,
            "age is missing, which counts as at most 1.5 (the side of more training rows)",
        ),
        (split(seen=True), NAN, "age is missing, which counts as above 1.5 (as in training)"),
        (split(NAN, 1, categories=["a", "b"]), 0.0, "age is a, not b"),
        (split(NAN, 1, categories=["a", "b"]), 1.0, "age is b"),
        (
            split(NAN, 1, categories=["a", "b"]),
            -1.0,
            "age is a value not known from training, not b",
        ),
        (split(NAN, seen=True, left=True), 3.0, "age is 3, not missing"),
    ],
)
def test_explanations(tree: Tree, value: float, line: str) -> None:
    assert explain_row(tree, [value])[0] == [line]


def test_categories_left_out_are_listed_together() -> None:
    X = [["a"], ["b"], ["c"], ["d"]] * 3
    clf = OptimalTreeClassifier(max_depth=3).fit(X, ["u", "v", "w", "x"] * 3)
    last = rules(clf.tree_)[-1]
    assert last.conditions == ("x0 is none of a, b and c",)


def test_a_leaf_alone() -> None:
    clf = OptimalTreeClassifier(max_depth=0).fit([[1.0], [2.0]], ["no", "no"])
    assert rules(clf.tree_)[0].sentence == "Always no (100.0% of 2 rows)."


@pytest.mark.parametrize("seed", range(10))
def test_picture(seed: int) -> None:
    tree, _ = tree_of(seed)
    places = layout(tree)
    leaves = [places[node][0] for node in np.flatnonzero(tree.feature < 0)]
    assert all(b - a >= 176 for a, b in pairwise(leaves))
    text = tree_svg(tree, interactive=True)
    assert text.count('role="treeitem"') == tree.n_nodes
    assert tree_svg(tree).count('class="box"') == tree.n_nodes


def test_notebooks_show_the_tree() -> None:
    clf = OptimalTreeClassifier(max_depth=1)
    assert clf._repr_html_() == "<pre>OptimalTreeClassifier(max_depth=1)</pre>"
    shown = clf.fit([[1.0], [2.0]], ["<a>", "b"])._repr_mimebundle_()
    assert "<svg" in shown["text/html"]
    assert "&lt;a&gt;" in shown["text/html"]
    assert "<a>" not in shown["text/html"]
    assert "Proven optimal" in shown["text/html"]
