"""The checker by itself: a certificate that was written once, and what must be refused."""

import hashlib
import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from provetree_check import RefusedError, check, main, number, read_csv

FILES = Path(__file__).parent / "files"
SAID = "no tree of depth 3 makes fewer than 10 errors on these 60 rows"


def certificate_with(changes, folder):
    first, header, *claims = (FILES / "proof.ptc").read_bytes().split(b"\n")[:-2]
    header = json.dumps(json.loads(header) | changes, separators=(",", ":"))
    lines = [first, header.encode(), *claims, b""]
    content = b"\n".join(lines)
    path = folder / "changed.ptc"
    path.write_bytes(content + f"digest {hashlib.sha256(content).hexdigest()}\n".encode())
    return path


def test_a_good_certificate_is_checked(capsys):
    assert main([str(FILES / "proof.ptc"), str(FILES / "table.csv")]) == 0
    assert capsys.readouterr().out == f"checked: {SAID}\n"


def test_processes_and_parts_say_the_same():
    cells = read_csv(FILES / "table.csv")
    assert main([str(FILES / "proof.ptc"), str(FILES / "table.csv"), "--jobs", "2"]) == 0
    assert {check(FILES / "proof.ptc", cells, part, 2) for part in (1, 2)} == {SAID}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"bound": 11}, "the tree costs less than the bound"),
        ({"bound": 11, "tree": None}, "the last claim does not reach the bound"),
        ({"depth": 4, "splits": 15}, "of smaller trees"),
        ({"scale": 2, "bound": 20}, "the last claim does not reach the bound"),
        ({"target": "z"}, "no column 'z'"),
        ({"features": [["x0", "number"]]}, "about another table"),
        ({"sample": [1]}, "the sample is none of the rows"),
        ({"depth": 2**40}, "the depth is out of bounds"),
        ({"splits": 10**18}, "the header is not of the form"),
        ({"unknown": 1}, "the header is not of the form"),
    ],
)
def test_what_is_not_shown_is_refused(changes, why, tmp_path):
    with pytest.raises(RefusedError, match=why):
        check(certificate_with(changes, tmp_path), read_csv(FILES / "table.csv"))


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="needs a copy of itself")
def test_a_process_that_dies_is_no_proof(tmp_path):
    """A pool that waits for a worker that was killed, for want of memory say, waits forever."""
    kills = "import os, provetree_check as p; p.Proof.check_claim = lambda *_: os._exit(9)"
    ends = f"import sys; {kills}; sys.exit(p.main(sys.argv[1:]))"
    words = [sys.executable, "-c", ends, FILES / "proof.ptc", FILES / "table.csv"]
    done = subprocess.run(words, cwd=FILES.parents[1], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert done.stderr.startswith("not checked: ")


def test_an_unknown_version_is_refused(tmp_path):
    path = tmp_path / "proof.ptc"
    data = (FILES / "proof.ptc").read_bytes()
    path.write_bytes(data.replace(b"certificate 1", b"certificate 9", 1))
    with pytest.raises(RefusedError, match="its version is not known"):
        check(path, read_csv(FILES / "table.csv"))


def test_every_changed_byte_is_noticed(tmp_path):
    data = (FILES / "proof.ptc").read_bytes()
    cells, path = read_csv(FILES / "table.csv"), tmp_path / "proof.ptc"
    for at in range(0, len(data), len(data) // 40):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(RefusedError):
            check(path, cells)


def test_the_checker_is_short_enough_to_be_read():
    lines = (Path(__file__).parents[1] / "provetree_check.py").read_text().splitlines()
    assert len(lines) <= 400
    assert max(map(len, lines)) <= 100


def test_files_that_are_no_certificates_end_with_status_1(tmp_path, capsys):
    path = tmp_path / "cut.ptc"
    path.write_bytes((FILES / "proof.ptc").read_bytes()[:-1])
    assert main([str(path), str(FILES / "table.csv")]) == 1
    assert main([str(tmp_path / "none.ptc"), str(FILES / "table.csv")]) == 1
    assert "checked: no tree" not in capsys.readouterr().out


def test_the_checker_imports_numpy_and_the_standard_library_alone():
    text = (Path(__file__).parents[1] / "provetree_check.py").read_text()
    assert "import provetree" not in text and "from provetree" not in text


@pytest.mark.parametrize("text", ["1e-999999999", "1e99999", "1e", "0x1", "\u0661", "1_0"])
def test_numbers_that_no_table_needs_are_refused(text):
    """A weight of 1e-999999999 is a fraction of a billion digits."""
    with pytest.raises(RefusedError, match="is no number"):
        number(text)
    assert number("-1.5E-0300") == -1.5e-300
