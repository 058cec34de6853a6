"""Bounds of rows that pass two splits: taken over below the other split, they change no answer."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from provetree import _core
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import OFF, TEXT_TASKS, TINY_SAMPLES, core_search
from testkit.measure_calls import measure_search, measure_table, penalty_units, tolerance
from testkit.naive import naive_search
from testkit.naive_measures import LOSSES, MeasureCase, NaiveMeasures
from testkit.random_measures import middle_case, random_case
from testkit.random_problems import random_problem

#: Bits solve tables of few values without these bounds.
SWEEPS = OFF["bits"]


def noisy_problem(
    seed: int, rows: int, *, columns: int = 3, depth: int = 4, classes: int = 3, **limits: int
) -> Problem:
    """A problem of columns that mean little, with ties and weights: many splits stay open."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, int(rng.choice([6, 30, 1000])), (rows, columns)).astype(float)
    y = (X[:, 0] + X[:, 1] > X[:, 0].mean() * 2).astype(int) ^ (rng.random(rows) < 0.25)
    if seed % 3 == 0 and classes > 2:
        y = np.where(rng.random(rows) < 0.3, 2, y)
    weights = rng.integers(1, 4, rows).astype(float) if seed % 2 else None
    return build_problem(X, y, n_classes=classes, max_depth=depth, sample_weight=weights, **limits)


@pytest.mark.parametrize("first", range(0, 300, 60))
@pytest.mark.parametrize("extra", [0, TINY_SAMPLES, OFF["lipschitz"], TINY_SAMPLES | TEXT_TASKS])
def test_the_answer_is_that_of_the_naive_twin(first: int, extra: int) -> None:
    for seed in range(first, first + 60):
        problem = random_problem(7_100_000 + seed, max_depth=4)
        found = core_search(problem, switches=SWEEPS | extra)
        wanted = naive_search(problem)["cost"]
        assert (found["cost"], found["lower_bound"]) == (wanted, wanted), seed


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("extra", [0, TINY_SAMPLES])
def test_larger_tables_cost_the_same_without_them(seed: int, extra: int) -> None:
    """With samples that grow, what was proven on fewer rows meets what was proven on more."""
    problem = noisy_problem(seed, 60 + 5 * seed)
    found = [core_search(problem, switches=SWEEPS | extra | off) for off in (0, OFF["split_pairs"])]
    assert (
        found[0]["cost"] == found[0]["lower_bound"] == found[1]["cost"] == found[1]["lower_bound"]
    )


def test_depth_five_costs_the_same_without_them() -> None:
    problem = noisy_problem(1, 40, depth=5)
    found = [core_search(problem, switches=SWEEPS | off) for off in (0, OFF["split_pairs"])]
    assert found[0]["cost"] == found[0]["lower_bound"] == found[1]["cost"]


def test_they_save_nodes() -> None:
    problem = noisy_problem(2, 150)
    used, unused = (
        core_search(problem, switches=SWEEPS | off)["counters"]["nodes"]
        for off in (0, OFF["split_pairs"])
    )
    assert used < unused


@pytest.mark.parametrize("seed", [1, 3])
def test_what_was_proven_on_an_earlier_sample_is_about_fewer_rows(seed: int) -> None:
    """Taken for bounds of more rows, less their weight, it closes the best tree."""
    problem = noisy_problem(seed, 70)
    right = core_search(problem, switches=SWEEPS | OFF["split_pairs"])["cost"]
    assert core_search(problem, switches=SWEEPS | TINY_SAMPLES)["cost"] == right
    old = _core.UNSOUND_SWITCHES["pairs_of_old_samples"]
    assert core_search(problem, switches=SWEEPS | TINY_SAMPLES | old)["cost"] != right


def first_rows(case: MeasureCase, rows: int) -> MeasureCase:
    """A case of the first rows of another."""
    seen = [np.unique(own[:rows], return_inverse=True) for own in case.ranks]
    return replace(
        case,
        ranks=np.array([ranks.reshape(-1) for _, ranks in seen], dtype=np.uint32),
        values=tuple(own[kept] for own, (kept, _) in zip(case.values, seen, strict=True)),
        classes=case.classes[:rows],
        weights=case.weights[:rows],
        counts=case.counts[:rows],
        targets=None if case.targets is None else case.targets[:rows],
    )


def check_loss(loss: str, seeds: range, extra: int = 0) -> None:
    """Trees of depth four, with no limit but the depth: only these have bounds of two splits."""
    for seed in seeds:
        case = replace(
            random_case(loss, 7_200_000 + seed, max_depth=4), max_splits=15, min_samples_leaf=1
        )
        table = measure_table(case)
        wanted = NaiveMeasures(case, penalty_units(case, table) * table.cost_unit).solve()
        found = measure_search(case, table, switches=SWEEPS | extra)
        assert found["cost"] == found["lower_bound"], seed
        assert abs(found["cost"] * table.cost_unit - wanted) <= tolerance(case), seed


@pytest.mark.parametrize("loss", LOSSES)
def test_other_losses_have_the_answer_of_their_naive_twin(loss: str) -> None:
    check_loss(loss, range(40))


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
@pytest.mark.parametrize("loss", LOSSES)
def test_other_losses_on_many_more(loss: str, block: int) -> None:
    for extra in (0, OFF["lipschitz"]):
        check_loss(loss, range(40 + 500 * block, 40 + 500 * (block + 1)), extra)


@pytest.mark.parametrize("loss", LOSSES)
def test_other_losses_cost_the_same_without_them(loss: str) -> None:
    """On tables where they save nodes, by sweeps and by cells."""
    saved = 0
    for seed in range(3):
        case = first_rows(middle_case(loss, seed, max_depth=3), 45)
        case = replace(case, max_depth=4, max_splits=15, min_samples_leaf=1)
        table = measure_table(case)
        for more in (0, SWEEPS):
            with_them, without = (
                measure_search(case, table, switches=more | off) for off in (0, OFF["split_pairs"])
            )
            assert with_them["cost"] == with_them["lower_bound"] == without["cost"], seed
            saved += with_them["counters"]["nodes"] < without["counters"]["nodes"]
    assert saved >= 1


def steps_of(problem: Problem, switches: int, **arguments: Any) -> int:
    """What a search takes, with arguments that only some searches have."""
    result = _core.search(
        problem.table,
        max_depth=problem.max_depth,
        max_splits=problem.max_splits,
        min_samples_leaf=problem.min_samples_leaf,
        error_scale=problem.error_scale,
        split_penalty=problem.split_penalty,
        time_limit=math.inf,
        memory_limit=1 << 28,
        switches=SWEEPS | switches,
        **arguments,
    )
    assert result["cost"] == result["lower_bound"]
    return result["counters"]["row_steps"]


REFUSED: dict[str, tuple[dict[str, int], dict[str, Any]]] = {
    "least leaf": ({"min_samples_leaf": 3}, {}),
    "budget of splits": ({"max_leaf_nodes": 9}, {}),
    "certificate": ({}, {"certify": True}),
    "directions": ({"classes": 2}, {"directions": [1, 0, 0]}),
    "groups": ({}, {"groups": [[0], [0, 1], [1]]}),
    "prices of paths": ({}, {"prices": [2, 1, 0], "priced": [[0], [1], [2]]}),
    "many columns": ({"columns": 65}, {}),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_they_are_refused_where_they_would_not_hold(kind: str) -> None:
    options, arguments = REFUSED[kind]
    problem = noisy_problem(2, **{"rows": 40, **options})
    used, unused = (steps_of(problem, off, **arguments) for off in (0, OFF["split_pairs"]))
    assert used == unused


def test_without_memory_nothing_is_kept() -> None:
    problem = noisy_problem(2, 150)
    found = [
        core_search(problem, switches=SWEEPS | OFF["inheritance"] | off, memory_limit=limit)
        for off, limit in ((0, 1 << 28), (0, 0), (OFF["split_pairs"], 1 << 28))
    ]
    steps = [result["counters"]["row_steps"] for result in found]
    assert len({result["cost"] for result in found}) == 1
    assert steps[0] < steps[1] == steps[2]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("extra", [0, TINY_SAMPLES, TINY_SAMPLES | TEXT_TASKS])
def test_threads_that_share_them_cost_the_same(seed: int, extra: int) -> None:
    """One thread may be at an earlier sample than the one that has proven something."""
    problem = noisy_problem(100 + seed, 60 + 10 * seed)
    wanted = core_search(problem, switches=SWEEPS | OFF["split_pairs"])["cost"]
    for _ in range(3):  # what meets what is another thing every time
        found = core_search(problem, switches=SWEEPS | extra, n_jobs=5)
        assert found["cost"] == found["lower_bound"] == wanted
