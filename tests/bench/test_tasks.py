"""``bench tasks``: its tables, its groups, going on after a stop, and what it prints."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from provetree.bench import tasks
from provetree.bench.numbers_on_new_rows import Scores, score_split, summary, with_indicators
from provetree.bench.task_solvers import Measured, Request, fit, missing_peer
from provetree.bench.task_tables import (
    TaskTable,
    binned,
    made_up_mixed,
    made_up_rewards,
    read_with_target,
)
from provetree.bench.tasks import GROUPS, Case
from provetree.cli import main


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder: one table of numbers, categories and missing cells, one of numbers."""
    lines = ["size,colour,age,target"]
    for i in range(60):
        colour = ("red", "blue", "")[i % 3]
        lines.append(f"{i % 7},{colour},{i if i % 5 else ''},{i % 7 + (i % 3 == 0) * 3}.5")
    (tmp_path / "homes.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    rows = "\n".join(f"{i % 4},{i % 3},{(i % 4) * (i % 3)}" for i in range(60))
    (tmp_path / "cubes.csv.gz").write_bytes(gzip.compress(f"x,y,target\n{rows}".encode()))
    facts = {"rows": 60, "features": 3, "suites": ["regression"]}
    (tmp_path / "manifest.json").write_text(json.dumps({"homes": facts}))
    monkeypatch.setenv("PROVETREE_DATA", str(tmp_path))
    read_with_target.cache_clear()
    return tmp_path


def test_text_becomes_codes_and_empty_cells_are_missing(homes: Path) -> None:
    table = read_with_target("homes")
    assert table.shape_text == "60 x 3"
    assert table.categorical == (1,)
    assert table.X[:3, 1].tolist()[:2] == [1.0, 0.0]  # blue, red
    assert np.isnan(table.X[2, 1])
    assert np.isnan(table.X[0, 2])
    numbers = read_with_target("homes", "numbers")
    assert numbers.X.shape == (60, 2)
    assert numbers.categorical == ()
    assert len(np.unique(with_indicators(table), axis=1).T) == 2 + 3  # two colours, and none


def test_bins_hold_like_numbers_of_rows_and_keep_the_order() -> None:
    X = np.random.default_rng(1).exponential(size=(1000, 2))
    bins = binned(TaskTable("t", X, np.zeros(1000))).X
    assert [len(np.unique(column)) for column in bins.T] == [10, 10]
    assert np.bincount(bins[:, 0].astype(int)).tolist() == [100] * 10
    assert (np.diff(bins[np.argsort(X[:, 0]), 0]) >= 0).all()


def test_made_up_tables_are_what_they_say() -> None:
    noise, signal = (made_up_rewards(4000, 5, 8, strength) for strength in (0.0, 1.0))
    assert noise.shape_text == "4000 x 5 x 8"
    assert noise.y.mean(axis=0).max() < 0.1
    assert signal.y.mean() > 0.2
    mixed = made_up_mixed(2000, 12)
    assert mixed.categorical == (8, 9, 10, 11)
    assert 0.01 < np.isnan(mixed.X).mean() < 0.03


#: The costs that the benchmark knows.
COSTS = {
    (case.table, case.criterion, case.depth): case.known
    for name in ("squared", "purity")
    for case in GROUPS[name].cases(False)
    if case.known
}


def answers(request: Request) -> Measured:
    """A made-up answer: STreeD takes a second, the others less."""
    seconds = 1.0 if request.solver == "pystreed" else 0.05 * request.depth
    cost = COSTS.get((request.table, request.criterion, request.depth), 4.0)
    return Measured("9 x 2", seconds, seconds, cost, cost, True)


def test_every_group_prints_its_fits_and_goes_on_from_its_file(
    homes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Request] = []

    def solve(request: Request) -> Measured:
        asked.append(request)
        return answers(request)

    monkeypatch.setattr(tasks, "solve", solve)
    monkeypatch.setattr(tasks, "missing_peer", lambda module: None)
    words = ["bench", "tasks", "--groups", ",".join(GROUPS), "--output", str(homes / "out.json")]
    assert main([*words, "--quick"]) == 0
    shown = capsys.readouterr().out
    for name in GROUPS:
        assert f"## {name}: " in shown
    assert "boston (numbers)" in shown
    assert " 10.0 |" in shown  # times as fast as STreeD at depth two
    count = len(asked)
    assert main([*words, "--quick"]) == 0
    assert len(asked) == count
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "mixed, noise 0.3" in shown
    assert "| proven |" in shown.replace("  ", "")
    assert {request.depth for request in asked} == {2, 3, 4, 5}
    assert main([*words[:2], "--groups", "squared", "--most-depth", "2"]) == 0


def test_proofs_that_disagree_are_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def solve(request: Request) -> Measured:
        cost = 5.0 if request.solver == "provetree" else 4.0
        return Measured("9 x 2", 1.0, 1.0, cost, cost, True)

    monkeypatch.setattr(tasks, "solve", solve)
    monkeypatch.setattr(tasks, "missing_peer", lambda module: None)
    assert main(["bench", "tasks", "--groups", "bins", "--quick"]) == 1
    assert "DIFFERENT: 5.0, [4.0, 4.0]" in capsys.readouterr().out


def test_a_missing_peer_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert missing_peer("nobody") == (
        "nobody is not installed, and is left out: pip install 'provetree[bench]'."
    )
    monkeypatch.setattr(tasks, "solve", answers)
    monkeypatch.setattr(
        tasks, "missing_peer", lambda name: None if name == "provetree" else f"{name} is missing."
    )
    assert main(["bench", "tasks", "--groups", "bins", "--quick"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("pystreed is missing.") == 1
    assert "(alone: pystreed not run, pystreed-default not run)" in shown


def test_a_proof_of_another_cost_than_is_known_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tasks, "solve", lambda request: Measured("9 x 2", 1.0, 1.0, 4.0, 4.0, True))
    assert main(["bench", "tasks", "--groups", "squared", "--quick"]) == 1
    assert "DIFFERENT: 12761.29161 is known" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("table", "criterion", "solver"),
    [
        (("all", "homes"), "squared_error", "provetree"),
        (("all", "homes"), "absolute_error", "provetree"),
        (("bins", "cubes"), "squared_error", "provetree"),
        (("bins", "cubes"), "squared_error", "pystreed"),
        (("mixed", 80, 6, 0.5), "squared_error", "provetree"),
        (("rewards", 50, 3, 4, 1.0), "policy", "provetree"),
    ],
)
def test_fits_are_real(table: tuple[object, ...], criterion: str, solver: str, homes: Path) -> None:
    if solver != "provetree":
        pytest.importorskip(solver)
    got = fit(Request(table, criterion, 2, 10.0, solver))
    assert got.proven
    assert got.cost is not None
    assert got.seconds is not None
    if got.bound is not None:
        assert got.bound == pytest.approx(got.cost)


def test_new_rows_are_scored_for_both(homes: Path) -> None:
    scores = [score_split(read_with_target("homes"), split, 4, 2.0, 40) for split in range(2)]
    for one in scores:
        assert all(-1.0 < score <= 1.0 for score in (one.cart, one.deep_cart, one.optimal))
    assert summary(scores)[0][:3] == ("homes", 4, 2)


def test_the_summary_means_over_tables_of_unlike_numbers_of_splits() -> None:
    scores = [Scores("a", split, 8, 0.0, 0.25, 0.5) for split in range(2)]
    scores.append(Scores("b", 0, 8, 0.5, 0.75, 0.5))
    assert summary(scores)[-1] == ("mean", 8, 3, 0.25, 0.5, 0.5, 0.25, 0.0)


def test_the_command_scores_new_rows_and_keeps_them(
    homes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = homes / "out.json"
    monkeypatch.setattr(
        tasks,
        "score_split",
        lambda table, split, leaves, *rest: Scores("", split, leaves, 0.5, 0.7, 0.6),
    )
    words = ["bench", "tasks", "--groups", "new-rows", "--output", str(output)]
    assert main(words) == 0
    assert "+0.100" in capsys.readouterr().out
    assert len(json.loads(output.read_text())["results"]) == 20


def test_a_case_tells_its_table() -> None:
    assert Case(("rewards", 9, 2, 3, 0.0), "policy", 2).title == "rewards, noise"
    assert Case(("classes", "contree-rice"), "gini", 3).title == "rice (classes)"
    assert set(asdict(Measured())) >= {"seconds", "cost", "proven"}
