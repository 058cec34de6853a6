"""Model (DP'): the solver also chooses which member represents each cluster.

Constraints (24) to (27) on top of model (P) with a row per cluster. Its optimum is a lower bound on
that of the rows themselves, and equal to it where the tree cuts no cluster (Proposition 3).
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from provetree.formulations.formulation import ModelRows, Settings
from provetree.formulations.p import ModelP
from provetree.number_types import Float
from provetree.partitions.model_dp import ModelTree
from provetree.partitions.working import WorkingPartition, whole_unit_cost
from provetree.solvers.model import Index, ModelBuilder
from provetree.solvers.solver import SolveLimits, Solver, SolverError, get_solver
from provetree.tree.build import build_tree
from provetree.tree.layout import Layout, PlacedTree, place_tree, placed_to_tree
from provetree.tree.tree import Tree

__all__ = ["ModelDPPrime", "solve_dp_prime"]


#: The least error assumed of solvers' bounds, because linear programs are inexact.
_BOUND_ERROR = 1e-7


class ModelDPPrime(ModelP):
    """Model (DP') of a homogeneous partition, built as written, without tightening.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.formulations.formulation import Settings
    >>> from provetree.partitions.working import WorkingPartition
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1, merge=False)
    >>> partition = WorkingPartition(problem, X, np.array([0, 0, 1, 1]))
    >>> model = ModelDPPrime(partition, Settings(depth=1, max_splits=1)).model
    >>> model.variable("r").size, model.variable("z").shape
    (4, (2, 2))
    """

    title: ClassVar[str] = "(DP')"
    numbers: ClassVar[dict[str, str]] = {
        **ModelP.numbers,
        "least rows": "(16)",
        "open": "(17)",
        "one leaf": "(18)",
        "left": "(24)",
        "right": "(25)",
    }

    def __init__(self, partition: WorkingPartition, settings: Settings) -> None:
        self.partition = partition
        super().__init__(partition.problem, replace(settings, tighten=False))

    def _model_rows(self) -> ModelRows:
        # The rows of the model are the clusters; only the path constraints use members.
        partition = self.partition
        first = partition.members_where(np.ones(len(partition.clusters), dtype=np.bool_))
        return ModelRows(
            source=first,
            ranks=self.problem.ranks[:, first],
            classes=partition.labels.astype(np.int32),
            weights=partition.weights.astype(np.float64),
            counts=np.ones(partition.count),
        )

    def _build(self, builder: ModelBuilder) -> None:
        partition = self.partition
        self.r = builder.variables("r", len(partition.clusters), upper=1, integer=True)
        super()._build(builder)
        members = np.argsort(partition.clusters, kind="stable")
        sizes = np.bincount(partition.clusters)

        def one_each(columns: Index, coefficients: Float) -> None:
            columns[:] = self.r[members]
            coefficients[:] = 1.0

        builder.ragged(
            "(26)",
            sizes.astype(np.int64),
            one_each,
            lower=1,
            upper=1,
            meaning="a cluster has one representative",
        )

    def _ways(self) -> tuple[Float, Index, list[Index]]:
        """Return what (24) and (25) are about: the members, and the paths of their clusters.

        A member follows the path of its cluster where it represents it.
        """
        return self._values(self.problem.ranks), self.z[self.partition.clusters], [self.r]

    def decode(self, point: Float) -> PlacedTree:
        """Read the tree from a point: the paths of the representatives decide the thresholds."""
        chosen = np.zeros(self.partition.count, dtype=np.int64)
        named = np.flatnonzero(point[self.r] > 0.5)
        chosen[self.partition.clusters[named]] = named
        self.rows = replace(self.rows, ranks=self.problem.ranks[:, chosen])
        return super().decode(point)

    def encode_tree(self, placed: PlacedTree) -> Float:
        """Write a tree as a point; each cluster is represented by a right member if it can be."""
        clusters, problem = self.partition.clusters, self.problem
        node = placed.route(problem.ranks)
        right = placed.label[node] == self.partition.labels[clusters]
        chosen = self.partition.members_where(right)
        self.rows = replace(self.rows, ranks=problem.ranks[:, chosen])
        point = self.encode(placed)
        point[self.r[chosen]] = 1.0
        return point


def solve_dp_prime(
    partition: WorkingPartition,
    *,
    max_depth: int,
    max_splits: int,
    solver: str | Solver = "highs",
    n_jobs: int | None = None,
    time_limit: float | None = None,
    start: Tree | None = None,
) -> ModelTree:
    """Return the best tree of model (DP') and the bound that the solver proves.

    The partition must be homogeneous: (DP') bounds nothing otherwise.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.partitions.working import WorkingPartition
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1, merge=False)
    >>> partition = WorkingPartition(problem, X, np.array([0, 0, 1, 1]))
    >>> found = solve_dp_prime(partition, max_depth=1, max_splits=1)
    >>> found.proven, found.bound, found.tree.n_splits
    (True, 1, 1)
    """
    problem = partition.problem
    leaf = build_tree(problem, [-1], [0])
    if not problem.columns or max_depth == 0 or max_splits == 0:
        cost = whole_unit_cost(partition.any_member_errors(leaf), 0, max_splits)
        return ModelTree(leaf, True, cost)
    engine = get_solver(solver) if isinstance(solver, str) else solver
    settings = Settings(
        depth=max_depth, max_splits=max_splits, scaling="rank", exact_weights=solver == "cp-sat"
    )
    model = ModelDPPrime(partition, settings)
    point = None
    if start is not None:
        placed = place_tree(problem, start, partition.table, Layout(max_depth))
        point = model.encode_tree(placed)
    unit = max_splits + 1
    gap = min(1e-6, 1.0 / (8 * unit * model.unit))
    outcome = engine.solve(
        model.model,
        start=point,
        limits=SolveLimits(time_limit=time_limit, absolute_gap=gap, n_jobs=n_jobs),
    )
    tree = leaf if start is None else start
    if outcome.point is not None:
        found = placed_to_tree(problem, model.decode(outcome.point), keep_labels=True)
        if _cost(partition, found, max_splits) <= _cost(partition, tree, max_splits):
            tree = found
    cost = _cost(partition, tree, max_splits)
    claimed = model.cost(outcome.objective) if outcome.point is not None else math.inf
    if outcome.point is not None and cost > unit * (claimed + 0.25) + 1:
        raise SolverError(
            f"The solver's tree costs {cost / unit:g} on the clusters, and the solver says "
            f"{claimed:g}: its tolerances were too coarse for this table."
        )
    bound = _whole_bound(model, outcome.bound, gap, unit)
    if bound > cost:
        above = model.cost(outcome.bound) - cost / unit
        if above > min(0.25, 2e-6 * model.total_weight) * model.unit + 1e-6 * cost / unit:
            raise SolverError(
                f"The solver says that no tree costs less than {bound / unit:g}, and there is one "
                f"of {cost / unit:g}: its tolerances were too coarse for this table."
            )
        bound = cost
    return ModelTree(tree, bound >= cost, bound, outcome.status == "interrupted")


def _cost(partition: WorkingPartition, tree: Tree, max_splits: int) -> int:
    return whole_unit_cost(partition.any_member_errors(tree), tree.n_splits, max_splits)


def _whole_bound(model: ModelDPPrime, bound: float, gap: float, unit: int) -> int:
    """Return the solver's bound in integer units, rounded to the safe side."""
    if not math.isfinite(bound):
        return 0
    value = model.cost(bound)
    slack = model.cost(max(1.01 * gap, _BOUND_ERROR)) + 1e-9 * abs(value)
    if model.unit > 1:  # small weights may be lost beside large ones
        slack += min(0.25, 2e-6 * model.total_weight) * model.unit
    lower = (Fraction(value) - Fraction(slack)) * unit
    # Costs are whole: the next whole number up is a bound as well.
    return max(0, math.ceil(lower))
