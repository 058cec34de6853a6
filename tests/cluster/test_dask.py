"""Proofs on a real cluster of two processes: workers that die, hang, leave and join, and limits.

Faults are caused when an answer arrives, not after some time, so that no test depends on how fast
the machine is. Each fit has a limit on time: a search that hangs fails its test.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed import scheduler as scheduler_module

from provetree import ClusterError, OptimalTreeClassifier, OptimalTreeRegressor
from provetree.cluster import exchange
from provetree.cluster.client import active_client, check_workers, connected
from provetree.cluster.exchange import DaskExchange
from provetree.cluster.worker import Answer, ProofTable
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import core_search, same_tree

#: Seconds after which a search that hangs is given up, and its test fails.
LONG = 600.0
#: A busy machine takes its time to start a worker anew, and after 15 s Dask would give it up. The
#: time for connections stays as it is: who asks a worker that was killed waits for all of it.
PATIENT = {"distributed.deploy.lost-worker-timeout": "120s"}


@contextmanager
def local_cluster(n_workers: int) -> Iterator[LocalCluster]:
    with (
        dask.config.set(PATIENT),
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as found,
    ):
        yield found


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with local_cluster(2) as found:
        yield found


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster) as found:
        until(lambda: len(pids(found)) == 2)  # also where the last test killed a worker
        yield found
        assert_clean(found)


def until(holds: Callable[[], Any]) -> Any:
    """Wait until something holds, and return it."""
    end = time.monotonic() + LONG
    while not (found := holds()):
        assert time.monotonic() < end, "this takes too long"
        time.sleep(0.02)
    return found


def assert_clean(client: Client) -> None:
    """Nothing of a search is left on the cluster: no data, no task, no thread at work.

    A worker that was killed has its data until the scheduler has seen that it is gone, and asking
    it what it does ends only then: on a busy machine one look can take half a minute.
    """
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        # Lambdas travel by value: nobody there knows this file.
        left = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
        at_work = client.run(
            lambda dask_worker: bool(dask_worker.active_threads or dask_worker.data),
            on_error="ignore",
        )
        if not left and not any(at_work.values()):
            return
        time.sleep(0.05)
    raise AssertionError(f"left on the cluster: {left}, and on the workers: {at_work}")


def hard_problem(n: int = 220, depth: int = 4, seed: int = 0) -> Problem:
    """Some dozens of tasks."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0) ^ (rng.random(n) < 0.2)
    return build_problem(X, y.astype(int), n_classes=2, max_depth=depth)


PLAIN: dict[int, Any] = {}
#: The client's side of the proof that is under way.
EXCHANGES: list[DaskExchange] = []


def prove(
    client: Client, fault: Callable[[int], object] | None = None, **options: Any
) -> tuple[Any, DaskExchange]:
    """A proof on the cluster; `fault` is called with the number of each group of answers."""
    problem = hard_problem()
    options = {"patience": LONG, **options}
    groups = 0

    def on_answers(answers: list[Answer]) -> None:
        nonlocal groups
        groups += 1
        if fault is not None:
            fault(groups)

    table = ProofTable(problem, 1 << 26)
    with DaskExchange(client, table, depth=4, on_answers=on_answers, **options) as workers:
        EXCHANGES[:] = [workers]
        found = core_search(problem, workers=workers, time_limit=LONG)
    return found, workers


def assert_same(found: Any) -> None:
    """The tree, bound and status of one thread."""
    plain = PLAIN.setdefault(0, core_search(hard_problem()))
    assert found["status"] == "optimal"
    assert (found["cost"], found["lower_bound"]) == (plain["cost"], plain["lower_bound"])
    assert same_tree(found, plain)


def pids(client: Client) -> list[int]:
    return sorted(client.run(os.getpid, on_error="ignore").values())  # one may be leaving


def test_the_estimators_find_the_tree_of_one_thread(client: Client) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(300) < 0.2)
    for alone, far in (
        (OptimalTreeClassifier(), OptimalTreeClassifier(executor="dask", time_limit=LONG)),
        (OptimalTreeRegressor(), OptimalTreeRegressor(executor="dask", time_limit=LONG)),
    ):
        told: list[Any] = []
        far.fit(X, y, on_progress=told.append)
        assert far.status_ == "optimal"
        assert far.objective_ == pytest.approx(alone.fit(X, y).objective_, rel=1e-12)
        assert far.export_text() == alone.export_text()
        assert far.counters_["cluster_workers"] == 2
        assert told
        assert told[-1].workers == 2


def test_a_search_within_a_task_gives_its_thread_back() -> None:
    """Else it would wait for tasks that wait for its thread."""
    address = {"dashboard_address": ":0"}
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **address) as cluster,
        Client(cluster) as client,
    ):

        def fit() -> str:
            rng = np.random.default_rng(1)
            X = rng.normal(size=(100, 4))
            y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(100) < 0.2)
            return str(OptimalTreeClassifier(executor="dask", time_limit=LONG).fit(X, y).status_)

        assert client.submit(fit).result(LONG) == "optimal"
        # The thread is there again for others.
        assert client.submit(lambda: 1).result(LONG) == 1


def test_a_worker_that_is_killed_costs_its_tasks_only(client: Client) -> None:
    victims = pids(client)

    def kill(group: int) -> None:
        if group == 1:
            os.kill(victims[0], signal.SIGKILL)

    found, workers = prove(client, kill)
    assert_same(found)
    assert workers.sorrow is None


def test_all_workers_are_killed_and_start_again(client: Client) -> None:
    """The table is lost with them, and is sent once more."""
    victims = pids(client)

    def kill(group: int) -> None:
        if group == 1:
            for victim in victims:
                os.kill(victim, signal.SIGKILL)

    found, workers = prove(client, kill)
    assert_same(found)
    assert workers.sorrow is None


def test_a_table_that_nobody_has_any_more_is_sent_once_more(client: Client) -> None:
    """Dask gives its tasks up, and does not say that the table is lost."""
    lost: list[str] = []
    problem = hard_problem()

    def lose(_: list[Answer]) -> None:
        if not lost:
            key = workers._sent.key
            assert key is not None
            lost.append(key)
            client.cancel(workers._sent._future, force=True)

    with DaskExchange(client, ProofTable(problem, 1 << 26), on_answers=lose) as workers:
        found = core_search(problem, workers=workers, time_limit=LONG)
        assert workers._sent.key not in lost
    assert_same(found)


def test_sending_that_does_not_end_is_tried_anew(client: Client, monkeypatch: Any) -> None:
    """What arrives after all, for nobody, is let go of then."""
    real, over, tried = scheduler_module.scatter_to_workers, threading.Event(), 0

    async def scatter(*given: Any, **options: Any) -> Any:
        nonlocal tried
        tried += 1
        is_first = tried == 1
        while is_first and not over.is_set():
            await asyncio.sleep(0.01)
        return await real(*given, **options)

    monkeypatch.setattr(scheduler_module, "scatter_to_workers", scatter)
    monkeypatch.setattr("provetree.cluster.sent_table._SENDING", 0.5)
    monkeypatch.setattr("provetree.cluster.sent_table._LEAVING", 0.0)
    try:
        found, workers = prove(client)
    finally:
        over.set()
    assert_same(found)
    assert tried > 1
    for sending in workers._sent._late:
        sending.result(LONG)


def test_sending_that_takes_long_is_waited_for(client: Client, monkeypatch: Any) -> None:
    """Longer than the time after which it is tried anew, each time."""
    real = scheduler_module.scatter_to_workers

    async def scatter(*given: Any, **options: Any) -> Any:
        await asyncio.sleep(0.5)
        return await real(*given, **options)

    monkeypatch.setattr(scheduler_module, "scatter_to_workers", scatter)
    monkeypatch.setattr("provetree.cluster.sent_table._SENDING", 0.1)
    found, workers = prove(client)
    assert_same(found)
    for sending in workers._sent._late:
        sending.result(LONG)


def test_tasks_that_a_group_has_not_begun_are_given_out_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_GROUP_PATIENCE", 0.0)
    monkeypatch.setattr(exchange, "_LEAST_PER_THREAD_SECONDS", 0.2)  # groups are large
    found, workers = prove(client)
    assert_same(found)
    assert workers.tasks > 20


def test_what_a_hanging_worker_has_is_given_to_another(client: Client) -> None:
    victims = pids(client)[:1]

    def hang(group: int) -> None:
        if group == 1:  # it gets tasks as before: nobody knows
            os.kill(victims[0], signal.SIGSTOP)

    try:
        found, workers = prove(client, hang, hung=0.5)
        assert_same(found)
        assert workers.repeated > 0
    finally:
        for victim in victims:
            os.kill(victim, signal.SIGKILL)  # another one takes its place


def test_workers_that_join_later_are_used() -> None:
    with local_cluster(1) as cluster, Client(cluster) as client:

        def scale(group: int) -> None:
            if group == 1:
                cluster.scale(2)
                # What looks at the cluster does so beside this.
                until(lambda: EXCHANGES[-1].n_workers == 2)

        found, workers = prove(client, scale)
        assert_same(found)
        assert workers.most_workers == 2


def test_the_last_worker_leaves() -> None:
    with local_cluster(1) as cluster, Client(cluster) as client:

        def leave(group: int) -> None:
            if group == 1:
                cluster.scale(0)
                until(lambda: not client.nthreads())

        found, workers = prove(client, leave, patience=1.0)
        assert workers.sorrow == "The Dask cluster has had no worker for 1 seconds."
        plain = PLAIN.setdefault(0, core_search(hard_problem()))
        assert found["status"] == "interrupted"
        assert found["lower_bound"] <= plain["cost"] <= found["cost"]


def test_a_limit_ends_all_tasks_and_leaves_the_cluster_clean(client: Client) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 8)), rng.integers(0, 2, 2000)
    far = OptimalTreeClassifier(max_depth=5, executor="dask", time_limit=2.0).fit(X, y)
    assert far.status_ == "time_limit"
    assert 0 <= far.lower_bound_ < far.objective_  # a busy machine proves little in that time
    # The fixture sees that nothing is left.


def _script(body: str) -> str:
    return textwrap.dedent(
        """
        import os, signal, sys, threading, time
        import numpy as np
        from distributed import Client
        from provetree import OptimalTreeClassifier

        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(250, 5)), rng.integers(0, 2, 250)
        """
    ) + textwrap.dedent(body)


def _run(body: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _script(body), *arguments],
        capture_output=True,
        text=True,
        timeout=LONG,
        check=False,
        start_new_session=True,
    )


def test_a_client_that_is_killed_goes_on_from_its_file(client: Client, tmp_path: Path) -> None:
    """On one machine; the cluster it leaves behind is clean."""
    file = tmp_path / "proof.txt"
    killed = _run(
        """
        def die():
            while not os.path.exists(sys.argv[2]):
                time.sleep(0.01)
            time.sleep(1.0)
            os.kill(os.getpid(), signal.SIGKILL)

        threading.Thread(target=die, daemon=True).start()
        with Client(sys.argv[1]):
            OptimalTreeClassifier(max_depth=5, executor="dask", checkpoint=sys.argv[2]).fit(X, y)
        """,
        client.scheduler.address,
        str(file),
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert_clean(client)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(250, 5)), rng.integers(0, 2, 250)
    again = OptimalTreeClassifier(max_depth=5, checkpoint=file, time_limit=0.5).fit(X, y)
    assert again.status_ == "time_limit"
    far = OptimalTreeClassifier(max_depth=5, checkpoint=file, executor="dask", time_limit=1.5)
    assert far.fit(X, y).objective_ <= again.objective_
    assert far.lower_bound_ >= again.lower_bound_


def test_ctrl_c_keeps_the_best_tree(client: Client) -> None:
    done = _run(
        """
        sent = []

        def interrupt(now):
            # Once tasks are with the workers, and not within this call: its failures are its own.
            if now.tasks and not sent:
                sent.append(threading.Timer(3.0, os.kill, (os.getpid(), signal.SIGINT)))
                sent[0].start()

        with Client(sys.argv[1]) as client:
            X, y = rng.normal(size=(3000, 8)), rng.integers(0, 2, 3000)
            far = OptimalTreeClassifier(max_depth=4, executor="dask")
            tree = far.fit(X, y, on_progress=interrupt)
            print(tree.status_, tree.objective_ > tree.lower_bound_)
        """,
        client.scheduler.address,
    )
    assert done.stdout.split() == ["interrupted", "True"], done.stderr


def test_ctrl_c_of_a_terminal_reaches_the_workers_as_well() -> None:
    """Those of a cluster of its own must not die of it, each with a long message."""
    done = _run(
        """
        from provetree.cluster.client import connected
        sent = []

        def interrupt(now):
            if now.tasks and not sent:
                sent.append(threading.Timer(1.0, os.killpg, (0, signal.SIGINT)))
                sent[0].start()

        with connected("local", 1):
            X, y = rng.normal(size=(3000, 8)), rng.integers(0, 2, 3000)
            far = OptimalTreeClassifier(max_depth=4, executor="dask")
            print(far.fit(X, y, on_progress=interrupt).status_)
        """
    )
    assert done.stdout.split() == ["interrupted"], done.stderr
    assert "KeyboardInterrupt" not in done.stderr


def test_a_lost_scheduler_leaves_the_best_tree(tmp_path: Path) -> None:
    port_file = tmp_path / "scheduler.json"

    def is_written() -> bool:
        return port_file.exists() and port_file.read_text().rstrip().endswith("}")

    common = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen(
        [
            *dask,
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(port_file),
        ],
        **common,
    )
    worker = None
    try:
        until(is_written)
        worker = subprocess.Popen(
            [
                *(sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny"),
                *("--no-dashboard", "--nthreads", "1", "--scheduler-file", str(port_file)),
                *("--death-timeout", str(LONG)),
            ],
            **common,
        )
        with Client(scheduler_file=str(port_file), timeout=LONG) as client:
            client.wait_for_workers(1, timeout=LONG)

            def kill(group: int) -> None:
                if group == 1:
                    scheduler.kill()

            found, workers = prove(client, kill, patience=1.0)
        assert workers.sorrow is not None
        assert "Dask scheduler" in workers.sorrow
        assert found["status"] == "interrupted"
        assert found["lower_bound"] <= found["cost"]
    finally:
        for process in (scheduler, worker):
            if process is not None:
                process.kill()
                process.wait()


def test_bad_clusters_are_told_in_a_sentence(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr("provetree.cluster.client._CONNECTING", 0.3)
    nowhere = connected("tcp://127.0.0.1:9", None)
    with pytest.raises(ClusterError, match=r"There is no Dask scheduler at tcp://127.0.0.1:9"):
        nowhere.__enter__()
    monkeypatch.setattr("provetree.cluster.client.__version__", "9.9")
    with pytest.raises(
        ClusterError, match=r"The worker tcp://\S+ has provetree \S+, and the client"
    ):
        check_workers(client)


def test_without_a_client_the_sentence_says_what_to_do() -> None:
    with pytest.raises(ClusterError, match="needs an active client"):
        active_client()


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(20))
def test_many_small_proofs_among_kills_joins_and_limits(part: int) -> None:
    """50 runs each: no wrong bound, no other tree, nothing left behind."""
    rng = np.random.default_rng(part)
    faults = without_workers = 0
    with local_cluster(2) as cluster, Client(cluster) as client:
        for run in range(50):
            seed = 1000 * part + run
            problem = hard_problem(int(rng.integers(20, 160)), int(rng.integers(3, 5)), seed)
            plain = core_search(problem)
            kind, at = str(rng.choice(["kill", "kill all", "join", "limit"])), rng.integers(1, 4)
            victims = pids(client)[: None if kind == "kill all" else 1]
            size = int(rng.integers(1, 4))
            groups = 0

            def fault(
                _: list[Answer],
                kind: str = kind,
                at: int = int(at),
                victims: list[int] = victims,
                size: int = size,
            ) -> None:
                nonlocal groups, faults
                groups += 1
                if groups != at:
                    return
                faults += kind != "limit"
                if kind in ("kill", "kill all"):
                    for victim in victims:
                        with suppress(ProcessLookupError):  # one that was leaving anyway
                            os.kill(victim, signal.SIGKILL)
                elif kind == "join":
                    cluster.scale(size)

            limit = 0.05 if kind == "limit" else LONG
            table = ProofTable(problem, 1 << 26)
            with DaskExchange(client, table, on_answers=fault, patience=60.0) as workers:
                found = core_search(problem, workers=workers, time_limit=limit)
            assert found["lower_bound"] <= plain["cost"] <= found["cost"], seed
            if found["status"] == "optimal":
                assert found["cost"] == plain["cost"], seed
                # A limit may end the choice among equally good trees, and then says so.
                if kind != "limit" or found["counters"]["tie_rule_complete"]:
                    assert same_tree(found, plain), (seed, kind)
            elif kind != "limit":
                # The last worker was killed while another one left: Dask starts none in its place.
                assert workers.sorrow is not None, (seed, kind)
                assert "has had no worker" in workers.sorrow, (seed, kind, workers.sorrow)
                without_workers += 1
            cluster.scale(2)
            client.wait_for_workers(1, timeout=LONG)
        assert_clean(client)
    assert faults > 15
    assert without_workers < 25  # a busy machine may take longer to start workers anew
