from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

from provetree.problem.problem import Problem, build_problem
from testkit.random_problems import random_table

INF = math.inf
NAN = math.nan


def build(X: Any, y: Any = None, **options: Any) -> Problem:
    y = np.arange(len(X)) % 2 if y is None else np.asarray(y)
    return build_problem(X, y, **{"n_classes": int(y.max()) + 1, "max_depth": 3, **options})


def contents(problem: Problem) -> list[Any]:
    """The merged rows by the values of their columns, with class, weight and count."""
    values = [
        column.values[ranks] for column, ranks in zip(problem.columns, problem.ranks, strict=True)
    ]
    rows = zip(
        *(v.tolist() for v in values), problem.classes, problem.weights, problem.counts, strict=True
    )
    return sorted([str(x) for x in row] for row in rows)


@pytest.mark.parametrize("seed", range(200))
def test_random_problems_are_sound(seed: int) -> None:
    table = random_table(seed)
    problem = table.problem()
    n_columns, n_rows = len(problem.columns), problem.n_rows
    assert problem.ranks.shape == (n_columns, n_rows)
    assert problem.ranks.dtype == np.uint32
    assert problem.ranks.flags.c_contiguous
    assert problem.classes.dtype == np.int32
    assert problem.weights.dtype == problem.counts.dtype == np.int64
    assert problem.weights.min() >= 1
    assert problem.weights.sum() <= 2**30
    for column, ranks in zip(problem.columns, problem.ranks, strict=True):
        assert sorted(set(ranks.tolist())) == list(range(len(column.values)))
        assert len(column.values) >= 2
        present = column.values[~np.isnan(column.values)]
        assert np.all(np.diff(present) > 0)
    # No two columns offer the same splits, no two rows are equal.
    splits = {ranks.tobytes() for ranks in problem.ranks}
    mirrored = {(ranks.max() - ranks).tobytes() for ranks in problem.ranks}
    assert len(splits) == n_columns
    assert not splits & mirrored
    rows = {(*ranks, c) for *ranks, c in zip(*problem.ranks.tolist(), problem.classes, strict=True)}
    assert len(rows) == n_rows
    weight = table.options["sample_weight"]
    kept = len(table.y) if weight is None else np.count_nonzero(weight)
    assert problem.n_samples == kept
    assert 0 <= problem.max_depth <= problem.max_splits <= max(n_rows - 1, 0)


@pytest.mark.parametrize("seed", range(60))
def test_the_order_of_the_rows_does_not_matter(seed: int) -> None:
    table = random_table(seed)
    if table.problem().weight_error > 0:
        return  # rounding depends on a sum of floats
    shuffled = table.with_rows(np.random.default_rng(seed).permutation(len(table.y))).problem()
    problem = table.problem()
    for name in ("ranks", "classes", "weights", "counts"):
        np.testing.assert_array_equal(getattr(problem, name), getattr(shuffled, name))


@pytest.mark.parametrize("seed", range(60))
def test_rows_of_weight_zero_count_as_absent(seed: int) -> None:
    table = random_table(seed)
    weights = np.random.default_rng(seed).integers(0, 2, len(table.y)).astype(float)
    weights[0] = 1.0
    table.options["sample_weight"] = weights
    with_zeros = table.problem()
    without = table.with_rows(np.flatnonzero(weights)).problem()
    assert contents(with_zeros) == contents(without)
    assert with_zeros.min_samples_leaf == without.min_samples_leaf


def test_missing_values_become_two_columns() -> None:
    problem = build([[NAN], [2.0], [-INF], [2.0]], [0, 1, 0, 1])
    kinds = [column.kind for column in problem.columns]
    assert kinds == ["missing_first", "missing_last"]
    np.testing.assert_array_equal(problem.columns[0].values, [NAN, -INF, 2.0])
    np.testing.assert_array_equal(problem.columns[1].values, [-INF, 2.0, NAN])


def test_missing_against_one_value_is_one_column() -> None:
    problem = build([[NAN], [2.0], [2.0]])
    assert [column.kind for column in problem.columns] == ["missing_first"]


def test_categories_become_one_column_each_and_two_categories_one() -> None:
    levels = ["a", "b", "c", "d"]
    problem = build([[0.0], [2.0], [NAN], [2.0]], categories=[levels])
    assert [column.category for column in problem.columns] == [0, 2, 4]
    assert all(column.kind == "category" for column in problem.columns)
    problem = build([[0.0], [2.0], [2.0], [0.0]], categories=[levels])
    assert [column.category for column in problem.columns] == [0]


def test_constant_duplicate_and_mirrored_columns_are_dropped() -> None:
    x = np.array([3.0, 1.0, 2.0, 2.0])
    X = np.column_stack([np.ones(4), x, x * 2, -x, x**2, [1, 2, 3, 4], np.full(4, NAN)])
    problem = build(X)
    assert [column.feature for column in problem.columns] == [1, 5]
    # A column that starts in the middle needs a second look to tell its direction.
    x = np.array([2.0, 2.0, 1.0, 3.0])
    assert len(build(np.column_stack([x, -x])).columns) == 1
    assert len(build(np.column_stack([x, x])).columns) == 1
    assert len(build(np.column_stack([x, [2.0, 1.0, 2.0, 3.0]])).columns) == 2


def test_zeros_of_either_sign_are_one_value() -> None:
    assert len(build([[0.0], [-0.0]]).columns) == 0


def test_equal_rows_are_merged_and_counted() -> None:
    weights = [2.0, 3.0, 5.0, 7.0]
    problem = build([[1.0], [1.0], [1.0], [4.0]], [0, 0, 1, 1], sample_weight=weights)
    assert contents(problem) == [
        ["1.0", "0", "5", "2"],
        ["1.0", "1", "5", "1"],
        ["4.0", "1", "7", "1"],
    ]
    assert problem.root_error == 5


def test_a_table_without_splits_has_no_columns() -> None:
    problem = build([[1.0, NAN], [1.0, NAN], [1.0, NAN]], [0, 1, 1])
    assert problem.ranks.shape == (0, 2)
    assert (problem.max_depth, problem.max_splits) == (0, 0)
    assert build(np.empty((3, 0)), [0, 1, 1]).ranks.shape == (0, 2)
    assert build([[5.0]], [0]).n_rows == 1


@pytest.mark.parametrize(
    ("options", "max_depth", "max_splits"),
    [
        ({"max_depth": 0}, 0, 0),
        ({"max_depth": 2}, 2, 3),
        ({"max_depth": 10**9}, 9, 9),
        ({"max_depth": 3, "max_leaf_nodes": 3}, 2, 2),
        ({"max_depth": 3, "max_leaf_nodes": 1}, 0, 0),
        ({"max_depth": 4, "min_samples_leaf": 3}, 2, 2),
        ({"max_depth": 4, "min_samples_leaf": 0.21}, 2, 2),
        ({"max_depth": 4, "min_samples_leaf": 99}, 0, 0),
        ({"max_depth": 3, "alpha": 0.25}, 3, 3),
        ({"max_depth": 3, "alpha": 0.3}, 3, 3),
        ({"max_depth": 3, "alpha": 0.1}, 3, 7),
        ({"max_depth": 3, "alpha": 1e-300}, 3, 7),
        ({"max_depth": 3, "alpha": 1.0}, 0, 0),
    ],
)
def test_limits_are_no_larger_than_the_rows_allow(
    options: dict[str, Any], max_depth: int, max_splits: int
) -> None:
    problem = build(np.arange(10.0)[:, None], **options)
    assert (problem.max_depth, problem.max_splits) == (max_depth, max_splits)


def test_a_share_of_rows_is_read_as_a_decimal() -> None:
    X = np.arange(100.0)[:, None]
    assert build(X, min_samples_leaf=0.07).min_samples_leaf == 7  # 0.07 * 100 > 7 in floats
    assert build(X, min_samples_leaf=0.071).min_samples_leaf == 8
    assert build(X, min_samples_leaf=1e-9).min_samples_leaf == 1


@pytest.mark.parametrize(
    ("alpha", "error_scale", "split_penalty"),
    [
        (0.0, 1, 0),
        (0.01, 100, 5),
        (0.2, 1, 1),
        (0.3, 2, 3),
        (1.0, 1, 5),
        (7.0, 1, 5),
        (1e300, 1, 5),
        (1e-300, 1, 0),
    ],
)
def test_alpha_is_an_exact_ratio(alpha: float, error_scale: int, split_penalty: int) -> None:
    problem = build(np.arange(10.0)[:, None], alpha=alpha)
    found = (problem.error_scale, problem.split_penalty)
    assert problem.root_error == 5
    assert math.gcd(error_scale, split_penalty) * found[0] == error_scale
    assert math.gcd(error_scale, split_penalty) * found[1] == split_penalty


def test_costs_are_told_in_the_users_units() -> None:
    X = np.arange(10.0)[:, None]
    assert build(X).to_user_cost(3) == 3
    assert isinstance(build(X).to_user_cost(3), int)
    weighted = build(X, sample_weight=np.full(10, 3.0))
    assert weighted.to_user_cost(2) == 6
    assert isinstance(weighted.to_user_cost(2), int)
    assert weighted.cost_unit == weighted.weight_unit == pytest.approx(1 / 3)
    tenths = build(X, sample_weight=np.linspace(0.1, 1.0, 10).round(1))
    assert tenths.to_user_cost(3) == 0.3
    assert tenths.to_user_weight([3, 7]).tolist() == [0.3, 0.7]
    penalised = build(X, alpha=0.1)
    assert penalised.to_user_cost(penalised.error_scale) == 1.0
    assert isinstance(penalised.to_user_cost(0), float)
    huge = build(X, sample_weight=1e307 * np.exp(np.arange(10.0) / 5))
    assert huge.weight_error > 0
    assert huge.to_user_cost(2**30) == INF
    tiny = build(X, sample_weight=np.linspace(1e-308, 1e-307, 10))
    assert 0 < tiny.to_user_cost(1) < 1e-300


def test_arrays_of_a_problem_are_read_only() -> None:
    problem = build([[1.0], [2.0]])
    for array in (problem.ranks, problem.classes, problem.weights, problem.columns[0].values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_what_is_given_is_left_alone() -> None:
    X, y, w = np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([1.0, 2.0])
    build(X, y, sample_weight=w)
    X[0], y[0], w[0] = 5.0, 1, 3.0
    assert (X[0, 0], y[0], w[0]) == (5.0, 1, 3.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.zeros((0, 2)), "y": np.zeros(0, int)}, "at least one row"),
        ({"X": np.zeros(4)}, "2D array"),
        ({"y": np.zeros(3, int)}, "one entry for each of the 4 rows"),
        ({"y": np.zeros(4)}, "must be ints"),
        ({"y": np.array([0, 1, 2, 0])}, r"range \[0, 2\). Got 0 to 2"),
        ({"y": np.array([0, 1, -1, 0])}, "Got -1 to 1"),
        ({"categories": []}, "each of the 1 features. Got 0"),
        ({"categories": [["a"]]}, r"category feature 0 must be ints in the range \[0, 1\)"),
        ({"sample_weight": [1, 1, 1]}, r"shape \(4,\). Got shape \(3,\)"),
        ({"sample_weight": np.ones((4, 1))}, r"Got shape \(4, 1\)"),
        ({"sample_weight": [1, 1, 1, NAN]}, "finite"),
        ({"sample_weight": [1, 1, 1, INF]}, "finite"),
        ({"sample_weight": [1, 1, 1, -2]}, "Got -2.0"),
        ({"sample_weight": [0, 0, 0, 0]}, "only zeros"),
        ({"sample_weight": ["a", "b", "c", "d"]}, "array of numbers"),
        ({"max_depth": -1}, r"'max_depth' parameter must be an int in .* Got -1"),
        ({"max_leaf_nodes": 0}, "'max_leaf_nodes' parameter"),
        ({"min_samples_leaf": 0}, "'min_samples_leaf' parameter"),
        ({"min_samples_leaf": 1.0}, "'min_samples_leaf' parameter"),
        ({"min_samples_leaf": NAN}, "'min_samples_leaf' parameter"),
        ({"alpha": -0.1}, "'alpha' parameter"),
        ({"alpha": NAN}, "'alpha' parameter"),
        ({"alpha": INF}, "'alpha' parameter"),
    ],
)
def test_bad_input_gets_one_clear_sentence(change: dict[str, Any], message: str) -> None:
    fields = {"X": np.arange(4.0)[:, None], "y": np.array([0, 1, 0, 1])}
    options = {"n_classes": 2, "max_depth": 2}
    arguments = {**fields, **options, **change}
    X, y = arguments.pop("X"), arguments.pop("y")
    with pytest.raises(ValueError, match=message) as caught:
        build_problem(X, y, **arguments)
    assert "\n" not in str(caught.value)


def test_too_many_categories_get_one_clear_sentence() -> None:
    n = 20_000
    X = np.arange(float(n))[:, None]
    with pytest.raises(ValueError, match="group rare categories"):
        build(X, categories=[range(n)])


@pytest.mark.parametrize(("n", "p", "limit"), [(1372, 4, 0.005), (20_000, 10, 0.06)])
def test_building_is_fast(n: int, p: int, limit: float) -> None:
    # The limits are several times what it takes, so that a busy machine does not fail.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, p)), rng.integers(0, 2, n)
    taken = []
    for _ in range(5):
        start = time.process_time()
        build(X, y)
        taken.append(time.process_time() - start)
    assert min(taken) < limit
