"""Runs what the documentation shows: the Python of the pages, the examples of the docstrings."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
from pathlib import Path

import pytest

import provetree

ROOT = Path(__file__).resolve().parents[1]
PAGES = ["README.md", "docs/user-guide.md", "docs/column-generation.md"]
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(provetree.__path__, "provetree.")
    if not module.name.endswith(("__main__", "_core"))
)


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:  # one after another: later blocks use the names of earlier ones
        exec(compile(block, page, "exec"), names)


@pytest.mark.parametrize("page", [*PAGES, "docs/index.md", "docs/benchmarks.md", "CONTRIBUTING.md"])
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    environment = dict(os.environ)
    failed, _ = doctest.testmod(module)
    assert failed == 0
    assert dict(os.environ) == environment, "an example left the environment changed"
