"""The best split of a node on each column costs what trying every split of that column says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from provetree import ExactSearch, InfeasibleError, OptimalTreeClassifier
from provetree.problem.prepare import prepare_for
from provetree.selection.other_splits import other_splits


def random_table(rng: np.random.Generator) -> tuple[Any, Any]:
    """Few values, ties, missing values and categories."""
    n, n_columns = int(rng.integers(4, 40)), int(rng.integers(1, 4))
    X = np.empty((n, n_columns), dtype=object)
    for c in range(n_columns):
        if rng.random() < 0.3:
            X[:, c] = rng.choice(["a", "b", "c"], n)
            X[rng.random(n) < 0.1, c] = None
        else:
            X[:, c] = rng.integers(0, int(rng.integers(2, 7)), n).astype(float)
            X[rng.random(n) < (0.15 if rng.random() < 0.4 else 0.0), c] = np.nan
    return X, rng.integers(0, int(rng.integers(1, 4)), n)


def path_to(tree: Any, node: int) -> str:
    path = ""
    while node:
        parent = next(i for i in range(node) if node in (tree.left[i], tree.right[i]))
        path = ("L" if tree.left[parent] == node else "R") + path
        node = parent
    return path


def every_split(X: Any, encoder: Any, column: int) -> list[dict[str, Any]]:
    levels = encoder.categories[column]
    if levels is not None:
        return [{"column": column, "categories": [level]} for level in [*levels, None]]
    values = encoder.transform(X)[:, column]
    found: list[dict[str, Any]] = [{"column": column, "threshold": None}]
    for x in np.unique(values[~np.isnan(values)]):
        for side in ("left", "right"):
            found.append({"column": column, "threshold": float(x), "missing": side})
    return found


def check(seed: int) -> int:
    """Compare all nodes and columns of one random problem; return how many were compared."""
    from provetree import fixed_splits_of

    rng = np.random.default_rng(seed)
    X, y = random_table(rng)
    least = int(rng.choice([1, 1, 2]))
    clf = OptimalTreeClassifier(max_depth=int(rng.integers(1, 4)), min_samples_leaf=least).fit(X, y)
    tree, prepared = clf.tree_, prepare_for(clf, X, y, None)
    compared = 0
    for node in range(tree.n_nodes):
        path = path_to(tree, node)
        if len(path) >= clf.max_depth:
            continue
        above = {} if not path else fixed_splits_of(tree, [path[:-1]])
        told = other_splits(tree, node, prepared, engine=ExactSearch(), seconds=60.0, is_best=True)
        by_column = {other.feature: other for other in told}
        for column in range(X.shape[1]):
            costs = []
            for split in every_split(X, prepared.encoder, column):
                ruled = OptimalTreeClassifier(
                    clf.max_depth, min_samples_leaf=least, fixed_splits={**above, path: split}
                )
                try:
                    costs.append(ruled.fit(X, y).objective_)
                except InfeasibleError:
                    continue
            other = by_column.get(column)
            assert (other is None) == (not costs), (seed, path, column)
            if other is not None:
                assert other.status == "optimal"
                assert other.extra == other.extra_at_least == min(costs) - clf.objective_, (
                    seed,
                    path,
                    column,
                )
                compared += 1
    return compared


@pytest.mark.parametrize("seed", range(12))
def test_every_column_against_all_of_its_splits(seed: int) -> None:
    check(seed)


@pytest.mark.fuzz
def test_many_random_problems() -> None:
    assert sum(check(seed) for seed in range(100, 2100)) > 2000


def test_large_problems_have_honest_ranges() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 5)), rng.integers(0, 2, 3000)
    clf = OptimalTreeClassifier(max_depth=3).fit(X, y)
    prepared = prepare_for(clf, X, y, None)
    quick = other_splits(clf.tree_, 0, prepared, engine=ExactSearch(), seconds=0.02, is_best=True)
    found = {other.feature: other for other in quick}
    assert set(found) == {-1, 0, 1, 2, 3, 4}  # each column has a split, proven or not
    for other in found.values():
        assert 0 <= other.extra_at_least <= other.extra
    own = int(clf.tree_.feature[0])
    assert found[own].extra_at_least == 0
