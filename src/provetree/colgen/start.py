"""Start columns: the paths of CART trees that the restricted master begins with.

Full CART makes sure that the result is never worse than CART; the trees of extra runs (step 4 of
Patel et al.) bring paths that are good for their leaf.
"""

from __future__ import annotations

import numpy as np

from provetree.colgen.candidates import PASS, SampledTrees, Split
from provetree.colgen.paths import CandidateTree, PathModel, Paths

#: Extra CART runs of step 4, and the share of the rows in each.
START_RUNS = 100
START_SHARE = 0.8


def tree_of_cart(model: PathModel, trees: SampledTrees) -> CandidateTree:
    """Return the first CART tree as a candidate tree; below its leaves any split will do."""
    return _tree_of(model, [split or PASS for split in trees.splits(0)])


def fewest_splits(model: PathModel) -> CandidateTree:
    """Return a tree with :data:`PASS` wherever it is a candidate, any split elsewhere."""
    return _tree_of(model, [PASS] * model.candidates.n_nodes)


def _tree_of(model: PathModel, splits: list[Split]) -> CandidateTree:
    """Return the tree of these splits with the heaviest class of each leaf."""
    places = [max(model.candidates.place(j, split), 0) for j, split in enumerate(splits)]
    chosen = np.array(places, dtype=np.int32)
    empty = CandidateTree(chosen, np.zeros(model.candidates.n_leaves, dtype=np.int32))
    profit = model.totals(model.tree_paths(empty)).weights @ model.profit
    return CandidateTree(chosen, profit.argmax(axis=1).astype(np.int32))


def start_paths(model: PathModel, trees: SampledTrees) -> Paths:
    """Return the paths of CART trees all of whose splits are candidates, each once."""
    candidates = model.candidates
    seen: dict[tuple[int, ...], None] = {}
    for tree in range(len(trees)):
        places = [
            -1 if split is None else candidates.place(j, split)
            for j, split in enumerate(trees.splits(tree))
        ]
        for leaf, nodes in enumerate(candidates.path_nodes.tolist()):
            path = tuple(places[j] for j in nodes)
            if min(path) >= 0:
                seen[(leaf, *path)] = None
    if not seen:
        return Paths.none(candidates.depth)
    found = np.array(list(seen), dtype=np.int32)
    paths = Paths.of(found[:, 0], found[:, 1:], np.zeros(len(found)))
    profit = model.totals(paths).weights @ model.profit
    return Paths.of(paths.leaf, paths.candidates, profit.argmax(axis=1))
