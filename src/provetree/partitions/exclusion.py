"""Whether convex hulls of clusters meet: boxes first, then directions, then linear programs.

Two hulls meet if a point is a convex combination of both sets of rows. A linear program decides
this, many pairs in one call. Most pairs do not need it: their boxes are disjoint, or a few steps of
a perceptron find a separating plane.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from provetree.number_types import Float
from provetree.partitions.coordinates import unit_columns

if TYPE_CHECKING:
    from provetree.partitions.partition import DataPartition

__all__ = ["Exclusion", "measure_exclusion"]


#: Columns run from 0 to 1: hulls nearer to each other than this, the tolerance of linear programs,
#: are taken to meet.
_TOUCHING = 1e-7
#: Rows in one linear program: enough to forget the cost of the call, few enough to be quick.
_BATCH_ROWS = 600
_PERCEPTRON_STEPS = 60


@dataclass(frozen=True)
class Exclusion:
    """The share of clusters whose hull meets no other, and how sure it is.

    Parameters
    ----------
    value : float
        The share.
    standard_error : float
        Of an estimate from some clusters; 0.0 if all were examined.
    n_measured, n_clusters : int
        Clusters that were examined, and all of them.

    Examples
    --------
    >>> from provetree.partitions.exclusion import Exclusion
    >>> Exclusion(0.97, 0.02, 100, 4000).is_exact
    False
    """

    value: float
    standard_error: float
    n_measured: int
    n_clusters: int

    @property
    def is_exact(self) -> bool:
        """Whether all clusters were examined."""
        return self.n_measured == self.n_clusters


def measure_exclusion(
    partition: DataPartition, n_sampled: int | None = None, random_state: int | None = None
) -> Exclusion:
    """Return the exclusion of a partition; see :meth:`DataPartition.measure_exclusion`."""
    if n_sampled is not None and not n_sampled >= 1:
        raise ValueError(
            "The 'n_sampled' parameter of measure_exclusion must be an int in the range [1, inf) "
            f"or None. Got {n_sampled!r} instead."
        )
    count = partition.n_clusters
    chosen = np.arange(count)
    if n_sampled is not None and n_sampled < count:
        rng = np.random.default_rng(random_state)
        chosen = np.sort(rng.choice(count, n_sampled, replace=False))
    hulls = _Hulls(partition)
    alone = np.array([not hulls.meets_another(int(g)) for g in chosen])
    share = float(alone.mean())
    error = 0.0
    if len(chosen) < count:
        # Draws without replacement: only the clusters not drawn are unknown. One more of each kind
        # is counted, so that a sample of one kind is not taken as certain.
        unknown = (count - len(chosen)) / max(1, count - 1)
        careful = (float(alone.sum()) + 1) / (len(chosen) + 2)
        error = float(np.sqrt(careful * (1 - careful) / len(chosen) * unknown))
    return Exclusion(share, error, len(chosen), count)


class _Hulls:
    """The clusters of a partition as sets of points."""

    def __init__(self, partition: DataPartition) -> None:
        points = unit_columns(np.asarray(partition.X, dtype=np.float64))
        clusters = np.asarray(partition.clusters)
        order = np.argsort(clusters, kind="stable")
        starts = np.searchsorted(clusters[order], np.arange(partition.n_clusters))
        self.members = np.split(points[order], starts[1:])
        if points.shape[1]:
            self.low = np.minimum.reduceat(points[order], starts, axis=0)
            self.high = np.maximum.reduceat(points[order], starts, axis=0)
        else:
            self.low = self.high = np.empty((partition.n_clusters, 0))
        # Known results of pairs, in both orders: a pair may be needed twice.
        self.known_to_meet = np.zeros(partition.n_clusters, dtype=np.bool_)

    def meets_another(self, g: int) -> bool:
        """Tell whether the hull of a cluster meets that of another one."""
        if self.known_to_meet[g]:
            return True
        near = (self.low <= self.high[g] + _TOUCHING) & (self.high >= self.low[g] - _TOUCHING)
        others = np.flatnonzero(near.all(axis=1))
        others = others[others != g]
        # Small clusters first: their programs are the cheapest.
        others = others[np.argsort([len(self.members[h]) for h in others], kind="stable")]
        waiting: list[int] = []
        rows = 0
        for h in others.tolist():
            if _separated(self.members[g], self.members[h]):
                continue
            waiting.append(h)
            rows += len(self.members[g]) + len(self.members[h])
            if rows >= _BATCH_ROWS:
                if self._any_meets(g, waiting):
                    return True
                waiting, rows = [], 0
        return bool(waiting) and self._any_meets(g, waiting)

    def _any_meets(self, g: int, others: list[int]) -> bool:
        gaps = _hull_gaps([(self.members[g], self.members[h]) for h in others])
        meeting = np.asarray(others)[gaps <= _TOUCHING]
        self.known_to_meet[meeting] = True
        self.known_to_meet[g] |= len(meeting) > 0
        return len(meeting) > 0


def _separated(a: Float, b: Float) -> bool:
    """Search a plane between two sets of points; False means none was found."""
    if len(a) == len(b) == 1:
        return bool(np.abs(a[0] - b[0]).max(initial=0.0) > _TOUCHING)
    direction = b.mean(axis=0) - a.mean(axis=0)
    for _ in range(_PERCEPTRON_STEPS):
        norm = float(np.abs(direction).max(initial=0.0))
        if norm == 0.0:
            return False
        direction = direction / norm
        on_a, on_b = a @ direction, b @ direction
        if on_a.max() + _TOUCHING * np.abs(direction).sum() < on_b.min():
            return True
        # The two points that are on the wrong side the most pull the plane between them.
        direction = direction + (b[on_b.argmin()] - a[on_a.argmax()])
    return False


def _hull_gaps(pairs: list[tuple[Float, Float]]) -> Float:
    """Return, for pairs of sets, the least sum of differences between points of their hulls."""
    from scipy.optimize import linprog
    from scipy.sparse import block_diag, csr_matrix, hstack, identity, vstack

    width = pairs[0][0].shape[1]
    blocks = []
    for a, b in pairs:
        ones = np.zeros((2, len(a) + len(b)))
        ones[0, : len(a)] = 1.0
        ones[1, len(a) :] = 1.0
        mixed = np.hstack([a.T, -b.T])
        slack = hstack([identity(width), -identity(width)])
        top = hstack([csr_matrix(mixed), slack])
        bottom = hstack([csr_matrix(ones), csr_matrix((2, 2 * width))])
        blocks.append(vstack([top, bottom]))
    matrix = block_diag(blocks, format="csr")
    right = np.tile(np.append(np.zeros(width), [1.0, 1.0]), len(pairs))
    cost = np.concatenate(
        [np.append(np.zeros(len(a) + len(b)), np.ones(2 * width)) for a, b in pairs]
    )
    found = linprog(cost, A_eq=matrix, b_eq=right, bounds=(0, None), method="highs")
    if found.status != 0:
        raise RuntimeError(f"The linear program of hulls failed: {found.message}")
    gaps = []
    at = 0
    for a, b in pairs:
        at += len(a) + len(b)
        gaps.append(float(found.x[at : at + 2 * width].sum()))
        at += 2 * width
    return np.array(gaps)
