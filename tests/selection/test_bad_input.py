"""What people try: folds and scorers that do not fit get a sentence, or the best there is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, StratifiedKFold

from provetree import (
    OptimalTreeCV,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    calibration,
    operating_points,
    tuning_path,
)
from provetree.selection import folds, path

_RNG = np.random.default_rng(0)
X = _RNG.normal(size=(60, 3))
Y = (X[:, 0] + _RNG.normal(size=60) > 0).astype(int)
GROUPS = np.repeat(np.arange(10), 6)


def choose(X: Any = X, y: Any = Y, groups: Any = None, **options: Any) -> OptimalTreeCV:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what is wrong is told by notes, not by numpy
        return OptimalTreeCV(max_depth=2, **options).fit(X, y, groups=groups)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"y": np.arange(60) % 3, "scoring": "roc_auc"}, "roc_auc_ovr is for more"),
        (
            {"y": np.zeros(60), "scoring": "roc_auc"},
            "two classes, and all rows are of 0.0",
        ),
        ({"scoring": "luck"}, "must be the name of a scorer of scikit-learn"),
        ({"cv": GroupKFold(5)}, r"GroupKFold, needs groups: fit\(X, y, groups=...\)"),
        ({"cv": GroupKFold(20), "groups": GROUPS}, "GroupKFold, cannot divide this table"),
        ({"cv": []}, "must give at least one fold"),
        ({"cv": [(np.arange(60), [])]}, "one of them empty"),
        ({"cv": [(np.arange(99), np.arange(5))]}, "folds of the 60 rows. Got row 98"),
        ({"groups": GROUPS[:5]}, "a group for each of the 60 rows"),
        ({"groups": GROUPS * 0}, "at least 2 groups"),
        ({"groups": [None, *GROUPS[1:]]}, "Got None for row 0, counted from 0"),
        ({"groups": np.array(["a", *[2] * 59], dtype=object)}, "all text. Got int and str"),
        ({"cv": "five"}, "a splitter or an iterable of folds. Got 'five' instead"),
        ({"cv": [(np.arange(40), [41.5])]}, "numbers of rows, or as masks. Got float64 such as 41"),
        ({"cv": [(np.arange(40), [-61])]}, "folds of the 60 rows. Got row -61"),
        ({"y": np.arange(60) % 3, "scoring": "f1"}, "for two classes; f1_macro is for more"),
        (
            {"y": np.repeat(["no", "yes"], 30), "scoring": "f1"},
            r"make_scorer\(f1_score, pos_label=",
        ),
        (
            {"y": np.repeat(["no", "yes"], 30), "scoring": "average_precision"},
            r"make_scorer\(average_precision_score, response_method='predict_proba', pos_label='y",
        ),
        ({"scoring": ["f1", "recall"]}, "the name of a scorer of scikit-learn, a callable, or a"),
        ({"scoring": lambda model, X, y: model.depth}, "a tree has no attribute 'depth'"),
        ({"scoring": lambda model, X, y: np.inf}, "the score of a single leaf is inf"),
    ],
)
def test_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        choose(**options)


@pytest.mark.parametrize(
    ("options", "note"),
    [
        ({"X": X[:3], "y": Y[:3]}, "The table has 3 rows, so 3 folds were made and not 5."),
        ({"X": X[:1], "y": Y[:1]}, "The table has one row, so that nothing was cross-validated."),
        ({"y": np.r_[np.zeros(57), np.ones(3)]}, "The class 1.0 has 3 rows, fewer than the 5"),
        ({"y": np.arange(60) > 58, "scoring": "roc_auc"}, "The class True has 1 row, fewer than"),
        ({"groups": GROUPS % 3}, "There are 3 groups, so 3 folds were made and not 5."),
    ],
)
def test_the_best_that_can_be_done_and_a_note(options: dict[str, Any], note: str) -> None:
    assert note in choose(**options).path_.notes[0]


def test_folds_may_be_masks() -> None:
    held = np.arange(60) < 20
    by_masks = choose(cv=[(~held, held), (held, ~held)])
    by_numbers = choose(cv=[(np.arange(20, 60), np.arange(20)), (np.arange(20), np.arange(20, 60))])
    assert by_masks.best_score_ == by_numbers.best_score_


def test_other_functions_take_as_many_folds_as_rows() -> None:
    assert tuning_path(X[:3], Y[:3], max_depth=1).n_folds == 3
    assert tuning_path(X[:1], Y[:1], max_depth=1).n_folds == 0
    assert operating_points(X[:4], [0, 1, 0, 1], max_depth=1).n_folds == 4


@pytest.mark.parametrize("n_jobs", [0, True, "two"])
def test_a_number_of_jobs(n_jobs: Any) -> None:
    sentence = "The 'n_jobs' parameter of .* must be an int other than 0 or None"
    for call in (
        lambda: choose(n_jobs=n_jobs),
        lambda: OptimalTreeRegressorCV(n_jobs=n_jobs).fit(X, X[:, 0]),
        lambda: tuning_path(X, Y, n_jobs=n_jobs),
        lambda: operating_points(X, Y, n_jobs=n_jobs),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()


def test_class_weights_are_told_without_a_fold() -> None:
    """They were in the tree, and None in what was said to be chosen."""
    clf = choose(class_weight="balanced", time_limit=1e-9)
    assert "nothing was cross-validated" in clf.path_.notes[-1]
    assert clf.class_weight_ == clf.chosen_classifier().class_weight == "balanced"
    weighed = choose(scoring="balanced_accuracy", time_limit=1e-9)
    assert set(weighed.class_weight_) == {0, 1}


def test_rows_of_weight_zero_are_in_no_fold() -> None:
    """Folds without weight held out had no score, and those without any to train on an error."""
    weights = np.zeros(60)
    weights[::12] = 1.0  # five rows
    held_out = OptimalTreeRegressorCV(max_depth=1, forest_share=0, rule="one_standard_error")
    assert np.isfinite(held_out.fit(X, X[:, 0], weights).cv_scores_).all()
    weighted = tuning_path(X, Y, weights, max_depth=1)
    few = tuning_path(X[::12], Y[::12], max_depth=1)
    assert [p.cv_score for p in weighted.points] == [p.cv_score for p in few.points]
    weights[12:] = 0.0
    alone = OptimalTreeCV(max_depth=1).fit(X, Y, weights)
    assert "Without its rows of weight zero, the table has one row" in alone.path_.notes[0]
    with pytest.raises(ValueError, match="n_samples=1 that weigh something"):
        held_out.fit(X, X[:, 0], weights)
    with pytest.raises(ValueError, match="must give a fold with weight to train on and weight"):
        tuning_path(X, Y, weights, max_depth=1, cv=GroupKFold(2), groups=np.arange(60) > 30)


def test_a_path_without_scores_chooses_no_size() -> None:
    path = tuning_path(X, Y, max_depth=1, cv=None)
    for rule in ("best", "one_standard_error"):
        with pytest.raises(ValueError, match="this path has none: make it with 'cv'"):
            path.choose(rule)


#: The other functions that cross-validate, on the same rows.
OTHERS: dict[str, Callable[..., Any]] = {
    "OptimalTreeRegressorCV": lambda cv, **fit: OptimalTreeRegressorCV(
        cv=cv, max_depth=1, forest_share=0, max_work=1000, splits="columns"
    ).fit(X, X[:, 0], **fit),
    "tuning_path": lambda cv, **more: tuning_path(X, Y, max_depth=1, cv=cv, **more),
    "operating_points": lambda cv, **more: operating_points(X, Y, max_depth=1, cv=cv, **more),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize(
    ("cv", "sentence"),
    [
        (GroupKFold(5), r"GroupKFold, needs groups: .*groups=\.\.\.\)"),
        ([], "must give at least one fold. Got none."),
        ([(np.arange(60), [])], "Got 1 fold, one of them empty."),
        ([(np.arange(99), [1])], "folds of the 60 rows. Got row 98, counted from 0."),
        (StratifiedKFold(80), "StratifiedKFold, cannot divide this table: "),
        (1, r"must be an int in the range \[2, inf\)"),
        ("five", "a splitter or an iterable of folds"),
    ],
)
def test_others_say_it_in_one_sentence(name: str, cv: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"The 'cv' parameter of {name}.*{sentence}"):
        OTHERS[name](cv)


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("cv", [3, GroupKFold(3), LeaveOneGroupOut()])
def test_groups_are_on_one_side_everywhere(
    name: str, cv: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def watched(*args: Any, **more: Any) -> Any:
        made.extend(folds.folds_of(*args, **more))
        return made

    monkeypatch.setattr(path, "folds_for", watched)
    OTHERS[name](cv, groups=GROUPS)
    assert len(made) == (10 if isinstance(cv, LeaveOneGroupOut) else 3)
    for train, held_out in made:
        assert not set(GROUPS[train]) & set(GROUPS[held_out])
        assert set(train) | set(held_out) == set(range(60))


def test_calibration_is_for_classes() -> None:
    with pytest.raises(TypeError, match=r"needs a classifier\. Got OptimalTreeRegressor"):
        calibration(OptimalTreeRegressor(max_depth=1).fit(X, X[:, 0]), X, Y)
