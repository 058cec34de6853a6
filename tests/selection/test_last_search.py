"""The last search of a tuned tree goes on from the tree at hand, and says what it has proven."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, OptimalTreeCV
from provetree.search.engine import ExactSearch
from provetree.selection import tune as tuning
from provetree.selection.race import Entrant, Race
from provetree.selection.settings import Setting
from provetree.solution import Limits, Solution

QUICK: dict[str, Any] = {"criterion": "errors", "min_samples_leaf": 5, "cv": 2, "splits": "columns"}


def table(n_rows: int = 120, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(1)
    y = ((X[:, 0] > 0) & (X[:, 1] > 0)) ^ (rng.random(n_rows) < 0.15)
    return X, y.astype(int)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What every last search began with and what it was asked; none of four levels is proven."""
    seen: list[Any] = []

    class Watched(ExactSearch):
        def solve(self, problem: Any, limits: Any = None, on_progress: Any = None) -> Solution:
            if self.initial is None:
                return super().solve(problem, limits, on_progress)
            began = super().solve(problem, Limits(max_work=1))
            found = super().solve(problem, limits, on_progress)
            seen.append((problem.max_depth, began.cost, found.cost))
            if problem.max_depth >= 4:
                return replace(found, status="time_limit", lower_bound=0)
            return found

    monkeypatch.setattr(tuning, "ExactSearch", Watched)
    # The sizes of all rows are left unproven, so that there is something to search.
    solve_sizes = tuning.solve_sizes

    def unproven(*given: Any) -> Any:
        points = solve_sizes(*given)
        return [points[0], *(replace(p, status="time_limit", lower_bound=0) for p in points[1:])]

    monkeypatch.setattr(tuning, "solve_sizes", unproven)
    return seen


def test_a_tree_of_few_levels_is_proven_among_these(searches: list[Any]) -> None:
    X, _ = table(200)
    y = (X[:, :3] > 0).sum(axis=1) % 2  # eight leaves of three levels
    clf = OptimalTreeCV(**QUICK, max_leaf_nodes=8).fit(X, y)
    assert clf.get_depth() == 3
    assert clf.n_leaves_ == 8
    assert [asked for asked, _, _ in searches] in ([4, 3], [3])
    assert (clf.status_, clf.max_depth_) == ("optimal", 3)
    proof = OptimalTreeClassifier(
        max_depth=clf.max_depth_, max_leaf_nodes=clf.n_leaves_, min_samples_leaf=5
    ).fit(X, y)
    assert proof.objective_ == clf.objective_
    assert clf.chosen_classifier().max_depth == clf.max_depth_


def test_a_depth_that_was_asked_for_is_what_is_proven(searches: list[Any]) -> None:
    clf = OptimalTreeCV(**QUICK, max_depth=4, max_leaf_nodes=8).fit(*table())
    assert {asked for asked, _, _ in searches} == {min(4, clf.n_leaves_ - 1)}
    assert clf.max_depth_ == 4


@pytest.mark.parametrize("weighted", [False, True])
def test_it_begins_with_the_tree_at_hand(searches: list[Any], weighted: bool) -> None:
    X, y = table(seed=3)
    weights = np.where(np.arange(len(y)) % 9 == 0, 0.0, 1.0) if weighted else None
    clf = OptimalTreeCV(**QUICK, max_leaf_nodes=6).fit(X, y, weights)
    at_hand = clf.path_.points[clf.n_leaves_ - 1].errors
    assert searches
    assert all(found <= began <= at_hand for _, began, found in searches)


def entrant(splits: str, merits: list[float], outcome: str = "") -> Entrant:
    found = Entrant(Setting("errors", 5, None, splits), outcome=outcome)
    found.scores = found.merits = [[merit] for merit in merits]
    return found


def race_of(*entrants: Entrant) -> Race:
    race = Race.__new__(Race)
    race.entrants, race.n_first = list(entrants), 4
    return race


def test_sums_are_compared_with_one_column_that_dropped_out() -> None:
    noise = np.array([0.04, -0.04, 0.03, -0.03])
    sums = entrant("pairs", list(0.9 + noise))
    other = entrant("pairs", list(0.9 + noise))
    near = entrant("columns", [0.899] * 4, "behind after 4 folds")
    far = entrant("columns", [0.8] * 4, "behind after 4 folds")
    assert tuning._winner(race_of(near, sums, other)) is near
    assert tuning._winner(race_of(far, sums, other)) is sums


def test_the_best_of_one_column_is_a_finalist() -> None:
    sums = [entrant("pairs", [0.9 - 0.01 * k] * 4) for k in range(4)]
    near, far = entrant("columns", [0.7] * 4), entrant("columns", [0.6] * 4)
    race = race_of(*sums, far, near)
    assert race._finalists() == [sums[0], sums[1], near]
    assert [e.is_out for e in (*sums, far, near)] == [False, False, True, True, True, False]
