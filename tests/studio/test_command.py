"""``provetree studio`` from the command line: what it prints, keeps and refuses."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from provetree.cli import main
from testkit.studio_cases import frame

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    X, y = frame(120, 0)
    X["answer"] = y
    path = tmp_path / "data.csv"
    X.to_csv(path, index=False)
    return path


def test_runs_until_it_is_interrupted(data: Path) -> None:
    words = ["studio", "data.csv", "-t", "answer", "--depth", "1", "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-m", "provetree", *words],
        cwd=data.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        assert lines[0] == "data.csv: 90 rows, 30 to test on\n"
        url = lines[1].split()[-1]
        assert url.startswith("http://127.0.0.1:")
        line = http.client.HTTPConnection(url.split("/")[2], timeout=300)
        line.request("GET", url[url.index("/?") :])
        assert line.getresponse().status == 200
        line.close()
        assert "data.studio.json" in lines[2]
    finally:
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=600)
    assert (rest, errors) == ("Stopped.\n", "")
    assert process.returncode == 0
    kept = data.with_suffix(".studio.json")
    assert kept.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere.csv", "-t", "answer"], "There is no file 'nowhere.csv'"),
        (["data.csv", "-t", "question"], "question"),
        (["data.csv", "-t", "income"], "trees that predict classes, and 'income' is a number"),
        (
            ["data.csv", "-t", "answer", "--session", "no/such/folder/s.json"],
            "could not be written",
        ),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(
    data: Path,
    words: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(data.parent)
    assert main(["studio", *words, "--no-browser"]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_a_damaged_session_is_told(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(data.parent)
    data.with_suffix(".studio.json").write_text("nonsense")
    assert main(["studio", "data.csv", "-t", "answer", "--no-browser"]) == 2
    assert "is not a session of the studio" in capsys.readouterr().err
