"""What is measured on new rows: accuracy, balanced accuracy, area under the curve and log loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["MEASURES", "area_under_curve", "log_loss", "measure"]

#: Each measure: its name for people, and whether more of it is better.
MEASURES: dict[str, tuple[str, bool]] = {
    "accuracy": ("accuracy", True),
    "balanced_accuracy": ("balanced accuracy", True),
    "auc": ("AUC", True),
    "log_loss": ("log loss", False),
}


def measure(shares: NDArray[np.float64], y: NDArray[np.int64]) -> dict[str, float]:
    """Return the measures of predicted shares of the classes 0, 1, ...

    The predicted class is that of the greatest share, of equal ones the first.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.new_rows.measures import measure
    >>> shares = np.array([[0.5, 0.5], [0.25, 0.75], [0.5, 0.5], [0.25, 0.75]])
    >>> {name: round(value, 3) for name, value in measure(shares, np.array([0, 0, 0, 1])).items()}
    {'accuracy': 0.75, 'balanced_accuracy': 0.833, 'auc': 0.833, 'log_loss': 0.765}
    """
    right = shares.argmax(axis=1) == y
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean([right[y == each].mean() for each in np.unique(y)])),
        "auc": area_under_curve(shares, y),
        "log_loss": log_loss(shares, y),
    }


def area_under_curve(shares: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Return the area under the ROC curve; of more than two classes, the mean of one against rest.

    A class without new rows has no curve and is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.new_rows.measures import area_under_curve
    >>> area_under_curve(np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]]), np.array([0, 1, 0]))
    1.0
    """
    from scipy.stats import rankdata

    classes = range(shares.shape[1]) if shares.shape[1] > 2 else (1,)
    areas = []
    for each in classes:
        positive = y == each
        count, rest = int(positive.sum()), int((~positive).sum())
        if count and rest:
            ranks = float(rankdata(shares[:, each])[positive].sum())
            areas.append((ranks - count * (count + 1) / 2) / (count * rest))
    return float(np.mean(areas)) if areas else 0.5


def log_loss(shares: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Return the mean of minus the logarithm of the share of the right class, as scikit-learn does.

    Shares are kept above 2.2e-16, so a right class that was ruled out costs 36.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.new_rows.measures import log_loss
    >>> round(log_loss(np.array([[0.0, 1.0]]), np.array([0])))
    36
    """
    least = float(np.finfo(np.float64).eps)
    given = shares[np.arange(len(y)), y] / shares.sum(axis=1)
    return float(-np.log(np.clip(given, least, 1 - least)).mean())
