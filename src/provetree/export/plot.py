"""A tree drawn with matplotlib (the extra ``plot``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from provetree.export._colours import node_colour
from provetree.export._words import leaf_lines, side_names, split_text
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["new_axes", "plot_tree"]

#: Inches a leaf and a level take in a figure that is made here.
_LEAF_WIDTH, _LEVEL_HEIGHT = 1.6, 1.1
_SMALLEST_FIGURE = (4.0, 2.0)
#: Wider figures than this many inches help nobody; the text shrinks instead.
_LARGEST_FIGURE = 40.0


def plot_tree(
    tree: Tree, *, ax: Axes | None = None, filled: bool = True, fontsize: float | None = None
) -> Axes:
    """Draw `tree` and return the axes it is drawn on.

    Parameters
    ----------
    tree : Tree
        The tree.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure of a fitting size.
    filled : bool, default=True
        Fill the leaves with the colours of their classes.
    fontsize : float, default=None
        Size of the text in points; None chooses it by the width there is.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from provetree import Tree
    >>> from provetree.export import plot_tree
    >>> nan = float("nan")
    >>> tree = Tree(feature=[0, -1, -1], threshold=[37.5, nan, nan],
    ...             value=[[0, 0], [8, 2], [1, 9]], n_samples=[0, 10, 10],
    ...             n_features=1, feature_names=["age"], class_names=["no", "yes"])
    >>> axes = plot_tree(tree)
    >>> [text.get_text() for text in axes.texts][0]
    'age <= 37.5'
    """
    if ax is None:
        ax = new_axes(_figure_size(tree))
    size = _font_size(tree, ax) if fontsize is None else fontsize
    where = _positions(tree)
    for node, (x, y) in enumerate(where):
        is_split = bool(tree.feature[node] >= 0)
        lines = [split_text(tree, node)] if is_split else leaf_lines(tree, node)
        fill = node_colour(tree, node) if filled and not is_split else "white"
        box: dict[str, Any] = {"boxstyle": "round", "facecolor": fill, "edgecolor": "0.4"}
        # Names are the user's: a dollar sign in one is not mathematics.
        words: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
        words["parse_math"] = False
        ax.text(x, y, "\n".join(lines), bbox=box, zorder=3, **words)
        if is_split:
            children = (int(tree.left[node]), int(tree.right[node]))
            for child, name in zip(children, side_names(tree, node), strict=True):
                child_x, child_y = where[child]
                ax.plot([x, child_x], [y, child_y], color="0.4", linewidth=1.0, zorder=1)
                middle = ((x + child_x) / 2, (y + child_y) / 2)
                behind: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
                words["fontsize"] = 0.85 * size
                ax.text(*middle, name, bbox=behind, zorder=2, **words)
                words["fontsize"] = size
    ax.set_xlim(-0.5, tree.n_leaves - 0.5)
    ax.set_ylim(-tree.depth - 0.5, 0.5)
    ax.set_axis_off()
    return ax


def new_axes(size: tuple[float, float]) -> Axes:
    """Return the axes of a new figure of a size in inches, or say which extra is missing."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Drawing a tree needs matplotlib: install it with pip install 'provetree[plot]'."
        ) from error
    _, ax = pyplot.subplots(figsize=size, layout="constrained")
    return ax


def _figure_size(tree: Tree) -> tuple[float, float]:
    width = min(max(_SMALLEST_FIGURE[0], _LEAF_WIDTH * tree.n_leaves), _LARGEST_FIGURE)
    height = min(max(_SMALLEST_FIGURE[1], _LEVEL_HEIGHT * (tree.depth + 1)), _LARGEST_FIGURE)
    return width, height


def _font_size(tree: Tree, ax: Axes) -> float:
    """Choose the size at which the leaves stand side by side without touching."""
    pixels: float = ax.get_window_extent().width
    inches = pixels / ax.figure.dpi
    longest = max(
        max(len(line) for line in leaf_lines(tree, node))
        for node in range(tree.n_nodes)
        if tree.feature[node] < 0
    )
    # A letter is about 0.6 of its size wide, a point is 1/72 inch, and the box has a margin.
    points = 72 * inches / tree.n_leaves / (0.6 * (longest + 3))
    return float(min(11.0, max(2.0, points)))


def _positions(tree: Tree) -> list[tuple[float, float]]:
    """Place the leaves side by side and each split above the middle of its two children."""
    where = [(0.0, 0.0)] * tree.n_nodes
    next_leaf = 0
    for node in range(tree.n_nodes):  # preorder meets the leaves from left to right
        if tree.feature[node] < 0:
            where[node] = (float(next_leaf), -float(tree.node_depth[node]))
            next_leaf += 1
    for node in reversed(range(tree.n_nodes)):  # children come after their parent
        if tree.feature[node] >= 0:
            middle = (where[tree.left[node]][0] + where[tree.right[node]][0]) / 2
            where[node] = (middle, -float(tree.node_depth[node]))
    return where
