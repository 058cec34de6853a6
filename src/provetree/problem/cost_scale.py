"""Between the whole units that an engine counts in and the costs that users see.

The number of errors is a whole number by itself. Any other loss is measured: the core counts in
units of about 2**-44 of what a single leaf costs and rounds each leaf up, so that its proofs stay
in whole numbers. A cost in the user's units is ``(units * unit + constant) / weight_scale``.

A proof of a measured loss therefore holds to :data:`TOLERANCE`, as a part of what the best single
leaf costs. The cost of the tree that is returned is worked out on the rows, without that rounding.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from provetree.problem.losses import leaf_cost
from provetree.problem.weights import as_decimal

if TYPE_CHECKING:
    from provetree.problem.problem import Problem

__all__ = ["TOLERANCE", "CostScale", "checked_cost", "cost_scale_of", "measured_penalty"]

#: Proofs of measured losses hold to this part of what the best single leaf costs.
TOLERANCE = 1e-9


class CostScale(NamedTuple):
    """How the units of a measured loss become costs; see the module.

    Examples
    --------
    >>> from provetree.problem.cost_scale import CostScale
    >>> CostScale(unit=0.25, constant=3.0, root=5.0, weight_scale=2.0).cost(4)
    2.0
    """

    unit: float  # cost of one unit, for whole weights
    constant: float  # part of the cost of every tree, for whole weights
    root: float  # what the best single leaf costs beyond the constant, for whole weights
    weight_scale: float  # whole units of weight per unit of the user's weight

    def cost(self, units: int) -> float:
        """Return a cost in the user's units."""
        return (units * self.unit + self.constant) / self.weight_scale

    def bound(self, units: int, most_leaves: int) -> float:
        """Return the cost that no tree of so many leaves is below, given a bound in units.

        Each leaf may have been rounded up by a unit.
        """
        rounding = max(TOLERANCE * self.root, most_leaves * self.unit)
        proven = max(units * self.unit - rounding, 0.0)
        return (proven + self.constant) / self.weight_scale

    def units(self, cost: float) -> int:
        """Return the units nearest to a cost in the user's units."""
        if not self.unit > 0:
            return 0
        return round((cost * self.weight_scale - self.constant) / self.unit)

    @property
    def root_units(self) -> int:
        """What the best single leaf costs, in units."""
        return math.ceil(self.root / self.unit) if self.unit > 0 else 0


def cost_scale_of(problem: Problem) -> CostScale:
    """Return the scale of the costs of a problem whose loss is measured."""
    table, times = problem.table, problem.error_scale
    unit, constant = float(table.cost_unit) / times, float(table.constant) / times
    root = max(leaf_cost(problem, slice(None)) - constant, 0.0)
    return CostScale(unit, constant, root, float(problem.weight_scale))


def measured_penalty(scale: CostScale, alpha: float) -> int:
    """Return the penalty per split in units: a share `alpha` of what the best single leaf costs.

    At the cost of a single leaf no split pays, so a larger penalty changes nothing.
    """
    root = scale.root_units
    return min(round(as_decimal(alpha) * root), root)


def checked_cost(problem: Problem, claimed: int, leaves: float, n_splits: int) -> float:
    """Return what a tree costs in the user's units, given what its leaves cost on the rows.

    It must be what the engine claims, within the tolerance.

    Examples
    --------
    >>> from provetree import ExactSearch, build_problem
    >>> from provetree.problem.cost_scale import checked_cost
    >>> problem = build_problem([[1], [2], [3]], [5.0, 6.0, 7.0], loss="squared_error", max_depth=0)
    >>> checked_cost(problem, problem.root_error, leaves=2.0, n_splits=0)
    2.0
    >>> checked_cost(problem, problem.root_error // 2, leaves=2.0, n_splits=0)
    Traceback (most recent call last):
        ...
    RuntimeError: provetree core: a tree does not cost what the search claims; please report this.
    """
    scale = problem.cost_scale
    penalties = problem.split_penalty * n_splits * scale.unit
    exact = leaves + penalties
    told = claimed * scale.unit + scale.constant
    # Each leaf is rounded up to a unit. The constant and the leaves are sums of numbers that may be
    # far larger than the root's cost.
    rounding = (n_splits + 1) * scale.unit + 2.0**-40 * (abs(scale.constant) + abs(leaves))
    if not abs(told - exact) <= TOLERANCE * scale.root + rounding:
        raise RuntimeError(
            "provetree core: a tree does not cost what the search claims; please report this."
        )
    return exact / scale.weight_scale
