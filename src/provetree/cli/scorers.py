"""Scorers of scikit-learn by name, for whatever the labels of a table are called."""

from __future__ import annotations

import inspect
from typing import Any

from numpy.typing import NDArray

from provetree.cli.errors import UserError

__all__ = ["positive_label", "scoring_for"]


def positive_label(labels: list[Any], asked: str | None) -> Any:
    """Return which of two labels counts as positive: the one asked for, or the last.

    Examples
    --------
    >>> from provetree.cli.scorers import positive_label
    >>> positive_label(["no", "yes"], None), positive_label([0, 1], "0")
    ('yes', 0)
    """
    if asked is None:
        return labels[-1]
    for label in labels:
        if str(label) == asked:
            return label
    raise UserError(f"--positive must be {labels[0]} or {labels[1]}. Got {asked} instead.")


def scoring_for(name: str | None, labels: NDArray[Any], positive: str | None) -> Any:
    """Return what an estimator takes as `scoring`: the name, or a scorer that knows the labels.

    Scorers of one class, such as f1, expect it to be called 1. Of two other labels they score the
    last in the order of the alphabet, or the one that is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.cli.scorers import scoring_for
    >>> scoring_for("roc_auc", np.array(["no", "yes"]), None)
    'roc_auc'
    >>> scoring_for("f1", np.array(["no", "yes"]), None)._score_func.__name__
    "f1 of 'yes'"
    """
    if name is None:
        return None
    from sklearn.metrics import get_scorer, make_scorer

    try:
        scorer = get_scorer(name)
    except (ValueError, KeyError):
        return name  # the estimator says what is allowed
    known = sorted(set(labels.tolist()))
    function = scorer._score_func
    if len(known) != 2 or "pos_label" not in inspect.signature(function).parameters:
        if positive is not None:
            raise UserError(f"--positive does not go with --scoring {name} of this target.")
        return name
    if positive is None and known == [0, 1]:
        return name
    label = positive_label(known, positive)

    def of_label(*arguments: Any, **options: Any) -> float:
        return float(function(*arguments, **options))

    of_label.__name__ = f"{name} of '{label}'"
    return make_scorer(
        of_label,
        response_method=scorer._response_method,
        greater_is_better=scorer._sign > 0,
        **{**scorer._kwargs, "pos_label": label},
    )
