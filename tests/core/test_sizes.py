"""All sizes at once: each entry is what plain recursion over all trees finds, and proven.

Problems are random and small enough for the naive twin. What random problems do not find is aimed
at: each care that the proof needs can be taken away by a switch of its own, and a problem is kept
on which the answer is wrong then.
"""

from __future__ import annotations

import _thread
import math
import threading
from typing import Any

import numpy as np
import pytest

from provetree import _core
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import ALWAYS_WIDE, KERNELS, TINY_SAMPLES, flat_values, walk_tree
from testkit.naive_sizes import naive_sizes
from testkit.random_problems import random_table

OFF: dict[str, int] = _core.SIZE_SWITCHES
UNSOUND: dict[str, int] = _core.UNSOUND_SIZE_SWITCHES
ALL_OFF = sum(OFF.values())


def sizes_problem(seed: int) -> Problem:
    """A random problem without a penalty, of at most four levels."""
    table = random_table(seed)
    return build_problem(
        table.X, table.y, **{**table.options, "alpha": 0.0, "max_leaf_nodes": None}
    )


def search_sizes(problem: Problem, **options: Any) -> _core.SizesResult:
    given = {
        "max_depth": problem.max_depth,
        "max_leaf_nodes": 2**problem.max_depth,
        "min_samples_leaf": problem.min_samples_leaf,
        "time_limit": math.inf,
        "memory_limit": 1 << 28,
    }
    return _core.search_sizes(problem.table, **{**given, **options})


def check(problem: Problem, **options: Any) -> None:
    """Compare all sizes with the naive twin, and their trees with what they claim."""
    want = naive_sizes(problem)
    found = search_sizes(problem, **options)
    assert found["status"] == "optimal"
    sizes = found["sizes"]
    assert [size["cost"] for size in sizes] == want[: len(sizes)]
    # There are fewer sizes only where there are fewer rows than leaves.
    assert want[len(sizes) - 1] == want[-1]
    for n_leaves, size in enumerate(sizes, 1):
        assert size["lower_bound"] == size["cost"]
        # Fewer leaves cost more: the tree has as few as its cost allows.
        fewest = want.index(size["cost"]) + 1
        assert fewest <= n_leaves
        assert walk_tree(problem, size) == (size["cost"], fewest - 1)


@pytest.mark.parametrize("seed", range(150))
def test_every_size_is_that_of_the_naive_twin(seed: int) -> None:
    check(sizes_problem(seed), switches=OFF["bits"] | (TINY_SAMPLES if seed % 2 else 0))


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(40))
def test_every_size_is_that_of_the_naive_twin_in_thousands(block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        rng = np.random.default_rng(seed)
        off = sum(bit for bit in OFF.values() if rng.random() < 0.15)
        tests = sum(bit for bit in (TINY_SAMPLES, ALWAYS_WIDE) if rng.random() < 0.4)
        check(sizes_problem(seed), switches=off | tests, kernel=str(rng.choice(KERNELS)))


def bits_problem(seed: int) -> Problem:
    """A random problem of yes, no and few values, which is searched on bits."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(2, 40)), int(rng.integers(2, 7))
    X = rng.integers(0, rng.integers(2, 4, p), (n, p)).astype(float)
    X = X[rng.integers(0, n, n)]  # equal rows
    n_classes = int(rng.choice([2, 2, 2, 3, 5, 8]))
    y = ((X[:, 0] > 0) ^ (X[:, -1] > 0)).astype(int)
    y = np.where(rng.random(n) < rng.choice([0.1, 0.5]), rng.integers(0, n_classes, n), y)
    least = int(rng.integers(2, 6)) if rng.random() < 0.3 and n > 6 else 1
    depth = int(rng.integers(3, 5))
    return build_problem(X, y, n_classes=n_classes, max_depth=depth, min_samples_leaf=least)


@pytest.mark.parametrize("seed", range(150))
def test_every_size_on_bits_is_that_of_the_naive_twin(seed: int) -> None:
    problem = bits_problem(seed)
    # Few rows need no third level.
    assert _core.searched_on_bits(problem.table, problem.max_depth) or problem.max_depth < 3
    check(problem)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(40))
def test_every_size_on_bits_is_that_of_the_naive_twin_in_thousands(block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        rng = np.random.default_rng(seed)
        off = sum(OFF[name] for name in ("lipschitz", "survey", "pairs") if rng.random() < 0.25)
        check(bits_problem(seed), switches=off, kernel=str(rng.choice(KERNELS)))


@pytest.mark.parametrize("off", ["lipschitz", "survey", "pairs", "bits"])
def test_no_part_changes_an_answer_on_bits(off: str) -> None:
    for seed in range(300, 330):
        check(bits_problem(seed), switches=OFF[off])


def large_bits_problem(seed: int) -> Problem:
    """Too large for the naive twin: sweeps know its answers."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(60, 400)), int(rng.integers(5, 30))
    X = (rng.random((n, p)) < rng.random(p)).astype(float)
    n_classes = int(rng.choice([2, 2, 3, 6]))
    y = ((X[:, 0] > 0) ^ (X[:, 1] * X[:, -1] > 0)).astype(int)
    y = np.where(rng.random(n) < rng.choice([0.02, 0.2]), rng.integers(0, n_classes, n), y)
    least = int(rng.integers(2, 9)) if rng.random() < 0.3 else 1
    depth = int(rng.integers(3, 5))
    return build_problem(X, y, n_classes=n_classes, max_depth=depth, min_samples_leaf=least)


@pytest.mark.parametrize("seed", range(20))
def test_bits_agree_with_sweeps(seed: int) -> None:
    problem = large_bits_problem(seed)
    assert _core.searched_on_bits(problem.table, problem.max_depth)
    assert costs_of(problem) == costs_of(problem, OFF["bits"])


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
def test_bits_agree_with_sweeps_in_thousands(block: int) -> None:
    for seed in range(100 + 50 * block, 150 + 50 * block):
        problem = large_bits_problem(seed)
        assert costs_of(problem) == costs_of(problem, OFF["bits"])


@pytest.mark.parametrize(
    ("care", "seed"),
    [
        ("floors_under_least_leaves", 474),
        ("floors_under_least_leaves", 1143),
        ("too_many_settled", 14),
        ("too_many_settled", 105),
    ],
)
def test_each_care_on_bits_is_needed(care: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(12, 60)), int(rng.integers(4, 14))
    X = (rng.random((n, p)) < rng.uniform(0.2, 0.8, p)).astype(float)
    y, depth = rng.integers(0, 2, n), int(rng.integers(3, 5))
    least = int(rng.integers(2, 7)) if care == "floors_under_least_leaves" else 1
    problem = build_problem(X, y, n_classes=2, max_depth=depth, min_samples_leaf=least)
    right = costs_of(problem, OFF["bits"])
    assert costs_of(problem) == right
    assert costs_of(problem, UNSOUND[care]) != right


@pytest.mark.parametrize("seconds", [0.0, 0.002, 0.02])
def test_a_time_limit_on_bits_leaves_valid_bounds(seconds: float) -> None:
    rng = np.random.default_rng(0)
    X, y = (rng.random((3000, 120)) < 0.5).astype(float), rng.integers(0, 2, 3000)
    problem = build_problem(X, y, n_classes=2, max_depth=4)
    found = search_sizes(problem, time_limit=seconds)
    assert found["status"] == "time_limit"
    for size in found["sizes"]:
        assert size["lower_bound"] <= size["cost"] == walk_tree(problem, size)[0]
    three = search_sizes(problem.with_limits(max_splits=7), max_depth=3, max_leaf_nodes=3)
    for size, best in zip(found["sizes"], three["sizes"], strict=False):
        assert size["lower_bound"] <= best["cost"] <= size["cost"]


@pytest.mark.parametrize("off", [*OFF, "all of them", "none, on samples", "none, as if wide"])
def test_no_part_changes_an_answer(off: str) -> None:
    bits = {
        "all of them": ALL_OFF,
        "none, on samples": TINY_SAMPLES,
        "none, as if wide": ALWAYS_WIDE,
    }
    for seed in range(300, 320):
        check(sizes_problem(seed), switches=bits.get(off, OFF.get(off, 0)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_give_the_same_trees(kernel: str) -> None:
    for seed in range(40):
        problem = middle_problem(seed)
        one, other = search_sizes(problem), search_sizes(problem, kernel=kernel)
        for a, b in zip(one["sizes"], other["sizes"], strict=True):
            assert a["cost"] == b["cost"]
            assert a["column"].tolist() == b["column"].tolist()
            assert a["rank_low"].tolist() == b["rank_low"].tolist()


def middle_problem(seed: int) -> Problem:
    """Too large for the naive twin: the plain search knows its answers."""
    rng = np.random.default_rng(seed)
    depth = int(rng.integers(3, 5))
    n, p = int(rng.integers(30, 260 if depth == 3 else 80)), int(rng.integers(1, 5))
    X = rng.integers(0, rng.integers(3, 40), (n, p)).astype(float)
    n_classes = int(rng.choice([2, 2, 3, 4]))
    y = ((X[:, 0] > X[:, 0].mean()) ^ (X[:, -1] > X[:, -1].mean())) % n_classes
    noisy = rng.random(n) < rng.choice([0.02, 0.1, 0.3])
    y = np.where(noisy, rng.integers(0, n_classes, n), y)
    return build_problem(
        X,
        y,
        n_classes=n_classes,
        max_depth=depth,
        sample_weight=rng.integers(1, 5, n) if rng.random() < 0.3 else None,
        min_samples_leaf=int(rng.integers(2, 8)) if rng.random() < 0.3 else 1,
    )


def costs_of(problem: Problem, switches: int = 0) -> list[int]:
    return [size["cost"] for size in search_sizes(problem, switches=switches)["sizes"]]


@pytest.mark.parametrize("seed", range(12))
def test_larger_problems_agree_with_the_plain_search(seed: int) -> None:
    problem = middle_problem(seed)
    costs = costs_of(problem)
    on_samples = costs_of(problem, TINY_SAMPLES | OFF["bits"])
    assert costs == on_samples == costs_of(problem, ALL_OFF)
    # The largest size is what one fit proves.
    whole = problem.with_limits(max_splits=2**problem.max_depth - 1)
    assert costs[-1] == _searched_cost(whole)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
def test_larger_problems_agree_in_thousands(block: int) -> None:
    for seed in range(100 + 50 * block, 150 + 50 * block):
        problem = middle_problem(seed)
        on_samples = costs_of(problem, TINY_SAMPLES | OFF["bits"])
        assert costs_of(problem) == on_samples == costs_of(problem, ALL_OFF)


def _searched_cost(problem: Problem) -> int:
    found = _core.search(
        problem.table,
        max_depth=problem.max_depth,
        max_splits=problem.max_splits,
        min_samples_leaf=problem.min_samples_leaf,
        error_scale=1,
        split_penalty=0,
        time_limit=math.inf,
        memory_limit=1 << 28,
    )
    return found["cost"]


def aimed_table(seed: int, most_rows: int) -> tuple[_core.Table, int]:
    """A table of two classes that follow two columns, with noise; and a depth."""
    rng = np.random.default_rng(seed)
    depth = int(rng.integers(3, 5)) if most_rows < 150 else 4
    n, p, n_values = (int(rng.integers(*ends)) for ends in ((20, most_rows), (1, 5), (3, 60)))
    ranks = rng.integers(0, n_values, (p, n))
    y = (ranks[0] > n_values // 2) ^ (ranks[-1] > n_values // 3) ^ (rng.random(n) < 0.2)
    return table_of(ranks, y), depth


def table_of(ranks: Any, y: Any) -> _core.Table:
    dense = [np.unique(column, return_inverse=True) for column in ranks]
    ones = np.ones(len(y), np.int64)
    return _core.Table(
        ranks=np.array([of_row for _, of_row in dense], np.uint32),
        **flat_values([values.astype(float) for values, _ in dense]),
        classes=y.astype(np.int32),
        weights=ones,
        counts=ones,
        n_classes=2,
    )


def sizes_of_table(table: _core.Table, depth: int, switches: int) -> list[int] | None:
    """Return the costs of all sizes; None where the core itself finds its answer wrong."""
    try:
        found = _core.search_sizes(
            table,
            max_depth=depth,
            max_leaf_nodes=2**depth,
            min_samples_leaf=1,
            time_limit=math.inf,
            memory_limit=1 << 28,
            switches=switches,
        )
    except RuntimeError:
        return None
    return [size["cost"] for size in found["sizes"]]


def assert_care_is_needed(care: str, table: _core.Table, depth: int, switches: int) -> None:
    right = sizes_of_table(table, depth, ALL_OFF)
    switches |= OFF["bits"]  # which have none of these cares
    assert sizes_of_table(table, depth, switches) == right
    assert sizes_of_table(table, depth, switches | UNSOUND[care]) != right


@pytest.mark.parametrize("seed", [21, 35])
def test_the_survey_is_asked_for_all_that_it_stands_in_for(seed: int) -> None:
    assert_care_is_needed("low_survey_limits", *aimed_table(seed, 160), 0)


@pytest.mark.parametrize("seed", [6, 30])
def test_between_splits_of_a_sample_only_the_sample_counts(seed: int) -> None:
    assert_care_is_needed("survey_of_all_rows", *aimed_table(seed, 100), TINY_SAMPLES)


@pytest.mark.parametrize("seed", [4, 7])
def test_two_leaves_are_not_lost_without_a_survey(seed: int) -> None:
    switches = OFF["survey"] | OFF["start"]
    assert_care_is_needed("no_pairs_of_leaves", *aimed_table(seed, 60), switches)


def test_a_sample_needs_the_ends_of_columns() -> None:
    # All rows of the first sample agree in all columns: it has no split, and nothing looks open.
    for seed in (97, 198):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(30, 80))
        ranks, y = rng.integers(0, 9, (2, n)), rng.integers(0, 2, n)
        ranks[:, : n // 2 + 1], y[: n // 2 + 1], y[1:5] = 4, 0, 1
        assert_care_is_needed("no_column_ends", table_of(ranks, y), 3, TINY_SAMPLES)


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_fewer_leaves_are_a_part_of_the_answer(seed: int) -> None:
    problem = sizes_problem(seed)
    all_sizes = [size["cost"] for size in search_sizes(problem)["sizes"]]
    for most in (1, 2, 3, 5, 20):
        found = search_sizes(problem, max_leaf_nodes=most)
        assert [size["cost"] for size in found["sizes"]] == all_sizes[:most]


def test_small_sizes_need_no_great_depth() -> None:
    problem = sizes_problem(9).with_limits(max_splits=4)
    deep = search_sizes(problem, max_depth=50, max_leaf_nodes=5)
    assert [size["cost"] for size in deep["sizes"]] == naive_sizes(problem, 4)[: len(deep["sizes"])]
    with pytest.raises(ValueError, match="up to depth 4"):
        search_sizes(middle_problem(0), max_depth=5, max_leaf_nodes=6)


@pytest.fixture(scope="module")
def long_problem() -> Problem:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 12))
    y = (X[:, 0] * X[:, 1] + X[:, -1] + rng.normal(size=1500) > 0).astype(int)
    return build_problem(X, y, n_classes=2, max_depth=4)


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.5])
def test_a_time_limit_leaves_trees_and_valid_bounds(long_problem: Problem, seconds: float) -> None:
    found = search_sizes(long_problem, time_limit=seconds)
    assert found["status"] == "time_limit"
    check_stopped(long_problem, found)


def check_stopped(problem: Problem, found: _core.SizesResult) -> None:
    costs = [size["cost"] for size in found["sizes"]]
    bounds = [size["lower_bound"] for size in found["sizes"]]
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] == costs[0] == problem.root_error
    assert costs[-1] < costs[0]  # greedy trees are there in any case
    for size in found["sizes"]:
        assert size["lower_bound"] <= size["cost"] == walk_tree(problem, size)[0]


@pytest.mark.parametrize("seed", range(12))
def test_bounds_of_a_stopped_search_are_below_the_optimum(seed: int) -> None:
    problem = middle_problem(seed)
    right = costs_of(problem)
    for seconds in (0.0, 0.001, 0.003, 0.01):
        for size, optimum in zip(
            search_sizes(problem, time_limit=seconds)["sizes"], right, strict=True
        ):
            assert size["lower_bound"] <= optimum <= size["cost"]


def test_an_interrupt_ends_the_search_with_what_it_has(long_problem: Problem) -> None:
    threading.Timer(0.2, _thread.interrupt_main).start()
    found = search_sizes(long_problem, time_limit=60.0)
    assert found["status"] == "interrupted"
    check_stopped(long_problem, found)


def test_little_memory_changes_nothing() -> None:
    for seed in range(12):
        problem = middle_problem(seed)
        found = search_sizes(problem, memory_limit=0)
        assert [size["cost"] for size in found["sizes"]] == costs_of(problem)
        assert found["counters"]["profile_bytes_peak"] == 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"max_depth": -1}, "max_depth >= 0"),
        ({"max_leaf_nodes": 0}, "max_leaf_nodes >= 1"),
        ({"min_samples_leaf": 0}, "min_samples_leaf >= 1"),
        ({"min_samples_leaf": 10**6}, "fewer rows than one leaf needs"),
        ({"kernel": "abacus"}, "abacus"),
    ],
)
def test_bad_calls(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        search_sizes(middle_problem(0), **options)
