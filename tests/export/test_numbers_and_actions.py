"""Trees of numbers and of actions in every form: they predict as the tree does and come back."""

from __future__ import annotations

import ctypes
import json
import math
import pickle
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeRegressor

from provetree import ExactSearch, OptimalTreeRegressor, StoredModel, Tree, build_problem
from provetree.export import (
    UnsupportedTreeError,
    model_schema,
    plot_tree,
    to_c,
    to_graphviz,
    to_onnx,
    to_pmml,
    to_python,
    to_sklearn,
    to_sklearn_pipeline,
    to_sklearn_regressor,
    to_sql,
)
from provetree.export.svg import tree_svg
from provetree.tree.values import Actions, Numbers
from testkit.pmml_reader import PmmlTree

RNG = np.random.default_rng(11)
LEVELS = ("north", "south", "west")
X = np.column_stack(
    [
        RNG.integers(0, 8, 60) / 4,
        np.where(RNG.random(60) < 0.2, np.nan, RNG.normal(size=60)),
        RNG.integers(0, 3, 60),
    ]
)
NAMES = ["size", "age of it", "region"]
Y = np.round(RNG.normal(size=(60, 3)) + X[:, :1] + (X[:, 2:] == 1), 3)


def tree_of(kind: str, **changes: Any) -> Tree:
    """A tree of depth three on a table of numbers, missing values and categories."""
    given: dict[str, Any] = {
        "number": {"y": Y[:, 0], "loss": "squared_error"},
        "median": {"y": Y[:, 0], "loss": "absolute_error"},
        "numbers": {"y": Y, "loss": "squared_error", "class_names": ["a", "b", "c"]},
        "action": {
            "y": -Y,
            "loss": "linear",
            "predicts": "rewards",
            "class_names": ["wait", "it's", 'say "no"'],
        },
        "cost": {"y": Y, "loss": "linear"},
    }[kind]
    problem = build_problem(
        X,
        max_depth=3,
        categories=[None, None, LEVELS],
        feature_names=NAMES,
        sample_weight=RNG.integers(1, 3, 60),
        **(given | changes),
    )
    return ExactSearch().solve(problem).tree


KINDS = ["number", "median", "numbers", "action", "cost"]
TREES = {kind: tree_of(kind) for kind in KINDS}


def raw_rows() -> list[dict[str, Any]]:
    rows = []
    for size, age, region in X.tolist():
        age_or_none = None if math.isnan(age) else age
        rows.append({"size": size, "age of it": age_or_none, "region": LEVELS[int(region)]})
    return rows


def expected(tree: Tree) -> list[Any]:
    found = tree.predict(X).tolist()
    return found if tree.kind == "numbers" else [tree.labels[i] for i in found]


@pytest.mark.parametrize("kind", KINDS)
def test_trees_come_back(kind: str) -> None:
    tree = TREES[kind]
    assert tree.n_splits > 2
    for again in (
        Tree.from_text(tree.to_text()),
        Tree.from_json(tree.to_json()),
        pickle.loads(pickle.dumps(tree)),
        tree.replaced(),
    ):
        assert again == tree
        assert again.values == tree.values
    assert tree.replaced(value=TREES["numbers"].values) != tree or kind == "numbers"
    # An action may be other than the best one.
    if tree.kind == "actions":
        other = tree.replaced(label=[0] * tree.n_nodes)
        assert other.has_other_labels
        assert Tree.from_text(other.to_text()) == other == Tree.from_json(other.to_json())


@pytest.mark.parametrize("kind", KINDS)
def test_model_files(kind: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    model = StoredModel(TREES[kind], target="it")
    jsonschema.validate(json.loads(model.to_json()), model_schema())
    again = StoredModel.from_json(model.to_json())
    assert again == model
    frame = pd.DataFrame(raw_rows())
    assert again.predict(frame).tolist() == expected(TREES[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_python(kind: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(to_python(TREES[kind]), "tree.py", "exec"), names)
    assert [names["predict"](row) for row in raw_rows()] == expected(TREES[kind])
    assert "predict_proba" not in names


@pytest.mark.parametrize("kind", KINDS)
def test_sql(kind: str) -> None:
    tree = TREES[kind]
    with sqlite3.connect(":memory:") as database:
        database.execute('CREATE TABLE t ("size" DOUBLE, "age of it" DOUBLE, "region" TEXT)')
        rows = [tuple(row.values()) for row in raw_rows()]
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        if kind == "numbers":
            with pytest.raises(ValueError, match="'output' parameter of to_sql must be one of 'a'"):
                to_sql(tree)
            for place, output in enumerate("abc"):
                query = to_sql(tree, dialect="sqlite", table="t", output=output)
                found = [row[-1] for row in database.execute(query)]
                assert found == tree.predict(X)[:, place].tolist()
        else:
            query = to_sql(tree, dialect="sqlite", table="t")
            assert [row[-1] for row in database.execute(query)] == expected(tree)
    database.close()
    if tree.kind == "actions":
        with pytest.raises(ValueError, match="probability_of"):
            to_sql(tree, probability_of=tree.labels[0])


def test_c(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    source, library = tmp_path / "trees.c", tmp_path / "trees.so"
    source.write_text("\n".join(to_c(TREES[kind], prefix=kind) for kind in KINDS), encoding="utf-8")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *strict, "-o", library, source], check=True)
    loaded = ctypes.CDLL(str(library))
    fields = [("a", ctypes.c_double), ("b", ctypes.c_double), ("c", ctypes.c_char_p)]
    row_type = type("row", (ctypes.Structure,), {"_fields_": fields})
    for kind in KINDS:
        tree = TREES[kind]
        predict = getattr(loaded, f"{kind}_predict")
        if tree.kind == "numbers":
            many = tree.n_classes > 1
            predict.restype = ctypes.POINTER(ctypes.c_double) if many else ctypes.c_double
        for row, wanted in zip(raw_rows(), tree.predict(X).tolist(), strict=True):
            age = math.nan if row["age of it"] is None else row["age of it"]
            found = predict(ctypes.byref(row_type(row["size"], age, row["region"].encode())))
            assert (found[:3] if kind == "numbers" else found) == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_onnx(kind: str) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    tree = TREES[kind]
    session = runtime.InferenceSession(to_onnx(tree), providers=["CPUExecutionProvider"])
    inputs = {
        "size": X[:, :1],
        "age of it": X[:, 1:2],
        "region": np.array([[row["region"]] for row in raw_rows()], dtype=object),
    }
    (found,) = session.run(None, inputs)
    wanted = expected(tree)
    assert found.tolist() == ([[x] for x in wanted] if found.shape[1:] == (1,) else wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_pmml(kind: str) -> None:
    tree = TREES[kind]
    if kind == "numbers":
        with pytest.raises(UnsupportedTreeError, match="one number, and this one predicts 3"):
            to_pmml(tree)
        return
    document = to_pmml(tree)
    found = [PmmlTree(document).predict(row) for row in raw_rows()]
    if tree.kind == "numbers":
        assert 'functionName="regression"' in document
        assert [float(x) for x in found if x is not None] == expected(tree)
    else:
        assert found == [str(label) for label in expected(tree)]


def medians_read_missing_values() -> bool:
    """Whether this version of scikit-learn takes missing values to trees of medians."""
    model = DecisionTreeRegressor(criterion="absolute_error").fit([[0.0], [1.0]], [0.0, 1.0])
    try:
        model.predict([[math.nan]])
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("kind", ["number", "median", "numbers"])
def test_to_sklearn(kind: str) -> None:
    tree = TREES[kind]
    pipeline = to_sklearn_pipeline(tree)
    assert pipeline.predict(pd.DataFrame(raw_rows())).tolist() == expected(tree)
    y = Y if kind == "numbers" else Y[:, 0]
    criterion = "absolute_error" if kind == "median" else "squared_error"
    reg = OptimalTreeRegressor(max_depth=3, criterion=criterion).fit(X[:, :2], y)
    model = reg.to_sklearn()
    assert model.predict(X[:, :2]).tolist() == reg.predict(X[:, :2]).tolist()
    assert model.apply(X[:, :2]).tolist() == reg.apply(X[:, :2]).tolist()
    assert model.feature_importances_ == pytest.approx(reg.feature_importances_)
    assert model.criterion == (criterion if medians_read_missing_values() else "squared_error")
    with pytest.raises(UnsupportedTreeError, match="no numbers to predict: use to_sklearn_reg"):
        to_sklearn(tree)


def test_what_scikit_learn_has_no_tree_for() -> None:
    for make in (to_sklearn, to_sklearn_regressor):
        with pytest.raises(UnsupportedTreeError, match="no trees of actions"):
            make(TREES["action"])
    leaf = Tree(feature=[-1], threshold=[0], value=[[3, 1]], n_samples=[4], n_features=1)
    with pytest.raises(UnsupportedTreeError, match="no classes to predict: use to_sklearn"):
        to_sklearn_regressor(leaf)


@pytest.mark.parametrize("kind", KINDS)
def test_pictures(kind: str) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    tree = TREES[kind]
    axes = plot_tree(tree)
    words = " ".join(text.get_text() for text in axes.texts)
    assert len(axes.patches) == (0 if tree.kind == "actions" else 2 * tree.n_leaves)
    pyplot.close(axes.figure)
    for text in (words, tree_svg(tree), to_graphviz(tree)):
        assert ("±" in text) == (tree.kind == "numbers")
    assert to_graphviz(tree).count("fillcolor") == tree.n_nodes


def test_digits_tell_large_numbers_apart() -> None:
    values = Numbers([[1e9], [1e9 - 0.5], [1e9 + 0.5]], [2, 1, 1], [[0.5], [0.0], [0.0]])
    tree = Tree(
        feature=[0, -1, -1], threshold=[1.0, 0, 0], n_samples=[0, 1, 1], n_features=1, value=values
    )
    assert "999999999.5 +- 0: 1 row" in tree.to_text()
    assert "1000000000.5" in tree_svg(tree)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (Numbers([[1.0]], [1], [[-1.0]]), "'spread' of a tree must hold a number >= 0"),
        (Numbers([[1.0]], [1], [[1.0, 2.0]]), "'spread' of a tree must hold a number >= 0"),
        (Numbers([[1.0]], [1], [[1.0]], "mode"), "must be 'mean' or 'median'"),  # type: ignore[arg-type]
        (Numbers([1.0], [1], [[1.0]]), "one row per node and one column per output"),
        (Numbers([[math.inf]], [1], [[1.0]]), "'value' array of a tree must hold finite numbers"),
        (Numbers([[1.0]], [-1], [[1.0]]), "'weight' array of a tree must hold finite numbers >= 0"),
        (Actions([[1.0], [2.0]], [1]), "one row per node and one column per action"),
    ],
)
def test_values_that_are_refused(values: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Tree(feature=[-1], threshold=[0], value=values, n_samples=[1], n_features=1)


def test_only_classes_have_shares() -> None:
    with pytest.raises(ValueError, match="Only trees of classes have class shares"):
        TREES["number"].shares()
    assert repr(TREES["numbers"]).endswith("n_outputs=3)")
    assert repr(TREES["action"]).endswith("n_actions=3)")


def test_importances_are_what_splits_save() -> None:
    from provetree.tree.importances import split_importances

    for kind in KINDS:
        found = split_importances(TREES[kind])
        assert found.sum() == pytest.approx(1.0)
        assert (found >= 0).all()
