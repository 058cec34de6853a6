"""The parts of the core one by one, each against a naive twin written here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from provetree import _core
from testkit.core_calls import KERNELS, OFF, flat_values, on_table

#: What the core calls a cost when there is no tree.
INFINITE = (2**63 - 1) // 8


@dataclass(frozen=True)
class RawTable:
    """A table as the core takes it, and the least leaf size."""

    ranks: NDArray[np.uint32]
    values: list[NDArray[np.float64]]
    classes: NDArray[np.int32]
    weights: NDArray[np.int64]
    counts: NDArray[np.int64]
    n_classes: int
    least: int

    def arguments(self) -> dict[str, Any]:
        names = ("ranks", "classes", "weights", "counts", "n_classes")
        table = {name: getattr(self, name) for name in names} | flat_values(self.values)
        return {**table, "min_samples_leaf": self.least}

    @property
    def n_rows(self) -> int:
        return len(self.classes)

    def splits(self, rows: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64], Any]]:
        """All (column, rows on the left, rows on the right) between values of the rows."""
        for column, ranks in enumerate(self.ranks):
            for rank in np.unique(ranks[rows])[:-1]:
                goes_left = ranks[rows] <= rank
                yield column, rows[goes_left], rows[~goes_left]

    def leaf(self, rows: NDArray[np.int64]) -> int:
        """Errors of a single leaf."""
        totals = np.bincount(self.classes[rows], self.weights[rows], self.n_classes)
        return int(totals.sum() - totals.max())

    def large_enough(self, rows: NDArray[np.int64]) -> bool:
        return bool(self.counts[rows].sum() >= self.least)

    def stumps(self, rows: NDArray[np.int64]) -> tuple[int, int]:
        """Least errors with exactly one split: of any, and of those with large enough leaves.

        The same as listing ``splits`` and adding up leaves, by running sums over each column.
        """
        most = most_feasible = -1
        by_class = np.zeros((len(rows), self.n_classes), dtype=np.int64)
        by_class[np.arange(len(rows)), self.classes[rows]] = self.weights[rows]
        for ranks in self.ranks:
            order = np.argsort(ranks[rows], kind="stable")
            ends = np.flatnonzero(np.diff(ranks[rows][order]))
            if len(ends) == 0:
                continue
            left = by_class[order].cumsum(axis=0)
            correct = left[ends].max(axis=1) + (left[-1] - left[ends]).max(axis=1)
            count = self.counts[rows][order].cumsum()
            feasible = (count[ends] >= self.least) & (count[-1] - count[ends] >= self.least)
            most = max(most, int(correct.max()))
            if feasible.any():
                most_feasible = max(most_feasible, int(correct[feasible].max()))
        total = int(self.weights[rows].sum())
        return tuple(total - m if m >= 0 else INFINITE for m in (most, most_feasible))  # type: ignore[return-value]


def raw_table(seed: int, most_rows: int) -> RawTable:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, rng.choice([8, 40, most_rows]) + 1))
    n_columns = int(rng.integers(1, 5))
    ranks = np.empty((n_columns, n), dtype=np.uint32)
    values = []
    for column in range(n_columns):
        distinct = int(rng.choice([2, 3, 10, n]))
        order = rng.permutation(n) if distinct == n else rng.integers(0, distinct, n)
        levels, ranks[column] = np.unique(order, return_inverse=True)
        values.append(np.cumsum(rng.choice([0.5, 1.0, 2.0], len(levels))))
    n_classes = int(rng.choice([1, 2, 3, 5, 7, 8, 12], p=[0.02, 0.38, 0.15, 0.15, 0.1, 0.1, 0.1]))
    classes = rng.integers(0, n_classes, n)
    if rng.random() < 0.5:  # long runs of one class, which the sweeps skip over
        classes = np.where(rng.random(n) < 0.9, ranks[0] * n_classes // n, classes)
    # One row's weight up to 127, the total up to 32767, and more: sums of 8, 16 and 32 bits.
    heaviest = int(rng.choice([1, 1, 3, 127, 32767 // n, 2**30 // n]))
    return RawTable(
        ranks,
        values,
        classes.astype(np.int32),
        rng.integers(1, max(2, heaviest + 1), n),
        rng.integers(1, int(rng.choice([2, 4])), n),
        n_classes,
        int(rng.choice([1, 2, 3, n // 3 + 1], p=[0.5, 0.1, 0.2, 0.2])),
    )


def check_side(
    table: RawTable, rows: NDArray[np.int64], leaf: int, stump: int, split: int, feasible: int
) -> bool:
    any_split, feasible_split = table.stumps(rows)
    right = leaf == table.leaf(rows) and stump == min(table.leaf(rows), any_split)
    right = right and bool(feasible) == table.large_enough(rows)
    if table.least > 1:
        return right and (split if split >= 0 else INFINITE) == feasible_split
    return right and split == stump


@pytest.mark.parametrize("block", range(8))
def test_panels(block: int) -> None:
    """Each lane's leaf and best stump on either side, of panels of any mix of splits."""
    lanes_seen = columns_seen = 0
    for seed in range(block * 400, (block + 1) * 400):
        table = raw_table(seed, 60 if seed % 10 else 400)
        splits = list(table.splits(np.arange(table.n_rows)))
        rng = np.random.default_rng(seed)
        chosen = rng.permutation(len(splits))[: int(rng.integers(1, 65))]
        lanes = sorted((splits[i][0], len(splits[i][1])) for i in chosen)
        sides = {(column, len(left)): (left, right) for column, left, right in splits}
        lanes_seen += len(lanes)
        columns_seen += len({column for column, _ in lanes})
        answers = [
            on_table(_core.parts.evaluate_panel, **table.arguments(), lanes=lanes, kernel=kernel)
            for kernel in KERNELS
        ]
        assert all(answer == answers[0] for answer in answers), f"kernels differ, seed {seed}"
        for lane, answer in zip(lanes, answers[0], strict=True):
            left, right = sides[lane]
            assert check_side(table, left, *answer[:4]), (seed, lane, "left")
            assert check_side(table, right, *answer[4:]), (seed, lane, "right")
    assert lanes_seen > 4000
    assert columns_seen > 700


def check_panel(table: RawTable, ranks: NDArray[np.uint32], lanes: list[tuple[int, int]]) -> None:
    """Both sides of some splits of columns without ties, by every kernel."""
    for kernel in KERNELS:
        answers = on_table(
            _core.parts.evaluate_panel, **table.arguments(), lanes=lanes, kernel=kernel
        )
        for (column, position), answer in zip(lanes, answers, strict=True):
            order = np.argsort(ranks[column])
            assert check_side(table, order[:position], *answer[:4]), (kernel, column, position)
            assert check_side(table, order[position:], *answer[4:]), (kernel, column, position)


@pytest.mark.parametrize("n_columns", [7, 8, 9, 16, 17, 32, 33])
def test_panels_of_many_columns(n_columns: int) -> None:
    """Rows of 8, 16 and 32 ranks that lie together, and more columns than that."""
    rng = np.random.default_rng(n_columns)
    n = 90
    ranks = np.array([rng.permutation(n) for _ in range(n_columns)], dtype=np.uint32)
    ones = np.ones(n, dtype=np.int64)
    values = [np.arange(n, dtype=np.float64)] * n_columns
    classes = (ranks[-1] % 7 < 3).astype(np.int32)
    table = RawTable(ranks, values, classes, ones, ones, 2, 1)
    chosen = {(int(rng.integers(n_columns)), int(rng.integers(1, n))) for _ in range(50)}
    lanes = sorted(chosen | {(0, 1), (n_columns - 1, n // 2), (n_columns - 1, n - 1)})
    check_panel(table, ranks, lanes)


@pytest.mark.parametrize("top", [65_535, 65_536])
def test_panels_at_the_edge_of_ranks_of_sixteen_bits(top: int) -> None:
    """The highest rank that a row of ranks can hold, and one more."""
    n = top + 1
    ranks = np.array([np.arange(n), np.arange(n)[::-1]], dtype=np.uint32)
    ones = np.ones(n, dtype=np.int64)
    classes = (np.arange(n) % 65_536 < 3).astype(np.int32)
    table = RawTable(ranks, [np.arange(n, dtype=np.float64)] * 2, classes, ones, ones, 2, 1)
    lanes = [(0, 1), (0, 2), (0, n - 2), (0, n - 1), (1, 1), (1, 3), (1, n - 1)]
    check_panel(table, ranks, lanes)


@pytest.mark.parametrize("heaviest", [1, 127, 128])
@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_panels_of_many_rows(n_classes: int, heaviest: int) -> None:
    """Long runs of one class: running sums that would not fit in 8 or in 16 bits."""
    rng = np.random.default_rng(heaviest)
    n = 150_000
    order = np.array([np.arange(n), rng.permutation(n), np.arange(n) // 1000], dtype=np.uint32)
    classes = (np.arange(n) * n_classes // n) ^ (rng.random(n) < 0.02)
    table = RawTable(
        order,
        [np.arange(n, dtype=np.float64)] * 3,
        np.minimum(classes, n_classes - 1).astype(np.int32),
        np.full(n, heaviest, dtype=np.int64),
        np.ones(n, dtype=np.int64),
        n_classes,
        1,
    )
    lanes = [(0, 10), (0, n // 2), (0, n - 50_000), (0, n - 1), (1, n // 3), (2, 1000), (2, 70_000)]
    answers = [
        on_table(_core.parts.evaluate_panel, **table.arguments(), lanes=lanes, kernel=kernel)
        for kernel in KERNELS
    ]
    assert all(answer == answers[0] for answer in answers)
    for (column, position), answer in zip(lanes, answers[0], strict=True):
        rows = np.argsort(order[column], kind="stable")
        assert check_side(table, rows[:position], *answer[:4]), (column, position)
        assert check_side(table, rows[position:], *answer[4:]), (column, position)


@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("total", [32_766, 32_767, 32_768, 40_000, 65_535, 65_536, 70_000])
def test_panels_at_the_edges_of_sixteen_bits(total: int, least: int, n_classes: int) -> None:
    """Nearly all rows of one class, and totals that just fit, or just do not."""
    rng = np.random.default_rng(total)
    n = 200
    weights = np.full(n, total // n)
    weights[:3] += [total - weights.sum(), 50, -50]
    assert weights.sum() == total
    ranks = np.array([np.arange(n), rng.permutation(n)], dtype=np.uint32)
    lanes = [(0, 2), (0, n - 2), (1, 1), (1, n // 2), (1, n - 1)]
    for main in range(min(n_classes, 3)):
        classes = np.full(n, main)
        classes[rng.integers(0, n, 4)] = rng.integers(0, n_classes, 4)
        for counts in (np.ones(n, dtype=np.int64), weights):
            table = RawTable(
                ranks,
                [np.arange(n, dtype=np.float64)] * 2,
                classes.astype(np.int32),
                weights,
                counts,
                n_classes,
                least * int(counts[5]),
            )
            for kernel in KERNELS:
                answers = on_table(
                    _core.parts.evaluate_panel, **table.arguments(), lanes=lanes, kernel=kernel
                )
                for (column, position), answer in zip(lanes, answers, strict=True):
                    rows = np.argsort(ranks[column], kind="stable")
                    where = (main, kernel, column, position)
                    assert check_side(table, rows[:position], *answer[:4]), where
                    assert check_side(table, rows[position:], *answer[4:]), where


def test_stumps_equal_a_listing_of_all_splits() -> None:
    """The twin's running sums, checked themselves."""
    for seed in range(100):
        table = raw_table(seed, 40)
        rows = np.arange(table.n_rows)
        found: list[tuple[int, bool]] = [
            (
                table.leaf(left) + table.leaf(right),
                table.large_enough(left) and table.large_enough(right),
            )
            for _, left, right in table.splits(rows)
        ]
        assert table.stumps(rows) == (
            min((errors for errors, _ in found), default=INFINITE),
            min((errors for errors, feasible in found if feasible), default=INFINITE),
        )


@pytest.mark.parametrize("block", range(4))
def test_depth_one(block: int) -> None:
    """The best stump by the tie rule: leaf, lowest column, widest margin, lowest threshold."""
    for seed in range(block * 500, (block + 1) * 500):
        table = raw_table(seed, 40)
        rng = np.random.default_rng(seed)
        scale, penalty = int(rng.integers(1, 5)), int(rng.choice([0, 0, 1, 7]))
        rows = np.arange(table.n_rows)
        leaf = scale * table.leaf(rows)
        best: tuple[Any, ...] = (leaf if table.large_enough(rows) else None, -1, 0.0, 0)
        relaxed = leaf
        for column, left, right in table.splits(rows):
            cost = scale * (table.leaf(left) + table.leaf(right)) + penalty
            relaxed = min(relaxed, cost)
            if table.large_enough(left) and table.large_enough(right):
                ranks, values = table.ranks[column], table.values[column]
                gap = values[ranks[right].min()] - values[ranks[left].max()]
                best = min(best, (cost, column, -gap, len(left)))
        answer = on_table(
            _core.parts.depth_one, **table.arguments(), error_scale=scale, split_penalty=penalty
        )
        if best[0] is None:  # too few rows for even one leaf
            assert answer[0] == INFINITE, seed
            assert answer[1:3] == (relaxed, -1), seed
        else:
            assert answer == (best[0], relaxed, best[1], best[3]), seed


def depth_two_twin(table: RawTable, splits: int, scale: int, penalty: int) -> tuple[int, int]:
    """Least cost of trees of depth two: with large enough leaves, and whatever their size."""
    rows = np.arange(table.n_rows)

    def sides(part: NDArray[np.int64]) -> list[tuple[int, int]]:
        """(constrained, relaxed) cost as a leaf, and with at most one split."""
        leaf = scale * table.leaf(part)
        kept = leaf if table.large_enough(part) else INFINITE
        any_split, feasible_split = (min(INFINITE, scale * s + penalty) for s in table.stumps(part))
        return [(kept, leaf), (min(kept, feasible_split), min(leaf, any_split))]

    best = list(sides(rows)[0])
    for _, left, right in table.splits(rows):
        lefts, rights = sides(left), sides(right)
        for a, b in [(1, 1)] if splits == 3 else [(0, 1), (1, 0)]:
            for kind in (0, 1):
                best[kind] = min(best[kind], penalty + lefts[a][kind] + rights[b][kind])
    return best[0], best[1]


@pytest.mark.parametrize("block", range(8))
def test_depth_two(block: int) -> None:
    """Exact below the limit; at or above it, bounds on the right sides of the optimum."""
    outcomes: Counter[str] = Counter()
    off = [bit for name, bit in OFF.items() if name in ("lipschitz", "packing")]
    for seed in range(block * 60, (block + 1) * 60):
        table = raw_table(seed, 60 if seed % 10 else 150)
        rng = np.random.default_rng(seed)
        scale, penalty = int(rng.choice([1, 4, 3])), int(rng.choice([0, 0, 1, 7]))
        splits = int(rng.choice([2, 3]))
        optimum, relaxed = depth_two_twin(table, splits, scale, penalty)
        near = [optimum + int(rng.integers(-3, 4)) * scale, max(1, optimum * 2 // 3)]
        for limit in (INFINITE, *near):
            answers = {
                on_table(
                    _core.parts.depth_two,
                    **table.arguments(),
                    splits=splits,
                    limit=limit,
                    error_scale=scale,
                    split_penalty=penalty,
                    kernel=kernel,
                    switches=switches,
                )
                for kernel in KERNELS
                for switches in (0, int(rng.choice([*off, sum(off)])))
            }
            for lower, relaxed_lower, upper in answers:
                assert lower <= optimum, (seed, limit)
                assert relaxed_lower <= relaxed, (seed, limit)
                if optimum >= INFINITE:
                    assert upper == INFINITE, (seed, limit)
                elif optimum < limit:
                    assert lower == upper == optimum, (seed, limit)
                else:
                    assert lower >= limit, (seed, limit)
                    assert upper >= optimum, (seed, limit)
            if optimum < INFINITE:
                outcomes["below" if optimum < limit else "not below"] += 1
            outcomes["constrained"] += relaxed < optimum
    assert min(outcomes.values()) > 10, outcomes


def test_depth_two_takes_the_same_steps_when_it_is_heard() -> None:
    """Two classes and nobody who listens: gaps between exact points are all there is to keep.

    The general way, which tells what it closes, is its twin.
    """
    repeated = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 600))
        distinct = [rng.integers(0, int(rng.choice([3, 40, 10 * n])), n) for _ in range(4)]
        ranks = np.array([np.unique(column, return_inverse=True)[1] for column in distinct])
        likely = np.where(ranks[0] < n // 3, 0.15, np.where(ranks[1] < n // 3, 0.3, 0.8))
        table = RawTable(
            ranks.astype(np.uint32),
            [np.arange(column.max() + 1, dtype=np.float64) for column in ranks],
            (rng.random(n) < likely).astype(np.int32),
            rng.integers(1, int(rng.choice([2, 4])), n),
            np.ones(n, dtype=np.int64),
            2,
            1,
        )
        arguments = table.arguments()
        del arguments["min_samples_leaf"]
        scale, penalty = int(rng.choice([1, 16, 3])), int(rng.choice([0, 1, 7]))
        quick, told = (
            on_table(
                _core.parts.depth_two_steps,
                **arguments,
                limit=int(INFINITE if seed % 2 else scale * n // 5),
                error_scale=scale,
                split_penalty=penalty,
                heard=heard,
            )
            for heard in (False, True)
        )
        assert quick == told, seed
        repeated += quick[2] > 2
    assert repeated > 20


def open_splits_twin(
    left: tuple[int, int], right: tuple[int, int], width: int, cut: int, scale: int
) -> tuple[list[int], int]:
    """Weights from a that may cost less than cut, and the least bound of all, one by one."""
    bounds = [
        max(left[0], left[1] - scale * (width - x)) + max(right[1], right[0] - scale * x)
        for x in range(width + 1)
    ]
    return [x for x, bound in enumerate(bounds) if bound < cut], min(bounds)


def test_open_range() -> None:
    """Between two evaluated splits exactly those splits stay open whose bound is below the cut."""
    rng = np.random.default_rng(0)
    seen: Counter[str] = Counter()
    for _ in range(20_000):
        scale = int(rng.choice([1, 1, 2, 5]))
        weight_a, width = int(rng.integers(0, 20)), int(rng.integers(1, 15))
        # More rows on the left from a to b, fewer on the right: at most scale * width each.
        left_a, right_b = (int(c) for c in rng.integers(0, 30, 2))
        left_b = left_a + int(rng.integers(0, scale * width + 1))
        right_a = right_b + int(rng.integers(0, scale * width + 1))
        cut = left_a + right_b + int(rng.integers(-3, scale * width + 4))
        if rng.random() < 0.1:  # bounds taken over from elsewhere need not be monotone
            left_b, right_a = max(0, left_a - 3), max(0, right_b - 3)
        is_open, bound, first, last = _core.parts.open_range(
            left_a=left_a,
            right_a=right_a,
            weight_a=weight_a,
            left_b=left_b,
            right_b=right_b,
            weight_b=weight_a + width,
            cut=cut,
            scale=scale,
        )
        weights, least = open_splits_twin((left_a, left_b), (right_a, right_b), width, cut, scale)
        between = [x for x in weights if 0 < x < width]
        case = (left_a, right_a, weight_a, left_b, right_b, width, cut, scale)
        assert bound <= least, case
        if is_open:
            assert weight_a <= first, case
            assert last <= weight_a + width, case
            kept = range(first - weight_a, last - weight_a + 1)
            assert all(x in kept for x in between), case
            # Nothing that is known to be too costly is kept.
            assert all(x in weights for x in kept if 0 < x < width), case
            seen["open"] += 1
            seen["shrunk"] += len(kept) < width + 1
        else:
            assert not between, case
            seen["closed"] += 1
    assert min(seen.values()) > 1000, seen
