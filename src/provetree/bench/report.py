"""What benchmarks write: tables of text, pictures, files of results and the machine they ran on."""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def format_seconds(seconds: float | None) -> str:
    """Return a time with three significant digits, in seconds.

    Examples
    --------
    >>> from provetree.bench.report import format_seconds
    >>> [format_seconds(t) for t in (0.00213, 0.4567, 12.34, 123.4, None)]
    ['0.00213 s', '0.457 s', '12.3 s', '123 s', '-']
    """
    if seconds is None:
        return "-"
    if seconds >= 100:
        return f"{seconds:.0f} s"
    return f"{seconds:#.3g} s"


def format_cell(value: object, form: str = "") -> str:
    """Return a value as text: None is a dash, and the form "time" is :func:`format_seconds`.

    Examples
    --------
    >>> from provetree.bench.report import format_cell
    >>> format_cell(81.25, ".1f"), format_cell(-0.04, ".1f"), format_cell(None, ".1f")
    ('81.2', '0.0', '-')
    """
    if value is None or isinstance(value, str):
        return "-" if value is None else value
    if isinstance(value, float) and form == "time":
        return format_seconds(value)
    text = format(value, form)
    return text if text.strip("-0.%") else text.removeprefix("-")  # no minus before a zero


def format_row(header: str | Sequence[str], row: Sequence[object]) -> list[str]:
    """Return the cells of one row of :func:`format_table` as text."""
    titles = header.split(" | ") if isinstance(header, str) else header
    forms = [title.rstrip("]").partition(" [")[2] for title in titles]
    return [format_cell(value, form) for value, form in zip(row, forms, strict=True)]


def format_table(header: str | Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return rows of values as an aligned Markdown table.

    Parameters
    ----------
    header : str or sequence of str
        Titles of the columns; in a string, bars stand between them. A title may end with the form
        of its values in brackets.
    rows : sequence of sequence of object
        The values, as :func:`format_cell` takes them.

    Returns
    -------
    str
        The table; the first column is aligned left, the others right.

    Examples
    --------
    >>> from provetree.bench.report import format_table
    >>> print(format_table("table | errors | share [.2f]", [("bank", 19, 0.9), ("eeg", 7, None)]))
    | table | errors | share |
    |-------|-------:|------:|
    | bank  |     19 |  0.90 |
    | eeg   |      7 |     - |
    """
    titles = header.split(" | ") if isinstance(header, str) else header
    lines = [[title.partition(" [")[0] for title in titles]]
    lines += [format_row(header, row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = []
    for line in lines:
        first, *others = zip(line, widths, strict=True)
        padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        texts.append(f"| {' | '.join(padded)} |")
    rules = ["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]
    texts.insert(1, f"|{'|'.join(rules)}|")
    return "\n".join(texts)


def titled_table(title: str, header: str | Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table below its title, or say that no row of it was asked for.

    Examples
    --------
    >>> from provetree.bench.report import titled_table
    >>> print(titled_table("Table 1", "table | errors", []))
    Table 1
    <BLANKLINE>
    (nothing asked for)
    """
    return f"{title}\n\n{format_table(header, rows) if rows else '(nothing asked for)'}"


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a picture, in a folder that is made where it is not there, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The same picture is the same file: no date in it.
    figure.savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)
    return path


def read_results(path: Path | None) -> list[dict[str, Any]]:
    """Return what an earlier run left in its file of results; nothing where there is none."""
    if path is None or not path.exists():
        return []
    results: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["results"]
    return results


def write_results(path: Path | None, results: Sequence[Mapping[str, Any]]) -> None:
    """Replace a file of results as a whole, so that a stopped run leaves no half of one."""
    if path is None:
        return
    written = path.with_suffix(path.suffix + ".part")
    text = json.dumps({"machine": machine(), "results": results}, indent=1)
    written.write_text(text + "\n", encoding="utf-8")
    os.replace(written, path)


@dataclass(frozen=True)
class Measurement:
    """One line of the report.

    Examples
    --------
    >>> from provetree.bench.report import Measurement
    >>> Measurement("overshoot", 0.03, 0.2, "s", "time_limit").passed
    True
    """

    what: str  # what was measured
    value: float  # the figure
    allowed: float  # the largest figure that passes
    unit: str  # unit of both
    status: str  # how the fit ended

    @property
    def passed(self) -> bool:
        """Whether the figure is within what is allowed."""
        return self.value < self.allowed


def format_measurements(measurements: Sequence[Measurement], status: str = "status") -> str:
    """Return a table of figures with what is allowed beside each.

    Examples
    --------
    >>> from provetree.bench.report import Measurement, format_measurements
    >>> print(format_measurements([Measurement("overshoot", 0.03, 0.2, "s", "time_limit")]))
    | figure    | measured | allowed |     status | passed |
    |-----------|---------:|--------:|-----------:|-------:|
    | overshoot |   0.03 s |   0.2 s | time_limit |    yes |
    """
    rows = []
    for m in measurements:
        figures = (f"{m.value:.3g} {m.unit}", f"{m.allowed:g} {m.unit}")
        rows.append((m.what, *figures, m.status, "yes" if m.passed else "NO"))
    return format_table(f"figure | measured | allowed | {status} | passed", rows)


def machine() -> dict[str, Any]:
    """Return what a reader must know of the machine to judge the times.

    Examples
    --------
    >>> from provetree.bench.report import machine
    >>> sorted(machine())
    ['cores', 'processor', 'python', 'system']
    """
    processor = platform.processor() or platform.machine()
    cpu_facts = Path("/proc/cpuinfo")
    if cpu_facts.is_file():
        name = re.search(r"^model name\s*:(.*)$", cpu_facts.read_text(), re.MULTILINE)
        processor = name[1].strip() if name else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
