"""Calls of the core for losses other than errors, as the tests make them."""

from __future__ import annotations

import math
from typing import Any

from provetree import _core
from testkit.core_calls import flat_values
from testkit.naive_measures import MeasureCase, root_cost

#: Switches that make parts work where they would not.
TESTING: tuple[int, ...] = tuple(_core.TEST_SWITCHES.values())


def measure_table(case: MeasureCase) -> _core.Table:
    """The table of a case as the core takes it."""
    return _core.Table(
        ranks=case.ranks,
        **flat_values(case.values),
        classes=case.classes,
        weights=case.weights,
        counts=case.counts,
        n_classes=case.n_classes,
        loss=case.loss,
        targets=case.targets,
    )


def penalty_units(case: MeasureCase, table: _core.Table) -> int:
    """The cost of a split in the units of the core."""
    return round(case.penalty * root_cost(case) / table.cost_unit) if case.penalty else 0


def search_options(case: MeasureCase, table: _core.Table) -> dict[str, Any]:
    """What the core is told of a case beside its table."""
    return {
        "max_depth": case.max_depth,
        "max_splits": case.max_splits,
        "min_samples_leaf": case.min_samples_leaf,
        "error_scale": 1,
        "split_penalty": penalty_units(case, table),
        "time_limit": math.inf,
        "memory_limit": 1 << 28,
    }


def measure_search(case: MeasureCase, table: _core.Table, **options: Any) -> _core.SearchResult:
    """The answer of the core; `options` add to those of the case."""
    return _core.search(table, **(search_options(case, table) | options))


def tolerance(case: MeasureCase) -> float:
    """How much a proven cost may differ from the least: a documented share of the best leaf's.

    Targets of absolute error have fewer digits where the weights are huge.
    """
    huge = case.loss == "absolute_error" and int(case.weights.sum()) > 2**26
    return (1e-8 if huge else 1e-9) * root_cost(case)
