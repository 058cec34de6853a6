"""Model selection: the tuning path, refitted leaves, runner-up splits, stability."""

from __future__ import annotations

from provetree.selection.leaves import refit_leaves
from provetree.selection.near_optimal import (
    NearOptimalTree,
    NearOptimalTrees,
)
from provetree.selection.near_optimal_columns import ColumnUse
from provetree.selection.near_optimal_count import near_optimal_trees
from provetree.selection.near_optimal_rows import Agreement
from provetree.selection.operating_points import (
    OperatingCurve,
    OperatingPoint,
    Rates,
    operating_points,
)
from provetree.selection.path import PathPoint, TuningPath, tuning_path
from provetree.selection.runner_up import RunnerUp, runner_up_splits
from provetree.selection.stability import Stability, stability

__all__ = [
    "Agreement",
    "ColumnUse",
    "NearOptimalTree",
    "NearOptimalTrees",
    "OperatingCurve",
    "OperatingPoint",
    "PathPoint",
    "Rates",
    "RunnerUp",
    "Stability",
    "TuningPath",
    "near_optimal_trees",
    "operating_points",
    "refit_leaves",
    "runner_up_splits",
    "stability",
    "tuning_path",
]
