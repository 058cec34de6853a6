"""The bound that proves the exact variant by search.

A cluster counts as right unless all of its rows end in one leaf of another class; a cluster that a
split cuts counts as right at once. So no tree costs more than in model (DP'), where a cut cluster
without a right member counts as wrong, and Theorem 1 holds with this cost as it does with (DP'): an
optimal tree that cuts no cluster is optimal for the rows. Unlike (DP'), it is a sum over the
leaves, which a search can use.
"""

from __future__ import annotations

import math

import numpy as np

from provetree import _core
from provetree.partitions.model_dp import ModelTree
from provetree.partitions.working import WorkingPartition
from provetree.tree.build import build_tree

__all__ = ["solve_whole_clusters"]


def solve_whole_clusters(
    partition: WorkingPartition,
    *,
    max_depth: int,
    max_splits: int,
    cutoff: int,
    time_limit: float | None = None,
) -> ModelTree | None:
    """Return the cheapest tree below a cutoff; None proves that there is none.

    The cutoff is in whole units: ``(gamma + 1) * wrong weight + splits``. A result that is not
    proven holds no bound; its tree is a single leaf.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.partitions.working import WorkingPartition
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1, merge=False)
    >>> partition = WorkingPartition(problem, X, np.array([0, 0, 1, 1]))
    >>> solve_whole_clusters(partition, max_depth=1, max_splits=1, cutoff=4).bound
    1
    >>> solve_whole_clusters(partition, max_depth=1, max_splits=1, cutoff=1) is None
    True
    """
    problem = partition.problem
    found = _core.partitions.search_clusters(
        problem.ranks,
        partition.clusters.astype(np.int32),
        partition.labels.astype(np.int32),
        partition.weights,
        problem.n_classes,
        max_depth,
        max_splits,
        cutoff,
        math.inf if time_limit is None else time_limit,
    )
    if found["status"] != "complete":
        return ModelTree(
            build_tree(problem, [-1], [0]), False, interrupted=found["status"] == "interrupted"
        )
    if not found["found"]:
        return None
    return ModelTree(build_tree(problem, found["column"], found["rank"]), True, found["cost"])
