"""``provetree bench start``: the processor time of short commands, most of which is imports.

Every command runs in a fresh process. What counts is the processor time of the whole process, in
all threads, user and system: it hardly depends on what else the machine does. The commands take
turns, and the median of the repeats is compared with what is allowed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from provetree.bench.arguments import among, words
from provetree.bench.data import DataNotFoundError, data_folder
from provetree.bench.report import Measurement, format_measurements

__all__ = ["COMMANDS", "processor_seconds", "run"]

#: Each command: its words, its exit status and the processor seconds that are allowed.
COMMANDS: dict[str, tuple[tuple[str, ...], int, float]] = {
    "help": (("--help",), 0, 0.25),
    "version": (("--version",), 0, 0.25),
    "unknown command": (("plant",), 2, 0.25),
    "unknown option": (("fit", "--plant"), 2, 0.25),
    "missing file name": (("predict",), 2, 0.25),
    "no such file": (("fit", "nowhere.csv", "--target", "target"), 2, 0.25),
    "unknown benchmark": (("bench", "plant"), 2, 0.25),
    "predict": (("predict", "MODEL", "TABLE", "--output", "PREDICTIONS"), 0, 0.6),
    "fit": (("fit", "TABLE", "--target", "target"), 0, 1.2),
}
#: A small table with categories and missing values.
_TABLE = "titanic"


def processor_seconds(command: Sequence[str], status: int = 0) -> float:
    """Return the processor time of a command in a process of its own.

    These are the words after ``provetree``; it must end with the exit status `status`.

    Examples
    --------
    >>> from provetree.bench.start import processor_seconds
    >>> processor_seconds(["--version"]) > 0.0
    True
    """
    nothing = subprocess.DEVNULL
    whole = (sys.executable, "-m", "provetree", *command)
    child = subprocess.Popen(whole, stdin=nothing, stdout=nothing, stderr=nothing)
    _, ended, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(ended)
    if child.returncode != status:
        raise RuntimeError(
            f"provetree {' '.join(command)} ended with status {child.returncode}, not {status}"
        )
    return used.ru_utime + used.ru_stime


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench start``; the exit status is 1 where a command takes too long."""
    chosen = words(arguments.commands) or tuple(COMMANDS)
    among("--commands", chosen, COMMANDS)
    table = data_folder() / f"{_TABLE}.csv.gz"
    if not table.is_file():
        raise DataNotFoundError(f"There is no table '{_TABLE}' in the data folder.")
    seconds: dict[str, list[float]] = {name: [] for name in chosen}
    with tempfile.TemporaryDirectory(prefix="provetree-bench-") as folder:
        files = {
            "TABLE": str(table),
            "MODEL": str(Path(folder) / "model.json"),
            "PREDICTIONS": str(Path(folder) / "predictions.csv"),
        }
        processor_seconds(("fit", str(table), "--target", "target", "--save", files["MODEL"]))
        for _ in range(arguments.repeat):
            for name in chosen:
                command, status, _ = COMMANDS[name]
                asked = [files.get(word, word) for word in command]
                seconds[name].append(processor_seconds(asked, status))
    results = []
    for name, times in seconds.items():
        spread = f"{min(times):.3g} to {max(times):.3g} s"
        results.append(Measurement(name, median(times), COMMANDS[name][2], "s", spread))
    print(f"processor time, median of {arguments.repeat}; {_TABLE} for predict and fit")
    print(format_measurements(results, "range"))
    return 0 if all(result.passed for result in results) else 1
