"""Trees of at most a cost, numbered: counted by the core level by level, and found by number.

A level is a node with every split that begins a tree within the limit, and how many trees of each
cost both sides of a split have. The number of a tree says which split is its first, which costs
its sides have, and which numbers they bear among the trees of these costs; so a tree is found from
its number by walking down, and only the levels on its way are counted again.
"""

from __future__ import annotations

import itertools
import math
import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.problem.problem import Problem
from provetree.search.engine import chosen_kernel

__all__ = [
    "LEAF",
    "CountStatus",
    "Level",
    "NumberedTrees",
    "Path",
    "Shape",
    "Side",
    "Split",
    "random_below",
]

CountStatus = Literal["complete", "time_limit", "memory_limit", "interrupted"]

#: The splits of a tree in preorder: ordered column, -1 for a leaf, and the last rank to go left.
Shape = tuple[tuple[int, int], ...]
#: Steps from the root to a node: column, rank, and whether it goes left.
Path = tuple[tuple[int, int, bool], ...]

LEAF: Shape = ((-1, 0),)
#: Levels that are kept, for the next tree is often beside the last.
_LEVELS_KEPT = 512


@dataclass(frozen=True)
class Side:
    """The trees of one side of a split: what its leaf costs, and the others by cost."""

    leaf: int
    label: int
    grown: tuple[tuple[int, int, float], ...]  # cost, number of trees, widest margin

    @cached_property
    def by_cost(self) -> dict[int, int]:
        """How many trees there are of each cost, the leaf among them, by rising cost."""
        counts = {cost: count for cost, count, _ in self.grown}
        counts[self.leaf] = counts.get(self.leaf, 0) + 1
        return dict(sorted(counts.items()))

    @property
    def dearest(self) -> int:
        """The cost of the dearest tree with a split."""
        return max(cost for cost, _, _ in self.grown)


@dataclass(frozen=True)
class Split:
    """A split that begins a tree within the limit, with the trees of both sides."""

    column: int
    rank: int
    feature: int
    margin: float
    left: Side
    right: Side
    least_with: Mapping[int, int]  # the least cost of its trees that ask about each feature


class Level:
    """The splits of a node that begin trees within a limit."""

    def __init__(self, found: Mapping[str, Any], n_trees_of: Callable[[Split, int], int]) -> None:
        self.status: str = found["status"]
        self.leaf, self.label = int(found["leaf"]), int(found["label"])
        self._n_trees_of = n_trees_of
        self.grown = _lists(found["grown"])[0]
        self._found = found
        self._at: dict[int, list[int]] = {}

    # Made when they are asked for: where nearly every tree has a cost of its own, that takes long.
    @cached_property
    def with_feature(self) -> dict[int, dict[int, int]]:
        """How many trees of each cost ask about each feature."""
        features, lists = self._found["with_feature"].tolist(), _lists(self._found["with"])
        return {
            feature: {cost: count for cost, count, _ in trees}
            for feature, trees in zip(features, lists, strict=True)
        }

    @cached_property
    def splits(self) -> list[Split]:
        """The splits, by column and threshold."""
        return _splits(self._found["splits"])

    def up_to(self, cost: int) -> list[int]:
        """Return how many trees of a cost begin with the first split, the first two, and so on."""
        if cost not in self._at:
            counts = (self._n_trees_of(split, cost) for split in self.splits)
            self._at[cost] = list(itertools.accumulate(counts))
        return self._at[cost]


def _lists(flat: Mapping[str, NDArray[Any]]) -> list[tuple[tuple[int, int, float], ...]]:
    """Return lists of (cost, number of trees, margin), taken apart where each ends."""
    numbers = [
        (high << 64) + low
        for high, low in zip(flat["high"].tolist(), flat["low"].tolist(), strict=True)
    ]
    items = list(zip(flat["cost"].tolist(), numbers, flat["margin"].tolist(), strict=True))
    ends = flat["ends"].tolist()
    return [tuple(items[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


def _sides(flat: Mapping[str, Any]) -> Iterator[Side]:
    parts = flat["leaf"].tolist(), flat["label"].tolist(), _lists(flat["grown"])
    return itertools.starmap(Side, zip(*parts, strict=True))


def _splits(flat: Mapping[str, Any]) -> list[Split]:
    features, costs = flat["with_feature"].tolist(), flat["with_cost"].tolist()
    ends = flat["with_ends"].tolist()
    least = [
        dict(zip(features[start:end], costs[start:end], strict=True))
        for start, end in zip([0, *ends], ends, strict=False)
    ]
    names = ("column", "rank", "feature", "margin")
    parts = [flat[name].tolist() for name in names]
    sides = _sides(flat["left"]), _sides(flat["right"])
    return list(itertools.starmap(Split, zip(*parts, *sides, least, strict=True)))


class NumberedTrees:
    """All trees of a problem that cost at most a limit, by rising cost.

    Trees of one cost are in the order of their splits from the root down: a leaf first, then by
    column and threshold.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.selection.tree_levels import NumberedTrees
    >>> problem = build_problem([[1], [2], [3]], [0, 1, 0], n_classes=2, max_depth=2, merge=False)
    >>> trees = NumberedTrees(problem, 2, limit=1)
    >>> trees.counts, trees.n_trees, trees.shape(0)
    ({0: 2, 1: 1}, 3, ((0, 0), (-1, 0), (0, 1), (-1, 0), (-1, 0)))
    """

    def __init__(
        self,
        problem: Problem,
        depth: int,
        limit: int,
        *,
        redundant_splits: bool = False,
        time_limit: float | None = None,
        memory_limit: int = 2**30,
        switches: int = 0,
    ) -> None:
        self.problem, self.depth, self.limit = problem, depth, limit
        self.redundant_splits, self.memory_limit = redundant_splits, memory_limit
        self._switches = switches
        self._deadline = math.inf if time_limit is None else time.monotonic() + time_limit
        self.root = self._counted((), depth, limit)
        # The root may be cut short. What lies below it is small, and never is.
        self._deadline = math.inf
        self._level = lru_cache(maxsize=_LEVELS_KEPT)(self._counted)
        counts = {cost: count for cost, count, _ in self.root.grown}
        if self.root.leaf <= limit:
            counts[self.root.leaf] = counts.get(self.root.leaf, 0) + 1
        #: How many trees there are of each cost, by rising cost.
        self.counts = dict(sorted(counts.items()))
        self._up_to = list(itertools.accumulate(self.counts.values()))

    @property
    def n_trees(self) -> int:
        """How many trees there are, or were counted before a limit ended it."""
        return self._up_to[-1] if self._up_to else 0

    def core_arguments(self) -> dict[str, Any]:
        """Return what the core is told about the problem."""
        problem = self.problem
        return {
            "table": problem.table,
            "features": problem.columns.features,
            "kinds": problem.columns.kinds,
            "error_scale": problem.error_scale,
            "split_penalty": problem.split_penalty,
            "min_samples_leaf": problem.min_samples_leaf,
            "redundant_splits": self.redundant_splits,
            "memory_limit": self.memory_limit,
            "kernel": chosen_kernel(),
            "switches": self._switches,
        }

    def _counted(self, path: Path, depth: int, limit: int) -> Level:
        left = self._deadline - time.monotonic()
        found = _core.count_trees(
            **self.core_arguments(),
            depth=depth,
            limit=limit,
            path=list(path),
            time_limit=max(left, 0.0),
        )
        return Level(found, lambda split, cost: sum(n for *_, n in self.pairs(split, cost)))

    def level_of(self, path: Path, depth: int, side: Side) -> Level:
        """Return the level of a side of a split."""
        return self._level(path, depth, side.dearest)

    def pairs(self, split: Split, cost: int) -> Iterator[tuple[int, int, int]]:
        """Yield the costs that the sides of a split can have, and how many trees these are."""
        left, right = split.left, split.right
        room = cost - self.problem.split_penalty
        for cost_left, n_left in left.by_cost.items():
            n_right = right.by_cost.get(room - cost_left, 0)
            n_trees = n_left * n_right - self.is_refused(split, cost_left, room - cost_left)
            if n_trees > 0:
                yield cost_left, room - cost_left, n_trees

    def is_refused(self, split: Split, cost_left: int, cost_right: int) -> bool:
        """Tell whether two leaves of these costs would predict the same class."""
        left, right = split.left, split.right
        leaves = cost_left == left.leaf and cost_right == right.leaf
        return leaves and left.label == right.label and not self.redundant_splits

    def shape(self, number: int) -> Shape:
        """Return the splits of a tree by its number."""
        place = bisect_right(self._up_to, number)
        cost = list(self.counts)[place]
        number -= self._up_to[place - 1] if place else 0
        return self._shape(self.root, (), self.depth, cost, number)

    def cost(self, number: int) -> int:
        """Return what a tree costs by its number."""
        return list(self.counts)[bisect_right(self._up_to, number)]

    def _shape(self, level: Level, path: Path, depth: int, cost: int, number: int) -> Shape:
        if level.leaf == cost:
            if number == 0:
                return LEAF
            number -= 1
        up_to = level.up_to(cost)
        place = bisect_right(up_to, number)
        split = level.splits[place]
        number -= up_to[place - 1] if place else 0
        cost_left, cost_right, number = self._costs_of(split, cost, number)
        # The pair of leaves, where it is refused, would be the first.
        number += self.is_refused(split, cost_left, cost_right)
        left, right = divmod(number, split.right.by_cost[cost_right])
        below = self.below(path, split)
        return (
            (split.column, split.rank),
            *self.side_shape(below[0], depth - 1, split.left, cost_left, left),
            *self.side_shape(below[1], depth - 1, split.right, cost_right, right),
        )

    def _costs_of(self, split: Split, cost: int, number: int) -> tuple[int, int, int]:
        """Return the costs of the sides of a tree of a split, and its number among those."""
        for cost_left, cost_right, n_trees in self.pairs(split, cost):
            if number < n_trees:
                return cost_left, cost_right, number
            number -= n_trees
        raise AssertionError("A tree that was counted could not be found again.")

    @staticmethod
    def below(path: Path, split: Split) -> tuple[Path, Path]:
        """Return the ways to both sides of a split."""
        return (
            (*path, (split.column, split.rank, True)),
            (*path, (split.column, split.rank, False)),
        )

    def side_shape(self, path: Path, depth: int, side: Side, cost: int, number: int) -> Shape:
        """Return a tree of a side of a split, by its number among those of its cost."""
        if cost == side.leaf and number == 0:
            return LEAF
        return self._shape(self.level_of(path, depth, side), path, depth, cost, number)

    def votes(self, time_limit: float | None = None) -> tuple[NDArray[np.float64], str]:
        """Return how many trees predict each class for each row, and how the count ended."""
        return _core.count_row_votes(
            **self.core_arguments(),
            depth=self.depth,
            limit=self.limit,
            time_limit=math.inf if time_limit is None else time_limit,
        )


def random_below(rng: np.random.Generator, limit: int) -> int:
    """Return a whole number below a limit of any size, each with the same chance."""
    bits = limit.bit_length()
    while True:
        words = rng.integers(0, 2**32, size=(bits + 31) // 32, dtype=np.uint64)
        number = 0
        for word in words.tolist():
            number = number << 32 | word
        number &= (1 << bits) - 1
        if number < limit:
            return number
