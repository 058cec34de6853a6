"""The family of splits about two columns: which sums it has, and how they are ranked."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from provetree import Combination, build_problem
from provetree.problem.combinations import Ratio
from provetree.problem.pairs import _slopes, pair_combinations, ranked_sums
from provetree.problem.ratios import ranked_ratios, ratios_among
from provetree.problem.rows import column_ranks
from provetree.tree.threshold import sum_threshold
from testkit.naive_pairs import decimal, naive_family, naive_slopes


@pytest.mark.parametrize("n_angles", range(2, 66, 2))
def test_slopes_are_even_angles_in_simple_fractions(n_angles: int) -> None:
    slopes = _slopes(n_angles)
    assert tuple(slopes) == naive_slopes(n_angles)
    assert len(set(slopes)) == n_angles // 2
    step = math.pi / 2 / (n_angles // 2 + 1)
    for k, slope in enumerate(slopes, start=1):
        assert abs(math.atan(slope) - k * step) <= step / 4 * (1 + 1e-9)
    assert (1 in slopes) == (n_angles % 4 == 2)


@pytest.mark.parametrize("seed", range(60))
def test_the_family_is_the_stated_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    X = rng.integers(-9, 10, (n, 4)) * 10.0 ** rng.integers(-6, 7, 4)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[rng.random(X.shape) < 0.02] = np.inf
    n_angles = int(rng.choice([2, 4, 6, 10]))
    found = {
        (*each.columns, Fraction(each.coefficients[1]) / Fraction(each.coefficients[0]))
        for each in pair_combinations(X, [None] * 4, n_angles)
    }
    columns = [[decimal(x) for x in column] for column in X.T.tolist()]
    assert found == set(naive_family(columns, n_angles))


def test_coefficients_are_short_whole_numbers() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * [1, 1.3, 7, 1e-3, 4e5, 80]
    family = pair_combinations(X, [None] * 6)
    assert len(family) == 30
    for each in family:
        given = [abs(times) for times in each.coefficients]
        a, b = map(int, given)
        assert [a, b] == given
        assert min(a, b) == 1
        assert str(max(a, b)).rstrip("0") in {"1", "2", "5"}
    # Columns of about the same spread are plainly added and subtracted.
    assert [each.words("abcdef") for each in family[:2]] == ["a + b", "a - b"]


def test_rows_that_occur_twice_change_nothing() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9, 3)).round(1)
    again = X[[*range(9), 0, 0, 0, 0, 0, 5]]
    assert pair_combinations(X, [None] * 3) == pair_combinations(again[::-1], [None] * 3)


def test_columns_that_cannot_be_paired_are_left_out() -> None:
    X = np.array([[1.0, 5.0, 0.0, 0.1, np.nan], [2.0, 5.0, 1.0, np.inf, np.nan], [4, 5, 0, 7, 8]])
    family = pair_combinations(X, [None, None, ["a", "b"], None, None])
    assert family == ()


@pytest.mark.parametrize("power", [12, 15, 16, 300])
def test_scales_far_apart(power: int) -> None:
    X = np.array([[1.0, 1.0], [2.0, 3.0], [4.0, 2.0], [3.0, 0.0]]) * [1.0, 10.0**power]
    family = pair_combinations(X, [None, None])
    if power > 15:
        assert family == ()
        return
    assert {tuple(map(abs, each.coefficients)) for each in family} == {(10.0**power / 1, 1.0)}
    problem = build_problem(X, [0, 1, 0, 0], n_classes=2, max_depth=1, combinations=family)
    assert len(problem.columns) == 4


def test_the_largest_numbers_make_no_infinite_sums() -> None:
    X = np.array([[1e308, -1e308], [-1.7e308, 1.7e308], [0.0, 1.0]])
    assert pair_combinations(X, [None, None]) == ()


def test_sums_that_differ_by_rounding_are_one() -> None:
    tenths = np.array([[i / 10, j / 10] for i in range(8) for j in range(8)])
    found = ranked_sums(tenths, [Combination((0, 1), (1.0, 1.0)), Combination((0, 1), (1.0, -2.0))])
    i, j = (tenths * 10).round().T
    assert found.ranks[0].tolist() == (i + j).tolist()
    # i - 2 j has every whole number from -14 to 7 but one; in floats there are more.
    exact = np.unique(i - 2 * j, return_inverse=True)[1]
    assert found.ranks[1].tolist() == exact.tolist()
    assert len(np.unique(tenths[:, 0] - 2 * tenths[:, 1])) > exact.max() + 1


def test_values_that_are_really_close_stay_apart() -> None:
    # Neighbours in float64 in a long row: merging them would make one value of all.
    x = 1.0 + np.arange(40) * 2.0**-44
    table = np.column_stack([x, np.zeros(40)])
    table[::2, 1] = 2.0**-45
    found = ranked_sums(table, [Combination((0, 1), (1.0, 1.0))])
    assert len(np.unique(found.ranks)) == 40


@pytest.mark.parametrize("seed", range(30))
def test_ranks_are_found_again_from_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, (25, 3)) / 10
    X[rng.random(X.shape) < 0.1] = np.nan
    family = pair_combinations(X, [None] * 3, 6)
    y = rng.integers(0, 2, 25)
    problem = build_problem(
        X, y, n_classes=2, max_depth=1, combinations=family, merge=False, keep_duplicates=True
    )
    for c, column in enumerate(problem.columns):
        ranks = column_ranks(problem, c, problem.feature_values(X, column.feature))
        assert ranks.tolist() == problem.ranks[c].tolist()


def test_thresholds_lie_in_the_middle_half() -> None:
    for low, high in itertools.pairwise(np.logspace(-300, 300, 25).tolist()):
        for a, b in ((low, high), (-high, -low), (-low, high), (low, low * (1 + 1e-9))):
            t = sum_threshold(a, b)
            quarter = b / 4 - a / 4
            assert a + quarter <= t <= b - quarter
            assert len(repr(t)) <= len(repr(a / 2 + b / 2)) + 4


def test_a_threshold_between_neighbours_is_the_lower_one() -> None:
    for a in (0.0, 1.0, -1.0, 1e-320, 1.7e308):
        b = math.nextafter(a, math.inf)
        assert a <= sum_threshold(a, b) < b


def test_ratios_are_of_positive_columns() -> None:
    X = np.array([[1, 2, 0, 5, 1e-320], [3, 1, 2, math.inf, 1], [2, math.nan, 1, 1, 2]])
    assert [each.columns for each in ratios_among(X, None, [None] * 5, range(5))] == [(0, 1)]
    weights = np.array([0.0, 1.0, 1.0])  # rows of no weight do not matter
    found = [each.columns for each in ratios_among(X, weights, [None] * 5, [0, 1, 2, 4])]
    assert found == [(0, 1), (0, 2), (0, 4), (1, 2), (1, 4), (2, 4)]


@pytest.mark.parametrize("seed", range(20))
def test_ratios_take_the_side_of_their_rank(seed: int) -> None:
    # Also where ratios differ by a few units in the last place: they share a rank then.
    rng = np.random.default_rng(seed)
    x, y = rng.lognormal(0, 8, (2, 60))
    x[30:] = x[:30] * (1 + rng.integers(-3, 4, 30) * 2.0**-52)
    y[30:] = y[:30]
    table = np.column_stack([x, y])
    ranked = ranked_ratios(table, [Ratio((0, 1))])
    values = ranked.values_of(0)
    for k in range(len(values) - 1):
        above = float((x / y)[ranked.ranks[0] > k].min())
        question, threshold = Ratio((0, 1)).question(sum_threshold(float(values[k]), above))
        assert ((question.values(table) <= threshold) == (ranked.ranks[0] <= k)).all()
