"""Side constraints as rows of a model.

All of them are linear in the amounts of rows that are predicted to be of a class, and in the
numbers of splits on columns; every formulation offers both.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from provetree.number_types import Int
from provetree.problem.side_constraints import SideConstraints
from provetree.solvers.model import Expression, ModelBuilder

if TYPE_CHECKING:
    from provetree.formulations.formulation import Formulation

__all__ = ["add_side_constraints"]


def add_side_constraints(
    side: SideConstraints, formulation: Formulation, builder: ModelBuilder
) -> None:
    """Add side constraints to a model that is being built."""
    problem, rows = formulation.problem, formulation.rows
    classes, weights = problem.classes, problem.weights
    for k, least in side.min_recall.items():
        of_class = np.where(classes == k, weights, 0)
        found = formulation.predicted(builder, f"recall_{k + 1}", rows.amounts(of_class), k)
        lower = math.ceil(least * int(of_class.sum()))
        _limit(builder, f"side: recall of class {k + 1}", found, lower=lower)
    for k, most in side.max_false_positive_rate.items():
        others = np.where(classes == k, 0, weights)
        found = formulation.predicted(builder, f"false_{k + 1}", rows.amounts(others), k)
        upper = math.floor(most * int(others.sum()))
        _limit(builder, f"side: false positives of class {k + 1}", found, upper=upper)
    if side.max_parity_gap is not None and side.groups is not None:
        positive = [
            formulation.predicted(builder, f"group_{g + 1}", rows.amounts(group), side.positive)
            for g, group in enumerate(side.groups)
        ]
        _add_rates(builder, positive, side.max_parity_gap, side.groups)
    features = np.array([column.feature for column in problem.columns], dtype=np.int64)
    for number, (limited, most_uses) in enumerate(side.column_limits, 1):
        uses = formulation.uses(np.isin(features, limited))
        _limit(builder, f"side: uses of columns {number}", uses, upper=most_uses)


def _add_rates(
    builder: ModelBuilder, positive: list[Expression], most: Fraction, groups: Int
) -> None:
    """Add that the shares of two groups that are predicted to be positive differ by little."""
    totals = [int(total) for total in groups.sum(axis=1)]
    for g, h in combinations(range(len(groups)), 2):
        # In whole numbers: |positive_g * total_h - positive_h * total_g| <= limit. Half a unit
        # of room changes nothing in whole numbers and keeps solvers' tolerances out of it.
        limit = math.floor(most * totals[g] * totals[h]) + 0.5
        size = max(totals[g], totals[h])
        parts = (positive[g].scaled(totals[h] / size), positive[h].scaled(-totals[g] / size))
        difference = Expression(
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.coefficients for part in parts]),
        )
        number = f"side: rates of groups {g + 1} and {h + 1}"
        _limit(builder, number, difference, lower=-limit / size, upper=limit / size)


def _limit(
    builder: ModelBuilder,
    number: str,
    expression: Expression,
    *,
    lower: float = -math.inf,
    upper: float = math.inf,
) -> None:
    # A merged row may count for two groups: each variable must stand once.
    columns, place = np.unique(expression.columns, return_inverse=True)
    coefficients = np.bincount(place.reshape(-1), expression.coefficients, len(columns))
    builder.add(number, (), (columns, coefficients), lower=lower, upper=upper, meaning="asked for")
