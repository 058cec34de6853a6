"""The tuning path: score against size, with a proof for every size and a cross-validated score.

All folds and the whole table are independent tasks of joblib, so a ``parallel_config`` spreads
them over processes or a cluster.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray

from provetree.number_types import Float
from provetree.options import validate
from provetree.problem.losses import OF_NUMBERS
from provetree.problem.prepare import Prepared, prepare
from provetree.problem.problem import Problem
from provetree.selection.folds import folds_of as folds_for
from provetree.selection.frontier import FrontierPoint, solve_frontier
from provetree.selection.options import FOLDS, PATH_OPTIONS
from provetree.selection.scores import SCORE_NAMES, scores_on_rows
from provetree.selection.time_shares import started_jobs, time_shares
from provetree.solution import Status
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Folds", "PathPoint", "TuningPath", "folds_of", "path_of", "tuning_path"]


@dataclass(frozen=True)
class PathPoint:
    """One size of a tuning path.

    Parameters
    ----------
    n_leaves : int
        The greatest number of leaves; the best tree may have fewer.
    tree : Tree
        The best tree of this size on all rows.
    errors, lower_bound : int or float
        The weight of the misclassified training rows, and a lower bound for this size. For numbers
        to predict, the sum of squared or absolute errors.
    status : {"optimal", "time_limit", "interrupted"}
        Whether that is proven.
    train_score : float
        Accuracy on the training rows; R² for numbers to predict. NaN where a score takes long and
        time was up.
    cv_score, cv_error : float
        Mean score on the rows held out, and its standard error; NaN without cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import tuning_path
    >>> point = tuning_path(*load_iris(return_X_y=True), max_depth=2).points[2]
    >>> point.n_leaves, point.errors, point.status
    (3, 6, 'optimal')
    """

    n_leaves: int
    tree: Tree
    errors: float
    lower_bound: float
    status: Status
    train_score: float
    cv_score: float
    cv_error: float


@dataclass(frozen=True)
class TuningPath:
    """The frontier of the score against size.

    Parameters
    ----------
    points : tuple of PathPoint
        The sizes, from one leaf on.
    n_folds : int
        The number of folds of the cross-validation.
    score : {"accuracy", "R²", "D²"}
        What the scores are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import tuning_path
    >>> path = tuning_path(*load_iris(return_X_y=True), max_depth=2)
    >>> path.one_standard_error.n_leaves
    3
    """

    points: tuple[PathPoint, ...]
    n_folds: int
    score: str = "accuracy"

    @property
    def best(self) -> PathPoint:
        """The smallest size of the best cross-validated score."""
        return max(self._scored, key=lambda point: (point.cv_score, -point.n_leaves))

    @property
    def _scored(self) -> list[PathPoint]:
        """The sizes with a score on rows held out."""
        scored = [point for point in self.points if not math.isnan(point.cv_score)]
        if not scored:
            raise ValueError(
                "A size is chosen by scores on rows held out, and this path has none: make it with "
                "'cv', of two rows or more."
            )
        return scored

    @property
    def one_standard_error(self) -> PathPoint:
        """The smallest size whose score is within one standard error of the best."""
        best = self.best
        least = best.cv_score - (0.0 if math.isnan(best.cv_error) else best.cv_error)
        return next(point for point in self.points if point.cv_score >= least)

    def choose(self, rule: str) -> PathPoint:
        """Return the point a rule chooses: "one_standard_error" or "best"."""
        return self.best if rule == "best" else self.one_standard_error

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the frontier; see :func:`provetree.export.frontier.plot_frontier`."""
        from provetree.export.frontier import plot_frontier

        return plot_frontier(self, ax=ax)


def tuning_path(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    criterion: str = "errors",
    max_depth: int = 3,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int | float = 1,
    class_weight: Any = None,
    categorical_features: Any = "from_dtype",
    cv: Any = 5,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    splits: str = "columns",
    n_angles: int = 2,
    category_splits: str = "one",
    groups: ArrayLike | None = None,
) -> TuningPath:
    """Return the proven best tree of every number of leaves, and its cross-validated score.

    Parameters
    ----------
    X : array-like or table of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels, or the numbers to predict.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights, in training and in the scores. Rows of weight zero are in no fold.
    criterion : str, default="errors"
        What the trees minimise. "errors", "gini", "entropy" and "pessimistic" take labels and are
        scored by accuracy; "squared_error" (scored by R²) and "absolute_error" (by D²: the same
        with distances from the median) take numbers.
    max_depth, max_leaf_nodes, min_samples_leaf, class_weight, categorical_features
        As for :class:`~provetree.OptimalTreeClassifier`. `max_leaf_nodes` is where the path ends;
        None is as many as the depth allows, and at most 32.
    cv : int, splitter or None, default=5
        The folds, as in scikit-learn; an int shuffles them with a fixed seed. None leaves the
        cross-validation out.
    time_limit : float, default=None
        Seconds for the whole call: for all rows and all folds together.
    n_jobs : int, default=None
        Tasks at once, as in joblib; None follows ``joblib.parallel_config``.
    splits, n_angles
        As for :class:`~provetree.OptimalTreeClassifier`. The sums of two columns are those of all
        rows, in every fold: their coefficients follow from the columns, not from the labels.
    category_splits
        As for :class:`~provetree.OptimalTreeClassifier`. Orders of categories are found on the
        training rows of each fold.
    groups : array-like of shape (n_samples,), default=None
        The group of each row: rows of one group are never on both sides of a fold.

    Returns
    -------
    TuningPath

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import tuning_path
    >>> path = tuning_path(*load_iris(return_X_y=True), max_depth=2, max_leaf_nodes=3)
    >>> for point in path.points:
    ...     print(point.n_leaves, point.errors, point.status, round(point.cv_score, 3))
    1 100 optimal 0.333
    2 50 optimal 0.667
    3 6 optimal 0.927
    """
    validate(PATH_OPTIONS, locals(), "tuning_path")
    if criterion in OF_NUMBERS and class_weight is not None:
        raise ValueError(
            f"The 'class_weight' parameter of tuning_path must be None with "
            f"criterion={criterion!r}, which predicts numbers. Got {class_weight!r} instead."
        )
    limits: dict[str, Any] = {"max_depth": max_depth, "min_samples_leaf": min_samples_leaf}
    prepared = prepare(
        X,
        y,
        sample_weight,
        owner="tuning_path",
        class_weight=class_weight,
        categorical_features=categorical_features,
        loss=criterion,
        splits=splits,
        n_angles=n_angles,
        category_splits=category_splits,
        **limits,
    )
    folds = folds_of(cv, prepared, "tuning_path", groups)
    return path_of(prepared, max_leaf_nodes, folds, time_limit, n_jobs, **limits)


#: Where a path ends by default; plots of more sizes are unreadable.
_MOST_LEAVES = 32

#: The training rows and the rows held out, for each fold.
Folds: TypeAlias = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def path_of(
    prepared: Prepared,
    max_leaf_nodes: int | None,
    folds: Folds,
    time_limit: float | None,
    n_jobs: int | None,
    **limits: Any,
) -> TuningPath:
    """Return the tuning path of a prepared table, with the other limits of its problem."""

    def problems() -> Iterator[Problem]:
        """Yield the problem of all rows, then those of the folds; each is made when it is due."""
        yield prepared.problem
        for train, _ in folds:
            yield prepared.problem_of(train, **limits)

    n_leaves = path_end(prepared.problem, max_leaf_nodes)
    whole, *others = _solve_paths(problems(), 1 + len(folds), n_leaves, time_limit, n_jobs)
    return joined_path(whole, prepared, _held_out(others, prepared, folds))


def path_end(problem: Problem, max_leaf_nodes: int | None) -> int:
    """Return the number of leaves at which a path ends."""
    most = min(problem.max_splits + 1, _MOST_LEAVES)
    return most if max_leaf_nodes is None else max_leaf_nodes


def joined_path(whole: list[FrontierPoint], prepared: Prepared, held_out: Float) -> TuningPath:
    """Return the path of all rows with the scores of the folds, one line of `held_out` each."""
    n_folds = len(held_out)
    trees = [point.tree for point in whole]
    trained = scores_on_rows(trees, prepared, np.arange(len(prepared.codes)))
    points = []
    for i, point in enumerate(whole):
        mean = float(held_out[:, i].mean()) if n_folds else math.nan
        spread = float(held_out[:, i].std(ddof=1)) if n_folds > 1 else math.nan
        points.append(
            PathPoint(
                point.n_leaves,
                point.tree,
                point.cost,
                point.lower_bound,
                point.status,
                trained[i],
                mean,
                spread / math.sqrt(max(1, n_folds)),
            )
        )
    name = SCORE_NAMES.get(prepared.problem.loss, "accuracy")
    return TuningPath(tuple(points), n_folds, name)


def folds_of(cv: Any, prepared: Prepared, owner: str, groups: Any = None) -> Folds:
    """Return the folds that `cv` asks for, at most one for each row; none where it is None."""
    of_classes = prepared.targets is None
    labels = prepared.codes if prepared.targets is None else prepared.targets.values
    validate((FOLDS,), {"cv": cv}, owner)
    return folds_for(
        cv,
        labels,
        groups,
        owner,
        of_classes=of_classes,
        table=prepared.encoded,
        weights=prepared.weights,
    )


def _solve_paths(
    problems: Iterator[Problem],
    n_tasks: int,
    n_leaves: int,
    time_limit: float | None,
    n_jobs: int | None,
) -> list[list[FrontierPoint]]:
    """Return the path of each problem; one limit on time holds for all of them."""
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    n_jobs = started_jobs(n_jobs, time_limit, __name__)
    left = None if time_limit is None else max(end - time.monotonic(), 0.0)
    shares = time_shares(left, n_tasks, n_jobs)
    paths: list[list[FrontierPoint]] = Parallel(n_jobs=n_jobs)(
        delayed(solve_frontier)(problem, n_leaves, seconds)
        for problem, seconds in zip(problems, shares, strict=True)
    )
    return paths


def _held_out(paths: list[list[FrontierPoint]], prepared: Prepared, folds: Folds) -> Float:
    """Return the scores of each path on the rows of its fold that were held out."""
    scores = [
        scores_on_rows([point.tree for point in path], prepared, test)
        for path, (_, test) in zip(paths, folds, strict=True)
    ]
    return np.array(scores)
