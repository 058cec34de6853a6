"""Parts of the report that only trees of classes have: operating points and calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

from provetree.export.words import rate_words
from provetree.report.charts import Line, line_chart, scatter_chart
from provetree.report.markup import table
from provetree.tree.tree import Tree

__all__ = [
    "calibration_facts",
    "calibration_part",
    "operating_facts",
    "operating_part",
]


def operating_facts(curve: Any, tree: Tree) -> dict[str, Any]:
    """Return a curve of operating points as plain JSON; the point of the tree is marked.

    Examples
    --------
    >>> from provetree import operating_points
    >>> from provetree.report.class_sections import operating_facts
    >>> curve = operating_points([[1], [2], [3], [4]], [0, 1, 0, 1], max_depth=1, cv=None)
    >>> facts = operating_facts(curve, curve.points[1].tree)
    >>> [point["here"] for point in facts["points"]]
    [False, True]
    """

    def plain(rates: Any) -> dict[str, Any] | None:
        if rates is None:
            return None
        names = ("false_positives", "false_negatives", "recall", "precision", "false_positive_rate")
        figures = {name: getattr(rates, name) for name in names}
        return {name: None if math.isnan(x) else x for name, x in figures.items()}

    return {
        "positive": str(curve.positive_label),
        "folds": curve.n_folds,
        "complete": curve.complete,
        "points": [
            {
                "weights": {str(label): weight for label, weight in point.class_weight.items()},
                "status": point.status,
                "leaves": point.tree.n_leaves,
                "here": _is_of(point.tree, tree),
                "train": plain(point.train),
                "held_out": plain(point.held_out),
            }
            for point in curve.points
        ],
    }


def _is_of(other: Tree, tree: Tree) -> bool:
    """Tell whether two trees predict the same from the same rows; dates may be written anew."""
    same = (other.feature.tolist(), other.label.tolist(), other.value.tolist())
    return same == (tree.feature.tolist(), tree.label.tolist(), tree.value.tolist())


def operating_part(facts: Mapping[str, Any]) -> str:
    """Return the operating points as HTML: the curve and a table."""
    positive = escape(facts["positive"])
    words = (
        f"<p>Each point is the best tree for some costs of the two kinds of errors: rows called "
        f"{positive} that are not, and rows of {positive} that are missed. "
    )
    words += (
        "It is proven that no tree of this size is better, whatever the costs.</p>"
        if facts["complete"]
        else "The curve is not proven to the end: better points may lie between these.</p>"
    )
    return words + _operating_chart(facts) + _operating_table(facts)


def _operating_chart(facts: Mapping[str, Any]) -> str:
    lines = []
    for name, part, style in (("training", "train", "one"), ("held out", "held_out", "two")):
        found = [(point[part], point["status"] != "optimal") for point in facts["points"]]
        shown = [
            (rates["false_positive_rate"], rates["recall"], hollow)
            for rates, hollow in found
            if rates is not None
            and rates["recall"] is not None
            and rates["false_positive_rate"] is not None
        ]
        if shown:
            xs, ys, hollow = zip(*shown, strict=True)
            label = f"{name}, {facts['folds']} folds" if part == "held_out" else name
            lines.append(Line(label, xs, ys, style, hollow=hollow))
    if not lines:
        return ""
    here = [point["train"] for point in facts["points"] if point["here"]]
    return line_chart(
        lines,
        x_label="false positives, of all negative rows",
        y_label="recall",
        summary="Recall against false positives, for each tree of the curve.",
        percent=True,
        from_zero=True,
        mark=here[0]["false_positive_rate"] if here else None,
        mark_label="this tree",
    )


def _operating_table(facts: Mapping[str, Any]) -> str:
    held_out = facts["folds"] > 0
    header = ["weights", "false positives", "missed", "recall"]
    header += ["recall, held out", "precision, held out"] if held_out else ["precision"]
    rows = []
    for point in facts["points"]:
        train = point["train"]
        weights = ", ".join(f"{escape(k)}: {w}" for k, w in point["weights"].items())
        judged = point["held_out"]
        figures = [judged["recall"], judged["precision"]] if held_out else [train["precision"]]
        rows.append(
            [
                f"<b>{weights} (this tree)</b>" if point["here"] else weights,
                f"{train['false_positives']:.6g}",
                f"{train['false_negatives']:.6g}",
                _rate(train["recall"]),
                *map(_rate, figures),
            ]
        )
    return table([*header], rows, "The best tree for each range of costs", words=[0])


def _rate(share: float | None) -> str:
    return "none" if share is None else rate_words(share)


def calibration_facts(found: Any) -> dict[str, Any]:
    """Return a calibration curve as plain JSON."""
    return {
        "label": None if found.label is None else str(found.label),
        "rows": found.rows,
        "log_loss": found.log_loss,
        "error": found.error,
        "bins": [[each.predicted, each.observed, each.weight] for each in found.bins],
    }


def calibration_part(facts: Mapping[str, Any]) -> str:
    """Return a calibration curve as HTML."""
    what = "the predicted label" if facts["label"] is None else escape(facts["label"])
    points = [(said, seen) for said, seen, _ in facts["bins"]]
    chart = scatter_chart(
        [(facts["rows"], "two", points)],
        x_label="probability",
        y_label="share of the rows",
        summary="How often each probability of the tree was right.",
    )
    rows = [
        [f"{100 * said:.1f} %", f"{100 * seen:.1f} %", f"{weight:.6g}"]
        for said, seen, weight in facts["bins"]
    ]
    return (
        f"<p>Where the tree says that {what} has a probability, how often is it so? On the "
        f"{escape(facts['rows'])} the two differ by {100 * facts['error']:.1f} points on average; "
        f"the log loss is {facts['log_loss']:.3f}. Points on the line are right as often as they "
        f"say.</p>{chart}" + table(["probability", "share", "rows"], rows, "Said and seen")
    )
