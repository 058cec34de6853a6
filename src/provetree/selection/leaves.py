"""Refits leaves on rows that did not choose the splits: honest shares, means and rewards."""

from __future__ import annotations

import copy
import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from provetree.number_types import Float, Int
from provetree.problem.checks import check_weights
from provetree.problem.inputs import known_label_codes
from provetree.problem.losses import CENTRES
from provetree.problem.targets import read_actions, read_targets
from provetree.tree.smoothing import Smoothing
from provetree.tree.tree import Tree
from provetree.tree.values import Actions, ClassTotals, Numbers, Values

__all__ = ["refit_leaves"]

#: Any fitted estimator of the package.
Model = TypeVar("Model", bound=Any)

_LOSS_OF = {"mean": "squared_error", "median": "absolute_error"}
#: Attributes about the training rows, which do not hold for refitted leaves.
_PROOF = (
    "solution_",
    "status_",
    "objective_",
    "lower_bound_",
    "gap_",
    "history_",
    "counters_",
)


def refit_leaves(
    model: Model,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    laplace: float = 0.0,
) -> Model:
    """Return a copy of a model with the same splits and its leaves estimated on other rows.

    The class shares in the leaves are too optimistic on the rows that chose the splits; so are the
    spread of numbers and the rewards of actions. Held-out rows give honest ones. A leaf that none
    of them reaches keeps what training gave it. Labels, numbers and actions may change, except
    where costs of single rows or a budget chose them. The copy
    carries no proof, because the proof is about the training rows.

    Parameters
    ----------
    model : TreeClassifier, TreeRegressor or OptimalPolicyTree
        A fitted model.
    X : array-like or table of shape (n_samples, n_features)
        Rows that were held out.
    y : array-like of shape (n_samples,)
        Their labels, known from training; or their numbers, or the rewards of each action.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights.
    laplace : float, default=0.0
        Laplace's correction of the probabilities: the weight added to every label of a leaf. It
        takes the place of the smoothing that the model had.

    Returns
    -------
    TreeClassifier, TreeRegressor or OptimalPolicyTree
        A model of the same class.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier, refit_leaves
    >>> clf = OptimalTreeClassifier(max_depth=1).fit([[1.0], [2.0]], ["no", "yes"])
    >>> honest = refit_leaves(clf, [[1.0], [2.0], [2.0]], ["no", "yes", "no"], laplace=1.0)
    >>> honest.predict_proba([[1.0], [2.0]]).round(2)
    array([[0.67, 0.33],
           [0.5 , 0.5 ]])
    """
    check_is_fitted(model)
    if not 0.0 <= laplace < np.inf:
        raise ValueError(
            "The 'laplace' parameter of refit_leaves must be a float in the range [0.0, inf). "
            f"Got {laplace!r} instead."
        )
    tree: Tree = model.tree_
    if laplace and tree.kind != "classes":
        raise ValueError(
            "The 'laplace' parameter of refit_leaves must be 0 for leaves without class shares. "
            f"Got {laplace!r} instead."
        )
    passes = model.decision_path(X).tocsc()
    n_rows = passes.shape[0]
    weights = np.ones(n_rows) if sample_weight is None else check_weights(sample_weight, n_rows)
    values, rows = _values_on(model, y, passes, weights)
    refitted = copy.copy(model)
    for name in _PROOF:
        refitted.__dict__.pop(name, None)
    if laplace and isinstance(values, ClassTotals):
        values = ClassTotals(values.value, Smoothing("laplace", float(laplace)))
    refitted.tree_ = tree.replaced(
        value=values,
        n_samples=rows,
        label=model._labels_again(values),
        # Where missing values go is part of the splits, though training may not have seen any.
        missing_seen=tree.feature >= 0,
    )
    return refitted


def _values_on(model: Any, y: Any, passes: Any, weights: Float) -> tuple[Values, Int]:
    """Return what the nodes hold on other rows, and how many of these they have."""
    tree: Tree = model.tree_
    held = tree.values
    value, rows, weight = held.value.copy(), tree.n_samples.copy(), held.weight.copy()
    spread = held.spread.copy() if isinstance(held, Numbers) else np.zeros_like(value)
    targets = _targets(model, y, len(weights))
    for node in range(tree.n_nodes):
        reached = passes.indices[passes.indptr[node] : passes.indptr[node + 1]]
        reached = reached[weights[reached] > 0]
        if not len(reached):
            continue
        own = weights[reached]
        rows[node], weight[node] = len(reached), own.sum()
        if isinstance(held, Numbers):
            value[node], spread[node] = _centres(held.statistic, targets[reached], own)
        else:
            value[node] = own @ targets[reached]
    if isinstance(held, Numbers):
        return Numbers(value, weight, spread, held.statistic), rows
    if isinstance(held, Actions):
        return Actions(value, weight, held.rewards), rows
    return ClassTotals(value), rows


def _targets(model: Any, y: Any, n_rows: int) -> Float:
    """Return a row of numbers for each row: 0 and 1 for classes, numbers, or rewards."""
    tree: Tree = model.tree_
    owner = type(model).__name__
    if tree.kind == "numbers":
        targets = read_targets(y, n_rows, owner).values
    elif tree.kind == "actions":
        targets = read_actions(y, n_rows, owner).values
        if targets.shape[1] == len(model.actions_):
            targets = targets - model._action_costs
    else:
        codes = known_label_codes(model.classes_, y, n_rows)
        return np.asarray(np.eye(tree.value.shape[1])[codes])
    if targets.shape[1] != tree.value.shape[1]:
        raise ValueError(
            f"The y of refit_leaves must have {tree.value.shape[1]} columns, as in training. "
            f"Got {targets.shape[1]} instead."
        )
    return targets


def _centres(statistic: str, targets: Float, weights: Float) -> tuple[list[float], list[float]]:
    """Return the mean or median of each output, and the spread around it."""
    squared = statistic == "mean"
    centres = [CENTRES[_LOSS_OF[statistic]](output, weights) for output in targets.T]
    each = [centre.cost / float(weights.sum()) for centre in centres]
    return [centre.value for centre in centres], [math.sqrt(x) if squared else x for x in each]
