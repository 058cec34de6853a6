"""Bounds that are added up over blocks of rows: valid, and trees that cost what they say."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from provetree import ExactSearch, Limits, Solution, build_problem
from provetree.search import blocks
from provetree.search.blocks import BlockBound, SharedTime
from provetree.tree.build import build_tree
from testkit.random_problems import random_problem


def cost_of(problem, tree):
    leaves = tree.feature < 0
    errors = tree.value[leaves].sum() - tree.value[leaves].max(axis=1).sum()
    penalty = problem.to_user_cost(problem.split_penalty) if problem.split_penalty else 0
    return errors + penalty * tree.n_splits


@pytest.mark.parametrize("seed", range(150))
def test_bounds_are_valid_and_trees_cost_what_they_say(seed):
    problem = random_problem(seed)
    best = ExactSearch().solve(problem)
    bound = BlockBound(problem, first=1 + seed % 7, second=1 + seed % 5, n_jobs=1 + seed % 3)
    while bound.more(60.0):
        assert problem.to_user_cost(bound.bound) <= best.cost + 1e-9
    assert bound.done == problem.n_rows
    if bound.splits is not None:
        tree = build_tree(problem, *bound.splits)
        assert tree.depth <= problem.max_depth
        assert tree.n_splits <= problem.max_splits
        assert (tree.n_samples[tree.feature < 0] >= problem.min_samples_leaf).all()
        assert cost_of(problem, tree) == pytest.approx(problem.to_user_cost(bound.cost))
        assert problem.to_user_cost(bound.cost) >= best.cost - 1e-9


def test_all_rows_count_for_something_in_a_short_time():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40_000, 8)).round(3), rng.integers(0, 2, 40_000)
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    whole = BlockBound(problem, first=100, second=400)
    whole.more(600.0)
    end = time.perf_counter() + 0.5
    # However long a block takes, those after it have what is left.
    while whole.more(max(end - time.perf_counter(), 0.0)):
        pass
    assert whole.done == problem.n_rows
    few = BlockBound(problem, first=100, second=400)
    few.more(600.0)
    assert whole.bound >= few.bound > 0
    assert whole.bound < whole.cost


def test_one_block_is_the_whole_proof():
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 9, (300, 4)).astype(float), rng.integers(0, 3, 300)
    problem = build_problem(X, y, n_classes=3, max_depth=2)
    bound = BlockBound(problem, first=problem.n_rows)
    assert bound.more(60.0)
    assert bound.bound == bound.cost == ExactSearch().solve(problem).cost


def test_a_search_that_was_stopped_gets_bound_and_tree(monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 100)
    rng = np.random.default_rng(2)
    X = rng.normal(size=(6000, 3))
    y = ((X[:, 0] > 0.2) & (X[:, 1] < 0.4)) ^ (rng.random(6000) < 0.1)
    problem = build_problem(X, y.astype(int), n_classes=2, max_depth=2)
    best = ExactSearch().solve(problem)
    leaf = build_tree(problem, [-1], [0])
    stopped = Solution(leaf, problem.root_error, 0, "time_limit")
    told = []
    found = SharedTime(problem, Limits(60.0)).improve(stopped, told.append)
    assert best.cost <= found.cost < problem.root_error
    assert 0.7 * best.cost < found.lower_bound <= best.cost
    assert cost_of(problem, found.tree) == found.cost
    assert found.status == "time_limit"
    assert found.history == tuple(told)
    assert found.counters["block_rows"] == problem.n_rows

    # What a search proved stands, and so does a tree that is better than those of the blocks.
    good = replace(stopped, tree=best.tree, cost=best.cost, lower_bound=best.cost - 1)
    found = SharedTime(problem, Limits(60.0)).improve(good)
    assert (found.cost, found.lower_bound, found.tree) == (best.cost, best.cost - 1, best.tree)
    for status in ("optimal", "interrupted"):
        ended = replace(stopped, status=status)
        assert SharedTime(problem, Limits(60.0)).improve(ended) is ended


def test_ctrl_c_between_blocks_keeps_what_is_known(monkeypatch):
    monkeypatch.setattr(blocks, "LARGE", 100)
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(9000, 2)), rng.integers(0, 2, 9000)
    problem = build_problem(X, y, n_classes=2, max_depth=1)

    def interrupt(progress):
        if progress.lower_bound > 0:
            raise KeyboardInterrupt

    stopped = Solution(build_tree(problem, [-1], [0]), problem.root_error, 0, "time_limit")
    found = SharedTime(problem, Limits(60.0)).improve(stopped, interrupt)
    assert found.status == "interrupted"
    assert 0 < found.lower_bound <= found.cost <= problem.root_error
    assert cost_of(problem, found.tree) == found.cost


def test_only_large_tables_share_their_time(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 50, (300, 2)).astype(float)
    clear, noise = (X[:, 0] > 20).astype(int), rng.integers(0, 2, 300)
    problem, noisy = (build_problem(X, y, n_classes=2, max_depth=1) for y in (clear, noise))
    assert SharedTime(problem, Limits(10.0)).search_seconds == 10.0
    monkeypatch.setattr(blocks, "LARGE", 3)
    assert SharedTime(problem, Limits(10.0)).search_seconds == pytest.approx(6.0)
    assert SharedTime(noisy, Limits(10.0)).search_seconds == pytest.approx(1.5)
    assert SharedTime(problem, Limits()).search_seconds == np.inf
