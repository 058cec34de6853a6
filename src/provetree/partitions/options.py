"""The options of the classifier on data-partitions, each written down once."""

from __future__ import annotations

from dataclasses import replace

from provetree import options as common
from provetree.options import TREE_OPTIONS, Allowed, Option
from provetree.partitions.partition import DataPartition
from provetree.solvers.options import SOLVER_VALUES

__all__ = ["PARTITION_OPTIONS"]

_BY_NAME = {option.name: option for option in TREE_OPTIONS}
_PARTITION = Allowed(
    "a DataPartition of the training rows",
    "DataPartition",
    lambda value: isinstance(value, DataPartition),
)

#: The options of :class:`provetree.PartitionTreeClassifier`, in the order of its parameters.
PARTITION_OPTIONS: tuple[Option, ...] = (
    Option(
        "partition",
        "igp",
        (common._word("gp"), common._word("igp"), common._word("crm"), _PARTITION),
        'How the rows are clustered at first: "gp", "igp" or "crm" (see '
        ":func:`provetree.greedy_partition`, :func:`provetree.improved_greedy_partition` and "
        ":func:`provetree.closest_representatives_merge`), or a partition of the training rows. "
        "Distances are measured between distinct rows, by their weights.",
    ),
    Option(
        "rho",
        0.25,
        (common._float(0.0, 1.0, "()"),),
        'For partition="gp": the share of the distinct rows that is left as clusters.',
    ),
    Option(
        "refinement",
        "heuristic",
        (common._word("heuristic"), common._word("exact")),
        '"heuristic": model (DP) on representatives, until its tree cuts no cluster; nothing is '
        'proven for the rows. "exact": the bound of model (DP\') as well, until the tree is proven '
        "optimal for the rows.",
    ),
    Option(
        "improved",
        True,
        (common._BOOL,),
        "Give each round a third of the time that is left (HIIA, EIIA); otherwise every model is "
        "solved to its end (HIA, EIA). Without a time limit both are alike.",
    ),
    Option(
        "post_process",
        True,
        (common._BOOL,),
        "Move the thresholds of each tree so that more rows follow their representatives.",
    ),
    Option(
        "inner",
        "search",
        (common._word("search"), common._word("milp")),
        'How models are solved: "search", by the exact search on weighted representatives and a '
        'search of its own for the bound, or "milp", as the mixed-integer models of the paper.',
    ),
    Option(
        "solver",
        "highs",
        SOLVER_VALUES,
        'The solver for inner="milp".',
    ),
    Option(
        "n_jobs",
        None,
        (common._JOBS, common._NONE),
        'The number of threads of the solver for inner="milp". -1 means one for each core, -2 one '
        "fewer, and so on. None leaves it to the solver.",
    ),
    _BY_NAME["max_depth"],
    Option(
        "max_splits",
        None,
        (common._int(0), common._NONE),
        "The greatest number of splits. None means as many as the depth allows.",
    ),
    _BY_NAME["class_weight"],
    _BY_NAME["categorical_features"],
    _BY_NAME["time_limit"],
    _BY_NAME["verbose"],
    replace(_BY_NAME["splits"], allowed=(common._word("columns"), common._word("pairs"))),
    _BY_NAME["n_angles"],
    _BY_NAME["pair_columns"],
)
