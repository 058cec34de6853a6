"""What near-optimal trees say of rows: do all agree, and which tree stands firmest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from provetree.selection.near_optimal_options import check_number
from provetree.selection.tree_levels import LEAF, Level, NumberedTrees, Path, Shape, Side, Split
from provetree.tree.tree import Tree

if TYPE_CHECKING:
    from provetree.selection.near_optimal import NearOptimalTree, NearOptimalTrees

__all__ = [
    "Agreement",
    "agreement_on",
    "most_stable",
    "training_agreement",
    "widest_margins",
]


@dataclass(frozen=True)
class Agreement:
    """Which classes near-optimal trees predict for rows.

    Parameters
    ----------
    labels : array of shape (n_classes,)
        The classes.
    shares : array of shape (n_rows, n_classes)
        The share of the trees that predict each class. Training rows of weight zero have NaN.
    n_judges : int
        How many trees were asked.
    exact : bool
        Whether these are all the trees; otherwise they were drawn uniformly.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.selection.near_optimal_rows import Agreement
    >>> found = Agreement(np.array(["no", "yes"]), np.array([[1.0, 0.0], [0.25, 0.75]]), 4, True)
    >>> found.all_agree.tolist(), found.majority.tolist(), found.share_agreed
    ([True, False], ['no', 'yes'], 0.5)
    """

    labels: NDArray[Any]
    shares: NDArray[np.float64]
    n_judges: int
    exact: bool

    @property
    def all_agree(self) -> NDArray[np.bool_]:
        """Whether all trees that were asked predict the same class, for each row."""
        return np.asarray((self.shares > 0).sum(axis=1) == 1)

    @property
    def majority(self) -> NDArray[Any]:
        """The class that most trees predict, for each row."""
        return np.asarray(self.labels[np.nan_to_num(self.shares).argmax(axis=1)])

    @property
    def share_agreed(self) -> float:
        """The share of the rows on which all of these trees agree."""
        present = ~np.isnan(self.shares).any(axis=1)
        return float(self.all_agree[present].mean()) if present.any() else math.nan


def training_agreement(found: NearOptimalTrees) -> Agreement:
    """Return what all trees predict for the training rows, counted."""
    if not found.is_complete:
        raise ValueError(
            "Whether all trees agree is known once all are counted, and the count ended early: "
            "give it more time or memory, or a smaller slack."
        )
    votes, status = found._numbered.votes()
    if status == "interrupted":
        raise KeyboardInterrupt
    weights = found._prepared.weights
    present = (
        np.ones(len(found._prepared.codes), dtype=np.bool_) if weights is None else weights > 0
    )
    shares = np.full((len(present), votes.shape[1]), np.nan)
    shares[present] = votes / votes.sum(axis=1, keepdims=True)
    return Agreement(found._prepared.classes, shares, found.n_trees, True)


def agreement_on(found: NearOptimalTrees, X: Any, n_sampled: int, random_state: int) -> Agreement:
    """Return what the trees predict for other rows: all trees, or a uniform sample of them."""
    check_number(n_sampled, 1, "n_sampled", "agreement")
    exact = found.is_complete and found.n_trees <= n_sampled
    judges = list(found) if exact else found.sample(int(n_sampled), random_state)
    encoded = found._prepared.encoder.transform(X)
    votes = np.zeros((len(encoded), len(found._prepared.classes)))
    for each in judges:
        votes[np.arange(len(encoded)), each.tree.predict(encoded)] += 1
    return Agreement(found._prepared.classes, votes / len(judges), len(judges), exact)


def most_stable(
    found: NearOptimalTrees, n_resamples: int, n_candidates: int, random_state: int
) -> NearOptimalTree:
    """Return the tree that stays within the slack most often when rows are drawn anew."""
    check_number(n_resamples, 1, "n_resamples", "most_stable")
    check_number(n_candidates, 1, "n_candidates", "most_stable")
    everything = found.is_complete and found.n_trees <= n_candidates
    if everything:
        judged = list(found)
    else:
        half = max(1, n_candidates // 2)
        judged = [found[number] for number in range(min(half, found._numbered.n_trees))]
        if found.is_complete:
            judged += found.sample(half, random_state)
    costs = _costs_when_drawn_anew(found, [each.tree for each in judged], n_resamples, random_state)
    regret = costs - costs.min(axis=0)
    within = (regret <= found.slack + 1e-9).mean(axis=1)
    # Of those that stay as often, the one with the least regret; the first of these.
    order = sorted(range(len(judged)), key=lambda i: (-within[i], regret[i].mean(), judged[i].cost))
    chosen = judged[order[0]]
    return found._found(
        chosen.tree,
        found.problem.to_whole_cost(chosen.cost),
        why="stays nearly optimal most often when rows are drawn anew",
        value=float(within[order[0]]),
        proven=everything,
    )


def _costs_when_drawn_anew(
    found: NearOptimalTrees, trees: Sequence[Tree], n_resamples: int, random_state: int
) -> NDArray[np.float64]:
    """Return what each tree costs on each of some draws of the rows with replacement."""
    prepared, problem = found._prepared, found.problem
    n_rows = len(prepared.codes)
    weights = np.ones(n_rows) if prepared.weights is None else prepared.weights
    rng = np.random.default_rng(random_state)
    draws = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_resamples)
    wrong = np.array([tree.predict(prepared.encoded) != prepared.codes for tree in trees])
    costs = (wrong * weights) @ draws.T.astype(np.float64)
    penalty = problem.to_user_cost(problem.split_penalty)
    return np.asarray(costs + penalty * np.array([[tree.n_splits] for tree in trees]))


def widest_margins(found: NearOptimalTrees) -> NearOptimalTree:
    """Return the tree whose narrowest split is as wide as in any of the trees."""
    trees = found._numbered
    grown = trees.root.grown
    why = "has the widest margins"
    if not grown:
        return found._tree(LEAF, trees.root.leaf, why=why, value=math.nan, proven=found.is_complete)
    widest = max(margin for _, _, margin in grown)
    cost = min(cost for cost, _, margin in grown if margin == widest)
    shape = _wide_tree(trees, trees.root, (), trees.depth, cost, widest)
    return found._tree(shape, cost, why=why, value=widest, proven=found.is_complete)


def _wide_tree(
    trees: NumberedTrees, level: Level, path: Path, depth: int, cost: int, least: float
) -> Shape:
    """Return a tree with a split of a cost, all of whose splits have at least a margin."""
    room = cost - trees.problem.split_penalty

    def options(side: Side) -> list[tuple[int, bool]]:
        """Return the costs of trees with such margins, and whether they are the leaf."""
        grown = [(c, False) for c, _, margin in side.grown if margin >= least]
        return [(side.leaf, True), *grown]

    def sides(split: Split) -> tuple[Shape, Shape] | None:
        below = trees.below(path, split)
        for cost_left, left_leaf in options(split.left):
            for cost_right, right_leaf in options(split.right):
                refused = (
                    left_leaf and right_leaf and trees.is_refused(split, cost_left, cost_right)
                )
                if cost_left + cost_right != room or refused:
                    continue
                parts = [(below[0], split.left, cost_left, left_leaf)]
                parts.append((below[1], split.right, cost_right, right_leaf))
                left, right = (
                    LEAF
                    if is_leaf
                    else _wide_tree(
                        trees, trees.level_of(way, depth - 1, side), way, depth - 1, c, least
                    )
                    for way, side, c, is_leaf in parts
                )
                return left, right
        return None

    for split in level.splits:
        below = sides(split) if split.margin >= least else None
        if below is not None:
            return ((split.column, split.rank), *below[0], *below[1])
    raise AssertionError("A tree that was counted could not be found again.")
