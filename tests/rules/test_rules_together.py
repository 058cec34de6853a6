"""All rules at once, directions among them, against a brute force that keeps them all."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from provetree import (
    ExactSearch,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    _core,
    build_problem,
)
from provetree.search import blocks
from testkit.naive_all_rules import NaiveLimits, NaiveTable, error_leaf, least_cost
from testkit.naive_rules import NaiveRules, NaiveSplit, monotone_cost, naive_splits, ruled_cost
from testkit.random_rules import searched_with

UNITS = 4  # of a weight: prices are quarters


def bits(holds: Any) -> int:
    return sum(1 << i for i, one in enumerate(holds) if one)


def random_table(seed: int) -> tuple[np.random.Generator, Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 60)), int(rng.integers(2, 4))
    X = rng.integers(0, 3, (n, p)).astype(float)
    X[rng.random((n, p)) < rng.choice([0.0, 0.15])] = np.nan
    y = (np.nan_to_num(X[:, 0], nan=1.0) > 0) ^ (rng.random(n) < 0.25)
    limits = {
        "max_depth": int(rng.integers(2, 4)),
        "max_leaf_nodes": int(rng.integers(2, 7)) if rng.random() < 0.3 else None,
        "min_samples_leaf": int(rng.integers(1, 5)) if rng.random() < 0.3 else 1,
    }
    return rng, X, y.astype(int), limits


def naive_table(X: Any, y: Any, rules: NaiveRules) -> NaiveTable:
    columns = [[None if x != x else x for x in column] for column in X.T.tolist()]
    splits = naive_splits(columns, [False] * X.shape[1])
    masks = {c: [(1, bits(y == label))] for c, label in enumerate(np.unique(y))}
    by_label = rules.directions is not None
    leaf = error_leaf(masks, UNITS, by_label)
    return NaiveTable(splits, (1 << len(y)) - 1, leaf, UNITS, rules)


PARTS = ["", "start", "lazy_rows", "packing", "class_counts", "lipschitz", "slack"]
SWITCHES = {**_core.SWITCHES, **_core.RULE_SWITCHES}


@pytest.mark.parametrize("off", [*PARTS, "split_order", "opposed_rows"])
@pytest.mark.parametrize("seed", range(10))
def test_rules_beside_directions(seed: int, off: str) -> None:
    """On samples of few rows as well: what is proven on some rows under rules holds for all."""
    tiny = _core.TEST_SWITCHES["tiny_samples"]
    switches = SWITCHES[off] if off else tiny if seed % 2 else 0
    seed += 100 * len(off)
    rng, X, y, limits = random_table(seed)
    p = X.shape[1]
    ways = [-1, 1] if seed % 3 == 0 else [-1, 0, 1]  # rows can be opposed where all have one
    naive = NaiveRules(directions=[int(way) for way in rng.choice(ways, p)])
    given: dict[str, Any] = {"monotonic_cst": naive.directions, "column_costs": {}}
    for column in range(p):
        kind = rng.choice(["free", "tree", "path"])
        price = float(rng.choice([0.25, 1.0, 2.5]))
        if kind == "tree":
            naive.prices[column] = Fraction(price)
            given["column_costs"][column] = price
        elif kind == "path":
            naive.path_prices[column] = Fraction(price)
            given["column_costs"][column] = (price, "path")
    if rng.random() < 0.5:
        naive.groups = [[a, b] for a in range(p) for b in range(a)]
        given["interaction_cst"] = "pairwise"
    if rng.random() < 0.5 and (X[:, 0] <= 1).any() and (X[:, 0] > 1).any():
        left = [X[:, 0] <= 1, (X[:, 0] <= 1) | np.isnan(X[:, 0])]
        naive.fixed = {"": [NaiveSplit(0, bits(way)) for way in left]}
        given["fixed_splits"] = {"": {"column": 0, "threshold": 1.0}}
    if len(np.unique(y)) < 2:
        return
    expected = least_cost(naive_table(X, y, naive), NaiveLimits(**limits))
    model = searched_with(switches)(**limits, **given)
    if expected is None:
        with pytest.raises(ValueError, match="No tree"):
            model.fit(X, y)
        return
    model.fit(X, y)
    assert model.status_ == "optimal"
    assert model.objective_ * UNITS == expected
    assert model.lower_bound_ == model.objective_


@pytest.mark.parametrize("seed", range(40))
def test_both_brute_forces_agree(seed: int) -> None:
    rng, X, y, limits = random_table(1000 + seed)
    X, y = X[:14], y[:14]
    if len(np.unique(y)) < 2:
        return
    p, everything = X.shape[1], (1 << len(y)) - 1
    ways = [int(way) for way in rng.choice([-1, 0, 1], p)]
    table = naive_table(X, y, NaiveRules(directions=ways))
    weights = [Fraction(1)] * len(y)
    own = monotone_cost(table.splits, everything, y.tolist(), weights, ways, **limits)
    assert least_cost(table, NaiveLimits(**limits)) == own * UNITS
    rules = NaiveRules(
        prices={0: Fraction(1, 2)},
        path_prices={1: Fraction(1, 4)},
        groups=[[0], [0, 1], [1, p - 1]],
    )
    table = naive_table(X, y, rules)

    def leaf(rows: int) -> Fraction:
        return Fraction(min(table.leaf(rows).values()), UNITS)

    other = ruled_cost(table.splits, everything, leaf, rules, **limits)
    assert other is not None
    assert least_cost(table, NaiveLimits(**limits)) == other * UNITS


def test_splits_that_stay_may_need_more_leaves_than_pay() -> None:
    """With alpha, trees of many splits cost more than a leaf; beside a useless split they pay."""
    X = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)] * 3)
    y = X[:, 1].astype(int)
    model = OptimalTreeClassifier(
        max_depth=2, alpha=0.3, fixed_splits={"": {"column": 0, "threshold": 0.0}}
    ).fit(X, y)
    assert model.tree_.n_splits == 3
    assert model.objective_ == pytest.approx(0.3 * 6 * 3)
    useless = OptimalTreeClassifier(
        max_depth=2, alpha=0.5, fixed_splits={"": {"column": 0, "threshold": 0.0}}
    ).fit(X[1:], y[1:])
    assert useless.objective_ == pytest.approx(0.5 * 5 * 2 + 2)


def test_splits_stay_where_nothing_is_left_to_save() -> None:
    X, gains = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0, 0.0]] * 3)
    given = {"fixed_splits": {"": {"column": 0, "threshold": 0.5}}}
    policy = OptimalPolicyTree(max_depth=2, **given).fit(X, gains)
    assert policy.tree_.n_splits == 1


def test_large_tables_that_run_out_of_time_keep_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of blocks of rows know no rules, so they are left out."""
    monkeypatch.setattr(blocks, "LARGE", 500)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 6))
    y = ((X[:, 0] < 0) ^ (rng.random(2000) < 0.2)).astype(int)
    model = OptimalTreeClassifier(max_depth=3, time_limit=0.1, monotonic_cst=[1, 0, 0, 0, 0, 0])
    model.fit(X, y)
    grid = np.zeros((50, 6))
    grid[:, 0] = np.linspace(-3, 3, 50)
    assert (np.diff(model.predict(grid)) >= 0).all()
    assert "blocks" not in model.counters_


def noisy(n: int, p: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, (n, p)).astype(float)
    y = ((X[:, 0] > 12) & (X[:, 1] < 30)) ^ (rng.random(n) < 0.06)
    return X, y.astype(int)


@pytest.mark.parametrize("seed", range(12))
def test_samples_of_rows_prove_the_same(seed: int) -> None:
    """Trees of a sample keep labels and prices on all rows; the optimum is that of all rows."""
    X, y = noisy(400, 3, seed)
    given: dict[str, Any] = [
        {"monotonic_cst": [1, -1, 0]},
        {"monotonic_cst": [-1, 1, 1]},
        {"column_costs": {0: (3, "path"), 2: (1.5, "path")}},
        {"interaction_cst": "pairwise", "column_costs": {1: (2, "path")}},
    ][seed % 4]
    on_all = searched_with(_core.SWITCHES["lazy_rows"])(max_depth=3, **given).fit(X, y)
    tiny = searched_with(_core.TEST_SWITCHES["tiny_samples"])(max_depth=3, **given).fit(X, y)
    assert tiny.objective_ == on_all.objective_
    assert tiny.status_ == on_all.status_ == "optimal"
    assert tiny.counters_["samples"] > 0


@pytest.mark.parametrize("seed", range(12))
def test_nothing_below_is_proven_only_where_nothing_is(seed: int) -> None:
    X, y = noisy(300, 3, 50 + seed)
    problem = build_problem(
        X, y, n_classes=2, max_depth=2 + seed % 2, alpha=0.01 if seed % 3 else 0.0
    )
    tiny = _core.TEST_SWITCHES["tiny_samples"] if seed % 4 else 0
    best = problem.to_whole_cost(ExactSearch().solve(problem).cost)
    for below in (best - 3, best, best + 1, best + 40, 10 * best):
        found = ExactSearch(switches=tiny, below=below).solve(problem)
        cost, bound = map(problem.to_whole_cost, (found.cost, found.lower_bound))
        if below <= best:
            assert found.status == "nothing_below" or (found.status == "optimal" and cost == best)
            assert below <= bound <= best <= cost
        else:
            assert found.status == "optimal"
            assert cost == bound == best


def test_a_strange_limit_is_refused() -> None:
    problem = build_problem([[1.0], [2.0]], [0, 1], n_classes=2, max_depth=1)
    with pytest.raises(ValueError, match="a cost from 0 up in 'below'"):
        ExactSearch(below=-1).solve(problem)
