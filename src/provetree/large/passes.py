"""What is done with one part of a large table. Each function gives little back, however many rows.

They run wherever Dask runs them, and know nothing of the other parts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from provetree.number_types import Float
from provetree.problem.inputs import is_missing
from provetree.problem.problem import build_problem
from provetree.problem.table import TableEncoder
from provetree.search.engine import ExactSearch
from provetree.solution import Limits
from provetree.tree.tree import Tree

__all__ = ["Look", "Reading", "count_moves", "count_trees", "look_at", "solve_blocks"]

_NO_TIE_RULE = _core.SWITCHES["tie_rule"]


@dataclass(frozen=True)
class Look:
    """What a part looks like: rows, names and types of its columns, and some of its rows."""

    n_rows: int
    kinds: tuple[tuple[str, str], ...]
    sample: Any
    labels: NDArray[Any]
    weights: Float | None
    fault: str | None = None
    whole: bool = True  # whether all weights are whole numbers


@dataclass(frozen=True)
class Reading:
    """How all parts are read: the encoder of the columns, and the labels in rising order."""

    encoder: TableEncoder
    classes: NDArray[Any]

    def rows(self, X: Any, y: Any, w: Any) -> tuple[Float, NDArray[np.intp], Float]:
        """Return rows as numbers, places of labels and weights, without rows of weight zero."""
        labels = np.asarray(y).ravel()
        weights = np.ones(len(labels)) if w is None else np.asarray(w, dtype=float).ravel()
        if not len(labels):
            return np.empty((0, self.encoder.n_features)), np.empty(0, dtype=np.intp), weights
        encoded = self.encoder.transform(X)
        codes = np.searchsorted(self.classes, labels)
        kept = weights > 0
        return encoded[kept], codes[kept], weights[kept]


def look_at(number: int, X: Any, y: Any, w: Any, most: int) -> Look:
    """Look a part over; the sample has every label and every category that the part has."""
    labels = np.asarray(y).ravel()
    n = len(labels)
    kinds = _kinds(X)
    fault = None
    if len(X) != n:
        fault = f"The partition {number} has {len(X)} rows of X and {n} labels."
    elif n and any(map(is_missing, labels[_few(labels)].tolist())):
        fault = f"Labels are missing in the partition {number} of y."
    weights = None
    if w is not None:
        try:
            weights = np.asarray(w, dtype=float).ravel()
        except (TypeError, ValueError):
            fault = fault or f"The partition {number} has weights that are not numbers."
    if fault is None and weights is not None:
        if len(weights) != n:
            fault = f"The partition {number} has {n} rows and {len(weights)} weights."
        elif not np.isfinite(weights).all() or (weights < 0).any():
            fault = f"The partition {number} has weights that are negative, missing or infinite."
    if fault is not None or n == 0:
        return Look(n, kinds, X[:0], labels[:0], None, fault)
    chosen = np.random.default_rng(number).permutation(n)[:most]
    firsts = [chosen, np.unique(labels, return_index=True)[1]]
    if hasattr(X, "iloc"):
        for place, (_, kind) in enumerate(kinds):
            if kind == "category":
                column = X.iloc[:, place]
                firsts.append(np.flatnonzero(~column.duplicated().to_numpy()))
    rows = np.unique(np.concatenate(firsts))
    sample = X.iloc[rows] if hasattr(X, "iloc") else np.asarray(X)[rows]
    whole = weights is None or bool((weights == np.round(weights)).all())
    chosen_weights = None if weights is None else weights[rows]
    return Look(n, kinds, sample, labels[rows], chosen_weights, whole=whole)


def _few(labels: NDArray[Any]) -> NDArray[Any]:
    """Return rows among which a missing label is, where there is one."""
    if labels.dtype.kind == "f":
        missing = np.flatnonzero(np.isnan(labels))
        return missing[:1]
    if labels.dtype.kind in "biuSU":
        return np.empty(0, dtype=np.intp)
    return np.arange(len(labels))


def _kinds(X: Any) -> tuple[tuple[str, str], ...]:
    """Return name and kind of each column: "number", "category", or "" where all are missing."""
    if not hasattr(X, "iloc"):
        array = np.asarray(X)
        kind = "number" if array.dtype.kind in "biuf" else "category"
        return tuple((str(c), kind) for c in range(array.shape[1]))
    found = []
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        plain = getattr(dtype, "kind", "O") in "biuf" and str(dtype) != "category"
        found.append((str(name), "number" if plain else "category"))
    for place, (name, _) in enumerate(found):
        if len(X) and X.iloc[:, place].isna().all():
            found[place] = (name, "")
    return tuple(found)


@dataclass(frozen=True)
class Solved:
    """What blocks of rows have shown: a bound on the cost of their rows, and their trees."""

    bound: float
    n_blocks: int
    proven: int
    trees: list[Tree]


def solve_blocks(
    number: int,
    X: list[Any],
    y: list[Any],
    w: list[Any],
    reading: Reading,
    limits: dict[str, Any],
    most_rows: int,
    seconds: float | None,
) -> Solved:
    """Solve blocks of some parts. Without the least leaf size trees only get better."""
    read = [reading.rows(*part) for part in zip(X, y, w, strict=True)]
    encoded, codes, weights = (np.concatenate(parts) for parts in zip(*read, strict=True))
    n = len(codes)
    if n == 0:
        return Solved(0.0, 0, 0, [])
    n_blocks = -(-n // most_rows)
    bound, proven, trees, began = 0.0, 0, [], time.perf_counter()
    blocks = np.array_split(np.random.default_rng(number).permutation(n), n_blocks)
    for at, rows in enumerate(blocks):
        rows = np.sort(rows)
        problem = build_problem(
            encoded[rows],
            codes[rows],
            n_classes=len(reading.classes),
            categories=reading.encoder.categories,
            sample_weight=None if (weights == 1).all() else weights[rows],
            **limits,
        )
        if problem.weight_error > 0:
            raise ValueError(
                "The weights of a table larger than memory must be whole numbers or short "
                "decimals, so that bounds of its parts add up exactly."
            )
        limit = None
        if seconds is not None:  # what one block leaves is for those after it
            left = seconds - (time.perf_counter() - began)
            limit = max(left / (n_blocks - at), 1e-3)
        found = ExactSearch(switches=_NO_TIE_RULE).solve(problem, Limits(limit))
        bound += found.lower_bound
        proven += found.status == "optimal"
        trees.append(found.tree)
    return Solved(bound, n_blocks, proven, trees)


def count_trees(
    number: int, X: Any, y: Any, w: Any, reading: Reading, trees: list[Tree]
) -> list[tuple[Float, NDArray[np.int64]]]:
    """Count, for each tree, the weight of each class and the rows in each leaf."""
    encoded, codes, weights = reading.rows(X, y, w)
    k = len(reading.classes)
    counted = []
    for tree in trees:
        leaves = tree.apply(encoded) if len(codes) else np.empty(0, dtype=np.intp)
        totals: Any = np.bincount(leaves * k + codes, weights, minlength=tree.n_nodes * k)
        counted.append((totals.reshape(-1, k), np.bincount(leaves, minlength=tree.n_nodes)))
    return counted


def count_moves(
    number: int, X: Any, y: Any, w: Any, reading: Reading, tree: Tree, edges: list[Float | None]
) -> dict[tuple[int, int], Float]:
    """Count what sending rows left instead of right costs, by node, column and bin.

    The subtrees below a node stay as they are. The last entry is for missing values.
    """
    encoded, codes, weights = reading.rows(X, y, w)
    found: dict[tuple[int, int], Float] = {}
    if not len(codes):
        return found
    bins: list[Any] = []
    for c, of_column in enumerate(edges):
        if of_column is None:
            bins.append(None)
            continue
        place = np.searchsorted(of_column, encoded[:, c], side="left")
        bins.append(np.where(np.isnan(encoded[:, c]), len(of_column) + 1, place))
    everyone = np.arange(len(codes))
    stack = [(0, everyone)]
    while stack:
        node, rows = stack.pop()
        if tree.feature[node] < 0 or not len(rows):
            continue
        sides = (int(tree.left[node]), int(tree.right[node]))
        wrong = [tree.label[_leaves(tree, encoded, rows, side)] != codes[rows] for side in sides]
        dearer = weights[rows] * (wrong[0].astype(float) - wrong[1])
        for c, of_column in enumerate(edges):
            if of_column is not None:
                moved: Any = np.bincount(bins[c][rows], dearer, minlength=len(of_column) + 2)
                found[node, c] = moved
        left = tree._goes_left(encoded, rows, np.full(len(rows), node))
        stack += [(sides[0], rows[left]), (sides[1], rows[~left])]
    return found


def _leaves(tree: Tree, encoded: Float, rows: NDArray[np.intp], start: int) -> NDArray[np.intp]:
    """Return the leaves that rows reach from a node."""
    at = np.full(len(rows), start)
    while True:
        inner = np.flatnonzero(tree.feature[at] >= 0)
        if not len(inner):
            return at
        left = tree._goes_left(encoded, rows[inner], at[inner])
        at[inner] = np.where(left, tree.left[at[inner]], tree.right[at[inner]])
