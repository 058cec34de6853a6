"""What the rows between two splits cost by themselves adds up beside the bound of a side.

With blocks of two rows from the second split on, every node of depth three uses these bounds, and
must prove what it proves without them: with every kernel, with weights, penalties, budgets of
splits and samples, and with other parts switched off.
"""

from __future__ import annotations

import numpy as np
import pytest

from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import (
    KERNELS,
    OFF,
    TINY_BLOCKS,
    TINY_SAMPLES,
    core_search,
    same_tree,
    walk_tree,
)
from testkit.naive import naive_search

SWEEPS = OFF["bits"]
BLOCK, BLOCKS = 60, 40


def noisy_problem(seed: int, n: int, max_depth: int) -> Problem:
    rng = np.random.default_rng((83, seed))
    n_classes = int(rng.choice([2, 2, 3]))
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    if rng.random() < 0.5:
        X = np.round(X * rng.choice([1, 3, 10]))
    y = (X[:, 0] > 0) ^ (X[:, -1] > 0.5) ^ (rng.random(n) < rng.choice([0.05, 0.2, 0.4]))
    y = y + (n_classes == 3) * (rng.random(n) < 0.2)
    y[:n_classes] = np.arange(n_classes)
    weighted = rng.random() < 0.3
    return build_problem(
        X,
        y,
        n_classes=n_classes,
        max_depth=max_depth,
        sample_weight=rng.integers(1, 9, n).astype(float) if weighted else None,
        alpha=float(rng.choice([0.0, 0.0, 0.02])),
        max_leaf_nodes=int(rng.integers(3, 9)) if rng.random() < 0.3 else None,
    )


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.fuzz) for b in range(1, BLOCKS))]
)
def test_tiny_blocks_change_no_proof(block: int) -> None:
    others = list(OFF.values())
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem = noisy_problem(seed, 12 + seed % 60, 4 if seed % 7 == 0 else 3)
        wanted = core_search(problem, switches=SWEEPS | OFF["blocks"])
        kernel = KERNELS[seed % len(KERNELS)]
        for more in (0, TINY_SAMPLES, others[seed % len(others)], OFF["lazy_rows"]):
            switches = (SWEEPS | TINY_BLOCKS | more) & ~OFF["blocks"]
            found = core_search(problem, switches=switches, kernel=kernel)
            assert found["lower_bound"] == wanted["lower_bound"] == found["cost"], (seed, more)
            assert walk_tree(problem, found)[0] == found["cost"], (seed, more)
            if more != OFF["tie_rule"]:
                assert same_tree(found, wanted), (seed, more)


def test_tiny_blocks_prove_what_the_naive_twin_does() -> None:
    for seed in range(40):
        problem = noisy_problem(1000 + seed, 8 + seed % 5, 3)
        found = core_search(problem, switches=SWEEPS | TINY_BLOCKS)
        assert same_tree(found, naive_search(problem)), seed


def test_blocks_close_splits_where_there_is_much_noise() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(12_800, 4))
    y = rng.random(12_800) < 1 / (1 + np.exp(-2 * np.sin(8 * X).sum(axis=1)))
    problem = build_problem(X, y.astype(int), n_classes=2, max_depth=3)
    used, unused = (core_search(problem, switches=SWEEPS | off) for off in (0, OFF["blocks"]))
    assert same_tree(used, unused)
    assert used["counters"]["intervals"] < 0.9 * unused["counters"]["intervals"]
