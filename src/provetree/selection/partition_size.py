"""The paper's choice of parameters: (delta, gamma) on validation rows, and rho for GP.

The partition is made once for the training rows; every size of tree starts from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from provetree.partitions.greedy import check_rho, greedy_partition
from provetree.partitions.model_dp import solve_dp
from provetree.partitions.whole_clusters import solve_whole_clusters
from provetree.partitions.working import WorkingPartition
from provetree.problem.problem import build_problem
from provetree.search.engine import ExactSearch

if TYPE_CHECKING:
    from provetree.estimators.partition_tree import PartitionTreeClassifier

__all__ = ["RHOS", "TriedSize", "TunedTree", "choose_rho", "sizes_up_to", "tune_size"]

#: Shares of the rows that :func:`choose_rho` tries by default.
RHOS = (0.1, 0.25, 0.5, 0.75)
#: The size of the trees by which rho is chosen: all splits of depth four.
_RHO_DEPTH = 4


@dataclass(frozen=True)
class TriedSize:
    """The scores of trees of one size."""

    max_depth: int
    max_splits: int
    train_accuracy: float
    valid_accuracy: float
    status: str


@dataclass(frozen=True)
class TunedTree:
    """The best tree on validation rows, and all sizes that were tried."""

    estimator: PartitionTreeClassifier
    best: TriedSize
    tried: tuple[TriedSize, ...]


def sizes_up_to(max_depth: int, least_depth: int = 2) -> tuple[tuple[int, int], ...]:
    """Return all (delta, gamma): from a path of delta splits to the full tree of each depth."""
    depths = range(least_depth, max_depth + 1)
    return tuple((depth, gamma) for depth in depths for gamma in range(depth, 2**depth))


def tune_size(
    estimator: PartitionTreeClassifier,
    X: Any,
    y: ArrayLike,
    X_valid: Any,
    y_valid: ArrayLike,
    sizes: Iterable[tuple[int, int]] | None = None,
) -> TunedTree:
    """Choose the depth and the number of splits on validation rows.

    Parameters
    ----------
    estimator : PartitionTreeClassifier
        What to fit; its ``max_depth`` bounds the sizes, its ``time_limit`` holds for each of them.
    X, y
        The training rows.
    X_valid, y_valid
        The validation rows.
    sizes : iterable of (max_depth, max_splits), default=None
        The sizes to try; None takes :func:`sizes_up_to` the estimator's depth.

    Returns
    -------
    TunedTree
        On a tie the first size, which is the smallest.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import PartitionTreeClassifier
    >>> from provetree.selection.partition_size import tune_size
    >>> X, y = load_iris(return_X_y=True)
    >>> tuned = tune_size(PartitionTreeClassifier(max_depth=2), X[::2], y[::2], X[1::2], y[1::2])
    >>> len(tuned.tried), tuned.best.max_splits
    (2, 2)
    """
    from sklearn.base import clone

    wanted: Sequence[tuple[int, int]] = tuple(
        sizes_up_to(estimator.max_depth) if sizes is None else sizes
    )
    if not wanted:
        raise ValueError("The 'sizes' parameter of tune_size must hold a pair. Got none instead.")
    best: tuple[TriedSize, PartitionTreeClassifier] | None = None
    tried = []
    for depth, gamma in wanted:
        fitted = clone(estimator).set_params(max_depth=depth, max_splits=gamma).fit(X, y)
        one = TriedSize(
            depth,
            gamma,
            float(np.mean(fitted.predict(X) == np.asarray(y))),
            float(np.mean(fitted.predict(X_valid) == np.asarray(y_valid))),
            fitted.status_,
        )
        tried.append(one)
        if best is None or one.valid_accuracy > best[0].valid_accuracy:
            best = (one, fitted)
        if fitted.status_ == "interrupted":
            break
    assert best is not None
    return TunedTree(best[1], best[0], tuple(tried))


def choose_rho(
    X: ArrayLike,
    y: ArrayLike,
    rhos: Iterable[float] = RHOS,
    *,
    refinement: str = "heuristic",
    time_limit: float | None = 300.0,
) -> float:
    """Choose the share of clusters for GP: the one whose tree fits the rows best.

    One tree of depth 4 is found on each partition, without refinement, as in the paper.

    Parameters
    ----------
    X, y
        The training rows: finite numbers, and their labels.
    rhos : iterable of float
        The shares to try.
    refinement : {"heuristic", "exact"}, default="heuristic"
        Find the trees by model (DP), or with the bound of (DP').
    time_limit : float, default=300.0
        Seconds for each share.

    Returns
    -------
    float
        The share with the fewest errors on the rows, the first of them on a tie.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree.selection.partition_size import choose_rho
    >>> choose_rho(*load_iris(return_X_y=True), rhos=(0.1, 0.5), time_limit=5)
    0.5
    """
    shares = tuple(rhos)
    if not shares:
        raise ValueError("The 'rhos' parameter of choose_rho must hold a share. Got none instead.")
    for rho in shares:
        check_rho(rho, "choose_rho")
    best: tuple[int, float] | None = None
    for rho in shares:
        made = greedy_partition(X, y, rho)
        codes = np.unique(np.asarray(made.y), return_inverse=True)[1].reshape(-1)
        table = np.asarray(made.X)
        problem = build_problem(
            table, codes, n_classes=int(codes.max()) + 1, max_depth=_RHO_DEPTH, merge=False
        )
        partition = WorkingPartition(problem, table, np.asarray(made.clusters))
        size: dict[str, Any] = {"max_depth": problem.max_depth, "max_splits": problem.max_splits}
        found = solve_dp(partition, lambda start: ExactSearch(), **size, time_limit=time_limit)
        if refinement == "exact":
            whole = solve_whole_clusters(partition, **size, cutoff=2**60, time_limit=time_limit)
            found = whole if whole is not None and whole.proven else found
        errors = partition.errors(found.tree)
        if best is None or errors < best[0]:
            best = (errors, rho)
    assert best is not None
    return best[1]
