"""Plain text tables for the benchmark reports, and the machine they were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def format_seconds(seconds: float | None) -> str:
    """Return a time with three significant digits, in seconds.

    Parameters
    ----------
    seconds : float or None
        The time, None for none.

    Returns
    -------
    str
        The text.

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


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as an aligned Markdown table.

    Parameters
    ----------
    header : sequence of str
        Titles of the columns.
    rows : sequence of sequence of str
        The cells.

    Returns
    -------
    str
        The table; the first column is aligned left, the others right.

    Examples
    --------
    >>> from provetree.bench.report import format_table
    >>> print(format_table(("table", "errors"), [("bank", "19")]))
    | table | errors |
    |-------|-------:|
    | bank  |     19 |
    """
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rules = [
        "-" * (width + 2) if i == 0 else "-" * (width + 1) + ":" for i, width in enumerate(widths)
    ]
    return "\n".join([line(header), f"|{'|'.join(rules)}|", *(line(row) for row in rows)])


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
