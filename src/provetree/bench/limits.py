"""``provetree bench limits``: how promptly the search stops, and how much memory it takes.

Measures, each in a process of its own and on a made-up noisy table: how far fits overshoot their
time limit, how long Ctrl-C takes to stop one, and the peak of resident memory.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from provetree.bench.data import BenchTable
from provetree.bench.process import START_GRACE, default_core, memory, one_core_environment, pin
from provetree.bench.report import Measurement, format_measurements

TIME_LIMITS = (0.1, 0.5, 2.0)
"""Time limits whose overshoot is measured, in seconds."""

INTERRUPT_AFTER = (0.2, 1.0, 3.0)
"""When the interrupt is sent, in seconds after the fit began."""

PROMPT = 0.2
"""Largest overshoot and latency that pass, in seconds."""

SMALL = 300.0
"""Largest peak of resident memory that passes, in megabytes (10**6 bytes)."""


def synthetic_table(rows: int, columns: int, seed: int = 0) -> BenchTable:
    """Return a table on which proofs are hard: distinct values, one label in five is noise.

    Examples
    --------
    >>> from provetree.bench.limits import synthetic_table
    >>> synthetic_table(100, 3).X.shape
    (100, 3)
    """
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, columns))
    pattern = (
        (X[:, 0] > 0.3)
        ^ (X[:, 1 % columns] > -0.2)
        ^ (X[:, 2 % columns] + 0.5 * X[:, 3 % columns] > 0)
    )
    noise = random.random(rows) < 0.2
    return BenchTable("synthetic", X, (pattern ^ noise).astype(np.int64))


def start_child(request: Mapping[str, Any]) -> subprocess.Popen[str]:
    """Start a process that makes one fit, and return once the fit is about to begin."""
    child = subprocess.Popen(
        (sys.executable, "-m", "provetree.bench.limits", json.dumps(request)),
        stdout=subprocess.PIPE,
        text=True,
        env=one_core_environment(),
    )
    assert child.stdout is not None
    if child.stdout.readline().strip() != "ready":
        child.communicate()
        raise RuntimeError(f"the child process ended with status {child.returncode} before its fit")
    return child


def finish_child(child: subprocess.Popen[str], timeout: float) -> dict[str, Any]:
    """Wait for the child's answer; kill it when it takes longer than `timeout` seconds."""
    with child:
        try:
            child.wait(timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            raise
        # Not by `communicate`: the line "ready" may have brought more with it.
        answer = "" if child.stdout is None else child.stdout.read()
    if child.returncode != 0:
        raise RuntimeError(f"the child process ended with status {child.returncode}")
    document: dict[str, Any] = json.loads(answer)
    return document


def measure_overshoot(request: Mapping[str, Any], limit: float) -> Measurement:
    """Return by how much a fit overshoots its time limit."""
    what = f"overshoot of a {limit:g} s limit, depth {request['depth']}"
    answer = finish_child(start_child({**request, "limit": limit}), limit + START_GRACE)
    return Measurement(what, max(0.0, answer["seconds"] - limit), PROMPT, "s", answer["status"])


def measure_interrupt(request: Mapping[str, Any], after: float) -> Measurement:
    """Return how long a fit continues after Ctrl-C."""
    what = f"Ctrl-C after {after:g} s, depth {request['depth']}"
    child = start_child({**request, "limit": None})
    time.sleep(after)
    sent = time.monotonic()
    child.send_signal(signal.SIGINT)
    # The monotonic clock is one for all processes of the system.
    answer = finish_child(child, START_GRACE)
    return Measurement(what, answer["ended"] - sent, PROMPT, "s", answer["status"])


def measure_memory(request: Mapping[str, Any], limit: float) -> Measurement:
    """Return the peak of resident memory of one fit's process, libraries included."""
    answer = finish_child(start_child({**request, "limit": limit}), limit + START_GRACE)
    what = (
        f"peak memory, depth {request['depth']} ({answer['memory_before']:.0f} MB before the fit)"
    )
    return Measurement(what, answer["memory"], SMALL, "MB", answer["status"])


def _worst(measurements: Iterable[Measurement]) -> Measurement:
    return max(measurements, key=lambda measurement: measurement.value)


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench limits``; the exit status is 1 where a figure is too large."""
    shape = {"rows": arguments.rows, "columns": arguments.columns, "core": default_core()}
    deep = {**shape, "depth": arguments.depth}
    shallow = {**shape, "depth": arguments.memory_depth}
    repeat = range(arguments.repeat)
    results = [_worst(measure_overshoot(deep, limit) for _ in repeat) for limit in TIME_LIMITS]
    results += [_worst(measure_interrupt(deep, after) for _ in repeat) for after in INTERRUPT_AFTER]
    results.append(measure_memory(shallow, arguments.memory_limit))
    print(f"synthetic table, {arguments.rows} x {arguments.columns}, worst of {arguments.repeat}")
    print(format_measurements(results))
    return 0 if all(measurement.passed for measurement in results) else 1


def _child() -> None:
    """Make one fit and tell when it ended, how, and how much memory it took."""
    request = json.loads(sys.argv[1])
    # An interrupted fit warns that its tree is not proven; here that is the point.
    warnings.simplefilter("ignore")
    from provetree import OptimalTreeClassifier

    pin(request["core"])
    warm_up = synthetic_table(60, request["columns"])
    OptimalTreeClassifier(max_depth=2).fit(warm_up.X, warm_up.y)
    table = synthetic_table(request["rows"], request["columns"])
    model = OptimalTreeClassifier(max_depth=request["depth"], time_limit=request["limit"])
    memory_before = memory()
    print("ready", flush=True)
    start = time.monotonic()
    stopped = False
    try:
        model.fit(table.X, table.y)
    except KeyboardInterrupt:
        stopped = True
    ended = time.monotonic()
    answer = {
        "seconds": ended - start,
        "ended": ended,
        "status": "KeyboardInterrupt" if stopped else model.status_,
        "memory_before": memory_before,
        "memory": memory(),
    }
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    _child()
