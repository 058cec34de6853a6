"""A table of Dask as parts: rows, labels and weights, partition by partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from provetree.options import thread_count

__all__ = ["DaskTable", "is_dask", "threads_at_hand"]


def is_dask(given: object) -> bool:
    """Tell whether something is a table or an array of Dask, without loading that.

    Examples
    --------
    >>> from provetree.large.table import is_dask
    >>> is_dask([[1.0]])
    False
    """
    return hasattr(given, "__dask_graph__") and hasattr(given, "to_delayed")


class DaskTable:
    """Rows, labels and weights as parts that are computed where they are needed.

    Parameters
    ----------
    X : dask.dataframe.DataFrame or dask.array.Array
        The rows.
    y : dask.dataframe.Series or dask.array.Array
        Their labels, in the same partitions.
    sample_weight : the same, optional
        Their weights.
    owner : str
        Who asks, for messages.
    """

    parts: list[tuple[Any, Any, Any]]

    def __init__(self, X: Any, y: Any, sample_weight: Any, owner: str) -> None:
        for name, given in (("y", y), ("sample_weight", sample_weight)):
            if given is not None and not is_dask(given):
                raise TypeError(
                    f"{name!r} must be a table or array of Dask where X is one, with the same "
                    f"partitions: {owner} got {type(given).__name__} instead."
                )
        if len(X.shape) != 2:
            raise ValueError(
                f"Expected 2D array, got {len(X.shape)}D array instead: {owner} needs a table for "
                "X. Reshape your data."
            )
        self.n_columns = int(X.shape[1])
        together = _as_one(X, y, sample_weight)
        if together is not None:
            self.parts = together
            return
        rows = _parts(X, 2)
        given = [_parts_as(X, other) for other in (y, sample_weight) if other is not None]
        for name, parts in zip(("y", "sample_weight"), given, strict=False):
            if len(parts) != len(rows):
                raise ValueError(
                    f"{name!r} must have the partitions of X, {len(rows)} of them. "
                    f"Got {len(parts)} instead."
                )
        weights = given[1] if len(given) > 1 else [None] * len(rows)
        self.parts = list(zip(rows, given[0], weights, strict=True))

    def each(self, function: Any, *arguments: Any, n_jobs: int | None) -> list[Any]:
        """Return what a function gives for each part and its number."""
        numbered = [(number, part) for number, part in enumerate(self.parts)]
        return _computed(
            [_delayed(function)(number, *part, *arguments) for number, part in numbered], n_jobs
        )

    def folded(self, function: Any, together: Any, *arguments: Any, n_jobs: int | None) -> Any:
        """Return what `together` makes of what a function gives for each part, some at a time."""
        left = [
            _delayed(function)(number, *part, *arguments) for number, part in enumerate(self.parts)
        ]
        while len(left) > 1:
            left = [
                _delayed(together)(left[at : at + _FOLDED], *arguments)
                for at in range(0, len(left), _FOLDED)
            ]
        return _computed(left, n_jobs)[0]

    def groups(
        self, sizes: Sequence[int], least: int, function: Any, *arguments: Any, n_jobs: int | None
    ) -> list[Any]:
        """Return what a function gives for neighbouring parts that have so many rows together."""
        made, group, rows = [], [], 0
        for part, size in zip(self.parts, sizes, strict=True):
            group.append(part)
            rows += size
            if rows >= least:
                made.append(group)
                group, rows = [], 0
        if rows > 0 and made:
            made[-1] = made[-1] + group
        elif group:
            made.append(group)
        tasks = [
            _delayed(function)(number, *map(list, zip(*of, strict=True)), *arguments)
            for number, of in enumerate(made)
        ]
        return _computed(tasks, n_jobs)


#: Parts whose results are put together at a time.
_FOLDED = 8
#: Names for labels and weights beside the columns of a table.
_LABELS, _WEIGHTS = "__labels_of_provetree__", "__weights_of_provetree__"


def _as_one(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, Any, Any]] | None:
    """Return the parts of columns of one table, None where labels are of another.

    Dask may read the columns of a file in other partitions than its labels, unless it reads them
    together.
    """
    given = [one for one in (X, y, sample_weight) if one is not None]
    if not all(hasattr(one, "expr") for one in given) or not hasattr(X, "assign"):
        return None
    try:
        from dask.dataframe.dask_expr import _expr
    except ImportError:
        return None
    of_one: Any = _expr.are_co_aligned
    if not of_one(*(one.expr for one in given)) or not hasattr(y, "to_frame"):
        return None
    added = {_LABELS: y} if sample_weight is None else {_LABELS: y, _WEIGHTS: sample_weight}
    parts = X.assign(**added).to_delayed()
    split = _delayed(_split, nout=3)
    return [tuple(split(part)) for part in parts]


def _split(part: Any) -> tuple[Any, Any, Any]:
    weights = part[_WEIGHTS] if _WEIGHTS in part.columns else None
    labels = part[_LABELS]
    return part.drop(columns=[_LABELS, _WEIGHTS], errors="ignore"), labels, weights


def _parts(given: Any, n_dims: int) -> list[Any]:
    if getattr(given, "ndim", n_dims) == 2 and hasattr(given, "rechunk"):
        given = given.rechunk({1: -1})
    parts = given.to_delayed()
    return list(parts.ravel()) if hasattr(parts, "ravel") else list(parts)


def _parts_as(X: Any, other: Any) -> list[Any]:
    """Return the parts of labels or weights; arrays of known sizes are divided as X is."""
    if hasattr(other, "rechunk") and hasattr(X, "chunks") and hasattr(X, "rechunk"):
        sizes = X.chunks[0]
        if not any(size != size for size in (*sizes, *other.chunks[0])):
            if sum(sizes) != sum(other.chunks[0]):
                raise ValueError(
                    f"'y' and 'sample_weight' must have the {sum(sizes)} rows of X. "
                    f"Got {sum(other.chunks[0])} instead."
                )
            other = other.rechunk({0: sizes})
    return _parts(other, 1)


def _delayed(function: Any, nout: int | None = None) -> Any:
    from dask.delayed import delayed

    return delayed(function, pure=False, nout=nout)


def threads_at_hand(n_jobs: int | None) -> int:
    """Return how many parts are computed at a time: on the active client, or by threads.

    Examples
    --------
    >>> from provetree.large.table import threads_at_hand
    >>> threads_at_hand(3)
    3
    """
    client = _active_client()
    return thread_count(n_jobs) if client is None else max(1, sum(client.nthreads().values()))


def _active_client() -> Any:
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _computed(tasks: list[Any], n_jobs: int | None) -> list[Any]:
    """Compute on the active client; without one, by threads of this process."""
    import dask.base

    client = _active_client()
    if client is None:
        compute: Any = dask.base.compute
        return list(compute(*tasks, scheduler="threads", num_workers=thread_count(n_jobs)))
    return list(client.gather(client.compute(tasks)))
