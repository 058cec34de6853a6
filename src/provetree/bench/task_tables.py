"""The tables of ``bench tasks``: numbers or classes to predict, rewards of actions, bins.

Tables are plain numbers: categories are codes, and missing values are NaN. So no solver is measured
while it reads text.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from provetree.bench.data import DataNotFoundError, data_folder, load_table

__all__ = [
    "TaskTable",
    "binned",
    "made_up_mixed",
    "made_up_rewards",
    "read_cells",
    "read_task_table",
    "read_with_target",
]

Columns = Literal["numbers", "all"]


@dataclass(frozen=True)
class TaskTable:
    """One table with its target.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.task_tables import TaskTable
    >>> TaskTable("tiny", np.zeros((3, 2)), np.ones(3)).shape_text
    '3 x 2'
    """

    name: str
    X: NDArray[np.float64]
    #: Numbers, classes (whole), or rewards with one column per action.
    y: NDArray[Any]
    categorical: tuple[int, ...] = ()  # positions of the columns that hold codes of categories

    @property
    def shape_text(self) -> str:
        """Rows x columns, and x actions where there are any."""
        return " x ".join(str(size) for size in (*self.X.shape, *self.y.shape[1:]))

    def rows(self, chosen: NDArray[np.intp]) -> TaskTable:
        """Return the table of some of the rows."""
        return replace(self, X=np.ascontiguousarray(self.X[chosen]), y=self.y[chosen])


@lru_cache(maxsize=4)
def read_with_target(name: str, columns: Columns = "all") -> TaskTable:
    r"""Read a table whose target is a number; text columns are categories, empty cells missing.

    With `columns` "numbers", the columns of categories are left out.

    Examples
    --------
    >>> import gzip, os, pathlib, tempfile
    >>> from unittest import mock
    >>> from provetree.bench.task_tables import read_with_target
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> cells = b"size,colour,target\n1,red,5\n,blue,7.5\n"
    >>> _ = (folder / "t.csv.gz").write_bytes(gzip.compress(cells))
    >>> _ = (folder / "manifest.json").write_text("{}")
    >>> with mock.patch.dict(os.environ, {"PROVETREE_DATA": str(folder)}):
    ...     table = read_with_target("t")
    >>> table.X.tolist(), table.y.tolist(), table.categorical
    ([[1.0, 1.0], [nan, 0.0]], [5.0, 7.5], (1,))
    """
    X, target, categorical = read_cells(name, columns)
    y = np.array([float(cell) for cell in target])
    return TaskTable(name, X, y, categorical)


def read_cells(
    name: str, columns: Columns = "all"
) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[int, ...]]:
    """Return the columns of a table as numbers, the cells of the last one, and what holds codes."""
    path = data_folder() / f"{name}.csv.gz"
    if not path.is_file():
        raise DataNotFoundError(f"There is no table '{name}' in the data folder.")
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        _, *rows = csv.reader(lines)
    found, categorical = [], []
    *cells, target = zip(*rows, strict=True)
    for column in cells:
        try:
            found.append(np.array([float(cell) if cell else np.nan for cell in column]))
        except ValueError:
            if columns == "numbers":
                continue
            codes = {text: code for code, text in enumerate(sorted(set(column) - {""}))}
            categorical.append(len(found))
            found.append(np.array([codes.get(cell, np.nan) for cell in column]))
    return np.ascontiguousarray(np.column_stack(found)), target, tuple(categorical)


def binned(table: TaskTable, n_bins: int = 10) -> TaskTable:
    """Return a table of numbers with each column cut into bins at its quantiles.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.task_tables import TaskTable, binned
    >>> table = TaskTable("tiny", np.arange(6.0)[:, None] ** 2, np.ones(6))
    >>> binned(table, 3).X.ravel().tolist()
    [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
    """
    X = np.empty_like(table.X)
    for column, values in enumerate(table.X.T):
        inner = np.quantile(values, np.arange(1, n_bins) / n_bins)
        X[:, column] = np.searchsorted(np.unique(inner), values)
    return TaskTable(f"{table.name}, {n_bins} bins", X, table.y)


def made_up_rewards(
    rows: int, columns: int, actions: int, signal: float, seed: int = 0
) -> TaskTable:
    """Return rewards of actions with noise of one, and `signal` more for those that suit a row.

    Which actions suit a row depends on two questions.

    Examples
    --------
    >>> from provetree.bench.task_tables import made_up_rewards
    >>> made_up_rewards(100, 5, 3, 1.0).shape_text
    '100 x 5 x 3'
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    rewards = rng.normal(size=(rows, actions))
    if signal:
        # The second question depends on the answer to the first.
        first = X[:, 0] > 0.2
        second = np.where(first, X[:, 1 % columns] > -0.3, X[:, 2 % columns] > 0.4)
        region = 2 * first + second
        rewards += signal * (np.arange(actions) % 4 == region[:, None])
    kind = f"signal {signal:g}" if signal else "noise"
    return TaskTable(kind, X, rewards)


def made_up_mixed(rows: int, columns: int, noise: float = 1.0, seed: int = 0) -> TaskTable:
    """Return a table with a number to predict: two thirds numbers, the rest categories.

    Every third column has missing cells. The target follows questions about both kinds and a sum of
    columns; `noise` is the standard deviation of the noise beside that of the rest.

    Examples
    --------
    >>> from provetree.bench.task_tables import made_up_mixed
    >>> table = made_up_mixed(100, 9)
    >>> table.shape_text, table.categorical
    ('100 x 9', (6, 7, 8))
    """
    rng = np.random.default_rng(seed)
    n_numbers = columns - columns // 3
    X = np.empty((rows, columns))
    X[:, :n_numbers] = rng.normal(size=(rows, n_numbers))
    X[:, 1:n_numbers:3] = np.round(X[:, 1:n_numbers:3] * 5)  # few values, many ties
    for column in range(n_numbers, columns):
        shares = rng.dirichlet(np.ones(3 + column % 6))
        X[:, column] = rng.choice(len(shares), rows, p=shares)
    y = 2.0 * (X[:, 0] > 0.3) * (X[:, -1] == 1) + (X[:, 1] > 2) * (X[:, 2] < 0.5)
    y += 0.3 * X[:, : n_numbers // 2].sum(axis=1) / np.sqrt(n_numbers)
    y += noise * y.std() * rng.normal(size=rows)
    X[:, ::3][rng.random(X[:, ::3].shape) < 0.05] = np.nan
    return TaskTable(f"noise {noise:g}", X, y, tuple(range(n_numbers, columns)))


def _class_table(name: str) -> TaskTable:
    table = load_table(name)
    return TaskTable(name, table.X, table.y)


#: How a request names its table: the kind, and then what the function takes.
_KINDS: Mapping[str, Callable[..., TaskTable]] = {
    "numbers": lambda name: read_with_target(name, "numbers"),
    "all": lambda name: read_with_target(name, "all"),
    "bins": lambda name: _standardised(binned(read_with_target(name, "numbers"))),
    "classes": _class_table,
    "rewards": made_up_rewards,
    "mixed": made_up_mixed,
}


def read_task_table(kind: str, *words: Any) -> TaskTable:
    """Return a table by its kind and what it needs: a name, or sizes.

    Examples
    --------
    >>> from provetree.bench.task_tables import read_task_table
    >>> read_task_table("rewards", 10, 2, 3, 0.0).name
    'noise'
    """
    return _KINDS[kind](*words)


def _standardised(table: TaskTable) -> TaskTable:
    """Return the table with a target of mean zero and variance one: STreeD has limits on costs."""
    return replace(table, y=(table.y - table.y.mean()) / table.y.std())
