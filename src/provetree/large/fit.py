"""A table larger than memory: looked over, read whole where it fits, or searched part by part."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provetree.large.passes import Look, look_at
from provetree.large.search import LargeSearch
from provetree.large.table import DaskTable
from provetree.number_types import Float
from provetree.problem.prepare import Prepared
from provetree.solution import Progress, Solution

__all__ = ["LargeTable"]

#: Rows of all samples together.
_SAMPLE = 200_000
#: Bytes for each cell of a table that is searched in memory.
BYTES_PER_CELL = 40
#: Tables up to this many bytes are searched in memory, where no other limit is given.
IN_MEMORY = 2 * 2**30


class LargeTable:
    """A table of Dask that was looked over: how it is read, how many rows it has, a sample.

    Parameters
    ----------
    table : DaskTable
        The parts.
    n_jobs : int or None
        Threads, where there is no client.
    owner : str
        Who asks, for messages.
    """

    def __init__(self, table: DaskTable, n_jobs: int | None, owner: str) -> None:
        self._table, self._n_jobs = table, n_jobs
        most = max(100, _SAMPLE // max(1, len(table.parts)))
        looks: list[Look] = table.each(look_at, most, n_jobs=n_jobs)
        _check(looks, owner)
        self._sizes = [look.n_rows for look in looks]
        self.n_rows = sum(self._sizes)
        seen = [look for look in looks if look.n_rows]
        self.sample = _joined([look.sample for look in seen])
        self._whole = all(look.whole for look in looks)
        self.labels = np.concatenate([look.labels for look in seen])
        weights = [look.weights for look in seen if look.weights is not None]
        self.weights: Float | None = np.concatenate(weights) if weights else None

    @property
    def n_bytes(self) -> int:
        """What a search of all rows in memory would take, about."""
        return self.n_rows * self._table.n_columns * BYTES_PER_CELL

    def whole(self) -> tuple[Any, NDArray[Any], Float | None]:
        """Return all rows, labels and weights, in memory."""
        parts = self._table.each(_same, n_jobs=self._n_jobs)
        kept = [part for part in parts if len(part[1])]
        weights = [w for _, _, w in kept]
        return (
            _joined([X for X, _, _ in kept]),
            np.concatenate([np.asarray(y).ravel() for _, y, _ in kept]),
            None if weights[0] is None else np.concatenate([np.asarray(w) for w in weights]),
        )

    def solve(
        self,
        prepared: Prepared,
        limits: dict[str, Any],
        seconds: float | None,
        on_progress: Callable[[Progress], None] | None = None,
        *,
        room: int = IN_MEMORY,
    ) -> Solution:
        """Return the best tree found and a bound for all trees; `prepared` is of the sample.

        What a search in memory may take is `room`.
        """
        search = LargeSearch(
            self._table,
            self._sizes,
            prepared,
            limits,
            seconds,
            n_jobs=self._n_jobs,
            most_merged=room // (BYTES_PER_CELL * self._table.n_columns),
            whole_weights=self._whole,
            on_progress=on_progress,
        )
        return search.run()


def _same(number: int, X: Any, y: Any, w: Any) -> tuple[Any, Any, Any]:
    return X, y, w


def _check(looks: list[Look], owner: str) -> None:
    """Raise what is wrong with a part, with its number."""
    seen = [(number, look) for number, look in enumerate(looks) if look.n_rows]
    if not seen:
        raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required: {owner}.")
    first, kinds = seen[0][0], seen[0][1].kinds
    for number, look in seen:
        if look.fault is not None:
            raise ValueError(look.fault)
        names = [name for name, _ in look.kinds]
        if names != [name for name, _ in kinds]:
            raise ValueError(
                f"All partitions must have the same columns: the partition {number} has "
                f"{', '.join(names)}, and the partition {first} has "
                f"{', '.join(name for name, _ in kinds)}."
            )
    for place, (name, _) in enumerate(kinds):
        # A column of which a part has nothing is of the type that it has elsewhere.
        known = [(number, look.kinds[place][1]) for number, look in seen if look.kinds[place][1]]
        for number, kind in known:
            if kind != known[0][1]:
                raise ValueError(
                    f"All partitions must have the same types: column {name!r} holds {kind} values "
                    f"in the partition {number}, and {known[0][1]} values in the partition "
                    f"{known[0][0]}."
                )


def _joined(parts: list[Any]) -> Any:
    if not hasattr(parts[0], "iloc"):
        return np.concatenate(parts)
    import pandas
    from pandas.api.types import union_categoricals

    with warnings.catch_warnings():
        # Older versions of pandas tell what they do about columns of which a part has nothing.
        warnings.simplefilter("ignore", FutureWarning)
        joined = pandas.concat(parts, ignore_index=True)
    for place, name in enumerate(joined.columns):
        columns = [part.iloc[:, place] for part in parts]
        if all(str(column.dtype) == "category" for column in columns):
            joined[name] = pandas.Series(union_categoricals(columns), index=joined.index)
    return joined
