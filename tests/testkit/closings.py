"""What a proof says it has closed: the splits of a node, a bound, and the reason."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Closing"]


@dataclass(frozen=True)
class Closing:
    path: list[tuple[int, int, bool]]
    whole: bool
    column: int
    first: int
    last: int
    left_splits: int
    depth: int
    splits: int
    bound: int
    reason: str

    def covers(self, column: int, low: int, high: int) -> bool:
        """Whether the split of a node between two neighbouring ranks is in the region."""
        return self.whole or (self.column == column and self.first < high and low <= self.last)
