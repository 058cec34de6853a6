"""What the nodes of a tree hold: class totals, numbers, or what each action brings.

A :class:`~provetree.Tree` keeps one of these as ``tree.values``. Each says which kind of prediction
a leaf makes, what a node weighs, and what its rows would cost if it were a leaf.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.number_types import Float, Int32
from provetree.tree.arrays import add_up_children, class_totals, leaf_labels, node_array
from provetree.tree.smoothing import Smoothing

__all__ = ["Actions", "ClassTotals", "Kind", "Numbers", "Values", "completed_values"]

Kind: TypeAlias = Literal["classes", "numbers", "actions"]


class _Comparable:
    """Values of the same kind are equal where all their numbers are."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return all(_same(mine[name], theirs[name]) for name in mine)

    __hash__ = None  # type: ignore[assignment]  # arrays have none


@dataclass(frozen=True, eq=False)
class ClassTotals(_Comparable):
    """The total weight of each class in each node; a leaf predicts a class.

    Probabilities are the shares of these totals, smoothed where `smoothing` says how.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.tree.values import ClassTotals
    >>> ClassTotals(np.array([[3.0, 1.0]])).weight.tolist()
    [4.0]
    """

    kind: ClassVar[Kind] = "classes"
    #: What one column of ``value`` is about.
    thing: ClassVar[str] = "class"

    value: Float
    smoothing: Smoothing | None = None

    @property
    def weight(self) -> Float:
        """The weight of the rows of each node."""
        return np.asarray(self.value.sum(axis=1))

    def best(self) -> Int32:
        """Return the class with the largest total in each node."""
        return np.asarray(self.value.argmax(axis=1), dtype=np.int32)

    def impurity(self) -> Float:
        """Return the Gini impurity of each node, times its weight."""
        return np.asarray(self.weight - np.square(self.value).sum(axis=1) / self.weight)

    def completed(self, split: NDArray[np.bool_], left: Int32, right: Int32) -> ClassTotals:
        """Return checked values; the totals of splits are the sums over their leaves."""
        totals = class_totals(self.value, len(split))
        add_up_children(totals, left, right)
        return ClassTotals(totals, self.smoothing)


@dataclass(frozen=True, eq=False)
class Numbers(_Comparable):
    """A number for each output in each node; a leaf predicts these numbers.

    Parameters
    ----------
    value : array of float, shape (n_nodes, n_outputs)
        The mean or the median of the rows of each node, splits included.
    weight : array of float, shape (n_nodes,)
        The weight of the rows of each node.
    spread : array of float, shape (n_nodes, n_outputs)
        How far the rows of a node lie from its value: the standard deviation around a mean, the
        mean absolute deviation around a median.
    statistic : {"mean", "median"}
        What the numbers are.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.tree.values import Numbers
    >>> tree = Tree(feature=[0, -1, -1], threshold=[3.0, 0, 0], n_samples=[0, 2, 2], n_features=1,
    ...             value=Numbers([[2.0], [1.0], [3.0]], [4, 2, 2], [[1.0], [0.0], [0.0]]))
    >>> tree.predict([[2.5], [3.5]])
    array([1., 3.])
    """

    kind: ClassVar[Kind] = "numbers"
    thing: ClassVar[str] = "output"

    value: Float
    weight: Float
    spread: Float
    statistic: Literal["mean", "median"] = "mean"

    def best(self) -> Int32:
        """Return zeros: numbers have no label."""
        return np.zeros(len(self.value), dtype=np.int32)

    def impurity(self) -> Float:
        """Return the sum of squares around the mean of each node, or of distances to its median."""
        each = np.square(self.spread) if self.statistic == "mean" else self.spread
        return np.asarray(self.weight * each.sum(axis=1))

    def completed(self, split: NDArray[np.bool_], left: Int32, right: Int32) -> Numbers:
        """Return checked values; the weight of splits is the sum over their leaves."""
        if self.statistic not in ("mean", "median"):
            raise ValueError(
                f"The numbers of a tree must be 'mean' or 'median'. Got {self.statistic!r} instead."
            )
        value = _table(self.value, len(split), "output")
        spread = _table(self.spread, len(split), "output")
        if value.shape != spread.shape or (spread < 0).any():
            raise ValueError("The 'spread' of a tree must hold a number >= 0 for each value.")
        weight = _weights(self.weight, len(split))
        add_up_children(weight, left, right)
        weight.flags.writeable = spread.flags.writeable = False
        return Numbers(value, weight, spread, self.statistic)


@dataclass(frozen=True, eq=False)
class Actions(_Comparable):
    """What each action brings or costs in each node, in all; a leaf predicts an action.

    Parameters
    ----------
    value : array of float, shape (n_nodes, n_actions)
        The total reward or cost of each action over the rows of each leaf. Rows of splits are
        ignored: they are the sums over the leaves below.
    weight : array of float, shape (n_nodes,)
        The weight of the rows of each leaf.
    rewards : bool
        Whether the totals are rewards, of which more is better, or costs.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.tree.values import Actions
    >>> tree = Tree(feature=[0, -1, -1], threshold=[3.0, 0, 0], n_samples=[0, 2, 2], n_features=1,
    ...             value=Actions([[0, 0], [5, 2], [1, 4]], [0, 2, 2]), class_names=["wait", "act"])
    >>> tree.predict([[2.5], [3.5]]), tree.value[0].tolist()
    (array([0, 1]), [6.0, 6.0])
    """

    kind: ClassVar[Kind] = "actions"
    thing: ClassVar[str] = "action"

    value: Float
    weight: Float
    rewards: bool = True

    def best(self) -> Int32:
        """Return the best action of each node, the first on a tie."""
        found = self.value.argmax(axis=1) if self.rewards else self.value.argmin(axis=1)
        return np.asarray(found, dtype=np.int32)

    def impurity(self) -> Float:
        """Return what each node costs with its best action; rewards are costs below zero."""
        return np.asarray(-self.value.max(axis=1) if self.rewards else self.value.min(axis=1))

    def completed(self, split: NDArray[np.bool_], left: Int32, right: Int32) -> Actions:
        """Return checked values; totals of splits are the sums over their leaves."""
        value = _table(self.value, len(split), "action")
        weight = _weights(self.weight, len(split))
        add_up_children(value, left, right)
        add_up_children(weight, left, right)
        weight.flags.writeable = False
        return Actions(value, weight, bool(self.rewards))


Values: TypeAlias = ClassTotals | Numbers | Actions


def completed_values(
    given: ArrayLike | Values, split: NDArray[np.bool_], left: Int32, right: Int32
) -> Values:
    """Return the values of all nodes, checked; an array stands for class totals."""
    if isinstance(given, (ClassTotals, Numbers, Actions)):
        return given.completed(split, left, right)
    return ClassTotals(np.asarray(given, dtype=np.float64)).completed(split, left, right)


def node_labels(values: Values, given: ArrayLike | None, split: NDArray[np.bool_]) -> Int32:
    """Return the class or action that each node predicts: the best one, unless a leaf has one."""
    if values.kind == "numbers":
        return values.best()
    return leaf_labels(given, values.best(), values.value.shape[1], split)


def values_of_nodes(values: Values, nodes: NDArray[np.intp]) -> Values:
    """Return the values of some nodes, in their order."""
    taken: dict[str, Any] = {}
    for part in fields(values):
        array = getattr(values, part.name)
        if isinstance(array, np.ndarray):
            taken[part.name] = array[nodes]
    return replace(values, **taken)


def _same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, np.ndarray):
        return np.array_equal(mine + 0.0, theirs + 0.0)  # -0.0 and 0.0 are the same
    return bool(mine == theirs)


def _table(given: ArrayLike, n_nodes: int, thing: str) -> Float:
    values = np.array(given, dtype=np.float64)
    if values.ndim != 2 or len(values) != n_nodes or values.shape[1] < 1:
        raise ValueError(
            f"The 'value' array of a tree must have one row per node and one column per {thing}. "
            f"Got shape {values.shape} instead."
        )
    if not np.isfinite(values).all():
        raise ValueError("The 'value' array of a tree must hold finite numbers.")
    return values


def _weights(given: ArrayLike, n_nodes: int) -> Float:
    weight: Float = node_array("weight", given, np.float64, n_nodes)
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise ValueError("The 'weight' array of a tree must hold finite numbers >= 0.")
    return weight
