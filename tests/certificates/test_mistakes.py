"""A search with a mistake in it never has a certificate of a false bound that is checked."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import provetree_check
import pytest

from testkit.certificates import certified_table, parts_of, sealed, structured_table
from testkit.mistakes import MISTAKES, ROOT, STRUCTURED, MistakenCore


@pytest.mark.parametrize("name", MISTAKES)
def test_the_core_has_the_line(name: str) -> None:
    """Else the mistake below would be none."""
    mistake = MISTAKES[name]
    assert (ROOT / "core" / mistake.file).read_text().count(mistake.right) == 1


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> MistakenCore:
    assert shutil.which("cmake") is not None
    return MistakenCore(tmp_path_factory.mktemp("mistaken"))


def one_more(claims: list[Any], how: str) -> list[Any]:
    """Return claims as a search would leave them whose bounds are one too high."""
    found = []
    for k, (shape, relaxed, lower, *rest) in enumerate(claims, 1):
        is_raised = how == "all" or k == len(claims) or (how == "covers") == (len(rest) == 3)
        more = int(is_raised and lower > 0)
        found.append([shape, relaxed + more * (relaxed > 0), lower + more, *rest])
    return found


@pytest.mark.parametrize("how", ["all", "worked out", "covers"])
def test_bounds_that_are_one_too_high_are_refused(how: str, tmp_path: Path) -> None:
    """What a search would write whose bounds are loosened by one, wherever they are met."""
    mattered = 0
    for seed in range(60):
        table = certified_table(seed, tmp_path, most_rows=16)
        header, claims = parts_of(table.path.read_bytes())
        if not claims or header["bound"] != table.optimum:
            continue
        mattered += 1
        header |= {"bound": header["bound"] + 1, "tree": None}
        table.path.write_bytes(sealed(header, one_more(claims, how)))
        with pytest.raises(provetree_check.RefusedError):
            provetree_check.check(table.path, table.cells)
    assert mattered > 20


@pytest.mark.parametrize("many_rows", [False, True])
def test_structured_tables_are_certified(many_rows: bool, tmp_path: Path) -> None:
    """What the bounds below are met on, with a core that has no mistake."""
    for seed in range(6):
        table = structured_table(seed, tmp_path, many_rows=many_rows)
        provetree_check.check(table.path, table.cells)
        assert table.model.certificate_.bound == table.optimum


@pytest.mark.fuzz
@pytest.mark.parametrize("name", [name for name in MISTAKES if name not in STRUCTURED])
def test_no_mistake_is_certified(name: str, core: MistakenCore) -> None:
    expect_no_mistake(core.with_mistake(MISTAKES[name], 0, 1500))


@pytest.mark.fuzz
@pytest.mark.parametrize(("name", "many_rows"), STRUCTURED.items())
def test_no_mistake_on_structured_tables_is_certified(
    name: str, many_rows: bool, core: MistakenCore, tmp_path: Path
) -> None:
    options, optima, last = {"many_rows": many_rows}, [], 500
    for seed in range(last):  # as a core without the mistake proves them
        table = structured_table(seed, tmp_path, **options)
        provetree_check.check(table.path, table.cells)
        assert table.model.certificate_.bound == table.optimum
        optima.append(table.optimum)
    expect_no_mistake(core.with_mistake(MISTAKES[name], 0, last, options, optima))


def expect_no_mistake(seen: dict[str, int]) -> None:
    assert seen["fooled"] == 0
    assert seen["lower bound"] == seen["wrong"]
    # It matters: the checker, the writer or the bound of the certificate has shown it.
    assert seen["refused"] + seen["not written"] + seen["wrong"] > 0
