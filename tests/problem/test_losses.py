"""Losses other than errors: costs of leaves, units, penalties, and the check of what is claimed."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from provetree import ExactSearch, ItemsetSearch, build_problem
from provetree.problem.cost_scale import checked_cost
from provetree.problem.losses import LOSSES, OF_TARGETS, class_cost, leaf_cost, mean_of, median_of
from testkit.naive_measures import Leaves, NaiveMeasures, root_cost
from testkit.random_measures import random_case

MEASURED = [loss for loss in LOSSES if loss != "errors"]


def problem_of(case, **changes):
    """The problem of a random case."""
    table = np.array(
        [values[ranks] for values, ranks in zip(case.values, case.ranks, strict=True)]
    ).T
    rows = np.repeat(np.arange(case.n_rows), case.counts)
    of_class = case.targets is None
    return build_problem(
        table[rows],
        case.classes[rows] if of_class else case.targets[rows],
        n_classes=case.n_classes if of_class else None,
        loss=case.loss,
        max_depth=case.max_depth,
        **changes,
    )


@pytest.mark.parametrize("loss", MEASURED)
@pytest.mark.parametrize("seed", range(40))
def test_leaves_cost_what_the_naive_twin_says(loss, seed):
    case = random_case(loss, seed)
    counts = np.ones(case.n_rows, dtype=np.int64)
    case = replace(case, weights=counts, counts=counts)
    problem = problem_of(case)
    naive = Leaves(case)
    expected = naive.cost(list(range(case.n_rows))) + float(naive.constant)
    assert leaf_cost(problem, slice(None)) == pytest.approx(expected, rel=1e-13, abs=1e-13)
    # What the last digits of targets far from zero mean is another matter.
    digits = 0 if case.targets is None else 2.0**-50 * np.abs(case.targets).max() * case.n_rows
    found = problem.to_user_cost(problem.root_error)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 + digits)


@pytest.mark.parametrize("loss", MEASURED)
@pytest.mark.parametrize("seed", range(100, 115))
def test_the_best_tree_costs_what_the_naive_twin_says(loss, seed):
    """From the table to the user's cost: weights, limits and penalties included."""
    case = random_case(loss, seed)
    # A missing value may go either way in a table; the twin has the columns as they are.
    values = tuple(np.arange(float(len(values))) for values in case.values)
    counts = np.ones(case.n_rows, dtype=np.int64)
    case = replace(case, counts=counts, values=values, min_samples_leaf=1)
    parts = 1 if loss == "pessimistic" else 4  # C4.5 counts rows
    problem = problem_of(
        case,
        sample_weight=case.weights / parts,
        max_leaf_nodes=case.max_splits + 1,
        alpha=case.penalty,
    )
    naive = NaiveMeasures(case, split_penalty=case.penalty * root_cost(case))
    expected = (naive.solve() + float(naive.leaves.constant)) / parts
    solution = ExactSearch().solve(problem)
    digits = 0 if case.targets is None else 2.0**-48 * np.abs(case.targets).max() * 4 * case.n_rows
    assert solution.status == "optimal"
    assert solution.cost == pytest.approx(expected, rel=2e-9, abs=1e-9 + digits)


@pytest.mark.parametrize("loss", MEASURED)
def test_a_penalty_is_a_share_of_what_a_single_leaf_costs(loss):
    rng = np.random.default_rng(LOSSES.index(loss))
    X = rng.integers(0, 6, size=(80, 2)).astype(float)
    y = rng.integers(0, 3, 80) if loss not in OF_TARGETS else rng.integers(0, 9, size=(80, 2))
    limits = {"n_classes": None if loss in OF_TARGETS else 3, "loss": loss, "max_depth": 2}
    free = build_problem(X, y, **limits)
    scale = free.cost_scale
    for alpha in (0.003, 0.02, 1.5):
        problem = build_problem(X, y, alpha=alpha, **limits)
        penalty = problem.split_penalty * problem.cost_scale.unit
        assert penalty == pytest.approx(min(alpha, 1.0) * scale.root, rel=1e-9)
        solution = ExactSearch().solve(problem)
        splits = solution.tree.n_splits
        cheapest = ExactSearch().solve(free.with_penalty(Fraction(alpha) * scale.exact_root_units))
        assert solution.cost == pytest.approx(cheapest.cost, rel=1e-9)
        assert splits == cheapest.tree.n_splits
        assert splits == 0 or alpha < 1


def test_rows_with_targets_are_not_merged_but_columns_are():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 5.0]])
    problem = build_problem(X, [1.0, 1.0, 2.0], loss="squared_error", max_depth=2)
    assert (problem.n_rows, len(problem.columns)) == (3, 1)
    assert problem.predicts == "numbers"
    classes = build_problem(X, [0, 0, 1], n_classes=2, loss="gini", max_depth=2)
    assert (classes.n_rows, classes.predicts) == (2, "classes")


def test_costs_beside_classes():
    """A cost matrix: rows have a class and what each class would cost."""
    matrix = np.array([[0.0, 1.0], [10.0, 0.0]])
    y = np.array([0, 0, 0, 1])
    problem = build_problem(
        [[1.0], [1.0], [1.0], [1.0]], y, n_classes=2, loss="linear", targets=matrix[y], max_depth=1
    )
    solution = ExactSearch().solve(problem)
    assert solution.cost == 3.0
    assert solution.tree.kind == "classes"
    assert solution.tree.value.tolist() == [[3.0, 1.0]]
    assert solution.tree.label.tolist() == [1]


def test_zero_weights_and_pickles():
    weights = [0.0, 0.5, 1.5, 1.0]
    problem = build_problem(
        [[1], [2], [3], [4]],
        [9.0, 1.0, 2.0, 4.0],
        loss="absolute_error",
        max_depth=1,
        sample_weight=weights,
    )
    assert problem.targets.tolist() == [[1.0], [2.0], [4.0]]
    again = pickle.loads(pickle.dumps(problem))
    assert ExactSearch().solve(again).cost == ExactSearch().solve(problem).cost == 0.5


@pytest.mark.parametrize("loss", MEASURED)
def test_a_false_claim_is_found_out(loss):
    y = [0, 1, 1, 0] if loss not in OF_TARGETS else [[0.0, 3.0], [5.0, 1.0], [4.0, 1.0], [0.0, 2.0]]
    problem = build_problem(
        [[1], [2], [3], [4]],
        y,
        n_classes=None if loss in OF_TARGETS else 2,
        loss=loss,
        max_depth=0,
    )
    leaves, claimed = leaf_cost(problem, slice(None)), problem.root_error
    assert checked_cost(problem, claimed, leaves, 0) == leaves
    for factor in (0.5, 2.0):
        with pytest.raises(RuntimeError, match="does not cost what the search claims"):
            checked_cost(problem, int(claimed * factor), leaves, 0)


def test_a_far_row_does_not_make_units_coarse():
    """A single row of another kind among many: slack decides on the unit, and costs are rounded."""
    n = 2**20
    weights = np.array([n - 1.0, 1.0])
    for loss, y in (
        ("gini", [0, 1]),
        ("squared_error", [0.0, 0.1]),
        ("absolute_error", [0.0, math.pi]),
    ):
        problem = build_problem(
            [[1.0], [2.0]],
            y,
            n_classes=2 if loss == "gini" else None,
            loss=loss,
            sample_weight=weights,
            max_depth=1,
            alpha=0.1,
        )
        assert not problem.cost_scale.is_coarse
        solution = ExactSearch().solve(problem)
        assert solution.status == "optimal"
        assert solution.cost == pytest.approx(0.1 * leaf_cost(problem, slice(None)), rel=1e-6)


def test_means_and_medians():
    rng = np.random.default_rng(0)
    small = np.round(rng.normal(size=50), 3)
    ones = np.ones(50)
    for offset in (0.0, 2.0**40):
        exact = [Fraction(x) for x in (small + offset).tolist()]
        mean = sum(exact) / 50
        squares = float(sum((x - mean) ** 2 for x in exact))
        assert mean_of(small + offset, ones).cost == pytest.approx(squares, rel=1e-14)
        distances = float(sum(abs(x - sorted(exact)[25]) for x in exact))
        assert median_of(small + offset, ones).cost == pytest.approx(distances, rel=1e-14)
    assert median_of(np.array([1.0, 5.0]), np.array([3.0, 1.0])).value == 1.0
    assert median_of(np.array([5.0, 1.0]), np.array([2.0, 2.0])).value == 3.0


def test_pessimistic_errors():
    # Quinlan: no error in 6, 9 and 1 rows is charged as 6 * 0.206, 9 * 0.143 and 0.750.
    for rows, rate in ((6, 0.206), (9, 0.143), (1, 0.750)):
        assert class_cost("pessimistic", [rows, 0]) / rows == pytest.approx(rate, abs=5e-4)
    assert math.isclose(class_cost("entropy", [1, 1]), 2 * math.log(2))


def test_bad_problems():
    for given, sentence in (
        ({"loss": "brier"}, "The 'loss' must be one of 'errors', 'gini'"),
        ({"loss": "gini"}, "The loss 'gini' needs 'n_classes' and takes no 'targets'"),
        ({"loss": "squared_error", "y": [1.0, math.inf]}, "finite numbers. Got NaN or infinity"),
        ({"loss": "squared_error", "y": [1.0, 2.0, 3.0]}, "for each of the 2 rows"),
    ):
        y = given.pop("y", [0, 1])
        with pytest.raises(ValueError, match=sentence):
            build_problem([[1.0], [2.0]], y, max_depth=1, **given)


def test_other_engines_refuse_other_losses():
    problem = build_problem([[1.0], [2.0]], [1.0, 2.0], loss="squared_error", max_depth=1)
    with pytest.raises(ValueError, match="ItemsetSearch minimises errors; ExactSearch takes"):
        ItemsetSearch().solve(problem)
