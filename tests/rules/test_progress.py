"""What is told while a search under rules runs: no bound above the optimum, no cost below it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, Progress


class EndedError(Exception):
    """Somebody has seen enough."""


def noise(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, (n, 6)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, rng.integers(0, 2, n)


RULES: list[dict[str, Any]] = [
    {"fixed_splits": {"": {"column": 0, "threshold": 20.0, "missing": "left"}}},
    {"fixed_splits": {"": {"column": 0, "threshold": 20.0}}},  # missing values: two ways
    {
        "fixed_splits": {
            "": {"column": 0, "threshold": 20.0, "missing": "left"},
            "R": {"column": 1, "threshold": 9.0, "missing": "right"},
        },
        "forbidden_columns": [2],
    },
    {
        "fixed_splits": {"": {"column": 0, "threshold": 20.0, "missing": "left"}},
        "max_leaf_nodes": 9,
    },
    {"interaction_cst": [[0, 1, 2], [3, 4, 5]]},
    {"column_costs": {0: 2.0}},
]


@pytest.mark.parametrize("rules", RULES)
def test_what_is_told_holds(rules: dict[str, Any]) -> None:
    X, y = noise(300, 1)
    told: list[Progress] = []
    depth = 4 if "fixed_splits" in rules else 3  # the others are several searches
    clf = OptimalTreeClassifier(max_depth=depth, **rules)
    clf.fit(X, y, on_progress=told.append)
    assert clf.status_ == "optimal"
    assert told[-1].cost == told[-1].lower_bound == clf.objective_
    for moment in told:
        assert moment.lower_bound <= clf.objective_ <= moment.cost


def test_who_listens_can_end_it() -> None:
    X, y = noise(4000, 2)

    def end(progress: Progress) -> None:
        raise EndedError

    clf = OptimalTreeClassifier(max_depth=6, **RULES[0])
    with pytest.raises(EndedError):
        clf.fit(X, y, on_progress=end)


@pytest.mark.parametrize(
    "rule",
    [
        {"interaction_cst": "pairwise"},
        {"monotonic_cst": [1, 0, 0, 0, 0, 0]},
        {"column_costs": {0: (1.0, "path")}},
    ],
)
def test_a_stop_before_there_is_a_tree_gives_a_leaf_and_its_bound(rule: dict[str, Any]) -> None:
    """Guards the best tree of two levels, which the search begins with and no limit could end."""
    X, y = noise(60, 0)
    best = OptimalTreeClassifier(max_depth=3, **rule).fit(X, y).objective_
    for limit in ({"max_work": 1}, {"max_work": 500}, {"time_limit": 1e-9}):
        model = OptimalTreeClassifier(max_depth=3, **rule, **limit).fit(X, y)
        ended_by = next(iter(limit)).replace("max_work", "work_limit")
        # The clock is looked at between steps, so a short proof may be done before.
        if ended_by == "time_limit" and model.objective_ == best:
            assert model.status_ in ("time_limit", "optimal")
        else:
            assert model.status_ == ended_by
        assert model.lower_bound_ <= best <= model.objective_
