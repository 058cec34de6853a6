"""The Problem: everything an engine knows of a table, the objective and the limits.

:func:`build_problem` ranks the columns of an encoded table, merges equal rows (unless they have
targets of their own), makes the weights and the penalty whole numbers, and brings every limit into
one form.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from provetree import _core
from provetree.number_types import Float, Int, Int32
from provetree.problem.checks import check_limits
from provetree.problem.columns import ColumnSequence, Ranks
from provetree.problem.combinations import Derived, checked_combinations
from provetree.problem.cost_scale import CostScale, cost_bits, cost_scale_of, measured_penalty
from provetree.problem.learned import Predicts, present_rows, what_is_learned
from provetree.problem.ordering import ordered_rows
from provetree.problem.weights import MAX_TOTAL_WEIGHT, as_decimal

#: Costs have 64 bits; this limit lets engines add and scale them.
_MOST_COST = 2**60
_MOST_SPLITS = 2**30 - 1
#: What a single leaf costs has so many bits where units are small enough to round to.
_BITS_OF_ROOT = 43


@dataclass(frozen=True, eq=False)
class Problem:
    """Ordered columns, classes, integer weights, the objective and the limits of a tree.

    A tree costs ``error_scale * (weight of the misclassified rows) + split_penalty *
    (number of splits)``, an integer. With another `loss` than "errors", its leaves cost what that
    loss says, in whole units of ``cost_scale.unit``; see :mod:`provetree.problem.cost_scale`.

    Parameters
    ----------
    columns : sequence of Column
        The meaning of each ordered column.
    ranks : array of uint32, shape (n_columns, n_rows)
        Dense rank of each merged row in each column.
    classes : array of int32, shape (n_rows,)
        Class of each merged row.
    weights, counts : array of int64, shape (n_rows,)
        Total weight (at least 1) and number of table rows behind each merged row.
    n_classes : int
        Number of classes, also of those without rows.
    max_depth, max_splits : int
        Limits on the tree; no larger than the rows allow.
    min_samples_leaf : int
        Smallest number of table rows in a leaf.
    error_scale, split_penalty : int
        The objective. Targets count `error_scale` times, too.
    weight_scale : Fraction
        Integer units per unit of the user's weight.
    weight_error : float
        Largest relative rounding error of a weight, 0.0 when all are kept exactly.
    n_features : int
        Width of the table the columns come from.
    feature_names, class_names, categories
        Passed on to the tree; no engine needs them. The class names of numbers are those of the
        outputs, the class names of costs and rewards those of the actions.
    loss : str
        What leaves cost: one of :data:`provetree.problem.losses.LOSSES`.
    targets : array of float, shape (n_rows, n_outputs), or None
        The numbers to predict, or the cost of each action; rows with targets are not merged.
    predicts : {"classes", "numbers", "costs", "rewards"}
        What the leaves of a tree predict.
    combinations : tuple of Combination or CategoryOrder
        Sums of two columns, and groups of categories; those of columns from `n_features` on, in
        their order.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> X = np.array([[1.0, 5.0], [2.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    >>> problem = build_problem(X, np.array([0, 1, 1, 0]), n_classes=2, max_depth=2)
    >>> len(problem.columns), problem.n_rows, problem.n_samples, problem.root_error
    (1, 3, 4, 2)
    >>> problem.max_depth, problem.max_splits, problem.to_user_cost(2)
    (2, 2, 2)
    """

    columns: ColumnSequence
    ranks: Ranks
    classes: Int32
    weights: Int
    counts: Int
    n_classes: int
    max_depth: int
    max_splits: int
    min_samples_leaf: int
    error_scale: int
    split_penalty: int
    weight_scale: Fraction
    weight_error: float
    n_features: int
    feature_names: tuple[str, ...] | None
    class_names: tuple[object, ...] | None
    categories: tuple[tuple[object, ...] | None, ...]
    loss: str = field(default="errors", kw_only=True)
    targets: Float | None = field(default=None, kw_only=True)
    predicts: Predicts = field(default="classes", kw_only=True)
    combinations: tuple[Derived, ...] = field(default=(), kw_only=True)

    @cached_property
    def table(self) -> _core.Table:
        """The table as the core takes it, checked once."""
        return _core.Table(*self.table_arguments)

    @property
    def table_arguments(self) -> tuple[Any, ...]:
        """What the core's table is made from; another process makes the same table from it."""
        columns = (self.ranks, self.columns.values, self.columns.ends)
        if self.loss == "errors":
            rows = (self.classes, self.weights, self.counts)
            return (*columns, *rows, self.n_classes)
        bits = cost_bits(self.max_splits)
        if self.targets is None:
            rows = (self.classes, self.weights, self.counts)
            return (*columns, *rows, self.n_classes, self.loss, None, bits)
        # Where rows have targets, these alone say what leaves cost.
        rows = (np.zeros_like(self.classes), self.weights, self.counts)
        targets = self.targets if self.error_scale == 1 else self.targets * self.error_scale
        return (*columns, *rows, 1, self.loss, targets, bits)

    @cached_property
    def cost_scale(self) -> CostScale:
        """What the units of a measured loss mean; the cost of errors is whole by itself."""
        return cost_scale_of(self)

    @property
    def is_measured(self) -> bool:
        """Whether the loss is another than errors."""
        return self.loss != "errors"

    def columns_of(self, feature: int) -> tuple[int, ...]:
        """Return the columns of the table that a feature is made of: one, or two of a sum."""
        if feature < self.n_features:
            return (feature,)
        return self.combinations[feature - self.n_features].columns

    def feature_values(self, table: Float, feature: int) -> Float:
        """Return the values of a feature on the rows of an encoded table."""
        if feature < self.n_features:
            return table[:, feature]
        return self.combinations[feature - self.n_features].values(table)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "table"}

    def must_count_errors(self, owner: str) -> None:
        """Refuse a problem of another loss than errors, for engines that know errors only.

        Examples
        --------
        >>> from provetree import build_problem
        >>> problem = build_problem([[1.0], [2.0]], [0.5, 0.7], loss="squared_error", max_depth=1)
        >>> problem.must_count_errors("ItemsetSearch")
        Traceback (most recent call last):
            ...
        ValueError: ItemsetSearch minimises errors; ExactSearch takes problems of the loss \
'squared_error'.
        """
        if self.is_measured:
            raise ValueError(
                f"{owner} minimises errors; ExactSearch takes problems of the loss {self.loss!r}."
            )

    @property
    def n_rows(self) -> int:
        """Number of merged rows."""
        return len(self.classes)

    @property
    def n_samples(self) -> int:
        """Number of table rows with a weight above zero."""
        return int(self.counts.sum())

    @property
    def of_numbers(self) -> bool:
        """Whether no feature has categories."""
        return self.categories.count(None) == len(self.categories)

    @property
    def weight_unit(self) -> float:
        """Integer units per unit of the user's weight."""
        return float(self.weight_scale)

    @property
    def cost_unit(self) -> float:
        """Integer units per unit of the user's cost."""
        if self.is_measured:
            return self.cost_scale.weight_scale / self.cost_scale.unit
        return float(self.error_scale * self.weight_scale)

    @cached_property
    def root_error(self) -> int:
        """Integer weight that the best single leaf misclassifies, or its cost in units."""
        if self.is_measured:
            return self.cost_scale.root_units
        return _root_error(self.classes, self.weights)

    def to_user_cost(self, cost: int) -> float:
        """Return a cost in the user's units: an int if all costs of the problem are whole.

        Examples
        --------
        >>> import numpy as np
        >>> from provetree import build_problem
        >>> X, y, w = np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([0.5, 1.0])
        >>> problem = build_problem(X, y, n_classes=2, sample_weight=w, max_depth=0)
        >>> problem.root_error, problem.to_user_cost(problem.root_error)
        (1, 0.5)
        """
        if self.is_measured:
            return self.cost_scale.cost(cost)
        if self.error_scale == 1 and self.weight_scale == 1:  # the common case, without fractions
            return cost
        size = 1 / (self.error_scale * self.weight_scale)
        if size.denominator == 1:
            return cost * size.numerator
        try:
            return float(cost * size)
        except OverflowError:
            return math.inf

    def to_user_bound(self, bound: int) -> float:
        """Return a lower bound in the user's units: nothing costs less, roundings included."""
        if self.is_measured:
            return self.cost_scale.bound(bound, self.max_splits + 1)
        return self.to_user_cost(bound)

    def to_whole_cost(self, cost: float) -> int:
        """Return the integer cost behind a cost that :meth:`to_user_cost` returned."""
        if self.is_measured:
            return self.cost_scale.units(cost)
        return round(Fraction(cost) * self.error_scale * self.weight_scale)

    def with_penalty(self, penalty: Fraction) -> Problem:
        """Return the problem with a penalty per split, in integer units of weight.

        A penalty of at least the error of a single leaf forbids every split. For a measured loss
        the penalty is in units of its cost.

        Examples
        --------
        >>> from fractions import Fraction
        >>> import numpy as np
        >>> from provetree import build_problem
        >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 1, 0])
        >>> problem = build_problem(X, y, n_classes=2, max_depth=2).with_penalty(Fraction(1, 3))
        >>> problem.error_scale, problem.split_penalty, problem.max_splits
        (3, 1, 2)
        """
        error, splits = self.root_error, self.max_splits
        if penalty > 0:
            splits = min(splits, math.ceil(error / penalty) - 1) if error else 0
        if self.is_measured:
            fine = self.with_fine_units()
            times = Fraction(self.cost_scale.unit) / Fraction(fine.cost_scale.unit)
            whole = min(round(penalty * times), fine.root_error)
            return fine.with_limits(max_splits=splits, split_penalty=whole)
        error_scale, split_penalty = _objective(penalty, error, splits)
        return replace(
            self,
            max_depth=min(self.max_depth, splits),
            max_splits=splits,
            error_scale=error_scale,
            split_penalty=split_penalty,
        )

    def with_fine_units(self) -> Problem:
        """Return the problem of a measured loss with units that a penalty may be rounded to.

        Targets that are whole numbers, or have few decimals, are counted in these by themselves: a
        penalty of 2.6 would become 3. A power of two as ``error_scale`` makes the units smaller and
        rounds nothing.

        Examples
        --------
        >>> from provetree import build_problem
        >>> costs = [[0, 3], [2, 0], [0, 1]]
        >>> problem = build_problem([[1], [2], [3]], costs, loss="linear", max_depth=1)
        >>> problem.root_error, problem.with_fine_units().root_error > 2**40
        (2, True)
        """
        spare = _BITS_OF_ROOT - self.root_error.bit_length()
        if self.root_error == 0 or not self.cost_scale.is_coarse or spare <= 0:
            return self
        return replace(self, error_scale=self.error_scale << spare)

    def with_limits(
        self, *, max_splits: int, error_scale: int = 1, split_penalty: int = 0
    ) -> Problem:
        """Return the problem with a budget of splits and another objective, on the same table.

        The units of a measured loss stay as they are, whatever the `error_scale`.

        Examples
        --------
        >>> from provetree import build_problem
        >>> problem = build_problem([[1], [2], [3]], [0, 1, 0], n_classes=2, max_depth=2)
        >>> problem.with_limits(max_splits=1).max_depth
        1
        """
        changed = replace(
            self,
            max_depth=min(self.max_depth, max_splits),
            max_splits=max_splits,
            error_scale=self.error_scale if self.is_measured else error_scale,
            split_penalty=split_penalty,
        )
        changed._keep_table_of(self)
        return changed

    def of_depth(self, max_depth: int) -> Problem:
        """Return the problem of shallower trees, on the same table.

        Examples
        --------
        >>> from provetree import build_problem
        >>> problem = build_problem([[1], [2], [3]], [0, 1, 0], n_classes=2, max_depth=2)
        >>> problem.of_depth(1).max_splits
        1
        """
        splits = min(self.max_splits, 2**max_depth - 1)
        changed = replace(self, max_depth=max_depth, max_splits=splits)
        changed._keep_table_of(self)
        return changed

    def _keep_table_of(self, other: Problem) -> None:
        """Use the table of a problem that has the same rows and columns."""
        vars(self)["table"] = other.table
        if other.is_measured:
            vars(self)["cost_scale"] = other.cost_scale

    def to_user_weight(self, weight: ArrayLike) -> Float:
        """Return integer weights in the user's units.

        Examples
        --------
        >>> import numpy as np
        >>> from provetree import build_problem
        >>> X, y, w = np.array([[1.0], [2.0]]), np.array([0, 1]), np.array([0.1, 0.3])
        >>> problem = build_problem(X, y, n_classes=2, sample_weight=w, max_depth=0)
        >>> problem.to_user_weight([1, 3]).tolist()
        [0.1, 0.3]
        """
        scale = self.weight_scale
        whole = np.array(weight, dtype=np.float64)
        if scale == 1:
            return whole
        if max(scale.numerator, scale.denominator) < 2**53:
            # Both factors are exact, so whole numbers and short decimals come out exact.
            return whole * scale.denominator / scale.numerator
        return whole / float(scale)


def build_problem(
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_classes: int | None = None,
    max_depth: int,
    categories: Sequence[Iterable[object] | None] | None = None,
    sample_weight: ArrayLike | None = None,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int | float = 1,
    alpha: float = 0.0,
    feature_names: Sequence[str] | None = None,
    class_names: Iterable[object] | None = None,
    merge: bool = True,
    keep_duplicates: bool = False,
    loss: str = "errors",
    targets: ArrayLike | None = None,
    predicts: Predicts | None = None,
    cost_matrix: ArrayLike | None = None,
    combinations: Iterable[Derived] | None = None,
) -> Problem:
    """Return the problem of finding the best tree for an encoded table.

    Parameters
    ----------
    X : array-like of float, shape (n_rows, n_features)
        Numbers as they are (infinities are values like others), categories as their codes,
        missing values as NaN.
    y : array-like of int, shape (n_rows,)
        Class of each row, from 0 to ``n_classes - 1``. For a loss of targets that are not given as
        `targets`, the targets instead: float, shape (n_rows,) or (n_rows, n_outputs).
    n_classes : int, optional
        Number of classes; classes need it, targets do not.
    max_depth : int
        Most splits on the way to a leaf.
    categories : sequence, optional
        For each feature None (numbers) or the values behind its codes.
    sample_weight : array-like of float, optional
        Weight of each row; rows of weight zero count as absent.
    max_leaf_nodes : int, optional
        Most leaves.
    min_samples_leaf : int or float
        Least number of rows in a leaf, or the least share of the rows.
    alpha : float
        Penalty per split, as a fraction of the error of the best single leaf; of what that leaf
        costs with another loss. For "linear" costs it is the part of that which another choice of
        actions could save.
    feature_names, class_names : sequence, optional
        Names for the tree.
    merge : bool
        Merge equal rows and leave out columns that offer the same splits as others. False keeps
        the rows of a weight above zero, and every column that offers a split, one by one.
    keep_duplicates : bool
        Keep columns that offer the same splits as an earlier one.
    loss : str
        What leaves cost: "errors", "gini", "entropy" or "pessimistic" for classes,
        "squared_error" or "absolute_error" for numbers, "linear" for costs of actions.
    targets : array-like of float, optional
        The costs of each action where `y` holds classes as well: a row of the cost matrix each.
    predicts : {"classes", "numbers", "costs", "rewards"}, optional
        What leaves predict; by default what `loss` and `y` suggest. "rewards" are given as costs
        of the other sign.
    cost_matrix : array-like of float, shape (n_classes, n_classes), optional
        What each prediction costs for each true class, where `loss` is "linear" and `y` holds
        classes. Equal rows merge, as they do not where each row has `targets` of its own.
    combinations : iterable of Combination or CategoryOrder, optional
        Sums of two columns that splits may be about as well, see :mod:`provetree.problem.pairs`,
        and groups of categories, see :mod:`provetree.problem.category_groups`.

    Returns
    -------
    Problem

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([0, 0, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=3, alpha=0.25)
    >>> problem.error_scale, problem.split_penalty
    (4, 1)
    """
    table = np.asarray(X, dtype=np.float64)
    learned = what_is_learned(table, y, n_classes, loss, targets, predicts, cost_matrix)
    check_limits(max_depth, max_leaf_nodes, min_samples_leaf, alpha)
    levels = _levels(categories, table.shape[1])
    derived = checked_combinations(combinations, levels)

    table, learned, whole = present_rows(table, learned, sample_weight, loss)
    n_samples = len(table)

    rows, columns, ranks = ordered_rows(
        table,
        levels,
        derived,
        learned.classes,
        whole.weights,
        merge=merge and learned.merges,
        keep_duplicates=keep_duplicates or not merge,
    )
    classes, weights, counts = learned.classes[rows.first], rows.weights, rows.counts
    of_rows = learned.targets_of(rows.first)

    least = _least_rows(min_samples_leaf, n_samples)
    max_splits = 0
    if len(columns):
        most_leaves = min(len(classes), n_samples // least)
        max_splits = _most_splits(max_depth, max_leaf_nodes, most_leaves, alpha)
    error_scale, split_penalty = 1, 0
    if alpha > 0 and loss == "errors":
        root_error = _root_error(classes, weights)
        penalty = as_decimal(alpha) * root_error
        error_scale, split_penalty = _objective(penalty, root_error, max_splits)
    for array in (ranks, classes, weights, counts, of_rows):
        if array is not None:
            array.flags.writeable = False
    problem = Problem(
        columns=columns,
        ranks=ranks,
        classes=classes,
        weights=weights,
        counts=counts,
        n_classes=learned.n_classes,
        max_depth=min(int(max_depth), max_splits),
        max_splits=max_splits,
        min_samples_leaf=least,
        error_scale=error_scale,
        split_penalty=split_penalty,
        weight_scale=whole.scale,
        weight_error=whole.error,
        n_features=table.shape[1],
        feature_names=None if feature_names is None else tuple(feature_names),
        class_names=None if class_names is None else tuple(class_names),
        categories=levels,
        loss=loss,
        targets=of_rows,
        predicts=learned.predicts,
        combinations=derived,
    )
    return _measured(problem, alpha) if problem.is_measured else problem


def _measured(problem: Problem, alpha: float) -> Problem:
    """Return a problem of a measured loss with its penalty in units."""
    scale = problem.cost_scale
    if not scale.root > 0:
        # Nothing is left to save; of trees of the same cost the smallest wins.
        changed = replace(problem, max_depth=0, max_splits=0)
    elif alpha > 0:
        fine = problem.with_fine_units()
        changed = replace(fine, split_penalty=measured_penalty(fine.cost_scale, alpha))
        problem = fine
    else:
        return problem
    changed._keep_table_of(problem)
    return changed


def _root_error(classes: Int32, weights: Int) -> int:
    # Totals stay below 2**30, so float64 adds them exactly.
    totals = np.bincount(classes, weights)
    return int(totals.sum() - totals.max())


def _objective(penalty: Fraction, root_error: int, max_splits: int) -> tuple[int, int]:
    """Return the integers ``(error_scale, split_penalty)`` for a penalty per split."""
    # At the error of a single leaf no split pays, so a larger penalty changes nothing.
    penalty = min(penalty, Fraction(root_error))
    # Both parts of a cost are at most error_scale * MAX_TOTAL_WEIGHT, see _most_splits, and
    # the tie rule multiplies costs by the number of splits.
    room = _MOST_COST // (3 * MAX_TOTAL_WEIGHT * (max_splits + 2))
    penalty = penalty.limit_denominator(max(1, room))
    return penalty.denominator, penalty.numerator


def _least_rows(min_samples_leaf: int | float, n_samples: int) -> int:
    if isinstance(min_samples_leaf, (float, np.floating)):
        # As a decimal: 0.07 of 100 rows are 7, though 0.07 * 100 is above 7 in floats.
        return max(1, math.ceil(as_decimal(min_samples_leaf) * n_samples))
    return min(int(min_samples_leaf), n_samples)


def _most_splits(max_depth: int, max_leaf_nodes: int | None, most_leaves: int, alpha: float) -> int:
    leaves = min(most_leaves, 1 << min(int(max_depth), 30))
    if max_leaf_nodes is not None:
        leaves = min(leaves, int(max_leaf_nodes))
    splits = min(max(leaves - 1, 0), _MOST_SPLITS)
    if alpha > 0:
        # The penalties of 1 / alpha splits equal the error of a single leaf, and of two trees
        # of the same cost the smaller one wins.
        splits = min(splits, math.ceil(1 / as_decimal(alpha)) - 1)
    return splits


def _levels(
    categories: Sequence[Iterable[object] | None] | None, n_features: int
) -> tuple[tuple[object, ...] | None, ...]:
    if categories is None:
        return (None,) * n_features
    if len(categories) != n_features:
        raise ValueError(
            f"The 'categories' must have one entry for each of the {n_features} features. "
            f"Got {len(categories)} instead."
        )
    if categories.count(None) == n_features:
        return (None,) * n_features
    return tuple(None if level is None else tuple(level) for level in categories)
