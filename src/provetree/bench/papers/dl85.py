"""Aglin, Nijssen and Schaus 2020: Tables 2 and 3 and Figure 4, published numbers beside ours.

The published objectives and times are those of the paper, on its machine and with its limit of ten
minutes. Ours are measured here, each in a process of its own on one core; a cell with a star is
proven optimal, one without ran into the time limit and shows the best tree it had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from provetree.bench.data import BenchTable, DataNotFoundError, data_folder, load_table
from provetree.bench.paper import PaperOptions, published
from provetree.bench.process import default_core
from provetree.bench.report import format_table, save_figure
from provetree.bench.worker import run_worker
from provetree.export.plot import new_figure

METHODS: Mapping[str, str] = {
    "dl8": "DL8",
    "dl85-data-order": "d.o.",
    "dl85-ascending": "asc",
    "dl85-descending": "desc",
    "dl85-no-partial": "n.p.s.",
    "provetree": "ours",
}
"""What is measured, by the name of its solver: DL8, the variants of DL8.5 as the paper calls them,
and the exact search of this library."""

TIMES = (0.01, 0.1, 1.0, 10.0, 60.0, 600.0)
"""Seconds at which the table below Figure 4 counts the proven tables."""


@dataclass(frozen=True)
class Published:
    """One line of a table of the paper.

    Examples
    --------
    >>> from provetree.bench.papers.dl85 import TABLE_2
    >>> TABLE_2["vote"].cells["dl8"], TABLE_2["vote"].optimum
    ('5* 29.84', 5)
    """

    items: int  # number of items: twice the number of Boolean columns
    #: Objective and seconds of each method, by the name of its solver: ``"91* 121.87"``, or ``"17
    #: TO"`` where ten minutes were not enough. DL8 has no tree before its end.
    cells: Mapping[str, str]

    @property
    def optimum(self) -> int | None:
        """The optimum, where a method of the paper proved one."""
        proven = {int(cell.split("*")[0]) for cell in self.cells.values() if "*" in cell}
        return proven.pop() if proven else None


#: The tables of the paper, of depth 4 and of depth 2; the second is without the last of DL8.5.
TABLE_2, TABLE_3 = (
    {
        name: Published(int(items), dict(zip(METHODS, cells, strict=False)))
        for name, (items, *cells) in published("dl85", table).items()
    }
    for table in ("2", "3")
)

#: How each table of Table 3 was made two-class: its name in the data folder, and where there are
#: more classes, the code of one against the rest, and its label in words. The paper does not say;
#: these are the labels for which both its number of items and its optimum come out.
CLASSES = published("dl85", "classes")


def load_binary(name: str) -> BenchTable:
    """Return a table of Table 2."""
    return load_table(f"cp4im-{name}")


def load_continuous(name: str) -> BenchTable:
    """Return a table of Table 3 with two classes."""
    source, *one = CLASSES[name]
    table = load_table(source)
    if not one:
        return table
    return BenchTable(name, table.X, (table.y == int(one[0])).astype(np.int64))


def run(options: PaperOptions) -> int:
    """Run ``provetree bench paper --paper dl85``; the exit status is 1 where an optimum differs."""
    options.check(
        datasets=dict.fromkeys([*TABLE_2, *TABLE_3]), tables=("2", "3", "fig4"), depths=(2, 3, 4)
    )
    data_folder()  # says what is missing before anything is measured
    wrong = 0
    if options.wants_table("2") and options.wants_depth(4):
        wrong += _table(options, "2", TABLE_2)
    if options.wants_table("3") and options.wants_depth(2):
        wrong += _table(options, "3", TABLE_3)
    if options.wants_table("fig4"):
        _figure_4(options)
    return 1 if wrong else 0


def _solve(options: PaperOptions, key: str, table: BenchTable, depth: int, method: str) -> Any:
    """Return what a method reached: a cell of the store, measured where it is not there yet."""

    def measure() -> dict[str, Any]:
        outcome = run_worker(method, table, depth, options.time_limit, core=default_core())
        if not outcome.fits:
            return {"errors": None, "seconds": None, "proven": False, "note": outcome.message}
        best = min(outcome.fits, key=lambda fit: fit.seconds)
        proven = best.proven and best.seconds <= options.time_limit
        return {"errors": best.errors, "seconds": best.seconds, "proven": proven, "note": ""}

    name = f"{key}/depth={depth}/{method}/limit={options.time_limit:g}"
    return options.cells.get(name, measure)


def _cell(found: Mapping[str, Any]) -> str:
    if found["errors"] is None:
        return found["note"] or "-"
    if not found["proven"]:
        return f"{found['errors']} TO"
    return f"{found['errors']}* {found['seconds']:.3g}"


def _line(
    options: PaperOptions, key: str, table: BenchTable, depth: int, known: Published
) -> list[str]:
    """Return the cells of one line: published, ours, ...; a proof of ours may differ."""
    cells: list[str] = []
    for method in (*known.cells, "provetree"):
        found = _solve(options, key, table, depth, method)
        wrong = found["proven"] and known.optimum not in (None, found["errors"])
        cells += [known.cells[method]] if method in known.cells else []
        cells.append(_cell(found) + (" DIFFERS" if wrong else ""))
    return cells


def _tables(
    options: PaperOptions, names: Iterable[str], load: Callable[[str], BenchTable]
) -> tuple[dict[str, BenchTable], str]:
    """Return the tables that were asked for, and a line about those that are not there."""
    found: dict[str, BenchTable] = {}
    absent = []
    for name in options.wanted_datasets(names):
        try:
            found[name] = load(name)
        except DataNotFoundError:
            absent.append(name)
    return found, f"\nNot in the data folder: {', '.join(absent)}." if absent else ""


def _table(options: PaperOptions, number: str, known: Mapping[str, Published]) -> int:
    """Print Table 2 or 3, and return how many of our proofs differ from the paper's."""
    binary = number == "2"
    suite, depth = ("cp4im", 4) if binary else ("continuous", 2)
    tables, absent = _tables(options, known, load_binary if binary else load_continuous)
    lines: list[list[str]] = []
    for name, table in tables.items():
        cells = _line(options, f"{suite}/{name}", table, depth, known[name])
        items, rows = 2 * (table.X.shape[1] if binary else _n_thresholds(table)), str(len(table.y))
        if binary:
            line = [name, str(items), rows, *cells]
        else:
            paper = known[name].items
            differs = "" if items == paper else f" (paper: {paper})"
            label = (CLASSES[name][2:] or ["as it is, two classes"])[0]
            line = [name, rows, f"{items}{differs}", *cells, label]
        lines.append(line)
        print("  ".join(line), flush=True)
    methods = [METHODS[method] for method in next(iter(known.values())).cells]
    both = [f"{method} {where}" for method in methods for where in ("paper", "here")]
    first = ["table", "items", "rows"] if binary else ["table", "rows", "items"]
    header = [*first, *both, METHODS["provetree"], *([] if binary else ["classes"])]
    print(
        f"\nTable {number}, depth {depth}: errors, seconds (limit here {options.time_limit:g} s)"
        + ("" if binary else _THRESHOLDS)
    )
    print(format_table(header, lines) + absent)
    return sum(cell.endswith(" DIFFERS") for line in lines for cell in line)


_THRESHOLDS = (
    ". DL8 and DL8.5 see the thresholds beside which the class changes, as in the paper; ours sees "
    "the raw columns and all thresholds."
)


def _n_thresholds(table: BenchTable) -> int:
    from provetree import Binarizer

    return len(Binarizer("optimal-depth-one").fit(table.X, table.y).columns_)


def _figure_4(options: PaperOptions) -> None:
    tables, _ = _tables(options, TABLE_2, load_binary)
    curves: dict[int, dict[str, list[float]]] = {}
    for depth in options.wanted_depths((2, 3, 4)):
        cells = {
            words: [
                _solve(options, f"cp4im/{name}", table, depth, method)
                for name, table in tables.items()
            ]
            for method, words in METHODS.items()
        }
        curves[depth] = {
            words: [cell["seconds"] for cell in found if cell["proven"]]
            for words, found in cells.items()
        }
        times = [time for time in TIMES if time < options.time_limit] + [options.time_limit]
        lines = [
            (words, *(sum(s <= time for s in solved) for time in times))
            for words, solved in curves[depth].items()
        ]
        print(f"\nFigure 4, depth {depth}: of {len(tables)} tables, proven within so many seconds")
        print(format_table(["method", *(f"{time:g}" for time in times)], lines))
    if options.figures is not None and curves:
        path = _draw(curves, options.figures)
        print(f"\nFigure 4 is drawn in {path}")


def _draw(curves: Mapping[int, Mapping[str, Sequence[float]]], folder: Path) -> Path:
    figure = new_figure("Drawing figures", (4.2 * len(curves), 3.6))
    axes = figure.subplots(1, len(curves), squeeze=False)[0]
    for ax, (depth, by_method) in zip(axes, curves.items(), strict=True):
        for words, seconds in by_method.items():
            ax.plot(range(1, len(seconds) + 1), sorted(seconds), marker=".", label=words)
        ax.set(title=f"depth {depth}", xlabel="tables proven", ylabel="seconds", yscale="log")
    axes[0].legend()
    return save_figure(figure, folder / "dl85-figure-4.png")
