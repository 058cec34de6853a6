"""Lanes of class losses and of absolute error against the plain way, row by row, on every kernel.

Both give the same whole units: what the fast ones estimate they settle as the plain way does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from provetree import _core
from testkit.core_calls import KERNELS, OFF, TINY_BLOCKS
from testkit.lane_cases import INFINITE, LEFT, RIGHT, LaneCase, lane_table

CLASS_LOSSES = ("gini", "entropy", "pessimistic")
LOSSES = (*CLASS_LOSSES, "absolute_error")


def table_of(
    loss: str,
    ranks: NDArray[Any],
    labels: NDArray[Any],
    weights: NDArray[Any] | None = None,
    counts: NDArray[Any] | None = None,
) -> _core.Table:
    if loss not in CLASS_LOSSES:
        return lane_table(loss, ranks, targets=labels, weights=weights, counts=counts)
    # Gini of two classes is squared error, with lanes of its own : there is a class without rows.
    n_classes = max(int(labels.max()) + 1, 3 if loss == "gini" else 2)
    return lane_table(
        loss, ranks, classes=labels, n_classes=n_classes, weights=weights, counts=counts
    )


def random_labels(loss: str, rng: np.random.Generator, signal: NDArray[Any]) -> NDArray[Any]:
    n = len(signal)
    if loss == "absolute_error":
        numbers = rng.normal(size=(n, int(rng.integers(1, 4)))) + signal[:, None] / n
        return np.round(10 * numbers) if rng.random() < 0.5 else numbers
    classes = int(rng.choice([2, 2, 3, 5, 30]))
    labels = rng.integers(0, classes, n)
    follows = rng.random(n) < rng.choice([0, 0.5, 0.9, 1])
    labels[follows] = (signal * classes // n)[follows] % classes
    if rng.random() < 0.2:  # all but a few rows have one class
        labels[rng.random(n) < 0.95] = 0
    labels[rng.integers(0, n)] = classes - 1
    return labels


def random_case(loss: str, seed: int, least_rows: int, most_rows: int) -> LaneCase:
    rng = np.random.default_rng((29, seed))
    n = int(rng.integers(least_rows, most_rows + 1))
    columns = [
        rng.permutation(n) if rng.random() < 0.5 else rng.integers(0, rng.integers(2, 40), n)
        for _ in range(int(rng.integers(1, 4)))
    ]
    ranks = np.array([np.unique(x, return_inverse=True)[1].reshape(-1) for x in columns])
    ranks[0] = rng.permutation(n) if ranks[0].max() == 0 else ranks[0]
    counts = rng.integers(1, 4, n) if rng.random() < 0.3 else np.ones(n, dtype=np.int64)
    weights = counts * rng.integers(1, 5, n) if rng.random() < 0.3 else counts
    if rng.random() < 0.1:  # one row outweighs all others, beyond what tables hold
        weights = weights.copy()
        weights[rng.integers(0, n)] = 2**21
    table = table_of(loss, ranks, random_labels(loss, rng, ranks[0]), weights, counts)
    column = int(rng.choice([c for c, own in enumerate(ranks) if own.max() > 0]))
    ends = np.flatnonzero(np.diff(np.sort(ranks[column]))) + 1
    chosen = rng.choice(ends, int(rng.integers(1, min(64, len(ends)) + 1)), replace=False)
    least = int(rng.integers(2, 8)) if rng.random() < 0.4 else 1
    return LaneCase(table, least, column, [int(x) for x in np.sort(chosen)])


def check(case: LaneCase, kernel: str, way: str = "fast", switches: int = 0) -> None:
    plain, fast = case.lanes("plain"), case.lanes(way, kernel, switches)
    for side in (LEFT, RIGHT):
        (leaf, stump, split, fits), (got_leaf, got_stump, got_split, got_fits) = (
            plain[:, side].T,
            fast[:, side].T,
        )
        np.testing.assert_array_equal(got_leaf, leaf)
        np.testing.assert_array_equal(got_fits, fits)
        np.testing.assert_array_equal(got_stump, stump)
        # A split that costs no less than the leaf need not be told.
        np.testing.assert_array_equal(got_split, np.where(split < leaf, split, INFINITE))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", LOSSES)
def test_lanes_agree_with_the_plain_way(loss: str, kernel: str) -> None:
    for seed in range(300):
        case = random_case(loss, seed, 2, 70 if seed % 2 else 7)
        check(case, kernel)
        if seed % 3 == 0:
            # Large blocks of two blocks of two rows, counted as they lie in memory the second time.
            check(case, kernel, "again", TINY_BLOCKS)
        if seed % 10 == 1:
            check(case, kernel, switches=OFF["blocks"] | (TINY_BLOCKS if seed % 20 == 1 else 0))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", LOSSES)
def test_lanes_agree_where_columns_have_many_blocks(loss: str, kernel: str) -> None:
    for seed in range(10):
        check(random_case(loss, 10_000 + seed, 300, 1_200), kernel, "again")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", CLASS_LOSSES)
@pytest.mark.parametrize("switches", [0, TINY_BLOCKS])
def test_large_blocks_are_looked_into(loss: str, switches: int, kernel: str) -> None:
    """More blocks than are looked at together, of rows of one class or of many."""
    for seed in range(2):
        check(random_case(loss, 20_000 + seed, 4_500, 6_000), kernel, "again", switches)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", CLASS_LOSSES)
def test_many_more_lanes(loss: str, kernel: str, block: int) -> None:
    for seed in range(30_000 + block * 500, 30_500 + block * 500):
        case = random_case(loss, seed, 2, (7, 30, 70, 200)[seed % 4])
        check(case, kernel, "again", TINY_BLOCKS)
        check(case, kernel)
    for seed in range(50_000 + block * 10, 50_010 + block * 10):
        check(random_case(loss, seed, 1_000, 9_000), kernel, "again", seed % 2 * TINY_BLOCKS)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", CLASS_LOSSES)
@pytest.mark.parametrize(("share", "heaviest"), [(0.01, 3), (0.05, 12), (0.12, 90), (0.004, 4000)])
def test_few_heavy_rows_among_rows_of_weight_one(
    loss: str, share: float, heaviest: int, kernel: str
) -> None:
    """Blocks without heavy rows, with few of them, and with too many or too heavy ones."""
    for seed in range(12):
        rng = np.random.default_rng((31, seed))
        n = int(rng.integers(150, 900))
        second = rng.permutation(n) if seed % 2 else np.sort(rng.integers(0, n // 3, n))
        ranks = np.array([rng.permutation(n), np.unique(second, return_inverse=True)[1]])
        weights = np.where(rng.random(n) < share, rng.integers(2, heaviest + 1, n), 1)
        labels = np.where(rng.random(n) < 0.3, rng.integers(0, 2, n), ranks[1] > ranks[1].max() / 3)
        table = table_of(loss, ranks, labels.astype(np.int64), weights, np.ones(n, dtype=np.int64))
        positions = np.unique(rng.integers(1, n, 40))
        check(LaneCase(table, 4 if seed % 5 == 0 else 1, 0, [int(x) for x in positions]), kernel)


def lanes_of_two_columns(
    loss: str, labels: NDArray[Any], second: NDArray[Any], least: int = 1
) -> LaneCase:
    """Lanes along a column that has nothing to do with the second one, which has the stumps."""
    n = len(labels)
    rng = np.random.default_rng(n)
    if loss == "absolute_error":
        labels = labels[:, None].astype(float)
    table = table_of(loss, np.array([rng.permutation(n), second]), labels)
    return LaneCase(table, least, 0, [int(x) for x in np.linspace(1, n - 1, 18).astype(int)])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("classes", "least"), [(2, 1), (3, 1), (2, 4)])
def test_the_best_stump_is_found_wherever_it_lies(
    loss: str, classes: int, least: int, kernel: str
) -> None:
    """At the first row of a block, at its last row, everywhere between, and next to the ends."""
    n = 66
    noise = np.random.default_rng(5).integers(0, classes, n)
    for position in range(1, n):
        labels = np.where(np.arange(n) % 9 == 4, noise, np.arange(n) >= position)
        labels[0], labels[-1] = 0, classes - 1
        case = lanes_of_two_columns(loss, labels, np.arange(n), least)
        check(case, kernel)
        check(case, kernel, switches=TINY_BLOCKS)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", CLASS_LOSSES)
@pytest.mark.parametrize("classes", [2, 3])
def test_corners_of_blocks_are_not_passed_by(loss: str, classes: int, kernel: str) -> None:
    """All rows of one class of a block come first: inside it is a corner of what it can hold."""
    n, half = 256, 4
    turns = np.arange(n) // half % classes
    for shift in range(0, 2 * half, 3):
        for edge in range(0, n, 37):
            labels = np.roll(turns, shift)
            labels[:edge] = np.where(np.arange(edge) % 5 == 0, labels[:edge], 0)
            labels[edge:] = np.where(np.arange(n - edge) % 5 == 0, labels[edge:], classes - 1)
            labels[edge : edge + 2 * half] = np.roll(turns, shift)[edge : edge + 2 * half]
            labels[0] = classes - 1
            check(lanes_of_two_columns(loss, labels, np.arange(n)), kernel)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", LOSSES)
def test_blocks_end_where_ties_end(loss: str, kernel: str) -> None:
    """Groups of ties of every size across the ends of blocks, with the best split beside them."""
    n = 96
    rng = np.random.default_rng(7)
    for size in range(1, 40, 3):
        begin = int(rng.integers(1, n - size))
        second = np.arange(n)
        second[begin : begin + size] = begin
        second = np.unique(second, return_inverse=True)[1]
        for edge in (begin, begin + size):
            labels = (np.arange(n) >= edge) ^ (rng.random(n) < 0.05)
            check(lanes_of_two_columns(loss, labels.astype(int), second), kernel)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", CLASS_LOSSES)
def test_nearly_equal_stumps_of_shares_of_every_size(loss: str, kernel: str) -> None:
    """Estimates and bounds that tell stumps apart are least sharp where these cost the same."""
    n = 400
    rng = np.random.default_rng(13)
    for share in (0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.97):
        for signal in (0, 0.3, 0.9):
            labels = np.arange(n) < share * n
            labels = np.where(rng.random(n) < signal, labels, rng.permutation(labels)).astype(int)
            labels[0], labels[-1] = 1, 0
            almost = np.arange(n)
            for i in rng.integers(0, n - 1, 5):
                almost[[i, i + 1]] = almost[[i + 1, i]]
            columns = [rng.permutation(n), np.arange(n), almost, n - 1 - almost, almost // 3]
            table = table_of(loss, np.array(columns), labels)
            check(LaneCase(table, 1, 0, [int(x) for x in range(5, n, 24)]), kernel)


def test_parabolas_lie_below_the_entropy_of_two_shares() -> None:
    """What splits are passed by with; the proof is beside the formula."""
    shares = np.linspace(1e-9, 0.5, 20_001)
    entropy = -shares * np.log(shares) - (1 - shares) * np.log1p(-shares)
    for touching in (np.arange(32) + 0.5) / 64:
        square = -np.log1p(-touching) / touching**2
        slope = -np.log(touching) - (1 - touching) / touching * np.log1p(-touching)
        parabola = shares * (slope + square * touching) - square * shares**2
        assert (parabola <= entropy + 1e-12).all()
        assert np.interp(touching, shares, entropy - parabola) < 1e-8


def cost(weight: float, errors: float) -> float:
    return errors + _core.parts.added_errors(float(weight), float(errors))


SIZES = (*range(1, 60), 100, 317, 1_000, 10**4, 10**6, 2**30)


def error_counts(weight: int) -> list[int]:
    """Errors that a leaf of whole weights can have, of any number of classes."""
    most = weight - 1
    some = {0, 1, 2, 3, most // 3, most // 2, most // 2 + 1, most - 1, most}
    return sorted(e for e in (range(most + 1) if most < 100 else some) if 0 <= e <= most)


def test_pessimistic_errors_do_not_fall_when_rows_join() -> None:
    """What the search rests on; the proof is beside the formula."""
    for weight in SIZES:
        for errors in error_counts(weight):
            before = cost(weight, errors)
            for more in (1, 2, 3, 10, 1_000):
                for wrong in sorted({0, 1, more // 2, more}):
                    assert cost(weight + more, errors + wrong) >= before * (1 - 1e-14)


def test_pessimistic_errors_rise_by_at_most_their_reach() -> None:
    steepest = 0.0
    for weight in SIZES:
        for errors in error_counts(weight):
            before = cost(weight, errors)
            for more in (1, 2, 3, 10, 1_000):
                for wrong in sorted({0, 1, more // 2, more}):
                    rise = (cost(weight + more, errors + wrong) - before) / more
                    steepest = max(steepest, rise)
    assert all(cost(weight, 0) <= 0.75 * weight for weight in SIZES)
    assert 1.2 < steepest < 1.27  # the search counts with 1.5


def test_pessimistic_errors_lie_above_a_concave_function() -> None:
    """What blocks of rows are passed by with: A(W, e) W / (W + 0.52), which is concave in A."""
    z = 0.6744897501960817
    for weight in SIZES:
        for errors in error_counts(weight):
            m = errors + 0.5
            upper = m + z * z / 2 + z * np.sqrt(m - m * m / weight + z * z / 4)
            assert cost(weight, errors) >= upper * weight / (weight + 0.52) * (1 - 1e-12)


def test_entropy_keeps_its_digits_where_one_class_outweighs_the_others() -> None:
    """One row of another class among 2^30: x ln x is 2e10, and the entropy is 22."""
    weights = np.array([1, 2**30 - 2], dtype=np.int64)
    table = table_of("entropy", np.array([[0, 1]]), np.array([1, 0]), weights)
    leaf = _core.search(
        table,
        max_depth=0,
        max_splits=0,
        min_samples_leaf=1,
        error_scale=1,
        split_penalty=0,
        time_limit=10.0,
        memory_limit=1 << 20,
    )
    total = float(weights.sum())
    wanted = np.log(total) + weights[1] * np.log1p(1 / weights[1])
    assert leaf["cost"] * table.cost_unit == pytest.approx(wanted, rel=1e-12)
