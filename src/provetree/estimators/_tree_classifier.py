"""What all tree classifiers share: labels, class shares, and scikit-learn's own classifier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.estimators._sklearn import ClassifierFace
from provetree.estimators._tree_estimator import TreeEstimator
from provetree.large.table import is_dask
from provetree.number_types import Float
from provetree.problem.prepare import Prepared

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeClassifier

__all__ = ["TreeClassifier"]


class TreeClassifier(ClassifierFace, TreeEstimator):
    """A classifier that holds one tree; subclasses add parameters and ``fit``."""

    def _keep_learned(self, prepared: Prepared) -> None:
        self.classes_ = prepared.classes

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
            The label that weighs most in the leaf of each row, the first of them on a tie.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier().fit([[1], [2], [3]], [-1, 1, -1])
        >>> clf.predict([[1.4], [1.6], [9.0]])
        array([-1,  1, -1])
        """
        return self._of_rows(X, lambda rows: self.classes_[self.tree_.predict(rows)])

    def predict_proba(self, X: Any, *, laplace: float | None = None) -> Float:
        """Predict the probability of each label: its share in the leaf, smoothed if that is asked.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.
        laplace : float, default=None
            Laplace's correction: the weight added to every label of a leaf, so that small leaves
            are not sure of themselves. None leaves the probabilities as they are in ``tree_``,
            with the smoothing that training or :func:`provetree.refit_leaves` gave them.

        Returns
        -------
        array of shape (n_samples, n_classes)
            The probabilities, in the order of ``classes_``. The largest is that of the label that
            ``predict`` gives, unless costs choose the label.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier(max_depth=0).fit([[1], [2], [3], [4]], list("abaa"))
        >>> clf.predict_proba([[5]])
        array([[0.75, 0.25]])
        >>> clf.predict_proba([[5]], laplace=1).round(3)
        array([[0.667, 0.333]])
        """
        if laplace is not None and not 0.0 <= laplace < np.inf:
            raise ValueError(
                "The 'laplace' parameter of predict_proba must be a float in the range "
                f"[0.0, inf). Got {laplace!r} instead."
            )
        return self._of_rows(X, lambda rows: self.tree_.predict_proba(rows, laplace))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the rows that are classified right.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        float

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> OptimalTreeClassifier().fit([[1], [2]], [0, 1]).score([[0], [9]], [0, 0])
        0.5
        """
        if not is_dask(X):
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import accuracy_score

        given: Any = (y, self.predict(X), sample_weight)
        labels, found, weights = (one.compute() if is_dask(one) else one for one in given)
        return float(accuracy_score(labels, found, sample_weight=weights))

    def to_sklearn(self) -> DecisionTreeClassifier:
        """Return the tree as a fitted ``DecisionTreeClassifier`` of scikit-learn.

        Whatever reads scikit-learn's trees then reads this one: its plots, shap, skl2onnx,
        dtreeviz. The nodes keep their numbers, and training rows end in the same leaves. Two
        things differ. scikit-learn rounds numbers to float32 and takes no infinities. And it
        knows numbers only: columns of categories must be given as ``encoder_.transform`` gives
        them, and categories that training did not know may end elsewhere.

        Returns
        -------
        sklearn.tree.DecisionTreeClassifier
            The classifier.

        Raises
        ------
        UnsupportedTreeError
            If a split separates training rows that are equal in float32, or takes a category from
            the middle of the codes.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
        >>> clf.to_sklearn().predict([[10.0], [50.0]])
        array(['no', 'yes'], dtype='<U3')
        """
        from provetree.export.sklearn import to_sklearn

        self._check_float32()
        model = to_sklearn(self.tree_, classes=self.classes_)
        self._drop_made_up_names(model)
        return model
