"""The options of the column-generation classifier, each written down once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from provetree import options as common
from provetree.options import TREE_OPTIONS, Allowed, Option


def _words(*words: str) -> tuple[Allowed, ...]:
    return tuple(common._word(word) for word in words)


def _is_splits(value: object) -> bool:
    # An iterator would be used up by the first fit.
    return isinstance(value, Iterable) and not isinstance(value, (str, Iterator))


_SPLITS = Allowed("a collection of splits", "splits", _is_splits)
_RANDOM = Allowed(
    "an instance of 'numpy.random.RandomState'",
    "RandomState",
    lambda value: hasattr(value, "randint"),
)
_BY_NAME = {option.name: option for option in TREE_OPTIONS}
_SHARE = common._float(0.0, 1.0, "[]")

#: The options of :class:`provetree.ColumnGenerationClassifier`, in the order of its parameters.
COLGEN_OPTIONS: tuple[Option, ...] = (
    _BY_NAME["max_depth"],
    Option(
        "variant",
        "revised",
        _words("revised", "original"),
        'Which paper sets the defaults of the parameters that are None. "revised": Patel et al. '
        "2023, with merged subproblems, row constraints as cuts, extra start columns, merged rows. "
        '"original": Firat et al. 2020, with a subproblem per leaf and class and all row '
        "constraints from the start.",
    ),
    Option(
        "candidates",
        "sampled",
        (*_words("sampled", "quantiles", "all"), _SPLITS),
        'The splits each node may choose from. "sampled": the most frequent splits of CART on '
        'random parts of the rows, as in the papers. "quantiles": quantiles of every column. '
        '"all": every split, which is slow but makes the proof one for all trees. Own splits: '
        "pairs (column, threshold) for all nodes, or a dict from nodes to such pairs (0 is the "
        "root, the children of node j are 2j + 1 and 2j + 2; for a column of categories the "
        "threshold is the category that goes left).",
    ),
    Option(
        "candidate_factor",
        1.0,
        (common._float(0.0, math.inf, "()"),),
        "Keep so many times the sampled splits that the papers keep, which is 150 divided by the "
        "number of nodes at the root and 100 divided by it at every other node.",
    ),
    Option(
        "sample_runs",
        300,
        (common._int(1),),
        "CART runs for the candidates. With ``until_root_settles``, the number of runs in a row "
        "that must bring no new split of the root.",
    ),
    Option(
        "sample_share",
        0.9,
        (common._float(0.0, 1.0, "(]"),),
        "The share of the rows in each of these runs.",
    ),
    Option(
        "until_root_settles",
        False,
        (common._BOOL,),
        "Use the stopping rule of Algorithm 1 of Firat et al. for the sampling instead of a fixed "
        "number of runs.",
    ),
    Option(
        "quantiles",
        7,
        (common._int(1),),
        'The number of thresholds per column with ``candidates="quantiles"``.',
    ),
    Option(
        "start_runs",
        None,
        (common._int(0), common._NONE),
        "CART runs on 80 % of the rows whose paths are start columns. None: 100 in the revised "
        "method, 0 in the original.",
    ),
    Option(
        "merge_rows",
        None,
        (common._BOOL, common._NONE),
        "Merge rows that no candidate tells apart. None: yes in the revised method, no in the "
        "original.",
    ),
    Option(
        "row_constraints",
        None,
        (*_words("none", "lower", "upper", "equality", "all", "extra"), common._NONE),
        "How the constraints (1c), each row follows one path, are used in the master. As cuts with "
        'one bound ("lower", "upper") or both ("equality"), "all" from the start, not at all '
        '("none"), or "extra": as "equality", and with cuts beyond the training rows. None: '
        '"upper" in the revised method, "all" in the original.',
    ),
    Option(
        "separation",
        "routes",
        _words("routes", "search", "cpsat"),
        'Where ``row_constraints="extra"`` finds cuts beyond the training rows. "search" and '
        '"cpsat" solve the separation model (8) of Patel et al. for unlabelled rows; "routes" '
        "takes rows that may decide anew at every node, which is stronger and faster.",
    ),
    Option(
        "pricing",
        "exact",
        _words("exact", "cpsat"),
        'Who solves the subproblems exactly: the enumeration with bounds in the core, or "cpsat" '
        "as published (the extra ``cpsat``).",
    ),
    Option(
        "heuristic",
        None,
        (*_words("none", "random", "pool"), common._NONE),
        'The pricing heuristic that comes first: "random" as in Patel et al., "pool" as in Firat '
        "et al. None: the variant's with CP-SAT, none with the core's pricing, which is faster.",
    ),
    Option(
        "integer_step",
        "recursion",
        _words("recursion", "mip", "diving"),
        "How the tree is found once the relaxation is solved. The recursion over candidates is "
        'exact; "mip" solves the master over the columns at hand, as published; "diving" fixes '
        "splits one by one. Under constraints on the whole tree branch-and-price follows.",
    ),
    Option(
        "prove",
        True,
        (common._BOOL,),
        "Prove the tree for the candidate set, by recursion or branch-and-price. False stops where "
        "the papers stop.",
    ),
    Option(
        "solve_master",
        None,
        (common._BOOL, common._NONE),
        "Solve the relaxation of the master even where the recursion has proven the tree already; "
        "it then only tells how strong the relaxation is. None does so up to 200,000 paths.",
    ),
    Option(
        "master_method",
        None,
        (*_words("simplex", "interior"), common._NONE),
        'How the relaxation is solved where nothing couples leaves: "simplex" from the last basis, '
        'as published, or "interior" points, which its degeneracy does not slow down; up to 45,000 '
        "paths these take all paths as columns at once. None: interior points where the recursion "
        "finds the tree.",
    ),
    Option(
        "branch_columns",
        "trees",
        _words("trees", "paths"),
        "The columns of branch-and-price under constraints on the whole tree: trees, whose pricing "
        "is the recursion, or paths with the constraints as rows of the papers' master.",
    ),
    Option(
        "min_recall",
        None,
        (_SHARE, common._DICT, common._NONE),
        "The smallest share of each class's rows that the tree must get right, as one number or as "
        "a dict by label. Shares count the weights of rows.",
    ),
    Option(
        "max_false_positive_rate",
        None,
        (_SHARE, common._DICT, common._NONE),
        "The largest share of the rows of other classes that may be predicted as a label, as a "
        "dict by label; one number is for the second of two labels.",
    ),
    Option(
        "max_parity_gap",
        None,
        (_SHARE, common._NONE),
        "The largest difference between two groups of rows (``sensitive_features`` of ``fit``) in "
        "the share that is predicted as a label, for every label.",
    ),
    _BY_NAME["max_leaf_nodes"],
    _BY_NAME["min_samples_leaf"],
    _BY_NAME["alpha"],
    _BY_NAME["class_weight"],
    _BY_NAME["categorical_features"],
    _BY_NAME["time_limit"],
    Option(
        "random_state",
        None,
        (common._int(0), _RANDOM, common._NONE),
        "What the sampling depends on. None is 0: the same table gives the same tree.",
    ),
    Option(
        "n_jobs",
        None,
        (common._JOBS, common._NONE),
        "Threads of the sampling; None is one, -1 all processors. The tree does not depend on it.",
    ),
    _BY_NAME["verbose"],
)
