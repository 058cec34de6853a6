"""Model (DP): the best tree for the representatives, each with the weight of its cluster.

Any engine solves it: it is a plain problem on a small weighted table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from provetree.partitions.working import WorkingPartition
from provetree.problem.constrained import RawRows, constrained
from provetree.solution import Engine, Limits
from provetree.tree.start_tree import StartTree, start_tree_of
from provetree.tree.tree import Tree

__all__ = ["EngineFor", "ModelTree", "solve_dp"]

#: Gives the engine that solves (DP) from a start tree, or from nothing.
EngineFor: TypeAlias = Callable[[StartTree | None], Engine]


@dataclass(frozen=True)
class ModelTree:
    """The best tree found for a model, and whether it is proven optimal for it.

    Models that bound the cost on the rows themselves set ``bound``: no tree costs less, in whole
    units.
    """

    tree: Tree
    proven: bool
    bound: int = 0
    interrupted: bool = False


def solve_dp(
    partition: WorkingPartition,
    engine_for: EngineFor,
    *,
    max_depth: int,
    max_splits: int,
    time_limit: float | None = None,
    start: Tree | None = None,
) -> ModelTree:
    """Return the best tree of model (DP), by the engine that `engine_for` gives for a start tree.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import ExactSearch, build_problem
    >>> from provetree.partitions.working import WorkingPartition
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1, merge=False)
    >>> partition = WorkingPartition(problem, X, np.array([0, 0, 1, 1]))
    >>> found = solve_dp(partition, lambda start: ExactSearch(), max_depth=1, max_splits=1)
    >>> float(found.tree.threshold[0]), found.proven
    (2.5, True)
    """
    problem = partition.representative_problem(max_depth, max_splits)
    rows = None
    if problem.combinations:  # sums follow from all columns, also from those that were left out
        whole = [int(problem.weight_scale * int(weight)) for weight in partition.weights]
        rows = RawRows(partition.representatives, partition.labels, np.array(whole))
    asked = constrained(problem, depth=max_depth, max_splits=max_splits, rows=rows)
    given = None
    if start is not None:
        given = start_tree_of(problem, start, partition.representatives)
    found = engine_for(given).solve(asked, Limits(time_limit))
    return ModelTree(
        found.tree, found.status == "optimal", interrupted=found.status == "interrupted"
    )
