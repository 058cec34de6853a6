"""Prices that a tree pays once, against brute force; what searches hand to those of fewer columns.

Tables of few values are searched on bits, where nothing is handed over. So most tables here are
searched by sweeps, on samples of few rows, and with bounds switched off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, cast

import numpy as np
import pytest

from provetree import ExactSearch, OptimalTreeClassifier, Tree, _core, build_problem
from provetree.problem.problem import Problem
from provetree.search.by_price import best_by_price
from provetree.search.part import Part
from provetree.search.proven_by_columns import ProvenByColumns
from provetree.solution import Limits, Status
from testkit.core_calls import OFF, TINY_SAMPLES
from testkit.naive_all_rules import NaiveLimits, NaiveTable, error_leaf, least_cost
from testkit.naive_rules import NaiveRules, naive_splits
from testkit.random_rules import searched_with

UNITS = 20  # of a weight: prices are quarters of it, penalties fifths
SWEEPS = OFF["bits"]
SWITCHES = [
    SWEEPS | TINY_SAMPLES,
    SWEEPS | TINY_SAMPLES | OFF["lipschitz"],
    SWEEPS,
    SWEEPS | OFF["inheritance"] | TINY_SAMPLES,
    SWEEPS | OFF["slack"] | OFF["tie_rule"],
    SWEEPS | TINY_SAMPLES | OFF["start"],
    0,
]


def bits(holds: Any) -> int:
    return sum(1 << i for i, one in enumerate(holds) if one)


def random_priced(seed: int) -> dict[str, Any]:
    """A table that takes trees of three levels, and prices: none, small ones, and too high ones."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(8, 41)), int(rng.integers(2, 5))
    values = int(rng.choice([2, 3, 4, 6])) if p < 4 else int(rng.choice([2, 3]))
    X = rng.integers(0, values, (n, p)).astype(float)
    X[rng.random((n, p)) < rng.choice([0.0, 0.0, 0.15])] = np.nan
    if rng.random() < 0.2:
        X[:, -1] = X[:, 0]  # the same questions at two prices
    middle = np.nan_to_num(X, nan=1.0) @ rng.choice([-1, 0, 1, 2], p)
    y = (middle > np.median(middle)) ^ (rng.random(n) < rng.choice([0.05, 0.2]))
    y = y.astype(int) + (rng.random(n) < rng.choice([0.0, 0.1]))
    weights = rng.integers(0, 4, n).astype(float) if rng.random() < 0.3 else None
    if weights is not None:
        weights[:2] = 1.0
    prices = {c: float(rng.choice([0.0, 0.25, 0.5, 1, 1, 2, 2, 3, 100])) for c in range(p)}
    for column in rng.permutation(p)[: int(rng.integers(0, 2))].tolist():
        del prices[column]
    return {
        "X": X,
        "y": y,
        "weights": weights,
        "prices": prices,
        "path_prices": {0: 0.5} if 0 not in prices and rng.random() < 0.5 else {},
        "groups": "pairwise" if p > 2 and rng.random() < 0.1 else None,
        "limits": {
            "max_depth": int(rng.choice([2, 3, 3, 3])),
            "max_leaf_nodes": int(rng.integers(2, 8)) if rng.random() < 0.2 else None,
            "min_samples_leaf": int(rng.integers(2, 5)) if rng.random() < 0.2 else 1,
        },
        "alpha": 0.05 if rng.random() < 0.2 else 0.0,
    }


def least(case: dict[str, Any]) -> int | None:
    """What the best tree costs, in units."""
    X, y, p = case["X"], case["y"], case["X"].shape[1]
    weights = np.ones(len(y)) if case["weights"] is None else case["weights"]
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    columns = [[None if x != x else x for x in column] for column in X.T.tolist()]
    masks = {
        c: [(int(w), bits((y == c) & (weights == w))) for w in np.unique(weights)]
        for c in np.unique(y)
    }
    naive = NaiveRules(
        prices={c: Fraction(price) for c, price in case["prices"].items()},
        path_prices={c: Fraction(price) for c, price in case["path_prices"].items()},
        groups=None if case["groups"] is None else list(combinations(range(p), 2)),
    )
    totals = np.bincount(y, weights)
    penalty = Fraction(repr(case["alpha"])) * int(totals.sum() - totals.max()) * UNITS
    assert penalty.denominator == 1
    limits = NaiveLimits(**case["limits"], penalty=int(penalty))
    splits = naive_splits(columns, [False] * p)
    table = NaiveTable(splits, (1 << len(y)) - 1, error_leaf(masks, UNITS, False), UNITS, naive)
    return least_cost(table, limits)


def model_of(case: dict[str, Any], switches: int, **more: Any) -> OptimalTreeClassifier:
    costs = {**case["prices"], **{c: (x, "path") for c, x in case["path_prices"].items()}}
    return searched_with(switches)(
        **case["limits"],
        alpha=case["alpha"],
        column_costs=costs,
        interaction_cst=case["groups"],
        **more,
    )


def check(seed: int) -> OptimalTreeClassifier | None:
    case = random_priced(seed)
    X, y, weights = case["X"], case["y"], case["weights"]
    expected = least(case)
    assert expected is not None
    model = model_of(case, SWITCHES[seed % len(SWITCHES)]).fit(X, y, weights)
    assert model.status_ == "optimal", seed
    assert model.objective_ * UNITS == pytest.approx(expected, abs=1e-6), seed
    assert model.lower_bound_ == model.objective_, seed
    return model


@pytest.mark.parametrize("chunk", range(4))
def test_trees_are_the_cheapest(chunk: int) -> None:
    models = [check(seed) for seed in range(40 * chunk, 40 * (chunk + 1))]
    assert sum(model is not None and model.tree_.n_splits > 1 for model in models) > 15


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(4, 2500))
def test_trees_are_the_cheapest_on_many_tables(chunk: int) -> None:
    for seed in range(40 * chunk, 40 * (chunk + 1)):
        check(seed)


@pytest.mark.parametrize("seed", range(60))
def test_limits_leave_a_tree_and_a_bound(seed: int) -> None:
    case = random_priced(seed)
    expected = least(case)
    assert expected is not None
    for work in (1, 3_000, 30_000):
        model = model_of(case, SWITCHES[seed % len(SWITCHES)], max_work=work)
        model.fit(case["X"], case["y"], case["weights"])
        bound, cost = model.lower_bound_ * UNITS, model.objective_ * UNITS
        assert bound - 1e-6 <= expected <= cost + 1e-6
        if model.status_ == "optimal":
            assert cost == pytest.approx(expected, abs=1e-6)


# -- what is handed over ---------------------------------------------------------------------


def noisy_problem(seed: int) -> Problem:
    """Some hundred rows and many thresholds: samples of them have to grow."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(40, 240)), int(rng.integers(3, 6))
    X = rng.integers(0, int(rng.choice([5, 20, 200])), (n, p)).astype(float)
    y = ((X[:, 0] > X[:, 1]) ^ (X[:, 2] > np.median(X[:, 2])) ^ (rng.random(n) < 0.1)).astype(int)
    weights = rng.integers(1, 4, n).astype(float) if seed % 4 == 0 else None
    problem = build_problem(
        X,
        y + (rng.random(n) < 0.05) * (seed % 3 == 0),
        n_classes=3,
        max_depth=3 + (seed % 11 == 0 and n < 60),
        max_leaf_nodes=5 if seed % 5 == 0 else None,
        min_samples_leaf=7 if seed % 7 == 0 else 1,
        sample_weight=weights,
        keep_duplicates=True,
    )
    return replace(problem, split_penalty=seed % 3 // 2)


def with_columns(problem: Problem, kept: tuple[int, ...]) -> Problem:
    return replace(
        problem,
        columns=problem.columns.take(list(kept)),
        ranks=np.ascontiguousarray(problem.ranks[list(kept)]),
    )


def check_handed_over(seed: int) -> tuple[int, int]:
    """Searches of fewer and fewer columns say the same with what the others have proven.

    Return how many splits they tried with and without it.
    """
    problem = noisy_problem(seed)
    rng = np.random.default_rng(seed)
    engine = ExactSearch(switches=SWITCHES[seed % (len(SWITCHES) - 1)])
    proven = ProvenByColumns()
    columns = tuple(range(len(problem.columns)))
    tried = [0, 0]
    below: int | None = None
    while columns:
        part = with_columns(problem, columns)
        asked = replace(engine, below=below)
        alone = asked.solve(part)
        beside = proven.lent_to(asked, columns).solve(part)
        best = part.to_whole_cost(ExactSearch().solve(part).cost)
        for at, found in enumerate((beside, alone)):
            cost, bound = map(part.to_whole_cost, (found.cost, found.lower_bound))
            if below is None or best < below:
                assert (found.status, cost, bound) == ("optimal", best, best), seed
            else:
                assert found.status == "nothing_below" or cost == best, seed
                assert below <= bound <= best <= cost, seed
            tried[at] += int(found.counters["intervals"])
        below = max(0, best + int(rng.integers(-2, 12)))
        if rng.random() < 0.6:  # the same columns may be asked about once more
            columns = tuple(np.delete(columns, rng.integers(len(columns))).tolist())
        if rng.random() < 0.1:
            break
    return tried[0], tried[1]


@pytest.mark.parametrize("chunk", range(4))
def test_what_is_handed_over_changes_no_answer(chunk: int) -> None:
    found = [check_handed_over(seed) for seed in range(20 * chunk, 20 * (chunk + 1))]
    beside, alone = np.sum(found, axis=0)
    assert beside < alone


@pytest.mark.parametrize("seed", [102, 179, 288, 318])
def test_samples_that_grow_are_told_of_what_is_known(seed: int) -> None:
    """Guards the weights beside splits that were handed over: those of the old sample were kept."""
    check_handed_over(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(4, 1000))
def test_what_is_handed_over_changes_no_answer_on_many_tables(chunk: int) -> None:
    for seed in range(20 * chunk, 20 * (chunk + 1)):
        check_handed_over(seed)


def test_what_is_handed_over_saves_splits() -> None:
    problem = replace(noisy_problem(2), max_depth=3)
    proven = ProvenByColumns()
    everything = tuple(range(len(problem.columns)))
    first = proven.lent_to(ExactSearch(switches=SWEEPS), everything).solve(problem)
    part = with_columns(problem, everything[:-1])
    below = problem.to_whole_cost(first.cost)
    asked = ExactSearch(switches=SWEEPS, below=below)
    alone, beside = asked.solve(part), proven.lent_to(asked, everything[:-1]).solve(part)
    assert beside.lower_bound == alone.lower_bound == first.cost
    assert beside.counters["intervals"] == 0 < alone.counters["intervals"]


def test_what_is_about_another_search_is_not_used() -> None:
    problem = noisy_problem(2)
    handed: list[_core.Handover] = []
    ExactSearch(switches=SWEEPS, hand_over=handed.append).solve(problem)
    assert len(handed) == 1
    for other in (
        replace(problem, split_penalty=problem.split_penalty + 1),
        replace(problem, max_depth=4),
        noisy_problem(5),
    ):
        alone = ExactSearch(switches=SWEEPS).solve(other, Limits(max_work=3_000_000))
        beside = ExactSearch(switches=SWEEPS, known=handed[0]).solve(
            other, Limits(max_work=3_000_000)
        )
        assert beside.counters == alone.counters


# -- branch and bound ------------------------------------------------------------------------


@dataclass(frozen=True)
class Asking:
    """All that branch and bound asks a tree for."""

    columns_used: frozenset[int]


def check_branching(seed: int) -> None:
    """Each set of columns has a tree of its own; searches may end early, with any tree they met."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, 5))
    sets = [frozenset(c for c in range(p) if k >> c & 1) for k in range(1 << p)]
    costs = {some: int(rng.integers(0, 12)) + 3 * (p - len(some)) for some in sets}
    prices = {c: float(rng.choice([0.5, 1, 2, 50])) for c in range(p) if rng.random() < 0.8}
    paid_for = frozenset(c for c in prices if rng.random() < 0.15)
    sets = [some for some in sets if paid_for <= some]
    most_searches = int(rng.integers(0, 6)) if rng.random() < 0.3 else 99
    asked: list[frozenset[int]] = []

    def best_without(forbidden: frozenset[int], below: float = np.inf) -> Part:
        some = [s for s in sets if not (s & forbidden - paid_for)]
        best = min(some, key=lambda s: (costs[s], int(rng.integers(9))))
        status: Status = "optimal" if costs[best] < below else "nothing_below"
        bound: float = min(costs[best], below)
        if len(asked) >= most_searches:
            status, bound = "time_limit", bound - int(rng.integers(0, 4))
        if status != "optimal":
            best = some[int(rng.integers(len(some)))]
        asked.append(forbidden)
        return Part(cast(Tree, Asking(best)), costs[best], bound, status)

    found = best_by_price(prices, paid_for, best_without)
    least_of_all = min(costs[s] + sum(prices.get(c, 0) for c in s) for s in sets)
    assert found.bound <= least_of_all <= found.cost, seed
    assert len(asked) == len(set(asked)), seed
    assert len(asked) <= most_searches + 1, seed
    if len(asked) <= most_searches:
        assert found.status == "optimal", seed
        assert found.cost == found.bound == least_of_all, seed


@pytest.mark.parametrize("chunk", range(10))
def test_branching_finds_the_cheapest_of_all_sets_of_columns(chunk: int) -> None:
    for seed in range(100 * chunk, 100 * (chunk + 1)):
        check_branching(seed)
