"""Maps the rows of a problem back to the table it was made from.

A problem has merged the equal rows of the table; groups and start trees are given for the table.
"""

from __future__ import annotations

import numpy as np

from provetree.number_types import Float, Int
from provetree.problem.problem import Problem

__all__ = ["column_ranks", "problem_rows", "representatives", "unavoidable_error"]


def problem_rows(problem: Problem, table: Float, classes: Int) -> Int:
    """Return the row of the problem behind each row of the table; -1 for rows of weight zero.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.problem.rows import problem_rows
    >>> X, y = np.array([[2.0], [1.0], [2.0]]), np.array([1, 0, 1])
    >>> rows = problem_rows(build_problem(X, y, n_classes=2, max_depth=1), X, y)
    >>> bool(rows[0] == rows[2] != rows[1])
    True
    """
    n = len(table)
    theirs = np.empty((len(problem.columns) + 1, n), dtype=np.int64)
    for c, column in enumerate(problem.columns):
        theirs[c] = column_ranks(problem, c, problem.feature_values(table, column.feature))
    theirs[-1] = classes
    ours = np.vstack([problem.ranks.astype(np.int64), problem.classes])
    _, place = np.unique(np.hstack([ours, theirs]), axis=1, return_inverse=True)
    place = place.reshape(-1)
    row_at = np.full(int(place.max()) + 1, -1, dtype=np.int64)
    row_at[place[: problem.n_rows]] = np.arange(problem.n_rows)
    return row_at[place[problem.n_rows :]]


def representatives(problem: Problem, rows: Int) -> Int:
    """Return the first table row behind each row of the problem, given :func:`problem_rows`."""
    found = np.full(problem.n_rows, -1, dtype=np.int64)
    known = np.flatnonzero(rows >= 0)[::-1]  # the first of equal rows is written last
    found[rows[known]] = known
    return found


def column_ranks(problem: Problem, c: int, x: Float) -> Int:
    """Return the rank of values in an ordered column; -1 for values that no row of it has.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.problem.rows import column_ranks
    >>> problem = build_problem([[1.0], [2.0], [5.0]], [0, 1, 0], n_classes=2, max_depth=1)
    >>> column_ranks(problem, 0, np.array([5.0, 1.0, 3.0])).tolist()
    [2, 0, -1]
    """
    column = problem.columns[c]
    if column.kind == "category":
        levels = problem.categories[column.feature]
        missing_code = -1 if levels is None else len(levels)
        code = np.where(np.isnan(x), missing_code, x)
        return np.asarray(code != column.category, dtype=np.int64)
    present = ~np.isnan(column.values)
    ranks = np.searchsorted(column.values[present], x) + int(not present[0])
    if not present.all():
        ranks[np.isnan(x)] = np.flatnonzero(~present)[0]
    if column.feature >= problem.n_features:
        # Sums share a rank with others that differ by rounding; the highest stands for them.
        return np.where(ranks < len(column.values), ranks, -1).astype(np.int64)
    # A row of weight zero may hold a value that no other row has; it has no rank.
    known = np.minimum(ranks, len(column.values) - 1)
    same = (column.values[known] == x) | (np.isnan(x) & np.isnan(column.values[known]))
    return np.where(same, ranks, -1).astype(np.int64)


def unavoidable_error(problem: Problem) -> int:
    """Return the weight that every tree gets wrong: rows equal in all columns have one class.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> from provetree.problem.rows import unavoidable_error
    >>> problem = build_problem(np.zeros((3, 1)), np.array([0, 1, 1]), n_classes=2, max_depth=2)
    >>> unavoidable_error(problem)
    1
    """
    if not problem.columns:
        return problem.root_error
    ranks = np.ascontiguousarray(problem.ranks.T)
    keys = ranks.view(f"V{ranks.shape[1] * ranks.itemsize}").ravel()
    _, alike = np.unique(keys, return_inverse=True)
    totals = np.zeros((int(alike.max()) + 1, problem.n_classes), dtype=np.int64)
    np.add.at(totals, (alike.reshape(-1), problem.classes), problem.weights)
    return int((totals.sum(axis=1) - totals.max(axis=1)).sum())
