"""A tree as a Python function that needs nothing but Python itself."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from provetree.tree.tree import Tree

__all__ = ["to_python"]

_STEP = "    "


def to_python(tree: Tree, *, function_name: str = "predict") -> str:
    """Return the source of a module with a function that predicts as `tree` does.

    Parameters
    ----------
    tree : Tree
        The tree.
    function_name : str, default="predict"
        The name of the function. It takes a row, a mapping from column names to values, and
        returns its label; ``<function_name>_proba`` returns the share of every label. Of a tree of
        numbers it returns the number, or a list where there are several outputs.

    Returns
    -------
    str
        The source. Thresholds are written exactly. A value is missing
        if it is None or NaN.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.export import to_python
    >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
    >>> names = {}
    >>> exec(to_python(clf.tree_), names)
    >>> names["predict"]({"x0": 22.0}), names["predict_proba"]({"x0": None})
    ('no', {'no': 0.0, 'yes': 1.0})
    """
    if not function_name.isidentifier():
        raise ValueError(
            "The 'function_name' parameter of to_python must be a Python name. "
            f"Got {function_name!r} instead."
        )
    leaves = {node: i for i, node in enumerate(np.flatnonzero(tree.feature < 0).tolist())}
    what = {"classes": "classification", "numbers": "regression", "actions": "policy"}[tree.kind]
    lines = [
        f'"""A {what} tree, written by provetree; it needs nothing but Python."""',
        "",
        *_tables(tree, list(leaves)),
        "",
        "",
        "def _missing(x):",
        f"{_STEP}return x is None or x != x",
        "",
        "",
        *_sum_function(tree),
        "def _leaf(row):",
        *_branches(tree, leaves),
        "",
        "",
        *_functions(tree, function_name),
    ]
    return "\n".join(lines) + "\n"


def _tables(tree: Tree, leaves: list[int]) -> Iterator[str]:
    """Write what the leaves predict."""
    if tree.kind == "numbers":
        yield "# For each leaf its number, or the number of each output."
        yield "_LEAVES = ["
        for node in leaves:
            numbers = [float(x) for x in tree.value[node]]
            yield f"{_STEP}{numbers[0] if len(numbers) == 1 else numbers},"
        yield "]"
        return
    yield f"LABELS = [{', '.join(_literal(label) for label in tree.labels)}]"
    if tree.kind == "actions":
        yield "# For each leaf the place of its action."
        yield f"_LEAVES = {[int(tree.label[node]) for node in leaves]}"
        return
    shares = tree.probabilities()
    yield "# For each leaf the place of its label, and the share of each label."
    yield "_LEAVES = ["
    for node in leaves:
        yield f"{_STEP}({int(tree.label[node])}, {[float(x) for x in shares[node]]}),"
    yield "]"


def _functions(tree: Tree, name: str) -> list[str]:
    """Write the functions that predict."""
    of_row = "of a row, a mapping from column names to values."
    if tree.kind == "numbers":
        what, found = "number" if tree.n_classes == 1 else "numbers", "_LEAVES[_leaf(row)]"
    elif tree.kind == "actions":
        what, found = "action", "LABELS[_LEAVES[_leaf(row)]]"
    else:
        what, found = "label", "LABELS[_LEAVES[_leaf(row)][0]]"
    lines = [
        f"def {name}(row):",
        f'{_STEP}"""Return the {what} {of_row}"""',
        f"{_STEP}return {found}",
    ]
    if tree.kind == "classes":
        lines += [
            "",
            "",
            f"def {name}_proba(row):",
            f'{_STEP}"""Return the share of each label in the leaf of a row."""',
            f"{_STEP}return dict(zip(LABELS, _LEAVES[_leaf(row)][1]))",
        ]
    return lines


def _branches(tree: Tree, leaves: dict[int, int]) -> Iterator[str]:
    # A stack instead of recursion. Every branch of an "if" returns, so no "else" is needed.
    waiting = [(0, 1)]
    while waiting:
        node, level = waiting.pop()
        margin = _STEP * level
        if node in leaves:
            yield f"{margin}return {leaves[node]}"
            continue
        feature = int(tree.feature[node])
        yield f"{margin}x = {_asked(tree, feature)}"
        yield f"{margin}if {_test(tree, node)}:"
        # The left side is indented and comes first; the right side follows at this level.
        waiting += [(int(tree.right[node]), level), (int(tree.left[node]), level + 1)]


def _asked(tree: Tree, feature: int) -> str:
    """Write what a split is about: a column, or a sum of columns."""
    combination = tree.combination_of(feature)
    if combination is None:
        return f"row[{tree.column_names[feature]!r}]"
    terms = (f"({x!r}, row[{tree.column_names[column]!r}])" for x, column in combination.terms)
    return f"_sum({', '.join(terms)})"


def _sum_function(tree: Tree) -> list[str]:
    """Write the sum of columns where the tree needs it."""
    if not tree.combinations:
        return []
    return [
        "def _sum(*terms):",
        f"{_STEP}if any(_missing(x) for _, x in terms):",
        f"{_STEP * 2}return None",
        f"{_STEP}total = 0.0",
        f"{_STEP}for times, x in terms:",
        f"{_STEP * 2}total += times * float(x)",
        f"{_STEP}return total",
        "",
        "",
    ]


def _test(tree: Tree, node: int) -> str:
    threshold, to_left = float(tree.threshold[node]), bool(tree.missing_left[node])
    if tree.codes_left(node):
        names = [_literal(name) for name in tree.names_left(node)]
        if not names:
            return "_missing(x)"
        known = f"x == {names[0]}" if len(names) == 1 else f"x in ({', '.join(names)})"
        return f"_missing(x) or {known}" if to_left else f"not _missing(x) and {known}"
    if math.isnan(threshold):
        return "_missing(x)" if to_left else "False"
    if to_left:
        return f"_missing(x) or x <= {_literal(threshold)}"
    return f"not _missing(x) and x <= {_literal(threshold)}"


def _literal(x: object) -> str:
    if isinstance(x, float) and not math.isfinite(x):
        return f"float({str(x)!r})"
    return repr(x)
