"""Finds the cluster that a proof runs on, or starts a local one, and checks its workers."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from provetree import __version__
from provetree.cluster.exchange import DaskExchange
from provetree.cluster.sent_table import Client
from provetree.cluster.worker import ProofTable
from provetree.errors import ClusterError
from provetree.options import thread_count
from provetree.problem.problem import Problem
from provetree.solution import Limits

#: Seconds for a connection, and for the first worker of a cluster.
_CONNECTING, _FIRST_WORKER = 10.0, 30.0
#: A lost worker costs its tasks and nothing else: other tasks that were with it are not to blame.
_SETTINGS = {
    "distributed.scheduler.allowed-failures": 10,
    "distributed.scheduler.worker-saturation": 1.1,
    "distributed.worker.daemon": True,
    # A worker of a local cluster that is killed starts anew, which takes a busy machine its time.
    "distributed.deploy.lost-worker-timeout": "120s",
}
#: A terminal sends Ctrl-C to the workers as well, which would die of it with long messages: it is
#: for the client, which takes their tasks back.
_IGNORE_CTRL_C = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"


def active_client() -> Client:
    """Return the client of Dask that is active, or say what is missing."""
    distributed = _distributed()
    try:
        client = distributed.get_client()
    except ValueError:
        client = None
    if client is None or client.status != "running":
        raise ClusterError(
            "executor='dask' needs an active client: make one with "
            "distributed.Client('tcp://host:8786'), or distributed.Client() for this machine."
        )
    if client.asynchronous:
        raise ClusterError(
            "executor='dask' needs a client that waits for its answers. "
            "Got one with asynchronous=True instead."
        )
    found: Client = client
    return found


@contextmanager
def connected(where: str, n_jobs: int | None) -> Iterator[Client]:
    """Connect to a scheduler, or start a cluster of `n_jobs` processes where it says "local"."""
    distributed = _distributed()
    import dask

    with dask.config.set(_SETTINGS):
        if where != "local":
            try:
                client = distributed.Client(where, timeout=_CONNECTING)
            except (OSError, ValueError, TypeError) as failure:
                raise ClusterError(
                    f"There is no Dask scheduler at {where}: {_short(failure)}"
                ) from failure
            with client:
                yield client
            return
        with (
            distributed.LocalCluster(
                n_workers=thread_count(n_jobs),
                threads_per_worker=1,
                dashboard_address=":0",
                preload=_IGNORE_CTRL_C,
                silence_logs=logging.ERROR,  # tasks that are taken back are no news
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client


def check_workers(client: Client) -> None:
    """Wait for a worker, and see that all of them have this version of the package."""
    try:
        client.wait_for_workers(1, timeout=_FIRST_WORKER)
    except TimeoutError:
        raise ClusterError(
            f"The Dask cluster has no worker: none came in {_FIRST_WORKER:g} seconds."
        ) from None

    # It travels by value: a worker without the package could not find it by its name.
    def version() -> str | None:
        try:
            import provetree
        except ImportError:
            return None
        return str(provetree.__version__)

    version.__module__ = "__main__"
    found = client.run(version, on_error="return")
    for worker, theirs in sorted(found.items()):
        if isinstance(theirs, OSError):  # it has left since
            continue
        if theirs != __version__:
            has = f"has provetree {theirs}" if isinstance(theirs, str) else "lacks provetree"
            raise ClusterError(
                f"The worker {worker} {has}, and the client has {__version__}: "
                "all need the same version."
            )


@contextmanager
def dask_workers(problem: Problem, limits: Limits, kernel: str) -> Iterator[DaskExchange]:
    """Lend the workers of the active client to one search."""
    client = active_client()
    check_workers(client)
    table = ProofTable(problem, limits.memory_limit, kernel)
    with _leaving_its_thread(), DaskExchange(client, table, depth=problem.max_depth) as exchange:
        yield exchange


@contextmanager
def _leaving_its_thread() -> Iterator[None]:
    """Give the thread of a task back to its worker, where a search is a task of the cluster itself.

    It waits for other tasks, which might have no thread else, and then nothing would ever end.
    """
    distributed = _distributed()
    try:
        distributed.get_worker().get_current_task()
    except Exception:  # versions of Dask differ in what they raise outside of tasks
        yield
        return
    distributed.secede()
    try:
        yield
    finally:
        distributed.rejoin()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ClusterError(
            "A proof on a cluster needs the package 'distributed': install it with "
            "pip install 'provetree[dask]'."
        ) from None
    return distributed


def _short(failure: BaseException) -> str:
    """Return the first line of what went wrong."""
    return (str(failure).strip() or type(failure).__name__).splitlines()[0]
