"""Runner-up splits against a twin that tries every split and solves both sides."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, runner_up_splits
from provetree.problem.prepare import prepare_for
from provetree.problem.problem import build_problem
from provetree.search.engine import ExactSearch
from provetree.tree.tree import Tree
from testkit.random_problems import random_table


def fitted(seed: int) -> tuple[OptimalTreeClassifier, Any, Any, Any]:
    table = random_table(seed, max_depth=int(np.random.default_rng(seed).integers(1, 4)))
    options = table.options
    X: Any = table.X.astype(object)
    categorical = []
    for j, levels in enumerate(options["categories"]):
        if levels is not None:
            codes = table.X[:, j]
            X[:, j] = [None if math.isnan(x) else levels[int(x)] for x in codes]
            categorical.append(j)
    clf = OptimalTreeClassifier(
        max_depth=options["max_depth"],
        max_leaf_nodes=options["max_leaf_nodes"],
        min_samples_leaf=options["min_samples_leaf"],
        alpha=options["alpha"],
        categorical_features=categorical,
    )
    weights = options["sample_weight"]
    if weights is not None:  # weights that are whole keep every cost whole
        weights = np.rint(weights)
        if weights.max() == 0 or weights.max() > 1000:
            weights = None
    return clf.fit(X, table.y, sample_weight=weights), X, table.y, weights


def twin(clf: OptimalTreeClassifier, X: Any, y: Any, weights: Any, node: int) -> float:
    """The least extra cost of a leaf or of a split on another column, by trying all."""
    tree: Tree = clf.tree_
    encoded = clf.encoder_.transform(X)
    whole = prepare_for(clf, X, y, weights).problem
    penalty = whole.split_penalty / whole.error_scale / float(whole.weight_scale)
    w = np.ones(len(y)) if weights is None else weights
    rows = np.flatnonzero((tree.decision_path(encoded).toarray()[:, node] == 1) & (w > 0))
    codes = np.searchsorted(clf.classes_, y)
    depth = whole.max_depth - int(tree.node_depth[node])
    below = [n for n in range(node, tree.n_nodes) if _under(tree, node, n)]
    splits_here = sum(bool(tree.feature[n] >= 0) for n in below)
    budget = whole.max_splits - (tree.n_splits - splits_here)
    wrong = tree.predict(encoded[rows]) != codes[rows]
    current = w[rows][wrong].sum() + penalty * splits_here

    def solved(part: Any, most: int) -> float:
        problem = build_problem(
            encoded[part],
            codes[part],
            n_classes=len(clf.classes_),
            max_depth=depth - 1,
            categories=clf.encoder_.categories,
            sample_weight=w[part],
            max_leaf_nodes=most + 1,
            min_samples_leaf=whole.min_samples_leaf,
        )
        # The penalty of the whole table: try every number of splits.
        return min(_errors(problem, k) + penalty * k for k in range(problem.max_splits + 1))

    totals = np.bincount(codes[rows], w[rows])
    best = totals.sum() - totals.max()
    for f in range(tree.n_features):
        if f == tree.feature[node]:
            continue
        for left in _sides(encoded[rows, f], clf.encoder_.categories[f]):
            sides = rows[left], rows[~left]
            if min(map(len, sides)) < whole.min_samples_leaf:
                continue
            for share in range(budget):
                both = solved(sides[0], share) + solved(sides[1], budget - 1 - share)
                best = min(best, penalty + both)
    return float(best - current)


def _errors(problem: Any, splits: int) -> float:
    from dataclasses import replace

    limited = replace(problem, max_splits=splits, max_depth=min(problem.max_depth, splits))
    return ExactSearch().solve(limited).cost


def _sides(x: Any, levels: Any) -> list[Any]:
    missing = np.isnan(x)
    found = []
    if levels is not None:
        found = [x == code for code in range(len(levels))] + [missing]
    else:
        for value in np.unique(x[~missing]):
            below = x <= value
            found += [below, below | missing]
        found.append(missing)
    return [side for side in found if side.any() and not side.all()]


def _under(tree: Tree, top: int, node: int) -> bool:
    while node > top:
        node = next(
            n for n in range(node) if tree.feature[n] >= 0 and node in (tree.left[n], tree.right[n])
        )
    return node == top


@pytest.mark.parametrize("seed", range(45))
def test_against_the_twin(seed: int) -> None:
    clf, X, y, weights = fitted(seed)
    found = runner_up_splits(clf, X, y, weights)
    assert [r.node for r in found] == np.flatnonzero(clf.tree_.feature >= 0).tolist()
    for runner_up in found:
        assert runner_up.status == "optimal"
        assert runner_up.extra == runner_up.extra_at_least
        assert runner_up.extra >= 0
        assert runner_up.feature != clf.tree_.feature[runner_up.node]
        expected = twin(clf, X, y, weights, runner_up.node)
        assert runner_up.extra == pytest.approx(expected), (seed, runner_up)


def test_a_copy_of_a_column_takes_its_place_for_nothing() -> None:
    # Guards the order of the columns: a problem leaves out the second of two equal columns.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    X = np.column_stack([X, 2 * X[:, 0] + 1, -X[:, 1]])
    y = (X[:, 0] > 0.2).astype(int)
    clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    (found,) = runner_up_splits(clf, X, y)
    assert (found.feature, found.extra, found.status) == (2, 0, "optimal")


def test_runner_ups_may_have_more_splits_than_pay() -> None:
    """Guards the limit of 1 / alpha splits, which only a tree as good as a leaf keeps to."""
    X = [
        [1, 1, 1, 1],
        [1, 0, 1, 0],
        [1, 0, 0, 1],
        [0, 1, 1, 1],
        [0, 0, 0, 0],
        [0, 1, 0, 1],
        [0, 0, 1, 1],
    ]
    y, weights = [1, 0, 0, 0, 0, 0, 0], [10, 6, 6, 20, 5, 3, 4]
    clf = OptimalTreeClassifier(max_depth=3, alpha=0.4).fit(X, y, weights)
    assert clf.objective_ == 8  # two splits, each worth four errors
    found = runner_up_splits(clf, X, y, weights)[1]
    # Without the second column two splits take its place; a leaf would make ten errors.
    assert (found.feature, found.extra, found.status) == (2, 4, "optimal")


def test_out_of_time_gives_a_valid_range() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    clf = OptimalTreeClassifier(max_depth=3).fit(X, y)
    exact = runner_up_splits(clf, X, y)
    short = runner_up_splits(clf, X, y, time_limit=0.02)
    for a, b in zip(exact, short, strict=True):
        assert b.extra_at_least <= a.extra <= b.extra
        assert (b.status == "optimal") == (b.extra == b.extra_at_least) or b.extra == a.extra


def test_other_rows_are_refused() -> None:
    clf = OptimalTreeClassifier(max_depth=1).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="rows the tree was fitted on: 2 rows"):
        runner_up_splits(clf, [[1.0], [2.0], [3.0]], [0, 1, 1])
