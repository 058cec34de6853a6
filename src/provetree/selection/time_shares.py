"""One limit on time for several searches, one after the other or at once."""

from __future__ import annotations

import importlib
import math
import multiprocessing
import time
from collections.abc import Iterator

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend

__all__ = ["jobs_within", "started_jobs", "time_shares"]

#: Processes take a second or two to start, and more on a busy machine: with less time than this,
#: tasks are done one after the other.
_SECONDS_OF_PROCESSES = 5.0
#: Processes that are not there after this share of the time are not waited for.
_SHARE_OF_START = 1 / 3


def jobs_within(n_jobs: int | None, seconds: float | None) -> int | None:
    """Return how many tasks to do at once in some seconds, as joblib takes it.

    Examples
    --------
    >>> from provetree.selection.time_shares import jobs_within
    >>> jobs_within(4, None), jobs_within(4, 60.0), jobs_within(4, 1.0)
    (4, 4, 1)
    """
    return 1 if seconds is not None and seconds < _SECONDS_OF_PROCESSES else n_jobs


def started_jobs(n_jobs: int | None, seconds: float | None, module: str) -> int | None:
    """Return how many tasks to do at once in some seconds, after processes for them have started.

    So what they take to start, and to load a module, is known before the time is shared out. Where
    it is too long for the time there is, one task comes after the other. Workers of a cluster are
    there already.

    Examples
    --------
    >>> from provetree.selection.time_shares import started_jobs
    >>> started_jobs(1, 60.0, "provetree"), started_jobs(4, 1.0, "provetree")
    (1, 1)
    """
    jobs = jobs_within(n_jobs, seconds)
    workers = int(effective_n_jobs(jobs))
    if seconds is None or workers == 1 or not get_active_backend()[0].supports_timeout:
        return jobs
    try:
        Parallel(n_jobs=jobs, timeout=seconds * _SHARE_OF_START)(
            delayed(_load)(module) for _ in range(workers)
        )
    except (TimeoutError, multiprocessing.TimeoutError):
        return 1
    return jobs


def _load(module: str) -> None:
    importlib.import_module(module)


def time_shares(
    time_limit: float | None, n_tasks: int, n_jobs: int | None
) -> Iterator[float | None]:
    """Yield the seconds of each of several tasks, at the moment it is due.

    One after the other, each gets its share of what is left, so that the time which easy tasks
    leave goes to the others. Tasks at once cannot wait for each other and get equal shares.

    Examples
    --------
    >>> from provetree.selection.time_shares import time_shares
    >>> list(time_shares(None, 2, 1)), list(time_shares(6.0, 3, 2))
    ([None, None], [3.0, 3.0, 3.0])
    """
    n_workers = int(effective_n_jobs(n_jobs))
    if time_limit is None or n_workers > 1:
        rounds = math.ceil(n_tasks / n_workers)
        yield from [None if time_limit is None else time_limit / rounds] * n_tasks
        return
    end = time.monotonic() + time_limit
    for left in range(n_tasks, 0, -1):
        yield max(end - time.monotonic(), 0.0) / left
