"""Problems small enough for mixed-integer models, with awkward things in them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from provetree.problem.constrained import ConstrainedProblem, RawRows, constrained
from provetree.problem.problem import Problem, build_problem
from provetree.problem.weights import integer_weights
from provetree.solvers.solver import Outcome
from testkit.random_problems import RandomTable, random_table

# Rows that models can stand at each depth.
MOST_ROWS = (12, 14, 9, 7)


@dataclass(frozen=True)
class Case:
    """A problem, the raw rows behind it, and what is asked of the tree."""

    problem: Problem
    rows: RawRows
    penalty: Fraction
    depth: int
    max_splits: int | None

    @property
    def priced(self) -> Problem:
        """The problem as the exact search takes it."""
        return self.problem.with_penalty(self.penalty)

    def asked(self, formulation: str) -> ConstrainedProblem:
        """The problem as a formulation takes it."""
        return constrained(
            self.problem,
            depth=self.depth,
            max_splits=self.max_splits,
            penalty=0 if formulation == "p" else self.penalty,
            rows=self.rows,
        )

    def penalty_of(self, formulation: str) -> Fraction:
        """The penalty of a split in a formulation: model (P) has its own."""
        if formulation != "p":
            return self.penalty
        gamma = 2**self.depth - 1 if self.max_splits is None else self.max_splits
        return Fraction(1, gamma + 1)


def small_case(seed: int) -> Case:
    """The case of a seed: rows of a random table, with its alpha, leaf size and limit on leaves."""
    rng = np.random.default_rng(10**6 + seed)
    depth = int(rng.choice([0, 1, 2, 3], p=[0.05, 0.3, 0.6, 0.05]))
    table = random_table(seed, max_depth=depth)
    kept = rng.permutation(len(table.y))[: MOST_ROWS[depth]]
    return case_of(table.with_rows(kept))


def case_of(table: RandomTable) -> Case:
    options = dict(table.options)
    if options["sample_weight"] is not None and options["sample_weight"].max() == 0:
        options["sample_weight"] = None
    alpha = Fraction(repr(options.pop("alpha")))
    problem = build_problem(table.X, table.y, **options)
    weights = options["sample_weight"]
    present = np.ones(len(table.y), dtype=bool) if weights is None else weights > 0
    whole = np.ones(len(table.y), dtype=np.int64)
    if weights is not None:
        whole = integer_weights(weights[present]).weights
    rows = RawRows(table.X[present], table.y[present], whole)
    penalty = min(alpha, Fraction(1)) * problem.root_error
    leaves = options["max_leaf_nodes"]
    return Case(
        problem,
        rows,
        penalty.limit_denominator(1000),
        options["max_depth"],
        None if leaves is None else leaves - 1,
    )


class StartOnly:
    """A solver that gives its start back and proves nothing, for tests that are not of solvers."""

    def __repr__(self) -> str:  # names of tests must not depend on the process
        return "StartOnly()"

    def solve(self, model, *, start=None, limits=None, on_progress=None):
        if start is None:
            return Outcome("time_limit", None, math.inf, -math.inf)
        return Outcome("time_limit", start, model.value(start), -math.inf)
