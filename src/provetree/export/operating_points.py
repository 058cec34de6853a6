"""The curve of operating points, drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from provetree.export.plot import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from provetree.selection.operating_points import OperatingCurve

__all__ = ["plot_operating_points"]

_TRAIN, _HELD_OUT = "#0072b2", "#d55e00"


def plot_operating_points(curve: OperatingCurve, *, ax: Axes | None = None) -> Axes:
    """Draw the share of positive rows found against the share of false alarms.

    Parameters
    ----------
    curve : OperatingCurve
        What :func:`provetree.operating_points` gave.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. Hollow points are not proven. Guessing lies on the dotted line.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from provetree import operating_points
    >>> curve = operating_points([[1], [2], [3], [4]], [0, 1, 0, 1], max_depth=1, cv=None)
    >>> curve.plot().get_ylabel()
    'recall: positive rows found'
    """
    ax = new_axes((4.8, 4.4)) if ax is None else ax
    train = [point.train for point in curve.points]
    ax.plot(
        [rates.false_positive_rate for rates in train],
        [rates.recall for rates in train],
        color=_TRAIN,
        linewidth=1.2,
        zorder=2,
    )
    for proven, face in ((True, _TRAIN), (False, "white")):
        some = [p.train for p in curve.points if (p.status == "optimal") == proven]
        if some:
            ax.scatter(
                [rates.false_positive_rate for rates in some],
                [rates.recall for rates in some],
                s=24,
                zorder=3,
                facecolor=face,
                edgecolor=_TRAIN,
                label="training, proven best" if proven else "training, not proven",
            )
    held_out = [point.held_out for point in curve.points if point.held_out is not None]
    if held_out:
        ax.plot(
            [rates.false_positive_rate for rates in held_out],
            [rates.recall for rates in held_out],
            color=_HELD_OUT,
            marker="s",
            markersize=4,
            linestyle="--",
            label=f"held out, {curve.n_folds} folds",
        )
    ax.plot([0, 1], [0, 1], color="0.6", linestyle=":", linewidth=1.0, zorder=1)
    ax.set_xlabel("false positives, of all negative rows")
    ax.set_ylabel("recall: positive rows found")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
