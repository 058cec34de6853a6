"""The benchmarks of the column-generation papers, on one small split each."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from provetree.bench.data import DataNotFoundError, data_folder
from provetree.bench.paper import CellStore, PaperOptions
from provetree.bench.papers import firat, patel
from provetree.cli import main


@pytest.fixture(autouse=True)
def _needs_data():
    try:
        data_folder()
    except DataNotFoundError as error:
        pytest.skip(str(error))


def options(tmp_path, tables, datasets, depths=(2,), figures=None):
    cells = CellStore(tmp_path / "cells.jsonl")
    return PaperOptions(20.0, 1, datasets, tables, depths, figures, cells)


def test_patel_table_and_resume(tmp_path, capsys):
    assert patel.run(options(tmp_path, ("7",), ("tic-tac-toe",))) == 0
    shown = capsys.readouterr()
    assert "Table 7" in shown.out
    assert "revised/tic-tac-toe/split=0/depth=2" in shown.err
    assert patel.run(options(tmp_path, ("7",), ("tic-tac-toe",))) == 0
    again = capsys.readouterr()
    assert again.out == shown.out
    assert again.err == ""  # nothing is computed twice
    cells = [json.loads(line) for line in (tmp_path / "cells.jsonl").read_text().splitlines()]
    run = next(c["value"] for c in cells if c["key"].startswith("revised/"))
    optimum = next(c["value"] for c in cells if c["key"].startswith("optimum/"))
    cart = next(c["value"] for c in cells if c["key"].startswith("cart/"))
    assert cart["train"] <= run["train"] <= optimum["train"]
    assert run["candidate_optimal"]
    assert run["master_bound"] >= run["train"] - 1e-6


def test_runs_that_the_time_limit_ended_are_named(tmp_path, capsys):
    asked = options(tmp_path, ("8",), ("iris",))
    stopped = {"train": 90.0, "test": 90.0, "status": "time_limit", "master_integral": False}
    asked.cells.get("cgh/iris/split=0/depth=2/limit=20", lambda: stopped)
    firat.run(asked)
    assert "cut off after 20 s: cgh on iris at depth 2, split 1\n" in capsys.readouterr().out


def test_patel_figures(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    folder = tmp_path / "figures"
    patel.run(options(tmp_path, ("fig1", "fig2"), ("car-evaluation",), figures=folder))
    assert "merged SP" in capsys.readouterr().out
    assert {path.name for path in folder.iterdir()} >= {
        "patel-figure-1.png",
        "patel-figure-2.png",
        "patel-figure-3.png",
    }


def test_firat_tables(tmp_path, capsys):
    firat.run(options(tmp_path, ("4", "7", "8"), ("iris",)))
    out = capsys.readouterr().out
    assert "Table 4" in out
    assert "Table 7" in out
    assert "Table 8" in out


@pytest.mark.parametrize("paper", [patel, firat])
@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"datasets": ("magic4",)}, "--datasets must be among .*magic04.* Got magic4 instead"),
        ({"tables": ("5",)}, "--tables must be among .*7.* Got 5 instead"),
        ({"depths": (5,)}, "--depths must be among 2, 3, 4. Got 5 instead"),
        ({"splits": 6}, "--splits must be 1 to 5. Got 6 instead"),
    ],
)
def test_what_a_paper_does_not_have_is_named(tmp_path, paper, asked, words):
    with pytest.raises(ValueError, match=words):
        paper.run(replace(options(tmp_path, (), ()), **asked))


def test_ctrl_c_stores_no_half_cell(tmp_path, capsys, monkeypatch):
    def stopped(self, *start, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("provetree.colgen.run.Run._generation", stopped)
    cells = tmp_path / "cells.jsonl"
    words = "bench paper --paper patel --tables 7 --splits 1 --depths 2 --datasets tic-tac-toe"
    assert main([*words.split(), "--cells", str(cells)]) == 130
    assert "Finished cells are kept" in capsys.readouterr().err
    assert [json.loads(line)["key"] for line in cells.read_text().splitlines()] == [
        "cart/tic-tac-toe/split=0/depth=2"
    ]


def test_published_numbers_cover_all_rows():
    def rows(names):
        return {(name, depth) for name in names for depth in (2, 3, 4)}

    assert set(patel.TABLE_7) == rows(patel.SMALL)
    assert set(patel.TABLE_8) == set(patel.TABLE_9) == rows(patel.LARGE)
    assert set(firat.TABLE_7) == set(firat.TABLES_8_TO_10) == rows(firat.SMALL)
    assert set(firat.TABLE_3) == rows(firat.LARGE)
    widths = ((patel.TABLE_7, 4), (patel.TABLE_8, 4), (patel.TABLE_9, 2), (firat.TABLE_3, 3))
    for table, width in (*widths, (firat.TABLE_7, 3), (firat.TABLES_8_TO_10, 4)):
        assert {len(numbers) for numbers in table.values()} == {width}
