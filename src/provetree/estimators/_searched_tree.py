"""What estimators share whose tree the exact search finds."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from provetree.estimators._initial_tree import initial_splits
from provetree.estimators._tree_estimator import TreeEstimator
from provetree.options import thread_count
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.search.engine import ExactSearch, Splits
from provetree.search.memory import cache_bytes
from provetree.solution import Engine, Progress, Solution

__all__ = ["SearchedTree"]


class SearchedTree(TreeEstimator):
    """An estimator with the options of the exact search."""

    max_work: int | None
    max_memory: int | str | None
    n_jobs: int | None
    checkpoint: str | os.PathLike[str] | None

    def _search(
        self,
        X: Any,
        prepared: Prepared,
        initial_tree: Any,
        on_progress: Callable[[Progress], None] | None,
    ) -> Solution:
        """Return the best tree within the limits of the estimator."""
        engine = self._engine(initial_splits(initial_tree, X, prepared, type(self).__name__))
        return self._solved(engine, prepared.problem, on_progress)

    def _solved(
        self,
        engine: Engine,
        problem: Problem,
        on_progress: Callable[[Progress], None] | None,
        seconds: float | None = None,
    ) -> Solution:
        """Let an engine solve a problem within the limits of the estimator."""
        return self._run(
            engine,
            problem,
            memory_limit=cache_bytes(self.max_memory, problem, thread_count(self.n_jobs)),
            max_work=self.max_work,
            n_jobs=self.n_jobs,
            on_progress=on_progress,
            seconds=seconds,
        )

    def _engine(self, initial: Splits | None = None) -> Engine:
        """Return the engine that solves the problem."""
        file = None if self.checkpoint is None else os.fspath(self.checkpoint)
        return ExactSearch(initial=initial, checkpoint=file)
