"""The tree that a fit begins with, held to the limits of the estimator."""

from __future__ import annotations

from typing import Any

from provetree.problem.prepare import Prepared
from provetree.search.engine import Splits
from provetree.tree.start_tree import read_start_tree


def initial_splits(initial_tree: Any, X: Any, prepared: Prepared, owner: str) -> Splits | None:
    """Return the splits of a tree on the ordered columns of a problem, in preorder.

    None stands for no tree, and for one that has so many splits that a single leaf costs no more.
    """
    if initial_tree is None:
        return None
    start = read_start_tree(initial_tree, X, prepared, f"'initial_tree' of {owner}.fit")
    problem = prepared.problem
    must = f"The 'initial_tree' of {owner}.fit must keep to the limits of the estimator: its"
    leaves = 2**prepared.depth if prepared.most_leaves is None else int(prepared.most_leaves)
    allowed = {"number of leaves": (start.n_leaves, leaves), "depth": (start.depth, prepared.depth)}
    for what, (has, most) in allowed.items():
        if has > most:
            raise ValueError(
                f"{must} {what} on these rows can be {most} at most. Got {has} instead."
            )
    if start.smallest_leaf < problem.min_samples_leaf:
        raise ValueError(
            f"{must} leaves must have {problem.min_samples_leaf} training rows or more. Got a leaf "
            f"of {start.smallest_leaf} instead."
        )
    if start.n_leaves > problem.max_splits + 1 or start.depth > problem.max_depth:
        return None  # its penalties alone are no less than what a single leaf costs
    return start.columns, start.ranks
