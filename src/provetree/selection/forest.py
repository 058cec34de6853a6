"""Targets with less noise: what boosted trees predict for rows that they have not seen.

Splits that are chosen for such targets follow the signal that many trees agree on, rather than
single rows. How much of the forest is mixed in is for the cross-validation to choose. The leaves
of the tree are worked out on the targets as they are.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.problem import Problem

__all__ = ["FEWEST_ROWS", "forest_targets", "mixed_targets"]

#: With fewer rows, a forest has little to say; targets stay as they are.
FEWEST_ROWS = 30
#: Each part of the rows is predicted by a forest that was grown on the others.
_PARTS = 5
#: The rounds of boosting, and the fewest that are worth having where time is short.
_ROUNDS, _FEWEST_ROUNDS = 100, 10
#: The rounds that show how long one takes.
_PROBE_ROUNDS = 3
#: The most rows that a forest is grown on, so that large tables take no longer.
_MOST_ROWS = 4000
#: The most categories of a column that are told apart: scikit-learn takes 255 values.
_MOST_CATEGORIES = 250


def forest_targets(problem: Problem, until: float = math.inf) -> Float | None:
    """Return what forests that were grown without a row predict for it, by gradient boosting.

    The forests are smaller where they would not be done by the moment `until` of the monotonic
    clock. There are none where there is no time, or fewer rows than `FEWEST_ROWS`.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.selection.forest import forest_targets
    >>> X = np.arange(200.0)
    >>> y = (X > 90) + np.random.default_rng(0).normal(0, 0.5, 200)
    >>> problem = build_problem(X[:, None], y, loss="squared_error", max_depth=2)
    >>> found = forest_targets(problem)
    >>> found.shape, bool(found[:80].mean() < 0.1), bool(found[100:].mean() > 0.9)
    ((200, 1), True, True)
    """
    # What has threads must be loaded before they are limited.
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    assert problem.targets is not None  # for the type checker
    if problem.n_rows < FEWEST_ROWS or not problem.columns or time.monotonic() >= until:
        return None
    forests = _Forests(problem, HistGradientBoostingRegressor)
    # Threads of OpenMP that wait for each other are slower than one on a busy machine.
    with threadpool_limits(1, user_api="openmp"):
        rounds = forests.rounds_until(until)
        if rounds < _FEWEST_ROUNDS:
            return None
        return np.column_stack(
            [forests.of_output(output, rounds) for output in range(problem.targets.shape[1])]
        )


class _Forests:
    """Grows forests on parts of the rows of a problem."""

    def __init__(self, problem: Problem, boosting: Any) -> None:
        assert problem.targets is not None  # for the type checker
        self.loss = "absolute_error" if problem.loss == "absolute_error" else "squared_error"
        self.boosting = boosting
        self.X, self.is_category = _features(problem)
        self.targets = problem.targets
        self.weights: Float | None = None
        if np.ptp(problem.weights) > 0:
            self.weights = problem.weights / problem.weights.mean()
        # Of ties and runs in the order of the rows, each part has its share.
        order = np.random.default_rng(0).permutation(problem.n_rows)
        self.parts = np.array_split(order, _PARTS)

    def rounds_until(self, until: float) -> int:
        """Return how many rounds of boosting there is time for."""
        if until == math.inf:
            return _ROUNDS
        began = time.monotonic()
        self._grown(0, self.targets[:, 0], _PROBE_ROUNDS)
        ended = time.monotonic()
        all_rounds = (ended - began) / _PROBE_ROUNDS * _PARTS * self.targets.shape[1]
        return min(_ROUNDS, int(max(until - ended, 0.0) / max(all_rounds, 1e-9)))

    def of_output(self, output: int, rounds: int) -> Float:
        """Return what is predicted for each row of one output."""
        targets = self.targets[:, output]
        middle = float(np.median(targets))
        spread = float(np.abs(targets - middle).max())
        if spread == 0:
            return targets
        scaled = (targets - middle) / spread  # boosting adds up in float32
        found = np.empty_like(targets)
        for part, rows in enumerate(self.parts):
            found[rows] = self._grown(part, scaled, rounds).predict(self.X[rows])
        return middle + spread * found

    def _grown(self, part: int, targets: Float, rounds: int) -> Any:
        """Return a forest of the rows outside a part, or of some of them."""
        others = [rows for at, rows in enumerate(self.parts) if at != part]
        rows = np.concatenate(others)[:_MOST_ROWS]
        forest = self.boosting(
            loss=self.loss,
            max_iter=rounds,
            max_leaf_nodes=8,
            min_samples_leaf=5,
            early_stopping=False,
            categorical_features=self.is_category,
            random_state=0,
        )
        weights = None if self.weights is None else self.weights[rows]
        return forest.fit(self.X[rows], targets[rows], weights)


def _features(problem: Problem) -> tuple[Float, NDArray[np.bool_]]:
    """Return a table that says what splits can know, and which of its columns are categories.

    Numbers are their ranks. The columns of one category each are one column again: the codes of
    those that a split can name, and 0 for the rest.
    """
    of_feature: dict[int, list[int]] = {}
    found, is_category = [], []
    for at, column in enumerate(problem.columns):
        if column.kind == "category":
            of_feature.setdefault(column.feature, []).append(at)
        else:
            found.append(problem.ranks[at].astype(np.float64))
            is_category.append(False)
    for columns in of_feature.values():
        inside = problem.ranks[columns] == 0
        largest = np.argsort(-inside.sum(axis=1), kind="stable")[:_MOST_CATEGORIES]
        codes = np.arange(1, len(largest) + 1) @ inside[largest]
        found.append(codes.astype(np.float64))
        is_category.append(True)
    return np.column_stack(found), np.array(is_category)


def mixed_targets(problem: Problem, forest: Float | None, share: float) -> Problem:
    """Return the problem with targets of which a share is the forest's.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.selection.forest import mixed_targets
    >>> problem = build_problem([[1], [2]], [0.0, 4.0], loss="squared_error", max_depth=1)
    >>> mixed_targets(problem, np.array([[1.0], [3.0]]), 0.5).targets.ravel().tolist()
    [0.5, 3.5]
    """
    if share == 0 or forest is None or problem.targets is None:
        return problem
    return replace(problem, targets=(1 - share) * problem.targets + share * forest)
