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
    ],
)
def test_what_a_folder_cannot_have(
    folder: Path, flags: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(folder), *flags]) == 2
    assert words in capsys.readouterr().err


def test_an_empty_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(tmp_path), "--target", "label"]) == 2
    assert "There are no Parquet files in the folder" in capsys.readouterr().err
