"""The folds of a cross-validation; of one that chooses a classifier, repeated where rows are few.

Where the table has too few rows, or a class too few, it makes the folds that can be made, and says
what it did not do.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Float

__all__ = ["Fold", "FoldPlan", "folds_of", "plan_folds", "repeats_for"]

#: The training rows and the rows held out.
Fold: TypeAlias = "tuple[NDArray[np.intp], NDArray[np.intp]]"

#: Folds are repeated until about so many rows were held out: the score of a thousand rows has a
#: standard error of one point. Where classes count alike, the chance is that of the rarest.
_ROWS_TO_HOLD_OUT = 2000
_MOST_REPEATS = 4


class FoldPlan(NamedTuple):
    """Folds in the order they are due, round by round, and what could not be done."""

    rounds: list[list[Fold]]
    notes: list[str]

    @property
    def n_folds(self) -> int:
        """The folds of one round."""
        return len(self.rounds[0]) if self.rounds else 0


def repeats_for(n_rows: int) -> int:
    """Return how often folds are repeated for a number of rows.

    Examples
    --------
    >>> from provetree.selection.folds import repeats_for
    >>> [repeats_for(n) for n in (100, 700, 1500, 20000)]
    [4, 3, 2, 1]
    """
    return int(np.clip(-(-_ROWS_TO_HOLD_OUT // max(n_rows, 1)), 1, _MOST_REPEATS))


def plan_folds(
    cv: Any,
    codes: NDArray[np.intp],
    classes: NDArray[Any],
    groups: Any,
    owner: str,
    weights: Float | None = None,
    *,
    alike: bool = False,
) -> FoldPlan:
    """Return the folds that `cv` asks for: of an int, stratified, shuffled and repeated.

    Rows of weight zero count as absent, as in training. With `alike` the folds are for a score to
    which all classes count alike, so that few rows of one class repeat them as few rows do.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.selection.folds import plan_folds
    >>> plan = plan_folds(5, np.array([0, 1, 1]), np.array(["a", "b"]), None, "OptimalTreeCV")
    >>> plan.n_folds, plan.notes[0]
    (3, 'The table has 3 rows, so 3 folds were made and not 5.')
    """
    groups = None if groups is None else _checked_groups(groups, len(codes))
    if cv is None:
        return FoldPlan([], [])
    if not isinstance(cv, (int, np.integer)):
        given = _folds_of_splitter(cv, codes, groups, owner, True, None)
        return FoldPlan([_weighing_folds(given, weights, owner)], [])
    rows = _weighing_rows(len(codes), weights)
    n_rounds = repeats_for(_telling_rows(codes[rows]) if alike else len(rows))
    if groups is not None:
        plan = _of_groups(int(cv), codes[rows], groups[rows], owner, n_rounds)
    else:
        plan = _stratified(int(cv), codes[rows], classes, n_rounds)
    notes = plan.notes
    if len(rows) < len(codes):
        present = "Without its rows of weight zero, the table has"
        notes = [note.replace("The table has", present) for note in notes]
    return FoldPlan([_among(rows, one_round) for one_round in plan.rounds], notes)


def _telling_rows(codes: NDArray[np.intp]) -> int:
    """Return how many rows there would be if all classes were as rare as the rarest."""
    counts = np.bincount(codes)
    counts = counts[counts > 0]
    return int(len(counts) * counts.min(initial=len(codes)))


def _weighing_rows(n_rows: int, weights: Float | None) -> NDArray[np.intp]:
    """Return the rows that weigh something."""
    return np.arange(n_rows) if weights is None else np.flatnonzero(weights > 0)


def _among(rows: NDArray[np.intp], folds: list[Fold]) -> list[Fold]:
    """Return folds of some rows as folds of the table."""
    return [(rows[train], rows[test]) for train, test in folds]


def _weighing_folds(folds: list[Fold], weights: Float | None, owner: str) -> list[Fold]:
    """Return the folds that have weight to train on and weight held out."""
    if weights is None:
        return folds
    found = [fold for fold in folds if all(weights[part].sum() > 0 for part in fold)]
    if not found:
        raise ValueError(
            f"The 'cv' parameter of {owner} must give a fold with weight to train on and weight "
            "held out. Got none with both."
        )
    return found


def _stratified(
    asked: int, codes: NDArray[np.intp], classes: NDArray[Any], n_rounds: int
) -> FoldPlan:
    n_rows, notes = len(codes), []
    n_folds = min(asked, n_rows)
    if n_folds < 2:
        return FoldPlan([], ["The table has one row, so that nothing was cross-validated."])
    if n_folds < asked:
        notes.append(f"The table has {n_rows} rows, so {n_folds} folds were made and not {asked}.")
    counts = np.bincount(codes, minlength=len(classes))
    rare = np.flatnonzero((counts > 0) & (counts < n_folds))
    if len(rare) and not notes:
        label, count = classes[rare[0]], int(counts[rare[0]])
        rows = "1 row" if count == 1 else f"{count} rows"
        notes.append(
            f"The class {label!s} has {rows}, fewer than the {n_folds} folds, so that some folds "
            "were scored without it."
        )
    rounds = []
    for seed in range(n_rounds):
        rounds.append(_spread(codes, n_folds, seed))
    return FoldPlan(rounds, notes)


def _spread(codes: NDArray[np.intp], n_folds: int, seed: int) -> list[Fold]:
    """Spread the rows of each class over the folds; a class of fewer rows is in some of them.

    scikit-learn would do, but takes longer to load than small tables take to fit.
    """
    order = np.random.default_rng(seed).permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    place = np.empty(len(codes), dtype=np.intp)
    place[order] = np.arange(len(codes)) % n_folds
    return [(np.flatnonzero(place != k), np.flatnonzero(place == k)) for k in range(n_folds)]


def _of_groups(
    asked: int, codes: NDArray[np.intp], groups: Any, owner: str, n_rounds: int
) -> FoldPlan:
    from sklearn.model_selection import StratifiedGroupKFold

    n_groups = _count_groups(groups, owner)
    n_folds, notes = min(asked, n_groups), []
    if n_folds < asked:
        notes.append(f"There are {n_groups} groups, so {n_folds} folds were made and not {asked}.")
    rounds = []
    for seed in range(n_rounds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
            try:
                folds = list(splitter.split(np.zeros((len(codes), 1)), codes, groups))
            except ValueError:  # every class is smaller than the folds
                folds = _by_group(groups, n_folds)
        rounds.append([fold for fold in folds if len(fold[0]) and len(fold[1])])
    return FoldPlan(rounds, notes)


def _by_group(groups: NDArray[Any], n_folds: int) -> list[Fold]:
    place = np.unique(groups, return_inverse=True)[1].reshape(-1) % n_folds
    return [(np.flatnonzero(place != k), np.flatnonzero(place == k)) for k in range(n_folds)]


def folds_of(
    cv: Any,
    labels: NDArray[Any],
    groups: Any,
    owner: str,
    *,
    of_classes: bool,
    table: Any = None,
    weights: Float | None = None,
) -> list[Fold]:
    """Return one round of the folds that `cv` asks for: none for None, of an int with a fixed seed.

    An int makes at most one fold for each row, or for each group where there are groups. Rows of
    weight zero count as absent, as in training.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.selection.folds import folds_of
    >>> [len(test) for _, test in folds_of(2, np.arange(5.0), None, "fit", of_classes=False)]
    [3, 2]
    """
    groups = None if groups is None else _checked_groups(groups, len(labels))
    if cv is None:
        return []
    if not isinstance(cv, (int, np.integer)):
        given = _folds_of_splitter(cv, labels, groups, owner, of_classes, table)
        return _weighing_folds(given, weights, owner)
    rows = _weighing_rows(len(labels), weights)
    labels, groups = labels[rows], None if groups is None else groups[rows]
    if groups is not None and of_classes:
        return _among(rows, _of_groups(int(cv), labels, groups, owner, 1).rounds[0])
    units = len(labels) if groups is None else _count_groups(groups, owner)
    if units < 2:
        return []
    splitter = _splitter_of(min(int(cv), units), labels, groups, of_classes)
    return _among(rows, list(splitter.split(np.zeros((len(labels), 1)), labels, groups)))


def _splitter_of(n_folds: int, labels: NDArray[Any], groups: Any, of_classes: bool) -> Any:
    from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

    if groups is not None:
        return GroupKFold(n_folds)
    # A class with enough rows must be in every fold; a class of one row cannot be.
    if of_classes and int(np.unique(labels, return_counts=True)[1].min()) >= n_folds:
        return StratifiedKFold(n_folds, shuffle=True, random_state=0)
    return KFold(n_folds, shuffle=True, random_state=0)


def _count_groups(groups: NDArray[Any], owner: str) -> int:
    n_groups = len(np.unique(groups))
    if n_groups < 2:
        where = owner if owner[:1].islower() else f"{owner}.fit"
        raise ValueError(
            f"The 'groups' of {where} must name at least 2 groups to cross-validate. "
            f"Got {n_groups}."
        )
    return n_groups


def _checked_groups(groups: Any, n_rows: int) -> NDArray[Any]:
    named = np.asarray(groups)
    if named.shape != (n_rows,):
        raise ValueError(
            f"The 'groups' must name a group for each of the {n_rows} rows. "
            f"Got an array of shape {named.shape}."
        )
    try:
        unnamed = np.array([name is None or name != name for name in named.tolist()])
        if not unnamed.any():
            np.unique(named)
            return named
    except TypeError:  # such as numbers and text, which have no order
        raise ValueError(
            "The 'groups' must be all numbers or all text. Got "
            f"{' and '.join(sorted({type(name).__name__ for name in named.tolist()}))}."
        ) from None
    row = int(unnamed.argmax())
    raise ValueError(
        f"The 'groups' must name a group for each of the {n_rows} rows. "
        f"Got {named[row]} for row {row}, counted from 0."
    )


def _row_numbers(rows: Any, owner: str) -> NDArray[np.intp]:
    """Return the numbers of rows, which may be given as a mask."""
    given = np.asarray(rows)
    if given.dtype == np.bool_:
        return np.flatnonzero(given)
    if given.dtype.kind not in "iu" and given.size:
        raise ValueError(
            f"The 'cv' parameter of {owner} must give folds as numbers of rows, or as masks. "
            f"Got {given.dtype} such as {given.ravel()[0]}."
        )
    return given.astype(np.intp)


def _folds_of_splitter(
    cv: Any, labels: NDArray[Any], groups: Any, owner: str, of_classes: bool, table: Any
) -> list[Fold]:
    from sklearn.model_selection import check_cv

    splitter = check_cv(cv, labels, classifier=of_classes)
    name = type(cv).__name__
    try:
        rows = np.zeros((len(labels), 1)) if table is None else table
        folds = [(train, test) for train, test in splitter.split(rows, labels, groups)]
    except (ValueError, TypeError) as error:
        if groups is None and "group" in str(error).lower():
            raise ValueError(
                f"The 'cv' parameter of {owner}, {name}, needs groups: {_with_groups(owner)}."
            ) from None
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(
            f"The 'cv' parameter of {owner}, {name}, cannot divide this table: {reason}."
        ) from None
    whole = [(_row_numbers(train, owner), _row_numbers(test, owner)) for train, test in folds]
    parts = [rows for fold in whole for rows in fold if len(rows)]
    wrong = [at for rows in parts for at in (rows.max(), rows.min()) if not _is_row(at, labels)]
    if wrong:
        raise ValueError(
            f"The 'cv' parameter of {owner} must give folds of the {len(labels)} rows. "
            f"Got row {wrong[0]}, counted from 0."
        )
    if not whole or any(len(train) == 0 or len(test) == 0 for train, test in whole):
        raise ValueError(
            f"The 'cv' parameter of {owner} must give folds with rows to train on and rows held "
            f"out. Got {len(whole)} {'fold' if len(whole) == 1 else 'folds'}, one of them empty."
            if whole
            else f"The 'cv' parameter of {owner} must give at least one fold. Got none."
        )
    return whole


def _is_row(at: int, labels: NDArray[Any]) -> bool:
    """Tell whether a number is that of a row; as everywhere in numpy, -1 is the last one."""
    return -len(labels) <= at < len(labels)


def _with_groups(owner: str) -> str:
    """Return how groups are given to a function, or to an estimator."""
    return f"{owner}(..., groups=...)" if owner[:1].islower() else "fit(X, y, groups=...)"
