"""A tree with categories or sums of columns as a pipeline of scikit-learn's own parts.

scikit-learn's trees split numbers, one column at a time. Sums of columns are columns of their
own here, and a ``OneHotEncoder`` makes a column of zeros and ones of each category before the tree.
So any split can be expressed, tables are passed as they are, and the pickled pipeline needs only
scikit-learn.

The first steps take the columns by name and make an array of them. A ``ColumnTransformer`` could
take them by name itself, but before scikit-learn 1.9 not from tables of polars 2.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from provetree.export.sklearn import to_sklearn, to_sklearn_regressor
from provetree.problem.combinations import Combination
from provetree.tree.tree import Tree
from provetree.tree.values import values_of_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["to_sklearn_pipeline"]

#: Stands for a missing category inside the pipeline; no table holds it.
_MISSING = "\x00missing"


def to_sklearn_pipeline(tree: Tree, *, classes: ArrayLike | None = None) -> Pipeline:
    """Return a fitted ``Pipeline`` that predicts as `tree` does, also with categories and sums.

    It takes pandas or polars tables whose columns have the names of the tree, in any order, or
    arrays of objects where the tree has no names. Numbers are rounded to float32, as scikit-learn
    does; a missing value is None or NaN.

    Parameters
    ----------
    tree, classes
        As for :func:`to_sklearn`, or a tree of numbers as for :func:`to_sklearn_regressor`.

    Returns
    -------
    sklearn.pipeline.Pipeline

    Raises
    ------
    UnsupportedTreeError
        If a leaf predicts another class than the heaviest.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.export import to_sklearn_pipeline
    >>> X = np.array([["a", 1], ["b", 2], ["c", 3]], dtype=object)
    >>> clf = OptimalTreeClassifier(max_depth=1).fit(X, ["no", "yes", "no"])
    >>> to_sklearn_pipeline(clf.tree_).predict(X).tolist()
    ['no', 'yes', 'no']
    """
    numbers = [f for f, levels in enumerate(tree.categories) if levels is None]
    texts = [f for f, levels in enumerate(tree.categories) if levels is not None]
    levels = [[*(tree.categories[f] or ()), _MISSING] for f in texts]
    parts: list[tuple[str, Any, list[int]]] = []
    if numbers:
        parts.append(("numbers", "passthrough", numbers))
    if texts:
        parts.append(("categories", _indicators(levels), texts))
    for place, each in enumerate(tree.combinations):
        parts.append((f"sum {place}", _sum(each), list(each.columns)))
    for node in tree.nodes_of_groups:
        feature = int(tree.feature[node])
        known = [*(tree.categories[feature] or ()), _MISSING]
        parts.append((f"group {node}", _member(known, tree.codes_left(node)), [feature]))
    columns = ColumnTransformer(parts, sparse_threshold=0.0)
    columns.fit(_sample(tree))
    over_numbers = _over_indicators(tree, numbers, texts)
    if tree.kind == "numbers":
        model = to_sklearn_regressor(over_numbers)
    else:
        model = to_sklearn(over_numbers, classes=classes)
    return Pipeline([*_array_of_names(tree), ("columns", columns), ("tree", model)])


def _array_of_names(tree: Tree) -> list[tuple[str, FunctionTransformer]]:
    """Return the steps that make an array of a table, in the tree's order of columns."""
    if tree.feature_names is None:
        return []
    names = list(tree.feature_names)
    by_name = FunctionTransformer(itemgetter(names))
    # Nothing is to be learnt; fitted parts of scikit-learn tell which columns they take.
    by_name.feature_names_in_ = np.array(names, dtype=object)
    by_name.n_features_in_ = len(names)
    return [("names", by_name), ("values", FunctionTransformer(np.asarray))]


def _indicators(levels: Sequence[list[Any]]) -> Pipeline:
    """Return the encoder that makes a column of each known category."""
    fill = {"strategy": "constant", "fill_value": _MISSING, "keep_empty_features": True}
    return Pipeline(
        [
            ("nan", SimpleImputer(missing_values=np.nan, **fill)),
            ("none", SimpleImputer(missing_values=None, **fill)),
            (
                "indicators",
                OneHotEncoder(
                    categories=[_objects(known) for known in levels],
                    handle_unknown="ignore",
                    sparse_output=False,
                    dtype=np.float32,
                ),
            ),
        ]
    )


def _sum(combination: Combination) -> Pipeline:
    """Return the steps that add up columns: NumPy's functions, in float64."""
    coefficients = np.array(combination.coefficients)
    return Pipeline(
        [
            ("numbers", FunctionTransformer(partial(np.asarray, dtype=np.float64))),
            ("products", FunctionTransformer(partial(np.multiply, coefficients))),
            ("sum", FunctionTransformer(partial(np.sum, axis=1, keepdims=True))),
        ]
    )


def _member(levels: list[Any], codes: tuple[int, ...]) -> Pipeline:
    """Return the steps that make a column of one group of categories: 1 inside, 0 outside."""
    return Pipeline(
        [
            ("indicators", _indicators([levels])),
            ("group", FunctionTransformer(partial(np.take, indices=list(codes), axis=1))),
            ("member", FunctionTransformer(partial(np.sum, axis=1, keepdims=True))),
        ]
    )


def _objects(values: list[Any]) -> NDArray[np.object_]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _sample(tree: Tree) -> NDArray[np.object_]:
    """Return a row of the right types to fit the parts on; it teaches them nothing."""
    rows = np.empty((1, tree.n_features), dtype=object)
    rows[:] = [[0.0 if levels is None else (*levels, _MISSING)[0] for levels in tree.categories]]
    return rows


def _over_indicators(tree: Tree, numbers: list[int], texts: list[int]) -> Tree:
    """Return the tree over numbers and indicators, in the pipeline's column order."""
    place = {feature: i for i, feature in enumerate(numbers)}
    width = len(numbers)
    for feature in texts:
        place[feature] = width
        width += len(tree.categories[feature] or ()) + 1
    for combination in range(len(tree.combinations)):
        place[tree.n_features + combination] = width
        width += 1
    of_group = {node: width + at for at, node in enumerate(tree.nodes_of_groups)}
    width += len(of_group)
    order: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if tree.feature[node] >= 0:
            left, right = int(tree.left[node]), int(tree.right[node])
            # "Is the indicator at most a half?" is yes for all others, so the sides change places.
            waiting += [left, right] if tree.category[node] >= 0 else [right, left]
    nodes = np.array(order)
    feature, category = tree.feature[nodes], tree.category[nodes]
    of_category = category >= 0
    return Tree(
        feature=[
            -1 if f < 0 else of_group.get(node, place[int(f)] + max(int(c), 0))
            for node, f, c in zip(order, feature, category, strict=True)
        ],
        threshold=np.where(of_category, 0.5, tree.threshold[nodes]),
        value=values_of_nodes(tree.values, nodes),
        n_samples=tree.n_samples[nodes],
        n_features=width,
        missing_left=tree.missing_left[nodes] & ~of_category,
        missing_seen=tree.missing_seen[nodes] & ~of_category,
        class_names=tree.class_names,
        label=np.where(tree.feature[nodes] < 0, tree.label[nodes], -1),
    )
