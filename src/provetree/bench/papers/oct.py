"""Tables 1 to 3 of Vääräniemi (2023) on OCT, and model (P) in Table 4 of Ales et al. (2024).

Published numbers stand beside ours: the model as published, the tightened one with a start, and the
exact search. Errors are proven where no star is shown; a star marks a cell that the time limit cut
off, with the bound that was reached.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from provetree.bench.data import load_table, read_split
from provetree.bench.paper import SPLITS, PaperOptions, pass_on_interrupt
from provetree.bench.papers._ales_published import PAIRS, TABLE_4
from provetree.bench.report import format_seconds, titled_table
from provetree.mip.check import TreeLimits, check_tree
from provetree.mip.engine import MIPSearch
from provetree.mip.starts import cart
from provetree.problem.constrained import RawRows, constrained
from provetree.problem.problem import build_problem
from provetree.search.engine import ExactSearch
from provetree.solution import Limits
from provetree.tree.layout import Layout, placed_to_tree

__all__ = ["run"]

Case = TypeVar("Case", bound="tuple[Any, ...]")

#: Table 1: (depth, least rows, alpha) to seconds and accuracy; None is a run cut off at 1800 s.
_TABLE_1: dict[tuple[int, int, str], tuple[float, float] | None] = {
    (2, 8, "0"): (41.26, 0.960), (2, 8, "0.1"): (39.07, 0.960), (2, 8, "0.5"): (15.88, 0.960),
    (2, 8, "0.9"): (18.66, 0.667), (2, 15, "0"): (55.87, 0.960), (2, 15, "0.1"): (30.05, 0.960),
    (2, 15, "0.5"): (17.15, 0.960), (2, 15, "0.9"): (14.22, 0.667), (3, 8, "0"): None,
    (3, 8, "0.1"): (65.07, 0.960), (3, 8, "0.5"): (8.99, 0.960), (3, 8, "0.9"): (9.65, 0.667),
    (3, 15, "0"): None, (3, 15, "0.1"): (42.83, 0.960), (3, 15, "0.5"): (5.05, 0.960),
    (3, 15, "0.9"): (20.33, 0.667), (4, 8, "0"): None, (4, 8, "0.1"): (234.12, 0.960),
    (4, 8, "0.5"): (36.49, 0.960), (4, 8, "0.9"): (14.87, 0.667), (4, 15, "0"): None,
    (4, 15, "0.1"): (371.82, 0.960), (4, 15, "0.5"): (16.09, 0.960), (4, 15, "0.9"): (24.94, 0.667),
}  # fmt: skip
#: Table 1, accuracy of CART.
_CART = {
    (2, 8): 0.953,
    (2, 15): 0.953,
    (3, 8): 0.960,
    (3, 15): 0.953,
    (4, 8): 0.960,
    (4, 15): 0.953,
}
#: Table 2: (depth, least rows) to seconds without and with the start of CART.
_TABLE_2 = {(2, 8): (41.26, 25.41), (2, 15): (55.87, 40.51)}
#: Table 3: (depth, least rows, splits) to seconds and accuracy.
_TABLE_3: dict[tuple[int, int, int], tuple[float, float] | None] = {
    (2, 8, 3): (40.02, 0.960), (2, 8, 2): (10.20, 0.960), (2, 15, 3): (55.87, 0.960),
    (2, 15, 2): (20.63, 0.960), (3, 8, 4): None, (3, 8, 3): (583.90, 0.973),
    (3, 8, 2): (17.34, 0.960), (3, 15, 4): None, (3, 15, 3): (655.31, 0.973),
    (3, 15, 2): (15.71, 0.960), (4, 8, 4): None, (4, 8, 3): (677.54, 0.973),
    (4, 8, 2): (10.09, 0.960), (4, 15, 4): None, (4, 15, 3): (577.74, 0.973),
    (4, 15, 2): (20.19, 0.960),
}  # fmt: skip
#: Ales et al., section 5.1 and Table 4, row (P): average in-sample accuracy in percent.
_TABLE_4 = {name: TABLE_4[name]["(P)"] for name in ("iris", "wine", "monks-2", "haberman")}


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
    options.check(datasets=_TABLE_4, tables=("1", "2", "3", "4"), depths=(2, 3, 4), splits=SPLITS)
    for number, table in (("1", _table_1), ("2", _table_2), ("3", _table_3), ("4", _table_4)):
        if options.wants_table(number):
            print(table(options), end="\n\n", flush=True)
    if any(options.wants_table(number) for number in ("1", "2", "3")):
        print(
            "Cells: accuracy (cost >= bound) time; a cost is errors plus penalties of splits. "
            f"A star: cut off at {options.time_limit:g} s."
        )
    return 0


# -- tables ------------------------------------------------------------------------------------


def _of_iris(options: PaperOptions, cases: Iterable[Case]) -> list[Case]:
    """Return those of the cases, which begin with their depth, that were asked for."""
    wanted = options.wants_dataset("iris")
    return [case for case in cases if wanted and options.wants_depth(case[0])]


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
    for depth, least, alpha in _of_iris(options, _TABLE_1):
        published = _published(_TABLE_1[depth, least, alpha])
        cells = _iris_cells(options, depth, least, alpha=alpha)
        grown = _solve(_Task("iris", None, depth, least, "0", None, "cart"), options)
        carts = (f"{_CART[depth, least]:.3f}", _accuracy(grown))
        rows.append((str(depth), str(least), alpha, *published, *cells, *carts))
    header = (
        "D | N_min | alpha | thesis s | thesis acc. | OCT plain | OCT tight | exact search | "
        "CART thesis | CART"
    )
    return titled_table("Table 1: OCT on iris", header, rows)


def _table_2(options: PaperOptions) -> str:
    rows = []
    ways = ("oct plain", "oct plain+cart", "oct tight none", "oct tight", "search")
    for depth, least in _of_iris(options, _CART):
        times = _TABLE_2.get((depth, least), (1800.0, 1800.0))
        cells = _iris_cells(options, depth, least, ways=ways)
        rows.append((str(depth), str(least), *(f"{t:.1f}" for t in times), *cells))
    header = (
        "D | N_min | thesis s | thesis CART s | plain | plain, CART | tight | tight, CART | "
        "exact search"
    )
    return titled_table("Table 2: without and with a start, alpha = 0", header, rows)


def _table_3(options: PaperOptions) -> str:
    rows = []
    for depth, least, splits in _of_iris(options, _TABLE_3):
        published = _published(_TABLE_3[depth, least, splits])
        cells = _iris_cells(options, depth, least, splits=splits)
        rows.append((str(depth), str(least), str(splits), *published, *cells))
    header = "D | N_min | C | thesis s | thesis acc. | OCT plain | OCT tight | exact search"
    return titled_table("Table 3: a limit on splits", header, rows)


def _table_4(options: PaperOptions) -> str:
    n_splits = len(options.parts)
    pairs = [pair for pair in PAIRS if options.wants_depth(pair[0])]
    averages, by_pair = [], []
    for dataset, published in _TABLE_4.items():
        if not (options.wants_dataset(dataset) and pairs):
            continue
        found: dict[str, list[Mapping[str, Any]]] = {"p tight": [], "search": []}
        of_pairs = []
        for depth, gamma in pairs:
            for part in options.parts:
                for way, cells in found.items():
                    cells.append(_solve(_Task(dataset, part, depth, 1, "p", gamma, way), options))
            ours, truth = (cells[-n_splits:] for cells in found.values())
            star = "" if _proven(ours) == n_splits else "*"
            of_pairs.append(f"{_average(ours):.1f}{star} / {_average(truth):.1f}")
        ours, truth = found.values()
        averages.append(
            (dataset, f"{published:.1f}", f"{_average(ours):.1f}", f"{_average(truth):.1f}",
             f"{_proven(ours)} of {len(ours)}", f"{_proven(truth)} of {len(truth)}",
             f"{_total(ours):.0f} s", f"{_total(truth):.1f} s")
        )  # fmt: skip
        by_pair.append((dataset, *of_pairs))
    title = f"average in-sample accuracy over {len(pairs)} pairs, {n_splits} splits"
    header = (
        "table | (P) paper | (P) ours | exact search | (P) proven | search proven | (P) time | "
        "search time"
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
    X, y = _rows(task.dataset, task.part)
    started, cpu_started = time.perf_counter(), time.process_time()
    problem = build_problem(
        X,
        y,
        n_classes=int(y.max()) + 1,
        max_depth=task.depth,
        min_samples_leaf=task.least,
        max_leaf_nodes=None if task.splits is None else task.splits + 1,
    )
    largest = int(np.bincount(y).max())
    penalty = Fraction(1, (task.splits or 0) + 1) if task.alpha == "p" else Fraction(task.alpha)
    if task.alpha != "p":
        penalty *= largest
    raw = RawRows(X, y, np.ones(len(y), dtype=np.int64))
    limits = TreeLimits(task.depth, task.least, task.splits)
    status, bound = "heuristic", 0.0
    if task.way == "cart":
        placed = cart(problem, Layout(task.depth), min_samples_leaf=task.least)
        tree = placed_to_tree(problem, placed, keep_labels=False)
    elif task.way == "search":
        solution = ExactSearch().solve(problem.with_penalty(penalty), Limits(time_limit))
        tree, status, bound = solution.tree, solution.status, float(solution.lower_bound)
    else:
        engine = _engine(task, largest)
        asked = constrained(
            problem,
            depth=task.depth,
            max_splits=task.splits,
            penalty=0 if engine.formulation == "p" else penalty,
            rows=raw,
        )
        found = engine.solve(asked, Limits(time_limit))
        tree, status, bound = found.tree, found.status, float(found.lower_bound)
    seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu_started
    pass_on_interrupt(status)
    checked = check_tree(tree, raw, limits)
    if checked.broken:
        raise AssertionError(f"{task.key}: {checked.broken[0]}")
    return {
        "status": status,
        "errors": checked.errors,
        "rows": len(y),
        "splits": checked.n_splits,
        "cost": float(checked.cost(penalty)),
        "bound": bound,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
    }


def _engine(task: _Task, largest: int) -> MIPSearch:
    formulation, way = task.way.split(" ", 1)
    tight = way.startswith("tight")
    return MIPSearch(
        formulation,
        baseline=largest,
        warm_start=None if way in ("plain", "tight none") else "cart",
        # The published model has one row per row of the table.
        merge_rows=tight,
        tighten=tight,
    )


def _rows(dataset: str, part: int | None) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    table = load_table(dataset)
    if part is None:
        return table.X, table.y
    rows = read_split(dataset, part)["train"]
    return table.X[rows], table.y[rows]


# -- words -------------------------------------------------------------------------------------


def _published(cell: tuple[float, float] | None) -> tuple[str, str]:
    return ("1800*", "-") if cell is None else (f"{cell[0]:.1f}", f"{cell[1]:.3f}")


def _accuracy(cell: Mapping[str, Any]) -> str:
    return f"{1 - cell['errors'] / cell['rows']:.3f}"


def _cell(cell: Mapping[str, Any]) -> str:
    """Accuracy, cost with its bound, and time; a star where the limit cut it off."""
    cut = "" if cell["status"] == "optimal" else "*"
    bound = f"{cell['cost']:g} >= {cell['bound']:g}"
    return f"{_accuracy(cell)} ({bound}) {format_seconds(cell['seconds'])}{cut}"


def _average(cells: Sequence[Mapping[str, Any]]) -> float:
    """Average accuracy in percent."""
    return 100 * float(np.mean([1 - cell["errors"] / cell["rows"] for cell in cells]))


def _proven(cells: Sequence[Mapping[str, Any]]) -> int:
    return sum(cell["status"] == "optimal" for cell in cells)


def _total(cells: Sequence[Mapping[str, Any]]) -> float:
    return float(sum(cell["seconds"] for cell in cells))
