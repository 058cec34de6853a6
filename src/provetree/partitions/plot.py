"""A data-partition drawn with matplotlib (the extra ``plot``), as in Figure 1 of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from provetree.export._colours import class_colour
from provetree.export.plot import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from provetree.partitions.partition import DataPartition

__all__ = ["plot_partition"]

_MARKERS = "osD^vP*Xh<>"


def plot_partition(
    partition: DataPartition, ax: Axes | None = None, *, columns: tuple[int, int] = (0, 1)
) -> Axes:
    """Draw a partition; see :meth:`DataPartition.plot`."""
    X = np.asarray(partition.X)
    width = X.shape[1]
    if [c for c in columns if not 0 <= c < width] or len(tuple(columns)) != 2:
        raise ValueError(
            f"The 'columns' parameter of plot must be two ints in the range [0, {width}). "
            f"Got {columns!r} instead."
        )
    ax = new_axes((6.0, 5.0)) if ax is None else ax
    points = X[:, list(columns)]
    y, clusters = np.asarray(partition.y), np.asarray(partition.clusters)
    names = np.unique(np.concatenate([y, partition.labels]))
    for g in np.flatnonzero(partition.sizes > 1).tolist():
        colour = class_colour(int(np.flatnonzero(names == partition.labels[g])[0]))
        members = points[clusters == g]
        corners = _hull(members)
        if len(corners) > 2:
            ax.fill(*corners.T, facecolor=colour, edgecolor=colour, alpha=0.25, zorder=1)
        else:
            ax.plot(*corners.T, color=colour, alpha=0.5, zorder=1)
    for k, name in enumerate(names.tolist()):
        colour, marker = class_colour(k), _MARKERS[k % len(_MARKERS)]
        rows, of_label = points[y == name], partition.labels == name
        middles = partition.representatives[of_label][:, list(columns)]
        if len(rows):
            ax.scatter(
                rows[:, 0],
                rows[:, 1],
                marker=marker,
                facecolors="white",
                edgecolors="0.5",
                s=22,
                zorder=2,
            )
        ax.scatter(
            middles[:, 0],
            middles[:, 1],
            marker=marker,
            color=colour,
            s=30,
            label=str(name),
            zorder=3,
        )
    ax.set_xlabel(f"x{columns[0]}")
    ax.set_ylabel(f"x{columns[1]}")
    ax.legend(frameon=False, title="representatives")
    return ax


def _hull(
    points: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the corners of the hull of points in the plane, in order (monotone chain)."""
    points = np.unique(points, axis=0)
    if len(points) < 3:
        return points

    def chain(some: list[list[float]]) -> list[list[float]]:
        kept: list[list[float]] = []
        for p in some:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], p) <= 0:
                kept.pop()
            kept.append(p)
        return kept[:-1]

    in_order: list[list[float]] = points.tolist()
    return np.array(chain(in_order) + chain(in_order[::-1]))


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
