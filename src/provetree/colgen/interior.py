"""Linear programs by an interior-point method (Mehrotra's predictor and corrector).

The masters of column generation are so degenerate that simplex spends most pivots without getting
anywhere. An interior method does not pivot, and its multipliers lie in the middle of the optimal
ones, which makes better columns. What it returns is close to an optimum, not a vertex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import csc_array

from provetree import _core

Float: TypeAlias = NDArray[np.float64]

#: Relative error of the constraints, primal and dual, in a point that is accepted.
FEASIBLE = 1e-6
_MOST_STEPS = 100
#: Steps without a better point after which rounding is taken to be in the way.
_MOST_IDLE_STEPS = 8


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """A point near an optimum of ``min cost @ x, matrix @ x == right, x >= 0``.

    ``gap`` is how far the point may be from an optimum; ``accurate`` says whether it is as good as
    was asked for.
    """

    x: Float
    multiplier: Float
    reduced: Float
    gap: float
    accurate: bool


def solve_interior(
    matrix: csc_array,
    right: Float,
    cost: Float,
    *,
    gap: float,
    go_on: Callable[[], None] = lambda: None,
) -> InteriorPoint:
    """Solve ``min cost @ x, matrix @ x == right, x >= 0`` up to a gap.

    Parameters
    ----------
    matrix : csc_array
        The constraints; rows that follow from others do no harm.
    right, cost : array of float
        Right-hand side and objective.
    gap : float
        Largest difference between the values of the two problems that is accepted.
    go_on : callable
        Called before every step; raises what should stop the solve.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from provetree.colgen.interior import solve_interior
    >>> matrix = csc_array(np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 0.0]]))
    >>> point = solve_interior(matrix, np.array([4.0, 6.0]), np.array([-1.0, -1.0, 0.0]), gap=1e-9)
    >>> point.accurate, round(float(point.x[2]), 6)
    (True, 0.0)
    """
    step = _Steps(matrix, right, cost)
    x, y, z = step.start()
    best: InteriorPoint | None = None
    least_error, idle = np.inf, 0
    for _ in range(_MOST_STEPS):
        go_on()
        primal, dual = right - matrix @ x, cost - step.transposed @ y - z
        error = max(_size(primal) / (1 + _size(right)), _size(dual) / (1 + _size(cost)))
        here = float(x @ z)
        accurate = bool(error <= FEASIBLE and here <= gap)
        # Both parts of the error in units of what is asked for.
        size = max(error / FEASIBLE, here / gap)
        if size < least_error:
            least_error, idle = size, 0
            best = InteriorPoint(x, y, z, here, accurate)
        else:
            idle += 1
        if accurate or idle >= _MOST_IDLE_STEPS or not np.isfinite(size):
            break
        following = step.take(x, y, z, primal, dual)
        if following is None:
            break
        x, y, z = following
    assert best is not None
    return best


class _Steps:
    """The steps of one solve, by Cholesky factors of ``matrix @ diag @ matrix.T``."""

    def __init__(self, matrix: csc_array, right: Float, cost: Float) -> None:
        self.matrix, self.right, self.cost = matrix, right, cost
        matrix.sort_indices()
        self.transposed = matrix.T.tocsr()
        self._columns = (
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int32),
            np.ascontiguousarray(matrix.data, dtype=np.float64),
        )

    def _factor(self, weights: Float) -> Float | None:
        m = len(self.right)
        gram = np.zeros((m, m))
        _core.colgen.add_gram(*self._columns, weights, gram)
        diagonal = gram.diagonal()
        # A trace more on the diagonal keeps rows that depend on others from being a problem.
        np.fill_diagonal(gram, diagonal * (1 + 1e-12) + 1e-10)
        factor, failed = lapack.dpotrf(gram.T, lower=1, overwrite_a=1)
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
        along, across = min(1.0, _room(x, dx)), min(1.0, _room(z, dz))
        predicted = float((x + along * dx) @ (z + across * dz)) / len(x)
        aim = (predicted / mean) ** 3 * mean
        dx, dy, dz = direction(aim - x * z - dx * dz)
        along, across = min(1.0, 0.99 * _room(x, dx)), min(1.0, 0.99 * _room(z, dz))
        return x + along * dx, y + across * dy, z + across * dz


def _size(vector: Float) -> float:
    return float(np.linalg.norm(vector))


def _room(at: Float, direction: Float) -> float:
    """Return how far a point can go until an entry reaches zero."""
    falls = direction < 0
    return float((-at[falls] / direction[falls]).min(initial=np.inf))
