"""The classifier that chooses its own size by cross-validation along the proven frontier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from provetree.estimators._tree_classifier import TreeClassifier
from provetree.options import documented, validate
from provetree.problem.prepare import prepare_for
from provetree.selection.options import CV_OPTIONS
from provetree.selection.path import path_of
from provetree.solution import Solution

__all__ = ["OptimalTreeCV"]


@documented(CV_OPTIONS)
class OptimalTreeCV(TreeClassifier):
    """An optimal tree whose number of leaves is chosen by cross-validation.

    For every number of leaves the best training tree is found and proven, on all rows and on each
    fold; see :func:`provetree.tuning_path`. The chosen size is then that of the whole table's tree.
    Scores are accuracies, whatever the `criterion` is.

    {parameters}

    Attributes
    ----------
    path_ : TuningPath
        All sizes with their errors, bounds and scores.
    n_leaves_ : int
        The chosen greatest number of leaves.
    tree_ : Tree
        The tree of the chosen size on all rows; ``status_``, ``objective_``, ``lower_bound_``,
        ``gap_``, ``classes_`` and the others are those of
        :class:`~provetree.OptimalTreeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeCV
    >>> clf = OptimalTreeCV(max_depth=2).fit(*load_iris(return_X_y=True))
    >>> clf.n_leaves_, clf.status_, clf.objective_
    (3, 'optimal', 6)
    """

    def __init__(
        self,
        max_depth: int = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int | float = 1,
        class_weight: Mapping[Any, float] | str | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        time_limit: float | None = None,
        cv: Any = 5,
        rule: str = "one_standard_error",
        n_jobs: int | None = None,
        criterion: str = "errors",
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.cv = cv
        self.rule = rule
        self.n_jobs = n_jobs
        self.criterion = criterion

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> OptimalTreeCV:
        """Find the path of best trees, and keep the tree of the chosen size.

        Parameters
        ----------
        X, y, sample_weight
            The training rows, as in :meth:`OptimalTreeClassifier.fit`.

        Returns
        -------
        OptimalTreeCV
            The estimator itself.

        Examples
        --------
        >>> from provetree import OptimalTreeCV
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 5, ["no", "no", "yes", "yes"] * 5
        >>> OptimalTreeCV(max_depth=2, cv=2).fit(X, y).get_n_leaves()
        2
        """
        validate(CV_OPTIONS, vars(self), type(self).__name__)
        prepared = prepare_for(self, X, y, sample_weight)
        self.path_ = path_of(
            prepared,
            self.max_leaf_nodes,
            self.cv,
            self.time_limit,
            self.n_jobs,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
        )
        chosen = self.path_.choose(self.rule)
        self.n_leaves_ = chosen.n_leaves
        found = Solution(chosen.tree, chosen.errors, chosen.lower_bound, chosen.status)
        self._keep(prepared, found)
        return self

    def plot_frontier(self, ax: Any = None) -> Any:
        """Draw accuracy against size; see :func:`provetree.export.frontier.plot_frontier`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from sklearn.datasets import load_iris
        >>> from provetree import OptimalTreeCV
        >>> clf = OptimalTreeCV(max_depth=2).fit(*load_iris(return_X_y=True))
        >>> clf.plot_frontier().get_xlabel()
        'number of leaves'
        """
        return self.path_.plot(ax)
