from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from provetree.problem.problem import build_problem
from provetree.problem.table import TableEncoder
from provetree.tree.tree import Tree
from provetree.tree.verify import verify
from testkit.naive import NaiveEngine
from testkit.random_problems import RandomTable, random_table

NAN = math.nan


def raw(table: RandomTable) -> list[list[Any]]:
    """The table as a user would have it: with categories by their names."""
    return [
        [
            None if math.isnan(x) and level is not None else x if level is None else level[int(x)]
            for x, level in zip(row, table.options["categories"], strict=True)
        ]
        for row in table.X.tolist()
    ]


@pytest.mark.parametrize("seed", range(150))
def test_costs_of_the_search_are_confirmed(seed: int) -> None:
    table = random_table(seed)
    problem = table.problem()
    solution = NaiveEngine().solve(problem)
    limits = ("alpha", "sample_weight", "max_depth", "max_leaf_nodes", "min_samples_leaf")
    report = verify(
        solution.tree, raw(table), table.y, **{name: table.options[name] for name in limits}
    )
    assert report.ok, report.violations
    if problem.weight_error == 0.0 and table.options["alpha"] != 1 / 3:
        assert report.cost == solution.cost
    else:
        assert report.cost == pytest.approx(solution.cost, rel=1e-6)
    assert report.n_splits == solution.tree.n_splits
    assert report.depth == solution.tree.depth
    assert report.n_rows == problem.n_samples


def test_tables_of_all_libraries_are_read_alike() -> None:
    rows = {"age": [30.0, None, 50.0, 60.0], "colour": ["red", "blue", None, "red"]}
    y = ["no", "yes", "yes", "no"]
    reports = []
    for X in (pd.DataFrame(rows), pl.DataFrame(rows), list(zip(*rows.values(), strict=True))):
        encoder = TableEncoder()
        codes = np.array([0, 1, 1, 0])
        problem = build_problem(
            encoder.fit_transform(X),
            codes,
            n_classes=2,
            max_depth=1,
            categories=encoder.categories,
            class_names=["no", "yes"],
        )
        tree = NaiveEngine().solve(problem).tree
        reports.append(verify(tree, X, y))
        assert reports[-1].cost == 0
    assert reports[0] == reports[1] == reports[2]


def test_limits_are_checked() -> None:
    tree = Tree(
        feature=[0, -1, -1],
        threshold=[1.5, NAN, NAN],
        value=[[0, 0], [1, 0], [0, 1]],
        n_samples=[0, 1, 1],
        n_features=1,
    )
    X, y = [[1.0], [2.0], [3.0], [3.0]], [0, 1, 1, 0]
    report = verify(
        tree, X, y, max_depth=0, max_leaf_nodes=1, min_samples_leaf=2, sample_weight=[1, 1, 1, 0]
    )
    assert report.violations == (
        "The depth is 1, and at most 0 is allowed.",
        "There are 2 leaves, and at most 1 are allowed.",
        "A leaf has 1 rows, and at least 2 are needed.",
    )
    assert (report.n_rows, report.n_errors, report.smallest_leaf) == (3, 0, 1)
    assert not report.ok
    assert verify(tree, X, y, min_samples_leaf=0.25).ok
    assert not verify(tree, X, y, min_samples_leaf=0.26).ok
    assert verify(tree, X, y, sample_weight=[0.1, 0.1, 0.1, 0.3]).cost == 0.3
    assert verify(tree, X, y, alpha=0.25).cost == 1.5


def test_a_tree_with_other_classes_errs_on_them() -> None:
    leaf = Tree(
        feature=[-1], threshold=[0], value=[[2]], n_samples=[2], n_features=1, class_names=["a"]
    )
    assert verify(leaf, [[1.0], [2.0]], ["a", "b"]).n_errors == 1


def test_lengths_must_agree() -> None:
    leaf = Tree(feature=[-1], threshold=[0], value=[[2]], n_samples=[2], n_features=1)
    with pytest.raises(ValueError, match="Got 2, 1 and 2"):
        verify(leaf, [[1.0], [2.0]], [0])
