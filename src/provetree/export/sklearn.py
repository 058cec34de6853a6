"""A tree as scikit-learn's own tree estimator, for the many libraries that read one.

No public call builds such a tree. So a temporary stump is fitted on a toy table with the right
number of columns and classes or outputs, and a new inner tree is made as unpickling does. The
layout of the nodes is taken from the stump and filled by field name: it has changed before and will
change again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from provetree.export.words import split_text
from provetree.number_types import Float
from provetree.tree.tree import Tree
from provetree.tree.values import Numbers

__all__ = ["UnsupportedTreeError", "to_sklearn", "to_sklearn_regressor"]

#: What scikit-learn writes for the children, the feature and the threshold of a leaf.
_LEAF, _NO_FEATURE, _NO_THRESHOLD = -1, -2, -2.0


class UnsupportedTreeError(ValueError):
    """The requested form cannot express a tree.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> X = [["a"], ["b"], ["c"]]
    >>> clf = OptimalTreeClassifier(max_depth=1).fit(X, ["no", "yes", "no"])
    >>> clf.to_sklearn()
    Traceback (most recent call last):
        ...
    provetree.export.sklearn.UnsupportedTreeError: scikit-learn's trees split numbers only, and \
the split 'x0 = b' takes a category out of the middle of the codes: no threshold says the same. \
Use to_sklearn_pipeline, which makes a column of each.
    """


def to_sklearn(tree: Tree, *, classes: ArrayLike | None = None) -> DecisionTreeClassifier:
    """Return a fitted ``DecisionTreeClassifier`` that predicts as `tree` does.

    The nodes keep their numbers. Values must be given as scikit-learn takes them: numbers, which it
    rounds to float32, categories as their codes, and missing values as NaN.

    Parameters
    ----------
    tree : Tree
        The tree.
    classes : array-like of shape (n_classes,), default=None
        The labels; None takes the class names of the tree, or else 0, 1, and so on.

    Returns
    -------
    sklearn.tree.DecisionTreeClassifier
        A fitted classifier; its ``tree_`` holds the same splits, class shares and row
        counts.

    Raises
    ------
    UnsupportedTreeError
        If a category split sends a category left that is neither the first nor the last of those
        that can reach it, which no threshold on codes can do; or if a leaf predicts another class
        than the heaviest, which scikit-learn's trees always predict.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.export import to_sklearn
    >>> nan = float("nan")
    >>> tree = Tree(feature=[0, -1, -1], threshold=[37.5, nan, nan],
    ...             value=[[0, 0], [8, 2], [1, 9]], n_samples=[0, 10, 10],
    ...             n_features=1, feature_names=["age"], class_names=["no", "yes"])
    >>> from sklearn.tree import export_text
    >>> print(export_text(to_sklearn(tree), feature_names=["age"], show_weights=True))
    |--- age <= 37.50
    |   |--- weights: [8.00, 2.00] class: no
    |--- age >  37.50
    |   |--- weights: [1.00, 9.00] class: yes
    <BLANKLINE>
    """
    _must_predict(tree, "classes", "a DecisionTreeClassifier", "to_sklearn_regressor")
    labels = _labels(tree, classes)
    if tree.has_other_labels:
        raise UnsupportedTreeError(
            "scikit-learn's trees predict the heaviest class of a leaf, and a leaf of this tree "
            "predicts another one."
        )
    model = DecisionTreeClassifier(max_depth=1).fit(
        np.zeros((tree.n_classes, tree.n_features), dtype=np.float32), np.arange(tree.n_classes)
    )
    # Up to scikit-learn 1.3 the values are class totals, from 1.4 on class shares.
    in_shares = abs(model.tree_.value[0].sum() - 1.0) < 0.5 or tree.n_classes == 1

    each = tree.probabilities()
    values = each if in_shares else each * tree.weight[:, np.newaxis]
    impurity = 1.0 - np.square(tree.shares()).sum(axis=1)
    _fill(model, tree, values[:, np.newaxis, :], impurity)
    model.classes_ = labels
    model.n_classes_ = tree.n_classes
    return model


def to_sklearn_regressor(tree: Tree) -> DecisionTreeRegressor:
    """Return a fitted ``DecisionTreeRegressor`` that predicts as `tree` does.

    The nodes keep their numbers, and predictions are the same numbers. Values must be given as for
    :func:`to_sklearn`.

    Parameters
    ----------
    tree : Tree
        A tree of numbers.

    Returns
    -------
    sklearn.tree.DecisionTreeRegressor
        A fitted regressor. The impurity of a node is its variance, or its mean absolute deviation
        where the numbers are medians, as scikit-learn has it: the mean over the outputs. Older
        versions of scikit-learn read no missing values in trees of medians: there the model's
        ``criterion`` is "squared_error", and the predictions are the same.

    Raises
    ------
    UnsupportedTreeError
        If a category split sends a category left that is neither the first nor the last of those
        that can reach it, which no threshold on codes can do.

    Examples
    --------
    >>> from provetree import OptimalTreeRegressor
    >>> from provetree.export import to_sklearn_regressor
    >>> reg = OptimalTreeRegressor(max_depth=1).fit([[1], [2], [3]], [0.5, 4.0, 5.0])
    >>> to_sklearn_regressor(reg.tree_).tree_.impurity.tolist()[1:]
    [0.0, 0.25]
    """
    values = tree.values
    if not isinstance(values, Numbers):
        raise _other_kind(tree, "a DecisionTreeRegressor", "to_sklearn")
    squared = values.statistic == "mean"
    n_outputs = tree.n_classes
    rows = np.zeros((2, tree.n_features), dtype=np.float32)
    toy = np.zeros((2, n_outputs) if n_outputs > 1 else 2)
    model = DecisionTreeRegressor(max_depth=1).fit(rows, toy)
    if not squared:
        of_medians = DecisionTreeRegressor(max_depth=1, criterion="absolute_error").fit(rows, toy)
        model = of_medians if _reads_missing_values(of_medians) else model
    impurity = (np.square(values.spread) if squared else values.spread).mean(axis=1)
    _fill(model, tree, tree.value[:, :, np.newaxis], impurity)
    return model


def _reads_missing_values(model: DecisionTreeRegressor) -> bool:
    try:
        model.predict(np.full((1, model.n_features_in_), np.nan))
    except ValueError:
        return False
    return True


def _must_predict(tree: Tree, kind: str, what: str, instead: str) -> None:
    if tree.kind != kind:
        raise _other_kind(tree, what, instead)


def _other_kind(tree: Tree, what: str, instead: str) -> UnsupportedTreeError:
    if tree.kind == "actions":
        return UnsupportedTreeError(f"scikit-learn has no trees of actions to make {what} of.")
    return UnsupportedTreeError(f"{what} has no {tree.kind} to predict: use {instead}.")


def _fill(model: Any, tree: Tree, values: Float, impurity: Float) -> None:
    """Put a tree into a model that was fitted on a toy table."""
    _must_ask_one_column(tree)
    make, arguments, state = model.tree_.__reduce__()
    inner = make(*arguments)
    inner.__setstate__(
        {
            **state,
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": _nodes(tree, impurity, state["nodes"].dtype),
            "values": np.ascontiguousarray(values, dtype=np.float64),
        }
    )
    model.tree_ = inner
    model.set_params(max_depth=max(1, tree.depth))
    if tree.feature_names is not None:
        model.feature_names_in_ = np.asarray(tree.feature_names, dtype=object)


def _must_ask_one_column(tree: Tree) -> None:
    for node in np.flatnonzero(tree.feature >= tree.n_features).tolist():
        raise UnsupportedTreeError(
            "scikit-learn's trees split one column at a time, and the split "
            f"'{split_text(tree, node)}' is about two: use to_sklearn_pipeline, which adds their "
            "sum as a column."
        )


def _labels(tree: Tree, classes: ArrayLike | None) -> NDArray[Any]:
    labels = np.asarray(tree.labels if classes is None else classes)
    if labels.shape != (tree.n_classes,):
        raise ValueError(
            f"The 'classes' parameter of to_sklearn must hold the {tree.n_classes} labels of the "
            f"tree. Got an array of shape {labels.shape} instead."
        )
    return labels


def _nodes(tree: Tree, impurity: Float, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Fill scikit-learn's node array; the fields it may gain in future stay zero."""
    split = tree.feature >= 0
    left, right = tree.left.copy(), tree.right.copy()
    threshold, missing_left = tree.threshold.copy(), tree.missing_left.copy()

    missing_alone = split & np.isnan(threshold) & (tree.category < 0)
    for node, reaching in _reaching_codes(tree).items():
        going = reaching.intersection(tree.codes_left(node))
        rest = reaching - going
        if tree.codes_left(node) == (len(tree.categories[int(tree.feature[node])] or ()),):
            missing_alone[node] = True  # "missing" is the category
        elif not rest or max(going, default=-1) < min(rest):
            threshold[node] = max(going, default=-1) + 0.5
        elif min(going) > max(rest):
            # The highest codes go left: the two sides change places.
            threshold[node] = min(going) - 0.5
            left[node], right[node] = right[node], left[node]
            missing_left[node] = not missing_left[node]
        else:
            what = "categories" if len(going) > 1 else "a category"
            raise UnsupportedTreeError(
                "scikit-learn's trees split numbers only, and the split "
                f"'{split_text(tree, node)}' takes {what} out of the middle of the codes: no "
                "threshold says the same. Use to_sklearn_pipeline, which makes a column of each."
            )
    # scikit-learn writes "is it missing?" as numbers left and missing values right.
    left[missing_alone], right[missing_alone] = right[missing_alone], left[missing_alone]
    threshold[missing_alone], missing_left[missing_alone] = np.inf, False

    fields = {
        "left_child": np.where(split, left, _LEAF),
        "right_child": np.where(split, right, _LEAF),
        "feature": np.where(split, tree.feature, _NO_FEATURE),
        "threshold": np.where(split, threshold, _NO_THRESHOLD),
        "impurity": impurity,
        "n_node_samples": tree.n_samples,
        "weighted_n_node_samples": tree.weight,
        "missing_go_to_left": missing_left & split,
    }
    nodes = np.zeros(tree.n_nodes, dtype=dtype)
    for name, column in fields.items():
        nodes[name] = column
    return nodes


def _reaching_codes(tree: Tree) -> dict[int, set[int]]:
    """Return, for each category split, the codes of its feature that can reach it."""
    reaching: dict[int, set[int]] = {}
    waiting: list[tuple[int, dict[int, set[int]]]] = [(0, {})]
    while waiting:
        node, known = waiting.pop()
        feature, own = int(tree.feature[node]), set(tree.codes_left(node))
        if feature < 0:
            continue
        left = right = known
        if own:
            codes = known.get(feature, set(range(len(tree.categories[feature] or ()))))
            reaching[node] = codes
            left, right = {**known, feature: codes & own}, {**known, feature: codes - own}
        waiting += [(int(tree.left[node]), left), (int(tree.right[node]), right)]
    return reaching
