"""The problem of the rows of one node, with the penalty of the whole table."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem

__all__ = ["node_problem", "penalty_in"]


def node_problem(
    prepared: Prepared,
    rows: NDArray[np.intp],
    *,
    depth: int,
    budget: int,
    order: list[int] | None = None,
    keep_duplicates: bool = False,
) -> Problem:
    """Return the problem of the rows of a node, with its columns in some order.

    A problem leaves out columns that order the rows as an earlier one does. None that could
    replace the split may be hidden by what is excluded: that comes last, or nothing is left out.
    Nor is anything left out with `keep_duplicates`, where rules tell columns apart.
    """
    whole = prepared.problem
    problem = prepared.problem_of(
        rows,
        order,
        keep_orders=True,
        max_depth=depth,
        max_leaf_nodes=budget + 1,
        min_samples_leaf=whole.min_samples_leaf,
        keep_duplicates=keep_duplicates or (order is not None and bool(whole.combinations)),
    )
    # The penalty is that of the whole table, in the units of these rows.
    if whole.is_measured:
        problem = problem.with_fine_units()
        return problem.with_limits(
            max_splits=problem.max_splits, split_penalty=penalty_in(problem, whole)
        )
    penalty = Fraction(whole.split_penalty, whole.error_scale) / whole.weight_scale
    penalty *= problem.weight_scale
    return replace(problem, error_scale=penalty.denominator, split_penalty=penalty.numerator)


def penalty_in(problem: Problem, other: Problem) -> int:
    """Return the penalty of another problem of the same measured loss, in the units of this one."""
    ours, theirs = problem.cost_scale, other.cost_scale
    cost = other.split_penalty * theirs.unit / theirs.weight_scale
    return round(cost * ours.weight_scale / ours.unit) if ours.unit > 0 else 0
