"""scikit-learn's own checks of an estimator: all of them, without expected failures."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from provetree import OptimalTreeClassifier


@pytest.mark.filterwarnings("default")
@parametrize_with_checks(
    [
        OptimalTreeClassifier(),
        OptimalTreeClassifier(max_depth=2, alpha=0.01, max_leaf_nodes=3),
    ]
)
def test_all_checks_pass(estimator, check):
    check(estimator)
