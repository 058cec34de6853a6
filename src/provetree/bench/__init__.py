"""Benchmarks: the same tables, the same clock, and the answer watched as well as the time.

``provetree bench peers`` measures this library beside other exact solvers, ``provetree bench
known`` checks published optima, and ``provetree bench limits`` measures time limits, interrupts
and memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from provetree._lazy import lazy_names

if TYPE_CHECKING:
    from provetree.bench.data import (
        BenchTable,
        DataNotFoundError,
        data_folder,
        load_table,
        suite_tables,
    )

__all__ = ["BenchTable", "DataNotFoundError", "data_folder", "load_table", "suite_tables"]

__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "data"))
