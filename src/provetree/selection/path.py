"""The tuning path: accuracy against size, with a proof for every size and a cross-validated score.

All folds and the whole table are independent tasks of joblib, so a ``parallel_config`` spreads
them over processes or a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from provetree.options import validate
from provetree.problem.prepare import Prepared, prepare
from provetree.problem.problem import Problem, build_problem
from provetree.selection.frontier import FrontierPoint, solve_frontier
from provetree.selection.options import PATH_OPTIONS
from provetree.solution import Status
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PathPoint", "TuningPath", "path_of", "tuning_path"]


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
        The weight of the misclassified training rows, and a lower bound for this size.
    status : {"optimal", "time_limit", "interrupted"}
        Whether that is proven.
    train_score : float
        Accuracy on the training rows.
    cv_score, cv_error : float
        Mean accuracy on the rows held out, and its standard error; NaN without cross-validation.

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
    """The frontier of accuracy against size.

    Parameters
    ----------
    points : tuple of PathPoint
        The sizes, from one leaf on.
    n_folds : int
        The number of folds of the cross-validation.

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

    @property
    def best(self) -> PathPoint:
        """The smallest size of the best cross-validated score."""
        return max(self.points, key=lambda point: (point.cv_score, -point.n_leaves))

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
    max_depth: int = 3,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int | float = 1,
    class_weight: Any = None,
    categorical_features: Any = "from_dtype",
    cv: Any = 5,
    time_limit: float | None = None,
    n_jobs: int | None = None,
) -> TuningPath:
    """Return the proven best tree of every number of leaves, and its cross-validated score.

    Parameters
    ----------
    X : array-like or table of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights, in training and in the scores.
    max_depth, max_leaf_nodes, min_samples_leaf, class_weight, categorical_features
        As for :class:`~provetree.OptimalTreeClassifier`. `max_leaf_nodes` is where the path ends;
        None is as many as the depth allows, and at most 32.
    cv : int, splitter or None, default=5
        The folds, as in scikit-learn; an int shuffles them with a fixed seed. None leaves the
        cross-validation out.
    time_limit : float, default=None
        Seconds for each path: there is one for each fold and one for all rows.
    n_jobs : int, default=None
        Tasks at once, as in joblib; None follows ``joblib.parallel_config``.

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
    limits: dict[str, Any] = {"max_depth": max_depth, "min_samples_leaf": min_samples_leaf}
    prepared = prepare(
        X,
        y,
        sample_weight,
        owner="tuning_path",
        class_weight=class_weight,
        categorical_features=categorical_features,
        **limits,
    )
    return path_of(prepared, max_leaf_nodes, cv, time_limit, n_jobs, **limits)


#: Where a path ends by default; plots of more sizes are unreadable.
_MOST_LEAVES = 32


def path_of(
    prepared: Prepared,
    max_leaf_nodes: int | None,
    cv: Any,
    time_limit: float | None,
    n_jobs: int | None,
    **limits: Any,
) -> TuningPath:
    """Return the tuning path of a prepared table, with the other limits of its problem."""
    n_leaves = min(prepared.problem.max_splits + 1, _MOST_LEAVES)
    n_leaves = n_leaves if max_leaf_nodes is None else max_leaf_nodes
    folds: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []
    if cv is not None:
        folds += _splitter(cv, prepared.codes).split(prepared.encoded, prepared.codes)

    def problems() -> Iterator[Problem]:
        """Yield the problem of all rows, then those of the folds; each is made when it is due."""
        yield prepared.problem
        for train, _ in folds:
            yield build_problem(
                prepared.encoded[train],
                prepared.codes[train],
                n_classes=len(prepared.classes),
                categories=prepared.encoder.categories,
                sample_weight=None if prepared.weights is None else prepared.weights[train],
                **limits,
            )

    paths: list[list[FrontierPoint]] = Parallel(n_jobs=n_jobs)(
        delayed(solve_frontier)(problem, n_leaves, time_limit) for problem in problems()
    )
    scores = [
        _scores(path, prepared, test) for path, (_, test) in zip(paths[1:], folds, strict=True)
    ]
    trained = _scores(paths[0], prepared, np.arange(len(prepared.codes)))
    points = []
    for i, point in enumerate(paths[0]):
        held_out = np.array([fold[i] for fold in scores])
        mean = float(held_out.mean()) if folds else math.nan
        spread = float(held_out.std(ddof=1)) if len(folds) > 1 else math.nan
        points.append(
            PathPoint(
                point.n_leaves,
                point.tree,
                point.cost,
                point.lower_bound,
                point.status,
                trained[i],
                mean,
                spread / math.sqrt(max(1, len(folds))),
            )
        )
    return TuningPath(tuple(points), len(folds))


def _splitter(cv: Any, codes: NDArray[np.intp]) -> Any:
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        # A class with enough rows must be in every fold; a class of one row cannot be.
        least = int(np.bincount(codes)[np.unique(codes)].min())
        if least >= cv:
            return StratifiedKFold(int(cv), shuffle=True, random_state=0)
        from sklearn.model_selection import KFold

        return KFold(int(cv), shuffle=True, random_state=0)
    return check_cv(cv, codes, classifier=True)


def _scores(path: list[FrontierPoint], prepared: Prepared, rows: NDArray[np.intp]) -> list[float]:
    """Return the accuracy of each tree of a path on some rows, by weight."""
    encoded, codes = prepared.encoded[rows], prepared.codes[rows]
    weights = np.ones(len(codes)) if prepared.weights is None else prepared.weights[rows]
    total = float(weights.sum())
    if total <= 0:
        return [math.nan] * len(path)
    right = (point.tree.predict(encoded) == codes for point in path)
    return [float((of_tree * weights).sum() / total) for of_tree in right]
