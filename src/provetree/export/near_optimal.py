"""Which columns near-optimal trees ask about, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provetree.export.plot import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from provetree.selection.near_optimal import NearOptimalTrees

__all__ = ["plot_near_optimal"]

_COLOURS = {"all": "#0072b2", "some": "#56b4e9", "none": "0.8", "unknown": "0.6"}
_WORDS = {
    "all": "in all trees",
    "some": "in some trees",
    "none": "in none",
    "unknown": "not known: the count ended early",
}
#: Columns that are drawn; those of the most trees come first.
_MOST_COLUMNS = 25


def plot_near_optimal(found: NearOptimalTrees, *, ax: Axes | None = None) -> Axes:
    """Draw the share of the trees that ask about each column, and what doing without it costs.

    Parameters
    ----------
    found : NearOptimalTrees
        What :func:`provetree.near_optimal_trees` gave.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. Beside each bar stands how much more the best tree without the column costs.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from provetree import near_optimal_trees
    >>> found = near_optimal_trees(*load_iris(return_X_y=True, as_frame=True), slack=1, max_depth=2)
    >>> found.plot().get_xlabel()
    'share of the trees'
    """
    uses = sorted(found.columns(), key=lambda use: (-use.share, use.feature))[:_MOST_COLUMNS]
    ax = new_axes((6.0, 0.9 + 0.28 * len(uses))) if ax is None else ax
    places = range(len(uses))
    for kind, colour in _COLOURS.items():
        some = [place for place in places if uses[place].use == kind]
        if some:
            shares = [uses[place].share for place in some]
            ax.barh(some, shares, color=colour, label=_WORDS[kind], height=0.7)
    for place, use in enumerate(uses):
        at_least = "at least " if use.extra_without_at_least < use.extra_without else ""
        extra = use.extra_without_at_least if at_least else use.extra_without
        ax.annotate(
            f"without: {at_least}+{extra:g}",
            (use.share, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
            color="0.3",
        )
    ax.set_yticks(list(places), [use.name for use in uses])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.25)
    ax.set_xticks([0, 0.25, 0.5, 0.75, 1.0])
    ax.set_xlabel("share of the trees")
    ax.set_title(found.sentence, fontsize="medium", loc="left")
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
