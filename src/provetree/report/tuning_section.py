"""The part of the report that tells what cross-validation chose, from what, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from provetree.report.markup import table

__all__ = ["number_tuning_facts", "test_words", "tuning_facts", "tuning_part"]


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


def number_tuning_facts(estimator: Any) -> dict[str, Any]:
    """Return what an ``OptimalTreeRegressorCV`` chose, in the form of :func:`tuning_facts`.

    Examples
    --------
    >>> from provetree import OptimalTreeRegressorCV
    >>> from provetree.report.tuning_section import number_tuning_facts
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 5, [0.5, 0.5, 2.0, 2.0] * 5
    >>> reg = OptimalTreeRegressorCV(1, min_samples_leaf=1, forest_share=0, cv=2).fit(X, y)
    >>> print(number_tuning_facts(reg)["reason"])
    shrinkage 5; 2 leaves: R² 0.8889 on rows held out in 2 folds.
    """
    path = estimator.path_
    chosen = {name: getattr(estimator, f"{name}_") for name in estimator.candidates_[0]}
    tried = []
    for candidate, scores in zip(estimator.candidates_, estimator.cv_scores_, strict=True):
        best = int(np.argmax(scores))
        tried.append(
            {
                "setting": _candidate_words(candidate),
                "leaves": best + 1,
                "score": float(scores[best]) if math.isfinite(scores[best]) else None,
                "folds": path.n_folds,
                "outcome": "chosen" if candidate == chosen else "",
            }
        )
    score = next(point.cv_score for point in path.points if point.n_leaves == estimator.n_leaves_)
    size = f"{estimator.n_leaves_} {'leaf' if estimator.n_leaves_ == 1 else 'leaves'}"
    reason = f"{_candidate_words(chosen)}; {size}: {path.score} {score:.4f} on rows held out in "
    reason += f"{path.n_folds} folds."
    notes: list[str] = []
    return {
        "score": path.score,
        "rule": estimator.rule,
        "reason": reason,
        "notes": notes,
        "tried": tried,
    }


def _candidate_words(candidate: Mapping[str, Any]) -> str:
    """Return how a tree of numbers is grown, in words."""
    parts = []
    least = candidate["min_samples_leaf"]
    if least != 1:
        shown = f"{100 * least:g} % of the" if isinstance(least, float) else str(least)
        parts.append(f"at least {shown} rows in a leaf")
    if candidate["forest_share"]:
        parts.append(f"splits that follow boosted trees by {100 * candidate['forest_share']:g} %")
    if candidate["shrinkage"]:
        parts.append(f"shrinkage {candidate['shrinkage']:g}")
    return ", ".join(parts) or "no limits"


def test_words(facts: Mapping[str, Any]) -> str:
    """Return the score on test rows, of the tree and of CART, as far as they are known.

    Examples
    --------
    >>> from provetree.report.tuning_section import test_words
    >>> test_words({"score": "f1", "test": [0.81, None]})
    ' On test rows: f1 0.8100; CART of the same size: not defined.'
    """
    if "test" not in facts:
        return ""
    own, cart = ("not defined" if x is None else f"{x:.4f}" for x in facts["test"])
    return f" On test rows: {facts['score']} {own}; CART of the same size: {cart}."


def tuning_part(facts: Mapping[str, Any]) -> str:
    """Return the text and the table of the choice."""
    words = f"Chosen by cross-validation: {facts['reason']} "
    words += "Scores are means on rows that the trees had not seen."
    words += test_words(facts)
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
