"""Folders of Parquet files on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from provetree import OptimalTreeClassifier
from provetree.cli import main


@pytest.fixture
def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=300), "c": rng.choice(["x", "y"], 300)})
    table["label"] = np.where((table["a"] > 0) ^ (rng.random(300) < 0.1), "yes", "no")
    return table


@pytest.fixture
def folder(table: pd.DataFrame, tmp_path: Path) -> Path:
    folder = tmp_path / "rows"
    folder.mkdir()
    for number, (a, b) in enumerate([(0, 100), (100, 100), (100, 300)]):  # one of them is empty
        table.iloc[a:b].to_parquet(folder / f"part-{number}.parquet")
    return folder


@pytest.mark.parametrize("memory", ["1GB", "1B"])
def test_a_folder_is_fitted_and_predicted(
    table: pd.DataFrame,
    folder: Path,
    memory: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, predicted = tmp_path / "model.json", tmp_path / "predicted.csv"
    flags = ["--target", "label", "--depth", "1", "--max-memory", memory, "--json"]
    assert main(["fit", str(folder), *flags, "--save", str(model)]) == 0
    found = json.loads(capsys.readouterr().out)
    exact = OptimalTreeClassifier(max_depth=1).fit(table[["a", "c"]], table["label"])
    assert found["lower_bound"] <= exact.objective_ <= found["cost"]
    assert found["rows"] == 300
    assert main(["predict", str(model), str(folder), "--output", str(predicted)]) == 0
    written = pd.read_csv(predicted)
    assert len(written) == 300
    assert int((written["predicted label"] != written["label"]).sum()) == found["cost"]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--target", "none"], "There is no column 'none' in"),
        (["--target", "label", "--report", "r.html"], "--report needs a table in one file"),
        (["--target", "label", "--tune"], "--tune needs a table in one file"),
        (["--target", "label", "--task", "regression"], "for classes, not for numbers"),
        (["--target", "a"], "The column 'a' holds numbers with fractions"),
        (["--target", "label", "--categorical", "a"], "--categorical needs a table in one file"),
        (["--target", "label", "--near-optimal", "1"], "--near-optimal needs a table in one file"),
        (["--target", "label", "--test-share", "0.3"], "--test-share needs a table in one file"),
    ],
)
def test_what_a_folder_cannot_have(
    folder: Path, flags: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(folder), *flags]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_files_that_do_not_go_together_are_named(
    command: str,
    table: pd.DataFrame,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, predicted, bad = tmp_path / "m.json", tmp_path / "p.csv", folder / "part-9.parquet"
    fit = ["fit", str(folder), "--target", "label", "--depth", "1", "--quiet"]
    assert main([*fit, "--save", str(model)]) == 0
    ask = fit if command == "fit" else ["predict", str(model), str(folder), "-o", str(predicted)]
    for write, words in (
        (table.assign(more=1).to_parquet, f"same columns: '{bad}' has a, c, label, more, and"),
        (lambda path: path.write_bytes(b"PAR1"), f"'{bad}' is a damaged Parquet file"),
        (table.assign(c=[[1]] * 300).to_parquet, "a value of type ndarray"),
    ):
        write(bad)
        if command == "predict" and "ndarray" in words:
            continue
        assert main(ask) == 2
        assert words in capsys.readouterr().err
    assert not predicted.exists()


def test_predictions_of_files_in_other_orders_are_one_table(
    table: pd.DataFrame, folder: Path, tmp_path: Path
) -> None:
    table[["label", "c", "a"]].to_parquet(folder / "part-9.parquet")
    model, predicted = tmp_path / "m.json", tmp_path / "p.csv.gz"
    flags = ["--target", "label", "--depth", "1", "--quiet", "--save", str(model)]
    assert main(["fit", str(folder), *flags]) == 0
    assert main(["predict", str(model), str(folder), "--output", str(predicted)]) == 0
    written = pd.read_csv(predicted)
    twice = pd.concat([table, table], ignore_index=True)
    pd.testing.assert_frame_equal(written[["a", "c", "label"]], twice, check_dtype=False)


def test_rules_are_kept_or_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["fit", str(folder), "--target", "label", "--depth", "1", "--forbid", "a"]
    assert main([*words, "--quiet"]) == 0
    assert "a <=" not in capsys.readouterr().out
    assert main([*words, "--max-memory", "1B"]) == 2
    assert "'forbidden_columns' parameter" in capsys.readouterr().err


def test_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(tmp_path), "--target", "label"]) == 2
    assert "There are no Parquet files in the folder" in capsys.readouterr().err
