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
from provetree.mip.check import CheckedTree, RawRows, TreeLimits, check_tree
from provetree.mip.costs import PossibleCosts
from provetree.mip.side_constraints import SideConstraints
from provetree.mip.starts import cart
from provetree.problem.problem import Problem
from provetree.problem.rows import problem_rows, representatives
from provetree.renamed import moved
from provetree.search.engine import ExactSearch
from provetree.solution import Limits, Progress, Solution, Status
from provetree.solvers.solver import Moment, Outcome, SolveLimits, Solver, SolverError, get_solver
from provetree.tree.layout import Layout, PlacedTree, check_shape, place_tree, placed_to_tree
from provetree.tree.tree import Tree

__all__ = ["FORMULATIONS", "MIPSearch", "NoTreeError", "formulation_class"]

__getattr__ = moved(__name__, "provetree.errors", "InfeasibleError")

FORMULATIONS: dict[str, tuple[str, str]] = {
    "oct": ("provetree.formulations.oct", "OCT"),
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
    """Return the class of a formulation.

    Examples
    --------
    >>> from provetree.mip.engine import formulation_class
    >>> formulation_class("p").title
    '(P)'
    """
    from importlib import import_module

    module, class_name = FORMULATIONS[name]
    found: type[Formulation] = getattr(import_module(module), class_name)
    return found


@dataclass(frozen=True, eq=False)
class MIPSearch:
    """Solves problems through a mixed-integer model.

    The objective is the weight of the misclassified rows plus a penalty per split; that of the
    problem itself is not looked at.

    Parameters
    ----------
    formulation : {"oct", "p", "binoct", "flowoct"}
    solver : str or Solver
        "highs", "gurobi", "scip", "cp-sat", or an object with the method of
        :class:`provetree.solvers.solver.Solver`.
    depth : int, optional
        Depth of the model; the problem's own by default.
    penalty : Fraction
        Cost of a split, in integer units of weight. Model (P) has its own.
    max_splits : int, optional
        Most splits; None leaves the constraint out.
    baseline : int
        What OCT divides errors by.
    warm_start : {"cart", "search"}, Tree or None
        What the solver starts from. A tree must keep to all limits.
    scaling, merge_rows, tighten, side
        See :class:`provetree.formulations.formulation.Settings`.
    mip_gap : float
        Relative gap at which the solver may stop.
    n_jobs : int, optional
        Threads the solver may use.
    rows : RawRows, optional
        The raw rows that the tree is checked on; needed for start trees and groups.

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
    depth: int | None = None
    penalty: Fraction | int = 0
    max_splits: int | None = None
    baseline: int = 1
    warm_start: Literal["cart", "search"] | Tree | None = "cart"
    scaling: Scaling = "minmax"
    merge_rows: bool = True
    tighten: bool = False
    side: SideConstraints | None = None
    mip_gap: float = 0.0
    n_jobs: int | None = None
    rows: RawRows | None = None

    def build(self, problem: Problem) -> Formulation:
        """Return the formulation of a problem, with its model."""
        asked = problem.max_depth if self.depth is None else self.depth
        depth = asked
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
        max_splits = self.max_splits
        if self.formulation == "p" and max_splits is None:
            # Gamma sets the penalty: it must not depend on the depth that is left.
            max_splits = Layout(asked).n_branches
        settings = Settings(
            depth=depth,
            min_samples_leaf=problem.min_samples_leaf,
            max_splits=max_splits,
            penalty=Fraction(self.penalty),
            baseline=self.baseline,
            scaling=self.scaling,
            merge_rows=self.merge_rows,
            tighten=self.tighten,
            exact_weights=self.solver == "cp-sat",
            side=self.side,
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
        """Return the best tree the limits allow to find, and the solver's proven bound.

        Parameters
        ----------
        problem : Problem
        limits : Limits, optional
            No limit on time by default.
        on_progress : callable, optional
            Called with a :class:`~provetree.solution.Progress` from time to time.

        Raises
        ------
        InfeasibleError
            If no tree keeps to the side constraints.
        NoTreeError
            If time was over before such a tree was found.
        SolverError
            If the solver failed, or gave back what its model forbids.
        """
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
        self.engine, self.problem, self.limits = engine, problem, limits
        self.solver = get_solver(engine.solver) if isinstance(engine.solver, str) else engine.solver
        self.formulation = engine.build(problem)
        self.on_progress = on_progress
        self.penalty = self.formulation.penalty
        settings = self.formulation.settings
        self.tree_limits = TreeLimits(
            settings.depth, settings.min_samples_leaf, settings.max_splits, settings.side
        )
        most_splits = min(self.formulation.layout.n_branches, problem.n_rows - 1)
        if settings.max_splits is not None:
            most_splits = min(most_splits, settings.max_splits)
        self.costs = PossibleCosts(self.penalty, most_splits)
        self.raw = engine.rows or _rows_of(problem)
        self.best: tuple[Fraction, Tree] | None = None
        self.history: list[Progress] = []
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
        status: Status = "optimal" if bound == cost else _ended_by(outcome)
        final = self._progress(float(cost), float(bound))
        if not self.history or final.lower_bound > self.history[-1].lower_bound:
            self.history.append(final)
        return Solution(
            tree=tree,
            cost=self._user(cost),
            lower_bound=self._user(bound),
            status=status,
            history=tuple(self.history),
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
        engine, layout = self.engine, self.formulation.layout
        settings = self.formulation.settings
        leaf = PlacedTree(
            layout,
            np.full(layout.n_branches, -1),
            np.zeros(layout.n_branches, dtype=np.int64),
            np.full(layout.n_branches + layout.n_leaves, _majority(self.problem)),
        )
        self._consider(placed_to_tree(self.problem, leaf, keep_labels=False))
        if engine.warm_start is None:
            return None
        if isinstance(engine.warm_start, Tree):
            check_shape(self.problem, engine.warm_start)
            checked = check_tree(engine.warm_start, self.raw, self.tree_limits)
            if checked.broken:
                raise ValueError(f"The start tree does not keep to the limits: {checked.broken[0]}")
            placed = self._placed(engine.warm_start, layout)
        elif engine.warm_start == "search":
            problem = self.problem.with_penalty(self.penalty)
            found = ExactSearch().solve(problem, Limits(self._time_left()))
            self.interrupted = found.status == "interrupted"
            placed = self._placed(found.tree, layout)
        else:
            placed = cart(
                self.problem,
                layout,
                min_samples_leaf=settings.min_samples_leaf,
                penalty=self.penalty,
                max_splits=settings.max_splits,
            )
        tree = placed_to_tree(self.problem, placed, keep_labels=True)
        if self._consider(tree).broken:
            return None  # it does not keep to the side constraints: no point of this model
        return self.formulation.encode(placed)

    def _placed(self, tree: Tree, layout: Layout) -> PlacedTree:
        """Place a tree as the model wants it.

        Without side constraints a leaf has the class of most of its rows, and tightened models
        know no split between two leaves of one class.
        """
        rows = problem_rows(self.problem, self.raw.X, self.raw.classes)
        table = self.raw.X[representatives(self.problem, rows)]
        placed = place_tree(self.problem, tree, table, layout)
        return place_tree(self.problem, self._tidy(placed), table, layout)

    def _tidy(self, placed: PlacedTree) -> Tree:
        side = self.formulation.settings.side
        keep = side is not None and side.chooses_labels
        # A model may have to split where nothing is gained: BinOCT always does.
        return placed_to_tree(self.problem, placed, keep_labels=keep, collapse=True)

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
        cost = checked.cost(self.penalty)
        if not checked.broken and (self.best is None or cost < self.best[0]):
            self.best = (cost, tree)
        return checked

    def _read(self, outcome: Outcome) -> None:
        """Take the tree from the solver's point; what it costs must be what the solver says."""
        if outcome.point is None:
            return
        tree = self._tidy(self.formulation.decode(outcome.point))
        checked = self._consider(tree)
        if checked.broken:
            raise SolverError(
                f"The solver's tree breaks the model it was found for: {checked.broken[0]} "
                'Its tolerances were too coarse for this table; scaling="rank" may help.'
            )
        claimed = self.formulation.cost(outcome.objective)
        cost = float(checked.cost(self.penalty))
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
            depth = self.problem.max_depth if self.engine.depth is None else self.engine.depth
            splits = self.engine.max_splits
            size = f"depth {depth}"
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
        progress = self._progress(cost, bound)
        last = self.history[-1] if self.history else None
        if last is None or (progress.cost, -progress.lower_bound) != (last.cost, -last.lower_bound):
            self.history.append(progress)
        if self.on_progress is not None:
            self.on_progress(progress)


def _ended_by(outcome: Outcome) -> Status:
    if outcome.status in ("time_limit", "interrupted"):
        return "time_limit" if outcome.status == "time_limit" else "interrupted"
    return "gap_limit"


def _majority(problem: Problem) -> int:
    return int(np.bincount(problem.classes, problem.weights).argmax())


def _rows_of(problem: Problem) -> RawRows:
    """Return rows that have the values of the problem's columns, where the table is not at hand.

    A category that no column stands for gets a code that is no category's: it goes with the rest.
    """
    X = np.zeros((problem.n_rows, problem.n_features))
    X[:, [levels is not None for levels in problem.categories]] = -1.0
    for c, column in enumerate(problem.columns):
        ranks = problem.ranks[c]
        if column.kind == "category":
            X[ranks == 0, column.feature] = column.category
            levels = problem.categories[column.feature]
            if levels is not None and column.category == len(levels):
                X[ranks == 0, column.feature] = np.nan
        else:
            X[:, column.feature] = column.values[ranks]
    source = np.repeat(np.arange(problem.n_rows), problem.counts)
    each, rest = np.divmod(problem.weights, problem.counts)
    place = np.arange(len(source)) - np.repeat(
        np.cumsum(problem.counts) - problem.counts, problem.counts
    )
    weights = each[source] + (place < rest[source])
    classes = problem.classes[source].astype(np.int64)
    return RawRows(X[source], classes, np.asarray(weights, dtype=np.int64))
