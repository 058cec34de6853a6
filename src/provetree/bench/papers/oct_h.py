"""The experiments of Vääräniemi (2023) done for OCT-H: starts, limits on splits, new rows.

Nothing of it is published. Tables 1 and 2 have the limits of Tables 2 and 3 of the thesis, on its
data (iris); Table 3 has the data sets of Ales et al. (2024) with their splits. Each cell is OCT-H
by HiGHS without a start, from CART, and from the best tree of sums of two columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from provetree.bench.data import load_split, load_table
from provetree.bench.paper import SPLITS, PaperOptions, pass_on_interrupt, timed
from provetree.bench.papers.oct import of_iris
from provetree.bench.report import format_seconds, titled_table

__all__ = ["run"]

#: The tables of Ales et al. without the three largest, whose models take minutes to build.
_DATASETS = (
    "iris",
    "wine",
    "seeds",
    "monks-1",
    "monks-2",
    "monks-3",
    "haberman",
    "balance-scale",
    "blood-transfusion",
    "breast-cancer-wisconsin",
    "dermatology",
    "car-evaluation",
)
_STARTS = {"none": None, "CART": "cart", "pairs": "search"}


@dataclass(frozen=True)
class _Task:
    """One solve: a table, limits on the tree, and what it starts from."""

    dataset: str
    part: int | None  # of the published splits; None for the whole table
    depth: int
    least: int
    splits: int | None
    columns: int | None
    way: str

    @property
    def key(self) -> str:
        part = "full" if self.part is None else f"train{self.part}"
        return (
            f"oct-h/{self.dataset}/{part}/D={self.depth}/N={self.least}/C={self.splits}"
            f"/columns={self.columns}/{self.way}"
        )


def run(options: PaperOptions) -> int:
    """Print the tables that were asked for."""
    tables = {"1": _table_1, "2": _table_2, "3": _table_3}
    options.check(datasets=_DATASETS, tables=tables, depths=(2, 3, 4), splits=SPLITS)
    for number, table in tables.items():
        if options.wants_table(number):
            print(table(options), end="\n\n", flush=True)
    print(
        "Cells: errors (proven: no tree has fewer) and time; "
        f"a star: cut off at {options.time_limit:g} s."
    )
    return 0


def _table_1(options: PaperOptions) -> str:
    rows, cells = [], []
    for (depth, least), _ in of_iris(options, "2"):
        for columns in (None, 2):
            ours = [
                _solve(_Task("iris", None, depth, least, None, columns, way), options)
                for way in (*_STARTS, "search")
            ]
            rows.append((depth, least, columns or "all", *map(_cell, ours)))
            cells.append(ours)
    header = ("D", "N_min", "columns", *_STARTS, "tree of pairs")
    title = "Table 1: OCT-H on iris by its start"
    return titled_table(title, header, [*rows, ("proven", "", "", *_proven(cells))])


def _table_2(options: PaperOptions) -> str:
    rows, cells = [], []
    for (depth, least, splits), _ in of_iris(options, "3"):
        ours = [
            _solve(_Task("iris", None, depth, least, splits, None, way), options)
            for way in (*_STARTS, "search")
        ]
        rows.append((depth, least, splits, *map(_cell, ours)))
        cells.append(ours)
    header = ("D", "N_min", "C", *_STARTS, "tree of pairs")
    title = "Table 2: OCT-H on iris with a limit on splits"
    return titled_table(title, header, [*rows, ("proven", "", "", *_proven(cells))])


def _table_3(options: PaperOptions) -> str:
    rows, everything = [], []
    ways = (*_STARTS, "search", "columns")
    for dataset in options.wanted_datasets(_DATASETS):
        for depth in options.wanted_depths((2,)):
            cells = [
                [_solve(_Task(dataset, part, depth, 1, None, None, way), options) for way in ways]
                for part in options.parts
            ]
            everything += cells
            accuracy = [
                f"{100 * np.mean([row[at]['test'] for row in cells]):.1f}"
                for at in range(len(ways))
            ]
            errors = [
                f"{np.mean([row[at]['errors'] for row in cells]):.1f}" for at in range(len(ways))
            ]
            rows.append((dataset, depth, *errors, *accuracy, *_proven(cells)[:3]))
    names = (*_STARTS, "tree of pairs", "one column")
    header = (
        "table",
        "D",
        *(f"errors {name}" for name in names),
        *(f"test {name}" for name in names),
        *(f"proven {name}" for name in _STARTS),
    )
    title = "Table 3: OCT-H on training rows and on new rows (accuracy in percent)"
    sums = ("", *[""] * 2 * len(names), *_proven(everything)[:3]) if everything else ()
    return titled_table(title, header, [*rows, ("all", *sums)] if everything else rows)


def _solve(task: _Task, options: PaperOptions) -> Mapping[str, Any]:
    """Return a cell, solved now or known from before."""
    cell: Mapping[str, Any] = options.cell(
        f"{task.key}/limit={options.time_limit:g}",
        lambda: _computed(task, options.time_limit),
        lambda cell: f"{cell['status']}, {cell['errors']} errors, {cell['seconds']:.1f} s",
    )
    return cell


def _computed(task: _Task, time_limit: float) -> dict[str, Any]:
    from provetree import MIPTreeClassifier, OptimalTreeClassifier

    parts = None if task.part is None else load_split(task.dataset, task.part)
    train = load_table(task.dataset) if parts is None else parts["train"]
    limits: dict[str, Any] = {
        "max_depth": task.depth,
        "min_samples_leaf": task.least,
        "time_limit": time_limit,
    }
    clf: Any
    if task.way in _STARTS:
        clf = MIPTreeClassifier(
            "oct-h",
            max_splits=task.splits,
            max_columns_per_split=task.columns,
            warm_start=_STARTS[task.way],
            **limits,
        )
    else:
        splits = "pairs" if task.way == "search" else "columns"
        most = None if task.splits is None else task.splits + 1
        clf = OptimalTreeClassifier(splits=splits, max_leaf_nodes=most, **limits)
    _, seconds, cpu_seconds = timed(lambda: clf.fit(train.X, train.y))
    pass_on_interrupt(clf.status_)
    test = train if parts is None else parts["test"]
    return {
        "status": clf.status_,
        "errors": int((clf.predict(train.X) != train.y).sum()),
        "bound": float(clf.lower_bound_),
        "rows": len(train.y),
        "test": float((clf.predict(test.X) == test.y).mean()),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
    }


def _cell(cell: Mapping[str, Any]) -> str:
    """Errors with their bound, and time; a star where the limit cut it off."""
    cut = "" if cell["status"] == "optimal" else "*"
    return f"{cell['errors']} (>= {cell['bound']:g}) {format_seconds(cell['seconds'])}{cut}"


def _proven(cells: Sequence[Sequence[Mapping[str, Any]]]) -> list[str]:
    """Return for each way how many of its cells are proven."""
    return [
        f"{sum(cell['status'] == 'optimal' for cell in of_way)} of {len(of_way)}"
        for of_way in zip(*cells, strict=True)
    ]
