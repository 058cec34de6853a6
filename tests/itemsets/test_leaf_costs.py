"""Costs other than errors: matrices, functions in Python, compiled functions."""

from __future__ import annotations

import copy
import ctypes
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from provetree import DL85Classifier, LeafCost, Tree
from provetree.export import to_sklearn
from provetree.export.sklearn import UnsupportedTreeError
from testkit.naive_itemsets import tree_cost
from testkit.random_itemsets import random_database

OF_WEIGHTS = ctypes.CFUNCTYPE(
    ctypes.c_double,
    ctypes.POINTER(ctypes.c_double),
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_void_p,
)
OF_ROWS = ctypes.CFUNCTYPE(
    ctypes.c_double,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_int64),
    ctypes.c_void_p,
)


def errors_and_price(weights: Any) -> float:
    """A price per leaf: a split may cost more than it saves."""
    return float(sum(weights) - max(weights) + 1.3)


def gini(weights: Any) -> float:
    """Weight times Gini impurity: additive, not whole, zero for pure leaves."""
    total = float(sum(weights))
    return total - sum(float(w) ** 2 for w in weights) / total


@OF_WEIGHTS
def compiled_price(weights: Any, n_classes: int, label: Any, data: Any) -> float:
    return errors_and_price([weights[c] for c in range(n_classes)])


def shape_of(tree: Tree, node: int = 0) -> Any:
    if tree.feature[node] < 0:
        return None
    left, right = int(tree.left[node]), int(tree.right[node])
    return int(tree.feature[node]), shape_of(tree, left), shape_of(tree, right)


@pytest.mark.parametrize("function", [errors_and_price, gini])
def test_real_costs_as_the_twin(function: Any) -> None:
    for seed in range(250):
        database = random_database(seed)
        options = {"branching": "data_order", "algorithm": "dl8" if seed % 4 == 0 else "dl8.5"}
        model = DL85Classifier(
            database.max_depth, database.min_support, leaf_cost=function, **options
        ).fit(database.X, database.y, sample_weight=database.weights)
        twin = database.naive(function)
        cost, shape = twin.dl8() if options["algorithm"] == "dl8" else twin.dl85()
        assert model.objective_ == cost == model.lower_bound_
        assert shape_of(model.tree_) == shape
        assert model.counters_["calls"] == len(twin.calls)
        assert cost == pytest.approx(twin.brute_force(), rel=1e-12)
        assert tree_cost(shape, twin.rows, twin.leaf_cost) == cost


def test_compiled_functions_as_python_functions() -> None:
    for seed in range(100):
        database = random_database(seed)
        found = [
            DL85Classifier(database.max_depth, database.min_support, leaf_cost=function).fit(
                database.X, database.y, sample_weight=database.weights
            )
            for function in (errors_and_price, compiled_price, LeafCost(compiled_price))
        ]
        assert found[0].objective_ == found[1].objective_ == found[2].objective_
        assert found[0].tree_ == found[1].tree_ == found[2].tree_
        assert found[0].counters_ == found[1].counters_


def test_low_level_callable_with_user_data() -> None:
    scipy = pytest.importorskip("scipy")
    price = ctypes.c_double(0.75)

    @OF_WEIGHTS
    def priced(weights: Any, n_classes: int, label: Any, data: Any) -> float:
        own = ctypes.cast(data, ctypes.POINTER(ctypes.c_double))[0]
        values = [weights[c] for c in range(n_classes)]
        return sum(values) - max(values) + own

    data = ctypes.cast(ctypes.pointer(price), ctypes.c_void_p)
    function = scipy.LowLevelCallable(priced, data)
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    # One leaf: 1 + 0.75; two leaves: 1 + 1.5; three: 0 + 2.25.
    assert DL85Classifier(leaf_cost=LeafCost(function)).fit(X, y).objective_ == 1.75


def test_numba_functions() -> None:
    numba = pytest.importorskip("numba")
    types = numba.types
    signature = types.float64(
        types.CPointer(types.float64), types.int64, types.CPointer(types.int64), types.voidptr
    )

    @numba.cfunc(signature)
    def priced(weights, n_classes, label, data):  # type: ignore[no-untyped-def]
        total = 0.0
        best = 0.0
        for c in range(n_classes):
            total += weights[c]
            best = max(best, weights[c])
        return total - best + 1.3

    database = random_database(3)
    one, other = (
        DL85Classifier(database.max_depth, leaf_cost=f).fit(database.X, database.y)
        for f in (priced, errors_and_price)
    )
    assert one.objective_ == other.objective_
    assert one.tree_ == other.tree_


def test_functions_of_rows() -> None:
    # Each row has costs of its own for each prediction, which class totals cannot tell.
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (40, 4)), rng.integers(0, 2, 40)
    costs = rng.integers(0, 8, (40, 2)) / 4.0
    weights = rng.integers(0, 2, 40)

    def cheapest(rows: Any) -> tuple[float, int]:
        assert (np.diff(rows) > 0).all()
        totals = costs[rows].sum(axis=0)
        return float(totals.min()), int(totals.argmin())

    @OF_ROWS
    def compiled(rows: Any, n_rows: int, label: Any, data: Any) -> float:
        cost, label[0] = cheapest(np.array([rows[i] for i in range(n_rows)]))
        return cost

    for given in (None, weights):
        present = np.arange(40) if given is None else np.flatnonzero(given)
        models = [
            DL85Classifier(2, leaf_cost=LeafCost(f, of="rows")).fit(X, y, sample_weight=given)
            for f in (cheapest, compiled)
        ]
        best = min(
            sum(
                min(costs[present][inside].sum(axis=0))
                for inside in leaves_of(X[present], *columns)
            )
            for columns in np.ndindex(4, 4, 4)
        )
        for model in models:
            assert model.objective_ == best
            chosen = model.predict(X[present])
            assert costs[present, chosen].sum() == best


def leaves_of(X: Any, root: int, zeros: int, ones: int) -> list[Any]:
    return [
        (X[:, root] == a) & (X[:, column] == b)
        for a, column in ((0, zeros), (1, ones))
        for b in (0, 1)
    ]


def test_a_matrix_is_the_function_it_stands_for() -> None:
    matrix = np.array([[0.0, 1.0, 3.0], [2.5, 0.0, 1.0], [4.0, 0.5, 0.25]])

    def cost(weights: Any) -> tuple[float, int]:
        totals = weights @ matrix
        return float(totals.min()), int(totals.argmin())

    for seed in range(40):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (40, 5)), rng.integers(0, 3, 40)
        one = DL85Classifier(2, cost_matrix=matrix).fit(X, y)
        other = DL85Classifier(2, leaf_cost=cost).fit(X, y)
        assert one.objective_ == other.objective_
        assert matrix[y, one.predict(X)].sum() == pytest.approx(one.objective_)


def test_a_matrix_that_is_not_made_of_short_decimals() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 2, (50, 5)), rng.integers(0, 2, 50)
    matrix = np.array([[0.0, np.pi * 1e-7], [np.e * 1e6, 0.0]])
    weights = rng.random(50)
    model = DL85Classifier(2, cost_matrix=matrix).fit(X, y, sample_weight=weights)
    assert (weights * matrix[y, model.predict(X)]).sum() == pytest.approx(model.objective_)
    assert model.status_ == "optimal"


def test_other_labels_are_kept_in_files_and_refused_by_scikit_learn() -> None:
    X, y = [[0], [0], [0], [1], [1]], ["ok", "ok", "bad", "ok", "ok"]
    model = DL85Classifier(1, cost_matrix=[[0, 5], [1, 0]]).fit(X, y)
    assert model.predict([[0], [1]]).tolist() == ["bad", "ok"]
    assert model.tree_.has_other_labels
    costly = DL85Classifier(0, cost_matrix=[[0, 9], [1, 0]]).fit(X, y)
    assert costly.predict([[0]]).tolist() == ["bad"]
    assert costly.objective_ == 4
    assert costly.export_text() == "bad: 20.0% of 5 rows [1, 4]"
    for read in (Tree.from_json(costly.tree_.to_json()), Tree.from_text(costly.tree_.to_text())):
        assert read == costly.tree_
        assert read.label.tolist() == [0]
    assert costly.tree_.to_dict()["version"] == 2
    assert copy.deepcopy(costly.tree_) == costly.tree_
    with pytest.raises(UnsupportedTreeError, match="heaviest class"):
        to_sklearn(costly.tree_)


@pytest.mark.parametrize(
    ("leaf_cost", "message"),
    [
        (lambda weights: -1.0, "finite cost >= 0. Got -1"),
        (lambda weights: float("nan"), "finite cost >= 0. Got nan"),
        (lambda weights: (0.5, 7), r"class in the range \[0, 2\), or -1 for the heaviest. Got 7"),
        (lambda weights: 1 / 0, "division by zero"),
    ],
)
def test_bad_functions(leaf_cost: Any, message: str) -> None:
    with pytest.raises((ValueError, ZeroDivisionError), match=message):
        DL85Classifier(leaf_cost=leaf_cost).fit([[0], [1], [1]], [0, 1, 0])


def test_a_function_that_returns_no_number() -> None:
    with pytest.raises(TypeError):
        DL85Classifier(leaf_cost=lambda weights: "much").fit([[0], [1], [1]], [0, 1, 0])


def test_bad_leaf_costs() -> None:
    with pytest.raises(ValueError, match="'of' parameter of LeafCost"):
        LeafCost(gini, of="columns")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'function' parameter of LeafCost"):
        LeafCost(3)
    short = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: x)
    with pytest.raises(ValueError, match="must have the signature 'double"):
        DL85Classifier(leaf_cost=short).fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="not both"):
        DL85Classifier(leaf_cost=gini, cost_matrix=[[0, 1], [1, 0]]).fit([[0], [1]], [0, 1])


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1]], r"shape \(2, 2\)\. Got shape \(1, 2\)"),
        ([[0, -1], [1, 0]], "Got -1.0 in it"),
        ([[0, "x"], [1, 0]], "'cost_matrix' parameter must hold finite costs"),
    ],
)
def test_bad_matrices(matrix: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DL85Classifier(cost_matrix=matrix).fit([[0], [1]], [0, 1])


def test_cloning() -> None:
    model = clone(DL85Classifier(leaf_cost=LeafCost(compiled_price)))
    assert model.fit([[0], [1]], [0, 1]).objective_ == 2.3
