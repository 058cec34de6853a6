"""A tree as C99 source with no dependency but the standard library's headers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import numpy as np

from provetree.number_types import Float
from provetree.tree.tree import Tree

__all__ = ["c_field_names", "to_c"]

_KEYWORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int
long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while bool true false asm
"""
_RESERVED = frozenset(_KEYWORDS.split())


def to_c(tree: Tree, *, prefix: str = "provetree") -> str:
    r"""Return C source with functions that predict as `tree` does.

    Parameters
    ----------
    tree : Tree
        The tree.
    prefix : str, default="provetree"
        The prefix of the names of type and functions.

    Returns
    -------
    str
        The source: a struct ``<prefix>_row`` with a double for each column of numbers (NaN if
        missing) and a string for each column of categories (NULL if missing); the functions
        ``<prefix>_predict``, which returns the index of the label in ``<prefix>_labels``, and
        ``<prefix>_shares``, which returns the shares of all labels. A tree of numbers has
        ``<prefix>_predict`` alone, which returns the number, or a pointer to the numbers of all
        outputs. Thresholds are hexadecimal, so no digit is lost.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.export import to_c
    >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
    >>> print("\n".join(to_c(clf.tree_).splitlines()[6:10]))
    typedef struct {
        double x0; /* x0 */
    } provetree_row;
    <BLANKLINE>
    """
    if not re.fullmatch(r"[A-Za-z_]\w*", prefix, flags=re.ASCII):
        raise ValueError(
            f"The 'prefix' parameter of to_c must be a C name. Got {prefix!r} instead."
        )
    fields = c_field_names(tree)
    leaves = {node: i for i, node in enumerate(np.flatnonzero(tree.feature < 0).tolist())}
    what = {"classes": "classification", "numbers": "regression", "actions": "policy"}[tree.kind]
    members = [
        f"    {'double ' if levels is None else 'const char *'}{field}; /* {_comment(name)} */"
        for field, levels, name in zip(fields, tree.categories, tree.column_names, strict=True)
    ]
    lines = [
        f"/* A {what} tree, written by provetree: C99, no dependencies.",
        "   A missing number is NAN, a missing category is NULL. */",
        "#include <math.h>",
        "#include <stddef.h>",
        "#include <string.h>",
        "",
        "typedef struct {",
        *(members or ["    char unused;"]),
        f"}} {prefix}_row;",
        "",
        *_tables(tree, list(leaves), prefix),
        *_sum_function(tree, prefix),
        "",
        f"static int {prefix}_leaf(const {prefix}_row *row)",
        "{",
        *([] if tree.n_splits else ["    (void)row;"]),
        *_branches(tree, fields, leaves, prefix),
        "}",
        *_functions(tree, prefix),
    ]
    return "\n".join(lines) + "\n"


def _tables(tree: Tree, leaves: list[int], prefix: str) -> Iterator[str]:
    """Write what the leaves predict."""
    width = tree.n_classes
    if tree.kind == "numbers":
        yield from _leaf_numbers(f"{prefix}_leaf_values", tree.value[leaves])
        return
    yield f"const char *const {prefix}_labels[{width}] = {{"
    yield from (f"    {_string(str(label))}," for label in tree.labels)
    yield "};"
    yield ""
    places = ", ".join(str(int(tree.label[node])) for node in leaves)
    yield f"static const int {prefix}_leaf_label[{len(leaves)}] = {{{places}}};"
    if tree.kind == "classes":
        yield from _leaf_numbers(f"{prefix}_leaf_shares", tree.probabilities()[leaves])


def _leaf_numbers(name: str, numbers: Float) -> Iterator[str]:
    yield f"static const double {name}[{len(numbers)}][{numbers.shape[1]}] = {{"
    for row in numbers.tolist():
        yield f"    {{{', '.join(_number(x) for x in row)}}},"
    yield "};"


def _functions(tree: Tree, prefix: str) -> list[str]:
    """Write the functions that predict."""

    def function(comment: str, returns: str, name: str, found: str) -> list[str]:
        head = f"{returns}{prefix}_{name}(const {prefix}_row *row)"
        body = f"    return {found.format(leaf=f'[{prefix}_leaf(row)]')};"
        return ["", f"/* {comment} */", head, "{", body, "}"]

    if tree.kind == "numbers":
        values = f"{prefix}_leaf_values{{leaf}}"
        if tree.n_classes == 1:
            return function("The number of a row.", "double ", "predict", values + "[0]")
        comment = f"The numbers of the {tree.n_classes} outputs of a row."
        return function(comment, "const double *", "predict", values)
    what = "label" if tree.kind == "classes" else "action"
    found = f"{prefix}_leaf_label{{leaf}}"
    lines = function(f"The place of the {what} of a row.", "int ", "predict", found)
    if tree.kind == "classes":
        comment, shares = "The share of each label in the leaf of a row.", "_leaf_shares{leaf}"
        lines += function(comment, "const double *", "shares", prefix + shares)
    return lines


def c_field_names(tree: Tree) -> list[str]:
    """Return the names of the members of the struct: the column names as valid C names.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.export.c_code import c_field_names
    >>> leaf = Tree(feature=[-1], threshold=[0], value=[[1]], n_samples=[1], n_features=3,
    ...             feature_names=["mean area", "mean-area", "int"])
    >>> c_field_names(leaf)
    ['mean_area', 'mean_area_2', 'int_']
    """
    taken: set[str] = set()
    fields = []
    for name in tree.column_names:
        field = re.sub(r"\W", "_", name, flags=re.ASCII) or "x"
        if field[0].isdigit():
            field = f"x{field}"
        if field in _RESERVED:
            field += "_"
        base, number = field, 1
        while field in taken:
            number += 1
            field = f"{base}_{number}"
        taken.add(field)
        fields.append(field)
    return fields


def _branches(tree: Tree, fields: list[str], leaves: dict[int, int], prefix: str) -> Iterator[str]:
    # A level of -1 closes the braces of the left side.
    waiting: list[tuple[int, int]] = [(0, 1)]
    while waiting:
        node, level = waiting.pop()
        margin = "    " * level
        if node < 0:
            yield f"{margin}}}"
            continue
        if node in leaves:
            yield f"{margin}return {leaves[node]};"
            continue
        yield f"{margin}if ({_test(tree, node, fields, prefix)}) {{"
        left, right = int(tree.left[node]), int(tree.right[node])
        waiting += [(right, level), (-1, level), (left, level + 1)]


def _value(tree: Tree, feature: int, fields: list[str], prefix: str) -> str:
    """Write what a split is about: a member of the row, or a sum of some."""
    combination = tree.combination_of(feature)
    if combination is None:
        return f"row->{fields[feature]}"
    total = "0.0"
    for x, column in combination.terms:
        total = f"{prefix}_add({total}, {_number(x)}, row->{fields[column]})"
    return total


def _sum_function(tree: Tree, prefix: str) -> list[str]:
    """Write the sum of columns where the tree needs it."""
    if not tree.combinations:
        return []
    return [
        "",
        "/* Products are rounded before they are added: no fused operation may skip that. */",
        f"static double {prefix}_add(double total, double times, double x)",
        "{",
        "    volatile double product = times * x;",
        "    return total + product;",
        "}",
    ]


def _test(tree: Tree, node: int, fields: list[str], prefix: str) -> str:
    feature = int(tree.feature[node])
    value, threshold = _value(tree, feature, fields, prefix), float(tree.threshold[node])
    to_left = bool(tree.missing_left[node])
    if tree.levels_of(feature) is not None:
        names = [_string(str(name)) for name in tree.names_left(node)]
        if not names:
            return f"{value} == NULL"
        known = " || ".join(f"strcmp({value}, {name}) == 0" for name in names)
        if to_left:
            return f"{value} == NULL || {known}"
        return f"{value} != NULL && {f'({known})' if len(names) > 1 else known}"
    if math.isnan(threshold):
        return f"isnan({value})" if to_left else "0"
    test = f"{value} <= {_number(threshold)}"  # false for NAN
    return f"isnan({value}) || {test}" if to_left else test


def _number(x: float) -> str:
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return x.hex()


def _string(text: str) -> str:
    """Write text as a C string: bytes of UTF-8, all but plain letters in octal."""
    plain = set(
        b" abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,:;/()<>=!&%*#"
    )
    encoded = text.encode("utf-8", errors="surrogatepass").replace(b"\x00", b"")
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in encoded) + '"'


def _comment(text: str) -> str:
    cleaned = "".join(letter if letter.isprintable() else " " for letter in text)
    return cleaned.replace("*/", "* /").replace("\\", "/")
