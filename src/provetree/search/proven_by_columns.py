"""What searches of one table have proven of its splits, for searches of it with fewer columns.

A tree that asks about some of the columns is a tree of all of them. So what no tree with more
columns is below, no tree with fewer of them is below.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from provetree import _core
from provetree.search.engine import ExactSearch

__all__ = ["ProvenByColumns"]

#: Later searches have fewer columns, and less to tell.
_MOST_KEPT = 32


@dataclass
class ProvenByColumns:
    """What was proven, by the columns that were there.

    Examples
    --------
    >>> from provetree import ExactSearch
    >>> from provetree.search.proven_by_columns import ProvenByColumns
    >>> ProvenByColumns().lent_to(ExactSearch(), (0, 1)).known is None
    True
    """

    _proven: dict[tuple[int, ...], _core.Handover] = field(default_factory=dict)

    def lent_to(self, engine: ExactSearch, columns: tuple[int, ...]) -> ExactSearch:
        """Return the engine of a search with some columns, which knows what was proven with more.

        What it proves is kept for others.
        """
        return replace(engine, known=self._about(columns), hand_over=self._keeper(columns))

    def _about(self, columns: tuple[int, ...]) -> _core.Handover | None:
        """Return what was proven with these columns and the fewest others; the latest of equals."""
        wanted = set(columns)
        wider = [known for known in self._proven if wanted.issubset(known)]
        if not wider:
            return None
        nearest = min(reversed(wider), key=len)
        place = {column: at for at, column in enumerate(nearest)}
        return self._proven[nearest].with_columns([place[column] for column in columns])

    def _keeper(self, columns: tuple[int, ...]) -> Callable[[_core.Handover], None]:
        def keep(proven: _core.Handover) -> None:
            if len(self._proven) < _MOST_KEPT:
                self._proven[columns] = proven

        return keep
