"""The options of :class:`provetree.DL85Classifier` and :class:`provetree.Binarizer`."""

from __future__ import annotations

from provetree.options import (
    _BOOL,
    _NONE,
    TREE_OPTIONS,
    Allowed,
    Option,
    _float,
    _int,
    _word,
)

__all__ = ["BINARIZER_OPTIONS", "DL85_OPTIONS"]

_SHARED = {option.name: option for option in TREE_OPTIONS}


def _is_function(value: object) -> bool:
    return callable(value) or type(value).__name__ in ("LeafCost", "LowLevelCallable")


def _is_matrix(value: object) -> bool:
    return not isinstance(value, (str, bytes)) and hasattr(value, "__len__")


#: The number of classes is known only in ``fit``, which checks it.
_MATRIX = Allowed("a square array-like", "array-like of shape (n_classes, n_classes)", _is_matrix)
_FUNCTION = Allowed("a callable, a compiled function or a LeafCost", "callable", _is_function)

#: The options of :class:`provetree.DL85Classifier`, in the order of its parameters.
DL85_OPTIONS: tuple[Option, ...] = (
    Option(
        "max_depth",
        3,
        (_int(0), _NONE),
        "The greatest depth of the tree. None means no limit, as DL8 allows: different rows can "
        "then always be separated, so use it with a `min_support`.",
    ),
    Option(
        "min_support",
        1,
        (_int(1), _float(0.0, 1.0, "()", ints=False)),
        "The smallest number of rows in a leaf. A float is a share of the rows, rounded up. "
        "Weights do not matter here, except that rows of weight zero do not count.",
    ),
    Option(
        "branching",
        "information_gain",
        (_word("information_gain"), _word("information_gain_ascending"), _word("data_order")),
        "The order in which columns are tried at a node: by falling or by rising information gain, "
        "or as they stand in the table. Columns that gain the same are tried as they stand.",
    ),
    Option(
        "cache_partial_results",
        True,
        (_BOOL,),
        "Whether DL8.5 keeps in its cache also that no tree was found for a bound. False is the "
        "paper's variant without partial solutions; DL8 has none.",
    ),
    Option(
        "algorithm",
        "dl8.5",
        (_word("dl8.5"), _word("dl8")),
        "The algorithm: DL8.5 with bounds, or DL8 without.",
    ),
    _SHARED["time_limit"],
    Option(
        "leaf_cost",
        None,
        (_FUNCTION, _NONE),
        "What a leaf costs, instead of its errors: a function of the array of class weights in the "
        "leaf that returns a cost >= 0, or the cost and the position of the class to predict. "
        "Compiled functions and functions of row positions are given as a :class:`LeafCost`.",
    ),
    Option(
        "cost_matrix",
        None,
        (_MATRIX, _NONE),
        "Costs of predictions, instead of errors: ``cost_matrix[i][j]`` is what a row of the class "
        "``classes_[i]`` costs where ``classes_[j]`` is predicted, times its weight.",
    ),
    _SHARED["class_weight"],
    Option(
        "memory_limit",
        2**29,
        (_int(0),),
        "Bytes that the cache of itemsets may hold. When it is full, itemsets not used for long "
        "are dropped: the search may take longer, and finds the same tree.",
    ),
    Option(
        "count_itemsets",
        False,
        (_BOOL,),
        "Whether to count the distinct itemsets visited, as the paper does, in "
        '``counters_["itemsets_visited"]``. It takes time, and memory beyond `memory_limit`.',
    ),
    _SHARED["verbose"],
)

#: The options of :class:`provetree.Binarizer`, in the order of its parameters.
BINARIZER_OPTIONS: tuple[Option, ...] = (
    Option(
        "strategy",
        "quantile",
        (_word("all"), _word("quantile"), _word("optimal-depth-one")),
        'Which thresholds a column of numbers gets. "all": one between each two neighbouring '
        'values. "quantile": `n_thresholds` of these, so that about the same number of rows lies '
        'between them. "optimal-depth-one": only those beside which rows of different classes lie, '
        "among which the best single split always is; it needs the labels.",
    ),
    Option(
        "n_thresholds",
        8,
        (_int(1),),
        'The greatest number of thresholds of a column, for the strategy "quantile".',
    ),
    Option(
        "missing",
        "both",
        (_word("both"), _word("separate"), _word("error")),
        "What becomes of missing numbers. Either way a column that has some gets a column "
        '``is missing``. "both": each threshold comes twice, with the missing values on either '
        'side. "separate": missing values are never below a threshold. "error": they are refused. '
        "Among categories, missing is a category of its own.",
    ),
    _SHARED["categorical_features"],
)
