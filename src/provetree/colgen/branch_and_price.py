"""Branch-and-price: proves the best tree of the candidates under constraints that couple leaves.

A node of the search allows some candidates of each tree node and some targets of each leaf.
It branches on the split variables rho, then on targets; best bound first. Worths are whole numbers,
so bounds are rounded down, and a node whose bound is not above the best tree is closed.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.colgen.generation import Generation, is_integral, tree_of
from provetree.colgen.integer_step import recursion
from provetree.colgen.master import MasterSolution
from provetree.colgen.paths import CandidateTree
from provetree.colgen.pricing import Allowed
from provetree.colgen.tree_columns import TreeColumns, TreeLp
from provetree.number_types import Float


@dataclass(eq=False)
class BranchAndPrice:
    """The search over candidate splits and targets.

    With `use_recursion` the recursion bounds nodes too, and closes those it decides. With `trees`
    relaxations have trees as columns instead of paths.
    """

    generation: Generation
    on_improvement: Callable[[CandidateTree, int], None] | None = None
    use_recursion: bool = True
    trees: TreeColumns | None = None
    best: CandidateTree | None = field(default=None, init=False)
    best_worth: int | None = field(default=None, init=False)
    nodes: int = field(default=0, init=False)
    root_solution: MasterSolution | None = field(default=None, init=False)
    root_bound: float = field(default=np.inf, init=False)
    root_trees: TreeLp | None = field(default=None, init=False)
    _open: list[tuple[float, int, Allowed]] = field(default_factory=list, init=False)
    _current: float = field(default=-np.inf, init=False)

    def offer(self, tree: CandidateTree | None) -> bool:
        """Store a tree that satisfies the constraints and is better than all before."""
        if tree is None:
            return False
        worth, keeps = self.generation.model.evaluate(tree)
        if not keeps or (self.best_worth is not None and worth <= self.best_worth):
            return keeps
        self.best, self.best_worth = tree, worth
        if self.on_improvement is not None:
            self.on_improvement(tree, worth)
        return True

    @property
    def bound(self) -> float:
        """Upper bound on the worth of any tree, valid at any moment; -inf: there is none."""
        bounds = [-entry[0] for entry in self._open] + [self._current]
        return max(bounds if self.best_worth is None else [*bounds, self.best_worth])

    @property
    def proven(self) -> bool:
        """Whether nothing better than the best tree is left."""
        return not self._above(self.bound)

    def run(self) -> None:
        """Search to the end; ``TimeUpError`` and Ctrl-C leave a valid ``bound`` behind."""
        model = self.generation.model
        numbers = count()
        everything = Allowed.everything(model)
        self._open = [(-model.whole, next(numbers), everything)]
        while self._open:
            key, _, allowed = heapq.heappop(self._open)
            self._current = -key
            if not self._above(self._current):
                self._open.clear()
                break
            bound, children = self._process(allowed, self._current)
            for child in children:
                heapq.heappush(self._open, (-bound, next(numbers), child))
            self._current = -np.inf
        self._current = -np.inf

    def _above(self, bound: float) -> bool:
        """Tell whether a bound leaves room for a better tree."""
        if self.best_worth is None:
            return bound > -np.inf
        return bound > self.best_worth

    def _process(self, allowed: Allowed, bound: float) -> tuple[float, list[Allowed]]:
        """Solve a node; return its bound and what is left open of it."""
        generation = self.generation
        model, master = generation.model, generation.master
        self.nodes += 1
        start = recursion(model, allowed, generation.clock.left)
        if start is None:
            return -np.inf, []
        worth, keeps = model.evaluate(start)
        if self.use_recursion:
            bound = min(bound, worth)
            if keeps:
                self.offer(start)  # the best even without the constraints
                if self.trees is not None and self.nodes == 1:
                    self.root_trees = self.trees.decided(start, allowed)
                return bound, []
            if not self._above(bound):
                return bound, []
        if self.trees is not None:
            return self._process_with_trees(self.trees, allowed, bound, start)
        master.add_paths(model.tree_paths(start))
        cutoff = -np.inf
        if self.best_worth is not None and self.nodes > 1:  # the root's own value is of interest
            cutoff = model.lp_cutoff(self.best_worth)
        result = generation.solve(allowed, cutoff)
        if self.nodes == 1:
            self.root_solution, self.root_bound = result.solution, result.bound
        if result.status == "infeasible":
            return -np.inf, []
        bound = min(bound, model.whole_bound(result.bound))
        tree = None
        if result.solution is not None and is_integral(result.solution):
            tree = tree_of(model, master, result.solution.x)
            if self.offer(tree) and not self._above(bound):
                return bound, []
        if not self._above(bound):
            return bound, []
        rho = np.zeros(len(allowed.candidate))
        mass = np.zeros(allowed.target.shape)
        if result.solution is not None:
            rho = result.solution.rho
            np.add.at(mass, (master.paths.leaf, master.paths.target), result.solution.x)
        children = self._branch(allowed, rho, mass)
        if not children:
            self.offer(start)  # the one tree that is left
        return bound, children

    def _process_with_trees(
        self, trees: TreeColumns, allowed: Allowed, bound: float, start: CandidateTree
    ) -> tuple[float, list[Allowed]]:
        """Solve a node with trees as columns."""

        def on_tree(tree: CandidateTree) -> int | None:
            self.offer(tree)
            return self.best_worth

        trees.add(start)
        result = trees.solve(allowed, self.best_worth, on_tree)
        if self.nodes == 1:
            self.root_trees = result
        if result.status == "infeasible":
            return -np.inf, []
        bound = min(bound, result.bound)
        if not self._above(bound):
            return bound, []
        children = self._branch(allowed, result.rho, result.mass)
        if not children:
            self.offer(start)
        return bound, children

    def _branch(self, allowed: Allowed, rho: Float, mass: Float) -> list[Allowed]:
        offsets = self.generation.model.candidates.offsets
        open_, shares = (np.split(part, offsets[1:-1]) for part in (allowed.candidate, rho))
        choice = _most_fractional(open_, shares)  # nodes near the root first among equals
        leaf_choice = _most_fractional(allowed.target, mass)
        if choice is not None and (
            choice[0] > 1e-6 or leaf_choice is None or leaf_choice[0] <= 1e-6
        ):
            _, j, place = choice
            chosen = offsets[j] + place
            only, without = allowed.candidate.copy(), allowed.candidate.copy()
            only[offsets[j] : offsets[j + 1]] = 0
            only[chosen] = 1
            without[chosen] = 0
            return [Allowed(only, allowed.target), Allowed(without, allowed.target)]
        if leaf_choice is not None:
            _, leaf, chosen = leaf_choice
            this, others = allowed.target.copy(), allowed.target.copy()
            this[leaf] = 0
            this[leaf, chosen] = 1
            others[leaf, chosen] = 0
            return [Allowed(allowed.candidate, this), Allowed(allowed.candidate, others)]
        return []


def _most_fractional(
    allowed: Iterable[NDArray[Any]], shares: Iterable[NDArray[Any]]
) -> tuple[float, int, int] | None:
    """Return how fractional the most fractional open choice is, whose it is, and its place."""
    best: tuple[float, int, int] | None = None
    for owner, (is_open, share) in enumerate(zip(allowed, shares, strict=True)):
        if is_open.sum() < 2:
            continue
        part = np.where(is_open != 0, share, -1.0)
        largest = float(part.max())
        fraction = min(largest, 1 - largest)
        if best is None or fraction > best[0] + 1e-9:
            best = (fraction, owner, int(part.argmax()))
    return best
