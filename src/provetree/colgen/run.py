"""One solve of column generation: candidates, start columns, relaxation, integer step, proof.

With nothing that couples leaves the recursion over candidates proves the tree, and column
generation gives the bound of the papers. Under coupling constraints branch-and-price proves it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from provetree.colgen import messages
from provetree.colgen.branch_and_price import BranchAndPrice
from provetree.colgen.candidates import (
    PASS,
    CandidateSet,
    SampledTrees,
    all_candidates,
    covers_all_trees,
    given_candidates,
    quantile_candidates,
    run_cart,
    sampled_candidates,
)
from provetree.colgen.cpsat import CpSatPricing, kept_solver, separate_rows
from provetree.colgen.cuts import CpSatSeparation, Cuts
from provetree.colgen.generation import Clock, Generation, Iteration, LpResult, is_integral, tree_of
from provetree.colgen.integer_step import diving, recursion
from provetree.colgen.items import build_items
from provetree.colgen.master import Master, MasterError, TimeUpError, raise_if_stopped
from provetree.colgen.paths import CandidateTree, PathModel
from provetree.colgen.pricing import (
    Allowed,
    ExactPricing,
    PoolPricing,
    Pricing,
    RandomPricing,
)
from provetree.colgen.result import (
    CandidateProof,
    GenerationProgress,
    GenerationSolution,
    finished_tree,
)
from provetree.colgen.start import START_SHARE, fewest_splits, start_paths, tree_of_cart
from provetree.colgen.tree_columns import TreeColumns, TreeLp
from provetree.errors import InfeasibleError
from provetree.problem.constrained import ConstrainedProblem
from provetree.problem.problem import Problem
from provetree.problem.rows import unavoidable_error
from provetree.problem.side_constraints import SideConstraints
from provetree.solution import Progress, Status

if TYPE_CHECKING:
    from provetree.colgen.engine import ColumnGeneration

#: The relaxation of larger candidate sets takes minutes, and adds nothing to a proven tree.
MOST_PATHS = 200_000


class Run:
    """One solve: what is known so far, and the steps."""

    def __init__(
        self,
        settings: ColumnGeneration,
        problem: Problem,
        clock: Clock,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.settings = settings
        self.problem = problem
        self.clock = clock
        self.on_progress = on_progress
        self.history: list[GenerationProgress] = []
        self.trouble = messages.rounded_weights(problem.weight_error)
        self.best: CandidateTree | None = None
        self.best_worth: int | None = None
        self.bound = math.inf  # on the worth of any tree of the candidates; an int once known
        self.master_bound = np.inf  # the bound of the linear relaxation, the same
        self.proven_infeasible = False
        self.lp: LpResult | None = None
        self.root_trees: TreeLp | None = None
        self.generation: Generation | None = None
        self.search: BranchAndPrice | None = None
        self.lower = problem.error_scale * unavoidable_error(problem)
        asked = problem.side if isinstance(problem, ConstrainedProblem) else None
        self.side = SideConstraints() if asked is None else asked
        if self.side.limits_columns:
            raise ValueError("Column generation knows no limits on the use of columns.")
        self.status: Status = "candidate_optimal"
        self.cart: SampledTrees | None = None
        self.rng = np.random.default_rng(settings.random_state)

    def solve(self) -> GenerationSolution:
        """Return the best tree the clock allows to find, and what is proven about it."""
        depth_zero = self.problem.max_depth == 0
        try:
            # A tree without splits: one node that only passes its rows on.
            self.model = self._model(CandidateSet.of(1, [[]])) if depth_zero else self._prepare()
        except KeyboardInterrupt:
            # Not even candidates yet: the splits of CART are some.
            self.status = "interrupted"
            quick = replace(self.settings, candidates="sampled", sample_runs=1, start_runs=0)
            self.settings = quick
            self.model = self._prepare()
        try:
            if self.status == "interrupted":
                self._first_tree()
            else:
                self._optimise()
        except TimeUpError:
            self.status = "time_limit"
        except KeyboardInterrupt:
            self.status = "interrupted"
        except MasterError as error:
            self.status = "feasible"
            self.trouble.append(str(error))
        return self._solution()

    # -- steps ---------------------------------------------------------------------------

    def _model(self, candidates: CandidateSet) -> PathModel:
        settings, groups = self.settings, self.side.groups
        with self.clock.part("items"):
            items = build_items(
                self.problem,
                candidates,
                merge=settings.merges_rows,
                group_weights=None if groups is None else np.ascontiguousarray(groups.T),
            )
            return PathModel(self.problem, items, self.side)

    def _prepare(self) -> PathModel:
        settings, problem = self.settings, self.problem
        seed = settings.random_state
        with self.clock.part("sampling"):
            self.cart = run_cart(problem, 1, 1.0, seed, n_jobs=settings.n_jobs)
            smaller = (
                problem.split_penalty > 0
                or problem.min_samples_leaf > 1
                or problem.max_splits < 2**problem.max_depth - 1
            )
            if isinstance(settings.candidates, str):
                if settings.candidates == "all":
                    candidates = all_candidates(problem)
                elif settings.candidates == "quantiles":
                    candidates = quantile_candidates(
                        problem, self.cart, per_column=settings.quantiles, with_pass=smaller
                    )
                else:
                    candidates = sampled_candidates(
                        problem,
                        self.cart,
                        seed=seed,
                        runs=settings.sample_runs,
                        share=settings.sample_share,
                        until_root_settles=settings.until_root_settles,
                        factor=settings.candidate_factor,
                        with_pass=smaller,
                        n_jobs=settings.n_jobs,
                        keep_going=self._keep_sampling,
                    )
            else:
                candidates = given_candidates(problem, settings.candidates, with_pass=smaller)
                self.cart = None  # its splits need not be among the user's
                empty = _unsplit(candidates)
                if isinstance(settings.candidates, Mapping):
                    empty = tuple(j for j in empty if j in settings.candidates)
                self.trouble += messages.empty_nodes(empty)
        return self._model(candidates)

    def _keep_sampling(self) -> bool:
        """Sample on while time is left; what was sampled so far is enough for some tree."""
        if self.clock.left > 0:
            return True
        self.trouble.append(messages.SAMPLING_CUT)
        return False

    def _optimise(self) -> None:
        """Find the first tree, solve the relaxation, find the tree, prove it."""
        settings, model = self.settings, self.model
        everything = Allowed.everything(model)
        self._first_tree()
        self.clock.check()
        plain = settings.integer_step == "recursion"
        start: CandidateTree | None = None
        if plain or not model.is_plain or self.best is None:
            with self.clock.part("recursion"):
                start = recursion(model, everything, self.clock.left)
            if start is None:
                self.proven_infeasible = True
                return
            worth, keeps = model.evaluate(start)
            if plain or not model.is_plain:
                self.bound = min(self.bound, worth)
            if keeps:
                self._offer(start)
        wanted = settings.solve_master
        if wanted is None:
            wanted = model.candidates.n_paths <= MOST_PATHS
        if not wanted and self._is_proven():
            return
        needs_search = settings.prove and not (model.is_plain and plain)
        with_trees = needs_search and plain and settings.branch_columns == "trees"
        generation = self._generation(start, bare=with_trees)
        if needs_search:
            self._branch_and_price(generation, with_trees)
        else:
            self._column_generation(generation, everything)

    def _first_tree(self) -> None:
        """Offer CART's tree or, where it does not keep the rules, one that hardly splits."""
        if self.cart is not None:
            self._offer(tree_of_cart(self.model, self.cart))
        if self.best is None:
            self._offer(fewest_splits(self.model))

    def _generation(self, start: CandidateTree | None, bare: bool) -> Generation:
        """Set up column generation; a bare one has no columns but those of the trees at hand."""
        settings, model = self.settings, self.model
        with self.clock.part("start columns"):
            master = Master(model)
            for tree in (self.best, start):
                if tree is not None:
                    master.add_paths(model.tree_paths(tree))
            runs = settings.n_start_runs
            if runs > 0 and not bare and self.problem.max_depth > 0:
                seed = settings.random_state + 1
                trees = run_cart(self.problem, runs, START_SHARE, seed, n_jobs=settings.n_jobs)
                master.add_paths(start_paths(model, trees))
        form = settings.form
        with_cpsat: CpSatSeparation | None = None
        if settings.separation == "cpsat" and form == "extra":
            with_cpsat = partial(separate_rows, solver=kept_solver())
        cuts = Cuts(model, form, settings.separation, with_cpsat=with_cpsat)
        if not bare:
            cuts.start(master)
        exact = self._exact_pricing()
        self.generation = Generation(
            model,
            master,
            cuts,
            exact,
            self._heuristic(),
            self.clock,
            cut_every=settings.cut_every,
            on_iteration=self._tell,
        )
        return self.generation

    def _exact_pricing(self) -> Pricing:
        settings, per_target = self.settings, not self.settings.is_revised
        if settings.pricing == "cpsat":
            return CpSatPricing(self.model, per_target)
        return ExactPricing(self.model, settings.columns_per_leaf, per_target)

    def _heuristic(self) -> Pricing | None:
        name = self.settings.first_pricing
        if name == "random":
            return RandomPricing(self.model, self.rng)
        return PoolPricing(self.model, self.rng) if name == "pool" else None

    def _column_generation(self, generation: Generation, everything: Allowed) -> None:
        model, settings = self.model, self.settings
        interior = settings.uses_interior_points and not self.model.rows
        try:
            self.lp = generation.solve_interior(everything, self.best) if interior else None
            if self.lp is None:
                self._note_master_bound(generation.bound)
                self.lp = generation.solve(everything)
        finally:
            self._note_master_bound(generation.bound)
        if self.best is not None and self.best_worth is not None:
            self.lp = generation.with_tree(self.lp, self.best, self.best_worth)
        if self.lp.status == "infeasible":
            self.proven_infeasible = True
            return
        solution = self.lp.solution
        if solution is not None and is_integral(solution):
            self._offer(tree_of(model, generation.master, solution.x))
        elif settings.integer_step == "mip" or not model.is_plain:
            with self.clock.part("integer step"):
                x, ended = generation.master.integer_solution(self.clock.left)
            self._offer(None if x is None else tree_of(model, generation.master, x))
            raise_if_stopped(ended)
        elif settings.integer_step == "diving":
            with self.clock.part("integer step"):
                self._offer(diving(generation, everything))

    def _branch_and_price(self, generation: Generation, with_trees: bool) -> None:
        settings, model = self.settings, self.model
        search = BranchAndPrice(
            generation,
            on_improvement=lambda tree, worth: self._offer(tree),
            use_recursion=settings.integer_step == "recursion" or not model.is_plain,
            trees=TreeColumns(model, self.clock) if with_trees else None,
        )
        self.search = search
        if self.best is not None:
            search.offer(self.best)
        try:
            if settings.integer_step in ("mip", "diving"):
                self._column_generation(generation, Allowed.everything(model))
                if self.best is not None:
                    search.offer(self.best)
            search.run()
        finally:
            if search.nodes > 0:
                self.bound = min(self.bound, search.bound)
                self.root_trees = search.root_trees
                if self.root_trees is not None:
                    self.master_bound = min(self.master_bound, self.root_trees.bound)
                # Later bounds of the generation are those of parts of the problem.
                at_root = search.nodes == 1 and not np.isfinite(search.root_bound)
                root = generation.bound if at_root else search.root_bound
                self._note_master_bound(root)
                if with_trees and search.trees is not None:
                    generation.iterations += search.trees.iterations
                if self.lp is None and search.root_solution is not None:
                    self.lp = LpResult("optimal", root, search.root_solution)
        if search.best is None and search.proven:
            self.proven_infeasible = True

    def _note_master_bound(self, bound: float) -> None:
        self.master_bound = min(self.master_bound, bound * self.model.unit)
        self.bound = min(self.bound, self.model.whole_bound(bound))

    # -- book-keeping --------------------------------------------------------------------

    def _offer(self, tree: CandidateTree | None) -> None:
        if tree is None:
            return
        worth, keeps = self.model.evaluate(tree)
        if keeps and (self.best_worth is None or worth > self.best_worth):
            self.best, self.best_worth = tree, worth

    def _is_proven(self) -> bool:
        return self.best_worth is not None and self.bound <= self.best_worth

    def _user(self, worth: float) -> float:
        """Return the user's cost that belongs to a worth."""
        if not np.isfinite(worth):
            return -worth
        if float(worth).is_integer():
            return self.problem.to_user_cost(self.model.cost(int(worth)))
        return (self.model.whole - worth - self.model.leaf_price) / self.problem.cost_unit

    def _tell(self, iteration: Iteration) -> None:
        unit = self.model.unit
        point = GenerationProgress(
            iteration.seconds,
            np.inf if self.best_worth is None else self._user(self.best_worth),
            self.problem.to_user_cost(self.lower),
            self._user(iteration.value * unit),
            self._user(min(self.bound, iteration.bound * unit)),
            iteration.n_columns,
            iteration.n_cuts,
        )
        self.history.append(point)
        if self.on_progress is not None and self.best_worth is not None:
            self.on_progress(point)

    def _solution(self) -> GenerationSolution:
        problem, model = self.problem, self.model
        if self.best is None:
            raise InfeasibleError(messages.infeasible(model, self.proven_infeasible, self.status))
        tree, cost = finished_tree(problem, model.candidates, self.best)
        proven = self._is_proven()
        covers = covers_all_trees(problem, model.candidates)
        # Removing a split of no use may make the tree cheaper than its paths; never dearer.
        bound = min(self.model.cost(self.best_worth or 0) if proven else self._lowest_cost(), cost)
        lower = self.lower
        if covers:
            lower = max(lower, bound)
        if cost <= lower:
            lower, bound, proven = cost, cost, True
            self.status = "optimal"
        elif self.status == "candidate_optimal" and not proven:
            self.status = "feasible"
        return GenerationSolution(
            tree=tree,
            cost=problem.to_user_cost(cost),
            lower_bound=problem.to_user_cost(lower),
            status=self.status,
            history=tuple(self.history),
            counters=self._counters(),
            proof=self._proof(proven, bound, covers),
            candidates=model.candidates,
        )

    def _lowest_cost(self) -> int:
        """Return the least integer cost that the bound on worths leaves possible."""
        if not np.isfinite(self.bound):
            return self.lower
        return max(self.lower, self.model.cost(int(self.bound)))

    def _counters(self) -> dict[str, int]:
        generation = self.generation
        return {
            "items": self.model.items.n_items,
            "candidates": int(self.model.candidates.sizes.sum()),
            "iterations": 0 if generation is None else generation.iterations,
            "columns": 0 if generation is None else generation.master.n_columns,
            "cuts": 0 if generation is None else generation.master.n_cuts,
            "branch_nodes": 0 if self.search is None else self.search.nodes,
        }

    def _proof(self, proven: bool, bound: int, covers: bool) -> CandidateProof:
        generation, lp, unit = self.generation, self.lp, self.model.unit
        solution = None if lp is None else lp.solution
        value = math.inf if solution is None else self._user(solution.value * unit)
        solved = lp is not None and lp.status == "optimal"
        integral = solution is not None and is_integral(solution)
        n_columns = 0 if generation is None else generation.master.n_columns
        if self.root_trees is not None:
            value = self._user(self.root_trees.value)
            solved, integral = self.root_trees.status == "optimal", self.root_trees.is_tree
            if self.search is not None and self.search.trees is not None:
                n_columns = len(self.search.trees.columns)
        trouble = self.trouble + ([] if generation is None else generation.trouble)
        resolves = 0 if generation is None else generation.master.resolves
        trouble += messages.solved_again(resolves)
        return CandidateProof(
            candidate_optimal=proven,
            candidate_bound=self.problem.to_user_cost(bound),
            master_value=value,
            master_bound=self._user(self.master_bound),
            master_solved=solved,
            master_integral=integral,
            iterations=0 if generation is None else generation.iterations,
            n_columns=n_columns,
            n_row_cuts=0 if generation is None else generation.cuts.n_row_cuts,
            n_extra_cuts=0 if generation is None else generation.cuts.n_extra_cuts,
            n_branch_nodes=0 if self.search is None else self.search.nodes,
            n_paths=self.model.candidates.n_paths,
            unsplit_nodes=_unsplit(self.model.candidates),
            resolves=resolves,
            seconds=dict(self.clock.parts),
            trouble=tuple(trouble),
            covers_all_trees=covers,
        )


def _unsplit(candidates: CandidateSet) -> tuple[int, ...]:
    """Return the nodes that have no candidate but to pass all rows on."""
    return tuple(j for j, node in enumerate(candidates.splits) if node == (PASS,))
