"""``provetree bench certificates``: what certificates take to write and to check.

All times are of the processor. A fit and the same fit with its certificate take turns, as runs of
the checkers do, and the least time of each counts. Both checkers read the table from a CSV file;
the compiled one tells how long it read and how long it checked, for the Python one the time to read
is that of a certificate without claims.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from provetree.bench.arguments import among, words
from provetree.bench.data import BenchTable, load_table, suite_tables
from provetree.bench.process import limited
from provetree.bench.report import format_row, format_table
from provetree.estimators.optimal_tree import OptimalTreeClassifier

__all__ = ["run", "write_csv"]

_HEADER = (
    "table | status | fit, s [.3g] | written [.2f] | bytes | claims | compiled, s [.3g] | "
    "of a fit [.1f] | reading, s [.3g] | Python, s [.3g] | of a fit [.0f]"
)
_TIMES = re.compile(r"([0-9.]+) s of the processor to read the table, ([0-9.]+) s to check")


@dataclass
class _Checked:
    """How long a checker took; None where it did not run, or not to the end."""

    seconds: float | None = None
    reading: float | None = None
    refused: bool = False

    def least(self, other: _Checked) -> _Checked:
        """Return the faster of two runs, refused if any was."""
        both = [x.seconds for x in (self, other) if x.seconds is not None]
        return _Checked(min(both, default=None), self.reading, self.refused or other.refused)


def write_csv(table: BenchTable, path: Path) -> None:
    """Write a table as checkers read it: columns x0, x1, ... and y.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from provetree.bench import BenchTable
    >>> from provetree.bench.certificates import write_csv
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tiny.csv"
    >>> write_csv(BenchTable("tiny", np.array([[1.5, 2.0]]), np.array([1])), path)
    >>> path.read_text().split()
    ['x0,x1,y', '1.5,2.0,1']
    """
    lines = [",".join([*(f"x{i}" for i in range(table.X.shape[1])), "y"])]
    for row, label in zip(table.X.tolist(), table.y.tolist(), strict=True):
        lines.append(",".join([*("" if x != x else repr(x) for x in row), str(label)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _processor_time(command: Sequence[str | Path], limit: float) -> tuple[float | None, int, str]:
    """Return the processor time of a command, its status and what it said; None beyond a limit."""
    import resource  # Windows has none, and no times of processes that ended

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = limited(command, math.ceil(limit))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode < 0 and used >= limit:
        return None, 0, ""
    return used, done.returncode, done.stdout + done.stderr


def _check_compiled(program: Path | None, proof: Path, table: Path, limit: float) -> _Checked:
    if program is None:
        return _Checked()
    _, status, said = _processor_time([program, proof, table, "--times"], limit)
    found = _TIMES.search(said)
    if status != 0 or found is None or "checked: no tree" not in said:
        return _Checked(refused=status != 0)
    return _Checked(float(found[2]), float(found[1]))


def _check_in_python(proof: Path, table: Path, limit: float) -> _Checked:
    if importlib.util.find_spec("provetree_check") is None:
        return _Checked()
    command = [sys.executable, "-m", "provetree_check", str(proof), str(table)]
    used, status, _ = _processor_time(command, limit)
    if used is None or status != 0:
        return _Checked(refused=status != 0)
    # A part beyond the last claim checks none: what is left is reading.
    far = str(proof.stat().st_size)
    reading, _, _ = _processor_time([*command, "--part", f"{far}/{far}"], limit)
    return _Checked(max(used - (reading or 0.0), 0.0), reading)


def _measure(
    name: str, arguments: argparse.Namespace, folder: Path
) -> tuple[list[object], float, bool]:
    """Return the row of a table, how many times longer writing made the fit, and any refusal."""
    table = load_table(name)
    csv, proof = folder / f"{name}.csv", folder / f"{name}.ptc"
    write_csv(table, csv)
    fits, writes = [], []
    for turn in range(arguments.repeat):
        model = OptimalTreeClassifier(max_depth=arguments.depth, time_limit=arguments.limit)
        begin = time.process_time()
        model.fit(table.X, table.y)
        fits.append(time.process_time() - begin)
        proof.unlink(missing_ok=True)  # to write over a file takes longer
        begin = time.process_time()
        model.certify(table.X, table.y, proof)
        writes.append(time.process_time() - begin)
        if turn == 0 and fits[0] > 5.0:
            break
    fit, write = min(fits), min(writes)
    checks = (
        partial(_check_compiled, arguments.compiled, proof, csv, arguments.check_limit),
        partial(_check_in_python, proof, csv, arguments.check_limit),
    )
    checked = [check() for check in checks]
    for _ in range(1, arguments.repeat):  # short checks take turns, too
        checked = [
            one.least(check()) if one.seconds is not None and one.seconds < 1.0 else one
            for one, check in zip(checked, checks, strict=True)
        ]
    compiled, python = checked
    row: list[object] = [name, model.status_, fit, write / fit]
    row += [proof.stat().st_size, model.certificate_.n_claims]
    row += [compiled.seconds, _times(compiled, fit), compiled.reading]
    row += [python.seconds, _times(python, fit)]
    csv.unlink()
    if arguments.keep is not None:
        proof.replace(arguments.keep / f"{name}-{arguments.depth}.ptc")
    return row, write / fit, compiled.refused or python.refused


def _times(checked: _Checked, fit: float) -> float | None:
    return None if checked.seconds is None else checked.seconds / fit


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench certificates``; the exit status is 1 where a checker refuses one."""
    suite = suite_tables(arguments.suite)
    chosen = [
        name if name in suite else f"{arguments.suite}-{name}" for name in words(arguments.tables)
    ] or list(suite)
    among("--tables", chosen, suite)
    if arguments.compiled is not None and not arguments.compiled.is_file():
        raise ValueError(f"--compiled must be a program. Got {arguments.compiled} instead.")
    if arguments.keep is not None:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    rows, ratios, refused = [], [], False
    with tempfile.TemporaryDirectory(prefix="provetree-bench-") as folder:
        for name in chosen:
            row, ratio, is_refused = _measure(name, arguments, Path(folder))
            rows.append(row)
            ratios.append(ratio)
            refused = refused or is_refused
            told = " | ".join(format_row(_HEADER, row))
            print(f"{told}{' REFUSED' if is_refused else ''}", file=sys.stderr, flush=True)
    print(format_table(_HEADER, rows))
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"written: {mean:.2f} times a fit, geometric mean of {len(ratios)} tables")
    return 1 if refused else 0
