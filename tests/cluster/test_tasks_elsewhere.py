"""Splits of the root solved elsewhere: any order, caps and cuts give the tree of one thread."""

from __future__ import annotations

import math

import numpy as np
import pytest

from provetree import _core
from provetree.cluster.worker import ProofTable, solve_tasks
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import (
    ALWAYS_WIDE,
    EAGER_IMPROVEMENT,
    OFF,
    TINY_SAMPLES,
    assert_same_answer,
    core_search,
    same_tree,
)
from testkit.local_exchange import LocalExchange
from testkit.random_problems import labelled_at_random, random_problem

#: By sweeps: on all rows, on samples, beside better trees, and as in tables of many columns.
SWITCHES = [OFF["bits"] | more for more in (0, TINY_SAMPLES, EAGER_IMPROVEMENT, ALWAYS_WIDE)]


def deeper_problem(seed: int) -> Problem:
    """A problem whose tasks are worth dividing more than once."""
    rng = np.random.default_rng(seed)
    n, depth = int(rng.integers(15, 60)), int(rng.choice([3, 4, 5, 6], p=[0.3, 0.4, 0.2, 0.1]))
    X = rng.normal(size=(n, int(rng.integers(1, 4))))
    if rng.random() < 0.5:
        X = np.round(2 * X)
    if rng.random() < 0.2:
        X[rng.random(X.shape) < 0.2] = np.nan
    return labelled_at_random(rng, X, depth, alphas=(0.0, 0.0, 0.02, 0.05))


def check(problem: Problem, seed: int) -> LocalExchange:
    switches, limit = SWITCHES[seed % 4], (math.inf, 1e6)[seed // 4 % 2]
    plain = core_search(problem, switches=switches, time_limit=limit)
    workers = LocalExchange(
        problem.table, seed, wanted=(1, 3, 9)[seed % 3], steps=(50, 300, 2000)[seed // 3 % 3]
    )
    far = core_search(problem, switches=switches, time_limit=limit, workers=workers)
    assert_same_answer(far, plain, seed)
    assert workers.ends == workers.jobs
    return workers


def test_random_tables_have_the_tree_of_one_thread() -> None:
    tasks = handed_back = 0
    for seed in range(400):
        workers = check(random_problem(seed, max_depth=3 + seed % 2), seed)
        tasks, handed_back = tasks + workers.tasks, handed_back + workers.handed_back
    assert tasks > 1000
    assert handed_back > 20


def test_tasks_are_divided_again_and_again() -> None:
    assert sum(check(deeper_problem(seed), seed).handed_back for seed in range(16)) > 100


def few_values(seed: int) -> Problem:
    """A problem of numbers whose sides are solved from sums over cells: bounds, then trees."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2 + seed % 3, size=(70, 9)).astype(np.float64)
    y = X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=70)
    return build_problem(X, y, loss="squared_error", max_depth=4)


def test_a_side_of_which_only_a_bound_is_known_is_not_handed_back_as_solved() -> None:
    handed_back = 0
    for seed in range(40):
        problem = few_values(seed)
        plain = core_search(problem)
        for steps in (300, 1000, 3000):
            workers = LocalExchange(problem.table, seed, wanted=3, steps=steps)
            far = core_search(problem, workers=workers)
            assert far["status"] == plain["status"] == "optimal", (seed, steps)
            assert far["cost"] == far["lower_bound"] == plain["cost"], (seed, steps)
            assert same_tree(far, plain), (seed, steps)
            handed_back += workers.handed_back
    assert handed_back > 500


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(20))
def test_thousands_of_random_tables(part: int) -> None:
    for seed in range(1000 * part, 1000 * part + 1000):
        check(random_problem(seed, max_depth=3 + seed % 2), seed)
        if seed % 5 == 0:
            check(deeper_problem(seed), seed)


def test_splits_beside_those_that_are_tried_are_for_who_would_wait() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    problem = build_problem(X, rng.integers(0, 2, 60), n_classes=2, max_depth=3)
    plain = core_search(problem, switches=OFF["bits"])
    first = {}
    for idle in (0, 12):

        class Counts(LocalExchange):
            first = 0

            def trade(
                self, tasks: list[tuple[int, bytes]], cut: int
            ) -> tuple[list[tuple[int, bytes]], int, int] | None:
                self.first = self.first or len(tasks)
                return super().trade(tasks, cut)

        workers = Counts(problem.table, 0, wanted=20, steps=1 << 60, idle=idle)
        far = core_search(problem, switches=OFF["bits"], workers=workers)
        assert far["lower_bound"] == plain["lower_bound"]
        assert same_tree(far, plain)
        first[idle] = workers.first
    # In the beginning there is one interval for each column. Those who wait get tasks until half
    # of them have one.
    assert first == {0: 2, 12: 6}


def test_a_group_that_takes_too_long_is_given_back_with_what_it_has_not_begun() -> None:
    problem = deeper_problem(3)
    given: list[list[tuple[int, bytes]]] = []
    jobs: list[str] = []

    class Keeps(LocalExchange):
        def begin(self, job: str) -> None:
            jobs.append(job)
            super().begin(job)

        def trade(
            self, tasks: list[tuple[int, bytes]], cut: int
        ) -> tuple[list[tuple[int, bytes]], int, int] | None:
            given.append(tasks)
            return super().trade(tasks, cut)

    core_search(problem, switches=OFF["bits"], workers=Keeps(problem.table, 0, wanted=9, idle=9))
    tasks = max(given, key=len)
    assert len(tasks) > 1
    table = ProofTable(problem, 1 << 26)
    for group_seconds, answered in ((0.0, 1), (1e9, len(tasks))):
        answers = solve_tasks(
            table, f"1 {jobs[0]}", tasks, 2**62, 1e9, group_seconds, wanted=lambda: True
        )
        assert [one.number for one in answers] == [number for number, _ in tasks[:answered]]


def test_what_was_proven_is_kept_when_nobody_is_left() -> None:
    """Workers that give up leave the best tree and a true bound."""
    for seed in range(12):
        problem = deeper_problem(seed)
        plain = core_search(problem, switches=OFF["bits"])

        class GivesUp(LocalExchange):
            left = 6

            def trade(
                self, tasks: list[tuple[int, bytes]], cut: int
            ) -> tuple[list[tuple[int, bytes]], int, int] | None:
                self.left -= 1
                return super().trade(tasks, cut) if self.left else None

        workers = GivesUp(problem.table, seed)
        cut_short = core_search(problem, switches=OFF["bits"], workers=workers)
        assert cut_short["lower_bound"] <= plain["cost"] <= cut_short["cost"], seed
        assert cut_short["status"] in ("interrupted", "optimal")


def test_a_failure_of_the_workers_is_raised() -> None:
    class Fails(LocalExchange):
        def trade(self, tasks: list[tuple[int, bytes]], cut: int) -> None:
            raise OSError("the network is gone")

    problem = deeper_problem(1)
    with pytest.raises(OSError, match="the network is gone"):
        core_search(problem, switches=OFF["bits"], workers=Fails(problem.table, 0))


@pytest.mark.parametrize("task", [b"", b"task", b"answer 1", b"task 1 2 3 x", b"\xff\x00"])
def test_what_is_no_task_is_refused(task: bytes) -> None:
    problem = deeper_problem(0)
    solver = _core.TaskSolver(problem.table, "job 1 0 0 1 0 0 ", 1 << 20)
    with pytest.raises(ValueError, match="This is no task of a search"):
        solver.solve(task, 1.0)
    with pytest.raises(ValueError, match="This is no job of a search"):
        _core.TaskSolver(problem.table, "task", 1 << 20)


def test_a_task_of_another_table_is_refused() -> None:
    tasks: list[bytes] = []

    class Keeps(LocalExchange):
        def trade(
            self, given: list[tuple[int, bytes]], cut: int
        ) -> tuple[list[tuple[int, bytes]], int, int] | None:
            tasks.extend(task for _, task in given)
            return super().trade(given, cut)

    problem, other = (
        deeper_problem(3),
        build_problem([[1.0], [2.0]], [0, 1], n_classes=2, max_depth=1),
    )
    core_search(problem, switches=OFF["bits"], workers=Keeps(problem.table, 0))
    solver = _core.TaskSolver(other.table, "job 1 0 0 1 0 0 ", 1 << 20)
    with pytest.raises(ValueError, match="A task is about another table"):
        [solver.solve(task, 1.0) for task in tasks]
