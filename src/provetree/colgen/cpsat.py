"""The models that the papers give to CP-SAT: subproblems (2) and (3), and separation model (8).

CP-SAT knows whole numbers only, so objectives are multiplied by 1e5 and rounded, as published. The
core solves the same problems many times faster; these models are here to be compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.colgen.cuts import LEAST_VIOLATION, ThresholdPlaces
from provetree.colgen.master import Duals, TimeUpError
from provetree.colgen.paths import PathModel, Paths
from provetree.colgen.pricing import LEAST_REDUCED_COST, Allowed, Priced, kind_worth, reduced_costs

Float: TypeAlias = NDArray[np.float64]

#: The papers' scaling factor.
SCALE = 1e5


def cp_model() -> Any:
    """Return the module of CP-SAT, or say which extra brings it."""
    try:
        from ortools.sat.python import cp_model as module
    except ImportError as error:
        raise ImportError(
            "CP-SAT is part of ortools, which is not installed: pip install 'provetree[cpsat]'."
        ) from error
    return module


@dataclass(eq=False)
class CpSatPricing:
    """Exact pricing with CP-SAT.

    Parameters
    ----------
    model : PathModel
        The candidate problem.
    per_target : bool
        One subproblem (2) per leaf and target, instead of one merged subproblem (3) per leaf.
    workers : int
        Threads of CP-SAT.
    """

    model: PathModel
    per_target: bool = False
    workers: int = 1

    def __post_init__(self) -> None:
        cp_model()  # missing ortools is said before any work is done

    def price(self, duals: Duals, allowed: Allowed, time_limit: float = np.inf) -> Priced:
        """Return the best path of every subproblem whose reduced cost is positive."""
        if np.any(duals.route_price):
            raise ValueError(
                "CP-SAT cannot price routes. Use separation='search' or 'cpsat' with pricing='cpsat'."
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
        sat = cp_model()
        m = sat.CpModel()
        path_model = self.model
        candidates = path_model.candidates
        items = path_model.items
        nodes = candidates.path_nodes[leaf].tolist()
        start = _gamma_starts(path_model)[leaf]
        terms: list[Any] = []
        weights: list[float] = []

        def pay(variable: Any, value: float) -> None:
            if value != 0.0:
                terms.append(variable)
                weights.append(value)

        u: list[list[Any]] = []
        for level, j in enumerate(nodes):
            low = int(candidates.offsets[j])
            row = [m.new_bool_var("") for _ in range(int(candidates.sizes[j]))]
            m.add_exactly_one(row)  # (2b), (3b)
            for a, variable in enumerate(row):
                pay(variable, -float(duals.gamma[start[level] + a]))
                if not allowed.candidate[low + a]:
                    m.add(variable == 0)
            u.append(row)
        w = {t: m.new_bool_var("") for t in targets}
        m.add_exactly_one(list(w.values()))  # (3h)

        by_kind, leaf_price = kind_worth(path_model, duals)
        worth = items.weights @ by_kind
        inside = self._sides(leaf)
        active = m.new_bool_var("")
        counted = []
        for i in range(items.n_items):
            here = worth[i, targets]
            price = float(duals.item_price[i])
            counts = items.counts[i] > 0 and (leaf_price > 0 or path_model.min_count > 1)
            if not np.any(here) and price == 0.0 and not counts:
                continue
            y = m.new_bool_var("")
            follows = [sum(u[level][a] for a in inside[level][i]) for level in range(len(nodes))]
            for side in follows:
                m.add(y <= side)  # (2c), (2d), (3c), (3d)
            m.add(sum(follows) - (len(nodes) - 1) <= y)  # (2e), (3e)
            pay(y, -price)
            if counts:
                m.add(y <= active)
                counted.append((y, int(items.counts[i])))
            for t, value in zip(targets, here.tolist(), strict=True):
                if value == 0.0:
                    continue
                z = m.new_bool_var("")
                if value > 0:
                    m.add(z <= y)  # (3f)
                    m.add(z <= w[t])  # (3g)
                else:
                    m.add(z >= y + w[t] - 1)
                pay(z, value)
        if counted:
            pay(active, -leaf_price)
            m.add(sum(c * y for y, c in counted) >= path_model.min_count * active)
        scaled = [round(SCALE * value) for value in weights]
        m.maximize(sum(c * v for c, v in zip(scaled, terms, strict=True)))

        solver = sat.CpSolver()
        solver.parameters.num_workers = self.workers
        if np.isfinite(time_limit):
            solver.parameters.max_time_in_seconds = max(time_limit, 0.01)
        status = solver.solve(m)
        if status == sat.UNKNOWN:
            raise TimeUpError
        if status == sat.INFEASIBLE:
            return None, LEAST_REDUCED_COST
        if status != sat.OPTIMAL:
            raise TimeUpError
        rounding = 0.5 * len(weights) / SCALE
        bound = solver.best_objective_bound / SCALE + rounding - float(duals.alpha[leaf])
        chosen = [next(a for a, v in enumerate(row) if solver.value(v)) for row in u]
        target = next(t for t in targets if solver.value(w[t]))
        return (leaf, chosen, target), bound

    def _sides(self, leaf: int) -> list[list[list[int]]]:
        """For each level and item, the candidates that keep the item on the way to the leaf."""
        path_model = self.model
        candidates, core = path_model.candidates, path_model.items.core
        depth = candidates.depth
        sides: list[list[list[int]]] = []
        numbers = np.arange(path_model.items.n_items, dtype=np.int32)
        goes = core.goes_left().reshape(-1, path_model.items.n_items)
        for level, j in enumerate(candidates.path_nodes[leaf].tolist()):
            left = goes[candidates.offsets[j] : candidates.offsets[j + 1]]
            right = (leaf >> (depth - 1 - level)) & 1
            keeps = left == 0 if right else left != 0
            sides.append([np.flatnonzero(keeps[:, i]).tolist() for i in numbers])
        return sides


def _gamma_starts(model: PathModel) -> NDArray[np.int64]:
    sizes = model.candidates.sizes[model.candidates.path_nodes]
    starts = np.concatenate([[0], np.cumsum(sizes.ravel())])[:-1]
    return np.asarray(starts.reshape(sizes.shape), dtype=np.int64)


def separate_rows(
    model: PathModel, paths: Paths, values: Float, time_limit: float = np.inf
) -> list[NDArray[np.int32]]:
    """Solve separation model (8); return every row found whose constraint is violated.

    A row is given by its place in each column: how many thresholds it is right of.

    Parameters
    ----------
    model : PathModel
        The candidate problem.
    paths, values : Paths, array of float
        The positive paths of a solution of the master.
    time_limit : float
        Seconds.
    """
    sat = cp_model()
    places = ThresholdPlaces.of(model.candidates)
    m = sat.CpModel()
    psi = [[m.new_bool_var("") for _ in range(max(1, n))] for n in places.per_column]
    for column, n in zip(psi, places.per_column, strict=True):
        if n == 0:
            m.add(column[0] == 0)  # the split that sends every row left
        for low, high in zip(column[:-1], column[1:], strict=True):
            m.add_implication(low.negated(), high.negated())  # (8c)
    offsets = model.candidates.offsets
    depth = model.candidates.depth
    theta = []
    for leaf, path in zip(paths.leaf.tolist(), paths.candidates.tolist(), strict=True):
        literals = []
        for level, (j, a) in enumerate(
            zip(model.candidates.path_nodes[leaf].tolist(), path, strict=True)
        ):
            flat = int(offsets[j]) + a
            variable = psi[places.column[flat]][places.threshold[flat]]
            right = (leaf >> (depth - 1 - level)) & 1
            literals.append(variable if right else variable.negated())
        t = m.new_bool_var("")
        m.add_bool_and(literals).only_enforce_if(t)  # (8b)
        m.add_bool_or([literal.negated() for literal in literals] + [t])
        theta.append(t)
    m.maximize(sum(round(SCALE * v) * t for v, t in zip(values.tolist(), theta, strict=True)))

    class Collector(sat.CpSolverSolutionCallback):  # type: ignore[misc]
        """Keeps every solution on the way to the best."""

        def __init__(self) -> None:
            super().__init__()
            self.rows: list[NDArray[np.int32]] = []

        def on_solution_callback(self) -> None:
            value = sum(
                v for v, t in zip(values.tolist(), theta, strict=True) if self.boolean_value(t)
            )
            if value > 1 + LEAST_VIOLATION:
                row = [
                    sum(int(self.boolean_value(v)) for v in column) if n else 0
                    for column, n in zip(psi, places.per_column, strict=True)
                ]
                self.rows.append(np.array(row, dtype=np.int32))

    solver = sat.CpSolver()
    solver.parameters.num_workers = 1
    if np.isfinite(time_limit):
        solver.parameters.max_time_in_seconds = max(time_limit, 0.01)
    collector = Collector()
    status = solver.solve(m, collector)
    if status not in (sat.OPTIMAL, sat.FEASIBLE):
        raise TimeUpError
    return collector.rows
