"""Benchmarks: solvers on the same tables, with their answers compared as well as their times.

``provetree bench --help`` lists them; each is the module of its name.
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
