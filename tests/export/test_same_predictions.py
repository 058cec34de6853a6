"""Every export predicts as the tree does: random tables with ties, NaN, infinities, categories."""

from __future__ import annotations

import ctypes
import math
import pickle
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from provetree import ExactSearch, Smoothing, Tree
from provetree.export import (
    UnsupportedTreeError,
    to_c,
    to_onnx,
    to_pmml,
    to_python,
    to_sklearn,
    to_sklearn_pipeline,
    to_sql,
)
from provetree.export.c_code import c_field_names
from provetree.problem.category_groups import category_orders, category_scores
from provetree.problem.pairs import pair_combinations
from testkit.pmml_reader import PmmlTree
from testkit.random_problems import RandomTable, random_table

#: From a hundred on, splits may be about two columns; from two hundred on, about groups.
SEEDS = [*range(40), *range(100, 130), *range(200, 215)]
#: Every export gives the probabilities of the tree, smoothed or not.
SMOOTHINGS = (None, Smoothing("laplace", 1.0), Smoothing("shrinkage", 3.0))
Float = NDArray[np.float64]


def tree_and_rows(seed: int, *, depth: int = 3) -> tuple[Tree, Float]:
    """An optimal tree of a random table, and rows: those of training and new ones."""
    rng = np.random.default_rng(seed)
    table = random_table(seed, max_depth=depth)
    if seed >= 200:
        table = with_groups(table, rng)
    elif seed >= 100:
        table = with_pair(table, rng)
    options = {
        **table.options,
        # Nothing keeps the trees small.
        "alpha": 0.0,
        "max_leaf_nodes": None,
        "min_samples_leaf": 1,
        "sample_weight": None,
        "feature_names": [f'col "{i}" é' for i in range(table.X.shape[1])],
        "class_names": [f"it's {i}" for i in range(table.options["n_classes"])],
    }
    from provetree import build_problem

    # More rows, the same values in other combinations; labels without a pattern need large trees.
    X = np.vstack([table.X, *(rng.permuted(table.X, axis=0) for _ in range(4))])
    y = np.concatenate([table.y, rng.integers(0, options["n_classes"], len(X) - len(table.y))])
    if seed >= 200:
        scores = category_scores(y, None, options["n_classes"], "errors")
        options["combinations"] = category_orders(X, options["categories"], scores)
    elif seed >= 100:
        options["combinations"] = pair_combinations(X, options["categories"], 2 + 4 * (seed % 2))
    tree = ExactSearch().solve(build_problem(X, y, **options)).tree
    tree = tree.with_smoothing(SMOOTHINGS[seed % len(SMOOTHINGS)])
    new = X[rng.integers(0, len(X), 40)].copy()
    for j, levels in enumerate(table.options["categories"]):
        if levels is None:  # values beside those of training
            near = new[:, j] * rng.choice([1.0, 1.0000001, -1.0], 40)
            new[:, j] = np.where(rng.random(40) < 0.5, new[:, j], near)
            new[rng.random(40) < 0.1, j] = rng.choice([0.0, -0.0, 1e-300, math.inf, -math.inf])
        else:  # a category that training did not know
            new[rng.random(40) < 0.15, j] = -1.0
        new[rng.random(40) < 0.15, j] = np.nan
    return tree, np.vstack([X, new])


def with_pair(table: RandomTable, rng: np.random.Generator) -> RandomTable:
    """The table with two more columns of short decimals, whose difference tells the class."""
    more = rng.integers(0, 60, (len(table.X), 2)) / [10, 20]
    y = np.where(more[:, 0] > 2 * more[:, 1], table.y, table.options["n_classes"] - 1)
    more[rng.random(more.shape) < 0.1] = np.nan
    options = {**table.options, "categories": [*table.options["categories"], None, None]}
    return RandomTable(np.hstack([table.X, more]), y, options)


def with_groups(table: RandomTable, rng: np.random.Generator) -> RandomTable:
    """The table with two more columns of categories, few and many, whose groups tell the class."""
    names = ["a", 'b "|"', "c | d", "it's", "e, f", "missing", "\\", *(f"g{i}" for i in range(9))]
    few = rng.integers(0, 7, len(table.X)).astype(float)
    many = rng.integers(0, 16, len(table.X)).astype(float)
    last = table.options["n_classes"] - 1
    y = np.where(np.isin(few, [1, 2, 5]) | np.isin(many, [0, 4, 9, 15]), last, table.y)
    for column in (few, many):
        column[rng.random(len(few)) < 0.1] = np.nan
    options = {**table.options, "categories": [*table.options["categories"], names[:7], names]}
    return RandomTable(np.column_stack([table.X, few, many]), y, options)


def raw(tree: Tree, row: Float) -> list[Any]:
    """The values behind an encoded row, None where they are missing."""
    values: list[Any] = []
    for x, levels in zip(row.tolist(), tree.categories, strict=True):
        if math.isnan(x):
            values.append(None)
        elif levels is None:
            values.append(x)
        else:
            values.append("not known" if x < 0 else levels[int(x)])
    return values


def expected(tree: Tree, rows: Float) -> list[Any]:
    assert tree.class_names is not None
    return [tree.class_names[i] for i in tree.predict(rows)]


@pytest.mark.parametrize("seed", SEEDS)
def test_python(seed: int) -> None:
    tree, rows = tree_and_rows(seed)
    names: dict[str, Any] = {}
    exec(compile(to_python(tree), "tree.py", "exec"), names)
    given = [dict(zip(tree.feature_names or (), raw(tree, row), strict=True)) for row in rows]
    assert [names["predict"](row) for row in given] == expected(tree, rows)
    shares = [list(names["predict_proba"](row).values()) for row in given]
    np.testing.assert_array_equal(shares, tree.predict_proba(rows))
    # NaN is a missing value as None is.
    with_nan = [{k: math.nan if v is None else v for k, v in row.items()} for row in given]
    assert [names["predict"](row) for row in with_nan] == expected(tree, rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_sqlite(seed: int) -> None:
    tree, rows = tree_and_rows(seed)
    with sqlite3.connect(":memory:") as database:
        _fill(database, tree, rows)
        query = to_sql(tree, dialect="sqlite", table="rows")
        found = [row[-1] for row in database.execute(query)]
        share = to_sql(tree, dialect="sqlite", probability_of="it's 0")
        shares = [row[0] for row in database.execute(f"SELECT {share} FROM rows")]
    database.close()
    assert found == expected(tree, rows)
    np.testing.assert_allclose(shares, tree.predict_proba(rows)[:, 0], rtol=1e-15)


@pytest.mark.parametrize("dialect", ["ansi", "duckdb"])
def test_duckdb(dialect: Any) -> None:
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect(":memory:", config={"threads": 1})
    for seed in SEEDS:
        tree, rows = tree_and_rows(seed)
        _fill(database, tree, rows)
        query = to_sql(tree, dialect=dialect, table="rows")
        assert [row[-1] for row in database.execute(query).fetchall()] == expected(tree, rows)
        if dialect == "duckdb":  # NaN in a column of doubles is missing, too
            for name, levels in zip(tree.feature_names or (), tree.categories, strict=True):
                if levels is None:
                    column = '"' + name.replace('"', '""') + '"'
                    database.execute(f"UPDATE rows SET {column} = 'NaN' WHERE {column} IS NULL")
            assert [row[-1] for row in database.execute(query).fetchall()] == expected(tree, rows)
        database.execute("DROP TABLE rows")
    database.close()


def _fill(database: Any, tree: Tree, rows: Float) -> None:
    names = ['"' + name.replace('"', '""') + '"' for name in tree.feature_names or ()]
    kinds = ["DOUBLE" if levels is None else "TEXT" for levels in tree.categories]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
    database.execute(f"CREATE TABLE rows ({columns})")
    marks = f"({', '.join('?' for _ in names)})"
    values = [value for row in rows for value in raw(tree, row)]
    # One statement for all rows: databases made for analysis are slow row by row.
    database.execute(f"INSERT INTO rows VALUES {', '.join([marks] * len(rows))}", values)


def test_c(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    trees = [tree_and_rows(seed) for seed in SEEDS]
    source = tmp_path / "trees.c"
    # One file with all trees: their names begin differently.
    source.write_text(
        "\n".join(to_c(tree, prefix=f"t{i}") for i, (tree, _) in enumerate(trees)), encoding="utf-8"
    )
    library = tmp_path / "trees.so"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
    subprocess.run([compiler, *strict, "-o", library, source], check=True)
    loaded = ctypes.CDLL(str(library))
    for i, (tree, rows) in enumerate(trees):
        fields = [
            (field, ctypes.c_double if levels is None else ctypes.c_char_p)
            for field, levels in zip(c_field_names(tree), tree.categories, strict=True)
        ]
        row_type = type("row", (ctypes.Structure,), {"_fields_": fields})
        shares = getattr(loaded, f"t{i}_shares")
        shares.restype = ctypes.POINTER(ctypes.c_double)
        for row, label, share in zip(
            rows, tree.predict(rows), tree.predict_proba(rows), strict=True
        ):
            values = [
                (math.nan if value is None else value)
                if levels is None
                else (None if value is None else value.encode())
                for value, levels in zip(raw(tree, row), tree.categories, strict=True)
            ]
            given = ctypes.byref(row_type(*values))
            assert getattr(loaded, f"t{i}_predict")(given) == label
            assert shares(given)[: tree.n_classes] == share.tolist()


def test_onnx() -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    for seed in SEEDS:
        tree, rows = tree_and_rows(seed)
        session = runtime.InferenceSession(to_onnx(tree), providers=["CPUExecutionProvider"])
        labels, shares = session.run(["label", "probabilities"], _onnx_inputs(tree, rows))
        assert labels.tolist() == expected(tree, rows), seed
        np.testing.assert_array_equal(shares, tree.predict_proba(rows))


def _onnx_inputs(tree: Tree, rows: Float) -> dict[str, Any]:
    if all(levels is None for levels in tree.categories):
        return {"X": rows}
    columns = list(zip(*(raw(tree, row) for row in rows), strict=True))
    inputs = {}
    for name, levels, column in zip(
        tree.feature_names or (), tree.categories, columns, strict=True
    ):
        if levels is None:
            inputs[name] = np.array([[math.nan if x is None else x] for x in column])
        else:
            inputs[name] = np.array([["" if x is None else x] for x in column], dtype=object)
    return inputs


@pytest.mark.parametrize("seed", SEEDS)
def test_pmml(seed: int) -> None:
    tree, rows = tree_and_rows(seed)
    if np.isneginf(tree.threshold).any():
        with pytest.raises(UnsupportedTreeError, match="minus infinity"):
            to_pmml(tree)
        return
    document = to_pmml(tree)
    reader = PmmlTree(document)
    names = tree.feature_names or ()
    given = [dict(zip(names, raw(tree, row), strict=True)) for row in rows]
    assert [reader.predict(row) for row in given] == expected(tree, rows)
    shares = [reader.probabilities(row) for row in given]
    np.testing.assert_array_equal(shares, tree.predict_proba(rows))


def test_pmml_in_a_scoring_engine() -> None:
    pypmml = pytest.importorskip("pypmml", reason="pypmml, which runs on Java, is not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java was found (Debian: apt-get install default-jre-headless)")
    for seed in range(12):
        tree, rows = tree_and_rows(seed)
        rows = rows[~np.isinf(rows).any(axis=1)]  # the engine takes no infinities
        if np.isneginf(tree.threshold).any():
            continue
        engine = pypmml.Model.fromString(to_pmml(tree))
        names = tree.feature_names or ()
        given = [dict(zip(names, raw(tree, row), strict=True)) for row in rows]
        found = [engine.predict(row)["prediction"] for row in given]
        assert found == expected(tree, rows)


def test_the_trees_are_worth_it() -> None:
    """The tables of this file have what exports could stumble over."""
    trees = [tree_and_rows(seed)[0] for seed in SEEDS]
    assert sum(tree.n_splits for tree in trees) > 90
    assert sum(int((tree.category >= 0).sum()) for tree in trees) > 12
    assert sum(len(tree.combinations) for tree in trees) > 30
    of_sums = [tree.missing_seen & (tree.feature >= tree.n_features) for tree in trees]
    assert sum(int(seen.sum()) for seen in of_sums) > 3
    assert sum(int(tree.missing_seen.sum()) for tree in trees) > 12
    grouped = [(tree, node) for tree in trees for node in tree.nodes_of_groups]
    assert len(grouped) > 15
    assert sum(bool(tree.missing_left[node]) for tree, node in grouped) > 1
    only_missing = [np.isnan(t.threshold) & (t.category < 0) & (t.feature >= 0) for t in trees]
    assert sum(int(found.sum()) for found in only_missing) > 4


@pytest.mark.parametrize("seed", SEEDS)
def test_sklearn(seed: int) -> None:
    tree, rows = tree_and_rows(seed)
    # scikit-learn takes no infinities and no unknown categories, and rounds to float32.
    finite = ~np.isinf(rows).any(axis=1) & ~(rows == -1.0).any(axis=1)
    with np.errstate(over="ignore"):
        rounded = rows.astype(np.float32).astype(np.float64)
        finite &= ~np.isinf(rounded).any(axis=1)
    try:
        model = to_sklearn(tree)
    except UnsupportedTreeError:
        # Categories in the middle of the codes; which trees those are has tests of its own.
        assert (tree.category >= 0).any() or tree.combinations
        return
    if finite.any():
        rows = rounded[finite]
        del model.feature_names_in_
        assert model.predict(rows).tolist() == expected(tree, rows)
        np.testing.assert_allclose(model.predict_proba(rows), tree.predict_proba(rows))


def sums_survive_float32(tree: Tree, rows: Float) -> NDArray[np.bool_]:
    """Which rows take the same sides when the sums of their columns are rounded to float32."""
    table = tree.with_combinations(rows)
    same = np.ones(len(rows), dtype=bool)
    for node in np.flatnonzero(tree.feature >= tree.n_features):
        x, threshold = table[:, tree.feature[node]], tree.threshold[node]
        with np.errstate(over="ignore"):
            rounded = x.astype(np.float32).astype(np.float64)
        same &= (x <= threshold) == (rounded <= threshold)
        same &= ~np.isinf(rounded)  # scikit-learn takes no infinities
    assert same.mean() > 0.8
    return same


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["pandas", "polars", "objects"])
def test_sklearn_pipeline(seed: int, kind: str) -> None:
    tree, rows = tree_and_rows(seed)
    # As above, but any category and any split on one can be said.
    numbers = [j for j, levels in enumerate(tree.categories) if levels is None]
    with np.errstate(over="ignore"):
        rows[:, numbers] = rows[:, numbers].astype(np.float32)
    rows = rows[~np.isinf(rows).any(axis=1)]
    rows = rows[sums_survive_float32(tree, rows)]
    given = [raw(tree, row) for row in rows]
    table: Any
    if kind == "pandas":
        pandas = pytest.importorskip("pandas")
        table = pandas.DataFrame(given, columns=list(tree.feature_names or ()))
        table = table.astype({table.columns[j]: float for j in numbers})
        table = table[table.columns[::-1]]  # found by name
    elif kind == "polars":
        polars = pytest.importorskip("polars")
        types = {
            name: polars.Float64 if levels is None else polars.String
            for name, levels in zip(tree.feature_names or (), tree.categories, strict=True)
        }
        table = polars.DataFrame(given, schema=types, orient="row")
    else:
        names = tree.feature_names
        tree = Tree.from_dict({**tree.to_dict(), "feature_names": None})
        assert names is not None
        table = np.array(given, dtype=object).reshape(len(given), -1)
    model = pickle.loads(pickle.dumps(to_sklearn_pipeline(tree)))
    assert model.predict(table).tolist() == expected(tree, rows)
    np.testing.assert_allclose(model.predict_proba(table), tree.predict_proba(rows))
    assert model.n_features_in_ == tree.n_features
    if tree.feature_names is not None:
        assert model.feature_names_in_.tolist() == list(tree.feature_names)


@pytest.mark.parametrize("seed", SEEDS)
def test_json_and_text(seed: int) -> None:
    tree, _ = tree_and_rows(seed)
    assert Tree.from_json(tree.to_json()) == tree
    assert Tree.from_text(tree.to_text()) == tree


def test_labels_of_other_types() -> None:
    tree = Tree(
        feature=[0, -1, -1],
        threshold=[0.5, math.nan, math.nan],
        value=[[0, 0], [3, 1], [1, 3]],
        n_samples=[0, 4, 4],
        n_features=1,
        class_names=[False, True],
    )
    assert "THEN 0" in to_sql(tree, dialect="sqlite")
    assert "THEN FALSE" in to_sql(tree)
    names: dict[str, Any] = {}
    exec(to_python(tree), names)
    assert names["predict"]({"x0": 1.0}) is True


def test_wrong_words_are_told() -> None:
    leaf = Tree(feature=[-1], threshold=[0], value=[[1]], n_samples=[1], n_features=1)
    with pytest.raises(ValueError, match="The 'dialect' parameter of to_sql must be one of"):
        to_sql(leaf, dialect="oracle")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="The 'probability_of' parameter of to_sql"):
        to_sql(leaf, probability_of="nobody")
    with pytest.raises(ValueError, match="The 'function_name' parameter of to_python"):
        to_python(leaf, function_name="2x")
    with pytest.raises(ValueError, match="The 'prefix' parameter of to_c"):
        to_c(leaf, prefix="a b")
