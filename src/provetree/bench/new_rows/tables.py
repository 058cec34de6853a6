"""The tables of ``bench new-rows``: which there are, their rows, and the seeded splits of each.

Categories are codes and missing values are NaN. Optimal trees take the table as it is; for models
that need numbers, :class:`Preparation` learns from the rows to train on, and from no others, how
to write it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.bench.data import data_folder, read_manifest
from provetree.bench.task_tables import read_cells

__all__ = [
    "MOST_ROWS",
    "SUITES",
    "TEST_SHARE",
    "ClassTable",
    "Preparation",
    "choosing_half",
    "largest_first",
    "read_class_table",
    "split_rows",
    "wanted_tables",
]

SUITES = ("binoct", "ales", "contree", "everyday")
#: Larger tables are cut to a seeded sample of so many rows.
MOST_ROWS = 20_000
TEST_SHARE = 0.25
#: A table of two classes is one with a rare class where the rarer has less than this share.
RARE_SHARE = 0.15


@dataclass(frozen=True)
class ClassTable:
    """A table with classes to predict.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.new_rows.tables import ClassTable
    >>> table = ClassTable("tiny", np.zeros((20, 2)), np.repeat([0, 1], [18, 2]))
    >>> table.n_classes, table.has_rare_class
    (2, True)
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.int64]  # coded 0, 1, ...
    categorical: tuple[int, ...] = ()  # positions of the columns that hold codes of categories

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.y.max()) + 1

    @property
    def has_rare_class(self) -> bool:
        """Whether there are two classes, and few rows of one."""
        shares = np.bincount(self.y) / len(self.y)
        return len(shares) == 2 and float(shares.min()) < RARE_SHARE

    def rows(self, chosen: NDArray[np.intp]) -> ClassTable:
        """Return the table of some of the rows."""
        return replace(self, X=np.ascontiguousarray(self.X[chosen]), y=self.y[chosen])


def wanted_tables(folder: Path | None = None) -> tuple[str, ...]:
    """Return the names of all tables of the suites, in the order of the alphabet."""
    manifest = read_manifest(folder if folder is not None else data_folder())
    return tuple(sorted(n for n, facts in manifest.items() if {*facts["suites"]} & {*SUITES}))


def largest_first(names: Iterable[str], folder: Path | None = None) -> tuple[str, ...]:
    """Return tables by their cells as they are measured, the most first.

    Fits on large tables take longest. Where these begin first, no core waits long for the last.
    """
    manifest = read_manifest(folder if folder is not None else data_folder())

    def cells(name: str) -> int:
        facts = manifest.get(name, {})
        return min(int(facts.get("rows", 0)), MOST_ROWS) * int(facts.get("features", 0))

    return tuple(sorted(names, key=lambda name: (-cells(name), name)))


def choosing_half(names: Iterable[str]) -> tuple[str, ...]:
    """Return every second name of the alphabet: the tables that defaults may be chosen on.

    Examples
    --------
    >>> from provetree.bench.new_rows.tables import choosing_half
    >>> choosing_half(["wine", "iris", "monks-1"])
    ('iris', 'wine')
    """
    return tuple(sorted(names)[::2])


@lru_cache(maxsize=64)
def read_class_table(name: str, most_rows: int | None = MOST_ROWS) -> ClassTable:
    r"""Read a table whose last column is the class; text columns are categories.

    Examples
    --------
    >>> import gzip, os, pathlib, tempfile
    >>> from unittest import mock
    >>> from provetree.bench.new_rows.tables import read_class_table
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> cells = b"size,colour,target\n1,red,yes\n,blue,no\n"
    >>> _ = (folder / "t.csv.gz").write_bytes(gzip.compress(cells))
    >>> _ = (folder / "manifest.json").write_text("{}")
    >>> with mock.patch.dict(os.environ, {"PROVETREE_DATA": str(folder)}):
    ...     table = read_class_table("t")
    >>> table.X.tolist(), table.y.tolist(), table.categorical
    ([[1.0, 1.0], [nan, 0.0]], [1, 0], (1,))
    """
    X, target, categorical = read_cells(name)
    y = np.unique(np.array(target), return_inverse=True)[1].reshape(-1).astype(np.int64)
    table = ClassTable(name, X, y, categorical)
    if most_rows is not None and len(y) > most_rows:
        table = table.rows(_sample(y, most_rows))
    return table


def _sample(y: NDArray[np.int64], count: int) -> NDArray[np.intp]:
    """Return a seeded sample of the rows, in their order."""
    return np.sort(np.random.default_rng(0).choice(len(y), count, replace=False))


def split_rows(table: ClassTable, seed: int) -> tuple[ClassTable, ClassTable]:
    """Return the rows to train on, three quarters, and the new ones.

    Every class keeps its share in both where it has two rows at least.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.new_rows.tables import ClassTable, split_rows
    >>> table = ClassTable("tiny", np.arange(8.0)[:, None], np.tile([0, 1], 4))
    >>> [part.y.tolist().count(1) for part in split_rows(table, seed=0)]
    [3, 1]
    """
    from sklearn.model_selection import train_test_split

    alike = table.y if np.bincount(table.y)[np.unique(table.y)].min() >= 2 else None
    train, new = train_test_split(
        np.arange(len(table.y)), test_size=TEST_SHARE, random_state=seed, stratify=alike
    )
    return table.rows(np.sort(train)), table.rows(np.sort(new))


class Preparation:
    """Writes a table as plain numbers, as it learned to from the rows to train on.

    Each category seen there has a column of 0 and 1, a missing one as well. A missing number is the
    median of its column; a column of 0 and 1 more says where numbers were missing.

    Parameters
    ----------
    table : ClassTable
        The rows to learn from.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.new_rows.tables import ClassTable, Preparation
    >>> X = np.array([[5.0, 0.0], [7.0, 1.0], [np.nan, np.nan]])
    >>> prepare = Preparation(ClassTable("tiny", X, np.array([0, 1, 0]), (1,)))
    >>> prepare(np.array([[np.nan, 1.0], [9.0, 8.0]])).tolist()
    [[6.0, 1.0, 0.0, 1.0, 0.0], [9.0, 0.0, 0.0, 0.0, 0.0]]
    """

    def __init__(self, table: ClassTable) -> None:
        self._categories: dict[int, NDArray[Any]] = {}
        self._medians: dict[int, float] = {}
        self._with_missing: set[int] = set()
        for position, values in enumerate(table.X.T):
            known = values[~np.isnan(values)]
            if len(known) < len(values):
                self._with_missing.add(position)
            if position in table.categorical:
                self._categories[position] = np.unique(known)
            else:
                self._medians[position] = float(np.median(known)) if len(known) else 0.0

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return any rows of the table as plain numbers."""
        columns: list[NDArray[Any]] = []
        for position, values in enumerate(X.T):
            missing = np.isnan(values)
            if position in self._categories:
                columns += [values == code for code in self._categories[position]]
            else:
                columns.append(np.where(missing, self._medians[position], values))
            if position in self._with_missing:
                columns.append(missing)
        return np.ascontiguousarray(np.column_stack(columns).astype(np.float64))
