"""The data-partition: clusters of rows, a representative and a label for each, and its measures.

Definitions 1 to 4 of Ales, Huré and Lambert (2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from provetree import _core
from provetree.number_types import Float, Int
from provetree.partitions.coordinates import as_points, unit_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from provetree.partitions.exclusion import Exclusion

__all__ = ["DataPartition"]


@dataclass(frozen=True, eq=False, repr=False)
class DataPartition:
    """Clusters of labelled rows, each with a representative and a label.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows: finite numbers.
    y : array-like of shape (n_rows,)
        Their labels.
    clusters : array-like of int of shape (n_rows,)
        The cluster of each row, numbered from 0 without gaps.
    representatives : array-like of shape (n_clusters, n_features), default=None
        A point for each cluster; None takes the barycentres.
    labels : array-like of shape (n_clusters,), default=None
        The label of each cluster; None takes the most frequent one, the first of them on a tie.
    complete : bool, default=True
        Whether the algorithm that made it came to its end, rather than to a time limit.

    Examples
    --------
    >>> from provetree import DataPartition
    >>> X, y = [[0.0], [1.0], [5.0], [6.0]], ["a", "a", "b", "b"]
    >>> partition = DataPartition(X, y, [0, 0, 1, 1])
    >>> partition.representatives.tolist(), partition.labels.tolist()
    ([[0.5], [5.5]], ['a', 'b'])
    >>> partition.homogeneity, partition.exclusion, partition.consistency, partition.reduction
    (1.0, 1.0, 1.0, 0.5)
    """

    X: ArrayLike
    y: ArrayLike
    clusters: ArrayLike
    representatives: Any = None
    labels: Any = None
    complete: bool = True

    def __post_init__(self) -> None:
        points, labels = as_points(self.X, self.y, "DataPartition")
        clusters = _clusters(self.clusters, len(points))
        count = int(clusters.max()) + 1
        classes, codes = np.unique(labels, return_inverse=True)
        if self.labels is None:
            votes = np.zeros((count, len(classes)))
            np.add.at(votes, (clusters, codes), 1)
            of_clusters = classes[votes.argmax(axis=1)]
        else:
            of_clusters = np.asarray(self.labels)
            if of_clusters.shape != (count,):
                raise ValueError(
                    f"The 'labels' of a DataPartition must be one for each of its {count} "
                    f"clusters. Got shape {of_clusters.shape} instead."
                )
        if self.representatives is None:
            places = barycentres(points, clusters, count)
        else:
            places = np.array(self.representatives, dtype=np.float64)
            if places.shape != (count, points.shape[1]):
                raise ValueError(
                    "The 'representatives' of a DataPartition must have the shape "
                    f"({count}, {points.shape[1]}). Got {places.shape} instead."
                )
        fields = {
            "X": points,
            "y": labels,
            "clusters": clusters,
            "representatives": places,
            "labels": of_clusters,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Say how large it is; the rows themselves would fill pages."""
        return f"<DataPartition: {self.n_rows} rows in {self.n_clusters} clusters>"

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(np.asarray(self.clusters))

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.representatives)

    @cached_property
    def sizes(self) -> Int:
        """Number of rows of each cluster."""
        return np.bincount(np.asarray(self.clusters), minlength=self.n_clusters)

    @property
    def homogeneity(self) -> float:
        """Share of the rows that have the label of their cluster (Definition 2)."""
        return float(np.mean(np.asarray(self.y) == self.labels[np.asarray(self.clusters)]))

    @property
    def exclusion(self) -> float:
        """Share of the clusters whose convex hull meets no other one (Definition 3).

        It is worked out exactly, which takes long for thousands of clusters:
        :meth:`measure_exclusion` can estimate it instead.
        """
        return self.measure_exclusion().value

    @cached_property
    def consistency(self) -> float:
        """One minus the share, among rows next to another label, of those in a larger cluster.

        Definition 4. A row is next to another label when its closest neighbour has another one, in
        Euclidean distance with every column scaled to 0..1. Without such rows it is 1.
        """
        points = unit_columns(np.asarray(self.X, dtype=np.float64))
        codes = np.unique(np.asarray(self.y), return_inverse=True)[1].astype(np.int32)
        nearest = _core.partitions.nearest_neighbours(points)
        next_to_other = (nearest >= 0) & (codes != codes[nearest])
        if not next_to_other.any():
            return 1.0
        together = self.sizes[np.asarray(self.clusters)] > 1
        return float(1 - np.mean(together[next_to_other]))

    @property
    def reduction(self) -> float:
        """Share of the rows that are saved: one minus clusters over rows."""
        return (self.n_rows - self.n_clusters) / self.n_rows

    def measure_exclusion(
        self, n_sampled: int | None = None, random_state: int | None = None
    ) -> Exclusion:
        """Work out or estimate the exclusion.

        Parameters
        ----------
        n_sampled : int, default=None
            Look at this many clusters, drawn at random, rather than at all. Each is still compared
            with all others, so the share among them estimates the exclusion without bias.
        random_state : int, default=None
            Chooses the clusters.

        Returns
        -------
        Exclusion
            The value, its standard error (0.0 when it is exact) and what it is based on.

        Examples
        --------
        >>> from provetree import DataPartition
        >>> partition = DataPartition([[0.0], [2.0], [1.0]], [0, 0, 1], [0, 0, 1])
        >>> partition.measure_exclusion()
        Exclusion(value=0.0, standard_error=0.0, n_measured=2, n_clusters=2)
        """
        from provetree.partitions.exclusion import measure_exclusion

        return measure_exclusion(self, n_sampled, random_state)

    def plot(self, ax: Axes | None = None, *, columns: tuple[int, int] = (0, 1)) -> Axes:
        """Draw two columns: rows, hulls of the clusters and representatives (the extra ``plot``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a figure.
        columns : pair of int, default=(0, 1)
            The columns to draw.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from provetree import DataPartition
        >>> partition = DataPartition([[0, 0], [1, 0], [0, 1], [5, 5]], [0, 0, 0, 1], [0, 0, 0, 1])
        >>> len(partition.plot().patches)
        1
        """
        from provetree.partitions.plot import plot_partition

        return plot_partition(self, ax, columns=columns)


def _clusters(given: ArrayLike, n_rows: int) -> Int:
    clusters = np.asarray(given)
    if clusters.shape != (n_rows,) or clusters.dtype.kind not in "iu":
        raise ValueError(
            f"The 'clusters' of a DataPartition must be one int for each of the {n_rows} rows. "
            f"Got {clusters.dtype} of shape {clusters.shape} instead."
        )
    clusters = clusters.astype(np.int64)
    found = np.unique(clusters)
    if found[0] != 0 or found[-1] != len(found) - 1:
        raise ValueError(
            "The 'clusters' of a DataPartition must be numbered from 0 without gaps. "
            f"Got {len(found)} different numbers from {found[0]} to {found[-1]} instead."
        )
    return clusters


def barycentres(points: Float, clusters: Int, count: int, weights: Float | None = None) -> Float:
    """Return the mean of the members of each cluster, kept between their least and greatest value.

    A mean of equal numbers may differ from them by rounding; kept between them, the barycentre of
    members in one leaf is in that leaf as well.

    Examples
    --------
    >>> barycentres(np.array([[0.1], [0.1], [0.1]]), np.zeros(3, int), 1).tolist()
    [[0.1]]
    """
    mass = np.ones(len(points)) if weights is None else weights
    total = np.bincount(clusters, mass, count)
    order = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[order], np.arange(count))
    means = np.empty((count, points.shape[1]))
    with np.errstate(over="ignore", invalid="ignore"):
        for j, x in enumerate(points.T):
            low = np.minimum.reduceat(x[order], starts)
            high = np.maximum.reduceat(x[order], starts)
            mean = np.bincount(clusters, mass * x, count) / total
            means[:, j] = np.clip(np.where(np.isnan(mean), low, mean), low, high)
    return means
