"""The choice of a smoothing by log loss on rows held out, and the calibration curve."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import log_loss as log_loss_of_sklearn

from provetree import (
    ExactSearch,
    OptimalTreeClassifier,
    OptimalTreeCV,
    Smoothing,
    Tree,
    calibration,
)
from provetree.export.calibration import calibration_on
from provetree.problem.prepare import Prepared, prepare
from provetree.report.evidence import evidence_of
from provetree.selection.calibration import held_out_calibration
from provetree.selection.path import Folds, folds_of
from provetree.selection.probabilities import SMOOTHINGS, choose_smoothing, held_out_log_losses
from provetree.tree.smoothing import log_loss


def noisy(
    n: int = 120, weights: float | None = None, n_classes: int = 2
) -> tuple[Prepared, Folds, list[Tree]]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + 1.5 * rng.normal(size=n) > 0).astype(int) + (n_classes > 2) * (X[:, 1] > 1)
    given = None if weights is None else np.full(n, weights)
    prepared = prepare(X, y, given, max_depth=3)
    folds = folds_of(4, prepared, "the test")
    problems = [prepared.problem_of(train, max_depth=3) for train, _ in folds]
    return prepared, folds, [ExactSearch().solve(problem).tree for problem in problems]


def test_the_least_log_loss_is_chosen() -> None:
    prepared, folds, trees = noisy()
    chosen = choose_smoothing(trees, prepared, folds)
    losses = held_out_log_losses(trees, prepared, folds, SMOOTHINGS)
    assert SMOOTHINGS[int(np.argmin(losses))] == chosen
    # As scikit-learn says it, row by row.
    probabilities = np.vstack(
        [
            tree.with_smoothing(chosen).predict_proba(prepared.encoded[rows])
            for tree, (_, rows) in zip(trees, folds, strict=True)
        ]
    )
    truth = np.concatenate([prepared.codes[rows] for _, rows in folds])
    assert min(losses) == pytest.approx(log_loss_of_sklearn(truth, probabilities))
    assert min(losses) < held_out_log_losses(trees, prepared, folds, [None])[0]


def test_strengths_follow_the_weights() -> None:
    """Rows that all weigh 1000 are smoothed as if they weighed one."""
    one = choose_smoothing(*_of(noisy()))
    heavy = choose_smoothing(*_of(noisy(weights=1000.0)))
    assert heavy == Smoothing(one.method, 1000 * one.strength)


def _of(made: tuple[Prepared, Folds, list[Tree]]) -> tuple[list[Tree], Prepared, Folds]:
    prepared, folds, trees = made
    return trees, prepared, folds


def test_log_loss_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.dirichlet(np.ones(3), 30)
        codes, weights = rng.integers(0, 3, 30), rng.random(30)
        expected = log_loss_of_sklearn(codes, p, sample_weight=weights, labels=[0, 1, 2])
        assert log_loss(p, codes, weights) == pytest.approx(expected)
    assert log_loss(np.array([[0.0, 1.0]]), np.array([0]), np.ones(1)) == pytest.approx(
        36.04, abs=0.1
    )


def test_each_leaf_is_a_point_of_the_curve() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    clf = OptimalTreeClassifier(max_depth=2, probabilities="laplace").fit(X[:150], y[:150])
    found = calibration(clf, X[150:], y[150:])
    leaves = clf.apply(X[150:])
    points = {
        (
            round(float(clf.tree_.probabilities()[leaf, 1]), 9),
            round(float(y[150:][leaves == leaf].mean()), 9),
            float((leaves == leaf).sum()),
        )
        for leaf in np.unique(leaves)
    }
    assert {(round(b.predicted, 9), round(b.observed, 9), b.weight) for b in found.bins} == points
    assert found.error == pytest.approx(sum(abs(p - o) * w for p, o, w in points) / 150)


def test_many_probabilities_are_joined_as_scikit_learn_does() -> None:
    rng = np.random.default_rng(3)
    said = rng.random(1000)
    happened = (rng.random(1000) < said).astype(int)
    p = np.column_stack([1 - said, said])
    found = calibration_on(p, (said > 0.5).astype(int), happened, np.ones(1000), [0, 1], "rows")
    observed, predicted = calibration_curve(happened, said, n_bins=10, strategy="quantile")
    assert [b.weight for b in found.bins] == [100.0] * 10
    np.testing.assert_allclose([b.predicted for b in found.bins], predicted)
    np.testing.assert_allclose([b.observed for b in found.bins], observed)


def test_rows_held_out_of_folds() -> None:
    prepared, folds, trees = noisy(n_classes=3)
    found = held_out_calibration(trees, prepared, folds, Smoothing("shrinkage", 5.0))
    assert found.label is None
    assert found.rows == "rows held out of 4 folds"
    assert sum(b.weight for b in found.bins) == 120
    right = [
        (tree.predict(prepared.encoded[rows]) == prepared.codes[rows]).sum()
        for tree, (_, rows) in zip(trees, folds, strict=True)
    ]
    assert sum(b.observed * b.weight for b in found.bins) == pytest.approx(sum(right))


def test_weights_count_and_bad_ones_are_refused() -> None:
    X, y = [[1.0], [2.0]], [0, 1]
    clf = OptimalTreeClassifier(max_depth=1, probabilities="laplace").fit(X, y)
    assert [b.weight for b in calibration(clf, X, y, [3.0, 0.0]).bins] == [3.0]
    with pytest.raises(ValueError, match="sample_weight"):
        calibration(clf, X, y, [1.0])
    with pytest.raises(ValueError, match="labels known from training"):
        calibration(clf, X, [0, 7])


def test_plot() -> None:
    pytest.importorskip("matplotlib").use("agg")
    prepared, folds, trees = noisy(n_classes=3)
    axes = held_out_calibration(trees, prepared, folds, None).plot()
    assert axes.get_xlabel() == "probability of the label predicted"


def test_the_tree_that_tunes_itself_has_both() -> None:
    """OptimalTreeCV smooths by default, and knows its calibration on rows held out."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(120, 2)).round(1)
    y = np.where(X[:, 0] + rng.normal(size=120) > 1.0, "yes", "no")
    options = {"max_depth": 1, "cv": 3, "min_samples_leaf": 1, "criterion": "errors"}
    clf = OptimalTreeCV(**options, scoring="balanced_accuracy", class_weight="balanced").fit(X, y)
    smoothing = clf.tree_.values.smoothing
    assert smoothing is not None
    np.testing.assert_array_equal(clf.predict_proba(X).argmax(axis=1), clf.tree_.predict(X))
    found = clf.calibration_
    assert found.label == "yes"
    assert found.rows.startswith("rows held out of")
    # Classes weigh the same in training, and so they do here.
    said = sum(b.predicted * b.weight for b in found.bins) / sum(b.weight for b in found.bins)
    assert said == pytest.approx(0.5, abs=0.05)
    assert evidence_of(clf, X, y)["calibration"]["rows"] == found.rows
    plain = OptimalTreeCV(**options, probabilities="shares").fit(X, y)
    assert plain.tree_.values.smoothing is None
