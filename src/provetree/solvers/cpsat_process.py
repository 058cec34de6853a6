"""The one place that starts CP-SAT's process, sends it models and watches it.

The process starts with the first model and takes one after another until it is closed. It is asked
to stop when the caller says so, and closed whenever a solve did not end by itself.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable
from typing import IO, Any, TypeAlias

from provetree.solvers.solver import SolverError

__all__ = ["CpSatProcess"]

#: What the process sends, see the worker; None when it ended.
Frames: TypeAlias = "queue.Queue[tuple[Any, ...] | None]"

#: Seconds between two looks at whether to stop.
_PATIENCE = 0.05


class CpSatProcess:
    """A process that solves models of whole numbers with CP-SAT."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def solve(
        self,
        task: dict[str, Any],
        stopped: Callable[[], bool],
        tell: Callable[[tuple[Any, ...]], None],
    ) -> tuple[Any, ...]:
        """Return the last frame of a solve; `tell` gets those before it.

        The task is that of :func:`provetree.solvers.cpsat_worker.solve`. CP-SAT is asked to stop
        with what it has once `stopped` says so.
        """
        if self._process is None:
            self._start()
        asked = False
        ended = False
        try:
            self._send(task)
            while True:
                try:
                    frame = self._frames.get(timeout=_PATIENCE)
                except queue.Empty:
                    frame = ("waiting",)
                if frame is None:
                    raise SolverError(f"CP-SAT failed: {self._last_words()}")
                if frame[0] == "failed":
                    raise SolverError(f"CP-SAT failed: {frame[1]}")
                if frame[0] == "done":
                    ended = True
                    return frame
                if frame[0] == "progress":
                    tell(frame)
                if stopped() and not asked:
                    asked = True
                    self._send(None)
        finally:
            if asked or not ended:  # something of this solve may be left in the pipes
                self.close()

    def close(self) -> None:
        """End the process; the next model starts another."""
        if self._process is not None:
            self._process = None
            self._end()

    def _start(self) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by _end)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "provetree.solvers.cpsat_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for this process alone
        )
        self._frames: Frames = queue.Queue()
        streams = self._process.stdout, self._frames
        reader = threading.Thread(target=_read, args=streams, daemon=True)
        reader.start()
        # Also when this object goes, or the program ends.
        self._end = weakref.finalize(self, _end, self._process, reader, self._errors)

    def _send(self, message: dict[str, Any] | None) -> None:
        """Send a model, or None to ask for a stop."""
        assert self._process is not None  # for the type checker
        assert self._process.stdin is not None
        # Where it died, the reader tells, and why is on its error stream.
        with contextlib.suppress(OSError):
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()

    def _last_words(self) -> str:
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip().splitlines()
        return words[-1] if words else "no reason given"


def _end(process: subprocess.Popen[bytes], reader: threading.Thread, errors: IO[bytes]) -> None:
    process.kill()
    process.wait()
    reader.join()
    for stream in (process.stdin, process.stdout, errors):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()


def _read(stream: IO[bytes], frames: Frames) -> None:
    try:
        while True:
            frames.put(pickle.load(stream))
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        frames.put(None)
