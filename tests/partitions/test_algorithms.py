"""GP, IGP and CRM beside their naive twins, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest

from provetree import (
    DataPartition,
    closest_representatives_merge,
    greedy_partition,
    improved_greedy_partition,
)
from provetree.partitions.greedy import cluster_limit
from testkit.naive_partitions import naive_crm, naive_gp, naive_igp


def random_points(seed):
    """Few or many ties, one to three labels, duplicates with one label and with several."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 26))
    width = int(rng.integers(1, 4))
    kind = rng.integers(0, 3)
    X = rng.normal(size=(n, width))
    if kind == 1:
        X = rng.integers(0, 4, (n, width)).astype(float)
    elif kind == 2:
        X = np.round(X, 1)
    if n > 2 and rng.random() < 0.3:
        X = X[rng.integers(0, n // 2 + 1, n)]
    y = rng.integers(0, rng.integers(1, 4), n)
    if rng.random() < 0.6:
        y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    return X, y


@pytest.mark.parametrize("seed", range(150))
def test_identical_to_the_naive_twins(seed):
    X, y = random_points(seed)
    rho = (0.1, 0.25, 0.5, 0.75)[seed % 4]
    gp = greedy_partition(X, y, rho, scale=False)
    assert gp.clusters.tolist() == naive_gp(X, y, cluster_limit(rho, len(X)))
    igp = improved_greedy_partition(X, y, scale=False)
    assert igp.clusters.tolist() == naive_igp(X, y)
    crm = closest_representatives_merge(X, y, scale=False)
    clusters, medoids = naive_crm(X, y)
    assert crm.clusters.tolist() == clusters
    assert crm.representatives.tolist() == X[medoids].tolist()
    assert gp.complete
    assert igp.complete
    assert crm.complete


def test_more_pairs_than_a_row_keeps_at_a_time():
    # Two far groups: every pair of a group has a ratio below one, many more than a row keeps.
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(70, 2)), rng.normal((6.0, 0.0), size=(70, 2))])
    y = np.repeat([0, 1], 70)
    partition = improved_greedy_partition(X, y, scale=False)
    assert partition.clusters.tolist() == naive_igp(X, y)


@pytest.mark.parametrize("seed", range(40))
def test_what_the_algorithms_promise(seed):
    rng = np.random.default_rng(1000 + seed)
    n = int(rng.integers(20, 200))
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int) + (X[:, 1] > 1)
    for rho in (0.1, 0.3):
        gp = greedy_partition(X, y, rho)
        assert gp.homogeneity == 1.0
        assert gp.n_clusters == max(cluster_limit(rho, n), len(np.unique(y)))
        assert gp.reduction >= 1 - rho or gp.n_clusters == len(np.unique(y))
    igp = improved_greedy_partition(X, y)
    assert igp.homogeneity == 1.0
    assert igp.consistency == 1.0
    assert closest_representatives_merge(X, y).homogeneity == 1.0


def test_scaling_makes_columns_alike():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    for make in (improved_greedy_partition, closest_representatives_merge, greedy_partition):
        plain, stretched = make(X, y), make(X * [1024.0, 0.25], y)
        assert plain.clusters.tolist() == stretched.clusters.tolist()


def test_a_time_limit_leaves_a_partition():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(1500, 8)), rng.integers(0, 2, 1500)
    for make in (improved_greedy_partition, closest_representatives_merge, greedy_partition):
        partition = make(X, y, time_limit=1e-9)
        assert not partition.complete
        assert partition.homogeneity == 1.0


# -- bad input --------------------------------------------------------------------------------


def test_one_label_ends_in_one_cluster():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.zeros(30)
    assert improved_greedy_partition(X, y).n_clusters == 1
    assert closest_representatives_merge(X, y).n_clusters == 1
    assert greedy_partition(X, y, 0.01).n_clusters == 1
    assert improved_greedy_partition(X, y).consistency == 1.0


def test_equal_rows():
    X = np.ones((6, 2))
    one = np.zeros(6, dtype=int)
    for make in (improved_greedy_partition, closest_representatives_merge):
        assert make(X, one).n_clusters == 1
    two = np.array([0, 1, 0, 1, 0, 1])
    mixed = improved_greedy_partition(X, two)
    # The closest neighbour of every row may have another label: nothing merges.
    assert mixed.n_clusters == 6
    assert mixed.consistency == 1.0
    crm = closest_representatives_merge(X, two)
    assert crm.clusters.tolist() == naive_crm(np.zeros((6, 2)), two)[0]
    assert greedy_partition(X, two, 0.5).n_clusters == 3


@pytest.mark.parametrize("rho", [0, 1, -0.1, 1.5, float("nan"), "0.5", None, True])
def test_rho_outside_its_range(rho):
    with pytest.raises(ValueError, match=r"'rho' parameter of greedy_partition .*\(0.0, 1.0\)"):
        greedy_partition([[0.0], [1.0]], [0, 1], rho)


def test_more_clusters_than_rows():
    with pytest.raises(ValueError, match=r"'n_clusters' .* \[1, 2\], the number of rows. Got 3"):
        greedy_partition([[0.0], [1.0]], [0, 1], n_clusters=3)
    with pytest.raises(ValueError, match=r"'n_clusters' .* Got 0 instead"):
        greedy_partition([[0.0], [1.0]], [0, 1], n_clusters=0)
    assert greedy_partition([[0.0], [1.0], [2.0]], [0, 1, 1], n_clusters=1).n_clusters == 2


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[1.0], [float("nan")]], [0, 1], "Column 0 holds nan in row 1"),
        ([[1.0, float("inf")]], [0], "Column 1 holds inf in row 0"),
        ([["a"], ["b"]], [0, 1], "needs a table of numbers"),
        ([], [], "at least one row"),
        ([[1.0], [2.0]], [0], "one label for each of the 2 rows"),
    ],
)
def test_bad_tables(X, y, sentence):
    for make in (improved_greedy_partition, closest_representatives_merge, greedy_partition):
        with pytest.raises(ValueError, match=sentence):
            make(X, y)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"clusters": [0, 2]}, "numbered from 0 without gaps"),
        ({"clusters": [0.0, 1.0]}, "one int for each of the 2 rows"),
        ({"clusters": [0]}, "one int for each of the 2 rows"),
        ({"clusters": [0, 1], "labels": [0]}, "one for each of its 2 clusters"),
        ({"clusters": [0, 1], "representatives": [[0.0]]}, r"must have the shape \(2, 1\)"),
    ],
)
def test_bad_partitions(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        DataPartition([[0.0], [1.0]], [0, 1], **arguments)
