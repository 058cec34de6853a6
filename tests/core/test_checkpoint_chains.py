"""Checkpoints inside a split of the root: the nodes that are being searched are kept as well."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from checkpoint_files import first_version, nodes_of, with_body, without_nodes_below
from core_calls import ALWAYS_WIDE, EAGER_IMPROVEMENT, OFF, TINY_SAMPLES, core_search, same_tree
from provetree.problem.problem import Problem, build_problem

BLOCK = 40
BLOCKS = 12
MOST_ROWS = {3: 160, 4: 60, 5: 36}


def awkward_problem(seed: int, larger: int = 1) -> tuple[Problem, int]:
    """A problem of depth three to five with ties, weights, gaps and limits; switches to use."""
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([3, 4, 4, 5]))
    n, n_columns = larger * int(rng.integers(8, MOST_ROWS[depth])), int(rng.integers(1, 5))
    n_classes = int(rng.choice([2, 2, 3]))
    X = np.round(rng.normal(size=(n, n_columns)), int(rng.integers(0, 3)))
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.08] = np.nan
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, n)]
    filled = np.nan_to_num(X)
    rule = (filled[:, 0] * filled[:, -1] + filled[:, n_columns // 2] > 0).astype(int)
    y = np.where(rng.random(n) < rng.choice([0.3, 0.6, 0.9]), rule, rng.integers(0, n_classes, n))
    switches = OFF["bits"] | int(rng.choice([0, 0, TINY_SAMPLES, TINY_SAMPLES, ALWAYS_WIDE]))
    switches |= int(rng.choice([0, 0, 0, 0, EAGER_IMPROVEMENT]))
    problem = build_problem(
        X,
        y,
        n_classes=n_classes,
        max_depth=depth,
        sample_weight=rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else None,
        min_samples_leaf=int(rng.integers(2, 6)) if rng.random() < 0.35 else 1,
        alpha=float(rng.choice([0.005, 0.02])) if rng.random() < 0.3 else 0.0,
        max_leaf_nodes=int(rng.integers(3, 9)) if rng.random() < 0.3 else None,
    )
    return problem, switches


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(b, marks=pytest.mark.slow) for b in range(1, BLOCKS))]
)
def test_a_search_in_many_pieces_ends_as_the_whole_does(block: int, tmp_path: Path) -> None:
    file = tmp_path / "proof"
    stops = deep = 0
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem, switches = awkward_problem(seed)
        whole = core_search(problem, switches=switches)
        rng = np.random.default_rng(seed)
        work = max(50, int(whole["counters"]["row_steps"] * rng.choice([0.05, 0.2, 0.4])))
        while True:
            found = core_search(problem, switches=switches, max_work=work, checkpoint=str(file))
            assert found["lower_bound"] <= whole["cost"] <= found["cost"], seed
            if found["status"] == "optimal":
                break
            stops += 1
            deep += len(nodes_of(file.read_text())) > 1
            if rng.random() < 0.2:
                found = core_search(problem, switches=switches, checkpoint=str(file), n_jobs=2)
                break
            work = int(work * 1.3) + 10
        assert found["status"] == "optimal", seed
        assert found["cost"] == whole["cost"], seed
        assert not file.exists(), seed
        if found["counters"]["tie_rule_complete"] and whole["counters"]["tie_rule_complete"]:
            assert same_tree(found, whole), seed
    assert stops > BLOCK // 2
    assert deep > BLOCK // 8


def long_split(n: int = 900, depth: int = 4) -> Problem:
    """A table on which every split of the root takes long."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.8 * rng.normal(size=n) > 0).astype(int)
    return build_problem(X, y, n_classes=2, max_depth=depth)


def stopped_in_the_first_split(problem: Problem, file: Path) -> str:
    """The file of a search that was stopped before any split of the root was done."""
    found = core_search(
        problem, switches=OFF["improvement"], max_work=30_000_000, checkpoint=str(file)
    )
    assert found["status"] == "work_limit"
    root, *below = nodes_of(file.read_text())
    assert not root.points
    assert len(root.tried) == 1
    assert any(node.settled > 5 for node in below)
    return file.read_text()


def steps_until_a_split_is_done(problem: Problem, file: Path) -> int:
    """Steps, in pieces, until the first split of the root is done."""
    steps = 0
    for _ in range(1000):
        found = core_search(
            problem, switches=OFF["improvement"], max_work=5_000_000, checkpoint=str(file)
        )
        steps += found["counters"]["row_steps"]
        if nodes_of(file.read_text())[0].settled:
            break
    return steps
