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
from provetree.bench.paper import PaperOptions
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

    Parameters
    ----------
    items : int
        Number of items: twice the number of Boolean columns.
    cells : mapping of str to str
        Objective and seconds of each method, by the name of its solver: ``"91* 121.87"``, or
        ``"17 TO"`` where ten minutes were not enough.

    Examples
    --------
    >>> from provetree.bench.papers.dl85 import TABLE_2
    >>> TABLE_2["vote"].cells["dl8"], TABLE_2["vote"].optimum
    ('5* 29.84', 5)
    """

    items: int
    cells: Mapping[str, str]

    @property
    def optimum(self) -> int | None:
        """The optimum, where a method of the paper proved one."""
        proven = {int(cell.split("*")[0]) for cell in self.cells.values() if "*" in cell}
        return proven.pop() if proven else None


def _published(text: str, methods: Sequence[str]) -> dict[str, Published]:
    lines: dict[str, Published] = {}
    for line in text.strip().splitlines():
        name, items, *cells = (word.strip() for word in line.split("|"))
        lines[name] = Published(int(items), dict(zip(methods, cells, strict=True)))
    return lines


_OF_TABLE_3 = ("dl8", "dl85-data-order", "dl85-ascending", "dl85-descending")

TABLE_2 = _published(
    """
anneal | 186 | - TO | 91* 129.24 | 91* 127.45 | 91* 121.87 | 91* 250.64
audiology | 296 | - TO | 1* 180.84 | 1* 204.19 | 1* 195.73 | 1 TO
australian-credit | 250 | - TO | 56* 566.71 | 56* 586.39 | 56* 593.38 | 57 TO
breast-wisconsin | 240 | - TO | 7* 305.3 | 7* 325.7 | 7* 330.71 | 7 TO
diabetes | 224 | - TO | 137* 553.49 | 137* 562.83 | 137* 565.5 | 137 TO
german-credit | 224 | - TO | 204* 558.73 | 206 TO | 204* 599.87 | 204 TO
heart-cleveland | 190 | - TO | 25* 124.1 | 25* 130.3 | 25* 132.23 | 25* 214.76
hepatitis | 136 | 3* 66.62 | 3* 13.46 | 3* 14.06 | 3* 14.88 | 3* 27.28
hypothyroid | 176 | - TO | 53* 392.22 | 53* 368.95 | 53* 427.34 | 53 TO
ionosphere | 890 | - TO | 17 TO | 11 TO | 13 TO | 17 TO
kr-vs-kp | 146 | - TO | 144* 216.11 | 144* 206.18 | 144* 223.85 | 144* 528.72
letter | 448 | - TO | 550 TO | 586 TO | 802 TO | 550 TO
lymph | 136 | 3* 56.29 | 3* 8.7 | 3* 11.03 | 3* 8.47 | 3* 25.04
mushroom | 238 | - TO | 0* 331.39 | 4 TO | 0* 0.11 | 4 TO
pendigits | 432 | - TO | 32 TO | 26 TO | 14 TO | 32 TO
primary-tumor | 62 | 34* 2.79 | 34* 1.48 | 34* 1.51 | 34* 1.38 | 34* 2.43
segment | 470 | - TO | 0* 3.54 | 0* 6.99 | 0* 7.05 | 0* 3.54
soybean | 100 | 14* 41.59 | 14* 5.7 | 14* 6.34 | 14* 5.75 | 14* 18.41
splice-1 | 574 | - TO | 224 TO | 224 TO | 141 TO | 224 TO
tic-tac-toe | 54 | 137* 3.76 | 137* 1.43 | 137* 1.54 | 137* 1.55 | 137* 2.12
vehicle | 504 | - TO | 16 TO | 18 TO | 13 TO | 16 TO
vote | 96 | 5* 29.84 | 5* 5.48 | 5* 5.33 | 5* 5.58 | 5* 12.82
yeast | 178 | - TO | 366* 318.87 | 366* 326.2 | 366* 334.15 | 366* 470.88
zoo-1 | 72 | 0* 1.11 | 0* 0.01 | 0* 0.01 | 0* 0.01 | 0* 0.01
""",
    (*_OF_TABLE_3, "dl85-no-partial"),
)
"""Table 2 of the paper, depth 4. DL8 has no tree before its end."""

TABLE_3 = _published(
    """
balance-scale | 32 | 149* 0.5 | 149* 0.01 | 149* 0.01 | 149* 0.01
banknote | 3710 | 100* 363.01 | 100* 52.81 | 100* 63.41 | 100* 58.07
bank | 3380 | 448 TO | 446* 253.87 | 446* 223.42 | 446* 222.66
biodeg | 8356 | 212 TO | 202* 341.57 | 202* 365.83 | 202* 370.26
car | 28 | 250* 0.32 | 250* 0.01 | 250* 0.01 | 250* 0.01
IndiansDiabetes | 1714 | 171* 36.75 | 171* 7.43 | 171* 8.46 | 171* 8.72
Ionosphere | 4624 | 29* 423.52 | 29* 25.68 | 29* 33.76 | 29* 33.04
iris | 52 | 0* 0.05 | 0* 0.01 | 0* 0.01 | 0* 0.01
letter | 352 | 591* 5.97 | 591* 8.61 | 591* 8.26 | 591* 8.83
messidor | 9460 | 383 TO | 383* 533.27 | 383* 563.83 | 383* 534.32
monk1 | 22 | 22* 0.28 | 22* 0.01 | 22* 0.01 | 22* 0.01
monk2 | 22 | 57* 0.28 | 57* 0.01 | 57* 0.01 | 57* 0.01
monk3 | 22 | 8* 0.28 | 8* 0.01 | 8* 0.01 | 8* 0.01
seismic | 2240 | 164* 117.34 | 164* 44.3 | 164* 47.36 | 164* 47.17
spambase | 16012 | 900 TO | 741 TO | 845 TO | 586 TO
Statlog | 3274 | 443 TO | 443* 205.14 | 443* 193.87 | 443* 188.9
tic-tac-toe | 36 | 282* 0.33 | 282* 0.01 | 282* 0.01 | 282* 0.01
wine | 1198 | 6* 7.0 | 6* 1.17 | 6* 1.45 | 6* 1.09
""",
    _OF_TABLE_3,
)
"""Table 3 of the paper, depth 2."""


@dataclass(frozen=True)
class Continuous:
    """A table of Table 3: its name in the data folder, and the class that is one of the two.

    Parameters
    ----------
    table : str
        Name in the data folder.
    against_rest : int or None
        Code of the class that is one of the two, against all others; None for two-class tables.
    words : str
        The label in words.

    Examples
    --------
    >>> from provetree.bench.papers.dl85 import CONTINUOUS
    >>> CONTINUOUS["wine"].words
    'cultivar 2 against the rest'
    """

    table: str
    against_rest: int | None = None
    words: str = "as it is, two classes"


CONTINUOUS: Mapping[str, Continuous] = {
    "balance-scale": Continuous("balance-scale", 1, "L against the rest (R gives the same)"),
    "banknote": Continuous("banknote"),
    "bank": Continuous("bank-marketing"),
    "biodeg": Continuous("biodeg"),
    "car": Continuous("car-evaluation", 0, "unacc against the rest"),
    "IndiansDiabetes": Continuous("pima-indians-diabetes"),
    "Ionosphere": Continuous("ionosphere"),
    "iris": Continuous("iris", 0, "setosa against the rest"),
    "letter": Continuous("letter", 20, "U against the rest"),
    "messidor": Continuous("messidor"),
    "monk1": Continuous("monks-1"),
    "monk2": Continuous("monks-2"),
    "monk3": Continuous("monks-3"),
    "seismic": Continuous("seismic-bumps"),
    "spambase": Continuous("spambase"),
    "Statlog": Continuous("statlog-satellite", 0, "class 1 (red soil) against the rest"),
    "tic-tac-toe": Continuous("tic-tac-toe"),
    "wine": Continuous("wine", 1, "cultivar 2 against the rest"),
}
"""How each table of Table 3 was made two-class. The paper does not say; these are the labels for
which both its number of items and its optimum come out."""


def load_continuous(name: str) -> BenchTable:
    """Return a table of Table 3 with two classes."""
    source = CONTINUOUS[name]
    table = load_table(source.table)
    if source.against_rest is None:
        return table
    return BenchTable(name, table.X, (table.y == source.against_rest).astype(np.int64))


def run(options: PaperOptions) -> int:
    """Run ``provetree bench paper --paper dl85``; the exit status is 1 where an optimum differs."""
    options.check(
        datasets=dict.fromkeys([*TABLE_2, *TABLE_3]), tables=("2", "3", "fig4"), depths=(2, 3, 4)
    )
    data_folder()  # says what is missing before anything is measured
    wrong = 0
    if options.wants_table("2") and options.wants_depth(4):
        wrong += _table_2(options)
    if options.wants_table("3") and options.wants_depth(2):
        wrong += _table_3(options)
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
) -> tuple[list[str], int]:
    """Return the cells of one line (published, ours, ...), and how many of our proofs are wrong."""
    cells: list[str] = []
    wrong = 0
    for method in METHODS:
        if method not in known.cells and method != "provetree":
            continue
        found = _solve(options, key, table, depth, method)
        if method in known.cells:
            cells.append(known.cells[method])
        cells.append(_cell(found))
        if found["proven"] and known.optimum is not None and found["errors"] != known.optimum:
            wrong += 1
            cells[-1] += " DIFFERS"
    return cells, wrong


def _header(first: Sequence[str], methods: Sequence[str]) -> list[str]:
    titles = list(first)
    for method in METHODS:
        if method in methods:
            titles += [f"{METHODS[method]} paper", f"{METHODS[method]} here"]
    return [*titles, METHODS["provetree"]]


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


def _load_binary(name: str) -> BenchTable:
    return load_table(f"cp4im-{name}")


def _table_2(options: PaperOptions) -> int:
    lines: list[list[str]] = []
    wrong = 0
    tables, absent = _tables(options, TABLE_2, _load_binary)
    for name, table in tables.items():
        cells, differing = _line(options, f"cp4im/{name}", table, 4, TABLE_2[name])
        wrong += differing
        lines.append([name, str(2 * table.X.shape[1]), str(len(table.y)), *cells])
        print("  ".join(lines[-1]), flush=True)
    print(f"\nTable 2, depth 4: errors, seconds (limit here {options.time_limit:g} s)")
    header = _header(("table", "items", "rows"), (*_OF_TABLE_3, "dl85-no-partial"))
    print(format_table(header, lines) + absent)
    return wrong


def _table_3(options: PaperOptions) -> int:
    lines: list[list[str]] = []
    wrong = 0
    tables, absent = _tables(options, TABLE_3, load_continuous)
    for name, table in tables.items():
        known = TABLE_3[name]
        cells, differing = _line(options, f"continuous/{name}", table, 2, known)
        wrong += differing
        items = 2 * _n_thresholds(table)
        differs = "" if items == known.items else f" (paper: {known.items})"
        label = CONTINUOUS[name].words
        lines.append([name, str(len(table.y)), f"{items}{differs}", *cells, label])
        print("  ".join(lines[-1]), flush=True)
    print(
        f"\nTable 3, depth 2: errors, seconds (limit here {options.time_limit:g} s). DL8 and DL8.5 "
        "see the thresholds beside which the class changes, as in the paper; ours sees the raw "
        "columns and all thresholds."
    )
    header = [*_header(("table", "rows", "items"), _OF_TABLE_3), "classes"]
    print(format_table(header, lines) + absent)
    return wrong


def _n_thresholds(table: BenchTable) -> int:
    from provetree import Binarizer

    return len(Binarizer("optimal-depth-one").fit(table.X, table.y).columns_)


def _figure_4(options: PaperOptions) -> None:
    tables, _ = _tables(options, TABLE_2, _load_binary)
    curves: dict[int, dict[str, list[float]]] = {}
    for depth in options.wanted_depths((2, 3, 4)):
        curves[depth] = {method: [] for method in METHODS}
        for name, table in tables.items():
            for method in METHODS:
                found = _solve(options, f"cp4im/{name}", table, depth, method)
                if found["proven"]:
                    curves[depth][method].append(found["seconds"])
        times = [time for time in TIMES if time < options.time_limit] + [options.time_limit]
        lines = [
            [METHODS[method], *(str(sum(s <= time for s in solved)) for time in times)]
            for method, solved in curves[depth].items()
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
        for method, seconds in by_method.items():
            solved = range(1, len(seconds) + 1)
            ax.plot(solved, sorted(seconds), marker=".", label=METHODS[method])
        ax.set(title=f"depth {depth}", xlabel="tables proven", ylabel="seconds", yscale="log")
    axes[0].legend()
    return save_figure(figure, folder / "dl85-figure-4.png")
