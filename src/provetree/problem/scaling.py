"""Values of a column brought to 0..1."""

from __future__ import annotations

import numpy as np

from provetree.number_types import Float

__all__ = ["unit_interval"]


def unit_interval(values: Float) -> Float:
    """Return rising values scaled to 0..1; infinite and missing ones stand one average gap beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.scaling import unit_interval
    >>> unit_interval(np.array([1.0, 2.0, 5.0])).tolist()
    [0.0, 0.25, 1.0]
    """
    finite = np.isfinite(values)
    known = values[finite]
    if len(known) < 2:
        return np.linspace(0.0, 1.0, len(values))
    # Halves cannot overflow where a difference of whole values would.
    span = known[-1] / 2 - known[0] / 2
    if span < np.finfo(np.float64).tiny:
        scaled = (known - known[0]) / (known[-1] - known[0])
    else:
        scaled = (known / 2 - known[0] / 2) / span
    gap = 1.0 / (len(known) - 1)
    before = int(np.argmax(finite))
    after = len(values) - before - len(known)
    places = np.concatenate(
        [-gap * np.arange(before, 0, -1), scaled, 1.0 + gap * np.arange(1, after + 1)]
    )
    return np.asarray((places - places[0]) / (places[-1] - places[0]))
