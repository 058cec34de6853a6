"""OptimalTreeCV chooses whether questions may be about two columns, and which columns it pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, OptimalTreeCV, verify
from provetree.problem.prepare import prepare
from provetree.selection import settings
from provetree.selection.pair_columns import MOST_PAIRED, columns_worth_pairing

QUICK: dict[str, Any] = {"max_depth": 2, "min_samples_leaf": 5, "criterion": "errors", "cv": 3}


def rows(of_two: bool, n_rows: int = 240, n_columns: int = 4, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).round(2)
    y = (X[:, 1] - X[:, 2] > 0) if of_two else (X[:, 1] > 0.2)
    flipped = rng.random(n_rows) < 0.05
    return X, np.where(flipped, ~y, y).astype(int)


def test_pairs_are_chosen_where_two_columns_decide() -> None:
    X, y = rows(of_two=True)
    clf = OptimalTreeCV(**QUICK).fit(X, y)
    assert clf.splits_ == "pairs"
    assert clf.pair_columns_ == [0, 1, 2, 3]
    assert clf.tree_.combinations
    one = OptimalTreeCV(**QUICK, splits="columns").fit(X, y)
    assert one.splits_ == "columns"
    assert one.pair_columns_ is None
    assert clf.best_score_ > one.best_score_ + 0.1
    assert verify(clf.tree_, X, y, max_depth=2).errors == clf.objective_
    again = clf.chosen_classifier().fit(X, y)
    assert (again.status_, again.objective_) == (clf.status_, clf.objective_)


def test_one_column_is_enough_where_it_decides() -> None:
    clf = OptimalTreeCV(**QUICK).fit(*rows(of_two=False))
    assert clf.splits_ == "columns"
    assert not clf.tree_.combinations
    assert any("sums of two columns" in tried.words for tried in clf.path_.tried)


def test_pairs_are_not_tried_without_a_limit_or_without_two_columns_of_numbers() -> None:
    X, y = rows(of_two=True, n_rows=40)
    unlimited = OptimalTreeCV(**QUICK, time_limit=None).fit(X, y)
    single = OptimalTreeCV(**QUICK).fit(X[:, :1], y)
    for clf in (unlimited, single):
        assert clf.splits_ == "columns"
        assert not any("two columns" in tried.words for tried in clf.path_.tried)
    with pytest.raises(ValueError, match="'splits' parameter of OptimalTreeCV can be 'pairs' for"):
        OptimalTreeCV(**QUICK, splits=["columns", "pairs"]).fit(X[:, :1], y)


def test_only_rows_that_are_learned_from_choose_the_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A column that copies the label on the rows held out must not be paired for it."""
    X, y = rows(of_two=True, n_columns=MOST_PAIRED + 3)
    seen = []

    def watched(table: Any, codes: Any, weights: Any, levels: Any) -> list[int]:
        seen.append(len(table))
        return columns_worth_pairing(table, codes, weights, levels)

    monkeypatch.setattr(settings, "columns_worth_pairing", watched)
    clf = OptimalTreeCV(**QUICK).fit(X, y)
    assert {1, 2} <= set(clf.pair_columns_ or ())
    assert len(clf.pair_columns_ or ()) == MOST_PAIRED
    assert set(seen) == {160, 240}
    assert seen.count(240) == 1


def test_missing_cells_categories_and_infinities() -> None:
    X, y = rows(of_two=True, n_columns=MOST_PAIRED + 2)
    X[::7, 1] = np.nan
    X[0, 3] = np.inf
    X[:, 4] = 1.0
    found = columns_worth_pairing(X, y, None, [None] * 5 + [("a",)] + [None] * 4)
    assert {1, 2} <= set(found)
    assert not {3, 4, 5} & set(found)


@pytest.mark.parametrize("given", [["z", "b"], [0, 9], ["c", "a"]])
def test_pair_columns_are_columns_of_numbers(given: Any) -> None:
    import pandas as pd

    X = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [2.0, 1, 4, 3], "c": list("uuvv")})
    with pytest.raises(ValueError, match="'pair_columns' parameter of OptimalTreeClassifier must"):
        OptimalTreeClassifier(splits="pairs", pair_columns=given).fit(X, [0, 1, 0, 1])


def test_only_the_columns_named_are_paired() -> None:
    X, y = rows(of_two=True)
    whole = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y)
    named = OptimalTreeClassifier(max_depth=1, splits="pairs", pair_columns=[0, 3]).fit(X, y)
    plain = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert whole.tree_.combinations[0].columns == (1, 2)
    assert whole.objective_ < named.objective_ <= plain.objective_


def test_rows_of_weight_zero_change_no_coefficients() -> None:
    X, y = rows(of_two=True)
    # Absent rows with a wide second column: their spread must not decide how columns are added.
    absent = X[:100] * [1.0, 40.0, 1.0, 1.0]
    weights = np.repeat([1.0, 0.0], [len(X), len(absent)])
    table, labels = np.vstack([X, absent]), np.append(y, y[:100])
    clf = OptimalTreeCV(**QUICK, splits="pairs").fit(table, labels, weights)
    again = clf.chosen_classifier().fit(table, labels, weights)
    family = prepare(X, y, max_depth=2, splits="pairs").problem.combinations
    assert set(clf.tree_.combinations) <= set(family)
    assert again.objective_ == clf.objective_
