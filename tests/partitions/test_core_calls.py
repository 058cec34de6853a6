"""The private functions of the core: wrong arrays are told, and nothing crashes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from provetree import _core

ROWS, CLASSES, WEIGHTS = np.zeros((3, 2)), np.zeros(3, dtype=np.int32), np.ones(3)


def partition(method="igp", rows=ROWS, classes=CLASSES, weights=WEIGHTS):
    return _core.partitions.partition(method, rows, classes, weights, 1, math.inf)


def search(**changes):
    arguments = {
        "ranks": np.array([[0, 1, 2]], dtype=np.uint32),
        "cluster": np.array([0, 0, 1], dtype=np.int32),
        "label": np.array([0, 1], dtype=np.int32),
        "weight": np.array([2, 1], dtype=np.int64),
        "n_classes": 2,
        "max_depth": 1,
        "max_splits": 1,
        "cutoff": 100,
        "time_limit": math.inf,
    }
    return _core.partitions.search_clusters(**{**arguments, **changes})


def test_right_calls():
    cluster, medoid, end = partition()
    assert cluster.tolist() == medoid.tolist() == [0, 0, 0]
    assert end == "complete"
    found = search()
    assert (found["found"], found["cost"], found["column"].tolist()) == (True, 1, [0, -1, -1])
    assert not search(cutoff=1)["found"]
    assert not search(cutoff=-5)["found"]
    assert search(time_limit=0.0)["status"] in ("complete", "time_limit")


def test_no_columns():
    cluster, _, _ = partition(rows=np.zeros((3, 0)))
    assert cluster.tolist() == [0, 0, 0]
    assert search(ranks=np.zeros((0, 3), dtype=np.uint32))["column"].tolist() == [-1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"method": "kmeans"}, "method"),
        ({"rows": np.zeros((0, 2)), "classes": CLASSES[:0], "weights": WEIGHTS[:0]}, "from 1"),
        ({"classes": CLASSES[:2]}, "one class and one weight per row"),
        ({"weights": WEIGHTS[:2]}, "one class and one weight per row"),
    ],
)
def test_wrong_points(changes, words):
    with pytest.raises(ValueError, match=words):
        partition(**changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cluster": np.array([0, 0, 2], dtype=np.int32)}, "belong to a cluster"),
        ({"cluster": np.array([0, 0, -1], dtype=np.int32)}, "belong to a cluster"),
        ({"cluster": np.array([0, 1], dtype=np.int32)}, "one cluster per row"),
        ({"label": np.array([0, 2], dtype=np.int32)}, "must be a class"),
        ({"weight": np.array([0, 1], dtype=np.int64)}, "weight must be from 1"),
        ({"weight": np.array([1], dtype=np.int64)}, "one weight and one label"),
        ({"weight": np.full(2, 2**30 + 1)}, "weight must be from 1"),
        ({"max_depth": -1}, "limits of a tree"),
        ({"max_splits": 2**20}, "limits of a tree"),
    ],
)
def test_wrong_clusters(changes, words):
    with pytest.raises(ValueError, match=words):
        search(**changes)


def test_neighbours():
    rows = np.array([[0.0], [1.0], [1.5]])
    assert _core.partitions.nearest_neighbours(rows).tolist() == [1, 2, 1]
    assert _core.partitions.nearest_neighbours(rows[:1]).tolist() == [-1]
    assert _core.partitions.nearest_neighbours(rows[[0, 0, 1]]).tolist() == [1, 0, 0]
    with pytest.raises(ValueError, match="from 1"):
        _core.partitions.nearest_neighbours(rows[:0])
