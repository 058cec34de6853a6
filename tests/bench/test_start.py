"""``bench start``: processor times of commands in processes of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from provetree.bench import start
from provetree.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "manifest.json").write_text("{}")
    monkeypatch.setenv("PROVETREE_DATA", str(tmp_path))
    return tmp_path


def test_processor_time_is_that_of_the_command() -> None:
    assert 0.0 < start.processor_seconds(["--version"]) < 60.0
    with pytest.raises(RuntimeError, match="provetree plant ended with status 2, not 0"):
        start.processor_seconds(["plant"])


def test_medians_stand_beside_what_is_allowed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "titanic.csv.gz").touch()
    times = iter([9.0, 0.1, 1.5, 0.3, 1.3, 0.2, 0.9])
    asked = []

    def measured(command: list[str], status: int = 0) -> float:
        asked.append((command[0], status))
        return next(times)

    monkeypatch.setattr(start, "processor_seconds", measured)
    assert main(["bench", "start", "--commands", "unknown command,fit", "--repeat", "3"]) == 1
    assert asked == [("fit", 0), *[("plant", 2), ("fit", 0)] * 3]
    shown = capsys.readouterr().out.splitlines()
    assert shown[-2].split("|")[1:-1] == [
        " unknown command ", "    0.2 s ", "  0.25 s ", " 0.1 to 0.3 s ", "    yes "
    ]  # fmt: skip
    assert shown[-1].split("|")[2].strip() == "1.3 s"
    assert shown[-1].split("|")[-2].strip() == "NO"


def test_a_missing_table_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "start"]) == 2
    assert "There is no table 'titanic' in the data folder." in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="no processor time of a child")
def test_every_command_ends_as_it_should() -> None:
    for name in ("help", "version", "unknown command", "unknown option", "missing file name"):
        command, status, _ = start.COMMANDS[name]
        assert start.processor_seconds(command, status) > 0.0
