"""``provetree fit --cluster``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from provetree.cli import main


@pytest.fixture
def table(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    lines = ["a,b,c,label"]
    for row in rng.normal(size=(150, 3)).round(3):
        label = "yes" if (row[0] * row[1] > 0) ^ (rng.random() < 0.1) else "no"
        lines.append(",".join(map(str, [*row, label])))
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_a_local_cluster_proves_the_same_tree(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.html"
    found: list[dict[str, Any]] = []
    # The limit counts from the start, and a cluster may take long to start.
    cluster = ["--cluster", "local", "--jobs", "1", "--time-limit", "none"]
    for flags in (["--no-tune"], [*cluster, "--report", str(report)]):
        assert main(["fit", table, "--target", "label", "--json", "--no-extras", *flags]) == 0
        found.append(json.loads(capsys.readouterr().out))
    alone, far = found
    assert far["status"] == alone["status"] == "optimal"
    assert far["tree"] == alone["tree"]
    assert far["cluster"]["workers"] == 1
    assert alone["cluster"] is None
    assert "Searched on a Dask cluster of 1 worker" in report.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--tune"], "--cluster is for one search: it does not go with --tune."),
        (["--recall", "0.9"], "--cluster is for one search: it does not go with --recall."),
    ],
)
def test_flags_that_do_not_go_together(
    table: str, flags: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", table, "--target", "label", "--cluster", "local", *flags]) == 2
    assert words in capsys.readouterr().err


def test_an_address_without_a_scheduler(
    table: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("provetree.cluster.client._CONNECTING", 0.3)
    assert main(["fit", table, "--target", "label", "--cluster", "tcp://127.0.0.1:9"]) == 2
    assert "There is no Dask scheduler at tcp://127.0.0.1:9" in capsys.readouterr().err
