"""Statistics over tables: differences of two methods, mean ranks, and which methods differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Comparison",
    "alike_groups",
    "compare",
    "critical_difference",
    "holm",
    "mean_ranks",
    "signed_rank_test",
]

#: Scores of a method by table.
Scores: TypeAlias = Mapping[str, float]

#: Scores that differ by no more are equal.
_SAME = 1e-9


@dataclass(frozen=True)
class Comparison:
    """How one method does beside another, over the tables that both have.

    Examples
    --------
    >>> from provetree.bench.new_rows.statistics import compare
    >>> compare({"iris": 0.75}, {"iris": 0.5})  # doctest: +NORMALIZE_WHITESPACE
    Comparison(tables=1, mean=0.25, wins=1, ties=0, losses=0, p=1.0, worst_table='iris',
               worst=0.25)
    """

    tables: int
    mean: float  # of what it has more
    wins: int
    ties: int
    losses: int
    p: float  # of Wilcoxon's signed-rank test, both sides
    worst_table: str
    worst: float


def compare(ours: Scores, theirs: Scores) -> Comparison | None:
    """Compare two methods by their scores, more being better; None where no table is in both.

    Examples
    --------
    >>> from provetree.bench.new_rows.statistics import compare
    >>> found = compare({"iris": 0.75, "wine": 0.5}, {"iris": 0.5, "wine": 0.75, "seeds": 1.0})
    >>> found.tables, found.mean, found.wins, found.losses, found.worst_table
    (2, 0.0, 1, 1, 'wine')
    """
    tables = [table for table in ours if table in theirs]
    if not tables:
        return None
    differences = np.array([ours[table] - theirs[table] for table in tables])
    worst = int(differences.argmin())
    return Comparison(
        len(tables),
        float(differences.mean()),
        int((differences > _SAME).sum()),
        int((np.abs(differences) <= _SAME).sum()),
        int((differences < -_SAME).sum()),
        signed_rank_test(differences),
        tables[worst],
        float(differences[worst]),
    )


def signed_rank_test(differences: NDArray[np.float64]) -> float:
    """Return the p-value of Wilcoxon's signed-rank test, both sides; equal scores are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.new_rows.statistics import signed_rank_test
    >>> signed_rank_test(np.array([1.0, 2.0, 3.0, 4.0, 5.0])), signed_rank_test(np.zeros(5))
    (0.0625, 1.0)
    """
    from scipy.stats import wilcoxon

    found = differences[np.abs(differences) > _SAME]
    return float(wilcoxon(found).pvalue) if len(found) else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of many tests at once, as Holm adjusts them.

    Examples
    --------
    >>> from provetree.bench.new_rows.statistics import holm
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, highest = [0.0] * len(p_values), 0.0
    for place, number in enumerate(np.argsort(p_values).tolist()):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[number]))
        adjusted[number] = highest
    return adjusted


def mean_ranks(scores: Mapping[str, Scores]) -> tuple[dict[str, float], int]:
    """Return the mean rank of each method, 1 for the best, and the number of tables that all have.

    Examples
    --------
    >>> from provetree.bench.new_rows.statistics import mean_ranks
    >>> mean_ranks({"a": {"iris": 0.75, "wine": 1.0}, "b": {"iris": 0.5, "wine": 1.0}})
    ({'a': 1.25, 'b': 1.75}, 2)
    """
    from scipy.stats import rankdata

    tables = _common_tables(scores)
    values = np.array([[-of_method[table] for table in tables] for of_method in scores.values()])
    ranks = rankdata(np.round(values, 9), axis=0).mean(axis=1)
    return dict(zip(scores, ranks.tolist(), strict=True)), len(tables)


def _common_tables(scores: Mapping[str, Scores]) -> list[str]:
    first, *others = scores.values()
    return [table for table in first if all(table in other for other in others)]


def critical_difference(n_methods: int, n_tables: int, level: float = 0.05) -> float:
    """Return how far mean ranks must lie apart by the test of Nemenyi.

    Examples
    --------
    >>> from provetree.bench.new_rows.statistics import critical_difference
    >>> round(critical_difference(4, 14), 2)  # the example of Demsar (2006)
    1.25
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1 - level, n_methods, math.inf)) / math.sqrt(2)
    return q * math.sqrt(n_methods * (n_methods + 1) / (6 * n_tables))


def alike_groups(scores: Mapping[str, Scores], level: float = 0.05) -> list[tuple[str, ...]]:
    """Return the longest runs of methods, best rank first, in which no two differ.

    Two methods differ where Wilcoxon's test says so after Holm's adjustment for all pairs.

    Examples
    --------
    >>> from provetree.bench.new_rows.statistics import alike_groups
    >>> tables = [f"table {k}" for k in range(20)]
    >>> good = {table: 0.8 + 0.001 * k for k, table in enumerate(tables)}
    >>> alike_groups({"a": good, "b": good, "c": {t: v - 0.1 for t, v in good.items()}})
    [('a', 'b')]
    """
    tables = _common_tables(scores)
    ranks, _ = mean_ranks(scores)
    order = sorted(scores, key=lambda method: ranks[method])
    pairs = list(combinations(order, 2))
    p_values = [
        signed_rank_test(np.array([scores[a][table] - scores[b][table] for table in tables]))
        for a, b in pairs
    ]
    differ = {pair for pair, p in zip(pairs, holm(p_values), strict=True) if p < level}
    groups: list[tuple[str, ...]] = []
    end = 0
    for start in range(len(order)):
        last = start
        while last + 1 < len(order) and not any(
            (order[k], order[last + 1]) in differ for k in range(start, last + 1)
        ):
            last += 1
        if last > start and last > end:
            groups.append(tuple(order[start : last + 1]))
            end = last
    return groups
