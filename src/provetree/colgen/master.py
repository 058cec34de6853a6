"""The restricted master problem on HiGHS: constraints (1b), (1d), cuts (1c) and coupling rows.

Columns and cuts are added in place and simplex starts from the last basis: primal after new
columns, dual after new cuts. A solve that ends badly is repeated from scratch, and counted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csc_array, csr_array, eye_array, hstack

from provetree.colgen.interior import solve_interior
from provetree.colgen.paths import PathModel, Paths
from provetree.number_types import Float, Int, Int32
from provetree.solvers.highs import FAULTY_PRESOLVE, quiet_highs
from provetree.solvers.solver import interrupts

MipEnd = Literal["solved", "time_limit", "interrupted"]

#: Values of path variables below this count as zero.
ZERO = 1e-9
#: The same for an interior point, whose variables are all positive.
_INTERIOR_ZERO = 1e-7
#: To miss a (1d) constraint costs the worth of all rows over this.
_MISS_SHARE = 20
_PRIMAL, _DUAL = 4, 1


class MasterError(RuntimeError):
    """The master problem could not be solved, not even from scratch."""


class TimeUpError(Exception):
    """The time limit was reached; whoever holds the best tree and a valid bound catches it."""


def raise_if_stopped(status: str) -> None:
    """Raise what stands for how something ended: "time_limit", "interrupted", or neither."""
    if status == "interrupted":
        raise KeyboardInterrupt
    if status == "time_limit":
        raise TimeUpError


@dataclass(frozen=True, eq=False)
class Duals:
    """Multipliers of the master, for a maximisation: alpha (1b), gamma (1d), beta (1c).

    ``item_price`` is beta by item, ``route_price`` by route, ``coupling`` by coupling row.
    ``offset`` is the part of a bound that does not depend on the paths.
    """

    alpha: Float
    gamma: Float
    item_price: Float
    route_price: Float
    coupling: Float
    offset: float
    phase_one: bool


@dataclass(frozen=True, eq=False)
class MasterSolution:
    """An optimal solution of the restricted master."""

    value: float
    x: Float
    rho: Float
    artificial: float
    duals: Duals


class Master:
    """The restricted master problem of a path model."""

    def __init__(self, model: PathModel) -> None:
        self.model = model
        candidates = model.candidates
        self.paths = Paths.none(candidates.depth)
        self._known: set[tuple[int, ...]] = set()
        # Entries of the path columns: row, column; those of coupling rows are not needed here.
        self._entries: list[tuple[Int, Int]] = []
        self._worth = np.empty(0)
        self.cut_items: list[int] = []  # item of each cut, -1 for a route
        self.cut_routes: list[int] = []  # route of each cut, -1 for an item
        self._cut_forms: list[str] = []
        self.resolves = 0
        self._phase_one = False
        self._rows_changed = False

        nodes = candidates.path_nodes
        self.n_leaves = candidates.n_leaves
        # Row numbers of (1d): leaf by leaf, level by level, candidate by candidate.
        self._link = self.n_leaves + candidates.link_starts
        self._n_links = int(candidates.sizes[nodes].sum())
        self._first_coupling = self.n_leaves + self._n_links
        self._first_cut = self._first_coupling + len(model.rows)
        self._n_rho = int(candidates.offsets[-1])
        # For every link row the candidate of the tree it belongs to.
        self.link_candidate = np.concatenate(
            [candidates.offsets[j] + np.arange(candidates.sizes[j]) for j in nodes.ravel()]
        )
        self._h = self._empty_model()

    # -- building ------------------------------------------------------------------------

    def _empty_model(self) -> Any:
        h = quiet_highs(threads=1, presolve="off", solver="simplex")
        rows = self.model.rows
        low = [1.0] * self.n_leaves + [0.0] * self._n_links
        high = list(low)
        for row in rows:
            low.append(row.low / row.scale / self.model.unit if row.has_low else -highspy.kHighsInf)
            high.append(
                row.high / row.scale / self.model.unit if row.has_high else highspy.kHighsInf
            )
        add_empty_rows(h, low, high)
        # rho: one column per candidate, in the link rows of all leaves below its node.
        order = np.argsort(self.link_candidate, kind="stable").astype(np.int32)
        counts = np.bincount(self.link_candidate, minlength=self._n_rho)
        _add_columns(
            h,
            np.zeros(self._n_rho),
            counts,
            self.n_leaves + order,
            np.full(self._n_links, -1.0),
        )
        # Artificial columns let coupling rows be broken while no path keeps them yet.
        signs = [
            (i, sign)
            for i, row in enumerate(rows)
            for sign, may_miss in ((1.0, row.has_low), (-1.0, row.has_high))
            if may_miss
        ]
        self._n_artificial = len(signs)
        _add_columns(
            h,
            np.zeros(len(signs)),
            np.ones(len(signs), dtype=np.int64),
            np.array([self._first_coupling + i for i, _ in signs], dtype=np.int32),
            np.array([sign for _, sign in signs]),
        )
        self._first_path = self._n_rho + self._n_artificial
        return h

    @property
    def n_columns(self) -> int:
        """Number of path columns."""
        return len(self.paths)

    @property
    def _choices(self) -> Int32:
        """The columns of the splits and of the paths."""
        paths = self._first_path + np.arange(self.n_columns)
        return np.concatenate([np.arange(self._n_rho), paths]).astype(np.int32)

    def link_rows(self, paths: Paths, level: int) -> Int:
        """Return the (1d) constraints of the splits that paths use at a level."""
        rows: Int = self._link[paths.leaf, level] + paths.candidates[:, level]
        return rows

    @property
    def n_cuts(self) -> int:
        """Number of cuts."""
        return len(self.cut_items)

    def add_paths(self, paths: Paths) -> int:
        """Add paths that are not there yet and have enough rows; return how many."""
        new = []
        for i, key in enumerate(paths.keys()):
            if key not in self._known:
                self._known.add(key)
                new.append(i)
        if not new:
            return 0
        paths = paths.take(np.array(new, dtype=np.intp))
        totals = self.model.totals(paths)
        fitting = self.model.allowed(totals)
        if not fitting.all():
            paths = paths.take(fitting)
            totals = self.model.totals(paths)
        if len(paths) == 0:
            return 0
        worth = self.model.worths(paths, totals) / self.model.unit
        n, depth = paths.candidates.shape
        at = np.arange(n)
        parts: list[tuple[Any, Any, Any]] = [(at, paths.leaf, np.ones(n))]
        for level in range(depth):
            parts.append((at, self.link_rows(paths, level), np.ones(n)))
        for i, row in enumerate(self.model.rows):
            value = self.model.row_value(row, paths, totals) / row.scale / self.model.unit
            there = np.flatnonzero(value)
            parts.append((there, np.full(len(there), self._first_coupling + i), value[there]))
        parts += self._cut_entries(paths, 0)
        column, rows, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.argsort(column, kind="stable")
        costs = np.zeros(n) if self._phase_one else -worth
        _add_columns(
            self._h,
            costs,
            np.bincount(column, minlength=n),
            rows[order].astype(np.int32),
            values[order],
        )
        self._entries.append((rows[values == 1.0], column[values == 1.0] + self.n_columns))
        self.paths = Paths.joined([self.paths, paths])
        self._worth = np.concatenate([self._worth, worth])
        return len(paths)

    def _cut_entries(self, paths: Paths, first: int) -> list[tuple[Any, Any, Any]]:
        """Return the matrix entries of paths in the cuts from number `first` on."""
        core = self.model.items.core
        parts = []
        items = [(k, i) for k, i in enumerate(self.cut_items) if i >= 0 and k >= first]
        if items and len(paths):
            rows = np.array([self._first_cut + k for k, _ in items])
            numbers = np.array([i for _, i in items], dtype=np.int32)
            path, place = core.incidence(paths.leaf, paths.candidates, numbers)
            parts.append((path, rows[place], np.ones(len(path))))
        routes = {r: k for k, r in enumerate(self.cut_routes) if r >= 0 and k >= first}
        if routes and len(paths):
            least = min(routes)
            path, route = core.route_incidence(paths.leaf, paths.candidates, least)
            kept = np.isin(route, list(routes))
            rows = np.array([self._first_cut + routes[r] for r in route[kept].tolist()])
            parts.append((path[kept], rows.astype(np.int64), np.ones(len(rows))))
        return parts

    def add_cuts(self, items: list[int], routes: list[int], form: str) -> None:
        """Add constraints (1c) of items and routes of the core, given by their numbers.

        The form "upper", "lower" or "equality" says which bounds of ``sum == 1`` are used.
        """
        first = self.n_cuts
        self.cut_items += [*items, *([-1] * len(routes))]
        self.cut_routes += [*([-1] * len(items)), *routes]
        n = len(items) + len(routes)
        if n == 0:
            return
        self._cut_forms += [form] * n
        nothing = np.empty(0, dtype=np.int64)
        parts = [(nothing, nothing, np.empty(0)), *self._cut_entries(self.paths, first)]
        column, row, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        self._entries.append((row, column))
        row = row - self._first_cut - first
        order = np.argsort(row, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))[:-1]])
        low = -highspy.kHighsInf if form == "upper" else 1.0
        high = highspy.kHighsInf if form == "lower" else 1.0
        self._h.addRows(
            n,
            np.full(n, low),
            np.full(n, high),
            len(values),
            starts.astype(np.int32),
            (self._first_path + column[order]).astype(np.int32),
            values[order],
        )
        self._rows_changed = True

    # -- branching and phases --------------------------------------------------------------

    def restrict(
        self, allowed_candidate: NDArray[np.uint8], allowed_target: NDArray[np.uint8]
    ) -> None:
        """Forbid the paths that use a candidate or a target that is not allowed."""
        usable = allowed_target[self.paths.leaf, self.paths.target] != 0
        offsets = self.model.candidates.offsets
        nodes = self.model.candidates.path_nodes[self.paths.leaf]
        for level in range(self.model.candidates.depth):
            flat = offsets[nodes[:, level]] + self.paths.candidates[:, level]
            usable &= allowed_candidate[flat] != 0
        upper = np.concatenate(
            [
                np.where(allowed_candidate != 0, highspy.kHighsInf, 0.0),
                np.where(usable, highspy.kHighsInf, 0.0),
            ]
        )
        columns = self._choices
        self._h.changeColsBounds(len(columns), columns, np.zeros(len(columns)), upper)

    def set_phase(self, phase_one: bool) -> None:
        """In phase one the artificial columns are minimised, after it they are kept at zero."""
        if self._n_artificial == 0:
            return
        self._phase_one = phase_one
        artificial = np.arange(self._n_rho, self._first_path, dtype=np.int32)
        n = len(artificial)
        self._h.changeColsCost(n, artificial, np.full(n, 1.0 if phase_one else 0.0))
        self._h.changeColsBounds(
            n, artificial, np.zeros(n), np.full(n, highspy.kHighsInf if phase_one else 0.0)
        )
        columns = (self._first_path + np.arange(self.n_columns)).astype(np.int32)
        costs = np.zeros(self.n_columns) if phase_one else -self._worth
        self._h.changeColsCost(self.n_columns, columns, costs)

    def loosen(self, width: float) -> None:
        """Let the constraints (1d) be missed by a little, differently each; zero ends that.

        The optima of the master are very degenerate, and simplex pivots for long without getting
        anywhere. With a little room, random so that no two constraints tie, it does not.
        """
        rng = np.random.default_rng(0)
        room = width * rng.uniform(0.5, 1.0, self._n_links)
        rows = np.arange(self.n_leaves, self._first_coupling, dtype=np.int32)
        self._h.changeRowsBounds(self._n_links, rows, -room, room)
        self._rows_changed = True

    # -- solving -----------------------------------------------------------------------------

    def solve(self, time_limit: float = np.inf) -> MasterSolution | None:
        """Solve the restricted master; None when it is infeasible."""
        h, known = self._h, highspy.HighsModelStatus
        h.setOptionValue("simplex_strategy", _DUAL if self._rows_changed else _PRIMAL)
        self._rows_changed = False
        if np.isfinite(time_limit):
            # HiGHS counts the time of all its runs.
            h.setOptionValue("time_limit", max(time_limit, 0.01) + h.getRunTime())
        h.run()
        status = h.getModelStatus()
        for attempt in range(2):
            if status in (known.kOptimal, known.kInfeasible, known.kTimeLimit):
                break
            # Numerical trouble or cycling: forget the basis; the second time change the method.
            self.resolves += 1
            h.clearSolver()
            h.setOptionValue("simplex_strategy", _DUAL if attempt == 0 else _PRIMAL)
            h.run()
            status = h.getModelStatus()
        if status == known.kTimeLimit:
            raise TimeUpError
        if status == known.kInfeasible:
            return None
        if status != known.kOptimal:
            raise MasterError(
                "The master problem could not be solved, not even from scratch: HiGHS ended with "
                f"status '{h.modelStatusToString(status)}'."
            )
        solution = h.getSolution()
        values = np.asarray(solution.col_value, dtype=np.float64)
        row_dual = -np.asarray(solution.row_dual, dtype=np.float64)
        x = values[self._first_path :]
        return MasterSolution(
            value=-float(h.getObjectiveValue()),
            x=np.where(x > ZERO, x, 0.0),
            rho=values[: self._n_rho],
            artificial=float(values[self._n_rho : self._first_path].sum()),
            duals=self._duals(row_dual),
        )

    def solve_interior(
        self, gap: float, time_limit: float = np.inf, miss_price: float = 1.0
    ) -> MasterSolution | None:
        """Solve the restricted master up to a gap by an interior-point method, without coupling.

        A (1d) constraint may be missed at a price, which keeps the multipliers bounded while it has
        few columns; ``artificial`` says by how much they are. None when the answer is not accurate.
        """
        assert not self.model.rows
        stop = time.perf_counter() + time_limit

        def go_on() -> None:
            if time.perf_counter() > stop:
                raise TimeUpError

        price = miss_price * max(self.model.whole / self.model.unit / _MISS_SHARE, 1.0)
        open_ = np.flatnonzero(np.array(self._cut_forms, dtype=object) != "equality")
        sign = np.array([1.0 if self._cut_forms[k] == "upper" else -1.0 for k in open_.tolist()])
        # The splits' columns drop out: the leaves below a node agree with one another on them.
        joined = block_diag((self.agreement, eye_array(self.n_cuts)), format="csr")
        m, n_links = joined.shape[0], self.agreement.shape[0] - self.n_leaves
        entries = [np.concatenate(part) for part in zip(*self._entries, strict=True)]
        shape = (self._first_cut + self.n_cuts, self.n_columns)
        paths = joined @ csr_array((np.ones(len(entries[0])), tuple(entries)), shape=shape)
        miss = eye_array(m, n_links, k=-self.n_leaves)
        slack = csr_array(
            (sign, (m - self.n_cuts + open_, np.arange(len(open_)))), shape=(m, len(open_))
        )
        matrix = hstack([miss, -miss, slack, paths], format="csc")
        first = 2 * n_links + len(open_)
        right = np.concatenate([np.ones(self.n_leaves), np.zeros(n_links), np.ones(self.n_cuts)])
        cost = np.concatenate([np.full(2 * n_links, price), np.zeros(len(open_)), -self._worth])
        point = solve_interior(csc_array(matrix), right, cost, gap=gap, go_on=go_on)
        if not point.accurate:
            return None
        x = point.x[first:]
        return MasterSolution(
            value=float(self._worth @ x),
            x=np.where(x > _INTERIOR_ZERO, x, 0.0),
            rho=np.zeros(self._n_rho),
            artificial=float(point.x[: 2 * n_links].sum()),
            duals=self._duals(-(joined.T @ point.multiplier)),
        )

    @cached_property
    def agreement(self) -> csr_array:
        """Rows that give (1b), and for (1d) that neighbouring leaves below a node use it alike."""
        candidates = self.model.candidates
        n = self.n_leaves
        rows, columns, values = [np.arange(n)], [np.arange(n)], [np.ones(n)]
        for leaf in range(n - 1):
            for level in range(candidates.depth):
                node = candidates.path_nodes[leaf, level]
                if candidates.path_nodes[leaf + 1, level] != node:
                    continue
                at = np.arange(candidates.sizes[node])
                for side, value in ((leaf, 1.0), (leaf + 1, -1.0)):
                    rows.append(n + at)
                    columns.append(self._link[side, level] + at)
                    values.append(np.full(len(at), value))
                n += len(at)
        entries = (np.concatenate(rows), np.concatenate(columns))
        return csr_array((np.concatenate(values), entries), shape=(n, self._first_cut))

    def forget_basis(self) -> None:
        """Make the next solve start from scratch; counted as trouble."""
        self.resolves += 1
        self._h.clearSolver()

    def _duals(self, dual: Float) -> Duals:
        model = self.model
        alpha = dual[: self.n_leaves]
        gamma = dual[self.n_leaves : self._first_coupling]
        coupling = dual[self._first_coupling : self._first_cut].copy()
        beta = dual[self._first_cut :].copy()
        offset = float(alpha.sum())
        for i, row in enumerate(model.rows):
            # A multiplier of the wrong sign is rounding: it would price a bound that is not there.
            bound = row.high if coupling[i] > 0 else row.low
            if row.has_high if coupling[i] > 0 else row.has_low:
                offset += coupling[i] * bound / row.scale / model.unit
            else:
                coupling[i] = 0.0
        forms = np.array(self._cut_forms, dtype=object)
        beta[(forms == "upper") & (beta < 0)] = 0.0
        beta[(forms == "lower") & (beta > 0)] = 0.0
        offset += float(beta.sum())
        item_price = np.zeros(model.items.n_items)
        route_price = np.zeros(model.items.core.n_routes)
        of_item = np.array(self.cut_items, dtype=np.intp)
        of_route = np.array(self.cut_routes, dtype=np.intp)
        np.add.at(item_price, of_item[of_item >= 0], beta[of_item >= 0])
        np.add.at(route_price, of_route[of_route >= 0], beta[of_route >= 0])
        return Duals(alpha, gamma, item_price, route_price, coupling, offset, self._phase_one)

    def integer_solution(self, time_limit: float) -> tuple[Float | None, MipEnd]:
        """Solve the restricted master as a MIP, as published, and say how it ended.

        Returns how much of each path the best solution uses, None where none was found. Only
        "solved" says that the columns hold nothing better.
        """
        h = quiet_highs(threads=1, presolve_rule_off=FAULTY_PRESOLVE)
        h.passModel(self._h.getModel())
        columns = self._choices
        whole = np.full(len(columns), int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        h.changeColsIntegrality(len(columns), columns, whole)
        h.setOptionValue("mip_abs_gap", 0.5 / self.model.unit)
        h.setOptionValue("mip_rel_gap", 0.0)
        if np.isfinite(time_limit):
            h.setOptionValue("time_limit", max(time_limit, 0.1))
        with interrupts() as interrupted:

            def watch(kind: Any, message: str, out: Any, answer: Any, data: Any) -> None:
                answer.user_interrupt = interrupted.is_set()

            h.setCallback(watch, None)
            # Asked from the first node on: the relaxation at the root runs to its end.
            h.startCallback(highspy.cb.HighsCallbackType.kCallbackMipInterrupt)
            h.run()
            h.setCallback(None, None)
            ended: MipEnd = "interrupted" if interrupted.is_set() else "solved"
        if h.getModelStatus() == highspy.HighsModelStatus.kTimeLimit:
            ended = "time_limit"
        if h.getInfo().primal_solution_status != highspy.kSolutionStatusFeasible:
            return None, ended
        values = np.asarray(h.getSolution().col_value, dtype=np.float64)
        return values[self._first_path :], ended


def add_empty_rows(h: Any, low: list[float], high: list[float]) -> None:
    """Add rows with bounds and no entries yet."""
    n, none = len(low), np.empty(0, dtype=np.int32)
    h.addRows(n, np.array(low), np.array(high), 0, np.zeros(n, np.int32), none, np.empty(0))


def _add_columns(h: Any, cost: Any, counts: Any, index: Any, value: Any) -> None:
    n = len(cost)
    if n == 0:
        return
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int32)
    h.addCols(
        n,
        np.asarray(cost, dtype=np.float64),
        np.zeros(n),
        np.full(n, highspy.kHighsInf),
        len(index),
        starts,
        np.asarray(index, dtype=np.int32),
        np.asarray(value, dtype=np.float64),
    )
