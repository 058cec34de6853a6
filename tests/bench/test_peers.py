"""The comparison with peers: who runs when, what counts, and that answers are watched."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from provetree.bench import peers
from provetree.bench.data import BenchTable
from provetree.bench.peers import Comparison, Result, compare, format_comparisons, summarize
from provetree.bench.solvers import SOLVERS, Fit
from provetree.bench.worker import Run

TABLE = BenchTable("t", np.arange(6.0).reshape(-1, 1), np.array([0, 0, 1, 1, 0, 1]))


def done(
    seconds: float, errors: int = 1, *, proven: bool = True, float32: int | None = None
) -> Run:
    fit = Fit(seconds, errors, errors if float32 is None else float32, proven, None)
    return Run("done", (fit,))


class Script:
    """A runner that answers from a list per solver and remembers who was asked."""

    def __init__(self, **answers: list[Run]) -> None:
        self.answers = answers
        self.calls: list[tuple[str, str]] = []

    def __call__(self, solver: str, table: BenchTable) -> Run:
        self.calls.append((solver, table.name))
        return self.answers[solver].pop(0)


def test_order_alternates_and_the_best_run_counts() -> None:
    script = Script(provetree=[done(0.2), done(0.1)], pycontree=[done(3.0), done(2.0)])
    comparison = compare(TABLE, ["pycontree"], 120.0, 2, script)
    assert [solver for solver, _ in script.calls] == [
        "provetree",
        "pycontree",
        "pycontree",
        "provetree",
    ]
    assert comparison.ratio("pycontree") == pytest.approx(20.0)
    assert comparison.ours.runs == [0.2, 0.1]


def test_long_runs_are_not_repeated() -> None:
    script = Script(provetree=[done(0.2), done(0.2)], pycontree=[done(50.0)])
    compare(TABLE, ["pycontree"], 120.0, 2, script)
    assert [solver for solver, _ in script.calls].count("pycontree") == 1


def test_a_peer_out_of_time_counts_for_us_only() -> None:
    script = Script(provetree=[done(0.5)], pycontree=[done(120.3, 4, proven=False)])
    comparison = compare(TABLE, ["pycontree"], 120.0, 1, script)
    assert comparison.ratio("pycontree") is None
    assert comparison.only_ours("pycontree")
    assert "> 240.6" in format_comparisons([comparison], "pycontree")


def test_a_proof_after_the_limit_is_no_proof() -> None:
    result = Result("pycontree")
    result.add(done(121.0), limit=120.0)
    assert result.outcome == "time_limit"


def test_a_crash_is_reported() -> None:
    crash = Run("crashed", (), "ended by signal SIGABRT")
    script = Script(provetree=[done(0.5)], pycontree=[crash])
    report = format_comparisons([compare(TABLE, ["pycontree"], 120.0, 1, script)], "pycontree")
    assert "t: pycontree: ended by signal SIGABRT" in report
    assert "only provetree proves: t" in report


def test_a_missing_peer_is_named_and_does_not_count() -> None:
    missing = Run("not_installed", (), "pycontree is not installed")
    script = Script(provetree=[done(0.5), done(0.5)], pycontree=[missing])
    comparison = compare(TABLE, ["pycontree"], 120.0, 2, script)
    assert not comparison.only_ours("pycontree")
    assert "pycontree is not installed" in format_comparisons([comparison], "pycontree")


def test_difference_explained_by_float32() -> None:
    script = Script(
        provetree=[done(0.5, 2), done(0.5, 3)], pycontree=[done(1.0, errors=4, float32=3)]
    )
    comparison = compare(TABLE, ["pycontree"], 120.0, 1, script)
    assert script.calls[-1] == ("provetree", "t (float32)")
    assert not comparison.disagreement
    assert "on the rounded table the optimum is 3 here as well" in comparison.notes[0]


def test_unexplained_difference_is_an_error() -> None:
    script = Script(provetree=[done(0.5, 2), done(0.5, 2)], pycontree=[done(1.0, 3)])
    comparison = compare(TABLE, ["pycontree"], 120.0, 1, script)
    assert comparison.disagreement
    assert comparison.notes[0].startswith("proofs disagree: 2 here, 3 by pycontree")


def test_summary() -> None:
    def pair(name: str, seconds: float, outcome: str = "proven") -> Comparison:
        theirs = Result("pycontree", outcome, seconds, 3, 3)
        ours = Result("provetree", "proven", 0.5, 3, 3)
        return Comparison(name, "6 x 1", ours, {"pycontree": theirs})

    summary = summarize([pair("a", 5), pair("b", 500), pair("c", 120, "time_limit")], "pycontree")
    assert summary.geometric_mean == pytest.approx(100.0)
    assert summary.smallest == ("a", 10.0)
    assert summary.n_tables == 2
    assert summary.only_ours == ("c",)
    nothing = summarize([], "pycontree")
    assert (nothing.geometric_mean, nothing.smallest, nothing.n_tables) == (None, None, 0)


def test_tables_by_short_or_full_name() -> None:
    names = ("contree-bank", "contree-wilt")
    assert peers.choose_tables(names, "contree", " wilt , contree-bank") == names[::-1]
    assert peers.choose_tables(names, "contree", "") == names
    with pytest.raises(
        ValueError, match=r"--tables must be among contree-bank, .* Got rice instead"
    ):
        peers.choose_tables(names, "contree", "rice")


def test_peers_of_a_suite() -> None:
    assert peers.choose_peers("contree", "") == ("pycontree",)
    with pytest.raises(ValueError, match=r"--peers must be among pycontree, .* Got cart instead"):
        peers.choose_peers("contree", "cart")
    with pytest.raises(ValueError, match="No peer is known for the suite 'mixed'"):
        peers.choose_peers("mixed", "")


def test_whole_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "suite_tables", lambda suite: ("contree-bank",))
    monkeypatch.setattr(peers, "load_table", lambda name, part: TABLE)
    monkeypatch.setattr(
        peers,
        "run_worker",
        lambda solver, *_, **__: done({"provetree": 0.1, "pycontree": 5.0}[solver]),
    )
    arguments = Namespace(
        suite="contree",
        price=0.0,
        depth=3,
        tables="",
        peers="",
        part="full",
        limit=120.0,
        repeat=1,
        core=0,
        output=tmp_path / "results.json",
    )
    assert peers.run(arguments) == 0
    assert "geometric mean over 1 tables: 50.0; smallest: 50.0 (t)" in capsys.readouterr().out
    document = json.loads(arguments.output.read_text())
    assert document["summary"]["pycontree"]["geometric_mean"] == 50.0
    assert document["tables"][0]["ours"]["errors"] == 1
    assert set(document["machine"]) == {"processor", "cores", "system", "python"}
    assert SOLVERS["provetree"].version == document["solvers"]["provetree"]
