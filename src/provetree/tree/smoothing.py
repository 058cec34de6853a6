"""Turns the class totals of a tree into probabilities: shares of rows, smoothed.

The shares of a leaf are too sure of themselves: its splits were chosen on the same rows, and a leaf
of three rows of one class says "never" of all others. Laplace's correction adds some weight to
every class. Shrinkage draws a leaf towards the nodes above it. Neither changes what a leaf
predicts: where another class would get the largest share, probabilities go as far that way as the
label allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float, Int32
from provetree.tree.shrinkage import shrunk_towards_path

__all__ = ["Smoothing", "label_keeping", "log_loss", "row_shares", "smoothed_shares"]

Method = Literal["laplace", "shrinkage"]

#: How much of the way to an equal share a leaf goes at most: its label must keep the largest share
#: after rounding, too.
_TO_EQUAL = 0.999


@dataclass(frozen=True)
class Smoothing:
    """How the class shares of a tree are smoothed.

    Parameters
    ----------
    method : {"laplace", "shrinkage"}
        "laplace" adds `strength` to the weight of every class of a leaf; "shrinkage" draws each
        leaf towards the nodes above it (:func:`provetree.tree.shrinkage.shrunk_towards_path`).
    strength : float
        How much, in the units of the rows' weights; zero leaves the shares as they are.
    directions : tuple of int
        For trees of two classes that keep directions: -1, 0 or 1 for each column. Probabilities are
        then moved to keep them, too (:mod:`provetree.tree.ordered_shares`).

    Examples
    --------
    >>> from provetree import Smoothing, Tree
    >>> tree = Tree(feature=[0, -1, -1], threshold=[3.0, 0, 0], n_features=1,
    ...             value=[[0, 0], [3, 0], [1, 4]], n_samples=[0, 3, 5])
    >>> tree.with_smoothing(Smoothing("laplace", 1.0)).predict_proba([[2.0]]).tolist()
    [[0.8, 0.2]]
    >>> tree.with_smoothing(Smoothing("shrinkage", 8.0)).predict_proba([[2.0]]).tolist()
    [[0.75, 0.25]]
    """

    method: Method
    strength: float
    directions: tuple[int, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            allowed = ", ".join(map(repr, get_args(Method)))
            raise ValueError(
                f"The 'method' of Smoothing must be one of {allowed}. Got {self.method!r} instead."
            )
        if isinstance(self.strength, bool) or not 0.0 <= self.strength < math.inf:
            raise ValueError(
                "The 'strength' of Smoothing must be a float in the range [0.0, inf). "
                f"Got {self.strength!r} instead."
            )

    def __str__(self) -> str:
        return f"{self.method} {self.strength:g}"

    @classmethod
    def of(cls, asked: str | Smoothing) -> Smoothing | None:
        """Return what the `probabilities` parameter of an estimator asks for.

        Examples
        --------
        >>> from provetree import Smoothing
        >>> Smoothing.of("shrinkage"), Smoothing.of("shares")
        (Smoothing(method='shrinkage', strength=10.0), None)
        """
        return asked if isinstance(asked, Smoothing) else _BY_NAME[asked]

    @classmethod
    def read(cls, stored: Any) -> Smoothing | None:
        """Return what a stored tree says about its smoothing; None where it says nothing."""
        if stored is None:
            return None
        directions = tuple(int(way) for way in stored.get("directions", ()))
        return cls(stored["method"], float(stored["strength"]), directions)

    def stored(self) -> dict[str, object]:
        """Return the method, the strength and the directions as JSON holds them."""
        ways = {"directions": list(self.directions)} if self.directions else {}
        return {"method": self.method, "strength": float(self.strength), **ways}


#: What the words of the `probabilities` parameter mean; strengths are those of the least log loss
#: on new rows, see docs/probabilities.md.
_BY_NAME: dict[str, Smoothing | None] = {
    "shares": None,
    "laplace": Smoothing("laplace", 1.0),
    "shrinkage": Smoothing("shrinkage", 10.0),
}


def row_shares(value: Float, added: float = 0.0) -> Float:
    """Return the share of each class in each node, after the same weight is added to all classes.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.tree.smoothing import row_shares
    >>> row_shares(np.array([[3.0, 1.0], [0.0, 0.0]])).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    totals = value + added
    whole = totals.sum(axis=1, keepdims=True)
    # A leaf without training rows gives all classes the same share.
    shares = np.full_like(totals, 1 / totals.shape[1])
    np.divide(totals, whole, out=shares, where=whole > 0)
    return shares


def smoothed_shares(
    value: Float, label: Int32, left: Int32, right: Int32, smoothing: Smoothing | None
) -> Float:
    """Return the probability of each class in each node of a tree.

    `value` holds the class totals, `label` what each node predicts, `left` and `right` the children
    (-1 for leaves).
    """
    shares = row_shares(value)
    if smoothing is None or smoothing.strength == 0:
        return shares
    if smoothing.method == "laplace":
        smoothed = row_shares(value, smoothing.strength)
    else:
        smoothed = shrunk_towards_path(
            shares, value.sum(axis=1), left, right, float(smoothing.strength)
        )
    # Steps along a path are rounded, and may miss the ends.
    kept: Float = np.clip(label_keeping(shares, smoothed, label), 0.0, 1.0)
    return kept


def label_keeping(shares: Float, smoothed: Float, label: Int32) -> Float:
    """Return shares on the way to the smoothed ones, as far as each label stays the largest.

    Labels that have not the largest share before, as costs may ask for, hold nothing back.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.tree.smoothing import label_keeping
    >>> kept = label_keeping(np.array([[0.4, 0.6]]), np.array([[0.8, 0.2]]), np.array([1]))
    >>> kept.round(3).tolist()
    [[0.5, 0.5]]
    >>> int(kept.argmax())
    1
    """
    found = np.array(smoothed)
    flipped = (shares.argmax(axis=1) == label) & (smoothed.argmax(axis=1) != label)
    for node in np.flatnonzero(flipped).tolist():
        own = int(label[node])
        lead_before = shares[node, own] - shares[node]
        lead_after = smoothed[node, own] - smoothed[node]
        # On the line from one to the other, the lead over a class falls to zero here.
        falls = lead_after < lead_before
        with np.errstate(divide="ignore", invalid="ignore"):
            at = np.where(falls, lead_before / (lead_before - lead_after), np.inf)
        way = min(1.0, float(at.min())) * _TO_EQUAL
        found[node] = shares[node] + way * (smoothed[node] - shares[node])
    return found


def log_loss(probabilities: Float, codes: NDArray[Any], weights: Float) -> float:
    """Return the mean of minus the logarithm of the probability of what is true.

    A class that no training row had has the probability zero after shrinkage; as in scikit-learn,
    that counts as the least number above zero by which one can still multiply.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.tree.smoothing import log_loss
    >>> round(log_loss(np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0, 1]), np.ones(2)), 4)
    0.3466
    """
    if not len(codes) or weights.sum() <= 0:
        return 0.0
    of_truth = probabilities[np.arange(len(codes)), codes]
    least = float(np.finfo(np.float64).eps)
    return float(np.average(-np.log(np.maximum(of_truth, least)), weights=weights))
