"""Processes of their own for what is measured: one core, a request in JSON, an answer in a line.

A fresh process contains a crash or an overrun, and nothing inherits another's memory or caches.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = [
    "START_GRACE",
    "Answer",
    "ask",
    "default_core",
    "forget_peak",
    "limited",
    "memory",
    "one_core_environment",
    "pin",
]

START_GRACE = 60.0
"""Seconds a process may need beyond its time limit, for starting and for stopping, before it is
killed."""

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
#: Where Linux tells a process about its memory.
_STATUS = Path("/proc/self/status")


@dataclass(frozen=True)
class Answer:
    """What came back from a process.

    Examples
    --------
    >>> import sys
    >>> from provetree.bench.process import ask
    >>> ask((sys.executable, "-c", "import json, sys; print(json.load(sys.stdin)['x'])"), {"x": 7})
    Answer(outcome='done', value=7, message='')
    """

    #: ``killed`` where it overran its limit, ``crashed`` where it died or raised.
    outcome: Literal["done", "killed", "crashed"]
    value: Any = None  # the answer, None unless done
    message: str = ""  # why there is none, in one line


def ask(
    command: Sequence[str],
    request: Mapping[str, Any],
    limit: float = START_GRACE,
    grace: float = 0.0,
) -> Answer:
    """Run a command on one thread, with a request on its standard input.

    The last line on its standard output is the answer, in JSON. It may take `limit` seconds, and is
    killed after `grace` seconds more.
    """
    try:
        done = subprocess.run(
            command,
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=limit + grace,
            env=one_core_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer("killed", None, f"overran its limit of {limit:g} s")
    if done.returncode != 0:
        return Answer("crashed", None, _why(done.returncode, done.stderr))
    return Answer("done", json.loads(done.stdout.splitlines()[-1]))


def _why(returncode: int, stderr: str) -> str:
    if returncode < 0:
        try:
            return f"ended by signal {signal.Signals(-returncode).name}"
        except ValueError:
            return f"ended by signal {-returncode}"
    lines = [line for line in stderr.splitlines() if line.strip()]
    return lines[-1] if lines else f"exit status {returncode}"


def limited(command: Sequence[str | Path], seconds: int) -> list[str]:
    """Return a command that the system ends once it has used so many seconds of the processor.

    Examples
    --------
    >>> import subprocess
    >>> from provetree.bench.process import limited
    >>> subprocess.run(limited(["sh", "-c", "while :; do :; done"], 1)).returncode < 0
    True
    """
    return ["sh", "-c", f'ulimit -t {seconds}; exec "$@"', "sh", *map(str, command)]


def default_core() -> int | None:
    """Return the core solves are pinned to: the last this process may use, None where unknown.

    Examples
    --------
    >>> from provetree.bench.process import default_core
    >>> core = default_core()
    >>> core is None or core >= 0
    True
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    return max(os.sched_getaffinity(0))


def pin(core: int | None) -> None:
    """Keep this process on one core, where the system can."""
    if core is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def one_core_environment() -> dict[str, str]:
    """Return the environment of such a process: this one's, every thread pool set to one thread.

    Examples
    --------
    >>> from provetree.bench.process import one_core_environment
    >>> one_core_environment()["OMP_NUM_THREADS"]
    '1'
    """
    return {**os.environ, **dict.fromkeys(_THREAD_VARIABLES, "1")}


def memory(*, peak: bool = True) -> float | None:
    """Return the resident memory of this process, or its peak so far, in megabytes (10**6 bytes).

    None where the system does not say. Systems other than Linux only give the peak.

    Examples
    --------
    >>> from provetree.bench.process import memory
    >>> memory() > 1.0
    True
    """
    if _STATUS.is_file():
        # Preferred to getrusage: that figure survives exec, so a child would report its parent's
        # peak.
        name = "VmHWM:" if peak else "VmRSS:"
        lines = _STATUS.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(name))
    if not peak:
        return None
    import resource

    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest / 1e6 if sys.platform == "darwin" else highest * 1024 / 1e6


def forget_peak() -> bool:
    """Let the peak of memory begin anew; False where the system cannot."""
    if not _STATUS.is_file():
        return False
    _STATUS.with_name("clear_refs").write_text("5", encoding="ascii")
    return True
