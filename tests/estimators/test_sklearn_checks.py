"""scikit-learn's own checks of an estimator: all of them, without expected failures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from provetree import OptimalTreeClassifier
from testkit.sklearn_checks import ARRAY_CHECKS, ARRAY_SETTING, all_checks

TESTS = Path(__file__).resolve().parents[1]


@pytest.mark.filterwarnings("default")
@all_checks(
    OptimalTreeClassifier(),
    OptimalTreeClassifier(max_depth=2, alpha=0.01, max_leaf_nodes=3),
)
def test_all_checks_pass(estimator, check):
    check(estimator)


def test_the_checks_of_array_interfaces():
    """Of all estimators of the package, in a process where scipy is imported for them."""
    files = [
        str(path) for path in sorted(TESTS.rglob("test_*.py")) if "@all_checks(" in path.read_text()
    ]
    assert len(files) >= 7
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-k",
            ARRAY_CHECKS,
            *files,
        ],
        env={**os.environ, ARRAY_SETTING: "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    nothing_of_that_name = 5  # older versions do not have it
    assert done.returncode in (0, nothing_of_that_name), done.stdout
    assert "skipped" not in done.stdout
