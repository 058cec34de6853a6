"""The table of a proof on the workers of a cluster: sent to one, from which the others take it.

Dask's own broadcast never ends where a worker leaves in the middle of it, and holds a lock of the
scheduler for good. So the table goes to one worker, and a task on each worker asks for it: Dask
then copies it from whoever has it, and knows what to do where somebody leaves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from concurrent.futures import Future as Sending
from contextlib import suppress
from typing import Any, TypeAlias

from provetree.cluster.worker import ProofTable

__all__ = ["Client", "Future", "SentTable"]

#: Dask's own classes say little of their types.
Client: TypeAlias = Any
Future: TypeAlias = Any

#: Seconds after which sending is tried beside the last try, and bytes for which there is one more.
_SENDING, _BYTES_PER_SECOND = 5.0, 1e7
#: Seconds to wait, in the end, for a table that is on its way: the scheduler has it arrive anyway.
_LEAVING = 5.0
#: Seconds in which workers take the table before the first tasks; those that need longer join then.
_SPREADING = 2.0


class SentTable:
    """Sends a table without waiting, and anew where it was lost.

    Parameters
    ----------
    client : distributed.Client
        The client.
    table : ProofTable
        The table.
    """

    def __init__(self, client: Client, table: ProofTable) -> None:
        self._client, self._table = client, table
        self._seconds = _SENDING + table.n_bytes / _BYTES_PER_SECOND
        self._sendings: list[Sending[Future]] = []  # the first that arrives counts
        self._late: list[Sending[Future]] = []  # those that nobody needs
        self._future: Future | None = None
        self._askers: dict[str, Future] = {}  # by worker
        self._began = self._sent_at = 0.0
        self._spread = False

    @property
    def key(self) -> str | None:
        """What Dask calls the table; None while no worker has it."""
        future = self._future
        return None if future is None else str(future.key)

    def ready(self, workers: Iterable[str]) -> Future | None:
        """Return the table for tasks on these workers; None while it is on its way."""
        if self._future is not None and self._future.status not in ("finished", "pending"):
            self.forget()
        if self._future is None and not self._arrived(workers):
            return None
        self._ask(workers)
        if not self._spread:
            on_its_way = any(asker.status == "pending" for asker in self._askers.values())
            self._spread = not on_its_way or time.monotonic() - self._sent_at > _SPREADING
        return self._future if self._spread else None

    def lost(self, table: Future) -> None:
        """Note that a task was given up for want of this table, which may be another by now."""
        if table is self._future:
            self.forget()

    def close(self) -> None:
        """Let go of the table, also where it is still on its way and would stay for good."""
        self.forget()
        end = time.monotonic() + _LEAVING
        for sending in self._late:
            with suppress(Exception):
                sending.result(max(0.0, end - time.monotonic()))

    def forget(self) -> None:
        """Let go of the table on all workers; what is on its way is let go of when it arrives.

        Dask lets go by itself once nothing refers to a future, but a failure that was caught may
        refer to it for long.
        """
        for future in (self._future, *self._askers.values()):
            if future is not None:
                future.release()
        self._give_up_sendings()
        self._future = None
        self._askers = {}
        self._spread = False

    def _give_up_sendings(self) -> None:
        # They go on: were they cancelled, their tables could arrive all the same, for nobody.
        for sending in self._sendings:
            sending.add_done_callback(_let_go)
        self._late = [late for late in self._late if not late.done()] + self._sendings
        self._sendings = []

    def _arrived(self, workers: Iterable[str]) -> bool:
        now = time.monotonic()
        for sending in [one for one in self._sendings if one.done()]:
            self._sendings.remove(sending)
            if sending.cancelled() or sending.exception() is not None:
                continue  # no scheduler, no worker, or one that has just left: once more
            self._future, self._sent_at = sending.result(), now
            self._give_up_sendings()
            return True
        # What is slow may be on its way all the same, so the next try waits longer.
        if now - self._began >= self._seconds * len(self._sendings):
            self._sendings.append(self._send(list(workers)))
            self._began = now
        return False

    def _send(self, workers: list[str]) -> Sending[Future]:
        async def send() -> Future:
            return await self._client.scatter(
                self._table, workers=workers, hash=False, timeout=self._seconds, asynchronous=True
            )

        return asyncio.run_coroutine_threadsafe(send(), self._client.loop.asyncio_loop)

    def _ask(self, workers: Iterable[str]) -> None:
        """Have workers that are new take the table, too."""
        for worker in workers:
            if worker not in self._askers:
                self._askers[worker] = self._client.submit(
                    _take,
                    self._future,
                    workers=[worker],
                    key=f"take_the_table-{self._future.key}-{worker}",  # type: ignore[union-attr]
                    pure=False,
                )


def _let_go(sending: Sending[Future]) -> None:
    with suppress(Exception):  # nothing has arrived
        sending.result().release()


def _take(table: ProofTable) -> None:
    """Nothing is to be done once a worker has the table."""
