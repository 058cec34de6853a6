"""Time, memory, interrupts and threads: whatever cuts a search short, what it says is true."""

from __future__ import annotations

import _thread
import math
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from provetree import _core
from provetree.problem.problem import Problem, build_problem
from testkit.core_calls import KERNELS, core_search, same_tree, walk_tree
from testkit.lane_cases import lane_table
from testkit.random_problems import random_problem

# Seconds of the processor, not of the clock: machines that run tests are busy. How promptly
# searches stop is measured elsewhere.
LATEST = 1.0


def table(n_rows: int, n_columns: int, n_classes: int = 2) -> tuple[Any, Any]:
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    score = X[:, 0] * X[:, 1] + X[:, -1] + rng.normal(size=n_rows)
    return X, np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)


def problem_of(n_rows: int, n_columns: int, depth: int, **options: Any) -> Problem:
    n_classes = options.pop("n_classes", 2)
    X, y = table(n_rows, n_columns, n_classes)
    return build_problem(X, y, n_classes=n_classes, max_depth=depth, **options)


@pytest.fixture(scope="module")
def endless() -> Problem:
    """A problem that no machine solves while a test waits."""
    return problem_of(5000, 10, 6)


def check_claims(problem: Problem, found: Any, optimum: int | None = None) -> None:
    assert walk_tree(problem, found)[0] == found["cost"]
    assert 0 <= found["lower_bound"] <= found["cost"]
    assert (found["status"] == "optimal") == (found["lower_bound"] == found["cost"])
    if optimum is not None:
        assert found["lower_bound"] <= optimum <= found["cost"]
    history = found["history"]
    assert history[-1][1:] == (found["cost"], found["lower_bound"])
    seconds, costs, bounds = (list(column) for column in zip(*history, strict=True))
    assert seconds == sorted(seconds)
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha": 0.01},
        {"min_samples_leaf": 7},
        {"max_leaf_nodes": 6},
        {"n_classes": 5},
        {"sample_weight": np.arange(1.0, 301.0)},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_bounds_hold_wherever_the_time_limit_strikes(kernel: str, options: dict[str, Any]) -> None:
    problem = problem_of(300, 4, 3, **options)
    started = time.perf_counter()
    whole = core_search(problem, kernel=kernel)
    took = time.perf_counter() - started
    assert whole["status"] == "optimal"
    for share in (0.0, 0.05, 0.2, 0.4, 0.6, 0.8):
        found = core_search(problem, kernel=kernel, time_limit=share * took)
        check_claims(problem, found, optimum=whole["cost"])


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 6])
def test_no_time_at_all(depth: int) -> None:
    problem = problem_of(5000, 10, depth)
    started = time.process_time()
    found = core_search(problem, time_limit=0.0)
    assert time.process_time() - started < LATEST
    check_claims(problem, found)
    assert depth < 3 or found["status"] == "time_limit"


@pytest.mark.parametrize("shape", [(5000, 10, 6), (20_000, 10, 6), (1000, 100, 5), (20_000, 4, 8)])
def test_the_time_limit_is_kept(shape: tuple[int, int, int]) -> None:
    problem = problem_of(*shape)
    started, worked = time.perf_counter(), time.process_time()
    found = core_search(problem, time_limit=0.2)
    assert found["status"] == "time_limit"
    assert time.perf_counter() - started >= 0.2
    assert time.process_time() - worked < 0.2 + LATEST
    check_claims(problem, found)


def test_many_classes_and_a_least_leaf_size_keep_the_time_limit_too() -> None:
    problem = problem_of(20_000, 8, 5, n_classes=30, min_samples_leaf=20)
    started = time.process_time()
    found = core_search(problem, time_limit=0.2)
    assert time.process_time() - started < 0.2 + LATEST
    assert found["status"] == "time_limit"
    check_claims(problem, found)


def grown_by_medians(rows: int, columns: int, max_work: int) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(columns, rows))
    targets = np.round(10 * (X[0] > 0) + 5 * (X[1] > 0) + rng.normal(size=rows), 3)
    table = lane_table("absolute_error", X.argsort().argsort(), targets=targets[:, None])
    return _core.search(
        table,
        max_depth=4,
        max_splits=15,
        min_samples_leaf=1,
        error_scale=1,
        split_penalty=0,
        time_limit=math.inf,
        memory_limit=1 << 28,
        max_work=max_work,
    )


def test_the_first_tree_of_medians_ends_in_leaves_once_a_stop_is_asked_for() -> None:
    """They take long to grow. Nodes are counted: each is made after the stumps of the one above."""
    rows, columns = 8000, 20
    sweeps = 2 * rows * columns  # steps, of all columns of the root
    alone = grown_by_medians(rows, columns, 1)
    assert alone["status"] == "work_limit"
    nodes = alone["counters"]["nodes"]
    assert grown_by_medians(rows, columns, sweeps // 2)["counters"]["nodes"] == nodes
    once = grown_by_medians(rows, columns, sweeps + 1)
    assert once["counters"]["nodes"] == nodes + 2
    more = grown_by_medians(rows, columns, 3 * sweeps)
    assert more["cost"] < once["cost"] < alone["cost"]


def test_a_small_first_tree_of_medians_is_grown_whatever_happens() -> None:
    found = grown_by_medians(200, 10, 1)
    assert found["status"] == "work_limit"
    assert found["counters"]["nodes"] > 10


@pytest.mark.parametrize("how", ["_thread.interrupt_main", "signal.pthread_kill"])
def test_ctrl_c_ends_the_search_with_what_it_has(endless: Problem, how: str) -> None:
    main = threading.main_thread().ident
    assert main == threading.get_ident()
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.process_time())
        if how == "_thread.interrupt_main":
            _thread.interrupt_main()
        else:
            signal.pthread_kill(main, signal.SIGINT)

    timer = threading.Timer(0.2, interrupt)
    timer.start()
    try:
        found = core_search(endless, time_limit=60.0)
    finally:
        timer.join()
    assert time.process_time() - sent[0] < LATEST
    assert found["status"] == "interrupted"
    check_claims(endless, found)


def test_errors_of_other_signal_handlers_reach_the_caller(endless: Problem) -> None:
    def handler(number: int, frame: object) -> None:
        raise LookupError("from the handler")

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(LookupError, match="from the handler"):
            core_search(endless, time_limit=60.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_errors_of_the_listener_reach_the_caller(endless: Problem) -> None:
    def listen(seconds: float, cost: int, bound: int) -> None:
        raise ZeroDivisionError("from the listener")

    started = time.process_time()
    with pytest.raises(ZeroDivisionError, match="from the listener"):
        core_search(endless, time_limit=60.0, on_progress=listen)
    assert time.process_time() - started < 2 * LATEST


def test_a_listener_that_raises_keyboard_interrupt(endless: Problem) -> None:
    def listen(seconds: float, cost: int, bound: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        core_search(endless, time_limit=60.0, on_progress=listen)


def test_the_listener_hears_of_progress(endless: Problem) -> None:
    heard: list[tuple[float, int, int]] = []
    found = core_search(endless, time_limit=0.3, on_progress=lambda *news: heard.append(news))
    assert len(heard) >= 2
    assert all(bound <= cost for _, cost, bound in heard)
    assert heard[-1][1] >= found["cost"]
    assert [cost for _, cost, _ in heard] == sorted((c for _, c, _ in heard), reverse=True)


@pytest.mark.parametrize("memory_limit", [0, 1, 10_000])
def test_without_memory_for_bounds_the_answer_is_the_same(memory_limit: int) -> None:
    for seed in range(200):
        problem = random_problem(seed, max_depth=3)
        found = core_search(problem, memory_limit=memory_limit)
        usual = core_search(problem)
        assert found["cost"] == usual["cost"], seed
        assert same_tree(found, usual), seed


@pytest.mark.parametrize("shape", [(3000, 4, 3), (150, 3, 4)])
def test_memory_for_bounds_stays_near_its_limit(shape: tuple[int, int, int]) -> None:
    problem = problem_of(*shape, n_classes=3)
    peaks = []
    for memory_limit in (0, 50_000, 200_000, 1 << 28):
        found = core_search(problem, memory_limit=memory_limit)
        assert found["status"] == "optimal"
        peaks.append(found["counters"]["profile_bytes_peak"])
        # Bounds are kept while there is room: the last ones kept may go beyond it.
        assert peaks[-1] <= memory_limit + 200_000 * (memory_limit > 0)
    assert peaks == sorted(peaks)
    assert peaks[-1] > 500_000


def test_searches_in_several_threads_are_independent() -> None:
    problems = [problem_of(n, 4, 3, n_classes=2 + n % 3) for n in (150, 200, 250, 301)]
    alone = [core_search(problem) for problem in problems]
    answers: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        answers[number] = [core_search(problem) for problem in problems]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 3
    for together in answers.values():
        for one, other in zip(alone, together, strict=True):
            assert same_tree(one, other)
            assert one["cost"] == other["cost"]
            assert one["counters"] == other["counters"]


def test_other_threads_run_during_a_search(endless: Problem) -> None:
    ticks: list[float] = []
    over = threading.Event()

    def tick() -> None:
        while not over.wait(0.005):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    started = time.perf_counter()
    found = core_search(endless, time_limit=0.5)
    ended = time.perf_counter()
    over.set()
    thread.join()
    assert found["status"] == "time_limit"
    assert sum(started < at < ended for at in ticks) > 5


def test_a_search_is_deterministic() -> None:
    problem = problem_of(300, 4, 3)
    one, other = core_search(problem), core_search(problem)
    assert one["counters"] == other["counters"]
    assert [step[1:] for step in one["history"]] == [step[1:] for step in other["history"]]
    assert same_tree(one, other)
    assert math.isfinite(one["history"][-1][0])
