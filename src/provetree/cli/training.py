"""From a table file to a fitted, judged model: what ``fit`` does before it prints anything."""

from __future__ import annotations

import calendar
import datetime
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from provetree.cli.columns import (
    LearnedColumns,
    LearnedTarget,
    Task,
    learn_columns,
    learn_target,
    use_columns,
)
from provetree.cli.errors import UserError
from provetree.cli.scorers import scoring_for
from provetree.export.model_file import InputColumn, StoredModel
from provetree.solution import Progress
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from polars import DataFrame

    from provetree.cli.operating import Wish
    from provetree.selection.operating_points import OperatingCurve, OperatingPoint

__all__ = ["Data", "Settings", "Trained", "estimator_of", "prepare", "train", "with_whole_dates"]

#: Fewer rows than this are not worth dividing.
_FEWEST_TO_DIVIDE = 60
#: Seconds that preparing a search and what comes after it take at least, per million cells.
_SECONDS_PER_MILLION = 0.35
#: The least share of the time limit that is left for the search: a first tree takes as long as it
#: takes, and where the machine was slow there is no time for more.
_LEAST_SEARCH = 0.01


@dataclass(frozen=True)
class Settings:
    """What the user asked for besides the limits of the tree."""

    target: str
    test_share: float = 0.25
    seed: int = 0
    ignore: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    task: Task | None = None  # None: what the target looks like

    @classmethod
    def of(cls, flags: Mapping[str, Any]) -> Settings:
        """Return what the flags of a command say."""
        return cls(**{field.name: flags[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class Data:
    """A table divided into training and test rows."""

    learned: LearnedColumns
    train: DataFrame
    test: DataFrame
    y_train: NDArray[Any]
    y_test: NDArray[Any]
    n_without_label: int
    task: Task = "classification"
    task_note: str | None = None


@dataclass(frozen=True)
class Trained:
    """A fitted model, the estimator behind it, and the data."""

    model: StoredModel
    estimator: Any
    data: Data
    seconds: float
    chosen: tuple[OperatingCurve, OperatingPoint] | None = None  # where recall or costs chose it


def prepare(table: DataFrame, settings: Settings, test: DataFrame | None = None) -> Data:
    """Find labels and columns, and divide the rows.

    Parameters
    ----------
    table : polars.DataFrame
        The table as read.
    settings : Settings
        What the user asked for.
    test : polars.DataFrame, default=None
        Test rows of their own; None takes a share of the table.

    Examples
    --------
    >>> import polars
    >>> from provetree.cli.training import Settings, prepare
    >>> table = polars.DataFrame({"x": ["1", "2", "3"], "y": ["no", "yes", "no"]})
    >>> data = prepare(table, Settings("y"))
    >>> data.train.height, data.test.height, data.learned.notes
    (3, 0, (('x', 'number'),))
    """
    found = learn_target(table, settings.target, settings.task)
    n_without = table.height - found.rows.height
    y = _targets(found)
    tested = None if test is None else learn_target(test, settings.target, found.task)
    share = settings.test_share if test is None else 0.0
    chosen = _test_rows(y, share, settings.seed, by_class=found.task == "classification")
    # What a column means is a matter of the file, so all its rows are looked at.
    learned = learn_columns(
        found.rows, settings.target, ignore=settings.ignore, categorical=settings.categorical
    )
    test_part, y_test = learned.values.filter(chosen), y[chosen]
    if tested is not None:
        test_part = use_columns(tested.rows, learned.columns)
        y_test = np.array(tested.values, dtype=y.dtype)
    train_part, y_train = learned.values.filter(~chosen), y[~chosen]
    return Data(learned, train_part, test_part, y_train, y_test, n_without, found.task, found.note)


def _targets(found: LearnedTarget) -> NDArray[Any]:
    if found.task == "regression":
        return np.array(found.values, dtype=np.float64)
    return np.array(found.values, dtype=object if isinstance(found.values[0], str) else None)


def estimator_of(task: Task, parameters: Mapping[str, Any], *, tunes: bool = False) -> Any:
    """Return the estimator of a task with the parameters of the command line.

    With `tunes` it is the one that chooses the parameters which are not given.

    Examples
    --------
    >>> from provetree.cli.training import estimator_of
    >>> flags = {"max_depth": 2, "criterion": None, "class_weight": None}
    >>> estimator_of("regression", flags)
    OptimalTreeRegressor(max_depth=2)
    """
    from provetree.estimators.optimal_tree import OptimalTreeClassifier
    from provetree.estimators.optimal_tree_cv import OptimalTreeCV
    from provetree.estimators.optimal_tree_regressor import OptimalTreeRegressor
    from provetree.estimators.optimal_tree_regressor_cv import OptimalTreeRegressorCV

    given = {name: x for name, x in parameters.items() if name != "criterion" or x is not None}
    if task == "classification":
        return OptimalTreeCV(**given) if tunes else OptimalTreeClassifier(**given)
    for name, flag in (("class_weight", "--class-weight"), ("scoring", "--scoring")):
        if given.pop(name, None) is not None:
            raise UserError(f"{flag} is for classes, and the target is a number to predict.")
    return OptimalTreeRegressorCV(**given) if tunes else OptimalTreeRegressor(**given)


def train(
    data: Data,
    parameters: dict[str, Any],
    target: str,
    *,
    started: float,
    begun: float,
    on_progress: Callable[[Progress], None] | None = None,
    on_stage: Callable[[str], None] = lambda stage: None,
    wish: Wish | None = None,
    tunes: bool = False,
    kept: float = 0.0,
    positive: str | None = None,
) -> Trained:
    """Fit CART and the optimal tree, and gather the figures of both.

    The time limit among the parameters of the tree counts from `started`, when the process began by
    ``time.monotonic``: reading the table, since `begun`, and CART are part of it. `on_progress` and
    `on_stage` are told how the search stands, and what is being done. With a `wish` about the two
    kinds of errors, the tree is that of an operating point. With `tunes`, what the parameters leave
    open is chosen by cross-validation; a score of one class is that of the label `positive`. `kept`
    seconds of the limit are for what comes after.
    """
    if wish is not None:
        wish.check(data.task, parameters)
    before = time.monotonic()
    from provetree.report.cart import CartClassifier
    from provetree.report.class_sections import operating_facts
    from provetree.report.evidence import (
        TrainingRows,
        choice_facts,
        chosen_limits,
        cluster_facts,
        tree_facts,
    )

    estimator_of(data.task, parameters, tunes=tunes)  # says at once which parameters it cannot have
    if parameters.get("scoring") is not None:
        scoring = scoring_for(parameters["scoring"], data.y_train, positive)
        parameters = {**parameters, "scoring": scoring}
    begun += time.monotonic() - before  # loading scikit-learn says nothing about the table
    on_stage("fitting CART for comparison")
    rows = TrainingRows.read(data.train, data.y_train, numbers=data.task == "regression")
    cart = rows.cart({"max_depth": None, **parameters} if tunes else parameters)
    now = time.monotonic()

    on_stage("choosing" if tunes else "searching")
    limit = _search_seconds(
        parameters["time_limit"], now - started + kept, now - begun, rows.rows.encoded
    )
    chosen = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an interrupted search says so in its proof
        if wish is None:
            given = {**parameters, "time_limit": limit}
            estimator = estimator_of(data.task, given, tunes=tunes)
            _fit(estimator, data, tunes, on_progress, on_stage)
        else:
            chosen = wish.fulfilled(data.train, data.y_train, parameters, limit)
            estimator = chosen[0].classifier(chosen[1])
            # CART gets the weights that were chosen, too.
            cart = rows.cart({**parameters, "class_weight": estimator.class_weight})
    seconds = time.monotonic() - now

    on_stage("counting")
    if tunes:  # CART of the size that was chosen
        cart = rows.cart({"max_depth": None, **chosen_limits(estimator)})
    tree = with_whole_dates(estimator.tree_, data.learned.columns)
    test = rows.others(data.test, data.y_test) if data.test.height else None
    facts = tree_facts(tree, rows.rows, test, cart, data.learned.notes)
    notes = data.learned.notes
    facts |= choice_facts(estimator) | cluster_facts(estimator)
    if "tuning" in facts and parameters.get("scoring") is not None and test is not None:
        beside = CartClassifier(cart, estimator.classes_)
        facts["tuning"]["test"] = [
            _score(parameters["scoring"], model, rows_of_it, data.y_test)
            for model, rows_of_it in ((estimator, data.test), (beside, test.encoded))
        ]
    if chosen is not None:
        facts["operating_points"] = operating_facts(chosen[0], estimator.tree_)
    facts["left_out"] = [[name, note] for name, note in notes if note.startswith("left out")]
    if data.n_without_label:
        facts["rows_without_label"] = data.n_without_label
    model = StoredModel.of(
        estimator, target=target, columns=data.learned.columns, facts=facts, seconds=seconds
    )
    return Trained(replace(model, tree=tree), estimator, data, seconds, chosen)


def _fit(
    estimator: Any,
    data: Data,
    tunes: bool,
    on_progress: Callable[[Progress], None] | None,
    on_stage: Callable[[str], None],
) -> None:
    """Fit an estimator, and tell what it is doing as far as it says so."""
    if not tunes:
        estimator.fit(data.train, data.y_train, on_progress=on_progress)
    elif data.task == "classification":
        estimator.fit(
            data.train, data.y_train, on_progress=lambda news: on_stage(f"choosing: {news.words}")
        )
    else:
        estimator.fit(data.train, data.y_train)


def _score(scoring: Any, model: Any, rows: Any, labels: NDArray[Any]) -> float | None:
    """Return a score on test rows, None where they cannot be scored, such as with a new class."""
    from sklearn.metrics import get_scorer

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a score that is not defined is none
            score = float(get_scorer(scoring)(model, rows, labels))
    except ValueError:
        return None
    return score if math.isfinite(score) else None


def with_whole_dates(tree: Tree, columns: Sequence[InputColumn]) -> Tree:
    """Return the tree with dates for thresholds of dates: 20231231, not 20235667.5.

    Every date takes the side that it took before.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.cli.training import with_whole_dates
    >>> from provetree.export.model_file import InputColumn
    >>> tree = OptimalTreeClassifier().fit([[20231230.0], [20240105.0]], [0, 1]).tree_
    >>> whole = with_whole_dates(tree, [InputColumn("since", "date")])
    >>> float(tree.threshold[0]), float(whole.threshold[0])
    (20235667.5, 20231231.0)
    """
    threshold = tree.threshold.copy()
    for node in np.flatnonzero((tree.feature >= 0) & np.isfinite(threshold)):
        feature = int(tree.feature[node])
        if feature < tree.n_features and columns[feature].kind == "date":
            threshold[node] = _date_up_to(float(threshold[node]))
    return tree.replaced(threshold=threshold)


def _date_up_to(number: float) -> float:
    """Return the last date YYYYMMDD up to a number; the number itself where there are no dates."""
    year, rest = divmod(math.floor(number), 10000)
    month, day = divmod(rest, 100)
    if month > 12:
        month, day = 12, 31
    if day < 1:
        month, day = month - 1, 31
    if month < 1:
        year, month, day = year - 1, 12, 31
    if not datetime.MINYEAR <= year <= datetime.MAXYEAR:
        return number
    day = min(day, calendar.monthrange(year, month)[1])
    return float(10000 * year + 100 * month + day)


def _search_seconds(
    limit: float | None, elapsed: float, working: float, encoded: NDArray[np.float64]
) -> float | None:
    """Return what is left of the time limit for the search itself.

    The work on the table before it shows how fast the machine is now, and what comes after takes
    about half as long.
    """
    if limit is None:
        return None
    reserve = max(_SECONDS_PER_MILLION * encoded.size / 1e6, working / 2)
    return max(limit - elapsed - reserve, _LEAST_SEARCH * limit)


def _test_rows(
    y: NDArray[Any], share: float, seed: int, *, by_class: bool = True
) -> NDArray[np.bool_]:
    """Choose test rows, the same share of every class; numbers are one class."""
    chosen = np.zeros(len(y), dtype=np.bool_)
    if share <= 0 or len(y) < _FEWEST_TO_DIVIDE:
        return chosen
    rng = np.random.default_rng(seed)
    groups = [np.arange(len(y))]
    if by_class:
        groups = [np.flatnonzero(y == label) for label in sorted(set(y.tolist()))]
    for rows in groups:
        # A class of one row stays in training, where it can be learned.
        n_test = min(round(share * len(rows)), len(rows) - 1)
        chosen[rng.permutation(rows)[:n_test]] = True
    if chosen.all():
        raise UserError("--test-share leaves no row for training.")
    return chosen
