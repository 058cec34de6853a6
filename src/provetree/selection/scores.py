"""How good trees are on rows: accuracy for classes, the explained share for numbers.

The explained share of squared errors is R². For absolute errors it is D²: the same with distances,
from the median instead of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.losses import CENTRES
from provetree.problem.prepare import Prepared
from provetree.tree.tree import Tree

__all__ = ["SCORE_NAMES", "explained_share", "mean_losses", "scores_on_rows"]

#: The words for a score, by the loss; of all others it is the accuracy.
SCORE_NAMES = {"squared_error": "R²", "absolute_error": "D²"}


def scores_on_rows(
    trees: Iterable[Tree], prepared: Prepared, rows: NDArray[np.intp]
) -> list[float]:
    """Return the score of each tree on some rows of a table, by weight.

    What numbers vary by is taken from all rows of the table, so that few rows can be judged as
    well as many: the mean over folds of the same weight is the score of all rows held out.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import OptimalTreeRegressor
    >>> from provetree.problem.prepare import prepare
    >>> from provetree.selection.scores import scores_on_rows
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 8.0, 9.0]
    >>> tree = OptimalTreeRegressor(max_depth=1).fit(X, y).tree_
    >>> found = prepare(X, y, max_depth=1, loss="squared_error")
    >>> scores_on_rows([tree], found, np.arange(4))
    [0.98]
    """
    encoded = prepared.encoded[rows]
    weights = np.ones(len(rows)) if prepared.weights is None else prepared.weights[rows]
    if weights.sum() <= 0:
        return [math.nan for _ in trees]
    if prepared.targets is None:
        codes = prepared.codes[rows]
        return [
            float(np.average(tree.predict(encoded) == codes, weights=weights)) for tree in trees
        ]
    loss, targets = prepared.problem.loss, prepared.targets.values
    varies = mean_losses(loss, targets, prepared.weights)
    return [
        explained_share(loss, tree.predict(encoded), targets[rows], weights, varies)
        for tree in trees
    ]


def explained_share(
    loss: str, predicted: Float, targets: Float, weights: Float, varies: list[float]
) -> float:
    """Return the explained share of the loss, on average over the outputs.

    `varies` is the mean loss of the best constant for each output; where that is zero, the share is
    one for a perfect prediction and zero for any other, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.selection.scores import explained_share
    >>> targets = np.array([[1.0], [2.0], [3.0]])
    >>> explained_share("squared_error", np.array([1.0, 2.0, 2.0]), targets, np.ones(3), [2 / 3])
    0.5
    """
    shares = []
    for output, mean_loss in enumerate(varies):
        apart = np.abs(targets[:, output] - predicted.reshape(len(targets), -1)[:, output])
        lost = float(np.average(apart**2 if loss == "squared_error" else apart, weights=weights))
        shares.append(1.0 - lost / mean_loss if mean_loss > 0 else float(lost == 0))
    return float(np.mean(shares))


def mean_losses(loss: str, targets: Float, given: Float | None) -> list[float]:
    """Return the mean loss of the best constant for each output."""
    weights = np.ones(len(targets)) if given is None else given
    return [CENTRES[loss](output, weights).cost / float(weights.sum()) for output in targets.T]
