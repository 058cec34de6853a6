"""The options of the tuning path and of its estimator, made from the table of the trees."""

from __future__ import annotations

from dataclasses import replace

from provetree.options import _NONE, TREE_OPTIONS, Allowed, Option, _word

__all__ = ["CV_OPTIONS", "PATH_OPTIONS"]

_tree = {option.name: option for option in TREE_OPTIONS}


def _holds_cv(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return value >= 2
    return hasattr(value, "split") or hasattr(value, "__iter__")


_CV = Allowed("an int in the range [2, inf), a splitter or an iterable of folds", "int", _holds_cv)

#: The options of :func:`provetree.tuning_path` that are those of trees.
PATH_OPTIONS: tuple[Option, ...] = (
    _tree["max_depth"],
    replace(
        _tree["max_leaf_nodes"],
        help="Where the path ends: its greatest number of leaves. None is as many as the depth "
        "allows, and at most 32.",
    ),
    _tree["min_samples_leaf"],
    _tree["class_weight"],
    _tree["categorical_features"],
    replace(
        _tree["time_limit"],
        help="The greatest number of seconds for each path; there is one for each fold and one "
        "for all rows. Sizes that are not proven by then say so. None means no limit.",
    ),
)

#: The options of :class:`provetree.OptimalTreeCV`, in the order of its parameters.
CV_OPTIONS: tuple[Option, ...] = (
    *PATH_OPTIONS,
    Option("cv", 5, (_CV,), "The folds, as in scikit-learn; an int shuffles with a fixed seed."),
    Option(
        "rule",
        "one_standard_error",
        tuple(_word(word) for word in ("one_standard_error", "best")),
        'How the size is chosen: "best" takes the best cross-validated score, '
        '"one_standard_error" the smallest size within one standard error of it.',
    ),
    Option(
        "n_jobs",
        None,
        (
            Allowed("an int", "int", lambda value: isinstance(value, int)),
            _NONE,
        ),
        "Tasks at once, as in joblib. None follows ``joblib.parallel_config``, which can name a "
        "cluster.",
    ),
)
