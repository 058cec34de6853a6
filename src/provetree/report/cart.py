"""scikit-learn's CART beside the tree: the same rows, the same limits, the same kinds of splits.

A category becomes one column of zeros and ones for each of its values, a missing one included, so
that CART can ask the same questions; missing numbers it knows itself.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from provetree.number_types import Float

__all__ = ["Cart", "CartClassifier", "expanded", "fit_cart"]


@dataclass(frozen=True)
class Cart:
    """A fitted CART tree that takes encoded tables."""

    model: DecisionTreeClassifier | DecisionTreeRegressor
    categories: tuple[Any, ...]
    seconds: float
    middle: Float | None = None  # of the numbers that it predicts

    def predict(self, encoded: Float) -> NDArray[Any]:
        """Return the class codes, or the numbers, of encoded rows."""
        found: NDArray[Any] = self.model.predict(expanded(encoded, self.categories))
        return found if self.middle is None else found + self.middle

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return int(self.model.get_n_leaves())


class CartClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """CART as scorers see it: a fitted classifier of encoded rows, with the labels of the user."""

    def __init__(self, cart: Cart, classes: NDArray[Any]) -> None:
        self.cart, self.classes = cart, classes
        self.classes_ = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, encoded: Float) -> NDArray[Any]:
        """Return the labels of encoded rows."""
        return np.asarray(self.classes[self.cart.predict(encoded)])

    def predict_proba(self, encoded: Float) -> Float:
        """Return the shares of the classes in the leaves of encoded rows."""
        rows = expanded(encoded, self.cart.categories)
        return np.asarray(self.cart.model.predict_proba(rows))


def fit_cart(
    encoded: Float,
    learned: NDArray[Any],
    categories: Any,
    *,
    max_depth: int | None,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int | float = 1,
    sample_weight: Float | None = None,
) -> Cart:
    """Fit CART on an encoded table, within the limits that optimal trees have.

    `learned` holds the class codes, or float numbers to predict. CART grows by its usual criterion:
    Gini impurity, or squared error.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.report.cart import fit_cart
    >>> X, y = np.array([[0.0], [1.0], [np.nan]]), np.array([0, 1, 0])
    >>> fit_cart(X, y, [["a", "b"]], max_depth=1).predict(X)
    array([0, 1, 0])
    """
    # scikit-learn takes no limit that leaves the root alone; too few rows to split do.
    alone = max_depth == 0 or max_leaf_nodes == 1
    of_numbers = learned.dtype.kind == "f"
    # scikit-learn works with squares: what numbers have in common would use up their digits.
    middle = learned.mean(axis=0) if of_numbers else None
    kind = DecisionTreeRegressor if of_numbers else DecisionTreeClassifier
    model = kind(
        max_depth=None if max_depth is None else max(1, max_depth),
        max_leaf_nodes=None if alone else max_leaf_nodes,
        min_samples_split=len(learned) + 2 if alone else 2,
        min_samples_leaf=min_samples_leaf,
        random_state=0,
    )
    began = time.monotonic()
    given = learned if middle is None else learned - middle
    model.fit(expanded(encoded, tuple(categories)), given, sample_weight=sample_weight)
    return Cart(model, tuple(categories), time.monotonic() - began, middle)


def expanded(encoded: Float, categories: tuple[Any, ...]) -> NDArray[np.float32]:
    """Return an encoded table as CART takes it: numbers, and 0 or 1 for each category."""
    parts = []
    largest = np.finfo(np.float32).max
    for feature, levels in enumerate(categories):
        x = encoded[:, feature]
        if levels is None:
            # scikit-learn takes no infinities; the largest numbers stand for them.
            parts.append(np.clip(x, -largest, largest).astype(np.float32)[:, None])
        else:
            parts.append((x[:, None] == np.arange(len(levels))).astype(np.float32))
            parts.append(np.isnan(x).astype(np.float32)[:, None])
    return np.hstack(parts)
