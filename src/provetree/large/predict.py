"""Predictions for tables of Dask, as arrays of Dask: computed when and where they are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["predicted"]


def predicted(rows: Callable[[Any], Any], X: Any, width: int | None, dtype: Any) -> Any:
    """Return a Dask array of what `rows` gives for each partition; `width` columns, None for 1D."""
    import dask.array
    from dask.delayed import delayed

    arrays: Any = dask.array

    def of_part(part: Any) -> Any:
        if len(part) == 0:
            return np.empty((0,) if width is None else (0, width), dtype=dtype)
        return rows(part)

    if hasattr(X, "rechunk"):
        X = X.rechunk({1: -1})
        chunks = (X.chunks[0],) if width is None else (X.chunks[0], (width,))
        return X.map_blocks(
            of_part, dtype=dtype, chunks=chunks, drop_axis=1 if width is None else None
        )
    tail = () if width is None else (width,)
    parts = [
        arrays.from_delayed(delayed(of_part)(part), (np.nan, *tail), dtype=dtype)
        for part in X.to_delayed()
    ]
    return arrays.concatenate(parts, allow_unknown_chunksizes=True)
