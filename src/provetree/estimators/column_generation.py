"""The classifier that chooses its tree from candidate splits by column generation."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from provetree.colgen.candidates import PASS
from provetree.colgen.engine import ColumnGeneration
from provetree.colgen.options import COLGEN_OPTIONS
from provetree.colgen.result import GenerationSolution
from provetree.estimators._certifying import certify_by_search, check_certifiable
from provetree.estimators._rates import rates_by_class
from provetree.estimators._tree_classifier import TreeClassifier
from provetree.export.certificate import WhatIsRead
from provetree.options import ParameterError, documented, validate
from provetree.problem.constrained import constrained
from provetree.problem.groups import group_weights, numbered_groups
from provetree.problem.listed_splits import with_listed_splits
from provetree.problem.prepare import Prepared, prepare_for
from provetree.problem.side_constraints import SideConstraints
from provetree.problem.weights import as_decimal
from provetree.renamed import renamed

__all__ = ["ColumnGenerationClassifier"]


@documented(COLGEN_OPTIONS)
class ColumnGenerationClassifier(TreeClassifier):
    """The best tree of candidate splits, also under constraints on the tree as a whole.

    Column generation after Firat et al. (2020) and Patel et al. (2023): each node chooses from a
    set of candidate splits, a master problem chooses one path per leaf, and pricing finds paths
    that improve it. The tree is proven to be the best *of the candidate splits*; nothing is proven
    about other thresholds, unless ``candidates="all"``. For the best tree over all thresholds use
    :class:`~provetree.OptimalTreeClassifier`; this one supports what that one does not: minimum
    recalls, limits on false positives and parity between groups, exactly for the candidate set.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree. Under constraints a leaf may predict a class that is not its largest.
    status_ : {"optimal", "candidate_optimal", "feasible", "time_limit", "interrupted"}
        "candidate_optimal": proven the best tree of the candidate splits. "optimal": proven for
        all trees, which happens when the tree makes no avoidable error or the candidates are all
        splits. "feasible": the method ended without a proof (``prove=False``).
    objective_ : int or float
        The cost of the tree: the weight of the training rows it gets wrong, plus the penalties of
        its splits.
    lower_bound_ : int or float
        No tree costs less, over all thresholds. Column generation proves little about that, so
        this is mostly the cost of rows that are alike and differ in class.
    candidate_optimal_ : bool
        Whether the tree is proven the best of the candidate splits.
    candidate_bound_, candidate_gap_ : float
        No tree of the candidate splits costs less, and the share of the cost above that.
    master_value_, master_bound_ : float
        Cost of the linear relaxation of the master, and the bound its pricing proves.
    master_integral_ : bool
        Whether the relaxation's solution is a tree.
    proof_ : CandidateProof
        All that, with iterations, columns, cuts, branch-and-price nodes and the time of each part.
    history_ : tuple of GenerationProgress
        Seconds, cost, value and bound of the master, columns and cuts after every iteration.
    solution_, counters_, gap_, classes_, n_features_in_, feature_names_in_, encoder_, \
feature_importances_
        As in :class:`~provetree.OptimalTreeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from provetree import ColumnGenerationClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = ColumnGenerationClassifier(max_depth=2).fit(X, y)
    >>> clf.status_, clf.candidate_optimal_
    ('candidate_optimal', True)
    >>> careful = ColumnGenerationClassifier(max_depth=2, min_recall={0: 0.97}).fit(X, y)
    >>> bool((careful.predict(X[y == 0]) == 0).mean() >= 0.97)
    True
    """

    def __init__(
        self,
        max_depth: int = 3,
        variant: str = "revised",
        candidates: Any = "sampled",
        candidate_factor: float = 1.0,
        sample_runs: int = 300,
        sample_share: float = 0.9,
        until_root_settles: bool = False,
        quantiles: int = 7,
        start_runs: int | None = None,
        merge_rows: bool | None = None,
        row_constraints: str | None = None,
        separation: str = "routes",
        pricing: str = "exact",
        heuristic: str | None = None,
        integer_step: str = "recursion",
        prove: bool = True,
        solve_master: bool | None = None,
        master_method: str | None = None,
        branch_columns: str = "trees",
        min_recall: float | Mapping[Any, float] | None = None,
        max_false_positive_rate: float | Mapping[Any, float] | None = None,
        max_parity_gap: float | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int | float = 1,
        alpha: float = 0.0,
        class_weight: Mapping[Any, float] | str | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.max_depth = max_depth
        self.variant = variant
        self.candidates = candidates
        self.candidate_factor = candidate_factor
        self.sample_runs = sample_runs
        self.sample_share = sample_share
        self.until_root_settles = until_root_settles
        self.quantiles = quantiles
        self.start_runs = start_runs
        self.merge_rows = merge_rows
        self.row_constraints = row_constraints
        self.separation = separation
        self.pricing = pricing
        self.heuristic = heuristic
        self.integer_step = integer_step
        self.prove = prove
        self.solve_master = solve_master
        self.master_method = master_method
        self.branch_columns = branch_columns
        self.min_recall = min_recall
        self.max_false_positive_rate = max_false_positive_rate
        self.max_parity_gap = max_parity_gap
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.alpha = alpha
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @renamed("ColumnGenerationClassifier.fit", groups="sensitive_features")
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sensitive_features: ArrayLike | None = None,
    ) -> ColumnGenerationClassifier:
        """Find the best tree of the candidate splits.

        Parameters
        ----------
        X, y, sample_weight
            The training rows, as in :meth:`OptimalTreeClassifier.fit`.
        sensitive_features : array-like of shape (n_samples,), default=None
            The group of each row, for ``max_parity_gap``. The tree does not see it unless it is a
            column as well.

        Returns
        -------
        ColumnGenerationClassifier
            The estimator itself.

        Raises
        ------
        InfeasibleError
            If no tree of the candidate splits keeps the constraints, which is proven, or if none
            was found before the time limit, which the message tells apart.

        Examples
        --------
        >>> from provetree import ColumnGenerationClassifier
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "yes", "no", "no"]
        >>> ColumnGenerationClassifier(max_depth=1).fit(X, y).objective_
        1
        >>> clf = ColumnGenerationClassifier(max_depth=1, min_recall={"yes": 1.0}).fit(X, y)
        >>> clf.predict([[2.0]]), clf.objective_
        (array(['yes'], dtype='<U3'), 1)
        """
        return self._fit(self._prepared(X, y, sample_weight), sensitive_features)

    def certify(
        self,
        X: Any,
        y: ArrayLike,
        path: str | os.PathLike[str],
        sample_weight: ArrayLike | None = None,
        *,
        target: str = "y",
        weight: str | None = None,
    ) -> ColumnGenerationClassifier:
        """Find the best tree of the candidate splits, and write a file that bounds all such trees.

        The certificate lists the candidate splits of all nodes together, and claims that no tree
        over them costs less than a bound. Where every node has the same candidates, this is the
        cost of the tree; else a node may not have all of them, and the bound may be lower.
        :class:`~provetree.ExactSearch` proves it. Constraints on rates have no certificate.

        Parameters
        ----------
        X, y, sample_weight
            The table, as for :meth:`fit`.
        path, target, weight
            As for :meth:`OptimalTreeClassifier.certify`.

        Returns
        -------
        ColumnGenerationClassifier
            The fitted estimator. Its ``certificate_`` tells the file, its digest and its bound.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from provetree import ColumnGenerationClassifier
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "proof.ptc"
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> clf = ColumnGenerationClassifier(max_depth=1, candidates=[(0, 2.5)])
        >>> clf.certify(X, y, path).certificate_.bound
        2
        """
        check_certifiable(self, sample_weight, weight)
        for name in ("min_recall", "max_false_positive_rate", "max_parity_gap"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"Certificates are about errors alone: the {name!r} parameter of "
                    f"ColumnGenerationClassifier must be None. Got {getattr(self, name)!r}."
                )
        prepared = self._prepared(X, y, sample_weight)
        self._fit(prepared, None)
        solution = self.solution_
        assert isinstance(solution, GenerationSolution)
        assert solution.candidates is not None
        splits = {split for node in solution.candidates.splits for split in node} - {PASS}
        self.certificate_ = certify_by_search(
            path,
            prepared,
            (self.max_depth, self.max_leaf_nodes),
            WhatIsRead(target, weight),
            solution,
            listed=with_listed_splits(prepared.problem, splits),
            time_limit=self.time_limit,
        )
        return self

    def _prepared(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Prepared:
        validate(COLGEN_OPTIONS, vars(self), type(self).__name__)
        with_routes = self.row_constraints == "extra" and self.separation == "routes"
        if self.pricing == "cpsat" and with_routes:
            raise ParameterError(
                "The 'separation' parameter of ColumnGenerationClassifier must be 'search' or "
                "'cpsat' with pricing='cpsat', which cannot price routes. Got 'routes' instead."
            )
        # Own splits may name any column, also one that repeats another.
        own_splits = not isinstance(self.candidates, str)
        return prepare_for(self, X, y, sample_weight, keep_duplicates=own_splits)

    def _fit(
        self, prepared: Prepared, sensitive_features: ArrayLike | None
    ) -> ColumnGenerationClassifier:
        asked = constrained(prepared.problem, side=self._side(prepared, sensitive_features))
        solution = self._run(self._engine(prepared), asked)
        assert isinstance(solution, GenerationSolution)
        self._keep(prepared, solution)
        self.proof_ = solution.proof
        self.candidate_optimal_ = solution.proof.candidate_optimal
        self.candidate_bound_ = solution.proof.candidate_bound
        self.candidate_gap_ = solution.candidate_gap
        self.master_value_ = solution.proof.master_value
        self.master_bound_ = solution.proof.master_bound
        self.master_integral_ = solution.proof.master_integral
        for sentence in solution.proof.trouble:
            warnings.warn(sentence, ConvergenceWarning, stacklevel=2)
        return self

    def _side(self, prepared: Prepared, sensitive: ArrayLike | None) -> SideConstraints:
        """Return the side constraints in terms of the problem."""
        if (self.max_parity_gap is None) != (sensitive is None):
            only = "sensitive_features" if self.max_parity_gap is None else "max_parity_gap"
            raise ValueError(
                "The 'max_parity_gap' parameter of ColumnGenerationClassifier and the "
                f"'sensitive_features' of fit belong together. Got only '{only}'."
            )
        names: tuple[object, ...] = ()
        by_group: NDArray[np.int64] | None = None
        if sensitive is not None:
            names, groups = numbered_groups(sensitive, len(prepared.codes))
            by_group = group_weights(prepared, groups).T
        return SideConstraints(
            min_recall=self._by_class("min_recall", prepared.classes),
            max_false_positive_rate=self._by_class("max_false_positive_rate", prepared.classes),
            max_parity_gap=None if self.max_parity_gap is None else as_decimal(self.max_parity_gap),
            groups=by_group,
            class_names=tuple(prepared.classes.tolist()),
            group_names=names,
        )

    def _engine(self, prepared: Prepared) -> ColumnGeneration:
        seed = 0
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        depth_limit = 12
        if prepared.problem.max_depth > depth_limit:
            raise ParameterError(
                "The 'max_depth' parameter of ColumnGenerationClassifier must be an int in the "
                f"range [0, {depth_limit}]. Got {self.max_depth} instead."
            )
        own = {
            option.name: getattr(self, option.name)
            for option in fields(ColumnGeneration)
            if hasattr(self, option.name)
        }
        for name in ("candidate_factor", "sample_share"):
            own[name] = float(own[name])
        return ColumnGeneration(**(own | {"random_state": seed}))

    def _by_class(self, name: str, classes: NDArray[Any]) -> dict[int, Fraction]:
        """Return a constraint by class; one number is spread over the classes it means."""
        given, n_classes = getattr(self, name), len(classes)

        def meant() -> range:
            if name == "min_recall":
                return range(n_classes)
            if n_classes == 2:
                return range(1, 2)
            raise ValueError(
                f"The {name!r} parameter of {type(self).__name__} must be a dict by label where y "
                f"has {n_classes} labels. Got {given!r} instead."
            )

        return rates_by_class(name, given, classes, type(self).__name__, meant)
