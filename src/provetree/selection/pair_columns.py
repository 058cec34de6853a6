"""Which columns are worth pairing: those that a forest uses most.

Tables of many columns have thousands of pairs, and most of them say nothing. A tree that chooses
its own settings pairs the few columns that matter most to a forest of the rows it learns from.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float

__all__ = ["MOST_PAIRED", "columns_worth_pairing"]

#: More columns make the search long and the choice noisy: eight have 56 sums and differences.
MOST_PAIRED = 8
_TREES, _LEAST_ROWS, _MOST_ROWS = 50, 3, 4000
#: Trees that are grown before the clock is looked at again.
_TREES_AT_ONCE = 5


def columns_worth_pairing(
    table: Float,
    learned: NDArray[np.intp] | Float,
    weights: Float | None,
    levels: Sequence[object],
    until: float = math.inf,
) -> list[int]:
    """Return the positions of at most eight columns of numbers, in the order of the table.

    What is `learned` are codes of classes, or targets: floats, of one output or several. After the
    moment `until` of the monotonic clock the forest grows no further.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.selection.pair_columns import columns_worth_pairing
    >>> X = np.random.default_rng(0).normal(size=(200, 10))
    >>> y = (X[:, 3] > X[:, 7]).astype(np.intp)
    >>> {3, 7} <= set(columns_worth_pairing(X, y, None, [None] * 10))
    True
    """
    numbers = [at for at, level in enumerate(levels) if level is None and _varies(table[:, at])]
    if len(numbers) <= MOST_PAIRED or len(np.unique(learned)) < 2:
        return numbers[:MOST_PAIRED]
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    rows = np.arange(len(table))
    if len(rows) > _MOST_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST_ROWS, replace=False))
    # Ranks, missing values first: numbers of any size fit in the forest's single floats.
    ranks = np.column_stack([_ranks(table[rows, at]) for at in numbers])
    if learned.ndim > 1 and learned.shape[1] == 1:
        learned = learned[:, 0]
    kind = ExtraTreesRegressor if learned.dtype.kind == "f" else ExtraTreesClassifier
    forest = kind(_TREES, min_samples_leaf=_LEAST_ROWS, random_state=0)
    _grow(forest, (ranks, learned[rows], None if weights is None else weights[rows]), until)
    best = np.argsort(-forest.feature_importances_, kind="stable")[:MOST_PAIRED]
    return sorted(numbers[at] for at in best)


def _grow(forest: Any, rows: tuple[Any, ...], until: float) -> None:
    """Grow a forest, some trees at a time where the time is limited: they are the same trees."""
    if math.isinf(until):
        forest.fit(*rows)
        return
    forest.set_params(warm_start=True)
    for n_trees in range(_TREES_AT_ONCE, _TREES + 1, _TREES_AT_ONCE):
        forest.set_params(n_estimators=n_trees).fit(*rows)
        if time.monotonic() >= until:
            return


def _varies(values: Float) -> bool:
    known = values[~np.isnan(values)]
    return len(known) > 0 and bool(np.isfinite(known).all()) and bool(known.min() < known.max())


def _ranks(values: Float) -> NDArray[np.float32]:
    known = ~np.isnan(values)
    ranks = np.full(len(values), -1.0, dtype=np.float32)
    ranks[known] = np.unique(values[known], return_inverse=True)[1].reshape(-1)
    return ranks
