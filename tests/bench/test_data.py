"""Finding and reading benchmark tables."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from provetree.bench.data import (
    BenchTable,
    DataNotFoundError,
    data_folder,
    load_table,
    suite_tables,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    manifest = {
        "s-wide": {"rows": 3, "features": 2, "suites": ["s", "other"]},
        "s-narrow": {"rows": 3, "features": 1, "suites": ["s"]},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    table = b"a,b,target\n0.1,1e-3,7\n0.25,2,5\n3,4,7\n"
    (tmp_path / "s-wide.csv.gz").write_bytes(gzip.compress(table))
    splits = {"splits": [{"train": [2, 0], "valid": [], "test": [1]}]}
    (tmp_path / "s-wide.splits.json").write_text(json.dumps(splits))
    (tmp_path / "words.csv.gz").write_bytes(gzip.compress(b"a,target\nred,0\n"))
    (tmp_path / "s-narrow.csv.gz").write_bytes(gzip.compress(b"a,target\n1,0\n2,0\n3,1\n"))
    return tmp_path


def test_full_table(folder: Path) -> None:
    table = load_table("s-wide", folder=folder)
    np.testing.assert_array_equal(table.X, [[0.1, 1e-3], [0.25, 2], [3, 4]])
    np.testing.assert_array_equal(table.y, [1, 0, 1])
    assert table.X.flags.c_contiguous
    assert table.X.dtype == np.float64
    assert table.shape_text == "3 x 2"


def test_train_part_takes_the_rows_in_the_order_of_the_split(folder: Path) -> None:
    table = load_table("s-wide", "train", folder)
    np.testing.assert_array_equal(table.X, [[3, 4], [0.1, 1e-3]])
    np.testing.assert_array_equal(table.y, [1, 1])


def test_suite_is_sorted_by_size(folder: Path) -> None:
    assert suite_tables("s", folder) == ("s-narrow", "s-wide")
    assert suite_tables("other", folder) == ("s-wide",)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda folder: suite_tables("none", folder), "--suite.* must be among other, s. Got none"),
        (lambda folder: load_table("none", folder=folder), "There is no table 'none'"),
        (lambda folder: load_table("s-narrow", "train", folder), "'s-narrow' has no splits"),
    ],
)
def test_what_is_missing_is_named(call, message: str, folder: Path) -> None:
    with pytest.raises(DataNotFoundError, match=message):
        call(folder)


def test_bad_part(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"must be 'full' or 'train'\. Got 'test' instead"):
        load_table("s-wide", "test", folder)  # type: ignore[arg-type]


def test_table_with_words(folder: Path) -> None:
    with pytest.raises(ValueError, match="'words' is not all numbers"):
        load_table("words", folder=folder)


def test_environment_variable_names_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVETREE_DATA", str(folder))
    assert data_folder() == folder
    monkeypatch.setenv("PROVETREE_DATA", str(folder / "nowhere"))
    with pytest.raises(DataNotFoundError, match=r"which holds no manifest\.json"):
        data_folder()


def test_folder_beside_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROVETREE_DATA", raising=False)
    place = tmp_path / "shared" / "datasets"
    place.mkdir(parents=True)
    (place / "manifest.json").write_text("{}")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    assert data_folder() == place


def test_rounding_to_float32_merges_close_values() -> None:
    table = BenchTable("t", np.array([[1_700_000_000.0], [1_700_000_001.0]]), np.array([0, 1]))
    rounded = table.rounded_to_float32()
    assert rounded.X.dtype == np.float64
    assert len(np.unique(rounded.X)) == 1
