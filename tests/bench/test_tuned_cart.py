"""CART* with few fits against GridSearchCV with all of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from provetree.bench.papers._tuned_cart import GRID, SEED, combinations, cross_validated, tuned_cart


def table(seed, n=400):
    """Return noisy rows of two columns: hardly a node that both of them split equally well."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (X[:, 0] + 0.7 * X[:, 1] + rng.normal(size=n) > 0.4).astype(np.int64)
    y[rng.random(n) < 0.15] = 2
    return X, y


@pytest.mark.parametrize(("seed", "depth"), [(0, 2), (1, 3), (2, 4)])
def test_the_scores_are_those_of_grid_search(seed, depth):
    X, y = table(seed)
    ours = cross_validated(X, y, (2, 3, 4), n_folds=3)[depth]
    cart = DecisionTreeClassifier(max_depth=depth, random_state=SEED)
    search = GridSearchCV(cart, GRID, cv=3).fit(X, y)
    assert search.cv_results_["params"] == combinations()
    assert ours.tolist() == search.cv_results_["mean_test_score"].tolist()
    assert combinations()[int(ours.argmax())] == search.best_params_


def test_the_tree_is_fitted_on_all_rows():
    X, y = table(3, n=150)
    found = tuned_cart(X, y, (2, 3))
    assert set(found) == {2, 3}
    for depth, cart in found.items():
        assert cart.get_depth() <= depth
        again = DecisionTreeClassifier(**cart.get_params()).fit(X, y)
        assert (again.predict(X) == cart.predict(X)).all()


def test_a_class_with_fewer_rows_than_folds():
    X, y = table(4, n=60)
    y[:] = 0
    y[:3] = 1
    assert tuned_cart(X, y, (2,))[2].get_depth() <= 2
