"""The naive twin of the other losses is itself checked, against a listing of every single tree."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from testkit.naive_measures import (
    CLASS_LOSSES,
    LOSSES,
    Leaves,
    MeasureCase,
    NaiveMeasures,
    added_errors,
    root_cost,
)
from testkit.random_measures import random_case


def plain_leaf(case: MeasureCase, rows: list[int]) -> Fraction:
    """A leaf by the words of its definition, in fractions."""
    w = [Fraction(int(case.weights[i])) for i in rows]
    if case.loss in CLASS_LOSSES:
        sums = Counter[int]()
        for i, weight in zip(rows, w, strict=True):
            sums[int(case.classes[i])] += int(weight)
        shares = [Fraction(one, int(sum(w))) for one in sums.values()]
        if case.loss == "gini":
            return sum(w) * (1 - sum(p * p for p in shares))
        if case.loss == "entropy":
            return Fraction(sum(-float(sum(w) * p) * math.log(p) for p in shares))
        errors = int(sum(w)) - max(sums.values())
        return Fraction(errors + added_errors(int(sum(w)), errors))
    assert case.targets is not None
    outputs = [[Fraction(float(y)) for y in output] for output in case.targets[rows].T]
    if case.loss == "linear":
        return min(sum(map(Fraction.__mul__, w, costs), Fraction(0)) for costs in outputs)
    cost = Fraction(0)
    for y in outputs:
        if case.loss == "squared_error":
            mean = sum(map(Fraction.__mul__, w, y), Fraction(0)) / sum(w)
            cost += sum(weight * (one - mean) ** 2 for weight, one in zip(w, y, strict=True))
        else:
            # The first value with half of the weight up to it.
            pairs = list(zip(w, y, strict=True))
            median = min(
                one for one in y if 2 * sum(own for own, other in pairs if other <= one) >= sum(w)
            )
            cost += sum(weight * abs(one - median) for weight, one in zip(w, y, strict=True))
    return cost


def every_tree(
    case: MeasureCase, rows: list[int], depth: int, penalty: Fraction
) -> Iterator[tuple[Fraction, int]]:
    """Cost and splits of all trees on the rows: no budget, no bound, no memory."""
    yield plain_leaf(case, rows), 0
    for ranks in case.ranks if depth else ():
        for low in sorted({int(ranks[i]) for i in rows})[:-1]:
            left = [i for i in rows if ranks[i] <= low]
            right = [i for i in rows if ranks[i] > low]
            if min(case.counts[left].sum(), case.counts[right].sum()) < case.min_samples_leaf:
                continue
            rights = list(every_tree(case, right, depth - 1, penalty))
            for l_cost, l_splits in every_tree(case, left, depth - 1, penalty):
                for r_cost, r_splits in rights:
                    yield penalty + l_cost + r_cost, 1 + l_splits + r_splits


def first_rows(case: MeasureCase, count: int) -> MeasureCase:
    return replace(
        case,
        ranks=case.ranks[:, :count],
        classes=case.classes[:count],
        weights=case.weights[:count],
        counts=case.counts[:count],
        targets=None if case.targets is None else case.targets[:count],
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_the_twin_finds_the_least_of_all_trees(loss: str) -> None:
    for seed in range(40):
        depth = 1 + seed % 3
        case = first_rows(
            random_case(loss, seed, max_depth=depth, extreme=seed % 2 == 1), (10, 6, 4)[depth - 1]
        )
        root = root_cost(case)
        penalty = case.penalty * root
        twin = NaiveMeasures(case, penalty)
        trees = every_tree(case, list(range(case.n_rows)), depth, Fraction(penalty))
        least = min(cost for cost, splits in trees if splits <= case.max_splits)
        least -= twin.leaves.constant
        assert twin.solve() == pytest.approx(float(least), rel=1e-12, abs=1e-13 * root), seed


def test_each_tree_pays_the_least_cost_of_every_row() -> None:
    """The constant of linear costs, which the twin takes off, is what the rows cost at least."""
    for seed in range(200):
        case = random_case("linear", seed, extreme=seed % 2 == 1)
        leaves = Leaves(case)
        whole = plain_leaf(case, list(range(case.n_rows)))
        assert root_cost(case) == pytest.approx(float(whole - leaves.constant), rel=1e-15)


def test_pessimistic_errors_are_those_of_the_book() -> None:
    """Quinlan's examples of U_25% in "C4.5: Programs for Machine Learning", times the rows."""
    assert added_errors(6, 0) == pytest.approx(6 * 0.206, abs=6 * 5e-4)
    assert added_errors(9, 0) == pytest.approx(9 * 0.143, abs=9 * 5e-4)
    assert added_errors(1, 0) == pytest.approx(0.750)
    assert 1 + added_errors(16, 1) == pytest.approx(16 * 0.157, rel=0.02)


#: How many of 1,000 seeds of a loss must show each feature.
LEAST = {
    **{f"depth {depth}": 20 for depth in range(5)},
    "tie": 300,
    "constant column": 30,
    "missing": 100,
    "equal rows": 200,
    "weights": 300,
    "merged rows": 100,
    "large weights": 50,
    "least leaf": 200,
    "penalty": 200,
    "budget": 150,
    "one row": 20,
    "nothing to gain": 8,
}


def features_of(case: MeasureCase) -> Iterator[str]:
    yield f"depth {case.max_depth}"
    if any(len(values) < case.n_rows for values in case.values):
        yield "tie"
    if any(len(values) == 1 for values in case.values) and case.n_rows > 1:
        yield "constant column"
    if any(np.isnan(values).any() for values in case.values):
        yield "missing"
    if len(np.unique(case.ranks, axis=1).T) < case.n_rows:
        yield "equal rows"
    if case.weights.max() > 1:
        yield "weights"
    if case.counts.max() > 1:
        yield "merged rows"
    if case.weights.max() > 100:
        yield "large weights"
    if case.min_samples_leaf > 1:
        yield "least leaf"
    if case.penalty > 0:
        yield "penalty"
    if case.max_splits < 2**case.max_depth - 1:
        yield "budget"
    if case.n_rows == 1:
        yield "one row"
    elif root_cost(case) == 0 or len(set(case.classes.tolist())) == 1 < case.n_classes:
        yield "nothing to gain"


@pytest.mark.parametrize("loss", LOSSES)
def test_the_random_cases_have_all_awkward_features(loss: str) -> None:
    seen: Counter[str] = Counter()
    for seed in range(1000):
        seen.update(set(features_of(random_case(loss, seed))))
    missed = {name: seen[name] for name, least in LEAST.items() if seen[name] < least}
    assert not missed, f"too few of {missed} among {dict(sorted(seen.items()))}"
