"""Weighted sums of two columns, which a question of a tree may be about.

The sum is worked out in float64 in one way everywhere: both products are rounded, then their sum.
A row that lacks one of the two columns lacks the sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

from provetree.number_types import Float
from provetree.problem.category_groups import CategoryOrder

__all__ = ["Combination", "Derived", "checked_combinations"]


@dataclass(frozen=True)
class Combination:
    """The sum of two columns of numbers, each times a coefficient.

    Parameters
    ----------
    first, second : int
        The columns.
    a, b : float
        Their coefficients; neither is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.combinations import Combination
    >>> wide = Combination(0, 1, 1.0, -2.0)
    >>> wide.words(["length", "width"]), wide.values(np.array([[7.0, 2.0]])).tolist()
    ('length - 2*width', [3.0])
    """

    first: int
    second: int
    a: float
    b: float

    @property
    def columns(self) -> tuple[int, int]:
        """Both columns."""
        return self.first, self.second

    def moved(self, place: Callable[[int], int]) -> Combination:
        """Return the same sum where columns have other places."""
        return replace(self, first=place(self.first), second=place(self.second))

    def values(self, table: Float) -> Float:
        """Return the sum for each row of an encoded table; NaN where a column is missing."""
        # Infinities of both signs have no sum, which counts as missing.
        with np.errstate(over="ignore", invalid="ignore"):
            found: Float = self.a * table[:, self.first] + self.b * table[:, self.second]
        return found

    def words(self, names: Sequence[str]) -> str:
        """Return the sum in words: "length - 2*width"."""
        return self.written(names[self.first], names[self.second])

    def written(self, first: str, second: str, times: str = "*") -> str:
        """Write the sum of two terms; coefficients of one are left out."""
        sign = "-" if self.b < 0 else "+"
        start = "-" if self.a < 0 else ""
        return (
            f"{start}{_term(abs(self.a), first, times)} {sign} {_term(abs(self.b), second, times)}"
        )

    def stored(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"columns": [self.first, self.second], "coefficients": [self.a, self.b]}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Combination:
        """Return what :meth:`stored` wrote."""
        (first, second), (a, b) = data["columns"], data["coefficients"]
        return cls(int(first), int(second), float(a), float(b))


def _term(coefficient: float, name: str, times: str) -> str:
    return name if coefficient == 1 else f"{short_coefficient(coefficient)}{times}{name}"


def short_coefficient(x: float) -> str:
    """Return the shortest digits that read back as exactly ``x``: "2", "0.5", "1e+300"."""
    return repr(float(x)).removesuffix(".0")


#: What the features of a problem beyond those of its table may be.
Derived: TypeAlias = Combination | CategoryOrder
_SomeDerived = TypeVar("_SomeDerived", Combination, Derived)


def checked_combinations(
    given: Iterable[_SomeDerived] | None, levels: Sequence[object]
) -> tuple[_SomeDerived, ...]:
    """Return the combinations of a tree, or refuse them; `levels` are None for numbers."""
    found = tuple(given or ())
    for one in found:
        if isinstance(one, CategoryOrder):
            _check_order(one, levels)
            continue
        columns_fit = all(0 <= column < len(levels) for column in one.columns)
        if not columns_fit or one.first == one.second:
            raise ValueError(
                f"A combination of a tree must have two of its {len(levels)} columns. "
                f"Got {one.first} and {one.second} instead."
            )
        if any(levels[column] is not None for column in one.columns):
            raise ValueError(
                "A combination of a tree must have columns of numbers. "
                f"Got {one.first} and {one.second}, of which one has categories."
            )
        if not all(math.isfinite(x) and x != 0 for x in (one.a, one.b)):
            raise ValueError(
                "The coefficients of a combination must be finite and not zero. "
                f"Got {one.a!r} and {one.b!r} instead."
            )
    return found


def _check_order(one: CategoryOrder, levels: Sequence[object]) -> None:
    if not 0 <= one.column < len(levels) or levels[one.column] is None:
        raise ValueError(
            f"Groups of categories must be about a column of categories. Got column {one.column}."
        )
