"""Graphviz text and matplotlib pictures."""

from __future__ import annotations

import itertools
import re
import shutil
import sys

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, Tree
from provetree.export import plot_tree, to_graphviz
from provetree.export._colours import class_colour, node_colour
from provetree.export.words import sides, split_text

NAN, INF = float("nan"), float("inf")


def stump(threshold=1.5, category=-1, left=False, seen=False, name="age", categories=None):
    return Tree(
        feature=[0, -1, -1],
        threshold=[threshold, NAN, NAN],
        category=[category, -1, -1],
        missing_left=[left, False, False],
        missing_seen=[seen, False, False],
        value=[[0, 0], [8, 2], [1, 9]],
        n_samples=[0, 10, 10],
        n_features=1,
        feature_names=[name],
        class_names=["no", "yes"],
        categories=[categories],
    )


@pytest.fixture(scope="module")
def clf():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    X[::7, 0] = np.nan
    return OptimalTreeClassifier(max_depth=3).fit(X, np.array(["red", "green", "blue"])[y])


@pytest.mark.parametrize(
    ("tree", "question", "names"),
    [
        (stump(), "age <= 1.5", ("yes", "no")),
        (stump(seen=True, left=True), "age <= 1.5", ("yes or missing", "no")),
        (stump(seen=True), "age <= 1.5", ("yes", "no or missing")),
        (stump(NAN, seen=True, left=True), "age is missing", ("yes", "no")),
        (stump(INF, seen=True), "age is not missing", ("yes", "no")),
        (stump(NAN, 1, categories=["a", "b"]), "age = b", ("yes", "no")),
        (stump(NAN, 2, True, True, categories=["a", "b"]), "age is missing", ("yes", "no")),
        (stump(1 / 3), "age <= 0.333333", ("yes", "no")),
        (stump(1700000006.5), "age <= 1700000006.5", ("yes", "no")),
        (stump(1e300), "age <= 1e+300", ("yes", "no")),
    ],
)
def test_words_of_a_split(tree, question, names):
    assert split_text(tree, 0) == question
    assert sides(tree, 0) == ((1, names[0]), (2, names[1]))


def test_every_node_and_edge_is_written(clf):
    text = clf.export_graphviz()
    assert text == to_graphviz(clf.tree_)
    nodes = re.findall(r"^  (\d+) \[", text, re.MULTILINE)
    edges = re.findall(r"^  (\d+) -> (\d+) \[", text, re.MULTILINE)
    assert [int(node) for node in nodes] == list(range(clf.tree_.n_nodes))
    assert len(edges) == clf.tree_.n_nodes - 1
    assert "fillcolor" in text
    assert "fillcolor" not in clf.export_graphviz(filled=False)


def test_names_are_escaped():
    text = to_graphviz(stump(name='the "big"\\small\none'))
    assert r"the \"big\"\\small one <= 1.5" in text


def test_graphviz_draws_it(clf):
    graphviz = pytest.importorskip("graphviz")
    if shutil.which("dot") is None:
        pytest.skip("the program dot was not found (Debian: apt-get install graphviz)")
    drawn = graphviz.Source(clf.export_graphviz()).pipe(format="svg", encoding="utf-8")
    assert drawn.count('class="node"') == clf.tree_.n_nodes
    assert drawn.count('class="edge"') == clf.tree_.n_nodes - 1


def test_colours_are_told_apart():
    colours = [class_colour(label) for label in range(40)]
    assert len(set(colours)) == 40
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)
    tree = Tree(
        feature=[0, -1, -1],
        threshold=[0, 0, 0],
        value=[[0, 0], [5, 5], [10, 0]],
        n_samples=[0, 10, 10],
        n_features=1,
    )
    assert node_colour(tree, 2) == class_colour(0)
    assert node_colour(tree, 1) > node_colour(tree, 2)  # a mixed leaf is paler


# -- matplotlib ----------------------------------------------------------------------------


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_a_plot_shows_every_node(clf, pyplot):
    ax = clf.plot()
    texts = [text.get_text() for text in ax.texts]
    assert len(texts) == clf.tree_.n_nodes + 2 * clf.tree_.n_splits
    assert any("<=" in text for text in texts)
    assert len(ax.lines) == clf.tree_.n_nodes - 1
    ax.figure.canvas.draw()


def test_the_boxes_of_a_level_do_not_touch(clf, pyplot):
    ax = clf.plot()
    ax.figure.canvas.draw()
    boxes = [text for text in ax.texts if text.get_zorder() == 3]
    spans = sorted(
        (round(text.get_position()[1]), *text.get_bbox_patch().get_window_extent().intervalx)
        for text in boxes
    )
    for (level, _, end), (next_level, start, _) in itertools.pairwise(spans):
        assert level != next_level or end <= start


def test_a_plot_on_given_axes(clf, pyplot):
    _, axes = pyplot.subplots(1, 2)
    assert clf.plot(axes[0], fontsize=6, filled=False) is axes[0]
    assert len(axes[1].texts) == 0
    assert axes[0].texts[0].get_fontsize() == 6


def test_odd_names_and_a_single_leaf(pyplot):
    ax = plot_tree(stump(name="cost in $ or $x^2_"))
    ax.figure.canvas.draw()
    leaf = Tree(feature=[-1], threshold=[0], value=[[3, 1]], n_samples=[4], n_features=1)
    ax = plot_tree(leaf)
    ax.figure.canvas.draw()
    assert ax.texts[0].get_text() == "0\n75.0% of 4 rows"


def test_a_deep_tree_can_be_drawn(pyplot):
    n = 300
    feature = [0, -1] * (n - 1) + [-1]
    tree = Tree(
        feature=feature,
        threshold=np.where(np.array(feature) >= 0, 0.5, NAN),
        value=np.ones((2 * n - 1, 2)),
        n_samples=np.ones(2 * n - 1, dtype=int),
        n_features=1,
    )
    ax = plot_tree(tree)
    assert len(ax.texts) == tree.n_nodes + 2 * tree.n_splits
    assert to_graphviz(tree).count("->") == tree.n_nodes - 1


def test_without_matplotlib_there_is_a_sentence(clf, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'provetree\[plot\]'"):
        clf.plot()
