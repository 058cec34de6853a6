"""Depth two by trying all pairs of splits, with running sums: for some hundred rows.

Slower than any search and faster than the naive twin of all trees. Absolute error has no running
sums and is not here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from testkit.naive_measures import CLASS_LOSSES, MeasureCase, added_errors

Floats = NDArray[np.float64]


class _AddedErrors(dict[tuple[int, int], float]):
    """C4.5's allowance by weight and errors, each worked out once."""

    def __missing__(self, key: tuple[int, int]) -> float:
        self[key] = added_errors(*key)
        return self[key]


class NaiveDepthTwo:
    """The least cost of the trees of depth two of a case, less the constant."""

    def __init__(self, case: MeasureCase, split_penalty: float) -> None:
        assert case.max_depth == 2
        self.case, self.penalty = case, split_penalty
        self.orders = [np.argsort(ranks, kind="stable") for ranks in case.ranks]
        weights = case.weights.astype(np.float64)
        if case.loss in CLASS_LOSSES:
            self.stats = weights[:, None] * (case.classes[:, None] == np.arange(case.n_classes))
        else:
            assert case.targets is not None
            targets = case.targets
            if case.loss == "linear":
                targets = targets - targets.min(axis=1, keepdims=True)
                self.stats = weights[:, None] * targets
            else:
                centred = targets - targets.mean(axis=0)
                squares = (centred**2).sum(axis=1)
                self.stats = weights[:, None] * np.column_stack(
                    [squares, np.ones(len(weights)), centred]
                )
        if case.loss == "pessimistic":
            self.added = _AddedErrors()
        self.leaf: Callable[[Floats], Floats] = getattr(self, "_" + case.loss)

    def solve(self) -> float:
        case = self.case
        everything = np.ones(case.n_rows, dtype=bool)
        best = self.one(everything) if case.max_splits else self.none(everything)
        if case.max_splits < 2:
            return best
        for ranks in case.ranks:
            for low in np.unique(ranks)[:-1]:
                left = ranks <= low
                if min(case.counts[left].sum(), case.counts[~left].sum()) < case.min_samples_leaf:
                    continue
                if case.max_splits >= 3:
                    below = self.one(left) + self.one(~left)
                else:
                    below = min(
                        self.one(left) + self.none(~left), self.none(left) + self.one(~left)
                    )
                best = min(best, self.penalty + below)
        return best

    def none(self, rows: NDArray[np.bool_]) -> float:
        """The cost of a leaf."""
        return float(self.leaf(self.stats[rows].sum(axis=0)[None])[0])

    def one(self, rows: NDArray[np.bool_]) -> float:
        """The least cost of a leaf or of one split."""
        best = self.none(rows)
        for ranks, order in zip(self.case.ranks, self.orders, strict=True):
            own = order[rows[order]]
            counts = np.cumsum(self.case.counts[own])
            least = self.case.min_samples_leaf
            ends = np.flatnonzero(
                (ranks[own[1:]] != ranks[own[:-1]])
                & (counts[:-1] >= least)
                & (counts[-1] - counts[:-1] >= least)
            )
            if len(ends):
                sums = np.cumsum(self.stats[own], axis=0)
                costs = self.leaf(sums[ends]) + self.leaf(sums[-1] - sums[ends])
                best = min(best, self.penalty + float(costs.min()))
        return best

    def _squared_error(self, sums: Floats) -> Floats:
        return np.maximum(0.0, sums[:, 0] - (sums[:, 2:] ** 2).sum(axis=1) / sums[:, 1])

    def _linear(self, sums: Floats) -> Floats:
        return sums.min(axis=1)

    def _gini(self, sums: Floats) -> Floats:
        weight = sums.sum(axis=1)
        return weight - (sums**2).sum(axis=1) / weight

    def _entropy(self, sums: Floats) -> Floats:
        weight = sums.sum(axis=1, keepdims=True)
        return -(sums * np.log(np.where(sums > 0, sums, weight) / weight)).sum(axis=1)

    def _pessimistic(self, sums: Floats) -> Floats:
        weight = sums.sum(axis=1)
        errors = weight - sums.max(axis=1)
        pairs = zip(weight.astype(int).tolist(), errors.astype(int).tolist(), strict=True)
        return errors + np.array([self.added[pair] for pair in pairs])
