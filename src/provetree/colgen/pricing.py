"""Pricing: paths of positive reduced cost for the multipliers of the master.

The random heuristics of the two papers, and the exact pricing of the core, which enumerates
candidates with bounds. The models (2) and (3) that the papers give to CP-SAT are in ``cpsat.py``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from provetree.colgen.master import Duals, raise_if_stopped
from provetree.colgen.paths import PathModel, Paths
from provetree.number_types import Float

#: Reduced costs below this are not worth a column (the papers' threshold).
LEAST_REDUCED_COST = 1e-6


@dataclass(frozen=True, eq=False)
class Allowed:
    """What a node of branch-and-price allows: candidates of nodes, targets of leaves."""

    candidate: NDArray[np.uint8]
    target: NDArray[np.uint8]

    @staticmethod
    def everything(model: PathModel) -> Allowed:
        """Return what the root of branch-and-price allows: everything."""
        candidates = model.candidates
        return Allowed(
            np.ones(int(candidates.offsets[-1]), dtype=np.uint8),
            np.ones((candidates.n_leaves, model.n_targets), dtype=np.uint8),
        )


@dataclass(frozen=True, eq=False)
class Priced:
    """Paths of positive reduced cost and, from an exact pricing, the largest of each leaf.

    ``largest`` is None when the pricing proves nothing.
    """

    paths: Paths
    reduced_cost: Float
    largest: Float | None


class Pricing(Protocol):
    """A way to find paths of positive reduced cost."""

    def price(self, duals: Duals, allowed: Allowed, time_limit: float) -> Priced:
        """Return paths of positive reduced cost; none from an exact pricing is a proof."""
        ...


def kind_worth(model: PathModel, duals: Duals) -> tuple[Float, float]:
    """Return what a unit of each kind is worth for each target, and the price of an active leaf.

    In phase one the objective counts nothing, only the coupling rows do.
    """
    worth = np.zeros(model.profit.shape) if duals.phase_one else model.profit / model.unit
    price = 0.0 if duals.phase_one else model.leaf_price / model.unit
    for row, multiplier in zip(model.rows, duals.coupling.tolist(), strict=True):
        if multiplier != 0.0:
            factor = multiplier / row.scale / model.unit
            worth = worth - factor * row.per_kind
            price += factor * row.per_active_leaf
    return worth, max(price, 0.0)


def item_worth(model: PathModel, duals: Duals) -> tuple[Float, float]:
    """Return the worth of each item for each target after all multipliers, and the leaf price."""
    worth, price = kind_worth(model, duals)
    by_item = model.items.weights @ worth - duals.item_price[:, None]
    return np.ascontiguousarray(by_item), price


def reduced_costs(model: PathModel, duals: Duals, paths: Paths) -> Float:
    """Return the reduced cost of given paths, directly by definition."""
    worth, price = kind_worth(model, duals)
    totals = model.totals(paths)
    value = (totals.weights * worth[:, paths.target].T).sum(axis=1) - price * (totals.counts > 0)
    value = value - duals.alpha[paths.leaf]
    candidates = model.candidates
    for level in range(candidates.depth):
        at = candidates.link_starts[paths.leaf, level] + paths.candidates[:, level]
        value = value - duals.gamma[at]
    priced = np.flatnonzero(duals.item_price).astype(np.int32)
    if len(priced):
        path, place = model.items.core.incidence(paths.leaf, paths.candidates, priced)
        np.subtract.at(value, path, duals.item_price[priced[place]])
    if np.any(duals.route_price):
        path, route = model.items.core.route_incidence(paths.leaf, paths.candidates, 0)
        np.subtract.at(value, path, duals.route_price[route])
    return np.asarray(value)


def best_targets(model: PathModel, duals: Duals, paths: Paths, allowed: Allowed) -> Paths:
    """Return the paths with the allowed target of largest worth each."""
    worth, _ = kind_worth(model, duals)
    by_target = model.totals(paths).weights @ worth
    by_target[allowed.target[paths.leaf] == 0] = -np.inf
    return Paths.of(paths.leaf, paths.candidates, by_target.argmax(axis=1))


@dataclass(eq=False)
class ExactPricing:
    """The exact pricing of the core: the `best` paths of every leaf, by enumeration with bounds.

    With `per_target` a subproblem is a leaf and a target (model (2)), otherwise a leaf (model (3)).
    """

    model: PathModel
    best: int = 30
    per_target: bool = False

    def price(self, duals: Duals, allowed: Allowed, time_limit: float = np.inf) -> Priced:
        """Return the best paths of every leaf; raises ``TimeUpError`` or ``KeyboardInterrupt``."""
        if not self.per_target:
            return self._price(duals, allowed.candidate, allowed.target, time_limit)
        found = []
        for target in range(self.model.n_targets):
            only = np.zeros_like(allowed.target)
            only[:, target] = allowed.target[:, target]
            found.append(self._price(duals, allowed.candidate, only, time_limit))
        largest = np.max([np.asarray(part.largest) for part in found], axis=0)
        return Priced(
            Paths.joined([part.paths for part in found]),
            np.concatenate([part.reduced_cost for part in found]),
            largest,
        )

    def _price(
        self,
        duals: Duals,
        candidate: NDArray[np.uint8],
        target: NDArray[np.uint8],
        time_limit: float,
    ) -> Priced:
        model = self.model
        worth, leaf_price = item_worth(model, duals)
        found = model.items.core.price(
            worth=worth,
            count=model.items.counts,
            alpha=duals.alpha,
            gamma=duals.gamma,
            route_price=duals.route_price,
            allowed_candidate=candidate,
            allowed_target=np.ascontiguousarray(target),
            leaf_price=leaf_price,
            min_count=model.min_count,
            least=LEAST_REDUCED_COST,
            best=self.best,
            time_limit=time_limit,
        )
        raise_if_stopped(found["status"])
        chosen = found["candidates"].reshape(len(found["leaf"]), model.candidates.depth)
        paths = Paths.of(found["leaf"], chosen, found["target"])
        return Priced(paths, found["reduced_cost"], found["largest"])


@dataclass(eq=False)
class RandomPricing:
    """The heuristic of Patel et al.: random paths with distinct splits, the best target of each."""

    model: PathModel
    rng: np.random.Generator
    tries: int = 100

    def price(self, duals: Duals, allowed: Allowed, time_limit: float = np.inf) -> Priced:
        """Return the random paths whose reduced cost is positive."""
        leaves = self.rng.integers(0, self.model.candidates.n_leaves, self.tries)
        paths = random_paths(self.model, leaves, allowed, self.rng)
        paths = best_targets(self.model, duals, paths, allowed)
        cost = reduced_costs(self.model, duals, paths)
        good = cost > LEAST_REDUCED_COST
        return Priced(paths.take(good), cost[good], None)


@dataclass(eq=False)
class PoolPricing:
    """The heuristic of Firat et al.: a pool of random paths that is renewed in every call.

    The paper calls `pool_size`, `new_paths` and `most_columns` |C|, n_l and n_c.
    """

    model: PathModel
    rng: np.random.Generator
    pool_size: int = 500
    new_paths: int = 200
    most_columns: int = 100
    _pool: Paths | None = field(default=None, init=False)
    _leaves: NDArray[np.intp] | None = field(default=None, init=False)

    def price(self, duals: Duals, allowed: Allowed, time_limit: float = np.inf) -> Priced:
        """Return the best paths of the pool whose reduced cost is positive."""
        everywhere = np.arange(self.model.candidates.n_leaves)
        promising = everywhere if self._leaves is None or not len(self._leaves) else self._leaves
        leaves = self.rng.choice(promising, self.new_paths)
        fresh = random_paths(self.model, leaves, allowed, self.rng)
        pool = fresh if self._pool is None else Paths.joined([self._pool, fresh])
        pool = best_targets(self.model, duals, pool, allowed)
        cost = reduced_costs(self.model, duals, pool)
        order = np.argsort(-cost, kind="stable")
        good = order[: self.most_columns]
        good = good[cost[good] > LEAST_REDUCED_COST]
        kept = order[len(good) :][: self.pool_size]
        self._pool = pool.take(kept)
        self._leaves = np.unique(pool.leaf[good]).astype(np.intp)
        return Priced(pool.take(good), cost[good], None)

    def restart(self, leaves: NDArray[np.intp]) -> None:
        """Empty the pool after an exact pricing found paths to these leaves: they come first."""
        self._pool = None
        self._leaves = leaves


def random_paths(
    model: PathModel, leaves: NDArray[np.intp], allowed: Allowed, rng: np.random.Generator
) -> Paths:
    """Return random paths to leaves; those that would use a split twice are left out."""
    candidates = model.candidates
    nodes = candidates.path_nodes[leaves]
    chosen = np.empty(nodes.shape, dtype=np.int32)
    for j in np.unique(nodes).tolist():
        low, high = candidates.offsets[j], candidates.offsets[j + 1]
        open_ = np.flatnonzero(allowed.candidate[low:high])
        here = nodes == j
        chosen[here] = rng.choice(open_, int(here.sum()))
    distinct = []
    for at, path in np.stack([nodes, chosen], axis=1).tolist():
        used = {candidates.splits[at[h]][path[h]] for h in range(candidates.depth)}
        distinct.append(len(used) == candidates.depth)
    kept = np.array(distinct, dtype=np.bool_)
    return Paths.of(leaves[kept], chosen[kept], np.zeros(int(kept.sum())))


def dual_bound(
    model: PathModel,
    duals: Duals,
    largest: Float,
    link_candidate: NDArray[np.intp],
    allowed: Allowed,
) -> float:
    """Return the upper bound on the master that the multipliers give (weak duality).

    It holds for any multipliers: each leaf takes one path, of at most the largest reduced cost,
    and each node one split, of at most the largest sum of its gammas.
    """
    candidates = model.candidates
    by_candidate = np.bincount(link_candidate, duals.gamma, int(candidates.offsets[-1]))
    by_candidate[allowed.candidate == 0] = -np.inf
    splits = sum(
        float(by_candidate[low:high].max()) for low, high in pairwise(candidates.offsets.tolist())
    )
    return duals.offset + float(largest.sum()) + splits
