"""The client's side of a proof on a Dask cluster.

The core keeps the root and asks :class:`DaskExchange` to have tasks solved. Tasks are handed to
Dask in small groups, so that a group takes some tenths of a second. A task that takes too long
comes back with what is known, and the core divides it. A worker that is lost costs its tasks, which
Dask hands to another; a group that does not come back is given out a second time, and the answer
that comes first counts. A better cost is told to all workers at once, beside their tasks.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from provetree.cluster.sent_table import Client, Future, SentTable
from provetree.cluster.worker import Answer, ProofTable, Stopped, lower_cut_on, solve_tasks
from provetree.errors import ClusterError

#: Seconds that the core waits for an answer at most, before it looks after other things.
_WAIT = 0.02
#: Seconds for further answers after the first: Dask takes many at once as fast as one.
_MORE = 0.01
#: Seconds that a group of tasks should take, at least and for each thread: the client needs some
#: milliseconds for a group, and must keep up with all of them. Groups of few tasks are smaller, but
#: not so small that the client could not keep up at all. The most tasks of a group.
_GROUP_SECONDS, _PER_THREAD_SECONDS, _LEAST_PER_THREAD_SECONDS = 0.05, 0.003, 0.001
_LARGEST_GROUP = 64
#: A group that takes so many times as long is given back with the tasks that it has not begun.
_GROUP_PATIENCE = 2.0
#: Seconds after which a task is handed back to be divided: while there is enough to do, and while
#: workers wait.
_LONG, _SHORT = 10.0, 2.0
#: Groups that are out for each thread of a worker: one that is solved, and one that waits.
_PER_THREAD = 2
#: Seconds between two looks at the cluster, and between two tellings of a better cost.
_BETWEEN_LOOKS, _BETWEEN_TELLINGS = 1.0, 0.3
#: Seconds in which all workers have heard of a better cost.
_TELLING = 2.0
#: Seconds without a heartbeat after which a worker that owes answers is taken to hang.
_SILENT = 3.0
#: Seconds to fetch answers from a worker that has them.
_FETCH = 3.0
#: Seconds after which a group is given out once more, at least.
_HUNG = 60.0
#: Times that a task may fail, or lose its worker for good, before the search gives up.
_MOST_FAILURES = 3


def group_sizes(task_seconds: float, threads: int) -> tuple[int, int]:
    """Return the least and the most tasks of a group, with so many threads at work.

    Examples
    --------
    >>> from provetree.cluster.exchange import group_sizes
    >>> group_sizes(task_seconds=0.005, threads=16), group_sizes(task_seconds=2.0, threads=16)
    ((3, 10), (1, 1))
    """

    def size(seconds: float) -> int:
        return max(1, min(_LARGEST_GROUP, round(seconds / max(task_seconds, 1e-4))))

    return size(_LEAST_PER_THREAD_SECONDS * threads), size(_group_seconds(threads))


def _group_seconds(threads: int) -> float:
    return max(_GROUP_SECONDS, _PER_THREAD_SECONDS * threads)


def shared_size(tasks: int, sizes: tuple[int, int], places: int) -> int:
    """Return the size of groups: few tasks are shared out among all who have nothing to do.

    Examples
    --------
    >>> from provetree.cluster.exchange import shared_size
    >>> shared_size(tasks=7, sizes=(1, 5), places=16), shared_size(400, sizes=(1, 5), places=16)
    (1, 5)
    """
    least, most = sizes
    return max(least, min(most, tasks // max(1, places)))


@dataclass
class _Group:
    """Tasks that are with Dask together."""

    tasks: list[tuple[int, bytes]]
    future: Future
    table: Future
    since: float
    again: bool = False  # whether its tasks were given to others, too


class _Fetched(NamedTuple):
    """What has become of a group."""

    key: str
    status: str
    answers: list[Answer] | None  # None where there are none, or where they were lost


@dataclass
class Watched:
    """What is known of the cluster: threads by worker, and since when nobody answers."""

    threads: dict[str, int] = field(default_factory=dict)
    silent_since: float | None = None


def _solve_group(
    tasks: list[tuple[int, bytes]],
    table: ProofTable,
    job: str,
    cut: int,
    caps: tuple[float, float],
) -> list[Answer]:
    """Solve a group, with what all groups have in common behind what is its own."""
    return solve_tasks(table, job, tasks, cut, *caps)


class DaskExchange:
    """Has the tasks of a search solved by the workers of a Dask client.

    Parameters
    ----------
    client : distributed.Client
        The client.
    table : ProofTable
        The table, sent to the workers once.
    depth : int
        Depth of the trees, for the names of the tasks.
    patience : float
        Seconds to wait for a scheduler that does not answer, or for workers where there are none.
    on_answers : callable, optional
        Called with the answers of each group, for measurements.
    """

    def __init__(
        self,
        client: Client,
        table: ProofTable,
        *,
        depth: int = 0,
        patience: float = 30.0,
        hung: float = _HUNG,
        on_answers: Callable[[list[Answer]], None] | None = None,
    ) -> None:
        self._client, self._depth = client, depth
        self._sent = SentTable(client, table)
        self._patience, self._hung, self._on_answers = patience, hung, on_answers
        self._token = uuid.uuid4().hex[:8]
        self._jobs = self._groups_made = 0
        self._job = ""
        self._out: dict[str, _Group] = {}
        # What is done; None is the end. What is done, and was fetched where it was finished.
        self._done: queue.SimpleQueue[Future | None] = queue.SimpleQueue()
        self._fetched: queue.SimpleQueue[_Fetched] = queue.SimpleQueue()
        self._wanted_numbers: set[int] = set()
        self._failures: dict[int, int] = {}
        self._hanging: set[str] = set()  # workers that get nothing more
        self._waiting: list[list[tuple[int, bytes]]] = []  # groups for which there is nobody now
        self._left_over: list[tuple[int, bytes]] = []  # of groups that took too long
        self._task_seconds = 0.05
        self._cut = self._told_cut = 2**62
        self._watched = Watched()
        self._over = threading.Event()
        self._threads: list[threading.Thread] = []
        self._no_worker_since: float | None = None
        #: Why the search had to end, where it had to.
        self.sorrow: str | None = None
        self.tasks = self.most_workers = self.lost = self.repeated = 0

    # What the core calls.

    def begin(self, job: str) -> None:
        """Begin a search whose tasks have this in common."""
        self._forget()
        self._jobs += 1
        # The number makes jobs differ: a cut is about one of them.
        self._job = f"{self._token}.{self._jobs} {job}"
        self._cut = self._told_cut = 2**62
        self._failures.clear()

    def trade(
        self, tasks: list[tuple[int, bytes]], cut: int
    ) -> tuple[list[tuple[int, bytes]], int, int] | None:
        """Hand tasks out, wait a moment, and return answers, and how many tasks may be out."""
        self._cut = cut
        if not self._is_well():
            return None
        groups, self._waiting = self._waiting, []
        self._wanted_numbers.update(number for number, _ in tasks)
        self.tasks += len(tasks)
        tasks, self._left_over = tasks + self._left_over, []
        if tasks:
            size = shared_size(len(tasks), self._sizes(), self._most_groups() - len(self._out))
            groups += [tasks[begin : begin + size] for begin in range(0, len(tasks), size)]
        self._submit(groups)
        answers = self._answers_come()
        self._repeat_what_hangs()
        return answers, self._most_out(), self._threads_at_hand()

    def end(self) -> None:
        """Take back all that is out: nobody needs it."""
        self._forget()

    # The rest.

    @property
    def n_workers(self) -> int:
        """Workers that are known now."""
        return len(self._watched.threads)

    @property
    def n_out(self) -> int:
        """Tasks that are out now."""
        return len(self._wanted_numbers)

    @property
    def counts(self) -> dict[str, int]:
        """What a report says of a proof on a cluster."""
        return {
            "cluster_workers": self.most_workers,
            "cluster_tasks": self.tasks,
            "cluster_lost": self.lost,
            "cluster_repeated": self.repeated,
        }

    def __enter__(self) -> DaskExchange:
        self._watched.threads = self._client.nthreads()
        self.most_workers = len(self._watched.threads)
        for work in (self._watch, self._tell, self._fetch):
            thread = threading.Thread(target=work, name="provetree-cluster", daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._done.put(None)
        self._forget()
        self._sent.close()
        for thread in self._threads:
            thread.join(1.0)

    def _sizes(self) -> tuple[int, int]:
        return group_sizes(self._task_seconds, self._threads_at_hand())

    def _at_hand(self) -> dict[str, int]:
        """Return the threads of the workers that do not hang; of all, where all do."""
        threads = self._watched.threads
        well = {worker: n for worker, n in threads.items() if worker not in self._hanging}
        return well or threads

    def _threads_at_hand(self) -> int:
        return sum(self._at_hand().values())

    def _still_wanted(self, group: _Group) -> list[tuple[int, bytes]]:
        """Return the tasks of a group whose answers have not come, from it or from another."""
        return [task for task in group.tasks if task[0] in self._wanted_numbers]

    def _most_groups(self) -> int:
        return _PER_THREAD * self._threads_at_hand()

    def _most_out(self) -> int:
        return self._most_groups() * self._sizes()[1]

    def _submit(self, groups: list[list[tuple[int, bytes]]]) -> None:
        """Hand groups to Dask, all at once: one by one they take it several times as long."""
        at_hand = self._at_hand()
        running = self._client.status == "running" and at_hand
        table = self._sent.ready(at_hand) if groups and running else None
        if table is None:
            self._waiting += groups
            return
        threads = sum(at_hand.values())
        starving = len(self._wanted_numbers) < threads
        name = f"prove_splits_of_depth_{self._depth}-{self._token}"
        keys = [f"{name}-{self._groups_made + k}" for k in range(1, len(groups) + 1)]
        self._groups_made += len(groups)
        group_seconds = _GROUP_PATIENCE * _group_seconds(threads)
        caps = (_SHORT if starving else _LONG, group_seconds)
        same = (table, self._job, self._cut, caps)
        futures = self._client.map(
            _solve_group,
            groups,
            *([given] * len(groups) for given in same),
            key=keys,
            pure=False,
            workers=list(at_hand) if self._hanging else None,
        )
        for tasks, future in zip(groups, futures, strict=True):
            self._out[future.key] = _Group(tasks, future, table, time.monotonic())
            future.add_done_callback(self._done.put)

    def _answers_come(self) -> list[tuple[int, bytes]]:
        """Wait a moment for groups whose answers were fetched, and take all that are by then."""
        come: list[_Fetched] = []
        nothing_out = not self._out and not self._waiting
        with suppress(queue.Empty):
            come.append(self._fetched.get(timeout=0 if nothing_out else _WAIT))
            while True:
                come.append(self._fetched.get_nowait())
        answers: list[tuple[int, bytes]] = []
        for found in come:
            group = self._out.pop(found.key, None)
            if group is None:  # nobody wants it any more
                continue
            try:
                answers += self._taken(group, found)
            finally:  # what holds a failure may refer to futures for long
                group.future.release()
        return answers

    def _taken(self, group: _Group, found: _Fetched) -> list[tuple[int, bytes]]:
        """Take the answers of a group, or see to it that they come."""
        if found.answers is not None:
            kept = self._kept(found.answers)
            self._left_over += self._still_wanted(group)
            return kept
        if found.status == "error":
            self._note_failure(group)
        elif found.status != "finished":  # nobody has the table, and Dask has not said so
            self._sent.lost(group.table)
        self._given_out_again(group)  # where it was finished, its worker was lost between the two
        return []

    def _fetch(self) -> None:
        """Fetch the answers of groups that are done, from beside, all that are by then at once."""
        while True:
            come = [self._done.get()]
            if len(self._out) > self._threads_at_hand():  # nobody waits
                time.sleep(_MORE)
            with suppress(queue.Empty):
                while True:
                    come.append(self._done.get_nowait())
            if None in come:
                return
            done: list[Future] = come
            finished = [future for future in done if future.status == "finished"]
            answers = dict(zip((one.key for one in finished), self._answers(finished), strict=True))
            for future in done:
                status = "finished" if future.key in answers else future.status
                self._fetched.put(_Fetched(future.key, status, answers.get(future.key)))

    def _answers(self, futures: list[Future]) -> list[list[Answer] | None]:
        """Return answers, all at once where no worker was lost; None for those that are lost."""

        def fetching(some: list[Future]) -> Awaitable[list[list[Answer]]]:
            found: Awaitable[list[list[Answer]]] = self._client.gather(some, asynchronous=True)
            return asyncio.wait_for(found, _FETCH)

        async def together() -> list[list[Answer]]:
            return await fetching(futures)

        async def one_by_one() -> list[Any]:
            each = [fetching([future]) for future in futures]
            return await asyncio.gather(*each, return_exceptions=True)

        if not futures:
            return []
        with suppress(Exception):
            return list(self._client.sync(together))
        with suppress(Exception):  # a client that was closed meanwhile fetches nothing
            found = self._client.sync(one_by_one)
            return [None if isinstance(one, BaseException) else one[0] for one in found]
        return [None] * len(futures)

    def _kept(self, answers: list[Answer]) -> list[tuple[int, bytes]]:
        """Note that answers came, and return those that are still wanted."""
        mine = [one for one in answers if one.number in self._wanted_numbers]
        self._wanted_numbers.difference_update(one.number for one in mine)
        if self._on_answers is not None:
            self._on_answers(mine)
        for one in mine:
            self._task_seconds += 0.1 * (one.seconds - self._task_seconds)
        return [(one.number, one.text) for one in mine]

    def _note_failure(self, group: _Group) -> None:
        failure = group.future.exception()
        from distributed import KilledWorker

        if isinstance(failure, Stopped):  # it was taken for cancelled while its worker left
            return
        if not isinstance(failure, KilledWorker) and len(group.tasks) == 1:
            raise ClusterError(f"A worker could not solve its task: {failure}") from failure
        for number, _ in group.tasks:
            # A task of a group is only one of those to blame.
            self._failures[number] = self._failures.get(number, 0) + (len(group.tasks) == 1)
            if self._failures[number] >= _MOST_FAILURES:
                self.sorrow = (
                    f"A task has cost the cluster its worker {_MOST_FAILURES} times, each time "
                    "after what Dask allows: workers may lack memory."
                )

    def _given_out_again(self, group: _Group) -> None:
        """Give tasks of a group that was lost to others, one by one."""
        self.lost += 1
        self._submit([[task] for task in self._still_wanted(group)])

    def _repeat_what_hangs(self) -> None:
        """Give what does not come back to others, and nothing more to the worker that has it."""
        now = time.monotonic()
        allowed = self._hung + 20 * self._task_seconds
        late = [g for g in self._out.values() if not g.again and now - g.since > allowed]
        if not late:
            return
        self.repeated += len(late)
        silent = self._silent()
        if not silent <= self._hanging:
            # The table may be with them alone: it is sent to the others, and all that waits for it
            # is given out once more.
            self._hanging = silent
            self._sent.forget()
            late = list(self._out.values())
        for group in late:
            group.again = True
            self._submit([[task] for task in self._still_wanted(group)])

    def _silent(self) -> set[str]:
        """Return the workers that the scheduler has not heard of for longer than of others."""
        seen = {
            worker: float(known["last_seen"])
            for worker, known in self._client.scheduler_info()["workers"].items()
        }
        latest = max(seen.values(), default=0.0)
        return {worker for worker, when in seen.items() if latest - when > _SILENT}

    def _forget(self) -> None:
        """Cancel what is out; the workers stop at once."""
        groups, self._out, self._waiting = list(self._out.values()), {}, []
        self._left_over = []
        self._wanted_numbers.clear()
        if groups and self._client.status == "running":
            self._client.cancel([group.future for group in groups], asynchronous=False)
            for group in groups:
                group.future.release()

    def _is_well(self) -> bool:
        """Tell whether there is a scheduler and a worker, or hope of them."""
        now, watched = time.monotonic(), self._watched
        self.most_workers = max(self.most_workers, len(watched.threads))
        if self.sorrow is None:
            silent = watched.silent_since
            if self._client.status in ("closed", "closing"):
                self.sorrow = "The connection to the Dask scheduler was lost."
            elif silent is not None and now - silent > self._patience:
                self.sorrow = f"The Dask scheduler has not answered for {self._patience:g} seconds."
            if watched.threads or silent is not None:
                self._no_worker_since = None
            elif self._no_worker_since is None:
                self._no_worker_since = now
            elif now - self._no_worker_since > self._patience:
                self.sorrow = f"The Dask cluster has had no worker for {self._patience:g} seconds."
        return self.sorrow is None

    def _watch(self) -> None:
        """Look at the cluster now and then, from beside."""
        while not self._over.wait(_BETWEEN_LOOKS):
            try:
                if self._client.status != "running":
                    raise OSError("no connection")
                self._watched.threads = self._client.nthreads()
                self._watched.silent_since = None
                if self._hanging:  # who is heard of again gets tasks again
                    self._hanging = self._hanging & self._silent()
            except Exception:
                if self._watched.silent_since is None:
                    self._watched.silent_since = time.monotonic()

    def _tell(self) -> None:
        """Tell all workers of a better cost, from beside."""
        while not self._over.wait(_BETWEEN_TELLINGS):
            cut, job, table = self._cut, self._job, self._sent.key
            if cut >= self._told_cut or table is None:
                continue
            self._told_cut = cut
            told = partial(self._client.run, lower_cut_on, table, job, cut, on_error="ignore")
            with suppress(Exception):  # tasks that are given out from now on know it anyway
                # One that hangs must not keep what comes later from the others.
                self._client.sync(partial(told, asynchronous=True), callback_timeout=_TELLING)
