"""The exact search under rules: splits that stay, columns that are forbidden, prices of columns.

The fixed part of a tree sends the rows to its open ends; each of these is a problem of its own, and
their best trees together are the best tree: they share nothing but the leaves. A limit on leaves is
shared out in all ways. Columns with a price are tried by branch and bound (`by_price`). Where
several searches give one tree, each looks for trees that cost less than the best so far: that there
is none is enough. What is proven with some columns holds with fewer of them. Prices that every path
pays once are kept by the core: they depend on the path and not on the rows, as penalties do.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.errors import InfeasibleError
from provetree.problem.node_problem import node_problem
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.problem.rules import FixedSplit, Rules, blanked
from provetree.search.by_price import best_by_price
from provetree.search.engine import ExactSearch
from provetree.search.part import Part, worst
from provetree.search.part_rules import PartRules, part_rules, shares_columns
from provetree.search.proven_by_columns import ProvenByColumns
from provetree.solution import Limits, Progress, Solution, Status
from provetree.tree.graft import grafted, labelled_leaf
from provetree.tree.tree import Tree

__all__ = ["RuledSearch", "without_columns"]

RowNumbers: TypeAlias = NDArray[np.intp]
#: Makes the engine of an open part of a tree, given what it must keep to.
EngineMaker: TypeAlias = Callable[[PartRules], ExactSearch]

#: Time for a search whose time is over: it gives a first tree and a bound.
_LEAST_SECONDS = 1e-3
#: Ties between the trees that are compared do not matter.
_NO_TIE_RULE = _core.SWITCHES["tie_rule"]


def without_columns(prepared: Prepared, columns: frozenset[int]) -> Prepared:
    """Return a table whose splits cannot be about some columns: these are constant.

    Examples
    --------
    >>> from provetree.problem.prepare import prepare
    >>> from provetree.search.ruled import without_columns
    >>> prepared = prepare([[1.0, 5.0], [2.0, 4.0]], [0, 1], max_depth=1)
    >>> without_columns(prepared, frozenset([0])).encoded.tolist()
    [[nan, 5.0], [nan, 4.0]]
    """
    if not columns:
        return prepared
    encoded = blanked(prepared.encoded, columns)
    whole = prepared.problem
    allowed = [each for each in whole.combinations if not columns.intersection(each.columns)]
    return replace(prepared, encoded=encoded, problem=replace(whole, combinations=tuple(allowed)))


@dataclass
class RuledSearch:
    """The search for the best tree that keeps rules.

    Parameters
    ----------
    prepared : Prepared
        The table; its problem has the limits of the whole tree.
    rules : Rules
        What the tree must keep to.
    make_engine : callable
        Gives the engine of an open part.
    limits : Limits
        Time for everything together, and what each search may use.
    depth : int
        The depth that was asked for; that of the problem is no larger than its rows allow.
    max_leaf_nodes : int or None
        The limit on leaves that was asked for.
    alpha : float
        The penalty that was asked for: that of the problem is no larger than a single leaf costs.
    """

    prepared: Prepared
    rules: Rules
    make_engine: EngineMaker
    limits: Limits
    depth: int
    max_leaf_nodes: int | None = None
    alpha: float = 0.0
    on_progress: Callable[[Progress], None] | None = None
    _started: float = field(default_factory=time.monotonic)
    _ended: Status | None = None
    _counters: dict[str, int] = field(default_factory=dict)
    _open_parts: dict[Any, Part] = field(default_factory=dict)
    #: What the other parts of the tree cost while one is searched: at most, and at least.
    _beside: list[tuple[float, float]] = field(default_factory=list)
    _undecided: int = 0  # choices that are open while a part is searched
    #: The leaves that all rows may have, and their problem with all columns.
    _whole: tuple[int, Problem] | None = None
    _proven: ProvenByColumns = field(default_factory=ProvenByColumns)

    def solve(self) -> Solution:
        """Return the best tree that keeps the rules."""
        self._check()
        if self.rules.directions is not None:
            self._leave_out_directed_sums()
        prices = {column: price for column, price in self.rules.prices.items() if price > 0}
        paid_for = frozenset(s.column for s in self.rules.fixed.values() if s.column in prices)
        whole = best_by_price(prices, paid_for, self._best) if prices else self._best()
        seconds = time.monotonic() - self._started
        if self.on_progress is not None:
            self.on_progress(Progress(seconds, whole.cost, whole.bound))
        return Solution(
            tree=whole.tree,
            cost=whole.cost,
            lower_bound=min(whole.bound, whole.cost),
            status="optimal" if whole.bound >= whole.cost else whole.status,
            history=(Progress(seconds, whole.cost, min(whole.bound, whole.cost)),),
            counters=self._counters,
        )

    def _check(self) -> None:
        """Refuse fixed splits that no tree within the limits can have."""
        fixed = self.rules.fixed
        splits = {path: split for path, split in fixed.items() if not split.is_leaf}
        deepest = max((len(path) + 1 for path in splits), default=0)
        if deepest > self.depth:
            raise InfeasibleError(
                f"No tree of depth {self.depth} keeps the 'fixed_splits', which are {deepest} deep."
            )
        if len(splits) >= self._most_leaves:
            raise InfeasibleError(
                f"No tree of {self._most_leaves} leaves keeps the 'fixed_splits', which make "
                f"{len(splits) + 1}."
            )

    @property
    def _most_leaves(self) -> int:
        """The most leaves of a tree.

        A problem leaves out trees whose penalties alone cost more than a single leaf does. Where
        splits are fixed there is no single leaf, so that only what was asked for counts.
        """
        problem = self.prepared.problem
        if not self.rules.fixed:
            return problem.max_splits + 1
        most = min(1 << min(self.depth, 30), problem.n_samples // problem.min_samples_leaf)
        return max(1, most if self.max_leaf_nodes is None else min(most, self.max_leaf_nodes))

    def _tell(self, progress: Progress) -> None:
        """Tell where the whole tree stands while a part is searched; who listens may end it.

        The best trees of all parts are the best tree, and a leaf is no better than a tree. That is
        so where there is one way to put parts together; of several, none is a bound by itself.
        """
        assert self.on_progress is not None
        problem, seconds = self.prepared.problem, time.monotonic() - self._started
        if self._undecided or self._most_leaves < 2 ** min(self.depth, 30):
            cost = problem.to_user_cost(problem.error_scale * problem.root_error)
            self.on_progress(Progress(seconds, cost, 0))
            return
        cost = progress.cost + sum(most for most, _ in self._beside)
        bound = progress.lower_bound + sum(least for _, least in self._beside)
        self.on_progress(Progress(seconds, cost, bound))

    def _leaf_cost(self, rows: RowNumbers) -> float:
        """Return what a single leaf of some rows costs, in the user's units, counted in errors."""
        weights = None if self.prepared.weights is None else self.prepared.weights[rows]
        totals = np.bincount(self.prepared.codes[rows], weights)
        cost: float = (totals.sum() - totals.max()).item()
        return cost

    def _leave_out_directed_sums(self) -> None:
        """Leave out sums and ratios of a column with a direction: they may go either way in it."""
        whole = self.prepared.problem
        ways = self.rules.directions or ()
        kept = [x for x in whole.combinations if not any(ways[column] for column in x.columns)]
        self.prepared = replace(self.prepared, problem=replace(whole, combinations=tuple(kept)))

    # -- the fixed part ----------------------------------------------------------------------

    def _best(self, forbidden: frozenset[int] = frozenset(), below: float = math.inf) -> Part:
        """Return the best tree without some columns, prices not counted, that costs less."""
        weights = self.prepared.weights
        rows = np.arange(len(self.prepared.encoded))
        if weights is not None:
            rows = rows[weights > 0]
        if "" not in self.rules.fixed:
            return self._open("", rows, forbidden, self._most_leaves, (), below)
        return self._node("", rows, forbidden, self._most_leaves, ())

    def _node(
        self,
        path: str,
        rows: RowNumbers,
        forbidden: frozenset[int],
        leaves: int,
        sides: tuple[bool, ...],
    ) -> Part:
        """Return the best part from a node on; `sides` say where missing values went above."""
        split = self.rules.fixed.get(path)
        if split is None or split.is_leaf:
            return self._open(path, rows, forbidden, 1 if split else leaves, sides)
        values = self.prepared.encoded[rows, split.column]
        levels = self.prepared.encoder.categories[split.column]
        missing_seen = levels is None and bool(np.isnan(values).any())
        ways = [split.missing == "left"]
        if missing_seen and split.missing is None:
            ways = [True, False]
        found: list[Part] = []
        refusal: InfeasibleError | None = None
        self._undecided += len(ways) > 1
        for missing_left in ways:
            left = split.goes_left(values, len(levels or ()), missing_left)
            try:
                self._check_sides(path, rows, left)
                found += self._joined(
                    path, split, rows, left, missing_left, forbidden, leaves, sides
                )
            except InfeasibleError as error:  # perhaps the other way can be kept
                refusal = error
        self._undecided -= len(ways) > 1
        if not found:
            assert refusal is not None
            raise refusal
        best = min(found, key=lambda part: (part.cost, part.tree.n_splits))
        return replace(best, bound=min(part.bound for part in found), status=worst(found))

    def _check_sides(self, path: str, rows: RowNumbers, left: Any) -> None:
        """Refuse a fixed split that leaves a side without rows, or with too few."""
        sizes = int(left.sum()), int((~left).sum())
        where = f"No tree keeps the fixed split at {path!r}"
        if min(sizes) == 0:
            side = "right" if sizes[0] else "left"
            raise InfeasibleError(f"{where}: no training row of its {len(rows)} goes {side}.")
        if min(sizes) < self.prepared.problem.min_samples_leaf:
            raise InfeasibleError(
                f"{where}: it leaves a side with {min(sizes)} rows, fewer than 'min_samples_leaf'."
            )

    def _joined(
        self,
        path: str,
        split: FixedSplit,
        rows: RowNumbers,
        left: Any,
        missing_left: bool,
        forbidden: frozenset[int],
        leaves: int,
        sides: tuple[bool, ...],
    ) -> list[Part]:
        """Return the best trees of both sides of a fixed split, for each way to share the leaves.

        Where the best trees of all sizes together have few enough leaves, they are the best.
        """
        halves = rows[left], rows[~left]
        below = (*sides, missing_left)

        def part(side: int, most: int) -> Part:
            return self._node(path + "LR"[side], halves[side], forbidden, most, below)

        need = [self._leaves_needed(path + letter) for letter in "LR"]
        direction = self._direction_of(split)
        if direction:
            # All leaves of one side predict the lowest class, or all of the other the highest.
            labels = (0, 1) if direction > 0 else (1, 0)
            self._undecided += 1
            pairs = [
                (self._labelled(path + "L", halves[0], labels[0]), part(1, leaves - need[0])),
                (part(0, leaves - need[1]), self._labelled(path + "R", halves[1], labels[1])),
            ]
            self._undecided -= 1
            return [self._pair(path, split, rows, missing_left, one, other) for one, other in pairs]
        self._beside.append((self._leaf_cost(halves[1]), 0))
        plenty = [part(0, leaves - need[1])]
        self._beside[-1] = (plenty[0].cost, plenty[0].bound)
        plenty.append(part(1, leaves - need[0]))
        self._beside.pop()
        pairs = [(plenty[0], plenty[1])]
        if sum(each.tree.n_leaves for each in plenty) > leaves:
            shares = range(need[0], leaves - need[1] + 1)
            pairs = [(part(0, most), part(1, leaves - most)) for most in shares]
        return [self._pair(path, split, rows, missing_left, one, other) for one, other in pairs]

    def _direction_of(self, split: FixedSplit) -> int:
        """Return the direction that a fixed split must keep; "is it missing?" has none."""
        ways = self.rules.directions
        if ways is None or split.codes or not math.isfinite(split.threshold):
            return 0
        return ways[split.column]

    def _labelled(self, path: str, rows: RowNumbers, label: int) -> Part:
        """Return the smallest tree from a node on whose leaves all predict one class."""
        split = self.rules.fixed.get(path)
        if split is None or split.is_leaf:
            tree = labelled_leaf(self._problem(rows, frozenset(), 0, 1), label)
            weight = float(tree.value[0].sum() - tree.value[0, label])
            cost = int(weight) if weight.is_integer() else weight
            return Part(tree, cost, cost)
        values = self.prepared.encoded[rows, split.column]
        levels = self.prepared.encoder.categories[split.column]
        refusal: InfeasibleError | None = None
        for missing_left in (True, False) if split.missing is None else (split.missing == "left",):
            left = split.goes_left(values, len(levels or ()), missing_left)
            try:
                self._check_sides(path, rows, left)
                one = self._labelled(path + "L", rows[left], label)
                other = self._labelled(path + "R", rows[~left], label)
            except InfeasibleError as error:
                refusal = error
                continue
            return self._pair(path, split, rows, missing_left, one, other)
        assert refusal is not None
        raise refusal

    def _pair(
        self,
        path: str,
        split: FixedSplit,
        rows: RowNumbers,
        missing_left: bool,
        one: Part,
        other: Part,
    ) -> Part:
        """Join the trees of both sides of a fixed split."""
        here = self._leaf(rows)
        tree = grafted(here, split, missing_left, one.tree, other.tree, self._missing(rows, split))
        penalty = _user_penalty(self.prepared.problem) * max(1, self.alpha)
        if split.column not in self._asked_above(path):
            penalty += self.rules.path_prices.get(split.column, 0)
        return Part(
            tree,
            one.cost + other.cost + penalty,
            one.bound + other.bound + penalty,
            worst([one, other]),
        )

    def _asked_above(self, path: str) -> list[int]:
        """Return the columns of the fixed splits on the way to a node."""
        return [self.rules.fixed[path[:end]].column for end in range(len(path))]

    def _leaves_needed(self, path: str) -> int:
        below = [p for p, s in self.rules.fixed.items() if p.startswith(path) and not s.is_leaf]
        return len(below) + 1

    def _missing(self, rows: RowNumbers, split: FixedSplit) -> bool:
        return not split.codes and bool(np.isnan(self.prepared.encoded[rows, split.column]).any())

    # -- open parts --------------------------------------------------------------------------

    def _problem(
        self, rows: RowNumbers, forbidden: frozenset[int], depth: int, leaves: int
    ) -> Problem:
        """Return the problem of some rows; one of all rows is made once, and then loses columns."""
        if depth == self.depth and self._whole is not None and leaves == self._whole[0]:
            return _without(self._whole[1], forbidden)
        is_whole = depth == self.depth and depth > 0
        if is_whole and self._is_prepared(rows, leaves):
            self._whole = leaves, self.prepared.problem
            return _without(self.prepared.problem, forbidden)
        rules = self.rules
        problem = node_problem(
            self.prepared if is_whole else without_columns(self.prepared, forbidden),
            rows,
            depth=depth,
            budget=leaves - 1,
            # Columns that divide the rows alike may differ in what is asked of them.
            keep_duplicates=bool(
                rules.directions
                or rules.groups
                or rules.prices
                or rules.path_prices
                or (is_whole and forbidden)
            ),
        )
        if not is_whole:
            return problem
        self._whole = leaves, problem
        return _without(problem, forbidden)

    def _is_prepared(self, rows: RowNumbers, leaves: int) -> bool:
        """Tell whether the prepared problem is that of these rows, with nothing left out.

        One column of numbers for each feature: none was left out because it is like another.
        """
        problem = self.prepared.problem
        return (
            not self.rules.fixed
            and not problem.is_measured
            and not problem.combinations
            and leaves == problem.max_splits + 1
            and len(rows) == len(self.prepared.encoded)
            and all(column.kind == "numeric" for column in problem.columns)
            and len({column.feature for column in problem.columns}) == problem.n_features
        )

    def _hands_on(self, path: str, leaves: int) -> bool:
        """Tell whether searches of a part are searches of one table with fewer or more columns.

        A direction adds columns of its own, and other losses are proven to a tolerance.
        """
        return bool(
            self.rules.prices
            and not self.rules.directions
            and not self.prepared.problem.is_measured
            and path == ""
            and self._whole is not None
            and leaves == self._whole[0]
        )

    def _columns_without(self, forbidden: frozenset[int]) -> tuple[int, ...]:
        """Return the ordered columns of the whole problem that are not about some features."""
        assert self._whole is not None
        return _kept(self._whole[1], forbidden)

    def _leaf(self, rows: RowNumbers) -> Tree:
        """Return the tree without splits, for what its node holds."""
        problem = self._problem(rows, frozenset(), 0, 1)
        return labelled_leaf(problem)

    def _open(
        self,
        path: str,
        rows: RowNumbers,
        forbidden: frozenset[int],
        leaves: int,
        sides: tuple[bool, ...],
        below: float = math.inf,
    ) -> Part:
        """Return the best tree of an open part that costs less than something."""
        forbidden = forbidden | self.rules.forbidden_at(path)
        above = self._asked_above(path)
        groups = self.rules.groups
        if groups is not None:
            groups = tuple(group for group in groups if group.issuperset(above))
            everything = frozenset().union(*groups)
            forbidden = forbidden | (
                frozenset(range(self.prepared.problem.n_features)) - everything
            )
        leaves = min(leaves, 2 ** (self.depth - len(path)))
        key = (path, sides, forbidden)
        known = self._open_parts.get(key)
        if known is not None and known.status == "optimal" and known.tree.n_leaves <= leaves:
            return known  # the best tree of more leaves has no more than these
        if groups is None or len(groups) == 1 or shares_columns(groups):
            inside = groups if groups is not None and len(groups) > 1 else None
            problem = self._problem(rows, forbidden, self.depth - len(path), leaves)
            kept = self._columns_without(forbidden) if self._hands_on(path, leaves) else None
            return self._keep(key, leaves, self._solved(problem, path, inside, below, kept))
        # A path of one group of columns cannot leave it: the first split settles it for all.
        every = frozenset(range(self.prepared.problem.n_features))
        problems = [
            self._problem(rows, forbidden | (every - group), self.depth - len(path), leaves)
            for group in groups
        ]
        return self._keep(key, leaves, self._best_of(problems, path, below))

    def _best_of(self, problems: list[Problem], path: str, below: float) -> Part:
        """Return the best tree of several problems of the same rows.

        The most promising one comes first, by the best tree of two levels; of the others only
        trees that cost less are looked for.
        """
        self._undecided += 1
        if len(problems) > 1:
            problems.sort(key=self._promise)
        best: Part | None = None
        bound = math.inf
        statuses: list[Status] = []
        for problem in problems:
            found = self._solved(problem, path, None, min(below, best.cost if best else math.inf))
            bound = min(bound, found.bound)
            statuses.append(found.status)
            better = best is None or (found.cost, found.tree.n_splits) < (
                best.cost,
                best.tree.n_splits,
            )
            if better:
                best = found
        self._undecided -= 1
        assert best is not None
        stopped = [each for each in statuses if each not in ("optimal", "nothing_below")]
        status: Status = stopped[0] if stopped else "optimal"
        if not stopped and bound >= below:
            status = "nothing_below"
        return replace(best, bound=min(bound, best.cost), status=status)

    def _promise(self, problem: Problem) -> float:
        """Return what the best tree of two levels costs."""
        shallow = problem.of_depth(min(2, problem.max_depth))
        return ExactSearch(switches=_NO_TIE_RULE).solve(shallow, self._limits_now()).cost

    def _limits_now(self) -> Limits:
        """Return the limits of a search that begins now."""
        seconds: float | None = None
        if self.limits.time_limit is not None:
            left = self.limits.time_limit - (time.monotonic() - self._started)
            seconds = max(_LEAST_SECONDS, 0.0 if self._ended == "interrupted" else left)
        elif self._ended == "interrupted":
            seconds = _LEAST_SECONDS
        return replace(self.limits, time_limit=seconds)

    def _keep(self, key: Any, leaves: int, part: Part) -> Part:
        if leaves >= 2 ** (self.depth - len(key[0])):
            self._open_parts[key] = part
        return part

    def _solved(
        self,
        problem: Problem,
        path: str,
        groups: tuple[frozenset[int], ...] | None,
        below: float,
        columns: tuple[int, ...] | None = None,
    ) -> Part:
        """Solve an open part in what is left of the time; `groups` are those that share columns.

        Of a part of all rows `columns` are the ordered columns that it has left of the whole table:
        what searches with more of them have proven helps.
        """
        problem, kept = part_rules(problem, self.rules, self._asked_above(path), groups, below)
        # Prices are not in what a part costs, and other losses add up in units of their own.
        priced = self.rules.prices or self.rules.path_prices
        silent = self.on_progress is None or priced or problem.is_measured
        engine = self.make_engine(kept)
        if columns is not None:
            engine = self._proven.lent_to(engine, columns)
        found = engine.solve(problem, self._limits_now(), None if silent else self._tell)
        for name, number in found.counters.items():
            if isinstance(number, int):
                self._counters[name] = self._counters.get(name, 0) + number
        if found.status not in ("optimal", "nothing_below") and self._ended != "interrupted":
            self._ended = found.status
        return Part(found.tree, found.cost, found.lower_bound, found.status)


def _without(problem: Problem, forbidden: frozenset[int]) -> Problem:
    """Return a problem without the ordered columns that are about some features."""
    kept = list(_kept(problem, forbidden))
    if len(kept) == len(problem.columns):
        return problem
    fewer = replace(
        problem,
        columns=problem.columns.take(kept),
        ranks=np.ascontiguousarray(problem.ranks[kept]),
    )
    return fewer if kept else replace(fewer, max_depth=0, max_splits=0)


def _kept(problem: Problem, forbidden: frozenset[int]) -> tuple[int, ...]:
    """Return the ordered columns of a problem that are not about some features."""
    asked = (problem.columns_of(column.feature) for column in problem.columns)
    return tuple(c for c, columns in enumerate(asked) if forbidden.isdisjoint(columns))


def _user_penalty(problem: Problem) -> float:
    """Return what a split costs in the user's units."""
    if problem.split_penalty == 0:
        return 0
    if not problem.is_measured:
        return problem.to_user_cost(problem.split_penalty)
    scale = problem.cost_scale
    return problem.split_penalty * scale.unit / scale.weight_scale
