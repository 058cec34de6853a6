"""Finds and reads the benchmark tables.

A data folder holds ``manifest.json`` (which table belongs to which suite), ``<name>.csv.gz`` (a
header row, numbers, the class in the last column) and ``<name>.splits.json`` (row numbers of the
train, valid and test parts).
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

DATA_VARIABLE = "PROVETREE_DATA"
"""Environment variable that names the data folder."""

_MANIFEST = "manifest.json"

Part = Literal["full", "train"]


class DataNotFoundError(FileNotFoundError):
    """The benchmark data, or one table of it, is not where it was looked for.

    Examples
    --------
    >>> from provetree.bench import DataNotFoundError
    >>> raise DataNotFoundError("There is no table 'nope'.")
    Traceback (most recent call last):
        ...
    provetree.bench.data.DataNotFoundError: There is no table 'nope'.
    """


@dataclass(frozen=True)
class BenchTable:
    """One table, ready to be fitted.

    Parameters
    ----------
    name : str
        Name of the table, such as ``"contree-bank"``.
    X : ndarray of shape (n_rows, n_columns), float64
        The columns.
    y : ndarray of shape (n_rows,), int64
        The classes, coded 0, 1, ... in the order of their labels.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench import BenchTable
    >>> BenchTable("tiny", np.zeros((3, 2)), np.array([0, 1, 1])).shape_text
    '3 x 2'
    """

    name: str
    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.int64]

    @property
    def shape_text(self) -> str:
        """Rows x columns, for the reports."""
        return f"{self.X.shape[0]} x {self.X.shape[1]}"

    def rounded_to_float32(self) -> BenchTable:
        """Return the same table with every value rounded to float32.

        Solvers that work in float32 see this table; two values that differ in float64 only become
        one in it.
        """
        rounded = self.X.astype(np.float32).astype(np.float64)
        return BenchTable(f"{self.name} (float32)", rounded, self.y)


def data_folder() -> Path:
    """Return the folder that holds the benchmark tables.

    The environment variable ``PROVETREE_DATA`` names it; without it ``../shared/datasets`` is
    tried, seen from the working directory and from the source tree.

    Returns
    -------
    pathlib.Path
        The folder.

    Raises
    ------
    DataNotFoundError
        Where no such folder exists.

    Examples
    --------
    >>> import os
    >>> from provetree.bench import data_folder
    >>> from unittest import mock
    >>> with mock.patch.dict(os.environ, {"PROVETREE_DATA": "/nowhere"}):
    ...     try:
    ...         data_folder()
    ...     except FileNotFoundError as error:
    ...         print(error)
    PROVETREE_DATA names '/nowhere', which holds no manifest.json.
    """
    named = os.environ.get(DATA_VARIABLE)
    if named:
        folder = Path(named)
        if not (folder / _MANIFEST).is_file():
            raise DataNotFoundError(f"{DATA_VARIABLE} names '{named}', which holds no {_MANIFEST}.")
        return folder
    for start in (Path.cwd(), Path(__file__).resolve().parents[3]):  # the source tree
        folder = start.parent / "shared" / "datasets"
        if (folder / _MANIFEST).is_file():
            return folder
    raise DataNotFoundError(
        f"No benchmark data was found: set the environment variable {DATA_VARIABLE} to the folder "
        f"that holds {_MANIFEST} and the tables."
    )


def read_manifest(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the manifest of a data folder: table name to its facts (rows, suites, files)."""
    manifest: dict[str, dict[str, Any]] = json.loads(
        (folder / _MANIFEST).read_text(encoding="utf-8")
    )
    return manifest


def table_names(folder: Path | None = None) -> tuple[str, ...]:
    """Return the names of all tables of a data folder, in the order of the alphabet."""
    folder = folder if folder is not None else data_folder()
    return tuple(sorted(path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz")))


def suite_tables(suite: str, folder: Path | None = None) -> tuple[str, ...]:
    """Return the names of the tables of one suite, smallest number of cells first.

    Parameters
    ----------
    suite : str
        Name of the suite, such as ``"contree"``.
    folder : pathlib.Path, optional
        Data folder; found by `data_folder` when not given.

    Returns
    -------
    tuple of str
        Table names.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> from provetree.bench import suite_tables
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> def facts(rows):
    ...     return {"rows": rows, "features": 2, "suites": ["s"]}
    >>> _ = (folder / "manifest.json").write_text(json.dumps({"a": facts(9), "b": facts(2)}))
    >>> suite_tables("s", folder)
    ('b', 'a')
    """
    manifest = read_manifest(folder if folder is not None else data_folder())
    names = [name for name, facts in manifest.items() if suite in facts["suites"]]
    if not names:
        known = sorted({suite for facts in manifest.values() for suite in facts["suites"]})
        raise DataNotFoundError(
            f"The suite (--suite) must be among {', '.join(known)}. Got {suite} instead."
        )
    cells = {name: manifest[name]["rows"] * manifest[name]["features"] for name in names}
    return tuple(sorted(names, key=lambda name: (cells[name], name)))


def load_table(name: str, part: Part = "full", folder: Path | None = None) -> BenchTable:
    r"""Read one table.

    Parameters
    ----------
    name : str
        Name of the table, such as ``"contree-bank"``.
    part : {"full", "train"}, default="full"
        All rows, or the train rows of the first split.
    folder : pathlib.Path, optional
        Data folder; found by `data_folder` when not given.

    Returns
    -------
    BenchTable
        The table.

    Raises
    ------
    DataNotFoundError
        Where the table, or its split, does not exist.

    Examples
    --------
    >>> import gzip, json, pathlib, tempfile
    >>> from provetree.bench import load_table
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "t.csv.gz").write_bytes(gzip.compress(b"a,b,target\n1,2,5\n3,4,7\n"))
    >>> _ = (folder / "t.splits.json").write_text(json.dumps({"splits": [{"train": [1]}]}))
    >>> load_table("t", folder=folder).y
    array([0, 1])
    >>> load_table("t", "train", folder).X
    array([[3., 4.]])
    """
    folder = folder if folder is not None else data_folder()
    path = folder / f"{name}.csv.gz"
    if not path.is_file():
        raise DataNotFoundError(f"There is no table '{name}' in the data folder.")
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            cells = np.loadtxt(lines, delimiter=",", skiprows=1, ndmin=2)
    except ValueError as error:
        raise ValueError(
            f"Table '{name}' is not all numbers, which the benchmarks need: {error}"
        ) from error
    X = np.ascontiguousarray(cells[:, :-1])
    y = np.unique(cells[:, -1], return_inverse=True)[1].reshape(-1).astype(np.int64)
    if part == "train":
        rows = read_split(name, 0, folder)["train"]
        # Classes keep the codes of the full table, so that parts of one table can be compared.
        X, y = np.ascontiguousarray(X[rows]), y[rows]
    elif part != "full":
        raise ValueError(f"The 'part' parameter must be 'full' or 'train'. Got {part!r} instead.")
    return BenchTable(name, X, y)


def read_split(
    name: str, split: int = 0, folder: Path | None = None
) -> dict[str, npt.NDArray[np.int64]]:
    """Return the row numbers of each part (train, valid, test) of one split of a table."""
    folder = folder if folder is not None else data_folder()
    path = folder / f"{name}.splits.json"
    if not path.is_file():
        raise DataNotFoundError(f"Table '{name}' has no splits into train and test rows.")
    parts = json.loads(path.read_text(encoding="utf-8"))["splits"][split]
    return {part: np.asarray(rows, dtype=np.int64) for part, rows in parts.items()}


@lru_cache(maxsize=4)
def load_split(name: str, split: int) -> dict[str, BenchTable]:
    """Return each part (train, valid, test) of one split of a table."""
    table = load_table(name)
    rows = read_split(name, split)
    return {part: BenchTable(name, table.X[some], table.y[some]) for part, some in rows.items()}
