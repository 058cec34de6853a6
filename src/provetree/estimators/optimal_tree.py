"""The classifier whose tree is proven best: fewest training errors, least impurity, least cost."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.estimators._certifying import CertifyingSearch, check_certifiable
from provetree.estimators._searched_tree import SearchedTree
from provetree.estimators._tree_classifier import TreeClassifier
from provetree.export.certificate import WhatIsRead
from provetree.large.table import is_dask
from provetree.options import TREE_OPTIONS, ParameterError, documented, validate
from provetree.problem.costs import read_cost_matrix
from provetree.problem.prepare import Prepared, prepare_for
from provetree.problem.rules import rules_given
from provetree.search.streamed import MOST_CELLS, MOST_DEPTH
from provetree.solution import Progress, Solution
from provetree.tree.smoothing import Smoothing
from provetree.tree.values import Values

__all__ = ["OptimalTreeClassifier"]


@documented(TREE_OPTIONS)
class OptimalTreeClassifier(TreeClassifier, SearchedTree):
    """A classification tree with the fewest training errors of all trees of its size, proven.

    With another `criterion` it is the tree of the least impurity, with a `cost_matrix` or with
    ``sample_costs`` the tree of the least cost.

    All thresholds of all columns are searched, in float64 and without binning. Among trees of the
    same cost the one with the fewest splits is chosen, then the one that splits earlier columns,
    then the one with the widest margins: the tree does not depend on the order of the rows.

    Tables may be arrays, lists, or tables of pandas and polars; they may hold infinities, missing
    values, and columns of categories. The side that missing values take at each split is searched
    too; where none were seen in training they follow the larger side. A category split takes one
    category from the rest, with ``category_splits="groups"`` several; categories that training did
    not know belong to the rest.

    With ``splits="pairs"`` a split may also be about the sum or difference of two columns of
    numbers. A row that lacks one of the two takes the side that the search found best for such
    rows.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree.
    status_ : {"optimal", "time_limit", "work_limit", "interrupted"}
        Whether the tree is proven optimal, or what ended the search before that.
    objective_ : int or float
        The cost of the tree: the weight of the training rows it gets wrong, plus the penalties of
        its splits. Without weights and penalty, the number of training errors. With another
        `criterion` or with costs, what the leaves cost by these, worked out on the training rows.
    lower_bound_ : int or float
        No tree of the allowed size costs less than this.
    gap_ : float
        ``(objective_ - lower_bound_) / objective_``: 0.0 for an optimal tree.
    history_ : tuple of Progress
        How cost and bound approached each other: seconds, cost, lower bound.
    counters_ : mapping of str to int
        Counts of what the search did.
    solution_ : Solution
        All of the above as the search gave it.
    classes_ : array of shape (n_classes,)
        The labels.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str of shape (n_features,)
        The names of the columns, if the table has names and all are strings.
    encoder_ : TableEncoder
        Turns tables into the numbers the tree works on.
    feature_importances_ : array of shape (n_features,)
        The share of each column in the decrease of Gini impurity.

    Notes
    -----
    Two leaves side by side may predict the same class where the tree is chosen by impurity: their
    shares differ, and ``predict_proba`` tells them apart.

    Errors are whole numbers, and proofs are exact. Impurities and costs are not, so their proofs
    hold to a part of 1e-9 of what the best single leaf costs.

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
    >>> round(OptimalTreeClassifier(max_depth=2, criterion="gini").fit(X, y).objective_, 3)
    8.357
    >>> clf = OptimalTreeClassifier(max_depth=2, cost_matrix={(2, 1): 5.0}).fit(X, y)
    >>> clf.objective_
    11.0
    >>> clf = OptimalTreeClassifier(max_depth=1, splits="pairs").fit(X[y > 0], y[y > 0])
    >>> print(clf.export_text())
    petal length (cm) + 2*petal width (cm) <= 7.95
    |   1: 97.9% of 48 rows [47, 1]
    petal length (cm) + 2*petal width (cm) > 7.95
    |   2: 94.2% of 52 rows [3, 49]
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
        max_work: int | None = None,
        max_memory: int | str | None = None,
        n_jobs: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int | bool = 0,
        criterion: str = "errors",
        cost_matrix: ArrayLike | Mapping[tuple[Any, Any], float] | None = None,
        probabilities: str | Smoothing = "shares",
        splits: str = "columns",
        n_angles: int = 2,
        pair_columns: Sequence[str | int] | None = None,
        category_splits: str = "one",
        forbidden_columns: Sequence[str | int] | Mapping[str, Any] | None = None,
        interaction_cst: str | Sequence[Any] | None = None,
        fixed_splits: Mapping[str, Any] | None = None,
        monotonic_cst: ArrayLike | Mapping[str | int, int] | None = None,
        column_costs: Mapping[str | int, float] | None = None,
        executor: str | None = None,
        refine_pairs: bool = False,
    ) -> None:
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.alpha = alpha
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.max_work = max_work
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.criterion = criterion
        self.cost_matrix = cost_matrix
        self.probabilities = probabilities
        self.splits = splits
        self.n_angles = n_angles
        self.pair_columns = pair_columns
        self.category_splits = category_splits
        self.forbidden_columns = forbidden_columns
        self.interaction_cst = interaction_cst
        self.fixed_splits = fixed_splits
        self.monotonic_cst = monotonic_cst
        self.column_costs = column_costs
        self.executor = executor
        self.refine_pairs = refine_pairs

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        sample_costs: ArrayLike | None = None,
        initial_tree: Any = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> OptimalTreeClassifier:
        """Find the best tree for a table.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            The training rows. A table of Dask may be larger than memory; see the page on clusters.
        y : array-like of shape (n_samples,)
            Their labels: numbers, booleans or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights; a row of weight two counts as two rows, and one of weight zero as none.
            None gives every row weight one.
        sample_costs : array-like of shape (n_samples, n_classes), default=None
            What each class costs as the prediction for each row, in the order of ``classes_``:
            any finite numbers, gains being costs below zero. They take the place of errors.
        initial_tree : fitted classifier or Tree, default=None
            A tree to begin with: any fitted classifier of this package, scikit-learn's
            ``DecisionTreeClassifier``, or a :class:`~provetree.Tree`. It must keep to the limits
            of this estimator on the training rows. The tree that comes out is at least as good.
        on_progress : callable, default=None
            Called from time to time with a :class:`~provetree.Progress`: seconds, cost and bound.

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
        >>> costs = [[0, 1], [4, 0], [0, 9]]  # of "no" and of "yes", for each row
        >>> OptimalTreeClassifier(max_depth=1).fit(X, y, sample_costs=costs).objective_
        1.0
        """
        validate(TREE_OPTIONS, vars(self), type(self).__name__)
        if self.refine_pairs:
            self._check_turning(sample_costs)
        if is_dask(X):
            from provetree.estimators._large import fit_table_of_dask

            others = {"sample_costs": sample_costs, "initial_tree": initial_tree}
            return fit_table_of_dask(self, X, y, sample_weight, on_progress, **others)
        streams = initial_tree is None and sample_costs is None and self._may_stream()
        prepared = prepare_for(
            self,
            X,
            y,
            sample_weight,
            sample_costs=sample_costs,
            most_cells=MOST_CELLS if streams else None,
        )
        # Model files say what the cost is about; the costs of the rows themselves stay out.
        self._told_in_fit = {} if sample_costs is None else {"sample_costs": "of each row"}
        if prepared.aside:
            prepared, found = self._streamed(prepared, on_progress)
        else:
            found = self._search(X, prepared, initial_tree, on_progress)
        if self.refine_pairs and found.status != "interrupted":
            from provetree.search.turning import turn_pairs

            seconds = None
            if self.time_limit is not None:
                seconds = max(0.0, float(self.time_limit) - self._search_seconds)
            found = turn_pairs(prepared, found, seconds)
        return self._finished(prepared, found)

    def _may_stream(self) -> bool:
        """Whether sums of two columns that are too many to be kept can be searched in a stream."""
        plain = self.criterion == "errors" and self.cost_matrix is None and not rules_given(self)
        whole = self.checkpoint is None and self.executor is None and self.max_work is None
        return plain and whole and not self.refine_pairs and self.max_depth <= MOST_DEPTH

    def _check_turning(self, sample_costs: Any) -> None:
        """Refuse to turn what is no question about two columns, or of another loss."""
        wrong = "splits 'columns'" if self.splits == "columns" else ""
        if self.criterion != "errors" or self.cost_matrix is not None or sample_costs is not None:
            wrong = "another criterion than errors"
        for name in rules_given(self):
            wrong = f"'{name}'"
        if wrong:
            raise ParameterError(
                f"The 'refine_pairs' parameter of {type(self).__name__} must be False with "
                f"{wrong}: it turns questions about any two columns, for the fewest errors. "
                f"Got {self.refine_pairs!r} instead."
            )

    def _finished(self, prepared: Prepared, found: Solution) -> OptimalTreeClassifier:
        """Keep a solution whose rules were read, with the probabilities that were asked for."""
        smoothing = Smoothing.of(self.probabilities)
        if self.monotonic_cst is not None and prepared.problem.n_classes == 2:
            directions = self._rules(prepared).directions
            if directions is not None:
                smoothing = replace(smoothing or Smoothing("laplace", 0.0), directions=directions)
        if smoothing is not None:
            found = replace(found, tree=found.tree.with_smoothing(smoothing))
        self._keep(prepared, found)
        return self

    def certify(
        self,
        X: Any,
        y: ArrayLike,
        path: str | os.PathLike[str],
        sample_weight: ArrayLike | None = None,
        *,
        target: str = "y",
        weight: str | None = None,
    ) -> OptimalTreeClassifier:
        """Find the best tree for a table, and write a file that proves it to anyone.

        The file is a certificate: ``provetree check``, or the checkers in ``provetree-check`` that
        share no line with this package, see from it that no tree costs less. A search that is cut
        off has a certificate of the bound that it reached. Only errors are certified: the
        `criterion` must be "errors", without costs and rules. The search runs in this process,
        without an `executor`.

        Parameters
        ----------
        X, y, sample_weight
            The table, as for :meth:`fit`.
        path : str or path-like
            The file to write.
        target : str, default="y"
            Name of the column of labels in the file that the certificate will be checked against.
        weight : str, default=None
            Name of its column of weights; needed with a `sample_weight`.

        Returns
        -------
        OptimalTreeClassifier
            The fitted estimator. Its ``certificate_`` tells the file, its digest and its bound.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from provetree import OptimalTreeClassifier
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "proof.ptc"
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "yes", "no", "yes"]
        >>> tree = OptimalTreeClassifier(max_depth=2).certify(X, y, path)
        >>> tree.objective_, tree.certificate_.bound, path.exists()
        (0, 0, True)
        """
        validate(TREE_OPTIONS, vars(self), type(self).__name__)
        check_certifiable(self, sample_weight, weight)
        if is_dask(X) or is_dask(y):
            raise ValueError("Certificates are about tables in memory, and X or y is one of Dask.")
        if self.executor is not None:
            warnings.warn(
                "Certificates are written by a search in this process: "
                f"executor={self.executor!r} is not used.",
                UserWarning,
                stacklevel=2,
            )
        prepared = prepare_for(self, X, y, sample_weight)
        self._told_in_fit = {}
        self._rules(prepared)  # there are none
        engine = CertifyingSearch(self._engine())
        found = self._solved(engine, prepared.problem, None)
        certificate = engine.write(
            path, prepared, (self.max_depth, self.max_leaf_nodes), WhatIsRead(target, weight)
        )
        self._finished(prepared, found)
        self.certificate_ = certificate
        return self

    def _labels_again(self, values: Values) -> NDArray[np.int32] | None:
        if getattr(self, "_told_in_fit", None):
            return self.tree_.label  # the costs of other rows are not known
        if self.cost_matrix is None:
            return None
        costs = read_cost_matrix(self.cost_matrix, self.classes_, type(self).__name__)
        return np.asarray((values.value @ costs).argmin(axis=1), dtype=np.int32)
