"""Optima and sizes that the paper publishes, where they are quick to prove; and its benchmark.

The rest of Tables 2 and 3 is proven by ``provetree bench paper --paper dl85``.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from provetree import Binarizer, DL85Classifier, OptimalTreeClassifier
from provetree.bench.data import DataNotFoundError, data_folder, load_table
from provetree.bench.paper import CellStore, PaperOptions
from provetree.bench.papers import dl85
from provetree.bench.solvers import SOLVERS
from provetree.bench.worker import Run

try:
    data_folder()
    NO_DATA = ""
except DataNotFoundError as error:
    NO_DATA = str(error)

needs_data = pytest.mark.skipif(bool(NO_DATA), reason=NO_DATA)


@needs_data
@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("zoo-1", 0),
        ("segment", 0),
        ("mushroom", 0),
        ("lymph", 3),
        ("vote", 5),
        ("soybean", 14),
        ("primary-tumor", 34),
        ("tic-tac-toe", 137),
    ],
)
def test_table_2(name: str, errors: int) -> None:
    assert dl85.TABLE_2[name].optimum == errors
    table = load_table(f"cp4im-{name}")
    assert 2 * table.X.shape[1] == dl85.TABLE_2[name].items
    model = DL85Classifier(4).fit(table.X, table.y)
    assert (model.objective_, model.status_) == (errors, "optimal")


@needs_data
@pytest.mark.parametrize("branching", ["data_order", "information_gain_ascending"])
@pytest.mark.parametrize("algorithm", ["dl8", "dl8.5"])
def test_all_variants_agree(algorithm: str, branching: str) -> None:
    table = load_table("cp4im-tic-tac-toe")
    for partial in (True, False):
        model = DL85Classifier(4, 1, branching, partial, algorithm).fit(table.X, table.y)
        assert (model.objective_, model.status_) == (137, "optimal")


@needs_data
@pytest.mark.parametrize("name", list(dl85.TABLE_3))
def test_table_3(name: str) -> None:
    # The number of items tells which thresholds the paper had and how it made two classes.
    known, table = dl85.TABLE_3[name], dl85.load_continuous(name)
    binarizer = Binarizer("optimal-depth-one").fit(table.X, table.y)
    assert 2 * len(binarizer.columns_) == known.items
    exact = OptimalTreeClassifier(max_depth=2).fit(table.X, table.y)
    assert exact.status_ == "optimal"
    # The paper leaves spambase open; its best tree turns out to be optimal.
    assert exact.objective_ == (586 if name == "spambase" else known.optimum)
    if known.items < 100:
        model = DL85Classifier(2).fit(binarizer.transform(table.X), table.y)
        assert (model.objective_, model.status_) == (exact.objective_, "optimal")


def options(tmp_path: Path, **given: Any) -> PaperOptions:
    cells = CellStore(tmp_path / "cells.jsonl")
    defaults: dict[str, Any] = {
        "time_limit": 20.0,
        "splits": None,
        "datasets": ("zoo-1", "iris"),
        "tables": (),
        "depths": (),
        "figures": None,
        "cells": cells,
    }
    return PaperOptions(**{**defaults, **given})


#: How wide a column is depends on how long our fits took.
ZOO_ROW = re.compile(r"^\| zoo-1 \| +72 \| +101 \| +0\* 1\.11 \| +0\* ", re.MULTILINE)


@needs_data
def test_the_benchmark_prints_and_resumes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_this_process(solver: str, table: Any, depth: int, limit: float, core: Any) -> Run:
        return Run("done", (SOLVERS[solver].fit(table, depth, limit),))

    monkeypatch.setattr(dl85, "run_worker", in_this_process)
    wanted = options(tmp_path, depths=(2, 4), figures=tmp_path / "figures")
    assert dl85.run(wanted) == 0
    told = capsys.readouterr().out
    assert ZOO_ROW.search(told)
    assert "setosa against the rest" in told
    assert "Figure 4, depth 4: of 1 tables" in told
    assert (tmp_path / "figures" / "dl85-figure-4.png").stat().st_size > 1000

    def no_worker(*arguments: Any, **options: Any) -> Any:
        raise AssertionError("a cell that is known was measured again")

    monkeypatch.setattr(dl85, "run_worker", no_worker)
    assert dl85.run(options(tmp_path, depths=(2, 4))) == 0
    assert ZOO_ROW.search(capsys.readouterr().out)


@needs_data
def test_a_proof_that_differs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = options(tmp_path, tables=("2",), datasets=("zoo-1",))
    for method in dl85.METHODS:
        wrong = {"errors": 3, "seconds": 0.1, "proven": True, "note": ""}
        wanted.cells.get(f"cp4im/zoo-1/depth=4/{method}/limit=20", lambda wrong=wrong: wrong)
    assert dl85.run(wanted) == 1
    assert "DIFFERS" in capsys.readouterr().out
