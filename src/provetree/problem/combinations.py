"""Weighted sums of columns, which a question of a tree may be about.

The sum is worked out in float64 in one way everywhere: each product is rounded, then the products
are added from the first to the last. A row that lacks one of the columns lacks the sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from provetree.number_types import Float
from provetree.problem.category_groups import CategoryOrder

__all__ = ["Combination", "Derived", "Ratio", "checked_combinations"]


@dataclass(frozen=True)
class Combination:
    """The sum of two or more columns of numbers, each times a coefficient.

    Parameters
    ----------
    columns : tuple of int
        The columns, each once.
    coefficients : tuple of float
        Their coefficients; none is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.combinations import Combination
    >>> wide = Combination((0, 1), (1.0, -2.0))
    >>> wide.words(["length", "width"]), wide.values(np.array([[7.0, 2.0]])).tolist()
    ('length - 2*width', [3.0])
    """

    columns: tuple[int, ...]
    coefficients: tuple[float, ...]

    @property
    def terms(self) -> Iterable[tuple[float, int]]:
        """Each coefficient with its column."""
        return zip(self.coefficients, self.columns, strict=True)

    def moved(self, place: Callable[[int], int]) -> Combination:
        """Return the same sum where columns have other places."""
        return Combination(tuple(place(column) for column in self.columns), self.coefficients)

    def values(self, table: Float) -> Float:
        """Return the sum for each row of an encoded table; NaN where a column is missing."""
        # Infinities of both signs have no sum, which counts as missing.
        with np.errstate(over="ignore", invalid="ignore"):
            products = [coefficient * table[:, column] for coefficient, column in self.terms]
            found: Float = products[0]
            for product in products[1:]:
                found = found + product
        return found

    def sizes(self, table: Float) -> Float:
        """Return for each row the sum of the sizes of the products: what rounding is a part of."""
        with np.errstate(over="ignore", invalid="ignore"):
            total: Float = np.sum(
                [np.abs(c * table[:, column]) for c, column in self.terms], axis=0
            )
        return total

    def words(self, names: Sequence[str]) -> str:
        """Return the sum in words, "length - 2*width"; coefficients of one are left out."""
        parts: list[str] = []
        for coefficient, column in self.terms:
            sign = "-" if coefficient < 0 else ("+" if parts else "")
            space = " " if parts else ""
            parts.append(f"{space}{sign}{space}{_term(abs(coefficient), names[column])}")
        return "".join(parts)

    def stored(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"columns": list(self.columns), "coefficients": list(self.coefficients)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Combination:
        """Return what :meth:`stored` wrote."""
        return cls(tuple(map(int, data["columns"])), tuple(map(float, data["coefficients"])))


@dataclass(frozen=True)
class Ratio:
    """One positive column divided by another.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.combinations import Ratio
    >>> Ratio((0, 1)).values(np.array([[3.0, 2.0], [1.0, np.nan]])).tolist()
    [1.5, nan]
    """

    columns: tuple[int, int]

    def moved(self, place: Callable[[int], int]) -> Ratio:
        """Return the same ratio where columns have other places."""
        return Ratio((place(self.columns[0]), place(self.columns[1])))

    def question(self, threshold: float) -> tuple[Combination, float]:
        """Return the sum that a split asks about, and its threshold.

        Where only missing values go to one side, any sum of the two columns will do.

        Examples
        --------
        >>> from provetree.problem.combinations import Ratio
        >>> question, threshold = Ratio((0, 1)).question(1.5)
        >>> question.words(["length", "width"]), threshold
        ('length - 1.5*width', 0.0)
        """
        if not math.isfinite(threshold):
            return Combination(self.columns, (1.0, -1.0)), threshold
        return Combination(self.columns, (1.0, -threshold)), 0.0

    def values(self, table: Float) -> Float:
        """Return the ratio for each row of an encoded table; NaN where a column is missing."""
        with np.errstate(all="ignore"):
            found: Float = table[:, self.columns[0]] / table[:, self.columns[1]]
        return found


def _term(coefficient: float, name: str) -> str:
    return name if coefficient == 1 else f"{short_coefficient(coefficient)}*{name}"


def short_coefficient(x: float) -> str:
    """Return the shortest digits that read back as exactly ``x``: "2", "0.5", "1e+300"."""
    return repr(float(x)).removesuffix(".0")


#: What the features of a problem beyond those of its table may be.
Derived: TypeAlias = Combination | CategoryOrder | Ratio
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
        if isinstance(one, Ratio):
            continue  # the family has only those of columns that are positive
        listed = " and ".join(map(str, one.columns))
        columns_fit = all(0 <= column < len(levels) for column in one.columns)
        if not columns_fit or len(one.columns) < 2 or len(set(one.columns)) < len(one.columns):
            raise ValueError(
                f"A combination of a tree must have two or more of its {len(levels)} columns, each "
                f"once. Got {listed} instead."
            )
        if any(levels[column] is not None for column in one.columns):
            raise ValueError(
                "A combination of a tree must have columns of numbers. "
                f"Got {listed}, of which one has categories."
            )
        given_numbers = one.coefficients
        if len(given_numbers) != len(one.columns) or not all(
            math.isfinite(x) and x != 0 for x in given_numbers
        ):
            raise ValueError(
                "The coefficients of a combination must be finite and not zero, one for each "
                f"column. Got {' and '.join(map(repr, given_numbers))} instead."
            )
    return found


def _check_order(one: CategoryOrder, levels: Sequence[object]) -> None:
    if not 0 <= one.column < len(levels) or levels[one.column] is None:
        raise ValueError(
            f"Groups of categories must be about a column of categories. Got column {one.column}."
        )
