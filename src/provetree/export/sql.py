"""A tree as an SQL CASE expression, to score rows in the database."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from provetree.tree.tree import Tree

__all__ = ["to_sql"]

Dialect = Literal["ansi", "sqlite", "duckdb", "postgres"]
_DIALECTS = ("ansi", "sqlite", "duckdb", "postgres")
#: Nothing but minus infinity is below this, and it needs no literal for infinity.
_LOWEST = "-1.7976931348623157e308"


def to_sql(
    tree: Tree,
    *,
    dialect: Dialect = "ansi",
    table: str | None = None,
    probability_of: object = None,
    name: str = "prediction",
    output: object = None,
) -> str:
    """Return an SQL expression that predicts as `tree` does.

    Parameters
    ----------
    tree : Tree
        The tree. Columns have the names of its features, in double quotes.
    dialect : {"ansi", "sqlite", "duckdb", "postgres"}, default="ansi"
        NULL is a missing value in all of them. DuckDB and PostgreSQL also have NaN, which is
        missing too. SQLite has no truth values and writes 1 and 0.
    table : str, default=None
        Write a whole query that adds the prediction to the rows of this table; None writes the
        expression alone.
    probability_of : object, default=None
        Give the share of this label instead of the predicted label.
    name : str, default="prediction"
        The name of the new column of the query.
    output : object, default=None
        The name (or place) of the output of a tree that predicts several numbers.

    Returns
    -------
    str

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.export import to_sql
    >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0], [40.0]], ["no", "yes", "yes"])
    >>> print(to_sql(clf.tree_))
    CASE WHEN "x0" <= 25e0 THEN 'no'
      ELSE 'yes'
    END
    """
    if dialect not in _DIALECTS:
        raise ValueError(
            f"The 'dialect' parameter of to_sql must be one of {', '.join(map(repr, _DIALECTS))}. "
            f"Got {dialect!r} instead."
        )
    labels = tree.labels
    if tree.kind == "numbers":
        results = [_number(float(x)) for x in tree.value[:, _output_of(tree, output)]]
    elif probability_of is None:
        results = [_literal(labels[int(label)], dialect) for label in tree.label]
    else:
        if tree.kind != "classes" or probability_of not in labels:
            raise ValueError(
                "The 'probability_of' parameter of to_sql must be one of "
                f"{', '.join(map(repr, labels))}. Got {probability_of!r} instead."
            )
        shares = tree.probabilities()[:, labels.index(probability_of)]
        results = [_number(float(share)) for share in shares]
    expression = _case(tree, results.__getitem__, dialect)
    if table is None:
        return expression
    return f"SELECT *,\n{expression} AS {_quoted(name)}\nFROM {_quoted(table)}"


def _output_of(tree: Tree, output: object) -> int:
    """Return the place of an output of a tree of numbers."""
    names = tree.labels
    if output is None and len(names) == 1:
        return 0
    if output not in names:
        raise ValueError(
            "The 'output' parameter of to_sql must be one of "
            f"{', '.join(map(repr, names))}. Got {output!r} instead."
        )
    return names.index(output)


def _case(tree: Tree, result: Callable[[int], str], dialect: Dialect) -> str:
    """Write the tree as nested CASE expressions; right sides continue in the same CASE."""
    lines: list[str] = []
    # What is still to be written, next item last: lines, or a node with its prefix.
    waiting: list[tuple[str, int, int, str]] = [("node", 0, 0, "")]
    while waiting:
        what, node, level, before = waiting.pop()
        margin = "  " * level
        if what == "end":
            lines.append(f"{margin}END")
            continue
        if what == "else":
            if tree.feature[node] < 0:
                lines.append(f"{margin}  ELSE {result(node)}")
                continue
            # A split on the right side is one more WHEN of the same CASE.
            before = f"{margin}  WHEN"
        elif tree.feature[node] < 0:
            lines.append(f"{before or margin}{result(node)}")
            continue
        else:
            before = f"{before or margin}CASE WHEN"
            waiting.append(("end", -1, level, ""))
        waiting.append(("else", int(tree.right[node]), level, ""))
        test = _test(tree, node, dialect)
        left = int(tree.left[node])
        if tree.feature[left] < 0:
            lines.append(f"{before} {test} THEN {result(left)}")
        else:
            lines.append(f"{before} {test} THEN")
            waiting.append(("node", left, level + 2, ""))
    return "\n".join(lines)


def _test(tree: Tree, node: int, dialect: Dialect) -> str:
    feature = int(tree.feature[node])
    column = _asked(tree, feature)
    threshold, to_left = float(tree.threshold[node]), bool(tree.missing_left[node])
    levels = tree.levels_of(feature)
    if levels is not None:
        names = [_literal(name, dialect) for name in tree.names_left(node)]
        if not names:
            return f"{column} IS NULL"
        # Another category, a new one and NULL all go to the next line.
        known = f"{column} = {names[0]}" if len(names) == 1 else f"{column} IN ({', '.join(names)})"
        return f"({column} IS NULL OR {known})" if to_left else known
    missing = {
        "duckdb": f"({column} IS NULL OR isnan({column}))",
        "postgres": f"({column} IS NULL OR {column} = 'NaN')",
    }.get(dialect, f"{column} IS NULL")
    if math.isnan(threshold):
        return missing if to_left else "1 = 0"
    if threshold == math.inf:
        return "1 = 1" if to_left else f"NOT {missing}"
    test = f"{column} <= {_number(threshold)}"
    if threshold == -math.inf:
        test = f"{column} < {_LOWEST}"
    # NaN is above all numbers where it exists, so it takes the right side by itself.
    return f"({missing} OR {test})" if to_left else test


def _asked(tree: Tree, feature: int) -> str:
    """Write a column, or a sum of columns; NULL in one of them makes it NULL."""
    combination = tree.combination_of(feature)
    if combination is None:
        return _quoted(tree.column_names[feature])
    # All coefficients are written, so that decimals and whole numbers become floats.
    terms = ""
    for x, column in combination.terms:
        sign = (" - " if x < 0 else " + ") if terms else ""
        terms += f"{sign}{_number(abs(x) if terms else x)} * {_quoted(tree.column_names[column])}"
    return f"({terms})"


def _number(x: float) -> str:
    """Write a number with an exponent: without one, some databases make a decimal of it."""
    digits = repr(x)
    return digits if "e" in digits else f"{digits.removesuffix('.0')}e0"


def _literal(x: object, dialect: Dialect) -> str:
    if isinstance(x, bool):
        return str(int(x)) if dialect == "sqlite" else str(x).upper()
    if isinstance(x, int):
        return str(x)
    if isinstance(x, float) and math.isfinite(x):
        return _number(x)
    if x is None:
        return "NULL"
    return "'" + str(x).replace("'", "''") + "'"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
