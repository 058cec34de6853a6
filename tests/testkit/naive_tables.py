"""The naive twin for a table as a user has it: numbers in columns, classes or targets, weights."""

from __future__ import annotations

import numpy as np

from testkit.naive_measures import MeasureCase, NaiveMeasures, root_cost


def least_cost(
    loss: str,
    X: np.ndarray,
    classes: np.ndarray | None = None,
    targets: np.ndarray | None = None,
    *,
    depth: int,
    weights: np.ndarray | None = None,
    leaves: int | None = None,
    min_leaf: int = 1,
    alpha: float = 0.0,
) -> float:
    """What the best tree costs, by trying every tree; weights are whole numbers."""
    n = len(X)
    ranks = [np.unique(x, return_inverse=True)[1].reshape(-1) for x in X.T]
    case = MeasureCase(
        loss=loss,
        ranks=np.array(ranks, dtype=np.uint32),
        values=tuple(np.unique(x) for x in X.T),
        classes=np.zeros(n, dtype=np.int32) if classes is None else classes.astype(np.int32),
        weights=np.ones(n, dtype=np.int64) if weights is None else weights.astype(np.int64),
        counts=np.ones(n, dtype=np.int64),
        n_classes=1 if classes is None else int(classes.max()) + 1,
        targets=targets,
        max_depth=depth,
        max_splits=2**depth - 1 if leaves is None else min(2**depth, leaves) - 1,
        min_samples_leaf=min_leaf,
        penalty=alpha,
    )
    naive = NaiveMeasures(case, split_penalty=alpha * root_cost(case))
    return naive.solve() + float(naive.leaves.constant)
