"""The checker by itself: a certificate that was written once, and what must be refused."""

from pathlib import Path

import pytest

from provetree_check import RefusedError, check, main, read_csv

FILES = Path(__file__).parent / "files"
SAID = "no tree of depth 3 makes fewer than 10 errors on these 60 rows"


def certificate_with(old, new, folder):
    header, _, body = (FILES / "proof.ptc").read_bytes().partition(b"\n\n")
    assert old in header
    path = folder / "changed.ptc"
    path.write_bytes(header.replace(old, new, 1) + b"\n\n" + body)
    return path


def test_a_good_certificate_is_checked(capsys):
    assert main([str(FILES / "proof.ptc"), str(FILES / "table.csv")]) == 0
    assert capsys.readouterr().out == f"checked: {SAID}\n"


def test_processes_and_parts_say_the_same():
    cells = read_csv(FILES / "table.csv")
    assert main([str(FILES / "proof.ptc"), str(FILES / "table.csv"), "--jobs", "2"]) == 0
    assert {check(FILES / "proof.ptc", cells, part, 2) for part in (1, 2)} == {SAID}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (b"bound\t10", b"bound\t11", "the tree costs less than the bound"),
        (b"limits\t3\t7\t1", b"limits\t4\t15\t1", "about smaller trees"),
        (b"certificate 1", b"certificate 9", "version"),
        (b"objective\t1\t0", b"objective\t2\t0", "the tree costs something else"),
        (b"target\ty", b"target\tz", "no column 'z'"),
        (b"feature\tx2\tnumber\n", b"", "about another table"),
    ],
)
def test_what_is_not_shown_is_refused(old, new, why, tmp_path):
    with pytest.raises(RefusedError, match=why):
        check(certificate_with(old, new, tmp_path), read_csv(FILES / "table.csv"))


def test_a_bound_without_its_tree_is_refused(tmp_path):
    path = certificate_with(b"bound\t10\ntree\t10\t", b"bound\t11\nmade by\t10\t", tmp_path)
    with pytest.raises(RefusedError, match="the last claim does not reach the bound"):
        check(path, read_csv(FILES / "table.csv"))


def test_files_that_are_no_certificates_end_with_status_1(tmp_path, capsys):
    path = tmp_path / "cut.ptc"
    path.write_bytes((FILES / "proof.ptc").read_bytes()[:-1])
    assert main([str(path), str(FILES / "table.csv")]) == 1
    assert main([str(tmp_path / "none.ptc"), str(FILES / "table.csv")]) == 1
    assert "checked: no tree" not in capsys.readouterr().out


def test_the_checker_imports_numpy_and_the_standard_library_alone():
    text = (Path(__file__).parents[1] / "provetree_check.py").read_text()
    assert "import provetree" not in text and "from provetree" not in text
