"""Costs of predicting one class where another is true: by class, or for each row of a table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float
from provetree.problem.targets import read_table

__all__ = ["read_cost_matrix", "read_sample_costs"]


def read_cost_matrix(given: Any, classes: NDArray[Any], owner: str) -> Float:
    """Return what each prediction (column) costs for each true class (row).

    A dict gives the cost of pairs of a true and a predicted label. Of the pairs it leaves out,
    right predictions cost 0 and wrong ones 1.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.costs import read_cost_matrix
    >>> classes = np.array(["ill", "well"])
    >>> read_cost_matrix({("ill", "well"): 10}, classes, "OptimalTreeClassifier").tolist()
    [[0.0, 10.0], [1.0, 0.0]]
    >>> read_cost_matrix([[0, 1]], classes, "OptimalTreeClassifier")
    Traceback (most recent call last):
        ...
    ValueError: The 'cost_matrix' of OptimalTreeClassifier must have one row and one column for \
each of the 2 classes, shape (2, 2). Got an array of shape (1, 2).
    """
    what = f"The 'cost_matrix' of {owner}"
    n_classes = len(classes)
    if isinstance(given, Mapping):
        given = _matrix_of_pairs(given, classes, what)
    costs = read_table(given, what)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"{what} must have one row and one column for each of the {n_classes} classes, "
            f"shape ({n_classes}, {n_classes}). Got an array of shape {costs.shape}."
        )
    if costs.size and costs.min() < 0:
        raise ValueError(
            f"{what} must hold costs >= 0. Got {costs.min():g}: add a constant to its row, which "
            "changes no decision."
        )
    _tell_strange_diagonal(costs, classes, what)
    return costs


def read_sample_costs(given: Any, n_rows: int, classes: NDArray[Any], owner: str) -> Float:
    """Return what each class (column) costs as the prediction for each row.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.costs import read_sample_costs
    >>> classes = np.array(["ill", "well"])
    >>> read_sample_costs([[0, 10], [1, 0]], 2, classes, "OptimalTreeClassifier").shape
    (2, 2)
    """
    what = f"The 'sample_costs' of {owner}"
    costs = read_table(given, what)
    if costs.shape != (n_rows, len(classes)):
        raise ValueError(
            f"{what} must have a row for each of the {n_rows} rows and a column for each of the "
            f"{len(classes)} classes, shape ({n_rows}, {len(classes)}). "
            f"Got an array of shape {costs.shape}."
        )
    return costs


def _matrix_of_pairs(given: Mapping[Any, Any], classes: NDArray[Any], what: str) -> Any:
    """Return the matrix of a dict of pairs; entries stay as they came, to be looked over later."""
    labels = classes.tolist()
    place = {label: code for code, label in enumerate(labels)}
    costs = (1 - np.eye(len(labels), dtype=int)).astype(object)
    unknown = []
    for pair, cost in given.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(
                f"{what} must have keys of the form (true label, predicted label). Got {pair!r}."
            )
        strange = [label for label in pair if label not in place]
        if strange:
            unknown += strange
            continue
        costs[place[pair[0]], place[pair[1]]] = cost
    named = {label for pair in given for label in pair}
    if unknown and any(label not in named for label in labels):
        # Labels too many are harmless (a fold may lack a class), unless one of them is misspelt.
        raise ValueError(
            f"{what} must name labels of y. Got {unknown[0]!r}, and y holds "
            f"{', '.join(map(repr, labels[:10]))}{', ...' if len(labels) > 10 else ''}."
        )
    return costs


def _tell_strange_diagonal(costs: Float, classes: NDArray[Any], what: str) -> None:
    """Warn where the right prediction is not the cheapest: often rows and columns are swapped.

    Other costs on the diagonal are allowed without a word: a right prediction may cost something.
    """
    labels = classes.tolist()
    for code in np.flatnonzero(np.diag(costs) > costs.min(axis=1, initial=np.inf)).tolist():
        cheapest = int(costs[code].argmin())
        label, other = labels[code], labels[cheapest]
        warnings.warn(
            f"{what} makes {label!r} dearer to predict ({costs[code, code]:g}) than {other!r} "
            f"({costs[code, cheapest]:g}) where {label!r} is true. Its rows are the true classes.",
            UserWarning,
            stacklevel=2,
        )
