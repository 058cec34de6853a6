"""How predictions do on rows, as plain JSON: of classes, of numbers, of actions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float

__all__ = ["action_facts", "leaf_residuals", "number_facts", "part_facts", "shown_points"]

#: Points of a chart; more of them hide one another.
_MOST_POINTS = 400
_N_BINS = 24


def part_facts(
    predicted: NDArray[np.intp], codes: NDArray[np.intp], n_classes: int
) -> dict[str, Any]:
    """Return rows, errors, accuracy and confusion matrix of some rows.

    A class that training never saw (-1) is an error whatever is predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.report.judged import part_facts
    >>> part_facts(np.array([0, 1, 1, 1]), np.array([0, 1, 0, -1]), 2)
    {'rows': 4, 'errors': 2, 'accuracy': 0.5, 'confusion': [[1, 1], [0, 1]]}
    """
    known = codes >= 0
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(confusion, (codes[known], predicted[known]), 1)
    errors = int((predicted != codes).sum())
    return {
        "rows": len(codes),
        "errors": errors,
        "accuracy": 1.0 - errors / len(codes) if len(codes) else math.nan,
        "confusion": confusion.tolist(),
    }


def number_facts(predicted: Float, targets: Float) -> dict[str, Any]:
    """Return R², the mean absolute and the root mean squared error, and how residuals spread.

    Of several outputs, R² and the errors are means over the outputs, residuals those of the first.
    R² is None where all numbers are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.report.judged import number_facts
    >>> facts = number_facts(np.array([1.0, 3.0, 3.0]), np.array([[1.0], [2.0], [4.0]]))
    >>> facts["rows"], round(facts["r2"], 3), round(facts["mae"], 3), facts["residuals"]["median"]
    (3, 0.571, 0.667, 0.0)
    """
    apart = targets - predicted.reshape(targets.shape)
    squares = np.square(apart).sum(axis=0)
    varies = np.square(targets - targets.mean(axis=0)).sum(axis=0)
    r2 = float(np.mean(1.0 - squares / varies)) if (varies > 0).all() else None
    return {
        "rows": len(targets),
        "r2": r2,
        "mae": float(np.abs(apart).mean()),
        "rmse": float(np.sqrt(np.square(apart).mean(axis=0)).mean()),
        "residuals": _spread_of(apart[:, 0]),
    }


def _spread_of(residuals: Float) -> dict[str, Any]:
    low, early, median, late, high = np.quantile(residuals, [0, 0.05, 0.5, 0.95, 1]).tolist()
    facts = {"low": low, "early": early, "median": median, "late": late, "high": high}
    if high > low:
        facts["histogram"] = np.histogram(residuals, _N_BINS)[0].tolist()
    return facts


def leaf_residuals(leaves: NDArray[np.intp], predicted: Float, targets: Float) -> dict[str, Any]:
    """Return, for each leaf that has rows, how many, and mean and spread of their residuals.

    Of several outputs it is the first.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.report.judged import leaf_residuals
    >>> targets = np.array([[1.0], [2.0], [4.0]])
    >>> leaf_residuals(np.array([1, 2, 2]), np.array([1.0, 2.5, 2.5]), targets)
    {'1': [1, 0.0, 0.0], '2': [2, 0.5, 1.0]}
    """
    apart = (targets - predicted.reshape(targets.shape))[:, 0]
    found = {}
    for leaf in np.unique(leaves).tolist():
        own = apart[leaves == leaf]
        found[str(leaf)] = [len(own), float(own.mean()), float(own.std())]
    return found


def shown_points(predicted: Float, targets: Float) -> list[list[float]]:
    """Return pairs of predicted and seen numbers for a chart: an even choice of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.report.judged import shown_points
    >>> shown_points(np.array([1.0, 2.0]), np.array([[1.5], [2.25]]))
    [[1.0, 1.5], [2.0, 2.25]]
    """
    chosen = np.arange(len(targets))
    if len(chosen) > _MOST_POINTS:
        chosen = np.linspace(0, len(targets) - 1, _MOST_POINTS).round().astype(int)
    pairs = np.column_stack([predicted.reshape(targets.shape)[chosen, 0], targets[chosen, 0]])
    # Six digits of what the numbers differ by, not of what they have in common.
    apart = float(np.ptp(pairs)) if pairs.size else 0.0
    decimals = 5 - math.floor(math.log10(apart)) if apart > 0 else 6
    return [[round(x, decimals) for x in pair] for pair in pairs.tolist()]


def action_facts(chosen: NDArray[np.intp], outcomes: Float, rewards: bool) -> dict[str, Any]:
    """Return what a policy brings or costs a row, how often it takes each action, and each alone.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.report.judged import action_facts
    >>> action_facts(np.array([0, 1]), np.array([[2.0, 0.0], [1.0, 5.0]]), rewards=True)
    {'rows': 2, 'value': 3.5, 'shares': [0.5, 0.5], 'alone': [1.5, 2.5], 'possible': 3.5}
    """
    best = outcomes.max(axis=1) if rewards else outcomes.min(axis=1)
    shares = np.bincount(chosen, minlength=outcomes.shape[1]) / max(len(chosen), 1)
    return {
        "rows": len(outcomes),
        "value": float(outcomes[np.arange(len(outcomes)), chosen].mean()),
        "shares": shares.tolist(),
        "alone": outcomes.mean(axis=0).tolist(),
        "possible": float(best.mean()),
    }
