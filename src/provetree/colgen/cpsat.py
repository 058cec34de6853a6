"""Pricing and separation with CP-SAT, as the papers do it.

The core solves the same problems many times faster; these are here to be compared with. CP-SAT
knows whole numbers only: objectives are multiplied by 1e5, as published.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from provetree.colgen.cuts import LEAST_VIOLATION, ThresholdPlaces
from provetree.colgen.master import Duals, TimeUpError
from provetree.colgen.paths import PathModel, Paths
from provetree.colgen.pricing import LEAST_REDUCED_COST, Allowed, Priced, kind_worth, reduced_costs
from provetree.formulations.cuts import add_side_rows
from provetree.number_types import Bool, Float, Int, Int32
from provetree.solvers.cpsat import CpSat
from provetree.solvers.model import Index, Model, ModelBuilder
from provetree.solvers.solver import Outcome, SolveLimits

#: The papers' scaling factor.
SCALE = 1e5


def kept_solver() -> CpSat:
    """Return CP-SAT in a process that is kept for many small models."""
    return CpSat(keep_process=True)


@dataclass(eq=False)
class CpSatPricing:
    """Exact pricing with CP-SAT: subproblem (3) per leaf, or (2) per leaf and target."""

    model: PathModel
    per_target: bool = False
    n_jobs: int = 1
    solver: CpSat = field(default_factory=kept_solver)

    def price(self, duals: Duals, allowed: Allowed, time_limit: float = np.inf) -> Priced:
        """Return the best path of every subproblem whose reduced cost is positive."""
        if np.any(duals.route_price):
            raise ValueError(
                "CP-SAT cannot price routes: use separation='search' or 'cpsat' beside it."
            )
        found: list[tuple[int, list[int], int]] = []
        largest = np.full(self.model.candidates.n_leaves, LEAST_REDUCED_COST)
        for leaf in range(self.model.candidates.n_leaves):
            targets = np.flatnonzero(allowed.target[leaf]).tolist()
            groups = [[t] for t in targets] if self.per_target else [targets]
            for group in groups:
                path, bound = self.subproblem(duals, leaf, group, allowed, time_limit)
                largest[leaf] = max(largest[leaf], bound)
                if path is not None:
                    found.append(path)
        if not found:
            return Priced(Paths.none(self.model.candidates.depth), np.empty(0), largest)
        paths = Paths.of([p[0] for p in found], [p[1] for p in found], [p[2] for p in found])
        cost = reduced_costs(self.model, duals, paths)
        good = cost > LEAST_REDUCED_COST
        return Priced(paths.take(good), cost[good], largest)

    def subproblem(
        self, duals: Duals, leaf: int, targets: list[int], allowed: Allowed, time_limit: float
    ) -> tuple[tuple[int, list[int], int] | None, float]:
        """Solve (2) or (3) for one leaf; return the best path and a bound on its reduced cost."""
        subproblem = _Subproblem(self.model, duals, leaf, targets, allowed)
        outcome = _solved(self.solver, subproblem.build(), time_limit, self.n_jobs)
        if outcome.status == "infeasible":
            return None, LEAST_REDUCED_COST
        if outcome.status != "optimal":
            raise TimeUpError
        assert outcome.point is not None  # for the type checker
        chosen = [int(outcome.point[u].argmax()) for u in subproblem.u]
        target = targets[int(outcome.point[subproblem.w].argmax())]
        # Each cost was rounded by half a unit at most.
        bound = (-outcome.bound + 0.5 * subproblem.n_costs) / SCALE
        return (leaf, chosen, target), bound - float(duals.alpha[leaf])


class _Subproblem:
    """Subproblem (2) or (3) of one leaf as a model; what is maximised there is minimised here."""

    def __init__(
        self, model: PathModel, duals: Duals, leaf: int, targets: list[int], allowed: Allowed
    ) -> None:
        candidates, items = model.candidates, model.items
        goes_left = items.core.goes_left().reshape(-1, items.n_items) != 0
        #: For each level: which candidates keep which items on the way, the prices of the
        #: candidates, and which of them are allowed.
        self.levels: list[tuple[Bool, Float, Float]] = []
        for level, j in enumerate(candidates.path_nodes[leaf].tolist()):
            low, high = candidates.offsets[j], candidates.offsets[j + 1]
            right = (leaf >> (candidates.depth - 1 - level)) & 1
            keeps = ~goes_left[low:high] if right else goes_left[low:high]
            gamma = duals.gamma[candidates.link_starts[leaf, level] :][: high - low]
            self.levels.append((keeps, gamma, allowed.candidate[low:high].astype(np.float64)))
        by_kind, self.leaf_price = kind_worth(model, duals)
        self.worth = (items.weights @ by_kind)[:, targets]
        self.item_price, self.counts = duals.item_price, items.counts
        self.min_count = model.min_count
        self.n_costs = 0

    def build(self) -> Model:
        """Return the model."""
        builder = ModelBuilder("subproblem")
        self.u: list[Index] = []
        for level, (_, gamma, allowed) in enumerate(self.levels):
            u = builder.variables(
                f"u_{level}", len(gamma), upper=allowed, integer=True, cost=self._scaled(gamma)
            )
            builder.add(f"(3b) level {level}", (), (u, 1.0), equals=1)
            self.u.append(u)
        self.w = builder.variables("w", self.worth.shape[1], upper=1, integer=True)
        builder.add("(3h)", (), (self.w, 1.0), equals=1)
        is_counted = (self.counts > 0) & (self.leaf_price > 0 or self.min_count > 1)
        used = np.flatnonzero(self.worth.any(axis=1) | (self.item_price != 0) | is_counted)
        price = self._scaled(self.item_price[used])
        self.y = builder.variables("y", len(used), upper=1, integer=True, cost=price)
        self._follow(builder, used)
        self._count(builder, is_counted[used], self.counts[used])
        self._gain(builder, self.worth[used])
        return builder.build()

    def _scaled(self, costs: Float) -> Float:
        """Return costs as whole numbers; those that are not zero are counted."""
        self.n_costs += int(np.count_nonzero(costs))
        return np.round(SCALE * np.asarray(costs, dtype=np.float64))

    def _follow(self, builder: ModelBuilder, used: NDArray[np.intp]) -> None:
        """Add (3c) to (3e): an item is in the leaf where every level keeps it."""
        heads = self.y[np.newaxis]
        kept = [keeps[:, used].T for keeps, _, _ in self.levels]
        for level, (u, here) in enumerate(zip(self.u, kept, strict=True)):
            add_side_rows(builder, f"(3c) level {level}", heads, u[np.newaxis], here, meaning="")
        bounds = {"lower": 1.0 - len(kept), "upper": np.inf}
        every = np.concatenate(self.u)[np.newaxis]
        add_side_rows(builder, "(3e)", heads, every, np.hstack(kept), **bounds, meaning="")

    def _count(self, builder: ModelBuilder, is_counted: Bool, counts: Int) -> None:
        """Add what a leaf with rows costs, and the least number of rows it may have."""
        if not is_counted.any():
            return
        price = self._scaled(np.array([self.leaf_price]))
        active = builder.variables("active", 1, upper=1, integer=True, cost=price)
        y = self.y[is_counted]
        builder.at_most("active", y, active)
        totals = (y, counts[is_counted]), (active, -self.min_count)
        builder.add("least rows", (), *totals, lower=0)

    def _gain(self, builder: ModelBuilder, worth: Float) -> None:
        """Add (3f) and (3g): what an item is worth counts with its target, in the leaf only."""
        item, target = np.nonzero(worth)
        value = worth[item, target]
        cost = self._scaled(-value)
        z = builder.variables("z", len(value), upper=1, integer=True, cost=cost)
        up, down = np.flatnonzero(value > 0), np.flatnonzero(value < 0)
        y, w = self.y[item], self.w[target]
        builder.at_most("(3f)", z[up], y[up])
        builder.at_most("(3g)", z[up], w[up])
        losses = (z[down], 1.0), (y[down], -1.0), (w[down], -1.0)
        builder.add("losses", len(down), *losses, lower=-1)


def _solved(solver: CpSat, model: Model, time_limit: float, n_jobs: int) -> Outcome:
    """Solve a model; Ctrl-C raises."""
    seconds = max(time_limit, 0.01) if math.isfinite(time_limit) else None
    outcome = solver.solve(model, limits=SolveLimits(seconds, 0.0, 0.0, n_jobs))
    if outcome.status == "interrupted":
        raise KeyboardInterrupt
    return outcome


def separate_rows(
    model: PathModel,
    paths: Paths,
    values: Float,
    time_limit: float = np.inf,
    solver: CpSat | None = None,
) -> list[Int32]:
    """Solve separation model (8); return every row found whose constraint is violated.

    `paths` and `values` are the positive paths of a solution of the master. A row is given by its
    place in each column: how many thresholds it is right of.
    """
    places = ThresholdPlaces.of(model.candidates)
    per_column = np.asarray(places.per_column, dtype=np.int64)
    builder = ModelBuilder("separation")
    psi = [
        # A column without thresholds has one that every row is left of.
        builder.variables(f"psi_{c}", max(1, n), upper=1.0 if n else 0.0, integer=True)
        for c, n in enumerate(per_column.tolist())
    ]
    for c, column in enumerate(psi):
        builder.at_most(f"(8c) column {c}", column[1:], column[:-1])
    worth = np.round(SCALE * values)
    theta = builder.variables("theta", len(values), upper=1, integer=True, cost=-worth)
    nodes = model.candidates.path_nodes[paths.leaf]
    flat = model.candidates.offsets[nodes] + paths.candidates
    literal = np.array([psi[c][k] for c, k in zip(places.column, places.threshold, strict=True)])
    depth = model.candidates.depth
    right = ((paths.leaf[:, np.newaxis] >> np.arange(depth - 1, -1, -1)) & 1).astype(np.bool_)
    _conjunctions(builder, theta, literal[flat], right)

    found: list[Float] = []
    asked = CpSat() if solver is None else solver
    asked.on_point = found.append
    try:
        outcome = _solved(asked, builder.build(), time_limit, 1)
    finally:
        asked.on_point = None
    if outcome.point is None:
        raise TimeUpError
    return [
        np.array([p[column].sum() for column in psi]).round().astype(np.int32)
        for p in found
        if values[p[theta] > 0.5].sum() > 1 + LEAST_VIOLATION
    ]


def _conjunctions(builder: ModelBuilder, theta: Index, literals: Index, right: Bool) -> None:
    """Add (8b): theta is one where every literal of its path holds, and only there.

    A literal holds where its variable is one, or zero where the path goes left.
    """
    sign = np.where(right, 1.0, -1.0)
    each = (theta[:, np.newaxis], 1.0), (literals, -sign)
    builder.add("(8b) each", literals.shape, *each, upper=np.where(right, 0.0, 1.0))
    n_missing = right.sum(axis=1) - 1.0  # what is left of the literals if all to the left hold
    builder.add("(8b) all", len(theta), (theta, 1.0), (literals, -sign), lower=-n_missing)
