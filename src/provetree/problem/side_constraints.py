"""Side constraints: what a tree must satisfy besides its size.

Rates are exact fractions, so constraints are checked in integers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from provetree.number_types import Bool, Int

__all__ = ["SideConstraints"]


@dataclass(frozen=True, eq=False)
class SideConstraints:
    """Limits on what a tree predicts and on the columns it uses.

    Parameters
    ----------
    min_recall : mapping of int to Fraction
        Smallest share of the weight of a class that is predicted correctly.
    max_false_positive_rate : mapping of int to Fraction
        Largest share of the weight of all other classes that is predicted as a class.
    max_parity_gap : Fraction, optional
        Largest difference of the shares predicted positive between two groups.
    positive : int
        The positive class of the groups' rates.
    groups : array of int, shape (n_groups, n_rows)
        Weight of each group in each row of the problem.
    column_limits : tuple of (tuple of int, int)
        Features, and how many splits may use one of them.
    class_names, group_names : tuple
        Names of classes and groups, for messages; their numbers where there are none.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from provetree.problem.side_constraints import SideConstraints
    >>> side = SideConstraints(min_recall={1: Fraction(9, 10)})
    >>> side.chooses_labels, side.counts_wrong_rows, side.limits_columns
    (True, False, False)
    """

    min_recall: Mapping[int, Fraction] = field(default_factory=dict)
    max_false_positive_rate: Mapping[int, Fraction] = field(default_factory=dict)
    max_parity_gap: Fraction | None = None
    positive: int = 1
    groups: Int | None = None
    column_limits: tuple[tuple[tuple[int, ...], int], ...] = ()
    class_names: tuple[object, ...] = ()
    group_names: tuple[object, ...] = ()

    def class_name(self, c: int) -> str:
        """Return a class as messages name it."""
        return repr(self.class_names[c]) if self.class_names else str(c)

    def group_name(self, g: int) -> str:
        """Return a group as messages name it."""
        return repr(self.group_names[g]) if self.group_names else str(g)

    @property
    def any(self) -> bool:
        """Whether there is any constraint."""
        return self.chooses_labels or self.limits_columns

    @property
    def chooses_labels(self) -> bool:
        """Whether a leaf may need another class than its heaviest."""
        return bool(self.min_recall) or self.counts_wrong_rows

    @property
    def counts_wrong_rows(self) -> bool:
        """Whether the predicted class of misclassified rows matters."""
        return bool(self.max_false_positive_rate) or self.max_parity_gap is not None

    @property
    def limits_columns(self) -> bool:
        """Whether there is a limit on the use of columns."""
        return bool(self.column_limits)

    def words(self) -> str:
        """Name the parameters that are set, for messages."""
        names = {
            "min_recall": bool(self.min_recall),
            "max_false_positive_rate": bool(self.max_false_positive_rate),
            "max_parity_gap": self.max_parity_gap is not None,
            "max_column_uses": self.limits_columns,
        }
        return ", ".join(name for name, given in names.items() if given)

    def broken(
        self,
        predicted: Int,
        classes: Int,
        weights: Int,
        groups: Int | None,
        split_features: Int,
    ) -> list[str]:
        """Return which constraints a tree breaks, from its predictions.

        Examples
        --------
        >>> from fractions import Fraction
        >>> import numpy as np
        >>> from provetree.problem.side_constraints import SideConstraints
        >>> side = SideConstraints(min_recall={1: Fraction(9, 10)})
        >>> zeros, truth = np.zeros(3, int), np.array([0, 1, 1])
        >>> side.broken(zeros, truth, np.ones(3, int), None, np.array([0]))
        ['The recall of class 1 is 0, below 9/10.']
        """
        found: list[str] = []
        for k, least in self.min_recall.items():
            recall = _share(predicted == k, classes == k, weights)
            if recall is not None and recall < least:
                found.append(f"The recall of class {k} is {recall}, below {least}.")
        for k, most in self.max_false_positive_rate.items():
            rate = _share(predicted == k, classes != k, weights)
            if rate is not None and rate > most:
                found.append(f"The false positive rate of class {k} is {rate}, above {most}.")
        if self.max_parity_gap is not None and groups is not None:
            rates = [
                _share(predicted == self.positive, groups == g, weights) for g in np.unique(groups)
            ]
            known = [rate for rate in rates if rate is not None]
            if known and max(known) - min(known) > self.max_parity_gap:
                found.append(
                    f"The positive rates of two groups differ by {max(known) - min(known)}, "
                    f"more than {self.max_parity_gap}."
                )
        for limited, most_uses in self.column_limits:
            uses = int(np.isin(split_features, limited).sum())
            if uses > most_uses:
                found.append(f"Columns {limited} are used {uses} times, more than {most_uses}.")
        return found


def _share(chosen: Bool, among: Bool, weights: Int) -> Fraction | None:
    total = int(weights[among].sum())
    return Fraction(int(weights[among & chosen].sum()), total) if total else None
