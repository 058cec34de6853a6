"""Between the whole units that an engine counts in and the costs that users see.

The number of errors is a whole number by itself. Any other loss is measured: the core counts in
units of about 2**-44 of what a single leaf costs and rounds each leaf up, so that its proofs stay
in whole numbers. A cost in the user's units is ``(units * unit + constant) / weight_scale``.

Where costs are whole numbers of a coarser unit by themselves (distances and costs of few decimals)
nothing is rounded; :meth:`~provetree.Problem.with_fine_units` is for penalties then.

A proof of a measured loss therefore holds to :data:`TOLERANCE`, as a part of what the best single
leaf costs. The cost of the tree that is returned is worked out on the rows, without that rounding.

The core also rounds targets, to 46 bits of their range. Weights that are no short decimals have a
total of 30 bits; 31 are left for targets then, and bounds give away what that can mean.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from provetree.problem.losses import leaf_cost
from provetree.problem.weights import as_decimal

if TYPE_CHECKING:
    from provetree.problem.problem import Problem

__all__ = [
    "TOLERANCE",
    "CostScale",
    "checked_cost",
    "cost_bits",
    "cost_scale_of",
    "measured_penalty",
]

#: Proofs of measured losses hold to this part of what the best single leaf costs.
TOLERANCE = 1e-9

#: Bits of what the best single leaf costs in units, and how many more slack may have. Together, and
#: times the number of splits, costs must fit into the core's 60 bits.
_COST_BITS, _SLACK_BITS, _BITS_WITH_SPLITS = 44, 9, 50
#: Bits of targets in the core, and of their sums by weight.
_TARGET_BITS, _SUM_BITS = 46, 61


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
    #: Whether costs are whole numbers of units by themselves, so that no leaf is rounded.
    is_coarse: bool = False
    #: What rounding the targets can mean for the cost of a tree.
    of_targets: float = 0.0

    def rounding(self, n_leaves: int) -> float:
        """Return what roundings can mean for the cost of a tree, for whole weights."""
        return self.of_targets + (0.0 if self.is_coarse else n_leaves * self.unit)

    def cost(self, units: int) -> float:
        """Return a cost in the user's units."""
        return (units * self.unit + self.constant) / self.weight_scale

    def bound(self, units: int, most_leaves: int) -> float:
        """Return the cost that no tree of so many leaves is below, given a bound in units.

        What may have been rounded is given away.
        """
        given_away = max(TOLERANCE * self.root, self.rounding(most_leaves))
        proven = max(units * self.unit - given_away, 0.0)
        return (proven + self.constant) / self.weight_scale

    def units(self, cost: float) -> int:
        """Return the units nearest to a cost in the user's units."""
        return round((cost * self.weight_scale - self.constant) / self.unit)

    @property
    def exact_root_units(self) -> Fraction:
        """What the best single leaf costs, in units, before rounding."""
        units = self.root / self.unit
        return Fraction(round(units) if self.is_coarse else units)

    @property
    def root_units(self) -> int:
        """What the best single leaf costs, in units, rounded up as the core does."""
        return math.ceil(self.exact_root_units)


def cost_bits(max_splits: int) -> int:
    """Return the bits of costs: as many as the number of splits leaves room for."""
    return min(_COST_BITS, max(8, _BITS_WITH_SPLITS - (max_splits + 2).bit_length()))


def cost_scale_of(problem: Problem) -> CostScale:
    """Return the scale of the costs of a problem whose loss is measured."""
    table, times = problem.table, problem.error_scale
    unit, constant = float(table.cost_unit) / times, float(table.constant) / times
    root = max(leaf_cost(problem, slice(None)) - constant, 0.0)
    # The core takes no coarser unit than it must, unless costs are whole numbers of it.
    bits = cost_bits(problem.max_splits)
    finest = max(root * 2.0**-bits, _reach(problem) * 2.0 ** -(bits + _SLACK_BITS))
    scale = CostScale(unit, constant, root, float(problem.weight_scale), unit > 1.001 * finest)
    return scale._replace(of_targets=_target_rounding(problem, scale))


def _reach(problem: Problem) -> float:
    """Return the most that the rows can add to a tree's cost; infinite where none is exact."""
    if problem.targets is None or problem.loss == "squared_error":
        return math.inf
    if problem.loss == "absolute_error":
        return float(np.ptp(problem.targets, axis=0).sum() * problem.weights.sum())
    return float(np.ptp(problem.targets, axis=1) @ problem.weights)


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
    if not abs(told - exact) <= TOLERANCE * scale.root + scale.rounding(n_splits + 1):
        raise RuntimeError(
            "provetree core: a tree does not cost what the search claims; please report this."
        )
    return exact / scale.weight_scale


def _target_rounding(problem: Problem, scale: CostScale) -> float:
    """Return what the rounding of targets can mean for a tree that costs no more than a leaf.

    The decimal 1e12 + 0.1 is not a float: read as one, or as the decimal, it differs in its last
    digit. The core rounds differences of targets to steps, or costs of actions to units.
    """
    if problem.targets is None:
        return 0.0
    total = int(problem.weights.sum())
    weight = float(total * problem.targets.shape[1])
    last_digit = 2.0**-51 * float(np.abs(problem.targets).max())
    if problem.loss == "linear":
        each = TOLERANCE if scale.is_coarse else 0.5
        return weight * last_digit + problem.n_rows * each * scale.unit
    bits = min(_TARGET_BITS, _SUM_BITS - total.bit_length())
    off = last_digit + float(np.ptp(problem.targets, axis=0).max()) * 2.0 ** -(bits + 1)
    if problem.loss == "squared_error":
        # By Cauchy and Schwarz: the sum of 2 w d off is at most 2 off sqrt(W) sqrt(sum of w d d).
        return 2 * off * math.sqrt(weight * scale.root) + weight * off * off
    return weight * off
