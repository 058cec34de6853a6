"""scikit-learn's own checks of an estimator: all of them, without expected failures."""

from __future__ import annotations

import os
import subprocess
import sys

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


def test_the_check_that_skips_itself():
    # scikit-learn's check of array interfaces runs only where scipy was imported with this set.
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "array_api"]
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    done = subprocess.run(
        [*command, __file__], env=environment, capture_output=True, text=True, timeout=120
    )
    nothing_of_that_name = 5  # older versions do not have it
    assert done.returncode in (0, nothing_of_that_name), done.stdout
    assert "skipped" not in done.stdout
