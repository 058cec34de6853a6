"""``provetree fit --certificate`` and ``provetree check``: what is checked, and what never is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from provetree.cli import main

SAID = "checked: no tree of depth 2 makes fewer than "


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with a table, its certificate, and others that are not quite these."""
    rng = np.random.default_rng(0)
    rows = [f"{a},{b},{int(a > 4) ^ (b == 3)}" for a, b in rng.integers(0, 9, (60, 2)).tolist()]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["a,b,y", *rows]) + "\n")
    (tmp_path / "shuffled.csv").write_text("\n".join(["a,b,y", *rows[::-1]]) + "\n")
    (tmp_path / "other.csv").write_text("\n".join(["a,b,y", *rows[1:], "12,1,0"]) + "\n")
    (tmp_path / "narrow.csv").write_text("a,y\n1,0\n2,1\n")
    (tmp_path / "empty.csv").write_text("")
    words = ["fit", table, "--target", "y", "--depth", "2", "--no-tune", "--quiet"]
    assert main([str(word) for word in [*words, "--certificate", tmp_path / "proof.ptc"]]) == 0
    data = (tmp_path / "proof.ptc").read_bytes()
    (tmp_path / "cut.ptc").write_bytes(data[:-20])
    middle = len(data) // 2
    changed = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
    (tmp_path / "damaged.ptc").write_bytes(changed)
    (tmp_path / "newer.ptc").write_bytes(data.replace(b"certificate 1\n", b"certificate 2\n", 1))
    (tmp_path / "foreign.ptc").write_bytes(b"PK\x03\x04" + bytes(range(256)))
    capsys.readouterr()
    return tmp_path


def test_the_order_of_the_rows_does_not_matter(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for table in ("table.csv", "shuffled.csv"):
        assert main(["check", str(folder / "proof.ptc"), str(folder / table)]) == 0
        assert capsys.readouterr().out.startswith(SAID)


@pytest.mark.parametrize(
    ("certificate", "table", "why"),
    [
        ("proof.ptc", "other.csv", "the certificate is about another table"),
        ("proof.ptc", "narrow.csv", "the table has no column 'b'"),
        ("proof.ptc", "empty.csv", "the table is empty"),
        ("proof.ptc", "proof.ptc", "the table is empty or irregular"),
        ("cut.ptc", "table.csv", "the certificate is cut off or damaged"),
        ("damaged.ptc", "table.csv", "the certificate is cut off or damaged"),
        ("newer.ptc", "table.csv", "its version is not known"),
        ("foreign.ptc", "table.csv", "this is no certificate"),
        ("table.csv", "table.csv", "this is no certificate"),
    ],
)
def test_bad_files_are_never_checked(
    certificate: str, table: str, why: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(folder / certificate), str(folder / table)]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("not checked: ")
    assert why in told.err
    assert told.err.count("\n") == 1
