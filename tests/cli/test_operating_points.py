"""``provetree fit --recall``, ``--precision``, ``--cost-ratio``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from provetree import load_model
from provetree.cli.main import main


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=240).round(2), rng.integers(0, 5, 240)
    answer = np.where(a + rng.normal(size=240) > 1.2, "yes", "no")
    frame = polars.DataFrame({"a": a, "b": b, "answer": answer})
    frame.write_csv(tmp_path / "table.csv")
    return tmp_path / "table.csv"


def told(capsys: Any, *words: str, status: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    assert main(list(words)) == status
    found = capsys.readouterr()
    return found.out, found.err


def test_recall_is_that_of_rows_held_out(table: Path, tmp_path: Path, capsys: Any) -> None:
    model, report = str(tmp_path / "model.json"), str(tmp_path / "report.html")
    asked = ["fit", str(table), "-t", "answer", "--depth", "2", "--recall", "0.7"]
    out, _ = told(capsys, *asked, "--save", model, "--report", report)
    assert "On rows held out of 5 folds: recall" in out
    assert "On test rows: recall" in out
    assert "CART, with these weights" in out
    stored = load_model(model)
    points = stored.facts["operating_points"]["points"]
    here = [point for point in points if point["here"]]
    assert len(here) == 1
    assert here[0]["held_out"]["recall"] >= 0.7
    confusion = stored.facts["train"]["confusion"]
    assert confusion[0][1] == here[0]["train"]["false_positives"]
    assert confusion[1][0] == here[0]["train"]["false_negatives"]
    page = Path(report).read_text(encoding="utf-8")
    assert "Other costs of errors" in page
    assert "no tree of this size is better, whatever the costs" in page
    assert "What its probabilities are worth" in page


def test_the_other_label_and_other_wishes(table: Path, capsys: Any) -> None:
    words = ["fit", str(table), "-t", "answer", "--depth", "1", "--json", "-q"]
    yes = json.loads(told(capsys, *words, "--cost-ratio", "5")[0])["operating_point"]
    no = json.loads(told(capsys, *words, "--cost-ratio", "5", "--positive", "no")[0])
    assert (yes["positive"], no["operating_point"]["positive"]) == ("yes", "no")
    assert yes["complete"]
    assert yes["train"]["recall"] > 0.5
    assert no["operating_point"]["train"]["recall"] > 0.9
    precise = json.loads(told(capsys, *words, "--precision", "0.6")[0])["operating_point"]
    assert precise["held_out"]["precision"] >= 0.6
    assert "operating_point" not in json.loads(told(capsys, *words)[0])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--recall", "0.5", "--precision", "0.5"], "--recall and --precision exclude each other."),
        (
            ["--positive", "yes"],
            "--positive needs one of --recall, --precision, --cost-ratio, --scoring.",
        ),
        (["--recall", "0.9", "--class-weight", "balanced"], "--recall and --class-weight exclude"),
        (["--recall", "0.9", "--alpha", "0.1"], "--recall and --alpha exclude each other."),
        (["--recall", "0.9", "--criterion", "gini"], "--recall counts errors. It does not go with"),
        (["--cost-ratio", "2", "--positive", "maybe"], "--positive must be no or yes. Got maybe"),
        (["--precision", "0.9999"], "has a precision of 0.9999 on the rows held out of 5 folds"),
        (["--recall", "0.5", "-t", "a"], "--recall is for classes, and the target is a number"),
        (["--recall", "0.5", "-t", "b"], "--recall needs a target of two classes. It has 5."),
    ],
)
def test_bad_input(table: Path, capsys: Any, flags: list[str], message: str) -> None:
    words = ["fit", str(table), "--depth", "1", *flags]
    if "-t" not in flags:
        words += ["-t", "answer"]
    _, err = told(capsys, *words, status=2)
    assert message in err


def test_a_recall_above_one_is_refused_at_once(table: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["fit", str(table), "-t", "answer", "--recall", "1.5"])
    assert "Invalid value for '--recall': 1.5 is not in the range" in capsys.readouterr().err
