"""The engine: what can be set, and what the settings that are None stand for.

One solve, from candidates to proof, is :mod:`provetree.colgen.run`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from provetree.colgen.candidates import SAMPLE_RUNS, SAMPLE_SHARE
from provetree.colgen.cuts import RowConstraints, Separation
from provetree.colgen.generation import Clock
from provetree.colgen.result import GenerationSolution
from provetree.colgen.run import Run
from provetree.colgen.start import START_RUNS
from provetree.problem.problem import Problem
from provetree.solution import Limits, Progress
from provetree.solvers.solver import get_solver

Variant = Literal["revised", "original"]
PricingName = Literal["exact", "cpsat"]
HeuristicName = Literal["none", "random", "pool"]
IntegerStep = Literal["recursion", "mip", "diving"]
BranchColumns = Literal["trees", "paths"]
MasterMethod = Literal["simplex", "interior"]
Splits: TypeAlias = Mapping[object, Iterable[tuple[object, float]]] | Iterable[tuple[object, float]]


@dataclass(frozen=True, eq=False)
class ColumnGeneration:
    """Column generation over candidate splits, as an engine.

    Side constraints come with a :class:`~provetree.problem.constrained.ConstrainedProblem`.

    Parameters
    ----------
    variant : {"revised", "original"}
        The defaults of the other parameters: Patel et al. (merged subproblems, row constraints as
        upper cuts, extra start columns, merged rows) or Firat et al. (a subproblem per leaf and
        class, all row constraints from the start, none of the rest).
    candidates : {"sampled", "quantiles", "all"} or splits
        Where candidate splits come from; see :func:`~provetree.colgen.candidates.given_candidates`
        for the form of own splits, and for the columns that their problem must keep.
    candidate_factor : float
        Keep so many times the papers' number of sampled splits.
    sample_runs, sample_share : int, float
        CART runs for the candidates and the share of the rows in each.
    until_root_settles : bool
        Sample until `sample_runs` runs in a row bring no new split of the root (Algorithm 1).
    quantiles : int
        Thresholds per column with ``candidates="quantiles"``.
    start_runs : int or None
        CART runs for start columns; None takes the variant's.
    merge_rows : bool or None
        Merge rows that no candidate tells apart; None takes the variant's.
    row_constraints : str or None
        How constraints (1c) are used; None takes the variant's.
    separation : {"routes", "search", "cpsat"}
        Where ``row_constraints="extra"`` finds more cuts.
    pricing : {"exact", "cpsat"}
        The exact pricing.
    heuristic : {"none", "random", "pool"} or None
        The pricing heuristic that comes first; None takes the variant's with CP-SAT and none with
        the own exact pricing, which is faster than the heuristics.
    integer_step : {"recursion", "mip", "diving"}
        How the tree is found. The recursion needs a problem without coupling constraints; under
        them branch-and-price follows in any case.
    prove : bool
        Prove the tree for the candidate set. False stops where the papers stop.
    branch_columns : {"trees", "paths"}
        Columns of the relaxations of branch-and-price under coupling constraints.
    solve_master : bool or None
        Run column generation where the recursion has decided the problem already. None does so
        up to 200,000 paths.
    master_method : {"simplex", "interior"} or None
        How the relaxation is solved where nothing couples leaves: simplex from the last basis, as
        published, or interior points, which the degeneracy of the master does not slow down. None
        takes interior points where the recursion finds the tree.
    cut_every : int
        Iterations between two looks for cuts.
    columns_per_leaf : int
        Columns that the own pricing adds per leaf and iteration.
    random_state : int
        What sampling and the pricing heuristics depend on.
    n_jobs : int or None
        Threads of the sampling.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.colgen.engine import ColumnGeneration
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> problem = build_problem(X, np.array([0, 0, 1, 1]), n_classes=2, max_depth=2)
    >>> solution = ColumnGeneration().solve(problem)
    >>> solution.cost, solution.proof.candidate_optimal
    (0, True)
    """

    variant: Variant = "revised"
    candidates: str | Splits = "sampled"
    candidate_factor: float = 1.0
    sample_runs: int = SAMPLE_RUNS
    sample_share: float = SAMPLE_SHARE
    until_root_settles: bool = False
    quantiles: int = 7
    start_runs: int | None = None
    merge_rows: bool | None = None
    row_constraints: RowConstraints | None = None
    separation: Separation = "routes"
    pricing: PricingName = "exact"
    heuristic: HeuristicName | None = None
    integer_step: IntegerStep = "recursion"
    prove: bool = True
    branch_columns: BranchColumns = "trees"
    solve_master: bool | None = None
    master_method: MasterMethod | None = None
    cut_every: int = 5
    columns_per_leaf: int = 10
    random_state: int = 0
    n_jobs: int | None = None

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> GenerationSolution:
        """Return the best tree found within the limits; see :meth:`provetree.Engine.solve`.

        Raises
        ------
        InfeasibleError
            If it is proven that no tree of the candidate splits keeps the constraints, or if none
            was found before the time ran out.
        """
        problem.must_count_errors(type(self).__name__)
        limits = Limits() if limits is None else limits
        if "cpsat" in (self.pricing, self.separation if self.form == "extra" else ""):
            get_solver("cp-sat")  # says which extra brings it, if it is not there
        return Run(self, problem, Clock(limits.time_limit), on_progress).solve()

    # -- what None stands for ------------------------------------------------------------

    @property
    def is_revised(self) -> bool:
        """Whether the defaults are those of Patel et al."""
        return self.variant == "revised"

    @property
    def form(self) -> RowConstraints:
        """How constraints (1c) are used."""
        if self.row_constraints is not None:
            return self.row_constraints
        return "upper" if self.is_revised else "all"

    @property
    def merges_rows(self) -> bool:
        """Whether rows that no candidate tells apart are merged."""
        return self.is_revised if self.merge_rows is None else self.merge_rows

    @property
    def n_start_runs(self) -> int:
        """CART runs for start columns."""
        if self.start_runs is not None:
            return self.start_runs
        return START_RUNS if self.is_revised else 0

    @property
    def first_pricing(self) -> HeuristicName:
        """The pricing heuristic that comes before the exact pricing."""
        if self.heuristic is not None:
            return self.heuristic
        if self.pricing != "cpsat":
            return "none"
        return "random" if self.is_revised else "pool"

    @property
    def uses_interior_points(self) -> bool:
        """Whether the relaxation is solved by interior points where nothing couples leaves."""
        if self.pricing == "cpsat" or self.first_pricing != "none":
            return False
        if self.master_method is not None:
            return self.master_method == "interior"
        # The integer steps of the papers work on the columns of a vertex.
        return self.integer_step == "recursion"
