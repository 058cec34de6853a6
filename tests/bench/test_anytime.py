"""``bench anytime``: what it measures, and what it says about wrong options."""

from __future__ import annotations

import gzip
import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from provetree.bench import anytime
from provetree.bench.anytime import measure
from provetree.bench.arguments import numbers
from provetree.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).round(2)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    lines = ["a,b,c,target", *(",".join(map(str, [*row, c])) for row, c in zip(X, y, strict=True))]
    (tmp_path / "small.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    split = {"train": list(range(100)), "valid": [], "test": list(range(100, 120))}
    (tmp_path / "small.splits.json").write_text(json.dumps({"splits": [split]}))
    (tmp_path / "manifest.json").write_text("{}")
    monkeypatch.setenv("PROVETREE_DATA", str(tmp_path))
    return tmp_path


def test_a_table_is_measured(folder: Path) -> None:
    result = measure("small", 3, 5.0, folder)
    assert result["errors"] <= result["start"] <= result["cart"]
    assert result["bound"] <= result["errors"]
    assert 0.0 <= result["test_accuracy"] <= 1.0
    assert result["history"][-1][1] == result["errors"]


def test_the_command_prints_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "anytime", "--tables", "small", "--depths", "2,3", "--seconds", "2"]
    assert main([*words, "--output", str(folder / "out.json")]) == 0
    printed = capsys.readouterr().out
    assert "| test accuracy" in printed
    results = json.loads((folder / "out.json").read_text())["results"]
    assert [result["depth"] for result in results] == [2, 3]


def test_a_second_call_goes_on_from_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = folder / "out.json"
    words = ["bench", "anytime", "--tables", "small", "--seconds", "1,2", "--output", str(output)]
    assert main([*words, "--depths", "2"]) == 0
    fitted = []

    def noted(name: str, depth: int, seconds: float) -> dict[str, object]:
        fitted.append((name, depth, seconds))
        return measure(name, depth, seconds)

    monkeypatch.setattr(anytime, "measure", noted)
    assert main([*words, "--depths", "2,3"]) == 0
    assert fitted == [("small", 3, 2.0)]
    assert len(json.loads(output.read_text())["results"]) == 2
    assert "bound, 2 s" in capsys.readouterr().out


def test_tables_with_categories_are_read(tmp_path: Path) -> None:
    pytest.importorskip("polars")
    rows = [f"{i % 7},{'ab'[i % 2]},{'yes' if i % 2 and i % 7 > 2 else 'no'}" for i in range(60)]
    text = "\n".join(["n,kind,target", *rows])
    (tmp_path / "mixed.csv.gz").write_bytes(gzip.compress(text.encode()))
    split = {"train": list(range(50)), "valid": [], "test": list(range(50, 60))}
    (tmp_path / "mixed.splits.json").write_text(json.dumps({"splits": [split]}))
    facts = {"rows": 60, "features": 2, "suites": ["mixed"]}
    (tmp_path / "manifest.json").write_text(json.dumps({"mixed": facts}))
    result = measure("mixed", 2, 5.0, tmp_path)
    assert (result["errors"], result["test_accuracy"], result["shape"]) == (0, 1.0, "50 x 2")


def test_threads_are_measured(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "anytime", "--jobs", "1,2", "--proofs", "small:3", "--repeat", "1"]
    assert main(words) == 0
    assert "| ratio" in capsys.readouterr().out
    words[2] = "--threads"
    with pytest.warns(FutureWarning, match="--threads is the old name of --jobs"):
        assert main(words) == 0
    for both in (["--jobs", "1", "--threads", "2"], ["--threads", "2", "--jobs", "1"]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            with pytest.raises(SystemExit):
                main(["bench", "anytime", *both])
        assert "not allowed with argument" in capsys.readouterr().err


def test_wrong_numbers_are_told_of() -> None:
    for words in ("", "0", "a,b"):
        with pytest.raises(ValueError, match="--depths must be a list of numbers above 0"):
            numbers(words, int, "--depths")


def test_a_chart_is_drawn_of_fits_only(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    chart = tmp_path / "chart.svg"
    words = ["bench", "anytime", "--tables", "small", "--depths", "2,3", "--seconds", "2"]
    assert main([*words, "--chart", str(chart)]) == 0
    assert chart.read_text().startswith("<?xml")
    assert main([*words, "--jobs", "1", "--chart", str(chart)]) == 2
    assert "--chart draws fits over time" in capsys.readouterr().err
