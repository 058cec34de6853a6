"""Frontier, runner-up splits and stability for a report, within the time limit of the command."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from provetree.cli.options import TASKS

if TYPE_CHECKING:
    from provetree.cli.training import Trained

__all__ = ["kept_for_extras", "with_extras"]

#: Seconds that each of them may take when nobody asked for them.
_SECONDS_EACH = 8.0
#: The share of a time limit that is kept for them: where nobody asked for them, and where someone
#: did.
_SHARE, _SHARE_WANTED = 0.2, 0.4
#: With less time than this nothing is begun, and this is kept for writing the report.
_LEAST, _LAST = 0.2, 0.2


def kept_for_extras(flags: dict[str, Any], limit: float | None, *, tunes: bool) -> float:
    """Return how many seconds of the limit the search leaves to what comes after it.

    Examples
    --------
    >>> from provetree.cli.extras import kept_for_extras
    >>> kept_for_extras({"report": "r.html", "extras": None}, 30.0, tunes=True)
    6.0
    """
    if limit is None or not flags["report"] or flags["extras"] is False:
        return 0.0
    if flags["extras"]:
        return _SHARE_WANTED * limit
    # One search that is not quick gets none of them, and one that is leaves time enough.
    return min(_SHARE * limit, 2 * _SECONDS_EACH) if tunes else 0.0


def with_extras(
    trained: Trained,
    parameters: dict[str, Any],
    wanted: bool | None,
    started: float,
    stage: Callable[[str], None],
) -> Trained:
    """Add frontier, runner-up splits and stability, as far as they are wanted or quick.

    The limit on time counts from `started`; with none, nobody waits for what was not asked for.
    """
    from provetree.report.evidence import extra_facts
    from provetree.selection.path import tuning_path
    from provetree.selection.runner_up import runner_up_splits
    from provetree.selection.stability import stability

    if wanted is False or trained.model.tree.n_splits == 0 or trained.chosen is not None:
        return trained
    estimator, data, model = trained.estimator, trained.data, trained.model
    path = getattr(estimator, "path_", None)
    # A fit is one search; a frontier is some of them for each of six tables.
    if wanted is None and path is None and trained.seconds * 12 > _SECONDS_EACH:
        return trained
    limit = parameters["time_limit"]
    end = math.inf if limit is None else started + limit - _LAST
    each = math.inf if wanted else _SECONDS_EACH

    def seconds(share: float) -> float | None:
        """Return the seconds for the next one: a share of what is left."""
        left = min(share * (end - time.monotonic()), each)
        return None if math.isinf(left) else left

    def begins(time_left: float | None) -> bool:
        return time_left is None or time_left >= _LEAST

    others = refits = None
    if path is None and begins(allowed := seconds(1 / 2)):
        stage("frontier: the best tree of every size, cross-validated")
        limits = ("max_depth", "max_leaf_nodes", "min_samples_leaf", "class_weight")
        path = tuning_path(
            data.train,
            data.y_train,
            criterion=parameters["criterion"] or TASKS[data.task][0],
            **{name: parameters[name] for name in limits},
            splits=parameters.get("splits", "columns"),
            category_splits=parameters.get("category_splits") or "one",
            time_limit=allowed,
        )
    if begins(allowed := seconds(1 / 2)):
        stage("runner-up splits")
        others = runner_up_splits(estimator, data.train, data.y_train, time_limit=allowed)
    if not parameters.get("alpha") and begins(allowed := seconds(1)):
        stage("stability: refits on resampled rows")
        refits = stability(estimator, data.train, data.y_train, time_limit=allowed)
    extras = extra_facts(model.tree, frontier=path, runner_up=others, stability=refits)
    return replace(trained, model=replace(model, facts={**model.facts, **extras}))
