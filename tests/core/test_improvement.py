"""Better trees looked for beside the proof: they change neither the optimum nor what is proven.

The naive twin says what is right on small tables; on larger ones the plain search does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import (
    EAGER_IMPROVEMENT,
    OFF,
    TINY_SAMPLES,
    core_search,
    same_tree,
    walk_tree,
)
from testkit.naive import naive_search
from testkit.random_problems import some_problem

BLOCK = 60
BLOCKS = 5


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.slow) for b in range(1, BLOCKS))]
)
@pytest.mark.parametrize("also", [0, TINY_SAMPLES, OFF["start"]], ids=["", "samples", "no-start"])
def test_the_optimum_is_that_of_the_naive_twin(block: int, also: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem = some_problem(seed)
        right = naive_search(problem)
        found = core_search(problem, switches=EAGER_IMPROVEMENT | OFF["bits"] | also)
        assert found["status"] == "optimal", seed
        assert (found["cost"], found["lower_bound"]) == (right["cost"], right["cost"]), seed
        assert same_tree(found, right), seed


@pytest.mark.parametrize("work", [1, 1_000, 30_000])
def test_what_is_claimed_when_the_work_is_over_holds(work: int) -> None:
    for seed in range(60):
        problem = some_problem(seed)
        right = naive_search(problem)
        found = core_search(problem, switches=EAGER_IMPROVEMENT, max_work=work)
        assert walk_tree(problem, found)[0] == found["cost"], seed
        assert found["lower_bound"] <= right["cost"] <= found["cost"], seed
        assert (found["status"] == "optimal") == (found["lower_bound"] == found["cost"]), seed
        assert found["status"] in ("optimal", "work_limit"), seed


def larger_problem(seed: int, depth: int, **options: Any) -> Problem:
    rng = np.random.default_rng(seed)
    n = 1500
    X = np.round(rng.normal(size=(n, 6)), int(rng.integers(1, 4)))
    n_classes = int(rng.choice([2, 2, 4]))
    score = X[:, 0] * X[:, 1] + X[:, 2] * (X[:, 3] > 0) + 0.5 * rng.normal(size=n)
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return build_problem(X, y, n_classes=n_classes, max_depth=depth, **options)


@pytest.mark.parametrize("depth", [4, 5, 7])
@pytest.mark.parametrize(
    "options",
    [{}, {"alpha": 0.002}, {"min_samples_leaf": 9}, {"max_leaf_nodes": 11}],
    ids=lambda options: "-".join(options) or "plain",
)
def test_the_same_work_gives_the_same_tree_and_it_is_a_better_one(
    depth: int, options: dict[str, Any]
) -> None:
    problem = larger_problem(depth, depth, **options)
    work = 40_000_000
    first, second = (
        core_search(problem, switches=EAGER_IMPROVEMENT, max_work=work) for _ in range(2)
    )
    assert first["status"] == "work_limit"
    assert first["cost"] == second["cost"]
    assert first["lower_bound"] == second["lower_bound"]
    assert first["counters"] == second["counters"]
    assert [moment[1:] for moment in first["history"]] == [m[1:] for m in second["history"]]
    assert same_tree(first, second)
    assert walk_tree(problem, first)[0] == first["cost"]
    assert first["counters"]["improvements"] > 0
    plain = core_search(problem, switches=OFF["improvement"], max_work=work)
    # The proof goes by targets, which find good trees, too, where the tree is not too deep.
    assert depth < 7 or first["cost"] < plain["cost"]


def test_a_proof_that_ends_soon_is_left_alone() -> None:
    found = core_search(larger_problem(0, 3))
    assert found["status"] == "optimal"
    assert found["counters"]["improvement_steps"] == 0


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_from_equal_rows_and_from_classes_without_a_leaf_holds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(10, 25)), int(rng.integers(2, 13))
    X = rng.integers(0, 3, size=(n, 2)).astype(float)
    y = rng.integers(0, n_classes, n)
    weight = rng.integers(1, 4, n).astype(float) if seed % 2 else None
    problem = build_problem(X, y, n_classes=n_classes, max_depth=3, sample_weight=weight)
    right = naive_search(problem)
    found = core_search(problem, switches=EAGER_IMPROVEMENT | OFF["bits"], max_work=2_000)
    assert found["lower_bound"] <= right["cost"] <= found["cost"]
    if found["status"] == "work_limit" and found["counters"]["improvement_rounds"]:
        assert found["lower_bound"] > 0


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.slow) for b in range(1, BLOCKS))]
)
def test_the_bound_from_targets_holds(block: int) -> None:
    """Whenever the work is over, the bound is at most the optimum, which the whole proof tells."""
    used = raised = 0
    for seed in range(block * 15, (block + 1) * 15):
        rng = np.random.default_rng(seed)
        n, n_classes = int(rng.integers(20, 70)), int(rng.choice([2, 2, 3]))
        X = rng.integers(0, int(rng.choice([3, 8, 1000])), size=(n, 3)).astype(float)
        X[rng.random((n, 3)) < rng.choice([0.0, 0.1])] = np.nan
        y = (np.nan_to_num(X).sum(axis=1) * rng.random(n) * n_classes).astype(int) % n_classes
        options: dict[str, Any] = {"max_depth": int(rng.integers(3, 6))}
        if seed % 2:
            options["sample_weight"] = rng.integers(1, 5, n).astype(float)
        if seed % 3 == 1:
            options["min_samples_leaf"] = 3
        if seed % 4 == 2:
            options["alpha"] = 0.01
        if seed % 5 == 3:
            options["max_leaf_nodes"] = 6
        problem = build_problem(X, y, n_classes=n_classes, **options)
        whole = core_search(problem, switches=OFF["improvement"] | OFF["bits"], max_work=30_000_000)
        if whole["status"] != "optimal":
            continue
        for work in (3_000, 20_000, 100_000, 500_000):
            found = core_search(
                problem, switches=EAGER_IMPROVEMENT | OFF["bits"] | OFF["start"], max_work=work
            )
            assert found["lower_bound"] <= whole["cost"] <= found["cost"], (seed, work)
            assert (found["status"] == "optimal") == (found["lower_bound"] == found["cost"])
            used += found["counters"]["targets"] > 0
            raised += found["status"] == "work_limit" and found["lower_bound"] > 0
    assert used >= 15
    assert raised >= 3


@pytest.mark.parametrize("depth", [4, 5, 6])
def test_a_deep_proof_has_a_bound_long_before_it_ends(depth: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000 if depth == 4 else 1500, 10 if depth == 4 else 6))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=len(X)) > 0).astype(int)
    problem = build_problem(X, y, n_classes=2, max_depth=depth)
    found = core_search(problem, max_work=200_000_000)
    assert found["status"] == "work_limit"
    assert found["counters"]["targets"] >= 2
    assert found["cost"] // 100 <= found["lower_bound"] < found["cost"]


def test_the_history_only_gets_better() -> None:
    """Proof and improvement each tell of their own best tree."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(150, 4))
        y = (X[:, 0] * X[:, 1] + 0.6 * rng.normal(size=150) > 0).astype(int)
        problem = build_problem(X, y, n_classes=2, max_depth=4)
        found = core_search(
            problem, switches=EAGER_IMPROVEMENT | OFF["bits"] | OFF["start"], max_work=3_000_000
        )
        _, costs, bounds = zip(*found["history"], strict=True)
        assert list(costs) == sorted(costs, reverse=True), seed
        assert list(bounds) == sorted(bounds), seed
