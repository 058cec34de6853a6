"""The exact search against the naive twin, which tries every tree.

Cost, bound, status and the whole tree must agree on every random problem, with every kernel,
whatever part of the search is switched off. The twin solves each problem once for all kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from provetree.problem.problem import Problem
from testkit.core_calls import (
    ALL_OFF,
    ALWAYS_WIDE,
    EAGER_IMPROVEMENT,
    KERNELS,
    NODE_FIELDS,
    OFF,
    TINY_BLOCKS,
    TINY_SAMPLES,
    core_search,
    same_tree,
    walk_tree,
)
from testkit.naive import naive_search
from testkit.random_problems import (
    RandomTable,
    deep_problem,
    hard_problem,
    random_problem,
    random_table,
)

BLOCK = 500
BLOCKS = 61  # 30,500 problems
HARD_BLOCK = 20
HARD_BLOCKS = 30
DEEP_BLOCK = 50
DEEP_BLOCKS = 6

#: Frames are for other losses than errors.
ONE_OFF = tuple(bit for name, bit in OFF.items() if name != "frames")


def blocks(count: int, quick: int) -> list[object]:
    """Block numbers; those after the first few are marked slow."""
    return [
        pytest.param(block, marks=pytest.mark.slow) if block >= quick else block
        for block in range(count)
    ]


def switchings(seed: int, kernel: int) -> Iterator[int]:
    """What is switched off for a seed and kernel: nothing, and one thing or some together."""
    yield 0
    if seed % len(KERNELS) == kernel:
        part = (0, OFF["lipschitz"], OFF["slack"], OFF["start"])[seed // 3 % 4]
        yield TINY_SAMPLES | OFF["bits"] | part
        yield TINY_BLOCKS | (TINY_SAMPLES if seed // 3 % 2 else 0) | OFF["bits"] | part
        yield EAGER_IMPROVEMENT | (TINY_SAMPLES if seed // 3 % 2 else 0) | OFF["bits"] | part
        yield ALWAYS_WIDE | (TINY_SAMPLES if seed // 3 % 5 > 1 else 0) | OFF["bits"] | part
    turn = (seed + 3 * kernel) % (len(ONE_OFF) + 2)
    if turn < len(ONE_OFF):
        yield ONE_OFF[turn] | OFF["bits"]  # so that the parts of the other search are at work
    elif turn == len(ONE_OFF):
        yield ALL_OFF ^ OFF["tie_rule"]
    else:
        chosen = int(np.random.default_rng(seed).integers(1, 2 ** len(ONE_OFF)))
        yield sum(bit for i, bit in enumerate(ONE_OFF) if chosen >> i & 1)


def disagreements(problem: Problem, seed: int) -> Iterator[str]:
    twin = naive_search(problem)
    for number, kernel in enumerate(KERNELS):
        for switches in switchings(seed, number):
            found = core_search(problem, kernel=kernel, switches=switches)
            where = f"seed {seed}, kernel {kernel}, switches {switches:b}: "
            proof = found["cost"], found["lower_bound"], found["status"]
            if proof != (twin["cost"], twin["cost"], "optimal"):
                yield where + f"{proof} instead of {twin['cost']}"
            elif switches & OFF["tie_rule"]:
                if walk_tree(problem, found)[0] != twin["cost"]:
                    yield where + "the tree does not cost what is claimed"
            elif not found["counters"]["tie_rule_complete"]:
                yield where + "the tie rule was cut short"
            elif not same_tree(found, twin):
                trees = [np.array([tree[f] for f in NODE_FIELDS]).T for tree in (found, twin)]
                yield where + f"tree {trees[0].tolist()} instead of {trees[1].tolist()}"


def check(make: Callable[[int], Problem], seeds: range) -> None:
    wrong = [text for seed in seeds for text in disagreements(make(seed), seed)]
    assert not wrong, "\n".join([f"{len(wrong)} disagreements", *wrong[:10]])


@pytest.mark.parametrize("block", blocks(BLOCKS, 4))
def test_the_search_equals_the_naive_twin(block: int) -> None:
    check(random_problem, range(block * BLOCK, (block + 1) * BLOCK))


@pytest.mark.parametrize("block", blocks(HARD_BLOCKS, 1))
def test_the_search_equals_the_naive_twin_on_harder_problems(block: int) -> None:
    check(hard_problem, range(block * HARD_BLOCK, (block + 1) * HARD_BLOCK))


@pytest.mark.parametrize("block", blocks(DEEP_BLOCKS, 1))
def test_the_search_equals_the_naive_twin_on_deep_trees(block: int) -> None:
    check(deep_problem, range(block * DEEP_BLOCK, (block + 1) * DEEP_BLOCK))


def test_the_order_of_rows_does_not_matter() -> None:
    for seed in range(300):
        problem = random_problem(seed)
        order = np.random.default_rng(seed).permutation(problem.n_rows)
        shuffled = replace(
            problem,
            ranks=np.ascontiguousarray(problem.ranks[:, order]),
            **{name: getattr(problem, name)[order] for name in ("classes", "weights", "counts")},
        )
        found, again = core_search(problem), core_search(shuffled)
        assert found["cost"] == again["cost"], seed
        assert same_tree(found, again), seed


def test_merged_rows_stand_for_the_rows_they_come_from() -> None:
    repeated = 0
    for seed in range(600):
        problem = random_problem(seed)
        if problem.n_rows == problem.n_samples or (problem.weights != problem.counts).any():
            continue
        rows = np.repeat(np.arange(problem.n_rows), problem.counts)
        ones = np.ones(len(rows), dtype=np.int64)
        unmerged = replace(
            problem,
            ranks=np.ascontiguousarray(problem.ranks[:, rows]),
            classes=problem.classes[rows],
            weights=ones,
            counts=ones,
        )
        found, again = core_search(problem), core_search(unmerged)
        assert found["cost"] == again["cost"], seed
        assert same_tree(found, again), seed
        repeated += 1
    assert repeated > 60


def features_of(table: RandomTable, problem: Problem) -> Iterator[str]:
    """What a random problem has that a search might stumble over."""
    options = table.options
    yield f"depth {problem.max_depth}"
    yield f"classes {options['n_classes']}"
    if any(len(column.values) < problem.n_rows for column in problem.columns):
        yield "ties"
    if np.isnan(table.X).any():
        yield "missing"
    if any(column.kind == "category" for column in problem.columns):
        yield "category"
    if np.isinf(table.X).any():
        yield "infinite"
    if problem.n_rows < problem.n_samples:
        yield "merged rows"
    weight = options["sample_weight"]
    if weight is not None:
        yield "fractional weights" if (weight % 1).any() else "whole weights"
        if problem.weights.max() > 2**20:
            yield "huge weights"
        if not weight.all():
            yield "zero weights"
        if problem.weight_error > 0:
            yield "rounded weights"
    if problem.min_samples_leaf > 1:
        yield f"least leaf as {type(options['min_samples_leaf']).__name__}"
    if problem.split_penalty > 0 and problem.max_depth > 0:
        yield "alpha"
    if problem.max_splits < min(2**problem.max_depth, problem.n_samples) - 1:
        yield "leaf budget"


#: How many of 2,000 seeds must show each feature; there are twelve times as many in all.
LEAST = {
    **{f"depth {depth}": 80 for depth in range(5)},
    **{f"classes {count}": 80 for count in range(1, 6)},
    "ties": 800,
    "missing": 300,
    "category": 300,
    "infinite": 200,
    "merged rows": 300,
    "whole weights": 200,
    "fractional weights": 200,
    "huge weights": 200,
    "zero weights": 80,
    "rounded weights": 80,
    "least leaf as int": 200,
    "least leaf as float": 80,
    "alpha": 150,
    "leaf budget": 150,
}


def test_the_random_problems_have_all_awkward_features() -> None:
    seen: Counter[str] = Counter()
    for seed in range(2000):
        table = random_table(seed)
        seen.update(set(features_of(table, table.problem())))
    missed = {name: seen[name] for name, least in LEAST.items() if seen[name] < least}
    assert not missed, f"too few of {missed} among {dict(sorted(seen.items()))}"


def test_each_part_is_switched_off_on_thousands_of_problems() -> None:
    for number in range(len(KERNELS)):
        alone: Counter[int] = Counter()
        for seed in range(BLOCK * BLOCKS):
            alone.update(switchings(seed, number))
        assert min(alone[bit | OFF["bits"]] for bit in ONE_OFF) >= 2000
        assert alone[ALL_OFF ^ OFF["tie_rule"]] >= 2000
        assert len(alone) > 2 ** len(ONE_OFF) / 5  # combinations
