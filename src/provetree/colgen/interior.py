"""Linear programs by an interior-point method (Mehrotra's predictor and corrector).

The masters of column generation are so degenerate that most simplex pivots make no progress. An
interior method does not pivot, and its multipliers lie in the middle of the optimal ones, which
gives better columns. Its result is close to an optimum, not a vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import blas, lapack
from scipy.sparse import csc_array

from provetree import _core
from provetree.number_types import Float

#: Relative error of the constraints, primal and dual, that is accepted unless more is allowed.
FEASIBLE = 1e-6
_MOST_STEPS = 100
#: After so many steps without a better point, rounding is taken as the cause.
_MOST_IDLE_STEPS = 8
#: Columns with entries in more than this share of the rows are multiplied as dense ones, in blocks.
_HEAVY = 0.15
_BLOCK = 512


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """A point near an optimum; ``accurate`` says whether it is as good as was asked for."""

    x: Float
    multiplier: Float
    accurate: bool


@dataclass(frozen=True, eq=False)
class Pull:
    """Keeps the multipliers near a centre: costs ``strength @ (multiplier - centre)**2 / 2``.

    The constraints then hold up to ``strength * (multiplier - centre)``. ``x`` is a solution of a
    similar problem to start from, and ``product`` the target for its entries times their reduced
    costs; without ``x`` a start is computed.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> matrix, one = csc_array(np.array([[1.0, 1.0]])), np.ones(1)
    >>> pull = Pull(centre=np.array([-3.0]), strength=one)
    >>> point = solve_interior(matrix, one, np.array([-1.0, 0.0]), gap=1e-9, pull=pull)
    >>> point.multiplier.round(6).tolist(), point.x.round(6).tolist()
    ([-2.0], [0.0, 0.0])
    """

    centre: Float
    strength: Float
    x: Float | None = None
    product: float = 0.0


def solve_interior(
    matrix: csc_array,
    right: Float,
    cost: Float,
    *,
    gap: float,
    error: float = FEASIBLE,
    go_on: Callable[[], None] = lambda: None,
    pull: Pull | None = None,
) -> InteriorPoint:
    """Solve ``min cost @ x, matrix @ x == right, x >= 0`` up to a gap; rows may be redundant.

    `error` is the largest relative error of the constraints, primal and dual, that is accepted.
    `go_on` is called before every step and raises what should stop the solve.

    Examples
    --------
    >>> from scipy.sparse import csc_array
    >>> matrix = csc_array(np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 0.0]]))
    >>> point = solve_interior(matrix, np.array([4.0, 6.0]), np.array([-1.0, -1.0, 0.0]), gap=1e-9)
    >>> point.accurate, round(float(point.x[2]), 6)
    (True, 0.0)
    """
    step = _Steps(matrix, right, cost, pull)
    x, y, z = step.start() if pull is None else step.start_near(pull)
    best: InteriorPoint | None = None
    least_size = least_missed = np.inf
    idle = 0
    for _ in range(_MOST_STEPS):
        go_on()
        primal, dual = step.misses(x, y, z)
        missed = max(_size(primal) / (1 + _size(right)), _size(dual) / (1 + _size(cost)))
        here = float(x @ z)
        accurate = bool(missed <= error and here <= gap)
        # Both parts of the error relative to their tolerance.
        size = max(missed / error, here / gap)
        # A point near the constraints may have to come first, at the cost of the gap.
        idle = 0 if size < least_size or missed < 0.9 * least_missed else idle + 1
        least_missed = min(least_missed, missed)
        if size < least_size:
            least_size = size
            best = InteriorPoint(x, y, accurate)
        if accurate or idle >= _MOST_IDLE_STEPS or not np.isfinite(size):
            break
        following = step.take(x, y, z, primal, dual)
        if following is None:
            break
        x, y, z = following
    assert best is not None
    if not best.accurate and pull is not None and pull.x is not None:
        # The steps got stuck near a bad start.
        pull = replace(pull, x=None)
        return solve_interior(matrix, right, cost, gap=gap, error=error, go_on=go_on, pull=pull)
    return best


class _Steps:
    """The steps of one solve, by Cholesky factors of ``matrix @ diag @ matrix.T``."""

    def __init__(self, matrix: csc_array, right: Float, cost: Float, pull: Pull | None) -> None:
        self.matrix, self.right, self.cost, self.pull = matrix, right, cost, pull
        matrix.sort_indices()
        self.transposed = matrix.T.tocsr()
        entries = np.diff(matrix.indptr)
        heavy = entries > _HEAVY * len(right)
        self._light, self._heavy = np.flatnonzero(~heavy), np.flatnonzero(heavy)
        light = matrix[:, self._light] if len(self._heavy) else matrix
        self._columns = (
            light.indptr.astype(np.int64),
            light.indices.astype(np.int32),
            np.ascontiguousarray(light.data, dtype=np.float64),
        )

    def misses(self, x: Float, y: Float, z: Float) -> tuple[Float, Float]:
        """Return by how much a point misses the constraints, primal and dual."""
        primal = self.right - self.matrix @ x
        if self.pull is not None:
            primal = primal - self.pull.strength * (y - self.pull.centre)
        return primal, self.cost - self.transposed @ y - z

    def _factor(self, weights: Float) -> Float | None:
        m = len(self.right)
        gram = np.zeros((m, m))
        _core.colgen.add_gram(*self._columns, weights[self._light], gram)
        product = gram.T
        for first in range(0, len(self._heavy), _BLOCK):
            block = self._heavy[first : first + _BLOCK]
            dense = self.transposed[block].toarray() * np.sqrt(weights[block])[:, None]
            product = blas.dsyrk(1.0, dense.T, 1.0, product, lower=1, overwrite_c=1)
        diagonal = product.diagonal() * (1 + 1e-12)
        # A small addition to the diagonal handles dependent rows.
        diagonal += 1e-10 if self.pull is None else 1e-10 + self.pull.strength
        np.fill_diagonal(product, diagonal)
        factor, failed = lapack.dpotrf(product, lower=1, overwrite_a=1)
        return None if failed else factor

    def start(self) -> tuple[Float, Float, Float]:
        """Return Mehrotra's starting point."""
        factor = self._factor(np.ones(len(self.cost)))
        assert factor is not None  # a sum of squares and a positive diagonal
        x = self.transposed @ lapack.dpotrs(factor, self.right, lower=1)[0]
        y = lapack.dpotrs(factor, self.matrix @ self.cost, lower=1)[0]
        z = self.cost - self.transposed @ y
        x = x + max(-1.5 * float(x.min()), 0.0) + 1e-3
        z = z + max(-1.5 * float(z.min()), 0.0) + 1e-3
        product = float(x @ z)
        return x + product / z.sum() / 2, y, z + product / x.sum() / 2

    def start_near(self, pull: Pull) -> tuple[Float, Float, Float]:
        """Return a starting point whose multipliers are the centre."""
        z = self.cost - self.transposed @ pull.centre
        if pull.x is None:
            z = np.maximum(z, 0.0) + np.where(z < 0.1, 0.5, 0.01)
            return np.maximum(1e-3, 0.1 / z), pull.centre.copy(), z
        z = np.maximum(z, np.sqrt(pull.product))
        return np.maximum(pull.x, pull.product / z), pull.centre.copy(), z

    def take(
        self, x: Float, y: Float, z: Float, primal: Float, dual: Float
    ) -> tuple[Float, Float, Float] | None:
        """Return the next point, None where the factors cannot be computed."""
        factor = self._factor(x / z)
        if factor is None:
            return None

        def direction(complementary: Float) -> tuple[Float, Float, Float]:
            right = primal + self.matrix @ ((x * dual - complementary) / z)
            dy = lapack.dpotrs(factor, right, lower=1)[0]
            dz = dual - self.transposed @ dy
            return (complementary - x * dz) / z, dy, dz

        mean = float(x @ z) / len(x)
        dx, dy, dz = direction(-x * z)
        along, across = self._lengths(1.0, x, dx, z, dz)
        predicted = float((x + along * dx) @ (z + across * dz)) / len(x)
        aim = (predicted / mean) ** 3 * mean
        dx, dy, dz = direction(aim - x * z - dx * dz)
        along, across = self._lengths(0.99, x, dx, z, dz)
        return x + along * dx, y + across * dy, z + across * dz

    def _lengths(
        self, share: float, x: Float, dx: Float, z: Float, dz: Float
    ) -> tuple[float, float]:
        """Return how far to go: at most a share of the way to zero, and the whole direction."""
        along, across = min(1.0, share * _room(x, dx)), min(1.0, share * _room(z, dz))
        if self.pull is not None:
            # The multipliers are part of the constraints, so both have to go equally far.
            along = across = min(along, across)
        return along, across


def _size(vector: Float) -> float:
    return float(np.linalg.norm(vector))


def _room(at: Float, direction: Float) -> float:
    """Return how far a point can go until an entry reaches zero."""
    falls = direction < 0
    return float((-at[falls] / direction[falls]).min(initial=np.inf))
