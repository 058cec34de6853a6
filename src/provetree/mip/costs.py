"""The costs that trees can have: a whole weight of errors, and a penalty for each split.

There are few of them, so a solver's bound, which is a number like any other, can be brought up to
the next cost that a tree can have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["PossibleCosts"]


@dataclass(frozen=True)
class PossibleCosts:
    """All numbers ``e + k * penalty`` with whole e from 0 and k from 0 to ``most_splits``.

    The penalty of a split is in integer units of weight.

    Examples
    --------
    >>> from fractions import Fraction
    >>> costs = PossibleCosts(Fraction(3, 10), most_splits=2)
    >>> costs.at_least(Fraction(1, 2)), costs.at_least(Fraction(2))
    (Fraction(3, 5), Fraction(2, 1))
    >>> costs.spacing
    Fraction(3, 10)
    """

    penalty: Fraction
    most_splits: int

    def at_least(self, bound: Fraction) -> Fraction:
        """Return the least cost of a tree that is not below a bound."""
        return min(
            splits + max(Fraction(0), Fraction(math.ceil(bound - splits)))
            for splits in self._of_splits()
        )

    @property
    def spacing(self) -> Fraction:
        """The least difference between two costs that are not equal."""
        # Two costs differ by a whole number and the penalties of at most so many splits.
        apart = (min(part, 1 - part) for part in (splits % 1 for splits in self._of_splits()))
        return min((gap for gap in apart if gap > 0), default=Fraction(1))

    def _of_splits(self) -> list[Fraction]:
        """Return the penalties of 0, 1, 2, ... splits, as far as they differ by parts of one."""
        most = min(self.most_splits, self.penalty.denominator - 1)
        return [k * self.penalty for k in range(most + 1)]
