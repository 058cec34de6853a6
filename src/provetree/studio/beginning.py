"""What a studio begins with: the parameters of a classifier as settings and wishes."""

from __future__ import annotations

from typing import Any

from provetree.studio.wishes import MOST_DEPTH, WishError, Wishes

__all__ = ["beginning_of"]

#: Parameters that no wish changes.
_SETTINGS = ("class_weight", "categorical_features", "n_jobs", "max_memory", "probabilities")
#: Parameters that the studio knows no page for, with the value that they must have.
_PLAIN = {"criterion": "errors", "cost_matrix": None, "alpha": 0.0, "splits": "columns"}


def beginning_of(clf: Any, X: Any) -> tuple[dict[str, Any], Wishes]:
    """Return the settings and the wishes that a classifier stands for, or say what is not shown.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.studio.beginning import beginning_of
    >>> settings, wishes = beginning_of(OptimalTreeClassifier(2, class_weight="balanced"), None)
    >>> settings, wishes.max_depth
    ({'class_weight': 'balanced'}, 2)
    >>> beginning_of(OptimalTreeClassifier(alpha=0.1), None)
    Traceback (most recent call last):
        ...
    provetree.studio.wishes.WishError: The studio shows trees with alpha=0.0. Got 0.1 instead.
    """
    from provetree.estimators.optimal_tree import OptimalTreeClassifier

    if not isinstance(clf, OptimalTreeClassifier) or type(clf).__name__ != "OptimalTreeClassifier":
        raise WishError(
            f"The studio shapes trees of OptimalTreeClassifier. Got {type(clf).__name__} instead."
        )
    given = clf.get_params(deep=False)
    usual = type(clf)().get_params(deep=False)
    for name, value in _PLAIN.items():
        if given[name] != value:
            raise WishError(
                f"The studio shows trees with {name}={value!r}. Got {given[name]!r} instead."
            )
    if given["max_depth"] > MOST_DEPTH:
        raise WishError(
            f"The studio shows trees of depth {MOST_DEPTH} at most. Got {given['max_depth']}."
        )
    settings = {name: given[name] for name in _SETTINGS if given[name] != usual[name]}
    wishes = Wishes(given["max_depth"], given["max_leaf_nodes"], given["min_samples_leaf"])
    return settings, wishes
