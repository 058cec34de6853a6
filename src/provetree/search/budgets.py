"""Prices of actions that keep a policy tree within budgets.

A budget is the most weight of rows that may get an action. Each such action gets a price, which is
taken off the reward of every row that gets it, and the search finds the best tree at these prices.

Such a tree T is the best of all trees that use no more of any priced action than T does: let R be
the reward of a tree, n its use of the actions and p >= 0 the prices. T is best at p, so for any
other tree R' - p n' <= R - p n, and with n' <= n therefore R' <= R - p (n - n') <= R. A tree that
uses more than T, though no more than the budgets b, may bring more than T: nothing within the
budgets brings more than R - p n + p b, by the same line. The prices are chosen to make that bound
small (the Lagrangian dual, by cutting planes).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from provetree.number_types import Float
from provetree.problem.cost_scale import TOLERANCE
from provetree.solution import Solution, Status
from provetree.tree.tree import Tree

__all__ = ["PricedTree", "action_use", "prices_within"]

#: Solves the problem at some prices.
SolveAt: TypeAlias = Callable[[Float], Solution]

#: Cutting planes and steps towards dearer prices, at most; each is one search.
_MOST_CUTS, _MOST_STEPS = 60, 12


class PricedTree(NamedTuple):
    """A tree within budgets, and the prices at which it is the best of all trees."""

    solution: Solution  # its cost is that of the tree at the prices
    prices: Float  # the least that were tried at which the tree is the best; zero without a budget
    bound: float  # no tree within the budgets brings more, penalties of its splits taken off
    n_searches: int  # how many prices were tried


def action_use(tree: Tree) -> Float:
    """Return the weight of the training rows that get each action of a tree.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.search.budgets import action_use
    >>> from provetree.tree.values import Actions
    >>> tree = Tree(feature=[0, -1, -1], threshold=[3.0, 0, 0], n_samples=[0, 2, 3], n_features=1,
    ...             value=Actions([[0, 0], [5, 2], [1, 4]], [0, 2, 3]))
    >>> action_use(tree).tolist()
    [2.0, 3.0]
    """
    leaves = tree.feature < 0
    use = np.bincount(tree.label[leaves], tree.values.weight[leaves], minlength=tree.n_classes)
    return np.asarray(use, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Found:
    """What one search found: the reward of its tree without prices, and its use of the actions."""

    solution: Solution
    prices: Float
    reward: float
    use: Float

    def net(self, prices: Float) -> float:
        """Return the reward at some prices."""
        return self.reward - float(prices @ self.use)


def prices_within(
    solve_at: SolveAt, budgets: Float, dearest: Float, spread: float, leaf: Tree
) -> PricedTree:
    """Return the best tree found within budgets.

    Parameters
    ----------
    solve_at : callable
        Solves the problem at given prices.
    budgets : array of float, shape (n_actions,)
        The most weight of rows for each action; infinite for those without a budget.
    dearest : array of float, shape (n_actions,)
        Prices at which no tree gains by any action with a budget; zero for the others.
    spread : float
        What the best choices bring beyond the worst, which says what a rounding is.
    leaf : Tree
        A tree without splits that is within the budgets, for where time runs out.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import ExactSearch, build_problem
    >>> from provetree.search.budgets import action_use, prices_within
    >>> from provetree.tree.build import build_tree
    >>> X, rewards = np.arange(4.0).reshape(-1, 1), np.array([[0, 1], [0, 2], [0, 3], [0, 4.0]])
    >>> def solve_at(prices):
    ...     problem = build_problem(X, prices - rewards, loss="linear", predicts="rewards",
    ...                             max_depth=2)
    ...     return ExactSearch().solve(problem)
    >>> leaf = build_tree(build_problem(X, -rewards, loss="linear", predicts="rewards",
    ...                                 max_depth=0), [-1], [0], [0])
    >>> found = prices_within(solve_at, np.array([np.inf, 2.0]), np.array([0.0, 4.1]), 10.0, leaf)
    >>> action_use(found.solution.tree).tolist(), found.prices.round(9), round(found.bound, 9)
    ([2.0, 2.0], array([0., 2.]), 7.0)
    """
    return _Prices(solve_at, budgets, dearest, spread).search(leaf)


class _Prices:
    """The prices tried so far, and what was found at them."""

    def __init__(self, solve_at: SolveAt, budgets: Float, dearest: Float, spread: float) -> None:
        self.solve_at, self.dearest = solve_at, dearest
        self.limited = np.flatnonzero(np.isfinite(budgets))
        self.budgets = budgets[self.limited]
        self.scale = spread if spread > 0 else 1.0
        self.tolerance = TOLERANCE * self.scale
        self.found: list[_Found] = []
        self.bound = math.inf
        self.stopped: Status | None = None  # what ended a search before its proof

    def search(self, leaf: Tree) -> PricedTree:
        """Try prices until the bound is as low as it gets; return the best tree."""
        self._try(np.zeros(len(self.dearest)))
        if not self._is_within(self.found[0]):
            # At the other end no action with a budget is used. The answer lies between them.
            self._try(self.dearest)
            prices = self._cut()
            best = self._best()
            if best is None or not self._is_best_at(best, prices):
                self._step_up(prices)
        return self._answer(leaf)

    def _try(self, prices: Float) -> None:
        """Search at some prices, unless an earlier search was stopped."""
        if self.stopped is not None:
            return
        solution = self.solve_at(prices)
        use = action_use(solution.tree)
        self.found.append(_Found(solution, prices, float(prices @ use) - solution.cost, use))
        at_most = -solution.lower_bound + float(prices[self.limited] @ self.budgets)
        self.bound = min(self.bound, at_most)
        if solution.status != "optimal":
            self.stopped = solution.status

    def _cut(self) -> Float:
        """Lower the bound as far as it goes; return the prices of the least bound."""
        prices = self.found[-1].prices
        for _ in range(_MOST_CUTS):
            if self.stopped is not None:
                break
            prices = self._least_bound()
            known = max(found.net(prices) for found in self.found)
            self._try(prices)
            if self.found[-1].net(prices) <= known + self.tolerance:
                break  # no tree is above those that are known
        return prices

    def _least_bound(self) -> Float:
        """Return the prices of the least bound, as far as the trees found so far tell."""
        from scipy.optimize import linprog

        # The least t + p b, where t is at least what each known tree brings at the prices p. All of
        # it in shares of the rows and of the spread, so that the numbers are of one size.
        rows = float(self.found[0].use.sum())
        cuts = [np.append(-found.use[self.limited] / rows, -1.0) for found in self.found]
        dearest = self.dearest[self.limited] * rows / self.scale
        solved = linprog(
            np.append(self.budgets / rows, 1.0),
            A_ub=np.array(cuts),
            b_ub=np.array([-found.reward / self.scale for found in self.found]),
            bounds=[*((0.0, price) for price in dearest), (None, None)],
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        prices = np.zeros(len(self.dearest))
        found = np.clip(solved.x[:-1], 0.0, dearest) * self.scale / rows
        # Trees that cost the same at a price are told apart by its last digits, which must not
        # depend on the order of the rows.
        prices[self.limited] = [float(f"{price:.12g}") for price in found]
        return prices

    def _step_up(self, prices: Float) -> None:
        """Search between the prices of the least bound and those at which nothing is used.

        With several budgets, no tree that is best at the former need be within all of them.
        """
        low, high = 0.0, 1.0
        for _ in range(_MOST_STEPS):
            middle = (low + high) / 2
            self._try(prices + middle * (self.dearest - prices))
            if self.stopped is not None:
                return
            if self._is_within(self.found[-1]):
                high = middle
            else:
                low = middle

    def _is_within(self, found: _Found) -> bool:
        return bool((found.use[self.limited] <= self.budgets * (1 + 1e-12)).all())

    def _is_best_at(self, tree: _Found, prices: Float) -> bool:
        """Tell whether a tree is the best at prices that were tried."""
        most = max(found.net(prices) for found in self.found)
        return tree.net(prices) >= most - self.tolerance

    def _best(self) -> _Found | None:
        within = [found for found in self.found if self._is_within(found)]
        return max(within, key=lambda found: found.reward, default=None)

    def _answer(self, leaf: Tree) -> PricedTree:
        best = self._best()
        free = self.found[0]
        if best is None:
            # Time is over. No tree costs less than the bound without prices.
            status = "feasible" if self.stopped is None else self.stopped
            reward = float(leaf.value[0, leaf.label[0]])
            found = Solution(leaf, -reward, free.solution.lower_bound, status)
            return PricedTree(found, free.prices, self.bound, len(self.found))
        proven = [found for found in self.found if found.solution.status == "optimal"]
        fitting = [f.prices for f in proven if self._is_best_at(best, f.prices)]
        prices = min([*fitting, best.prices], key=lambda each: float(each.sum()))
        cost = -best.net(prices)
        solution = replace(
            best.solution,
            cost=cost,
            lower_bound=cost if fitting else best.solution.lower_bound,
            status=best.solution.status if self.stopped is None else self.stopped,
        )
        return PricedTree(solution, prices, max(self.bound, best.reward), len(self.found))
