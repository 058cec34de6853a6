"""The exact search in the C++ core."""

from __future__ import annotations

from provetree.search.engine import ExactSearch

__all__ = ["ExactSearch"]
