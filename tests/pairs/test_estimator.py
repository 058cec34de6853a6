"""Estimators with splits about two columns: bad input, and what shows their trees."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from provetree import (
    OptimalTreeClassifier,
    StoredModel,
    Tree,
    load_model,
    runner_up_splits,
    stability,
    verify,
    write_report,
)
from provetree.export import UnsupportedTreeError, model_schema, to_sklearn_pipeline
from provetree.export.words import proof_sentence
from provetree.options import ParameterError
from provetree.problem import ordering, pairs
from provetree.report.sentences import explain_row, question, rules
from testkit.naive_pairs import decimal, naive_cost, naive_divisions, naive_family, thresholds

NAN = math.nan


def leaning(n: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two columns whose difference is the class, and one that means nothing."""
    rng = np.random.default_rng(seed)
    # Even steps, so that the second column has twice the spread of the first.
    X = np.column_stack([rng.permutation(n) for _ in range(3)]) / 100 * [1.0, 2.0, 1.0]
    return X, (2 * X[:, 0] - X[:, 1] > 0.15).astype(int)


# -- bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_angles", [0, 1, 3, 66, 2.0, True, "2", None])
def test_angles_out_of_range(n_angles: object) -> None:
    words = r"'n_angles' parameter of .* must be an even int in the range \[2, 64\]. Got"
    with pytest.raises(ParameterError, match=words):
        OptimalTreeClassifier(splits="pairs", n_angles=n_angles).fit(*leaning())  # type: ignore


def test_splits_of_another_name() -> None:
    with pytest.raises(ParameterError, match="the str 'pairs' or the str 'ratios'"):
        OptimalTreeClassifier(splits="triples").fit(*leaning())


def test_fewer_than_two_columns_of_numbers() -> None:
    clf = OptimalTreeClassifier(splits="pairs")
    with pytest.raises(ValueError, match=r"two or more columns of numbers. Got a table with 1"):
        clf.fit([[1.0], [2.0]], [0, 1])
    words = np.array([["a", 1], ["b", 2]], dtype=object)
    with pytest.raises(ValueError, match=r"two or more columns of numbers. Got a table with 1"):
        clf.fit(words, [0, 1])
    with pytest.raises(ValueError, match=r"can be 'ratios' for tables of two or more columns"):
        OptimalTreeClassifier(splits="ratios").fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("few", [[], [2], [0, 0]])
def test_fewer_than_two_columns_that_may_be_paired(few: list[int]) -> None:
    sentence = rf"'pair_columns' parameter .* or be None for all 3. Got {len(set(few))}\."
    with pytest.raises(ValueError, match=sentence):
        OptimalTreeClassifier(splits="pairs", pair_columns=few).fit(*leaning())


def test_more_pairs_than_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = leaning()
    monkeypatch.setattr(ordering, "MAX_CELLS", 300)
    with pytest.raises(ValueError, match="with its 6 sums of two columns, and at most 300 are"):
        OptimalTreeClassifier(splits="pairs").fit(X, y)
    OptimalTreeClassifier(max_depth=1).fit(X, y)
    monkeypatch.undo()
    monkeypatch.setattr(pairs, "MOST_SUMS", 5)
    with pytest.raises(ValueError, match=r"up to 5 sums of two columns. Got 3 columns of numbers"):
        OptimalTreeClassifier(splits="pairs").fit(X, y)


def test_max_memory_holds_the_sums() -> None:
    X, y = leaning(600)
    sentence = "'max_memory' parameter .* Got '60kB', and 6 sums of 600 rows need about 1 MiB"
    with pytest.raises(ValueError, match=sentence):
        OptimalTreeClassifier(splits="pairs", max_memory="60kB").fit(X, y)
    few = OptimalTreeClassifier(splits="pairs", max_memory="60kB", pair_columns=[0, 1])
    assert few.fit(X, y).status_ == "optimal"


def test_constant_columns_and_infinities_are_asked_about_alone() -> None:
    X, y = leaning()
    X[:, 2] = 7.0
    X = np.column_stack([X, np.where(y, math.inf, 0.0)])
    clf = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y)
    assert clf.objective_ == 0
    assert clf.tree_.feature[0] == 3  # the earlier column of those that tell the class
    assert OptimalTreeClassifier(splits="pairs").fit(X[:, 2:], y).objective_ == 0


def test_scales_far_apart_give_the_right_tree() -> None:
    X, y = leaning()
    plain = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y)
    far = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X * [1.0, 1e12, 1e-12], y)
    assert plain.objective_ == far.objective_ == 0
    assert plain.tree_.question_names[3] == "2*x0 - x1"
    assert far.tree_.question_names[3] == "2000000000000*x0 - x1"


def test_rows_that_lack_a_column_go_where_the_proof_sends_them() -> None:
    X, y = leaning(80)
    X[:12, 0] = NAN
    y[:12] = 1
    clf = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y)
    assert clf.objective_ == 0
    assert clf.predict([[NAN, 5.0, 0.0], [1.0, NAN, 0.0]]).tolist() == [1, 1]
    assert "or missing" in clf.export_text()


def test_weights_count_as_rows() -> None:
    X, y = leaning(40)
    y[:5] = 1 - y[:5]
    weights = np.arange(40) % 3
    one = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y, weights)
    rows = np.repeat(np.arange(40), weights)
    two = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X[rows], y[rows])
    assert (one.objective_, one.tree_.combinations) == (two.objective_, two.tree_.combinations)
    assert one.tree_.threshold[0] == two.tree_.threshold[0]


# -- the tree that is shown is the tree that is proven -----------------------------------------


def test_pairs_never_cost_more_and_columns_stay_the_default() -> None:
    X, y = load_iris(return_X_y=True)
    alone = OptimalTreeClassifier(max_depth=2).fit(X, y)
    both = OptimalTreeClassifier(max_depth=2, splits="pairs").fit(X, y)
    more = OptimalTreeClassifier(max_depth=2, splits="pairs", n_angles=6).fit(X, y)
    assert alone.objective_ >= both.objective_ >= more.objective_
    assert not alone.tree_.combinations
    assert clone(more).n_angles == 6


def test_everything_that_shows_a_tree() -> None:
    X, y = leaning()
    clf = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y)
    tree = clf.tree_
    assert clf.export_text().splitlines()[0].startswith("2*x0 - x1 <= ")
    assert question(tree, 0).startswith("Is 2*x0 - x1 at most ")
    assert rules(tree)[0].sentence.startswith("If 2*x0 - x1 is at most ")
    assert explain_row(tree, [3.0, 1.0, 0.0])[0][0].startswith("2*x0 - x1 is 5, which is above")
    assert '"2*x0 - x1 <= ' in clf.export_graphviz()
    assert "2*x0 - x1" in clf._repr_html_()
    assert clf.feature_importances_.tolist() == [0.5, 0.5, 0.0]
    sentence = proof_sentence(StoredModel.of(clf).proof)  # type: ignore[arg-type]
    assert "no tree of depth 1 on columns and sums of two makes fewer" in sentence
    assert verify(tree, X, y).cost == 0
    with pytest.raises(UnsupportedTreeError, match="is about two: use to_sklearn_pipeline"):
        clf.to_sklearn()
    assert to_sklearn_pipeline(tree).predict(X).tolist() == clf.predict(X).tolist()


def test_ratios_are_asked_as_sums(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = rng.lognormal(size=(80, 3))
    y = (X[:, 0] > 1.7 * X[:, 1]).astype(int)
    clf = OptimalTreeClassifier(max_depth=1, splits="ratios").fit(X, y)
    assert (clf.objective_, clf.status_) == (0, "optimal")
    assert OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y).objective_ > 0
    tree = clf.tree_
    (question,) = tree.combinations
    assert (question.columns, question.coefficients[0], tree.threshold[0]) == ((0, 1), 1.0, 0.0)
    assert question.coefficients[1] == pytest.approx(-1.7, rel=0.1)
    assert verify(tree, X, y).cost == 0
    # What is not positive is still a sum; what is missing goes with more rows.
    assert clf.predict([[0.0, 1.0, 1.0], [1.0, -1.0, 1.0]]).tolist() == [0, 1]
    clf.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").tree == tree
    assert to_sklearn_pipeline(tree).predict(X).tolist() == y.tolist()
    sentence = proof_sentence(StoredModel.of(clf).proof)  # type: ignore[arg-type]
    assert "on columns and sums of two and ratios of two makes fewer" in sentence
    # Rows that lack a column keep their own side.
    X[:9, 1], y[:9] = NAN, 1
    missing = OptimalTreeClassifier(max_depth=1, splits="ratios").fit(X, y)
    assert missing.objective_ == 0 == verify(missing.tree_, X, y).cost


def test_model_files_and_reports(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    X, y = leaning()
    clf = OptimalTreeClassifier(max_depth=1, splits="pairs", probabilities="laplace").fit(X, y)
    clf.save(tmp_path / "model.json")
    stored = json.loads((tmp_path / "model.json").read_text())
    jsonschema.validate(stored, model_schema())
    assert stored["tree"]["version"] == 5
    assert stored["tree"]["combinations"] == [{"columns": [0, 1], "coefficients": [2.0, -1.0]}]
    assert load_model(tmp_path / "model.json").tree == clf.tree_
    assert Tree.from_text(clf.tree_.to_text()) == clf.tree_
    # A version that knows no combinations must not carry them.
    stored["tree"]["version"] = 4
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(stored, model_schema())
    write_report(clf, tmp_path / "report.html", X, y)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '"columns": ["x0", "x1"]' in page
    assert '"coefficients": [2.0, -1.0]' in page


def test_verify_adds_up_by_itself() -> None:
    X, y = leaning()
    tree = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y).tree_
    wrong = tree.replaced(threshold=tree.threshold + 1.0)
    expected = int((wrong.predict(X) != y).sum())
    assert expected > 0
    assert verify(wrong, X.tolist(), y.tolist()).cost == expected
    missing = [[None, 1.0, 2.0], [1.0, NAN, 2.0]]
    side = int(tree.label[tree.left[0] if tree.missing_left[0] else tree.right[0]])
    assert verify(tree, missing, [side, side]).cost == 0


@pytest.mark.parametrize("seed", range(25))
def test_runner_ups_are_the_best_of_other_columns(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p, depth = 11, 3, 1 + seed % 2
    X = rng.integers(0, 6, (n, p)).astype(float)
    if seed % 3 == 0:
        X[:, 2] = 4.0  # what is left of sums with it orders the rows as a column does
    y = rng.integers(0, 2, n)
    clf = OptimalTreeClassifier(max_depth=depth, splits="pairs").fit(X, y)
    if not clf.tree_.n_splits:
        return
    found = runner_up_splits(clf, X, y)[0]
    asked = set(clf.tree_.columns_of(int(clf.tree_.feature[0])))
    columns = [[decimal(x) for x in column] for column in X.T.tolist()]
    below = naive_divisions(columns, [None] * p, 2)
    others = _divisions_without(columns, asked)
    everything = 2**n - 1
    labels = y.tolist()

    def cost(rows: int, levels: int) -> int:
        weights = [1 if rows >> i & 1 else 0 for i in range(n)]
        return int(naive_cost(below, labels, weights, max_depth=levels)[0])  # type: ignore

    best = min(
        [cost(everything, 0)]
        + [
            cost(left, depth - 1) + cost(everything & ~left, depth - 1)
            for left in others
            if 0 < left < everything
        ]
    )
    assert found.status == "optimal"
    assert found.extra == best - clf.objective_


def _divisions_without(columns: list, asked: set[int]) -> set[int]:
    """The divisions of all splits that are not about just these columns."""
    found: set[int] = set()
    for c in range(3):
        if {c} != asked:
            found |= naive_divisions([columns[c]], [None], 2)
    for pair in ((0, 1), (0, 2), (1, 2)):
        if set(pair) != asked:
            found |= _sum_divisions(columns, pair)
    return found


def _sum_divisions(columns: list, pair: tuple[int, int]) -> set[int]:
    own = [columns[c] for c in pair]
    found: set[int] = set()
    for _, _, slope in naive_family(own, 2):
        found |= set(thresholds([x + slope * y for x, y in zip(*own, strict=True)]))
    return found


def test_stability_knows_sums_by_what_they_are() -> None:
    X, y = leaning(120)
    clf = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y)
    found = stability(clf, X, y, n_refits=6)
    assert found.splits[0].anywhere == 1.0
    assert found.column_use.tolist() == [1.0, 1.0, 0.0]


def test_a_tree_to_begin_with_may_have_sums() -> None:
    X, y = leaning()
    first = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y)
    again = OptimalTreeClassifier(max_depth=2, splits="pairs").fit(X, y, initial_tree=first)
    assert again.objective_ == 0
    with pytest.raises(ValueError, match="splits='pairs' one of its sums of two"):
        OptimalTreeClassifier(max_depth=1).fit(X, y, initial_tree=first)
