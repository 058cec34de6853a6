"""Accuracy against size, drawn with matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from provetree.export.plot import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from provetree.selection.path import PathPoint, TuningPath

__all__ = ["plot_frontier"]

_TRAIN, _HELD_OUT = "#0072b2", "#d55e00"


def plot_frontier(path: TuningPath, *, ax: Axes | None = None) -> Axes:
    """Draw the training and the cross-validated score against the number of leaves.

    Parameters
    ----------
    path : TuningPath
        What :func:`provetree.tuning_path` gave.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. Hollow points are not proven; a ring marks the choice: the one of one standard
        error, or that of the estimator. Thin lines are other settings that it tried.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from provetree import tuning_path
    >>> from provetree.export.frontier import plot_frontier
    >>> plot_frontier(tuning_path(*load_iris(return_X_y=True), max_depth=2)).get_ylabel()
    'accuracy'
    """
    ax = new_axes((6.0, 3.6)) if ax is None else ax
    from matplotlib.ticker import MaxNLocator

    sizes = [point.n_leaves for point in path.points]
    ax.plot(sizes, [p.train_score for p in path.points], color=_TRAIN, linewidth=1.2, zorder=2)
    for proven, face in ((True, _TRAIN), (False, "white")):
        some = [p for p in path.points if (p.status == "optimal") == proven]
        if some:
            ax.scatter(
                [p.n_leaves for p in some],
                [p.train_score for p in some],
                s=28,
                zorder=3,
                facecolor=face,
                edgecolor=_TRAIN,
                label="training, proven best" if proven else "training, not proven",
            )
    if path.n_folds:
        errors = [0.0 if math.isnan(p.cv_error) else p.cv_error for p in path.points]
        ax.errorbar(
            sizes,
            [p.cv_score for p in path.points],
            yerr=errors,
            color=_HELD_OUT,
            marker="s",
            markersize=4,
            linestyle="--",
            capsize=2,
            label=f"held out, {path.n_folds} folds, one standard error",
        )
        for tried in getattr(path, "tried", ()):
            # What else was tried, as thin lines behind the chosen setting.
            if tried.outcome != "chosen":
                x = range(1, len(tried.scores) + 1)
                ax.plot(x, tried.scores, color="0.75", linewidth=0.8, zorder=1)
        chosen, words = _choice(path)
        ax.scatter(
            [chosen.n_leaves],
            [chosen.cv_score],
            s=150,
            facecolor="none",
            edgecolor="0.2",
            linewidth=1.5,
            zorder=4,
            label=words,
        )
    ax.set_xlabel("number of leaves")
    ax.set_ylabel(path.score)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _choice(path: TuningPath) -> tuple[PathPoint, str]:
    """Return the size that was chosen, and the words for it."""
    chosen = getattr(path, "chosen", None)
    if chosen is not None:
        return chosen, "chosen"
    return path.one_standard_error, "one-standard-error choice"
