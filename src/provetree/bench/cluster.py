"""``provetree bench cluster``: how proofs would run on more workers than there are.

The real core searches a table, and its tasks are really solved, one after the other in this
process. Only the clock is made up: each of many workers has its own, and answers reach the root in
the order in which a cluster would have given them, so that doubled work and waiting are those of a
cluster. Durations are processor time, which hardly depends on what else the machine does.

A search that takes too long is cut off after some seconds of work. From the durations recorded by
then, or by a real cluster, discrete events tell how busy workers would be later on, when there are
tasks for all. Better trees are not looked for beside the proof: that is a share of the client's
real time, which here is mostly that of the workers.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from provetree import _core
from provetree.bench.data import load_table
from provetree.bench.report import save_figure
from provetree.cluster.exchange import group_sizes, shared_size
from provetree.export.plot import new_figure
from provetree.problem.problem import Problem, build_problem

__all__ = ["MadeUpCluster", "busy_share", "draw_shares", "read_durations", "run"]

#: Groups that each worker has at a time: one that is solved, and one that waits.
_PER_WORKER = 2


@dataclass
class MadeUpCluster:
    """Workers with a clock of their own.

    Parameters
    ----------
    table : _core.Table
        The table.
    workers : int
        How many there are.
    client_seconds, latency : float
        What a group of tasks takes of the client, and the time between client and worker.
    budget : float
        Seconds of work after which the search is cut off.
    cap : float
        Seconds after which a task is handed back to be divided.
    """

    table: _core.Table
    workers: int
    client_seconds: float
    latency: float
    budget: float = math.inf
    cap: float = 10.0
    durations: list[float] = field(default_factory=list)
    bytes_out: int = 0
    bytes_back: int = 0
    groups: int = 0
    clock: float = 0.0  # of the client
    spent: float = 0.0  # on tasks

    def __post_init__(self) -> None:
        self._left = time.thread_time()  # what comes before the first task counts as well

    def begin(self, job: str) -> None:
        """Begin a search."""
        self.clock += time.thread_time() - self._left
        # Each worker knows what it has proven itself.
        self._solvers = [_core.TaskSolver(self.table, job, 1 << 28) for _ in range(self.workers)]
        self._free = [(self.clock, worker) for worker in range(self.workers)]
        heapq.heapify(self._free)
        self._back: list[tuple[float, int, list[tuple[int, bytes]]]] = []
        self._left = time.thread_time()

    def trade(
        self, tasks: list[tuple[int, bytes]], cut: int
    ) -> tuple[list[tuple[int, bytes]], int, int] | None:
        """Solve what is handed out, and give back what would have come by then."""
        self.clock += time.thread_time() - self._left  # what the root took
        for solver in self._solvers:
            solver.lower_cut(cut)
        places = _PER_WORKER * self.workers - len(self._back)
        size = shared_size(len(tasks), group_sizes(self._mean(), self.workers), places)
        for begin in range(0, len(tasks), size):
            self._solve(tasks[begin : begin + size])
        answers: list[tuple[int, bytes]] = []
        if self._back:
            self.clock = max(self.clock, self._back[0][0])
            while self._back and self._back[0][0] <= self.clock:
                answers += heapq.heappop(self._back)[2]
        self._left = time.thread_time()
        if self.spent > self.budget:
            return None
        most = _PER_WORKER * self.workers * group_sizes(self._mean(), self.workers)[1]
        return answers, most, self.workers

    def end(self) -> None:
        """Nothing is left to take back."""

    def _mean(self) -> float:
        return float(np.mean(self.durations[-200:])) if self.durations else 0.05

    def _solve(self, tasks: list[tuple[int, bytes]]) -> None:
        self.clock += self.client_seconds
        self.groups += 1
        free, worker = heapq.heappop(self._free)
        end = max(free, self.clock + self.latency)
        answers = []
        for number, task in tasks:
            began = time.thread_time()
            answer = self._solvers[worker].solve(task, self.cap)
            assert answer is not None
            took = time.thread_time() - began
            answers.append((number, answer))
            self.durations.append(took)
            self.bytes_out += len(task)
            self.bytes_back += len(answer)
            self.spent += took
            end += took
        heapq.heappush(self._free, (end, worker))
        heapq.heappush(self._back, (end + self.latency, self.groups, answers))


def busy_share(
    durations: Sequence[float],
    workers: int,
    *,
    client_seconds: float,
    latency: float,
    seed: int = 0,
    rounds: int = 30,
) -> tuple[float, float]:
    """Return how busy workers are, and the client, where there are tasks for all.

    Discrete events: the client serves one group after the other, whenever a worker has fewer than
    two.

    Examples
    --------
    >>> from provetree.bench.cluster import busy_share
    >>> workers, client = busy_share([1.0], 4, client_seconds=0.001, latency=0.001)
    >>> workers > 0.99, client < 0.01
    (True, True)
    >>> workers, client = busy_share([1.0], 400, client_seconds=0.1, latency=0.001)
    >>> workers < 0.3, client > 0.9
    (True, True)
    """
    rng = np.random.default_rng(seed)
    size = group_sizes(float(np.mean(durations)), workers)[1]
    drawn = rng.choice(np.asarray(durations), (rounds * workers, size)).sum(axis=1)
    free = [0.0] * workers
    asking: list[tuple[float, int]] = [(0.0, worker) for worker in range(workers)] * _PER_WORKER
    heapq.heapify(asking)
    client = busy = served = 0.0
    for took in drawn.tolist():
        asked, worker = heapq.heappop(asking)
        client = max(client, asked) + client_seconds
        served += client_seconds
        free[worker] = max(free[worker], client + latency) + took
        busy += took
        heapq.heappush(asking, (free[worker] + latency, worker))
    end = max(free)
    # The last groups end at different times, which says nothing of the rest.
    end -= float(drawn.max())
    return min(1.0, busy / (workers * max(end, 1e-9))), min(1.0, served / max(end, 1e-9))


def _search(problem: Problem, workers: Any) -> _core.SearchResult:
    return _core.search(
        problem.table,
        None,
        workers,
        max_depth=problem.max_depth,
        max_splits=problem.max_splits,
        min_samples_leaf=1,
        error_scale=1,
        split_penalty=0,
        time_limit=math.inf,
        memory_limit=1 << 28,
        switches=_core.SWITCHES["bits"] | _core.SWITCHES["improvement"],
    )


def read_durations(path: Path) -> list[float]:
    """Return the seconds of tasks from a file: a list, or pairs of moment and seconds as "tasks".

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree.bench.cluster import read_durations
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "durations.json"
    >>> _ = path.write_text('{"tasks": [[0.5, 2.0], [0.7, 3.0]]}')
    >>> read_durations(path)
    [2.0, 3.0]
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(found, dict):
        found = [seconds for _, seconds in found["tasks"]]
    return [float(seconds) for seconds in found]


def run(arguments: argparse.Namespace, say: Callable[[str], object] | None = None) -> int:
    """Run ``provetree bench cluster``."""
    say = print if say is None else say
    costs: dict[str, Any] = {
        "client_seconds": arguments.client_ms / 1000,
        "latency": arguments.latency_ms / 1000,
    }
    if arguments.durations is None:
        recorded = _searches(arguments, costs, say)
    else:
        recorded = read_durations(arguments.durations)
    seconds = np.array(recorded)
    say(
        f"{len(seconds)} tasks: mean {seconds.mean():.3f} s, median {np.median(seconds):.3f} s, "
        f"longest {seconds.max():.1f} s"
    )
    if arguments.record is not None:
        arguments.record.write_text(json.dumps(recorded), encoding="utf-8")
    say("with tasks for all:  workers  busy  client busy")
    shares = {count: busy_share(recorded, count, **costs) for count in arguments.simulate}
    for count, (workers, client) in shares.items():
        say(f"{count:28d}  {workers:4.2f}  {client:11.2f}")
    if arguments.chart is not None:
        title = f"Tasks of {seconds.mean():.2g} s, {arguments.client_ms:g} ms of the client a group"
        say(f"The chart is in {draw_shares(shares, title, arguments.chart)}.")
    return 0


def draw_shares(shares: Mapping[int, tuple[float, float]], title: str, path: Path) -> Path:
    """Draw how busy workers and the client are, by the number of workers.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from provetree.bench.cluster import draw_shares
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "shares.svg"
    >>> draw_shares({16: (0.99, 0.1), 64: (0.97, 0.4)}, "Tasks", path).name
    'shares.svg'
    """
    figure = new_figure("Drawing simulated clusters", (7.0, 3.2))
    ax = figure.subplots()
    counts = sorted(shares)
    for place, (name, style) in enumerate((("workers busy", "o-"), ("client busy", "s--"))):
        ax.plot(counts, [100 * shares[n][place] for n in counts], style, label=name, markersize=4)
    ax.set_xscale("log", base=2)
    ax.set_xticks(counts, [f"{n:,}" for n in counts], fontsize=8)
    ax.set(ylim=(0, 105), xlabel="workers", ylabel="% of the time")
    ax.set_title(title, fontsize=10)
    ax.legend(frameon=False)
    return save_figure(figure, path)


def _searches(
    arguments: argparse.Namespace, costs: dict[str, Any], say: Callable[[str], object]
) -> list[float]:
    """Search with each number of workers, and return how long the last tasks took."""
    table = load_table(arguments.table)
    classes = np.unique(table.y, return_inverse=True)[1]
    problem = build_problem(
        np.asarray(table.X, dtype=float),
        classes,
        n_classes=int(classes.max()) + 1,
        max_depth=arguments.depth,
    )
    say(f"{arguments.table}, depth {arguments.depth}: {problem.n_rows} rows")
    say("workers  elapsed s  work s  speed-up  busy  tasks  kB out  kB back  cost  bound")
    recorded: deque[float] = deque(maxlen=20_000)
    alone: float | None = None
    for count in arguments.workers:
        cluster = MadeUpCluster(problem.table, count, **costs, budget=arguments.seconds)
        found = _search(problem, cluster)
        recorded.extend(cluster.durations)
        whole = found["status"] == "optimal"
        if whole and count == 1:
            alone = cluster.clock
        speed = "-" if alone is None or not whole else f"{alone / cluster.clock:.1f}"
        n = max(1, len(cluster.durations))
        busy = cluster.spent / (count * cluster.clock)
        say(
            f"{count:7d}  {cluster.clock:9.2f}  {cluster.spent:6.1f}  {speed:>8}  {busy:4.2f}  "
            f"{n:5d}  {cluster.bytes_out / n / 1000:6.1f}  {cluster.bytes_back / n / 1000:7.1f}  "
            f"{found['cost']}  {found['lower_bound']}{'' if whole else '  (cut off)'}"
        )
    return list(recorded)
