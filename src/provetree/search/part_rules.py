"""What the core keeps of the rules in an open part of a tree: by ordered column, in whole costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from provetree.problem.problem import Problem
from provetree.problem.rules import Rules
from provetree.problem.weights import MAX_TOTAL_WEIGHT, as_decimal

__all__ = [
    "MOST_PATH_PRICES",
    "PartRules",
    "in_whole_prices",
    "part_rules",
    "shares_columns",
    "with_missing_columns",
]

#: The core keeps what a path has paid for in one word.
MOST_PATH_PRICES = 64
#: Sums of prices and costs are wrong by a smaller part than this.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PartRules:
    """What the core keeps, for each ordered column of an open part; empty where it has no rule."""

    directions: tuple[int, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()  # the numbers of the groups that it is in
    prices: tuple[int, ...] = ()  # of what paths pay for once, in weights
    priced: tuple[tuple[int, ...], ...] = ()  # the numbers of the prices that it asks for
    below: int | None = None  # trees that cost less are looked for, in whole costs


def part_rules(
    problem: Problem,
    rules: Rules,
    above: Sequence[int],
    groups: tuple[frozenset[int], ...] | None,
    below: float = math.inf,
) -> tuple[Problem, PartRules]:
    """Return the problem of an open part as the core searches it, and what it must keep there.

    Parameters
    ----------
    problem : Problem
        The problem of the rows of the part.
    rules : Rules
        The rules of the whole tree.
    above : sequence of int
        The columns of the fixed splits above, which are paid for.
    groups : tuple of frozensets, optional
        The groups that share columns, of which each path keeps to one.
    below : float
        Only trees that cost less are wanted.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.problem.rules import Rules
    >>> from provetree.search.part_rules import part_rules
    >>> problem = build_problem([[1.0], [2.0], [3.0]], [0, 1, 0], n_classes=2, max_depth=2)
    >>> part_rules(problem, Rules(path_prices={0: 0.5}), [], None)[1].prices
    (1,)
    """
    directions: tuple[int, ...] = ()
    if rules.directions is not None:
        problem = with_missing_columns(problem, rules.directions)
        ways = rules.directions
        directions = tuple(_direction(problem, c, ways) for c in range(len(problem.columns)))
    inside: tuple[tuple[int, ...], ...] = ()
    if groups is not None:
        asked = [frozenset(problem.columns_of(column.feature)) for column in problem.columns]
        inside = tuple(
            tuple(at for at, group in enumerate(groups) if own <= group) for own in asked
        )
    prices: tuple[int, ...] = ()
    asked_for: tuple[tuple[int, ...], ...] = ()
    of_path = {column: price for column, price in rules.path_prices.items() if column not in above}
    if of_path:
        problem, prices = in_whole_prices(problem, list(of_path.values()))
        asked_for = tuple(
            tuple(
                number
                for number, feature in enumerate(of_path)
                if feature in problem.columns_of(column.feature)
            )
            for column in problem.columns
        )
    wanted = _whole_limit(problem, below)
    return problem, PartRules(directions, inside, prices, asked_for, wanted)


def _whole_limit(problem: Problem, below: float) -> int | None:
    """Return the whole cost that trees must be below; rounding errors of prices do not count."""
    if problem.is_measured or math.isinf(below):
        return None
    whole = Fraction(below) * problem.error_scale * problem.weight_scale
    near = round(whole)
    return near if abs(whole - near) < _ROUNDING * (1 + abs(near)) else math.ceil(whole)


def in_whole_prices(problem: Problem, prices: list[float]) -> tuple[Problem, tuple[int, ...]]:
    """Return a problem whose weights are so fine that prices are whole weights, and the prices.

    No tree that pays more than a leaf gets wrong is better than that leaf, so prices end there.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.search.part_rules import in_whole_prices
    >>> problem = build_problem([[1.0], [2.0], [3.0]], [0, 1, 0], n_classes=2, max_depth=2)
    >>> finer, whole = in_whole_prices(problem, [0.5, 9.0])
    >>> finer.weights.tolist(), whole
    ([2, 2, 2], (1, 3))
    """
    wanted = [as_decimal(price) * problem.weight_scale for price in prices]
    times = math.lcm(*(price.denominator for price in wanted))
    if times * int(problem.weights.sum()) > MAX_TOTAL_WEIGHT:
        raise ValueError(
            "The 'column_costs' of paths must be decimals so short that they can be counted with "
            f"the weights of the rows. Got {prices!r}."
        )
    most = times * problem.root_error + 1
    whole = tuple(min(int(price * times), most) for price in wanted)
    finer = replace(
        problem,
        weights=problem.weights * times,
        weight_scale=problem.weight_scale * times,
        split_penalty=problem.split_penalty * times,
    )
    return finer, whole


def with_missing_columns(problem: Problem, directions: tuple[int, ...]) -> Problem:
    """Return a problem with a column "is it missing?" for each number with a direction.

    That split has no direction: what is missing is neither low nor high. The other splits of such
    a column have one, wherever missing values go.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.search.part_rules import with_missing_columns
    >>> X = np.array([[1.5], [np.nan], [2.5]])
    >>> problem = build_problem(X, [0, 1, 0], n_classes=2, max_depth=1)
    >>> with_missing_columns(problem, (1,)).ranks.tolist()
    [[1, 2, 0], [0, 1, 2], [1, 1, 0]]
    """
    firsts = [
        c
        for c, column in enumerate(problem.columns)
        if column.kind == "missing_first"
        and any(directions[own] for own in problem.columns_of(column.feature))
    ]
    if not firsts:
        return problem
    more = problem.columns.take(firsts).cut_after(1)
    ranks = np.minimum(problem.ranks[firsts], 1)
    return replace(
        problem,
        columns=problem.columns.followed_by(more),
        ranks=np.ascontiguousarray(np.concatenate([problem.ranks, ranks])),
    )


def _direction(problem: Problem, c: int, directions: tuple[int, ...]) -> int:
    """Return the direction of an ordered column; sums of columns are checked to have none."""
    column = problem.columns[c]
    if column.feature >= problem.n_features:
        return 0
    if column.kind == "missing_first" and len(column.values) == 2:
        return 0  # only missing values go left
    return directions[column.feature]


def shares_columns(groups: tuple[frozenset[int], ...]) -> bool:
    """Tell whether two groups have a column in common."""
    return sum(map(len, groups)) > len(frozenset().union(*groups))
