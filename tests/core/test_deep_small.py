"""Deep searches of some thirty rows with a penalty or a split budget: sets of rows come again.

They took a minute where each set was solved anew for every budget and every path to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import OFF, core_search, walk_tree
from testkit.naive import naive_search

#: Enough by now; before, the first needed more than 150 million, the others more than 60 million.
ENOUGH_WORK = 60_000_000


def noisy_problem(seed: int, n: int, **limits: Any) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(2)
    return build_problem(X, rng.integers(0, 3, n), n_classes=3, max_depth=5, **limits)


@pytest.mark.parametrize(("seed", "n"), [(0, 34), (6, 29), (18, 32)])
def test_a_penalised_deep_search_is_soon_proven(seed: int, n: int) -> None:
    found = core_search(noisy_problem(seed, n, alpha=0.05), max_work=ENOUGH_WORK)
    assert found["status"] == "optimal"


@pytest.mark.parametrize("block", range(6))
def test_sets_that_are_remembered_give_the_optimum(block: int) -> None:
    remembered = 0
    for seed in range(20 * block, 20 * block + 20):
        rng = np.random.default_rng(seed)
        n, n_columns, n_classes = (
            int(rng.integers(4, 12)),
            int(rng.integers(1, 4)),
            int(rng.integers(2, 4)),
        )
        X = rng.integers(0, rng.integers(2, 8), (n, n_columns)).astype(float)
        limits: dict[str, Any] = {"alpha": float(rng.choice([0.02, 0.05, 0.1]))}
        if seed % 2:
            limits = {"max_leaf_nodes": int(rng.integers(4, 9))}
        if seed % 3 == 0:
            limits["min_samples_leaf"] = 2
        if seed % 5 == 0:
            limits["sample_weight"] = rng.integers(1, 4, n)
        y = rng.integers(0, n_classes, n)
        problem = build_problem(X, y, n_classes=n_classes, max_depth=6, **limits)
        found = core_search(problem, switches=OFF["bits"])
        twin = naive_search(problem)
        assert (found["cost"], found["status"]) == (twin["cost"], "optimal"), seed
        assert walk_tree(problem, found)[0] == twin["cost"], seed
        remembered += problem.max_depth > 4
    assert remembered > 5
