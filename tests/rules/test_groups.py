"""Splits that send several categories left, against brute force over all groups."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from provetree import (
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    Tree,
    load_model,
    runner_up_splits,
    stability,
    tuning_path,
    verify,
)
from provetree.export import to_sklearn_pipeline
from provetree.export.sklearn import UnsupportedTreeError, to_sklearn
from provetree.problem import category_groups
from provetree.problem.category_groups import _chains, category_orders, group_family
from testkit.naive_groups import naive_group_divisions
from testkit.naive_pairs import naive_best, naive_cost

N_FEW, N_MANY, CHUNK = 300, 100_000, 50
LETTERS = "abcdefghijklmnopq"


def random_case(seed: int) -> dict[str, Any]:
    """A table of a seed: categories, some missing, numbers, ties, weights, tiny n."""
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([1, 2, 3], p=[0.45, 0.45, 0.1]))
    n = int(rng.integers(1, (24, 14, 9)[depth - 1]))
    columns, categorical = [], []
    for _ in range(int(rng.integers(1, 3))):
        x = rng.integers(0, int(rng.choice([2, 4, 5, 7])), n).astype(float)
        if rng.random() < 0.3:
            x[rng.random(n) < 0.3] = math.nan
        columns.append(x)
        categorical.append(True)
    if rng.random() < 0.5:
        x = rng.integers(0, 5, n).astype(float)
        x[rng.random(n) < rng.choice([0.0, 0.2])] = math.nan
        columns.append(x)
        categorical.append(False)
    weights = None
    if rng.random() < 0.3:
        weights = rng.integers(0, 4, n).astype(float)
        weights[0] = 1.0
    return {
        "X": np.column_stack(columns),
        "categorical": categorical,
        "y": rng.integers(0, int(rng.choice([2, 3])), n),
        "weights": weights,
        "most": int(rng.choice([10, 4])),
        "limits": {
            "max_depth": depth,
            "max_leaf_nodes": int(rng.integers(2, 5)) if rng.random() < 0.2 else None,
            "min_samples_leaf": int(rng.integers(1, 4)) if rng.random() < 0.2 else 1,
            "alpha": float(rng.choice([0.05, 0.2])) if rng.random() < 0.2 else 0.0,
        },
    }


def divisions_of(case: dict[str, Any], scores: list[list[Fraction]], whole: Any) -> set[int]:
    present = whole > 0
    columns = [
        [None if math.isnan(x) else x for x in column] for column in case["X"][present].T.tolist()
    ]
    weights = [Fraction(w) for w in whole[present]]
    return naive_group_divisions(columns, case["categorical"], scores, weights, case["most"])


def check(seed: int, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """Fit a random table, and compare with brute force."""
    case = random_case(seed)
    monkeypatch.setattr(category_groups, "MOST_FOR_ALL_GROUPS", case["most"])
    X, y, weights, limits = case["X"], case["y"], case["weights"], case["limits"]
    whole = np.ones(len(X)) if weights is None else weights
    present = whole > 0
    fitted = OptimalTreeClassifier(
        **limits, category_splits="groups", categorical_features=case["categorical"]
    ).fit(X, y, weights)
    # Labels of rows of weight zero are classes as well.
    classes = np.unique(y)[1:] if len(np.unique(y)) <= 2 else np.unique(y)
    scores = [[Fraction(int(label == c)) for label in y[present]] for c in classes]
    divisions = divisions_of(case, scores, whole)
    cost, n_splits = naive_cost(
        divisions, y[present].tolist(), [Fraction(w) for w in whole[present]], **limits
    )
    assert fitted.status_ == "optimal", seed
    assert fitted.objective_ == pytest.approx(float(cost), abs=1e-12), seed
    assert fitted.tree_.n_splits == n_splits, seed
    found = verify(fitted.tree_, X, y, sample_weight=weights)
    assert found.cost + limits["alpha"] * found.root_error * n_splits == pytest.approx(float(cost))
    leaves = np.bincount(fitted.apply(X)[present], minlength=fitted.tree_.n_nodes)
    is_leaf = fitted.tree_.feature < 0
    assert leaves[is_leaf].tolist() == fitted.tree_.n_samples[is_leaf].tolist(), seed
    return fitted.tree_


@pytest.mark.parametrize("chunk", range(N_FEW // CHUNK))
def test_trees_are_the_best_of_all_groups(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = [check(seed, monkeypatch) for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK)]
    assert sum(len(tree.nodes_of_groups) for tree in trees) > CHUNK // 10
    for tree in trees:
        assert Tree.from_text(tree.to_text()) == tree
        assert Tree.from_json(tree.to_json()) == tree


@pytest.mark.fuzz
@pytest.mark.parametrize("chunk", range(N_FEW // CHUNK, N_MANY // CHUNK))
def test_trees_are_the_best_of_all_groups_on_many_tables(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check(seed, monkeypatch)


@pytest.mark.parametrize("seed", range(40))
def test_trees_of_numbers_and_actions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(seed)
    monkeypatch.setattr(category_groups, "MOST_FOR_ALL_GROUPS", case["most"])
    rng = np.random.default_rng(seed)
    X, depth = case["X"], case["limits"]["max_depth"]
    shared = {"category_splits": "groups", "categorical_features": case["categorical"]}
    whole = np.ones(len(X))
    everything = (1 << len(X)) - 1

    y = rng.integers(0, 9, len(X))
    divisions = divisions_of(case, [[Fraction(int(x)) for x in y]], whole)

    def squares(rows: int) -> Fraction:
        own = [Fraction(int(x)) for i, x in enumerate(y) if rows >> i & 1]
        mean = sum(own, Fraction(0)) / len(own)
        return sum(((x - mean) ** 2 for x in own), Fraction(0))

    cost, _ = naive_best(divisions, everything, squares, max_depth=depth)
    number = OptimalTreeRegressor(max_depth=depth, **shared).fit(X, y)
    assert number.objective_ == pytest.approx(float(cost), abs=1e-9), seed

    gains = rng.integers(0, 5, (len(X), 2))
    beside = [[Fraction(int(b - a), 2) for a, b in gains.tolist()]]
    divisions = divisions_of(case, beside, whole)

    def lost(rows: int) -> Fraction:
        own = [row for i, row in enumerate(gains.tolist()) if rows >> i & 1]
        return -Fraction(max(sum(column) for column in zip(*own, strict=True)))

    most, _ = naive_best(divisions, everything, lost, max_depth=depth)
    policy = OptimalPolicyTree(max_depth=depth, **shared).fit(X, gains)
    assert policy.tree_.n_samples[0] == len(X)
    assert gains[np.arange(len(X)), policy.tree_.predict(policy.encode(X))].sum() == -most, seed


@pytest.mark.parametrize("seed", range(40))
def test_one_split_along_the_order_is_the_best_of_all_groups(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two classes and of numbers, whatever the groups: so the pages say."""
    monkeypatch.setattr(category_groups, "MOST_FOR_ALL_GROUPS", 4)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 30))
    X = rng.integers(0, 8, (n, 2)).astype(float)
    X[rng.random((n, 2)) < 0.1] = math.nan
    classes, y = rng.integers(0, 2, n), rng.integers(0, 9, n)
    weights = rng.integers(1, 4, n)
    kept = [Fraction(int(w)) for w in weights]
    divisions = naive_group_divisions(columns_of(X), [True, True], [], kept)
    shared = {"max_depth": 1, "category_splits": "groups", "categorical_features": [0, 1]}

    cost, _ = naive_cost(divisions, classes.tolist(), kept, max_depth=1)
    tree = OptimalTreeClassifier(**shared).fit(X, classes, weights)
    assert "ordered" in group_family(tree.encode(X), [range(8)] * 2).values()
    assert tree.objective_ == cost

    def squares(rows: int) -> Fraction:
        own = [i for i in range(n) if rows >> i & 1]
        total = sum(kept[i] for i in own)
        mean = sum(kept[i] * int(y[i]) for i in own) / total
        return sum((kept[i] * (int(y[i]) - mean) ** 2 for i in own), Fraction(0))

    least, _ = naive_best(divisions, (1 << n) - 1, squares, max_depth=1)
    number = OptimalTreeRegressor(**shared).fit(X, y, weights)
    assert number.objective_ == pytest.approx(float(least), abs=1e-9)


def columns_of(X: Any) -> list[list[float | None]]:
    return [[None if math.isnan(x) else x for x in column] for column in X.T.tolist()]


def test_orders_of_nodes_are_no_family_of_trees() -> None:
    """The example of the pages: a row less, and the best tree along the orders of nodes is worse.

    So such trees have no bound between thresholds, and one order serves the whole tree.
    """
    rows = [
        *(("a", 0, 1, 1), ("a", 1, 0, 0), ("a", 1, 1, 0), ("b", 0, 0, 0)),
        *(("b", 0, 1, 1), ("b", 1, 1, 1), ("c", 0, 0, 1), ("c", 1, 1, 0)),
    ]

    def best(own: list[tuple[str, int, int, int]], depth: int) -> int:
        ones = sum(row[3] for row in own)
        least = min(ones, len(own) - ones)
        if depth == 0:
            return least
        held = {name: [row[3] for row in own if row[0] == name] for name, *_ in own}
        order = sorted(held, key=lambda name: Fraction(sum(held[name]), len(held[name])))
        for goes_left in [
            *(lambda row, group=order[:size]: row[0] in group for size in range(1, len(order))),
            *(lambda row, column=column: row[column] == 0 for column in (1, 2)),
        ]:
            left, right = [r for r in own if goes_left(r)], [r for r in own if not goes_left(r)]
            if left and right:
                least = min(least, best(left, depth - 1) + best(right, depth - 1))
        return least

    assert (best(rows, 2), best(rows[:-1], 2)) == (0, 1)


def test_chains_hold_every_group_once() -> None:
    for n in range(1, 11):
        groups = []
        for steps in _chains(list(range(n))):
            group: set[int] = set()
            for step in steps:
                group |= set(step)
                groups.append(frozenset(group))
        assert len(groups) == len(set(groups)) == 2**n - 1
        assert len(_chains(list(range(n)))) == math.comb(n, n // 2)


def test_many_categories_do_not_exhaust_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 8, (500, 3)).astype(float)
    table[:, 2] %= 5
    levels = [range(8), range(8), range(5)]
    assert group_family(table, levels) == {0: "all", 1: "all", 2: "all"}
    monkeypatch.setattr(category_groups, "MOST_ORDERS", 20)
    assert group_family(table, levels) == {0: "ordered", 1: "ordered", 2: "all"}
    assert len(category_orders(table, levels, table[:, :1])) == 1 + 1 + math.comb(4, 2)


def many(seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "port": rng.choice(list(LETTERS), 300),
            "kind": rng.choice(["a", "b", "c", "d", "e", None], 300),
            "size": rng.normal(size=300),
        }
    )
    y = X["port"].isin(list("bdgkp")) ^ X["kind"].isin(["a", "c"]) ^ (rng.random(300) < 0.1)
    return X, np.where(y, "yes", "no")


def test_everything_that_shows_a_tree_knows_groups(tmp_path: Any) -> None:
    X, y = many()
    clf = OptimalTreeClassifier(max_depth=2, category_splits="groups").fit(X, y)
    tree = clf.tree_
    assert len(tree.nodes_of_groups) >= 2
    assert verify(tree, X, y).cost == clf.objective_
    clf.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.tree == tree
    assert again.proof.parameters["category_splits"] == "groups"
    with pytest.raises(UnsupportedTreeError, match="to_sklearn_pipeline"):
        to_sklearn(tree)
    pipeline = to_sklearn_pipeline(tree, classes=clf.classes_)
    assert pipeline.predict(X).tolist() == clf.predict(X).tolist()
    # A category that training did not know belongs to the rest.
    new = X.iloc[:1].assign(port="zebra", kind="zebra")
    node = 0
    while tree.feature[node] >= 0:
        node = int(tree.right[node]) if tree.codes_left(node) else int(tree.left[node])
    if (tree.category[tree.feature >= 0] >= 0).all():
        assert clf.apply(new).tolist() == [node]
    assert runner_up_splits(clf, X, y)
    assert stability(clf, X, y, n_refits=3).splits
    path = tuning_path(X, y, max_depth=2, cv=3, category_splits="groups")
    assert path.points[-1].errors == clf.objective_


def test_the_order_of_many_categories_is_learned_in_each_fold() -> None:
    """Labels of rows held out must not decide which categories go together."""
    X, y = many(1)
    rng = np.random.default_rng(0)
    path = tuning_path(X[["port"]], rng.permutation(y), max_depth=1, cv=5, category_splits="groups")
    assert path.points[-1].cv_score < 0.6


@pytest.mark.parametrize("wrong", ["all", None, 3])
def test_a_wrong_word_is_named(wrong: Any) -> None:
    with pytest.raises(
        ValueError, match=r"'category_splits' parameter.*'one' or the str 'groups'.*Got"
    ):
        OptimalTreeClassifier(category_splits=wrong).fit([["a"], ["b"]], [0, 1])


def test_certificates_refuse_groups(tmp_path: Any) -> None:
    X, y = many()
    with pytest.raises(ValueError, match="one category at a time"):
        OptimalTreeClassifier(category_splits="groups").certify(X, y, tmp_path / "proof.ptc")
