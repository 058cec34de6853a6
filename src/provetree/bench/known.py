"""``provetree bench known``: the optima of the contree tables that other solvers have proven.

Published counts were proven on values rounded to float32. On the train parts, which are counted
here, float64 separates no more rows: the counts hold for the tables as they are, too.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from provetree.bench.arguments import among, words
from provetree.bench.data import load_table
from provetree.bench.process import default_core
from provetree.bench.report import format_row, format_table
from provetree.bench.worker import run_worker


@dataclass(frozen=True)
class KnownOptimum:
    """The fewest training errors of any tree of a depth on one table.

    Examples
    --------
    >>> from provetree.bench.known import KnownOptimum
    >>> KnownOptimum("contree-bank", 3, 19, quick=True).short_name
    'bank'
    """

    table: str  # name of the table; the counts are of its train part
    depth: int  # maximum depth
    errors: int  # the optimum
    quick: bool  # whether proving it takes less than about three seconds on one core

    @property
    def short_name(self) -> str:
        """The name without that of the suite."""
        return self.table.removeprefix("contree-")


#: By depth, and by whether the proofs are quick.
_ERRORS: dict[tuple[int, bool], dict[str, int]] = {
    (3, True): {"bank": 19, "raisin": 76, "segment": 208, "wilt": 18, "rice": 189, "bidding": 37,
                "page": 125, "occupancy": 47, "room": 62},
    (3, False): {"htru": 275, "magic": 2567, "eeg": 3495},
    (4, True): {"bank": 0, "wilt": 2, "bidding": 16},
    (4, False): {"segment": 76, "page": 91, "occupancy": 26, "room": 11},
}  # fmt: skip

KNOWN_OPTIMA = tuple(
    KnownOptimum(f"contree-{name}", depth, count, quick)
    for (depth, quick), errors in _ERRORS.items()
    for name, count in errors.items()
)
"""Known optima of the train parts of the contree tables."""


def select(depth: int | None, tables: str) -> tuple[KnownOptimum, ...]:
    """Return the known optima of a depth (None: all) and of tables by short name (empty: all).

    Examples
    --------
    >>> from provetree.bench.known import select
    >>> [optimum.errors for optimum in select(None, "bank")]
    [19, 0]
    """
    wanted = words(tables)
    among("--tables", wanted, dict.fromkeys(optimum.short_name for optimum in KNOWN_OPTIMA))
    found = [one for one in KNOWN_OPTIMA if not wanted or one.short_name in wanted]
    if depth is not None:
        among("--depth", (depth,), sorted({optimum.depth for optimum in found}))
    return tuple(optimum for optimum in found if depth in (None, optimum.depth))


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench known``; the exit status is 1 where an optimum is missed."""
    rows = []
    header = (
        "table | train rows x columns | depth | known | errors | time [time] | proven | verdict"
    )
    for optimum in select(arguments.depth, arguments.tables):
        table = load_table(optimum.table, "train")
        outcome = run_worker(
            "provetree", table, optimum.depth, arguments.limit, core=default_core()
        )
        fit = outcome.fits[0] if outcome.fits else None
        right = fit is not None and fit.proven and fit.errors == optimum.errors
        rows.append(
            (
                optimum.table,
                table.shape_text,
                optimum.depth,
                optimum.errors,
                fit and fit.errors,
                fit and fit.seconds,
                outcome.message if fit is None else "yes" if fit.proven else "no",
                "right" if right else "WRONG",
            )
        )
        print("  ".join(format_row(header, rows[-1])), flush=True)
    print(f"\n{format_table(header, rows)}")
    n_right = sum(row[-1] == "right" for row in rows)
    print(f"{n_right} of {len(rows)} known optima proven")
    return 0 if n_right == len(rows) else 1
