"""Random small problems for every loss, with the awkward things switched on by the seed.

Each pair of loss and seed stands for one problem for ever, so a failing one can be written down.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from testkit.naive_measures import CLASS_LOSSES, LOSSES, MeasureCase

#: Rows the naive twin can stand at each depth.
MOST_ROWS = (20, 24, 24, 16, 11)
#: What a node of other numbers of rows than a vector has would miss: a few larger problems.
LARGER = (60, 60, 60, 28, 14)


def random_case(
    loss: str, seed: int, *, max_depth: int | None = None, extreme: bool = False
) -> MeasureCase:
    """The problem of a loss and a seed; the depth is of the seed too, unless it is given.

    With `extreme` there are huge offsets, tiny scales, rows that outweigh all others, and rows far
    away from all others.
    """
    rng = np.random.default_rng((LOSSES.index(loss), seed))

    def chance(p: float) -> bool:
        return bool(rng.random() < p)

    depth = int(rng.choice([0, 1, 2, 3, 4], p=[0.03, 0.12, 0.5, 0.3, 0.05]))
    depth = depth if max_depth is None else max_depth
    n = int(rng.integers(1, (LARGER if chance(0.03) else MOST_ROWS)[depth] + 1))
    if chance(0.1):
        n = int(rng.integers(1, 4))
    columns = [
        _column(rng, n) for _ in range(int(rng.choice([1, 2, 3, 4], p=[0.15, 0.35, 0.35, 0.15])))
    ]
    if len(columns) > 1 and chance(0.1):  # a duplicate of a column, or its mirror image
        columns[-1] = columns[0] if chance(0.5) else columns[0].max() - columns[0]
    table = np.array(columns)
    n_classes, classes, targets = _outcomes(rng, loss, table, extreme)
    if n > 1 and chance(0.25):  # rows that agree in all columns, sometimes in the outcome as well
        source = rng.integers(0, max(1, n // 2), n)
        table = table[:, source]
        if chance(0.5):
            classes = classes[source]
            targets = None if targets is None else targets[source]
    ranks = np.array([np.unique(x, return_inverse=True)[1].reshape(-1) for x in table])
    weights, counts = _weights(rng, n, extreme)
    least = int(rng.integers(2, max(3, int(counts.sum()) // 2))) if chance(0.3) else 1
    return MeasureCase(
        loss=loss,
        ranks=np.ascontiguousarray(ranks.astype(np.uint32)),
        values=tuple(_values(rng, int(own.max()) + 1) for own in ranks),
        classes=classes.astype(np.int32),
        weights=weights,
        counts=counts,
        n_classes=n_classes,
        targets=targets,
        max_depth=depth,
        max_splits=int(rng.integers(0, 2**depth)) if chance(0.3) else 2**depth - 1,
        min_samples_leaf=least if least <= counts.sum() else 1,
        penalty=float(rng.choice([0.0, 1e-12, 1e-6, 0.01, 0.1, 0.3, 1.0], p=_PENALTY_CHANCES)),
    )


_PENALTY_CHANCES = [0.65, 0.03, 0.04, 0.1, 0.1, 0.05, 0.03]


def _column(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Ranks of one column, not yet dense: all different, few values, or one."""
    kind = rng.random()
    if kind < 0.06:
        return np.zeros(n, dtype=np.int64)
    if kind < 0.4:
        return rng.permutation(n)
    return rng.integers(0, int(rng.integers(2, 8)), n)


def _values(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Numbers for the ranks of a column, sometimes with the missing ones at an end."""
    values = np.cumsum(rng.choice([0.5, 1.0, 3.0], count)) - 2.0
    if rng.random() < 0.15:
        values[int(rng.choice([0, -1]))] = np.nan
    return values


def _outcomes(
    rng: np.random.Generator, loss: str, table: NDArray[np.int64], extreme: bool
) -> tuple[int, NDArray[np.int64], NDArray[np.float64] | None]:
    """Number of classes, classes and targets of the rows."""
    n = table.shape[1]
    signal = table[0] + (table[-1] if rng.random() < 0.5 else 0)
    if loss in CLASS_LOSSES:
        n_classes = int(rng.choice([1, 2, 3, 4, 6], p=[0.05, 0.55, 0.2, 0.12, 0.08]))
        classes = rng.integers(0, n_classes, n)
        if rng.random() < 0.5:  # classes that follow the columns, with some noise
            classes = np.where(rng.random(n) < 0.8, signal % n_classes, classes)
        if rng.random() < 0.06:
            classes = np.full(n, int(rng.integers(0, n_classes)))
        return n_classes, classes, None
    width = int(rng.choice([1, 2, 3, 5], p=[0.6, 0.2, 0.1, 0.1]))
    if loss == "linear":
        width = int(rng.choice([1, 2, 3, 5, 20], p=[0.05, 0.3, 0.3, 0.25, 0.1]))
    targets = np.column_stack([_target(rng, signal, 6 if extreme else 3) for _ in range(width)])
    if rng.random() < 0.5:  # one offset and one scale for all
        targets = _offset(rng, extreme) + _scale(rng, extreme) * targets
    else:
        moved = [_offset(rng, extreme) + _scale(rng, extreme) * y for y in targets.T]
        targets = np.column_stack(moved)
    return 1, np.zeros(n, dtype=np.int64), np.ascontiguousarray(targets)


def _target(
    rng: np.random.Generator, signal: NDArray[np.int64], most_digits: int
) -> NDArray[np.float64]:
    n = len(signal)
    kind = int(rng.integers(0, 7))
    if kind == 0:
        return np.full(n, float(rng.choice([0.0, 1.0, -2.5, 0.1])))
    if kind == 1:
        return rng.integers(0, 2, n).astype(float)
    if kind == 2:  # few values, with ties
        return rng.integers(-3, 4, n) / float(rng.choice([1, 3, 10]))
    if kind == 3:  # one row far away from the others
        alone = np.arange(n) == rng.integers(0, n)
        return rng.normal(size=n) + 10.0 ** rng.integers(0, most_digits) * alone
    if kind == 4:
        return rng.exponential(size=n)
    return signal + rng.normal(size=n) * float(rng.choice([0.0, 0.1, 1.0]))


def _offset(rng: np.random.Generator, extreme: bool) -> float:
    numbers = [0.0, 1.0, -1e3, 1e9, -1e12] if extreme else [0.0, 1.0, -1e3, 50.0, 0.1]
    return float(rng.choice(numbers, p=[0.6, 0.1, 0.1, 0.15, 0.05]))


def _scale(rng: np.random.Generator, extreme: bool) -> float:
    numbers = [1.0, 1e-9, 1e-3, 1e6] if extreme else [1.0, 0.01, 0.3, 100.0]
    return float(rng.choice(numbers, p=[0.6, 0.15, 0.15, 0.1]))


def _weights(
    rng: np.random.Generator, n: int, extreme: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Weights and counts; mostly ones, sometimes of merged rows, sometimes large."""
    ones = np.ones(n, dtype=np.int64)
    kind = int(rng.integers(0, 10))
    if kind < 5:
        return ones, ones
    if kind == 5:  # merged rows
        counts = rng.integers(1, 4, n)
        return counts, counts
    if kind == 6:
        return rng.integers(1, 10, n), rng.integers(1, 3, n)
    if kind == 7:
        return rng.integers(1, (2**29 if extreme else 2**16) // n + 1, n), ones
    if kind == 8:  # one row outweighs all others
        return ones + (np.arange(n) == 0) * 10 ** (6 if extreme else 3), ones
    return rng.integers(1, 4, n), ones


def middle_case(loss: str, seed: int, *, max_depth: int | None = None) -> MeasureCase:
    """A problem of a loss and a seed that is too large for the naive twin."""
    rng = np.random.default_rng((LOSSES.index(loss), seed, 1))
    depth = int(rng.choice([2, 3]))
    depth = depth if max_depth is None else max_depth
    n = int(rng.integers(50, (400, 70 if loss == "absolute_error" else 150)[depth - 2]))
    n_columns = int(rng.integers(1, (6, 4)[depth - 2]))
    X = rng.normal(size=(n_columns, n))
    if rng.random() < 0.5:
        X = np.round(X * rng.choice([1, 3, 20]))
    score = X.T @ rng.normal(size=n_columns) + X[0] * X[-1]
    score += rng.normal(size=n) * rng.choice([0.1, 0.5, 2.0])
    ranks = np.array([np.unique(x, return_inverse=True)[1].reshape(-1) for x in X])
    n_classes, targets = 1, None
    classes = np.zeros(n, dtype=np.int32)
    if loss in CLASS_LOSSES:
        n_classes = int(rng.choice([2, 3, 4, 8]))
        cuts = np.quantile(score, np.arange(1, n_classes) / n_classes)
        classes = np.searchsorted(cuts, score).astype(np.int32)
    else:
        width = int(rng.choice([2, 4, 20])) if loss == "linear" else int(rng.choice([1, 1, 3]))
        mix = score[:, None] * rng.normal(size=width) + rng.normal(size=(n, width)) * 0.3
        targets = np.ascontiguousarray(_offset(rng, False) + _scale(rng, False) * mix)
    weighted = rng.random() < 0.4
    return MeasureCase(
        loss=loss,
        ranks=np.ascontiguousarray(ranks.astype(np.uint32)),
        values=tuple(_values(rng, int(own.max()) + 1) for own in ranks),
        classes=classes,
        weights=rng.integers(1, rng.choice([3, 120, 10**5]), n) if weighted else np.ones(n, int),
        counts=np.ones(n, dtype=np.int64),
        n_classes=n_classes,
        targets=targets,
        max_depth=depth,
        max_splits=int(rng.integers(2, 2**depth)) if rng.random() < 0.25 else 2**depth - 1,
        min_samples_leaf=int(rng.choice([1, 3, 10], p=[0.6, 0.2, 0.2])),
        penalty=float(rng.choice([0.0, 0.005, 0.02], p=[0.7, 0.15, 0.15])),
    )


def clear_case(loss: str, seed: int) -> MeasureCase:
    """A problem of depth two with hardly any noise: long runs of equal outcomes in every column."""
    rng = np.random.default_rng((LOSSES.index(loss), seed, 2))
    n = int(rng.integers(150, 300))
    X = rng.normal(size=(4, n))
    X[1] += 0.7 * X[0]
    score = X[0] + rng.normal() * X[1] * X[2] + 0.5 * X[3]
    cuts = np.quantile(score, np.sort(rng.random(int(rng.integers(1, 4)))))
    classes = np.searchsorted(cuts, score)
    wrong = rng.random(n) < rng.choice([0.0, 0.03])
    classes[wrong] = rng.integers(0, len(cuts) + 1, int(wrong.sum()))
    ranks = np.array([np.argsort(np.argsort(x)) for x in X])
    of_classes = loss in CLASS_LOSSES
    targets = (classes[:, None] == np.arange(len(cuts) + 1)).astype(np.float64)
    if loss != "linear":
        targets = classes[:, None].astype(np.float64)
    return MeasureCase(
        loss=loss,
        ranks=np.ascontiguousarray(ranks.astype(np.uint32)),
        values=tuple(np.sort(x) for x in X),
        classes=(classes if of_classes else np.zeros(n)).astype(np.int32),
        weights=np.ones(n, dtype=np.int64),
        counts=np.ones(n, dtype=np.int64),
        n_classes=len(cuts) + 1 if of_classes else 1,
        targets=None if of_classes else np.ascontiguousarray(targets),
        max_depth=2,
        max_splits=3,
        min_samples_leaf=1,
        penalty=0.0,
    )


def shuffled(case: MeasureCase, seed: int) -> MeasureCase:
    """The same case with its rows in another order."""
    order = np.random.default_rng(seed).permutation(case.n_rows)
    return replace(
        case,
        ranks=np.ascontiguousarray(case.ranks[:, order]),
        classes=case.classes[order],
        weights=case.weights[order],
        counts=case.counts[order],
        targets=None if case.targets is None else np.ascontiguousarray(case.targets[order]),
    )
