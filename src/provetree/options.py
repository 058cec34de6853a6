"""The options of the estimators, each written down once.

An :class:`Option` holds a parameter's name, default, allowed values and help text. The parameter
sections of the docstrings, the validation in ``fit`` and the flags of the command line are all made
from these tables, so that they cannot disagree. Nothing here knows scikit-learn.
"""

from __future__ import annotations

import math
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, TypeVar

__all__ = [
    "POLICY_OPTIONS",
    "REGRESSOR_OPTIONS",
    "TREE_OPTIONS",
    "Allowed",
    "Option",
    "ParameterError",
    "byte_count",
    "documented",
    "thread_count",
    "validate",
]

Documented = TypeVar("Documented", bound=type)

#: The docstrings are wrapped here, inside the margin of a class.
_HELP_WIDTH = 88
#: A value in an error message is cut at this many characters.
_SHOWN_LENGTH = 200


class ParameterError(ValueError, TypeError):
    """A parameter of an estimator has a value that is not allowed.

    It is both a ``ValueError`` and a ``TypeError``, as scikit-learn's own error for bad parameters
    is.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> OptimalTreeClassifier(max_depth=-1).fit([[0.0], [1.0]], [0, 1])
    Traceback (most recent call last):
        ...
    provetree.options.ParameterError: The 'max_depth' parameter of OptimalTreeClassifier must be \
an int in the range [0, inf). Got -1 instead.
    """


@dataclass(frozen=True)
class Allowed:
    """One kind of value that an option may have, in words for error messages and for docstrings."""

    sentence: str
    type_name: str
    holds: Callable[[object], bool]


def _is_bool(value: object) -> bool:
    # A value of NumPy's type can only be there where NumPy is loaded; the flags need none of it.
    numpy = sys.modules.get("numpy")
    return isinstance(value, bool) or (numpy is not None and isinstance(value, numpy.bool_))


def _int(low: int) -> Allowed:
    """Allow whole numbers of at least `low`; booleans are not numbers here."""

    def holds(value: object) -> bool:
        if type(value) is int:  # the common case, which asks no abstract class
            return value >= low
        return isinstance(value, Integral) and not _is_bool(value) and int(value) >= low

    return Allowed(f"an int in the range [{low}, inf)", "int", holds)


def _float(low: float, high: float, ends: str, *, ints: bool = True) -> Allowed:
    """Allow real numbers from `low` to `high`, the ends included as the brackets `ends` say.

    With `ints` false, values of an integer type are left to another kind of the option.
    """

    def holds(value: object) -> bool:
        if type(value) is not float:  # the common case, which asks no abstract class
            if not isinstance(value, Real) or _is_bool(value):
                return False
            if not ints and isinstance(value, Integral):
                return False
        try:
            number = float(value)
        except OverflowError:
            return False
        above = number >= low if ends[0] == "[" else number > low
        below = number <= high if ends[1] == "]" else number < high
        return above and below  # a NaN is neither

    return Allowed(f"a float in the range {ends[0]}{low}, {high}{ends[1]}", "float", holds)


def _word(word: str) -> Allowed:
    """Allow one string."""
    return Allowed(
        f"the str {word!r}", f'"{word}"', lambda value: isinstance(value, str) and value == word
    )


def _is_array_like(value: object) -> bool:
    if isinstance(value, (str, bytes, Mapping, Set)):
        return False
    # An array without dimensions has the methods of a sequence and cannot be used as one.
    return hasattr(value, "__len__") and getattr(value, "ndim", 1) == 1


def _is_table(value: object) -> bool:
    if isinstance(value, (str, bytes, Mapping, Set)):
        return False
    return hasattr(value, "__len__") and getattr(value, "ndim", 2) == 2


def _is_job_count(value: object) -> bool:
    return isinstance(value, Integral) and not _is_bool(value) and int(value) != 0


def _is_path(value: object) -> bool:
    return isinstance(value, (str, os.PathLike)) and bool(str(value))


#: Bytes of each unit of memory, by its name in small letters.
_UNITS = {"b": 1} | {
    letter + ending: base**power
    for power, letter in enumerate("kmgt", start=1)
    for ending, base in (("b", 1000), ("ib", 1024))
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?b)", re.IGNORECASE)


def _is_size(value: object) -> bool:
    size = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    return size is not None and size[2].lower() in _UNITS


def byte_count(value: int | str) -> int:
    """Return an amount of memory in bytes: a number, or words such as "4GB" or "512 MiB".

    Units are B, kB, MB, GB and TB (powers of 1000), KiB, MiB, GiB and TiB (powers of 1024).
    """
    size = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    return int(value) if size is None else int(Decimal(size[1]) * _UNITS[size[2].lower()])


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that ``n_jobs`` means, counted as joblib counts."""
    if n_jobs is None:
        return 1
    if n_jobs > 0:
        return int(n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) + 1 + int(n_jobs))


_BYTES = Allowed("a size such as '4GB'", "str", _is_size)
_PATH = Allowed("a path", "str or path", _is_path)
_JOBS = Allowed("an int other than 0", "int", _is_job_count)
_NONE = Allowed("None", "None", lambda value: value is None)
_BOOL = Allowed("a bool", "bool", _is_bool)
_DICT = Allowed("an instance of 'dict'", "dict", lambda value: isinstance(value, Mapping))
#: A table of numbers, whatever library it comes from.
_TABLE = Allowed("a 2D array-like", "array-like", _is_table)
#: What the array may hold is checked where it is used, with the table at hand.
_ARRAY_LIKE = Allowed("an array-like", "array-like", _is_array_like)


def _is_smoothing(value: object) -> bool:
    # Options know no trees; a Smoothing has checked itself when it was made.
    return type(value).__name__ == "Smoothing" and hasattr(value, "strength")


#: How many directions a pair of columns may have.
_MOST_ANGLES = 64


def _is_angle_count(value: object) -> bool:
    if not isinstance(value, Integral) or _is_bool(value):
        return False
    return 2 <= int(value) <= _MOST_ANGLES and int(value) % 2 == 0


def _is_list_of_columns(value: object) -> bool:
    if not isinstance(value, (list, tuple)):
        return False
    return all(isinstance(x, (str, Integral)) and not _is_bool(x) for x in value)


_ANGLES = Allowed(f"an even int in the range [2, {_MOST_ANGLES}]", "int", _is_angle_count)
_SMOOTHING = Allowed("a Smoothing", "Smoothing", _is_smoothing)


@dataclass(frozen=True)
class Option:
    """One parameter: its name, its default, the kinds of values it may have, and its help text.

    Examples
    --------
    >>> from provetree.options import TREE_OPTIONS
    >>> option = TREE_OPTIONS[1]
    >>> option.sentence
    'an int in the range [1, inf) or None'
    >>> print(option.documentation())
    max_leaf_nodes : int or None, default=None
        The greatest number of leaves. None means as many as the depth allows.
    """

    name: str
    default: object
    allowed: tuple[Allowed, ...]
    help: str

    @property
    def sentence(self) -> str:
        """All allowed values in words."""
        return _either([kind.sentence for kind in self.allowed])

    def check(self, value: object, owner: str) -> None:
        """Raise :class:`ParameterError` unless `value` is allowed."""
        for kind in self.allowed:
            if kind.holds(value):
                return
        raise ParameterError(
            f"The {self.name!r} parameter of {owner} must be {self.sentence}. "
            f"Got {_shown(value)} instead."
        )

    def documentation(self) -> str:
        """Write the parameter as a numpydoc entry."""
        kinds = _either([kind.type_name for kind in self.allowed])
        default = f'"{self.default}"' if isinstance(self.default, str) else repr(self.default)
        body = textwrap.fill(self.help, _HELP_WIDTH, break_long_words=False, break_on_hyphens=False)
        return f"{self.name} : {kinds}, default={default}\n{textwrap.indent(body, '    ')}"


def _either(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"


def _shown(value: object) -> str:
    """Write a value for an error message: on one line, and short."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN_LENGTH else text[: _SHOWN_LENGTH - 3] + "..."


def validate(options: Iterable[Option], values: Mapping[str, Any], owner: str) -> None:
    """Check the values of all options; the first one that is not allowed raises.

    Examples
    --------
    >>> from provetree.options import TREE_OPTIONS, validate
    >>> values = {option.name: option.default for option in TREE_OPTIONS}
    >>> validate(TREE_OPTIONS, values, "OptimalTreeClassifier")
    >>> validate(TREE_OPTIONS, {**values, "alpha": "small"}, "OptimalTreeClassifier")
    Traceback (most recent call last):
        ...
    provetree.options.ParameterError: The 'alpha' parameter of OptimalTreeClassifier must be \
a float in the range [0.0, inf). Got 'small' instead.
    """
    for option in options:
        value = values[option.name]
        if value is not option.default:  # a default is always allowed
            option.check(value, owner)


def documented(options: Iterable[Option]) -> Callable[[Documented], Documented]:
    """Decorate a class: put the options where its docstring says ``{parameters}``.

    Examples
    --------
    >>> from provetree.options import TREE_OPTIONS, documented
    >>> @documented(TREE_OPTIONS[1:2])
    ... class Shrub:
    ...     '''A small tree.
    ...
    ...     {parameters}
    ...     '''
    >>> "max_leaf_nodes : int or None, default=None" in Shrub.__doc__
    True
    """
    entries = "\n".join(option.documentation() for option in options)
    section = f"Parameters\n----------\n{entries}\n"

    def decorate(cls: Documented) -> Documented:
        if cls.__doc__ is not None:  # python -OO strips docstrings
            lines = []
            for line in cls.__doc__.splitlines(keepends=True):
                margin = line[: len(line) - len(line.lstrip())]
                marked = line.strip() == "{parameters}"
                lines.append(textwrap.indent(section, margin) if marked else line)
            cls.__doc__ = "".join(lines)
        return cls

    return decorate


#: The options of :class:`provetree.OptimalTreeClassifier`, in the order of its parameters.
TREE_OPTIONS: tuple[Option, ...] = (
    Option(
        "max_depth",
        3,
        (_int(0),),
        "The greatest depth of the tree: the number of splits between the root and its deepest "
        "leaf. 0 allows a single leaf only.",
    ),
    Option(
        "max_leaf_nodes",
        None,
        (_int(1), _NONE),
        "The greatest number of leaves. None means as many as the depth allows.",
    ),
    Option(
        "min_samples_leaf",
        1,
        (_int(1), _float(0.0, 1.0, "()", ints=False)),
        "The smallest number of rows in a leaf. A float is a share of the rows, rounded up. "
        "Weights do not matter here, except that rows of weight zero do not count.",
    ),
    Option(
        "alpha",
        0.0,
        (_float(0.0, math.inf, "[)"),),
        "The penalty for each split, as a share of the error of the best tree without splits: a "
        "split that saves less is not made. It is the complexity parameter ``cp`` of rpart.",
    ),
    Option(
        "class_weight",
        None,
        (_DICT, _word("balanced"), _NONE),
        "Weights of the classes, multiplied into the weights of the rows. A dict gives the weight "
        'of each label; labels it leaves out have weight 1. "balanced" gives every class the same '
        "total weight. None means weight 1 for all.",
    ),
    Option(
        "categorical_features",
        "from_dtype",
        (_word("from_dtype"), _ARRAY_LIKE, _NONE),
        'Which columns hold categories rather than ordered numbers. "from_dtype": those whose type '
        "says so, which is categories and strings. An array-like names them: a mask of booleans, "
        "positions, or column names. None: no column.",
    ),
    Option(
        "time_limit",
        None,
        (_float(0.0, math.inf, "(]"), _NONE),
        "The greatest number of seconds for the search. When they are over, ``fit`` keeps the best "
        'tree so far, ``status_`` is "time_limit", and ``lower_bound_`` and ``gap_`` say how far '
        "from the optimum that tree can be at most. None means no limit.",
    ),
    Option(
        "max_work",
        None,
        (_int(1), _NONE),
        "The greatest number of steps for the search. A step is one row examined in one column; "
        "a core does some hundred million a second. Unlike a time limit, it gives the same tree "
        'on every machine and in every run. At the limit ``status_`` is "work_limit". None means '
        "no limit.",
    ),
    Option(
        "max_memory",
        None,
        (_int(0), _BYTES, _NONE),
        "The memory that the search may use in addition to its table, in bytes or as a size such "
        'as "4GB". The rows at each level of the tree come first; caches get what is left, and '
        "shrink when it is used up. The optimum does not depend on it. With None caches hold "
        "128 MiB, and 64 MiB more for each further thread.",
    ),
    Option(
        "n_jobs",
        None,
        (_JOBS, _NONE),
        "The number of threads. -1 means one for each core, -2 one fewer, and so on; None means "
        "one. The optimum does not depend on it, and neither does the tree if the search is "
        "complete. Searches with ``max_work`` use one thread.",
    ),
    Option(
        "checkpoint",
        None,
        (_PATH, _NONE),
        "A file that keeps a long proof, written every 20 seconds and when the search is "
        "stopped. If it exists, ``fit`` continues from it; it must belong to the same table and "
        "limits. It is removed when the proof is complete. None keeps nothing.",
    ),
    Option(
        "verbose",
        0,
        (_int(0), _BOOL),
        "With 1, a live line on the standard error stream shows how far the search is: seconds, "
        "best cost, lower bound and gap. 0 is silent.",
    ),
    Option(
        "criterion",
        "errors",
        tuple(_word(word) for word in ("errors", "gini", "entropy", "pessimistic")),
        'What the tree minimises. "errors" adds up the weight of the rows it gets wrong. "gini" '
        'and "entropy" add up the impurity of its leaves, by their weight; "pessimistic" the '
        "errors that C4.5 expects in its leaves on new rows, at its confidence of 0.25, which "
        "needs whole weights. Leaves predict their heaviest class in any case.",
    ),
    Option(
        "cost_matrix",
        None,
        (_TABLE, _DICT, _NONE),
        "What each prediction costs, in place of 1 for each error: an array of shape (n_classes, "
        "n_classes) with the true classes as its rows and the predicted ones as its columns, in "
        "the order of ``classes_``; or a dict of costs of pairs ``(true label, predicted label)``, "
        "where right predictions that are left out cost 0 and wrong ones 1. Leaves predict their "
        "cheapest class. Costs are at least 0; those on the diagonal are what right predictions "
        "cost. None means errors.",
    ),
    Option(
        "probabilities",
        "shares",
        (*map(_word, ("shares", "laplace", "shrinkage")), _SMOOTHING),
        'What ``predict_proba`` and all exports give. "shares" are those of the training rows of '
        'a leaf. "laplace" adds one row of every class first; "shrinkage" draws a leaf towards '
        "the nodes above it, by a step counting half where its node has ten rows. A "
        ":class:`~provetree.Smoothing` has a strength of its own. Predictions stay the same.",
    ),
    Option(
        "splits",
        "columns",
        (_word("columns"), _word("pairs"), _word("ratios")),
        'What a split may be about. "columns": one column. "pairs": one column, or the sum of two '
        "columns of numbers with short coefficients, such as ``length - 2*width``. "
        '"ratios": also the ratio of two columns whose training values are all positive. The '
        "proof is for all trees of such splits.",
    ),
    Option(
        "n_angles",
        2,
        (_ANGLES,),
        "With pairs, the number of directions of each pair between one column alone and the other, "
        "an even number. 2 are the sum and the difference of the columns, on scales of equal "
        "spread; 6, 10, ... have them and others in between.",
    ),
    Option(
        "pair_columns",
        None,
        (
            Allowed("a list of names or positions of columns", "list", _is_list_of_columns),
            _NONE,
        ),
        "With pairs, the columns of numbers that sums are made of, by name or position. None is "
        "all of them.",
    ),
    Option(
        "category_splits",
        "one",
        (_word("one"), _word("groups")),
        'How a split divides categories. "one": one of them from the rest. "groups": any group of '
        "them from the rest, in columns of up to ten categories; in columns of more, the groups "
        "along the order of their class shares, mean targets or mean costs on all training rows. "
        "The proof is for all trees of such splits. Missing is a category of its own; categories "
        "that training did not know belong to the rest.",
    ),
    Option(
        "forbidden_columns",
        None,
        (_ARRAY_LIKE, _DICT, _NONE),
        "Columns that no split may be about, by name or position; or a dict of such lists by the "
        'path of a node ("" is the root, "LR" the right side of its left side), for the node and '
        "all below it. The splits above such a node must be in `fixed_splits`.",
    ),
    Option(
        "interaction_cst",
        None,
        (_word("pairwise"), _word("no_interactions"), _ARRAY_LIKE, _NONE),
        "Which columns may be on one path, as in scikit-learn's HistGradientBoostingClassifier: a "
        "list of groups of columns, of which each path keeps to one; columns in no group are one "
        "more. None allows all.",
    ),
    Option(
        "fixed_splits",
        None,
        (_DICT, _NONE),
        'Splits that stay, by the path of their node: ``{"": {"column": "age", "threshold": 40}, '
        '"L": {"column": "port", "categories": ["S", "C"]}, "R": {"leaf": True}}``. Those above '
        "must be given, too. Everything else is the best for it.",
    ),
    Option(
        "monotonic_cst",
        None,
        (_DICT, _ARRAY_LIKE, _NONE),
        "Which way predictions may go along columns of numbers, as in scikit-learn: 1 (the second "
        "class never becomes less likely as the column rises), -1 (never more likely) or 0 (either "
        "way), as an array or a dict by name. For errors of two classes. At each split on such a "
        "column no leaf of the one side predicts more than a leaf of the other.",
    ),
    Option(
        "column_costs",
        None,
        (_DICT, _NONE),
        "What it costs to ask about a column, once for the tree, in the units of the objective "
        '(errors): ``{"blood test": 3.5}``; ``{"blood test": (3.5, "path")}`` is paid once on each '
        "path that asks. It is part of the objective and of the bound.",
    ),
    Option(
        "executor",
        None,
        (_word("dask"), _NONE),
        'Who solves the splits of the root. "dask": the workers of the active client of '
        "``dask.distributed`` (the extra ``dask``), on this machine or on others; tree, bound and "
        "status are those of one thread. None: threads, see `n_jobs`.",
    ),
    Option(
        "refine_pairs",
        False,
        (_BOOL,),
        "Whether questions of the best tree of pairs are turned: at each split, all lines that "
        "divide its rows differently are tried for every pair of columns, and both sides are "
        "searched again. The tree is never worse. A better one is outside of the family that is "
        'proven: its ``status_`` is "feasible", and its bound holds for every tree.',
    ),
)

_BY_NAME = {option.name: option for option in TREE_OPTIONS}
#: Options of every estimator that searches, whatever its trees predict.
_OF_ANY_SEARCH = (
    "categorical_features",
    "time_limit",
    "max_work",
    "max_memory",
    "n_jobs",
    "checkpoint",
    "verbose",
    "splits",
    "n_angles",
    "pair_columns",
    "category_splits",
    "forbidden_columns",
    "interaction_cst",
    "fixed_splits",
    "column_costs",
    "executor",
)

#: The options of :class:`provetree.OptimalTreeRegressor`, in the order of its parameters.
REGRESSOR_OPTIONS: tuple[Option, ...] = (
    _BY_NAME["max_depth"],
    Option(
        "criterion",
        "squared_error",
        (_word("squared_error"), _word("absolute_error")),
        'What the tree minimises: "squared_error" adds up the squares of the errors, and leaves '
        'predict means; "absolute_error" adds up their sizes, and leaves predict medians.',
    ),
    _BY_NAME["max_leaf_nodes"],
    _BY_NAME["min_samples_leaf"],
    Option(
        "alpha",
        0.0,
        (_float(0.0, math.inf, "[)"),),
        "The penalty for each split, as a share of what the best tree without splits costs: a "
        "split that saves less is not made. So 0.01 asks for at least one hundredth of R² per "
        "split, whatever the scale of the targets. It is the complexity parameter ``cp`` of rpart.",
    ),
    *(_BY_NAME[name] for name in _OF_ANY_SEARCH),
)

#: The options of :class:`provetree.OptimalPolicyTree`, in the order of its parameters.
POLICY_OPTIONS: tuple[Option, ...] = (
    replace(_BY_NAME["max_depth"], default=2),
    _BY_NAME["max_leaf_nodes"],
    _BY_NAME["min_samples_leaf"],
    Option(
        "alpha",
        0.0,
        (_float(0.0, math.inf, "[)"),),
        "The penalty for each split, as a share of what the best single action loses against the "
        "best action of each row: a split that gains less is not made.",
    ),
    Option(
        "action_costs",
        None,
        (_DICT, _ARRAY_LIKE, _NONE),
        "A price for each action, taken off the reward of every row that gets it: a dict by "
        "action, where those left out cost nothing, or an array. None means no costs.",
    ),
    Option(
        "budget",
        None,
        (_DICT, _ARRAY_LIKE, _NONE),
        "The largest share of the training rows, by weight, that may get an action: a dict such "
        'as ``{"treat": 0.3}``, or an array with 1 for actions without a limit, of which there '
        "must be one. The tree is then the best at the prices in ``prices_``, which the search "
        "finds; it takes several searches. None means no limits.",
    ),
    *(_BY_NAME[name] for name in _OF_ANY_SEARCH),
)
