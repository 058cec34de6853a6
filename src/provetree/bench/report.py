"""What benchmarks write: tables of text, pictures, files of results and the machine they ran on."""

from __future__ import annotations

import json
import os
import platform
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


def format_table(header: str | Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as an aligned Markdown table.

    Parameters
    ----------
    header : str or sequence of str
        Titles of the columns; in a string, bars stand between them.
    rows : sequence of sequence of str
        The cells.

    Returns
    -------
    str
        The table; the first column is aligned left, the others right.

    Examples
    --------
    >>> from provetree.bench.report import format_table
    >>> print(format_table("table | errors", [("bank", "19")]))
    | table | errors |
    |-------|-------:|
    | bank  |     19 |
    """
    titles = [title.strip() for title in header.split("|")] if isinstance(header, str) else header
    widths = [max(len(line[i]) for line in (titles, *rows)) for i in range(len(titles))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rules = [
        "-" * (width + 2) if i == 0 else "-" * (width + 1) + ":" for i, width in enumerate(widths)
    ]
    return "\n".join([line(titles), f"|{'|'.join(rules)}|", *(line(row) for row in rows)])


def titled_table(title: str, header: str | Sequence[str], rows: Sequence[Sequence[str]]) -> str:
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

    Parameters
    ----------
    what : str
        What was measured.
    value : float
        The figure.
    allowed : float
        The largest figure that passes.
    unit : str
        Unit of both.
    status : str
        How the fit ended.

    Examples
    --------
    >>> from provetree.bench.report import Measurement
    >>> Measurement("overshoot", 0.03, 0.2, "s", "time_limit").passed
    True
    """

    what: str
    value: float
    allowed: float
    unit: str
    status: str

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
    rows = [
        (
            m.what,
            f"{m.value:.3g} {m.unit}",
            f"{m.allowed:g} {m.unit}",
            m.status,
            "yes" if m.passed else "NO",
        )
        for m in measurements
    ]
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
        names = [
            line for line in cpu_facts.read_text().splitlines() if line.startswith("model name")
        ]
        processor = names[0].partition(":")[2].strip() if names else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
