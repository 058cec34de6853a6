"""``provetree bench near-optimal``: how long it takes to count all trees that are nearly as good.

First on tables as they are, without a price for leaves; then on binary tables, with a price for
each leaf, beside treefarms and tree-praxis. These two may live in an environment of their own.
Times are processor seconds of whole calls, the proof of the optimum included; the best of some runs
counts for provetree.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from provetree.bench.arguments import among, words
from provetree.bench.data import BenchTable, load_table
from provetree.bench.process import START_GRACE, ask
from provetree.bench.report import format_table, write_results
from provetree.problem.prepare import prepare
from provetree.selection.near_optimal import NearOptimalTrees
from provetree.selection.near_optimal_count import count_trees_of

__all__ = ["BINARY", "PEERS", "RAW", "Count", "counted", "counted_by_peer", "run"]

#: Tables as they are, and binary ones for the comparison.
RAW = (
    "pima-indians-diabetes",
    "contree-bank",
    "contree-raisin",
    "monks-1",
    "monks-2",
    "monks-3",
    "tic-tac-toe",
)
BINARY = (
    "cp4im-anneal",
    "cp4im-australian-credit",
    "cp4im-hypothyroid",
    "cp4im-kr-vs-kp",
    "cp4im-lymph",
    "cp4im-mushroom",
    "cp4im-tic-tac-toe",
    "cp4im-vote",
)
PEERS = ("treefarms", "tree-praxis")
_PEERS_FILE = Path(__file__).with_name("near_optimal_peers.py")


@dataclass(frozen=True)
class Count:
    """A number of trees and how long it took; none where it did not end."""

    trees: int | None
    seconds: float | None
    optimum: float = 0.0
    status: str = "complete"
    message: str = ""


def counted(
    table: BenchTable, *, depth: int, slack: int, price: int, limit: float, repeat: int = 1
) -> Count:
    """Return how many trees cost at most `slack` errors more, at a price of errors per leaf.

    With a price, trees with splits that say nothing count as well, as the peers count them.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench import BenchTable
    >>> from provetree.bench.near_optimal import counted
    >>> table = BenchTable("t", np.array([[0.0], [1.0]]), np.array([0, 1]))
    >>> counted(table, depth=1, slack=0, price=0, limit=5.0).trees
    1
    """
    best: tuple[float, NearOptimalTrees] | None = None
    for _ in range(repeat):
        begun = time.process_time()
        prepared = prepare(table.X, table.y, max_depth=depth, merge=False)
        if price:
            problem = prepared.problem.with_penalty(Fraction(price))
            prepared = replace(prepared, problem=problem)
        found = count_trees_of(
            prepared, slack, depth, redundant_splits=price > 0, seconds=limit, memory=2**32
        )
        seconds = time.process_time() - begun
        if best is None or seconds < best[0]:
            best = seconds, found
        if seconds > 1.0:
            break
    assert best is not None
    seconds, found = best
    return Count(found.n_trees, seconds, found.optimum, found.status)


def counted_by_peer(
    peer: str, table: BenchTable, python: str, asked: dict[str, Any], limit: float
) -> Count:
    """Return what another package counts, in a process of its own."""
    request = {"peer": peer, "X": table.X.astype(int).tolist(), "y": table.y.tolist(), **asked}
    answer = ask((python, str(_PEERS_FILE)), request, limit, START_GRACE)
    if answer.outcome != "done":
        return Count(None, None, status=answer.outcome, message=answer.message)
    return Count(answer.value["trees"], answer.value["seconds"])


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmark; 1 where a peer counts another number of trees."""
    peers = words(arguments.peers)
    among("--peers", peers, PEERS)
    known = (*RAW, *BINARY)
    tables = words(arguments.tables) or known
    among("--tables", tables, known)
    results: dict[str, Any] = {"raw": [], "binary": []}
    rows = [_raw_row(name, arguments, results["raw"]) for name in tables]
    text = [
        f"Trees of depth {arguments.depth} within {arguments.slack:.1%} of the rows, no price:",
        format_table("table | rows x columns | best | slack | trees | status | time [time]", rows),
    ]
    differ = False
    binary = [name for name in tables if name in BINARY]
    if peers and binary:
        header = ["table", "price", "trees", "provetree [time]"]
        for peer in peers:
            header += [f"{peer} trees", f"{peer} [time]", f"{peer} ratio [.1f]"]
        lines = []
        for name in binary:
            line, wrong = _binary_row(name, peers, arguments, results["binary"])
            lines.append(line)
            differ |= wrong
        text += [
            f"Binary tables, a price of {arguments.price:.1%} of the rows per leaf, splits that "
            "say nothing included:",
            format_table(header, lines),
        ]
    print("\n\n".join(text))
    if arguments.output is not None:
        kinds = ((kind, one) for kind, some in results.items() for one in some)
        write_results(arguments.output, [{"kind": kind, **one} for kind, one in kinds])
    return int(differ)


def _raw_row(
    name: str, arguments: argparse.Namespace, results: list[dict[str, Any]]
) -> Sequence[object]:
    table = load_table(name)
    slack = int(Fraction(str(arguments.slack)) * len(table.y))
    found = counted(
        table,
        depth=arguments.depth,
        slack=slack,
        price=0,
        limit=arguments.limit,
        repeat=arguments.repeat,
    )
    results.append({"table": name, "slack": slack, **vars(found)})
    number = f"{found.trees:,}"
    return name, table.shape_text, found.optimum, slack, number, found.status, found.seconds


def _binary_row(
    name: str,
    peers: Sequence[str],
    arguments: argparse.Namespace,
    results: list[dict[str, Any]],
) -> tuple[list[object], bool]:
    """Return a row of the comparison, and whether a peer counts another number."""
    table = load_table(name)
    slack = int(Fraction(str(arguments.slack)) * len(table.y))
    price = max(1, round(arguments.price * len(table.y)))
    ours = counted(
        table,
        depth=arguments.depth,
        slack=slack,
        price=price,
        limit=arguments.limit,
        repeat=arguments.repeat,
    )
    asked = {
        "price": price,
        "slack": slack,
        "depth": arguments.depth,
        # With the price of the one leaf that every tree has.
        "limit": int(ours.optimum) + price + slack,
    }
    line: list[object] = [name, price, f"{ours.trees:,}", ours.seconds]
    wrong = False
    result: dict[str, Any] = {"table": name, **asked, "provetree": vars(ours)}
    for peer in peers:
        theirs = counted_by_peer(peer, table, arguments.python, asked, arguments.limit)
        result[peer] = vars(theirs)
        if theirs.trees is None or theirs.seconds is None or ours.seconds is None:
            line += [theirs.status, None, None]
            continue
        wrong |= theirs.trees != ours.trees
        line += [f"{theirs.trees:,}", theirs.seconds, theirs.seconds / ours.seconds]
    results.append(result)
    return line, wrong
