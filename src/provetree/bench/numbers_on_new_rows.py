"""R² on new rows of searched trees and of CART, both tuned: a group of ``bench tasks``.

The searched trees are those of ``OptimalTreeRegressorCV`` as it comes. CART chooses from the same
numbers of leaves and least rows of a leaf, by the same folds, and sees the same columns: one of 0
and 1 for each category, so that its splits are those of the searched trees. It is measured twice:
with the same limit on the depth, and with none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.bench.task_tables import TaskTable

__all__ = ["Scores", "score_split", "summary", "with_indicators"]

FOLDS = 5
#: The share of the rows to train on.
TRAIN_SHARE = 0.75

_FIGURES = ("cart", "deep_cart", "optimal", "gain", "deep_gain")


@dataclass(frozen=True)
class Scores:
    """R² on the new rows of one split.

    Examples
    --------
    >>> from provetree.bench.numbers_on_new_rows import Scores
    >>> round(Scores("boston", 0, 8, 0.70, 0.75, 0.74).gain, 2)
    0.04
    """

    table: str
    split: int
    leaves: int
    cart: float  # as deep as the searched tree may be
    deep_cart: float  # as deep as it likes
    optimal: float

    @property
    def gain(self) -> float:
        """What the searched tree has more than CART of the same depth."""
        return self.optimal - self.cart

    @property
    def deep_gain(self) -> float:
        """What the searched tree has more than CART of any depth."""
        return self.optimal - self.deep_cart


def score_split(table: TaskTable, split: int, leaves: int, limit: float, most_rows: int) -> Scores:
    """Tune all models on some rows and score them on the others.

    Parameters
    ----------
    table : TaskTable
        A table with a number to predict.
    split : int
        The seed of the split into rows to train on and new ones.
    leaves : int
        The most leaves of a tree.
    limit : float
        Seconds for a tuned tree; a search that is not done by then counts as it is.
    most_rows : int
        The most rows to train on; the rest are new.

    Examples
    --------
    >>> from provetree.bench.numbers_on_new_rows import score_split
    >>> from provetree.bench.task_tables import made_up_mixed
    >>> scores = score_split(made_up_mixed(200, 3), 0, 2, 1.0, 100)
    >>> scores.table, scores.leaves
    ('noise 1', 2)
    """
    order = np.random.default_rng(split).permutation(len(table.y))
    n_train = min(most_rows, int(TRAIN_SHARE * len(order)))
    train, new = table.rows(order[:n_train]), table.rows(order[n_train:])
    X = with_indicators(table)[order]
    ours = _tuned_search(train, leaves, limit)
    cart, deep_cart = (
        _r2(_tuned_cart(X[:n_train], train.y, leaves, depth), X[n_train:], new.y)
        for depth in (ours.max_depth, None)
    )
    return Scores(table.name, split, leaves, cart, deep_cart, _r2(ours, new.X, new.y))


def with_indicators(table: TaskTable) -> NDArray[np.float64]:
    """Return the columns of a table with one of 0 and 1 for each category, missing ones included.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.numbers_on_new_rows import with_indicators
    >>> from provetree.bench.task_tables import TaskTable
    >>> X = np.array([[5.0, 0.0], [6.0, 1.0], [7.0, np.nan]])
    >>> with_indicators(TaskTable("tiny", X, np.zeros(3), (1,))).tolist()
    [[5.0, 1.0, 0.0, 0.0], [6.0, 0.0, 1.0, 0.0], [7.0, 0.0, 0.0, 1.0]]
    """
    columns: list[NDArray[Any]] = []
    for position, values in enumerate(table.X.T):
        if position not in table.categorical:
            columns.append(values)
            continue
        columns += [values == code for code in np.unique(values[~np.isnan(values)])]
        if np.isnan(values).any():
            columns.append(np.isnan(values))
    return np.column_stack(columns).astype(np.float64)


def _tuned_search(train: TaskTable, leaves: int, limit: float) -> Any:
    from provetree import OptimalTreeRegressorCV

    return OptimalTreeRegressorCV(
        max_leaf_nodes=leaves,
        cv=FOLDS,
        time_limit=limit,
        categorical_features=list(train.categorical) or "from_dtype",
    ).fit(train.X, train.y)


def _tuned_cart(X: NDArray[Any], y: NDArray[Any], leaves: int, depth: int | None) -> Any:
    """Return the tree of the best candidate by cross-validation, fitted on all rows."""
    from sklearn.model_selection import KFold
    from sklearn.tree import DecisionTreeRegressor

    from provetree.selection.options import LEAST_ROWS

    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(X))

    def make(most: int, least: int) -> Any:
        return DecisionTreeRegressor(
            max_depth=depth, max_leaf_nodes=most, min_samples_leaf=least, random_state=0
        )

    def score(candidate: tuple[int, int]) -> float:
        lost = [
            float(((make(*candidate).fit(X[a], y[a]).predict(X[b]) - y[b]) ** 2).mean())
            for a, b in folds
        ]
        return -float(np.mean(lost))

    candidates = product(range(2, leaves + 1), sorted(LEAST_ROWS))
    return make(*max(candidates, key=score)).fit(X, y)


def _r2(model: Any, X: NDArray[Any], y: NDArray[Any]) -> float:
    spread = float(((y - y.mean()) ** 2).sum())
    return 1.0 - float(((np.asarray(model.predict(X)).ravel() - y) ** 2).sum()) / spread


def summary(scores: Sequence[Scores]) -> list[tuple[Any, ...]]:
    """Return a row for each table and number of leaves, and one for the mean over the tables.

    A row has the table, the leaves, the splits, R² of both kinds of CART and of the searched trees,
    and what these have more than either.

    Examples
    --------
    >>> from provetree.bench.numbers_on_new_rows import Scores, summary
    >>> summary([Scores("a", 0, 8, 0.25, 0.5, 0.75), Scores("a", 1, 8, 0.75, 0.5, 0.75)])[-1]
    ('mean', 8, 2, 0.5, 0.5, 0.75, 0.25, 0.25)
    """
    rows: list[tuple[Any, ...]] = []
    for leaves in sorted({one.leaves for one in scores}):
        of_leaves: list[tuple[Any, ...]] = []
        for table in dict.fromkeys(one.table for one in scores if one.leaves == leaves):
            own = [one for one in scores if (one.table, one.leaves) == (table, leaves)]
            means = (_mean(own, name) for name in _FIGURES)
            of_leaves.append((table, leaves, len(own), *means))
        overall = (
            float(np.mean([row[k] for row in of_leaves])) for k in range(3, 3 + len(_FIGURES))
        )
        rows += [*of_leaves, ("mean", leaves, sum(row[2] for row in of_leaves), *overall)]
    return rows


def _mean(scores: Sequence[Scores], name: str) -> float:
    return float(np.mean([getattr(one, name) for one in scores]))
