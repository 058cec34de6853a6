"""The classifier whose tree comes from a mixed-integer model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from provetree.estimators._rates import class_of, rates_by_class
from provetree.estimators._tree_classifier import TreeClassifier
from provetree.mip.engine import MIPSearch
from provetree.mip.options import MIP_OPTIONS
from provetree.options import ParameterError, documented, thread_count, validate
from provetree.problem.constrained import RawRows, constrained
from provetree.problem.groups import group_weights, numbered_groups
from provetree.problem.prepare import Prepared, prepare_for
from provetree.problem.side_constraints import SideConstraints
from provetree.problem.weights import as_decimal
from provetree.renamed import renamed_parameters
from provetree.search.engine import ExactSearch
from provetree.tree.start_tree import holds_tree, read_start_tree, start_tree_of
from provetree.tree.tree import Tree

__all__ = ["MIPTreeClassifier"]


@renamed_parameters(max_rate_difference="max_parity_gap", threads="n_jobs")
@documented(MIP_OPTIONS)
class MIPTreeClassifier(TreeClassifier):
    """A classification tree found by solving a published mixed-integer model.

    It is far slower than :class:`provetree.OptimalTreeClassifier`, and finds the same optimum. It
    is for work on the models themselves, and for side constraints that no search supports: minimum
    recalls, limits on false positives, parity between groups, limited use of columns.

    Under side constraints a leaf may predict another class than its heaviest.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree; it was checked on the training rows after the solve.
    status_ : {"optimal", "time_limit", "interrupted", "gap_limit"}
        Whether the tree is proven optimal, or what ended the search before that.
    objective_ : int or float
        The cost of the tree: the weight of the training rows it gets wrong, plus the penalties of
        its splits.
    lower_bound_ : int or float
        No tree costs less than this: the solver's bound, brought to whole units.
    counters_ : mapping of str to int
        Variables, constraints and nonzeros of the model, nodes of the solver.
    gap_, history_, solution_, classes_, n_features_in_, feature_names_in_, encoder_, \
feature_importances_
        As in :class:`~provetree.OptimalTreeClassifier`.

    Notes
    -----
    Ctrl-C during ``fit`` ends the search, not the program: the estimator is fitted with the best
    tree so far and the solver's bound, and a ``ConvergenceWarning`` says so.

    Examples
    --------
    >>> from provetree import MIPTreeClassifier
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], ["no", "yes", "yes", "no"]
    >>> clf = MIPTreeClassifier("flowoct", max_depth=2).fit(X, y)
    >>> clf.status_, clf.objective_, clf.lower_bound_
    ('optimal', 0, 0)
    >>> strict = MIPTreeClassifier(max_depth=1, min_recall={"yes": 1.0}).fit(X, y)
    >>> strict.predict(X).tolist(), strict.objective_
    (['no', 'yes', 'yes', 'yes'], 1)
    """

    def __init__(
        self,
        formulation: str = "oct",
        max_depth: int = 2,
        min_samples_leaf: int | float = 1,
        alpha: float = 0.0,
        max_splits: int | None = None,
        baseline: str = "majority",
        solver: Any = "highs",
        warm_start: Any = "cart",
        tighten: bool = False,
        scaling: str = "minmax",
        merge_rows: bool = True,
        min_recall: float | Mapping[Any, float] | None = None,
        max_false_positive_rate: float | Mapping[Any, float] | None = None,
        max_parity_gap: float | None = None,
        positive_label: Any = None,
        max_column_uses: Mapping[Any, Any] | None = None,
        max_columns_per_split: int | None = None,
        split_gap: float = 0.005,
        class_weight: Mapping[Any, float] | str | None = None,
        categorical_features: ArrayLike | str | None = "from_dtype",
        time_limit: float | None = None,
        mip_gap: float = 0.0,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.formulation = formulation
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.alpha = alpha
        self.max_splits = max_splits
        self.baseline = baseline
        self.solver = solver
        self.warm_start = warm_start
        self.tighten = tighten
        self.scaling = scaling
        self.merge_rows = merge_rows
        self.min_recall = min_recall
        self.max_false_positive_rate = max_false_positive_rate
        self.max_parity_gap = max_parity_gap
        self.positive_label = positive_label
        self.max_column_uses = max_column_uses
        self.max_columns_per_split = max_columns_per_split
        self.split_gap = split_gap
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.mip_gap = mip_gap
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        sensitive_features: ArrayLike | None = None,
    ) -> MIPTreeClassifier:
        """Find the best tree for a table.

        Parameters
        ----------
        X, y, sample_weight
            The training rows, as in :meth:`OptimalTreeClassifier.fit`.
        sensitive_features : array-like of shape (n_samples,), default=None
            The group of each row, for ``max_parity_gap``. The tree does not see it unless it
            is a column as well.

        Returns
        -------
        MIPTreeClassifier
            The estimator itself.

        Examples
        --------
        >>> from provetree import MIPTreeClassifier
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
        >>> clf = MIPTreeClassifier(max_depth=1, max_parity_gap=0.0)
        >>> clf.fit(X, y, sensitive_features=["a", "a", "b", "b"]).objective_
        2
        """
        engine, prepared = self._made_ready(X, y, sample_weight, sensitive_features)
        solution = self._run(engine, prepared.problem)
        self._keep(prepared, solution)
        self._training = (engine, prepared.problem)
        return self

    def write_model(
        self,
        path: str | Path,
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        sensitive_features: ArrayLike | None = None,
    ) -> None:
        """Write the model to an MPS or LP file, for any solver.

        Parameters
        ----------
        path : str or pathlib.Path
            The file; its ending, .mps or .lp, says in which format.
        X, y, sample_weight, sensitive_features
            The table to build the model for, without solving it. Without a table, the model of the
            last ``fit`` is written.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from provetree import MIPTreeClassifier
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "oct.lp"
        >>> MIPTreeClassifier(max_depth=1).write_model(path, [[1.0], [2.0]], [0, 1])
        >>> "d_1" in path.read_text()
        True
        """
        from provetree.solvers.highs import write_model

        if X is None:
            check_is_fitted(self)
            if not hasattr(self, "_training"):
                raise ValueError(
                    "A stored estimator has no training rows with it: give write_model X and y."
                )
            engine, problem = self._training
        else:
            if y is None:
                raise ValueError("write_model needs y as well as X.")
            engine, prepared = self._made_ready(X, y, sample_weight, sensitive_features)
            problem = prepared.problem
        write_model(engine.build(problem).model, path)

    def __getstate__(self) -> dict[str, Any]:
        # Stored estimators do not carry their training rows.
        return {
            name: value for name, value in super().__getstate__().items() if name != "_training"
        }

    def _made_ready(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        sensitive_features: ArrayLike | None,
    ) -> tuple[MIPSearch, Prepared]:
        """Look everything over, and make the problem and the engine of it."""
        owner = type(self).__name__
        validate(MIP_OPTIONS, vars(self), owner)
        if self.formulation == "p" and self.alpha > 0:
            raise ParameterError(
                f"The 'alpha' parameter of {owner} must be 0 with formulation 'p', whose penalty "
                f"is 1 / (max_splits + 1). Got {self.alpha!r} instead."
            )
        if self.formulation == "oct-h":
            self._check_hyperplanes()
        elif self.max_columns_per_split is not None:
            raise self._bad(
                "max_columns_per_split",
                f"be None with formulation {self.formulation!r}, whose questions are about one "
                f"column. Got {self.max_columns_per_split!r}",
            )
        prepared = prepare_for(
            self,
            X,
            y,
            sample_weight,
            max_leaf_nodes=None if self.max_splits is None else self.max_splits + 1,
            alpha=0.0,  # the engine has the penalty, of its own baseline
            # Columns that offer the same splits are not the same where their use is limited.
            keep_duplicates=self.max_column_uses is not None,
        )
        problem = prepared.problem
        groups = self._groups(sensitive_features, len(prepared.codes))
        totals = np.bincount(problem.classes, problem.weights)
        baseline = int(totals.max() if self.baseline == "majority" else problem.root_error)
        asked = constrained(
            problem,
            depth=self.max_depth,
            max_splits=self.max_splits,
            penalty=as_decimal(self.alpha) * baseline,
            side=self._side(prepared, groups),
            rows=_raw_rows(prepared, groups),
        )
        engine = MIPSearch(
            formulation=self.formulation,
            solver=self.solver,
            baseline=max(1, baseline),
            warm_start=self._start(X, prepared, asked.rows),
            scaling="rank" if self.scaling == "rank" else "minmax",
            merge_rows=bool(self.merge_rows),
            tighten=bool(self.tighten),
            mip_gap=float(self.mip_gap),
            n_jobs=None if self.n_jobs is None else thread_count(self.n_jobs),
            max_columns=self.max_columns_per_split,
            gap=float(self.split_gap),
        )
        return engine, replace(prepared, problem=asked)

    def _check_hyperplanes(self) -> None:
        """Refuse what OCT-H cannot have."""
        if self.solver == "cp-sat":
            raise self._bad(
                "solver",
                "be another one with formulation 'oct-h': CP-SAT works on whole numbers, and would "
                "prove trees of rounded coefficients only. Got 'cp-sat'",
            )
        if self.max_column_uses is not None:
            raise self._bad(
                "max_column_uses",
                "be None with formulation 'oct-h', where 'max_columns_per_split' limits the "
                f"columns of a question. Got {self.max_column_uses!r}",
            )

    def _start(self, X: Any, prepared: Prepared, rows: RawRows) -> Any:
        """Return what the engine starts from."""
        given = self.warm_start
        if self.formulation == "oct-h":
            own = getattr(given, "tree_", given)
            if isinstance(own, Tree):  # it may have sums, which ordered columns do not
                return own
        if isinstance(given, Tree):
            return start_tree_of(prepared.problem, given, rows.X)
        if holds_tree(given):
            return read_start_tree(given, X, prepared, f"'warm_start' of {type(self).__name__}")
        return ExactSearch() if given == "search" else given or None

    # -- side constraints ------------------------------------------------------------------

    def _groups(self, given: ArrayLike | None, n_rows: int) -> NDArray[np.intp] | None:
        """Return the group of each row as a number."""
        if given is not None:
            return numbered_groups(given, n_rows)[1]
        if self.max_parity_gap is not None:
            raise ValueError(
                f"The 'max_parity_gap' of {type(self).__name__} needs the group of each row: "
                "give fit sensitive_features."
            )
        return None

    def _side(self, prepared: Prepared, groups: NDArray[np.intp] | None) -> SideConstraints | None:
        """Return the side constraints in terms of the problem, None if there are none."""
        by_group = None
        if self.max_parity_gap is not None and groups is not None:
            by_group = group_weights(prepared, groups).T
            by_group = np.ascontiguousarray(by_group[by_group.sum(axis=1) > 0])
        side = SideConstraints(
            min_recall=self._rates("min_recall", prepared),
            max_false_positive_rate=self._rates("max_false_positive_rate", prepared),
            max_parity_gap=None if self.max_parity_gap is None else as_decimal(self.max_parity_gap),
            positive=0 if by_group is None else self._positive("max_parity_gap", prepared),
            groups=by_group,
            column_limits=self._column_limits(prepared),
        )
        return side if side.any else None

    def _rates(self, name: str, prepared: Prepared) -> dict[int, Fraction]:
        """Return rates by class; a single recall is for all classes, others for the positive."""

        def meant() -> list[int]:
            every = list(range(len(prepared.classes)))
            return every if name == "min_recall" else [self._positive(name, prepared)]

        given = getattr(self, name)
        return rates_by_class(name, given, prepared.classes, type(self).__name__, meant)

    def _positive(self, name: str, prepared: Prepared) -> int:
        owner = type(self).__name__
        if self.positive_label is not None:
            return class_of("positive_label", self.positive_label, prepared.classes, owner)
        if len(prepared.classes) != 2:
            raise ValueError(
                f"The '{name}' of {owner} needs to know the positive class of "
                f"{len(prepared.classes)}: set positive_label."
            )
        return 1

    def _column_limits(self, prepared: Prepared) -> tuple[tuple[tuple[int, ...], int], ...]:
        name = "max_column_uses"
        if self.max_column_uses is None:
            return ()
        names = prepared.encoder.feature_names
        n_features = prepared.problem.n_features
        limits: list[tuple[tuple[int, ...], int]] = []
        for key, most in self.max_column_uses.items():
            if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 0:
                raise self._bad(name, f"hold ints in the range [0, inf). Got {most!r}")
            features = []
            for column in key if isinstance(key, tuple) else (key,):
                if names is not None and column in names:
                    features.append(list(names).index(column))
                elif isinstance(column, (int, np.integer)) and 0 <= column < n_features:
                    features.append(int(column))
                else:
                    raise self._bad(name, f"name columns of the table. Got {column!r}")
            limits.append((tuple(features), int(most)))
        return tuple(limits)

    def _bad(self, name: str, must: str) -> ParameterError:
        return ParameterError(
            f"The '{name}' parameter of {type(self).__name__} must {must} instead."
        )


def _raw_rows(prepared: Prepared, groups: NDArray[np.intp] | None) -> RawRows:
    """Return the rows of a weight above zero, as they were given."""
    weights = prepared.whole_weights()
    present = weights > 0
    return RawRows(
        prepared.encoded[present],
        prepared.codes[present].astype(np.int64),
        weights[present],
        None if groups is None else groups[present].astype(np.int64),
    )
