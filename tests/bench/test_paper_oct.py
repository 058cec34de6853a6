"""The published tables of OCT: cells, resuming, and what stands in them."""

from __future__ import annotations

import json

import pytest

from provetree.bench.data import DataNotFoundError, data_folder
from provetree.bench.paper import CellStore, PaperOptions, run_paper
from provetree.bench.papers import oct as paper


@pytest.fixture(autouse=True)
def data():
    try:
        data_folder()
    except DataNotFoundError as error:
        pytest.skip(str(error))


def options(tmp_path, **changes):
    values = {
        "time_limit": 0.2,
        "splits": 1,
        "datasets": (),
        "tables": (),
        "depths": (2,),
        "figures": None,
        "cells": CellStore(tmp_path / "cells.jsonl"),
    }
    return PaperOptions(**{**values, **changes})


def test_tables_of_the_thesis(tmp_path, capsys):
    assert paper.run(options(tmp_path, tables=("1", "2", "3"))) == 0
    shown = capsys.readouterr()
    assert shown.out.count("\n| 2 |") == 8 + 2 + 4
    for title in ("Table 1: OCT on iris", "Table 2: without and with", "Table 3: a limit on"):
        assert title in shown.out
    assert "A star: cut off at 0.2 s." in shown.out
    lines = shown.out.splitlines()
    first = next(line for line in lines if line.startswith("| 2 |     8 |     0 |     41.3 |"))
    assert "0.960 (6 >= 6)" in first, "the exact search proves it"
    stored = (tmp_path / "cells.jsonl").read_text().splitlines()
    assert all(json.loads(line)["value"]["rows"] == 150 for line in stored)
    assert paper.run(options(tmp_path, tables=("1", "2", "3"))) == 0
    again = capsys.readouterr()
    assert again.out == shown.out
    assert again.err == "", "nothing is solved twice"


def test_model_p(tmp_path, capsys):
    assert paper.run(options(tmp_path, tables=("4",), datasets=("iris",))) == 0
    shown = capsys.readouterr().out
    assert "| iris  |      98.8 |" in shown
    assert "of 2 |" in shown
    assert "(2, 2) |" in shown
    assert "(3, 3)" not in shown, "only depth 2 was asked for"
    assert "A star: (P) was cut off at 0.2 s" in shown


def test_a_stop_keeps_finished_cells(tmp_path, monkeypatch, capsys):
    def stop(task, limit):
        raise KeyboardInterrupt

    monkeypatch.setattr(paper, "_computed", stop)
    assert run_paper("oct", options(tmp_path)) == 130
    assert "run it again to go on" in capsys.readouterr().err


def test_what_the_tables_do_not_have(tmp_path):
    for changes, words in (
        (
            {"datasets": ("monk2",)},
            "--datasets must be among iris, wine, monks-2, haberman. Got",
        ),
        ({"tables": ("5",)}, "--tables must be among 1, 2, 3, 4. Got 5"),
        ({"depths": (7,)}, "--depths must be among 2, 3, 4. Got 7"),
    ):
        with pytest.raises(ValueError, match=words):
            paper.run(options(tmp_path, **changes))
