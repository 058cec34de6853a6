"""Predictions for tables of Dask, as arrays of Dask: computed when and where they are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["predicted"]


def predicted(rows: Callable[[Any], Any], X: Any, of_none: NDArray[Any]) -> Any:
    """Return a Dask array of what `rows` gives for each partition; `of_none` is that of no rows."""
    import dask.array
    from dask.delayed import delayed

    arrays: Any = dask.array
    tail, dtype = of_none.shape[1:], of_none.dtype

    def of_part(part: Any) -> Any:
        if len(part) == 0:
            return of_none
        return rows(part)

    if hasattr(X, "rechunk"):
        X = X.rechunk({1: -1})
        chunks = (X.chunks[0], *((width,) for width in tail))
        return X.map_blocks(of_part, dtype=dtype, chunks=chunks, drop_axis=None if tail else 1)
    parts = [
        arrays.from_delayed(delayed(of_part)(part), (np.nan, *tail), dtype=dtype)
        for part in X.to_delayed()
    ]
    return arrays.concatenate(parts, allow_unknown_chunksizes=True)
