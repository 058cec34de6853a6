"""How well probabilities agree with what happens: the calibration curve of a tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from provetree.export.calibration import Calibration, calibration_on
from provetree.problem.checks import check_weights
from provetree.problem.inputs import known_label_codes
from provetree.problem.prepare import Prepared
from provetree.selection.probabilities import Folds
from provetree.tree.smoothing import Smoothing
from provetree.tree.tree import Tree

__all__ = ["calibration", "held_out_calibration"]


def calibration(
    model: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> Calibration:
    """Return how well the probabilities of a fitted classifier agree with some rows.

    Parameters
    ----------
    model : TreeClassifier
        A fitted classifier.
    X : array-like or table of shape (n_samples, n_features)
        Rows; those that the model was not trained on say most.
    y : array-like of shape (n_samples,)
        Their labels, known from training.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from provetree import OptimalTreeClassifier, calibration
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = OptimalTreeClassifier(max_depth=2, probabilities="shrinkage").fit(X[::2], y[::2])
    >>> calibration(clf, X[1::2], y[1::2]).error < 0.1
    True
    """
    check_is_fitted(model)
    if not hasattr(model, "classes_"):
        raise TypeError(
            f"calibration needs a classifier. Got {type(model).__name__}, which has no classes."
        )
    encoded = model.encode(X)
    codes = known_label_codes(model.classes_, y, len(encoded))
    weights = np.ones(len(encoded))
    if sample_weight is not None:
        weights = check_weights(sample_weight, len(encoded))
    tree: Tree = model.tree_
    found = tree.predict_proba(encoded), tree.predict(encoded)
    return calibration_on(*found, codes, weights, model.classes_.tolist(), "rows given")


def held_out_calibration(
    trees: Iterable[Tree], prepared: Prepared, folds: Folds, smoothing: Smoothing | None
) -> Calibration:
    """Return the calibration of trees of folds on the rows held out, with the smoothing given.

    `trees` are those found on the training rows of each fold.
    """
    parts = []
    for tree, (_, rows) in zip(trees, folds, strict=True):
        encoded = prepared.encoded[rows]
        smooth = tree.with_smoothing(smoothing)
        weights = np.ones(len(rows)) if prepared.weights is None else prepared.weights[rows]
        found = smooth.predict_proba(encoded), smooth.predict(encoded)
        parts.append((*found, prepared.codes[rows], weights))
    probabilities, predicted, codes, weight = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    labels = prepared.classes.tolist()
    where = f"rows held out of {len(parts)} folds"
    return calibration_on(probabilities, predicted, codes, weight, labels, where)
