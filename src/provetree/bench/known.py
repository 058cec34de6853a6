"""``provetree bench known``: the optima of the contree tables that other solvers have proven.

Published counts were proven on values rounded to float32. Where float64 separates more rows, the
optimum on the table as it is lies lower; both are listed, and both are checked.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from provetree.bench.arguments import among, words
from provetree.bench.data import BenchTable, load_table
from provetree.bench.process import default_core
from provetree.bench.report import format_seconds, format_table
from provetree.bench.worker import run_worker


@dataclass(frozen=True)
class KnownOptimum:
    """The fewest training errors of any tree of a depth on one table.

    Parameters
    ----------
    table : str
        Name of the table; the counts are of its train part.
    depth : int
        Maximum depth.
    errors : int
        The optimum on the table as it is.
    errors_float32 : int
        The optimum on the table rounded to float32, as published.
    quick : bool
        Whether proving it takes less than about three seconds on one core.

    Examples
    --------
    >>> from provetree.bench.known import KnownOptimum
    >>> KnownOptimum("contree-bank", 3, 19, 19, quick=True).errors
    19
    """

    table: str
    depth: int
    errors: int
    errors_float32: int
    quick: bool


def _same(depth: int, quick: bool, **errors: int) -> tuple[KnownOptimum, ...]:
    """Optima that float32 does not change."""
    return tuple(
        KnownOptimum(f"contree-{name}", depth, count, count, quick)
        for name, count in errors.items()
    )


KNOWN_OPTIMA: tuple[KnownOptimum, ...] = (
    *_same(
        3,
        True,
        bank=19,
        raisin=76,
        segment=208,
        wilt=18,
        rice=189,
        bidding=37,
        page=125,
        occupancy=47,
        room=62,
    ),
    *_same(3, False, htru=275, magic=2567, eeg=3495),
    *_same(4, True, bank=0, wilt=2, bidding=16),
    *_same(4, False, segment=76, page=91, occupancy=26, room=11),
)
"""Known optima of the train parts of the contree tables."""


def _short_name(optimum: KnownOptimum) -> str:
    return optimum.table.removeprefix("contree-")


def select(depth: int | None, tables: str) -> tuple[KnownOptimum, ...]:
    """Return the known optima of a depth and of a comma-separated choice of tables.

    Parameters
    ----------
    depth : int or None
        The depth; None for all.
    tables : str
        Short names; empty for all.

    Returns
    -------
    tuple of KnownOptimum
        The optima.

    Examples
    --------
    >>> from provetree.bench.known import select
    >>> [optimum.errors for optimum in select(None, "bank")]
    [19, 0]
    """
    wanted = words(tables)
    among("--tables", wanted, dict.fromkeys(map(_short_name, KNOWN_OPTIMA)))
    found = [one for one in KNOWN_OPTIMA if not wanted or _short_name(one) in wanted]
    if depth is not None:
        among("--depth", (depth,), sorted({optimum.depth for optimum in found}))
    return tuple(optimum for optimum in found if depth in (None, optimum.depth))


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench known``; the exit status is 1 where an optimum is missed."""
    rows = []
    wrong = 0
    for optimum in select(arguments.depth, arguments.tables):
        table = load_table(optimum.table, "train")
        cases: Sequence[tuple[str, BenchTable, int]] = [("float64", table, optimum.errors)]
        if optimum.errors != optimum.errors_float32:
            cases = [*cases, ("float32", table.rounded_to_float32(), optimum.errors_float32)]
        for kind, data, expected in cases:
            outcome = run_worker(
                "provetree", data, optimum.depth, arguments.limit, core=default_core()
            )
            fit = outcome.fits[0] if outcome.fits else None
            right = fit is not None and fit.proven and fit.errors == expected
            wrong += not right
            rows.append(
                (
                    optimum.table,
                    table.shape_text,
                    str(optimum.depth),
                    kind,
                    str(expected),
                    "-" if fit is None else str(fit.errors),
                    format_seconds(None if fit is None else fit.seconds),
                    ("yes" if fit.proven else "no") if fit is not None else outcome.message,
                    "right" if right else "WRONG",
                )
            )
            print("  ".join(rows[-1]), flush=True)
    header = (
        "table | train rows x columns | depth | values | known | errors | time | proven | verdict"
    )
    print(f"\n{format_table(header, rows)}")
    print(f"{len(rows) - wrong} of {len(rows)} known optima proven")
    return 1 if wrong else 0
