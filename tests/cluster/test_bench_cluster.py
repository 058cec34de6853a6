"""``provetree bench cluster``: the real search on made-up workers proves what one thread proves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from provetree.bench.arguments import build_parser
from provetree.bench.cluster import MadeUpCluster, _search, busy_share, run
from provetree.problem.problem import build_problem


@pytest.mark.parametrize("workers", [1, 7, 300])
def test_made_up_workers_prove_the_optimum(workers: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = (X[:, 0] * X[:, 1] > 0) ^ (rng.random(120) < 0.2)
    problem = build_problem(X, y.astype(int), n_classes=2, max_depth=3)
    cluster = MadeUpCluster(problem.table, workers, client_seconds=0.008, latency=0.005)
    found, plain = _search(problem, cluster), _search(problem, None)
    assert found["status"] == "optimal"
    assert found["cost"] == plain["cost"]
    # Nobody is faster than the client, nor than the work divided by all.
    assert cluster.clock >= cluster.groups * cluster.client_seconds
    assert cluster.clock >= cluster.spent / workers


def test_a_search_is_cut_off() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    problem = build_problem(X, y, n_classes=2, max_depth=5)
    cluster = MadeUpCluster(
        problem.table, 4, client_seconds=0.008, latency=0.005, budget=0.1, cap=0.05
    )
    found = _search(problem, cluster)
    assert found["status"] == "interrupted"
    assert found["lower_bound"] < found["cost"]


def test_the_client_is_the_limit_of_many_workers() -> None:
    shares = [busy_share([0.01], n, client_seconds=0.008, latency=0.005)[0] for n in (4, 64, 4096)]
    assert shares[0] > 0.9
    assert shares[2] < 0.1
    assert shares == sorted(shares, reverse=True)


def test_recorded_durations_are_simulated_and_drawn(tmp_path: Path) -> None:
    recorded, chart = tmp_path / "durations.json", tmp_path / "chart.svg"
    recorded.write_text(json.dumps({"tasks": [[0.1, 2.0], [0.2, 4.0]]}), encoding="utf-8")
    flags = ["--durations", str(recorded), "--chart", str(chart), "--simulate", "4", "64"]
    lines: list[str] = []
    assert run(build_parser().parse_args(["bench", "cluster", *flags]), lines.append) == 0
    assert "2 tasks: mean 3.000 s" in lines[0]
    assert [line.split()[0] for line in lines[2:4]] == ["4", "64"]
    assert "<svg" in chart.read_text(encoding="utf-8")
