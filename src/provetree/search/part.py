"""What is found out about a part of a tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from provetree.solution import Status
from provetree.tree.tree import Tree

__all__ = ["Part", "worst"]


@dataclass(frozen=True)
class Part:
    """A tree of some rows, what it costs in the user's units, and what is proven."""

    tree: Tree
    cost: float
    bound: float
    status: Status = "optimal"


def worst(parts: Iterable[Part]) -> Status:
    """Return how the search of some parts ended: as the first one did that did not end well.

    Examples
    --------
    >>> from provetree.search.part import worst
    >>> worst([])
    'optimal'
    """
    return next((part.status for part in parts if part.status != "optimal"), "optimal")
