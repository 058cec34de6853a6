"""Problems of columns with few values, for the searches that make cells of their rows."""

from __future__ import annotations

import numpy as np

from testkit.naive_measures import MeasureCase


def few_valued(
    loss: str, seed: int, *, depth: int, n: int, columns: int | None = None
) -> MeasureCase:
    """A problem of columns with two to ten values; awkward targets and weights by the seed."""
    rng = np.random.default_rng((len(loss), seed, depth))
    few = int(rng.integers(1, 6))
    n_columns = few if columns is None else columns
    most = rng.integers(2, 11, n_columns) if rng.random() < 0.7 else np.full(n_columns, 2)
    X = np.array([np.minimum(rng.geometric(1.5 / top, n), top) for top in most])
    ranks = np.array([np.unique(x, return_inverse=True)[1].reshape(-1) for x in X])
    signal = ranks[0] % 3 + (ranks[-1] > 1) * 2.0
    targets, n_classes = None, 1
    classes = np.zeros(n, dtype=np.int32)
    if loss == "gini":
        n_classes = 2
        classes = (signal + rng.normal(size=n) > 1.5).astype(np.int32)
    else:
        y = signal * rng.choice([0.0, 1.0, 5.0]) + rng.normal(size=n) * rng.choice([0.1, 1.0])
        kind = int(rng.integers(0, 6))
        y = (np.round(y), 1e9 + y, y * 1e-6, np.exp(3 * y), np.where(y > 2, 1e6, y), y)[kind]
        targets = np.ascontiguousarray(y[:, None], dtype=np.float64)
    ones = np.ones(n, dtype=np.int64)
    return MeasureCase(
        loss=loss,
        ranks=np.ascontiguousarray(ranks.astype(np.uint32)),
        values=tuple(np.arange(own.max() + 1, dtype=np.float64) for own in ranks),
        classes=classes,
        weights=rng.integers(1, rng.choice([3, 1000]), n) if rng.random() < 0.4 else ones,
        counts=ones,
        n_classes=n_classes,
        targets=targets,
        max_depth=depth,
        max_splits=int(rng.integers(3, 2**depth)) if rng.random() < 0.4 else 2**depth - 1,
        min_samples_leaf=min(n, int(rng.choice([1, 1, 1, 1, 2, 3, 5, 9]))),
        penalty=float(rng.choice([0.0, 0.0, 1e-9, 0.01, 0.1])),
    )
