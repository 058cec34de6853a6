"""Sums of floats without rounding errors, for whole arrays.

Numbers are cut into parts whose sums are exact in any order (Rump, Ogita and Oishi, "Accurate
floating-point summation", 2008). Three parts are more than a hundred bits; what is left below them
cannot change the result but in its last digit, and hardly ever does.
"""

from __future__ import annotations

import math

import numpy as np

from provetree.number_types import Float

__all__ = ["exact_sum", "exact_sums"]

#: Fewer terms are added faster one by one; more are taken in blocks that fit into a cache.
_FEW, _BLOCK = 200, 2**14
_MOST_PARTS = 3


def exact_sum(terms: Float) -> float:
    """Return the sum of numbers, rounded once.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.sums import exact_sum
    >>> exact_sum(np.array([1e100, 0.1, 0.2, -1e100] * 100))
    30.0
    """
    return exact_sums(terms[np.newaxis])[0]


def exact_sums(terms: Float) -> list[float]:
    """Return the sum of each row, rounded once.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.sums import exact_sums
    >>> exact_sums(np.array([[1e30, 1.0, -1e30], [0.1, 0.2, 0.3]]))
    [1.0, 0.6]
    """
    n_sums, n_terms = terms.shape
    if terms.size < _FEW:
        return [math.fsum(row) for row in terms.tolist()]
    step = max(1, _BLOCK // n_sums)
    parts = [part for at in range(0, n_terms, step) for part in _parts(terms[:, at : at + step])]
    return [math.fsum(row) for row in np.array(parts).T.tolist()]


def _parts(terms: Float) -> list[Float]:
    """Return numbers for each row whose sum is that of the row; all but the last are exact."""
    # A part is made of multiples of a power of two so large that a sum of all needs no more bits.
    room = (terms.shape[1] + 2).bit_length()
    found: list[Float] = []
    for _ in range(_MOST_PARTS):
        largest = np.maximum(terms.max(axis=1), -terms.min(axis=1))
        if not largest.any():
            break
        far = np.ldexp(1.0, np.frexp(largest)[1] + room)[:, np.newaxis]
        part = terms + far
        part -= far
        found.append(part.sum(axis=1))
        terms = terms - part
    found.append(terms.sum(axis=1))
    return found
