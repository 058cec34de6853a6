"""Random problems for data-partitions: all columns are numbers, so rows can be read back."""

from __future__ import annotations

import numpy as np

from provetree import build_problem
from provetree.mip.engine import MIPSearch
from provetree.search.engine import ExactSearch
from provetree.tree.start_tree import StartTree


def random_case(seed):
    """Rows and limits, with ties, duplicates of several classes, weights and one class at times."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 45))
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    if rng.random() < 0.5:
        X = rng.integers(0, int(rng.integers(2, 7)), X.shape).astype(float)
    n_classes = int(rng.integers(1, 4))
    y = rng.integers(0, n_classes, n)
    if rng.random() < 0.6:
        y = np.where(rng.random(n) < 0.8, (X[:, 0] > np.median(X[:, 0])).astype(int), y)
        y = np.minimum(y, n_classes - 1)
    weights = rng.integers(0, 4, n) if rng.random() < 0.3 else None
    if weights is not None and weights.max() == 0:
        weights[0] = 1
    return build(
        X,
        y,
        n_classes,
        depth=int(rng.integers(0, 4)),
        weights=weights,
        leaves=int(rng.integers(1, 7)) if rng.random() < 0.4 else None,
    )


def build(X, y, n_classes, depth, weights=None, leaves=None):
    problem = build_problem(
        X,
        y,
        n_classes=n_classes,
        max_depth=depth,
        sample_weight=weights,
        max_leaf_nodes=leaves,
        keep_duplicates=True,
    )
    table = np.zeros((problem.n_rows, X.shape[1]))
    for column, ranks in zip(problem.columns, problem.ranks, strict=True):
        table[:, column.feature] = column.values[ranks]
    return problem, table


def by_search(start: StartTree | None) -> ExactSearch:
    """The exact search, for model (DP)."""
    return ExactSearch()


def by_milp(start: StartTree | None) -> MIPSearch:
    """The mixed-integer model (P), for model (DP)."""
    return MIPSearch("p", scaling="rank", warm_start="cart" if start is None else start)
