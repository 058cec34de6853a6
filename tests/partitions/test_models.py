"""Models (DP) and (DP'), the bound on whole clusters, and post-processing, beside naive twins."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from provetree import ExactSearch, build_problem
from provetree.partitions.model_dp import solve_dp
from provetree.partitions.model_dp_prime import solve_dp_prime
from provetree.partitions.post_process import enum_interval, post_process
from provetree.partitions.whole_clusters import solve_whole_clusters
from provetree.partitions.working import WorkingPartition
from testkit.naive_partitions import naive_best
from testkit.partition_cases import by_milp, by_search


def random_partition(seed, *, most_rows=9, depth=None):
    """A small problem with homogeneous clusters; ties, weights, one class, one row."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most_rows + 1))
    X = rng.normal(size=(n, int(rng.integers(1, 3))))
    if rng.random() < 0.5:
        X = rng.integers(0, 4, X.shape).astype(float)
    n_classes = int(rng.integers(1, 4))
    y = rng.integers(0, n_classes, n)
    depth = int(rng.integers(0, 3)) if depth is None else depth
    problem = build_problem(
        X,
        y,
        n_classes=n_classes,
        max_depth=depth,
        sample_weight=rng.integers(1, 5, n) if rng.random() < 0.4 else None,
        max_leaf_nodes=int(rng.integers(1, 5)) if rng.random() < 0.5 else None,
        keep_duplicates=True,
    )
    # The rows of the problem as a table again: every column is a number here.
    table = np.zeros((problem.n_rows, X.shape[1]))
    for column, ranks in zip(problem.columns, problem.ranks, strict=True):
        table[:, column.feature] = column.values[ranks]
    groups = rng.integers(0, 3, problem.n_rows) + 3 * problem.classes
    clusters = np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return WorkingPartition(problem, table, clusters)


def naive(partition, rule):
    problem = partition.problem
    best = naive_best(
        problem.ranks.reshape(-1, problem.n_rows),
        partition.clusters.tolist(),
        partition.labels.tolist(),
        partition.weights.tolist(),
        problem.n_classes,
        problem.max_depth,
        problem.max_splits,
        rule=rule,
    )
    return best * (problem.max_splits + 1)


def limits(partition):
    problem = partition.problem
    return {"max_depth": problem.max_depth, "max_splits": problem.max_splits}


@pytest.mark.parametrize("seed", range(120))
def test_the_bound_on_whole_clusters_is_the_least_of_all_trees(seed):
    partition = random_partition(seed)
    best = naive(partition, "whole")
    found = solve_whole_clusters(partition, cutoff=10**6, **limits(partition))
    assert found.proven
    assert found.bound == best
    leaf = found.tree.apply(partition.table)
    gamma = partition.problem.max_splits
    again = (gamma + 1) * partition.whole_cluster_errors(leaf) + found.tree.n_splits
    assert again == best
    # Just above the optimum it is found again, at the optimum there is nothing below.
    assert solve_whole_clusters(partition, cutoff=int(best) + 1, **limits(partition)).bound == best
    assert solve_whole_clusters(partition, cutoff=int(best), **limits(partition)) is None


@pytest.mark.parametrize("seed", range(30))
def test_deeper_trees_with_few_splits(seed):
    # Cost with every cluster a single row is the plain problem: the exact search is the twin.
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 6, (40, 2)).astype(float), rng.integers(0, 3, 40)
    problem = build_problem(X, y, n_classes=3, max_depth=3, max_leaf_nodes=2 + seed % 7)
    table = np.column_stack(
        [c.values[r] for c, r in zip(problem.columns, problem.ranks, strict=False)]
    )
    partition = WorkingPartition(problem, table, np.arange(problem.n_rows))
    found = solve_whole_clusters(partition, cutoff=10**9, **limits(partition))
    plain = ExactSearch().solve(problem)
    assert found.bound == (problem.max_splits + 1) * plain.cost + plain.tree.n_splits


@pytest.mark.parametrize("seed", range(25))
def test_dp_prime_as_a_mixed_integer_model(seed):
    partition = random_partition(seed + 500, most_rows=7)
    best = naive(partition, "any")
    found = solve_dp_prime(partition, **limits(partition))
    assert found.proven
    assert found.bound == best
    gamma = partition.problem.max_splits
    cost = (gamma + 1) * partition.any_member_errors(found.tree) + found.tree.n_splits
    assert cost == best
    # The order of the three costs, and a start from the tree itself.
    assert naive(partition, "whole") <= best
    again = solve_dp_prime(partition, start=found.tree, **limits(partition))
    assert again.proven
    assert again.bound == best


@pytest.mark.parametrize("seed", range(12))
def test_dp_by_search_and_as_a_mixed_integer_model(seed):
    partition = random_partition(seed + 900, most_rows=8)
    ways = [solve_dp(partition, way, **limits(partition)) for way in (by_search, by_milp)]
    assert all(found.proven for found in ways)
    costs = {(partition.representative_errors(found.tree), found.tree.n_splits) for found in ways}
    assert len(costs) == 1


@pytest.mark.parametrize("seed", range(200))
def test_no_tree_costs_more_by_whole_clusters_than_by_any_member_than_on_rows(seed):
    rng = np.random.default_rng(seed)
    partition = random_partition(seed + 2000, most_rows=30, depth=2)
    some = rng.integers(0, partition.problem.n_rows, max(2, partition.problem.n_rows // 2))
    part = build_problem(
        partition.table[some],
        partition.problem.classes[some],
        n_classes=partition.problem.n_classes,
        max_depth=2,
    )
    tree = ExactSearch().solve(part).tree
    leaf = tree.apply(partition.table)
    whole = partition.whole_cluster_errors(leaf)
    assert whole <= partition.any_member_errors(tree) <= partition.errors(tree)
    if not partition.cut_by(leaf).any():  # Proposition 1
        assert partition.errors(tree) == partition.any_member_errors(tree)
        assert partition.errors(tree) == partition.representative_errors(tree)


@pytest.mark.parametrize("seed", range(150))
def test_proposition_4(seed):
    """PostProcess keeps what the tree costs on the partition, and does not cost rows."""
    partition = random_partition(seed + 4000, most_rows=60, depth=1 + seed % 3)
    found = solve_dp(partition, by_search, **limits(partition))
    problem = partition.problem
    moved = post_process(
        found.tree,
        partition.table,
        problem.classes,
        problem.weights,
        partition.clusters,
        partition.representatives,
        partition.labels,
    )
    assert moved.n_splits == found.tree.n_splits
    assert partition.representative_errors(moved) == partition.representative_errors(found.tree)
    assert partition.errors(moved) <= partition.errors(found.tree)
    right = found.tree.predict(partition.representatives) == partition.labels
    paths = (tree.apply(partition.representatives)[right] for tree in (found.tree, moved))
    assert np.array_equal(*paths)


def test_post_processing_does_change_trees():
    changed = 0
    for seed in range(60):
        partition = random_partition(seed + 7000, most_rows=60, depth=2)
        found = solve_dp(partition, by_search, **limits(partition))
        chosen, _ = partition.chosen_members(found.tree)
        problem = partition.problem
        moved = post_process(
            found.tree,
            partition.table,
            problem.classes,
            problem.weights,
            partition.clusters,
            partition.table[chosen],
            partition.labels,
        )
        assert partition.any_member_errors(moved) <= partition.any_member_errors(found.tree)
        changed += partition.errors(moved) < partition.errors(found.tree)
    assert changed > 5


def test_enum_interval_of_figure_7():
    # Eight rows; the representatives fix x3 < b <= x6; errors are 4, 3 and 2 by interval.
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    wants_left = np.array([True, False, True, True, True, False, True, False])
    threshold = enum_interval(x, np.ones(8, dtype=np.int64), wants_left, 3.0, 6.0, 3.2)
    assert threshold == 5.5


def test_enum_interval_stays_where_nothing_is_better():
    x, left = np.array([1.0, 2.0]), np.array([True, False])
    assert enum_interval(x, np.ones(2, dtype=np.int64), left, 1.5, 1.5, 1.5) == 1.5
    # Equal errors: the widest gap.
    x = np.array([1.0, 2.0, 9.0])
    left = np.array([True, True, False])
    assert enum_interval(x, np.ones(3, dtype=np.int64), left, -np.inf, np.inf, 2.1) == 5.5


def test_barycentres_stand_where_their_members_stand():
    for seed in range(60):
        partition = random_partition(seed + 9000, most_rows=40, depth=2)
        tree = ExactSearch().solve(partition.problem).tree
        leaf = tree.apply(partition.table)
        divided = partition.divided(leaf)
        assert not divided.cut_by(leaf).any()
        same = tree.apply(divided.representatives)[divided.clusters]
        assert np.array_equal(same, leaf)


def test_costs_are_exact_fractions():
    # The whole units order trees as errors + splits / (gamma + 1) does.
    partition = random_partition(3, most_rows=8, depth=2)
    gamma = partition.problem.max_splits
    assert naive(partition, "any") / (gamma + 1) == Fraction(
        int(naive(partition, "any")), gamma + 1
    )
