"""The regressor that chooses how it is grown: candidates, prunings, forest targets, shrinkage."""

from __future__ import annotations

import itertools
import math
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from provetree import (
    ExactSearch,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    Tree,
    build_problem,
    verify,
)
from provetree.selection import choose
from provetree.selection.choose import Grid, best_candidate
from provetree.selection.forest import FEWEST_ROWS, forest_targets, mixed_targets
from provetree.selection.frontier import solve_frontier
from provetree.selection.pruning import best_prunings


def table(n: int = 90, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    y = np.where(X[:, 0] > 0.2, 3.0, X[:, 1]) + (X[:, 2] > 1) + rng.normal(0, 0.4, n)
    return X, y.round(2)


def naive_prunings(tree: Tree, node: int = 0) -> list[frozenset[int]]:
    """The sets of leaves of all prunings."""
    found = [frozenset([node])]
    if tree.feature[node] >= 0:
        sides = (naive_prunings(tree, int(child[node])) for child in (tree.left, tree.right))
        found += [a | b for a, b in itertools.product(*sides)]
    return found


@pytest.mark.parametrize("seed", range(8))
def test_prunings_are_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, size=(30, 3)).astype(float), rng.integers(0, 4, size=30)
    tree = OptimalTreeRegressor(max_depth=3).fit(X, y).tree_
    # Any costs will do, those that rise with splits included.
    costs = rng.integers(0, 9, tree.n_nodes).astype(float) if seed % 2 else tree.values.impurity()
    found = best_prunings(tree, costs, 10)
    assert len(found) == 10
    every = naive_prunings(tree)
    for most, leaves in enumerate(found, start=1):
        assert frozenset(leaves.tolist()) in every
        least = min(costs[list(one)].sum() for one in every if len(one) <= most)
        assert len(leaves) <= most
        assert costs[leaves].sum() == pytest.approx(least)


def test_scores_are_those_of_separate_fits() -> None:
    X, y = table()
    options: dict[str, Any] = {"forest_share": 0.0, "shrinkage": 0.0, "max_work": None}
    reg = OptimalTreeRegressorCV(2, min_samples_leaf=[1, 10, 0.3], cv=3, **options).fit(X, y)
    assert reg.cv_scores_.shape == (3, 4)
    for line, least in zip(reg.cv_scores_, [1, 10, 0.3], strict=True):
        held_out = np.empty(len(y))
        for train, test in KFold(3, shuffle=True, random_state=0).split(X):
            own = OptimalTreeRegressor(2, min_samples_leaf=least).fit(X[train], y[train])
            held_out[test] = own.predict(X[test])
        assert line[-1] == pytest.approx(r2_score(y, held_out))
    chosen = [1, 10, 0.3].index(reg.min_samples_leaf_)
    best = reg.cv_scores_[chosen]
    assert reg.n_leaves_ == best.argmax() + 1 == reg.path_.best.n_leaves
    assert chosen == 0 or best.max() == reg.cv_scores_.max()
    alone = OptimalTreeRegressor(
        2, max_leaf_nodes=reg.n_leaves_, min_samples_leaf=reg.min_samples_leaf_
    ).fit(X, y)
    assert reg.objective_ == pytest.approx(alone.objective_)
    assert reg.status_ == "optimal"
    smaller = clone(reg).set_params(rule="one_standard_error").fit(X, y)
    assert smaller.n_leaves_ <= reg.n_leaves_


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize(("share", "strength"), [(0.0, 4.0), (0.5, 0.0), (1.0, 7.0)])
def test_nothing_is_called_optimal_that_is_not(
    criterion: str, share: float, strength: float
) -> None:
    X, y = table()
    weights = np.random.default_rng(1).integers(0, 3, len(y)) / 2
    reg = OptimalTreeRegressorCV(
        2, criterion, cv=2, min_samples_leaf=5, forest_share=share, shrinkage=strength
    ).fit(X, y, weights)
    assert reg.status_ == "feasible"
    assert (reg.forest_share_, reg.shrinkage_) == (share, strength)
    checked = verify(reg.tree_, X, y, sample_weight=weights, max_depth=2, min_samples_leaf=5)
    assert checked.ok
    assert reg.objective_ == pytest.approx(checked.cost)
    size = reg.n_leaves_
    best = OptimalTreeRegressor(2, criterion, max_leaf_nodes=size, min_samples_leaf=5)
    assert reg.lower_bound_ <= best.fit(X, y, weights).objective_ + 1e-9
    assert best.objective_ <= reg.objective_ + 1e-9
    assert (reg.lower_bound_ > 0) == (share == 0)


def test_leaves_hold_the_targets_shrunk_along_their_path() -> None:
    X, y = table()
    reg = OptimalTreeRegressorCV(2, cv=2, forest_share=1.0, shrinkage=6.0).fit(X, y)
    passes = reg.decision_path(X).toarray().astype(bool)
    for leaf in np.flatnonzero(reg.tree_.feature < 0):
        way = np.flatnonzero(passes[passes[:, leaf]].all(axis=0))  # from the root to the leaf
        means = [y[passes[:, node]].mean() for node in way]
        expected = means[0]
        for node, above, below in zip(way, means, means[1:], strict=False):
            expected += (below - above) / (1 + 6.0 / passes[:, node].sum())
        assert reg.tree_.value[leaf, 0] == pytest.approx(expected)


def test_a_limit_on_steps_is_told_and_gives_the_same_tree_again() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.normal(size=300)
    options: dict[str, Any] = {"max_work": 2_000_000, "cv": 2, "min_samples_leaf": 5}
    reg = OptimalTreeRegressorCV(5, shrinkage=0.0, forest_share=0.0, **options).fit(X, y)
    assert reg.path_.points[-1].status == "work_limit"
    assert reg.path_.points[-1].lower_bound < reg.path_.points[-1].errors
    assert clone(reg).fit(X, y).tree_ == reg.tree_


def test_deeper_trees_than_full_ones_are_searched() -> None:
    """Steps along one column: four leaves of a full tree cannot hold them, a chain can."""
    x = np.arange(120.0)
    X = np.column_stack([x % 7, x % 2 > 0, x % 3 > 1, x % 5 > 3])
    y = np.where(X[:, 1] > 0, 8.0, np.where(X[:, 2] > 0, 4.0, 2.0 * X[:, 3]))
    options: dict[str, Any] = {"min_samples_leaf": 1, "forest_share": 0.0, "shrinkage": 0.0}
    reg = OptimalTreeRegressorCV(max_leaf_nodes=4, cv=2, **options).fit(X, y)
    assert reg.get_depth() == 3
    assert reg.objective_ == 0.0


def test_forest_targets_have_less_noise() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    truth = np.column_stack([2.0 * (X[:, 0] > 0), X[:, 1]])
    problem = build_problem(
        X, truth + rng.normal(size=truth.shape), loss="squared_error", max_depth=2
    )
    forest = forest_targets(problem)
    assert problem.targets is not None
    assert forest is not None
    for output in range(2):
        noise = [((z[:, output] - truth[:, output]) ** 2).mean() for z in (problem.targets, forest)]
        assert noise[1] < 0.5 * noise[0]
    half = mixed_targets(problem, forest, 0.5)
    assert half.targets == pytest.approx((problem.targets + forest) / 2)
    assert mixed_targets(problem, forest, 0.0) is problem


def test_few_rows_have_no_forest() -> None:
    X, y = table(FEWEST_ROWS - 1)
    problem = build_problem(X, y, loss="squared_error", max_depth=2)
    assert forest_targets(problem) is None
    assert mixed_targets(problem, None, 1.0) is problem
    for share in (1.0, [1.0, 0.0]):  # what is told is what was done
        reg = OptimalTreeRegressorCV(
            2, cv=2, min_samples_leaf=1, forest_share=share, shrinkage=0.0
        ).fit(X, y)
        assert reg.forest_share_ == 0.0
        assert reg.status_ == "optimal"


def test_forests_have_not_seen_the_rows_they_predict() -> None:
    """Noise cannot be predicted; a forest that had seen the rows would follow it."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    forest = forest_targets(build_problem(X, y, loss="squared_error", max_depth=1))
    assert forest is not None
    assert np.corrcoef(forest[:, 0], y)[0, 1] < 0.3


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1e-200), (1e9, 1.0), (-3.0, 1e150)])
def test_forests_follow_targets_of_any_scale(loss: str, offset: float, scale: float) -> None:
    X, y = table(200)
    weights = np.random.default_rng(1).integers(1, 4, len(y))
    plain, moved = (
        forest_targets(
            build_problem(X, given, sample_weight=weights, loss=loss, max_depth=1), math.inf
        )
        for given in (y, offset + scale * y)
    )
    assert plain is not None
    assert moved is not None
    assert r2_score(y, plain[:, 0]) > 0.5
    assert (moved - offset) / scale == pytest.approx(plain, abs=0.2)


def test_forests_know_categories_of_any_number() -> None:
    """More categories than boosting takes, of which the large ones matter."""
    rng = np.random.default_rng(0)
    codes = np.concatenate([rng.integers(0, 4, 600), np.arange(4, 304)]).astype(float)
    y = codes % 4 * (codes < 4) + rng.normal(0, 0.1, len(codes))
    problem = build_problem(
        codes[:, None], y, categories=[list(range(304))], loss="squared_error", max_depth=1
    )
    forest = forest_targets(problem)
    assert forest is not None
    assert r2_score(y, forest[:, 0]) > 0.9


def test_the_first_candidate_stays_unless_another_is_clearly_better() -> None:
    grid = Grid(3, 2, [5, 1, 20], [0.0], [0.0], None)
    first = np.array([[0.0, 0.50], [0.0, 0.52], [0.0, 0.54]])
    by_chance = np.array([[0.0, 0.40], [0.0, 0.50], [0.0, 0.70]])
    clear = np.array([[0.55, 0.0], [0.56, 0.0], [0.58, 0.0]])
    no_time = np.full((3, 2), -np.inf)
    assert best_candidate(grid, [first, by_chance, no_time]) == 0
    assert best_candidate(grid, [first, by_chance, clear]) == 2
    assert best_candidate(grid, [no_time, by_chance, first]) == 1
    assert best_candidate(grid, [each[:1] for each in (first, clear, by_chance)]) == 1


def test_categories_missing_values_weights_and_several_outputs() -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=80), rng.integers(0, 3, 80)]).astype(float)
    X[::9, 0] = np.nan
    y = np.column_stack([X[:, 1] == 1, rng.normal(size=80)]) * 2.0
    reg = OptimalTreeRegressorCV(
        3, cv=2, categorical_features=[1], forest_share=0.5, min_samples_leaf=[1, 3]
    ).fit(X, y, rng.integers(0, 3, 80))
    assert reg.predict(X).shape == (80, 2)
    assert len(reg.candidates_) == len(reg.cv_scores_) == 2


def test_a_short_limit_holds_for_forests_and_folds() -> None:
    """No forest is begun after its time, and candidates without time have no score."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + rng.normal(size=120)
    problem = build_problem(X, y, loss="squared_error", max_depth=1)
    assert forest_targets(problem, until=0.0) is None
    assert forest_targets(problem, until=time.monotonic() + 60) is not None

    found = OptimalTreeRegressorCV(max_leaf_nodes=4, time_limit=1e-3).fit(X, y)
    assert found.n_leaves_ > 1
    assert found.score(X, y) > 0
    assert np.isneginf(found.cv_scores_).any()


def test_folds_that_there_is_no_time_for_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[float | None] = []

    def slow(*asked: Any) -> Any:
        begun.append(asked[-1])
        time.sleep(0.3)
        return score(*asked)

    score = choose._fold_scores
    monkeypatch.setattr(choose, "_fold_scores", slow)
    X, y = table()
    found = OptimalTreeRegressorCV(max_depth=1, splits="columns", time_limit=0.4).fit(X, y)
    assert (len(begun), found.path_.n_folds) == (1, 1)
    begun.clear()
    found = OptimalTreeRegressorCV(max_depth=1, splits="columns", cv=2).fit(X, y)
    assert (begun, found.path_.n_folds) == ([None, None], 2)


@pytest.mark.parametrize("leak", [False, True])
def test_no_row_held_out_is_seen_and_a_leak_is(leak: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Targets are noise; with `leak`, trees are grown on all rows, those held out included."""
    rng = np.random.default_rng(1)
    X, y = rng.random((150, 4)), rng.normal(size=150)
    grown: list[set[int]] = []
    seen: list[bool] = []
    problem, score = Grid.problem, choose._fold_scores

    def watched(self: Grid, prepared: Any, rows: Any, *rest: Any) -> Any:
        grown.append(set(rows.tolist()))
        return problem(self, prepared, rows, *rest)

    def scores(prepared: Any, grid: Grid, train: Any, test: Any, seconds: Any) -> Any:
        found = score(prepared, grid, np.arange(150) if leak else train, test, seconds)
        seen.append(bool(grown[-1] & set(test.tolist())))
        return found

    monkeypatch.setattr(Grid, "problem", watched)
    monkeypatch.setattr(choose, "_fold_scores", scores)
    own = {"forest_share": 0, "shrinkage": 0, "min_samples_leaf": 1, "splits": "columns"}
    reg = OptimalTreeRegressorCV(**own, max_depth=4, cv=3, max_work=3_000_000).fit(X, y)
    assert seen == [leak] * 3
    assert (reg.cv_scores_.max() > 0.2) == leak


def test_there_is_a_tree_where_all_time_is_gone() -> None:
    """Folds that took all the time on a busy machine left a single leaf."""
    X, y = table(200)
    problem = build_problem(X, y, loss="squared_error", max_depth=4)
    moments = itertools.count(0.0, 10.0)  # each look at the clock is past the deadline
    found = solve_frontier(problem, 6, 1.0, ExactSearch(), lambda: next(moments), first=5)
    assert found[4].tree.n_leaves == 5
    assert found[4].status == "time_limit"


def test_targets_that_do_not_vary_have_one_proven_leaf() -> None:
    reg = OptimalTreeRegressorCV(2, cv=2).fit(table()[0], np.full(90, 7.0))
    assert (reg.n_leaves_, reg.status_, reg.objective_, reg.gap_) == (1, "optimal", 0.0, 0.0)
