"""The refinement as a whole: Theorem 1 beside the exact search, Propositions 1 and 2, limits."""

from __future__ import annotations

import numpy as np
import pytest

from provetree import ExactSearch, Limits, build_problem
from provetree.partitions.refinement import PartitionSearch
from provetree.partitions.working import WorkingPartition
from testkit.partition_cases import build, by_milp, by_search, random_case
from testkit.random_problems import random_table

METHODS = ("gp", "igp", "crm")


@pytest.mark.parametrize("seed", range(300))
def test_theorem_1(seed):
    """EIIA ends with the optimum of the exact search: as many errors, as many splits."""
    problem, table = random_case(seed)
    engine = PartitionSearch(
        table,
        by_search,
        METHODS[seed % 3],
        refinement="exact",
        post_process=seed % 2 == 0,
        improved=seed % 5 != 0,
    )
    found = engine.solve(problem)
    best = ExactSearch().solve(problem)
    assert found.status == "optimal"
    assert found.cost == found.lower_bound == best.cost
    assert found.tree.n_splits == best.tree.n_splits
    assert found.tree.depth <= problem.max_depth
    assert len(found.rounds) <= problem.n_rows + 1


@pytest.mark.parametrize("seed", range(8))
def test_theorem_1_with_mixed_integer_models(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    X, y = rng.integers(0, 5, (n, 2)).astype(float), rng.integers(0, 2, n)
    problem, table = build(X, y, 2, depth=1 + seed % 2)
    engine = PartitionSearch(table, by_milp, METHODS[seed % 3], refinement="exact", solver="highs")
    found = engine.solve(problem)
    best = ExactSearch().solve(problem)
    assert found.status == "optimal"
    assert (found.cost, found.tree.n_splits) == (best.cost, best.tree.n_splits)


@pytest.mark.parametrize("seed", range(150))
def test_proposition_2(seed):
    """Refinement ends, after no more rounds than rows, with a tree that cuts no cluster."""
    problem, table = random_case(10_000 + seed)
    engine = PartitionSearch(table, by_search, METHODS[seed % 3], post_process=seed % 2 == 0)
    found = engine.solve(problem)
    best = ExactSearch().solve(problem)
    assert found.status in ("feasible", "optimal")
    assert len(found.rounds) <= problem.n_rows + 1
    last = found.rounds[-1]
    assert last.n_cut == 0
    assert last.errors == last.model_errors  # Proposition 1
    assert found.lower_bound <= best.cost <= found.cost <= last.errors
    if found.status == "optimal":
        assert found.cost == best.cost
    sizes = [one.n_clusters for one in found.rounds]
    assert sizes == sorted(set(sizes))


def test_the_worst_start():
    """One cluster for each class: as many rounds as it takes, and still a proof."""
    problem, table = random_case(77)
    engine = PartitionSearch(table, by_search, problem.classes.astype(np.int64), refinement="exact")
    found = engine.solve(problem)
    assert found.status == "optimal"
    assert found.cost == ExactSearch().solve(problem).cost


def test_exact_refinement_needs_one_class_per_cluster():
    problem, table = build(np.array([[0.0], [1.0]]), np.array([0, 1]), 2, depth=1)
    engine = PartitionSearch(table, by_search, np.zeros(2, dtype=np.int64), refinement="exact")
    with pytest.raises(ValueError, match="needs a homogeneous partition"):
        engine.solve(problem)
    # The heuristic takes it, and divides what its tree cuts.
    assert PartitionSearch(table, by_search, np.zeros(2, dtype=np.int64)).solve(problem).cost in (
        0,
        1,
    )


@pytest.mark.parametrize("seed", range(60))
def test_categories_and_missing_values(seed):
    """The whole range of tables: the engine keeps to its limits and proves what it claims."""
    given = random_table(seed, max_depth=2)
    options = {**given.options, "min_samples_leaf": 1, "alpha": 0.0, "max_leaf_nodes": None}
    problem = build_problem(given.X, given.y, merge=False, **options)
    present = slice(None)
    if options["sample_weight"] is not None:
        present = np.asarray(options["sample_weight"]) > 0
    table = given.X[present]
    best = ExactSearch().solve(problem)
    for refinement in ("heuristic", "exact"):
        found = PartitionSearch(table, by_search, METHODS[seed % 3], refinement=refinement).solve(
            problem
        )
        assert found.lower_bound <= best.cost <= found.cost
        if found.status == "optimal":
            assert found.cost == pytest.approx(best.cost)
        if refinement == "exact":
            assert found.status == "optimal"


@pytest.mark.parametrize("refinement", ["heuristic", "exact"])
def test_a_time_limit_leaves_a_tree_and_a_bound(refinement):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 6)), rng.integers(0, 2, 400)
    problem, table = build(X, y, 2, depth=4)
    told = []
    found = PartitionSearch(table, by_search, refinement=refinement).solve(
        problem, Limits(0.3), on_progress=told.append
    )
    assert found.status == "time_limit"
    assert 0 <= found.lower_bound <= found.cost < 200
    assert told[-1].cost == found.cost
    costs = [moment.cost for moment in found.history]
    assert costs == sorted(costs, reverse=True)


def test_no_time_at_all():
    problem, table = random_case(3)
    found = PartitionSearch(table, by_search).solve(problem, Limits(1e-9))
    assert found.cost >= found.lower_bound
    assert found.tree.n_splits >= 0


def test_a_row_each_is_the_problem_itself():
    problem, table = random_case(12)
    found = PartitionSearch(table, by_search, np.arange(problem.n_rows)).solve(problem)
    assert found.status == "optimal"
    assert found.cost == ExactSearch().solve(problem).cost


def test_clusters_of_rounds_only_get_finer():
    problem, table = random_case(2)
    found = PartitionSearch(table, by_search, "gp", rho=0.1, refinement="exact").solve(problem)
    pairs = set(zip(found.last_clusters.tolist(), found.first_clusters.tolist(), strict=True))
    assert len(pairs) == len(set(found.last_clusters.tolist()))
    assert isinstance(WorkingPartition(problem, table, found.last_clusters).count, int)
