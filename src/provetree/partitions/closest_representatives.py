"""CRM: the clusters with the closest medoids merge first, under a taboo (Algorithm 3)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from provetree.partitions._make import make_partition
from provetree.partitions.partition import DataPartition

__all__ = ["closest_representatives_merge"]


def closest_representatives_merge(
    X: ArrayLike,
    y: ArrayLike,
    *,
    scale: bool = True,
    time_limit: float | None = None,
) -> DataPartition:
    """Cluster rows by ClosestRepresentativesMerge (CRM).

    The two clusters whose medoids are closest (ties by their lowest rows) merge if they have one
    label and neither is taboo; if they have different labels, both become taboo and merge no more.
    Memory grows with the rows, not with their pairs.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        The rows: finite numbers.
    y : array-like of shape (n_rows,)
        Their labels.
    scale : bool, default=True
        Scale every column to 0..1 to measure distances, as in the paper.
    time_limit : float, default=None
        Seconds after which nothing more is merged; ``complete`` is False then.

    Returns
    -------
    DataPartition
        Homogeneous, with medoids as representatives.

    Examples
    --------
    >>> from provetree import closest_representatives_merge
    >>> X, y = [[0.0], [1.0], [2.0], [5.0], [5.5]], [0, 0, 0, 1, 1]
    >>> partition = closest_representatives_merge(X, y)
    >>> partition.clusters.tolist(), partition.representatives.tolist()
    ([0, 0, 0, 1, 1], [[1.0], [5.0]])
    """
    return make_partition(
        "crm", X, y, owner="closest_representatives_merge", scale=scale, time_limit=time_limit
    )
