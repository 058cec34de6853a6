"""Refits leaves on rows that did not choose the splits, optionally with Laplace's correction."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from provetree.problem.checks import check_weights
from provetree.problem.inputs import known_label_codes
from provetree.tree.tree import Tree

__all__ = ["refit_leaves"]

#: Any fitted classifier of the package.
Classifier = TypeVar("Classifier", bound=Any)

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
    model: Classifier,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    laplace: float = 0.0,
) -> Classifier:
    """Return a copy of a classifier with the same splits and its leaves estimated on other rows.

    The class shares in the leaves are too optimistic on the rows that chose the splits. Held-out
    rows give honest shares. A leaf that none of them reaches keeps its training shares.
    Labels may change with the shares. The copy carries no proof, because the proof is about the
    training rows and their labels.

    Parameters
    ----------
    model : TreeClassifier
        A fitted classifier.
    X : array-like or table of shape (n_samples, n_features)
        Rows that were held out.
    y : array-like of shape (n_samples,)
        Their labels, known from training.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights.
    laplace : float, default=0.0
        Laplace's correction in ``predict_proba``: the weight added to every label of a leaf.

    Returns
    -------
    TreeClassifier
        A classifier of the same class.

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
    leaves = model.apply(X)
    codes = known_label_codes(model.classes_, y, len(leaves))
    weights = (
        np.ones(len(codes)) if sample_weight is None else check_weights(sample_weight, len(codes))
    )
    value = np.zeros((tree.n_nodes, tree.n_classes))
    np.add.at(value, (leaves, codes), weights)
    rows = np.bincount(leaves[weights > 0], minlength=tree.n_nodes)
    unseen = value.sum(axis=1) == 0
    value[unseen], rows[unseen] = tree.value[unseen], tree.n_samples[unseen]

    refitted = copy.copy(model)
    for name in _PROOF:
        refitted.__dict__.pop(name, None)
    refitted.tree_ = tree.replaced(
        value=value,
        n_samples=rows,
        label=None,
        # Where missing values go is part of the splits, though training may not have seen any.
        missing_seen=tree.feature >= 0,
    )
    refitted.laplace_ = float(laplace)
    return refitted
