"""What people see: notes and live progress on the error stream, results on the output stream."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from provetree.export.words import rate_words, score_words
from provetree.solution import ClusterProgress, Progress

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["FIGURES", "STATUS_WORDS", "Screen", "figures_of"]

#: What tables say about each tree, by the task.
FIGURES = {
    "classification": ("training errors", "training accuracy", "test accuracy", "leaves", "time"),
    "regression": ("training R²", "test R²", "test mean error", "leaves", "time"),
}

#: Words for the table where the status itself is none.
STATUS_WORDS = {
    "time_limit": "time limit",
    "gap_limit": "gap limit",
    "candidate_optimal": "best of its candidates",
    "feasible": "not searched for",
}


def figures_of(
    task: str, train: Mapping[str, Any], test: Mapping[str, Any] | None, leaves: int, seconds: float
) -> list[str]:
    """Return the figures of a tree for a table: those that :data:`FIGURES` names.

    Examples
    --------
    >>> from provetree.cli.screen import figures_of
    >>> figures_of("regression", {"r2": 0.75}, {"r2": 0.5, "mae": 1.25}, 4, 0.5)
    ['0.750', '0.500', '1.25', '4', '0.50 s']
    """
    tested = test or {}
    if task == "regression":
        mean_error = "-" if tested.get("mae") is None else f"{tested['mae']:.4g}"
        shown = [score_words(train["r2"]), score_words(tested.get("r2")), mean_error]
    else:
        accuracies = (train["accuracy"], tested.get("accuracy"))
        shown = [str(train["errors"]), *map(rate_words, accuracies)]
    return [*shown, str(leaves), f"{seconds:.2f} s"]


#: The core counts from a cost like this while it has no tree yet.
_NO_TREE_YET = 2**59
_FILE_WIDTH = 160
#: Of tables with many columns, that many in a row with the same note become one line.
_MANY_NOTES, _LONG_RUN = 60, 8


class Screen:
    """Writes notes, progress and tables; with `quiet`, tables only.

    Parameters
    ----------
    quiet : bool
        Write no notes and no progress.

    Examples
    --------
    >>> from provetree.cli.screen import Screen
    >>> Screen(quiet=True).note("not shown")
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.out = _console(sys.stdout)
        self.err = _console(sys.stderr)

    def note(self, text: str) -> None:
        """Write a line on the error stream."""
        if not self.quiet:
            self.err.print(escape(text), style="dim")

    def columns(self, notes: Sequence[tuple[str, str]], target: str) -> None:
        """Say what was done with every column."""
        if self.quiet:
            return
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column("column")
        table.add_column("what was done with it")
        for name, note in _together(notes):
            style = "yellow" if note.startswith("left out") else ""
            table.add_row(Text(name), Text(note, style=style))
        table.add_row(Text(target), Text("target: what the tree predicts", style="bold"))
        self.err.print(table)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Write a table on the output stream."""
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for i, title in enumerate(header):
            table.add_column(title, justify="left" if i == 0 else "right", no_wrap=True)
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        self.out.print(table)

    @contextmanager
    def progress(self) -> Iterator[tuple[Callable[[Progress], None], Callable[[str], None]]]:
        """Show how a search stands while it runs; gives what to call with news."""
        if self.quiet or not self.err.is_terminal:
            yield (lambda progress: None), (lambda stage: None)
            return
        started = time.monotonic()
        state: dict[str, object] = {"stage": "reading", "progress": None}

        def line() -> RenderableType:
            return Text(_line(time.monotonic() - started, state["stage"], state["progress"]))

        with Live(get_renderable=line, console=self.err, refresh_per_second=8, transient=True):

            def show(progress: Progress) -> None:
                state["progress"] = progress

            def stage(name: str) -> None:
                state["stage"], state["progress"] = name, None

            yield show, stage


def _together(notes: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Put long runs of columns with the same note into one line."""
    found: list[tuple[str, str]] = []
    for note, group in groupby(notes, key=lambda pair: pair[1]):
        names = [name for name, _ in group]
        if len(names) > _LONG_RUN and len(notes) > _MANY_NOTES:
            found.append((f"{names[0]} ... {names[-1]} ({len(names)} columns)", note))
        else:
            found += [(name, note) for name in names]
    return found


def _console(stream: TextIO) -> Console:
    # A file or a pipe has no width; tables must not be cut there.
    width = None if stream.isatty() else _FILE_WIDTH
    return Console(file=stream, soft_wrap=True, highlight=False, width=width)


def _line(seconds: float, stage: object, progress: object) -> str:
    words = f"{seconds:6.1f} s  {stage}"
    if isinstance(progress, Progress) and progress.cost < _NO_TREE_YET:
        words += f"  best {progress.cost:g}  bound {progress.lower_bound:g}"
        words += f"  gap {100 * progress.gap:.1f} %"
        if isinstance(progress, ClusterProgress):
            words += f"  {progress.words}"
    return words
