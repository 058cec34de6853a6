"""Lanes of measured losses: a table, splits of a column, and what each way says they cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree import _core
from testkit.core_calls import flat_values

__all__ = ["INFINITE", "LEFT", "RIGHT", "LaneCase", "lane_table"]

#: The cost of what is not allowed.
INFINITE = (2**63 - 1) // 8
#: Where the units of the left and of the right side stand: leaf, stump, best split, whether exact.
LEFT, RIGHT = slice(0, 4), slice(4, 8)


@dataclass(frozen=True)
class LaneCase:
    """A table, a least leaf size, and splits of a column."""

    table: _core.Table
    least: int
    column: int
    positions: list[int]

    def lanes(self, way: str, kernel: str = "auto", switches: int = 0) -> NDArray[np.int64]:
        units = _core.parts.measured_lanes(
            self.table, self.least, self.column, self.positions, way, kernel, switches
        )
        return np.array(units, dtype=np.int64)


def lane_table(
    loss: str,
    ranks: NDArray[Any],
    *,
    targets: NDArray[Any] | None = None,
    classes: NDArray[Any] | None = None,
    n_classes: int = 1,
    weights: NDArray[Any] | None = None,
    counts: NDArray[Any] | None = None,
) -> _core.Table:
    """A table of ranks with targets, or with classes."""
    n = ranks.shape[1]
    ones = np.ones(n, dtype=np.int64)
    return _core.Table(
        ranks=np.ascontiguousarray(ranks.astype(np.uint32)),
        **flat_values([np.arange(float(own.max() + 1)) for own in ranks]),
        classes=np.zeros(n, dtype=np.int32) if classes is None else classes.astype(np.int32),
        weights=ones if weights is None else weights,
        counts=ones if counts is None else counts,
        n_classes=n_classes,
        loss=loss,
        targets=None if targets is None else np.ascontiguousarray(targets, dtype=np.float64),
    )
