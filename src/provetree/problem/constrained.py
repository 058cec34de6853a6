"""A Problem with what some engines see besides.

That is the limits as they were asked for (published models are laid out for them), side
constraints, and the raw rows that a tree is checked on.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from provetree.number_types import Float, Int
from provetree.problem.problem import Problem
from provetree.problem.side_constraints import SideConstraints

__all__ = ["ConstrainedProblem", "RawRows", "constrained"]


@dataclass(frozen=True, eq=False)
class RawRows:
    """The rows of a table as they were given, those of weight zero left out."""

    X: Float
    classes: Int
    weights: Int
    groups: Int | None = None


@dataclass(frozen=True, eq=False)
class ConstrainedProblem(Problem):
    """A problem with limits as asked for, side constraints and raw rows."""

    asked_depth: int  # ``max_depth`` is no larger than the rows allow
    asked_splits: int | None
    penalty: Fraction  # the cost of a split, in integer units of weight
    side: SideConstraints | None
    given_rows: RawRows | None  # None stands for rows with the values of the columns

    @cached_property
    def rows(self) -> RawRows:
        """The rows that the tree is checked on."""
        return _rows_of(self) if self.given_rows is None else self.given_rows

    def with_penalty(self, penalty: Fraction) -> ConstrainedProblem:
        """Return the problem with a penalty per split; see :meth:`Problem.with_penalty`."""
        changed = super().with_penalty(penalty)
        assert isinstance(changed, ConstrainedProblem)  # for the type checker
        return replace(changed, penalty=penalty)


def constrained(
    problem: Problem,
    *,
    depth: int | None = None,
    max_splits: int | None = None,
    penalty: Fraction | int | None = None,
    side: SideConstraints | None = None,
    rows: RawRows | None = None,
) -> ConstrainedProblem:
    """Return a problem with what some engines see besides.

    Limits are as asked for, or else those of the problem; without raw rows, rows with the values of
    the problem's columns count. A problem that has been here before comes back as it is.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.problem.constrained import constrained
    >>> problem = build_problem([[1.0], [2.0], [5.0]], [0, 1, 0], n_classes=2, max_depth=4)
    >>> constrained(problem).asked_depth, constrained(problem, depth=4).asked_depth
    (2, 4)
    """
    if isinstance(problem, ConstrainedProblem):
        return problem
    if max_splits is None and problem.max_splits < _splits_by_rows(problem):
        max_splits = problem.max_splits
    if penalty is None:
        penalty = Fraction(problem.split_penalty, problem.error_scale)
    return ConstrainedProblem(
        **{field.name: getattr(problem, field.name) for field in fields(Problem)},
        asked_depth=problem.max_depth if depth is None else depth,
        asked_splits=max_splits,
        penalty=Fraction(penalty),
        side=side,
        given_rows=rows,
    )


def _splits_by_rows(problem: Problem) -> int:
    """Return the most splits that the depth and the rows allow."""
    leaves = min(problem.n_rows, problem.n_samples // problem.min_samples_leaf)
    if not problem.columns:
        return 0
    return int(min(2.0**problem.max_depth, leaves)) - 1


def _rows_of(problem: Problem) -> RawRows:
    """Return rows that have the values of the problem's columns, where the table is not at hand.

    A category that no column stands for gets a code that is no category's: it goes with the rest.
    """
    X = np.zeros((problem.n_rows, problem.n_features))
    X[:, [levels is not None for levels in problem.categories]] = -1.0
    for c, column in enumerate(problem.columns):
        ranks = problem.ranks[c]
        if column.kind == "category":
            X[ranks == 0, column.feature] = column.category
            levels = problem.categories[column.feature]
            if levels is not None and column.category == len(levels):
                X[ranks == 0, column.feature] = np.nan
        else:
            X[:, column.feature] = column.values[ranks]
    source = np.repeat(np.arange(problem.n_rows), problem.counts)
    each, rest = np.divmod(problem.weights, problem.counts)
    place = np.arange(len(source)) - np.repeat(
        np.cumsum(problem.counts) - problem.counts, problem.counts
    )
    weights = each[source] + (place < rest[source])
    classes = problem.classes[source].astype(np.int64)
    return RawRows(X[source], classes, np.asarray(weights, dtype=np.int64))
