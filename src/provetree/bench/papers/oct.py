"""Tables 1 to 3 of Vääräniemi (2023) on OCT, and model (P) in Table 4 of Ales et al. (2024).

Published numbers stand beside ours: the model as published, the tightened one with a start, and the
exact search. Errors are proven where no star is shown; a star marks a cell that the time limit cut
off, with the bound that was reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from provetree.bench.data import load_split, load_table
from provetree.bench.paper import (
    SPLITS,
    PaperOptions,
    figures,
    pass_on_interrupt,
    published,
    timed,
)
from provetree.bench.papers.ales import PAIRS
from provetree.bench.report import format_seconds, titled_table
from provetree.mip.check import TreeLimits, check_tree
from provetree.mip.engine import MIPSearch
from provetree.mip.starts import cart
from provetree.problem.constrained import RawRows, constrained
from provetree.problem.problem import build_problem
from provetree.search.engine import ExactSearch
from provetree.solution import Limits
from provetree.tree.layout import Layout, placed_to_tree
from provetree.tree.tree import Tree

__all__ = ["of_iris", "run"]

#: Data sets of Table 4, with the average in-sample accuracy of (P) in percent.
_TABLE_4 = {
    name: figures(cells[0])[-1]
    for name, cells in published("ales", "4").items()
    if name != "magic04"
}


@dataclass(frozen=True)
class _Task:
    """One solve: a table, limits on the tree, and how it is solved."""

    dataset: str
    part: int | None
    depth: int
    least: int
    alpha: str
    splits: int | None
    way: str

    @property
    def key(self) -> str:
        part = "full" if self.part is None else f"train{self.part}"
        return (
            f"{self.dataset}/{part}/D={self.depth}/N={self.least}/alpha={self.alpha}"
            f"/C={self.splits}/{self.way}"
        )


def run(options: PaperOptions) -> int:
    """Print the tables that were asked for."""
    tables = {"1": _table_1, "2": _table_2, "3": _table_3, "4": _table_4}
    options.check(datasets=_TABLE_4, tables=tables, depths=(2, 3, 4), splits=SPLITS)
    for number, table in tables.items():
        if options.wants_table(number):
            print(table(options), end="\n\n", flush=True)
    if any(options.wants_table(number) for number in ("1", "2", "3")):
        print(
            "Cells: accuracy (cost >= bound) time; a cost is errors plus penalties of splits. "
            f"A star: cut off at {options.time_limit:g} s."
        )
    return 0


# -- tables ------------------------------------------------------------------------------------


def of_iris(options: PaperOptions, number: str) -> Iterator[tuple[list[int], list[str]]]:
    """Yield the limits (depth, least rows, ...) of each line asked for, and its published cells."""
    for name, cells in published("oct", number).items():
        limits = [int(word) for word in name.split()]
        if options.wants_dataset("iris") and options.wants_depth(limits[0]):
            yield limits, cells


def _thesis(cell: str) -> tuple[str, str]:
    """Return published seconds and accuracy; a star where the limit of the thesis was reached."""
    seconds, accuracy = figures(cell)
    return ("1800*", "-") if seconds is None else (f"{seconds:.1f}", f"{accuracy:.3f}")


def _iris_cells(
    options: PaperOptions,
    depth: int,
    least: int,
    *,
    alpha: str = "0",
    splits: int | None = None,
    ways: Sequence[str] = ("oct plain", "oct tight", "search"),
) -> list[str]:
    tasks = [_Task("iris", None, depth, least, alpha, splits, way) for way in ways]
    return [_cell(_solve(task, options)) for task in tasks]


def _table_1(options: PaperOptions) -> str:
    rows = []
    for (depth, least), (*cells, of_cart) in of_iris(options, "1"):
        for alpha, cell in zip(("0", "0.1", "0.5", "0.9"), cells, strict=True):
            ours = _iris_cells(options, depth, least, alpha=alpha)
            grown = _solve(_Task("iris", None, depth, least, "0", None, "cart"), options)
            rows.append((depth, least, alpha, *_thesis(cell), *ours, of_cart, _accuracy(grown)))
    header = (
        "D | N_min | alpha | thesis s | thesis acc. | OCT plain | OCT tight | exact search | "
        "CART thesis | CART [.3f]"
    )
    return titled_table("Table 1: OCT on iris", header, rows)


def _table_2(options: PaperOptions) -> str:
    rows = []
    ways = ("oct plain", "oct plain+cart", "oct tight none", "oct tight", "search")
    for (depth, least), cells in of_iris(options, "2"):
        ours = _iris_cells(options, depth, least, ways=ways)
        rows.append((depth, least, *figures(cells[0]), *ours))
    header = (
        "D | N_min | thesis s [.1f] | thesis CART s [.1f] | plain | plain, CART | tight | "
        "tight, CART | exact search"
    )
    return titled_table("Table 2: without and with a start, alpha = 0", header, rows)


def _table_3(options: PaperOptions) -> str:
    rows = []
    for (depth, least, splits), cells in of_iris(options, "3"):
        ours = _iris_cells(options, depth, least, splits=splits)
        rows.append((depth, least, splits, *_thesis(cells[0]), *ours))
    header = "D | N_min | C | thesis s | thesis acc. | OCT plain | OCT tight | exact search"
    return titled_table("Table 3: a limit on splits", header, rows)


def _table_4(options: PaperOptions) -> str:
    n_splits = len(options.parts)
    pairs = [pair for pair in PAIRS if options.wants_depth(pair[0])]
    averages, by_pair = [], []
    for dataset in options.wanted_datasets(_TABLE_4) if pairs else ():
        ours, truth = (
            [
                _solve(_Task(dataset, part, depth, 1, "p", gamma, way), options)
                for depth, gamma in pairs
                for part in options.parts
            ]
            for way in ("p tight", "search")
        )
        of_pairs = []
        for first in range(0, len(ours), n_splits):
            of_pair = slice(first, first + n_splits)
            star = "" if _proven(ours[of_pair]) == n_splits else "*"
            of_pairs.append(f"{_average(ours[of_pair]):.1f}{star} / {_average(truth[of_pair]):.1f}")
        by_pair.append((dataset, *of_pairs))
        both = (ours, truth)
        averages.append(
            (
                dataset,
                _TABLE_4[dataset],
                *map(_average, both),
                *(f"{_proven(cells)} of {len(cells)}" for cells in both),
                f"{sum(cell['seconds'] for cell in ours):.0f} s",
                f"{sum(cell['seconds'] for cell in truth):.1f} s",
            )
        )
    title = f"average in-sample accuracy over {len(pairs)} pairs, {n_splits} splits"
    header = (
        "table | (P) paper [.1f] | (P) ours [.1f] | exact search [.1f] | (P) proven | "
        "search proven | (P) time | search time"
    )
    pair_header = ("table", *(f"({depth}, {gamma})" for depth, gamma in pairs))
    pair_title = "Table 4 by pair (delta, gamma): (P) ours / exact search"
    return (
        titled_table(f"Table 4: {title}", header, averages)
        + "\n\n"
        + titled_table(pair_title, pair_header, by_pair)
        + f"\n\nA star: (P) was cut off at {options.time_limit:g} s on at least one split."
    )


# -- solving -----------------------------------------------------------------------------------


def _solve(task: _Task, options: PaperOptions) -> Mapping[str, Any]:
    """Return a cell, solved now or known from before."""
    key = f"{task.key}/limit={options.time_limit:g}"
    cell: Mapping[str, Any] = options.cell(
        key,
        lambda: _computed(task, options.time_limit),
        lambda cell: (
            f"{cell['status']}, {cell['errors']} errors, {cell['seconds']:.1f} s "
            f"({cell['cpu_seconds']:.1f} s of a core)"
        ),
    )
    return cell


def _computed(task: _Task, time_limit: float) -> dict[str, Any]:
    table = load_table(task.dataset)
    if task.part is not None:
        table = load_split(task.dataset, task.part)["train"]
    raw = RawRows(table.X, table.y, np.ones(len(table.y), dtype=np.int64))
    largest = int(np.bincount(table.y).max())
    penalty = Fraction(1, (task.splits or 0) + 1)
    if task.alpha != "p":
        penalty = Fraction(task.alpha) * largest
    (tree, status, bound), seconds, cpu_seconds = timed(
        lambda: _tree(task, raw, penalty, largest, Limits(time_limit))
    )
    pass_on_interrupt(status)
    checked = check_tree(tree, raw, TreeLimits(task.depth, task.least, task.splits))
    if checked.broken:
        raise AssertionError(f"{task.key}: {checked.broken[0]}")
    return {
        "status": status,
        "errors": checked.errors,
        "rows": len(table.y),
        "splits": checked.n_splits,
        "cost": float(checked.cost(penalty)),
        "bound": bound,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
    }


def _tree(
    task: _Task, raw: RawRows, penalty: Fraction, largest: int, limits: Limits
) -> tuple[Tree, str, float]:
    """Return the tree of a task, with its status and bound."""
    problem = build_problem(
        raw.X,
        raw.classes,
        n_classes=int(raw.classes.max()) + 1,
        max_depth=task.depth,
        min_samples_leaf=task.least,
        max_leaf_nodes=None if task.splits is None else task.splits + 1,
    )
    if task.way == "cart":
        placed = cart(problem, Layout(task.depth), min_samples_leaf=task.least)
        return placed_to_tree(problem, placed, keep_labels=False), "heuristic", 0.0
    if task.way == "search":
        found = ExactSearch().solve(problem.with_penalty(penalty), limits)
        return found.tree, found.status, float(found.lower_bound)
    formulation, way = task.way.split(" ", 1)
    tight = way.startswith("tight")
    engine = MIPSearch(
        formulation,
        baseline=largest,
        warm_start=None if way in ("plain", "tight none") else "cart",
        merge_rows=tight,  # the published model has one row per row of the table
        tighten=tight,
    )
    asked = constrained(
        problem,
        depth=task.depth,
        max_splits=task.splits,
        penalty=0 if formulation == "p" else penalty,
        rows=raw,
    )
    solved = engine.solve(asked, limits)
    return solved.tree, solved.status, float(solved.lower_bound)


# -- words -------------------------------------------------------------------------------------


def _accuracy(cell: Mapping[str, Any]) -> float:
    return float(1 - cell["errors"] / cell["rows"])


def _cell(cell: Mapping[str, Any]) -> str:
    """Accuracy, cost with its bound, and time; a star where the limit cut it off."""
    cut = "" if cell["status"] == "optimal" else "*"
    bound = f"{cell['cost']:g} >= {cell['bound']:g}"
    return f"{_accuracy(cell):.3f} ({bound}) {format_seconds(cell['seconds'])}{cut}"


def _average(cells: Sequence[Mapping[str, Any]]) -> float:
    """Average accuracy in percent."""
    return 100 * float(np.mean([_accuracy(cell) for cell in cells]))


def _proven(cells: Sequence[Mapping[str, Any]]) -> int:
    return sum(cell["status"] == "optimal" for cell in cells)
