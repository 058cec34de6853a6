"""Random tables for tests of rules, and searches of which parts are switched on or off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from provetree import ExactSearch, OptimalTreeClassifier
from provetree.search.part_rules import PartRules


def searched_with(switches: int) -> type[OptimalTreeClassifier]:
    """Classifiers whose searches under rules have parts switched on or off."""

    class Switched(OptimalTreeClassifier):
        def _engine_under(self, rules: PartRules) -> ExactSearch:
            return ExactSearch(switches=switches, **vars(rules))

    return Switched


def random_ruled_table(seed: int) -> dict[str, Any]:
    """A table of a seed: numbers and categories, ties, missing values, weights, tiny n."""
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([1, 2, 3], p=[0.2, 0.5, 0.3]))
    n = int(rng.integers(2, (20, 14, 10)[depth - 1]))
    p = int(rng.integers(2, 5))
    columns, categorical = [], []
    for _ in range(p):
        x = rng.integers(0, int(rng.choice([2, 3, 5])), n).astype(float)
        x[rng.random(n) < rng.choice([0.0, 0.0, 0.3])] = math.nan
        columns.append(x)
        categorical.append(bool(rng.random() < 0.2))
    weights = None
    if rng.random() < 0.25:
        weights = rng.integers(0, 4, n).astype(float)
        weights[0] = 1.0
    return {
        "rng": rng,
        "X": np.column_stack(columns),
        "categorical": categorical,
        "y": rng.integers(0, int(rng.choice([2, 3])), n),
        "weights": weights,
        "limits": {
            "max_depth": depth,
            "max_leaf_nodes": int(rng.integers(1, 6)) if rng.random() < 0.3 else None,
            "min_samples_leaf": int(rng.integers(1, 4)) if rng.random() < 0.25 else 1,
        },
        "alpha": float(rng.choice([0.05, 0.2])) if rng.random() < 0.2 else 0.0,
    }
