"""However short the time, the tree is never worse than scikit-learn's CART of the same depth.

CART works in float32; each of its splits is a split of the float64 values, too, so its trees are
among those that the search chooses from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_classification
from sklearn.tree import DecisionTreeClassifier

from provetree.bench.data import DataNotFoundError, data_folder, load_table
from provetree.problem.problem import build_problem
from testkit.core_calls import core_search, walk_tree

TIME_LIMIT = 0.1

Table = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]


def shipped(name: str) -> Table:
    X, y = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}[name](
        return_X_y=True
    )
    return X[:600], y[:600]


def made(n_rows: int, n_columns: int) -> Table:
    X, y = make_classification(n_rows, n_columns, flip_y=0.2, random_state=0)
    return X, y


def few_values(n_classes: int) -> Table:
    """Columns of three values whose classes hang on three of them together: full of ties."""
    rng = np.random.default_rng(n_classes)
    X = rng.integers(0, 3, (3000, 12)).astype(np.float64)
    y = (X[:, 0] + X[:, 1] * X[:, 2]).astype(np.int64) % n_classes
    return X, np.where(rng.random(3000) < 0.2, rng.integers(0, n_classes, 3000), y)


def check_beside_cart(table: Table, depth: int) -> None:
    X, y = table
    cart = [
        DecisionTreeClassifier(max_depth=depth, random_state=state).fit(X, y) for state in range(5)
    ]
    errors = [int((tree.predict(X) != y).sum()) for tree in cart]
    problem = build_problem(X, y, n_classes=int(y.max()) + 1, max_depth=depth)
    found = core_search(problem, time_limit=TIME_LIMIT)
    assert found["cost"] <= min(errors)
    assert found["lower_bound"] <= found["cost"]
    assert walk_tree(problem, found)[0] == found["cost"]


@pytest.mark.parametrize("depth", range(3, 9))
@pytest.mark.parametrize("name", ["breast cancer", "wine", "digits"])
def test_tables_that_ship_with_scikit_learn(name: str, depth: int) -> None:
    check_beside_cart(shipped(name), depth)


@pytest.mark.parametrize("depth", range(3, 9))
@pytest.mark.parametrize("shape", [(5000, 10), (500, 40)])
def test_made_tables(shape: tuple[int, int], depth: int) -> None:
    check_beside_cart(made(*shape), depth)


@pytest.mark.parametrize("depth", range(3, 9))
@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_tables_of_few_values(n_classes: int, depth: int) -> None:
    check_beside_cart(few_values(n_classes), depth)


@pytest.mark.slow
@pytest.mark.parametrize("depth", range(3, 9))
@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("contree-magic", "full"),
        ("contree-eeg", "full"),
        ("default-credit", "train"),
        ("letter", "full"),
        ("shuttle", "full"),
    ],
)
def test_large_tables(name: str, part: Any, depth: int) -> None:
    try:
        data_folder()
    except DataNotFoundError as error:
        pytest.skip(str(error))
    table = load_table(name, part=part)
    check_beside_cart((table.X, table.y), depth)
