"""`max_memory`: caches shrink, the answer stays the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from provetree import Limits, OptimalTreeClassifier, build_problem
from provetree.cli.main import main
from provetree.options import ParameterError, byte_count
from provetree.search.blocks import BlockBound
from provetree.search.engine import ExactSearch
from provetree.search.memory import cache_bytes, node_bytes


def table(kind: str, seed: int) -> tuple[Any, Any]:
    """Rows of numbers (searched by sweeps) or of zeros and ones (searched on bits)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(220, 6))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=220) > 0).astype(int)
    return (X > 0.3 if kind == "bits" else X), y


@pytest.mark.parametrize("kind", ["sweeps", "bits"])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_a_tiny_cap_gives_the_same_tree(kind: str, depth: int) -> None:
    for seed in range(2):
        X, y = table(kind, seed)
        X = X[:70] if depth == 4 else X
        y = y[: len(X)]
        free = OptimalTreeClassifier(depth).fit(X, y)
        for max_memory in (0, "1kB", "60 KiB", 100_000):
            capped = OptimalTreeClassifier(depth, max_memory=max_memory).fit(X, y)
            assert (capped.status_, capped.objective_) == ("optimal", free.objective_)
            assert capped.lower_bound_ == free.objective_
            assert capped.tree_ == free.tree_


def test_threads_keep_a_cap_together() -> None:
    X, y = table("sweeps", 3)
    free = OptimalTreeClassifier(3).fit(X, y)
    capped = OptimalTreeClassifier(3, max_memory="50kB", n_jobs=2).fit(X, y)
    assert (capped.status_, capped.tree_) == ("optimal", free.tree_)


def test_nothing_is_kept_where_nodes_take_all_of_it() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8_000, 4))
    y = (X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=8_000) > 0).astype(int)
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    cap = node_bytes(problem)
    switches = 1 << 7  # all rows at once: large nodes are those whose bounds are kept
    none, some = (
        ExactSearch(switches=switches).solve(problem, Limits(memory_limit=cache_bytes(b, problem)))
        for b in (cap, cap + 100_000_000)
    )
    assert (none.status, none.cost, none.tree) == ("optimal", some.cost, some.tree)
    assert none.counters["profile_bytes_peak"] == 0 < some.counters["profile_bytes_peak"]


def test_blocks_keep_a_cap_too() -> None:
    X, y = table("sweeps", 5)
    problem = build_problem(X, y, n_classes=2, max_depth=2)
    bounds = []
    for memory_limit in (0, 1 << 27):
        blocks = BlockBound(problem, first=80, memory_limit=memory_limit)
        while blocks.more(60.0):
            pass
        bounds.append(blocks.bound)
    assert bounds[0] == bounds[1] > 0


@pytest.mark.parametrize(
    ("words", "n_bytes"),
    [
        (0, 0),
        ("1B", 1),
        ("1.5kB", 1500),
        ("3 KiB", 3072),
        (" 4gb ", 4 * 10**9),
        ("0.5TiB", 2**39),
        ("0.1GB", 10**8),
    ],
)
def test_sizes_in_words(words: Any, n_bytes: int) -> None:
    assert byte_count(words) == n_bytes


@pytest.mark.parametrize(
    "value", [-1, 1.5, True, "4", "4 gigabytes", "-4GB", "", "1e9B", "4ib", []]
)
def test_a_wrong_size_says_what_is_allowed(value: Any) -> None:
    message = (
        "The 'max_memory' parameter of OptimalTreeClassifier must be an int in the range "
        r"\[0, inf\), a size such as '4GB' or None\. Got .* instead\."
    )
    with pytest.raises(ParameterError, match=message):
        OptimalTreeClassifier(max_memory=value).fit([[0.0], [1.0]], [0, 1])


def test_the_command_line_has_it(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "rows.csv"
    rows = ((i * 37 % 61 + 0.25, "ab"[i * 37 % 61 > 40]) for i in range(60))
    file.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows))
    words = ["fit", str(file), "-t", "y", "--depth", "2", "--no-tune", "--max-memory", "1MB"]
    assert not main(words)
    assert "optimal" in capsys.readouterr().out.lower()
