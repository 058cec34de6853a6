"""``provetree compare`` for a number to predict: CART and the exact search, as they are and tuned.

Tuned means: the size with the best R² in cross-validation on the training rows. Both choose from
the same numbers of leaves and the same least rows of a leaf, on the same folds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from provetree.cli.screen import FIGURES, STATUS_WORDS, Screen, figures_of
from provetree.cli.training import Data, estimator_of
from provetree.report.evidence import Rows, TrainingRows

__all__ = ["ComparedNumbers", "compare_numbers", "number_rows"]

#: CART is tuned up to this many leaves, as tuning paths are.
_MOST_LEAVES = 32


@dataclass(frozen=True)
class ComparedNumbers:
    """How one method did on a number to predict."""

    method: str
    train_r2: float | None
    test_r2: float | None
    test_mae: float | None
    leaves: int
    seconds: float
    status: str
    lower_bound: float | None = None
    gap: float | None = None
    problem: str | None = None


def compare_numbers(
    data: Data, parameters: dict[str, Any], screen: Screen
) -> list[ComparedNumbers]:
    """Fit CART and the exact search, each as it is and tuned."""
    train = TrainingRows.read(data.train, data.y_train, numbers=True)
    test = train.others(data.test, data.y_test) if data.test.height else None
    searched = estimator_of("regression", parameters)
    fits: tuple[tuple[str, Callable[[], Any]], ...] = (
        ("CART", lambda: train.cart(parameters)),
        ("CART, tuned", lambda: _tuned_cart(train, parameters)),
        ("exact search", lambda: searched.fit(data.train, data.y_train)),
        ("exact search, tuned", lambda: _tuned_search(data, parameters)),
    )
    found = []
    for words, fit in fits:
        screen.note(f"fitting {words} ...")
        begun = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an interrupted search says so in its status
            model = fit()
        found.append(_compared(words, model, train.rows, test, time.monotonic() - begun))
    return found


def _compared(
    words: str, model: Any, train: Rows, test: Rows | None, seconds: float
) -> ComparedNumbers:
    """Judge a fitted model, which may be CART, on training and test rows."""
    from provetree.report.judged import number_facts

    tree = getattr(model, "tree_", model)
    parts = [
        number_facts(tree.predict(rows.encoded), rows.targets)
        for rows in (train, test)
        if rows is not None and rows.targets is not None
    ]
    tested = parts[1] if len(parts) > 1 else {}
    status, bound, gap = "no proof", None, None
    if tree is not model:
        status, bound, gap = model.status_, model.lower_bound_, model.gap_
    return ComparedNumbers(
        words,
        parts[0]["r2"],
        tested.get("r2"),
        tested.get("mae"),
        tree.n_leaves,
        seconds,
        status,
        bound,
        gap,
    )


def _least_rows(parameters: Mapping[str, Any]) -> list[int | float]:
    """Return the least rows of a leaf to choose from: those of the user, if there are any."""
    from provetree.selection.options import LEAST_ROWS

    given = parameters["min_samples_leaf"]
    return list(LEAST_ROWS) if given == 1 else [given]


def _tuned_search(data: Data, parameters: Mapping[str, Any]) -> Any:
    from provetree.estimators.optimal_tree_regressor_cv import OptimalTreeRegressorCV

    return OptimalTreeRegressorCV(
        max_depth=parameters["max_depth"],
        criterion=parameters["criterion"] or "squared_error",
        max_leaf_nodes=parameters["max_leaf_nodes"],
        min_samples_leaf=_least_rows(parameters),
        time_limit=parameters["time_limit"],
        # What is compared is the search by itself, with its proof.
        forest_share=0.0,
        shrinkage=0.0,
        max_work=None,
    ).fit(data.train, data.y_train)


def _tuned_cart(train: TrainingRows, parameters: Mapping[str, Any]) -> Any:
    """Return CART with the size of the best R² in cross-validation, within the limits."""
    from sklearn.model_selection import KFold

    encoded, targets = train.rows.encoded, train.rows.targets
    assert targets is not None  # for the type checker
    most = parameters["max_leaf_nodes"] or min(2 ** parameters["max_depth"], _MOST_LEAVES)
    candidates = [
        {**parameters, "max_leaf_nodes": leaves, "min_samples_leaf": least}
        for least in _least_rows(parameters)
        for leaves in range(1, most + 1)
    ]
    folds = list(KFold(min(5, len(targets)), shuffle=True, random_state=0).split(encoded))

    def squares(limits: Mapping[str, Any]) -> float:
        total = 0.0
        for fold, held_out in folds:
            rows = Rows(encoded[fold], train.rows.codes[fold], targets[fold])
            cart = TrainingRows(train.encoder, None, rows).cart(limits)
            found = cart.predict(encoded[held_out]).reshape(len(held_out), -1)
            total += float(np.square(targets[held_out] - found).sum())
        return total

    return train.cart(min(candidates, key=squares))


def number_rows(found: Sequence[ComparedNumbers]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the cells of the table.

    Examples
    --------
    >>> from provetree.cli.compare_numbers import ComparedNumbers, number_rows
    >>> row = ComparedNumbers("CART", 0.75, 0.5, 1.25, 4, 0.5, "no proof")
    >>> number_rows([row])[1]
    [['CART', '0.750', '0.500', '1.25', '4', '0.50 s', 'no proof', '-', '-']]
    """
    cells = []
    for row in found:
        train, test = {"r2": row.train_r2}, {"r2": row.test_r2, "mae": row.test_mae}
        figures = figures_of("regression", train, test, row.leaves, row.seconds)
        bound = "-" if row.lower_bound is None else f"{row.lower_bound:.6g}"
        gap = "-" if row.gap is None else f"{100 * row.gap:.1f} %"
        cells.append([row.method, *figures, STATUS_WORDS.get(row.status, row.status), bound, gap])
    return ["method", *FIGURES["regression"], "proof", "bound", "gap"], cells
