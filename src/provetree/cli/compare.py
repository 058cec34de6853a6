"""``provetree compare``: the methods side by side on one table, with what each of them proves.

Methods are looked up by name when the command runs: those that this installation does not have are
not in the table.
"""

from __future__ import annotations

import contextlib
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from provetree.cli.errors import UserError
from provetree.cli.options import task_of_criterion, tree_parameters
from provetree.cli.screen import FIGURES, STATUS_WORDS, Screen
from provetree.cli.tables import read_table
from provetree.cli.training import Data, Settings, prepare
from provetree.export.plot import new_figure
from provetree.export.words import rate_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["METHODS", "Compared", "available_methods", "compare", "run_method"]

#: Words for the table, and the class of the package.
METHODS = {
    "exact search": "OptimalTreeClassifier",
    "DL8.5": "DL85Classifier",
    "column generation": "ColumnGenerationClassifier",
    "partitions": "PartitionTreeClassifier",
    "MIP": "MIPTreeClassifier",
}


@dataclass(frozen=True)
class Compared:
    """How one method did."""

    method: str
    train_errors: int | None = None
    train_accuracy: float | None = None
    test_accuracy: float | None = None
    leaves: int | None = None
    seconds: float | None = None
    status: str = ""
    lower_bound: float | None = None
    gap: float | None = None
    problem: str | None = None


def available_methods() -> dict[str, type[Any]]:
    """Return the methods that this installation has.

    Examples
    --------
    >>> from provetree.cli.compare import available_methods
    >>> available_methods()["exact search"].__name__
    'OptimalTreeClassifier'
    """
    import provetree

    found = {}
    for words, name in METHODS.items():
        with contextlib.suppress(AttributeError, ImportError):
            found[words] = getattr(provetree, name)
    return found


def compare(flags: dict[str, Any]) -> None:
    """Run ``provetree compare`` with its flags."""
    parameters = tree_parameters(flags)
    parameters["criterion"] = flags.pop("criterion")
    flags["task"] = task_of_criterion(flags["task"], parameters["criterion"])
    screen = Screen(quiet=flags["quiet"] or flags["as_json"])
    settings = Settings.of(flags)
    data = prepare(read_table(flags["data"]), settings)
    if data.task_note is not None:
        screen.note(data.task_note)
    screen.columns(data.learned.notes, settings.target)
    if data.task == "regression":
        from provetree.cli.compare_numbers import compare_numbers, number_rows

        of_numbers = compare_numbers(data, parameters, screen)
        shown: list[Any] = list(of_numbers)
        header, cells = number_rows(of_numbers)
    else:
        found = [run_cart(data, parameters)]
        for words, method in available_methods().items():
            screen.note(f"fitting {words} ...")
            found.append(run_method(words, method, data, parameters))
        shown, header, cells = list(found), _HEADER, [_cells(row) for row in found]
    if flags["as_json"]:
        click.echo(json.dumps([vars(row) for row in shown], ensure_ascii=False))
    else:
        screen.table(header, cells)
        for row in shown:
            if row.problem:
                screen.note(f"{row.method}: {row.problem}")
    if flags["plot"]:
        try:
            name = "R²" if data.task == "regression" else "accuracy"
            draw(shown, name).savefig(flags["plot"], dpi=150)
        except (ImportError, OSError, ValueError) as error:
            raise UserError(f"--plot: {error}") from None
        screen.note(f"The picture is in {flags['plot']}.")


def run_cart(data: Data, parameters: dict[str, Any]) -> Compared:
    """Fit scikit-learn's CART."""
    from provetree.report.evidence import TrainingRows
    from provetree.report.judged import part_facts

    train = TrainingRows.read(data.train, data.y_train)
    assert train.classes is not None  # for the type checker
    n_classes = len(train.classes)
    cart = train.cart(parameters)
    parts = [train.rows]
    if data.test.height:
        parts.append(train.others(data.test, data.y_test))
    trained, *tested = [
        part_facts(cart.predict(rows.encoded), rows.codes, n_classes) for rows in parts
    ]
    accuracies = (trained["accuracy"], tested[0]["accuracy"] if tested else None)
    errors = trained["errors"]
    return Compared("CART", errors, *accuracies, cart.n_leaves, cart.seconds, "no proof")


def run_method(words: str, method: type[Any], data: Data, parameters: dict[str, Any]) -> Compared:
    """Fit one method of the package, with the parameters it knows."""
    names = method().get_params(deep=False)
    wanted = _translated(names, data, parameters)
    # A method that cannot keep a limit of the user is not comparable: say so instead.
    missing = [
        name
        for name in _DEFAULTS
        if name in wanted and name not in names and wanted[name] != _DEFAULTS[name]
    ]
    if missing:
        return Compared(words, problem=f"left out: it has no {', '.join(map(repr, missing))}")
    estimator = method(**{name: value for name, value in wanted.items() if name in names})
    train, test = data.train, data.test
    begun = time.monotonic()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if _needs_booleans(names):
                from provetree.estimators.binarizer import Binarizer

                binarizer = Binarizer().fit(train, data.y_train)
                train = binarizer.transform(train)
                test = binarizer.transform(test) if data.test.height else test
            estimator.fit(train, data.y_train)
    except (ImportError, MemoryError, NotImplementedError, ValueError) as error:
        return Compared(words, problem=f"left out: {error}")
    seconds = time.monotonic() - begun
    errors = int((estimator.predict(train) != data.y_train).sum())
    accuracies = (
        1 - errors / len(data.y_train),
        float(np.mean(estimator.predict(test) == data.y_test)) if data.test.height else None,
    )
    status, bound, gap = estimator.status_, estimator.lower_bound_, estimator.gap_
    if _needs_booleans(names):
        # Its proof is one for the thresholds the binarizer chose, not for all of them.
        status, bound, gap = ("candidate_optimal" if status == "optimal" else status), None, None
    leaves = estimator.tree_.n_leaves
    return Compared(words, errors, *accuracies, leaves, seconds, status, bound, gap)


def _needs_booleans(names: Mapping[str, Any]) -> bool:
    return "count_itemsets" in names


def _translated(names: Mapping[str, Any], data: Data, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the user's limits under the names that a method has for them."""
    wanted = dict(parameters)
    if wanted.get("criterion") is None:
        wanted.pop("criterion", None)
    if "min_support" in names:
        wanted["min_support"] = wanted.pop("min_samples_leaf")
    if "formulation" in names:
        leaves = wanted.pop("max_leaf_nodes")
        wanted["max_splits"] = None if leaves is None else leaves - 1
        wanted["baseline"] = "error"  # what alpha is a share of everywhere else
        wanted["scaling"] = "rank"  # the same trees, and no two values are too close
        cuts = sum(max(0, column.n_unique() - 1) for column in data.train.iter_columns())
        entries = data.train.height * cuts * 2.0 ** wanted["max_depth"]
        wanted["tighten"] = entries <= _MOST_TIGHT_ENTRIES
    return wanted


#: Entries of a tightened model beyond which building it takes longer than it helps.
_MOST_TIGHT_ENTRIES = 2e7
_DEFAULTS = {
    "max_leaf_nodes": None,
    "min_samples_leaf": 1,
    "alpha": 0.0,
    "class_weight": None,
    "criterion": "errors",
    "splits": "columns",
    "category_splits": "one",
}
_HEADER = ["method", *FIGURES["classification"], "proof", "bound", "gap"]


def _cells(row: Compared) -> list[str]:
    if row.problem:
        return [row.method, *["-"] * (len(_HEADER) - 1)]
    return [
        row.method,
        str(row.train_errors),
        rate_words(row.train_accuracy),
        rate_words(row.test_accuracy),
        str(row.leaves),
        f"{row.seconds:.2f} s",
        STATUS_WORDS.get(row.status, row.status),
        "-" if row.lower_bound is None else f"{row.lower_bound:g}",
        "-" if row.gap is None else f"{100 * row.gap:.1f} %",
    ]


def draw(found: Sequence[Any], score: str = "accuracy") -> Figure:
    """Draw the training and the test score of the methods: accuracy or R².

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from provetree.cli.compare import Compared, draw
    >>> figure = draw([Compared("CART", 3, 0.9, 0.8, 4, 0.1, "no proof")])
    >>> figure.axes[0].get_xlabel()
    'accuracy'
    """
    rows = [row for row in found if row.problem is None][::-1]
    figure = new_figure("Drawing", (7.0, 1.2 + 0.55 * len(rows)))
    ax = figure.subplots()
    beside: dict[str, Any] = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
    percent = score == "accuracy"
    field = "accuracy" if percent else "r2"
    # Points, not bars: the axis begins where the scores do.
    for offset, colour, marker, label, values in (
        (0.12, "#0072b2", "o", "training", [getattr(row, f"train_{field}") for row in rows]),
        (-0.12, "#e69f00", "s", "test", [getattr(row, f"test_{field}") for row in rows]),
    ):
        shown = [(x, y + offset) for y, x in enumerate(values) if x is not None]
        if shown:
            ax.plot(*zip(*shown, strict=True), marker, color=colour, markersize=8, label=label)
        for x, y in shown:
            shown_score = f"{100 * x:.1f} %" if percent else f"{x:.3f}"
            ax.annotate(shown_score, (x, y), fontsize=8, **beside)
    proof = {"optimal": "proven", "candidate_optimal": "best of its candidates"}
    names = [f"{r.method}\n{proof.get(r.status, 'not proven')}, {r.seconds:.1f} s" for r in rows]
    ax.set_yticks(range(len(rows)), names)
    ax.set(ylim=(-0.5, len(rows) - 0.5), xlabel=score, axisbelow=True)
    ax.margins(x=0.12)
    ax.xaxis.set_major_formatter("{x:.1%}" if percent else "{x:.3g}")
    ax.grid(axis="y", color="#dddddd", linewidth=0.6)
    ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    ax.spines[["top", "right"]].set_visible(False)
    return figure
