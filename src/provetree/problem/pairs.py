"""The family of questions about two columns: which sums of two columns a tree may ask about.

For each pair of columns of numbers the family has directions between "the first alone" and "the
second alone", at even angles on columns of equal spread; two are the sum and the difference. The
ratio of the spreads is rounded to 1, 2 or 5 times a power of ten, so columns of about the same
spread are plainly added and subtracted, and coefficients are short whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.options import byte_count
from provetree.problem.columns import RankedFeatures
from provetree.problem.combinations import Combination

__all__ = [
    "check_memory",
    "check_pairs",
    "grouped_sums",
    "pair_combinations",
    "paired_columns",
    "ranked_sums",
    "sums_among",
]

#: Each has a place of its own in memory, before equal ones are left out.
MOST_SUMS = 2**20
#: Bytes for each row and sum, as measured at depth two: ranks, values, and orders in nodes.
_BYTES = 33
#: Spreads further apart than ten to this power are not compared: nothing of one would be left.
_MOST_DIGITS = 15
#: Sums that differ by less than this part of the largest one are equal but for rounding.
_NOISE = 1e-12


def pair_combinations(
    table: Float, levels: Sequence[object], n_angles: int = 2
) -> tuple[Combination, ...]:
    """Return the combinations of two columns that a tree may ask about.

    Columns with categories, with infinities, and with a single value are in no pair. The spread of
    a column is the distance between the quartiles of its distinct values: rows that occur twice,
    or weigh more, change nothing.

    Parameters
    ----------
    table : array of float, shape (n_rows, n_features)
        The encoded training rows.
    levels : sequence
        For each feature None (numbers) or its categories.
    n_angles : int
        The number of directions of each pair, an even number.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.pairs import pair_combinations
    >>> X = np.array([[1.0, 10.0], [2.0, 31.0], [4.0, 50.0]])
    >>> [each.words(["x", "y"]) for each in pair_combinations(X, [None, None])]
    ['10*x + y', '10*x - y']
    >>> [each.words(["x", "y"]) for each in pair_combinations(X, [None, None], n_angles=4)]
    ['20*x + y', '20*x - y', '5*x + y', '5*x - y']
    """
    spreads, sizes = {}, {}
    for column in (c for c, level in enumerate(levels) if level is None):
        values = np.unique(table[:, column])
        values = values[~np.isnan(values)]
        if len(values) >= 2 and np.isfinite(values).all():
            low, high = np.quantile(values / 4, [0.25, 0.75])  # a quarter cannot overflow
            if high > low:
                spreads[column] = float(high - low)
                sizes[column] = float(np.abs(values).max())
    slopes = _slopes(n_angles)
    found = []
    for first, second in combinations(spreads, 2):
        times = _rounded_ratio(spreads[first], spreads[second])
        if times is None:
            continue
        for slope in slopes:
            # On columns of equal spread the direction is first + slope * second.
            b = times * slope
            a, b = Fraction(b.denominator), Fraction(b.numerator)
            if not math.isfinite(float(a) * sizes[first] + float(b) * sizes[second]):
                continue
            found += [
                Combination((first, second), (float(a), float(b))),
                Combination((first, second), (float(a), -float(b))),
            ]
    return tuple(found)


def sums_among(
    table: Float,
    weights: Float | None,
    levels: Sequence[object],
    among: Collection[int],
    n_angles: int = 2,
) -> tuple[Combination, ...]:
    """Return the combinations of two of some columns; rows of weight zero count as absent.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.pairs import sums_among
    >>> X = np.array([[1.0, 5.0, 10.0], [2.0, 7.0, 31.0], [4.0, 6.0, 50.0]])
    >>> [each.words("xyz") for each in sums_among(X, None, [None] * 3, [0, 2])]
    ['10*x + z', '10*x - z']
    """
    present = table if weights is None else table[weights > 0]
    return pair_combinations(present, _levels_among(levels, among), n_angles)


def _levels_among(levels: Sequence[object], among: Collection[int]) -> list[object]:
    """Return the levels of a table of which only some columns count as numbers."""
    return [level if at in among else () for at, level in enumerate(levels)]


def paired_columns(
    given: Sequence[str | int] | None,
    names: Sequence[str] | None,
    levels: Sequence[object],
    owner: str,
) -> set[int]:
    """Return the positions of the columns that sums may be made of: those given, or all.

    Examples
    --------
    >>> from provetree.problem.pairs import paired_columns
    >>> sorted(paired_columns(["b", 2], ["a", "b", "c"], [None] * 3, "the tree"))
    [1, 2]
    """
    if given is None:
        return set(range(len(levels)))
    place = {name: at for at, name in enumerate(names or ())}
    found = set()
    for each in given:
        at = place.get(each, -1) if isinstance(each, str) else int(each)
        if not 0 <= at < len(levels) or levels[at] is not None:
            raise ValueError(
                f"The 'pair_columns' parameter of {owner} must name columns of numbers of the "
                f"table. Got {each!r}."
            )
        found.add(at)
    return found


def check_pairs(
    levels: Sequence[object],
    among: Collection[int],
    n_angles: int,
    owner: str,
    splits: str = "pairs",
) -> int:
    """Return how many sums a table has; refuse one without a pair, or with more than can be."""
    n_all = sum(level is None for level in levels)
    n_numbers = sum(level is None for level in _levels_among(levels, among))
    if n_all < 2:
        raise ValueError(
            f"The 'splits' parameter of {owner} can be {splits!r} for tables of two or more "
            f"columns of numbers. Got a table with {n_all}."
        )
    if n_numbers < 2:
        raise ValueError(
            f"The 'pair_columns' parameter of {owner} must name two or more columns of numbers, "
            f"or be None for all {n_all}. Got {n_numbers}."
        )
    n_sums = n_numbers * (n_numbers - 1) // 2 * n_angles
    if n_sums > MOST_SUMS:
        raise ValueError(
            f"The 'splits' parameter of {owner} can be {splits!r} for up to {MOST_SUMS} sums of "
            f"two columns. Got {n_numbers} columns of numbers, which have {n_sums}."
        )
    return n_sums


def check_memory(n_sums: int, n_rows: int, owner: str, max_memory: int | str | None) -> None:
    """Refuse more sums of so many rows than a limit on memory holds."""
    needed = n_sums * n_rows * _BYTES
    if max_memory is not None and needed > byte_count(max_memory):
        raise ValueError(
            f"The 'max_memory' parameter of {owner} must leave room for the sums of two columns. "
            f"Got {max_memory!r}, and {n_sums} sums of {n_rows} rows need about "
            f"{max(1, round(needed / 2**20))} MiB: use fewer 'pair_columns' or 'n_angles'."
        )


def _rounded_ratio(first: float, second: float) -> Fraction | None:
    """Return the ratio of two spreads as 1, 2 or 5 times a power of ten; None beyond all digits."""
    exponent = math.log10(first) - math.log10(second)
    if abs(exponent) > _MOST_DIGITS:
        return None
    whole = math.floor(exponent)
    near = [Fraction(m) * Fraction(10) ** (whole + e) for e in (0, 1) for m in (1, 2, 5)]
    return min(near, key=lambda ratio: abs(math.log10(ratio) - exponent))


def _slopes(n_angles: int) -> list[Fraction]:
    """Return the slopes between the axes: even angles, each as the simplest fraction near it.

    Near is a quarter of the step between two angles, so that all stay apart.
    """
    steps = n_angles // 2 + 1
    slopes = []
    for k in range(1, steps):
        if 2 * k == steps:
            slopes.append(Fraction(1))
        elif 2 * k < steps:
            ends = ((k + off) / steps * math.pi / 2 for off in (-0.25, 0.25))
            slopes.append(_simplest(*(Fraction(math.tan(end)) for end in ends)))
        else:
            slopes.append(1 / slopes[steps - k - 1])
    return slopes


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction of the smallest denominator between two numbers from zero up."""
    whole = math.floor(low)
    if low == whole:
        return Fraction(whole)
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / _simplest(1 / (high - whole), 1 / (low - whole))


def ranked_sums(table: Float, family: Sequence[Combination]) -> RankedFeatures:
    """Rank the sums of each combination on the rows of a table; missing sums come last.

    Sums that are equal but for rounding share a rank, and the value behind it is the highest of
    them: 0.1 + 0.2 and 0.3 are the same, however a program adds them up.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.combinations import Combination
    >>> from provetree.problem.pairs import ranked_sums
    >>> table = np.array([[0.1, 0.2], [0.3, 0.0], [0.2, np.nan], [0.0, 0.1]])
    >>> ranked_sums(table, [Combination((0, 1), (1.0, 1.0))]).ranks.tolist()
    [[1, 1, 2, 0]]
    """
    ranks = np.empty((len(family), len(table)), dtype=np.uint32)
    has_missing = np.zeros(len(family), dtype=np.uint8)
    values: list[Float] = []
    for row, combination in enumerate(family):
        sums = combination.values(table)
        order = np.argsort(sums, kind="stable")
        ordered = sums[order]
        n_present = len(ordered) - int(np.isnan(ordered).sum())
        has_missing[row] = n_present < len(ordered)
        present = ordered[:n_present]
        last = _group_ends(present, _noise_of(combination, table))
        in_order = np.full(len(table), int(last.sum()), dtype=np.uint32)
        in_order[:n_present] = np.cumsum(last) - last
        ranks[row, order] = in_order
        values.append(present[last])
    return RankedFeatures(
        ranks,
        np.concatenate([*values, np.empty(0)]),
        np.cumsum([len(of_row) for of_row in values], dtype=np.int64),
        has_missing,
        np.full(len(family), -1, dtype=np.int64),
    )


def grouped_sums(table: Float, combination: Combination) -> tuple[Float, float]:
    """Return the sums on the rows of a table, equal ones as one number, and how far these may be.

    Sums that are closer to the next one than this distance are the highest of their group.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.combinations import Combination
    >>> from provetree.problem.pairs import grouped_sums
    >>> table = np.array([[0.1, 0.2], [0.3, 0.0], [0.0, 0.1]])
    >>> grouped_sums(table, Combination((0, 1), (1.0, 1.0)))[0].tolist()
    [0.30000000000000004, 0.30000000000000004, 0.1]
    """
    sums = combination.values(table)
    present = ~np.isnan(sums)
    ordered = np.unique(sums[present])
    noise = _noise_of(combination, table)
    ends = _group_ends(ordered, noise)
    place = np.searchsorted(ordered, sums[present])
    sums[present] = ordered[ends][(np.cumsum(ends) - ends)[place]]
    return sums, noise if len(ordered) > int(ends.sum()) else 0.0


def _noise_of(combination: Combination, table: Float) -> float:
    """Return the distance below which two sums may differ by rounding only."""
    size = combination.sizes(table)
    return _NOISE * float(np.max(size, initial=0.0, where=~np.isnan(size)))


def _group_ends(ordered: Float, noise: float) -> NDArray[np.bool_]:
    """Tell which of some ordered values are the last of their group.

    Values within the noise of the next one belong together. Where a group would become wide, the
    values are really that close, and only equal ones belong together.
    """
    ends = np.append(np.diff(ordered) > noise, True) if len(ordered) else np.zeros(0, dtype=bool)
    high = ordered[ends]
    starts = np.concatenate([[True], ends[:-1]]) if len(ordered) else ends
    if (high - ordered[starts] > noise / 4).any():
        ends = np.append(np.diff(ordered) > 0, True)
    return ends
