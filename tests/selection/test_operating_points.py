"""Operating points: rates by hand, choices, classifiers of points, folds, time, and bad input."""

from __future__ import annotations

import math
import pickle
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix, precision_score, recall_score
from sklearn.model_selection import StratifiedKFold

from provetree import (
    OptimalTreeClassifier,
    load_model,
    operating_points,
    runner_up_splits,
    verify,
)
from provetree.selection import OperatingCurve, Rates


def mixed_table(n: int = 160, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Numbers with ties and missing values, a category, and a rare class."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(1),
            "b": rng.integers(0, 6, n).astype(float),
            "c": pd.Categorical(rng.choice(["x", "y", "z"], n)),
        }
    )
    score = table["a"] + (table["c"] == "x") + rng.normal(size=n)
    y = np.where(score > 1.6, "sick", "well")
    table.loc[rng.random(n) < 0.1, "a"] = np.nan
    return table, y


@pytest.fixture(scope="module")
def curve() -> OperatingCurve:
    return operating_points(*mixed_table(), positive_label="sick", max_depth=2, cv=4)


def test_rates_are_those_of_scikit_learn(curve: OperatingCurve) -> None:
    X, y = mixed_table()
    assert curve.complete
    assert len(curve.points) > 5
    for point in curve.points:
        clf = curve.classifier(point)
        predicted = clf.predict(X)
        wrong = confusion_matrix(y, predicted, labels=["well", "sick"])
        train = point.train
        assert (train.false_positives, train.false_negatives) == (wrong[0, 1], wrong[1, 0])
        assert (train.negatives, train.positives) == tuple(wrong.sum(axis=1))
        assert train.recall == pytest.approx(recall_score(y, predicted, pos_label="sick"))
        assert train.accuracy == pytest.approx((y == predicted).mean())
        if (predicted == "sick").any():
            expected = precision_score(y, predicted, pos_label="sick")
            assert train.precision == pytest.approx(expected)


def test_held_out_rates_are_those_of_fits_with_the_weights(curve: OperatingCurve) -> None:
    X, y = mixed_table()
    point = curve.points[len(curve.points) // 2]
    found = np.zeros((2, 2))
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        clf = OptimalTreeClassifier(max_depth=2, class_weight=dict(point.class_weight))
        clf.fit(X.iloc[train], y[train])
        found += confusion_matrix(y[test], clf.predict(X.iloc[test]), labels=["well", "sick"])
    held_out = point.held_out
    assert held_out is not None
    assert held_out.positives + held_out.negatives == len(y)
    assert (held_out.false_positives, held_out.false_negatives) == (found[0, 1], found[1, 0])


def test_no_fit_with_class_weights_is_below_the_curve(curve: OperatingCurve) -> None:
    X, y = mixed_table()
    for missed in (0.1, 0.5, 1.0, 1.7, 3.0, 8.0):
        clf = OptimalTreeClassifier(max_depth=2, class_weight={"sick": missed}).fit(X, y)
        best = min(
            point.train.false_positives + missed * point.train.false_negatives
            for point in curve.points
        )
        assert clf.objective_ == pytest.approx(best)


def test_the_classifier_of_a_point(curve: OperatingCurve, tmp_path: Any) -> None:
    X, y = mixed_table()
    point = curve.choose(recall=0.7)
    clf = curve.classifier(point)
    assert isinstance(clf, OptimalTreeClassifier)
    fitted = OptimalTreeClassifier(max_depth=2, class_weight=clf.class_weight).fit(X, y)
    assert clf.objective_ == clf.lower_bound_ == fitted.objective_
    weights = [clf.class_weight[label] for label in y]
    assert verify(clf.tree_, X, y, sample_weight=weights).cost == clf.objective_
    # Probabilities are shares of rows, whatever errors cost.
    leaves = clf.apply(X)
    shares = clf.predict_proba(X)[:, clf.classes_.tolist().index("sick")]
    for leaf in np.unique(leaves):
        assert shares[leaves == leaf][0] == pytest.approx((y[leaves == leaf] == "sick").mean())
    # What looks at fitted trees again finds the same problem.
    swaps = [[found.sentence for found in runner_up_splits(tree, X, y)] for tree in (clf, fitted)]
    assert swaps[0] == swaps[1]
    assert pickle.loads(pickle.dumps(curve)) == curve
    clf.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").predict(X).tolist() == clf.predict(X).tolist()


def test_choices(curve: OperatingCurve) -> None:
    points = [point for point in curve.points if point.held_out is not None]
    assert len(points) == len(curve.points)
    for ratio in (0.2, 1.0, 4.0):
        chosen = curve.choose(cost_ratio=ratio).rates
        for point in points:
            other = point.rates
            assert chosen.false_positives + ratio * chosen.false_negatives <= (
                other.false_positives + ratio * other.false_negatives
            )
    for least in (0.3, 0.6, 0.8):
        chosen = curve.choose(recall=least).rates
        assert chosen.recall >= least
        enough = [p.rates for p in points if p.rates.recall >= least]
        assert chosen.false_positives == min(rates.false_positives for rates in enough)
    chosen = curve.choose(precision=0.5).rates
    assert chosen.precision >= 0.5
    precise = [p.rates for p in points if p.rates.precision >= 0.5]
    assert chosen.recall == max(rates.recall for rates in precise)


def test_the_other_class_turns_the_curve() -> None:
    X, y = mixed_table(80)
    sick = operating_points(X, y, positive_label="sick", max_depth=1, cv=2)
    well = operating_points(X, y, max_depth=1, cv=2)
    assert (sick.positive_label, well.positive_label) == ("sick", "well")
    for a, b in zip(sick.points, reversed(well.points), strict=True):
        assert a.train.false_positives == b.train.false_negatives
        assert a.train.positives == b.train.negatives
        assert a.class_weight == b.class_weight
        assert a.held_out is not None
        assert b.held_out is not None
        assert a.held_out.false_negatives == b.held_out.false_positives
    counts = [point.train.false_positives for point in sick.points]
    assert counts == sorted(counts)


def test_a_row_of_weight_two_is_two_rows() -> None:
    X, y = mixed_table(60, seed=3)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    heavy = operating_points(X, y, weights, max_depth=1, cv=None)
    twice = operating_points(
        X.iloc[np.repeat(range(60), weights)], np.repeat(y, weights), cv=None, max_depth=1
    )
    assert [p.train for p in heavy.points] == [p.train for p in twice.points]
    assert [p.tree for p in heavy.points] != []


def test_weights_of_many_digits() -> None:
    X, y = mixed_table(100, seed=4)
    weights = np.random.default_rng(0).random(100) + 0.01
    found = operating_points(X, y, weights, max_depth=2, cv=2)
    assert len(found.points) > 5
    for point in found.points:
        called = found.classifier(point).predict(X) == "well"
        assert point.train.false_positives == pytest.approx(weights[called & (y == "sick")].sum())
        totals = [weights[y == label].sum() for label in ("sick", "well")]
        np.testing.assert_allclose(point.tree.value[0], totals, rtol=1e-8)


def test_one_limit_holds_for_the_whole_call() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 12))
    y = (X[:, 0] + rng.normal(size=1500) > 1).astype(int)
    started = time.process_time()
    found = operating_points(X, y, max_depth=4, cv=5, time_limit=1.0)
    # Seconds of the processor, and more than the limit: a busy machine must not fail the test.
    assert time.process_time() - started < 5.0
    assert not found.complete
    assert len(found.points) >= 2
    assert found.n_folds in range(6)
    assert (found.points[0].held_out is None) == (found.n_folds == 0)
    for point in found.points:
        clf = found.classifier(point)
        assert 0 <= clf.lower_bound_ <= clf.objective_
        assert (clf.lower_bound_ == clf.objective_) == (point.status == "optimal")


def test_plot(curve: OperatingCurve) -> None:
    pytest.importorskip("matplotlib").use("agg")
    axes = curve.plot()
    assert axes.get_xlabel() == "false positives, of all negative rows"
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["training, proven best", "held out, 4 folds"]


def test_a_perfect_tree() -> None:
    found = operating_points([[1.0], [2.0]] * 4, [0, 1] * 4, cv=2)
    assert [(p.train, p.status) for p in found.points] == [(Rates(0, 0, 4, 4), "optimal")]
    assert found.choose(recall=1.0) == found.choose(precision=1.0) == found.points[0]


def test_rates_without_rows_are_nan() -> None:
    nothing = Rates(0, 3, 3, 4)
    assert nothing.recall == 0.0
    assert math.isnan(nothing.precision)
    assert math.isnan(Rates(0, 0, 0, 4).recall)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "choose takes one of 'cost_ratio', 'recall' and 'precision'. Got 0 of them."),
        ({"recall": 0.5, "precision": 0.5}, "Got 2 of them."),
        (
            {"recall": 0.0},
            r"'recall' parameter of choose must be a float in the range \(0.0, 1.0\]",
        ),
        ({"recall": 1.5}, "Got 1.5 instead."),
        ({"precision": math.nan}, "'precision' parameter of choose must be"),
        ({"precision": "high"}, "Got 'high' instead."),
        ({"cost_ratio": 0}, r"'cost_ratio' parameter of choose must be .* \(0.0, inf\)"),
        ({"cost_ratio": math.inf}, "Got inf instead."),
        ({"precision": 0.999}, "No tree of the curve has a precision of 0.999 on the rows held"),
    ],
)
def test_bad_choices(curve: OperatingCurve, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        curve.choose(**asked)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": [0, 1, 2, 1]}, "operating_points needs labels of two classes. Got 3: 0, 1, 2."),
        ({"y": [1, 1, 1, 1]}, "needs labels of two classes. Got 1: 1."),
        ({"positive_label": "yes"}, "'positive_label' parameter .* must be 0 or 1. Got 'yes'"),
        ({"max_depth": -1}, "'max_depth' parameter of operating_points must be an int"),
        ({"time_limit": 0}, "'time_limit' parameter of operating_points must be a float"),
    ],
)
def test_bad_input(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"X": [[1.0], [2.0], [3.0], [4.0]], "y": [0, 1, 0, 1], "cv": None}
    with pytest.raises(ValueError, match=message):
        operating_points(**given | changes)
