"""Judges trees on rows by any scorer of scikit-learn, by a function of the user, or by costs.

What a scorer cannot do with a table is found out before anything is searched, and said in one
sentence.
"""

from __future__ import annotations

import inspect
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing

from provetree.number_types import Float
from provetree.options import ParameterError
from provetree.problem.costs import read_cost_matrix
from provetree.problem.table import TableEncoder
from provetree.selection.settings import ClassWeight, TuningTable
from provetree.tree.smoothing import Smoothing, log_loss
from provetree.tree.tree import Tree

__all__ = ["RowScorer", "class_weights_for", "classes_count_alike", "scorer_of"]

#: How classes are weighed where the class weights are left to the table, by the scorer: 0 is not at
#: all, 1 is balanced. Probabilities that are to be right must not be weighed.
_WEIGHTS: dict[str, tuple[float, ...]] = {
    "accuracy": (0.0,),
    "neg_log_loss": (0.0,),
    "neg_brier_score": (0.0,),
    "balanced_accuracy": (1.0,),  # then balanced errors are what is minimised
    "roc_auc": (0.0, 1.0),
    "average_precision": (0.0, 1.0),
}
_ANY_WEIGHTS = (0.0, 0.5, 1.0)
#: Scorers of scikit-learn that are for two classes, and what does the same for more.
_OF_TWO_CLASSES = {
    "roc_auc": "roc_auc_ovr",
    "f1": "f1_macro",
    "precision": "precision_macro",
    "recall": "recall_macro",
    "jaccard": "jaccard_macro",
}
#: Scorers that need probabilities of a positive label, and what makes them of their metric.
_OF_PROBABILITIES = {
    "average_precision": "average_precision_score, response_method='predict_proba'",
    "neg_brier_score": (
        "brier_score_loss, greater_is_better=False, response_method='predict_proba'"
    ),
}
#: The shrinkage of probabilities while they are compared, in rows; the one of the tree that is
#: chosen is chosen itself.
_STRENGTH = 10.0
#: Trees that are to be accurate are compared by their accuracy less this share of their log loss:
#: few rows held out tell trees of one accuracy apart by it, and chance less often chooses. On half
#: of the tables of ``bench new-rows`` that gives better accuracy on new rows, and better
#: probabilities. From 0.2 to 1 it makes little difference.
_SHARE_OF_LOG_LOSS = 0.4
#: Every leaf must be worth this part of a row, or a smaller tree is taken. It matters where rows
#: are few: there chance makes trees too large. On that half 0.1 is worse, 0.5 about the same.
_PRICE_OF_A_LEAF = 0.2


def class_weights_for(scoring: Any) -> list[ClassWeight]:
    """Return the class weights worth trying for a scorer.

    Examples
    --------
    >>> from provetree.selection.scoring import class_weights_for
    >>> class_weights_for("accuracy"), class_weights_for("balanced_accuracy")
    ([None], [1.0])
    """
    name = "accuracy" if scoring is None else scoring
    powers = _WEIGHTS.get(name, _ANY_WEIGHTS) if isinstance(name, str) else _ANY_WEIGHTS
    if is_cost_matrix(scoring):
        powers = (0.0,)  # costs weigh the classes
    return [power or None for power in powers]


def classes_count_alike(scoring: Any) -> bool:
    """Tell whether a rare class counts as much as a common one, so that few rows decide.

    Examples
    --------
    >>> from provetree.selection.scoring import classes_count_alike
    >>> classes_count_alike("balanced_accuracy"), classes_count_alike("accuracy")
    (True, False)
    """
    return isinstance(scoring, str) and scoring == "balanced_accuracy"


class RowScorer:
    """Scores trees on rows of a table; higher is better.

    Parameters
    ----------
    table : TuningTable
        The rows.
    name : str
        What the score is called.
    score : callable
        Takes a tree and row numbers, gives the score.
    costs : array of float or None
        What each prediction costs, where costs are the score.
    smooths : bool
        Whether probabilities are smoothed before they are scored, as they are in the end.
    less : callable or None
        What is taken off the score where trees are compared: takes a tree and row numbers.
    """

    def __init__(
        self,
        table: TuningTable,
        name: str,
        score: Callable[[Tree, NDArray[np.intp]], float],
        costs: Float | None = None,
        smooths: bool = False,
        less: Callable[[Tree, NDArray[np.intp]], float] | None = None,
    ) -> None:
        self.table, self.name, self.costs, self.smooths = table, name, costs, smooths
        self._score, self._less = score, less

    @property
    def compares_by(self) -> str:
        """What trees are compared by, in words; empty where it is the score itself."""
        less = f"{_SHARE_OF_LOG_LOSS} of the log loss and {_PRICE_OF_A_LEAF} of a row for each leaf"
        return "" if self._less is None else f"{self.name} less {less}"

    def judge(
        self, trees: Sequence[Tree], rows: NDArray[np.intp], until: float = math.inf
    ) -> tuple[list[float], list[float]]:
        """Return the score of each tree, and the merit that it is compared by."""
        scores = self.scores(trees, rows, until)
        if self._less is None:
            return scores, scores
        known = {id(tree): tree for tree in trees}
        less = {each: self._less(self._smoothed(tree), rows) for each, tree in known.items()}
        return scores, [score - less[id(tree)] for score, tree in zip(scores, trees, strict=True)]

    def scores(
        self, trees: Sequence[Tree], rows: NDArray[np.intp], until: float = math.inf
    ) -> list[float]:
        """Return the score of each tree; NaN where the rows cannot be scored.

        A tree that stands for several sizes is scored once. Some scorers take long: after the
        moment `until` of the monotonic clock, no further tree is scored. The last ones, the largest
        trees, come first: they are the better guess where few can be scored.
        """
        known: dict[int, float] = {}
        for tree in reversed(trees):
            if id(tree) not in known:
                late = bool(known) and time.monotonic() >= until
                known[id(tree)] = math.nan if late else self._safely(self._judged(tree), rows)
        return [known[id(tree)] for tree in trees]

    def relabelled(self, tree: Tree) -> Tree:
        """Return the tree as it predicts under this score: with costs, the cheapest classes."""
        if self.costs is None:
            return tree
        return tree.replaced(label=np.asarray((tree.value @ self.costs).argmin(axis=1)))

    def _judged(self, tree: Tree) -> Tree:
        return self._smoothed(tree) if self.smooths else self.relabelled(tree)

    def _smoothed(self, tree: Tree) -> Tree:
        each = float(tree.weight[0]) / max(int(tree.n_samples[0]), 1)
        return tree.with_smoothing(Smoothing("shrinkage", _STRENGTH * each))

    def _safely(self, tree: Tree, rows: NDArray[np.intp]) -> float:
        try:
            with warnings.catch_warnings():
                # Scores that are undefined on few rows are left out below.
                warnings.simplefilter("ignore")
                score = float(self._score(tree, rows))
        except ValueError:
            return math.nan  # such as one class alone in the rows; all rows were tried before
        return score if math.isfinite(score) else math.nan


def scorer_of(scoring: Any, table: TuningTable, class_weight: Any, owner: str) -> RowScorer:
    """Return what scores trees on a table, after a trial on all rows.

    Without `scoring` it is the accuracy, by the class weights of the user where there are any.
    """
    weights = table.sample_weight
    if scoring is None or (isinstance(scoring, str) and scoring == "accuracy"):
        if scoring is None and class_weight is not None:
            weights = table.prepared.weights
        less = _steadied(table, weights)
        return RowScorer(table, "accuracy", _accuracy(table, weights), less=less)
    if is_cost_matrix(scoring) and not _names_scorers(scoring):
        try:
            costs = read_cost_matrix(scoring, table.prepared.classes, owner)
        except ValueError as error:
            raise ValueError(str(error).replace("'cost_matrix'", "'scoring'")) from None
        return RowScorer(table, "minus the mean cost", _mean_cost(table, costs), costs)
    if isinstance(scoring, str) and scoring == "neg_log_loss":
        return RowScorer(table, scoring, _log_loss(table, weights, -1.0), smooths=True)
    scorer = _known_scorer(scoring, owner)
    name = scoring if isinstance(scoring, str) else _name_of(scorer)
    found = RowScorer(table, name, _of_scorer(scorer, table), smooths=True)
    _try(found, table, owner)
    return found


def is_cost_matrix(scoring: Any) -> bool:
    """Tell whether `scoring` says what predictions cost."""
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return False
    return isinstance(scoring, Mapping) or hasattr(scoring, "__len__")


def _names_scorers(scoring: Any) -> bool:
    """Tell whether it is several scorers, as scikit-learn takes them elsewhere."""
    return isinstance(scoring, (list, tuple, set)) and any(isinstance(x, str) for x in scoring)


def _known_scorer(scoring: Any, owner: str) -> Any:
    if callable(scoring):
        return scoring
    from sklearn.metrics import get_scorer

    try:
        return get_scorer(scoring)
    except (ValueError, KeyError, TypeError):
        raise ParameterError(
            f"The 'scoring' parameter of {owner} must be the name of a scorer of scikit-learn, a "
            f"callable, or a cost matrix. Got {scoring!r} instead."
        ) from None


def _name_of(scorer: Any) -> str:
    function = getattr(scorer, "_score_func", scorer)
    return str(getattr(function, "__name__", type(function).__name__))


def _try(scorer: RowScorer, table: TuningTable, owner: str) -> None:
    """Score a tree of one leaf on all rows, and say in one sentence what the scorer lacks."""
    leaf = leaf_of(table)
    classes = len(table.prepared.classes)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            score = float(scorer._score(leaf, np.arange(table.n_rows)))
        unusable = math.isnan(score) or score == math.inf  # minus infinity may be what it says
        reason = f"the score of a single leaf is {score}" if unusable else None
    except (ValueError, TypeError, AttributeError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        reason = reason.replace(f"'{_TreeModel.__name__}' object", "a tree")
        reason = reason.replace(_TreeModel.__name__, "a tree")
    if reason is not None:
        raise ValueError(
            f"The 'scoring' parameter of {owner}, {scorer.name}, cannot score this table of "
            f"{classes} {'class' if classes == 1 else 'classes'}: "
            f"{_lack(scorer.name, table.prepared.classes, reason)}."
        )


def _lack(name: str, classes: NDArray[Any], reason: str) -> str:
    """Return what a scorer of scikit-learn lacks in a table, and what to take; else the reason."""
    labels = classes.tolist()
    if name in _OF_PROBABILITIES and len(labels) == 2 and "pos_label" in reason:
        return _without_positive(labels, _OF_PROBABILITIES[name])
    if name not in _OF_TWO_CLASSES:
        return reason
    if len(labels) == 1:
        return f"it needs rows of two classes, and all rows are of {labels[0]!r}"
    if len(labels) > 2:
        return f"it is for two classes; {_OF_TWO_CLASSES[name]} is for more"
    if "pos_label" in reason:
        return _without_positive(labels, f"{name}_score")
    return reason


def _without_positive(labels: list[Any], metric: str) -> str:
    return (
        f"it takes 1 as the positive label, and these are {labels[0]!r} and {labels[1]!r}; "
        f"sklearn.metrics.make_scorer({metric}, pos_label={labels[1]!r}) says which it is"
    )


def leaf_of(table: TuningTable) -> Tree:
    """Return the tree of one leaf on all rows."""
    codes, weights = table.prepared.codes, table.sample_weight
    whole = table.prepared.problem
    totals = np.bincount(codes, weights, whole.n_classes).astype(np.float64)
    return Tree(
        feature=[-1],
        threshold=[math.nan],
        value=totals[None],
        n_samples=[len(codes)],
        n_features=whole.n_features,
        class_names=whole.class_names,
        feature_names=whole.feature_names,
        categories=whole.categories,
    )


def _accuracy(table: TuningTable, weights: Float | None) -> Callable[..., float]:
    encoded, codes = table.prepared.encoded, table.prepared.codes

    def score(tree: Tree, rows: NDArray[np.intp]) -> float:
        own = None if weights is None else weights[rows]
        if own is not None and own.sum() <= 0:
            return math.nan
        return float(np.average(tree.predict(encoded[rows]) == codes[rows], weights=own))

    return score


def _log_loss(table: TuningTable, weights: Float | None, times: float) -> Callable[..., float]:
    """Return what gives a multiple of the log loss; rows may lack a class."""
    encoded, codes = table.prepared.encoded, table.prepared.codes

    def score(tree: Tree, rows: NDArray[np.intp]) -> float:
        own = np.ones(len(rows)) if weights is None else weights[rows]
        if own.sum() <= 0:
            return math.nan
        shares = tree.probabilities()[tree.apply(encoded[rows])]
        return times * log_loss(shares, codes[rows], own)

    return score


def _steadied(table: TuningTable, weights: Float | None) -> Callable[..., float]:
    """Return what is taken off the accuracy of a tree, so that chance less often chooses it."""
    loss = _log_loss(table, weights, _SHARE_OF_LOG_LOSS)
    return lambda tree, rows: loss(tree, rows) + _PRICE_OF_A_LEAF * tree.n_leaves / table.n_rows


def _mean_cost(table: TuningTable, costs: Float) -> Callable[..., float]:
    encoded, codes = table.prepared.encoded, table.prepared.codes

    def score(tree: Tree, rows: NDArray[np.intp]) -> float:
        own = None if table.sample_weight is None else table.sample_weight[rows]
        if own is not None and own.sum() <= 0:
            return math.nan
        return -float(np.average(costs[codes[rows], tree.predict(encoded[rows])], weights=own))

    return score


def _of_scorer(scorer: Any, table: TuningTable) -> Callable[..., float]:
    from sklearn.metrics._scorer import _BaseScorer

    # Scorers of scikit-learn only pass the rows on to the model, so encoded rows do.
    encoded_rows = isinstance(scorer, _BaseScorer)
    given: Any = table.prepared.encoded if encoded_rows else table.raw
    classes, codes = table.prepared.classes, table.prepared.codes
    encoder = None if encoded_rows else table.prepared.encoder
    weighs = table.sample_weight is not None and (encoded_rows or _takes_weights(scorer))

    def score(tree: Tree, rows: NDArray[np.intp]) -> float:
        more = {"sample_weight": table.sample_weight[rows]} if weighs else {}  # type: ignore[index]
        model = _TreeModel(tree, classes, encoder)
        return float(scorer(model, _safe_indexing(given, rows), classes[codes[rows]], **more))

    return score


def _takes_weights(scorer: Any) -> bool:
    try:
        return "sample_weight" in inspect.signature(scorer).parameters
    except (TypeError, ValueError):
        return False


class _TreeModel(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A tree as scorers see it: a fitted classifier of encoded rows, or of the user's."""

    def __init__(self, tree: Tree, classes: NDArray[Any], encoder: TableEncoder | None) -> None:
        self.tree, self.classes, self.encoder = tree, classes, encoder
        self.classes_ = classes
        self.n_features_in_ = tree.n_features

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _encoded(self, X: Any) -> Float:
        return np.asarray(X if self.encoder is None else self.encoder.transform(X))

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes[self.tree.predict(self._encoded(X))])

    def predict_proba(self, X: Any) -> Float:
        return self.tree.predict_proba(self._encoded(X))
