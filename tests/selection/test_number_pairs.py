"""OptimalTreeRegressorCV chooses whether questions may be about two columns."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from provetree import OptimalTreeRegressor, OptimalTreeRegressorCV, runner_up_splits, verify
from provetree.selection import pair_columns
from provetree.selection.choose import Grid, best_candidate
from provetree.selection.pair_columns import MOST_PAIRED, columns_worth_pairing

QUICK: dict[str, Any] = {"max_depth": 2, "min_samples_leaf": 5, "forest_share": 0.0, "cv": 3}


def rows(of_two: bool, n_rows: int = 200, n_columns: int = 4) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)).round(2)
    signal = X[:, 1] - X[:, 2] > 0 if of_two else X[:, 1] > 0.2
    return X, (3.0 * signal + rng.normal(size=n_rows)).round(2)


def test_pairs_are_chosen_where_two_columns_decide() -> None:
    X, y = rows(of_two=True)
    reg = OptimalTreeRegressorCV(**QUICK).fit(X, y)
    assert (reg.splits_, reg.pair_columns_) == ("pairs", [0, 1, 2, 3])
    assert reg.tree_.combinations
    one = OptimalTreeRegressorCV(**QUICK, splits="columns").fit(X, y)
    assert (one.splits_, one.pair_columns_) == ("columns", None)
    assert reg.cv_scores_.max() > one.cv_scores_.max() + 0.1
    checked = verify(reg.tree_, X, y, max_depth=2, min_samples_leaf=5)
    assert checked.ok
    assert reg.objective_ == pytest.approx(checked.cost)


def test_what_was_chosen_is_what_a_single_fit_gives() -> None:
    X, y = rows(of_two=True)
    reg = OptimalTreeRegressorCV(**QUICK, shrinkage=0.0).fit(X, y)
    alone = OptimalTreeRegressor(
        2, max_leaf_nodes=reg.n_leaves_, min_samples_leaf=5, splits="pairs"
    ).fit(X, y)
    assert (reg.status_, alone.status_) == ("optimal", "optimal")
    assert reg.objective_ == pytest.approx(alone.objective_)


def test_one_column_is_enough_where_it_decides() -> None:
    reg = OptimalTreeRegressorCV(**QUICK).fit(*rows(of_two=False))
    assert reg.splits_ == "columns"
    assert not reg.tree_.combinations
    assert [one["splits"] for one in reg.candidates_] == ["columns", "pairs"]


def test_pairs_are_not_tried_without_a_limit_or_without_two_columns_of_numbers() -> None:
    X, y = rows(of_two=True, n_rows=40)
    unlimited = OptimalTreeRegressorCV(**QUICK, max_work=None).fit(X, y)
    single = OptimalTreeRegressorCV(**QUICK).fit(X[:, :1], y)
    for reg in (unlimited, single):
        assert [one["splits"] for one in reg.candidates_] == ["columns"]
    with pytest.raises(ValueError, match="'splits' parameter of OptimalTreeRegressorCV can be"):
        OptimalTreeRegressorCV(**QUICK, splits=["columns", "pairs"]).fit(X[:, :1], y)
    with pytest.raises(ValueError, match="'splits' parameter of OptimalTreeRegressorCV must be"):
        OptimalTreeRegressorCV(**QUICK, splits="both").fit(X, y)


def test_pairs_must_be_ahead_by_half_a_standard_error() -> None:
    grid = Grid(2, 2, [5], [0.0], [0.0], 100, ["columns", "pairs"])
    plain = np.array([[0.0, 0.5], [0.0, 0.6], [0.0, 0.7]])
    for gains, chosen in (([0.3, -0.2, 0.0], 0), ([0.3, -0.1, 0.1], 1), ([-0.1] * 3, 0)):
        other = plain.copy()
        other[:, 1] += gains
        assert best_candidate(grid, [plain, other]) == chosen
    no_time = np.full((3, 2), -np.inf)
    assert best_candidate(grid, [plain, no_time]) == 0
    assert best_candidate(grid, [no_time, plain]) == 1


def test_the_columns_that_matter_to_numbers_are_paired() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    targets = np.column_stack([X[:, 3] - X[:, 7], X[:, 11]])
    found = columns_worth_pairing(X, targets, None, [None] * 12)
    assert {3, 7, 11} <= set(found)
    assert len(found) == MOST_PAIRED


def test_a_forest_that_watches_the_clock_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 20))
    asked = (X, X[:, :1] + rng.normal(size=(60, 1)), None, [None] * 20)
    sizes: list[int] = []
    grow = pair_columns._grow

    def watched(forest: Any, *rest: Any) -> None:
        grow(forest, *rest)
        sizes.append(len(forest.estimators_))

    monkeypatch.setattr(pair_columns, "_grow", watched)
    whole = columns_worth_pairing(*asked)
    assert columns_worth_pairing(*asked, time.monotonic() + 600) == whole
    assert len(columns_worth_pairing(*asked, time.monotonic())) == MOST_PAIRED
    assert sizes == [50, 50, 5]


@pytest.mark.parametrize("n_columns", [1, 4])
def test_the_tree_can_be_looked_at_again(n_columns: int) -> None:
    """Whatever was chosen; a table of one column has no sums."""
    X, y = rows(of_two=n_columns > 1, n_rows=80)
    X = X[:, 1 : 1 + n_columns]
    reg = OptimalTreeRegressorCV(**QUICK, shrinkage=0.0).fit(X, y)
    assert reg.splits_ == ("pairs" if n_columns > 1 else "columns")
    found = runner_up_splits(reg, X, y)
    assert len(found) == reg.tree_.n_splits
    assert all(one.sentence for one in found)
