from __future__ import annotations

import math

import numpy as np
import pytest

from provetree.problem.problem import build_problem
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree
from testkit.naive import naive_search
from testkit.random_problems import RandomTable, random_table

INF = math.inf
NAN = math.nan


def best_tree(table: RandomTable) -> Tree:
    problem = table.problem()
    found = naive_search(problem)
    return build_tree(problem, found["column"], found["rank_low"])


@pytest.mark.parametrize("seed", range(150))
def test_training_rows_go_where_the_search_sent_them(seed: int) -> None:
    table = random_table(seed)
    problem = table.problem()
    found = naive_search(problem)
    tree = build_tree(problem, found["column"], found["rank_low"])
    weight = table.options["sample_weight"]
    weight = np.ones(len(table.y)) if weight is None else weight
    leaves = tree.apply(table.X[weight > 0])
    rows = np.bincount(leaves, minlength=tree.n_nodes)
    is_leaf = tree.feature < 0
    assert rows[is_leaf].tolist() == tree.n_samples[is_leaf].tolist()
    assert tree.label[is_leaf].tolist() == found["label"][is_leaf].tolist()
    totals = np.zeros_like(tree.value)
    np.add.at(totals, (leaves, table.y[weight > 0]), weight[weight > 0])
    rounding = 1e-9 + problem.weight_error
    np.testing.assert_allclose(totals[is_leaf], tree.value[is_leaf], rtol=rounding)
    wrong = tree.predict(table.X) != table.y
    cost = weight[wrong].sum()
    root = weight.sum() - np.bincount(table.y, weight).max()
    cost += table.options["alpha"] * root * tree.n_splits
    assert problem.to_user_cost(found["cost"]) == pytest.approx(cost, rel=rounding, abs=1e-9)


@pytest.mark.parametrize("seed", range(150))
def test_trees_are_as_the_constructor_makes_them(seed: int) -> None:
    """The short cut for tables of numbers leaves nothing out."""
    tree = best_tree(random_table(seed))
    again = Tree(
        feature=tree.feature,
        threshold=tree.threshold,
        category=tree.category,
        missing_left=tree.missing_left,
        missing_seen=tree.missing_seen,
        value=np.where(tree.feature[:, None] < 0, tree.value, 0.0),
        n_samples=np.where(tree.feature < 0, tree.n_samples, 0),
        n_features=tree.n_features,
        feature_names=tree.feature_names,
        class_names=tree.class_names,
        categories=tree.categories,
    )
    for name in Tree.__slots__:
        own, made = getattr(tree, name), getattr(again, name)
        if isinstance(made, np.ndarray):
            assert (own.dtype, own.shape) == (made.dtype, made.shape), name
            assert not own.flags.writeable, name
            assert own.tobytes() == made.tobytes(), name
        else:
            assert (type(own), own) == (type(made), made), name


@pytest.mark.parametrize("seed", range(60))
def test_the_order_of_the_rows_does_not_matter(seed: int) -> None:
    table = random_table(seed)
    shuffled = table.with_rows(np.random.default_rng(seed).permutation(len(table.y)))
    if table.problem().weight_error == 0.0:  # sums of rounded weights may depend on it
        assert best_tree(shuffled) == best_tree(table)


@pytest.mark.parametrize("seed", range(60))
def test_weights_are_repetitions(seed: int) -> None:
    table = random_table(seed)
    times = np.random.default_rng(seed).integers(0, 4, len(table.y))
    times[0] = 1
    options = {**table.options, "min_samples_leaf": 1}  # counts rows, not weight
    weighted = RandomTable(table.X, table.y, {**options, "sample_weight": times.astype(float)})
    repeated = RandomTable(
        np.repeat(table.X, times, axis=0),
        np.repeat(table.y, times),
        {**options, "sample_weight": None},
    )
    a, b = best_tree(weighted), best_tree(repeated)
    for name in ("feature", "threshold", "category", "missing_left", "value"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


def test_missing_can_be_told_from_minus_infinity() -> None:
    X = np.array([[NAN], [-INF], [INF], [NAN]])
    y = np.array([0, 1, 1, 0])
    tree = best_tree(RandomTable(X, y, {"n_classes": 2, "max_depth": 1}))
    assert tree.predict(X).tolist() == y.tolist()
    assert tree.to_text(legend=False).startswith("x0 is missing\n")
    assert Tree.from_json(tree.to_json()).predict(X).tolist() == y.tolist()


def test_missing_last_sends_even_plus_infinity_left() -> None:
    X = np.array([[1.0], [INF], [NAN]])
    problem = build_problem(X, np.array([0, 0, 1]), n_classes=2, max_depth=1)
    assert [column.kind for column in problem.columns] == ["missing_first", "missing_last"]
    tree = build_tree(problem, [1, -1, -1], [1, 0, 0])
    assert tree.apply(X).tolist() == [1, 1, 2]
    assert tree.threshold[0] == INF
    assert tree.to_text(legend=False).startswith("x0 is present\n")


def test_missing_values_elsewhere_in_the_table_teach_a_node_nothing() -> None:
    # The missing value leaves at the root, so the split on the right has not seen it.
    X = np.array([[1.0, NAN], [2.0, 1.0], [2.0, 1.0], [2.0, 2.0]])
    y = np.array([0, 1, 1, 2])
    problem = build_problem(X, y, n_classes=3, max_depth=2)
    kinds = [(column.feature, column.kind) for column in problem.columns]
    c = kinds.index((1, "missing_first"))
    # Column 1 as a whole separates the first row as well as column 0 does.
    tree = build_tree(problem, [0, -1, c, -1, -1], [0, 0, 1, 0, 0])
    assert tree.missing_seen.tolist() == [False] * 5
    assert tree.missing_left[2]  # two rows on the left, one on the right
    assert tree.threshold[2] == 1.5


def test_categories_are_one_against_the_rest() -> None:
    X = np.array([[0.0], [1.0], [2.0], [NAN], [NAN]])
    y = np.array([0, 0, 0, 1, 1])
    options = {"n_classes": 2, "max_depth": 1, "categories": [["a", "b", "c"]]}
    tree = best_tree(RandomTable(X, y, options))
    assert tree.category[0] == 3
    assert tree.predict([[NAN], [0.0], [-1.0]]).tolist() == [1, 0, 0]
    assert tree.to_text(legend=False).startswith("x0 is missing\n")


def test_thresholds_use_the_neighbours_within_the_node() -> None:
    X = np.array([[0.0, 0.0], [10.0, 0.0], [4.0, 1.0], [5.0, 1.0]])
    problem = build_problem(X, np.array([0, 1, 2, 2]), n_classes=3, max_depth=2)
    tree = build_tree(problem, [1, 0, -1, -1, -1], [0, 0, 0, 0, 0])
    assert tree.threshold[1] == 5.0


def test_a_split_with_an_empty_side_is_refused() -> None:
    problem = build_problem([[1.0], [2.0]], np.array([0, 1]), n_classes=2, max_depth=1)
    with pytest.raises(ValueError, match="Node 0 splits column 0 at rank 1 into an empty side"):
        build_tree(problem, [0, -1, -1], [1, 0, 0])
