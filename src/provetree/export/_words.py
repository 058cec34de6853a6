"""The texts of plots: for splits, their sides, and nodes."""

from __future__ import annotations

import math

from provetree.tree.text import number
from provetree.tree.tree import Tree

__all__ = ["class_name", "leaf_lines", "short_number", "side_names", "split_text"]

#: Numbers of more characters than this are shortened in pictures; the text form writes them out.
_LONGEST = 9


def split_text(tree: Tree, node: int) -> str:
    """Return the question a split asks; "yes" goes left.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.export._words import split_text
    >>> nan = float("nan")
    >>> split_text(Tree(feature=[0, -1, -1], threshold=[37.5, nan, nan], n_features=1,
    ...                 value=[[0], [1], [1]], n_samples=[0, 1, 1]), 0)
    'x0 <= 37.5'
    """
    feature = int(tree.feature[node])
    name = tree.column_names[feature]
    code, threshold = int(tree.category[node]), float(tree.threshold[node])
    if code >= 0:
        categories = tree.categories[feature]
        if tree.missing_left[node]:
            return f"{name} is missing"
        return f"{name} = {code if categories is None else categories[code]}"
    if math.isnan(threshold):
        return f"{name} is missing"
    if threshold == math.inf:
        return f"{name} is not missing" if not tree.missing_left[node] else f"{name} is anything"
    return f"{name} <= {short_number(threshold)}"


def side_names(tree: Tree, node: int) -> tuple[str, str]:
    """Return the texts for the left and the right side of a split."""
    if not tree.missing_seen[node] or tree.category[node] >= 0 or not _is_finite(tree, node):
        return "yes", "no"
    return ("yes or missing", "no") if tree.missing_left[node] else ("yes", "no or missing")


def class_name(tree: Tree, node: int) -> str:
    """Return the name of the class of a node."""
    return str(tree.labels[int(tree.label[node])])


def leaf_lines(tree: Tree, node: int) -> list[str]:
    """Return the text of a leaf: its class, the share of that class, and its rows."""
    weights = tree.value[node]
    total = float(weights.sum())
    share = float(weights[tree.label[node]]) / total if total > 0 else 0.0
    rows = int(tree.n_samples[node])
    return [class_name(tree, node), f"{share:.1%} of {rows} row{'' if rows == 1 else 's'}"]


def short_number(x: float) -> str:
    """Return a number in few digits, for pictures and sentences.

    Examples
    --------
    >>> from provetree.export._words import short_number
    >>> short_number(0.30000000000000004), short_number(37.5), short_number(1700000000.25)
    ('0.3', '37.5', '1700000000.2')
    """
    text = number(x)
    if len(text) <= _LONGEST:
        return text
    # Six digits, and all digits before the point, so that dates in seconds stay distinct.
    return f"{x:.1f}" if 1e6 <= abs(x) < 1e15 else f"{x:.6g}"


def _is_finite(tree: Tree, node: int) -> bool:
    return math.isfinite(float(tree.threshold[node]))
