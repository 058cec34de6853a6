"""The experiments of OCT-H: every table has its lines, and cells are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from provetree.bench.data import DataNotFoundError, data_folder
from provetree.bench.paper import CellStore, PaperOptions, run_paper


def test_tables_of_hyperplanes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        data_folder()
    except DataNotFoundError as error:
        pytest.skip(str(error))
    cells = CellStore(tmp_path / "cells.jsonl")
    options = PaperOptions(0.05, 1, ("iris",), ("2", "3"), (2,), None, cells)
    assert run_paper("oct-h", options) == 0
    shown = capsys.readouterr().out
    assert "Table 2: OCT-H on iris with a limit on splits" in shown
    assert "| iris  | 2 |" in shown
    assert "of 4" in shown
    assert run_paper("oct-h", options) == 0
    assert capsys.readouterr().err == ""
