"""Lanes of squared error against the plain way, row by row, on every kernel.

The plain way rounds each leaf up to whole units, the fast one each side, and it works in doubles:
leaves may differ by one unit, stumps by two and what the doubles round.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from provetree import _core
from testkit.core_calls import KERNELS
from testkit.lane_cases import INFINITE, LEFT, RIGHT, LaneCase, lane_table

BLOCKS, PER_BLOCK = 12, 60


def table_of(
    ranks: NDArray[Any],
    targets: NDArray[Any] | None,
    classes: NDArray[Any] | None = None,
    weights: NDArray[Any] | None = None,
    counts: NDArray[Any] | None = None,
) -> _core.Table:
    """A table of numbers, or of two classes."""
    return lane_table(
        "squared_error" if classes is None else "gini",
        ranks,
        targets=targets,
        classes=classes,
        n_classes=1 if classes is None else 2,
        weights=weights,
        counts=counts,
    )


def random_targets(
    rng: np.random.Generator, n: int, width: int, signal: NDArray[Any]
) -> NDArray[np.float64]:
    kind = rng.integers(0, 8)
    if kind == 0:
        return rng.integers(0, 3, (n, width)).astype(np.float64)  # long runs of equal targets
    if kind == 1:
        return np.full((n, width), 3.25)
    targets = rng.normal(size=(n, width)) + signal[:, None] / n
    if kind == 2:
        targets[rng.integers(0, n)] *= 1e4  # one row far away from all others
    if kind == 3:
        targets = 1e9 + targets
    if kind == 4:
        targets = 1e-7 * targets
    if kind == 5:
        targets = np.round(100 * targets)
    if kind == 6:
        targets = np.abs(targets) ** 5
    return targets


def random_case(seed: int, most_rows: int, least_rows: int = 2, outputs: bool = False) -> LaneCase:
    rng = np.random.default_rng((23, seed))
    n = int(rng.integers(least_rows, most_rows + 1))
    columns = [
        rng.permutation(n) if rng.random() < 0.5 else rng.integers(0, rng.integers(2, 40), n)
        for _ in range(int(rng.integers(1, 5)))
    ]
    ranks = np.array([np.unique(x, return_inverse=True)[1].reshape(-1) for x in columns])
    ranks[0] = rng.permutation(n) if ranks[0].max() == 0 else ranks[0]
    counts = rng.integers(1, 4, n) if rng.random() < 0.4 else np.ones(n, dtype=np.int64)
    weights = counts * rng.integers(1, 5, n) if rng.random() < 0.4 else counts
    if rng.random() < 0.1:  # one row outweighs all others
        weights = weights.copy()
        weights[rng.integers(0, n)] = 10**6
    if not outputs and rng.random() < 0.3:
        classes = rng.integers(0, 2, n) if rng.random() < 0.5 else (ranks[0] > n // 3).astype(int)
        table = table_of(ranks, None, classes, weights, counts)
    else:
        width = int(rng.choice([2, 3, 5])) if outputs else 1
        table = table_of(ranks, random_targets(rng, n, width, ranks[0]), None, weights, counts)
    varying = [c for c, own in enumerate(ranks) if own.max() > 0]
    column = int(rng.choice(varying))
    ends = np.flatnonzero(np.diff(np.sort(ranks[column]))) + 1
    chosen = rng.choice(ends, int(rng.integers(1, min(64, len(ends)) + 1)), replace=False)
    least = int(rng.integers(2, 8)) if rng.random() < 0.4 else 1
    return LaneCase(table, least, column, [int(x) for x in np.sort(chosen)])


def check(case: LaneCase, kernel: str, units: int = 1, way: str = "fast") -> None:
    """The lanes agree but for rounding: `units` is what doubles may round a stump by."""
    plain, fast = case.lanes("plain"), case.lanes(way, kernel)
    for side in (LEFT, RIGHT):
        (leaf, stump, split, fits), (got_leaf, got_stump, got_split, got_fits) = (
            plain[:, side].T,
            fast[:, side].T,
        )
        np.testing.assert_array_equal(fits, got_fits)
        assert (np.abs(leaf - got_leaf) <= 1).all()
        assert (got_stump <= np.minimum(stump + units, got_leaf)).all()
        assert (got_stump >= stump - 2 - units).all()
        # A split that costs as much as the leaf need not be told.
        assert (got_split[split == INFINITE] == INFINITE).all()
        told = got_split != INFINITE
        assert (np.abs(got_split - split)[told] <= 2 + units).all()
        assert (split[~told] >= leaf[~told] - 2 - units).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("block", range(BLOCKS))
def test_lanes_agree_with_the_plain_way(block: int, kernel: str) -> None:
    for seed in range(block * PER_BLOCK, (block + 1) * PER_BLOCK):
        case = random_case(seed, 60 if seed % 2 else 7)
        check(case, kernel)
        check(case, kernel, way="again")


@pytest.mark.parametrize("kernel", KERNELS)
def test_lanes_agree_where_columns_have_many_blocks(kernel: str) -> None:
    for seed in range(30):
        case = random_case(10_000 + seed, 1_500, 300)
        check(case, kernel, units=2)
        # Columns that are swept once more have their rows counted as they lie in memory.
        check(case, kernel, units=2, way="again")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("least", [1, 4])
def test_targets_of_any_number_of_bits_agree(kernel: str, least: int) -> None:
    """Weight and sum of a row are packed into one number if they fit: here they just do, or not."""
    for bits in range(1, 46):
        rng = np.random.default_rng((37, bits))
        n = int(rng.integers(40, 200))
        second = np.sort(rng.integers(0, n, n)) if bits % 3 else rng.permutation(n)
        ranks = np.array([rng.permutation(n), np.unique(second, return_inverse=True)[1]])
        # Sums are as far from zero as they can be : one end of the targets on each side of a split.
        targets = np.where(ranks[1] > ranks[1].max() // 2, 2.0**bits, 0.0)
        targets += rng.integers(0, 2 ** max(0, bits - 4) + 1, n)
        weights = rng.integers(1, 2**15, n) if bits % 5 == 0 else np.ones(n, dtype=np.int64)
        table = table_of(ranks, targets[:, None], None, weights, np.ones(n, dtype=np.int64))
        positions = np.unique(rng.integers(1, n, 30))
        check(LaneCase(table, least, 0, [int(x) for x in positions]), kernel)


@pytest.mark.parametrize("kernel", KERNELS)
def test_lanes_of_several_outputs_agree_with_the_plain_way(kernel: str) -> None:
    for seed in range(150):
        check(random_case(20_000 + seed, 80, outputs=True), kernel, units=2)


def lanes_of_two_columns(targets: NDArray[Any], second: NDArray[Any], least: int = 1) -> LaneCase:
    """Lanes along a column that has nothing to do with the second one, which has the stumps."""
    n = len(targets)
    rng = np.random.default_rng(n)
    table = table_of(np.array([rng.permutation(n), second]), targets[:, None])
    return LaneCase(table, least, 0, [int(x) for x in np.linspace(1, n - 1, 20).astype(int)])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("least", [1, 3])
def test_the_best_stump_is_found_wherever_it_lies(kernel: str, least: int) -> None:
    """At the first row of a block, at its last row, and everywhere between."""
    n = 70
    noise = np.random.default_rng(5).normal(scale=0.05, size=n)
    for position in range(1, n):
        targets = (np.arange(n) >= position) + noise
        check(lanes_of_two_columns(targets, np.arange(n), least), kernel)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("up_first", [True, False])
def test_corners_of_blocks_are_not_passed_by(kernel: str, up_first: bool) -> None:
    """Rows go all the way up, then all the way down: the state in the middle is the corner."""
    n, half = 160, 8
    turns = np.tile(np.repeat([1.0, -1.0] if up_first else [-1.0, 1.0], half), n // (2 * half))
    for shift in range(0, 2 * half, 3):
        for block in range(n // (2 * half)):
            size = np.where(np.arange(n) // (2 * half) == block, 1.5, 1.0)
            check(lanes_of_two_columns(np.roll(turns * size, shift), np.arange(n)), kernel)


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_end_where_ties_end(kernel: str) -> None:
    """Groups of ties of every size across the ends of blocks, with the best split beside them."""
    n = 96
    rng = np.random.default_rng(7)
    for size in range(1, 40):
        begin = int(rng.integers(0, n - size))
        second = np.arange(n)
        second[begin : begin + size] = begin
        second = np.unique(second, return_inverse=True)[1]
        for edge in (begin, begin + size):
            targets = (np.arange(n) >= edge) + rng.normal(scale=0.05, size=n)
            check(lanes_of_two_columns(targets, second), kernel)
