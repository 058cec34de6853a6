"""The engine that solves problems through mixed-integer models.

It builds the model of a formulation, gives the solver a start, and turns what comes back into a
solution: the tree worked out anew on the raw rows, the solver's bound brought to whole units.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NoReturn

import numpy as np

from provetree.errors import InfeasibleError as _InfeasibleError
from provetree.formulations.formulation import Formulation, Scaling, Settings
from provetree.formulations.oct_h import OCTH
from provetree.mip.check import CheckedTree, TreeLimits, check_tree
from provetree.mip.costs import PossibleCosts
from provetree.mip.starts import cart
from provetree.problem.constrained import constrained
from provetree.problem.problem import Problem
from provetree.renamed import moved
from provetree.solution import Engine, History, Limits, Progress, Solution, Status
from provetree.solvers.solver import Moment, Outcome, SolveLimits, Solver, SolverError, get_solver
from provetree.tree.build import build_tree
from provetree.tree.layout import Layout, PlacedTree, place, place_tree, placed_to_tree
from provetree.tree.start_tree import StartTree, start_tree_of
from provetree.tree.tree import Tree

__all__ = ["FORMULATIONS", "MIPSearch", "NoTreeError", "formulation_class"]

__getattr__ = moved(__name__, "provetree.errors", "InfeasibleError")

FORMULATIONS: dict[str, tuple[str, str]] = {
    "oct": ("provetree.formulations.oct", "OCT"),
    "oct-h": ("provetree.formulations.oct_h", "OCTH"),
    "p": ("provetree.formulations.p", "ModelP"),
    "binoct": ("provetree.formulations.binoct", "BinOCT"),
    "flowoct": ("provetree.formulations.flowoct", "FlowOCT"),
}
"""Where each formulation lives."""

#: More places for rows (rows x leaves) than this fill no computer's memory sensibly.
MOST_PLACES = 2**27
#: Entries of a matrix are numbered with 32 bits.
MOST_ENTRIES = 2**31 - 1
#: Finest gap asked of a solver; finer ones are lost in rounding.
_FINEST_GAP = 1e-9
#: Bounds of solvers are taken to be this wrong at least: their linear programs are.
_BOUND_ERROR = 1e-7


class NoTreeError(RuntimeError):
    """The limits ended a search before any tree was found that keeps to the side constraints.

    Examples
    --------
    >>> from provetree.mip.engine import NoTreeError
    >>> issubclass(NoTreeError, RuntimeError)
    True
    """


def formulation_class(name: str) -> type[Formulation]:
    """Return the class of a formulation."""
    from importlib import import_module

    module, class_name = FORMULATIONS[name]
    found: type[Formulation] = getattr(import_module(module), class_name)
    return found


@dataclass(frozen=True, eq=False)
class MIPSearch:
    """Solves problems through a mixed-integer model.

    The problem may be a :class:`~provetree.problem.constrained.ConstrainedProblem`, with limits as
    they were asked for, side constraints, and the raw rows that trees are checked on.

    Parameters
    ----------
    formulation : {"oct", "oct-h", "p", "binoct", "flowoct"}
    solver : str or Solver
        "highs", "gurobi", "scip", "cp-sat", or an object with the method of
        :class:`provetree.solvers.solver.Solver`.
    baseline : int
        What OCT divides errors by.
    warm_start : "cart", StartTree, Tree, Engine or None
        What the solver starts from: CART, a tree that keeps to all limits, or the tree that an
        engine finds for the problem without side constraints.
    scaling, merge_rows, tighten
        See :class:`provetree.formulations.formulation.Settings`.
    mip_gap : float
        Relative gap at which the solver may stop.
    n_jobs : int, optional
        Threads the solver may use.
    max_columns, gap
        Of OCT-H; see :class:`provetree.formulations.formulation.Settings`.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.mip.engine import MIPSearch
    >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 1, 1, 0])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=2)
    >>> solution = MIPSearch("flowoct").solve(problem)
    >>> solution.cost, solution.lower_bound, solution.status
    (0, 0, 'optimal')
    """

    formulation: str = "oct"
    solver: str | Solver = "highs"
    baseline: int = 1
    warm_start: Literal["cart"] | StartTree | Tree | Engine | None = "cart"
    scaling: Scaling = "minmax"
    merge_rows: bool = True
    tighten: bool = False
    mip_gap: float = 0.0
    n_jobs: int | None = None
    max_columns: int | None = None
    gap: float = 0.005

    def build(self, problem: Problem) -> Formulation:
        """Return the formulation of a problem, with its model."""
        problem = constrained(problem)
        asked = depth = problem.asked_depth
        if not problem.columns:
            depth = 0  # nothing to split on
        elif self.tighten:
            depth = min(depth, problem.max_depth)
        if problem.n_rows * 2.0**depth > MOST_PLACES:
            raise ValueError(
                f"A model of depth {depth} for {problem.n_rows} rows would have "
                f"{problem.n_rows * 2.0**depth:.2g} variables for places of rows, and at most "
                f"{MOST_PLACES:.2g} are supported: choose a smaller max_depth or fewer rows."
            )
        self._check_entries(problem, depth)
        max_splits = problem.asked_splits
        if self.formulation == "p" and max_splits is None:
            # Gamma sets the penalty: it must not depend on the depth that is left.
            max_splits = Layout(asked).n_branches
        settings = Settings(
            depth=depth,
            min_samples_leaf=problem.min_samples_leaf,
            max_splits=max_splits,
            penalty=problem.penalty,
            baseline=self.baseline,
            scaling=self.scaling,
            merge_rows=self.merge_rows,
            tighten=self.tighten,
            exact_weights=self.solver == "cp-sat",
            side=problem.side,
            max_columns=self.max_columns,
            gap=self.gap,
        )
        return formulation_class(self.formulation)(problem, settings)

    def _check_entries(self, problem: Problem, depth: int) -> None:
        """Raise if the matrix of the model would have too many entries."""
        cuts = [len(column.values) - 1 for column in problem.columns]
        if self.formulation == "flowoct":
            each = sum(cuts)
            advice = f'or another formulation: "flowoct" chooses among all {each} thresholds'
        else:
            n_digits = max(cuts, default=1).bit_length() if self.formulation == "binoct" else 1
            each = depth * len(cuts) * n_digits
            advice = "or a smaller max_depth"
        entries = problem.n_rows * 2.0**depth * each
        if entries > MOST_ENTRIES:
            raise ValueError(
                f"A model of depth {depth} for {problem.n_rows} rows would have about "
                f"{entries:.2g} entries, and at most {MOST_ENTRIES:.2g} are supported: take fewer "
                f"rows, rounded columns, {advice}."
            )

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Solution:
        """Return the best tree found within the limits; see :meth:`provetree.Engine.solve`.

        Raises
        ------
        InfeasibleError
            If no tree keeps to the side constraints.
        NoTreeError
            If time was over before such a tree was found.
        SolverError
            If the solver failed, or gave back what its model forbids.
        """
        problem.must_count_errors(type(self).__name__)
        return _Run(self, problem, limits or Limits(), on_progress).solution()


class _Run:
    """One solve: the formulation, the best tree so far, and the way to costs of the user."""

    def __init__(
        self,
        engine: MIPSearch,
        problem: Problem,
        limits: Limits,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.started = time.perf_counter()
        self.problem = constrained(problem)
        self.engine, self.limits = engine, limits
        self.solver = get_solver(engine.solver) if isinstance(engine.solver, str) else engine.solver
        self.formulation = engine.build(self.problem)
        self.history = History(on_progress)
        self.penalty = self.formulation.penalty
        settings = self.formulation.settings
        self.tree_limits = TreeLimits(
            settings.depth, settings.min_samples_leaf, settings.max_splits, settings.side
        )
        each = max(1, self.formulation.most_charged // max(1, self.formulation.layout.n_branches))
        most_splits = min(self.formulation.layout.n_branches, problem.n_rows - 1)
        if settings.max_splits is not None:
            most_splits = min(most_splits, settings.max_splits)
        self.costs = PossibleCosts(self.penalty, most_splits * each)
        self.raw = self.problem.rows
        self.best: tuple[Fraction, Tree] | None = None
        self.interrupted = False

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started

    def solution(self) -> Solution:
        start = self._start()
        model = self.formulation.model
        if self.interrupted:
            outcome = Outcome("interrupted", None, math.inf, -math.inf)
        else:
            outcome = self.solver.solve(
                model,
                start=start,
                limits=SolveLimits(
                    time_limit=self._time_left(),
                    relative_gap=self.engine.mip_gap,
                    absolute_gap=self._absolute_gap(),
                    n_jobs=self.engine.n_jobs,
                ),
                on_progress=self._tell,
            )
        if outcome.status == "unbounded":
            raise SolverError(
                "The solver says that the model is unbounded, which no model of a tree is: all of "
                "its variables have bounds."
            )
        self._read(outcome)
        if self.best is None:
            self._explain(outcome)
        cost, tree = self.best
        bound = self._bound(outcome, cost)
        status: Status = "gap_limit"
        if bound == cost:
            status = "optimal"
        elif outcome.status == "time_limit" or outcome.status == "interrupted":
            status = outcome.status
        final = self._progress(float(cost), float(bound))
        moments = self.history.moments
        if not moments or final.lower_bound > moments[-1].lower_bound:
            moments.append(final)
        return Solution(
            tree=tree,
            cost=self._user(cost),
            lower_bound=self._user(bound),
            status=status,
            history=tuple(moments),
            counters={
                "variables": model.n_variables,
                "constraints": model.n_constraints,
                "nonzeros": int(model.matrix.nnz),
                "nodes": outcome.n_nodes,
                "warm_started": int(start is not None),
            },
        )

    # -- before the solver ---------------------------------------------------------------

    def _start(self) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]] | None:
        """Return the point to start from, and keep its tree."""
        engine, formulation = self.engine, self.formulation
        self._consider(build_tree(self.problem, [-1], [0]))
        if engine.warm_start is None:
            return None
        if isinstance(formulation, OCTH):
            tree, point = formulation.start_of(self._start_of_hyperplanes(formulation))
            return None if self._consider(tree).broken else point
        if isinstance(engine.warm_start, StartTree):
            placed = self._placed(self._kept_to_limits(engine.warm_start))
        elif engine.warm_start == "cart":
            placed = self._cart()
        elif isinstance(engine.warm_start, Tree):
            placed = self._placed(start_tree_of(self.problem, engine.warm_start, self.raw.X))
        else:
            found = self._searched(engine.warm_start, self.problem, share=1.0)
            placed = self._placed(start_tree_of(self.problem, found, self.raw.X))
        tree = placed_to_tree(self.problem, placed, keep_labels=True)
        if self._consider(tree).broken:
            return None  # it does not keep to the side constraints: no point of this model
        return formulation.encode(placed)

    def _start_of_hyperplanes(self, formulation: OCTH) -> Tree:
        """Return the tree that hyperplanes start from; one of the search has sums of two."""
        start = self.engine.warm_start
        if isinstance(start, StartTree):
            placed = place(self._kept_to_limits(start), formulation.layout)
            return placed_to_tree(self.problem, placed, keep_labels=True)
        if isinstance(start, Tree):
            broken = check_tree(start, self.raw, self.tree_limits).broken
            if broken:
                raise ValueError(f"The start tree does not keep to the limits: {broken[0]}")
            return start
        if start is None or start == "cart":
            return placed_to_tree(self.problem, self._cart(), keep_labels=True)
        return self._searched(start, formulation.search_problem(), share=0.5)

    def _searched(self, engine: Engine, problem: Problem, share: float) -> Tree:
        """Return the tree that an engine finds in a share of the time that is left."""
        left = self._time_left()
        limits = Limits(None if left is None else share * left)
        found = engine.solve(problem.with_penalty(self.penalty), limits)
        self.interrupted = found.status == "interrupted"
        return found.tree

    def _cart(self) -> PlacedTree:
        settings = self.formulation.settings
        return cart(
            self.problem,
            self.formulation.layout,
            min_samples_leaf=settings.min_samples_leaf,
            penalty=self.penalty,
            max_splits=settings.max_splits,
        )

    def _kept_to_limits(self, start: StartTree) -> StartTree:
        """Return a start tree, or raise where it breaks a limit."""
        if max(start.labels) >= self.problem.n_classes:
            raise ValueError(
                f"The start tree has {max(start.labels) + 1} classes or more, and the table has "
                f"{self.problem.n_classes}."
            )
        limits = self.tree_limits
        broken = limits.broken_size(start.depth, start.n_leaves - 1, start.smallest_leaf)
        if not broken:
            placed = place(start, self.formulation.layout)
            tree = placed_to_tree(self.problem, placed, keep_labels=True)
            broken = check_tree(tree, self.raw, limits).broken
        if broken:
            raise ValueError(f"The start tree does not keep to the limits: {broken[0]}")
        return start

    def _placed(self, start: StartTree) -> PlacedTree:
        """Place a tree as the model wants it.

        Without side constraints a leaf has the class of most of its rows, and tightened models
        know no split between two leaves of one class.
        """
        layout = self.formulation.layout
        placed = place(start, layout)
        tidy = placed_to_tree(self.problem, placed, keep_labels=self._keeps_labels, collapse=True)
        return place_tree(self.problem, tidy, self.raw.X, layout)

    @property
    def _keeps_labels(self) -> bool:
        side = self.formulation.settings.side
        return side is not None and side.chooses_labels

    def _time_left(self) -> float | None:
        if self.limits.time_limit is None or math.isinf(self.limits.time_limit):
            return None
        return max(0.01, self.limits.time_limit - self.seconds)

    def _absolute_gap(self) -> float:
        """Return a gap that cannot hide a cheaper tree, unless costs are finer than solvers."""
        smallest = self.formulation.scale / self.formulation.unit * float(self.costs.spacing)
        return min(1e-6, max(_FINEST_GAP, smallest / 8))

    # -- after the solver ----------------------------------------------------------------

    def _consider(self, tree: Tree) -> CheckedTree:
        """Work a tree out on the raw rows, and keep it if it is the best one."""
        checked = check_tree(tree, self.raw, self.tree_limits)
        cost = checked.cost(self.penalty, self.formulation.charged(tree))
        if not checked.broken and (self.best is None or cost < self.best[0]):
            self.best = (cost, tree)
        return checked

    def _read(self, outcome: Outcome) -> None:
        """Take the tree from the solver's point; what it costs must be what the solver says."""
        if outcome.point is None:
            return
        tree = self.formulation.tree_at(outcome.point, keep_labels=self._keeps_labels)
        checked = self._consider(tree)
        if checked.broken:
            raise SolverError(
                f"The solver's tree breaks the model it was found for: {checked.broken[0]} "
                'Its tolerances were too coarse for this table; scaling="rank" may help.'
            )
        claimed = self.formulation.cost(outcome.objective)
        cost = float(checked.cost(self.penalty, self.formulation.charged(tree)))
        if cost > claimed + self._tolerance(claimed):
            raise SolverError(
                f"The solver's tree costs {cost:g} on the rows of the table, and the solver says "
                f"{claimed:g}: its tolerances were too coarse for this table; "
                'scaling="rank" may help.'
            )

    def _tolerance(self, cost: float) -> float:
        """Return how far off a cost of the solver may be for its own tolerances."""
        absolute = min(0.25, 2e-6 * max(self.formulation.total_weight, 1 / self.formulation.scale))
        return absolute * self.formulation.unit + 1e-6 * abs(cost)

    def _bound(self, outcome: Outcome, cost: Fraction) -> Fraction:
        """Return the solver's bound in whole units: no tree can cost less."""
        if math.isinf(outcome.bound):
            if outcome.bound > 0:
                raise SolverError(
                    "The solver says that no tree keeps to the constraints, and there is one: its "
                    "tolerances were too coarse for this table."
                )
            return Fraction(0)
        value = self.formulation.cost(outcome.bound)
        slack = self.formulation.cost(max(1.01 * self._absolute_gap(), _BOUND_ERROR))
        slack += 1e-9 * abs(value)
        if self.formulation.unit > 1:  # small weights may be lost beside large ones
            slack += self._tolerance(value)
        # The next cost that a tree can have is a bound as well. A jump is worth a wide berth: four
        # times what the bound may be wrong.
        next_up = self.costs.at_least(Fraction(value) - 4 * Fraction(slack))
        lower = max(Fraction(value) - Fraction(slack), next_up)
        if lower > cost:
            if float(lower - cost) > self._tolerance(float(cost)) + slack:
                raise SolverError(
                    f"The solver says that no tree costs less than {float(lower):g}, and there is "
                    f"one of {float(cost):g}: its tolerances were too coarse for this table."
                )
            lower = cost
        return max(lower, Fraction(0))

    def _explain(self, outcome: Outcome) -> NoReturn:
        """Say why there is no tree."""
        side = self.formulation.settings.side
        words = "" if side is None else side.words()
        if outcome.status == "infeasible":
            splits = self.problem.asked_splits
            size = f"depth {self.problem.asked_depth}"
            if splits is not None:
                size += f" and {splits} split{'s' * (splits != 1)}"
            raise _InfeasibleError(
                f"No tree of at most {size} keeps to the side constraints ({words}): loosen them, "
                "or allow a larger tree."
            )
        raise NoTreeError(
            f"The search ended ({outcome.status.replace('_', ' ')}) before it found a tree that "
            f"keeps to the side constraints ({words}): allow more time, or loosen them."
        )

    # -- units and progress --------------------------------------------------------------

    def _user(self, cost: Fraction) -> float:
        scale = self.problem.weight_scale
        if scale == 1 and self.penalty.denominator == 1:
            return int(cost) if cost.denominator == 1 else float(cost)
        return float(cost / scale)

    def _progress(self, cost: float, bound: float) -> Progress:
        scale = float(self.problem.weight_scale)
        return Progress(self.seconds, cost / scale, max(0.0, min(bound, cost)) / scale)

    def _tell(self, moment: Moment) -> None:
        """Pass the solver's progress on, in the user's units."""
        cost = self.formulation.cost(moment.objective)
        if self.best is not None:
            cost = min(cost, float(self.best[0]))
        if math.isinf(cost):
            return
        bound = self.formulation.cost(moment.bound) if math.isfinite(moment.bound) else 0.0
        self.history.note(self._progress(cost, bound))
