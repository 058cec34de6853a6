"""Targets with less noise: what a random forest says of rows that its trees have not seen.

Splits that are chosen for such targets follow the signal that many trees agree on, rather than
single rows. How much of the forest is mixed in is for the cross-validation to choose. The leaves
of the tree are worked out on the targets as they are.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from provetree.number_types import Float
from provetree.problem.problem import Problem

__all__ = ["FEWEST_ROWS", "forest_targets", "mixed_targets"]

#: With fewer rows, a forest has little to say; targets stay as they are.
FEWEST_ROWS = 30
_TREES = 100
#: The most rows that a tree of the forest is grown on, so that large tables take no longer.
_MOST_ROWS = 4000


def forest_targets(problem: Problem, until: float = math.inf) -> Float:
    """Return what a forest predicts for each row, by the trees that were grown without it.

    No tree is begun after the moment `until` of the monotonic clock. Rows that every tree was
    grown with keep their targets.

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
    from sklearn.tree import DecisionTreeRegressor

    assert problem.targets is not None  # for the type checker
    if problem.n_rows < FEWEST_ROWS:
        return problem.targets
    # Ranks say all that splits can know: the order of numbers, categories, missing values.
    X = np.ascontiguousarray(problem.ranks.T, dtype=np.float32)
    rng = np.random.default_rng(0)
    predicted, n_trees = np.zeros_like(problem.targets), np.zeros(problem.n_rows)
    for seed in range(_TREES):
        drawn = rng.integers(0, problem.n_rows, min(problem.n_rows, _MOST_ROWS))
        times = np.bincount(drawn, minlength=problem.n_rows)
        if time.monotonic() >= until:
            break
        seen, unseen = np.flatnonzero(times), np.flatnonzero(times == 0)
        tree = DecisionTreeRegressor(min_samples_leaf=2, max_features=0.5, random_state=seed)
        tree.fit(X[seen], problem.targets[seen], (times * problem.weights)[seen])
        predicted[unseen] += tree.predict(X[unseen]).reshape(len(unseen), -1)
        n_trees[unseen] += 1
    known = n_trees > 0
    targets = np.array(problem.targets)
    targets[known] = predicted[known] / n_trees[known, None]
    return targets


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
