"""GP: the closest rows of one class merge first, down to a share of the rows (Algorithm 1)."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from provetree.options import _float, _int
from provetree.partitions._make import make_partition
from provetree.partitions.coordinates import as_points
from provetree.partitions.partition import DataPartition
from provetree.problem.weights import as_decimal

__all__ = ["greedy_partition"]


def greedy_partition(
    X: ArrayLike,
    y: ArrayLike,
    rho: float = 0.25,
    *,
    n_clusters: int | None = None,
    scale: bool = True,
    time_limit: float | None = None,
) -> DataPartition:
    """Cluster rows by GreedyPartitioning (GP).

    Pairs of rows are taken by increasing distance (ties by row number), and the clusters of two
    rows of one label merge, until at most `rho` of the number of rows are left as clusters. There
    are never fewer clusters than labels. Memory grows with the rows, not with their pairs.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows: finite numbers.
    y : array-like of shape (n_rows,)
        Their labels.
    rho : float, default=0.25
        The share of the rows that is left as clusters, in ]0, 1[.
    n_clusters : int, default=None
        The number of clusters to stop at, instead of `rho`.
    scale : bool, default=True
        Scale every column to 0..1 to measure distances, as in the paper.
    time_limit : float, default=None
        Seconds after which no row is merged: an incomplete run gives no partition.

    Returns
    -------
    DataPartition
        Homogeneous, with barycentres as representatives.

    Examples
    --------
    >>> from provetree import greedy_partition
    >>> X, y = [[0.0], [1.0], [4.0], [5.5]], [0, 0, 1, 1]
    >>> greedy_partition(X, y, rho=0.75).clusters.tolist()
    [0, 0, 1, 2]
    >>> greedy_partition(X, y, rho=1.5)
    Traceback (most recent call last):
        ...
    ValueError: The 'rho' parameter of greedy_partition must be a float in the range (0.0, 1.0). \
Got 1.5 instead.
    """
    check_rho(rho, "greedy_partition")
    points, labels = as_points(X, y, "greedy_partition")
    most = cluster_limit(rho, len(points))
    if n_clusters is not None:
        check_n_clusters(n_clusters, len(points))
        most = int(n_clusters)
    return make_partition(
        "gp",
        points,
        labels,
        owner="greedy_partition",
        scale=scale,
        time_limit=time_limit,
        most_clusters=most,
    )


def check_n_clusters(n_clusters: object, n_rows: int) -> None:
    """Raise unless a number of clusters is one that the rows allow."""
    if not (_int(1).holds(n_clusters) and n_clusters in range(1, n_rows + 1)):
        raise ValueError(
            "The 'n_clusters' parameter of greedy_partition must be an int in the range "
            f"[1, {n_rows}], the number of rows. Got {n_clusters!r} instead."
        )


def check_rho(rho: object, owner: str) -> None:
    """Raise unless rho is a share between zero and one."""
    if not _float(0.0, 1.0, "()").holds(rho):
        raise ValueError(
            f"The 'rho' parameter of {owner} must be a float in the range (0.0, 1.0). "
            f"Got {rho!r} instead."
        )


def cluster_limit(rho: float, n_rows: int) -> int:
    """Return the largest number of clusters that is at most rho of the rows, or one.

    Examples
    --------
    >>> cluster_limit(0.07, 100), cluster_limit(0.25, 3)
    (7, 1)
    """
    return max(1, math.floor(as_decimal(rho) * n_rows))
