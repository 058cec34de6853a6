"""Fits estimators to tables of Dask: in memory where they fit, else part by part."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from provetree.cluster.client import active_client
from provetree.large.fit import IN_MEMORY, LargeTable
from provetree.large.table import DaskTable
from provetree.options import byte_count
from provetree.problem.prepare import prepare_for
from provetree.problem.rules import rules_given
from provetree.solution import Progress

if TYPE_CHECKING:
    from provetree.estimators.optimal_tree import OptimalTreeClassifier

__all__ = ["fit_table_of_dask"]

#: What only searches in memory know, with the value that asks for nothing.
_IN_MEMORY_ONLY: dict[str, object] = {
    "criterion": "errors",
    "alpha": 0.0,
    "class_weight": None,
    "cost_matrix": None,
    "splits": "columns",
    "category_splits": "one",
    "max_work": None,
    "checkpoint": None,
    "refine_pairs": False,
}


def fit_table_of_dask(
    model: OptimalTreeClassifier,
    X: Any,
    y: Any,
    sample_weight: Any,
    on_progress: Callable[[Progress], None] | None,
    **others: Any,
) -> OptimalTreeClassifier:
    """Fit a classifier to a table of Dask."""
    owner, began = type(model).__name__, time.perf_counter()
    if model.executor is not None:
        active_client()  # which also the parts are computed by
    large = LargeTable(DaskTable(X, y, sample_weight, owner), model.n_jobs, owner)
    room = IN_MEMORY if model.max_memory is None else byte_count(model.max_memory)
    if large.n_bytes <= room:
        rows, labels, weights = large.whole()
        return model.fit(rows, labels, weights, on_progress=on_progress, **others)
    asked: dict[str, object] = dict.fromkeys(rules_given(model))
    for name, nothing in _IN_MEMORY_ONLY.items():
        if getattr(model, name, nothing) != nothing:
            asked[name] = nothing
    for name, nothing in asked.items():
        raise ValueError(
            f"The {name!r} parameter of {owner} must be {nothing!r} for a table that does not "
            f"fit into memory. Got {getattr(model, name)!r} instead."
        )
    for name, given in others.items():
        if given is not None:
            raise ValueError(f"{name!r} is for a table that fits into memory.")
    prepared = prepare_for(model, large.sample, large.labels, large.weights)
    model._told_in_fit = {}
    model._rules(prepared)  # there are none
    limits = {
        "max_depth": int(model.max_depth),
        "max_leaf_nodes": model.max_leaf_nodes,
        "min_samples_leaf": model.min_samples_leaf,
    }
    seconds = None
    if model.time_limit is not None:
        seconds = max(0.1, float(model.time_limit) - (time.perf_counter() - began))
    found = large.solve(prepared, limits, seconds, on_progress, room=room)
    model._search_seconds = time.perf_counter() - began
    return model._finished(prepared, found)
