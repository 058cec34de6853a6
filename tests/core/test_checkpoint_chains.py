"""Checkpoints inside a split of the root: the nodes that are being searched are kept as well."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from provetree.problem.problem import Problem, build_problem
from testkit.checkpoint_files import first_version, nodes_of, with_body, without_nodes_below
from testkit.core_calls import (
    ALWAYS_WIDE,
    EAGER_IMPROVEMENT,
    OFF,
    TINY_SAMPLES,
    core_search,
    same_tree,
)

BLOCK = 40
BLOCKS = 12
MOST_ROWS = {3: 160, 4: 60, 5: 36}
MOST_STEPS = 30_000_000  # a few problems take a hundred times as many as most: they are left out


def awkward_problem(seed: int, larger: int = 1) -> tuple[Problem, int]:
    """A problem of depth three to five with ties, weights, gaps and limits; switches to use."""
    rng = np.random.default_rng(seed)
    depth = int(rng.choice([3, 4, 4, 5]))
    n, n_columns = larger * int(rng.integers(8, MOST_ROWS[depth])), int(rng.integers(1, 5))
    n_classes = int(rng.choice([2, 2, 3]))
    X = np.round(rng.normal(size=(n, n_columns)), int(rng.integers(0, 3)))
    if rng.random() < 0.3:
        X[rng.random(X.shape) < 0.08] = np.nan
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, n)]
    filled = np.nan_to_num(X)
    rule = (filled[:, 0] * filled[:, -1] + filled[:, n_columns // 2] > 0).astype(int)
    y = np.where(rng.random(n) < rng.choice([0.3, 0.6, 0.9]), rule, rng.integers(0, n_classes, n))
    switches = OFF["bits"] | int(rng.choice([0, 0, TINY_SAMPLES, TINY_SAMPLES, ALWAYS_WIDE]))
    switches |= int(rng.choice([0, 0, 0, 0, EAGER_IMPROVEMENT]))
    problem = build_problem(
        X,
        y,
        n_classes=n_classes,
        max_depth=depth,
        sample_weight=rng.integers(1, 4, n).astype(float) if rng.random() < 0.3 else None,
        min_samples_leaf=int(rng.integers(2, 6)) if rng.random() < 0.35 else 1,
        alpha=float(rng.choice([0.005, 0.02])) if rng.random() < 0.3 else 0.0,
        max_leaf_nodes=int(rng.integers(3, 9)) if rng.random() < 0.3 else None,
    )
    return problem, switches


@pytest.mark.parametrize(
    "block",
    [0, 1, 2, 3, *(pytest.param(b, marks=pytest.mark.fuzz) for b in range(4, BLOCKS))],
)
def test_a_search_in_many_pieces_ends_as_the_whole_does(block: int, tmp_path: Path) -> None:
    file = tmp_path / "proof"
    cases = stops = deep = 0
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        problem, switches = awkward_problem(seed)
        whole = core_search(problem, switches=switches, max_work=MOST_STEPS)
        if whole["status"] != "optimal":
            continue
        cases += 1
        rng = np.random.default_rng(seed)
        work = max(50, int(whole["counters"]["row_steps"] * rng.choice([0.05, 0.2, 0.4])))
        while True:
            found = core_search(problem, switches=switches, max_work=work, checkpoint=str(file))
            assert found["lower_bound"] <= whole["cost"] <= found["cost"], seed
            if found["status"] == "optimal":
                break
            stops += 1
            deep += len(nodes_of(file.read_text())) > 1
            if rng.random() < 0.2:
                found = core_search(problem, switches=switches, checkpoint=str(file), n_jobs=2)
                break
            work = int(work * 1.3) + 10
        assert found["status"] == "optimal", seed
        assert found["cost"] == whole["cost"], seed
        assert not file.exists(), seed
        if found["counters"]["tie_rule_complete"] and whole["counters"]["tie_rule_complete"]:
            assert same_tree(found, whole), seed
    assert cases > 0.8 * BLOCK
    assert stops > BLOCK // 2
    assert deep > BLOCK // 8


def long_split(n: int = 900) -> Problem:
    """A table on which every split of the root takes long."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, 5))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.8 * rng.normal(size=n) > 0).astype(int)
    return build_problem(X, y, n_classes=2, max_depth=4)


PROOF_ALONE = OFF["improvement"]


def proof_in_pieces(
    problem: Problem, work: int, file: Path, change: Callable[[str], str] = str
) -> tuple[int, bool]:
    """Steps of a proof in pieces, and whether it came to its end within twice those of a whole.

    What the file says may be changed between two pieces.
    """
    whole = core_search(problem, switches=PROOF_ALONE)
    total = 0
    file.unlink(missing_ok=True)
    while total < 2 * whole["counters"]["row_steps"]:
        found = core_search(problem, switches=PROOF_ALONE, max_work=work, checkpoint=str(file))
        total += found["counters"]["row_steps"]
        assert found["lower_bound"] <= whole["cost"] <= found["cost"]
        if found["status"] == "optimal":
            assert found["cost"] == whole["cost"]
            return total, True
        file.write_text(change(file.read_text()))
    return total, False


def test_pieces_shorter_than_a_split_of_the_root_end_a_proof(tmp_path: Path) -> None:
    problem = long_split()
    steps = core_search(problem, switches=PROOF_ALONE)["counters"]["row_steps"]
    file = tmp_path / "proof"
    total, ended = proof_in_pieces(problem, steps // 150, file)
    assert ended
    assert total < 1.3 * steps
    # With the bounds of the root alone, every piece begins the same split again.
    assert not proof_in_pieces(problem, steps // 150, file, without_nodes_below)[1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_half_a_proof_spares_half_of_the_steps(n_jobs: int, tmp_path: Path) -> None:
    problem = long_split()
    whole = core_search(problem, switches=PROOF_ALONE)
    steps = whole["counters"]["row_steps"]
    file = str(tmp_path / "proof")
    first = core_search(problem, switches=PROOF_ALONE, max_work=steps // 2, checkpoint=file)
    rest = core_search(problem, switches=PROOF_ALONE, checkpoint=file, n_jobs=n_jobs)
    assert rest["status"] == "optimal"
    assert same_tree(rest, whole)
    if n_jobs == 1:  # two threads may take some more
        assert first["counters"]["row_steps"] + rest["counters"]["row_steps"] < 1.1 * steps


def some_file(problem: Problem, file: Path) -> str:
    """The file of a search that was stopped inside a split, with nodes of all kinds."""
    for work in range(300_000, 5_000_000, 100_000):
        file.unlink(missing_ok=True)
        found = core_search(problem, switches=PROOF_ALONE, max_work=work, checkpoint=str(file))
        assert found["status"] == "work_limit"
        text = file.read_text()
        root, *below = nodes_of(text)
        searched = any(node.settled and node.tried for node in below)
        done = any(node.lower > 0 for node in below)
        if root.settled and root.profiles and searched and done:
            return text
    raise AssertionError("no stop came upon all kinds of nodes")


def test_what_is_known_is_read_and_written_again(tmp_path: Path) -> None:
    """Pieces too short to end a split of the root: the file has all that it had, or more."""
    problem = long_split()
    file = tmp_path / "proof"
    before = nodes_of(some_file(problem, file))
    for _ in range(3):
        core_search(problem, switches=PROOF_ALONE, max_work=1, checkpoint=str(file))
        after = {str(node.way): node for node in nodes_of(file.read_text())}
        for node in before:
            again = after[str(node.way)]
            assert again.shape == node.shape
            assert again.lower == node.lower
            assert again.settled >= node.settled
            assert again.profiles >= node.profiles
            if not node.way or node.lower:  # the root, and a side that is done
                assert again.tried == node.tried
                assert sorted(again.points) == sorted(node.points)
                assert again.plan == node.plan


def test_files_of_the_first_version_are_read(tmp_path: Path) -> None:
    problem = long_split(300)
    whole = core_search(problem, switches=PROOF_ALONE)
    file = tmp_path / "proof"
    file.write_text(first_version(some_file(problem, file)))
    rest = core_search(problem, switches=PROOF_ALONE, checkpoint=str(file))
    assert rest["status"] == "optimal"
    assert same_tree(rest, whole)
    assert rest["counters"]["row_steps"] < whole["counters"]["row_steps"]


def test_bodies_that_end_early_or_make_no_sense_are_refused(tmp_path: Path) -> None:
    problem = long_split(300)
    file = tmp_path / "proof"
    text = some_file(problem, file)
    body = text.split("\n", 1)[1]
    file.write_text(with_body(text, body))
    core_search(problem, max_work=1, checkpoint=str(file))  # the sum of the tests is the right one
    lines = body.split("\n")
    for damaged in (
        "",
        "\n".join(lines[: len(lines) // 2]),
        "\n".join(lines[:-3]),
        body.replace("split", "spilt"),
        body.replace("7", "x"),
        "\n".join([*lines[:4], "99999999999", *lines[5:]]),
        "12 abc\n" + "\n".join(lines[1:]),
    ):
        file.write_text(with_body(text, damaged))
        with pytest.raises(ValueError, match="is damaged or no checkpoint"):
            core_search(problem, checkpoint=str(file))
    file.write_text(with_body(text, body, title="provetree-checkpoint-3"))
    with pytest.raises(ValueError, match="is damaged or no checkpoint"):
        core_search(problem, checkpoint=str(file))


def test_every_thread_leaves_where_it_is(tmp_path: Path) -> None:
    problem = long_split(2500)
    file = tmp_path / "proof"
    for _ in range(20):
        found = core_search(
            problem, switches=PROOF_ALONE, n_jobs=3, time_limit=0.3, checkpoint=str(file)
        )
        assert found["status"] == "time_limit"
        root, *below = nodes_of(file.read_text())
        searched = {node.way[0][:3] for node in below if node.tried}
        assert searched <= set(root.tried)
        if len(searched) >= 2:
            return
    pytest.fail("no two threads were inside splits of the root")


def test_bits_keep_what_is_inside_a_split_of_the_root(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, size=(400, 24)).astype(float)
    y = (X[:, :7].sum(axis=1) + 2 * rng.random(400) > 4).astype(int)
    problem = build_problem(X, y, n_classes=2, max_depth=5)
    whole = core_search(problem, switches=PROOF_ALONE)
    assert whole["counters"]["panels"] == 0
    file = str(tmp_path / "proof")
    pieces = nodes = 0
    while True:
        found = core_search(problem, switches=PROOF_ALONE, max_work=400_000, checkpoint=file)
        assert found["lower_bound"] <= whole["cost"] <= found["cost"]
        nodes += found["counters"]["nodes"]
        pieces += 1
        if found["status"] == "optimal":
            break
        assert pieces < 1000
    assert pieces > 5
    assert found["cost"] == whole["cost"]
    assert nodes < 1.5 * whole["counters"]["nodes"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_process_killed_inside_a_split_ends_the_same(n_jobs: int, tmp_path: Path) -> None:
    problem = long_split(1500)
    whole = core_search(problem, switches=PROOF_ALONE)
    file = tmp_path / "proof"
    child = os.fork()
    if child == 0:
        core_search(problem, switches=PROOF_ALONE, n_jobs=n_jobs, checkpoint=str(file))
        os._exit(0)
    try:
        for _ in range(6000):
            if file.exists() and any(node.settled for node in nodes_of(file.read_text())[1:]):
                break
            time.sleep(0.005)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if not file.exists():
        pytest.skip("the proof was complete before the process was killed")
    rest = core_search(problem, switches=PROOF_ALONE, n_jobs=n_jobs, checkpoint=str(file))
    assert rest["status"] == "optimal"
    assert rest["cost"] == whole["cost"]
    assert same_tree(rest, whole)
