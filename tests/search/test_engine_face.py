from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from provetree import _core
from provetree.problem.problem import build_problem
from provetree.search import engine
from provetree.search.engine import ExactSearch, _force_kernel, chosen_kernel
from provetree.solution import Engine, Limits, Progress, Solution
from provetree.tree.verify import verify
from testkit.naive import naive_search
from testkit.random_problems import random_problem, random_table


@pytest.mark.parametrize("seed", range(40))
def test_the_search_agrees_with_the_naive_twin(seed: int) -> None:
    # A glance only: the agreement on many problems, kernels and bounds has tests of its own.
    problem = random_problem(seed)
    twin = naive_search(problem)
    solution = ExactSearch().solve(problem)
    assert solution.status == "optimal"
    assert solution.cost == solution.lower_bound == problem.to_user_cost(twin["cost"])
    assert solution.gap == 0.0
    assert solution.tree == engine.build_tree(problem, twin["column"], twin["rank_low"])


@pytest.mark.parametrize("seed", range(20))
def test_costs_are_confirmed_by_plain_code(seed: int) -> None:
    table = random_table(seed)
    if any(table.options["categories"]):
        table.options["categories"] = [None] * len(table.options["categories"])
    solution = ExactSearch().solve(table.problem())
    names = ("alpha", "sample_weight", "max_depth", "max_leaf_nodes", "min_samples_leaf")
    report = verify(
        solution.tree, table.X, table.y, **{name: table.options[name] for name in names}
    )
    assert report.ok
    assert report.cost == pytest.approx(solution.cost, rel=1e-6)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_any_arrays_give_an_answer_that_holds(data: st.DataObject) -> None:
    n, p = data.draw(st.integers(1, 6)), data.draw(st.integers(0, 3))
    cells = st.one_of(st.floats(), st.sampled_from([0.0, 1.0, 2.0, np.nan, np.inf, -np.inf]))
    X = data.draw(arrays(np.float64, (n, p), elements=cells))
    y = data.draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    weight = data.draw(st.one_of(st.none(), arrays(np.float64, n, elements=st.floats(0.01, 100))))
    options = {
        "sample_weight": weight,
        "max_depth": data.draw(st.sampled_from([0, 1, 2, 3, 4, 50])),
        "max_leaf_nodes": data.draw(st.one_of(st.none(), st.integers(1, 9))),
        "min_samples_leaf": data.draw(st.one_of(st.integers(1, 5), st.floats(0.01, 0.9))),
        "alpha": data.draw(st.one_of(st.just(0.0), st.floats(0, 1.5))),
    }
    problem = build_problem(X, y, n_classes=4, **options)
    solution = ExactSearch().solve(problem)
    assert solution.status == "optimal"
    assert solution.cost == problem.to_user_cost(naive_search(problem)["cost"])
    report = verify(solution.tree, X, y, **options)
    assert report.ok, report.violations
    assert report.cost == pytest.approx(solution.cost, rel=1e-6, abs=1e-6)


def fake_answer(**changes: Any) -> dict[str, Any]:
    answer = {
        "column": np.array([0, -1, -1]),
        "rank_low": np.array([0, -1, -1]),
        "cost": 4,
        "lower_bound": 3,
        "status": "time_limit",
        "history": [(0.1, 8, 1), (0.2, 4, 3)],
        "counters": {"nodes": 7},
    }
    return {**answer, **changes}


def test_answers_are_told_in_the_users_units(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def search(table: Any, on_progress: Any, **options: Any) -> dict[str, Any]:
        asked.update(options, table=table)
        on_progress(0.1, 8, 1)
        return fake_answer()

    monkeypatch.setattr(_core, "search", search)
    problem = build_problem(
        [[1.0], [2.0]], np.array([0, 1]), n_classes=2, max_depth=1, sample_weight=[0.5, 1.5]
    )
    told: list[Progress] = []
    limits = Limits(time_limit=2.5, memory_limit=1000)
    solution = ExactSearch(switches=5).solve(problem, limits, told.append)
    assert (solution.cost, solution.lower_bound, solution.gap) == (2.0, 1.5, 0.25)
    assert solution.status == "time_limit"
    assert solution.history == (Progress(0.1, 4.0, 0.5), Progress(0.2, 2.0, 1.5))
    assert told == [Progress(0.1, 4.0, 0.5)]
    assert solution.counters["nodes"] == 7
    assert solution.tree.value.tolist() == [[0.5, 1.5], [0.5, 0.0], [0.0, 1.5]]
    assert (asked["time_limit"], asked["memory_limit"], asked["switches"]) == (2.5, 1000, 5)
    assert asked["table"] is problem.table


def test_without_a_limit_and_a_listener(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def search(table: Any, on_progress: Any, **options: Any) -> dict[str, Any]:
        asked.update(options, on_progress=on_progress)
        return fake_answer()

    monkeypatch.setattr(_core, "search", search)
    problem = build_problem([[1.0], [2.0]], np.array([0, 1]), n_classes=2, max_depth=1)
    ExactSearch().solve(problem)
    assert asked["time_limit"] == float("inf")
    assert asked["on_progress"] is None
    assert asked["kernel"] == "auto"


def test_errors_of_the_listener_reach_the_caller() -> None:
    def fail(progress: Progress) -> None:
        raise RuntimeError("stop here")

    rng = np.random.default_rng(0)
    problem = build_problem(
        rng.normal(size=(3000, 8)), rng.integers(0, 2, 3000), n_classes=2, max_depth=5
    )
    with pytest.raises(RuntimeError, match="stop here"):
        ExactSearch().solve(problem, Limits(time_limit=2.0), fail)


def test_a_solution_can_be_pickled_and_not_changed() -> None:
    solution = ExactSearch().solve(random_problem(3))
    again: Solution = pickle.loads(pickle.dumps(solution))
    assert again == solution
    assert again.tree == solution.tree
    with pytest.raises(TypeError):
        again.counters["nodes"] = 3  # type: ignore[index]
    with pytest.raises(AttributeError):
        again.cost = 3  # type: ignore[misc]


def test_the_search_is_an_engine() -> None:
    searcher: Engine = ExactSearch()
    assert searcher.solve(random_problem(0), Limits(), None).status == "optimal"


def test_kernels_can_be_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROVETREE_KERNEL", raising=False)
    assert chosen_kernel() == "auto"
    assert "baseline" in _core.available_kernels()
    monkeypatch.setenv("PROVETREE_KERNEL", " Baseline ")
    assert chosen_kernel() == "baseline"
    monkeypatch.setenv("PROVETREE_KERNEL", "")
    assert chosen_kernel() == "auto"
    problem = random_problem(5)
    answers = []
    for name in _core.available_kernels():
        with _force_kernel(name):
            assert chosen_kernel() == name
            with _force_kernel("auto"):
                assert chosen_kernel() == "auto"
            answers.append(ExactSearch().solve(problem).tree)
        assert chosen_kernel() == "auto"
    assert all(tree == answers[0] for tree in answers)


def test_unknown_kernels_get_one_clear_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROVETREE_KERNEL", "mmx")
    with pytest.raises(ValueError, match=r"PROVETREE_KERNEL .* must be one of 'auto', .*Got 'mmx'"):
        ExactSearch().solve(random_problem(0))
    with pytest.raises(ValueError, match="kernel must be one of"), _force_kernel("mmx"):
        pass


def test_a_forced_kernel_is_forced_in_its_thread_only() -> None:
    seen = []
    with _force_kernel("baseline"):
        thread = threading.Thread(target=lambda: seen.append(chosen_kernel()))
        thread.start()
        thread.join()
    assert seen != ["baseline"] or chosen_kernel() == "baseline"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": 0.0}, "'time_limit' parameter of Limits"),
        ({"time_limit": float("nan")}, "'time_limit' parameter of Limits"),
        ({"memory_limit": -1}, "'memory_limit' parameter of Limits"),
    ],
)
def test_limits_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Limits(**options)
