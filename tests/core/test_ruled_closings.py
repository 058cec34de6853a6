"""What a proof under rules closes is checked by brute force over all trees that keep the rules."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

from provetree.problem.problem import Problem
from testkit.closings import Closing, heard
from testkit.naive import NaiveSearch
from testkit.random_problems import random_problem

Labels = Mapping[tuple[int, int], float]  # what trees cost by the least and the largest label


@dataclass
class RuledTwin:
    """All trees of a problem of two classes that keep directions and groups, tried one by one."""

    twin: NaiveSearch
    directions: Sequence[int]
    groups: Sequence[Sequence[int]]
    prices: Sequence[int] = ()
    priced: Sequence[Sequence[int]] = ()
    known: dict[tuple[int, int, int, frozenset[int]], Labels] = field(default_factory=dict)

    def allows(self, asked: frozenset[int]) -> bool:
        if not self.groups:
            return True
        return bool(frozenset.intersection(*(frozenset(self.groups[c]) for c in asked)))

    def price(self, column: int, asked: frozenset[int]) -> int:
        if not self.prices:
            return 0
        paid = {number for above in asked for number in self.priced[above]}
        owed = sum(self.prices[number] for number in set(self.priced[column]) - paid)
        return owed * self.twin.problem.error_scale

    def best(self, rows: int, depth: int, splits: int, asked: frozenset[int]) -> Labels:
        key = rows, depth, splits, asked
        if key not in self.known:
            self.known[key] = self._best(*key)
        return self.known[key]

    def _best(self, rows: int, depth: int, splits: int, asked: frozenset[int]) -> Labels:
        problem = self.twin.problem
        own = [i for i in range(problem.n_rows) if rows >> i & 1]
        found: dict[tuple[int, int], float] = {}
        if self.twin.size(rows) >= problem.min_samples_leaf:
            for label in (0, 1):
                wrong = sum(int(problem.weights[i]) for i in own if problem.classes[i] != label)
                found[label, label] = problem.error_scale * wrong
        if depth == 0 or splits == 0:
            return found
        for column, low, _ in self.twin.splits(rows):
            if self.allows(asked | {column}):
                for labels, cost in self.split_costs(rows, column, low, depth, splits, asked):
                    found[labels] = min(cost, found.get(labels, math.inf))
        return found

    def split_costs(
        self,
        rows: int,
        column: int,
        rank: int,
        depth: int,
        splits: int,
        asked: frozenset[int],
        shares: Sequence[int] | None = None,
    ) -> Iterator[tuple[tuple[int, int], float]]:
        """What trees that begin with a split cost; `shares`: the splits on its left."""
        left, right = self.twin.sides(rows, column, rank)
        way = self.directions[column] if self.directions else 0
        now = asked | {column}
        own = self.twin.problem.split_penalty + self.price(column, asked)
        for share in range(splits) if shares is None else shares:
            lefts = self.best(left, depth - 1, share, now)
            rights = self.best(right, depth - 1, splits - 1 - share, now)
            for (one, cost), (other, more) in product(lefts.items(), rights.items()):
                if (way > 0 and one[1] > other[0]) or (way < 0 and one[0] < other[1]):
                    continue
                labels = min(one[0], other[0]), max(one[1], other[1])
                yield labels, cost + more + own


def ruled_problem(seed: int) -> tuple[Problem, list[int], list[list[int]]]:
    """A problem of two classes with directions, groups, or both."""
    rng = np.random.default_rng(seed)
    for number in range(seed, seed + 100):
        problem = random_problem(1000 * seed + number, max_depth=2 + seed % 2)
        if problem.n_classes == 2 and problem.n_rows <= 12 and len(problem.columns) > 1:
            break
    else:
        pytest.fail("no small problem of two classes")
    # Columns that divide the rows alike are one column, of one direction.
    columns = range(len(problem.columns))
    directions = [int(rng.choice([-1, 0, 1])) for _ in columns] if seed % 3 != 1 else []
    groups = (
        [rng.permutation(3)[: rng.integers(1, 3)].tolist() for _ in columns] if seed % 3 else []
    )
    return problem, directions, groups


def prices_of(seed: int, columns: int) -> tuple[list[int], list[list[int]]]:
    """Prices that paths pay once, in half of the problems; two columns may share one."""
    if seed % 2:
        return [], []
    rng = np.random.default_rng(seed)
    prices = [int(price) for price in rng.integers(0, 4, 2)]
    return prices, [rng.permutation(2)[: rng.integers(0, 3)].tolist() for _ in range(columns)]


def closings_of(seed: int) -> tuple[RuledTwin, list[Closing], float]:
    problem, directions, groups = ruled_problem(seed)
    prices, priced = prices_of(seed, len(problem.columns))
    cost, scaled, closings = heard(
        problem, directions=directions, groups=groups, prices=prices, priced=priced
    )
    twin = RuledTwin(NaiveSearch(scaled), directions, groups, prices, priced)
    whole = (1 << problem.n_rows) - 1
    splits = min(problem.max_splits, 2**problem.max_depth - 1)
    least = min(twin.best(whole, problem.max_depth, splits, frozenset()).values())
    assert cost * scaled.error_scale == least * problem.error_scale, seed
    return twin, closings, least


def costs_in(twin: RuledTwin, closing: Closing) -> Iterator[float]:
    """What the best trees that begin with each split of a region cost."""
    rows = (1 << twin.twin.problem.n_rows) - 1
    asked: frozenset[int] = frozenset()
    for column, rank, right in closing.path:
        rows = twin.twin.sides(rows, column, rank)[right]
        asked |= {column}
    shares = [closing.left_splits] if closing.left_splits >= 0 else None
    for column, low, high in twin.twin.splits(rows):
        if twin.allows(asked | {column}) and closing.covers(column, low, high):
            yield from (
                cost
                for _, cost in twin.split_costs(
                    rows, column, low, closing.depth, closing.splits, asked, shares
                )
            )


@pytest.mark.parametrize("block", range(6))
def test_every_closing_under_rules_is_true(block: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(20 * block, 20 * block + 20):
        twin, closings, _ = closings_of(seed)
        for closing in closings:
            seen[closing.reason] += 1
            if closing.depth > 0:
                least = min(costs_in(twin, closing), default=math.inf)
                assert least >= closing.bound, (seed, closing)
    assert sum(seen.values()) > 100


def test_together_they_cover_every_split_of_the_root() -> None:
    covered = 0
    for seed in range(90):
        twin, closings, least = closings_of(seed)
        problem = twin.twin.problem
        rows = (1 << problem.n_rows) - 1
        at_root = [c for c in closings if not c.path and c.bound >= least and c.reason != "solved"]
        if not at_root or twin.twin.leaf(rows)[0] <= least:
            continue
        deepest = max(c.splits for c in at_root)
        for column, low, high in twin.twin.splits(rows):
            sizes = [twin.twin.size(side) for side in twin.twin.sides(rows, column, low)]
            if min(sizes) < problem.min_samples_leaf or not twin.allows(frozenset([column])):
                continue
            here = [c for c in at_root if c.splits == deepest and c.covers(column, low, high)]
            covered += 1
            told = {c.left_splits for c in here}
            directed = bool(twin.directions and twin.directions[column])
            wanted = {0, deepest - 1} if directed else set()
            assert -1 in told or (told >= wanted and told), (seed, column, low, told)
    assert covered > 100
