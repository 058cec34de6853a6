"""The faces that follow scikit-learn's conventions, one thin file per class."""

from __future__ import annotations

from provetree.estimators.binarizer import Binarizer
from provetree.estimators.dl85 import DL85Classifier
from provetree.estimators.optimal_tree import OptimalTreeClassifier

__all__ = ["Binarizer", "DL85Classifier", "OptimalTreeClassifier"]
