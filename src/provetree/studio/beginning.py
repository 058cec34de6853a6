"""What a studio begins with: the parameters of a classifier as settings and wishes."""

from __future__ import annotations

import math
from typing import Any

from provetree.problem.rules import FixedSplit, Rules, read_rules
from provetree.studio.table import StudioTable
from provetree.studio.wishes import MOST_DEPTH, WishError, Wishes

__all__ = ["settings_of", "wishes_of"]

#: Parameters that no wish changes.
_SETTINGS = (
    "class_weight",
    "categorical_features",
    "n_jobs",
    "max_memory",
    "probabilities",
    "category_splits",
)
#: Parameters that the studio knows no page for, with the value that they must have.
_PLAIN = {
    "criterion": "errors",
    "cost_matrix": None,
    "alpha": 0.0,
    "splits": "columns",
    "interaction_cst": None,
    "column_costs": None,
}


def settings_of(clf: Any) -> dict[str, Any]:
    """Return the parameters of a classifier that no wish changes, or say what is not shown.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.studio.beginning import settings_of
    >>> settings_of(OptimalTreeClassifier(max_depth=2, class_weight="balanced"))
    {'class_weight': 'balanced'}
    >>> settings_of(OptimalTreeClassifier(alpha=0.1))
    Traceback (most recent call last):
        ...
    provetree.studio.wishes.WishError: The studio shows trees with alpha=0.0. Got 0.1 instead.
    """
    from provetree.estimators.optimal_tree import OptimalTreeClassifier

    if type(clf) is not OptimalTreeClassifier:
        raise WishError(
            f"The studio shapes trees of OptimalTreeClassifier. Got {type(clf).__name__} instead."
        )
    given = clf.get_params(deep=False)
    usual = OptimalTreeClassifier().get_params(deep=False)
    for name, value in _PLAIN.items():
        if given[name] != value:
            raise WishError(
                f"The studio shows trees with {name}={value!r}. Got {given[name]!r} instead."
            )
    if given["max_depth"] > MOST_DEPTH:
        raise WishError(
            f"The studio shows trees of depth {MOST_DEPTH} at most. Got {given['max_depth']}."
        )
    return {name: given[name] for name in _SETTINGS if given[name] != usual[name]}


def wishes_of(clf: Any, table: StudioTable) -> Wishes:
    """Return the wishes that the parameters of a classifier stand for.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.studio.beginning import wishes_of
    >>> from provetree.studio.table import StudioTable
    >>> table = StudioTable([[1.0, 5.0], [2.0, 6.0]], [0, 1])
    >>> wishes_of(OptimalTreeClassifier(max_depth=2, forbidden_columns=[1]), table).forbidden
    frozenset({1})
    """
    given, encoder = clf.get_params(deep=False), table.prepared.encoder
    rules = read_rules(given, encoder.feature_names, encoder.categories, "OptimalTreeClassifier")
    if any(path for path in rules.forbidden):
        raise WishError("The studio forbids columns in the whole tree, not from a node on.")
    return Wishes(
        given["max_depth"],
        given["max_leaf_nodes"],
        given["min_samples_leaf"],
        {path: _split(split, table) for path, split in rules.fixed.items()},
        frozenset(rules.fixed),
        rules.forbidden_at(""),
        _directions(rules),
    )


def _split(split: FixedSplit, table: StudioTable) -> dict[str, Any]:
    if split.is_leaf:
        return {"leaf": True}
    if split.codes:
        named = [*(table.levels[split.column] or ()), None]
        return {"column": split.column, "categories": [named[code] for code in split.codes]}
    threshold = None if math.isnan(split.threshold) else split.threshold
    found: dict[str, Any] = {"column": split.column, "threshold": threshold}
    if split.missing is not None and threshold is not None:
        found["missing"] = split.missing
    return found


def _directions(rules: Rules) -> dict[int, int]:
    return {column: way for column, way in enumerate(rules.directions or ()) if way}
