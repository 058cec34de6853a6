"""Turns wishes into a search: the one place that knows how rules are kept.

A search is the fit of an :class:`~provetree.OptimalTreeClassifier`, and ends when its job does.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from provetree.estimators.optimal_tree import OptimalTreeClassifier
from provetree.problem.problem import Problem
from provetree.search.engine import ExactSearch
from provetree.solution import Limits, Progress, Solution
from provetree.studio.jobs import Job
from provetree.studio.table import StudioTable
from provetree.studio.wishes import Wishes

__all__ = ["JobSearch", "classifier_of", "fit_tree", "keeps_directions"]


class JobSearch:
    """The exact search on behalf of a job: it ends when the job is cancelled."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def solve(
        self,
        problem: Problem,
        limits: Limits | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Solution:
        """Solve a problem; see :meth:`provetree.Engine.solve`."""
        self.job.check()
        return ExactSearch().solve(problem, limits, self.job.check)


def classifier_of(table: StudioTable, wishes: Wishes, seconds: float | None) -> Any:
    """Return the classifier that keeps the wishes."""
    return OptimalTreeClassifier(**table.settings, **wishes.parameters(), time_limit=seconds)


def fit_tree(
    table: StudioTable,
    wishes: Wishes,
    seconds: float | None,
    job: Job,
    *,
    rows: tuple[Any, Any] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    initial_tree: Any = None,
) -> Any:
    """Return the fitted classifier that keeps the wishes, on all training rows or on some.

    A search without rules can begin with a tree.
    """

    def tell(progress: Progress) -> None:
        job.check()
        if on_progress is not None:
            on_progress(progress)

    X, y = (table.train, table.y_train) if rows is None else rows
    clf = classifier_of(table, wishes, seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its proof says so where it was interrupted
        return clf.fit(
            X, y, initial_tree=initial_tree if wishes.is_free else None, on_progress=tell
        )


def keeps_directions() -> bool:
    """Tell whether searches know directions of columns."""
    return "monotonic_cst" in OptimalTreeClassifier().get_params()
