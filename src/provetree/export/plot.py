"""A tree drawn with matplotlib (the extra ``plot``)."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

from provetree.export._colours import class_colour, node_colour
from provetree.export.words import leaf_lines, places_across, sides, split_text
from provetree.tree.tree import Tree
from provetree.tree.values import Numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["new_axes", "new_figure", "plot_tree"]

#: Inches a leaf and a level take in a figure that is made here.
_LEAF_WIDTH, _LEVEL_HEIGHT = 1.6, 1.1
#: A tree of more leaves is drawn from left to right, which leaves room for text; its sizes then.
_MOST_UPRIGHT = 12
_LEAF_HEIGHT, _LEVEL_WIDTH = 0.34, 2.9
_SMALLEST_FIGURE = (4.0, 2.0)
#: The widest figure in inches; beyond that the text shrinks.
_LARGEST_FIGURE = 40.0


def plot_tree(
    tree: Tree, *, ax: Axes | None = None, filled: bool = True, fontsize: float | None = None
) -> Axes:
    """Draw `tree` and return the axes it is drawn on.

    A tree of many leaves grows from left to right. The bar at a leaf shows its class shares, or
    where its number lies and how far its rows spread.

    Parameters
    ----------
    tree : Tree
        The tree.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure of a fitting size.
    filled : bool, default=True
        Fill the leaves with the colours of their classes or actions; numbers are the darker the
        larger they are.
    fontsize : float, default=None
        Size of the text in points; None chooses it by the available width.

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
    sideways = tree.n_leaves > _MOST_UPRIGHT
    if ax is None:
        ax = new_axes(_figure_size(tree, sideways))
    size = _font_size(tree, ax, sideways) if fontsize is None else fontsize
    where = _positions(tree, sideways)
    if sideways:
        ax.set_xlim(-0.5, tree.depth + 0.5)
        ax.set_ylim(-tree.n_leaves + 0.5, 0.5)
    else:
        ax.set_xlim(-0.5, tree.n_leaves - 0.5)
        ax.set_ylim(-tree.depth - 0.5, 0.5)
    bars = _bars(tree)
    for node, (x, y) in enumerate(where):
        is_split = bool(tree.feature[node] >= 0)
        lines = [split_text(tree, node)] if is_split else leaf_lines(tree, node)
        fill = node_colour(tree, node) if filled and not is_split else "white"
        box: dict[str, Any] = {"boxstyle": "round", "facecolor": fill, "edgecolor": "0.4"}
        # A dollar sign in a user's name is not a formula.
        words: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": size}
        words["parse_math"] = False
        # On its side a leaf has one line of room.
        ax.text(x, y, _joined(tree, lines, sideways), bbox=box, zorder=3, **words)
        if not is_split:
            _draw_bar(ax, (x, y), bars[node], sideways)
            continue
        for child, name in sides(tree, node):
            child_x, child_y = where[child]
            ax.plot([x, child_x], [y, child_y], color="0.4", linewidth=1.0, zorder=1)
            middle = ((x + child_x) / 2, (y + child_y) / 2)
            behind: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            words["fontsize"] = 0.85 * size
            ax.text(*middle, name, bbox=behind, zorder=2, **words)
            words["fontsize"] = size
    ax.set_axis_off()
    return ax


def _joined(tree: Tree, lines: list[str], sideways: bool) -> str:
    """Return the text of a box: on one line where the tree grows sideways."""
    if not sideways:
        return "\n".join(lines)
    return (" " if tree.kind == "numbers" else ": ").join(lines)


#: A part of a bar: where it begins and ends, as shares of the bar, and its colour.
_Part: TypeAlias = "tuple[float, float, str]"


def _bars(tree: Tree) -> list[list[_Part]]:
    """Return the bar of each node: class shares, or a number and its spread; none for actions."""
    values = tree.values
    if isinstance(values, Numbers):
        number, spread = values.value[:, 0], values.spread[:, 0]  # of several outputs the first
        low, high = float((number - spread).min()), float((number + spread).max())
        wide = high - low if high > low else 1.0
        return [
            [
                ((at - reach - low) / wide, (at + reach - low) / wide, class_colour(0)),
                ((at - low) / wide - 0.01, (at - low) / wide + 0.01, class_colour(5)),
            ]
            for at, reach in zip(number.tolist(), spread.tolist(), strict=True)
        ]
    if tree.kind == "actions":
        return [[] for _ in range(tree.n_nodes)]
    bars = []
    for shares in tree.shares().tolist():
        ends = [0.0, *accumulate(shares)]
        bars.append(
            [(ends[c], ends[c + 1], class_colour(c)) for c, share in enumerate(shares) if share > 0]
        )
    return bars


def _draw_bar(ax: Axes, at: tuple[float, float], bar: list[_Part], sideways: bool) -> None:
    """Draw the bar of a leaf below it, or to its right."""
    x, y = (at[0] + 0.3, at[1] - 0.18) if sideways else (at[0] - 0.36, at[1] - 0.42)
    length, thick = (0.16, 0.36) if sideways else (0.72, 0.07)
    from matplotlib.patches import Rectangle

    for begin, end, colour in bar:
        corner = (x + begin * length, y)
        part = (end - begin) * length
        ax.add_patch(Rectangle(corner, part, thick, color=colour, linewidth=0, zorder=2))


def new_figure(purpose: str, size: tuple[float, float]) -> Figure:
    """Return a figure of a size in inches for a file, or say which extra is missing."""
    _need_matplotlib(purpose)
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def new_axes(size: tuple[float, float]) -> Axes:
    """Return the axes of a new figure of a size in inches, or say which extra is missing."""
    _need_matplotlib("Drawing a tree")
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _need_matplotlib(purpose: str) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs matplotlib: install it with pip install 'provetree[plot]'."
        ) from error


def _figure_size(tree: Tree, sideways: bool) -> tuple[float, float]:
    if sideways:
        width, height = _LEVEL_WIDTH * (tree.depth + 1), _LEAF_HEIGHT * tree.n_leaves
    else:
        width, height = _LEAF_WIDTH * tree.n_leaves, _LEVEL_HEIGHT * (tree.depth + 1)
    return (
        min(max(_SMALLEST_FIGURE[0], width), _LARGEST_FIGURE),
        min(max(_SMALLEST_FIGURE[1], height), _LARGEST_FIGURE),
    )


def _font_size(tree: Tree, ax: Axes, sideways: bool) -> float:
    """Choose the size at which the boxes stand side by side without touching."""
    box = ax.get_window_extent()
    width, height = box.width / ax.figure.dpi, box.height / ax.figure.dpi
    if sideways:
        longest = max(
            len(
                _joined(tree, leaf_lines(tree, node), sideways)
                if tree.feature[node] < 0
                else split_text(tree, node)
            )
            for node in range(tree.n_nodes)
        )
        by_width = 72 * width / (tree.depth + 1) / (0.6 * (longest + 6))
        # A line takes 1.2 of its size, and the box has a margin of its own.
        by_height = 72 * height / tree.n_leaves / 2.1
        return float(min(11.0, max(2.0, min(by_width, by_height))))
    longest = max(
        max(len(line) for line in leaf_lines(tree, node))
        for node in range(tree.n_nodes)
        if tree.feature[node] < 0
    )
    # A letter is about 0.6 of its size wide, a point is 1/72 inch, and the box has a margin.
    points = 72 * width / tree.n_leaves / (0.6 * (longest + 3))
    return float(min(11.0, max(2.0, points)))


def _positions(tree: Tree, sideways: bool) -> list[tuple[float, float]]:
    """Place the leaves side by side below the root, or one below the other to its right."""
    places = zip(places_across(tree), tree.node_depth.tolist(), strict=True)
    return [(float(depth), -at) if sideways else (at, -float(depth)) for at, depth in places]
