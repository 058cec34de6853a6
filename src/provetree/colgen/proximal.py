"""Multipliers of the relaxation by a proximal bundle method, for many paths.

With few columns the multipliers of the master are hardly constrained and jump between extremes.
Here they are pulled towards the best ones so far. The first multipliers price each item at its full
worth, so the first bound is that of a tree without avoidable errors. The method gives columns and a
bound, which an exact solve of the master then confirms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, hstack, vstack

from provetree.colgen.interior import Pull, solve_interior
from provetree.colgen.paths import Paths
from provetree.colgen.pricing import Allowed, ExactPricing, Priced
from provetree.number_types import Bool, Float

if TYPE_CHECKING:
    from provetree.colgen.generation import Generation


#: Paths of each leaf that are added at a time, and where pricing happens besides the end of a step:
#: at this share of the way, which mostly has the lower bound. Pricing takes a small part of the
#: time of a step, so both pay off.
_COLUMNS = 60
_SHORT = 0.5
#: Columns unused in this many solutions are removed, while the promised gain is more than this many
#: times the accepted gap.
_MOST_IDLE = 10
_NEAR = 2
_IDLE = 1e-4
#: A step is accepted if the bound falls by this share of what the columns promise; from the second
#: share on the next step may be longer.
_STEP, _LONG_STEP = 0.1, 0.5
#: Steps become longer if they promise less than this share of the distance to the best tree's
#: value.
_LEVEL = 0.6
_MOST_ROUNDS = 80
#: Items whose price becomes free at a time, and by how much of their worth they are off then.
_FREED = 200
_OFF = 1e-3
#: A step is solved up to this share of what the last one promised and with this error of the
#: constraints (a tenth of it towards the end), from the last solution and so many times the gap.
_STEP_GAP = 0.1
_STEP_ERROR = 1e-3
_START_GAP = 3.0


@dataclass(eq=False)
class _Columns:
    """The paths at hand, as columns over the constraints that join leaves and over items.

    ``part`` is the share of each in the last solution; ``idle`` counts solutions that hardly used
    it.
    """

    paths: Paths
    joining: csc_array
    items: csc_array
    worth: Float
    idle: NDArray[np.intp]
    part: Float

    def taken(self, kept: Bool) -> _Columns:
        return _Columns(
            self.paths.take(kept),
            csc_array(self.joining[:, kept]),
            csc_array(self.items[:, kept]),
            self.worth[kept],
            self.idle[kept],
            self.part[kept],
        )


class Proximal:
    """Searches the multipliers with the lowest bound, beside the master of a generation."""

    def __init__(self, generation: Generation, allowed: Allowed) -> None:
        self._generation, self._allowed = generation, allowed
        self._model, self._master = generation.model, generation.master
        self._pricing = ExactPricing(self._model, _COLUMNS)
        self._agreement = self._master.agreement
        n_items = self._model.items.n_items
        worth = self._model.items.weights @ (self._model.profit / self._model.unit)
        self._item_worth = np.maximum(worth.max(axis=1), 0.0)
        #: Average worth of a row: the unit of the steps.
        self._unit = self._item_worth.sum() / max(int(self._model.items.counts.sum()), 1) or 1.0
        #: Prices of the items; those that are not free stay what they are.
        self._free = np.zeros(n_items, dtype=np.bool_)
        self._price = self._item_worth.copy()
        self._joining = np.zeros(self._agreement.shape[0])
        self._columns = self._of(self._master.paths)
        self._known = set(self._columns.paths.keys())

    def run(self, wanted: float, known: float) -> float:
        """Move the multipliers until the bound promises to fall by less than half of `wanted`.

        Returns the bound; the columns that were used are then in the master. The master is known to
        have the value `known`, so a bound this close to it is the least one.
        """
        clock = self._generation.clock
        best, priced = self._bound(self._joining, self._price)
        self._add(priced.paths)
        length = 1.0
        gap, error = max(self._item_worth.sum() / 200, wanted / 8), _STEP_ERROR
        for _ in range(_MOST_ROUNDS):
            clock.check()
            with clock.part("master"):
                solved = self._step(length, gap, error)
            if solved is None:
                break
            joining, price = solved
            promised = best + float(joining[: self._master.n_leaves].sum()) - float(price.sum())
            with clock.part("pricing"):
                found, priced = self._bound(joining, price)
                nearer = self._joining + _SHORT * (joining - self._joining)
                cheaper = self._price + _SHORT * (price - self._price)
                short, also = self._bound(nearer, cheaper)
            freed = self._set_free()
            if found > best + 2 * promised and promised > wanted:
                length /= 2
            elif found <= best - _LONG_STEP * promised:
                length *= 3
            elif promised < _LEVEL * (best - known):
                length *= 1.5  # too near the centre to reach what is known to be possible
            if short < found:
                found, joining, price = short, nearer, cheaper
            moved = found <= best - _STEP * promised
            if found < best:
                best, self._joining, self._price = found, joining, price
            self._generation.tell(min(known, best), best, len(self._columns.worth))
            if best - known <= wanted or (promised <= wanted / 2 and not freed):
                break
            gap = max(_STEP_GAP * promised, wanted / 8)
            error = _STEP_ERROR if promised > 2 * wanted else _STEP_ERROR / 10
            with clock.part("columns"):
                if moved and promised > _NEAR * wanted:
                    self._drop()  # otherwise the same columns would come and go
                self._add(priced.paths)
                self._add(also.paths)
        with clock.part("columns"):
            self._master.add_paths(self._columns.paths)
        return best

    def _of(self, paths: Paths) -> _Columns:
        """Return the columns of paths."""
        model, master = self._model, self._master
        n = len(paths)
        rows = [paths.leaf.astype(np.int64)]
        for level in range(model.candidates.depth):
            rows.append(master.link_rows(paths, level))
        at = np.tile(np.arange(n), len(rows))
        entries = (np.concatenate(rows), at)
        base = csr_array((np.ones(len(at)), entries), shape=(self._agreement.shape[1], n))
        every = np.arange(model.items.n_items, dtype=np.int32)
        path, item = model.items.core.incidence(paths.leaf, paths.candidates, every)
        items = csc_array((np.ones(len(path)), (item, path)), shape=(len(every), n))
        worth = model.worths(paths, model.totals(paths)) / model.unit
        idle = np.zeros(n, dtype=np.intp)
        return _Columns(paths, csc_array(self._agreement @ base), items, worth, idle, np.zeros(n))

    def _add(self, paths: Paths) -> None:
        new = [i for i, key in enumerate(paths.keys()) if key not in self._known]
        paths = paths.take(np.array(new, dtype=np.intp))
        if len(paths):
            paths = paths.take(self._model.allowed(self._model.totals(paths)))
        if len(paths) == 0:
            return
        self._known.update(paths.keys())
        old, more = self._columns, self._of(paths)
        self._columns = _Columns(
            Paths.joined([old.paths, paths]),
            csc_array(hstack([old.joining, more.joining], format="csc")),
            csc_array(hstack([old.items, more.items], format="csc")),
            np.concatenate([old.worth, more.worth]),
            np.concatenate([old.idle, more.idle]),
            np.concatenate([old.part, more.part]),
        )

    def _drop(self) -> None:
        columns = self._columns
        columns.idle = np.where(columns.part < _IDLE, columns.idle + 1, 0)
        kept = columns.idle < _MOST_IDLE
        if not kept.all():
            self._known.difference_update(columns.paths.take(~kept).keys())
            self._columns = columns.taken(kept)

    def _step(self, length: float, gap: float, error: float) -> tuple[Float, Float] | None:
        """Return the multipliers of the columns at hand near the best ones; note the columns' part.

        Constraints are ``joining`` and one per free item, whose slack keeps its price from falling
        below zero.
        """
        columns, free = self._columns, np.flatnonzero(self._free)
        n_joining = self._agreement.shape[0]
        below = csr_array(columns.items.tocsr()[free])
        paths = vstack([columns.joining.tocsr(), below], format="csc")
        ones = np.ones(len(free))
        slack = csr_array(
            (ones, (n_joining + np.arange(len(free)), np.arange(len(free)))),
            shape=(n_joining + len(free), len(free)),
        )
        fixed = np.where(self._free, 0.0, self._price)
        worth = columns.worth - columns.items.T @ fixed
        leaves = np.zeros(n_joining)
        leaves[: self._master.n_leaves] = 1.0
        unit = self._unit
        scale = np.maximum(self._item_worth[free] / unit, 1.0)
        scale = np.concatenate([np.ones(n_joining), scale])
        strength = 1 / (length * scale**2)
        strength[: self._master.n_leaves] = 0.0
        centre = np.concatenate([self._joining, -self._price[free]]) / unit
        start: Float | None = None
        if columns.part.any():
            uncovered = np.maximum(1 - columns.items @ columns.part, 0.0)[free]
            start = np.concatenate([uncovered, columns.part])
        product = _START_GAP * gap / unit / len(columns.part)
        pull = Pull(centre, strength, start, product)
        point = solve_interior(
            csc_array(hstack([slack, paths], format="csc")),
            np.concatenate([leaves, ones]),
            np.concatenate([np.zeros(len(free)), -worth / unit]),
            gap=gap / unit,
            error=error,
            go_on=self._generation.clock.check,
            pull=pull,
        )
        if not point.accurate:
            return None
        columns.part = point.x[len(free) :]
        price = self._price.copy()
        price[free] = np.maximum(-point.multiplier[n_joining:] * unit, 0.0)
        return point.multiplier[:n_joining] * unit, price

    def _set_free(self) -> int:
        """Free the prices of items that the last solution does not cover once."""
        off = np.abs(1 - self._columns.items @ self._columns.part) * self._item_worth
        off[self._free] = 0.0
        order = np.argsort(-off, kind="stable")[:_FREED]
        order = order[off[order] > _OFF * self._unit]
        self._free[order] = True
        return len(order)

    def _bound(self, joining: Float, price: Float) -> tuple[float, Priced]:
        master = self._master
        by_leaf = -(self._agreement.T @ joining)
        n = master.n_leaves
        duals = replace(
            self._generation.no_prices(),
            alpha=by_leaf[:n],
            gamma=by_leaf[n : n + len(master.link_candidate)],
            item_price=price,
            offset=float(by_leaf[:n].sum() + price.sum()),
        )
        priced = self._pricing.price(duals, self._allowed, self._generation.clock.left)
        bound = self._generation.bound_of(duals, priced, self._allowed)
        return bound, priced
