"""The line that ``verbose=1`` shows while a search runs.

On a terminal and in a notebook one line is drawn over and over; elsewhere (a log file) a line is
written at most once a second. This is the only place of the estimators that writes to a stream.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Protocol, TextIO

from provetree.export.words import cost_number
from provetree.solution import ClusterProgress, Progress, Solution

#: Seconds between two drawings: on a terminal, in a notebook (which sends each to a browser), and
#: elsewhere.
_TERMINAL_INTERVAL, _NOTEBOOK_INTERVAL, _LOG_INTERVAL = 0.1, 0.3, 1.0


class Words(Protocol):
    """Progress that puts itself into words."""

    @property
    def words(self) -> str:
        """The words."""
        ...


class ProgressLine:
    """Shows the progress of one search on `stream` (standard error where None), and tells `told`.

    Examples
    --------
    >>> import sys
    >>> from provetree import Progress
    >>> from provetree.estimators._progress import ProgressLine
    >>> line = ProgressLine(stream=sys.stdout, clock=iter([100.0, 102.5]).__next__)
    >>> line.show(Progress(seconds=2.25, cost=20, lower_bound=15))
    provetree: 2.5 s, cost 20, bound 15, gap 25.0 %
    """

    def __init__(
        self,
        told: Callable[[Progress], None] | None = None,
        *,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._told = told
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start = clock()
        notebook = _is_notebook(self._stream)
        self._live = notebook or _is_terminal(self._stream)
        self._interval = _TERMINAL_INTERVAL if self._live else _LOG_INTERVAL
        if notebook:
            self._interval = _NOTEBOOK_INTERVAL
        self._next = -float("inf")
        self._drawn = 0

    def show(self, progress: Progress) -> None:
        """Show where the search stands, unless it was shown a moment ago."""
        if self._told is not None:
            self._told(progress)
        now = self._clock()
        if now >= self._next:
            self._next = now + self._interval
            # The time of the progress is that of its last change; a live line shows the time now.
            words = _sentence(now - self._start, progress.cost, progress.lower_bound, progress.gap)
            if isinstance(progress, ClusterProgress):
                words += f", {progress.words}"
            self._write(words, final=False)

    def say(self, progress: Words) -> None:
        """Show what is being tried, unless it was shown a moment ago.

        Examples
        --------
        >>> import sys
        >>> from provetree.estimators._progress import ProgressLine
        >>> from provetree.selection.race import TuningProgress
        >>> line = ProgressLine(stream=sys.stdout, clock=iter([100.0, 102.5]).__next__)
        >>> line.say(TuningProgress(2.5, "gini", 3, 5, "accuracy", 0.91, 6))
        provetree: 2.5 s, fold 3 of 5, gini; best so far: accuracy 0.9100 with 6 leaves
        """
        now = self._clock()
        if now >= self._next:
            self._next = now + self._interval
            self._write(f"provetree: {now - self._start:.1f} s, {progress.words}", final=False)

    def close(self, solution: Solution) -> Solution:
        """Show how the search ended, leave the line, and return the solution."""
        seconds = self._clock() - self._start
        words = _sentence(seconds, solution.cost, solution.lower_bound, solution.gap)
        self._write(f"{words}, {solution.status.replace('_', ' ')}", final=True)
        return solution

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        # A search that fails has no last word, but must not leave its line half written.
        if failure is not None and self._live and self._drawn > 0:
            self._write("", final=True)

    def _write(self, text: str, *, final: bool) -> None:
        if self._live:
            # Spaces wipe what a longer line left behind.
            padding = " " * max(0, self._drawn - len(text))
            self._drawn = len(text)
            text = f"\r{text}{padding}"
        try:
            self._stream.write(text if self._live and not final else f"{text}\n")
            self._stream.flush()
        except (AttributeError, OSError, ValueError):
            # A closed or missing stream is no reason to lose the search.
            self._next = float("inf")


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except (AttributeError, ValueError):
        return False


def _is_notebook(stream: TextIO) -> bool:
    """Tell whether it is the stream of a notebook, which goes back to the start of a line."""
    return type(stream).__module__.startswith("ipykernel.")


def _sentence(seconds: float, cost: float, bound: float, gap: float) -> str:
    return (
        f"provetree: {seconds:.1f} s, cost {cost_number(cost)}, bound {cost_number(bound)}, "
        f"gap {100 * gap:.1f} %"
    )
