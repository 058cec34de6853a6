"""The engine: solve a model on a partition, divide the clusters that its tree cuts, repeat.

IterativeRefinement and ImprovedIterativeRefinement (Algorithms 4 and 7). With model (DP) they are
HIA and HIIA, which end with a tree that cuts no cluster; with (DP') they are EIA and EIIA, which
end with a proof for the rows themselves. The best tree of all rounds, on the rows, is kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from provetree.number_types import Bool, Float, Int
from provetree.partitions._make import Method, cluster_points
from provetree.partitions.coordinates import coordinates
from provetree.partitions.greedy import cluster_limit
from provetree.partitions.model_dp import EngineFor, ModelTree, solve_dp
from provetree.partitions.post_process import post_process
from provetree.partitions.whole_clusters import solve_whole_clusters
from provetree.partitions.working import WorkingPartition, whole_unit_cost
from provetree.problem.problem import Problem
from provetree.problem.rows import unavoidable_error
from provetree.solution import History, Limits, Progress, Solution, Status
from provetree.solvers.solver import Solver
from provetree.tree.build import build_tree
from provetree.tree.layout import Layout, place_tree, placed_to_tree
from provetree.tree.tree import Tree

__all__ = ["PartitionSearch", "PartitionSolution", "Round"]


Refinement = Literal["heuristic", "exact"]


@dataclass(frozen=True)
class Round:
    """One round of the refinement.

    Parameters
    ----------
    seconds : float
        When it ended.
    n_clusters : int
        Clusters of its partition.
    n_cut : int
        Those that its tree cuts.
    model_errors, errors : float
        The errors of its tree as the model counts them, and on the rows.
    proven : bool
        Whether the tree is proven optimal for the model.

    Examples
    --------
    >>> from provetree.partitions.refinement import Round
    >>> Round(0.1, 20, 3, 4.0, 6.0, True).n_cut
    3
    """

    seconds: float
    n_clusters: int
    n_cut: int
    model_errors: float
    errors: float
    proven: bool


@dataclass(frozen=True)
class PartitionSolution(Solution):
    """A solution with the rounds that led to it.

    Parameters
    ----------
    rounds : tuple of Round
        What happened in each round.
    first_clusters, last_clusters : array of int
        The cluster of each row of the problem before and after the refinement.

    Examples
    --------
    >>> from provetree.partitions.refinement import PartitionSolution
    >>> from provetree.solution import Solution
    >>> issubclass(PartitionSolution, Solution)
    True
    """

    rounds: tuple[Round, ...] = ()
    first_clusters: Int | None = None
    last_clusters: Int | None = None


@dataclass(frozen=True, eq=False)
class PartitionSearch:
    """Finds trees by refining a data-partition.

    The cost of a tree is the weight of the rows it gets wrong; among trees of the same cost the
    models prefer the one with the fewest splits. Penalties and minimum leaf sizes of a problem are
    ignored.

    Parameters
    ----------
    table : array of float, shape (n_rows, n_features)
        The values of each row of the problem.
    engine_for : callable
        Gives the engine that solves (DP), for a start tree or None.
    partition : {"gp", "igp", "crm"} or array of int
        How the first partition is made, or the cluster of each row of the problem.
    rho : float
        For "gp": the share of the rows that is left as clusters.
    refinement : {"heuristic", "exact"}
        Model (DP) or model (DP').
    improved : bool
        Give each round a third of the time that is left (Algorithm 7).
    post_process : bool
        Move thresholds after each solution (Algorithm 6).
    solver : str or Solver, optional
        Solves (DP') as a mixed-integer model; without one, the bound comes from a search over whole
        clusters.
    n_jobs : int, optional
        Threads of the solver.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import ExactSearch, build_problem
    >>> from provetree.partitions.refinement import PartitionSearch
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 1, 1, 0])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=2, merge=False)
    >>> engine = PartitionSearch(X, lambda start: ExactSearch(), refinement="exact")
    >>> solution = engine.solve(problem)
    >>> solution.cost, solution.lower_bound, solution.status
    (0, 0, 'optimal')
    """

    table: Float
    engine_for: EngineFor
    partition: Method | Int = "igp"
    rho: float = 0.25
    refinement: Refinement = "heuristic"
    improved: bool = True
    post_process: bool = True
    solver: str | Solver | None = None
    n_jobs: int | None = None

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> PartitionSolution:
        """Return the best tree found within the limits; see :meth:`provetree.Engine.solve`."""
        problem.must_count_errors(type(self).__name__)
        return _Run(self, problem, limits or Limits(), on_progress).solution()


class _OutOfTimeError(Exception):
    """The time limit is reached."""


class _Run:
    """One solve: the best tree so far, the bound so far, and the clock."""

    def __init__(
        self,
        engine: PartitionSearch,
        problem: Problem,
        limits: Limits,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.started = time.perf_counter()
        self.engine, self.problem, self.limits = engine, problem, limits
        self.history = History(on_progress)
        self.depth, self.gamma = problem.max_depth, problem.max_splits
        self._best = build_tree(problem, [-1], [0])
        self._built: Tree | None = self._best
        self.wrong = problem.root_error
        self.cost = whole_unit_cost(self.wrong, 0, self.gamma)
        self.bound = whole_unit_cost(unavoidable_error(problem), 0, self.gamma)
        self.rounds: list[Round] = []
        self.first: WorkingPartition | None = None
        self.last: WorkingPartition | None = None

    def solution(self) -> PartitionSolution:
        status: Status
        try:
            self.last = self.first = self._first_partition()
            exact = self.engine.refinement == "exact"
            proven = self._exact() if exact else self._heuristic()
            status = "optimal" if proven else "feasible"
        except _OutOfTimeError:
            status = "time_limit"
        except KeyboardInterrupt:
            status = "interrupted"
        if self._errors(self.bound) >= self.wrong:
            status = "optimal"  # only unavoidable errors
        lower = self.wrong if status == "optimal" else self._errors(self.bound)
        self._tell(lower)
        return PartitionSolution(
            tree=self.tree,
            cost=self.problem.to_user_cost(self.wrong),
            lower_bound=self.problem.to_user_cost(lower),
            status=status,
            history=tuple(self.history.moments),
            counters={
                "rounds": len(self.rounds),
                "rows": self.problem.n_rows,
                "first_clusters": 0 if self.first is None else self.first.count,
                "last_clusters": 0 if self.last is None else self.last.count,
            },
            rounds=tuple(self.rounds),
            first_clusters=None if self.first is None else self.first.clusters,
            last_clusters=None if self.last is None else self.last.clusters,
        )

    # -- the two ways ----------------------------------------------------------------------

    def _heuristic(self) -> bool:
        """HIA or HIIA: rounds with (DP), until a tree cuts nothing. True: a proof for the rows."""
        while True:
            partition = self._partition
            found = self._solve_dp(self._share_of_time())
            tree = self._finished(found, partition.representatives)
            if self.engine.improved and not found.proven and not self._cut(tree).any():
                found = self._solve_dp(self._time_left(), start=found.tree)
                tree = self._finished(found, partition.representatives)
            cut = self._cut(tree)
            self._note(partition.representative_errors(tree), tree, cut, found.proven)
            if not cut.any():
                if not found.proven:
                    raise _OutOfTimeError
                # Where every row is its own representative, (DP) is the problem itself.
                return partition.count == self.problem.n_rows
            self.last = partition.divided(self._leaf(tree))

    def _exact(self) -> bool:
        """EIA or EIIA: rounds with (DP') or its search, until the bound meets the best tree."""
        if not self._partition.is_homogeneous:
            raise ValueError(
                'refinement="exact" needs a homogeneous partition: every row must have the class '
                "of its cluster."
            )
        by_search = self.engine.solver is None
        if by_search:
            # A good tree from the start: the search proves that none is cheaper.
            first = self._solve_dp(self._share_of_time())
            self._finished(first, self._partition.representatives)
        while True:
            partition = self._partition
            found = self._whole_clusters() if by_search else self._dp_prime()
            if found is None:
                self.bound = self.cost
                return True
            self.bound = max(self.bound, found.bound)
            tree = self._finished(found, None)
            cut = self._cut(tree)
            if not cut.any() and self.cost > self.bound:
                # The thresholds were moved, or the model was not solved: its own tree decides.
                tree = found.tree
                cut = self._cut(tree)
            if by_search:
                errors = partition.whole_cluster_errors(self._leaf(tree))
            else:
                errors = partition.any_member_errors(tree)
            self._note(errors, tree, cut, found.proven)
            if self.cost <= self.bound:
                return True
            if not cut.any():
                raise _OutOfTimeError  # not proven optimal, and no time left
            self.last = partition.divided(self._leaf(tree))

    def _whole_clusters(self) -> ModelTree | None:
        """Search; if the share of time is too short, a tree of (DP) divides clusters instead."""
        found = self._search_clusters(self._share_of_time())
        if found is None or found.proven:
            return found
        instead = self._solve_dp(self._share_of_time())
        if self._cut(instead.tree).any():
            return instead
        found = self._search_clusters(self._time_left())
        if found is not None and not found.proven:
            raise _OutOfTimeError
        return found

    def _search_clusters(self, seconds: float | None) -> ModelTree | None:
        found = solve_whole_clusters(
            self._partition, **self._size, cutoff=self.cost, time_limit=seconds
        )
        return None if found is None else self._heed(found)

    def _dp_prime(self) -> ModelTree:
        from provetree.partitions.model_dp_prime import solve_dp_prime

        def solve(seconds: float | None, start: Tree) -> ModelTree:
            assert self.engine.solver is not None  # for the type checker
            return self._heed(
                solve_dp_prime(
                    self._partition,
                    **self._size,
                    solver=self.engine.solver,
                    n_jobs=self.engine.n_jobs,
                    time_limit=seconds,
                    start=start,
                )
            )

        found = solve(self._share_of_time(), self.tree)
        if self.engine.improved and not found.proven and not self._cut(found.tree).any():
            found = solve(self._time_left(), found.tree)
        return found

    def _solve_dp(self, seconds: float | None, start: Tree | None = None) -> ModelTree:
        model, engine_for = self._partition, self.engine.engine_for
        return self._heed(
            solve_dp(model, engine_for, **self._size, time_limit=seconds, start=start)
        )

    # -- parts -----------------------------------------------------------------------------

    @property
    def _size(self) -> dict[str, int]:
        """The size that models allow."""
        return {"max_depth": self.depth, "max_splits": self.gamma}

    @property
    def _partition(self) -> WorkingPartition:
        assert self.last is not None
        return self.last

    def _first_partition(self) -> WorkingPartition:
        engine, problem = self.engine, self.problem
        if not isinstance(engine.partition, str):
            clusters = np.unique(engine.partition, return_inverse=True)[1].reshape(-1)
            return WorkingPartition(problem, engine.table, clusters.astype(np.int64))
        points = coordinates(engine.table, problem.categories)
        # Ties go to the first rows: in this order they do not depend on how rows were given.
        order = np.lexsort((problem.classes, *points.T[::-1]))
        in_order, _, end = cluster_points(
            engine.partition,
            points[order],
            problem.classes[order],
            problem.weights[order].astype(np.float64),
            most_clusters=cluster_limit(engine.rho, problem.n_rows),
            time_limit=self._share_of_time(),
        )
        if end == "interrupted":
            raise KeyboardInterrupt
        clusters = np.empty_like(in_order)
        clusters[order] = in_order
        return WorkingPartition(problem, engine.table, clusters)

    def _finished(self, found: ModelTree, representatives: Float | None) -> Tree:
        """Move the thresholds of a tree if requested; keep it if it is the best one."""
        tree, partition = found.tree, self._partition
        if self.engine.post_process:
            if representatives is None:
                representatives = partition.table[partition.chosen_members(tree)[0]]
            tree = post_process(
                tree,
                partition.table,
                self.problem.classes.astype(np.int64),
                self.problem.weights,
                partition.clusters,
                representatives,
                partition.labels,
            )
        self._consider(tree)
        return tree

    def _consider(self, tree: Tree) -> None:
        """Keep a tree if it is the best so far, each leaf with its heaviest class."""
        wrong, splits = self._fitted_size(tree)
        cost = whole_unit_cost(wrong, splits, self.gamma)
        if cost < self.cost:
            self._best, self._built = tree, None
            self.wrong, self.cost = wrong, cost

    @property
    def tree(self) -> Tree:
        """The best tree so far, evaluated on the rows."""
        if self._built is None:
            placed = place_tree(
                self.problem, self._best, self.engine.table, Layout(self._best.depth)
            )
            built = placed_to_tree(self.problem, placed, keep_labels=False, collapse=True)
            cost = whole_unit_cost(self._partition.errors(built), built.n_splits, self.gamma)
            if cost != self.cost:
                raise AssertionError(f"The best tree costs {cost} and was taken for {self.cost}.")
            self._built = built
        return self._built

    def _fitted_size(self, tree: Tree) -> tuple[int, int]:
        """Return errors and splits of a tree when leaves predict their heaviest class.

        Splits with an empty side, and splits between leaves of one class, are not counted.
        """
        problem = self.problem
        place = self._leaf(tree) * problem.n_classes + problem.classes
        # Totals stay below 2**30, so float64 adds them exactly.
        totals = np.bincount(place, problem.weights, tree.n_nodes * problem.n_classes)
        by_leaf = totals.reshape(-1, problem.n_classes)
        most = by_leaf.max(axis=1)
        labels, used = by_leaf.argmax(axis=1).tolist(), (most > 0).tolist()
        left, right = tree.left.tolist(), tree.right.tolist()
        splits = [0] * tree.n_nodes
        for node in reversed(np.flatnonzero(tree.feature >= 0).tolist()):
            sides = [side for side in (left[node], right[node]) if used[side]]
            used[node] = bool(sides)
            if len(sides) == 2 and (labels[sides[0]] < 0 or labels[sides[0]] != labels[sides[1]]):
                splits[node], labels[node] = 1 + splits[sides[0]] + splits[sides[1]], -1
            elif sides:
                splits[node], labels[node] = splits[sides[0]], labels[sides[0]]
        return int(by_leaf.sum() - most.sum()), splits[0]

    def _leaf(self, tree: Tree) -> Int:
        return tree.apply(self.engine.table).astype(np.int64)

    def _cut(self, tree: Tree) -> Bool:
        return self._partition.cut_by(self._leaf(tree))

    def _errors(self, bound: int) -> int:
        """Return the least whole weight of errors that a bound in whole units allows."""
        return max(0, -((self.gamma - bound) // (self.gamma + 1)))

    def _note(self, model_errors: int, tree: Tree, cut: Bool, proven: bool) -> None:
        user = self.problem.to_user_cost
        self.rounds.append(
            Round(
                self._seconds,
                self._partition.count,
                int(cut.sum()),
                user(model_errors),
                user(self._partition.errors(tree)),
                proven,
            )
        )
        self._tell(min(self._errors(self.bound), self.wrong))

    def _tell(self, lower: int) -> None:
        user = self.problem.to_user_cost
        self.history.note(Progress(self._seconds, user(self.wrong), user(lower)))

    # -- the clock -------------------------------------------------------------------------

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self.started

    def _heed(self, found: ModelTree) -> ModelTree:
        """Return what a model found, unless Ctrl-C ended it."""
        if found.interrupted:
            self._consider(found.tree)
            raise KeyboardInterrupt
        return found

    def _time_left(self) -> float | None:
        if math.isinf(self.limits.seconds):
            return None
        left = self.limits.seconds - self._seconds
        if left <= 0:
            raise _OutOfTimeError
        return left

    def _share_of_time(self) -> float | None:
        left = self._time_left()
        return left / 3 if left is not None and self.engine.improved else left
