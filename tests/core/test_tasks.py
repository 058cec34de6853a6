"""Splits of the root as tasks: what passes as text gives the same trees as what stays in memory."""

from __future__ import annotations

import pytest

from testkit.core_calls import EAGER_THREADS, OFF, TEXT_TASKS, TINY_SAMPLES, core_search, same_tree
from testkit.random_problems import random_problem


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("switches", [EAGER_THREADS, OFF["bits"], OFF["bits"] | TINY_SAMPLES])
def test_tasks_as_text_give_the_same_tree(switches: int, n_jobs: int) -> None:
    tried = 0
    for seed in range(150):
        problem = random_problem(seed, max_depth=3 + seed % 2)
        plain = core_search(problem, switches=switches)
        text = core_search(problem, switches=switches | TEXT_TASKS, n_jobs=n_jobs)
        assert (text["cost"], text["lower_bound"]) == (plain["cost"], plain["lower_bound"]), seed
        assert same_tree(text, plain), seed
        tried += plain["counters"]["intervals"] > 0 or plain["counters"]["nodes"] > 0
    assert tried > 20
