"""Questions turned: the best line against every division, and trees that only get better."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, verify
from provetree.search.turning import best_line
from testkit.naive_hyperplanes import gap_of_lines


@pytest.mark.parametrize("seed", range(60))
def test_the_best_line_is_that_of_all_divisions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    points = rng.integers(0, int(rng.choice([2, 4, 9])), (n, 2))
    costs = rng.integers(-3, 4, n)
    counts = rng.integers(1, 3, n)
    least = int(rng.choice([1, 1, 2]))
    exact = [(Fraction(int(x)), Fraction(int(y))) for x, y in points]
    best = None
    for size in range(1, n):
        for members in combinations(range(n), size):
            others = [i for i in range(n) if i not in members]
            sides = [exact[i] for i in members], [exact[i] for i in others]
            if min(counts[list(members)].sum(), counts[others].sum()) < least:
                continue
            if gap_of_lines(*sides) > 0:
                total = int(costs[list(members)].sum())
                best = total if best is None else min(best, total)
    found = best_line(points.astype(float), costs, counts, least)
    assert (None if found is None else found[0]) == best
    if found is not None:
        left = found[1]
        assert costs[left].sum() == best
        ours, theirs = ([exact[i] for i in np.flatnonzero(m)] for m in (left, ~left))
        assert gap_of_lines(ours, theirs) > 0


@pytest.mark.parametrize("seed", range(30))
def test_trees_only_get_better_and_keep_to_the_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 40))
    X = rng.integers(0, 12, (n, 3)).astype(float)
    y = (X @ [1.0, 0.35, -0.2] > 6).astype(int) ^ (rng.random(n) < 0.15)
    if seed % 4 == 0:
        X[rng.random(n) < 0.2, 1] = np.nan
    if seed % 5 == 0:
        y = rng.integers(0, 3, n)
    weights = rng.integers(0, 4, n).astype(float) if seed % 3 == 0 else None
    if weights is not None:
        weights[:2] = 1.0
    limits = {
        "max_depth": 1 + seed % 3,
        "min_samples_leaf": int(rng.choice([1, 3])),
        "alpha": float(rng.choice([0.0, 0.05])),
        "max_leaf_nodes": [None, 3][seed % 2],
        "splits": ["pairs", "ratios"][seed % 2],
    }
    plain = OptimalTreeClassifier(**limits).fit(X, y, weights)
    turned = OptimalTreeClassifier(**limits, refine_pairs=True).fit(X, y, weights)
    assert turned.objective_ <= plain.objective_ + 1e-12
    assert turned.lower_bound_ <= turned.objective_
    present = np.ones(n, dtype=bool) if weights is None else weights > 0
    tree = turned.tree_
    found = verify(tree, X, y, sample_weight=weights)
    assert found.cost + limits["alpha"] * found.root_error * tree.n_splits == pytest.approx(
        turned.objective_
    )
    assert tree.depth <= limits["max_depth"]
    assert tree.n_leaves <= (limits["max_leaf_nodes"] or 8)
    leaves = np.bincount(turned.apply(X[present]), minlength=tree.n_nodes)[tree.feature < 0]
    assert leaves.min() >= min(limits["min_samples_leaf"], present.sum())
    if turned.objective_ < plain.objective_:
        # Nothing is claimed of it but what holds for every tree.
        assert turned.status_ == ("optimal" if turned.gap_ == 0 else "feasible")
        assert turned.counters_["turned_questions"] > 0
    else:
        assert turned.status_ == plain.status_ == "optimal"
        assert turned.tree_ == plain.tree_


def test_a_slanted_border_is_found() -> None:
    X = np.random.default_rng(1).random((150, 3))
    y = (X[:, 0] + 0.37 * X[:, 2] > 0.7).astype(int)
    plain = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X, y)
    turned = OptimalTreeClassifier(max_depth=1, splits="pairs", refine_pairs=True).fit(X, y)
    assert plain.objective_ > 0 == turned.objective_
    assert turned.status_ == "optimal"  # no tree can have fewer than none
    assert turned.tree_.columns_of(int(turned.tree_.feature[0])) == (0, 2)


@pytest.mark.parametrize(
    "options", [{"splits": "columns"}, {"splits": "pairs", "criterion": "gini"}]
)
def test_what_cannot_be_turned(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="'refine_pairs' parameter of OptimalTreeClassifier"):
        OptimalTreeClassifier(refine_pairs=True, **options).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])


def test_time_is_kept() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((3000, 6)), rng.integers(0, 2, 3000)
    clf = OptimalTreeClassifier(
        max_depth=1, splits="pairs", refine_pairs=True, time_limit=0.5, max_work=10**9
    ).fit(X, y)
    assert clf.objective_ >= clf.lower_bound_


def test_penalties_of_weights_that_were_rounded() -> None:
    """The penalty in units of the rows of a node may have more digits than the core counts in."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        X, weights = rng.normal(size=(40, 2)), rng.random(40)
        y = X[:, 0] + 0.37 * X[:, 1] + 0.3 * rng.normal(size=40) > 0
        asked = {"max_depth": 2, "alpha": 0.02, "splits": "pairs"}
        plain = OptimalTreeClassifier(**asked).fit(X, y, weights)
        turned = OptimalTreeClassifier(**asked, refine_pairs=True).fit(X, y, weights)
        assert turned.objective_ <= plain.objective_
