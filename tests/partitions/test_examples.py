"""Examples 1 to 6 of Ales, Huré and Lambert (2024): rebuilt data with the property each shows."""

from __future__ import annotations

import numpy as np
import pytest

from provetree import DataPartition, ExactSearch, build_problem, closest_representatives_merge
from provetree.partitions.model_dp import solve_dp
from provetree.partitions.refinement import PartitionSearch
from provetree.partitions.working import WorkingPartition
from testkit.naive_partitions import naive_crm
from testkit.partition_cases import by_milp, by_search


def working(points, labels, clusters, depth, gamma):
    X, y = np.array(points, dtype=float), np.array(labels)
    problem = build_problem(
        X, y, n_classes=int(y.max()) + 1, max_depth=depth, max_leaf_nodes=gamma + 1, merge=False
    )
    return WorkingPartition(problem, X, np.array(clusters, dtype=np.int64))


def repeated(*groups):
    """Rows, labels and clusters from (points, label) of each cluster."""
    points = [point for group, _ in groups for point in group]
    labels = [label for group, label in groups for _ in group]
    clusters = [g for g, (group, _) in enumerate(groups) for _ in group]
    return points, labels, clusters


def test_example_1_homogeneous_and_exclusionary_but_not_consistent():
    # 13 rows, clusters {1, 3, 4, 5}, {2}, {6, 10, 11, 12}, {7, 9, 13}, {8}; row 6 is next to row 2.
    X = [[1, 9], [4, 8], [2, 9], [1, 8], [2, 7], [4, 7], [7, 2], [9, 8], [8, 1], [3, 5], [4, 4],
         [5, 5], [9, 2]]  # fmt: skip
    y = [0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0]
    clusters = [0, 1, 0, 0, 0, 2, 3, 4, 3, 2, 2, 2, 3]
    partition = DataPartition(X, y, clusters)
    assert partition.n_clusters == 5
    assert partition.n_rows == 13
    assert partition.homogeneity == 1.0
    assert partition.exclusion == 1.0
    assert partition.consistency == 0.5  # rows 2 and 6 are beside the other class, 2 is alone
    assert partition.reduction == pytest.approx(8 / 13)


def wye(centre, steps=10, shrinking=0.95):
    """Three branches whose steps get shorter from the centre to the ends."""
    steps_out = shrinking ** np.arange(steps)
    reach = np.cumsum(steps_out) / steps_out.sum()
    angles = -np.pi / 2 + np.arange(3) * 2 * np.pi / 3
    branches = [np.outer(reach, [np.cos(a), np.sin(a)]) for a in angles]
    return np.vstack([[[0.0, 0.0]], *branches]) + centre


def test_example_2_crm_need_not_be_exclusionary():
    # The first is a little further away, so that no two distances between shapes are equal.
    places = ((1.13, np.pi / 3), (1.1, np.pi), (1.1, -np.pi / 3))
    X = np.vstack([wye([r * np.cos(a), r * np.sin(a)]) for r, a in places])
    y = np.repeat([0, 1, 1], len(X) // 3)
    partition = closest_representatives_merge(X, y, scale=False)
    assert partition.clusters.tolist() == naive_crm(X, y)[0]
    assert partition.n_clusters == 2  # each class is one cluster
    assert partition.homogeneity == 1.0
    assert partition.exclusion == 0.0


def test_example_3_crm_need_not_be_consistent():
    # A and B, then C, D and E; B is closer to C than to A, and C merges with D and E first.
    X = [[0.0, 0.5], [0.3, 0.5], [0.55, 0.5], [0.7, 0.5], [0.75, 0.5]]
    partition = closest_representatives_merge(X, [0, 0, 1, 1, 1], scale=False)
    assert partition.clusters.tolist() == [0, 0, 1, 1, 1]
    assert partition.homogeneity == 1.0
    assert partition.exclusion == 1.0
    assert partition.consistency < 1.0


def test_example_4_fewer_errors_on_the_partition_than_on_the_rows():
    circles = [[2, 1]] * 14 + [[7, 1]] * 6  # six of them are among the squares
    triangles = [[3.5, 9]] * 13
    squares = [[7, 1]] * 13
    partition = working(*repeated((circles, 0), (triangles, 1), (squares, 2)), depth=2, gamma=2)
    assert partition.problem.n_rows == 46
    tree = solve_dp(partition, by_search, max_depth=2, max_splits=2).tree
    assert partition.representative_errors(tree) == 0
    assert partition.errors(tree) == 6


def test_example_5_fewer_errors_on_the_rows_than_on_the_partition():
    left = [[[0.1 * g, g]] * 5 for g in range(4)]
    right = [[[2 + 0.1 * g, g]] * 6 for g in range(3)] + [[[2.9, 1]] * 2]
    astray = [[0.9, 0]] + [[2.5, 0]] * 4  # its barycentre is on the right, one row on the left
    groups = [(g, 0) for g in left] + [(g, 1) for g in right] + [(astray, 0)]
    groups[4] = ([*groups[4][0], *[[2.0, 0]] * 5], 1)
    partition = working(*repeated(*groups), depth=1, gamma=1)
    assert partition.problem.n_rows == 50
    assert partition.count == 9
    tree = solve_dp(partition, by_search, max_depth=1, max_splits=1).tree
    assert partition.representative_errors(tree) == 5
    assert partition.errors(tree) == 4


def example_6():
    # Column 0 separates all but a cluster of four; column 1 all but three rows, but the barycentre
    # of a cluster of six is on the wrong side there, because of one far row.
    pulled = [[0, 0.4]] * 5 + [[0, 10.0]]
    calm = [[0, 0.2]] * 6
    stray = [[0, 3.0]] * 2
    wrong = [[5, 0.1]] * 4
    other = [[5, 2.0]] * 12
    return repeated((pulled, 0), (calm, 0), (stray, 0), (wrong, 0), (other, 1))


def test_example_6_the_heuristic_need_not_be_optimal():
    points, labels, clusters = example_6()
    partition = working(points, labels, clusters, depth=1, gamma=1)
    assert partition.problem.n_rows == 30
    found = PartitionSearch(partition.table, by_search, partition.clusters).solve(partition.problem)
    assert found.status == "feasible"
    assert found.rounds[-1].n_cut == 0
    assert found.rounds[-1].model_errors == 4
    assert found.cost == 4
    assert ExactSearch().solve(partition.problem).cost == 3
    for engine_for, solver in ((by_search, None), (by_milp, "highs")):
        exact = PartitionSearch(
            partition.table, engine_for, partition.clusters, refinement="exact", solver=solver
        ).solve(partition.problem)
        assert exact.status == "optimal"
        assert exact.cost == 3
