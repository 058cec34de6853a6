"""What cross-validation chooses from besides the number of leaves, and the rows it works on.

A :class:`Setting` says how trees are grown: what they minimise, the least rows of a leaf, and how
classes weigh. A :class:`TuningTable` holds the rows, and makes the problem of any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.combinations import Combination
from provetree.problem.inputs import row_weights
from provetree.problem.pairs import sums_among
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem, build_problem
from provetree.selection.pair_columns import columns_worth_pairing

__all__ = ["ClassWeight", "Setting", "TuningTable", "as_list", "balancing", "settings_of"]

#: None, "balanced", weights by label, or a number: 0 leaves classes as they are, 1 balances them.
ClassWeight: TypeAlias = "Mapping[Any, float] | str | float | None"

#: Ratios of class weights are rounded to halves below this and to whole numbers above: small
#: numbers are searched faster, and nobody knows the best ratio to a digit.
_WHOLE_FROM = 4.0


@dataclass(frozen=True, eq=False)
class Setting:
    """One way of growing trees.

    Examples
    --------
    >>> from provetree.selection.settings import Setting
    >>> Setting("gini", 5).words, Setting("errors", 1, 0.5).words
    ('gini, at least 5 rows in a leaf', 'errors, classes half balanced')
    """

    criterion: str
    min_samples_leaf: int | float
    class_weight: ClassWeight = None
    splits: str = "columns"

    def is_alike(self, other: Setting) -> bool:
        """Tell whether a setting is the same but for the least rows of a leaf."""
        return (self.criterion, self.class_weight, self.splits) == (
            other.criterion,
            other.class_weight,
            other.splits,
        )

    @property
    def words(self) -> str:
        """The setting in words."""
        parts = [self.criterion]
        least = self.min_samples_leaf
        if least != 1:
            shown = f"{100 * least:g} % of the" if isinstance(least, float) else f"{least}"
            parts.append(f"at least {shown} rows in a leaf")
        if self.class_weight is not None:
            parts.append(f"classes {_weight_words(self.class_weight)}")
        if self.splits == "pairs":
            parts.append("sums of two columns")
        return ", ".join(parts)


def _weight_words(weight: ClassWeight) -> str:
    if isinstance(weight, Mapping):
        return "weighted as given"
    if isinstance(weight, str) or weight == 1:
        return "balanced"
    return "half balanced" if weight == 0.5 else f"balanced to the power {weight}"


def settings_of(
    criteria: Sequence[str],
    leasts: Sequence[int | float],
    weights: Sequence[ClassWeight],
    splits: Sequence[str] = ("columns",),
) -> list[Setting]:
    """Return all settings; those that are surest come first, and win where scores are equal."""
    return [
        Setting(criterion, least, weight, about)
        for about in splits
        for weight in weights
        for least in leasts
        for criterion in criteria
    ]


@dataclass(frozen=True, eq=False)
class TuningTable:
    """The rows that tuning works on.

    Parameters
    ----------
    prepared : Prepared
        The rows as numbers, with the codes of their classes.
    sample_weight : array of float or None
        The weights of the rows, without those of classes.
    max_depth, max_leaf_nodes : int
        The limits of every tree.
    raw : object
        The rows as the user gave them, for scorers that look at them.
    worth : float
        What share of the cost of a single leaf a deep tree must save beside a shallow one.
    costs : array of float or None
        What each prediction costs for each class; "errors" are then these costs.
    """

    prepared: Prepared
    sample_weight: Float | None
    max_depth: int
    max_leaf_nodes: int
    raw: Any = None
    costs: Float | None = None
    worth: float = 0.0
    #: The columns worth pairing by the rows they were found on: a forest is grown once for each.
    _paired: dict[int, list[int]] = field(default_factory=dict, repr=False)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.prepared.codes)

    def weights_of(self, rows: NDArray[np.intp], setting: Setting) -> Float | None:
        """Return the weights of some rows; balanced ones are counted on these rows alone."""
        given = None if self.sample_weight is None else self.sample_weight[rows]
        codes, classes = self.prepared.codes[rows], self.prepared.classes
        weight = setting.class_weight
        if isinstance(weight, (int, float)):
            weight = balancing(codes, given, classes, weight)
        return row_weights(given, weight, classes, codes)

    def paired(self, rows: NDArray[np.intp]) -> list[int]:
        """Return the columns that sums are made of where some rows are learned from."""
        key = hash(rows.tobytes())
        if key not in self._paired:
            prepared = self.prepared
            weights = None if self.sample_weight is None else self.sample_weight[rows]
            self._paired[key] = columns_worth_pairing(
                prepared.encoded[rows], prepared.codes[rows], weights, prepared.encoder.categories
            )
        return self._paired[key]

    def _sums(self, rows: NDArray[np.intp]) -> tuple[Combination, ...]:
        prepared = self.prepared
        levels, among = prepared.encoder.categories, self.paired(rows)
        return sums_among(prepared.encoded, self.sample_weight, levels, among)

    def problem_of(self, rows: NDArray[np.intp], setting: Setting) -> Problem:
        """Return the problem of some rows."""
        prepared, whole = self.prepared, self.prepared.problem
        learned: dict[str, Any] = {"loss": setting.criterion}
        if self.costs is not None and setting.criterion == "errors":
            learned = {"loss": "linear", "cost_matrix": self.costs}
        return build_problem(
            prepared.encoded[rows],
            prepared.codes[rows],
            n_classes=whole.n_classes,
            categories=prepared.encoder.categories,
            sample_weight=self.weights_of(rows, setting),
            feature_names=whole.feature_names,
            class_names=whole.class_names,
            combinations=self._sums(rows) if setting.splits == "pairs" else None,
            **learned,
            max_depth=self.max_depth,
            min_samples_leaf=setting.min_samples_leaf,
        )


def balancing(
    codes: NDArray[np.intp], weights: Float | None, classes: NDArray[Any], power: float
) -> dict[Any, float]:
    """Return class weights that balance the classes to a power, as short numbers.

    The largest class weighs one; classes without rows weigh one as well.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.selection.settings import balancing
    >>> codes = np.array([0] * 90 + [1] * 10)
    >>> balancing(codes, None, np.array(["no", "yes"]), 1.0)
    {'no': 1.0, 'yes': 9.0}
    >>> balancing(codes, None, np.array(["no", "yes"]), 0.5)
    {'no': 1.0, 'yes': 3.0}
    """
    totals = np.bincount(codes, weights, len(classes)).astype(np.float64)
    ratios = np.ones(len(classes))
    present = totals > 0
    ratios[present] = (totals.max() / totals[present]) ** power
    halves = np.where(ratios < _WHOLE_FROM, np.round(2 * ratios) / 2, np.round(ratios))
    return dict(zip(classes.tolist(), halves.tolist(), strict=True))


def as_list(given: Any, single: tuple[type, ...]) -> list[Any]:
    """Return several candidates as a list, and one as a list of one."""
    if given is None or isinstance(given, single) or not isinstance(given, Iterable):
        return [given]
    return list(given)
