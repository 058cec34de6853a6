"""Leaves refitted on other rows, Laplace's correction, and stability."""

from __future__ import annotations

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, refit_leaves, stability

X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
Y = ["a", "a", "b", "b", "c", "c"]


def test_leaves_hold_what_the_new_rows_say() -> None:
    clf = OptimalTreeClassifier(max_depth=2).fit(X, Y)
    new = [[1.0], [1.0], [1.5], [3.5]]
    honest = refit_leaves(clf, new, ["a", "b", "b", "b"])
    leaf = clf.apply([[1.0]])[0]
    np.testing.assert_array_equal(honest.tree_.value[leaf], [1, 2, 0])
    assert honest.predict([[1.0]])[0] == "b"
    assert clf.predict([[1.0]])[0] == "a", "the classifier itself is not changed"
    # No row reached the last leaf: it keeps what training gave it.
    np.testing.assert_array_equal(honest.predict_proba([[9.0]]), clf.predict_proba([[9.0]]))
    np.testing.assert_array_equal(honest.tree_.feature, clf.tree_.feature)


def test_no_proof_is_carried_over() -> None:
    honest = refit_leaves(OptimalTreeClassifier(max_depth=1).fit(X, Y), X, Y)
    for name in ("status_", "objective_", "lower_bound_", "gap_", "solution_", "history_"):
        assert not hasattr(honest, name)
    assert "Proven" not in honest._repr_html_()


def test_missing_values_keep_their_side() -> None:
    # Guards the side of missing values, which follows the heavier side where training saw none.
    clf = OptimalTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], [0, 0, 1])
    before = clf.apply([[np.nan]])
    honest = refit_leaves(clf, [[3.0]] * 9, [1] * 9)
    np.testing.assert_array_equal(honest.apply([[np.nan]]), before)


def test_laplace() -> None:
    clf = OptimalTreeClassifier(max_depth=2).fit(X, Y)
    np.testing.assert_allclose(clf.predict_proba([[1.0]], laplace=1.0), [[3 / 5, 1 / 5, 1 / 5]])
    honest = refit_leaves(clf, X, Y, laplace=1.0)
    np.testing.assert_array_equal(honest.predict_proba(X), clf.predict_proba(X, laplace=1.0))
    np.testing.assert_array_equal(honest.predict_proba(X, laplace=0), clf.predict_proba(X))
    np.testing.assert_array_equal(honest.predict(X), clf.predict(X))


def test_weights() -> None:
    clf = OptimalTreeClassifier(max_depth=0).fit(X, Y)
    honest = refit_leaves(clf, X, Y, [0, 0, 1, 1, 3, 3])
    np.testing.assert_allclose(honest.predict_proba([[0.0]]), [[0.0, 0.25, 0.75]])
    assert honest.tree_.n_samples[0] == 4


def test_bad_input() -> None:
    clf = OptimalTreeClassifier(max_depth=1).fit(X, Y)
    with pytest.raises(ValueError, match=r"labels known from training \('a', 'b', 'c'\). Got 'z'"):
        refit_leaves(clf, X, ["z"] * 6)
    with pytest.raises(ValueError, match="one label for each of the 6 rows"):
        refit_leaves(clf, X, ["a"])
    with pytest.raises(ValueError, match="The 'laplace' parameter of refit_leaves"):
        refit_leaves(clf, X, Y, laplace=-1.0)
    with pytest.raises(ValueError, match="The 'laplace' parameter of predict_proba"):
        clf.predict_proba(X, laplace=float("nan"))
    with pytest.raises(ValueError, match="The 'n_refits' parameter of stability"):
        stability(clf, X, Y, n_refits=0)


def test_a_clear_split_always_comes_back() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(200, 3))
    table = np.column_stack([rng.normal(size=200), noise])
    labels = (table[:, 0] > 0.3).astype(int)
    clf = OptimalTreeClassifier(max_depth=1).fit(table, labels)
    found = stability(clf, table, labels, n_refits=8)
    (split,) = found.splits
    assert (split.same_place, split.anywhere) == (1.0, 1.0)
    assert split.low <= split.high
    assert found.column_use.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert found.n_proven == found.n_refits == 8
    assert found.agreement > 0.95
    again = stability(clf, table, labels, n_refits=8)
    assert again.splits == found.splits, "the same seed gives the same answer"


def test_no_time_leaves_one_refit() -> None:
    X, y = np.arange(12.0)[:, None], np.arange(12) > 5
    clf = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert stability(clf, X, y, n_refits=8, time_limit=0.0).n_refits == 1
    assert stability(clf, X, y, n_refits=8, time_limit=60.0).n_refits == 8


def test_noise_does_not() -> None:
    rng = np.random.default_rng(1)
    table, labels = rng.normal(size=(60, 6)), rng.integers(0, 2, 60)
    clf = OptimalTreeClassifier(max_depth=2).fit(table, labels)
    found = stability(clf, table, labels, n_refits=10)
    assert min(split.same_place for split in found.splits) < 0.8
    assert all(split.same_place <= split.anywhere for split in found.splits)
