"""Limits on rates that users give by label: recall, false positives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.options import ParameterError
from provetree.problem.weights import as_decimal

__all__ = ["class_of", "rates_by_class"]


def rates_by_class(
    name: str,
    given: Any,
    classes: NDArray[Any],
    owner: str,
    meant: Callable[[], Iterable[int]],
) -> dict[int, Fraction]:
    """Return the exact limit of each class that has one; `meant` gives the classes of one rate.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.estimators._rates import rates_by_class
    >>> rates_by_class("min_recall", {"yes": 0.9}, np.array(["no", "yes"]), "Tree", lambda: [0, 1])
    {1: Fraction(9, 10)}
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        rates = {class_of(name, label, classes, owner): rate for label, rate in given.items()}
    else:
        rates = dict.fromkeys(meant(), given)
    for rate in rates.values():
        number = isinstance(rate, (int, float, np.number)) and not isinstance(rate, bool)
        if not (number and 0.0 <= float(rate) <= 1.0):
            raise ParameterError(
                f"The '{name}' parameter of {owner} must hold numbers in the range [0.0, 1.0]. "
                f"Got {rate!r} instead."
            )
    return {code: as_decimal(float(rate)) for code, rate in rates.items()}


def class_of(name: str, label: Any, classes: NDArray[Any], owner: str) -> int:
    """Return the place of a label that a parameter names."""
    labels = classes.tolist()
    if label not in labels:
        raise ParameterError(
            f"The '{name}' parameter of {owner} must name labels of y. "
            f"Got {label!r}, and y holds {', '.join(map(repr, labels[:10]))}."
        )
    return int(labels.index(label))
