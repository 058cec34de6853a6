"""The options of the tuning path and of its estimator, made from the table of the trees."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from provetree.options import (
    _NONE,
    REGRESSOR_OPTIONS,
    TREE_OPTIONS,
    Allowed,
    Option,
    _word,
)
from provetree.problem.losses import LOSSES

__all__ = ["CV_OPTIONS", "LEAST_ROWS", "PATH_OPTIONS", "REGRESSOR_CV_OPTIONS"]

#: The least rows of a leaf that a regressor chooses from.
LEAST_ROWS = (1, 5, 20)

_tree = {option.name: option for option in TREE_OPTIONS}
_regressor = {option.name: option for option in REGRESSOR_OPTIONS}


def _holds_cv(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return value >= 2
    return hasattr(value, "split") or hasattr(value, "__iter__")


_CV = Allowed("an int in the range [2, inf), a splitter or an iterable of folds", "int", _holds_cv)

_LEAVES = replace(
    _tree["max_leaf_nodes"],
    help="Where the path ends: its greatest number of leaves. None is as many as the depth "
    "allows, and at most 32.",
)
_SECONDS = replace(
    _tree["time_limit"],
    help="The greatest number of seconds for all folds and all rows together. Sizes that are not "
    "proven by then say so. None means no limit.",
)

#: The options of trees that choose their own number of leaves.
_SIZED: tuple[Option, ...] = (
    _tree["max_depth"],
    _LEAVES,
    _tree["min_samples_leaf"],
    _tree["class_weight"],
    _tree["categorical_features"],
    _SECONDS,
)

#: The options of :func:`provetree.tuning_path` that are those of trees.
PATH_OPTIONS: tuple[Option, ...] = (
    Option(
        "criterion",
        "errors",
        tuple(_word(loss) for loss in LOSSES if loss != "linear"),
        "What the trees minimise.",
    ),
    *_SIZED,
)

_FOLDS = Option(
    "cv", 5, (_CV,), "The folds, as in scikit-learn; an int shuffles with a fixed seed."
)
_JOBS = Option(
    "n_jobs",
    None,
    (
        Allowed("an int", "int", lambda value: isinstance(value, int)),
        _NONE,
    ),
    "Tasks at once, as in joblib. None follows ``joblib.parallel_config``, which can name a "
    "cluster.",
)


def _rule(default: str) -> Option:
    return Option(
        "rule",
        default,
        tuple(_word(word) for word in ("one_standard_error", "best")),
        'How the size is chosen: "best" takes the best cross-validated score, '
        '"one_standard_error" the smallest size within one standard error of it.',
    )


#: The options of :class:`provetree.OptimalTreeCV`, in the order of its parameters.
CV_OPTIONS: tuple[Option, ...] = (
    *_SIZED,
    _FOLDS,
    _rule("one_standard_error"),
    _JOBS,
    _tree["criterion"],
)


def _holds_leasts(value: object) -> bool:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return False
    each = list(value)
    return bool(each) and all(
        any(kind.holds(least) for kind in _tree["min_samples_leaf"].allowed) for least in each
    )


_LEASTS = Allowed("a list of such numbers to choose from", "list", _holds_leasts)

#: The options of :class:`provetree.OptimalTreeRegressorCV`, in the order of its parameters.
REGRESSOR_CV_OPTIONS: tuple[Option, ...] = (
    _tree["max_depth"],
    _regressor["criterion"],
    _LEAVES,
    replace(
        _tree["min_samples_leaf"],
        default=LEAST_ROWS,
        allowed=(*_tree["min_samples_leaf"].allowed, _LEASTS),
        help="The least number of rows in a leaf, or the least share of the rows. Of several, the "
        "one of the best cross-validated score is taken.",
    ),
    _tree["categorical_features"],
    _SECONDS,
    _FOLDS,
    _rule("best"),
    _JOBS,
)
