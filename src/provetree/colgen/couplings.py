"""Linear constraints that couple the leaves of a tree, as rows of the master problem.

A floor on the recall of a class, a cap on the false-positive rate of a class, a cap on the parity
gap between groups, and a budget of leaves. Each is a sum over the chosen paths of what their rows
add for the target of the path, so pricing only sees changed worths of the rows. Everything is kept
in whole numbers; a finished tree is checked in them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from provetree.number_types import Int
from provetree.problem.side_constraints import SideConstraints
from provetree.renamed import moved

_UNBOUNDED = 2**62


__getattr__ = moved(__name__, "provetree.errors", "InfeasibleError")


@dataclass(frozen=True, eq=False)
class CouplingRow:
    """One constraint: ``low <= sum over paths and their kinds of weight * per_kind <= high``.

    ``per_kind`` (kinds x targets) is what a unit of weight of a kind adds on a path of a target,
    and ``per_active_leaf`` what a path with rows adds. The master's row is divided by ``scale``, so
    that its numbers are of ordinary size.
    """

    name: str
    per_kind: Int
    per_active_leaf: int
    low: int
    high: int
    scale: float

    @property
    def has_low(self) -> bool:
        """Whether there is a lower bound."""
        return self.low > -_UNBOUNDED

    @property
    def has_high(self) -> bool:
        """Whether there is an upper bound."""
        return self.high < _UNBOUNDED

    def holds(self, value: int) -> bool:
        """Tell whether a value keeps the bounds."""
        return self.low <= value <= self.high


def coupling_rows(
    side: SideConstraints,
    kind_class: NDArray[np.intp],
    kind_group: NDArray[np.intp],
    kind_weight: Int,
    n_classes: int,
    max_leaves: int | None,
) -> list[CouplingRow]:
    """Return the constraints as rows; each kind has a class, a group and a total weight.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from provetree.problem.side_constraints import SideConstraints
    >>> classes, groups = np.array([0, 1]), np.array([0, 0])
    >>> side = SideConstraints({1: Fraction(4, 5)})
    >>> rows = coupling_rows(side, classes, groups, np.array([7, 9]), 2, None)
    >>> rows[0].low, rows[0].per_kind.tolist()
    (8, [[0, 0], [0, 1]])
    """
    nothing = np.zeros((len(kind_class), n_classes), dtype=np.int64)
    rows: list[CouplingRow] = []
    for c, floor in side.min_recall.items():
        per_kind, of_class = nothing.copy(), kind_class == c
        per_kind[of_class, c] = 1
        least = math.ceil(floor * int(kind_weight[of_class].sum()))
        name = f"recall of class {side.class_name(c)}"
        rows.append(CouplingRow(name, per_kind, 0, least, _UNBOUNDED, 1.0))
    for c, cap in side.max_false_positive_rate.items():
        per_kind, others = nothing.copy(), kind_class != c
        per_kind[others, c] = 1
        most = math.floor(cap * int(kind_weight[others].sum()))
        name = f"false positives of class {side.class_name(c)}"
        rows.append(CouplingRow(name, per_kind, 0, -_UNBOUNDED, most, 1.0))
    if side.max_parity_gap is not None:
        groups = range(int(kind_group.max()) + 1)
        size = [int(kind_weight[kind_group == g].sum()) for g in groups]
        # With two classes the gap of one is the gap of the other.
        for c in range(1 if n_classes == 2 else 0, n_classes if n_classes > 1 else 0):
            for g, h in combinations(groups, 2):
                if size[g] == 0 or size[h] == 0:
                    continue
                per_kind = nothing.copy()
                per_kind[kind_group == g, c] = size[h]
                per_kind[kind_group == h, c] = -size[g]
                most = math.floor(side.max_parity_gap * size[g] * size[h])
                scale = float(max(size[g], size[h]))
                name = f"parity of class {side.class_name(c)} between groups "
                name += f"{side.group_name(g)} and {side.group_name(h)}"
                rows.append(CouplingRow(name, per_kind, 0, -most, most, scale))
    if max_leaves is not None:
        rows.append(CouplingRow("number of leaves", nothing, 1, -_UNBOUNDED, max_leaves, 1.0))
    return rows
