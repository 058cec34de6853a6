"""Prices of columns that a tree pays once: branch and bound over the columns it may ask about."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import Protocol

from provetree.search.part import Part
from provetree.solution import Status

__all__ = ["BestWithout", "best_by_price"]


class BestWithout(Protocol):
    """Finds the best tree without some columns, prices not counted, that costs less."""

    def __call__(self, forbidden: frozenset[int], below: float = ...) -> Part:
        """Search; any tree will do where it is proven that none costs less than `below`."""


def best_by_price(
    prices: Mapping[int, float], paid_for: frozenset[int], best_without: BestWithout
) -> Part:
    """Return the best tree, prices counted.

    A tree without the columns that are out costs at least the best such tree and the prices of the
    columns that are in. Where the best such tree asks for no other column with a price, the bound
    is what it costs, and nothing below is better. Where asking for one more column, of the least
    price, is no better than the best tree so far, only trees without any of them are left.

    Parameters
    ----------
    prices : mapping
        The price of each column that has one.
    paid_for : frozenset of int
        Those of them that every tree asks about.
    best_without : callable
        Searches for the best tree without some columns. Where it ends before its proof, as its
        status says, no other search is begun.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.search.by_price import best_by_price
    >>> from provetree.search.part import Part
    >>> tree = OptimalTreeClassifier(max_depth=1).fit([[1.0], [2.0]], [0, 1]).tree_
    >>> def best_without(forbidden, below=9.0):
    ...     return Part(tree, 0, 0) if 0 not in forbidden else Part(tree, 9, below, "nothing_below")
    >>> best_by_price({0: 2.0}, frozenset(), best_without).cost
    2.0
    """
    order = count()
    best: Part | None = None
    ended: Status | None = None
    open_bound = math.inf
    first = best_without(frozenset())
    start = sum(prices[column] for column in paid_for)
    waiting = [(first.bound + start, next(order), paid_for, frozenset[int](), first)]
    while waiting:
        low, _, inside, out, part = heapq.heappop(waiting)
        if best is not None and low >= best.cost:
            break
        used = frozenset(part.tree.columns_used) & prices.keys()
        cost = part.cost + sum(prices[column] for column in used)
        if best is None or cost < best.cost:
            best = replace(part, cost=cost)
        ended = ended or (None if part.status == "optimal" else part.status)
        if ended is not None:
            open_bound = min(open_bound, low)
            continue
        undecided = used - inside
        if not undecided:
            continue
        free = prices.keys() - inside - out
        fewer = out | free
        if low + min(prices[c] for c in free) < best.cost:
            column = max(undecided, key=lambda c: (prices[c], -c))
            with_it = inside | {column}
            heapq.heappush(waiting, (low + prices[column], next(order), with_it, out, part))
            fewer = out | {column}
        paid = sum(prices[c] for c in inside)
        without = best_without(fewer, best.cost - paid)
        if without.status == "nothing_below":
            continue
        least = max(low, without.bound + paid)
        heapq.heappush(waiting, (least, next(order), inside, fewer, without))
        if without.status != "optimal":
            ended = without.status
    assert best is not None
    bound = min([open_bound, best.cost, *(entry[0] for entry in waiting)])
    return replace(best, bound=bound, status=ended or "optimal")
