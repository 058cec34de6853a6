"""Problems too large for the naive twin: every kernel, whatever is switched off, must agree.

A search with all bounds switched off shares little with the usual one but the arithmetic of the
panels, which have a test of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from provetree.problem.columns import ColumnSequence
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import ALL_OFF, KERNELS, OFF, core_search, same_tree, walk_tree

BLOCK = 20
BLOCKS = 12


def larger_problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([2, 3, 4], p=[0.4, 0.5, 0.1]))
    n = int(rng.integers(50, (400, 200, 60)[depth - 2]))
    n_features = int(rng.integers(1, (7, 5, 3)[depth - 2]))
    n_classes = int(rng.choice([2, 3, 4, 7, 8, 12], p=[0.4, 0.15, 0.15, 0.1, 0.1, 0.1]))
    X = rng.normal(size=(n, n_features))
    if rng.random() < 0.5:
        X = np.round(X * rng.choice([1, 3, 20]))
    if rng.random() < 0.2:
        X[rng.random(X.shape) < 0.1] = np.nan
    shown = np.nan_to_num(X)
    score = shown @ rng.normal(size=n_features) + shown[:, 0] * shown[:, -1]
    score += rng.normal(size=n) * rng.choice([0.1, 0.5, 2.0])
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    weight = None
    if rng.random() < 0.4:
        weight = rng.integers(1, rng.choice([3, 120, 10**5]), n).astype(np.float64)
    return build_problem(
        X,
        y,
        n_classes=n_classes,
        max_depth=depth,
        sample_weight=weight,
        alpha=float(rng.choice([0.0, 0.005, 0.02], p=[0.6, 0.2, 0.2])),
        min_samples_leaf=int(rng.choice([1, 3, 10], p=[0.6, 0.2, 0.2])),
        max_leaf_nodes=int(rng.integers(2, 2**depth)) if rng.random() < 0.3 else None,
    )


def runs(seed: int) -> Iterator[tuple[str, int]]:
    """Each kernel as it is, each part off with one kernel, and all parts off."""
    for kernel in KERNELS:
        yield kernel, 0
    for turn, bit in enumerate((*OFF.values(), ALL_OFF)):
        yield KERNELS[(seed + turn) % len(KERNELS)], bit


def check(seed: int) -> Problem:
    problem = larger_problem(seed)
    first = core_search(problem)
    assert first["status"] == "optimal", seed
    assert walk_tree(problem, first)[0] == first["cost"] == first["lower_bound"], seed
    for kernel, switches in runs(seed):
        found = core_search(problem, kernel=kernel, switches=switches)
        where = f"seed {seed}, kernel {kernel}, switches {switches:b}"
        assert found["status"] == "optimal", where
        assert found["lower_bound"] == found["cost"] == first["cost"], where
        if all(one["counters"]["tie_rule_complete"] for one in (first, found)):
            assert same_tree(first, found), where
        else:
            assert walk_tree(problem, found)[0] == found["cost"], where
    return problem


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(block, marks=pytest.mark.slow) if block >= 2 else block
        for block in range(BLOCKS)
    ],
)
def test_kernels_and_switches_agree(block: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem = check(seed)
        seen["more than seven classes"] += problem.n_classes > 7
        seen["weights"] += int(problem.weights.max()) > int(problem.counts.max())
        seen["least leaf"] += problem.min_samples_leaf > 1
        seen["penalty"] += problem.split_penalty > 0
    assert len(seen) == 4
    assert min(seen.values()) > 0, seen


def mirrored(problem: Problem) -> Problem:
    """Every column turned around, columns and classes in reverse order."""
    given = problem.columns
    sizes = np.diff(given.ends, prepend=0)
    return replace(
        problem,
        columns=ColumnSequence(
            given._features[::-1],
            given._kinds[::-1],
            given._categories[::-1],
            np.ascontiguousarray(-given.values[::-1]),
            np.cumsum(sizes[::-1]),
        ),
        ranks=np.ascontiguousarray(
            (sizes[:, None] - 1 - problem.ranks.astype(np.int64))[::-1].astype(np.uint32)
        ),
        classes=problem.n_classes - 1 - problem.classes,
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_mirror_images_cost_the_same(kernel: str) -> None:
    for seed in range(1000, 1060):
        problem = larger_problem(seed)
        mirror = mirrored(problem)
        found = core_search(mirror, kernel=kernel)
        assert found["cost"] == core_search(problem, kernel=kernel)["cost"], seed
        assert walk_tree(mirror, found)[0] == found["cost"], seed


def large_problem(seed: int) -> Problem:
    """Enough rows for what pays off in large nodes only: bounds handed on between panels."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.choice([2, 3, 5, 9]))
    n = 9000 if n_classes == 2 else 3000
    X = np.round(rng.normal(size=(n, 2 + seed % 2)) * rng.choice([5, 50, 5000]))
    score = X[:, 0] * np.sign(X[:, 1]) / X.std() + rng.normal(size=n) * 0.3
    return build_problem(
        X,
        np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score),
        n_classes=n_classes,
        max_depth=3,
        sample_weight=rng.integers(1, 4, n) if rng.random() < 0.3 else None,
        max_leaf_nodes=6 if rng.random() < 0.2 else None,
        min_samples_leaf=int(rng.choice([1, 1, 100])),
        alpha=float(rng.choice([0.0, 0.0, 0.01])),
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 4, 5, 6, 7, 11, 15])
def test_large_nodes_hand_their_bounds_on(seed: int) -> None:
    problem = large_problem(seed)
    first = core_search(problem)
    assert walk_tree(problem, first)[0] == first["cost"] == first["lower_bound"]
    kernel = KERNELS[seed % len(KERNELS)]
    for name in ("inheritance", "slack", "start"):
        found = core_search(problem, kernel=kernel, switches=OFF[name])
        assert found["cost"] == first["cost"], name
        if all(one["counters"]["tie_rule_complete"] for one in (first, found)):
            assert same_tree(first, found), name
