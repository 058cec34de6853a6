"""The classifier whose tree is proven to make the fewest training errors."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from provetree.estimators._features import check_features
from provetree.estimators._float32 import lost_in_float32
from provetree.estimators._inputs import as_table, encode_labels, row_weights
from provetree.estimators._progress import ProgressLine
from provetree.estimators._sklearn import TableClassifier
from provetree.options import TREE_OPTIONS, documented, validate
from provetree.problem.problem import Problem, build_problem
from provetree.problem.table import TableEncoder
from provetree.search.engine import ExactSearch
from provetree.solution import Engine, Limits, Solution
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from scipy.sparse import csr_matrix
    from sklearn.tree import DecisionTreeClassifier

__all__ = ["OptimalTreeClassifier"]

Float: TypeAlias = NDArray[np.float64]


@documented(TREE_OPTIONS)
class OptimalTreeClassifier(TableClassifier):
    """A classification tree with the fewest training errors of all trees of its size, proven.

    All thresholds of all columns are searched, in float64 and without binning. Among trees of the
    same cost the one with the fewest splits is chosen, then the one that splits earlier columns,
    then the one with the widest margins: the tree does not depend on the order of the rows.

    Tables may be arrays, lists, or tables of pandas and polars; they may hold infinities, missing
    values, and columns of categories. The side that missing values take at each split is searched
    too; where none were seen in training they follow the larger side. A category split takes one
    category from the rest; categories that training did not know belong to the rest.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree.
    status_ : {"optimal", "time_limit", "interrupted"}
        Whether the tree is proven optimal, or what ended the search before that.
    objective_ : int or float
        The cost of the tree: the weight of the training rows it gets wrong, plus the penalties of
        its splits. Without weights and penalty, the number of training errors.
    lower_bound_ : int or float
        No tree of the allowed size costs less than this.
    gap_ : float
        ``(objective_ - lower_bound_) / objective_``: 0.0 for an optimal tree.
    history_ : tuple of Progress
        How cost and bound approached each other: seconds, cost, lower bound.
    counters_ : mapping of str to int
        What the search did, for the curious.
    solution_ : Solution
        All of the above as the search gave it.
    classes_ : array of shape (n_classes,)
        The labels.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str of shape (n_features_in_,)
        The names of the columns, if the table has names and all are strings.
    encoder_ : TableEncoder
        Turns tables into the numbers the tree works on.
    feature_importances_ : array of shape (n_features_in_,)
        The share of each column in the decrease of Gini impurity.

    Notes
    -----
    Ctrl-C during ``fit`` ends the search, not the program: the estimator is fitted with the best
    tree so far, ``status_`` is "interrupted", and a ``ConvergenceWarning`` says so.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    >>> clf.status_, clf.objective_, clf.lower_bound_, clf.gap_
    ('optimal', 6, 6, 0.0)
    """

    def __init__(
        self,
        max_depth: int = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int | float = 1,
        alpha: float = 0.0,
        class_weight: Mapping[Any, float] | str | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        time_limit: float | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.alpha = alpha
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.verbose = verbose

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> OptimalTreeClassifier:
        """Find the best tree for a table.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their labels: numbers, booleans or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; a row of weight two counts as two rows, and one of weight zero as none.
            None gives every row weight one.

        Returns
        -------
        OptimalTreeClassifier
            The estimator itself.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> X, y = [[1.0], [2.0], [3.0]], ["no", "yes", "no"]
        >>> OptimalTreeClassifier(max_depth=1).fit(X, y).objective_
        1
        >>> OptimalTreeClassifier(max_depth=1).fit(X, y, sample_weight=[1, 1, 5]).predict([[4.0]])
        array(['no'], dtype='<U3')
        """
        owner = type(self).__name__
        validate(TREE_OPTIONS, vars(self), owner)
        table = as_table(X, owner)
        check_features(self, table, reset=True)
        encoder = TableEncoder(self.categorical_features)
        encoded = encoder.fit_transform(table)
        classes, codes = encode_labels(y, len(encoded), owner)
        weights = row_weights(sample_weight, self.class_weight, classes, codes)
        problem = build_problem(
            encoded,
            codes,
            n_classes=len(classes),
            max_depth=self.max_depth,
            categories=encoder.categories,
            sample_weight=weights,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            alpha=self.alpha,
            feature_names=encoder.feature_names,
            class_names=classes,
        )
        solution = self._solve(problem)

        self.classes_ = classes
        self.encoder_ = encoder
        self.solution_ = solution
        self.tree_: Tree = solution.tree
        self.status_ = solution.status
        self.objective_ = solution.cost
        self.lower_bound_ = solution.lower_bound
        self.gap_ = solution.gap
        self.history_ = solution.history
        self.counters_ = dict(solution.counters)
        self._lost_in_float32 = lost_in_float32(solution.tree, problem, encoded)
        if solution.status == "interrupted":
            warnings.warn(
                f"The search was interrupted. {owner} keeps the best tree so far: cost "
                f"{solution.cost}, proven lower bound {solution.lower_bound}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

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
        encoded = self._encode(X)
        return np.asarray(self.classes_[self.tree_.predict(encoded)])

    def predict_proba(self, X: Any) -> Float:
        """Predict the share of each label in the leaf of each row.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
            The shares of the weight of the leaf's training rows, in the order of ``classes_``.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier(max_depth=0).fit([[1], [2], [3], [4]], list("abaa"))
        >>> clf.predict_proba([[5]])
        array([[0.75, 0.25]])
        """
        encoded = self._encode(X)
        return self.tree_.predict_proba(encoded)

    def apply(self, X: Any) -> NDArray[np.intp]:
        """Find the leaf of each row.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of int of shape (n_samples,)
            The numbers of the leaves among the nodes of ``tree_``.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1])
        >>> clf.apply([[0], [5]])
        array([1, 2])
        """
        encoded = self._encode(X)
        return self.tree_.apply(encoded)

    def decision_path(self, X: Any) -> csr_matrix:
        """Find the nodes that each row passes on its way to its leaf.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scipy.sparse.csr_matrix of shape (n_samples, n_nodes)
            One where the row passes the node.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier(max_depth=1).fit([[1], [2]], [0, 1])
        >>> clf.decision_path([[0], [5]]).toarray()
        array([[1, 1, 0],
               [1, 0, 1]])
        """
        encoded = self._encode(X)
        return self.tree_.decision_path(encoded)

    def get_depth(self) -> int:
        """Return the depth of the tree: the splits on the way to its deepest leaf.

        Returns
        -------
        int
            The depth.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> OptimalTreeClassifier().fit([[1], [2]], [0, 1]).get_depth()
        1
        """
        check_is_fitted(self)
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves of the tree.

        Returns
        -------
        int
            The number of leaves.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> OptimalTreeClassifier().fit([[1], [2]], [0, 1]).get_n_leaves()
        2
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def feature_importances_(self) -> Float:
        """The share of each column in the total decrease of Gini impurity.

        Each split of a column adds the impurity of its node less the impurities of its children,
        by their weights, as for scikit-learn's own trees. The tree itself is not chosen by Gini
        impurity; this is a description of it. All are zero for a tree without splits.
        """
        check_is_fitted(self)
        tree = self.tree_
        weights = tree.value.sum(axis=1)
        impurity = weights - np.square(tree.value).sum(axis=1) / weights
        splits = np.flatnonzero(tree.feature >= 0)
        decrease = impurity[splits] - impurity[tree.left[splits]] - impurity[tree.right[splits]]
        # Rounding may leave a split that changes nothing a little below zero.
        gains = np.zeros(tree.n_features)
        np.add.at(gains, tree.feature[splits], np.maximum(decrease, 0.0))
        total = gains.sum()
        return gains / total if total > 0 else gains

    def export_text(self, *, legend: bool = False) -> str:
        """Write the tree as text.

        Parameters
        ----------
        legend : bool, default=False
            Also write the version stamp and the lists of classes and features, with which
            :meth:`Tree.from_text` can read the tree back.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
        >>> print(clf.export_text())
        x0 <= 25
        |   no: 100.0% of 1 row [1, 0]
        x0 > 25
        |   yes: 100.0% of 2 rows [0, 2]
        """
        check_is_fitted(self)
        return self.tree_.to_text(legend=legend)

    def export_graphviz(self, *, filled: bool = True) -> str:
        """Write the tree in the DOT language of Graphviz.

        Parameters
        ----------
        filled : bool, default=True
            Fill the leaves with the colours of their classes.

        Returns
        -------
        str
            The graph; ``dot -Tsvg`` or the graphviz package draw it.

        Examples
        --------
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
        >>> clf.export_graphviz().splitlines()[0]
        'digraph Tree {'
        """
        from provetree.export.graphviz import to_graphviz

        check_is_fitted(self)
        return to_graphviz(self.tree_, filled=filled)

    def plot(
        self, ax: Axes | None = None, *, filled: bool = True, fontsize: float | None = None
    ) -> Axes:
        """Draw the tree with matplotlib (the extra ``plot``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; None makes a figure of a fitting size.
        filled : bool, default=True
            Fill the leaves with the colours of their classes.
        fontsize : float, default=None
            Size of the text in points; None chooses it by the width there is.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from provetree import OptimalTreeClassifier
        >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
        >>> clf.plot().texts[0].get_text()
        'x0 <= 25'
        """
        from provetree.export.plot import plot_tree

        check_is_fitted(self)
        return plot_tree(self.tree_, ax=ax, filled=filled, fontsize=fontsize)

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
        from provetree.export._words import split_text
        from provetree.export.sklearn import UnsupportedTreeError, to_sklearn

        check_is_fitted(self)
        if self._lost_in_float32:
            words = split_text(self.tree_, self._lost_in_float32[0])
            raise UnsupportedTreeError(
                f"scikit-learn rounds numbers to float32, and the split '{words}' separates "
                "training rows that are equal then. Subtract a constant from the column, or scale "
                "it, before fitting."
            )
        model = to_sklearn(self.tree_, classes=self.classes_)
        if not hasattr(self, "feature_names_in_") and hasattr(model, "feature_names_in_"):
            del model.feature_names_in_  # names were made up for the text; the table has none
        return model

    def _engine(self) -> Engine:
        """Return the engine that solves the problem."""
        return ExactSearch()

    def _solve(self, problem: Problem) -> Solution:
        limits = Limits(None if self.time_limit is None else float(self.time_limit))
        if not self.verbose:
            return self._engine().solve(problem, limits, None)
        line = ProgressLine()
        try:
            solution = self._engine().solve(problem, limits, line.show)
        except BaseException:
            line.leave()
            raise
        line.close(solution)
        return solution

    def _encode(self, X: Any) -> Float:
        """Return rows to predict as the numbers the tree works on."""
        check_is_fitted(self)
        table = as_table(X, type(self).__name__)
        check_features(self, table, reset=False)
        return self.encoder_.transform(table)
