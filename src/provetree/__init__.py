"""Decision trees that are proven optimal.

The names below are loaded on first use, so that ``import provetree`` stays fast and a
program that only reads stored trees never loads scikit-learn.

Examples
--------
>>> import provetree
>>> provetree.Tree.__name__
'Tree'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provetree._lazy import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from provetree.errors import ClusterError, InfeasibleError
    from provetree.estimators.binarizer import Binarizer
    from provetree.estimators.column_generation import ColumnGenerationClassifier
    from provetree.estimators.dl85 import DL85Classifier
    from provetree.estimators.mip_tree import MIPTreeClassifier
    from provetree.estimators.optimal_policy_tree import OptimalPolicyTree
    from provetree.estimators.optimal_tree import OptimalTreeClassifier
    from provetree.estimators.optimal_tree_cv import OptimalTreeCV
    from provetree.estimators.optimal_tree_regressor import OptimalTreeRegressor
    from provetree.estimators.optimal_tree_regressor_cv import OptimalTreeRegressorCV
    from provetree.estimators.partition_tree import PartitionTreeClassifier
    from provetree.export.calibration import Calibration
    from provetree.export.model_file import StoredModel, load_model
    from provetree.itemsets.engine import ItemsetSearch
    from provetree.itemsets.leaf_cost import LeafCost
    from provetree.partitions.closest_representatives import closest_representatives_merge
    from provetree.partitions.greedy import greedy_partition
    from provetree.partitions.improved_greedy import improved_greedy_partition
    from provetree.partitions.partition import DataPartition
    from provetree.problem.columns import Column
    from provetree.problem.combinations import Combination
    from provetree.problem.problem import Problem, build_problem
    from provetree.problem.table import TableEncoder
    from provetree.report.build import write_report
    from provetree.search.engine import ExactSearch
    from provetree.selection.calibration import calibration
    from provetree.selection.leaves import refit_leaves
    from provetree.selection.near_optimal import NearOptimalTrees
    from provetree.selection.near_optimal_count import near_optimal_trees
    from provetree.selection.operating_points import OperatingCurve, operating_points
    from provetree.selection.path import TuningPath, tuning_path
    from provetree.selection.runner_up import runner_up_splits
    from provetree.selection.stability import stability
    from provetree.solution import Engine, Limits, Progress, Solution
    from provetree.tree.graft import fixed_splits_of
    from provetree.tree.smoothing import Smoothing
    from provetree.tree.tree import Tree
    from provetree.tree.verify import VerifiedCost, verify

_HOMES = {
    "Binarizer": "estimators.binarizer",
    "Calibration": "export.calibration",
    "ClusterError": "errors",
    "Column": "problem.columns",
    "ColumnGenerationClassifier": "estimators.column_generation",
    "Combination": "problem.combinations",
    "DL85Classifier": "estimators.dl85",
    "DataPartition": "partitions.partition",
    "Engine": "solution",
    "ExactSearch": "search.engine",
    "InfeasibleError": "errors",
    "ItemsetSearch": "itemsets.engine",
    "LeafCost": "itemsets.leaf_cost",
    "Limits": "solution",
    "MIPTreeClassifier": "estimators.mip_tree",
    "NearOptimalTrees": "selection.near_optimal",
    "OperatingCurve": "selection.operating_points",
    "OptimalPolicyTree": "estimators.optimal_policy_tree",
    "OptimalTreeCV": "estimators.optimal_tree_cv",
    "OptimalTreeClassifier": "estimators.optimal_tree",
    "OptimalTreeRegressor": "estimators.optimal_tree_regressor",
    "OptimalTreeRegressorCV": "estimators.optimal_tree_regressor_cv",
    "PartitionTreeClassifier": "estimators.partition_tree",
    "Problem": "problem.problem",
    "Progress": "solution",
    "Smoothing": "tree.smoothing",
    "Solution": "solution",
    "StoredModel": "export.model_file",
    "TableEncoder": "problem.table",
    "Tree": "tree.tree",
    "TuningPath": "selection.path",
    "VerifiedCost": "tree.verify",
    "build_problem": "problem.problem",
    "calibration": "selection.calibration",
    "closest_representatives_merge": "partitions.closest_representatives",
    "fixed_splits_of": "tree.graft",
    "greedy_partition": "partitions.greedy",
    "improved_greedy_partition": "partitions.improved_greedy",
    "load_model": "export.model_file",
    "near_optimal_trees": "selection.near_optimal_count",
    "operating_points": "selection.operating_points",
    "refit_leaves": "selection.leaves",
    "runner_up_splits": "selection.runner_up",
    "stability": "selection.stability",
    "tuning_path": "selection.path",
    "verify": "tree.verify",
    "write_report": "report.build",
}

__all__ = [
    "Binarizer",
    "Calibration",
    "ClusterError",
    "Column",
    "ColumnGenerationClassifier",
    "Combination",
    "DL85Classifier",
    "DataPartition",
    "Engine",
    "ExactSearch",
    "InfeasibleError",
    "ItemsetSearch",
    "LeafCost",
    "Limits",
    "MIPTreeClassifier",
    "NearOptimalTrees",
    "OperatingCurve",
    "OptimalPolicyTree",
    "OptimalTreeCV",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "OptimalTreeRegressorCV",
    "PartitionTreeClassifier",
    "Problem",
    "Progress",
    "Smoothing",
    "Solution",
    "StoredModel",
    "TableEncoder",
    "Tree",
    "TuningPath",
    "VerifiedCost",
    "__version__",
    "build_problem",
    "calibration",
    "closest_representatives_merge",
    "fixed_splits_of",
    "greedy_partition",
    "improved_greedy_partition",
    "load_model",
    "near_optimal_trees",
    "operating_points",
    "refit_leaves",
    "runner_up_splits",
    "stability",
    "tuning_path",
    "verify",
    "write_report",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
