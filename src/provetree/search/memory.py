"""How a search divides its memory between nodes and caches."""

from __future__ import annotations

from provetree.options import byte_count
from provetree.problem.problem import Problem
from provetree.solution import DEFAULT_MEMORY_LIMIT

__all__ = ["cache_bytes", "node_bytes"]

#: Bytes for each row and ordered column: position and rank in the order of the root, and in both
#: children of a node at each level that is searched split by split.
_ROOT, _CHILDREN = 8, 16
#: The weight of the rows before it, where rows have weights, in each of those orders.
_WEIGHT_SUM = 4


def node_bytes(problem: Problem, n_jobs: int = 1) -> int:
    """Return about how many bytes the rows of a search need, without caches.

    It grows with rows times ordered columns times levels, for each thread.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> X, y = np.arange(50.0).reshape(10, 5) % 7, np.arange(10) % 2
    >>> problem = build_problem(X, y, n_classes=2, max_depth=3)
    >>> problem.n_rows * len(problem.columns), node_bytes(problem)
    (50, 1200)
    """
    cells = problem.n_rows * len(problem.columns)
    weighted = bool((problem.weights != 1).any())
    root = _ROOT + _WEIGHT_SUM * weighted
    children = _CHILDREN + 2 * _WEIGHT_SUM * weighted
    # The last two levels are solved without dividing rows; building the tree divides them once.
    levels = max(1, problem.max_depth - 2)
    return cells * (root + children * levels * n_jobs)


#: Bytes that caches may hold for each thread after the first, where no limit is given.
_MORE_FOR_A_THREAD = 64 * 2**20


def cache_bytes(max_memory: int | str | None, problem: Problem, n_jobs: int = 1) -> int:
    """Return how many bytes the caches of a search may hold.

    `max_memory` is for the whole search, as bytes or text such as "4GB"; None for the default,
    which grows with the threads: each holds bounds of its own while it is at a split.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree import build_problem
    >>> X, y = np.arange(50.0).reshape(10, 5) % 7, np.arange(10) % 2
    >>> problem = build_problem(X, y, n_classes=2, max_depth=3)
    >>> cache_bytes("2kB", problem), cache_bytes("1kB", problem), cache_bytes(None, problem)
    (800, 0, 134217728)
    >>> cache_bytes(None, problem, n_jobs=16) // 2**20
    1088
    """
    if max_memory is None:
        return DEFAULT_MEMORY_LIMIT + (n_jobs - 1) * _MORE_FOR_A_THREAD
    return min(max(0, byte_count(max_memory) - node_bytes(problem, n_jobs)), 2**62)
