"""IGP: rows far from other classes merge first, as long as medoids agree (Algorithm 2)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from provetree.partitions._make import make_partition
from provetree.partitions.partition import DataPartition

__all__ = ["improved_greedy_partition"]


def improved_greedy_partition(
    X: ArrayLike,
    y: ArrayLike,
    *,
    scale: bool = True,
    time_limit: float | None = None,
) -> DataPartition:
    """Cluster rows by ImprovedGreedyPartitioning (IGP).

    With d(i) the distance from row i to the closest row of another label, pairs are taken by
    increasing ratio of their distance to the smaller d of the two (ties by distance, then by row
    number), while that ratio is below one. Two clusters merge if the same ratio of their medoids is
    below one. Clusters never hold a row whose closest neighbour has another label. Memory grows
    with the rows, not with their pairs.

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
        Homogeneous and consistent, with barycentres as representatives.

    Examples
    --------
    >>> from provetree import improved_greedy_partition
    >>> X, y = [[0.0], [1.0], [2.0], [6.0], [6.5]], [0, 0, 0, 1, 1]
    >>> improved_greedy_partition(X, y).clusters.tolist()
    [0, 0, 0, 1, 1]
    """
    return make_partition(
        "igp", X, y, owner="improved_greedy_partition", scale=scale, time_limit=time_limit
    )
