"""Ctrl-C for tests: some time after a function was entered, so that no busy machine gets it before.

What comes before a search does not catch Ctrl-C, and may take a busy machine long.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def ctrl_c_within(owner: Any, name: str, seconds: float = 0.5) -> Iterator[None]:
    """Press Ctrl-C so many seconds after a function of a module or a class was first entered."""
    inner, timers = getattr(owner, name), []

    def entered(*arguments: Any, **options: Any) -> Any:
        if not timers:
            timers.append(threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)))
            timers[0].start()
        return inner(*arguments, **options)

    setattr(owner, name, entered)
    try:
        yield
    finally:
        setattr(owner, name, inner)
        for timer in timers:
            timer.cancel()
