"""Random databases of 0 and 1 with awkward things switched on by the seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testkit.naive_itemsets import NaiveItemsets


@dataclass(frozen=True)
class RandomDatabase:
    """A database, its limits and its costs."""

    X: NDArray[np.int64]
    y: NDArray[np.int64]
    weights: NDArray[np.int64] | None
    n_classes: int
    max_depth: int
    min_support: int
    matrix: NDArray[np.int64] | None
    matrix_scale: int

    @property
    def cost_matrix(self) -> NDArray[np.float64] | None:
        """The matrix in the user's units."""
        return None if self.matrix is None else self.matrix / self.matrix_scale

    def naive(self, leaf_cost: Any = None, **options: Any) -> NaiveItemsets:
        present = np.arange(len(self.y)) if self.weights is None else np.flatnonzero(self.weights)
        weights = np.ones(len(self.y), dtype=int) if self.weights is None else self.weights
        classes = self.y[present].tolist()
        row_weights = weights[present].tolist()

        def totals(inside: list[int]) -> list[int]:
            sums = [0] * self.n_classes
            for i in inside:
                sums[classes[i]] += row_weights[i]
            return sums

        def errors(inside: list[int]) -> float:
            sums = totals(inside)
            if self.matrix is None:
                return sum(sums) - max(sums)
            return min(
                sum(n * self.matrix[c, p] for c, n in enumerate(sums))
                for p in range(self.n_classes)
            )

        # A problem is never deeper than its rows allow.
        support = min(self.min_support, len(present))
        splits = min(2**self.max_depth, len(present) // support) - 1
        if (self.X[present] == self.X[present[0]]).all():
            splits = 0
        own = None if leaf_cost is None else (lambda inside: leaf_cost(np.array(totals(inside))))
        return NaiveItemsets(
            rows=self.X[present].tolist(),
            classes=classes,
            weights=row_weights,
            n_classes=self.n_classes,
            max_depth=min(self.max_depth, splits),
            min_support=support,
            leaf_cost=own or errors,
            whole=own is None,
            **options,
        )


def random_database(seed: int) -> RandomDatabase:
    """The database of a seed."""
    rng = np.random.default_rng(seed)

    def chance(p: float) -> bool:
        return bool(rng.random() < p)

    depth = int(rng.choice([0, 1, 2, 3, 4], p=[0.03, 0.12, 0.35, 0.35, 0.15]))
    n_columns = int(rng.integers(1, 6 if depth < 4 else 5))
    n = int(rng.integers(1, 5)) if chance(0.12) else int(rng.integers(2, 30))
    n_classes = int(rng.choice([1, 2, 3, 4], p=[0.04, 0.6, 0.24, 0.12]))
    X = (rng.random((n, n_columns)) < rng.choice([0.2, 0.5, 0.8])).astype(np.int64)
    if chance(0.2):  # a constant column
        X[:, rng.integers(n_columns)] = rng.integers(2)
    if n_columns > 1 and chance(0.25):  # a duplicate, or the complement of a column
        X[:, -1] = X[:, 0] if chance(0.5) else 1 - X[:, 0]
    y = rng.integers(0, n_classes, n)
    if chance(0.5):  # a pattern with noise
        pattern = (X[:, 0] ^ X[:, -1]) if chance(0.5) else X[:, 0]
        y = np.where(rng.random(n) < 0.8, pattern % n_classes, y)
    weights = None
    if chance(0.35):
        weights = rng.integers(0 if chance(0.5) else 1, 5, n)
        if weights.max() == 0:
            weights[0] = 1
    # Labels must be 0, 1, ... without gaps, as estimators number them.
    y = np.searchsorted(np.unique(y), y)
    n_classes = int(y.max()) + 1
    matrix = None
    if chance(0.3):
        matrix = rng.integers(0, 5, (n_classes, n_classes))
        if chance(0.7):
            np.fill_diagonal(matrix, 0)
    support = int(rng.integers(1, max(2, n // 3 + 1))) if chance(0.35) else 1
    return RandomDatabase(X, y, weights, n_classes, depth, support, matrix, 4 if chance(0.3) else 1)
