"""From fractional paths to a tree: the recursion over candidates, the restricted MIP, diving.

The recursion is exact if only a leaf budget couples the leaves. The MIP over the columns
at hand is what the papers do; diving fixes splits one by one and generates columns in between.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from provetree.colgen.generation import Generation, is_integral, tree_of
from provetree.colgen.master import raise_if_stopped
from provetree.colgen.paths import CandidateTree, PathModel
from provetree.colgen.pricing import Allowed
from provetree.number_types import Int


def recursion(
    model: PathModel, allowed: Allowed, time_limit: float = np.inf
) -> CandidateTree | None:
    """Return the best tree of the candidates when coupling constraints are left out, proven.

    A budget of leaves, the price of a leaf and the least number of rows count; recall,
    false-positive and parity constraints do not. None where no tree keeps the limits.
    """
    return recursion_for(model, allowed, model.item_profit(), model.leaf_price, time_limit)


def recursion_for(
    model: PathModel,
    allowed: Allowed,
    profit: Int,
    leaf_price: int,
    time_limit: float = np.inf,
) -> CandidateTree | None:
    """Return the best tree for any integer profit of the items (items x targets), proven."""
    found = model.items.core.best_tree(
        profit=profit,
        count=model.items.counts,
        allowed_candidate=allowed.candidate,
        allowed_target=np.ascontiguousarray(allowed.target),
        leaf_price=leaf_price,
        min_count=model.min_count,
        max_leaves=0 if model.max_leaves is None else model.max_leaves,
        time_limit=time_limit,
    )
    raise_if_stopped(found["status"])
    if not found["feasible"]:
        return None
    return CandidateTree(found["candidates"], found["targets"])


def diving(generation: Generation, allowed: Allowed) -> CandidateTree | None:
    """Return a tree by fixing splits from the root down, generating columns in between.

    None where the fixed splits left no tree that keeps the constraints.
    """
    model, master = generation.model, generation.master
    offsets = model.candidates.offsets
    candidate, target = allowed.candidate.copy(), allowed.target.copy()
    while True:
        here = Allowed(candidate, target)
        start = recursion(model, here, generation.clock.left)
        if start is None:
            return None
        master.add_paths(model.tree_paths(start))
        result = generation.solve(here)
        if result.solution is None:
            return None
        if is_integral(result.solution):
            return tree_of(model, master, result.solution.x)
        rho, x = result.solution.rho, result.solution.x
        undecided = [
            (low, high)
            for low, high in pairwise(offsets.tolist())
            if rho[low:high].max() < 1 - 1e-6
        ]
        if undecided:
            # From the root down: what is decided below depends on what is decided above, and
            # without the constraints of rows the relaxation says little about deep splits.
            low, high = undecided[0]
            best = low + int(rho[low:high].argmax())
            candidate[low:high] = 0
            candidate[best] = 1
            continue
        # All splits are decided: what is left are the targets of single leaves.
        mass = np.zeros(target.shape)
        np.add.at(mass, (master.paths.leaf, master.paths.target), x)
        open_leaves = np.flatnonzero((mass > 1e-6).sum(axis=1) > 1)
        if not len(open_leaves):
            return tree_of(model, master, np.where(x > 0.5, 1.0, 0.0))
        leaf = int(open_leaves[mass[open_leaves].max(axis=1).argmax()])
        target[leaf] = 0
        target[leaf, int(mass[leaf].argmax())] = 1
