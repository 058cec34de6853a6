"""Calls the clustering of the core, for all three ways to make a partition."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from provetree import _core
from provetree.number_types import Float, Int, Int32
from provetree.partitions.coordinates import as_points, unit_columns
from provetree.partitions.partition import DataPartition

Method = Literal["gp", "igp", "crm"]
End = Literal["complete", "time_limit", "interrupted"]


def cluster_points(
    method: Method,
    points: Float,
    codes: Int32,
    weights: Float | None = None,
    *,
    most_clusters: int = 1,
    time_limit: float | None = None,
) -> tuple[Int, Int, End]:
    """Return the cluster of each row, the medoid of each cluster (none for GP), how it ended."""
    mass = np.ones(len(points)) if weights is None else np.asarray(weights, dtype=np.float64)
    names, medoids, end = _core.partitions.partition(
        method,
        np.ascontiguousarray(points),
        codes,
        mass,
        most_clusters,
        math.inf if time_limit is None else time_limit,
    )
    first, clusters = np.unique(names, return_inverse=True)
    of_clusters = medoids[first].astype(np.int64) if len(medoids) else np.empty(0, dtype=np.int64)
    return clusters.reshape(-1).astype(np.int64), of_clusters, end


def make_partition(
    method: Method,
    X: ArrayLike,
    y: ArrayLike,
    *,
    owner: str,
    scale: bool,
    time_limit: float | None,
    most_clusters: int = 1,
) -> DataPartition:
    """Return the partition of a table; Ctrl-C raises."""
    if time_limit is not None and not time_limit > 0:
        raise ValueError(
            f"The 'time_limit' parameter of {owner} must be a float in the range (0.0, inf) or "
            f"None. Got {time_limit!r} instead."
        )
    points, labels = as_points(X, y, owner)
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int32)
    clusters, medoids, end = cluster_points(
        method,
        unit_columns(points) if scale else points,
        codes,
        most_clusters=most_clusters,
        time_limit=time_limit,
    )
    if end == "interrupted":
        raise KeyboardInterrupt
    return DataPartition(
        points,
        labels,
        clusters,
        representatives=points[medoids] if method == "crm" else None,
        complete=end == "complete",
    )
