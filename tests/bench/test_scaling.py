"""``bench scaling``: tables, exponents, going on after a stop, the picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from provetree.bench import scaling
from provetree.bench.scaling import draw, growth, made_up_table
from provetree.cli import main

WORDS = ["bench", "scaling", "--solvers", "provetree", "--depths", "1", "--noise", "0.1"]


def result(rows: int, seconds: float, *, proven: bool = True) -> dict[str, object]:
    return {
        "solver": "provetree",
        "axis": "rows",
        "depth": 2,
        "noise": 0.2,
        "rows": rows,
        "columns": 10,
        "limit": 5.0,
        "cpu_seconds": seconds,
        "megabytes": rows / 100,
        "errors": 3,
        "proven": proven,
        "message": "",
    }


def test_a_made_up_table_is_the_same_every_time_and_has_its_noise() -> None:
    one, again = made_up_table(2000, 6, 2, 0.2), made_up_table(2000, 6, 2, 0.2)
    assert np.array_equal(one.X, again.X)
    assert np.array_equal(one.y, again.y)
    clean = made_up_table(2000, 6, 2, 0.0)
    assert np.array_equal(one.X, clean.X)
    assert 0.15 < np.mean(one.y != clean.y) < 0.25


def test_exponents_leave_out_what_was_not_proven_or_too_short() -> None:
    results = [result(n, 1e-5 * n**2) for n in (1000, 10_000)]
    late = result(100_000, 5.0, proven=False)
    short = result(10, 1e-6)
    assert growth([short, *results, late], "rows", "cpu_seconds") == 2.0
    assert growth([short, *results, late], "rows", "megabytes") == 1.0
    assert growth(results[:1], "rows", "cpu_seconds") is None


def test_the_command_measures_goes_on_and_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    output, chart = tmp_path / "out.json", tmp_path / "out.svg"
    words = [*WORDS, "--columns", "none", "--output", str(output)]
    assert main([*words, "--rows", "50"]) == 0
    first = json.loads(output.read_text())["results"]
    assert [(r["rows"], r["proven"]) for r in first] == [(50, True)]
    assert "proven" in capsys.readouterr().out

    # What is there is not measured again; what is measured is kept.
    asked: list[int] = []

    def fit(case: dict[str, object]) -> dict[str, object]:
        asked.append(case["rows"])  # type: ignore[arg-type]
        proven = case["rows"] != 60
        return {**case, **{"cpu_seconds": 1.0, "megabytes": 2.0, "errors": 3}, "proven": proven} | {
            "message": ""
        }

    monkeypatch.setattr(scaling, "_fit", fit)
    assert main([*words, "--rows", "50,60,70", "--chart", str(chart)]) == 0
    assert asked == [60]  # 60 is not proven, so 70 is not tried
    assert [r["rows"] for r in json.loads(output.read_text())["results"]] == [50, 60]
    assert chart.read_text().startswith("<?xml")
    assert "time limit" in capsys.readouterr().out


def test_a_chart_has_all_kinds_of_lines(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    results = [result(n, 0.1 * n) for n in (1, 2, 3)]
    draw(results, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--solvers", "nobody"], "--solvers must be among provetree"),
        (["--rows", "x"], "--rows must be a list of numbers"),
        (["--columns", "0"], "--columns must be a list of numbers"),
    ],
)
def test_wrong_options_are_told(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, *words]) == 2
    assert message in capsys.readouterr().err
