"""The parts of a report that are about numbers: quality, residuals, and what each split saves."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from provetree.export.model_file import StoredModel
from provetree.export.words import (
    cost_number,
    counted,
    prediction_text,
    score_words,
    short_number,
    split_text,
    spread_text,
)
from provetree.report.charts import scatter_chart, sparkline
from provetree.report.markup import table
from provetree.report.sentences import cart_words
from provetree.tree.tree import Tree
from provetree.tree.values import Numbers

__all__ = ["number_quality", "residuals", "saved_sentences"]

_PARTS = (("test", "rows the tree has not seen"), ("train", "training rows"))


def number_quality(model: StoredModel) -> str:
    """Return how good predictions of numbers are, beside CART, with a chart."""
    facts = model.facts
    body = ""
    if "cart" in facts:
        trees = (
            ("This tree", facts, model.tree.n_leaves),
            ("CART (scikit-learn)", facts["cart"], facts["cart"]["leaves"]),
        )
        header = ["tree"]
        for of in ("train", "test"):
            if of in facts:
                words = "training" if of == "train" else "test"
                header += [f"{words} R²", f"{words} mean error"]
        rows = [[name, *_scores(own, facts), str(leaves)] for name, own, leaves in trees]
        body += (
            f"<p>{cart_words(model.tree)} R² is the share of the variance that is explained: 1 is "
            "perfect, 0 is no better than the mean. The mean error is the mean distance between a "
            "number and its prediction.</p>" + table([*header, "leaves"], rows, "Beside CART")
        )
    for part_name, where in _PARTS:
        part = facts.get(part_name)
        if part:
            body += (
                f"<h3>On the {part['rows']} {where}: R² {score_words(part['r2'])}, "
                f"mean error {short_number(_rounded(part['mae']))}</h3>"
            )
            body += f"<p>{escape(_residual_words(part['residuals']))}</p>"
    return body + _seen_against_predicted(model)


def _scores(own: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    cells = []
    for name in ("train", "test"):
        if name in facts:
            part = own.get(name)  # CART is not judged on rows that came later
            mean_error = "-" if part is None else short_number(_rounded(part["mae"]))
            cells += ["-" if part is None else score_words(part["r2"]), mean_error]
    return cells


def _rounded(x: float) -> float:
    return float(f"{x:.4g}")


def _residual_words(spread: Mapping[str, Any]) -> str:
    early, late = (short_number(_rounded(spread[key])) for key in ("early", "late"))
    low, high = (short_number(_rounded(spread[key])) for key in ("low", "high"))
    return (
        f"Nine residuals in ten (seen less predicted) lie between {early} and {late}, all of them "
        f"between {low} and {high}."
    )


def _seen_against_predicted(model: StoredModel) -> str:
    points = model.facts.get("points", {})
    styles = {"train": ("training rows", "one"), "test": ("rows it has not seen", "two")}
    groups = [(*styles[name], found) for name, found in points.items() if found]
    if not groups:
        return ""
    what = model.target or "the number"
    return "<h3>Predicted against seen</h3>" + scatter_chart(
        groups,
        x_label=f"predicted {what}",
        y_label=f"{what} as it is",
        summary="Predicted and seen numbers; on the dotted line they are the same.",
    )


def residuals(model: StoredModel) -> str:
    """Return a table of the leaves: what they predict, and the residuals of their rows."""
    tree, found = model.tree, model.facts.get("leaf_residuals", {})
    header = ["leaf", "predicts", "spread", "rows"]
    for name in found:
        words = "training" if name == "train" else "test"
        header += [f"{words} residuals: mean", "spread"]
        if name == "test":
            header.insert(-2, "test rows")
    rows = []
    for number, leaf in enumerate(np.flatnonzero(tree.feature < 0).tolist(), start=1):
        cells = [
            str(number),
            prediction_text(tree, leaf),
            spread_text(tree, leaf),
            str(int(tree.n_samples[leaf])),
        ]
        for name, of_leaf in found.items():
            count, mean, spread = of_leaf.get(str(leaf), (0, None, None))
            cells += [str(count)] if name == "test" else []
            # The mean of training residuals is zero, but for the last bits.
            rounding = max(1e-14 * abs(tree.value).max(), 1e-12 * (spread or 0.0))
            zero = mean is not None and abs(mean) <= rounding
            cells += [_digits(0.0 if zero else mean), _digits(spread)]
        rows.append(cells)
    shape = model.facts.get("train", {}).get("residuals", {}).get("histogram")
    drawn = f"<p>All training residuals: {sparkline(shape)}</p>" if shape else ""
    statistic = tree.values.statistic if isinstance(tree.values, Numbers) else "mean"
    kind = "standard deviation" if statistic == "mean" else "mean distance"
    return (
        f"<p>A leaf predicts the {statistic} of its training rows. The spread is the {kind} from "
        "it. A residual is what was seen less what was predicted; leaves are numbered as the rules "
        f"are.</p>{table(header, rows, 'The leaves, from left to right')}{drawn}"
    )


def _digits(x: float | None) -> str:
    return "-" if x is None else short_number(_rounded(x))


def saved_sentences(tree: Tree) -> list[str]:
    """Return what each split saves, in sentences, from the root down.

    Examples
    --------
    >>> from provetree import OptimalTreeRegressor
    >>> from provetree.report.number_sections import saved_sentences
    >>> reg = OptimalTreeRegressor(max_depth=1).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 9.0])
    >>> print(saved_sentences(reg.tree_)[0])
    'x0 <= 2.5' parts 3 rows: their squared errors fall from 38 to 0.5, which is 98.7 % of all.
    """
    impurity = tree.values.impurity()
    squared = isinstance(tree.values, Numbers) and tree.values.statistic == "mean"
    what = "squared errors" if squared else "absolute errors"
    sentences = []
    for node in np.flatnonzero(tree.feature >= 0).tolist():
        before = float(impurity[node])
        after = float(impurity[tree.left[node]] + impurity[tree.right[node]])
        share = (before - after) / float(impurity[0]) if impurity[0] > 0 else 0.0
        sentences.append(
            f"'{split_text(tree, node)}' parts {counted(int(tree.n_samples[node]), 'row')}: their "
            f"{what} fall from {cost_number(before)} to {cost_number(max(after, 0.0))}, which is "
            f"{100 * share:.1f} % of all."
        )
    return sentences
