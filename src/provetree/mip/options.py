"""The options of the classifier that solves mixed-integer models, each written down once."""

from __future__ import annotations

import math

from provetree.options import (
    _BOOL,
    _DICT,
    _JOBS,
    _NONE,
    TREE_OPTIONS,
    Allowed,
    Option,
    _float,
    _int,
    _word,
)
from provetree.solvers.options import SOLVER_VALUES
from provetree.tree.start_tree import holds_tree

__all__ = ["MIP_OPTIONS"]


_TREE = Allowed("a fitted tree", "Tree", holds_tree)
#: scikit-learn's checks switch the ``warm_start`` of other estimators off with it.
_FALSE = Allowed("False", "False", lambda value: value is False)
_ANYTHING = Allowed("a label", "label", lambda value: True)
_RATE = _float(0.0, 1.0, "[]")
_TREE_OPTION = {option.name: option for option in TREE_OPTIONS}

MIP_OPTIONS: tuple[Option, ...] = (
    Option(
        "formulation",
        "oct",
        (_word("oct"), _word("oct-h"), _word("p"), _word("binoct"), _word("flowoct")),
        'The model: "oct" of Bertsimas and Dunn, their "oct-h" with hyperplanes, "p" of Ales, Huré '
        'and Lambert, "binoct" of Verwer and Zhang, or "flowoct" of Aghaei, Gómez and Vayanos.',
    ),
    Option(
        "max_depth",
        2,
        (_int(0),),
        "The greatest depth of the tree. Models grow with two to the power of it.",
    ),
    _TREE_OPTION["min_samples_leaf"],
    Option(
        "alpha",
        0.0,
        (_float(0.0, math.inf, "[)"),),
        'The penalty for each split, as a share of the ``baseline``; in "oct-h" for each column of '
        'each split. Model "p" has a penalty of its own, and takes 0 only.',
    ),
    Option(
        "max_splits",
        None,
        (_int(0), _NONE),
        'The greatest number of splits; it is gamma of model "p". None means as many as the depth '
        "allows.",
    ),
    Option(
        "baseline",
        "majority",
        (_word("majority"), _word("error")),
        "What ``alpha`` is a share of: the weight of the largest class, as the tables of the "
        "thesis on OCT have it, or the weight of all others, the error of a tree without splits.",
    ),
    Option(
        "solver",
        "highs",
        SOLVER_VALUES,
        "The solver. HiGHS is always installed; the others need the extras ``gurobi``, ``scip`` "
        "and ``cpsat``. An object with the method of ``provetree.solvers.solver.Solver`` is used "
        "as it is.",
    ),
    Option(
        "warm_start",
        "cart",
        (_word("cart"), _word("search"), _TREE, _NONE, _FALSE),
        'What the solver starts from: the tree of CART, that of the exact search ("search", for '
        '"oct-h" on sums of two columns and with half of the time at most), a given tree, or '
        "nothing. A given tree (a ``Tree``, a fitted classifier of this library, "
        "or a fitted ``DecisionTreeClassifier``) must satisfy all limits.",
    ),
    Option(
        "tighten",
        False,
        (_BOOL,),
        "Whether to solve a stronger form of the model: thresholds chosen among all cuts instead "
        "of big-M, and cuts against copies of trees. The optimum is the same.",
    ),
    Option(
        "scaling",
        "minmax",
        (_word("minmax"), _word("rank")),
        'How "oct" and "p" bring columns to 0..1: by their values, as published, or by their '
        "ranks, which keeps gaps from getting too small for a solver. The trees are the same.",
    ),
    Option(
        "merge_rows",
        True,
        (_BOOL,),
        "Whether equal rows of a class are one row of the model. The optimum is the same.",
    ),
    Option(
        "min_recall",
        None,
        (_RATE, _DICT, _NONE),
        "The smallest share of the weight of each class that must be predicted correctly; a dict "
        "gives it for some labels.",
    ),
    Option(
        "max_false_positive_rate",
        None,
        (_RATE, _DICT, _NONE),
        "The greatest share of the weight of all other classes that may be predicted to be of the "
        "positive class; a dict gives it for some labels.",
    ),
    Option(
        "max_parity_gap",
        None,
        (_RATE, _NONE),
        "The largest difference of the shares predicted positive between two groups of "
        "``sensitive_features``.",
    ),
    Option(
        "positive_label",
        None,
        (_ANYTHING, _NONE),
        "The positive class of rates. None means the second of two labels.",
    ),
    Option(
        "max_column_uses",
        None,
        (_DICT, _NONE),
        "How many splits may use a column: a dict from column names or positions to numbers. A "
        "tuple of columns has one number for all of them together.",
    ),
    Option(
        "max_columns_per_split",
        None,
        (_int(1), _NONE),
        'The most columns that a question of "oct-h" may be about. None means all.',
    ),
    Option(
        "split_gap",
        0.005,
        (_float(1e-4, 0.5, "[]"),),
        'Mu of "oct-h": how far apart the two sides of a question must be, on columns from 0 to 1 '
        "and coefficients that sum to 1. The proof is for such questions. Solvers cannot tell "
        "apart much less than 1e-4.",
    ),
    _TREE_OPTION["class_weight"],
    _TREE_OPTION["categorical_features"],
    Option(
        "time_limit",
        None,
        (_float(0.0, math.inf, "(]"), _NONE),
        "The greatest number of seconds for building and solving. When they are over, ``fit`` "
        "keeps the best tree so far with the solver's bound. None means no limit.",
    ),
    Option(
        "mip_gap",
        0.0,
        (_float(0.0, 1.0, "[)"),),
        "The relative gap at which the solver may stop. With 0 it stops at a proof.",
    ),
    Option(
        "n_jobs",
        None,
        (_JOBS, _NONE),
        "The number of threads of the solver. -1 means one for each core, -2 one fewer, and so "
        "on. None leaves it to the solver; SCIP uses one.",
    ),
    _TREE_OPTION["verbose"],
)
"""The options of :class:`provetree.MIPTreeClassifier`, in the order of its parameters."""
