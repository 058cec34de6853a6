"""The tuned CART of ``bench new-rows`` is that of GridSearchCV."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from provetree.bench.new_rows import tuned_cart
from provetree.bench.new_rows.tables import ClassTable
from provetree.bench.new_rows.tuned_cart import FOLDS, SEED, grid, prune_ends


def made_up(seed: int, n: int = 150, n_classes: int = 3) -> ClassTable:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + rng.normal(size=n) > 0.5).astype(int) + (X[:, 1] > 1) * (n_classes > 2)
    return ClassTable("made up", X, y)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("seed", range(4))
def test_trees_of_few_leaves_are_parts_of_the_one_of_many(seed: int, criterion: str) -> None:
    table, prices = made_up(seed), (0.0, 0.003, 0.01, 0.03)
    X32 = table.X.astype(np.float32)
    setting = {"criterion": criterion, "random_state": SEED, "min_samples_leaf": 1 + seed}
    many = DecisionTreeClassifier(max_leaf_nodes=16, **setting).fit(X32, table.y)
    reached = many.tree_.apply(X32)
    for leaves in (2, 5, 9, 16):
        for price, ends in zip(prices, prune_ends(many.tree_, leaves, prices), strict=True):
            few = DecisionTreeClassifier(max_leaf_nodes=leaves, ccp_alpha=price, **setting)
            few.fit(X32, table.y)
            assert len(set(ends[reached])) == few.get_n_leaves()
            given = many.tree_.value[ends[reached], 0].argmax(axis=1)
            np.testing.assert_array_equal(given, few.predict(X32))


@pytest.mark.parametrize("balanced", [False, True])
def test_the_choice_is_that_of_the_grid_search(
    balanced: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def small_grid(leaves: int, class_weights: tuple[object, ...]) -> dict[str, tuple[object, ...]]:
        few = {"ccp_alpha": (0.0, 0.01), "min_samples_leaf": (1, 5)}
        return grid(leaves, class_weights) | few

    monkeypatch.setattr(tuned_cart, "grid", small_grid)
    table = made_up(7, 120, 2)
    found, _ = tuned_cart.tuned_cart(table, 4, balanced=balanced, seed=3)
    counts = np.bincount(table.y)
    between = dict(enumerate(np.sqrt(len(table.y) / (2 * counts)).tolist()))
    weights = (None, between, "balanced") if balanced else (None,)
    search = GridSearchCV(
        DecisionTreeClassifier(random_state=SEED),
        {name: list(values) for name, values in small_grid(4, weights).items()},
        scoring="balanced_accuracy" if balanced else "accuracy",
        cv=StratifiedKFold(FOLDS, shuffle=True, random_state=3),
    ).fit(table.X, table.y)
    asked = {name: found.get_params()[name] for name in search.best_params_}
    assert asked == search.best_params_
