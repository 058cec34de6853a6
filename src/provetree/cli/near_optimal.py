"""``--near-optimal``: all trees that are nearly as good, counted for the report and the screen."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from provetree.cli.errors import UserError

if TYPE_CHECKING:
    from provetree.cli.training import Trained

__all__ = ["check_flags", "counted_facts", "kept_for_counting", "read_slack", "with_near_optimal"]

_FLAG = "--near-optimal"
_DEEPEST = 3
#: Of a time limit, what is kept for the count; and seconds for writing what was found.
_SHARE, _LAST = 0.4, 0.2
#: Where no limit is given, a count does not go on for ever.
_SECONDS = 60.0
#: Of the time for all of it, the count itself; what is left is for the questions.
_SHARE_OF_COUNT = 0.7


def read_slack(text: str) -> int | float:
    """Return a slack as it is written: 3 errors, 1% or 0.01 of the rows.

    Examples
    --------
    >>> from provetree.cli.near_optimal import read_slack
    >>> read_slack("3"), read_slack("1%"), read_slack("0.5 %"), read_slack("0.01")
    (3, 0.01, 0.005, 0.01)
    """
    words = text.strip()
    try:
        if words.endswith("%"):
            slack: int | float = float(words[:-1]) / 100
        else:
            slack = int(words) if words.lstrip("+-").isdigit() else float(words)
    except ValueError:
        slack = -1
    is_share = isinstance(slack, float) and 0 <= slack < 1
    if not is_share and not (isinstance(slack, int) and slack >= 0):
        raise UserError(
            f"{_FLAG} must be a whole number of errors, or a share of the rows such as 1% or 0.01. "
            f"Got {text!r} instead."
        )
    return slack


def check_flags(flags: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Say at once what cannot be counted."""
    if flags["near_optimal"] is None:
        return
    read_slack(flags["near_optimal"])
    depth = parameters.get("max_depth")
    if depth is not None and depth > _DEEPEST:
        raise UserError(
            f"{_FLAG} counts trees of up to depth {_DEEPEST}. Got --depth {depth} instead."
        )
    if flags["criterion_given"] not in (None, "errors"):
        raise UserError(
            f"{_FLAG} is about errors. Got --criterion {flags['criterion_given']} instead."
        )


def kept_for_counting(flags: Mapping[str, Any], limit: float | None) -> float:
    """Return how many seconds of the limit the search leaves to the count."""
    return 0.0 if limit is None or flags["near_optimal"] is None else _SHARE * limit


def with_near_optimal(
    trained: Trained,
    parameters: Mapping[str, Any],
    flags: Mapping[str, Any],
    started: float,
    stage: Callable[[str], None],
) -> Trained:
    """Count the trees that are nearly as good on the training rows, and note it among the facts."""
    if flags["near_optimal"] is None:
        return trained
    if trained.data.task != "classification":
        raise UserError(f"{_FLAG} is about classes, and the target is a number to predict.")
    from provetree.report.evidence import chosen_limits

    stage("counting the trees that are nearly as good")
    limits = {"max_depth": trained.model.tree.depth, "min_samples_leaf": 1, "class_weight": None}
    given = {name: x for name, x in parameters.items() if name in limits and x is not None}
    limits |= given | {k: v for k, v in chosen_limits(trained.estimator).items() if k in limits}
    if trained.chosen is not None:
        limits["class_weight"] = trained.estimator.class_weight
    limit = parameters["time_limit"]
    seconds = _SECONDS if limit is None else started + limit - _LAST - time.monotonic()
    facts = counted_facts(
        trained.data.train,
        trained.data.y_train,
        read_slack(flags["near_optimal"]),
        {**limits, "alpha": parameters.get("alpha") or 0.0},
        max(seconds, _LAST),
    )
    model = trained.model
    return replace(trained, model=replace(model, facts={**model.facts, "near_optimal": facts}))


def counted_facts(
    table: Any, labels: Any, slack: float, limits: Mapping[str, Any], seconds: float | None
) -> dict[str, Any]:
    """Return the facts of a report about near-optimal trees of some rows."""
    from provetree.report.near_optimal_section import near_optimal_facts
    from provetree.selection.near_optimal_count import near_optimal_trees

    begun = time.monotonic()
    depth = max(1, min(_DEEPEST, int(limits["max_depth"])))
    try:
        found = near_optimal_trees(
            table,
            labels,
            slack=slack,
            **{**limits, "max_depth": depth},
            time_limit=None if seconds is None else _SHARE_OF_COUNT * seconds,
        )
    except ValueError as error:
        raise UserError(str(error)) from None
    left = None if seconds is None else max(seconds - (time.monotonic() - begun), 1e-3)
    return near_optimal_facts(found, left)
