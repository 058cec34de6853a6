"""Definitions 2 to 4, exclusion beside its naive twin, and the picture."""

from __future__ import annotations

import numpy as np
import pytest

from provetree import DataPartition, closest_representatives_merge, greedy_partition
from provetree.partitions.coordinates import coordinates, unit_columns
from testkit.naive_partitions import naive_exclusion


@pytest.mark.parametrize("seed", range(60))
def test_exclusion_is_that_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(2, 40)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, width))
    if seed % 3 == 0:
        X = rng.integers(0, 4, (n, width)).astype(float)  # hulls that touch
    y = rng.integers(0, 2, n)
    clusters = np.unique(rng.integers(0, max(2, n // 3), n), return_inverse=True)[1]
    if seed % 2:
        clusters = greedy_partition(X, y, 0.3).clusters
    partition = DataPartition(X, y, clusters)
    expected = naive_exclusion(unit_columns(X), clusters.tolist())
    assert partition.exclusion == pytest.approx(expected)


def test_an_estimate_says_how_sure_it_is():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(0, 2, 300)
    partition = greedy_partition(X, y, 0.3)
    exact = partition.measure_exclusion()
    assert exact.is_exact
    assert exact.standard_error == 0.0
    estimates = [partition.measure_exclusion(30, random_state=k) for k in range(20)]
    assert all(not e.is_exact and e.n_measured == 30 for e in estimates)
    assert np.mean([e.value for e in estimates]) == pytest.approx(exact.value, abs=0.08)
    spread = np.std([e.value for e in estimates])
    assert spread == pytest.approx(np.mean([e.standard_error for e in estimates]), rel=0.6)
    assert partition.measure_exclusion(10**6).is_exact
    with pytest.raises(ValueError, match="'n_sampled'"):
        partition.measure_exclusion(0)


def test_homogeneity_counts_rows_of_the_cluster_s_label():
    partition = DataPartition([[0.0], [1.0], [2.0], [9.0]], [0, 0, 1, 1], [0, 0, 0, 1])
    assert partition.labels.tolist() == [0, 1]
    assert partition.homogeneity == 0.75
    assert DataPartition([[0.0], [1.0]], [0, 1], [0, 0], labels=[1]).homogeneity == 0.5


def test_consistency_looks_at_rows_beside_another_label():
    # Rows 1 and 2 are each other's closest neighbours and differ.
    X, y = [[0.0], [2.0], [3.0], [6.0], [7.0]], [0, 0, 1, 1, 1]
    assert DataPartition(X, y, [0, 0, 1, 2, 2]).consistency == 0.5
    assert DataPartition(X, y, [0, 1, 2, 3, 3]).consistency == 1.0
    assert DataPartition(X, y, [0, 0, 1, 1, 1]).consistency == 0.0


def test_barycentres_of_equal_rows_are_those_rows():
    partition = DataPartition(np.full((3, 1), 0.1), [0, 0, 0], [0, 0, 0])
    assert partition.representatives.tolist() == [[0.1]]
    huge = DataPartition([[1e308], [1.5e308], [1.5e308]], [0, 0, 0], [0, 0, 0])
    assert np.isfinite(huge.representatives).all()


def test_coordinates_of_categories_and_missing_values():
    table = np.array([[0.0, np.nan], [1.0, 3.0], [2.0, 5.0], [np.nan, 3.0]])
    points = coordinates(table, [("a", "b", "c"), None])
    apart = np.linalg.norm(points[1] - points[3])
    assert apart == pytest.approx(1.0)  # a category and a missing one
    assert np.isfinite(points).all()
    infinite = coordinates(np.array([[-np.inf], [0.0], [1.0], [np.inf]]), [None])
    assert infinite[:, 0].tolist() == sorted(infinite[:, 0].tolist())
    assert infinite.min() == 0.0
    assert infinite.max() == 1.0


def test_the_picture():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60).astype(str)
    partition = closest_representatives_merge(X, y)
    ax = partition.plot(columns=(2, 0))
    assert ax.get_xlabel() == "x2"
    assert ax.get_ylabel() == "x0"
    drawn = sum(len(collection.get_offsets()) for collection in ax.collections)
    assert drawn == 60 + partition.n_clusters
    with pytest.raises(ValueError, match=r"two ints in the range \[0, 3\)"):
        partition.plot(columns=(0, 3))
