"""A search with a mistake in it never has a certificate of a false bound that is checked."""

from __future__ import annotations

import shutil

import pytest

from testkit.mistakes import MISTAKES, ROOT, MistakenCore


@pytest.mark.parametrize("name", MISTAKES)
def test_the_core_has_the_line(name: str) -> None:
    """Else the mistake below would be none."""
    mistake = MISTAKES[name]
    assert (ROOT / "core" / mistake.file).read_text().count(mistake.right) == 1


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> MistakenCore:
    assert shutil.which("cmake") is not None
    return MistakenCore(tmp_path_factory.mktemp("mistaken"))


@pytest.mark.fuzz
@pytest.mark.parametrize("name", MISTAKES)
def test_no_mistake_is_certified(name: str, core: MistakenCore) -> None:
    seen = core.with_mistake(MISTAKES[name], 0, 1500)
    assert seen["fooled"] == 0
    assert seen["lower bound"] == seen["wrong"]
    # It matters: the checker, the writer or the bound of the certificate has shown it.
    assert seen["refused"] + seen["not written"] + seen["wrong"] > 0
