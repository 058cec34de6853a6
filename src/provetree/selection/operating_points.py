"""Operating points: the proven best trees along all costs of the two kinds of errors.

Where one class is rare or one kind of error is worse, the tree of the fewest errors is rarely what
is wanted. The hull of false positives against false negatives holds the best tree for every ratio
of their costs; cross-validation says what each is worth on new rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray

from provetree.options import TREE_OPTIONS, validate
from provetree.problem.prepare import Prepared, prepare
from provetree.problem.problem import Problem
from provetree.search.engine import ExactSearch
from provetree.selection.error_hull import (
    POSITIVE,
    ErrorHull,
    best_tree,
    solve_hull,
    with_coarse_weights,
)
from provetree.selection.path import Folds, folds_of
from provetree.selection.time_shares import started_jobs, time_shares
from provetree.solution import Status
from provetree.tree.tree import Tree
from provetree.tree.values import ClassTotals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from provetree.estimators.optimal_tree import OptimalTreeClassifier

__all__ = ["OperatingCurve", "OperatingPoint", "Rates", "operating_points"]

_OPTIONS = tuple(
    option
    for option in TREE_OPTIONS
    if option.name
    in (
        "max_depth",
        "max_leaf_nodes",
        "min_samples_leaf",
        "categorical_features",
        "time_limit",
        "n_jobs",
    )
)


@dataclass(frozen=True)
class Rates:
    """The two kinds of errors of a tree on some rows, by weight.

    Parameters
    ----------
    false_positives, false_negatives : float
        The weight of the negative rows that are called positive, and of the positive rows that are
        not.
    positives, negatives : float
        The weight of all positive and of all negative rows.

    Examples
    --------
    >>> from provetree.selection.operating_points import Rates
    >>> rates = Rates(false_positives=10, false_negatives=5, positives=20, negatives=100)
    >>> rates.recall, rates.precision, rates.false_positive_rate
    (0.75, 0.6, 0.1)
    """

    false_positives: float
    false_negatives: float
    positives: float
    negatives: float

    @property
    def recall(self) -> float:
        """The share of the positive rows that are found; NaN where there are none."""
        return _share(self.positives - self.false_negatives, self.positives)

    @property
    def precision(self) -> float:
        """The share of positive rows among those called positive; NaN where none is."""
        found = self.positives - self.false_negatives
        return _share(found, found + self.false_positives)

    @property
    def false_positive_rate(self) -> float:
        """The share of the negative rows that are called positive."""
        return _share(self.false_positives, self.negatives)

    @property
    def accuracy(self) -> float:
        """The share of all rows that are right."""
        wrong = self.false_positives + self.false_negatives
        total = self.positives + self.negatives
        return _share(total - wrong, total)

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the shares of both classes that are right."""
        return (self.recall + 1.0 - self.false_positive_rate) / 2

    def __add__(self, other: Rates) -> Rates:
        mine, theirs = vars(self), vars(other)
        return Rates(**{name: mine[name] + theirs[name] for name in mine})


@dataclass(frozen=True)
class OperatingPoint:
    """One corner of the hull: a tree that is the best one for a range of costs.

    Parameters
    ----------
    tree : Tree
        The tree. Its class totals are those of the rows, so that its probabilities are not bent by
        the costs; its labels are those that the costs choose.
    class_weight : dict
        Whole weights of the two labels at which it is the best tree.
    train : Rates
        Its errors on the training rows.
    held_out : Rates or None
        The errors of trees of the same weights on the rows held out of their training, over all
        folds; None without cross-validation.
    status : {"optimal", "time_limit", "interrupted"}
        Whether it is proven that no tree of its size is better at its weights.
    lower_bound : float
        No tree of its size has errors that weigh less, at its weights.

    Examples
    --------
    >>> from provetree import operating_points
    >>> curve = operating_points([[1], [2], [3], [4]], ["no", "yes", "no", "yes"], max_depth=1,
    ...                          cv=None)
    >>> point = curve.points[0]
    >>> point.class_weight, point.train.false_positives, point.train.recall, point.status
    ({'no': 3, 'yes': 1}, 0, 0.5, 'optimal')
    """

    tree: Tree
    class_weight: Mapping[Any, int]
    train: Rates
    held_out: Rates | None
    status: Status
    lower_bound: float

    @property
    def rates(self) -> Rates:
        """The errors on rows held out; where there are none, those on the training rows."""
        return self.train if self.held_out is None else self.held_out


@dataclass(frozen=True)
class OperatingCurve:
    """The proven best trees along all costs of the two kinds of errors.

    Parameters
    ----------
    points : tuple of OperatingPoint
        By rising number of rows that are called positive: from few false positives to few false
        negatives.
    positive_label : object
        The label that counts as positive.
    n_folds : int
        The folds of the cross-validation, 0 without one.
    complete : bool
        Whether it is proven that no tree lies below the hull of the points. It is not where the
        time was too short, and where weights have so many digits that costs had to be rounded.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from provetree import operating_points
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = operating_points(X, y == 0, max_depth=2, cv=3)
    >>> len(curve.points), curve.complete
    (12, True)
    >>> curve.choose(recall=0.95).train.recall >= 0.95
    True
    """

    points: tuple[OperatingPoint, ...]
    positive_label: Any
    n_folds: int
    complete: bool
    _prepared: Prepared = field(repr=False, compare=False)
    _limits: Mapping[str, Any] = field(repr=False, compare=False)

    def choose(
        self,
        *,
        cost_ratio: float | None = None,
        recall: float | None = None,
        precision: float | None = None,
    ) -> OperatingPoint:
        """Return the point that is best by its figures on rows held out, or else in training.

        Parameters
        ----------
        cost_ratio : float, default=None
            How many false positives a false negative is as bad as: the point of the least cost.
        recall : float, default=None
            The least share of the positive rows to find: the point of the fewest false positives
            that finds so many.
        precision : float, default=None
            The least share of positive rows among those called positive: the point of the highest
            recall that keeps to it.

        Returns
        -------
        OperatingPoint

        Examples
        --------
        >>> from provetree import operating_points
        >>> curve = operating_points([[1], [2], [3], [4]], [0, 1, 0, 1], max_depth=1, cv=None)
        >>> curve.choose(recall=1.0).train.false_positives
        1
        >>> curve.choose(cost_ratio=0.5).train.false_positives
        0
        """
        asked = {"cost_ratio": cost_ratio, "recall": recall, "precision": precision}
        given = {name: value for name, value in asked.items() if value is not None}
        if len(given) != 1:
            raise ValueError(
                "choose takes one of 'cost_ratio', 'recall' and 'precision'. "
                f"Got {len(given)} of them."
            )
        name, value = next(iter(given.items()))
        _check_wish(name, value)
        if name == "cost_ratio":
            return min(self.points, key=lambda point: _cost(point, float(value)))
        if name == "recall":
            reached = self._reaching("recall", float(value))
            return min(reached, key=lambda p: (p.rates.false_positives, p.rates.false_negatives))
        reached = self._reaching("precision", float(value))
        return min(reached, key=lambda p: (p.rates.false_negatives, p.rates.false_positives))

    def _reaching(self, name: str, least: float) -> list[OperatingPoint]:
        """Return the points with a recall or a precision of at least so much."""
        # A share of whole rows may be rounded below the decimal that was asked for.
        found = [p for p in self.points if getattr(p.rates, name) >= least * (1 - 1e-12)]
        if found:
            return found
        known = [getattr(p.rates, name) for p in self.points]
        best = max((x for x in known if not math.isnan(x)), default=math.nan)
        where = f"on the rows held out of {self.n_folds} folds" if self.n_folds else "in training"
        rest = "" if self.complete else ", of a curve that lack of time left incomplete"
        raise ValueError(
            f"No tree of the curve has a {name} of {least:g} {where}: the highest is "
            f"{best:.3g}{rest}."
        )

    def classifier(self, point: OperatingPoint) -> OptimalTreeClassifier:
        """Return the fitted classifier of a point: it predicts, explains itself, and exports.

        Parameters
        ----------
        point : OperatingPoint
            One of the points.

        Returns
        -------
        OptimalTreeClassifier
            With the `class_weight` of the point. ``objective_`` counts errors by these weights;
            ``predict_proba`` gives the shares of the rows, without them.

        Examples
        --------
        >>> from provetree import operating_points
        >>> curve = operating_points([[1], [2], [3], [4]], [0, 1, 0, 1], max_depth=1, cv=None)
        >>> clf = curve.classifier(curve.choose(recall=1.0))
        >>> clf.predict([[1.2], [2.0], [3.0]]), clf.objective_, clf.status_
        (array([0, 1, 1]), 1, 'optimal')
        """
        # The public name: selection stands below the estimators.
        from provetree import OptimalTreeClassifier, Solution

        missed = point.class_weight[self.positive_label]
        alarm = next(w for label, w in point.class_weight.items() if label != self.positive_label)
        cost = alarm * point.train.false_positives + missed * point.train.false_negatives
        clf = OptimalTreeClassifier(class_weight=dict(point.class_weight), **self._limits)
        bound = cost if point.status == "optimal" else min(point.lower_bound, cost)
        clf._keep(self._prepared, Solution(point.tree, cost, bound, point.status))
        return clf

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve; see :func:`provetree.export.operating_points.plot_operating_points`."""
        from provetree.export.operating_points import plot_operating_points

        return plot_operating_points(self, ax=ax)


def operating_points(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    positive_label: Any = None,
    max_depth: int = 3,
    max_leaf_nodes: int | None = None,
    min_samples_leaf: int | float = 1,
    categorical_features: Any = "from_dtype",
    cv: Any = 5,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    groups: ArrayLike | None = None,
) -> OperatingCurve:
    """Return the proven best trees along all costs of false positives and false negatives.

    Parameters
    ----------
    X : array-like or table of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        Their labels, of two classes.
    sample_weight : array-like of shape (n_samples,), default=None
        Their weights, in training and in all rates.
    positive_label : object, default=None
        The label that counts as positive; None is the last one in rising order, as in scikit-learn.
    max_depth, max_leaf_nodes, min_samples_leaf, categorical_features
        As for :class:`~provetree.OptimalTreeClassifier`.
    cv : int, splitter or None, default=5
        The folds, as in scikit-learn; an int shuffles them with a fixed seed. None leaves the
        cross-validation out.
    time_limit : float, default=None
        Seconds for the whole call. Half of them are for the curve, what is left for the folds;
        folds that do not fit in are left out.
    n_jobs : int, default=None
        Folds at once, as in joblib; None follows ``joblib.parallel_config``.
    groups : array-like of shape (n_samples,), default=None
        The group of each row: rows of one group are never on both sides of a fold.

    Returns
    -------
    OperatingCurve

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from provetree import operating_points
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = operating_points(X, y == 0, max_depth=1, cv=None)
    >>> for point in curve.points[:3]:
    ...     print(point.class_weight, point.train.false_positives, point.train.false_negatives)
    {False: 41, True: 1} 0 76
    {False: 12, True: 1} 1 56
    {False: 4, True: 1} 2 47
    """
    validate(_OPTIONS, locals(), "operating_points")
    end = None if time_limit is None else time.monotonic() + time_limit
    limits: dict[str, Any] = {
        "max_depth": max_depth,
        "max_leaf_nodes": max_leaf_nodes,
        "min_samples_leaf": min_samples_leaf,
    }
    prepared = prepare(
        X,
        y,
        sample_weight,
        owner="operating_points",
        categorical_features=categorical_features,
        **limits,
    )
    positive = _positive_code(prepared, positive_label)
    folds = folds_of(cv, prepared, "operating_points", groups)
    hull = solve_hull(prepared.problem, _part_of(end, 0.5 if folds else 1.0))
    interrupted = any(point.status == "interrupted" for point in hull.points)
    judged = [] if interrupted else _held_out(prepared, folds, hull, end, n_jobs, limits)
    points = _points(prepared, hull, judged, positive)
    label = prepared.classes.tolist()[positive]
    kept = {**limits, "categorical_features": categorical_features}
    return OperatingCurve(points, label, len(judged), hull.complete, prepared, kept)


def _points(
    prepared: Prepared, hull: ErrorHull, judged: list[list[Rates]], positive: int
) -> tuple[OperatingPoint, ...]:
    """Return the corners of a hull with their rates, seen from the class that is positive."""
    rows = np.arange(len(prepared.codes))
    labels = prepared.classes.tolist()
    whole = with_coarse_weights(prepared.problem)
    points = []
    for i, corner in enumerate(hull.points):
        tree = _with_exact_totals(prepared, corner.tree)
        held_out = None
        for each in judged:
            held_out = each[i] if held_out is None else held_out + each[i]
        weights = dict(zip(labels, corner.costs, strict=True))
        train = _rates(tree, prepared, rows)
        bound = float(whole.to_user_weight([corner.bound])[0])
        points.append(OperatingPoint(tree, weights, train, held_out, corner.status, bound))
    if positive == POSITIVE:
        return tuple(points)
    return tuple(_seen_from_the_other(point) for point in reversed(points))


def _seen_from_the_other(point: OperatingPoint) -> OperatingPoint:
    """Return a point with the two classes in each other's place."""

    def turned(rates: Rates) -> Rates:
        return Rates(rates.false_negatives, rates.false_positives, rates.negatives, rates.positives)

    held_out = None if point.held_out is None else turned(point.held_out)
    return replace(point, train=turned(point.train), held_out=held_out)


def _held_out(
    prepared: Prepared,
    folds: Folds,
    hull: ErrorHull,
    end: float | None,
    n_jobs: int | None,
    limits: Mapping[str, Any],
) -> list[list[Rates]]:
    """Return the rates of each corner on the rows held out, for the folds that fit in the time."""
    costs = [point.costs for point in hull.points]

    def problems() -> Iterator[Problem]:
        for train, _ in folds:
            yield prepared.problem_of(train, **limits)

    n_jobs = started_jobs(n_jobs, _part_of(end, 1.0), __name__)
    shares = time_shares(_part_of(end, 1.0), len(folds), n_jobs)
    found: list[list[Tree] | None] = Parallel(n_jobs=n_jobs)(
        delayed(_trees_at)(problem, costs, seconds)
        for problem, seconds in zip(problems(), shares, strict=True)
    )
    return [
        [_rates(tree, prepared, rows) for tree in trees]
        for trees, (_, rows) in zip(found, folds, strict=True)
        if trees is not None
    ]


def _trees_at(
    problem: Problem, costs: list[tuple[int, int]], time_limit: float | None
) -> list[Tree] | None:
    """Return the best tree of a problem at each of several costs; None where the time is over."""
    end = None if time_limit is None else time.monotonic() + time_limit
    trees = []
    for i, pair in enumerate(costs):
        seconds = _part_of(end, 1 / (len(costs) - i))
        if seconds is not None and seconds <= 0:
            return None
        trees.append(best_tree(problem, pair, seconds, ExactSearch()).tree)
    return trees


def _rates(tree: Tree, prepared: Prepared, rows: NDArray[np.intp]) -> Rates:
    """Return the errors of a tree on some rows; the class of the last label is positive."""
    truth = prepared.codes[rows] == POSITIVE
    called = tree.predict(prepared.encoded[rows]) == POSITIVE

    def weight(some: NDArray[np.bool_]) -> float:
        if prepared.weights is None:
            return int(some.sum())
        return math.fsum(prepared.weights[rows][some].tolist())

    return Rates(weight(called & ~truth), weight(truth & ~called), weight(truth), weight(~truth))


def _with_exact_totals(prepared: Prepared, tree: Tree) -> Tree:
    """Return a tree with the class totals of all digits, where its search had rounded weights."""
    if prepared.weights is None:
        return tree
    totals = np.zeros_like(tree.value)
    np.add.at(totals, (tree.apply(prepared.encoded), prepared.codes), prepared.whole_weights())
    values = ClassTotals(prepared.problem.to_user_weight(totals))
    # Where missing values go must not follow the digits.
    return tree.replaced(value=values, label=tree.label, missing_seen=tree.missing_seen)


def _positive_code(prepared: Prepared, positive_label: Any) -> int:
    labels = prepared.classes.tolist()
    if len(labels) != 2:
        raise ValueError(
            "operating_points needs labels of two classes. "
            f"Got {len(labels)}: {', '.join(map(repr, labels[:5]))}{', ...' * (len(labels) > 5)}."
        )
    if positive_label is None:
        return POSITIVE
    if positive_label not in labels:
        raise ValueError(
            "The 'positive_label' parameter of operating_points must be "
            f"{labels[0]!r} or {labels[1]!r}. Got {positive_label!r} instead."
        )
    return int(labels.index(positive_label))


def _check_wish(name: str, value: Any) -> None:
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if name == "cost_ratio":
        allowed, holds = "a float in the range (0.0, inf)", number and 0 < value < math.inf
    else:
        allowed, holds = "a float in the range (0.0, 1.0]", number and 0 < value <= 1
    if not holds:
        raise ValueError(
            f"The {name!r} parameter of choose must be {allowed}. Got {value!r} instead."
        )


def _cost(point: OperatingPoint, ratio: float) -> tuple[float, float]:
    """Return what the errors cost on rows held out, then what they cost in training."""
    each = (point.rates, point.train)
    costs = [rates.false_positives + ratio * rates.false_negatives for rates in each]
    return costs[0], costs[1]


def _part_of(end: float | None, part: float) -> float | None:
    """Return a part of the seconds left until a moment; None where there is no limit."""
    return None if end is None else max(end - time.monotonic(), 0.0) * part


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else math.nan
