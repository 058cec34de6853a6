"""What estimators share whose tree the exact search finds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from provetree.estimators._initial_tree import initial_splits
from provetree.estimators._tree_estimator import TreeEstimator
from provetree.options import thread_count
from provetree.problem.prepare import Prepared
from provetree.problem.problem import Problem
from provetree.problem.rules import Rules, read_rules
from provetree.search.engine import ExactSearch, Lender, Splits
from provetree.search.memory import cache_bytes
from provetree.search.part_rules import MOST_PATH_PRICES, PartRules, shares_columns
from provetree.search.ruled import RuledSearch
from provetree.search.streamed import StreamedSearch
from provetree.solution import Engine, Limits, Progress, Solution

__all__ = ["SearchedTree"]


class SearchedTree(TreeEstimator):
    """An estimator with the options of the exact search."""

    max_depth: int
    max_leaf_nodes: int | None
    alpha: float
    max_work: int | None
    max_memory: int | str | None
    n_jobs: int | None
    checkpoint: str | os.PathLike[str] | None
    executor: str | None

    def _search(
        self,
        X: Any,
        prepared: Prepared,
        initial_tree: Any,
        on_progress: Callable[[Progress], None] | None,
    ) -> Solution:
        """Return the best tree within the limits of the estimator."""
        rules = self._rules(prepared)
        if rules:
            self._check_ruled(initial_tree)
            return self._under_rules(prepared, rules, on_progress)
        engine = self._engine(initial_splits(initial_tree, X, prepared, type(self).__name__))
        return self._solved(engine, prepared.problem, on_progress)

    def _streamed(
        self, prepared: Prepared, on_progress: Callable[[Progress], None] | None
    ) -> tuple[Prepared, Solution]:
        """Return the best tree over sums that were left aside, and the table with those it took."""
        self._rules(prepared)
        engine = StreamedSearch(prepared)
        found = self._solved(engine, prepared.problem, on_progress)
        return replace(prepared, problem=engine.searched), found

    def _rules(self, prepared: Prepared) -> Rules:
        """Return the rules that the tree must keep, and keep their sentences."""
        owner = type(self).__name__
        encoder = prepared.encoder
        rules = read_rules(vars(self), encoder.feature_names, encoder.categories, owner)
        self.rules_ = rules.sentences
        self._chosen_parameters = {"rules": list(rules.sentences)} if rules.sentences else {}
        return rules

    def _check_ruled(self, initial_tree: Any) -> None:
        """Refuse what does not go with rules."""
        for name, given in (
            ("initial_tree", initial_tree),
            ("checkpoint", self.checkpoint),
            ("executor", self.executor),
        ):
            if given is not None:
                raise ValueError(
                    f"The {name!r} of {type(self).__name__} is for a search without rules: leave "
                    "it out, or the rules."
                )

    def _check_loss(self, prepared: Prepared, rules: Rules) -> Rules:
        """Refuse rules that the loss does not go with."""
        problem, owner = prepared.problem, type(self).__name__
        if rules.groups is not None and problem.is_measured and shares_columns(rules.groups):
            raise ValueError(
                f"The groups of the 'interaction_cst' parameter of {owner} must not share columns "
                "unless errors are counted. Got groups that do."
            )
        if rules.path_prices and problem.is_measured:
            raise ValueError(
                f"The 'column_costs' parameter of {owner} must be prices per tree unless errors "
                "are counted. Got a price per path."
            )
        if len(rules.path_prices) > MOST_PATH_PRICES:
            raise ValueError(
                f"The 'column_costs' parameter of {owner} must have at most {MOST_PATH_PRICES} "
                f"prices per path. Got {len(rules.path_prices)}."
            )
        if rules.directions is None:
            return rules
        if problem.is_measured or problem.n_classes > 2:
            raise ValueError(
                f"The 'monotonic_cst' parameter of {owner} is for errors of two classes. Got "
                f"{problem.n_classes} classes and the loss {problem.loss!r}."
            )
        return rules if problem.n_classes == 2 else replace(rules, directions=None)

    def _under_rules(
        self,
        prepared: Prepared,
        rules: Rules,
        on_progress: Callable[[Progress], None] | None,
    ) -> Solution:
        """Return the best tree that keeps rules."""
        rules = self._check_loss(prepared, rules)
        jobs = thread_count(self.n_jobs)
        search = RuledSearch(
            prepared,
            rules,
            self._engine_under,
            Limits(
                None if self.time_limit is None else float(self.time_limit),
                cache_bytes(self.max_memory, prepared.problem, jobs),
                None if self.max_work is None else int(self.max_work),
                jobs,
            ),
            int(self.max_depth),
            None if self.max_leaf_nodes is None else int(self.max_leaf_nodes),
            self.alpha,
            on_progress,
        )
        started = time.perf_counter()
        try:
            return search.solve()
        finally:
            self._search_seconds = time.perf_counter() - started

    def _engine_under(self, rules: PartRules) -> ExactSearch:
        """Return the engine of an open part of a tree."""
        return ExactSearch(**vars(rules))

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
        workers: Lender | None = None
        if self.executor == "dask":
            from provetree.cluster.client import dask_workers

            workers = dask_workers
        return ExactSearch(initial=initial, checkpoint=file, workers=workers)
