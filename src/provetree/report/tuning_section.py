"""The part of the report that tells what cross-validation chose, from what, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

from provetree.report.markup import table

__all__ = ["tuning_facts", "tuning_part"]


def tuning_facts(path: Any) -> dict[str, Any]:
    """Return what a tuned path says about the choice, as plain JSON.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provetree import OptimalTreeCV
    >>> from provetree.report.tuning_section import tuning_facts
    >>> clf = OptimalTreeCV(max_depth=1, criterion="errors").fit(*load_iris(return_X_y=True))
    >>> facts = tuning_facts(clf.path_)
    >>> facts["score"], facts["tried"][0]["leaves"]
    ('accuracy', 2)
    """

    def plain(x: float) -> float | None:
        return x if math.isfinite(x) else None

    return {
        "score": path.score,
        "rule": path.rule,
        "reason": path.reason,
        "notes": list(path.notes),
        "tried": [
            {
                "setting": tried.words,
                "leaves": tried.n_leaves,
                "score": plain(tried.score),
                "folds": tried.n_folds,
                "outcome": tried.outcome,
            }
            for tried in path.tried
        ],
    }


def tuning_part(facts: Mapping[str, Any]) -> str:
    """Return the text and the table of the choice."""
    words = f"Chosen by cross-validation: {facts['reason']} "
    words += "Scores are means on rows that the trees had not seen."
    body = f"<p>{escape(words)}</p>"
    if facts["notes"]:
        notes = "".join(f"<li>{escape(note)}</li>" for note in facts["notes"])
        body += f"<ul>{notes}</ul>"
    if not facts["tried"]:
        return body
    rows = [
        [
            escape(tried["setting"]),
            str(tried["leaves"]),
            "-" if tried["score"] is None else f"{tried['score']:.4f}",
            str(tried["folds"]),
            escape(tried["outcome"]),
        ]
        for tried in facts["tried"]
    ]
    header = ["what is minimised", "best leaves", facts["score"], "folds", "outcome"]
    return body + table(header, rows, "What was tried", words=[0, 4])
