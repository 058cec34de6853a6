"""The faces that follow scikit-learn's conventions, one thin file per class."""

from __future__ import annotations

from provetree.estimators.optimal_tree import OptimalTreeClassifier

__all__ = ["OptimalTreeClassifier"]
