"""Runner-up splits: what the best split on another column would cost, proven.

The alternatives to a split are all splits of its rows on other columns, each with the best subtrees
of the remaining depth, and a leaf. Optimal costs of nested row sets bound one another, so few
thresholds have to be solved: intervals of thresholds wait in a queue, lowest bound first.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from provetree.export.words import split_text
from provetree.problem.cost_scale import TOLERANCE
from provetree.problem.losses import class_cost, targets_cost
from provetree.problem.node_problem import node_problem, penalty_in
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.problem.rules import rules_given
from provetree.problem.weights import integer_weights
from provetree.search.engine import ExactSearch
from provetree.solution import Engine, Limits, Solution, Status
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree

__all__ = [
    "NodeSearch",
    "RunnerUp",
    "cost_of_leaves",
    "of_columns",
    "runner_up_splits",
    "runner_ups",
    "splits_below",
    "user_difference",
]

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class RunnerUp:
    """The best replacement of a split that is about another column, or another pair of columns.

    Parameters
    ----------
    node : int
        The number of the split in the tree.
    split : str
        The present split.
    alternative : str or None
        The best split found on another column; None if a leaf is as good.
    feature : int
        The column of the alternative, the first of them where it is about two; -1 for a leaf.
    extra : int or float
        The extra cost of the tree with the alternative and its best subtrees: errors, or what the
        tree was chosen by, such as the sum of squared errors.
    extra_at_least : int or float
        A lower bound on the extra cost of any replacement; equal to `extra` when proven.
    status : {"optimal", "time_limit", "interrupted"}
        Whether it is proven.
    explained : float, default=nan
        For squared errors, how much of R² the extra cost takes.

    Examples
    --------
    >>> from provetree.selection import RunnerUp
    >>> print(RunnerUp(0, "age <= 37.5", "income <= 2000", 1, 4, 4, "optimal").sentence)
    Swapping 'age <= 37.5' for 'income <= 2000' costs 4 more (proven).
    """

    node: int
    split: str
    alternative: str | None
    feature: int
    extra: float
    extra_at_least: float
    status: Status
    explained: float = math.nan

    @property
    def sentence(self) -> str:
        """The runner-up in words."""
        other = "a leaf" if self.alternative is None else f"'{self.alternative}'"
        verb = "saves" if self.extra < 0 else "costs"
        cost = "nothing" if self.extra == 0 else f"{abs(self.extra):g}"
        words = f"Swapping '{self.split}' for {other} {verb} {cost}{' more' * (self.extra > 0)}"
        if self.extra > 0 and not math.isnan(self.explained):
            words += f", {self.explained:.2g} of R²"
        if self.status == "optimal":
            return f"{words} (proven)."
        return f"{words} (proven: no other column costs less than {self.extra_at_least:g} more)."


def runner_up_splits(
    model: Any,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    time_limit: float | None = None,
) -> list[RunnerUp]:
    """Return, for each split of a tree, the best split on another column and what it costs.

    Only the subtree below the node changes; the rest of the tree stays. Below the alternative all
    columns may be used again.

    Parameters
    ----------
    model : OptimalTreeClassifier, OptimalTreeRegressor or OptimalPolicyTree
        A fitted estimator.
    X : array-like or table of shape (n_samples, n_features)
        Its training rows.
    y : array-like of shape (n_samples,)
        Their labels, or the numbers to predict, or the rewards of each action.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights, as in training.
    time_limit : float, default=None
        Seconds for all nodes together; if they do not suffice, the answer is a range.

    Returns
    -------
    list of RunnerUp
        One for each split, from the root down.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeClassifier, runner_up_splits
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> for found in runner_up_splits(clf, X, y):
    ...     print(found.sentence)
    Swapping 'petal length (cm) <= 2.45' for 'petal width (cm) <= 0.8' costs nothing (proven).
    Swapping 'petal width (cm) <= 1.75' for 'petal length (cm) <= 4.85' costs 1 more (proven).
    """
    check_is_fitted(model)
    _check_rules(model)
    prepared = _prepare(model, X, y, sample_weight)
    tree: Tree = model.tree_
    if tree.n_samples[0] != prepared.problem.n_samples:
        raise ValueError(
            "Runner-up splits need the rows the tree was fitted on: "
            f"{tree.n_samples[0]} rows. Got {prepared.problem.n_samples} instead."
        )
    return runner_ups(tree, prepared, model.status_ == "optimal", time_limit)


def _check_rules(model: Any) -> None:
    """Refuse a tree that keeps rules which its runner-ups would not keep."""
    given = rules_given(model)
    if "forbidden_columns" in given and not isinstance(model.forbidden_columns, Mapping):
        given.remove("forbidden_columns")
    if given:
        raise ValueError(
            f"Runner-up splits know no rules but columns forbidden in the whole tree. This "
            f"{type(model).__name__} was fitted with {given[0]!r}."
        )


def _prepare(model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Prepared:
    """Prepare a table as the model did that was fitted on it."""
    changes: dict[str, Any] = {}
    if hasattr(model, "min_samples_leaf_"):
        changes["min_samples_leaf"] = model.min_samples_leaf_
    if hasattr(model, "n_leaves_"):
        changes["max_leaf_nodes"] = model.n_leaves_
    prepared: Prepared = model._prepared_again(X, y, sample_weight, "runner_up_splits", **changes)
    return prepared


def runner_ups(
    tree: Tree,
    prepared: Prepared,
    is_optimal: bool,
    time_limit: float | None = None,
    engine: Engine | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[RunnerUp]:
    """Return the runner-up of each split of a tree of a prepared table.

    The subtrees of an optimal tree are optimal, so nothing can cost less than they do.
    """
    deadline = math.inf if time_limit is None else clock() + time_limit
    # A tree with another split may cost more than a single leaf, and have more splits than one that
    # costs less.
    most = 2**prepared.depth if prepared.most_leaves is None else int(prepared.most_leaves)
    splits = np.flatnonzero(tree.feature >= 0).tolist()
    sizes = splits_below(tree)
    passes = tree.decision_path(prepared.encoded).tocsc()
    found = []
    for done, node in enumerate(splits):
        share = (deadline - clock()) / (len(splits) - done)
        rows = passes.indices[passes.indptr[node] : passes.indptr[node + 1]]
        order = _column_order(tree, node)
        problem = node_problem(
            prepared,
            rows,
            order=order,
            depth=prepared.depth - int(tree.node_depth[node]),
            budget=most - 1 - (tree.n_splits - sizes[node]),
        )
        search = NodeSearch(
            problem,
            ExactSearch() if engine is None else engine,
            clock() + share if math.isfinite(share) else math.inf,
            clock,
        )
        current = cost_of_leaves(tree, prepared, problem, rows)
        current += problem.split_penalty * sizes[node]
        exact = is_optimal and problem.weight_error == prepared.problem.weight_error == 0.0
        asked = tree.columns_of(int(tree.feature[node]))
        search.run(_about_others(problem, order, asked), at_least=current if exact else 0)
        extra, least = (user_difference(problem, x - current) for x in (search.cost, search.bound))
        found.append(
            RunnerUp(
                node,
                split_text(tree, node),
                search.words,
                -1 if search.feature < 0 else order[search.feature],
                extra,
                least,
                search.status,
                _explained(prepared.problem, extra),
            )
        )
    return found


def _explained(problem: Problem, extra: float) -> float:
    """Return how much of R² an extra cost takes: its share of what the best single leaf costs."""
    if problem.loss != "squared_error" or not problem.cost_scale.root > 0:
        return math.nan
    return extra * problem.cost_scale.weight_scale / problem.cost_scale.root


def user_difference(problem: Problem, units: int) -> float:
    """Return a difference of two costs in the user's units; roundings of a proof are none."""
    if not problem.is_measured:
        return problem.to_user_cost(units)
    scale = problem.cost_scale
    cost = units * scale.unit
    return 0.0 if abs(cost) <= TOLERANCE * scale.root else cost / scale.weight_scale


def _column_order(tree: Tree, node: int) -> list[int]:
    """Return the columns of the table, those of a split last."""
    last = tree.columns_of(int(tree.feature[node]))
    return [*(f for f in range(tree.n_features) if f not in last), *last]


def _about_others(problem: Problem, order: list[int], asked: tuple[int, ...]) -> list[int]:
    """Return the ordered columns that are not about the same column, or the same two columns."""
    return [
        c
        for c, column in enumerate(problem.columns)
        if {order[place] for place in problem.columns_of(column.feature)} != set(asked)
    ]


def of_columns(problem: Problem, columns: list[int]) -> Problem:
    """Return the problem with some of its ordered columns alone."""
    return replace(
        problem,
        columns=problem.columns.take(columns),
        ranks=np.ascontiguousarray(problem.ranks[columns]),
    )


class NodeSearch:
    """The best leaf or split of some rows without one column, followed by best subtrees."""

    def __init__(
        self, problem: Problem, engine: Engine, deadline: float, clock: Callable[[], float]
    ) -> None:
        self.problem = problem
        self.engine, self.deadline, self.clock = engine, deadline, clock
        self.weights = problem.weights * problem.error_scale
        self.status: Status = "optimal"
        self.cost = problem.error_scale * problem.root_error
        self.words: str | None = None
        self.feature = -1
        self.everything: int | None = None  # what all rows cost one level below
        self.tree: Tree | None = None  # of the split alone, or with what is below it
        self.bound = 0

    def run(self, columns: list[int], *, at_least: int) -> None:
        """Find the best split on one of the columns; `at_least` is a known lower bound."""
        self.bound = at_least
        try:
            if columns and self.cost > at_least:
                done = self._solve_without(columns)
                if not done and self.cost > at_least:
                    self._search(columns)
            self.bound = self.cost
        except _OutOfTime as stop:
            self.status = "interrupted" if stop.interrupted else "time_limit"
            self.bound = min(self.bound, self.cost)

    def run_split(self, columns: list[int], start: tuple[int, int, int], *, at_least: int) -> None:
        """Find the best split on one of the columns even where a leaf costs no more.

        The tree must have room for two levels. `start` is a split on one of the columns: what it
        costs with leaves below it, its column and its rank.
        """
        self.bound = at_least
        self.cost, column, rank = start
        self.tree = build_tree(self.problem, [column, -1, -1], [rank, 0, 0])
        try:
            self._search(columns, start[1:])
            self.bound = self.cost
        except _OutOfTime as stop:
            self.status = "interrupted" if stop.interrupted else "time_limit"
            self.bound = min(self.bound, self.cost)

    def _take(self, cost: int, tree: Tree) -> None:
        if cost < self.cost:
            self.cost, self.words, self.feature, self.tree = cost, None, -1, None
            if tree.n_splits:
                self.tree = tree
                self.words = split_text(tree, 0)
                self.feature = tree.columns_of(int(tree.feature[0]))[0]

    def _solve_without(self, columns: list[int]) -> bool:
        """Solve without the column at all; for a single split this is the answer."""
        problem = of_columns(self.problem, columns)
        solution = self._solve(problem)
        self._take(problem.to_whole_cost(solution.cost), solution.tree)
        if self.problem.max_depth > 1:
            return False
        self.bound = max(self.bound, problem.to_whole_cost(solution.lower_bound))
        if solution.status != "optimal":
            raise _OutOfTime(solution.status == "interrupted")
        return True

    def _search(self, columns: list[int], first: tuple[int, int] | None = None) -> None:
        """Look at intervals of positions, the lowest bound first.

        Position p of a column sends its first p values left. The ends, none and all, are no splits,
        but their costs bound those between. `first` is a column and a rank to begin with.
        """
        ranks = self.problem.ranks
        if self.everything is None:
            self.everything = self._child(np.arange(self.problem.n_rows), relaxed=True)
        everything = self.everything
        costs: dict[tuple[int, int], tuple[int, int]] = {}
        values: dict[int, NDArray[np.uint32]] = {}
        weight: dict[int, NDArray[np.int64]] = {}
        waiting: list[tuple[int, int, int, int]] = []

        def wait(c: int, low: int, high: int) -> None:
            if high - low >= 2:
                bound = self._between(costs[c, low], costs[c, high], weight[c], low, high)
                if bound < self.cost:
                    heapq.heappush(waiting, (bound, c, low, high))

        for c in columns:
            values[c], places = np.unique(ranks[c], return_inverse=True)
            totals = np.bincount(places.reshape(-1), self.weights, len(values[c]))
            weight[c] = np.concatenate([[0], np.cumsum(totals)]).astype(np.int64)
            costs[c, 0], costs[c, len(values[c])] = (0, everything), (everything, 0)
            wait(c, 0, len(values[c]))
        while waiting:
            bound, c, low, high = heapq.heappop(waiting)
            if bound >= self.cost:
                return
            self.bound = max(self.bound, bound)
            middle = _middle(weight[c], low, high)
            if first is not None and c == first[0]:
                at = int(np.searchsorted(values[c], first[1], side="right"))
                middle, first = (at if low < at < high else middle), None
            rank = int(values[c][middle - 1])
            left = ranks[c] <= rank
            sides = np.flatnonzero(left), np.flatnonzero(~left)
            costs[c, middle] = (
                self._child(sides[0], relaxed=True),
                self._child(sides[1], relaxed=True),
            )
            cost = self._cost(sides, costs[c, middle])
            if cost is not None and cost < self.cost:
                self._take(cost, build_tree(self.problem, [c, -1, -1], [rank, 0, 0]))
            wait(c, low, middle)
            wait(c, middle, high)

    def _between(
        self,
        at_low: tuple[int, int],
        at_high: tuple[int, int],
        weight: NDArray[np.int64],
        low: int,
        high: int,
    ) -> int:
        """Return a bound for the splits strictly between two positions.

        More rows never cost less: the left costs at least what it costs at the lower position, the
        right what it costs at the higher. And rows never cost more than they weigh: the left costs
        what it costs at the higher position less the weight beyond, the right likewise.
        """
        monotone = at_low[0] + at_high[1]
        if self.problem.is_measured:  # rows may cost more than they weigh
            return self.problem.split_penalty + monotone
        by_weight = at_high[0] + at_low[1] - int(weight[high] - weight[low])
        return self.problem.split_penalty + max(monotone, by_weight)

    def _cost(self, sides: tuple[Rows, Rows], relaxed: tuple[int, int]) -> int | None:
        """Return the cost of a split with its best subtrees, None where it is not allowed."""
        problem = self.problem
        if any(int(problem.counts[side].sum()) < problem.min_samples_leaf for side in sides):
            return None
        full = 2 ** (problem.max_depth - 1) - 1
        rest = problem.max_splits - 1
        if problem.split_penalty + sum(relaxed) >= self.cost:
            return None
        if problem.min_samples_leaf == 1 and rest >= 2 * full:
            return problem.split_penalty + sum(relaxed)
        # A budget too small for two full subtrees is divided in all ways.
        return problem.split_penalty + min(
            self._child(sides[0], budget=share) + self._child(sides[1], budget=rest - share)
            for share in range(max(0, rest - full), min(rest, full) + 1)
        )

    def _child(self, rows: Rows, *, relaxed: bool = False, budget: int | None = None) -> int:
        """Return the optimal cost of some rows one level below; relaxed without other limits."""
        whole = self.problem
        depth = whole.max_depth - 1
        splits = 2**depth - 1 if budget is None else min(2**depth - 1, budget)
        problem = replace(
            whole,
            # Ranks keep their numbers; only their order counts.
            ranks=np.ascontiguousarray(whole.ranks[:, rows]),
            classes=whole.classes[rows],
            weights=whole.weights[rows],
            counts=whole.counts[rows],
            targets=None if whole.targets is None else whole.targets[rows],
            max_depth=min(depth, splits),
            max_splits=splits,
            min_samples_leaf=1 if relaxed else whole.min_samples_leaf,
        )
        if problem.is_measured:
            if not problem.cost_scale.root > 0:
                return 0  # nothing is left to save
            problem = problem.with_fine_units().with_limits(
                max_splits=splits, split_penalty=penalty_in(problem, whole)
            )
        solution = self._solve(problem)
        if solution.status != "optimal":
            raise _OutOfTime(solution.status == "interrupted")
        return _units_in(whole, problem, solution.cost)

    def _solve(self, problem: Problem) -> Solution:
        left = self.deadline - self.clock()
        if left <= 0:
            raise _OutOfTime(False)
        return self.engine.solve(problem, Limits(None if math.isinf(left) else left), None)


def _units_in(whole: Problem, part: Problem, cost: float) -> int:
    """Return the cost of some rows of a problem in the units of the problem.

    What every tree of these rows costs is left out, as it is of the whole.
    """
    if not whole.is_measured:
        return part.to_whole_cost(cost)
    scale = whole.cost_scale
    beyond = cost * scale.weight_scale - part.cost_scale.constant
    return round(beyond / scale.unit) if scale.unit > 0 else 0


class _OutOfTime(Exception):
    """The time of a node is over, or the user ended the search."""

    def __init__(self, interrupted: bool) -> None:
        super().__init__()
        self.interrupted = interrupted


def _middle(weight: NDArray[np.int64], low: int, high: int) -> int:
    half = (int(weight[low]) + int(weight[high])) / 2
    return min(max(int(np.searchsorted(weight, half)), low + 1), high - 1)


def splits_below(tree: Tree) -> list[int]:
    """Return how many splits stand at and below each node."""
    sizes = [0] * tree.n_nodes
    for node in reversed(range(tree.n_nodes)):
        if tree.feature[node] >= 0:
            sizes[node] = 1 + sizes[tree.left[node]] + sizes[tree.right[node]]
    return sizes


def cost_of_leaves(tree: Tree, prepared: Prepared, problem: Problem, rows: Rows) -> int:
    """Return what the leaves of a tree cost on the rows of a node, in units of its problem."""
    whole, encoded = prepared.problem, prepared.encoded[rows]
    weights = prepared.whole_weights()[rows]
    if not whole.is_measured:
        wrong = tree.predict(encoded) != prepared.codes[rows]
        if prepared.weights is not None:
            # The whole weights that the problem was built with: the same rule on the same rows.
            present = weights > 0
            own = integer_weights(prepared.weights[rows][present]).weights
            return problem.error_scale * int(own[wrong[present]].sum())
        return problem.error_scale * int(wrong.sum())
    cost = 0.0
    leaves, targets = tree.apply(encoded), prepared.row_targets
    for leaf in np.unique(leaves[weights > 0]):
        here = (leaves == leaf) & (weights > 0)
        if targets is None:
            totals = np.bincount(prepared.codes[rows][here], weights[here], whole.n_classes)
            cost += class_cost(whole.loss, [int(total) for total in totals])
        else:
            own, label = targets[rows][here], int(tree.label[leaf])
            cost += targets_cost(whole.loss, own, weights[here].astype(float), label)
    return _units_in(problem, problem, cost / float(whole.weight_scale))
