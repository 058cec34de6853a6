"""The container of a model: positions, names, the matrix, and what is wrong with a point."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from provetree.solvers.model import ModelBuilder


def small():
    builder = ModelBuilder("small")
    x = builder.variables("x", (2, 2), upper=[[1, 1], [1, 5]], integer=True, cost=[[1, 2], [3, 4]])
    y = builder.variables("y", lower=-1.0, upper=1.0, step=0.5)
    builder.add("(1)", 2, (x, 1.0), lower=1, upper=[1, 4], meaning="rows")
    builder.add("(2) b", (), (x[0, :1], 2.0), (y, 0.0), upper=1.5)
    builder.offset = 10.0
    return builder.build()


def test_arrays_and_names():
    model = small()
    assert model.variable_names() == ["x_1_1", "x_1_2", "x_2_1", "x_2_2", "y"]
    assert model.constraint_names() == ["c1_1", "c1_2", "c2_b_1"]
    assert model.matrix.toarray().tolist() == [[1, 1, 0, 0, 0], [0, 0, 1, 1, 0], [2, 0, 0, 0, 0]]
    assert model.matrix.nnz == 5, "zeros are dropped"
    assert model.row_upper.tolist() == [1, 4, 1.5]
    assert model.integer.tolist() == [True] * 4 + [False]
    assert model.step.tolist() == [1, 1, 1, 1, 0.5]
    assert model.variable("x").positions.tolist() == [[0, 1], [2, 3]]
    assert model.constraint("(1)").rows == slice(0, 2)
    assert model.value([0, 1, 1, 0, 1]) == 15


@pytest.mark.parametrize(
    ("point", "where"),
    [
        ([0, 1, 1, 0, 0], "nowhere"),
        ([0, 1, 1, 0, 2], "y is 2, above 1"),
        ([0, 1, 1, 0, -2], "y is -2, below -1"),
        ([0, 1, 0.4, 0.6, 0], "x_2_1 is 0.4, which is not whole"),
        ([0, 0, 1, 0, 0], "constraint (1) [rows], row 1: 0 is below 1"),
        ([1, 0, 1, 0, 0], "constraint (2) b, row 1: 2 is above 1.5"),
        ([0, 1, np.nan, 0, 0], "x_2_1 is nan, below 0"),
    ],
)
def test_violation_names_the_place(point, where):
    violation = small().violation(point)
    assert violation.where == where
    assert (violation.size == 0) == (where == "nowhere")


def test_bad_calls():
    builder = ModelBuilder("twice")
    x = builder.variables("x", 2)
    with pytest.raises(ValueError, match="already has variables 'x'"):
        builder.variables("x", 2)
    builder.add("(1)", (), (x, 1.0))
    with pytest.raises(ValueError, match=r"already has constraints '\(1\)'"):
        builder.add("(1)", (), (x, 1.0))
    model = builder.build()
    with pytest.raises(KeyError, match="has no variables 'y'"):
        model.variable("y")
    with pytest.raises(KeyError, match="has no constraints '2'"):
        model.constraint("2")
    with pytest.raises(ValueError, match="must have 2 entries"):
        model.violation([1.0])


def test_rows_without_entries_and_models_without_rows():
    builder = ModelBuilder("empty")
    builder.variables("x", (0, 3))
    none = np.empty((0, 5), dtype=np.int32)
    builder.add("(1)", 2, (none.reshape(1, 0), 1.0), upper=1)
    builder.add("(2)", 0, (none, 1.0))
    model = builder.build()
    assert model.matrix.shape == (2, 0)
    assert model.violation([]).size == 0
    assert ModelBuilder("nothing").build().matrix.shape == (0, 0)


def test_building_needs_little_more_memory_than_the_matrix():
    n, width = 50_000, 12
    builder = ModelBuilder("large")
    x = builder.variables("x", n)
    builder.add("(1)", n, (x[np.newaxis, :width], 1.5))
    tracemalloc.start()
    model = builder.build()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    matrix = model.matrix
    size = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    assert peak < 1.5 * size
