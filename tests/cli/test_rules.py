"""Rules on the command line."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from provetree import load_model
from provetree.cli.main import main


def table(folder: Any) -> str:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 50, (120, 3))
    lines = ["zip,age,debt,ok"]
    for a, b, c in x.tolist():
        lines.append(f"{a},{b},{c},{'yes' if a + c > 50 else 'no'}")
    path = folder / "table.csv"
    path.write_text("\n".join(lines))
    return str(path)


def test_a_file_of_rules(tmp_path: Any) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text(
        json.dumps(
            {
                "fixed_splits": {"": {"column": "age", "threshold": 20.5}},
                "monotonic_cst": {"debt": 1},
            }
        )
    )
    model, report = str(tmp_path / "model.json"), str(tmp_path / "report.html")
    arguments = ["fit", table(tmp_path), "--target", "ok", "--no-tune", "--depth", "2"]
    code = main([*arguments, "--rules", str(rules), "--forbid", "zip", "-s", model, "-r", report])
    assert code == 0
    found = load_model(model)
    assert found.tree.feature_names[int(found.tree.feature[0])] == "age"
    assert "zip" not in {found.tree.column_names[c] for c in found.tree.columns_used}
    assert "No split asks about zip." in found.proof.parameters["rules"]
    assert "No split asks about zip." in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--forbid", "zip"], "need --no-tune"),
        (["--no-tune", "--rules", "nothing.json"], "--rules must be a JSON file"),
        (["--no-tune", "--forbid", "street"], "Got 'street'"),
    ],
)
def test_what_cannot_be_meant(
    tmp_path: Any, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    code = main(["fit", table(tmp_path), "--target", "ok", *arguments])
    assert code == 2
    assert words in " ".join(capsys.readouterr().err.split())
