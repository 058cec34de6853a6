"""Checkpoints: a proof that was stopped, or killed, goes on from its file and ends the same."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from provetree import OptimalTreeClassifier
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import OFF, TINY_SAMPLES, core_search, same_tree
from testkit.naive import naive_search
from testkit.random_problems import some_problem

BLOCK = 60
BLOCKS = 5


@pytest.mark.parametrize(
    "block", [0, 1, *(pytest.param(b, marks=pytest.mark.fuzz) for b in range(2, BLOCKS))]
)
@pytest.mark.parametrize("way", [0, OFF["bits"], OFF["bits"] | TINY_SAMPLES])
def test_a_search_in_pieces_ends_as_the_naive_twin_does(
    block: int, way: int, tmp_path: Path
) -> None:
    file = tmp_path / "proof"
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem = some_problem(seed)
        right = naive_search(problem)
        work = 200
        while True:
            found = core_search(problem, switches=way, max_work=work, checkpoint=str(file))
            assert found["lower_bound"] <= right["cost"] <= found["cost"], seed
            if found["status"] == "optimal":
                break
            work *= 2
        assert found["cost"] == right["cost"], seed
        assert not file.exists()
        if found["counters"]["tie_rule_complete"]:
            assert same_tree(found, right), seed


def table_of_few_values(seed: int) -> Problem:
    """One for the bit search, mostly with a minimum leaf size that rules out many splits."""
    rng = np.random.default_rng(seed)
    n, columns, values = int(rng.integers(30, 120)), int(rng.integers(2, 5)), rng.integers(4, 12)
    X = rng.integers(0, values, (n, columns)).astype(float)
    y = rng.integers(0, 2, n) if seed % 3 else (X[:, 0] + X[:, 1] ** 2) % 5 > 2
    least = int(rng.integers(1, 16))
    depth = 3 + seed % 2
    return build_problem(X, y.astype(int), n_classes=2, max_depth=depth, min_samples_leaf=least)


@pytest.mark.parametrize("first", ["bits", "sweeps"])
@pytest.mark.parametrize("work", [1_000, 5_000, 20_000])
def test_a_checkpoint_of_one_search_is_read_by_the_other(
    first: str, work: int, tmp_path: Path
) -> None:
    """Bounds of one search are not what the other needs, and sweeps cannot read plans of bits."""
    file = tmp_path / "proof"
    switches = (0, OFF["bits"]) if first == "bits" else (OFF["bits"], 0)
    resumed = 0
    for seed in range(60):
        problem = table_of_few_values(seed)
        whole = core_search(problem)
        for piece, limit in ((0, work), (1, 2 * work), (0, 0)):
            found = core_search(
                problem, switches=switches[piece], max_work=limit, checkpoint=str(file)
            )
            assert found["lower_bound"] <= whole["cost"] <= found["cost"], seed
            if found["status"] == "optimal":
                break
            resumed += 1
        assert found["status"] == "optimal", seed
        assert found["cost"] == whole["cost"], seed
        if found["counters"]["tie_rule_complete"]:
            assert same_tree(found, whole), seed
        assert not file.exists()
    assert resumed >= 10


def hard_table(n: int = 1200) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 6))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.8 * rng.normal(size=n) > 0).astype(int)
    return X, y


def test_a_proof_of_many_pieces_has_time_for_the_tie_rule(tmp_path: Path) -> None:
    """What the last piece proves is little; the tree is still that of a search in one go."""
    rng = np.random.default_rng(901)
    n = int(rng.integers(300, 700))
    X = np.round(rng.normal(size=(n, 4)), int(rng.integers(1, 4)))
    X[rng.random(X.shape) < 0.05] = np.nan
    filled = np.nan_to_num(X)
    y = (filled[:, 0] * filled[:, 1] + 0.6 * rng.normal(size=n) > 0).astype(int)
    weight = rng.integers(1, 4, n).astype(float)
    problem = build_problem(X, y, n_classes=2, max_depth=4, sample_weight=weight)
    file = str(tmp_path / "proof")
    whole = core_search(problem)
    for _ in range(10):
        work = whole["counters"]["row_steps"] // 40
        piece = core_search(problem, checkpoint=file, max_work=work)
        assert piece["status"] == "work_limit"
    last = core_search(problem, checkpoint=file)
    assert last["counters"]["tie_rule_complete"]
    assert same_tree(last, whole)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_was_proven_is_not_proven_again(n_jobs: int, tmp_path: Path) -> None:
    X, y = hard_table()
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    whole = core_search(problem)
    steps = whole["counters"]["row_steps"]
    file = str(tmp_path / "proof")
    first = core_search(problem, max_work=steps // 2, checkpoint=file)
    assert first["status"] == "work_limit"
    rest = core_search(problem, n_jobs=n_jobs, checkpoint=file)
    assert rest["status"] == "optimal"
    assert rest["cost"] == rest["lower_bound"] == whole["cost"]
    assert same_tree(rest, whole)
    assert rest["counters"]["row_steps"] < 0.8 * steps


@pytest.mark.parametrize("depth", [4, 5])
def test_the_bound_that_was_proven_stands(depth: int, tmp_path: Path) -> None:
    X, y = hard_table(3000)
    problem = build_problem(X, y, n_classes=2, max_depth=depth)
    file = str(tmp_path / "proof")
    first = core_search(problem, max_work=60_000_000, checkpoint=file)
    assert depth == 4 or first["lower_bound"] > 0
    for _ in range(2):
        more = core_search(problem, max_work=1_000_000, checkpoint=file)
        assert first["lower_bound"] <= more["lower_bound"] <= more["cost"] <= first["cost"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_bits_keep_the_bounds_of_the_root(n_jobs: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, size=(400, 30)).astype(float)
    y = (X[:, :7].sum(axis=1) + 2 * rng.random(400) > 4).astype(int)
    problem = build_problem(X, y, n_classes=2, max_depth=5)
    whole = core_search(problem)
    assert whole["counters"]["panels"] == 0
    file = tmp_path / "proof"
    lines = []
    for work in (300_000, 1_500_000):
        first = core_search(problem, max_work=work, checkpoint=str(file))
        assert first["status"] == "work_limit"
        lines.append(len(file.read_text().splitlines()))
    assert lines[1] > lines[0] + 5  # a line for each split of the root that is done
    rest = core_search(problem, n_jobs=n_jobs, checkpoint=str(file))
    assert rest["status"] == "optimal"
    assert rest["cost"] == rest["lower_bound"] == whole["cost"]
    assert same_tree(rest, whole)
    assert not file.exists()


def test_files_of_other_problems_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    X, y = hard_table(300)
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    file = tmp_path / "proof"
    core_search(problem, max_work=20_000, checkpoint=str(file))
    text = file.read_text()
    assert len(text.splitlines()) >= 5
    for other in (
        build_problem(X, y, n_classes=2, max_depth=4),
        build_problem(X, 1 - y, n_classes=2, max_depth=3),
        build_problem(X, y, n_classes=2, max_depth=3, min_samples_leaf=2),
        build_problem(X, y, n_classes=2, max_depth=3, alpha=0.01),
    ):
        with pytest.raises(ValueError, match="belongs to another table or other limits"):
            core_search(other, checkpoint=str(file))
    for damaged in (text[:-9], text.replace("split", "spilt"), "", "provetree", text + " 1"):
        file.write_text(damaged)
        with pytest.raises(ValueError, match="is damaged or no checkpoint"):
            core_search(problem, checkpoint=str(file))
    with pytest.raises(ValueError, match="cannot be written"):
        core_search(problem, checkpoint=str(tmp_path / "nowhere" / "proof"))


KILLED = """
import sys
sys.path.insert(0, sys.argv[2])
from test_checkpoints import hard_table
from provetree import ExactSearch, build_problem
X, y = hard_table()
problem = build_problem(X, y, n_classes=2, max_depth=3)
ExactSearch(checkpoint=sys.argv[1], checkpoint_seconds=0.0).solve(problem)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system cannot kill like this")
def test_a_killed_process_leaves_a_proof_to_go_on_from(tmp_path: Path) -> None:
    X, y = hard_table()
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    whole = core_search(problem)
    file = tmp_path / "proof"
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    script = KILLED.replace("sys.argv[2])", f"sys.argv[2]); sys.path.insert(0, {folders[1]!r})")
    child = subprocess.Popen([sys.executable, "-c", script, str(file), folders[0]])
    try:
        for _ in range(6000):
            if file.exists() and file.read_text().count("\n") > 8:
                break
            if child.poll() is not None:
                pytest.skip("the machine was faster than the test")
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
    finally:
        child.kill()
        child.wait()
    if not file.exists():
        pytest.skip("the proof was complete before the process was killed")
    rest = core_search(problem, checkpoint=str(file))
    assert rest["status"] == "optimal"
    assert rest["cost"] == whole["cost"]
    assert same_tree(rest, whole)


def test_the_estimator_goes_on_from_a_file(tmp_path: Path) -> None:
    X, y = hard_table(400)
    file = tmp_path / "proof"
    whole = OptimalTreeClassifier(max_depth=3).fit(X, y)
    stopped = OptimalTreeClassifier(max_depth=3, max_work=100_000, checkpoint=file).fit(X, y)
    assert stopped.status_ == "work_limit"
    assert file.exists()
    again = OptimalTreeClassifier(max_depth=3, checkpoint=str(file)).fit(X, y)
    assert again.status_ == "optimal"
    assert again.tree_ == whole.tree_
    assert not file.exists()
    with pytest.raises(ValueError, match=r"'checkpoint' parameter .* must be a path or None"):
        OptimalTreeClassifier(checkpoint=3).fit(X, y)
