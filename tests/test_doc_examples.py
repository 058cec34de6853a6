"""Runs what the documentation shows: code and commands of the pages, examples, docstrings."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest

import provetree

ROOT = Path(__file__).resolve().parents[1]
ALL_PAGES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/*.md"))
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
PAGES = [
    page
    for page in ["README.md", *ALL_PAGES]
    if BLOCK.search((ROOT / page).read_text(encoding="utf-8"))
]
EXAMPLES = sorted(path.name for path in ROOT.glob("examples/plot_*.py"))
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(provetree.__path__, "provetree.")
    if not module.name.endswith(("__main__", "_core"))
)
#: Modules that need more than the package itself.
NEEDED = {
    "provetree.cli": ("click", "rich", "polars", "matplotlib"),
    "provetree.export.onnx": ("onnx", "onnxruntime"),
    "provetree.studio": ("starlette", "uvicorn"),
    "provetree.bench.new_rows.diagram": ("matplotlib",),
}


def write_customers(path: Path, n: int = 300) -> None:
    """The table the pages speak of."""
    rng = np.random.default_rng(0)
    age, visits = rng.integers(18, 80, n), rng.integers(0, 9, n)
    region = rng.choice(["north", "south", "west"], n)
    churn = np.where((visits < 3) ^ (region == "west"), "yes", "no")
    lines = ["age,visits,region,churn"]
    for i in range(n):
        lines.append(f"{age[i] if i % 9 else ''},{visits[i]},{region[i]},{churn[i]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_cars(path: Path, n: int = 200) -> None:
    """The table with a number to predict."""
    rng = np.random.default_rng(0)
    km, fuel = rng.integers(1, 200, n), rng.choice(["petrol", "diesel"], n)
    price = (30000 - 90 * km + 2500 * (fuel == "diesel") + rng.normal(0, 900, n)).round(2)
    lines = [f"{a},{b},{c}" for a, b, c in zip(km, fuel, price, strict=True)]
    path.write_text("\n".join(["km,fuel,price", *lines]) + "\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_customers(tmp_path / "customers.csv")
    write_customers(tmp_path / "new.csv", 40)
    write_cars(tmp_path / "cars.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    names: dict[str, object] = {}
    # One after another: later blocks use the names and files of earlier ones.
    if page == "docs/command-line.md":
        run_command("provetree fit customers.csv --target churn --save model.json")
    for kind, block in BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(block, page, "exec"), names)
            continue
        for line in block.splitlines():
            assert line.startswith("$ "), "console blocks show commands only"
            run_command(line[2:])


def run_command(line: str) -> None:
    pytest.importorskip("click")
    from provetree.cli import main

    program, *words = shlex.split(line)
    assert program == "provetree"
    assert main(words) == 0, line


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    monkeypatch.setattr(pyplot, "show", lambda: None)
    runpy.run_path(str(ROOT / "examples" / name))
    pyplot.close("all")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", *ALL_PAGES])
def test_links_of_a_page_lead_somewhere(page: str) -> None:
    path = ROOT / page
    for target in re.findall(r"\]\(([^)#]+)", path.read_text(encoding="utf-8")):
        # The gallery is made when the site is built.
        if not target.startswith(("http", "gallery/")):
            assert (path.parent / target).exists(), target


def test_the_reference_lists_every_public_name() -> None:
    reference = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r":: provetree\.(?:\w+\.)*(\w+)$", reference, flags=re.MULTILINE))
    assert set(provetree.__all__) - {"__version__"} <= listed


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    for module_name, packages in NEEDED.items():
        if name == module_name or name.startswith(f"{module_name}."):
            for package in packages:
                pytest.importorskip(package)
    module = importlib.import_module(name)
    importlib.import_module("provetree_check")  # says how many threads NumPy has, once
    environment = dict(os.environ)
    failed, _ = doctest.testmod(module)
    assert failed == 0
    assert dict(os.environ) == environment, "an example left the environment changed"
