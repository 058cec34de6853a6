"""``provetree bench paper``: the tables and figures of a paper, published numbers beside ours.

Each paper has a module in :mod:`provetree.bench.papers` with a function ``run(options)``. A table
is made of cells; each is stored the moment it is known, so a stopped run can be continued.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from provetree.bench.arguments import PAPERS, among, words

Value = TypeVar("Value")

#: Splits of each data set, as the papers use them.
SPLITS = 5
#: Where the published numbers are.
_TEXTS = Path(__file__).with_name("papers")
#: What is said after Ctrl-C.
STOPPED = "Stopped. Finished cells are kept: run it again to go on."


class CellStore:
    """Results of single cells, kept in a file of JSON lines so that a run can be resumed.

    Parameters
    ----------
    path : pathlib.Path or None
        The file; None keeps the cells in memory only.
    fresh : bool, default=False
        Forget what the file holds.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree.bench.paper import CellStore
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "cells.jsonl"
    >>> CellStore(path).get("iris/depth=2", lambda: {"errors": 6})
    {'errors': 6}
    >>> CellStore(path).get("iris/depth=2", lambda: {"errors": 7})
    {'errors': 6}
    """

    def __init__(self, path: Path | None, fresh: bool = False) -> None:
        self._path = path
        self._cells: dict[str, Any] = {}
        if path is None:
            return
        if fresh:
            path.unlink(missing_ok=True)
        if path.exists():
            lines = path.read_text(encoding="utf-8").split("\n")
            for line in lines:
                # A run that was killed may have left half a line at the end: that cell is redone.
                try:
                    cell = json.loads(line)
                    self._cells[cell["key"]] = cell["value"]
                except (ValueError, KeyError, TypeError):
                    continue
            if lines[-1]:
                with path.open("a", encoding="utf-8") as file:
                    file.write("\n")

    def __contains__(self, key: str) -> bool:
        return key in self._cells

    def get(self, key: str, compute: Callable[[], Any]) -> Any:
        """Return the value of a cell, computing and storing it where it is not known yet.

        The key names everything that the value depends on; the value must be one of JSON.
        """
        if key not in self._cells:
            value = compute()
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key, "value": value}) + "\n")
            self._cells[key] = value
        return self._cells[key]


@dataclass(frozen=True)
class PaperOptions:
    """What the user asked of a paper's benchmark.

    Examples
    --------
    >>> from provetree.bench.paper import CellStore, PaperOptions
    >>> options = PaperOptions(60.0, None, ("iris",), (), (), None, CellStore(None))
    >>> options.wants_dataset("iris"), options.wants_dataset("wine"), options.wants_table("3")
    (True, False, True)
    """

    time_limit: float  # seconds per solve
    splits: int | None  # how many of the papers' splits to average over; None for all
    datasets: tuple[str, ...]  # only these data sets; empty for all
    #: Only these tables or figures of the paper ("2", "fig4"); empty for all.
    tables: tuple[str, ...]
    depths: tuple[int, ...]  # only these depths; empty for all
    figures: Path | None  # folder that figures are drawn into; None draws none
    cells: CellStore  # cells known from an earlier run

    def check(
        self,
        *,
        datasets: Iterable[str],
        tables: Iterable[str],
        depths: Iterable[int],
        splits: int | None = None,
    ) -> None:
        """Raise if something is asked for that a paper does not have.

        Examples
        --------
        >>> from provetree.bench.paper import CellStore, PaperOptions
        >>> options = PaperOptions(60.0, None, ("irs",), (), (), None, CellStore(None))
        >>> options.check(datasets=("iris", "wine"), tables=("1",), depths=(2,))
        Traceback (most recent call last):
        ...
        ValueError: --datasets must be among iris, wine. Got irs instead.
        """
        among("--datasets", self.datasets, datasets)
        among("--tables", self.tables, tables)
        among("--depths", self.depths, depths)
        if splits is not None and self.splits is not None and self.splits > splits:
            raise ValueError(f"--splits must be 1 to {splits}. Got {self.splits} instead.")

    @property
    def parts(self) -> range:
        """The splits to average over."""
        return range(min(SPLITS, self.splits or SPLITS))

    def cell(
        self, key: str, compute: Callable[[], Any], words: Callable[[Any], str] | None = None
    ) -> Any:
        """Return a cell; where it has to be computed, write `words` about it, or its seconds."""
        known = key in self.cells
        start = time.perf_counter()
        value = self.cells.get(key, compute)
        if not known:
            text = f"{time.perf_counter() - start:.1f} s" if words is None else words(value)
            print(f"{key}: {text}", file=sys.stderr, flush=True)
        return value

    def wanted_datasets(self, names: Iterable[str]) -> list[str]:
        """Return those of the data sets that were asked for."""
        return [name for name in names if self.wants_dataset(name)]

    def wanted_depths(self, depths: Iterable[int]) -> list[int]:
        """Return those of the depths that were asked for."""
        return [depth for depth in depths if self.wants_depth(depth)]

    def wants_dataset(self, name: str) -> bool:
        """Whether a data set was asked for."""
        return not self.datasets or name in self.datasets

    def wants_table(self, name: str) -> bool:
        """Whether a table or figure was asked for."""
        return not self.tables or name in self.tables

    def wants_depth(self, depth: int) -> bool:
        """Whether a depth was asked for."""
        return not self.depths or depth in self.depths


def published(paper: str, table: str) -> dict[str, list[str]]:
    """Return a published table: the name of each line, and its cells.

    The text file beside the module of a paper has a section for each table. It begins with the
    number of the table in brackets; bars stand between name and cells.

    Examples
    --------
    >>> from provetree.bench.paper import published
    >>> published("firat", "3")["magic04"]
    ['78.4 78.4 79.1', '79.1 79.2 80.1', '81.5 81.5 81.5']
    """
    text = (_TEXTS / f"{paper}.txt").read_text(encoding="utf-8")
    section = text.partition(f"\n[{table}] ")[2].partition("\n\n")[0]
    lines = (line.split(" | ") for line in section.splitlines()[1:])
    return {name: cells for name, *cells in lines}


def figures(cell: str) -> tuple[float | None, ...]:
    """Return the numbers of a published cell; a dash is None.

    Examples
    --------
    >>> from provetree.bench.paper import figures
    >>> figures("78.4 - 79.1")
    (78.4, None, 79.1)
    """
    return tuple(None if word == "-" else float(word) for word in cell.split())


def mean(cells: Iterable[Mapping[str, Any]], field: str) -> float | None:
    """Return the average of a field, None where a cell has none.

    Examples
    --------
    >>> from provetree.bench.paper import mean
    >>> mean([{"train": 80.0}, {"train": 82.0}], "train"), mean([{"train": None}], "train")
    (81.0, None)
    """
    values = [cell[field] for cell in cells]
    return None if not values or None in values else float(np.mean(values))


def timed(work: Callable[[], Value]) -> tuple[Value, float, float]:
    """Run `work`; return its value, its wall time and its processor time in seconds.

    Examples
    --------
    >>> from provetree.bench.paper import timed
    >>> timed(lambda: 7)[0]
    7
    """
    start, cpu_start = time.perf_counter(), time.process_time()
    value = work()
    return value, time.perf_counter() - start, time.process_time() - cpu_start


def pass_on_interrupt(status: str) -> None:
    """Raise if Ctrl-C ended a solve, which then returns its best tree instead of raising."""
    if status == "interrupted":
        raise KeyboardInterrupt


def run_paper(name: str, options: PaperOptions) -> int:
    """Run the benchmark of one paper; Ctrl-C ends it and keeps the cells."""
    try:
        status: int = import_module(f"provetree.bench.papers.{name.replace('-', '_')}").run(options)
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        return 130
    return status


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench paper``."""
    name = arguments.paper
    if name not in PAPERS:
        known = ", ".join(f"'{paper}'" for paper in PAPERS)
        raise ValueError(f"--paper must be one of {known}. Got '{name}' instead.")
    if not (arguments.time_limit > 0 and math.isfinite(arguments.time_limit)):
        raise ValueError(f"--time-limit must be above 0. Got {arguments.time_limit} instead.")
    if arguments.splits is not None and arguments.splits < 1:
        raise ValueError(f"--splits must be 1 or more. Got {arguments.splits} instead.")
    try:
        depths = tuple(int(word) for word in words(arguments.depths))
    except ValueError:
        raise ValueError(
            f"--depths must be whole numbers such as 2,3. Got '{arguments.depths}' instead."
        ) from None
    datasets, tables = words(arguments.datasets), words(arguments.tables)
    cells = CellStore(arguments.cells or Path(f"provetree-bench-{name}.jsonl"), arguments.fresh)
    limits = (arguments.time_limit, arguments.splits)
    options = PaperOptions(*limits, datasets, tables, depths, arguments.figures, cells)
    return run_paper(name, options)
