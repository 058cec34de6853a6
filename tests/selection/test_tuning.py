"""The classifier that tunes itself: what it chooses, what it sees, what it says of bad input."""

from __future__ import annotations

import math
import multiprocessing
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score, log_loss, make_scorer
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut

from provetree import OptimalTreeClassifier, OptimalTreeCV, runner_up_splits, stability, verify
from provetree.options import ParameterError
from provetree.selection import race
from provetree.selection.folds import plan_folds
from provetree.selection.settings import TuningTable
from provetree.tree.smoothing import Smoothing
from testkit.sklearn_checks import all_checks

#: The quickest search that still chooses.
QUICK: dict[str, Any] = {
    "max_depth": 2,
    "min_samples_leaf": 5,
    "criterion": ["errors", "gini"],
    "splits": "columns",
}


def table(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    X["d"] = rng.choice(["u", "v", "w"], n)
    X.loc[::9, "a"] = np.nan
    noise = rng.random(n) < 0.15
    y = np.where((X["b"] > 0) ^ (X["d"] == "u") ^ noise, "yes", "no")
    return X, y


def rare(n: int = 300, seed: int = 0) -> tuple[Any, Any]:
    """Return a table on which errors alone never predict the rare class."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    y = (rng.random(n) < np.where(X[:, 0] > 0.7, 0.4, 0.02)).astype(int)
    return X, y


# -- what is chosen ----------------------------------------------------------------------------


def test_the_tree_is_the_best_of_the_chosen_size_and_setting() -> None:
    X, y = table()
    clf = OptimalTreeCV(max_depth=3).fit(X, y)
    chosen = clf.path_.chosen
    assert (clf.n_leaves_, clf.tree_.n_leaves) == (chosen.n_leaves, chosen.tree.n_leaves)
    assert clf.best_score_ == chosen.cv_score == clf.path_.best.cv_score
    alone = clf.chosen_classifier().set_params(probabilities="shares").fit(X, y)
    assert clf.status_ == alone.status_ == "optimal"
    assert clf.objective_ == pytest.approx(alone.objective_)
    assert [t.outcome for t in clf.path_.tried].count("chosen") == 1
    checked = verify(clf.tree_, X, y, max_depth=3, max_leaf_nodes=clf.n_leaves_)
    assert checked.errors == int((clf.predict(X) != y).sum())
    by = "tried, by accuracy less 0.4 of the log loss and 0.2 of a row for each leaf."
    assert clf.path_.reason.endswith(by)


def test_one_standard_error_is_smaller() -> None:
    X, y = table()
    best = OptimalTreeCV(**QUICK).fit(X, y)
    small = clone(best).set_params(rule="one_standard_error").fit(X, y)
    assert small.n_leaves_ == small.path_.one_standard_error.n_leaves <= best.n_leaves_
    assert best.n_leaves_ == best.path_.best.n_leaves


def test_accuracy_is_steadied_by_the_log_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compared is worked out again by scikit-learn, from the trees of the folds."""
    X, y = table()
    expected: list[list[float]] = []
    keep = race.Race._keep

    def watched(self: race.Race, entrant: Any, number: int, grown: Any) -> None:
        rows = self.folds[number][1]
        prepared = self.table.prepared
        encoded, codes = prepared.encoded[rows], prepared.codes[rows]
        line = []
        for tree in grown.trees:
            shares = tree.with_smoothing(Smoothing("shrinkage", 10.0)).predict_proba(encoded)
            right = np.mean(tree.predict(encoded) == codes)
            loss = log_loss(codes, shares, labels=[0, 1])
            line.append(right - 0.4 * loss - 0.2 * tree.n_leaves / len(X))
        expected.append(line)
        keep(self, entrant, number, grown)

    monkeypatch.setattr(race.Race, "_keep", watched)
    of_one = {"criterion": "errors", "min_samples_leaf": 1, "splits": "columns"}
    clf = OptimalTreeCV(max_depth=3, cv=KFold(3), **of_one).fit(X, y)
    path = clf.path_
    most = len(path.merits)
    means = np.mean([line[:most] for line in expected], axis=0)
    assert path.merits == pytest.approx(means)
    assert path.chosen.n_leaves == path.best.n_leaves == 1 + int(means.argmax())
    assert clf.best_score_ == path.points[int(means.argmax())].cv_score


def test_other_scores_are_compared_as_they_are() -> None:
    path = OptimalTreeCV(**QUICK, scoring="roc_auc").fit(*table()).path_
    assert path.merits == ()
    assert path.chosen.cv_score == max(point.cv_score for point in path.points)


def test_the_same_table_gives_the_same_tree() -> None:
    X, y = table()
    clf = OptimalTreeCV(**QUICK)
    assert clf.fit(X, y).tree_ == clone(clf).fit(X, y).tree_


def test_scoring_decides_about_a_rare_class() -> None:
    X, y = rare()
    by_errors = OptimalTreeCV(**QUICK).fit(X, y)
    balanced = OptimalTreeCV(**QUICK, scoring="balanced_accuracy").fit(X, y)
    assert by_errors.class_weight_ is None
    assert balanced.class_weight_[1] > balanced.class_weight_[0]
    gain = [balanced_accuracy_score(y, clf.predict(X)) for clf in (by_errors, balanced)]
    assert gain[1] > gain[0] + 0.1
    assert balanced.path_.score == "balanced_accuracy"


def test_folds_are_repeated_for_a_rare_class_where_classes_count_alike() -> None:
    X, y = rare(2100)
    X = np.round(X, 1)  # quick
    few = np.flatnonzero(y)[120:]
    y[few] = 0  # 120 rows of the rare class tell as much of it as 240 rows of two
    rounds = {}
    for scoring in ("accuracy", "balanced_accuracy"):
        clf = OptimalTreeCV(**QUICK, time_limit=None, scoring=scoring).fit(X, y)
        rounds[scoring] = clf.path_.n_folds / 5
    assert rounds == {"accuracy": 1, "balanced_accuracy": 4}


def test_repeated_folds_follow_the_rarest_class_there_is() -> None:
    codes, classes = np.repeat([0, 2], [2000, 500]), np.array(["a", "b", "c"])

    def rounds(codes: Any, **more: Any) -> int:
        return len(plan_folds(5, codes, classes, None, "OptimalTreeCV", **more).rounds)

    assert rounds(codes) == 1
    assert rounds(codes, alike=True) == 2  # no row is of the class "b"
    assert rounds(np.repeat([0, 2], [1250, 1250]), alike=True) == 1
    absent = np.where(codes == 2, 0.0, 1.0)
    assert rounds(codes, alike=True, weights=absent) == 1
    groups = np.arange(2500) // 5
    plan = plan_folds(5, codes, classes, groups, "OptimalTreeCV", alike=True)
    assert len(plan.rounds) == 2


def _cost(model: Any, X: Any, y: Any) -> float:
    assert list(X.columns) == list("abcd")  # the rows as they were given
    return -float(np.mean(model.predict(X) != y))


@pytest.mark.parametrize(
    "scoring",
    [
        *("accuracy", "roc_auc", "f1", "neg_log_loss", "neg_brier_score", "average_precision"),
        pytest.param(_cost, id="function"),
        pytest.param(make_scorer(balanced_accuracy_score), id="scorer"),
    ],
)
def test_any_scorer(scoring: Any) -> None:
    X, y = table()
    labels = (y == "yes").astype(int)
    clf = OptimalTreeCV(**QUICK, cv=3, scoring=scoring).fit(X, labels)
    assert math.isfinite(clf.best_score_)
    assert 1 < clf.n_leaves_ <= 4


def test_scorers_that_take_long_end_in_time() -> None:
    X, y = table()
    asked: list[float] = []

    def slow(model: Any, X: Any, y: Any) -> float:
        asked.append(time.monotonic())
        time.sleep(0.3)
        return float(np.mean(model.predict(X) == y))

    begun = time.monotonic()
    clf = OptimalTreeCV(max_depth=4, time_limit=1.5, scoring=slow).fit(X, y)
    # All sizes of one fold alone would take 4 s. Whatever the machine does meanwhile, a score that
    # begins after the limit is the first of its fold, of the folds' end or of the path's.
    assert sum(moment > begun + 1.5 for moment in asked) <= 2
    scored = [point.n_leaves for point in clf.path_.points if not math.isnan(point.train_score)]
    assert scored[-1] == len(clf.path_.points)  # the largest come first


@pytest.mark.parametrize("costs", [[[0, 1], [9, 0]], {("yes", "no"): 9}])
def test_costs_are_a_score(costs: Any) -> None:
    X, y = table()
    clf = OptimalTreeCV(**QUICK, scoring=costs).fit(X, y)
    plain = OptimalTreeCV(**QUICK).fit(X, y)
    missed = [int(((y == "yes") & (c.predict(X) == "no")).sum()) for c in (clf, plain)]
    assert missed[0] < missed[1]
    assert -1 < clf.best_score_ <= 0
    assert clf.path_.score == "minus the mean cost"


def test_rows_of_weight_two_count_twice_in_scores() -> None:
    X, y = table()
    fixed = {**QUICK, "criterion": "errors", "cv": KFold(3)}
    one = OptimalTreeCV(**fixed).fit(X, y)
    two = OptimalTreeCV(**fixed).fit(X, y, sample_weight=np.full(len(y), 2.0))
    assert two.best_score_ == pytest.approx(one.best_score_)
    assert two.objective_ == 2 * one.objective_


def test_probabilities_are_smoothed_unless_told() -> None:
    X, y = table()
    chosen = OptimalTreeCV(**QUICK).fit(X, y)
    plain = OptimalTreeCV(**QUICK, probabilities="shares").fit(X, y)
    assert (chosen.predict(X) == plain.predict(X)).all()
    assert chosen.predict_proba(X).max() < plain.predict_proba(X).max()


def test_what_looks_at_the_tree_takes_what_was_chosen() -> None:
    X, y = table()
    clf = OptimalTreeCV(**QUICK).fit(X, y)
    assert len(runner_up_splits(clf, X, y)) == clf.tree_.n_splits
    assert stability(clf, X, y, n_refits=2).n_refits == 2


def test_a_plot_shows_the_choice() -> None:
    pytest.importorskip("matplotlib").use("agg")
    axes = OptimalTreeCV(**QUICK).fit(*table()).plot_frontier()
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "chosen" in words
    assert axes.get_ylabel() == "accuracy"


def test_progress_tells_what_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[race.TuningProgress] = []
    OptimalTreeCV(**QUICK, verbose=1).fit(*table(), on_progress=told.append)
    assert {news.trying for news in told} == {
        "errors, at least 5 rows in a leaf",
        "gini, at least 5 rows in a leaf",
    }
    assert not math.isnan(told[-1].best_score)
    assert "provetree: " in capsys.readouterr().err


def test_processes_give_the_same() -> None:
    X, y = table()
    # Without a limit: processes may take long to start, and time decides how often folds repeat.
    alone = OptimalTreeCV(**QUICK, cv=2, time_limit=None).fit(X, y)
    spread = OptimalTreeCV(**QUICK, cv=2, time_limit=None, n_jobs=2).fit(X, y)
    assert (spread.tree_, spread.best_score_) == (alone.tree_, alone.best_score_)


def test_processes_that_do_not_start_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    waited: list[float] = []

    class Late:
        def __init__(self, n_jobs: int, timeout: float) -> None:
            waited.append(timeout)

        def __call__(self, tasks: Any) -> Any:
            raise multiprocessing.TimeoutError

    monkeypatch.setattr(race, "Parallel", Late)
    late = OptimalTreeCV(**QUICK, cv=2, time_limit=60.0, n_jobs=2).fit(X, y)
    assert 0 < waited[0] < 60
    assert "Time was up after 1 of 2 folds" in late.path_.notes[0]
    waited.clear()
    # With less time than processes take to start, none are.
    OptimalTreeCV(**QUICK, cv=2, time_limit=4.0, n_jobs=2).fit(X, y)
    assert not waited


def test_large_leaves_are_for_purity() -> None:
    X, y = table()
    leasts = {"max_depth": 2, "splits": "columns", "cv": 2, "time_limit": None}

    def tried(**more: Any) -> set[tuple[str, Any]]:
        clf = OptimalTreeCV(**leasts, **more).fit(X, y)
        return {(each.criterion, each.min_samples_leaf) for each in clf.path_.tried}

    assert tried() >= {("errors", 5), ("gini", 5), ("errors", 1), ("gini", 20)}
    assert ("errors", 20) not in tried()
    assert ("errors", 20) in tried(criterion="errors", min_samples_leaf=(5, 20))


# -- what is seen --------------------------------------------------------------------------------


def _watched(monkeypatch: pytest.MonkeyPatch, leak: bool) -> tuple[Any, list[tuple[set, set]]]:
    """Fit on noise, and watch which rows each tree saw before it was scored on others.

    With `leak`, trees are grown on all rows, those held out included.
    """
    rng = np.random.default_rng(1)
    X, y = rng.random((150, 4)), rng.integers(0, 2, 150)
    seen: list[set] = []
    pairs: list[tuple[set, set]] = []
    honest = TuningTable.problem_of

    def problem_of(self: TuningTable, rows: Any, setting: Any) -> Any:
        rows = np.arange(self.n_rows) if leak else rows
        seen.append(set(rows.tolist()))
        return honest(self, rows, setting)

    judge = race.RowScorer.scores

    def scores(self: Any, trees: Any, rows: Any, until: float) -> Any:
        pairs.append((seen[-1], set(rows.tolist())))
        return judge(self, trees, rows, until)

    monkeypatch.setattr(TuningTable, "problem_of", problem_of)
    monkeypatch.setattr(race.RowScorer, "scores", scores)
    clf = OptimalTreeCV(criterion="errors", min_samples_leaf=1, max_depth=3, time_limit=None, cv=3)
    clf.fit(X, y)
    return clf, pairs[:-1]  # the last one scores the trees of all rows, for the plot


def test_no_row_held_out_is_ever_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    clf, pairs = _watched(monkeypatch, leak=False)
    assert len(pairs) >= 3
    assert all(not trained & held_out for trained, held_out in pairs)
    assert clf.best_score_ < 0.68  # labels are noise


def test_a_planted_leak_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    clf, pairs = _watched(monkeypatch, leak=True)
    assert any(trained & held_out for trained, held_out in pairs)
    assert clf.best_score_ > 0.68


def test_groups_are_never_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table()
    groups = np.arange(len(y)) // 10
    found: list[tuple[set, set]] = []
    keep = race.Race._keep

    def watched(self: race.Race, entrant: Any, number: int, grown: Any) -> None:
        found.append(tuple(set(groups[rows].tolist()) for rows in self.folds[number]))
        keep(self, entrant, number, grown)

    monkeypatch.setattr(race.Race, "_keep", watched)
    for cv in (3, GroupKFold(3), LeaveOneGroupOut()):
        found.clear()
        OptimalTreeCV(**QUICK, cv=cv).fit(X, y, groups=groups)
        assert found
        assert all(not trained & held_out for trained, held_out in found)


# -- what cannot be done -------------------------------------------------------------------------


def test_few_rows_make_fewer_folds() -> None:
    clf = OptimalTreeCV().fit([[1.0], [2.0], [3.0]], ["a", "b", "a"])
    assert clf.path_.notes == ("The table has 3 rows, so 3 folds were made and not 5.",)
    alone = OptimalTreeCV().fit([[1.0]], ["a"])
    assert alone.path_.notes == ("The table has one row, so that nothing was cross-validated.",)
    assert alone.get_n_leaves() == 1


def test_a_rare_class_is_told() -> None:
    X, y = table(60)
    y = y.astype(object)
    y[:2] = "rare"
    clf = OptimalTreeCV(**QUICK).fit(X, y)
    assert clf.path_.notes == (
        "The class rare has 2 rows, fewer than the 5 folds, so that some folds were scored "
        "without it.",
    )
    OptimalTreeCV(**QUICK, scoring="neg_log_loss").fit(X, y)


def test_every_label_once() -> None:
    clf = OptimalTreeCV(cv=2).fit(np.arange(8.0)[:, None], np.arange(8))
    assert set(clf.predict(np.arange(8.0)[:, None])) <= set(range(8))


def test_a_limit_too_short_for_one_fold_still_gives_a_tree() -> None:
    X, y = table(400)
    clf = OptimalTreeCV(time_limit=1e-4).fit(X, y)
    assert clf.path_.notes == (
        "The time limit was too short for one fold, so that nothing was cross-validated.",
    )
    assert math.isnan(clf.best_score_)
    assert set(clf.predict(X)) <= {"yes", "no"}


def test_searches_fit_into_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    grow = race.grow

    def watched(table: Any, setting: Any, rows: Any, seconds: float) -> Any:
        asked.append(seconds)
        return grow(table, setting, rows, seconds)

    monkeypatch.setattr(race, "grow", watched)
    begun = time.monotonic()
    OptimalTreeCV(time_limit=1.5).fit(*table(200))
    # What was asked for cannot be more than what there was, whatever the machine does meanwhile.
    assert asked
    assert 0 < max(asked) * 5 <= 1.5
    assert time.monotonic() > begun


@pytest.mark.parametrize(
    ("scoring", "y", "words"),
    [
        ("f1", [0, 1, 2] * 10, "The 'scoring' parameter of OptimalTreeCV, f1, cannot score this "
         "table of 3 classes: it is for two classes; f1_macro is for more."),
        ("roc_auc", [0, 1, 2] * 10, "The 'scoring' parameter of OptimalTreeCV, roc_auc, cannot"),
        ("roc_auc", [1] * 30, "The 'scoring' parameter of OptimalTreeCV, roc_auc, cannot score "
         "this table of 1 class"),
        ("f1", ["a", "b"] * 15, "The 'scoring' parameter of OptimalTreeCV, f1, cannot score"),
        ("best", [0, 1] * 15, "The 'scoring' parameter of OptimalTreeCV must be the name of a "
         "scorer of scikit-learn, a callable, or a cost matrix. Got 'best' instead."),
        ([[0, 1]], [0, 1] * 15, "The 'scoring' of OptimalTreeCV must have one row and one column"),
    ],
)  # fmt: skip
def test_scorers_that_cannot_score(scoring: Any, y: Any, words: str) -> None:
    with pytest.raises(ValueError, match="scoring") as told:
        OptimalTreeCV(scoring=scoring).fit(np.arange(30.0)[:, None], y)
    assert str(told.value).startswith(words)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("cv", "groups", "words"),
    [
        (GroupKFold(3), None, "The 'cv' parameter of OptimalTreeCV, GroupKFold, needs groups: "
         "fit(X, y, groups=...)."),
        (GroupKFold(3), [0] * 30, "The 'cv' parameter of OptimalTreeCV, GroupKFold, cannot divide"),
        (5, [0] * 30, "The 'groups' of OptimalTreeCV.fit must name at least 2 groups"),
        (5, [0, 1], "The 'groups' must name a group for each of the 30 rows. Got an array of "
         "shape (2,)."),
        ([], None, "The 'cv' parameter of OptimalTreeCV must give at least one fold. Got none."),
        (KFold(40), None, "The 'cv' parameter of OptimalTreeCV, KFold, cannot divide this table"),
    ],
)  # fmt: skip
def test_folds_that_cannot_be_made(cv: Any, groups: Any, words: str) -> None:
    with pytest.raises(ValueError, match=r"cv|groups") as told:
        OptimalTreeCV(cv=cv).fit(np.arange(30.0)[:, None], [0, 1] * 15, groups=groups)
    assert str(told.value).startswith(words)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("max_depth", -1, "an int in the range [0, inf)"),
        ("cv", 1, "an int in the range [2, inf), a splitter"),
        ("rule", "two", "the str 'one_standard_error' or the str 'best'"),
        ("n_jobs", "many", "an int other than 0 or None"),
        ("criterion", ["errors", "luck"], "the str 'errors', the str 'gini'"),
        ("class_weight", "none", "the str 'auto', an instance of 'dict'"),
        ("scoring", 3, "the name of a scorer of scikit-learn, a callable"),
    ],
)
def test_bad_parameters(name: str, value: Any, words: str) -> None:
    with pytest.raises(ParameterError) as told:
        OptimalTreeCV(**{name: value}).fit([[1.0], [2.0]], [0, 1])
    assert str(told.value).startswith(f"The '{name}' parameter of OptimalTreeCV must be {words}")


def test_old_parameters_still_mean_the_same() -> None:
    X, y = table()
    old = OptimalTreeCV(max_depth=2, min_samples_leaf=5, class_weight="balanced",
                        criterion="gini", rule="one_standard_error", time_limit=None)  # fmt: skip
    old.fit(X, y)
    assert (old.criterion_, old.min_samples_leaf_, old.class_weight_) == ("gini", 5, "balanced")
    alone = OptimalTreeClassifier(max_depth=2, min_samples_leaf=5, class_weight="balanced",
                                  criterion="gini", max_leaf_nodes=old.n_leaves_)  # fmt: skip
    assert old.objective_ == pytest.approx(alone.fit(X, y).objective_)


# A row of weight two is one row of a fold, a row twice may be in two folds.
EXCUSED = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence",
    "check_sample_weights_invariance",
}


@pytest.mark.filterwarnings("default")
@all_checks(
    OptimalTreeCV(cv=2, max_depth=2, criterion=["errors", "gini"], min_samples_leaf=[1, 5]),
    without=EXCUSED,
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)
