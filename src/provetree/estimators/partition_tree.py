"""The classifier that learns from a data-partition: few representatives instead of all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from provetree.estimators._tree_classifier import TreeClassifier
from provetree.options import documented, thread_count, validate
from provetree.partitions.options import PARTITION_OPTIONS
from provetree.partitions.partition import DataPartition
from provetree.partitions.refinement import PartitionSearch, PartitionSolution
from provetree.problem.prepare import Prepared, prepare_for
from provetree.problem.rows import problem_rows, representatives
from provetree.renamed import renamed_parameters
from provetree.search.engine import ExactSearch
from provetree.solution import Engine
from provetree.tree.start_tree import StartTree

__all__ = ["PartitionTreeClassifier"]


@renamed_parameters(threads="n_jobs")
@documented(PARTITION_OPTIONS)
class PartitionTreeClassifier(TreeClassifier):
    """A tree from representatives of clusters of rows, refined until it fits the rows themselves.

    After Ales, Huré and Lambert (2024): rows of one class that are close to each other become a
    cluster, the best tree for the representatives of the clusters is found, clusters that the tree
    cuts are divided, and so on. For tables of tens of thousands of rows this finds good trees while
    the exact search is still far from its proof; with ``refinement="exact"`` it ends with a proof.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The best tree of all rounds, on the rows.
    status_ : {"optimal", "feasible", "time_limit", "interrupted"}
        "optimal": no tree of the allowed size makes fewer errors. "feasible": the heuristic ended
        with a tree that cuts no cluster; nothing is proven about it.
    objective_ : int or float
        The weight of the training rows that the tree gets wrong.
    lower_bound_ : int or float
        No tree of the allowed size has less.
    rounds_ : tuple of Round
        What happened in each round: clusters, those that were cut, errors as the model counts them
        and on the rows.
    clusters_, last_clusters_ : array of int of shape (n_samples,)
        The cluster of each row before and after the refinement; -1 for rows of weight zero.
    gap_, history_, counters_, solution_, classes_, n_features_in_, feature_names_in_, encoder_, \
feature_importances_
        As in :class:`~provetree.OptimalTreeClassifier`.

    Notes
    -----
    With ``inner="search"`` the exact variant does not solve (DP') itself but a lower bound on it
    that a search can use: a cluster counts as wrong only if all of its rows end in one leaf of
    another class. The proof at the end is the same.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import PartitionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PartitionTreeClassifier(max_depth=2).fit(X, y)
    >>> clf.status_, clf.objective_, clf.counters_["first_clusters"]
    ('feasible', 6, 25)
    >>> exact = PartitionTreeClassifier(max_depth=2, refinement="exact").fit(X, y)
    >>> exact.status_, exact.objective_, exact.lower_bound_
    ('optimal', 6, 6)
    """

    def __init__(
        self,
        partition: str | DataPartition = "igp",
        rho: float = 0.25,
        refinement: str = "heuristic",
        improved: bool = True,
        post_process: bool = True,
        inner: str = "search",
        solver: Any = "highs",
        n_jobs: int | None = None,
        max_depth: int = 3,
        max_splits: int | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        time_limit: float | None = None,
        verbose: int | bool = 0,
        splits: str = "columns",
        n_angles: int = 2,
        pair_columns: Sequence[str | int] | None = None,
    ) -> None:
        self.partition = partition
        self.rho = rho
        self.refinement = refinement
        self.improved = improved
        self.post_process = post_process
        self.inner = inner
        self.solver = solver
        self.n_jobs = n_jobs
        self.max_depth = max_depth
        self.max_splits = max_splits
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.verbose = verbose
        self.splits = splits
        self.n_angles = n_angles
        self.pair_columns = pair_columns

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> PartitionTreeClassifier:
        """Find a tree for a table.

        Parameters
        ----------
        X, y, sample_weight
            The training rows, as in :meth:`OptimalTreeClassifier.fit`.

        Returns
        -------
        PartitionTreeClassifier
            The estimator itself.

        Examples
        --------
        >>> from provetree import PartitionTreeClassifier
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> PartitionTreeClassifier(max_depth=1).fit(X, y).predict([[2.4], [9.0]])
        array(['no', 'yes'], dtype='<U3')
        """
        validate(PARTITION_OPTIONS, vars(self), type(self).__name__)
        leaves = None if self.max_splits is None else self.max_splits + 1
        prepared = prepare_for(self, X, y, sample_weight, max_leaf_nodes=leaves)
        rows = problem_rows(prepared.problem, prepared.encoded, prepared.codes)
        if prepared.weights is not None:
            rows[prepared.weights == 0] = -1
        first = representatives(prepared.problem, rows)
        engine = PartitionSearch(
            prepared.encoded[first],
            self._engine_for,
            self._clusters(prepared, first),
            rho=float(self.rho),
            refinement="exact" if self.refinement == "exact" else "heuristic",
            improved=bool(self.improved),
            post_process=bool(self.post_process),
            solver=self.solver if self.inner == "milp" else None,
            n_jobs=self._solver_jobs,
        )
        solution = self._run(engine, prepared.problem)
        assert isinstance(solution, PartitionSolution)
        self._keep(prepared, solution)
        self.rounds_ = solution.rounds
        for name, clusters in (
            ("clusters_", solution.first_clusters),
            ("last_clusters_", solution.last_clusters),
        ):
            known = np.full(len(rows), -1, dtype=np.int64)
            if clusters is not None:
                known[rows >= 0] = clusters[rows[rows >= 0]]
            setattr(self, name, known)
        return self

    @property
    def _solver_jobs(self) -> int | None:
        return None if self.n_jobs is None else thread_count(self.n_jobs)

    def _engine_for(self, start: StartTree | None) -> Engine:
        """Return the engine that solves model (DP)."""
        if self.inner == "search":
            return ExactSearch()
        from provetree.mip.engine import MIPSearch

        return MIPSearch(
            "p",
            self.solver,
            scaling="rank",
            warm_start="cart" if start is None else start,
            n_jobs=self._solver_jobs,
        )

    def _clusters(self, prepared: Prepared, first: np.ndarray[Any, Any]) -> Any:
        """Return how the engine makes its partition, or the cluster of each of its rows."""
        if not isinstance(self.partition, DataPartition):
            return self.partition
        given = np.asarray(self.partition.clusters)
        if len(given) != len(prepared.encoded):
            raise ValueError(
                f"The 'partition' parameter of {type(self).__name__} must be a DataPartition of "
                f"the {len(prepared.encoded)} training rows. Got one of {len(given)} rows instead."
            )
        # Equal rows of one class go the same way: the first of them speaks for all.
        return np.unique(given[first], return_inverse=True)[1].reshape(-1)
