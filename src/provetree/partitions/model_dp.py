"""Model (DP): the best tree for the representatives, each weighing what its cluster weighs.

It is model (P), or the exact search, on a small weighted table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from provetree.partitions.working import WorkingPartition
from provetree.search.engine import ExactSearch
from provetree.solution import Limits
from provetree.solvers.solver import Solver
from provetree.tree.tree import Tree

__all__ = ["Inner", "ModelTree", "solve_dp"]

Inner = Literal["search", "milp"]


@dataclass(frozen=True)
class ModelTree:
    """What the solution of a model gave.

    Parameters
    ----------
    tree : Tree
        The best tree found.
    proven : bool
        Whether it is proven optimal for the model.
    bound : int
        For models that bound the cost on the rows themselves: no tree costs less, in whole units.
    interrupted : bool
        Whether Ctrl-C ended it.
    """

    tree: Tree
    proven: bool
    bound: int = 0
    interrupted: bool = False


def solve_dp(
    partition: WorkingPartition,
    *,
    max_depth: int,
    max_splits: int,
    inner: Inner = "search",
    solver: str | Solver = "highs",
    n_jobs: int | None = None,
    time_limit: float | None = None,
    start: Tree | None = None,
) -> ModelTree:
    """Return the best tree of model (DP).

    Parameters
    ----------
    partition : WorkingPartition
    max_depth, max_splits : int
        Delta and gamma.
    inner : {"search", "milp"}
        The exact search on weighted representatives, or the mixed-integer model.
    solver, n_jobs
        For "milp"; see :class:`provetree.mip.engine.MIPSearch`.
    time_limit : float, optional
        Seconds.
    start : Tree, optional
        A tree of this model to start the solver from.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.partitions.model_dp import solve_dp
    >>> from provetree.partitions.working import WorkingPartition
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1, merge=False)
    >>> partition = WorkingPartition(problem, X, np.array([0, 0, 1, 1]))
    >>> found = solve_dp(partition, max_depth=1, max_splits=1)
    >>> float(found.tree.threshold[0]), found.proven
    (2.5, True)
    """
    problem = partition.representative_problem(max_depth, max_splits)
    limits = Limits(time_limit)
    engine: Any = ExactSearch()
    if inner == "milp":
        from provetree.mip.engine import MIPSearch

        engine = MIPSearch(
            "p",
            solver,
            depth=max_depth,
            max_splits=max_splits,
            scaling="rank",
            warm_start="cart" if start is None else start,
            n_jobs=n_jobs,
        )
    found = engine.solve(problem, limits)
    return ModelTree(
        found.tree, found.status == "optimal", interrupted=found.status == "interrupted"
    )
