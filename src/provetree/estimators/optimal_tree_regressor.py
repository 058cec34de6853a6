"""The regressor whose tree is proven to have the least squared or absolute training error."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from provetree.estimators._searched_tree import SearchedTree
from provetree.estimators._tree_regressor import TreeRegressor
from provetree.options import REGRESSOR_OPTIONS, documented, validate
from provetree.problem.prepare import prepare_for
from provetree.solution import Progress

__all__ = ["OptimalTreeRegressor"]


@documented(REGRESSOR_OPTIONS)
class OptimalTreeRegressor(TreeRegressor, SearchedTree):
    """A regression tree with the least training error of all trees of its size, proven.

    All thresholds of all columns are searched, in float64 and without binning. Tables may be
    arrays, lists, or tables of pandas and polars; they may hold infinities, missing values, and
    columns of categories, as for :class:`~provetree.OptimalTreeClassifier`. One tree may predict
    several outputs; their errors are added up, so bring them to one scale first.

    Sums of squares are not whole numbers, so proofs hold to a part of 1e-9 of what the best single
    leaf costs. ``objective_`` itself is worked out on the training rows without that rounding, also
    for targets with a large offset.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree. ``tree_.value`` holds the mean or median of each node, ``tree_.values.spread`` the
        standard deviation or the mean absolute deviation.
    status_ : {"optimal", "time_limit", "work_limit", "interrupted"}
        Whether the tree is proven optimal, or what ended the search before that.
    objective_ : float
        The cost of the tree: the sum of squares (or of distances) between the targets of the
        training rows and their predictions, by their weights, plus the penalties of the splits.
    lower_bound_ : float
        No tree of the allowed size costs less than this, within the tolerance.
    gap_ : float
        ``(objective_ - lower_bound_) / objective_``: 0.0 for an optimal tree.
    history_ : tuple of Progress
        How cost and bound approached each other: seconds, cost, lower bound.
    counters_ : mapping of str to int
        Counts of what the search did.
    solution_ : Solution
        All of the above as the search gave it.
    n_outputs_ : int
        The number of outputs.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str of shape (n_features,)
        The names of the columns, if the table has names and all are strings.
    encoder_ : TableEncoder
        Turns tables into the numbers the tree works on.
    feature_importances_ : array of shape (n_features,)
        The share of each column in the decrease of the loss.

    Notes
    -----
    Ctrl-C during ``fit`` ends the search, not the program: the estimator is fitted with the best
    tree so far, ``status_`` is "interrupted", and a ``ConvergenceWarning`` says so.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from provetree import OptimalTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> reg = OptimalTreeRegressor(max_depth=2).fit(X, y)
    >>> reg.status_, round(reg.objective_), round(reg.score(X, y), 3)
    ('optimal', 1477077, 0.436)
    >>> print(reg.export_text().splitlines()[2])
    |   |   96.896 +- 46.357: 173 rows [96.89595375722543; 46.35687945327274; 173]
    """

    def __init__(
        self,
        max_depth: int = 3,
        criterion: str = "squared_error",
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int | float = 1,
        alpha: float = 0.0,
        categorical_features: ArrayLike | str | None = "from_dtype",
        time_limit: float | None = None,
        max_work: int | None = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int | bool = 0,
        splits: str = "columns",
        n_angles: int = 2,
        pair_columns: Sequence[str | int] | None = None,
        category_splits: str = "one",
        forbidden_columns: Sequence[str | int] | Mapping[str, Any] | None = None,
        interaction_cst: str | Sequence[Any] | None = None,
        fixed_splits: Mapping[str, Any] | None = None,
        column_costs: Mapping[str | int, float] | None = None,
        executor: str | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.criterion = criterion
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.alpha = alpha
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.max_work = max_work
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.splits = splits
        self.n_angles = n_angles
        self.pair_columns = pair_columns
        self.category_splits = category_splits
        self.forbidden_columns = forbidden_columns
        self.interaction_cst = interaction_cst
        self.fixed_splits = fixed_splits
        self.column_costs = column_costs
        self.executor = executor

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        initial_tree: Any = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> OptimalTreeRegressor:
        """Find the best tree for a table.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; a row of weight two counts as two rows, and one of weight zero as none.
            None gives every row weight one.
        initial_tree : fitted estimator or Tree, default=None
            A tree to begin with: any fitted tree of this package or of scikit-learn, or a
            :class:`~provetree.Tree`; only its splits matter. It must keep to the limits of this
            estimator on the training rows. The tree that comes out is at least as good.
        on_progress : callable, default=None
            Called from time to time with a :class:`~provetree.Progress`: seconds, cost and bound.

        Returns
        -------
        OptimalTreeRegressor
            The estimator itself.

        Examples
        --------
        >>> from provetree import OptimalTreeRegressor
        >>> X, y = [[1.0], [2.0], [3.0]], [1.0, 2.0, 9.0]
        >>> OptimalTreeRegressor(max_depth=1).fit(X, y).objective_
        0.5
        >>> OptimalTreeRegressor(max_depth=1).fit(X, y, sample_weight=[1, 3, 1]).predict([[0.0]])
        array([1.75])
        """
        validate(REGRESSOR_OPTIONS, vars(self), type(self).__name__)
        prepared = prepare_for(self, X, y, sample_weight)
        self._keep(prepared, self._search(X, prepared, initial_tree, on_progress))
        return self
