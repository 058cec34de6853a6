"""One limit on time for several searches, one after the other or at once."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from joblib import effective_n_jobs

__all__ = ["time_shares"]


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
