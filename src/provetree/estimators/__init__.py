"""The faces that follow scikit-learn's conventions, one thin file per class.

The names are loaded on first use: one class needs nothing of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provetree._lazy import lazy_names

if TYPE_CHECKING:
    from provetree.estimators.binarizer import Binarizer
    from provetree.estimators.dl85 import DL85Classifier
    from provetree.estimators.optimal_policy_tree import OptimalPolicyTree
    from provetree.estimators.optimal_tree import OptimalTreeClassifier
    from provetree.estimators.optimal_tree_regressor import OptimalTreeRegressor

__all__ = [
    "Binarizer",
    "DL85Classifier",
    "OptimalPolicyTree",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Binarizer": "binarizer",
        "DL85Classifier": "dl85",
        "OptimalPolicyTree": "optimal_policy_tree",
        "OptimalTreeClassifier": "optimal_tree",
        "OptimalTreeRegressor": "optimal_tree_regressor",
    },
)
