"""The choice of (delta, gamma) on validation rows, and of rho."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from provetree import PartitionTreeClassifier
from provetree.selection.partition_size import choose_rho, sizes_up_to, tune_size

X, Y = load_iris(return_X_y=True)


def test_sizes_of_the_paper_are_among_all():
    sizes = sizes_up_to(4)
    paper = {(2, 2), (2, 3), (3, 3), (3, 5), (3, 7), (4, 4), (4, 7), (4, 10)}
    assert paper <= set(sizes)
    assert len(sizes) == len(set(sizes)) == 2 + 5 + 12


def test_the_best_on_validation_rows_is_chosen():
    train, valid = np.arange(0, 150, 2), np.arange(1, 150, 2)
    tuned = tune_size(PartitionTreeClassifier(max_depth=3), X[train], Y[train], X[valid], Y[valid])
    assert [(t.max_depth, t.max_splits) for t in tuned.tried] == list(sizes_up_to(3))
    most = max(t.valid_accuracy for t in tuned.tried)
    first = next(t for t in tuned.tried if t.valid_accuracy == most)
    assert tuned.best is first
    assert tuned.estimator.score(X[valid], Y[valid]) == most
    assert tuned.estimator.max_splits == first.max_splits
    some = tune_size(PartitionTreeClassifier(), X, Y, X, Y, sizes=[(1, 1)])
    assert len(some.tried) == 1
    with pytest.raises(ValueError, match="must hold a pair"):
        tune_size(PartitionTreeClassifier(), X, Y, X, Y, sizes=[])


def test_rho_is_one_of_those_tried():
    for refinement in ("heuristic", "exact"):
        shares = (0.2, 0.6)
        assert choose_rho(X, Y, shares, refinement=refinement, time_limit=2.0) in shares
    with pytest.raises(ValueError, match="'rho' parameter of choose_rho"):
        choose_rho(X, Y, (0.2, 1.2))
    with pytest.raises(ValueError, match="must hold a share"):
        choose_rho(X, Y, ())
