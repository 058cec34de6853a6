"""OCT-H: against every division by lines on tiny tables, its starts, its limits, its trees."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from provetree import MIPTreeClassifier, OptimalTreeClassifier, build_problem
from provetree.export import to_sklearn_pipeline
from provetree.formulations.formulation import Settings
from provetree.formulations.oct_h import OCTH
from provetree.problem.hyperplanes import normalised_gap, readable_coefficients, widest_gap
from provetree.tree.verify import verify
from testkit.naive_hyperplanes import best_cost, gap_of_lines, unit_points


def random_case(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    depth = int(rng.choice([1, 2], p=[0.4, 0.6]))
    X = rng.integers(0, int(rng.choice([2, 3, 6])), (n, 2)).astype(float)
    y = rng.integers(0, int(rng.choice([2, 3])), n)
    if seed % 5 == 0:
        X[:, 1] = 3.0
    weights = rng.integers(1, 4, n) if seed % 3 == 0 else np.ones(n, dtype=int)
    options: dict[str, Any] = {
        "max_depth": depth,
        "alpha": float(rng.choice([0.0, 0.0, 0.1])),
        "min_samples_leaf": int(rng.choice([1, 1, 2])),
        "max_splits": [None, 1, 2][int(rng.integers(0, 3))],
        "split_gap": float(rng.choice([0.005, 0.237, 0.391])),
        "max_columns_per_split": [None, 1, 2][int(rng.integers(0, 3))],
        "warm_start": [None, "cart", "search"][seed % 3],
        "tighten": bool(seed % 2),
        "merge_rows": bool(rng.random() < 0.7),
    }
    return X, y, weights, options


def check(seed: int, solver: str = "highs") -> None:
    X, y, weights, options = random_case(seed)
    clf = MIPTreeClassifier("oct-h", solver=solver, **options).fit(X, y, weights)
    baseline = int(np.bincount(y, weights).max())
    penalty = Fraction(repr(options["alpha"])) * baseline
    expected = best_cost(
        X.astype(int).tolist(),
        y.tolist(),
        weights.tolist(),
        depth=options["max_depth"],
        gap=Fraction(repr(options["split_gap"])),
        penalty=penalty,
        max_columns=options["max_columns_per_split"] or 2,
        min_samples_leaf=options["min_samples_leaf"],
        max_splits=options["max_splits"],
    )
    assert clf.status_ == "optimal"
    assert clf.objective_ == pytest.approx(float(expected), abs=1e-9)
    assert clf.lower_bound_ == pytest.approx(float(expected), abs=1e-9)
    # The tree costs on the rows what is claimed, and keeps to every limit.
    tree = clf.tree_
    asked = sum(len(tree.columns_of(f)) for f in tree.feature.tolist() if f >= 0)
    wrong = int(weights[clf.predict(X) != y].sum())
    assert Fraction(wrong) + penalty * asked == expected
    most = options["max_columns_per_split"] or 2
    assert all(len(tree.columns_of(f)) <= most for f in tree.feature.tolist() if f >= 0)
    assert tree.depth <= options["max_depth"]
    assert tree.n_splits <= (3 if options["max_splits"] is None else options["max_splits"])


@pytest.mark.parametrize("seed", range(16))
def test_against_every_division_by_lines(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(60))
def test_against_every_division_by_lines_often(chunk: int) -> None:
    for seed in range(100 * chunk, 100 * chunk + 100):
        check(seed)


@pytest.mark.parametrize("solver", ["gurobi", "scip"])
@pytest.mark.parametrize("seed", [1, 4, 8])
def test_other_solvers(solver: str, seed: int) -> None:
    pytest.importorskip({"gurobi": "gurobipy", "scip": "pyscipopt"}[solver])
    check(seed, solver)


@pytest.mark.parametrize("seed", range(40))
def test_the_widest_gap_is_the_distance_of_hulls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 7, (int(rng.integers(2, 9)), 2))
    left = rng.random(len(rows)) < 0.5
    left[0], left[1] = True, False
    points = unit_points(rows.tolist())
    ours = [points[i] for i in np.flatnonzero(left)]
    theirs = [points[i] for i in np.flatnonzero(~left)]
    expected = float(gap_of_lines(ours, theirs))
    values = np.array([[float(x) for x in p] for p in points])
    direction, gap = widest_gap(values, left)
    assert max(gap, 0.0) == pytest.approx(expected, abs=1e-9)
    if expected > 0 and (direction != 0).all():
        spans = np.ptp(rows, axis=0).astype(float)
        short = readable_coefficients(rows.astype(float), spans, direction, left)
        assert normalised_gap(values, short * spans, left) >= expected / 2 - 1e-12
        assert normalised_gap(rows.astype(float), short, left) > 0


# -- models, starts and trees ------------------------------------------------------------------


def slanted(n: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three columns; the class follows from a sum of all of them."""
    X = np.random.default_rng(seed).normal(size=(n, 3)) * [1.0, 10.0, 0.1]
    return X, (X[:, 0] + X[:, 1] / 10 - X[:, 2] * 10 > 0.2).astype(int)


def test_the_size_is_that_of_the_paper() -> None:
    X, y = slanted(12)
    problem = build_problem(X, y, n_classes=2, max_depth=2)
    model = OCTH(problem, Settings(2)).model
    n, p, k, b, leaves = 12, 3, 2, 3, 4
    assert model.n_variables == 3 * p * b + 2 * b + n * leaves + 3 * leaves + 2 * k * leaves
    splits = 4 * p * b + 4 * b + (b - 1)  # size twice, used twice; norm, some column, b twice
    assert model.n_constraints == (
        splits + 2 * n * leaves + n * leaves + n + leaves + leaves + 3 * k * leaves + leaves
    )


def test_three_columns_are_asked_about_and_shown() -> None:
    X, y = slanted()
    clf = MIPTreeClassifier("oct-h", max_depth=1, warm_start="search", split_gap=1e-3).fit(X, y)
    assert (clf.status_, clf.objective_) == ("optimal", 0)
    tree = clf.tree_
    assert tree.columns_of(int(tree.feature[0])) == (0, 1, 2)
    assert verify(tree, X, y).cost == 0
    assert clf.export_text().count("x1") == clf.export_text().count("x2") == 2
    assert to_sklearn_pipeline(tree).predict(X).tolist() == y.tolist()
    few = MIPTreeClassifier("oct-h", max_depth=1, max_columns_per_split=2, time_limit=30)
    few.fit(X, y)
    assert few.objective_ >= few.lower_bound_ > 0
    assert len(few.tree_.columns_of(int(few.tree_.feature[0]))) <= 2


def test_started_from_the_tree_of_pairs_it_is_never_worse() -> None:
    rng = np.random.default_rng(5)
    X = rng.integers(0, 20, (60, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] > 20).astype(int) ^ (rng.random(60) < 0.1)
    pairs = OptimalTreeClassifier(max_depth=2, splits="pairs").fit(X, y)
    for start in ("search", pairs, pairs.tree_):
        clf = MIPTreeClassifier("oct-h", warm_start=start, time_limit=0.5).fit(X, y)
        assert clf.counters_["warm_started"] == 1
        assert clf.objective_ <= pairs.objective_


def test_a_start_without_gaps_is_changed_until_it_has_them() -> None:
    # Neighbours are 0.001 of the range apart: no question between them leaves a gap of 0.3.
    X = np.column_stack([np.append(np.arange(10) / 1000, 1.0), np.zeros(11)])
    y = np.append(np.arange(10) % 2, 1)
    clf = MIPTreeClassifier("oct-h", max_depth=1, split_gap=0.3, warm_start="search").fit(X, y)
    assert (clf.status_, clf.objective_) == ("optimal", 5)
    loose = OptimalTreeClassifier(max_depth=1).fit(X, y)
    assert loose.objective_ < 5


def test_rows_far_from_the_origin_and_scales_far_apart() -> None:
    X, y = slanted(20)
    far = X * [1.0, 1e12, 1e-12] + [1e6, 0.0, 0.0]
    clf = MIPTreeClassifier("oct-h", max_depth=1, warm_start="search", split_gap=1e-3).fit(far, y)
    assert clf.objective_ == 0 == verify(clf.tree_, far, y).cost


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": "cp-sat"}, "CP-SAT works on whole numbers"),
        ({"max_column_uses": {0: 1}}, "'max_columns_per_split' limits the columns"),
        ({"max_columns_per_split": 0}, r"int in the range \[1, inf\)"),
        ({"split_gap": 0.0}, "'split_gap' parameter"),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MIPTreeClassifier("oct-h", **options).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def test_other_models_have_one_column_per_question() -> None:
    with pytest.raises(ValueError, match="whose questions are about one column"):
        MIPTreeClassifier("oct", max_columns_per_split=2).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_tables_without_hyperplanes(bad: float) -> None:
    with pytest.raises(ValueError, match="missing or infinite values in column 'x1'"):
        MIPTreeClassifier("oct-h").fit([[0.0, 1.0], [1.0, bad]], [0, 1])
    words = np.array([["a", 1.0], ["b", 2.0]], dtype=object)
    with pytest.raises(ValueError, match="Got categories in column 'x0'"):
        MIPTreeClassifier("oct-h").fit(words, [0, 1])


def test_recalls_hold_for_hyperplanes() -> None:
    X, y = slanted(20)
    y[:3] = 1 - y[:3]
    clf = MIPTreeClassifier("oct-h", max_depth=1, min_recall={1: 1.0}, split_gap=0.2).fit(X, y)
    assert clf.predict(X)[y == 1].all()
