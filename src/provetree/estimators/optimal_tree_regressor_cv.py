"""The regressor that chooses by cross-validation how its tree is grown, and how large."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from provetree.estimators._tree_regressor import TreeRegressor
from provetree.options import documented, validate
from provetree.problem.pairs import check_pairs
from provetree.problem.prepare import Prepared, prepare_for
from provetree.selection.choose import Grid, choose
from provetree.selection.options import (
    FOREST_SHARES,
    LEAST_ROWS,
    MAX_WORK,
    REGRESSOR_CV_OPTIONS,
    SHRINKAGE,
)
from provetree.selection.path import folds_of, path_end
from provetree.selection.settings import as_list
from provetree.solution import Solution

__all__ = ["OptimalTreeRegressorCV"]


@documented(REGRESSOR_CV_OPTIONS)
class OptimalTreeRegressorCV(TreeRegressor):
    """A searched regression tree that chooses its size, and how it is grown, on held-out rows.

    The tree is made for new rows. It has a number of leaves, and may be deeper than a full tree of
    so many. Cross-validation chooses this number, the least rows of a leaf, and whether splits
    follow the targets as they are or what boosted trees predict for rows that they have not seen
    (`forest_share`), which keeps noise out of the splits. In each fold every such choice is
    searched; its score is R² on the rows held out, relative to the variance of all rows (D² with
    ``criterion="absolute_error"``). The first of each list of choices does well on most tables, and
    is kept unless another is better by more than one standard error of the difference. Questions
    about sums of two columns (`splits`) are taken where they are ahead by half of one. Leaves
    predict the mean of their rows, drawn a little towards the nodes above them (`shrinkage`).

    ``status_`` is "optimal" only where it is proven that no tree of the chosen size and depth has a
    smaller training error. Shrinkage and a forest give that up for better predictions: the status
    is then "feasible". ``forest_share=0, shrinkage=0, max_work=None`` asks for the proof, which is
    quick up to depth three or four.

    {parameters}

    Attributes
    ----------
    path_ : TuningPath
        All numbers of leaves with their errors, bounds and scores, grown as was chosen.
    n_leaves_ : int
        The chosen greatest number of leaves.
    min_samples_leaf_, forest_share_, shrinkage_ : int or float
        What was chosen of each.
    splits_ : {"columns", "pairs"}
        What splits may be about: one column, or also sums of two.
    pair_columns_ : list of int or None
        The columns that sums are made of, where splits may be about two.
    candidates_ : list of dict
        What there was to choose from, but for the number of leaves.
    cv_scores_ : array of shape (n_candidates, n_leaves)
        The mean score of each candidate and each number of leaves. A fold is searched with the
        greatest number of leaves; the best prunings of that tree stand for the smaller ones.
    tree_ : Tree
        The tree of the chosen size on all rows; ``status_``, ``objective_``, ``lower_bound_``,
        ``gap_`` and the others are those of :class:`~provetree.OptimalTreeRegressor`. The objective
        is the training error of what the tree predicts. The lower bound is 0 where splits followed
        a forest, because nothing was proven of the targets themselves.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from provetree import OptimalTreeRegressorCV
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> reg = OptimalTreeRegressorCV(2, min_samples_leaf=[5, 20], forest_share=0.0).fit(X, y)
    >>> reg.n_leaves_, reg.min_samples_leaf_, reg.splits_
    (4, 5, 'pairs')
    >>> proven = OptimalTreeRegressorCV(2, min_samples_leaf=20, forest_share=0, shrinkage=0)
    >>> proven.fit(X, y).status_
    'optimal'
    """

    def __init__(
        self,
        max_depth: int = 6,
        criterion: str = "squared_error",
        max_leaf_nodes: int | None = 16,
        min_samples_leaf: int | float | Iterable[int | float] = LEAST_ROWS,
        categorical_features: ArrayLike | str | None = "from_dtype",
        time_limit: float | None = None,
        cv: Any = 5,
        rule: str = "best",
        n_jobs: int | None = None,
        forest_share: float | Iterable[float] = FOREST_SHARES,
        shrinkage: float | Iterable[float] = SHRINKAGE,
        max_work: int | None = MAX_WORK,
        splits: str | Iterable[str] = "auto",
    ) -> None:
        self.max_depth = max_depth
        self.criterion = criterion
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.cv = cv
        self.rule = rule
        self.n_jobs = n_jobs
        self.forest_share = forest_share
        self.shrinkage = shrinkage
        self.max_work = max_work
        self.splits = splits

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> OptimalTreeRegressorCV:
        """Choose on held-out rows how the tree is grown, and grow it on all rows.

        Parameters
        ----------
        X, y, sample_weight
            The training rows, as in :meth:`OptimalTreeRegressor.fit`.
        groups : array-like of shape (n_samples,), default=None
            The group of each row: rows of one group are never on both sides of a fold.

        Returns
        -------
        OptimalTreeRegressorCV
            The estimator itself.

        Examples
        --------
        >>> from provetree import OptimalTreeRegressorCV
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 5, [0.5, 0.5, 2.0, 2.0] * 5
        >>> OptimalTreeRegressorCV(max_depth=2, cv=2).fit(X, y).get_n_leaves()
        2
        """
        validate(REGRESSOR_CV_OPTIONS, vars(self), type(self).__name__)
        started = time.monotonic()
        leasts = as_list(self.min_samples_leaf, (str,))
        prepared = prepare_for(
            self,
            X,
            y,
            sample_weight,
            loss=self.criterion,
            min_samples_leaf=leasts[0],
            max_leaf_nodes=None,
            splits="columns",
        )
        folds = folds_of(self.cv, prepared, type(self).__name__, groups)
        depth = int(self.max_depth)
        grid = Grid(
            depth,
            path_end(prepared.problem, self.max_leaf_nodes),
            leasts,
            as_list(self.forest_share, (str,)),
            as_list(self.shrinkage, (str,)),
            self.max_work,
            self._asked_splits(prepared),
        )
        left = None
        if self.time_limit is not None:
            left = max(self.time_limit - (time.monotonic() - started), 0.0)
        chosen = choose(prepared, grid, folds, left, self.n_jobs)
        self.path_ = chosen.path
        self.candidates_ = [one._asdict() for one in chosen.candidates]
        self.cv_scores_ = np.array([scores.mean(axis=0) for scores in chosen.scores])
        for name, value in chosen.candidate._asdict().items():
            setattr(self, f"{name}_", value)
        self.pair_columns_ = chosen.paired
        point = self.path_.choose(self.rule)
        self.n_leaves_ = point.n_leaves
        self._search_seconds = time.monotonic() - started
        self._keep(prepared, Solution(point.tree, point.errors, point.lower_bound, point.status))
        return self

    @property
    def _chosen_parameters(self) -> dict[str, Any]:
        """What was chosen, under the names of the parameters."""
        return {
            "max_leaf_nodes": self.n_leaves_,
            "min_samples_leaf": self.min_samples_leaf_,
            "forest_share": self.forest_share_,
            "shrinkage": self.shrinkage_,
            "splits": self.splits_,
            "pair_columns": self.pair_columns_,
        }

    def _prepared_again(
        self, X: Any, y: Any, sample_weight: Any, who: str, **changes: Any
    ) -> Prepared:
        names = ("max_leaf_nodes", "min_samples_leaf", "splits", "pair_columns")
        chosen = {name: self._chosen_parameters[name] for name in names}
        return super()._prepared_again(X, y, sample_weight, who, **(chosen | changes))

    def _asked_splits(self, prepared: Prepared) -> list[str]:
        """Return what splits may be about; sums too where they exist and searches have limits."""
        levels = prepared.encoder.categories
        if self.splits != "auto":
            asked = as_list(self.splits, (str,))
            if "pairs" in asked:
                check_pairs(levels, range(len(levels)), 2, type(self).__name__)
            return asked
        limited = self.max_work is not None or self.time_limit is not None
        return ["columns", "pairs"] if limited and levels.count(None) > 1 else ["columns"]

    def plot_frontier(self, ax: Any = None) -> Any:
        """Draw R² against size; see :func:`provetree.export.frontier.plot_frontier`.

        Examples
        --------
        >>> import matplotlib
        >>> matplotlib.use("agg")
        >>> from provetree import OptimalTreeRegressorCV
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 5, [0.5, 0.5, 2.0, 2.0] * 5
        >>> OptimalTreeRegressorCV(max_depth=2, cv=2).fit(X, y).plot_frontier().get_ylabel()
        'R²'
        """
        return self.path_.plot(ax)
