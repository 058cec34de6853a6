"""Calls DL8 and DL8.5 of the C++ core and turns their answer into a tree.

Errors and cost matrices of short decimals are integers, so proofs are exact. Other matrices and the
user's own functions are added up in float64, in the order of the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree import _core
from provetree.itemsets.leaf_cost import LeafCost
from provetree.number_types import Float, Int, Int32
from provetree.problem.problem import Problem
from provetree.problem.weights import integer_weights
from provetree.solution import Limits, Progress, Solution
from provetree.tree.build import build_tree

__all__ = ["ItemsetSearch"]


#: The core adds up costs in float64, where integers up to here are exact.
_MOST_WHOLE = 2**53


@dataclass(frozen=True)
class ItemsetSearch:
    """DL8 and DL8.5, as published by Aglin, Nijssen and Schaus in 2020.

    The problem must have columns of two values only, no penalty for splits and no limit on leaves
    other than the depth. Its minimum number of rows in a leaf is the paper's minimum support.

    Parameters
    ----------
    algorithm : {"dl8.5", "dl8"}
        Algorithm 2 or Algorithm 1 of the paper.
    branching : {"information_gain", "information_gain_ascending", "data_order"}
        The order in which columns are tried.
    cache_partial_results : bool
        Whether DL8.5 also caches that no tree was found for a bound.
    leaf_cost : LeafCost, optional
        What a leaf costs instead of its errors.
    cost_matrix : array of float, shape (n_classes, n_classes), optional
        Cost of a row of weight one of each class (row) for each prediction (column).
    count_itemsets : bool
        Count the distinct itemsets visited, which takes memory for all of them.
    row_numbers : array of int, optional
        The row numbers that a leaf cost of rows gets; 0, 1, ... by default.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import ItemsetSearch, build_problem
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> problem = build_problem(X, np.array([0, 1, 1, 0]), n_classes=2, max_depth=2, merge=False)
    >>> solution = ItemsetSearch().solve(problem)
    >>> solution.cost, solution.status, solution.tree.n_splits
    (0, 'optimal', 3)
    """

    algorithm: Literal["dl8.5", "dl8"] = "dl8.5"
    branching: Literal["information_gain", "information_gain_ascending", "data_order"] = (
        "information_gain"
    )
    cache_partial_results: bool = True
    leaf_cost: LeafCost | None = None
    cost_matrix: ArrayLike | None = field(default=None, compare=False)
    count_itemsets: bool = False
    row_numbers: ArrayLike | None = field(default=None, compare=False)

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Solution:
        """Return the best tree found within the limits; see :meth:`provetree.Engine.solve`.

        The memory limit is that of the cache.
        """
        problem.must_count_errors("ItemsetSearch")
        _check_problem(problem)
        limits = Limits() if limits is None else limits
        rows = _Transactions.of(problem)
        cost = _Cost.of(self, problem)

        def progress(seconds: float, at: float, bound: float) -> Progress:
            return Progress(seconds, cost.to_user(at), cost.to_user(bound))

        def tell(seconds: float, at: float, bound: float) -> None:
            if on_progress is not None:
                on_progress(progress(seconds, at, bound))

        found = _core.itemset_search(
            values=rows.values,
            classes=rows.classes,
            weights=rows.weights,
            n_classes=problem.n_classes,
            max_depth=problem.max_depth,
            min_support=problem.min_samples_leaf,
            algorithm=self.algorithm,
            branching=self.branching,
            cache_partial_results=self.cache_partial_results,
            count_itemsets=self.count_itemsets,
            time_limit=limits.seconds,
            memory_limit=limits.memory_limit,
            lower_bound=cost.lower_bound(problem),
            row_numbers=_numbers(self.row_numbers, problem, rows),
            weight_numerator=float(problem.weight_scale.numerator),
            weight_denominator=float(problem.weight_scale.denominator),
            on_progress=None if on_progress is None else tell,
            **cost.arguments,
        )
        attribute = found["attribute"]
        return Solution(
            tree=build_tree(problem, attribute, np.zeros_like(attribute), found["label"]),
            cost=cost.to_user(found["cost"]),
            lower_bound=cost.to_user(found["lower_bound"]),
            status=found["status"],
            history=tuple(progress(*moment) for moment in found["history"]),
            counters=found["counters"],
        )


@dataclass(frozen=True)
class _Transactions:
    """Rows one by one, as in the paper, because supports count rows."""

    values: NDArray[np.uint8]
    classes: Int32
    weights: Int
    number: NDArray[np.intp]

    @staticmethod
    def of(problem: Problem) -> _Transactions:
        number = np.repeat(np.arange(problem.n_rows), problem.counts)
        # A merged row weighs at least one per original row: one of them carries the rest.
        weights = np.ones(len(number), dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(problem.counts)[:-1]])
        weights[first] = problem.weights - (problem.counts - 1)
        values = problem.ranks[:, number].astype(np.uint8)
        return _Transactions(
            np.ascontiguousarray(values), problem.classes[number].copy(), weights, number
        )


@dataclass(frozen=True)
class _Cost:
    """The cost in the form of the core, and its conversion to the user's units."""

    arguments: dict[str, Any]
    to_user: Callable[[float], float]
    matrix: Float | None
    has_bound: bool

    @staticmethod
    def of(search: ItemsetSearch, problem: Problem) -> _Cost:
        if search.leaf_cost is not None:
            if search.cost_matrix is not None:
                raise ValueError("Give a 'leaf_cost' or a 'cost_matrix', not both.")
            arguments: dict[str, Any] = {"of_rows": search.leaf_cost.of == "rows"}
            if search.leaf_cost.is_compiled:
                address, data = search.leaf_cost.address()
                arguments |= {"function_address": address, "function_data": data}
            else:
                arguments["function"] = search.leaf_cost.function
            return _Cost(arguments, float, None, False)
        if search.cost_matrix is None:
            return _Cost({}, lambda cost: problem.to_user_cost(round(cost)), None, True)
        matrix = _checked_matrix(search.cost_matrix, problem.n_classes)
        whole, scale = _whole_matrix(matrix, int(problem.weights.sum()))
        if whole is None:
            arguments = {"cost_matrix": matrix, "whole_costs": False}
            return _Cost(arguments, lambda cost: cost / problem.weight_unit, matrix, True)
        unit = scale * problem.weight_scale
        arguments = {"cost_matrix": whole, "whole_costs": True}
        return _Cost(arguments, lambda cost: _number(Fraction(round(cost)) / unit), whole, True)

    def lower_bound(self, problem: Problem) -> float:
        """Return the cost of rows that are equal in all columns, in any tree."""
        if not self.has_bound:
            return 0.0  # a function is only known not to be negative
        totals = _totals_of_equal_rows(problem)
        if self.matrix is None:
            return float((totals.sum(axis=1) - totals.max(axis=1)).sum())
        bound = float((totals @ self.matrix).min(axis=1).sum())
        # Sums of real costs may be rounded up.
        return bound if self.arguments["whole_costs"] else bound * (1.0 - 1e-9)


def _totals_of_equal_rows(problem: Problem) -> Float:
    """Return the class totals of each set of rows that no split separates."""
    packed = np.packbits(problem.ranks.astype(np.bool_), axis=0).T
    if packed.shape[1] == 0:
        place = np.zeros(problem.n_rows, dtype=np.intp)
    else:
        place = np.unique(packed, axis=0, return_inverse=True)[1].reshape(-1)
    totals = np.zeros((int(place.max()) + 1, problem.n_classes))
    np.add.at(totals, (place, problem.classes), problem.weights)
    return totals


def _checked_matrix(given: ArrayLike, n_classes: int) -> Float:
    rule = (
        f"The 'cost_matrix' parameter must hold finite costs >= 0 for the {n_classes} classes "
        f"(rows) and predictions (columns), shape ({n_classes}, {n_classes})."
    )
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{rule} {error}") from None
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(f"{rule} Got shape {matrix.shape} instead.")
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        wrong = matrix[~(np.isfinite(matrix) & (matrix >= 0))][0]
        raise ValueError(f"{rule} Got {wrong} in it.")
    return matrix


def _whole_matrix(matrix: Float, total_weight: int) -> tuple[Float | None, Fraction]:
    """Return the costs as integers and their scale, or None if that is not exact."""
    positive = matrix > 0
    if not positive.any():
        return matrix, Fraction(1)
    exact = integer_weights(matrix[positive])
    if exact.error > 0 or int(exact.weights.max()) * total_weight >= _MOST_WHOLE:
        return None, Fraction(1)
    whole = np.zeros_like(matrix)
    whole[positive] = exact.weights
    return whole, exact.scale


def _numbers(given: ArrayLike | None, problem: Problem, rows: _Transactions) -> Int:
    if given is None:
        return rows.number.astype(np.int64)
    numbers = np.asarray(given, dtype=np.int64)
    if numbers.shape != (problem.n_rows,):
        raise ValueError(
            "The 'row_numbers' of ItemsetSearch must be one for each row of the problem, shape "
            f"({problem.n_rows},). Got shape {numbers.shape} instead."
        )
    return numbers[rows.number]


def _number(x: Fraction) -> float:
    return int(x) if x.denominator == 1 else float(x)


def _check_problem(problem: Problem) -> None:
    for column in problem.columns:
        if len(column.values) != 2:
            names = problem.feature_names
            name = str(column.feature) if names is None else repr(names[column.feature])
            raise ValueError(
                "DL8 and DL8.5 need columns of two values, and column "
                f"{name} has {len(column.values)}: use provetree.Binarizer first."
            )
    most_leaves = min(problem.n_rows, problem.n_samples // problem.min_samples_leaf)
    full = min(2 ** min(problem.max_depth, 30), most_leaves) - 1
    if problem.split_penalty != 0 or (problem.columns and problem.max_splits < full):
        raise ValueError(
            "DL8 and DL8.5 know no penalty for splits and no limit on leaves but the depth: build "
            "the problem without 'alpha' and 'max_leaf_nodes'."
        )
