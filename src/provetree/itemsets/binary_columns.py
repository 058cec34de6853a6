"""Boolean columns made from numbers and categories, and trees over them turned back.

A :class:`BinaryColumn` is a yes-no question: ``age <= 37.5``, ``colour = red``,
``age is missing``. :func:`restore_tree` writes a tree over such columns as a tree over the columns
they were made of; both send every row the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Bool, Float
from provetree.tree.text import number
from provetree.tree.threshold import midpoint
from provetree.tree.tree import Tree

__all__ = ["BinaryColumn", "binary_columns", "choose_thresholds", "restore_tree"]

Codes: TypeAlias = NDArray[np.intp]
Strategy: TypeAlias = Literal["all", "quantile", "optimal-depth-one"]


@dataclass(frozen=True)
class BinaryColumn:
    """One question about one feature.

    Parameters
    ----------
    feature : int
        The feature of the table.
    threshold : float
        For numbers: "at most this?"; NaN asks "is it missing?".
    category : int
        For categories: the code asked for, the one after the last for missing; -1 for numbers.
    missing : {"unseen", "no", "yes"}
        The answer for a missing number; "unseen" if training had none.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.itemsets.binary_columns import BinaryColumn
    >>> column = BinaryColumn(0, threshold=37.5, missing="yes")
    >>> column.name("age", None), column.answers(np.array([30.0, 40.0, np.nan])).tolist()
    ('age <= 37.5 or missing', [True, False, True])
    """

    feature: int
    threshold: float = math.nan
    category: int = -1
    missing: Literal["unseen", "no", "yes"] = "unseen"

    def answers(self, x: Float) -> Bool:
        """Return the answer for each value of the encoded feature."""
        absent = np.isnan(x)
        if self.category >= 0:
            # A missing category has the code after the last, which no present one has.
            return np.asarray(absent if self.missing == "yes" else x == self.category)
        if math.isnan(self.threshold):
            return absent
        return np.asarray((x <= self.threshold) | (absent & (self.missing == "yes")))

    def name(self, feature_name: str, categories: Sequence[object] | None) -> str:
        """Return the question in words."""
        if self.category >= 0 and categories is not None and self.category < len(categories):
            return f"{feature_name} = {categories[self.category]}"
        if math.isnan(self.threshold):
            return f"{feature_name} is missing"
        ending = " or missing" if self.missing == "yes" else ""
        return f"{feature_name} <= {number(self.threshold)}{ending}"


def choose_thresholds(
    x: Float, strategy: Strategy, n_thresholds: int = 8, classes: Codes | None = None
) -> Float:
    """Return the thresholds of a column of numbers, halfway between neighbouring values.

    They are all, the `n_thresholds` nearest to the quantiles, or those between rows of different
    classes. Missing numbers are left out.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0, 3.0, 4.0, 4.0]), np.array([0, 0, 1, 1, 0])
    >>> choose_thresholds(x, "all").tolist()
    [1.5, 2.5, 3.5]
    >>> choose_thresholds(x, "quantile", 1).tolist()
    [2.5]
    >>> choose_thresholds(x, "optimal-depth-one", classes=y).tolist()
    [2.5, 3.5]
    """
    present = ~np.isnan(x)
    values, place, counts = np.unique(x[present] + 0.0, return_inverse=True, return_counts=True)
    if len(values) < 2:
        return np.empty(0)
    at: NDArray[np.intp] = np.arange(len(values) - 1)
    if strategy == "quantile" and len(at) > n_thresholds:
        below = np.cumsum(counts)[:-1]
        wanted = np.arange(1, n_thresholds + 1) * len(place) / (n_thresholds + 1)
        # For each quantile the threshold with the nearest number of rows below it.
        at = np.unique(np.abs(below[:, np.newaxis] - wanted).argmin(axis=0))
    elif strategy == "optimal-depth-one":
        if classes is None:
            raise ValueError("The strategy 'optimal-depth-one' needs the labels y.")
        at = at[_between_classes(place.reshape(-1), classes[present], len(values))]
    return np.array([midpoint(float(values[i]), float(values[i + 1])) for i in at])


def _between_classes(place: Codes, classes: Codes, n_values: int) -> Bool:
    """Return which gaps lie between rows of different classes.

    Within a run of values that all belong to one class the error of a split is monotone, so the
    ends of the run are no worse.
    """
    low = np.full(n_values, np.iinfo(np.intp).max, dtype=np.intp)
    high = np.full(n_values, -1, dtype=np.intp)
    np.minimum.at(low, place, classes)
    np.maximum.at(high, place, classes)
    one_class = low == high
    alike = one_class[:-1] & one_class[1:] & (low[:-1] == low[1:])
    return np.asarray(~alike)


def binary_columns(
    encoded: Float,
    categories: Sequence[Sequence[object] | None],
    *,
    strategy: Strategy,
    n_thresholds: int = 8,
    separate_missing: bool = False,
    classes: Codes | None = None,
) -> tuple[BinaryColumn, ...]:
    """Return the questions made from the columns of an encoded table.

    With `separate_missing` missing numbers are below no threshold, otherwise on either side of
    each.

    Examples
    --------
    >>> table = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, 1.0]])
    >>> columns = binary_columns(table, [None, ["red", "blue"]], strategy="all")
    >>> [column.name("xc"[column.feature], ["red", "blue"]) for column in columns]
    ['x <= 1.5', 'x <= 1.5 or missing', 'x is missing', 'c = red', 'c = blue']
    """
    columns: list[BinaryColumn] = []
    for feature, levels in enumerate(categories):
        x = encoded[:, feature]
        has_missing = bool(np.isnan(x).any())
        if levels is not None:
            columns += [BinaryColumn(feature, category=code) for code in range(len(levels))]
            if has_missing:
                columns.append(BinaryColumn(feature, category=len(levels), missing="yes"))
            continue
        for threshold in choose_thresholds(x, strategy, n_thresholds, classes).tolist():
            if not has_missing:
                columns.append(BinaryColumn(feature, threshold))
                continue
            columns.append(BinaryColumn(feature, threshold, missing="no"))
            if not separate_missing:
                columns.append(BinaryColumn(feature, threshold, missing="yes"))
        if has_missing:
            columns.append(BinaryColumn(feature, missing="yes"))
    return tuple(columns)


def restore_tree(
    tree: Tree,
    columns: Sequence[BinaryColumn],
    *,
    n_features: int,
    feature_names: Sequence[str] | None = None,
    categories: Sequence[Sequence[object] | None] | None = None,
) -> Tree:
    """Turn a tree over Boolean columns into a tree over the original features.

    In it rows with a yes go left, so the nodes are in another order.

    Examples
    --------
    >>> from provetree import Tree
    >>> nan = float("nan")
    >>> tree = Tree(feature=[0, -1, -1], threshold=[0.5, nan, nan],
    ...             value=[[0, 0], [1, 9], [8, 2]], n_samples=[0, 10, 10], n_features=1)
    >>> restored = restore_tree(tree, [BinaryColumn(0, 37.5)], n_features=1, feature_names=["age"])
    >>> print(restored.to_text(legend=False))
    age <= 37.5
    |   0: 80.0% of 10 rows [8, 2]
    age > 37.5
    |   1: 90.0% of 10 rows [1, 9]
    """
    if tree.n_features != len(columns):
        raise ValueError(
            f"The tree must be over the {len(columns)} Boolean columns. "
            f"Got a tree over {tree.n_features} columns instead."
        )
    split = tree.feature >= 0
    by_number = split & (tree.category < 0)
    if (
        not (by_number == split).all()
        or not ((tree.threshold[split] >= 0.0) & (tree.threshold[split] < 1.0)).all()
    ):
        raise ValueError(
            "The tree must split Boolean columns between 0 and 1, and it has a split of another "
            "kind."
        )
    order: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if split[node]:  # the yes of a question is the right side of its column; it comes first
            waiting += [int(tree.left[node]), int(tree.right[node])]
    asked = [columns[int(tree.feature[node])] if split[node] else None for node in order]
    return tree.replaced(
        feature=[-1 if column is None else column.feature for column in asked],
        threshold=[math.nan if column is None else column.threshold for column in asked],
        category=[-1 if column is None else column.category for column in asked],
        missing_left=[column is not None and column.missing == "yes" for column in asked],
        missing_seen=[column is not None and column.missing != "unseen" for column in asked],
        value=tree.value[order],
        n_samples=tree.n_samples[order],
        n_features=n_features,
        feature_names=feature_names,
        categories=categories,
        label=tree.label[order],
    )
