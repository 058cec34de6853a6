"""The benchmark of certificates."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from provetree.bench import certificates
from provetree.bench.arguments import build_parser


def test_a_small_table_is_measured_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 5, (30, 3))
    lines = ["a,b,target", *(f"{a},{b},{c % 2}" for a, b, c in rows.tolist())]
    (tmp_path / "s-tiny.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    facts = {"rows": 30, "features": 2, "suites": ["s"]}
    (tmp_path / "manifest.json").write_text(json.dumps({"s-tiny": facts}))
    monkeypatch.setenv("PROVETREE_DATA", str(tmp_path))
    words = ["bench", "certificates", "--suite", "s", "--depth", "2", "--repeat", "1"]
    given = build_parser().parse_args([*words, "--keep", str(tmp_path / "kept")])
    assert certificates.run(given) == 0
    said = capsys.readouterr().out
    assert "s-tiny" in said
    assert "geometric mean of 1 tables" in said
    assert (tmp_path / "kept" / "s-tiny-2.ptc").is_file()
