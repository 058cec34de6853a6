"""Random problems with the awkward things switched on by the seed.

Small enough for the naive twin, and often tiny. Each seed stands for one problem for ever, so a
failing seed can be written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.problem.problem import Problem, build_problem

# Rows the naive twin can stand at each depth.
MOST_ROWS = (40, 60, 32, 16, 12)


@dataclass(frozen=True)
class RandomTable:
    """The arguments of one call of ``build_problem``."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    options: dict[str, Any]

    def problem(self) -> Problem:
        return build_problem(self.X, self.y, **self.options)

    def with_rows(self, rows: NDArray[Any]) -> RandomTable:
        """The table of these rows, in this order."""
        options = dict(self.options)
        if options["sample_weight"] is not None:
            options["sample_weight"] = options["sample_weight"][rows]
        return RandomTable(self.X[rows], self.y[rows], options)


def labelled_at_random(
    rng: np.random.Generator,
    X: NDArray[np.float64],
    depth: int,
    *,
    alphas: Sequence[float],
    leaf_budgets: bool = True,
) -> Problem:
    """A problem of these rows, with two or three classes, and sometimes weights and limits."""
    n, k = len(X), int(rng.choice([2, 3]))
    return build_problem(
        X,
        rng.integers(0, k, n),
        n_classes=k,
        max_depth=depth,
        sample_weight=rng.integers(1, 4, n) if rng.random() < 0.3 else None,
        max_leaf_nodes=int(rng.integers(3, 12)) if leaf_budgets and rng.random() < 0.3 else None,
        min_samples_leaf=int(rng.integers(1, 5)) if rng.random() < 0.3 else 1,
        alpha=float(rng.choice(alphas)),
    )


def random_problem(seed: int, *, max_depth: int | None = None) -> Problem:
    """The problem of a seed."""
    return random_table(seed, max_depth=max_depth).problem()


def random_table(seed: int, *, max_depth: int | None = None) -> RandomTable:
    """The table, weights and limits of a seed; the depth too, unless it is given."""
    rng = np.random.default_rng(seed)

    def chance(p: float) -> bool:
        return bool(rng.random() < p)

    depth = int(rng.choice([0, 1, 2, 3, 4], p=[0.03, 0.12, 0.3, 0.35, 0.2]))
    depth = depth if max_depth is None else max_depth
    n = int(rng.integers(1, MOST_ROWS[depth] + 1))
    if chance(0.12):
        n = int(rng.integers(1, 5))
    n_features = int(rng.choice([1, 2, 3, 4], p=[0.1, 0.3, 0.4, 0.2]))
    n_classes = int(rng.choice([1, 2, 3, 4, 5], p=[0.05, 0.5, 0.2, 0.15, 0.1]))
    categories: list[list[str] | None] = []
    columns = []
    for _ in range(n_features):
        level: list[str] | None = None
        if chance(0.2):
            level = list("abcde")[: int(rng.integers(1, 5))]
            x = rng.integers(0, len(level), n).astype(float)
        else:
            x = _numbers(rng, n)
        if chance(0.25):  # missing values, sometimes all of them
            x[rng.random(n) < rng.choice([0.1, 0.5, 1.0], p=[0.5, 0.4, 0.1])] = np.nan
        columns.append(x)
        categories.append(level)
    if n_features > 1 and chance(0.15):  # a duplicate of a column, or its mirror image
        columns[-1] = columns[0] * rng.choice([1.0, -1.0]) if categories[0] is None else columns[0]
        categories[-1] = categories[0]
    X = np.column_stack(columns)
    if n > 1 and chance(0.3):  # equal rows
        X = X[rng.integers(0, max(1, n // 2), n)]
    y = rng.integers(0, n_classes, n)
    if chance(0.5):  # classes that follow the first column, with some noise
        order = np.argsort(np.argsort(np.nan_to_num(X[:, 0])))
        y = np.where(rng.random(n) < 0.8, order * n_classes // n, y)
    options = {
        "n_classes": n_classes,
        "max_depth": depth,
        "categories": categories,
        "sample_weight": _weights(rng, n),
        "max_leaf_nodes": int(rng.choice([1, 2, 3, 4, 5, 6, 7, 8], p=_LEAF_CHANCES))
        if chance(0.35)
        else None,
        "min_samples_leaf": _least(rng, n) if chance(0.35) else 1,
        "alpha": float(rng.choice([0.0, 0.01, 0.1, 0.25, 0.3, 1 / 3, 1.0, 5.0], p=_ALPHA_CHANCES)),
    }
    return RandomTable(X, y, options)


def hard_problem(seed: int) -> Problem:
    """A problem of a seed with more rows than most, that no small tree gets right.

    The naive twin needs about a quarter of a second for it.
    """
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([2, 3, 4], p=[0.2, 0.6, 0.2]))
    n = int(rng.integers(*((30, 50), (18, 28), (13, 18))[depth - 2]))
    n_features = int(rng.integers(1, 4)) if depth < 4 else 2
    X = rng.normal(size=(n, n_features))
    if rng.random() < 0.5:
        X = np.round(3 * X)
    n_classes = int(rng.choice([2, 3, 5], p=[0.6, 0.2, 0.2]))
    return build_problem(
        X,
        rng.integers(0, n_classes, n),
        n_classes=n_classes,
        max_depth=depth,
        sample_weight=rng.integers(1, 6, n) if rng.random() < 0.3 else None,
        max_leaf_nodes=int(rng.integers(4, 8)) if rng.random() < 0.25 else None,
        min_samples_leaf=int(rng.integers(2, 5)) if rng.random() < 0.25 else 1,
        alpha=0.02 if rng.random() < 0.25 else 0.0,
    )


def deep_problem(seed: int) -> Problem:
    """A problem of a seed with few rows, but trees of a depth from five to eight."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 10))
    X = rng.normal(size=(n, int(rng.integers(1, 3))))
    n_classes = int(rng.choice([2, 3]))
    return build_problem(
        np.round(4 * X) if rng.random() < 0.3 else X,
        rng.integers(0, n_classes, n),
        n_classes=n_classes,
        max_depth=int(rng.integers(5, 9)),
        sample_weight=rng.integers(1, 4, n) if rng.random() < 0.3 else None,
        max_leaf_nodes=int(rng.integers(6, 10)) if rng.random() < 0.3 else None,
        min_samples_leaf=2 if rng.random() < 0.2 else 1,
        alpha=0.02 if rng.random() < 0.2 else 0.0,
    )


_LEAF_CHANCES = [0.05, 0.1, 0.15, 0.2, 0.2, 0.1, 0.1, 0.1]
_ALPHA_CHANCES = [0.6, 0.08, 0.1, 0.07, 0.05, 0.05, 0.03, 0.02]


def some_problem(seed: int) -> Problem:
    """A random, a hard or a deep problem, in turn."""
    return (random_problem, hard_problem, deep_problem)[seed % 3](seed)


def _numbers(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    kind = rng.integers(0, 8)
    if kind == 0:
        return np.full(n, 3.0)
    if kind == 1:
        return rng.normal(size=n)
    if kind == 2:  # far apart, with both infinities
        return rng.choice([-np.inf, -1e300, -1.0, 0.0, 1.0, 1e300, np.inf], n)
    if kind == 3:  # neighbours in float64, equal in float32
        return 1.7e9 + rng.integers(0, 4, n) * 2.0**-22
    if kind == 4:  # both zeros and the smallest numbers
        return rng.choice([-5e-324, -0.0, 0.0, 5e-324, 1e-323], n)
    if kind == 5:  # unequal gaps, so that margins matter
        return rng.choice([0.0, 1.0, 3.0, 7.0, 8.0], n)
    return rng.integers(0, rng.integers(2, 7), n).astype(float)


def _weights(rng: np.random.Generator, n: int) -> NDArray[np.float64] | None:
    kind = rng.integers(0, 10)
    if kind < 5:
        return None
    weights = rng.integers(1, 4, n).astype(float)
    if kind == 6:
        weights = rng.integers(0, 3, n).astype(float)
    elif kind == 7:
        weights = rng.integers(1, 2**29 // n + 1, n).astype(float)
    elif kind == 8:
        weights = rng.integers(1, 20, n) / 4
    elif kind == 9:
        weights = rng.random(n) * 10.0 ** rng.integers(-3, 4)
    if weights.max() == 0:
        weights[0] = 1.0
    return weights


def _least(rng: np.random.Generator, n: int) -> int | float:
    if rng.random() < 0.3:
        return float(rng.choice([0.05, 0.1, 0.2, 0.4]))
    return int(rng.integers(1, max(2, n // 3 + 1)))
