"""The loop of column generation: master, pricing and cuts in turn, until nothing is added.

Every exact pricing also gives a bound on all trees of the candidates, in any state of the master.
So a stopped run has a valid bound too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from provetree.colgen.cuts import Cuts
from provetree.colgen.master import Duals, Master, MasterSolution, TimeUpError
from provetree.colgen.paths import CandidateTree, PathModel, Paths
from provetree.colgen.pricing import (
    Allowed,
    ExactPricing,
    PoolPricing,
    Priced,
    Pricing,
    dual_bound,
)
from provetree.colgen.proximal import Proximal
from provetree.number_types import Float

#: A variable this close to an integer counts as an integer.
INTEGRAL = 1e-6
#: An artificial column below this is zero.
_FEASIBLE = 1e-7
#: Perturbation of the constraints (1d) until the first convergence, see ``Master.loosen``.
_ROOM = 0.01
#: With interior points: value and bound of the master are this close, as a share of all rows; up
#: to so many paths all are columns from the start; later so many of each leaf at a time; up to so
#: many rows all are cuts from the start. Where paths are too many to be listed the last digits of
#: the gap take as long as all before, so it may be a little larger.
INTERIOR_GAP = 1e-6
STABLE_GAP = 1e-5
LISTED_PATHS = 45_000
INTERIOR_COLUMNS = 300
MOST_START_CUTS = 1000
#: The same once the multipliers are known.
MOST_STABLE_CUTS = 4000
_MOST_MISS_PRICE = 1000.0


@dataclass(frozen=True)
class Iteration:
    """Where column generation stood after one iteration (values in units of the LP)."""

    seconds: float
    value: float
    bound: float
    n_columns: int
    n_cuts: int


@dataclass(eq=False)
class Clock:
    """Measures the time left and the time of each part.

    Examples
    --------
    >>> clock = Clock(None)
    >>> with clock.part("pricing"):
    ...     pass
    >>> clock.left, list(clock.parts)
    (inf, ['pricing'])
    """

    time_limit: float | None
    parts: dict[str, float] = field(default_factory=dict, init=False)
    _start: float = field(default_factory=time.perf_counter, init=False)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    @property
    def left(self) -> float:
        """Seconds left, infinite without a limit."""
        return np.inf if self.time_limit is None else self.time_limit - self.seconds

    def check(self) -> None:
        """Raise ``TimeUpError`` when no time is left."""
        if self.left <= 0:
            raise TimeUpError

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time of a ``with`` block for a part."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.parts[name] = self.parts.get(name, 0.0) + time.perf_counter() - start


@dataclass(frozen=True, eq=False)
class LpResult:
    """How a linear relaxation ended.

    ``solution`` is the last solution of the master; ``bound`` holds in any case. With status
    "cutoff" the bound says that nothing better than the cutoff is left; "infeasible" is proven;
    "unsolved" means that rounding hides whether the constraints can be satisfied.
    """

    status: Literal["optimal", "infeasible", "cutoff", "unsolved"]
    bound: float
    solution: MasterSolution | None


@dataclass(eq=False)
class Generation:
    """Solves the linear relaxation over all paths that are allowed.

    The heuristic is asked first in every iteration, the exact pricing proves. Cuts are looked for
    every `cut_every` iterations, and at the end.
    """

    model: PathModel
    master: Master
    cuts: Cuts
    exact: Pricing
    heuristic: Pricing | None
    clock: Clock
    cut_every: int = 5
    on_iteration: Callable[[Iteration], None] | None = None
    iterations: int = field(default=0, init=False)
    trouble: list[str] = field(default_factory=list, init=False)
    #: Best bound so far of the running call, for use after a stop.
    bound: float = field(default=np.inf, init=False)

    def solve(self, allowed: Allowed, cutoff: float = -np.inf) -> LpResult:
        """Solve the relaxation over the allowed paths; stop once nothing above the cutoff is left.

        The master must hold a tree of what is allowed.
        """
        return _Rounds(self, allowed, cutoff).run()

    def solve_interior(
        self, allowed: Allowed, tree: CandidateTree | None = None
    ) -> LpResult | None:
        """Solve the relaxation with interior points instead of simplex; without coupling rows.

        None if rounding prevents it; then :meth:`solve` starts from scratch. Where the relaxation
        has the value of `tree`, a tree that keeps everything, the tree is an optimum of it, and
        there is nothing left that cuts beyond the training rows could forbid.
        """
        master, model = self.master, self.model
        self.bound = np.inf
        listed = model.candidates.n_paths <= LISTED_PATHS
        with self.clock.part("columns"):
            if listed:
                master.add_paths(self._every_path(allowed))
        size = max(1.0, model.whole / model.unit)
        wanted = (INTERIOR_GAP if listed else STABLE_GAP) * size
        known = -np.inf if tree is None else model.evaluate(tree)[0] / model.unit
        stabilised = not listed and self.cuts.form not in ("none", "lower")
        if stabilised:
            least = Proximal(self, allowed).run(wanted, known)
            if tree is not None and least <= known + wanted:
                # The tree is an optimum of the relaxation; nothing is left to solve.
                return LpResult("optimal", self.bound, self._solution_of(tree))
        with self.clock.part("cuts"):
            self.cuts.start_many(master, MOST_STABLE_CUTS if stabilised else MOST_START_CUTS)
        gap = wanted / 4 if listed or stabilised else size / 20
        miss_price = 1.0
        pricing = ExactPricing(model, INTERIOR_COLUMNS)
        while True:
            self.clock.check()
            with self.clock.part("master"):
                solution = master.solve_interior(gap, self.clock.left, miss_price)
            if solution is None:
                master.resolves += 1
                return None
            with self.clock.part("pricing"):
                priced = pricing.price(solution.duals, allowed, self.clock.left)
            self.bound = min(self.bound, self.bound_of(solution.duals, priced, allowed))
            self._tell(solution)
            left = max(self.bound - solution.value, 0.0)
            done = left <= wanted and solution.artificial <= _FEASIBLE * 100
            extra = done and solution.value > known + wanted
            with self.clock.part("cuts"):
                n_cuts = self.cuts.separate(
                    master, solution.x, self.clock.left, extra=extra, least=max(1e-5, gap / size)
                )
            if n_cuts == 0 and done:
                return LpResult("optimal", self.bound, solution)
            with self.clock.part("columns"):
                n_columns = master.add_paths(priced.paths)
            if n_cuts:
                gap = max(min(gap, size / 1000), wanted / 4)
            elif n_columns == 0 and gap <= wanted / 4:
                # Nothing to add: constraints are violated because that is cheap, or by rounding.
                if solution.artificial <= _FEASIBLE * 100 or miss_price > _MOST_MISS_PRICE:
                    master.resolves += 1
                    return None
                miss_price *= 10
            else:
                gap = max(min(gap if n_columns else gap / 10, left / 10), wanted / 4)

    def with_tree(self, lp: LpResult, tree: CandidateTree, worth: int) -> LpResult:
        """Return the result with a tree as its solution, where the tree has the same value.

        An interior solution lies between all optima; a tree among them is one that is integral.
        """
        model, solution = self.model, lp.solution
        if lp.status != "optimal" or solution is None or is_integral(solution):
            return lp
        close = INTERIOR_GAP * max(1.0, model.whole / model.unit)
        if abs(solution.value - worth / model.unit) > close:
            return lp
        return replace(lp, solution=replace(self._solution_of(tree), duals=solution.duals))

    def _solution_of(self, tree: CandidateTree) -> MasterSolution:
        """Return a tree as a solution of the master, whose columns it joins; without prices."""
        model, master = self.model, self.master
        paths = model.tree_paths(tree)
        master.add_paths(paths)
        place = {key: i for i, key in enumerate(master.paths.keys())}
        x, chosen = np.zeros(master.n_columns), paths.keys()
        x[[place[key] for key in chosen]] = 1.0
        value = model.evaluate(tree)[0] / model.unit
        return MasterSolution(value, x, np.zeros(0), 0.0, self.no_prices())

    def _every_path(self, allowed: Allowed) -> Paths:
        """List all paths, each with its best target: pricing with multipliers that exclude none."""
        model = self.model
        whole = model.whole / model.unit
        nothing = replace(self.no_prices(), alpha=np.full(model.candidates.n_leaves, -whole - 1.0))
        every = ExactPricing(model, model.candidates.n_paths)
        return every.price(nothing, allowed, self.clock.left).paths

    def no_prices(self) -> Duals:
        """Return multipliers that are all zero."""
        items = self.model.items
        return Duals(
            np.zeros(self.master.n_leaves),
            np.zeros(len(self.master.link_candidate)),
            np.zeros(items.n_items),
            np.zeros(items.core.n_routes),
            np.zeros(0),
            0.0,
            False,
        )

    def bound_of(self, duals: Duals, priced: Priced, allowed: Allowed) -> float:
        """Return the bound that multipliers and their exact pricing give."""
        assert priced.largest is not None
        link = self.master.link_candidate
        return dual_bound(self.model, duals, priced.largest, link, allowed)

    def _heuristic_columns(self, solution: MasterSolution, allowed: Allowed) -> bool:
        if self.heuristic is None:
            return False
        with self.clock.part("heuristic"):
            priced = self.heuristic.price(solution.duals, allowed, self.clock.left)
        with self.clock.part("columns"):
            return self.master.add_paths(priced.paths) > 0

    def _tell(self, solution: MasterSolution) -> None:
        if solution.duals.phase_one:
            self.iterations += 1
        else:
            self.tell(solution.value, self.bound, self.master.n_columns)

    def tell(self, value: float, bound: float, n_columns: int) -> None:
        """Record and report a bound that was found outside the master."""
        self.iterations += 1
        self.bound = min(self.bound, bound)
        if self.on_iteration is not None:
            cuts = self.master.n_cuts
            self.on_iteration(Iteration(self.clock.seconds, value, self.bound, n_columns, cuts))


def is_integral(solution: MasterSolution) -> bool:
    """Tell whether all variables of the master are whole numbers."""
    x = solution.x
    return bool(np.all(np.minimum(x, np.abs(1 - x)) <= INTEGRAL))


def tree_of(model: PathModel, master: Master, x: Float) -> CandidateTree | None:
    """Return the tree that an integral solution describes, None where paths do not agree."""
    chosen = np.flatnonzero(x > 0.5)
    paths = master.paths.take(chosen)
    if len(paths) != model.candidates.n_leaves or len(np.unique(paths.leaf)) != len(paths):
        return None
    candidates = np.full(model.candidates.n_nodes, -1, dtype=np.int32)
    targets = np.zeros(model.candidates.n_leaves, dtype=np.int32)
    for leaf, path, target in zip(paths.leaf, paths.candidates, paths.target, strict=True):
        nodes = model.candidates.path_nodes[leaf]
        if np.any((candidates[nodes] >= 0) & (candidates[nodes] != path)):
            return None
        candidates[nodes] = path
        targets[leaf] = target
    return CandidateTree(candidates, targets)


class _Rounds:
    """The rounds of column generation with simplex: master, cuts, heuristic and exact pricing."""

    def __init__(self, generation: Generation, allowed: Allowed, cutoff: float) -> None:
        self.generation, self.allowed, self.cutoff = generation, allowed, cutoff
        self.master, self.clock, self.cuts = generation.master, generation.clock, generation.cuts
        #: Phase one looks for paths that keep the coupling constraints at all.
        self.phase_one = False
        self.since_cuts, self.fresh_start, self.loose = 0, False, True

    def run(self) -> LpResult:
        """Return what the rounds end with."""
        self.generation.bound = np.inf
        self.master.set_phase(False)
        self.master.restrict(self.allowed.candidate, self.allowed.target)
        self.master.loosen(_ROOM)
        found = None
        while found is None:
            self.clock.check()
            found = self._round()
        return found

    def _round(self) -> LpResult | None:
        """Do one round; return the result if it is the last."""
        with self.clock.part("master"):
            solution = self.master.solve(self.clock.left)
        if solution is None:
            if self.phase_one or not self.master.model.rows:
                return LpResult("infeasible", -np.inf, None)
            self._set_phase(True)
            return None
        if solution.artificial <= _FEASIBLE and self.phase_one:
            self._set_phase(False)
            return None
        self.since_cuts += 1
        if not self.phase_one and self.since_cuts >= self.generation.cut_every:
            self.since_cuts = 0
            with self.clock.part("cuts"):
                if self.cuts.separate(self.master, solution.x, self.clock.left, extra=False):
                    return None
        if self.generation._heuristic_columns(solution, self.allowed):
            self.generation._tell(solution)
            return None
        return self._price(solution)

    def _set_phase(self, phase_one: bool) -> None:
        self.phase_one = phase_one
        self.master.set_phase(phase_one)

    def _price(self, solution: MasterSolution) -> LpResult | None:
        """Price exactly; return the result if nothing is left to add."""
        generation = self.generation
        with self.clock.part("pricing"):
            priced = generation.exact.price(solution.duals, self.allowed, self.clock.left)
        bound = generation.bound_of(solution.duals, priced, self.allowed)
        if not self.phase_one:
            generation.bound = min(generation.bound, bound)
        elif bound < -_FEASIBLE * 10:  # no combination of paths comes closer to the constraints
            return LpResult("infeasible", -np.inf, None)
        generation._tell(solution)
        if not self.phase_one and generation.bound <= self.cutoff:
            return LpResult("cutoff", generation.bound, solution)
        with self.clock.part("columns"):
            added = self.master.add_paths(priced.paths)
        if added:
            if isinstance(generation.heuristic, PoolPricing):
                generation.heuristic.restart(np.unique(priced.paths.leaf).astype(np.intp))
            self.fresh_start = False
            return None
        if len(priced.paths) and not self.fresh_start:
            # Pricing found only known columns, so the multipliers are inaccurate: solve once from
            # scratch.
            self.fresh_start = True
            with self.clock.part("master"):
                self.master.forget_basis()
            return None
        return self._finish(solution, accurate=len(priced.paths) == 0)

    def _finish(self, solution: MasterSolution, *, accurate: bool) -> LpResult | None:
        """Look for last cuts where no column is left; return the result if there are none."""
        generation = self.generation
        if not accurate:
            generation.trouble.append(
                "The multipliers of the master stayed inaccurate after a solve from scratch; "
                "its bound is a little weaker than its value."
            )
        if self.phase_one:
            generation.trouble.append("Rounding left it open whether a relaxation can be kept.")
            return LpResult("unsolved", np.inf, None)
        with self.clock.part("cuts"):
            if self.cuts.separate(self.master, solution.x, self.clock.left):
                self.since_cuts = 0
                return None
        if self.loose:
            self.loose = False
            self.master.loosen(0.0)
            return None
        return LpResult("optimal", generation.bound, solution)
