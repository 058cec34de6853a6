"""Names and numbers that a benchmark does not know are refused before any work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from provetree.bench.arguments import BENCHMARKS, PAPERS
from provetree.cli import main


@pytest.fixture
def no_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data folder with two tables that nobody may read, and no processes."""
    facts = {"rows": 9, "features": 2, "suites": ["contree"]}
    manifest = {"contree-bank": facts, "contree-wilt": facts}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    for name in manifest:
        (tmp_path / f"{name}.csv.gz").write_bytes(b"no table")
    monkeypatch.setenv("PROVETREE_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def started(*words: object, **settings: object) -> None:
        raise AssertionError(f"a process was started: {words}")

    monkeypatch.setattr("subprocess.Popen", started)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("peers --suite nope", "(--suite) must be among contree. Got nope instead."),
        ("peers --tables nope", "--tables must be among contree-bank, contree-wilt. Got nope"),
        ("peers --peers nope", "--peers must be among pycontree, "),
        ("peers --core 9999", "--core must be among "),
        ("peers --price -1", "--price must be 0 or more. Got -1.0 instead."),
        ("known --tables nope", "--tables must be among bank, "),
        ("known --depth 9", "--depth must be among 3, 4. Got 9 instead."),
        ("known --depth 4 --tables magic", "--depth must be among 3. Got 4 instead."),
        ("anytime --tables bank", "--tables must be among contree-bank, contree-wilt. Got bank"),
        ("anytime --tables contree-bank --depths 0", "--depths must be a list of numbers above 0"),
        ("anytime --tables contree-bank --seconds inf", "--seconds must be a list of numbers"),
        ("anytime --jobs 1 --proofs nope:3", "--proofs must be among contree-bank, "),
        ("anytime --jobs 1 --proofs contree-bank", "--proofs must be tables and depths such"),
        ("anytime --jobs x", "--jobs must be a list of numbers above 0. Got 'x' instead."),
        ("scaling --solvers nope", "--solvers must be among provetree, pycontree, "),
        ("scaling --noise 2", "--noise must be shares below 1. Got '2' instead."),
        ("scaling --depths x", "--depths must be a list of numbers above 0. Got 'x' instead."),
        ("new-rows --methods nope", "--methods must be among cart, cart-tuned, cart-balanced, "),
        ("new-rows --tables nope", "--tables must be among contree-bank, contree-wilt. Got nope"),
        ("new-rows --methods cart --part 3/2", "--part must be i/n with i from 1 to n. Got '3/2'"),
        ("tasks --groups nope", "--groups must be among squared, categories, purity, policies, "),
        ("tasks --tables nope", "--tables must be among contree-bank, contree-wilt. Got nope"),
        ("start --commands nope", "--commands must be among help, version, "),
        ("paper --paper nope", "--paper must be one of 'dl85', 'oct', "),
    ],
)
def test_unknown_names_are_refused(
    words: str, message: str, no_work: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", *words.split()]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("provetree: ")
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--datasets", "nope", "--datasets must be among "),
        ("--tables", "99", "--tables must be among "),
        ("--depths", "9", "--depths must be among 2, 3, 4. Got 9 instead."),
        ("--depths", "x", "--depths must be whole numbers such as 2,3. Got 'x' instead."),
        ("--splits", "0", "--splits must be 1 or more. Got 0 instead."),
        ("--time-limit", "0", "--time-limit must be above 0. Got 0.0 instead."),
    ],
)
def test_papers_know_their_tables(
    paper: str,
    option: str,
    value: str,
    message: str,
    no_work: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "paper", "--paper", paper, option, value]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"provetree: {message}")
    assert f"Got {value}" in shown.err.replace("'", "")
    assert shown.out == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("peers --depth 0", "argument --depth: must be a whole number of at least 1. Got '0'"),
        ("peers --limit 0", "argument --limit: must be a number above 0. Got '0' instead."),
        ("peers --limit nan", "argument --limit: must be a number above 0. Got 'nan' instead."),
        ("peers --repeat x", "argument --repeat: must be a whole number of at least 1. Got 'x'"),
        ("peers --part test", "argument --part: invalid choice: 'test'"),
        ("known --limit inf", "argument --limit: must be a number above 0. Got 'inf' instead."),
        ("anytime --repeat 0", "argument --repeat: must be a whole number of at least 1."),
        ("scaling --row-columns 0", "argument --row-columns: must be a whole number"),
        ("scaling --limit -1", "argument --limit: must be a number above 0. Got '-1' instead."),
        ("tasks --splits 0", "argument --splits: must be a whole number of at least 1. Got '0'"),
        ("tasks --fit-limit 0", "argument --fit-limit: must be a number above 0. Got '0' instead"),
        ("limits --rows 0", "argument --rows: must be a whole number of at least 1. Got '0'"),
        ("limits --memory-limit 0", "argument --memory-limit: must be a number above 0."),
        ("near-optimal --slack -1", "argument --slack: must be a number of at least 0. Got '-1'"),
        ("start --repeat 0", "argument --repeat: must be a whole number of at least 1."),
    ],
)
def test_numbers_out_of_range_are_refused(
    words: str, message: str, no_work: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["bench", *words.split()])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_the_tests_above_know_every_benchmark() -> None:
    assert set(BENCHMARKS) == {
        "cluster",
        "near-optimal",
        "rules",
        "peers",
        "known",
        "paper",
        "anytime",
        "scaling",
        "new-rows",
        "tasks",
        "limits",
        "certificates",
        "start",
        "data",
    }
