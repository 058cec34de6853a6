"""The options of the tuning path and of its estimator, made from the table of the trees."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from provetree.options import (
    _NONE,
    REGRESSOR_OPTIONS,
    TREE_OPTIONS,
    Allowed,
    Option,
    _float,
    _word,
)
from provetree.problem.losses import LOSSES

__all__ = [
    "CRITERIA",
    "CV_LEAST_ROWS",
    "CV_OPTIONS",
    "DEEPEST",
    "FOLDS",
    "FOREST_SHARES",
    "LEAST_ROWS",
    "MAX_WORK",
    "MOST_LEAVES",
    "PATH_OPTIONS",
    "REGRESSOR_CV_OPTIONS",
    "SHRINKAGE",
    "TRIED_CRITERIA",
    "WORTH_OF_DEPTH",
]

#: The depth and the leaves where a classifier is not told: trees of sixteen leaves can be read, and
#: good ones are seldom deeper.
DEEPEST, MOST_LEAVES = 7, 16
#: What share of the cost of a single leaf a tree deeper than four must save then.
WORTH_OF_DEPTH = 0.01
#: The criteria of classes, and those that a classifier chooses from where it is not told; the first
#: wins where scores are equal. On half of the tables of ``bench new-rows`` these two alone chose
#: better than all four: more candidates are more noise.
CRITERIA = ("errors", "gini", "entropy", "pessimistic")
TRIED_CRITERIA = ("errors", "gini")
#: The least rows of a leaf that a classifier chooses from; the first is tried with all criteria. 20
#: is tried with Gini: the accuracy is the same, and the AUC better, on those tables.
CV_LEAST_ROWS = (5, 1, 20)

#: The least rows of a leaf that a regressor chooses from; the first is tried with all shares.
LEAST_ROWS = (5, 1, 20)
#: The shares of a forest in the targets that it chooses from, and how its leaves are shrunk.
FOREST_SHARES = (1.0, 0.0)
SHRINKAGE = 5.0
#: The most steps of its longest search: about a second.
MAX_WORK = 100_000_000

_tree = {option.name: option for option in TREE_OPTIONS}
_regressor = {option.name: option for option in REGRESSOR_OPTIONS}


def _holds_cv(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return value >= 2
    if isinstance(value, (str, bytes)):  # which have a "split" of their own
        return False
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
    _tree["splits"],
    _tree["n_angles"],
    _tree["category_splits"],
    _tree["n_jobs"],
)

_FOLDS = Option(
    "cv", 5, (_CV,), "The folds, as in scikit-learn; an int shuffles with a fixed seed."
)
#: The same where trees are of use without folds.
FOLDS = replace(_FOLDS, allowed=(_CV, _NONE))
_JOBS = Option(
    "n_jobs",
    None,
    _tree["n_jobs"].allowed,
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


def _or_several(option: Option) -> Option:
    """Return an option that takes one value or several to choose from."""

    def holds(value: object) -> bool:
        if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            return False
        each = list(value)
        return bool(each) and all(any(kind.holds(x) for kind in option.allowed) for x in each)

    several = Allowed("a list of such numbers to choose from", "list", holds)
    return replace(option, allowed=(*option.allowed, several))


_LEAST_OF_SEVERAL = _or_several(
    replace(
        _tree["min_samples_leaf"],
        help="The least number of rows in a leaf, or the least share of the rows. Of several, the "
        "one of the best cross-validated score is taken.",
    )
)


def _holds_criteria(value: object) -> bool:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return False
    each = list(value)
    return bool(each) and all(word in CRITERIA for word in each)


def _holds_splits(value: object) -> bool:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return False
    each = list(value)
    return bool(each) and all(word in ("columns", "pairs") for word in each)


def _holds_scoring(value: object) -> bool:
    return isinstance(value, str) or callable(value)


_SCORER = Allowed(
    "the name of a scorer of scikit-learn, a callable", "str, callable", _holds_scoring
)

_SPLITS = Option(
    "splits",
    "auto",
    (
        _word("auto"),
        _word("columns"),
        _word("pairs"),
        Allowed('a list of "columns" and "pairs"', "list", _holds_splits),
    ),
    'What splits may be about: "columns" (one column), "pairs" (also sums of two of the eight '
    "columns of numbers that matter most to a forest), or a list of both to choose from. "
    'Pairs are taken where they are clearly better on the rows held out. "auto" chooses from '
    "both within a time limit, and is one column without.",
)

#: The options of :class:`provetree.OptimalTreeCV`, in the order of its parameters.
CV_OPTIONS: tuple[Option, ...] = (
    replace(
        _tree["max_depth"],
        default=None,
        allowed=(*_tree["max_depth"].allowed, _NONE),
        help="The greatest depth of the tree: the number of splits between the root and its "
        "deepest leaf. None is 4, or up to 7 where deeper trees of the same leaves have a "
        "hundredth fewer errors (of those that a single leaf has).",
    ),
    replace(
        _LEAVES,
        help="The greatest number of leaves that is tried. None is as many as the depth allows and "
        "at most 32; without a depth, 16.",
    ),
    replace(
        _LEAST_OF_SEVERAL,
        default=CV_LEAST_ROWS,
        help="The least number of rows in a leaf, or the least share of the rows. Of several, the "
        "one of the best cross-validated score is taken. The first is tried with every criterion, "
        "smaller ones where they may win, larger ones with all criteria but errors.",
    ),
    replace(
        _tree["class_weight"],
        default="auto",
        allowed=(_word("auto"), *_tree["class_weight"].allowed),
        help='Weights of the classes in training. "auto" chooses: for the accuracy and for '
        "probabilities classes weigh nothing extra, for balanced accuracy they are balanced, for "
        "other scores it also tries balanced classes, and classes half way to that. A dict gives "
        'the weight of each label; "balanced" gives every class the same total weight; None is '
        "weight 1 for all.",
    ),
    _tree["categorical_features"],
    replace(
        _SECONDS,
        default=60.0,
        help="The greatest number of seconds for the whole fit: all that is tried, and the proof. "
        "Easy tables need less. None means no limit: every tree of every fold is proven, which can "
        "take hours.",
    ),
    replace(
        _FOLDS,
        help="The folds, as in scikit-learn. An int makes stratified folds with a fixed seed, and "
        "repeats them where rows are few (for balanced accuracy: those of the rarest class), as "
        "far as there is time.",
    ),
    _rule("best"),
    _JOBS,
    Option(
        "criterion",
        TRIED_CRITERIA,
        (
            *_tree["criterion"].allowed,
            Allowed("a list of these", "list", _holds_criteria),
        ),
        'What the trees minimise: "errors", "gini", "entropy" or "pessimistic". Of several, the '
        "one of the best cross-validated score is taken.",
    ),
    Option(
        "scoring",
        None,
        (_SCORER, _tree["cost_matrix"].allowed[0], _tree["cost_matrix"].allowed[1], _NONE),
        "What is good on rows held out: the name of a scorer of scikit-learn such as "
        '"balanced_accuracy", "roc_auc", "f1" or "neg_log_loss", a callable ``(model, X, y)``, or '
        "the costs of predictions as in ``cost_matrix`` of "
        ":class:`~provetree.OptimalTreeClassifier`. None is the accuracy, by the class weights "
        "where they are given.",
    ),
    _tree["verbose"],
    replace(
        _tree["probabilities"],
        default="auto",
        allowed=(_word("auto"), *_tree["probabilities"].allowed),
        help='What ``predict_proba`` and all exports give. "auto" chooses the smoothing of the '
        "least log loss on the rows held out; the others are those of "
        ":class:`~provetree.OptimalTreeClassifier`.",
    ),
    _SPLITS,
)

#: The options of :class:`provetree.OptimalTreeRegressorCV`, in the order of its parameters.
REGRESSOR_CV_OPTIONS: tuple[Option, ...] = (
    replace(_tree["max_depth"], default=6),
    _regressor["criterion"],
    replace(
        _LEAVES,
        default=16,
        help="The greatest number of leaves to choose from. None is as many as the depth allows, "
        "and at most 32.",
    ),
    replace(
        _LEAST_OF_SEVERAL,
        default=LEAST_ROWS,
        help="The least number of rows in a leaf, or the least share of the rows. Of several, the "
        "first is tried with every `forest_share`, the others with the first `forest_share`.",
    ),
    _tree["categorical_features"],
    _SECONDS,
    _FOLDS,
    _rule("best"),
    _JOBS,
    _or_several(
        Option(
            "forest_share",
            FOREST_SHARES,
            (_float(0.0, 1.0, "[]"),),
            "The share of a forest in the targets that splits are chosen for: what boosted trees "
            "predict for rows that they were grown without. The leaves hold the targets as they "
            "are. A tree that was chosen so carries no proof.",
        )
    ),
    _or_several(
        Option(
            "shrinkage",
            SHRINKAGE,
            (_float(0.0, math.inf, "[)"),),
            "How much leaves are shrunk towards the nodes above them: a split of so much weight "
            "makes half of its step. 0 keeps the means of the leaves, and their proof.",
        )
    ),
    replace(
        _tree["max_work"],
        default=MAX_WORK,
        help="The greatest number of steps for the tree of the chosen size; searches in folds get "
        "a tenth of it, those of other sizes a fiftieth. A step is one row examined in one column; "
        "a core does some hundred million a second. Sizes that are not proven by then say so. None "
        "means no limit.",
    ),
    replace(
        _SPLITS,
        help='What splits may be about: "columns" (one column), "pairs" (also sums of two of the '
        "eight columns of numbers that matter most to a forest), or a list of both to choose from: "
        "the second is tried with the first of every other list. Pairs are taken where they are "
        'clearly better on the rows held out. "auto" chooses from both where searches have a '
        "limit, and is one column otherwise.",
    ),
)
