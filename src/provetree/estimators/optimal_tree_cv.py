"""The classifier that chooses its own size and settings by cross-validation: the front door."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from provetree.estimators._progress import ProgressLine
from provetree.estimators._tree_classifier import TreeClassifier
from provetree.estimators.optimal_tree import OptimalTreeClassifier
from provetree.options import documented, validate
from provetree.problem.inputs import row_weights
from provetree.problem.pairs import check_pairs
from provetree.problem.prepare import Prepared, prepare, prepare_for
from provetree.selection.folds import plan_folds
from provetree.selection.options import (
    CV_LEAST_ROWS,
    CV_OPTIONS,
    DEEPEST,
    MOST_LEAVES,
    TRIED_CRITERIA,
    WORTH_OF_DEPTH,
)
from provetree.selection.path import path_end
from provetree.selection.race import TuningProgress
from provetree.selection.scoring import (
    class_weights_for,
    classes_count_alike,
    is_cost_matrix,
    scorer_of,
)
from provetree.selection.settings import ClassWeight, Setting, TuningTable, as_list, settings_of
from provetree.selection.tune import Tuned, tune
from provetree.solution import Solution
from provetree.tree.smoothing import Smoothing

__all__ = ["OptimalTreeCV"]

#: What is kept of the time limit for what comes after the last search.
_LAST_SHARE, _LAST_SECONDS = 0.02, 0.25


@documented(CV_OPTIONS)
class OptimalTreeCV(TreeClassifier):
    """An optimal tree that chooses its size, and how it is grown, by cross-validation.

    For every setting (what is minimised, the least rows of a leaf, how classes weigh) the best
    trees of every number of leaves are found on each fold, and judged by `scoring` on the rows held
    out. Settings that cannot win are dropped early. The tree is then that of all rows, of the size
    and setting that did best.

    One `time_limit` holds for all of it. What was tried, what was chosen and why is in ``path_``.

    {parameters}

    Attributes
    ----------
    path_ : TunedPath
        All sizes of the chosen setting with their costs, bounds and scores; all settings that were
        tried (``path_.tried``), why this one was chosen (``path_.reason``), and what was not done
        (``path_.notes``).
    n_leaves_ : int
        The chosen greatest number of leaves.
    max_depth_ : int
        The greatest depth of the trees that the proof is about.
    criterion_ : str
        The chosen criterion.
    min_samples_leaf_ : int or float
        The chosen least number of rows in a leaf.
    class_weight_ : dict, "balanced" or None
        The chosen class weights.
    splits_ : {"columns", "pairs"}
        What splits may be about: one column, or also sums of two.
    pair_columns_ : list of int or None
        The columns that sums were made of; the proof is for these.
    calibration_ : Calibration or None
        How well the probabilities of such trees agree with the rows held out; None without folds.
    best_score_ : float
        The mean score of the tree's size and setting on the rows held out.
    tree_ : Tree
        The tree of the chosen size on all rows; ``status_``, ``objective_``, ``lower_bound_``,
        ``gap_``, ``classes_`` and the others are those of
        :class:`~provetree.OptimalTreeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeCV
    >>> clf = OptimalTreeCV(max_depth=2).fit(*load_iris(return_X_y=True))
    >>> clf.n_leaves_, clf.criterion_, clf.status_
    (3, 'gini', 'optimal')
    """

    def __init__(
        self,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int | float | Iterable[int | float] = CV_LEAST_ROWS,
        class_weight: Mapping[Any, float] | str | None = "auto",
        categorical_features: ArrayLike | str | None = "from_dtype",
        time_limit: float | None = 60.0,
        cv: Any = 5,
        rule: str = "best",
        n_jobs: int | None = None,
        criterion: str | Iterable[str] = TRIED_CRITERIA,
        scoring: Any = None,
        verbose: int | bool = 0,
        probabilities: str | Smoothing = "auto",
        splits: str | Iterable[str] = "auto",
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
        self.scoring = scoring
        self.verbose = verbose
        self.probabilities = probabilities
        self.splits = splits

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        on_progress: Callable[[TuningProgress], None] | None = None,
    ) -> OptimalTreeCV:
        """Choose size and setting, and keep the best tree of them on all rows.

        Parameters
        ----------
        X, y, sample_weight
            The training rows, as in :meth:`OptimalTreeClassifier.fit`. Weights count in training
            and in the scores.
        groups : array-like of shape (n_samples,), default=None
            The group of each row: rows of one group are never on both sides of a fold. An int as
            `cv` then makes folds of groups.
        on_progress : callable, default=None
            Called with a :class:`~provetree.selection.race.TuningProgress` before each search.

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
        started = time.monotonic()
        validate(CV_OPTIONS, vars(self), type(self).__name__)
        owner = type(self).__name__
        fixed = None if self._weights_are_chosen else self.class_weight
        prepared = prepare(
            X,
            y,
            sample_weight,
            max_depth=self._depth,
            owner=owner,
            class_weight=fixed,
            categorical_features=self.categorical_features,
        )
        own = row_weights(sample_weight, None, prepared.classes, prepared.codes)
        leaves = self.max_leaf_nodes
        if leaves is None and self.max_depth is None:
            leaves = min(MOST_LEAVES, prepared.problem.max_splits + 1)
        leaves = path_end(prepared.problem, leaves)
        worth = WORTH_OF_DEPTH if self.max_depth is None else 0.0
        table = TuningTable(prepared, own, self._depth, leaves, X, worth=worth)
        scorer = scorer_of(self.scoring, table, fixed, owner)
        if scorer.costs is not None:
            table = replace(table, costs=scorer.costs)
        plan = plan_folds(
            self.cv,
            prepared.codes,
            prepared.classes,
            groups,
            owner,
            prepared.weights,
            alike=classes_count_alike(self.scoring),
        )
        with ProgressLine() as line:
            tell = _both(line.say if self.verbose else None, on_progress)
            tuned = tune(
                table,
                self._settings(prepared),
                scorer,
                plan,
                rule=self.rule,
                deadline=self._deadline(started),
                n_jobs=self.n_jobs,
                tell=tell,
            )
            self._search_seconds = time.monotonic() - started
            if self.verbose:
                line.close(tuned.solution)
        self._keep_choice(tuned)
        asked = self.probabilities
        smoothing = tuned.smoothing if asked == "auto" else Smoothing.of(asked)
        self.calibration_ = tuned.calibrated and tuned.calibrated(smoothing)
        self._keep(prepared, self._smoothed(tuned, smoothing))
        return self

    def _smoothed(self, tuned: Tuned, smoothing: Smoothing | None) -> Solution:
        """Return the solution with the probabilities that were asked for, or chosen."""
        if smoothing is None:
            return tuned.solution
        tree = tuned.solution.tree.with_smoothing(smoothing)
        return replace(tuned.solution, tree=tree)

    @property
    def _weights_are_chosen(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "auto"

    @property
    def _depth(self) -> int:
        """The greatest depth."""
        if self.max_depth is not None:
            return int(self.max_depth)
        leaves = MOST_LEAVES if self.max_leaf_nodes is None else int(self.max_leaf_nodes)
        return min(DEEPEST, leaves - 1)

    def _deadline(self, started: float) -> float:
        if self.time_limit is None:
            return math.inf
        limit = float(self.time_limit)
        return started + limit - min(_LAST_SHARE * limit, _LAST_SECONDS)

    def _settings(self, prepared: Prepared) -> list[Setting]:
        """Return what is tried, the surest first."""
        criteria = as_list(self.criterion, (str,))
        leasts = as_list(self.min_samples_leaf, ())
        weights = (
            class_weights_for(self.scoring) if self._weights_are_chosen else [self.class_weight]
        )
        found = settings_of(criteria, leasts, weights, self._asked_splits(prepared))
        rows = prepared.weights
        whole = rows is None or bool(np.array_equal(rows, np.round(rows)))  # as pessimism counts
        possible = [
            setting
            for setting in found
            if setting.criterion != "pessimistic" or (whole and not _is_power(setting.class_weight))
        ]
        return possible or found

    def _asked_splits(self, prepared: Prepared) -> list[str]:
        """Return what splits may be about; with pairs too where they cost no hours, and exist."""
        encoder, owner = prepared.encoder, type(self).__name__
        if self.splits != "auto":
            asked = as_list(self.splits, (str,))
            if "pairs" in asked:
                check_pairs(encoder.categories, range(len(encoder.categories)), 2, owner)
            return asked
        numbers = sum(level is None for level in encoder.categories)
        return ["columns", "pairs"] if self.time_limit is not None and numbers > 1 else ["columns"]

    def _keep_choice(self, tuned: Tuned) -> None:
        path, setting = tuned.path, tuned.setting
        self.path_ = path
        self.n_leaves_ = tuned.point.n_leaves
        self.max_depth_ = tuned.max_depth
        self.criterion_ = setting.criterion
        self.min_samples_leaf_ = setting.min_samples_leaf
        self.class_weight_ = tuned.class_weight
        self.splits_ = setting.splits
        self.pair_columns_ = tuned.paired
        self.best_score_ = tuned.point.cv_score

    @property
    def _chosen_parameters(self) -> dict[str, Any]:
        """What was chosen, under the names of the parameters of one fit."""
        chosen = {
            "max_depth": self.max_depth_,
            "max_leaf_nodes": self.n_leaves_,
            "criterion": self.criterion_,
            "min_samples_leaf": self.min_samples_leaf_,
            "class_weight": self.class_weight_,
            "splits": self.splits_,
            "pair_columns": self.pair_columns_,
        }
        if is_cost_matrix(self.scoring) and self.criterion_ == "errors":
            chosen["cost_matrix"] = self.scoring
        return chosen

    def _prepared_again(
        self, X: Any, y: Any, sample_weight: Any, who: str, **changes: Any
    ) -> Prepared:
        chosen = self._chosen_parameters
        chosen["loss"] = chosen.pop("criterion")
        return prepare_for(self, X, y, sample_weight, **(chosen | changes))

    def chosen_classifier(self) -> OptimalTreeClassifier:
        """Return an unfitted classifier with the parameters that were chosen.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from provetree import OptimalTreeCV
        >>> clf = OptimalTreeCV(max_depth=2).fit(*load_iris(return_X_y=True))
        >>> clf.chosen_classifier().max_leaf_nodes
        3
        """
        return OptimalTreeClassifier(
            categorical_features=self.categorical_features,
            time_limit=self.time_limit,
            **self._chosen_parameters,
        )

    def plot_frontier(self, ax: Any = None) -> Any:
        """Draw the score against size; see :func:`provetree.export.frontier.plot_frontier`.

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


def _is_power(weight: ClassWeight) -> bool:
    return isinstance(weight, (int, float))


def _both(
    first: Callable[[TuningProgress], None] | None, second: Callable[[TuningProgress], None] | None
) -> Callable[[TuningProgress], None] | None:
    """Return what tells both of what is tried."""
    if first is None or second is None:
        return first or second

    def tell(progress: TuningProgress) -> None:
        first(progress)
        second(progress)

    return tell
