"""Side constraints against every tree with every labeling."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from provetree import Limits, build_problem
from provetree.errors import InfeasibleError
from provetree.mip.check import TreeLimits, check_tree
from provetree.mip.engine import FORMULATIONS, MIPSearch
from provetree.problem.constrained import RawRows, constrained
from provetree.problem.rows import problem_rows
from provetree.problem.side_constraints import SideConstraints
from testkit.naive_mip import least_cost

RATES = [Fraction(0), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(3, 4), Fraction(1)]


def random_case(seed):
    """A small table with two columns, groups, and side constraints chosen by the seed."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(4, 9)), int(rng.choice([2, 2, 3]))
    X = rng.integers(0, 3, (n, 2)).astype(float)
    y = rng.integers(0, n_classes, n)
    weights = rng.integers(1, 4, n) if rng.random() < 0.4 else np.ones(n, dtype=np.int64)
    weights[0] = 1  # a common divisor would be another unit of cost
    groups = rng.integers(0, 2 + (rng.random() < 0.2), n)
    depth = int(rng.choice([1, 2]))

    def rate():
        return RATES[rng.integers(len(RATES))]

    wanted = rng.random(4) < [0.5, 0.4, 0.4, 0.3]
    if not wanted.any():
        wanted[rng.integers(4)] = True
    ask = {
        "min_recall": {int(k): rate() for k in rng.permutation(n_classes)[:2]} if wanted[0] else {},
        "max_false": {int(rng.integers(n_classes)): rate()} if wanted[1] else {},
        "max_difference": rate() / 2 if wanted[2] else None,
        "positive": int(rng.integers(n_classes)),
        "column_limits": (((int(rng.integers(2)),), int(rng.integers(2))),) if wanted[3] else (),
    }
    limits = {
        "min_samples_leaf": int(rng.choice([1, 1, 2])),
        "max_splits": int(rng.integers(1, 3)) if rng.random() < 0.3 else None,
        "penalty": Fraction(int(rng.integers(0, 3)), 4),
    }
    return X, y, weights, groups, n_classes, depth, ask, limits


def solve(name, seed, **changes):
    X, y, weights, groups, n_classes, depth, ask, limits = random_case(seed)
    penalty = limits["penalty"]
    if name == "p":
        gamma = 2**depth - 1 if limits["max_splits"] is None else limits["max_splits"]
        penalty = Fraction(1, gamma + 1)
    expected = least_cost(
        X, y, weights=weights, groups=groups, n_classes=n_classes, depth=depth,
        min_samples_leaf=limits["min_samples_leaf"], max_splits=limits["max_splits"],
        penalty=penalty, **ask,
    )  # fmt: skip
    problem = build_problem(
        X, y, n_classes=n_classes, max_depth=depth, sample_weight=weights.astype(float),
        min_samples_leaf=limits["min_samples_leaf"],
        max_leaf_nodes=None if limits["max_splits"] is None else limits["max_splits"] + 1,
        keep_duplicates=True,
    )  # fmt: skip
    by_group = np.zeros((int(groups.max()) + 1, problem.n_rows), dtype=np.int64)
    np.add.at(by_group, (groups, problem_rows(problem, X, y)), weights)
    by_group = by_group[by_group.sum(axis=1) > 0]
    side = SideConstraints(
        min_recall=ask["min_recall"],
        max_false_positive_rate=ask["max_false"],
        max_parity_gap=ask["max_difference"],
        positive=ask["positive"],
        groups=by_group,
        column_limits=ask["column_limits"],
    )
    rows = RawRows(X, y, weights, groups)
    engine = MIPSearch(name, scaling="rank", **changes)
    asked = constrained(
        problem,
        depth=depth,
        penalty=0 if name == "p" else penalty,
        max_splits=limits["max_splits"],
        side=side,
        rows=rows,
    )
    if expected is None:
        with pytest.raises(InfeasibleError, match="keeps to the side constraints"):
            engine.solve(asked, Limits(30.0))
        return False
    solution = engine.solve(asked, Limits(30.0))
    tree_limits = TreeLimits(depth, limits["min_samples_leaf"], limits["max_splits"], side)
    checked = check_tree(solution.tree, rows, tree_limits)
    assert checked.broken == (), seed
    assert solution.status == "optimal", seed
    assert checked.cost(penalty) == expected, seed
    return True


@pytest.mark.parametrize("name", sorted(set(FORMULATIONS) - {"oct-h"}))
def test_optima_under_side_constraints(name):
    feasible = [
        solve(name, seed, tighten=bool(seed % 2), merge_rows=bool(seed % 3)) for seed in range(40)
    ]
    assert 10 < sum(feasible) < 40, "both kinds must occur"


def test_a_leaf_may_predict_a_rarer_class():
    X = np.array([[0.0], [0.0], [0.0], [1.0]])
    y = np.array([0, 0, 1, 0])
    problem = build_problem(X, y, n_classes=2, max_depth=1)
    side = SideConstraints(min_recall={1: Fraction(1)})
    rows = RawRows(X, y, np.ones(4, dtype=np.int64))
    for name in sorted(set(FORMULATIONS) - {"oct-h"}):
        solution = MIPSearch(name).solve(constrained(problem, side=side, rows=rows))
        assert solution.tree.predict(X).tolist() == [1, 1, 1, 0], name
        assert solution.tree.label.tolist()[1] == 1
        assert solution.tree.has_other_labels


def test_words_of_what_is_broken():
    side = SideConstraints(
        min_recall={0: Fraction(1)},
        max_false_positive_rate={1: Fraction(1, 4)},
        max_parity_gap=Fraction(1, 10),
        column_limits=(((0, 2), 1),),
    )
    assert side.words() == ("min_recall, max_false_positive_rate, max_parity_gap, max_column_uses")
    ones = np.ones(4, dtype=np.int64)
    truth, groups = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
    found = side.broken(np.array([1, 0, 0, 1]), truth, ones, groups, np.array([0, 2]))
    assert [words.split(" is ")[0].split(" differ ")[0] for words in found[:3]] == [
        "The recall of class 0",
        "The false positive rate of class 1",
        "The positive rates of two groups",
    ]
    assert found[3] == "Columns (0, 2) are used 2 times, more than 1."
    assert side.broken(truth, truth, ones, np.zeros(4, dtype=int), np.array([0])) == []
