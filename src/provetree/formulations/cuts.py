"""Thresholds as binary columns: every cut of every ordered column, and who lies on which side.

FlowOCT knows columns in this form only; the tightened threshold models number their cuts by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from provetree.formulations.formulation import ModelRows
from provetree.number_types import Bool, Float, Int
from provetree.problem.problem import Problem
from provetree.solvers.model import Index, ModelBuilder

__all__ = ["Cuts", "add_side_rows", "cuts_of"]


@dataclass(frozen=True, eq=False)
class Cuts:
    """All places at which ordered columns can be split.

    Rows of at most the rank in the column are on the left. The cuts of a column follow each other
    by rank, from the ``first`` on.

    Examples
    --------
    >>> from provetree import build_problem
    >>> problem = build_problem([[1.0], [2.0], [5.0]], [0, 1, 0], n_classes=2, max_depth=1)
    >>> cuts_of(problem).rank.tolist()
    [0, 1]
    """

    column: Int
    rank: Int
    first: Int

    @property
    def n(self) -> int:
        """Number of cuts."""
        return len(self.column)

    @property
    def last(self) -> Int:
        """The last cut of each column."""
        return np.append(self.first[1:], self.n)[: len(self.first)] - 1

    def above(self, rows: ModelRows) -> Bool:
        """Return whether each row is right of each cut, shape (n_rows, n_cuts)."""
        return np.asarray(rows.ranks.T[:, self.column] > self.rank)


def cuts_of(problem: Problem) -> Cuts:
    """Return the cuts of the columns of a problem."""
    sizes = np.array([len(column.values) - 1 for column in problem.columns], dtype=np.int64)
    first = np.cumsum(sizes) - sizes
    column = np.repeat(np.arange(len(sizes)), sizes)
    return Cuts(column, np.arange(len(column)) - first[column], first)


def add_side_rows(
    builder: ModelBuilder,
    number: str,
    heads: Index,
    chosen: Index,
    allowed: Bool,
    *,
    upper: ArrayLike = 0.0,
    lower: ArrayLike = -math.inf,
    meaning: str,
) -> None:
    """Add, for each node and row, that a variable is at most the sum of allowed cuts.

    `heads` (nodes x rows) are the variables on the left-hand side. `chosen` (nodes x cuts)
    are one where a node splits at a cut; their coefficient is -1. `allowed` (rows x cuts) tells
    which cuts let a row pass.

    Examples
    --------
    >>> from provetree.solvers.model import ModelBuilder
    >>> builder = ModelBuilder("sides")
    >>> z, s = builder.variables("z", (1, 2)), builder.variables("s", (1, 2))
    >>> allowed = np.array([[True, False], [True, True]])
    >>> add_side_rows(builder, "left", z, s, allowed, meaning="")
    >>> builder.build().matrix.toarray().tolist()
    [[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, -1.0, -1.0]]
    """
    n_nodes = len(heads)
    lengths = 1 + allowed.sum(axis=1)
    cuts = np.nonzero(allowed)[1].astype(np.int32)

    def fill(columns: Index, coefficients: Float) -> None:
        shape = (n_nodes, int(lengths.sum()))
        columns, coefficients = columns.reshape(shape), coefficients.reshape(shape)
        starts = np.cumsum(lengths) - lengths
        others = np.ones(shape[1], dtype=np.bool_)
        others[starts] = False
        coefficients[:] = -1.0
        coefficients[:, starts] = 1.0
        for node in range(n_nodes):
            columns[node, others] = chosen[node, cuts]
            columns[node, starts] = heads[node]

    builder.ragged(
        number, np.tile(lengths, n_nodes), fill, lower=lower, upper=upper, meaning=meaning
    )
