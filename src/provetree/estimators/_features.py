"""The columns an estimator was fitted on, and whether later tables have the same.

scikit-learn's own check reads names through interfaces that change with the versions of pandas and
polars; this one only asks for the names. What it says and sets is the same.
"""

from __future__ import annotations

import inspect
import warnings
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.problem.inputs import column_names

__all__ = ["check_features", "keep_features"]

Names: TypeAlias = NDArray[np.object_]

#: Names of columns in an error message.
_MOST_SHOWN = 5


def keep_features(estimator: Any, names: Names | None, n_features: int) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_``."""
    estimator.n_features_in_ = n_features
    if names is not None:
        estimator.feature_names_in_ = names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_features(estimator: Any, table: Any) -> None:
    """Compare a table with ``n_features_in_`` and ``feature_names_in_``.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.estimators._features import check_features, keep_features
    >>> class Estimator:
    ...     pass
    >>> estimator = Estimator()
    >>> keep_features(estimator, None, 3)
    >>> check_features(estimator, np.zeros((5, 2)))
    Traceback (most recent call last):
        ...
    ValueError: X has 2 features, but Estimator is expecting 3 features as input.
    """
    names, n_features = column_names(table), int(table.shape[1])
    owner = type(estimator).__name__
    fitted: Names | None = getattr(estimator, "feature_names_in_", None)
    if names is not None and fitted is None:
        _warn(f"X has feature names, but {owner} was fitted without feature names")
    elif names is None and fitted is not None:
        _warn(f"X does not have valid feature names, but {owner} was fitted with feature names")
    elif names is not None and fitted is not None and names.tolist() != fitted.tolist():
        raise ValueError(_difference(fitted.tolist(), names.tolist()))
    if n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {owner} is expecting {estimator.n_features_in_} "
            "features as input."
        )


def _difference(fitted: list[str], given: list[str]) -> str:
    unseen = [name for name in given if name not in set(fitted)]
    missing = [name for name in fitted if name not in set(given)]
    parts = []
    if unseen:
        parts.append(f"{_listed(unseen)} unseen at fit time")
    if missing:
        parts.append(f"{_listed(missing)} seen at fit time, yet now missing")
    found = "; ".join(parts) or "they are in another order than at fit time"
    return f"The feature names should match those that were passed during fit: {found}."


def _listed(names: list[str]) -> str:
    more = ", ..." if len(names) > _MOST_SHOWN else ""
    return ", ".join(map(repr, names[:_MOST_SHOWN])) + more


def _warn(sentence: str) -> None:
    # The line of the one who called the package, however many of its own calls lie between.
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("provetree."):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, UserWarning, stacklevel=level)
