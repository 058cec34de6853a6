"""The naive twin of the bound of bins: every threshold is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["most_rerouted_by_trying"]


def most_rerouted_by_trying(column: Any, weights: Any, cuts: Any) -> float:
    """Return what moving a threshold to the better end of its bin reroutes, at most."""
    known = ~np.isnan(column)
    column, weights = column[known], weights[known]
    most = 0.0
    for threshold in column:
        left = column <= threshold
        moved = [weights[(column <= cut) != left].sum() for cut in cuts]
        moved += [weights[left].sum(), weights[~left].sum()]  # all right, all left
        most = max(most, min(moved))
    return float(most)
