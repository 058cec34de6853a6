"""Work beside the page: a thread that can be ended within a fraction of a second."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["Cancelled", "Job"]


class Cancelled(BaseException):
    """Nobody wants the result any more.

    It is no ``Exception``, so that nothing on its way takes it for a fault of the work.
    """


class Job:
    """A piece of work in a thread of its own.

    The work is handed the job and calls :meth:`check` every few milliseconds; searches do so by
    their progress.
    """

    def __init__(self, work: Callable[[Job], None], name: str) -> None:
        self._cancelled = threading.Event()
        self._work = work
        # A daemon would be in the core while the interpreter ends, which no thread survives.
        self._thread = threading.Thread(target=self._run, name=name, daemon=False)

    def start(self) -> Job:
        """Begin the work."""
        self._thread.start()
        return self

    def cancel(self) -> None:
        """End the work, soon and without a result."""
        self._cancelled.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether it was ended."""
        return self._cancelled.is_set()

    @property
    def is_alive(self) -> bool:
        """Whether it still works."""
        return self._thread.is_alive()

    def check(self, *_: object) -> None:
        """Leave the work if it was ended, or if the program is over."""
        if self._cancelled.is_set() or not threading.main_thread().is_alive():
            raise Cancelled

    def join(self, seconds: float | None = None) -> bool:
        """Wait for the end, and tell whether it has come."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self.check()
            self._work(self)
        except Cancelled:
            pass
