"""The provetree command: parsing, exit statuses, messages."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import provetree
from provetree.bench import peers
from provetree.bench.arguments import BENCHMARKS, build_parser
from provetree.cli import main


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"provetree {provetree.__version__}\n"


@pytest.mark.parametrize("module", ["provetree", "provetree.cli"])
def test_module_can_be_run(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("provetree ")


@pytest.mark.parametrize(
    "words", [[], ["bench"], ["bench", "nothing"], ["bench", "peers", "-z"], ["plant"], ["fit"]]
)
def test_wrong_words_end_with_status_2(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 2
    assert "usage: provetree" in capsys.readouterr().err.lower()


def test_defaults_of_peers() -> None:
    parsed = build_parser().parse_args(["bench", "peers"])
    assert (parsed.suite, parsed.depth, parsed.part, parsed.limit) == ("contree", 3, "full", 120.0)
    assert parsed.benchmark == "peers"


def test_options_of_peers(tmp_path: Path) -> None:
    words = "bench peers --suite cp4im --depth 4 --tables a,b --part train --limit 5 --repeat 2"
    parsed = build_parser().parse_args([*words.split(), "--output", str(tmp_path / "r.json")])
    assert (parsed.suite, parsed.depth, parsed.tables) == ("cp4im", 4, "a,b")
    assert (parsed.part, parsed.limit, parsed.repeat) == ("train", 5.0, 2)
    assert parsed.output == tmp_path / "r.json"


@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_can_be_run(name: str) -> None:
    needed = {"paper": ["--paper", "oct"], "data": ["folder"]}.get(name, [])
    benchmark = build_parser().parse_args(["bench", name, *needed]).benchmark
    assert benchmark == {"data": "make-data"}.get(name, name)
    module = benchmark.replace("-", "_")
    assert callable(import_module(f"provetree.bench.{module}").run)


def test_missing_data_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PROVETREE_DATA", str(tmp_path))
    assert main(["bench", "peers"]) == 2
    assert capsys.readouterr().err == (
        f"provetree: PROVETREE_DATA names '{tmp_path}', which holds no manifest.json.\n"
    )


def test_interrupt_ends_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(suite: str) -> tuple[str, ...]:
        raise KeyboardInterrupt

    monkeypatch.setattr(peers, "suite_tables", stop)
    assert main(["bench", "peers"]) == 130
    assert capsys.readouterr().err == "provetree: interrupted\n"
