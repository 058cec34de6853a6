"""A tree to begin with: it is found again on the training rows, used, or refused in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from provetree import OptimalTreeClassifier
from provetree.estimators._initial_tree import initial_splits
from provetree.problem.prepare import prepare
from provetree.tree.build import build_tree
from testkit.random_problems import random_table

LITTLE: dict[str, Any] = {"max_work": 1}


def mixed_table(seed: int, n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "number": np.round(rng.normal(size=n), 1),
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "word": pd.Categorical(rng.choice(list("abcd"), n)),
        }
    )
    mirrored = -table["number"]
    table["mirrored"] = mirrored  # left out of the problem: its splits are those of "number"
    y = (table["number"] * (table["word"] == "a") + table["gaps"].fillna(0.4) > 0.2).to_numpy()
    return table, np.where(rng.random(n) < 0.1, ~y, y).astype(int)


@pytest.mark.parametrize("seed", range(8))
def test_a_tree_of_the_package_is_taken_as_it_is(seed: int) -> None:
    X, y = mixed_table(seed)
    good = OptimalTreeClassifier(max_depth=4, max_work=3_000_000).fit(X, y)
    for given in (good, good.tree_):
        again = OptimalTreeClassifier(max_depth=4, **LITTLE).fit(X, y, initial_tree=given)
        assert again.objective_ <= good.objective_
        assert (again.predict(X) != y).sum() == again.objective_
        assert again.lower_bound_ <= again.objective_


@pytest.mark.parametrize("seed", range(20))
def test_every_tree_is_found_again_node_by_node(seed: int) -> None:
    X, y = mixed_table(seed, 120)
    weight = np.random.default_rng(seed).integers(0, 3, len(y)).astype(float)
    prepared = prepare(X, y, weight, max_depth=3)
    tree = OptimalTreeClassifier(max_depth=3).fit(X, y, sample_weight=weight)
    splits = initial_splits(tree, X, prepared, "Tree")
    assert splits is not None
    same = build_tree(prepared.problem, *splits)
    assert (same.predict(prepared.encoded) == tree.tree_.predict(prepared.encoded)).all()
    assert same.n_leaves == tree.get_n_leaves()


@pytest.mark.parametrize("seed", range(30))
def test_trees_of_scikit_learn_bound_the_cost(seed: int) -> None:
    table = random_table(seed, max_depth=3)
    X, y = np.nan_to_num(np.asarray(table.X, dtype=float), posinf=9e9, neginf=-9e9), table.y
    X = np.clip(X, -1e30, 1e30)
    cart = DecisionTreeClassifier(max_depth=3, random_state=seed, splitter="random").fit(X, y)
    errors = int((cart.predict(X) != y).sum())
    short = OptimalTreeClassifier(max_depth=3, **LITTLE).fit(X, y, initial_tree=cart)
    whole = OptimalTreeClassifier(max_depth=3).fit(X, y, initial_tree=cart)
    assert whole.objective_ <= short.objective_ <= errors
    plain = OptimalTreeClassifier(max_depth=3).fit(X, y)
    assert whole.objective_ == plain.objective_
    assert whole.tree_ == plain.tree_


def test_a_leaf_budget_and_samples_in_leaves_are_kept() -> None:
    X, y = mixed_table(1)
    limits: dict[str, Any] = {"max_depth": 4, "max_leaf_nodes": 7, "min_samples_leaf": 11}
    good = OptimalTreeClassifier(**limits, max_work=3_000_000).fit(X, y)
    again = OptimalTreeClassifier(**limits, **LITTLE).fit(X, y, initial_tree=good)
    assert again.objective_ <= good.objective_
    for changed, sentence in [
        ({"max_leaf_nodes": 3}, "number of leaves on these rows can be 3 at most"),
        ({"min_samples_leaf": 30}, "leaves must have 30 training rows"),
        ({"max_depth": 2, "max_leaf_nodes": None}, "can be . at most"),
    ]:
        with pytest.raises(
            ValueError, match="'initial_tree' of OptimalTreeClassifier.*" + sentence
        ):
            OptimalTreeClassifier(**{**limits, **changed}).fit(X, y, initial_tree=good)


def test_what_is_no_tree_of_this_table_is_refused() -> None:
    X, y = mixed_table(2)
    with pytest.raises(ValueError, match=r"a Tree or None\. Got str instead"):
        OptimalTreeClassifier().fit(X, y, initial_tree="cart")
    numbers = X[["number", "gaps"]].to_numpy()
    cart = DecisionTreeClassifier(max_depth=2).fit(X[["number", "gaps"]], y)
    with pytest.raises(ValueError, match="must take the same table"):
        OptimalTreeClassifier().fit(X, y, initial_tree=cart)
    narrow = OptimalTreeClassifier(max_depth=1).fit(numbers, y)
    with pytest.raises(ValueError, match="tree over 2 columns instead of 4"):
        OptimalTreeClassifier().fit(X, y, initial_tree=narrow.tree_)


def test_a_split_that_no_column_makes_is_refused() -> None:
    # scikit-learn sees categories as numbers: two of four on one side is no split here.
    X = pd.DataFrame({"word": pd.Categorical(list("abcd") * 5)})
    codes = X["word"].cat.codes.to_numpy().astype(float)[:, None]
    y = (codes[:, 0] > 1.5).astype(int)
    cart = DecisionTreeClassifier(max_depth=1).fit(codes, y)
    model = OptimalTreeClassifier(max_depth=2, categorical_features=[0])
    with pytest.raises(ValueError, match="Node 0 divides its training rows as none of"):
        model.fit(codes, y, initial_tree=cart)


def test_a_tree_of_more_splits_than_pay_is_taken_as_a_leaf() -> None:
    """Guards the limit of 1 / alpha splits, which nobody asked for."""
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
    large = OptimalTreeClassifier(max_depth=2).fit(X, y)
    model = OptimalTreeClassifier(max_depth=2, alpha=0.6).fit(X, y, initial_tree=large)
    assert (model.get_n_leaves(), model.objective_, model.status_) == (1, 2, "optimal")
