"""A version: one step of a session, with its wishes, its tree and its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from provetree.solution import Solution, relative_gap
from provetree.studio.wishes import Wishes
from provetree.tree.tree import Tree

__all__ = ["Best", "Version", "cost_of_rules"]

#: Of a version whose search runs, and of one that no tree can keep.
SEARCHING, FAILED = "searching", "failed"


@dataclass(frozen=True)
class Best:
    """What the best tree of a size costs, and a proven lower bound of it."""

    cost: float
    bound: float


@dataclass(frozen=True)
class Version:
    """One step of a session.

    Parameters
    ----------
    number : int
        Counted from 1.
    parent : int or None
        The version that it was made from.
    step : str
        What was wished, in words.
    wishes : Wishes
        All wishes that it keeps.
    status : str
        How the search ended; "searching" while it runs, "failed" where no tree keeps the wishes.
    tree : Tree or None
        Its tree.
    cost, bound : float
        What the tree costs, and what every tree that keeps the wishes costs at least.
    seconds : float
        How long the search took.
    limit : float
        How long it might have taken.
    name : str or None
        What the person called it.
    failure : str or None
        Why no tree keeps the wishes.
    figures : mapping
        How the tree does on training rows, held-out folds and test rows.
    gesture : str or None
        What it belongs to while a person drags: only the last of such versions is kept.
    """

    number: int
    parent: int | None
    step: str
    wishes: Wishes
    status: str = SEARCHING
    tree: Tree | None = None
    cost: float = 0
    bound: float = 0
    seconds: float = 0.0
    limit: float = 0.0
    name: str | None = None
    failure: str | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)
    gesture: str | None = None

    @property
    def is_proven(self) -> bool:
        """Whether no tree that keeps the wishes is better."""
        return self.status == "optimal"

    @property
    def gap(self) -> float:
        """The share of the cost that is not proven."""
        return relative_gap(self.cost, self.bound)

    def solution(self) -> Solution:
        """Return the tree and what is proven of it, as a search gives them."""
        assert self.tree is not None
        return Solution(self.tree, self.cost, self.bound, self.status)  # type: ignore[arg-type]

    def to_data(self) -> dict[str, Any]:
        """Return the version as plain JSON."""
        kept = ("number", "parent", "step", "status", "cost", "bound", "seconds", "limit", "name")
        return {
            **{name: getattr(self, name) for name in kept},
            "failure": self.failure,
            "figures": dict(self.figures),
            "wishes": self.wishes.to_data(),
            "tree": None if self.tree is None else self.tree.to_dict(),
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Version:
        """Return the version that :meth:`to_data` wrote."""
        given = dict(data)
        tree = given.pop("tree")
        return cls(
            wishes=Wishes.of_data(given.pop("wishes")),
            tree=None if tree is None else Tree.from_dict(tree),
            **given,
        )


def cost_of_rules(version: Version, best: Best | None) -> tuple[float, float] | None:
    """Return what the wishes of a version cost against the best tree of its size: least and most.

    Examples
    --------
    >>> from provetree.studio.version import Best, Version, cost_of_rules
    >>> from provetree.studio.wishes import Wishes
    >>> version = Version(2, 1, "", Wishes(), status="optimal", cost=12, bound=12)
    >>> cost_of_rules(version, Best(8, 8)), cost_of_rules(version, Best(8, 5))
    ((4, 4), (4, 7))
    """
    if best is None or version.status in (SEARCHING, FAILED):
        return None
    return max(0, version.bound - best.cost), max(0, version.cost - best.bound)
