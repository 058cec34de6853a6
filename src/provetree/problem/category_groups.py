"""Groups of categories, which a question of a tree may send left together.

A column with few categories offers all groups of them. Groups that contain each other are one
ordered column: the categories of the smallest group have the first rank, those that the next
larger group adds the second, and all others the last. So the 511 groups of ten categories are 126
ordered columns; the first category is in none of them, as a group and its complement are the same
split. A column with more categories offers the groups along an order: that of their
class shares (or mean targets) on all rows the tree is learned from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.columns import RankedFeatures

__all__ = [
    "MOST_FOR_ALL_GROUPS",
    "CategoryOrder",
    "category_orders",
    "category_scores",
    "group_family",
    "ranked_orders",
]

#: Columns of up to so many categories, a missing value beside them, have all of their groups.
MOST_FOR_ALL_GROUPS = 10
#: All groups of a table are at most so many ordered columns, and so many cells of ranks.
MOST_ORDERS, MOST_CELLS = 2**12, 2**25


@dataclass(frozen=True)
class CategoryOrder:
    """Groups of categories that contain each other, as one ordered column.

    Parameters
    ----------
    column : int
        The column of categories.
    steps : tuple of tuples of int
        The codes of the smallest group, and then those that each larger group adds. The code of a
        missing value is `n_levels`. All other codes belong to no group.
    n_levels : int
        The number of known categories.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.category_groups import CategoryOrder
    >>> order = CategoryOrder(0, ((2,), (0, 3)), 3)
    >>> order.values(np.array([[0.0], [1.0], [2.0], [np.nan], [-1.0]])).tolist()
    [1.0, 2.0, 0.0, 1.0, 2.0]
    >>> order.group(1)
    (0, 2, 3)
    """

    column: int
    steps: tuple[tuple[int, ...], ...]
    n_levels: int

    @property
    def columns(self) -> tuple[int]:
        """The column, in a tuple."""
        return (self.column,)

    def moved(self, place: Callable[[int], int]) -> CategoryOrder:
        """Return the same groups where columns have other places."""
        return replace(self, column=place(self.column))

    def group(self, step: int) -> tuple[int, ...]:
        """Return the codes of all categories up to a step."""
        return tuple(sorted(code for codes in self.steps[: step + 1] for code in codes))

    def values(self, table: Float) -> Float:
        """Return the step at which each row joins; those of no group come last."""
        of_code = np.full(self.n_levels + 2, float(len(self.steps)))  # the last is for code -1
        for step, codes in enumerate(self.steps):
            of_code[list(codes)] = step
        found: Float = of_code[_codes(table[:, self.column], self.n_levels)]
        return found


def category_orders(
    table: Float,
    levels: Sequence[Sequence[object] | None],
    scores: Float,
    weights: Float | None = None,
) -> tuple[CategoryOrder, ...]:
    """Return the orders whose groups a tree may ask about.

    Rows of weight zero count as absent, and so do categories without rows.

    Parameters
    ----------
    table : array of float, shape (n_rows, n_features)
        The encoded training rows.
    levels : sequence
        For each feature None (numbers) or its categories.
    scores : array of float, shape (n_rows, n_scores)
        What the categories of a column with many of them are ordered by, one order for each score:
        the mean of the score over the rows of a category.
    weights : array of float, optional
        The weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.category_groups import category_orders
    >>> table = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> [order.steps for order in category_orders(table, ["abcd"], np.eye(4)[:, :1])]
    [((1,), (2,), (3,)), ((2,), (3,)), ((3,), (1,))]
    """
    rows, each, offers = _offered(table, levels, weights)
    of_rows = scores if weights is None else scores[weights > 0]
    found: list[CategoryOrder] = []
    for column, (there, all_groups) in offers.items():
        n_levels = len(levels[column] or ())
        chains = _chains(there[1:]) if all_groups else None
        if chains is None:
            chains = _by_score(_codes(rows[:, column], n_levels), there, of_rows, each)
        found += [CategoryOrder(column, steps, n_levels) for steps in chains]
    return tuple(found)


def category_scores(
    codes: NDArray[np.intp], targets: Float | None, n_classes: int, loss: str
) -> Float:
    """Return what categories are ordered by: classes, numbers, or costs beside those of the row.

    Of two classes, or two actions, one is enough: the other has the order backwards.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.category_groups import category_scores
    >>> category_scores(np.array([0, 1]), None, 2, "errors").tolist()
    [[0.0], [1.0]]
    >>> category_scores(np.array([0, 0]), np.array([[3.0, 1.0]]), 1, "linear").tolist()
    [[1.0]]
    """
    if targets is None:
        each = np.arange(1 if n_classes <= 2 else 0, max(n_classes, 2))
        return np.asarray(codes[:, None] == each, dtype=np.float64)
    if loss != "linear":
        return targets
    beside: Float = targets - targets.mean(axis=1, keepdims=True)
    return beside[:, :1] if beside.shape[1] == 2 else beside


def group_family(
    table: Float, levels: Sequence[Sequence[object] | None], weights: Float | None = None
) -> dict[int, str]:
    """Return which groups each column of categories offers: "all" of them, or "ordered" ones.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.category_groups import group_family
    >>> table = np.column_stack([np.arange(20.0), np.arange(20.0) % 4])
    >>> group_family(table, [range(20), range(4)])
    {0: 'ordered', 1: 'all'}
    """
    offers = _offered(table, levels, weights)[2]
    return {c: "all" if all_groups else "ordered" for c, (_, all_groups) in offers.items()}


def ranked_orders(table: Float, family: Sequence[CategoryOrder]) -> RankedFeatures:
    """Rank the categories of each order on the rows of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.category_groups import CategoryOrder, ranked_orders
    >>> ranked = ranked_orders(np.array([[0.0], [1.0], [3.0]]), [CategoryOrder(0, ((3,), (0,)), 3)])
    >>> ranked.ranks.tolist(), ranked.values.tolist()
    ([[1, 2, 0]], [0.0, 1.0, 2.0])
    """
    ranks = np.empty((len(family), len(table)), dtype=np.uint32)
    values: list[Float] = []
    for row, order in enumerate(family):
        steps = order.values(table).astype(np.intp)
        seen = np.zeros(len(order.steps) + 1, dtype=bool)
        seen[steps] = True
        ranks[row] = (np.cumsum(seen) - 1)[steps]
        values.append(np.flatnonzero(seen).astype(np.float64))
    return RankedFeatures(
        ranks,
        np.concatenate([*values, np.empty(0)]),
        np.cumsum([len(of_row) for of_row in values], dtype=np.int64),
        np.zeros(len(family), dtype=np.uint8),
        np.full(len(family), -1, dtype=np.int64),
    )


def _offered(
    table: Float, levels: Sequence[Sequence[object] | None], weights: Float | None
) -> tuple[Float, Float, dict[int, tuple[list[int], bool]]]:
    """Return the rows that count, their weights, and the codes of each column with groups.

    With the codes goes whether the column offers all groups. Up to three categories offer none
    but each of them against the rest.
    """
    rows = table if weights is None else table[weights > 0]
    each = np.ones(len(rows)) if weights is None else weights[weights > 0]
    there: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}  # without missing values
    for column, level in enumerate(levels):
        if level is not None:
            codes = np.unique(_codes(rows[:, column], len(level))).tolist()
            if len(codes) > 3:
                there[column] = codes
                sizes[column] = len(codes) - (codes[-1] == len(level))
    most = MOST_FOR_ALL_GROUPS
    while most > 3:
        # Fewer columns have all groups where memory could not hold them.
        widths = [len(codes) - 1 for column, codes in there.items() if sizes[column] <= most]
        orders = sum(comb(n, n // 2) for n in widths)
        if orders <= MOST_ORDERS and orders * len(rows) <= MOST_CELLS:
            break
        most -= 1
    return rows, each, {c: (codes, sizes[c] <= most) for c, codes in there.items()}


def _codes(values: Float, n_levels: int) -> NDArray[np.intp]:
    return np.where(np.isnan(values), n_levels, values).astype(np.intp)


def _chains(codes: Sequence[int]) -> list[tuple[tuple[int, ...], ...]]:
    """Return all groups of some codes but the empty one, each once, as groups that grow one by one.

    These are the symmetric chains of de Bruijn, Tengbergen and Kruyswijk. A code that is in the
    group closes the last open code before it that is not. Where every code that is in closes one,
    the group starts a chain, and the codes that stay open join one after the other.
    """
    n = len(codes)
    found = []
    for bits in range(2**n):
        inside = [bool(bits >> i & 1) for i in range(n)]
        waiting: list[int] = []  # codes that are out and not yet closed
        for i in range(n):
            if not inside[i]:
                waiting.append(i)
            elif waiting:
                waiting.pop()
            else:
                break  # a left-over code is in: another group starts this chain
        else:
            first = tuple(codes[i] for i in range(n) if inside[i])
            rest = [(codes[i],) for i in waiting]
            steps = (first, *rest) if first else tuple(rest)
            if steps:
                found.append(steps)
    return sorted(found, key=lambda steps: (len(steps[0]), steps[0]))


def _by_score(
    codes: NDArray[np.intp], there: list[int], scores: Float, weights: Float
) -> list[tuple[tuple[int, ...], ...]]:
    """Return the orders of categories by the mean of each score; equal ones by their code.

    Sums are rounded once, so that they do not depend on the order of the rows.
    """
    found: dict[tuple[int, ...], None] = {}
    rows = [np.flatnonzero(codes == code) for code in there]
    for score in scores.T:
        products = weights * score
        means = [math.fsum(products[own]) / math.fsum(weights[own]) for own in rows]
        order = tuple(there[i] for i in np.argsort(means, kind="stable"))
        if order[::-1] not in found:  # a mirrored order has the same groups
            found[order] = None
    return [tuple((code,) for code in order[:-1]) for order in found]
