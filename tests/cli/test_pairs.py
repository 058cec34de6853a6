"""The command line with questions about two columns: every command follows them."""

from __future__ import annotations

import json
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from provetree import load_model
from provetree.cli.main import main


@pytest.fixture
def shapes(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    length, width = rng.permutation(120) / 10, rng.permutation(120) / 10
    kind = np.where(length - width > 1.5, "long", "wide")
    columns = {"length": length, "width": width, "port": rng.choice(["S", "C"], 120), "kind": kind}
    polars.DataFrame(columns).write_csv(tmp_path / "shapes.csv")
    return tmp_path / "shapes.csv"


def told(capsys: Any, *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 0
    return str(capsys.readouterr().out)


def test_every_command_knows_pairs(shapes: Path, tmp_path: Path, capsys: Any) -> None:
    model, report = str(tmp_path / "model.json"), str(tmp_path / "report.html")
    words = ["-t", "kind", "--depth", "1", "--no-tune", "--splits", "pairs", "--test-share", "0"]
    words += ["--time-limit", "none"]
    out = told(capsys, "fit", str(shapes), *words, "--save", model, "--report", report, "--extras")
    assert "length - width <= 1.5" in out
    assert "no tree of depth 1 on columns and sums of two makes fewer" in out
    stored = load_model(model)
    assert stored.facts["columns"][0]["splits"] == stored.facts["columns"][1]["splits"] == 1
    # The frontier is that of the same family: two leaves make no errors.
    assert [point["errors"] for point in stored.facts["frontier"]["points"]] == [44, 0]

    table = polars.read_csv(shapes)
    told(capsys, "predict", model, str(shapes), "-o", str(tmp_path / "found.csv"))
    found = polars.read_csv(tmp_path / "found.csv")
    assert found[found.columns[-1]].to_list() == table["kind"].to_list()
    assert "length - width is" in told(capsys, "explain", model, str(shapes), "--row", "3")
    told(capsys, "export", model, "--to", "sklearn", "-o", str(tmp_path / "tree.pickle"))
    pipeline = pickle.loads((tmp_path / "tree.pickle").read_bytes())
    assert pipeline.predict(table.drop("kind")).tolist() == table["kind"].to_list()
    query = told(capsys, "export", model, "--to", "sql", "--table", "shapes")
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE shapes (length REAL, width REAL, port TEXT, kind TEXT)")
        database.executemany("INSERT INTO shapes VALUES (?, ?, ?, ?)", table.rows())
        sql = "\n".join(line for line in query.splitlines() if not line.startswith("--"))
        assert all(row[3] == row[4] for row in database.execute(sql))
    database.close()


def test_flags_that_do_not_go_together(shapes: Path, capsys: Any) -> None:
    words = ["fit", str(shapes), "-t", "kind", "--splits", "pairs"]
    assert main([*words, "--recall", "0.9"]) == 2
    assert "--recall and --splits exclude each other." in capsys.readouterr().err
    assert main([*words, "--no-tune", "--ignore", "width"]) == 2
    assert "two or more columns of numbers. Got a table with 1" in capsys.readouterr().err


def test_the_parameters_are_stored(shapes: Path, tmp_path: Path, capsys: Any) -> None:
    model = tmp_path / "model.json"
    words = ["-t", "kind", "--depth", "1", "--no-tune", "--splits", "pairs", "--no-extras"]
    told(capsys, "fit", str(shapes), *words, "--save", str(model))
    assert json.loads(model.read_text())["proof"]["parameters"]["splits"] == "pairs"


def test_tuning_chooses_pairs_and_says_of_which_columns(shapes: Path, capsys: Any) -> None:
    words = ["-t", "kind", "--depth", "1", "--no-extras", "--time-limit", "60"]
    out = told(capsys, "fit", str(shapes), *words)
    assert "length - width <= 1." in out
    assert "on columns and sums of two of 2 of them" in out
    assert "sums of two columns" in out  # what was chosen
    assert "length - width" not in told(capsys, "fit", str(shapes), *words, "--splits", "columns")


def test_numbers_are_predicted_from_two_columns(tmp_path: Path, capsys: Any) -> None:
    rng = np.random.default_rng(0)
    length, width = rng.normal(size=(2, 120)).round(2)
    price = (5.0 * (length > width) + rng.normal(0, 0.1, 120)).round(2)
    path = tmp_path / "prices.csv"
    polars.DataFrame({"length": length, "width": width, "price": price}).write_csv(path)
    words = ["-t", "price", "--depth", "2", "--no-extras", "--test-share", "0"]
    assert "length - width <= " in told(capsys, "fit", str(path), *words, "--splits", "pairs")
    assert "length - width" not in told(capsys, "fit", str(path), *words, "--splits", "columns")
