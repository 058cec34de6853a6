"""Model selection: the tuning path, refitted leaves, runner-up splits, stability."""

from __future__ import annotations

from provetree.selection.leaves import refit_leaves
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
    "OperatingCurve",
    "OperatingPoint",
    "PathPoint",
    "Rates",
    "RunnerUp",
    "Stability",
    "TuningPath",
    "operating_points",
    "refit_leaves",
    "runner_up_splits",
    "stability",
    "tuning_path",
]
