"""What all tree regressors share: numbers, and scikit-learn's own regressor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from provetree.estimators._sklearn import RegressorFace
from provetree.estimators._tree_estimator import TreeEstimator
from provetree.number_types import Float
from provetree.problem.prepare import Prepared

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

__all__ = ["TreeRegressor"]


class TreeRegressor(RegressorFace, TreeEstimator):
    """A regressor that holds one tree; subclasses add parameters and ``fit``."""

    def _keep_learned(self, prepared: Prepared) -> None:
        assert prepared.targets is not None  # for the type checker
        self.n_outputs_ = int(prepared.targets.values.shape[1])

    def predict(self, X: Any) -> Float:
        """Predict the number of each row, or the numbers where there are several outputs.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_outputs)
            The mean or the median of the training rows in the leaf of each row.

        Examples
        --------
        >>> from provetree import OptimalTreeRegressor
        >>> reg = OptimalTreeRegressor(max_depth=1).fit([[1], [2], [3]], [0.5, 4.0, 5.0])
        >>> reg.predict([[1.4], [9.0]])
        array([0.5, 4.5])
        """
        return self._of_rows(X, lambda rows: self.tree_.predict(rows))

    def to_sklearn(self) -> DecisionTreeRegressor:
        """Return the tree as a fitted ``DecisionTreeRegressor`` of scikit-learn.

        Whatever reads scikit-learn's trees then reads this one: its plots, shap, skl2onnx,
        dtreeviz. The nodes keep their numbers, and training rows end in the same leaves. Two
        things differ. scikit-learn rounds numbers to float32 and takes no infinities. And it
        knows numbers only: columns of categories must be given as ``encoder_.transform`` gives
        them, and categories that training did not know may end elsewhere.

        Returns
        -------
        sklearn.tree.DecisionTreeRegressor
            The regressor.

        Raises
        ------
        UnsupportedTreeError
            If a split separates training rows that are equal in float32, or takes a category from
            the middle of the codes.

        Examples
        --------
        >>> from provetree import OptimalTreeRegressor
        >>> reg = OptimalTreeRegressor(max_depth=1).fit([[1], [2], [3]], [0.5, 4.0, 5.0])
        >>> reg.to_sklearn().predict([[1.4], [9.0]])
        array([0.5, 4.5])
        """
        from provetree.export.sklearn import to_sklearn_regressor

        self._check_float32()
        model = to_sklearn_regressor(self.tree_)
        self._drop_made_up_names(model)
        return model
