"""Probabilities against what happened: the calibration curve, and its picture by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from provetree.export.plot import new_axes
from provetree.number_types import Float
from provetree.tree.smoothing import log_loss

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Calibration", "CalibrationBin", "calibration_on", "plot_calibration"]

_COLOUR = "#d55e00"
#: More points than this are joined to as many groups of about the same weight.
_MOST_BINS = 10


@dataclass(frozen=True)
class CalibrationBin:
    """Rows of about the same probability: its mean, how often it was right, and their weight."""

    predicted: float
    observed: float
    weight: float


@dataclass(frozen=True)
class Calibration:
    """Probabilities against what happened.

    Parameters
    ----------
    bins : tuple of CalibrationBin
        By rising probability. A tree has few leaves, so each leaf is a point where there are no
        more than ten.
    label : object
        The label whose probability it is: the last of two. None where there are more: the label
        that is predicted, whichever it is.
    log_loss : float
        The mean log loss of the same rows.
    rows : str
        Which rows these are.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier, calibration
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "yes", "yes", "yes"]
    >>> clf = OptimalTreeClassifier(max_depth=1, probabilities="laplace").fit(X, y)
    >>> found = calibration(clf, X, y)
    >>> [(round(b.predicted, 2), b.observed, b.weight) for b in found.bins], found.label
    ([(0.33, 0.0, 1.0), (0.8, 1.0, 3.0)], 'yes')
    """

    bins: tuple[CalibrationBin, ...]
    label: Any
    log_loss: float
    rows: str

    @property
    def error(self) -> float:
        """The mean distance between probability and share, by weight: the calibration error."""
        weights = np.array([each.weight for each in self.bins])
        apart = [abs(each.predicted - each.observed) for each in self.bins]
        return float(np.average(apart, weights=weights))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve; see :func:`provetree.export.calibration.plot_calibration`."""
        return plot_calibration(self, ax=ax)


def calibration_on(
    probabilities: Float,
    predicted: NDArray[Any],
    codes: NDArray[Any],
    weights: Float,
    labels: Sequence[Any],
    rows: str,
) -> Calibration:
    """Return the calibration of probabilities, given the class of each row.

    `predicted` is the class that the tree gives each row; of more than two classes, it is the
    probability of this one that is looked at. `rows` says in words which rows these are.
    """
    two = len(labels) == 2
    looked_at = np.ones(len(codes), dtype=np.intp) if two else np.asarray(predicted)
    said = probabilities[np.arange(len(codes)), looked_at]
    bins = _bins(said, (codes == looked_at).astype(np.float64), weights)
    loss = log_loss(probabilities, codes, weights)
    return Calibration(bins, labels[1] if two else None, loss, rows)


def _bins(said: Float, happened: Float, weights: Float) -> tuple[CalibrationBin, ...]:
    """Join rows of the same probability, or of about the same where there are many."""
    counted = weights > 0
    said, happened, weights = said[counted], happened[counted], weights[counted]
    values, group = np.unique(said, return_inverse=True)
    group = group.reshape(-1)
    if len(values) > _MOST_BINS:
        below = np.cumsum(np.bincount(group, weights))
        # A probability belongs to the tenth of the weight that its last row is in.
        tenth = np.ceil(below / below[-1] * _MOST_BINS - 1e-9).astype(np.intp)
        group = np.unique(tenth, return_inverse=True)[1].reshape(-1)[group]
    total = np.bincount(group, weights)
    means = [np.bincount(group, weights * x) / total for x in (said, happened)]
    return tuple(
        CalibrationBin(float(p), float(o), float(w)) for p, o, w in zip(*means, total, strict=True)
    )


def plot_calibration(found: Calibration, *, ax: Axes | None = None) -> Axes:
    """Draw how often each probability was right.

    Parameters
    ----------
    found : Calibration
        What :func:`provetree.calibration` gave.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes. The size of a point follows the weight of its rows; points on the dotted line
        happened as often as was said.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from provetree import OptimalTreeClassifier, calibration
    >>> X, y = [[1.0], [2.0], [3.0]], ["no", "yes", "yes"]
    >>> clf = OptimalTreeClassifier(max_depth=1).fit(X, y)
    >>> calibration(clf, X, y).plot().get_xlabel()
    'probability of yes'
    """
    ax = new_axes((4.8, 4.4)) if ax is None else ax
    said = [each.predicted for each in found.bins]
    seen = [each.observed for each in found.bins]
    heaviest = max(each.weight for each in found.bins)
    sizes = [16 + 120 * each.weight / heaviest for each in found.bins]
    ax.plot([0, 1], [0, 1], color="0.6", linestyle=":", linewidth=1.0, zorder=1)
    ax.plot(said, seen, color=_COLOUR, linewidth=1.0, zorder=2)
    ax.scatter(said, seen, s=sizes, color=_COLOUR, zorder=3, label=found.rows)
    what = "the label predicted" if found.label is None else str(found.label)
    ax.set_xlabel(f"probability of {what}")
    ax.set_ylabel("share of the rows")
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
