"""What a command loads before it answers: short commands none of the packages that take long."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from provetree.cli import main
from provetree.cli.deferred import DEFERRED

SOLVERS_AND_PICTURES = {"highspy", "matplotlib", "onnx", "ortools"}
HEAVY = {"numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "rich", *SOLVERS_AND_PICTURES}


def loaded(*words: str) -> set[str]:
    """Run a command in a process of its own and return the modules that it has loaded."""
    code = (
        "import atexit, sys\n"
        "from provetree.cli.main import main\n"
        "atexit.register(lambda: print('\\n' + ' '.join(\n"
        "    name for name, module in sys.modules.items() if module is not None)))\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 2), done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    rows = [f"{i % 17},{'abc'[i % 3]},{'yes' if i % 17 > 8 else 'no'}" for i in range(120)]
    path.write_text("\n".join(["number,letter,target", *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    "words",
    [
        ["--help"],
        ["--version"],
        [],
        ["plant"],
        ["fit", "--help"],
        ["fit", "--plant"],
        ["fit", "table.csv", "-t", "y", "--depth", "deep"],
        ["predict"],
        ["predict", "nowhere.json", "nowhere.csv"],
        ["fit", "nowhere.csv", "-t", "y"],
        ["compare", "--help"],
        ["bench", "--help"],
        ["bench", "plant"],
        ["bench", "scaling", "--plant"],
    ],
    ids=" ".join,
)
def test_helps_and_wrong_words_load_nothing_heavy(words: list[str]) -> None:
    assert not HEAVY & loaded(*words)


def test_predicting_loads_a_table_reader_and_the_tree(table: Path, tmp_path: Path) -> None:
    model, predictions = tmp_path / "model.json", tmp_path / "predictions.csv"
    assert main(["fit", str(table), "-t", "target", "--save", str(model), "--quiet"]) == 0
    found = loaded("predict", str(model), str(table), "-o", str(predictions))
    assert predictions.exists()
    assert {"numpy", "polars"} <= found
    assert not (HEAVY - {"numpy", "polars"}) & found


def test_fitting_loads_of_scikit_learn_what_cart_needs(table: Path) -> None:
    found = loaded("fit", str(table), "-t", "target")
    assert "sklearn.tree._classes" in found
    assert not (SOLVERS_AND_PICTURES | {"pandas"}) & found
    executed = {"scipy.stats._stats_py", "sklearn.neighbors._base"}
    assert {name.rpartition(".")[0] for name in executed} == set(DEFERRED)
    assert not executed & found


def test_no_result_depends_on_what_is_deferred(table: Path, capsys: object) -> None:
    words = ["fit", str(table), "-t", "target", "--json", "--class-weight", "balanced"]
    words += ["--time-limit", "none", "--leaves", "3"]  # nothing may depend on the machine
    assert main(words) == 0
    here = json.loads(capsys.readouterr().out)  # type: ignore[attr-defined]
    done = subprocess.run(
        [sys.executable, "-m", "provetree", *words], capture_output=True, text=True, check=True
    )
    there = json.loads(done.stdout)
    for result in (here, there):
        del result["seconds"], result["cart"]["seconds"]
    assert here == there


def test_deferred_packages_work_when_they_are_called() -> None:
    code = (
        "import sys\n"
        "from provetree.cli.deferred import defer_unused_packages\n"
        "defer_unused_packages()\n"
        "import sklearn.tree, sklearn.neighbors, scipy.stats\n"
        "assert 'sklearn.neighbors._base' not in sys.modules\n"
        "model = sklearn.neighbors.KNeighborsClassifier(1).fit([[0.0], [1.0]], [0, 1])\n"
        "print(model.predict([[0.9]])[0], scipy.stats.norm.cdf(0.0), hasattr(scipy.stats, 'no'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1 0.5 False\n"
