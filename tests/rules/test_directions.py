"""Trees whose predictions go the way that columns must, against brute force over all of them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from provetree import OptimalTreeClassifier, Tree, _core, load_model, verify
from testkit.naive_rules import monotone_cost, naive_splits, whole
from testkit.random_rules import random_ruled_table, searched_with

N_FEW, N_MANY, CHUNK = 300, 100_000, 50
UNITS = 20  # of a weight: penalties are fifths and twentieths of it


def random_directions(seed: int) -> tuple[dict[str, Any], list[int]]:
    """A table of two classes, and directions of its numbers."""
    case = random_ruled_table(seed)
    rng = case["rng"]
    case["y"] = case["y"] % 2
    X = case["X"]
    ways = [0 if category else int(rng.choice([-1, 0, 1])) for category in case["categorical"]]
    if rng.random() < 0.5:  # a pattern that goes against a direction
        column = int(rng.integers(X.shape[1]))
        case["y"] = np.where(X[:, column] > 1, 0, 1) ^ (rng.random(len(X)) < 0.2)
    return case, ways


def check(seed: int) -> Tree:
    """Fit a random table, and compare with brute force."""
    case, ways = random_directions(seed)
    X, y, weights, limits = case["X"], case["y"], case["weights"], case["limits"]
    each = np.ones(len(X)) if weights is None else weights
    present = each > 0
    columns = [[None if math.isnan(x) else x for x in column] for column in X[present].T.tolist()]
    kept = [whole(w) * UNITS for w in each[present]]
    labels = y[present].tolist()
    everything = (1 << len(labels)) - 1
    totals = [sum(w for w, label in zip(kept, labels, strict=True) if label == c) for c in (0, 1)]
    penalty = whole(Fraction(repr(case["alpha"])) * min(totals))
    splits = naive_splits(columns, case["categorical"])
    expected = monotone_cost(splits, everything, labels, kept, ways, penalty=penalty, **limits)
    model = OptimalTreeClassifier(
        **limits,
        alpha=case["alpha"],
        categorical_features=case["categorical"],
        monotonic_cst=ways,
    ).fit(X, y, weights)
    assert model.status_ == "optimal", seed
    assert model.objective_ == pytest.approx(expected / UNITS, abs=1e-9), seed
    assert model.lower_bound_ == model.objective_, seed
    found = verify(model.tree_, X, y, sample_weight=weights, **limits)
    total = found.cost + penalty * model.tree_.n_splits / UNITS
    assert total == pytest.approx(expected / UNITS, abs=1e-9), seed
    assert found.ok, seed
    if len(model.classes_) == 2:
        goes_its_way(model, ways, np.random.default_rng(seed))
    return model.tree_


def goes_its_way(model: Any, ways: list[int], rng: np.random.Generator) -> None:
    """Predictions and probabilities of new rows keep the directions."""
    rows = rng.integers(-1, 6, (12, len(ways))).astype(float)
    rows[rng.random(rows.shape) < 0.1] = math.nan
    for column, way in enumerate(ways):
        if not way:
            continue
        grid = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0])
        for row in rows:
            table = np.tile(row, (len(grid), 1))
            table[:, column] = grid
            tree = model.tree_
            assert (np.diff(tree.predict(table)) * way >= 0).all()
            assert (np.diff(tree.predict_proba(table)[:, 1]) * way >= -1e-12).all()
            sure = tree.predict_proba(table)[:, 1] > 0.5
            assert (tree.predict(table)[sure] == 1).all()


@pytest.mark.parametrize("chunk", range(N_FEW // CHUNK))
def test_trees_are_the_best_that_keep_directions(chunk: int) -> None:
    trees = [check(seed) for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK)]
    assert sum(tree.n_splits > 1 for tree in trees) > CHUNK // 6
    for tree in trees:
        assert Tree.from_text(tree.to_text()) == tree
        assert Tree.from_json(tree.to_json()) == tree


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(N_FEW // CHUNK, N_MANY // CHUNK))
def test_trees_are_the_best_that_keep_directions_on_many_tables(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check(seed)


def wavy(n: int = 300) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["debt", "age", "income"])
    y = (X["debt"] + 0.3 * X["age"] + np.sin(3 * X["debt"]) + rng.normal(0, 0.5, n)) > 0
    return X, np.where(y, "yes", "no")


def test_names_arrays_and_files(tmp_path: Any) -> None:
    X, y = wavy()
    by_name = OptimalTreeClassifier(monotonic_cst={"debt": 1, "income": -1}).fit(X, y)
    by_array = OptimalTreeClassifier(monotonic_cst=np.array([1, 0, -1])).fit(X, y)
    assert by_name.tree_ == by_array.tree_
    assert by_name.rules_ == (
        "The prediction never falls as debt rises.",
        "The prediction never rises as income rises.",
    )
    by_name.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").tree == by_name.tree_
    free = OptimalTreeClassifier().fit(X, y)
    assert free.objective_ <= by_name.objective_


def test_fixed_splits_keep_directions() -> None:
    """Below a fixed split with a direction, one side predicts one class."""
    X, y = wavy(120)
    given = {"": {"column": "debt", "threshold": 0.0}}
    model = OptimalTreeClassifier(max_depth=3, monotonic_cst={"debt": -1}, fixed_splits=given).fit(
        X, y
    )
    assert (
        np.diff(
            model.predict_proba(
                pd.DataFrame({"debt": np.linspace(-3, 3, 50), "age": 0.0, "income": 0.0})
            )[:, 1]
        )
        <= 1e-12
    ).all()
    assert verify(model.tree_, X, y).cost == model.objective_
    single = OptimalTreeClassifier(max_depth=0).fit(X, y)
    assert model.objective_ <= single.objective_


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"debt": 2}, "must hold -1, 0 and 1. Got 2"),
        ([1, 0], "one number for each of the 3 columns. Got 2"),
        ({"zip": 1}, "must name columns of the table. Got 'zip'"),
    ],
)
def test_wrong_directions_are_named(given: Any, words: str) -> None:
    X, y = wavy(20)
    with pytest.raises(ValueError, match=words):
        OptimalTreeClassifier(monotonic_cst=given).fit(X, y)


def test_categories_and_several_classes_have_no_direction() -> None:
    with pytest.raises(ValueError, match=r"which have no order. Got 1 for 'x0'"):
        OptimalTreeClassifier(monotonic_cst=[1]).fit([["a"], ["b"]], [0, 1])
    with pytest.raises(ValueError, match=r"is for errors of two classes. Got 3 classes"):
        OptimalTreeClassifier(monotonic_cst=[1]).fit([[1.0], [2.0], [3.0]], [0, 1, 2])


@pytest.mark.parametrize("seed", range(12))
def test_tables_of_hundreds_of_rows(seed: int) -> None:
    """Leaves that a direction labels are counted every so many rows: that needs some."""
    rng = np.random.default_rng(seed)
    n, depth = int(rng.integers(200, 500)), 2 + seed % 2
    X = rng.integers(0, 5, (n, 3)).astype(float)
    wave = np.isin(X[:, 0], (1.0, 4.0)) ^ (X[:, 1] > 2)
    y = (wave ^ (rng.random(n) < 0.2)).astype(int)
    ways = [int(rng.choice([-1, 1])), int(rng.choice([-1, 0, 1])), int(rng.choice([0, 1]))]
    limits = {"max_depth": depth, "min_samples_leaf": int(rng.choice([1, 30]))}
    splits = naive_splits(X.T.tolist(), [False] * 3)
    expected = monotone_cost(splits, (1 << n) - 1, y.tolist(), [Fraction(1)] * n, ways, **limits)
    model = OptimalTreeClassifier(**limits, monotonic_cst=ways).fit(X, y)
    assert model.status_ == "optimal"
    assert model.objective_ == expected


def chain_cost(X: Any, y: Any, ways: list[int], depth: int) -> int:
    """The least errors of trees whose splits all have a direction, on at most 64 rows.

    One side of each split is a leaf, so a tree is a chain: a threshold and, or or, the rest of it.
    What a tree predicts is a set of rows, as bits.
    """
    place = np.uint64(1) << np.arange(len(y), dtype=np.uint64)
    whole, ones = place.sum(), place[y == 1].sum()
    up = [
        place[(column > value) if way > 0 else (column <= value)].sum()
        for column, way in zip(X.T, ways, strict=True)
        for value in np.unique(column)
    ]
    above = np.array(up, dtype=np.uint64)[:, None]
    found = np.array([0, whole], dtype=np.uint64)
    for _ in range(depth):
        found = np.unique(np.concatenate([(above & found).ravel(), (above | found).ravel(), found]))
    wrong = (found ^ ones).view(np.uint8).reshape(-1, 8)
    return int(np.unpackbits(wrong, axis=1).sum(axis=1).min())


def check_chains(seed: int) -> None:
    """Trees of which every split has a direction, alone and with samples of few rows."""
    rng = np.random.default_rng(seed)
    n, p, depth = int(rng.integers(20, 65)), int(rng.integers(2, 5)), int(rng.integers(2, 5))
    X = rng.integers(0, int(rng.choice([3, 5, 8])), (n, p)).astype(float)
    ways = [int(way) for way in rng.choice([-1, 1], p)]
    drift = X[:, 0] * ways[0] - X[:, -1] * ways[-1] if rng.random() < 0.5 else X @ np.array(ways)
    middle = np.quantile(drift, rng.choice([0.2, 0.5, 0.8]))
    y = ((drift > middle) ^ (rng.random(n) < rng.choice([0.1, 0.3]))).astype(int)
    if rng.random() < 0.3:
        y = 1 - y  # against all directions
    if len(set(y.tolist())) < 2:
        return
    cost = chain_cost(X, y, ways, depth)
    tiny = _core.TEST_SWITCHES["tiny_samples"] if seed % 3 == 0 else 0
    model = searched_with(tiny)(max_depth=depth, monotonic_cst=ways).fit(X, y)
    assert (model.status_, model.objective_, model.lower_bound_) == ("optimal", cost, cost), seed


@pytest.mark.parametrize("chunk", range(4))
def test_chains_of_leaves(chunk: int) -> None:
    for seed in range(25 * chunk, 25 * (chunk + 1)):
        check_chains(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(2, 400))
def test_chains_of_leaves_on_many_tables(chunk: int) -> None:
    for seed in range(50 * chunk, 50 * (chunk + 1)):
        check_chains(seed)
