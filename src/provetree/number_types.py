"""The number types of arrays, named once."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bool", "Float", "Int", "Int32"]

Bool: TypeAlias = NDArray[np.bool_]
#: Values, prices and points: what tables and solvers hold.
Float: TypeAlias = NDArray[np.float64]
#: Whole weights, counts and positions.
Int: TypeAlias = NDArray[np.int64]
#: Ranks, classes and positions as the core and the solvers take them: half the memory.
Int32: TypeAlias = NDArray[np.int32]
