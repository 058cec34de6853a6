"""Lanes of linear costs against the plain way, row by row: coarse bounds, exact units, surveys."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from provetree import _core
from testkit.core_calls import KERNELS
from testkit.lane_cases import INFINITE, LaneCase, lane_table

BLOCKS = 12
PER_BLOCK = 60
LEAF_LEFT, STUMP_LEFT, SPLIT_LEFT, LEAF_RIGHT, STUMP_RIGHT, SPLIT_RIGHT = 0, 1, 2, 4, 5, 6


@dataclass(frozen=True)
class Case(LaneCase):
    """A table of costs, its number of actions, and the splits of all columns."""

    actions: int
    splits: tuple[tuple[int, list[int]], ...] = ()


def random_costs(
    rng: np.random.Generator, n: int, actions: int, signal: NDArray[np.int64]
) -> NDArray[np.float64]:
    kind = rng.integers(0, 7)
    if kind in {0, 6}:  # many ties between actions, or sums that need more than eight bits
        return rng.integers(0, 3 if kind == 0 else 90, (n, actions)).astype(np.float64)
    if kind == 1:
        return np.zeros((n, actions))
    costs: NDArray[np.float64] = rng.normal(size=(n, actions))
    costs += np.arange(actions) % 4 == signal[:, None] % 4
    if kind == 2:
        costs[rng.integers(0, n)] *= 1e6  # one row outweighs all others
    if kind == 3:
        costs = 1e12 * costs - 1e13
    if kind == 4:
        costs = np.abs(costs) * 10.0 ** rng.integers(-8, 8, (n, 1))
    return costs


def random_case(seed: int, most_rows: int, least_rows: int = 2) -> Case | None:
    """The case of a seed; none where no column varies."""
    rng = np.random.default_rng((17, seed))
    n = int(rng.integers(least_rows, most_rows + 1))
    table = [
        rng.permutation(n) if rng.random() < 0.5 else rng.integers(0, rng.integers(2, 40), n)
        for _ in range(int(rng.integers(1, 5)))
    ]
    ranks = np.array([np.unique(x, return_inverse=True)[1].reshape(-1) for x in table])
    actions = int(rng.choice([1, 2, 2, 2, 3, 4, 5, 8, 12, 20, 24, 25, 33, 100]))
    counts = rng.integers(1, 4, n) if rng.random() < 0.4 else np.ones(n, dtype=np.int64)
    weights = counts * rng.integers(1, 5, n) if rng.random() < 0.4 else counts
    costs = random_costs(rng, n, actions, ranks[0])
    made = lane_table("linear", ranks, targets=costs, weights=weights, counts=counts)
    ends = [(np.flatnonzero(np.diff(np.sort(own))) + 1).tolist() for own in ranks]
    splits = tuple((column, own) for column, own in enumerate(ends) if own)
    if not splits:
        return None
    column, own = splits[int(rng.integers(0, len(splits)))]
    chosen = rng.choice(own, int(rng.integers(1, min(64, len(own)) + 1)), replace=False)
    least = int(rng.integers(2, 8)) if rng.random() < 0.4 else 1
    return Case(made, least, column, [int(x) for x in np.sort(chosen)], actions, splits)


def random_cases(block: int, most_rows: int, least_rows: int = 2) -> list[Case]:
    cases: list[Case] = []
    seed = PER_BLOCK * 10 * block
    while len(cases) < PER_BLOCK:
        seed += 1
        case = random_case(seed, most_rows, least_rows)
        if case:
            cases.append(case)
    return cases


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("kernel", KERNELS)
def test_refined_lanes_are_those_of_the_plain_way(kernel: str, block: int) -> None:
    for case in random_cases(block, (40, 150, 700)[block % 3]):
        plain, refined = case.lanes("plain"), case.lanes("refined", kernel)
        # A split that gains nothing over the leaf is as good as none.
        for leaf, split in ((LEAF_LEFT, SPLIT_LEFT), (LEAF_RIGHT, SPLIT_RIGHT)):
            plain[plain[:, split] >= plain[:, leaf], split] = INFINITE
        np.testing.assert_array_equal(refined, plain)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_coarse_stumps_are_bounds_and_close(block: int) -> None:
    close = 0
    for case in random_cases(block, (40, 150, 700)[block % 3]):
        plain = case.lanes("plain")
        by_kernel = [case.lanes("fast", kernel) for kernel in KERNELS]
        for fast in by_kernel:
            np.testing.assert_array_equal(fast, by_kernel[0])
        for stump, leaf in ((STUMP_LEFT, LEAF_LEFT), (STUMP_RIGHT, LEAF_RIGHT)):
            assert (by_kernel[0][:, stump] <= plain[:, stump]).all()
            np.testing.assert_array_equal(by_kernel[0][:, leaf], plain[:, leaf])
            # One coarse unit for each row: the whole costs are at least 2**30 of them, or exact.
            most = plain[:, LEAF_LEFT] + plain[:, LEAF_RIGHT]
            close += bool((plain[:, stump] - by_kernel[0][:, stump] <= 1e-5 * most).all())
    assert close > PER_BLOCK


@pytest.mark.parametrize("block", range(4))
def test_surveys_are_bounds_that_agree_between_kernels(block: int) -> None:
    bounds = tight = 0
    for case in random_cases(block + 100, 900, 128):
        surveys = [_core.parts.measured_survey(case.table, kernel) for kernel in KERNELS]
        assert bool(surveys[0]) == (case.actions != 2)  # lanes of two actions are as cheap
        assert all(survey == surveys[0] for survey in surveys)
        for column, points in surveys[0]:
            if not points:
                continue
            known = np.array(points, dtype=np.int64)
            own = LaneCase(case.table, 1, column, [int(x) for x in known[:, 0]])
            plain = own.lanes("refined")[:, [LEAF_LEFT, STUMP_LEFT, LEAF_RIGHT, STUMP_RIGHT]]
            assert (known[:, 1:] <= plain).all()
            bounds += known.shape[0]
            tight += int((known[:, 2] + known[:, 4] > 0.8 * (plain[:, 1] + plain[:, 3])).sum())
    assert bounds > 1000, bounds
    assert tight > 0.4 * bounds, (tight, bounds)


@pytest.mark.parametrize("block", range(2))
def test_depth_two_is_the_best_of_all_splits_by_the_plain_way(block: int) -> None:
    for case in random_cases(block + 200, 260, 128)[:25]:
        least = INFINITE
        for column, ends in case.splits:
            for first in range(0, len(ends), 64):
                own = LaneCase(case.table, case.least, column, ends[first : first + 64])
                least = min(least, int(best_costs(own.lanes("plain")).min()))
        least = min(least, searched(case, 0, "auto")[0])
        answers = {searched(case, 2, kernel) for kernel in KERNELS}
        assert len(answers) == 1  # steps decide when to do what: they are the same on every machine
        assert answers.pop()[0] == least


def searched(case: Case, depth: int, kernel: str) -> tuple[int, int]:
    """The proven cost of the best tree of a depth, and the steps it took."""
    found = _core.search(
        case.table,
        max_depth=depth,
        max_splits=2**depth - 1,
        min_samples_leaf=case.least,
        error_scale=1,
        split_penalty=0,
        time_limit=math.inf,
        memory_limit=1 << 28,
        kernel=kernel,
    )
    assert found["status"] == "optimal"
    return int(found["cost"]), int(found["counters"]["row_steps"])


def best_costs(lanes: NDArray[np.int64]) -> NDArray[np.int64]:
    """What each split costs with the best feasible stumps or leaves below it."""
    sides = [
        np.minimum(np.where(side[:, 3] == 1, side[:, 0], INFINITE), side[:, 2])
        for side in (lanes[:, :4], lanes[:, 4:8])
    ]
    return np.minimum(sides[0] + sides[1], INFINITE)
