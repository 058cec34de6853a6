"""The measuring of limits: a small table, so that the figures come in a moment."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from provetree.bench import limits
from provetree.bench.process import default_core

SMALL_TABLE = {"rows": 3000, "columns": 6, "depth": 6, "core": default_core()}


def test_synthetic_table_is_reproducible() -> None:
    one, two = limits.synthetic_table(50, 4), limits.synthetic_table(50, 4)
    np.testing.assert_array_equal(one.X, two.X)
    assert set(np.unique(one.y)) == {0, 1}
    assert limits.synthetic_table(20, 1).X.shape == (20, 1)


def test_overshoot_is_measured() -> None:
    """By the clock: how large it is depends on what else the machine does."""
    measurement = limits.measure_overshoot(SMALL_TABLE, 0.3)
    assert measurement.status == "time_limit"
    assert measurement.passed == (0 <= measurement.value <= limits.PROMPT)


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT is POSIX")
def test_interrupt_is_measured() -> None:
    measurement = limits.measure_interrupt(SMALL_TABLE, 0.3)
    assert measurement.status in ("interrupted", "KeyboardInterrupt")
    assert measurement.passed == (0 < measurement.value <= limits.PROMPT)


def test_memory_counts_the_whole_process() -> None:
    measurement = limits.measure_memory({**SMALL_TABLE, "depth": 2}, 600.0)
    assert measurement.status == "optimal"
    assert 10.0 < measurement.value < limits.SMALL


def test_a_child_that_dies_is_told() -> None:
    with pytest.raises(RuntimeError, match="ended with status 1 before its fit"):
        limits.start_child({})
