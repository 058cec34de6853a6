"""The benchmark of near-optimal trees: what it counts, and what it says of peers that differ."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from provetree.bench import BenchTable, near_optimal
from provetree.bench.arguments import build_parser
from provetree.bench.near_optimal import Count, counted, counted_by_peer
from testkit.naive_near_optimal import all_trees


def binary_table(seed: int = 0) -> BenchTable:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (12, 3)).astype(float)
    return BenchTable("tiny", X, ((X[:, 0] == 1) ^ (rng.random(12) < 0.3)).astype(np.int64))


def test_a_price_per_leaf_is_that_of_the_peers() -> None:
    table = binary_table()
    trees = all_trees(table.X, table.y, np.ones(12), [False] * 3, 2, redundant=True)
    # As they count: so much for each leaf, and one leaf is one more than its splits.
    costs = [tree.errors + 2 * (tree.n_splits + 1) for tree in trees]
    found = counted(table, depth=2, slack=3, price=2, limit=60.0)
    assert found.optimum + 2 == min(costs)
    assert found.trees == sum(cost <= min(costs) + 3 for cost in costs)


def test_a_peer_that_is_not_there_is_told_apart() -> None:
    asked = {"price": 1, "slack": 1, "depth": 1, "limit": 5}
    found = counted_by_peer("no such peer", binary_table(), sys.executable, asked, 60.0)
    assert found.trees is None
    assert found.status == "crashed"
    assert found.message


@pytest.mark.parametrize("off", [0, 1])
def test_a_peer_that_counts_otherwise_fails_the_benchmark(
    off: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(near_optimal, "load_table", lambda name: binary_table())
    trees = counted(binary_table(), depth=3, slack=0, price=1, limit=60.0).trees
    assert trees is not None
    monkeypatch.setattr(
        near_optimal, "counted_by_peer", lambda *given, **more: Count(trees + off, 1.0)
    )
    output = tmp_path / "figures.json"
    command = ["bench", "near-optimal", "--tables", "cp4im-vote", "--output", str(output)]
    assert near_optimal.run(build_parser().parse_args(command)) == off
    assert "cp4im-vote" in capsys.readouterr().out
    assert [one["kind"] for one in json.loads(output.read_text())["results"]] == ["raw", "binary"]
