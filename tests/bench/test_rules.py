"""The benchmark of rules: each rule is one that a tree can keep, and times are of the same fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from provetree import OptimalTreeClassifier
from provetree.bench import BenchTable, rules
from provetree.bench.arguments import build_parser


def table() -> BenchTable:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    return BenchTable("tiny", X, ((X[:, 0] > 0) ^ (rng.random(60) < 0.1)).astype(np.int64))


def test_every_rule_is_tried_and_kept() -> None:
    tiny = table()
    free = OptimalTreeClassifier(max_depth=2).fit(tiny.X, tiny.y)
    found = rules.rules_of(tiny, free)
    assert set(found) == set(rules.RULES)
    for rule in found.values():
        model, seconds = rules.timed(tiny, rule, 2, 10.0, 1)
        assert model.status_ == "optimal"
        assert model.objective_ >= free.objective_
        assert seconds > 0


def test_a_run_prints_ratios_and_keeps_results(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rules, "load_table", lambda name: table())
    output = tmp_path / "rules.json"
    words = [
        "bench",
        "rules",
        "--tables",
        "tiny",
        "--depth",
        "2",
        "--repeat",
        "1",
        "--output",
        str(output),
    ]
    assert rules.run(build_parser().parse_args(words)) == 0
    printed = capsys.readouterr().out
    assert "no_interactions" in printed
    assert output.exists()
