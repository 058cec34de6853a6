"""The hull of errors: all corners of the naive twin, no others, each with a tree that has them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from provetree import ExactSearch, Limits, Problem, Solution, build_problem
from provetree.selection import error_hull
from provetree.selection.error_hull import ErrorHull, best_tree, solve_hull, with_coarse_weights
from testkit.naive_hull import all_places, corners, is_cheapest_somewhere
from testkit.random_problems import random_table

#: All trees of so many rows and such a depth can be tried.
_MOST_ROWS = (40, 30, 14, 9)


def hull_problem(seed: int) -> Problem:
    """A random problem of two classes: ties, missing values, weights, categories, limits."""
    depth = int(np.random.default_rng(seed).choice([0, 1, 2, 3], p=[0.05, 0.25, 0.5, 0.2]))
    table = random_table(seed, max_depth=depth)
    table = table.with_rows(np.arange(min(len(table.y), _MOST_ROWS[depth])))
    options = {**table.options, "alpha": 0.0, "n_classes": 2}
    if seed % 5:  # weights of many digits have many places
        rng = np.random.default_rng(seed)
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], len(table.y))
        weights[0] = 1.0
        options["sample_weight"] = weights if seed % 2 else None
    return with_coarse_weights(build_problem(table.X, table.y % 2, **options))


def check(seed: int) -> None:
    problem = hull_problem(seed)
    found = all_places(problem)
    hull = solve_hull(problem)
    positive = int(problem.weights[problem.classes == 1].sum())
    if 2 * positive * (int(problem.weights.sum()) - positive) > 2**30 and not hull.complete:
        # Costs were rounded. What is called best is best, and nothing lies below the hull.
        for point in hull.points:
            assert point.status != "optimal" or is_cheapest_somewhere(point.place, found)
        return
    assert hull.complete
    assert [point.place for point in hull.points] == corners(found)
    for point in hull.points:
        assert point.status == "optimal"
        assert point.bound == point.costs[0] * point.place[0] + point.costs[1] * point.place[1]
        assert point.tree.n_splits <= problem.max_splits
        assert point.tree.depth <= problem.max_depth
        assert_best_at_its_costs(point.place, point.costs, found)


def assert_best_at_its_costs(
    place: tuple[int, int], costs: tuple[int, int], found: set[tuple[int, int]]
) -> None:
    def cost(errors: tuple[int, int]) -> int:
        return costs[0] * errors[0] + costs[1] * errors[1]

    assert min(costs) >= 1
    assert [other for other in found if cost(other) <= cost(place)] == [place]


@pytest.mark.parametrize("seed", range(100))
def test_corners_are_those_of_the_naive_twin(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(40))
def test_thousands_of_random_problems(block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        check(seed)


def test_the_random_problems_are_worth_it() -> None:
    sizes = [len(solve_hull(hull_problem(seed)).points) for seed in range(100)]
    assert max(sizes) >= 4
    assert sum(size >= 3 for size in sizes) > 20
    problems = [hull_problem(seed) for seed in range(100)]
    assert sum(bool((p.weights != p.counts).any()) for p in problems) > 10
    assert sum(p.min_samples_leaf > 1 for p in problems) > 5


@pytest.mark.parametrize("seed", [1003, 1123, 1254])
def test_points_on_an_edge_are_no_corners_and_keep_the_proof(seed: int) -> None:
    """Here a tree in the middle of an edge is found first: its two halves are proven one by one."""
    check(seed)


def test_errors_are_those_of_the_tree_on_the_rows() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(80, 3)).round(1), rng.integers(0, 2, 80)
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.choice([0.5, 1.0, 2.5], 80)
    problem = build_problem(X, y, n_classes=2, max_depth=2, sample_weight=weights)
    hull = solve_hull(problem)
    assert len(hull.points) > 4
    for point in hull.points:
        predicted = point.tree.predict(X)
        wrong = [
            weights[(predicted == 1) & (y == 0)].sum(),
            weights[(predicted == 0) & (y == 1)].sum(),
        ]
        assert list(problem.to_user_weight(point.place)) == wrong
        # Totals are those of the rows, whatever errors cost.
        assert point.tree.value[0].tolist() == [weights[y == 0].sum(), weights[y == 1].sum()]


@dataclass
class GivingUp:
    """The exact search, which proves nothing after some calls."""

    calls: int = 0
    proofs: int = 0

    def solve(
        self, problem: Problem, limits: object = None, on_progress: object = None
    ) -> Solution:
        self.calls += 1
        found = ExactSearch().solve(problem, Limits())
        if self.calls > self.proofs:
            return Solution(found.tree, found.cost, 0, "time_limit")
        return found


def larger_problem() -> Problem:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 4))
    y = (X[:, 0] + rng.normal(size=150) > 0.8).astype(int)
    return build_problem(X, y, n_classes=2, max_depth=2)


def test_what_is_not_proven_says_so() -> None:
    whole = solve_hull(larger_problem())
    for proofs in (0, 1, 5):
        hull = solve_hull(larger_problem(), engine=GivingUp(proofs=proofs))
        assert not hull.complete
        assert any(point.status == "time_limit" for point in hull.points)
    # All trees were as good as with proofs.
    assert [point.place for point in hull.points] == [point.place for point in whole.points]


def check_what_is_claimed(seed: int) -> None:
    """Whatever a search that was cut short calls optimal is the best at the costs it names."""
    problem = hull_problem(seed)
    found = all_places(problem)
    for proofs in range(4):
        hull = solve_hull(problem, engine=GivingUp(proofs=proofs))
        for point in hull.points:
            a, b = point.costs
            least = min(a * x + b * y for x, y in found)
            own = a * point.false_positives + b * point.false_negatives
            assert point.bound <= least <= own
            assert (point.status == "optimal") == (point.bound == own)


@pytest.mark.parametrize("seed", range(60))
def test_bounds_hold_where_searches_are_cut_short(seed: int) -> None:
    check_what_is_claimed(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(20))
def test_thousands_of_searches_that_are_cut_short(block: int) -> None:
    for seed in range(9000 + 50 * block, 9050 + 50 * block):
        check_what_is_claimed(seed)


def test_the_widest_gaps_come_first_when_time_is_short() -> None:
    moments = iter(range(1000))
    hull = solve_hull(larger_problem(), time_limit=6.5, clock=lambda: next(moments))
    assert not hull.complete
    assert 3 <= len(hull.points) <= 7
    assert hull.points[0].false_positives == 0
    assert hull.points[-1].false_negatives == 0


def test_an_interrupt_ends_the_search() -> None:
    @dataclass
    class Interrupted(GivingUp):
        def solve(self, *args: object, **kwargs: object) -> Solution:
            found = super().solve(*args, **kwargs)  # type: ignore[arg-type]
            return replace(found, status="interrupted", lower_bound=0)

    engine = Interrupted()
    hull = solve_hull(larger_problem(), engine=engine)
    assert engine.calls == 1
    assert not hull.complete
    assert "interrupted" in {point.status for point in hull.points}


def test_rounded_costs_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the weights of exact costs cannot be added up, the curve is found but not proven."""
    problem = larger_problem()
    exact = solve_hull(problem)
    monkeypatch.setattr(error_hull, "MAX_TOTAL_WEIGHT", 600)
    rounded = solve_hull(problem)
    assert not rounded.complete
    assert {p.place for p in rounded.points} & {p.place for p in exact.points}
    # Nothing lies below the exact hull.
    for point in rounded.points:
        for corner in exact.points:
            a, b = corner.costs
            assert (
                a * point.place[0] + b * point.place[1] >= a * corner.place[0] + b * corner.place[1]
            )
    assert best_tree(problem, (1, 10**6), None, ExactSearch()).costs[0] == 1


def test_one_class_and_one_row() -> None:
    for y in ([0, 0], [1, 1]):
        hull = solve_hull(build_problem([[1.0], [2.0]], y, n_classes=2, max_depth=1))
        assert hull == ErrorHull(hull.points, True)
        assert [(point.place, point.status) for point in hull.points] == [((0, 0), "optimal")]
    hull = solve_hull(build_problem([[1.0]], [1], n_classes=2, max_depth=3))
    assert [point.place for point in hull.points] == [(0, 0)]
