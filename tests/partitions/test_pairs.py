"""Data-partitions with sums of two columns: what holds of the paper, and what does not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from provetree import OptimalTreeClassifier, PartitionTreeClassifier
from provetree.problem.hyperplanes import widest_gap


def slanted(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 15, (n, 3)).astype(float)
    return X, (X[:, 0] + X[:, 1] > 14).astype(int) ^ (rng.random(n) < 0.08)


@pytest.mark.parametrize("seed", range(12))
def test_the_exact_variant_proves_the_optimum_of_the_family(seed: int) -> None:
    # Theorem 1 does not ask what splits are like.
    X, y = slanted(30, seed)
    if seed % 3 == 0:
        X[np.random.default_rng(seed).random(30) < 0.1, 2] = np.nan
    limits = {"max_depth": 1 + seed % 2, "splits": "pairs", "n_angles": 2 + 4 * (seed % 2)}
    best = OptimalTreeClassifier(**limits).fit(X, y)
    found = PartitionTreeClassifier(
        partition=["gp", "igp", "crm"][seed % 3], refinement="exact", **limits
    ).fit(X, y)
    assert (found.status_, found.objective_) == ("optimal", best.objective_)
    rough = PartitionTreeClassifier(**limits).fit(X, y)
    assert rough.objective_ >= best.objective_
    # It ends when no cluster is cut; then the models count what the rows count.
    assert rough.rounds_[-1].n_cut == 0
    assert rough.rounds_[-1].model_errors == rough.rounds_[-1].errors


def test_as_mixed_integer_models() -> None:
    X, y = slanted(14, 5)
    limits = {"max_depth": 1, "splits": "pairs"}
    best = OptimalTreeClassifier(**limits).fit(X, y)
    found = PartitionTreeClassifier(refinement="exact", inner="milp", **limits).fit(X, y)
    assert (found.status_, found.objective_) == ("optimal", best.objective_)
    assert PartitionTreeClassifier(inner="milp", **limits).fit(X, y).objective_ >= best.objective_


def test_hulls_apart_need_not_be_divided_by_two_columns() -> None:
    """Exclusion: hulls that do not meet have a hyperplane between them, of all columns only."""
    corners, middle = np.eye(3), np.full((1, 3), 0.4)
    rows, left = np.vstack([corners, middle]), np.array([True, True, True, False])
    assert widest_gap(rows, left)[1] > 0.05  # x + y + z is 1 on the left, 1.2 on the right
    for pair in combinations(range(3), 2):
        assert widest_gap(rows[:, pair], left)[1] <= 1e-12
    X, y = np.vstack([corners, middle]), [0, 0, 0, 1]
    assert OptimalTreeClassifier(max_depth=1, splits="pairs", n_angles=14).fit(X, y).objective_ > 0


@pytest.mark.parametrize("seed", range(20))
def test_representatives_follow_clusters_that_are_not_cut(seed: int) -> None:
    """A side of a hyperplane is convex: where all rows of a cluster are, so is their barycentre."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(6, 3))
    direction = rng.normal(size=3)
    sums = rows @ direction
    middle = rows.mean(axis=0) @ direction
    assert sums.min() <= middle <= sums.max()


def test_a_gap_between_representatives_is_none_between_rows() -> None:
    rows, left = np.array([[0.0], [0.495], [0.505], [1.0]]), np.array([True, True, False, False])
    middles = np.array([[0.2475], [0.7525]])
    assert widest_gap(middles, left[1:3])[1] == pytest.approx(0.505)
    assert widest_gap(rows, left)[1] == pytest.approx(0.01)
    # The split half-way between the representatives cuts no cluster.
    assert ((rows[:, 0] <= middles.mean()) == left).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_gap_between_rows_is_one_between_representatives(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(12, 3))
    sums = rows @ rng.normal(size=3)
    left = sums < np.median(sums)
    cluster = np.where(left, 0, 2) + rng.integers(0, 2, 12)  # each on one side
    shown = np.unique(cluster)
    middles = np.array([rows[cluster == one].mean(axis=0) for one in shown])
    of_rows = widest_gap(rows, left)[1]
    assert of_rows > 0
    assert widest_gap(middles, shown < 2)[1] >= of_rows - 1e-9
