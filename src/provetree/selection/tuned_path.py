"""What a cross-validation found: the path of the chosen setting, all that was tried, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provetree.selection.path import PathPoint, TuningPath

__all__ = ["TriedSetting", "TunedPath"]


@dataclass(frozen=True)
class TriedSetting:
    """One setting of a cross-validation.

    Parameters
    ----------
    criterion : str
        What its trees minimise.
    min_samples_leaf : int or float
        The least rows of a leaf.
    class_weight : dict, str or None
        How its classes weigh, on all rows.
    words : str
        The setting in words.
    scores : tuple of float
        The mean score on the rows held out for 1, 2, ... leaves.
    n_leaves : int
        The number of leaves that did best.
    score : float
        Their score.
    n_folds : int
        The folds it was tried on.
    outcome : str
        "chosen", "not better", "behind after 3 folds", or "same trees as" another.
    seconds : float
        What its searches took.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeCV
    >>> clf = OptimalTreeCV(max_depth=2, criterion="gini").fit(*load_iris(return_X_y=True))
    >>> clf.path_.tried[0].criterion, clf.path_.tried[0].n_leaves
    ('gini', 3)
    """

    criterion: str
    min_samples_leaf: int | float
    class_weight: Mapping[Any, float] | str | None
    words: str
    scores: tuple[float, ...]
    n_leaves: int
    score: float
    n_folds: int
    outcome: str
    seconds: float


@dataclass(frozen=True)
class TunedPath(TuningPath):
    """The tuning path of the chosen setting, and what it was chosen from.

    Parameters
    ----------
    points, n_folds, score
        As in :class:`~provetree.TuningPath`; the scores are those of `scoring`. Sizes that were
        dropped early, as they could not win, have no score on rows held out (NaN).
    tried : tuple of TriedSetting
        All settings, in the order they were tried.
    chosen : PathPoint
        The size that was chosen.
    rule : str
        How it was chosen.
    reason : str
        Why, in words.
    notes : tuple of str
        What was not done, and why.
    merits : tuple of float
        What sizes are compared by, where that is not the score itself: for accuracy, it is the
        accuracy less 0.4 of the log loss and 0.2 of a row for each leaf.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeCV
    >>> path = OptimalTreeCV(max_depth=2, criterion="errors").fit(*load_iris(return_X_y=True)).path_
    >>> path.chosen.n_leaves, path.chosen in path.points, path.notes
    (3, True, ())
    """

    tried: tuple[TriedSetting, ...] = ()
    chosen: PathPoint | None = None
    rule: str = "best"
    reason: str = ""
    notes: tuple[str, ...] = ()
    merits: tuple[float, ...] = ()

    @property
    def best(self) -> PathPoint:
        """The smallest size that did best on the rows held out, of those that were scored."""
        if self.merits:
            return self.points[max(range(len(self.merits)), key=lambda i: (self.merits[i], -i))]
        return super().best
