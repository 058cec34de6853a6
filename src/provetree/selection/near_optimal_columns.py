"""What near-optimal trees ask: which columns all, some or none need, and which suffice."""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from provetree.problem.problem import Problem
from provetree.problem.weights import as_decimal
from provetree.search.engine import ExactSearch
from provetree.selection.tree_levels import Level, NumberedTrees, Path, Shape
from provetree.solution import Limits, Solution
from provetree.tree.build import build_tree

if TYPE_CHECKING:
    from provetree.selection.near_optimal import NearOptimalTree, NearOptimalTrees

__all__ = [
    "ColumnUse",
    "best_with",
    "best_without",
    "cheapest_columns",
    "checked_prices",
    "column_uses",
]

Use = Literal["all", "some", "none", "unknown"]


@dataclass(frozen=True)
class ColumnUse:
    """How near-optimal trees use a column.

    Parameters
    ----------
    feature : int
        The number of the column.
    name : str
        Its name.
    use : {"all", "some", "none", "unknown"}
        Whether all, some or none of the trees ask about it; unknown where not all were counted.
    n_with, n_trees : int
        How many trees ask about it, of how many that were counted.
    extra_with : int, float or None
        How much more than the optimum the best tree costs that asks about it; None where that is
        more than the slack.
    extra_without : int or float
        How much more the best tree costs that does not, within the slack or beyond it.
    extra_without_at_least : int or float
        The same as a proven lower bound; equal to `extra_without` when proven.

    Examples
    --------
    >>> from provetree.selection.near_optimal_columns import ColumnUse
    >>> ColumnUse(0, "age", "all", 12, 12, 0, 7, 7).sentence
    'age: in all of them. Without it the best makes 7 more.'
    """

    feature: int
    name: str
    use: Use
    n_with: int
    n_trees: int
    extra_with: float | None
    extra_without: float
    extra_without_at_least: float

    @property
    def share(self) -> float:
        """The share of the trees that ask about it."""
        return float(Fraction(self.n_with, self.n_trees)) if self.n_trees else math.nan

    @property
    def sentence(self) -> str:
        """The use of the column in words."""
        words = {
            "all": "in all of them",
            "none": "in none of them",
            "some": f"in some of them ({_of(self.n_with, self.n_trees)})",
            "unknown": f"in {_of(self.n_with, self.n_trees)} that were counted",
        }[self.use]
        more = "no" if self.extra_without == 0 else f"{self.extra_without:g}"
        if self.extra_without_at_least < self.extra_without:
            more = f"at least {self.extra_without_at_least:g} and at most {more}"
        return f"{self.name}: {words}. Without it the best makes {more} more."


def _of(some: int, everything: int) -> str:
    if everything <= 100_000:
        return f"{some:,} of {everything:,}"
    return f"{float(Fraction(some, everything)):.2%}"


def column_uses(found: NearOptimalTrees, time_limit: float | None = None) -> list[ColumnUse]:
    """Return how the trees use each column."""
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    names, trees, problem = found.column_names, found._numbered, found.problem
    optimum = problem.to_whole_cost(found.optimum)
    uses = []
    for feature, name in enumerate(names):
        with_it = trees.root.with_feature.get(feature, {})
        n_with, n_trees = sum(with_it.values()), trees.n_trees
        use: Use = "some"
        if n_with in (0, n_trees):
            use = "none" if n_with == 0 else "all"
            if not found.is_complete:
                use = "unknown"
        cheaper = [cost for cost, n in trees.counts.items() if n > with_it.get(cost, 0)]
        if cheaper and found.is_complete:
            cost = bound = cheaper[0]
        elif feature not in problem.columns.features:
            cost = bound = optimum
        else:
            share = (deadline - time.monotonic()) / (len(names) - feature)
            solution = _solved(_without(problem, {feature}), share)
            cost = problem.to_whole_cost(solution.cost)
            bound = max(optimum, problem.to_whole_cost(solution.lower_bound))
        extra_with = problem.to_user_cost(min(with_it) - optimum) if with_it else None
        extras = (problem.to_user_cost(each - optimum) for each in (cost, bound))
        uses.append(ColumnUse(feature, name, use, n_with, n_trees, extra_with, *extras))
    return uses


def _without(problem: Problem, features: Iterable[int]) -> Problem:
    """Return a problem without some columns of the table."""
    out = set(features)
    kept = [c for c, feature in enumerate(problem.columns.features.tolist()) if feature not in out]
    return replace(
        problem,
        columns=problem.columns.take(kept),
        ranks=np.ascontiguousarray(problem.ranks[kept]),
        max_depth=problem.max_depth if kept else 0,
        max_splits=problem.max_splits if kept else 0,
    )


def _solved(problem: Problem, seconds: float) -> Solution:
    limits = Limits(None if math.isinf(seconds) else max(seconds, 1e-3))
    if not len(problem.columns):
        leaf = build_tree(problem, [-1], [0])
        cost = problem.to_user_cost(problem.error_scale * problem.root_error)
        return Solution(leaf, cost, cost, "optimal")
    return ExactSearch().solve(problem, limits)


def best_without(
    found: NearOptimalTrees, feature: int, time_limit: float | None
) -> NearOptimalTree:
    """Return the best tree that does not ask about a column."""
    seconds = math.inf if time_limit is None else time_limit
    solution = _solved(_without(found.problem, {feature}), seconds)
    return found._found(
        solution.tree,
        found.problem.to_whole_cost(solution.cost),
        why=f"is the best without {found.column_names[feature]!r}",
        proven=solution.status == "optimal",
    )


def best_with(found: NearOptimalTrees, feature: int) -> NearOptimalTree | None:
    """Return the best of the trees that asks about a column."""
    trees = found._numbered
    with_it = trees.root.with_feature.get(feature)
    if not with_it:
        return None
    cost = min(with_it)
    shape = _tree_with(trees, trees.root, (), trees.depth, cost, feature)
    why = f"is the best that asks about {found.column_names[feature]!r}"
    return found._tree(shape, cost, why=why, proven=found.is_complete)


def _tree_with(
    trees: NumberedTrees, level: Level, path: Path, depth: int, cost: int, feature: int
) -> Shape:
    """Return a tree of a cost that asks about a column, where that is the least of such trees."""
    split = next(split for split in level.splits if split.least_with.get(feature) == cost)
    below = trees.below(path, split)
    sides = (split.left, split.right)
    for cost_left, cost_right, _ in trees.pairs(split, cost):
        costs = (cost_left, cost_right)
        if split.feature == feature:
            number = trees.is_refused(split, *costs)
            left, right = divmod(int(number), split.right.by_cost[cost_right])
            return (
                (split.column, split.rank),
                *trees.side_shape(below[0], depth - 1, split.left, cost_left, left),
                *trees.side_shape(below[1], depth - 1, split.right, cost_right, right),
            )
        for asks in (0, 1):
            if depth < 2 or all(costs[asks] != c for c, _, _ in sides[asks].grown):
                continue
            one = trees.level_of(below[asks], depth - 1, sides[asks])
            # A cheaper tree of this side that asks about it would make a cheaper tree of both.
            if min(one.with_feature.get(feature, {}), default=-1) != costs[asks]:
                continue
            shapes: list[Shape] = [(), ()]
            shapes[asks] = _tree_with(trees, one, below[asks], depth - 1, costs[asks], feature)
            other = 1 - asks
            shapes[other] = trees.side_shape(below[other], depth - 1, sides[other], costs[other], 0)
            return ((split.column, split.rank), *shapes[0], *shapes[1])
    raise AssertionError("A tree that was counted could not be found again.")


def checked_prices(
    found: NearOptimalTrees, column_costs: Mapping[str | int, float]
) -> dict[int, Fraction]:
    """Return what each column costs, as exact numbers."""
    if not isinstance(column_costs, Mapping):
        raise TypeError(
            "The 'column_costs' must be a mapping of columns to numbers. "
            f"Got {column_costs!r} instead."
        )
    prices = dict.fromkeys(range(found.problem.n_features), Fraction(0))
    for column, price in column_costs.items():
        is_number = isinstance(price, numbers.Real) and not isinstance(price, bool)
        if not is_number or not math.isfinite(price) or price < 0:
            raise ValueError(
                "The 'column_costs' must be finite numbers of at least zero. "
                f"Got {price!r} for {column!r} instead."
            )
        prices[found.feature_of(column)] = as_decimal(float(price))
    return prices


#: Sets of columns of the least price that are tried for the best tree among them.
_MOST_SETS = 100


def cheapest_columns(
    found: NearOptimalTrees,
    prices: Mapping[int, Fraction],
    why: str,
    time_limit: float | None,
) -> NearOptimalTree:
    """Return a tree within the limit whose columns cost least together; of those the best.

    Columns that do not suffice tell that a tree needs one of the others. Of the sets that heed all
    that was told so, the cheapest is tried next; the first that suffices is the cheapest of all.
    Other sets of that price have a column that it has not.
    """
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    problem, limit = found.problem, found._limit
    known = set(found._numbered.root.with_feature)
    # Only columns that a tree asks about matter, once all trees are counted.
    among = known if found.is_complete else set(problem.columns.features.tolist())
    needs: list[frozenset[int]] = []

    def solved(columns: Iterable[int]) -> Solution:
        return _solved(_without(problem, among_all - set(columns)), deadline - time.monotonic())

    def suffices(solution: Solution) -> bool:
        return problem.to_whole_cost(solution.cost) <= limit

    among_all = set(problem.columns.features.tolist())
    free = {feature for feature in among if prices[feature] == 0}
    best: list[Solution] = []
    least, n_sets = Fraction(0), 0
    while True:
        chosen = _cheapest_hitting(needs, among - free, prices) | free
        price = sum((prices[feature] for feature in chosen), Fraction(0))
        if best and price > least:
            break
        solution = solved(chosen)
        if suffices(solution):
            best, least = [min([*best, solution], key=lambda each: each.cost)], price
        if best:
            n_sets += 1
            rest = frozenset(among - chosen)
            over = n_sets == _MOST_SETS or time.monotonic() >= deadline
            if over or not rest or best[0].cost <= found.optimum:
                break
            needs.append(rest)
            continue
        if time.monotonic() >= deadline or solution.status != "optimal":
            return _cheapest_known(found, prices, why)
        # As many more columns as do not suffice either: the fewer are left, the more is told.
        for feature in sorted(among - chosen, key=lambda f: (-prices[f], f)):
            trial = solved(chosen | {feature})
            if time.monotonic() >= deadline:
                return _cheapest_known(found, prices, why)
            if not suffices(trial):
                chosen = chosen | {feature}
        needs.append(frozenset(among - chosen))
    value, cost = _price(best[0], prices), problem.to_whole_cost(best[0].cost)
    return found._found(best[0].tree, cost, why=why, value=value, proven=True)


def _price(solution: Solution | NearOptimalTree, prices: Mapping[int, Fraction]) -> float:
    return float(sum((prices[f] for f in solution.tree.columns_used), Fraction(0)))


def _cheapest_known(
    found: NearOptimalTrees, prices: Mapping[int, Fraction], why: str
) -> NearOptimalTree:
    """Return the cheapest of some trees, where the time for all of them is over."""
    some = [found[number] for number in range(min(200, found._numbered.n_trees))]
    chosen = min(some, key=lambda each: (_price(each, prices), each.cost))
    return replace(chosen, why=why, value=_price(chosen, prices), proven=False)


def _cheapest_hitting(
    needs: list[frozenset[int]], among: set[int], prices: Mapping[int, Fraction]
) -> set[int]:
    """Return the cheapest set with a member of each need, by branch and bound."""
    best: list[tuple[Fraction, set[int]]] = [
        (sum((prices[f] for f in among), Fraction(0)), set(among))
    ]

    def extend(chosen: set[int], out: frozenset[int], price: Fraction) -> None:
        if price >= best[0][0]:
            return
        open_needs = [need - out for need in needs if not need & chosen]
        if not open_needs:
            best[0] = (price, set(chosen))
            return
        need = min(open_needs, key=lambda each: (len(each), sorted(each)))
        for feature in sorted(need, key=lambda f: (prices[f], f)):
            extend(chosen | {feature}, out, price + prices[feature])
            out = out | {feature}

    extend(set(), frozenset(), Fraction(0))
    return best[0][1]
