"""What people wish of a tree: its size, fixed questions, forbidden columns and directions.

A wish never changes: each step makes a new one, so that every version keeps its own. Nodes are
named by their path, "" for the root, then "L" for yes and "R" for no.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from provetree.tree.serialise import write_float

__all__ = ["MOST_DEPTH", "Split", "WishError", "Wishes", "plain_split"]

#: A question that stays, in the form of the parameter `fixed_splits` of the classifier.
Split = Mapping[str, Any]

#: Deeper trees do not fit on a page.
MOST_DEPTH = 6


class WishError(ValueError):
    """A wish that makes no sense; its text is one sentence for the person who has it."""


@dataclass(frozen=True)
class Wishes:
    """All that a tree must keep to.

    Parameters
    ----------
    max_depth, max_leaf_nodes, min_samples_leaf
        The limits of the classifier.
    fixed : mapping of path to split
        The questions that stay. All nodes above a fixed one are fixed, too.
    pinned : frozenset of path
        Those of them that the person chose; the others stay because they are above one.
    forbidden : frozenset of int
        Columns that no question is about.
    directions : mapping of int to int
        For a column, 1 where the prediction may only rise with it and -1 where it may only fall.
    """

    max_depth: int = 3
    max_leaf_nodes: int | None = None
    min_samples_leaf: int | float = 1
    fixed: Mapping[str, Split] = field(default_factory=dict)
    pinned: frozenset[str] = frozenset()
    forbidden: frozenset[int] = frozenset()
    directions: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "fixed", MappingProxyType(dict(self.fixed)))
        object.__setattr__(self, "directions", MappingProxyType(dict(self.directions)))

    @property
    def is_free(self) -> bool:
        """Whether there is nothing but the limits on the size."""
        return not (self.fixed or self.forbidden or self.directions)

    @property
    def size(self) -> tuple[int, int | None, int | float]:
        """The limits on the size: depth, leaves, rows of a leaf."""
        return self.max_depth, self.max_leaf_nodes, self.min_samples_leaf

    def without_rules(self) -> Wishes:
        """Return the limits on the size alone."""
        return Wishes(*self.size)

    # -- steps -----------------------------------------------------------------------------

    def with_depth(self, depth: Any) -> Wishes:
        """Return the wishes with another depth; what is fixed below it cannot stay."""
        whole = _whole(depth, "The number of questions in a row", 0, MOST_DEPTH)
        deepest = max(
            (len(path) + 1 for path, s in self.fixed.items() if "leaf" not in s), default=0
        )
        if deepest > whole:
            raise WishError(
                f"Fixed questions reach {deepest} levels down: free them before you ask for "
                f"{whole}."
            )
        most = self.max_leaf_nodes
        return replace(
            self,
            max_depth=whole,
            max_leaf_nodes=None if most is None or most >= 2**whole else most,
        )

    def with_leaves(self, leaves: Any) -> Wishes:
        """Return the wishes with another number of leaves; as many as the depth allows is all."""
        most = _whole(leaves, "The number of leaves", 1, 2**self.max_depth)
        held = sum("leaf" not in split for split in self.fixed.values()) + 1
        if most < held:
            raise WishError(
                f"The fixed questions alone make {held} leaves: free some before you ask for "
                f"{most}."
            )
        return replace(self, max_leaf_nodes=None if most == 2**self.max_depth else most)

    def with_least_rows(self, rows: Any) -> Wishes:
        """Return the wishes with another least number of rows in a leaf."""
        return replace(self, min_samples_leaf=_whole(rows, "The rows of a leaf", 1, 10**9))

    def with_split(self, above: Mapping[str, Split], path: str, split: Split) -> Wishes:
        """Return the wishes with a question at a node; `above` holds those above it.

        What was fixed at the node and below it is gone, and so is what was fixed elsewhere under a
        question that is now another one.
        """
        if len(path) >= self.max_depth and "leaf" not in split:
            raise WishError(f"A tree of depth {self.max_depth} has no question so far down.")
        column = split.get("column")
        if column in self.forbidden:
            raise WishError("This column is forbidden: allow it before a question is about it.")
        kept = {p: s for p, s in self.fixed.items() if not p.startswith(path)}
        fixed = {**kept, **{p: dict(s) for p, s in above.items()}, path: dict(split)}
        pinned = frozenset(p for p in self.pinned if p in kept) | {path}
        return replace(self, fixed=fixed, pinned=pinned)

    def freed(self, path: str) -> Wishes:
        """Return the wishes without what is fixed at a node and below it."""
        pinned = frozenset(p for p in self.pinned if not p.startswith(path))
        return self._held_for(pinned)

    def without_column(self, column: int) -> Wishes:
        """Return the wishes with a column forbidden; fixed questions about it are freed."""
        about = [p for p, split in self.fixed.items() if split.get("column") == column]
        wishes = self
        for path in about:
            wishes = wishes.freed(path)
        directions = {c: way for c, way in self.directions.items() if c != column}
        return replace(wishes, forbidden=self.forbidden | {column}, directions=directions)

    def with_column(self, column: int) -> Wishes:
        """Return the wishes with a column allowed again."""
        return replace(self, forbidden=self.forbidden - {column})

    def with_direction(self, column: int, way: Any) -> Wishes:
        """Return the wishes with a direction of a column: 1, -1, or 0 for none."""
        if isinstance(way, bool) or way not in (-1, 0, 1):
            raise WishError(f"A direction is 1 (up), -1 (down) or 0 (none). Got {way!r} instead.")
        if column in self.forbidden and way:
            raise WishError("This column is forbidden: allow it before it gets a direction.")
        directions = {c: w for c, w in self.directions.items() if c != column}
        return replace(self, directions={**directions, column: way} if way else directions)

    def _held_for(self, pinned: frozenset[str]) -> Wishes:
        """Return the wishes with just these pinned nodes, and what stands above them."""
        held = {path[:at] for path in pinned for at in range(len(path))} | pinned
        fixed = {path: split for path, split in self.fixed.items() if path in held}
        return replace(self, fixed=fixed, pinned=pinned)

    # -- other forms -----------------------------------------------------------------------

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the classifier that keep these wishes."""
        given: dict[str, Any] = {
            "max_depth": self.max_depth,
            "max_leaf_nodes": self.max_leaf_nodes,
            "min_samples_leaf": self.min_samples_leaf,
        }
        if self.fixed:
            given["fixed_splits"] = {path: dict(self.fixed[path]) for path in sorted(self.fixed)}
        if self.forbidden:
            given["forbidden_columns"] = sorted(self.forbidden)
        if self.directions:
            given["monotonic_cst"] = dict(sorted(self.directions.items()))
        return given

    def to_data(self) -> dict[str, Any]:
        """Return the wishes as plain JSON."""
        return {
            "max_depth": self.max_depth,
            "max_leaf_nodes": self.max_leaf_nodes,
            "min_samples_leaf": self.min_samples_leaf,
            "fixed": {path: plain_split(split) for path, split in self.fixed.items()},
            "pinned": sorted(self.pinned),
            "forbidden": sorted(self.forbidden),
            "directions": {str(column): way for column, way in self.directions.items()},
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Wishes:
        """Return the wishes that :meth:`to_data` wrote."""
        return cls(
            data["max_depth"],
            data["max_leaf_nodes"],
            data["min_samples_leaf"],
            {path: _read(split) for path, split in data["fixed"].items()},
            frozenset(data["pinned"]),
            frozenset(data["forbidden"]),
            {int(column): way for column, way in data["directions"].items()},
        )


def _whole(given: Any, what: str, least: int, most: int) -> int:
    """Return a whole number within its limits, or say what is allowed."""
    fits = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not fits or math.isnan(given) or given != int(given) or not least <= given <= most:
        raise WishError(f"{what} must be a whole number from {least} to {most}. Got {given!r}.")
    return int(given)


def plain_split(split: Split) -> dict[str, Any]:
    """Return a question as JSON can hold it, infinite thresholds among them."""
    if split.get("threshold") is None:
        return dict(split)
    return {**split, "threshold": write_float(float(split["threshold"]))}


def _read(split: Split) -> dict[str, Any]:
    if split.get("threshold") is None:
        return dict(split)
    return {**split, "threshold": float(split["threshold"])}
