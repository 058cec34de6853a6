"""The exact search on a million small problems, against a compiled twin that tries every tree.

Each problem is solved as it comes and in one or two other ways: with samples, better trees, many
columns, threads, tasks as text, parts switched off, little memory, a limit on work, a checkpoint.
Cost, bound, splits and the tree itself are held against the twin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from provetree.problem.problem import Problem
from testkit.core_calls import (
    ALWAYS_WIDE,
    EAGER_IMPROVEMENT,
    EAGER_THREADS,
    KERNELS,
    OFF,
    TEXT_TASKS,
    TINY_SAMPLES,
    core_search,
    same_tree,
)
from testkit.naive import naive_search
from testkit.random_problems import deep_problem, hard_problem, random_problem
from testkit.small_trees import SmallTrees

BLOCK = 1_000
BLOCKS = 1_000
FIRST_SEED = 10_000_000  # other problems than those of other tests
NO_BITS = OFF["bits"]
PARTS = tuple(OFF.values())


@pytest.fixture(scope="module")
def twin(tmp_path_factory: pytest.TempPathFactory) -> SmallTrees:
    return SmallTrees(tmp_path_factory.mktemp("twin"))


def problem_of(seed: int) -> Problem:
    if seed % 50 == 0:
        return hard_problem(seed)
    return deep_problem(seed) if seed % 50 == 1 else random_problem(seed)


def some_off(seed: int) -> int:
    chosen = np.random.default_rng(seed).integers(0, 2, len(PARTS))
    return sum(bit for bit, off in zip(PARTS, chosen.tolist(), strict=True) if off)


WAYS: tuple[Callable[[int], dict[str, Any]], ...] = (
    lambda seed: {"switches": NO_BITS},
    lambda seed: {"switches": TINY_SAMPLES | NO_BITS},
    lambda seed: {"switches": EAGER_IMPROVEMENT | NO_BITS},
    lambda seed: {"switches": ALWAYS_WIDE | NO_BITS},
    lambda seed: {"switches": ALWAYS_WIDE | TINY_SAMPLES | NO_BITS},
    lambda seed: {"switches": EAGER_THREADS, "n_jobs": 2},
    lambda seed: {"switches": NO_BITS | TINY_SAMPLES, "n_jobs": 3},
    lambda seed: {"switches": TEXT_TASKS | NO_BITS},
    lambda seed: {"switches": PARTS[seed // 16 % len(PARTS)] | NO_BITS},
    lambda seed: {"switches": PARTS[seed // 16 % len(PARTS)] | TINY_SAMPLES | NO_BITS},
    lambda seed: {"switches": some_off(seed)},
    lambda seed: {"switches": some_off(seed) | TINY_SAMPLES | EAGER_IMPROVEMENT},
    lambda seed: {"memory_limit": 1 << (seed // 16 % 14)},
    lambda seed: {"max_work": 1 << (seed // 16 % 12)},
    lambda seed: {"max_work": 1 << (seed // 16 % 12), "switches": NO_BITS | TINY_SAMPLES},
    lambda seed: {"checkpoint": "proof", "switches": NO_BITS if seed // 16 % 2 else 0},
)


def ways_of(seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    kernel = KERNELS[seed // 3 % len(KERNELS)]
    yield {"kernel": kernel}
    way = {"kernel": kernel, **WAYS[seed % len(WAYS)](seed)}
    if way.get("checkpoint") != "proof":
        yield way
        return
    # A part of the proof, and the rest of it from the file.
    way["checkpoint"] = str(folder / f"proof-{seed}")
    yield {**way, "max_work": 64 << (seed // 32 % 8)}
    yield way


def complaints(twin: SmallTrees, seed: int, folder: Path) -> Iterator[str]:
    problem = problem_of(seed)
    twin.take(problem)
    best = twin.best()
    first = None
    for way in ways_of(seed, folder):
        found = core_search(problem, **way)
        said = found["cost"], found["lower_bound"], found["status"]
        cost, splits = twin.cost_of(found)
        where = f"seed {seed}, {way}: {said}, the tree costs {cost} with {splits} splits; {best}"
        if cost != found["cost"] or not found["lower_bound"] <= best[0] <= cost:
            yield where
        elif found["status"] != "optimal":
            if "max_work" not in way:
                yield where
        elif cost != best[0] or found["lower_bound"] != cost:
            yield where
        elif found["counters"]["tie_rule_complete"]:
            if splits != best[1]:
                yield where + ": not the fewest splits"
            first = first if first is not None else found
            if not same_tree(first, found):
                yield where + ": not the tree that was found first"


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.fuzz) for b in range(1, BLOCKS))]
)
def test_the_search_equals_the_compiled_twin(block: int, twin: SmallTrees, tmp_path: Path) -> None:
    first = FIRST_SEED + block * BLOCK
    wrong = [
        text for seed in range(first, first + BLOCK) for text in complaints(twin, seed, tmp_path)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} disagreements", *wrong[:10]])


def test_the_compiled_twin_equals_the_naive_one(twin: SmallTrees) -> None:
    for seed in range(150):
        problem = problem_of(seed)
        found = naive_search(problem)
        twin.take(problem)
        splits = int((found["column"] >= 0).sum())
        assert twin.best() == (found["cost"], splits), seed
        assert twin.cost_of(found) == (found["cost"], splits), seed
