"""``provetree bench peers``: this library beside other exact solvers, same core, same run.

Every solve runs in a fresh process pinned to one core. Rounds alternate the order of the solvers,
so that noise hits all of them; a solver whose best run so far is short is run again, by the same
rule for all. The answers are compared too: two proofs that disagree are an error, unless rounding
to float32 explains the difference.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from statistics import geometric_mean

from provetree.bench.arguments import among, words
from provetree.bench.data import BenchTable, Part, load_table, suite_tables
from provetree.bench.process import default_core
from provetree.bench.report import format_cell, format_seconds, format_table, machine
from provetree.bench.solvers import PRICED_PEERS, SOLVERS, SUITE_PEERS
from provetree.bench.worker import Run, run_worker

OURS = "provetree"

SHORT_RUN = 10.0
"""A solver is run again in the next round only while its best run took less than this many
seconds."""

Runner = Callable[[str, BenchTable], Run]


@dataclass
class Result:
    """What one solver reached on one table, over all its runs.

    Examples
    --------
    >>> from provetree.bench.peers import Result
    >>> Result("provetree", "proven", 0.5, 3, 3).proven
    True
    """

    solver: str  # name of the solver
    #: ``"proven"``, ``"time_limit"``, ``"killed"``, ``"crashed"``, ``"not_installed"`` or
    #: ``"not_run"``.
    outcome: str = "not_run"
    seconds: float | None = None  # shortest processor time of a fit
    errors: int | None = None  # training errors of its tree
    errors_float32: int | None = None  # training errors of its tree on the table rounded to float32
    cost: float | None = None  # errors plus the price of the leaves, where leaves have a price
    depth: int | None = None  # depth of its tree, for solvers that have no limit on the depth
    runs: list[float] = field(default_factory=list)  # processor time of every fit
    message: str = ""  # why it has no result, in one line

    @property
    def proven(self) -> bool:
        """Whether the solver proved its tree optimal within the limit."""
        return self.outcome == "proven"

    def add(self, run: Run, limit: float) -> None:
        """Take in one more worker's run."""
        if run.outcome != "done":
            # A crash or overrun stays on the record even when an earlier run went well.
            self.outcome, self.message = run.outcome, run.message
            return
        for fit in run.fits:
            self.runs.append(fit.seconds)
            self.seconds = min(self.runs)
            if not self.proven:
                self.outcome = "proven" if fit.proven and fit.seconds <= limit else "time_limit"
                self.errors, self.errors_float32 = fit.errors, fit.errors_float32
                self.cost, self.depth = fit.cost, fit.depth

    def agrees_with(self, other: Result) -> bool:
        """Whether the two reached the same objective."""
        if self.cost is None or other.cost is None:
            return self.errors == other.errors
        return math.isclose(self.cost, other.cost, rel_tol=1e-6)

    def runs_again(self) -> bool:
        """Whether the next round should run this solver again."""
        if self.outcome == "not_run":
            return True
        return self.proven and self.seconds is not None and self.seconds < SHORT_RUN


@dataclass
class Comparison:
    """All solvers on one table.

    Examples
    --------
    >>> from provetree.bench.peers import Comparison, Result
    >>> peer = Result("pycontree", "proven", 10.0, 3, 3)
    >>> ours = Result("provetree", "proven", 0.1, 3, 3)
    >>> Comparison("t", "9 x 2", ours, {"pycontree": peer}).ratio("pycontree")
    100.0
    """

    table: str  # name of the table
    shape: str  # rows x columns
    ours: Result  # this library
    peers: dict[str, Result]  # the peers, by name
    #: What the reader should know, such as an explained difference.
    notes: list[str] = field(default_factory=list)
    disagreement: bool = False  # whether two proofs disagree without an explanation

    def ratio(self, peer: str) -> float | None:
        """Return the peer's time over ours where both proved their tree, else None."""
        result = self.peers[peer]
        if not (self.ours.proven and result.proven and self.ours.seconds and result.seconds):
            return None
        return result.seconds / self.ours.seconds

    def only_ours(self, peer: str) -> bool:
        """Whether this library proved the table and the peer, though it ran, did not."""
        return self.ours.proven and self.peers[peer].outcome in ("time_limit", "killed", "crashed")

    def disagree(self, how: str) -> None:
        """Keep that two proofs disagree."""
        self.disagreement = True
        self.notes.append(f"proofs disagree: {how}")


@dataclass(frozen=True)
class Summary:
    """The closing figures of a comparison with one peer.

    Examples
    --------
    >>> from provetree.bench.peers import Summary
    >>> Summary(geometric_mean=70.0, smallest=("t", 20.0), n_tables=2, only_ours=()).smallest[1]
    20.0
    """

    geometric_mean: float | None  # of the ratios, over the tables both proved
    smallest: tuple[str, float] | None  # the table with the smallest ratio
    n_tables: int  # number of tables both proved
    only_ours: tuple[str, ...]  # tables only this library proved


def compare(
    table: BenchTable,
    peers: Sequence[str],
    limit: float,
    repeat: int,
    run: Runner,
    depth: int | None = None,
) -> Comparison:
    """Run this library and the peers on one table.

    ``run(solver, table)`` is one solve in a process of its own; `repeat` rounds are for solvers
    whose runs are short. The depth asked for explains what solvers without one reach.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench import BenchTable
    >>> from provetree.bench.peers import compare
    >>> from provetree.bench.solvers import Fit
    >>> from provetree.bench.worker import Run
    >>> table = BenchTable("tiny", np.zeros((2, 1)), np.array([0, 1]))
    >>> seconds = {"provetree": 0.5, "pycontree": 2.0}
    >>> fake = lambda solver, table: Run("done", (Fit(seconds[solver], 1, 1, True, None),))
    >>> compare(table, ["pycontree"], limit=5.0, repeat=2, run=fake).ratio("pycontree")
    4.0
    """
    results = {name: Result(name) for name in (OURS, *peers)}
    for round_number in range(repeat):
        order = list(results.values())
        if round_number % 2:
            order.reverse()
        for result in order:
            if result.runs_again():
                result.add(run(result.solver, table), limit)
    comparison = Comparison(
        table.name, table.shape_text, results[OURS], {name: results[name] for name in peers}
    )
    for name in peers:
        _explain_difference(comparison, name, table, run, depth)
    return comparison


def _explain_difference(
    comparison: Comparison, peer: str, table: BenchTable, run: Runner, depth: int | None
) -> None:
    """Where two proofs disagree, show whether depth or rounding to float32 is the reason."""
    ours, theirs = comparison.ours, comparison.peers[peer]
    if not (ours.proven and theirs.proven) or ours.agrees_with(theirs):
        return
    if depth is not None and theirs.depth is not None and theirs.depth > depth:
        comparison.notes.append(
            f"{peer} knows no limit on the depth: its tree has depth {theirs.depth} and costs "
            f"{theirs.cost:.6g}"
        )
        return
    if ours.cost is not None:
        # Prices are compared on binary columns, which float32 does not change.
        comparison.disagree(f"{ours.cost} here, {theirs.cost} by {peer}")
        return
    again = Result(OURS)
    again.add(run(OURS, table.rounded_to_float32()), math.inf)
    if again.proven and again.errors == theirs.errors_float32:
        comparison.notes.append(
            f"{peer} rounds to float32: on the rounded table the optimum is {again.errors} here "
            f"as well, float64 separates more and gives {ours.errors} ({peer}'s tree makes "
            f"{theirs.errors} errors on it)"
        )
        return
    comparison.disagree(
        f"{ours.errors} here, {theirs.errors} by {peer} ({theirs.errors_float32} on the table "
        f"rounded to float32, where the optimum here is {again.errors})"
    )


def summarize(comparisons: Sequence[Comparison], peer: str) -> Summary:
    """Return the closing figures against one peer.

    Examples
    --------
    >>> from provetree.bench.peers import Comparison, Result, summarize
    >>> def pair(name, ratio):
    ...     peer = Result("pycontree", "proven", ratio, 3, 3)
    ...     ours = Result("provetree", "proven", 1.0, 3, 3)
    ...     return Comparison(name, "9 x 2", ours, {"pycontree": peer})
    >>> summarize([pair("a", 10.0), pair("b", 1000.0)], "pycontree").geometric_mean
    100.0
    """
    ratios = [(c.table, ratio) for c in comparisons if (ratio := c.ratio(peer)) is not None]
    return Summary(
        # Rounded, because it is a few ulps off even where the mean is a whole number.
        round(geometric_mean(ratio for _, ratio in ratios), 9) if ratios else None,
        min(ratios, key=lambda pair: pair[1], default=None),
        len(ratios),
        tuple(c.table for c in comparisons if c.only_ours(peer)),
    )


def _cells(comparison: Comparison, peer: str) -> tuple[str, ...]:
    ours, theirs = comparison.ours, comparison.peers[peer]
    cells = [comparison.table, comparison.shape]
    for result in (ours, theirs):
        errors = format_cell(result.errors if result.cost is None else f"{result.cost:.6g}")
        proven = "yes" if result.proven else result.outcome.replace("_", " ")
        cells += [format_seconds(result.seconds), errors, proven]
    ratio = comparison.ratio(peer)
    text = format_cell(ratio, ".1f")
    if ratio is None and comparison.only_ours(peer) and theirs.seconds and ours.seconds:
        text = f"> {theirs.seconds / ours.seconds:.1f}"
    return (*cells, text)


def format_comparisons(comparisons: Sequence[Comparison], peer: str) -> str:
    """Return the report against one peer as text: a line per table and the closing figures.

    Examples
    --------
    >>> from provetree.bench.peers import Comparison, Result, format_comparisons
    >>> peer = Result("pycontree", "proven", 10.0, 3, 3)
    >>> ours = Result("provetree", "proven", 0.1, 3, 3)
    >>> pair = Comparison("t", "9 x 2", ours, {"pycontree": peer})
    >>> print(format_comparisons([pair], "pycontree").splitlines()[-1])
    geometric mean over 1 tables: 100.0; smallest: 100.0 (t); only provetree proves: none
    """
    priced = any(comparison.ours.cost is not None for comparison in comparisons)
    figures = f"{'cost' if priced else 'errors'} | proven"
    header = f"table | rows x columns | {OURS} | {figures} | {peer} | {figures} | ratio"
    lines = [format_table(header, [_cells(comparison, peer) for comparison in comparisons])]
    for comparison in comparisons:
        lines.extend(f"{comparison.table}: {note}" for note in comparison.notes)
        for result in (comparison.ours, comparison.peers[peer]):
            if result.message:
                lines.append(f"{comparison.table}: {result.solver}: {result.message}")
    summary = summarize(comparisons, peer)
    smallest = summary.smallest and f"{summary.smallest[1]:.1f} ({summary.smallest[0]})"
    lines.append(
        f"geometric mean over {summary.n_tables} tables: "
        f"{format_cell(summary.geometric_mean, '.1f')}; smallest: {format_cell(smallest)}; "
        f"only {OURS} proves: {', '.join(summary.only_ours) or 'none'}"
    )
    return "\n".join(lines)


def choose_tables(names: Sequence[str], suite: str, wanted: str) -> tuple[str, ...]:
    """Return the tables a comma-separated choice names, by full name or without the suite's prefix.

    Examples
    --------
    >>> from provetree.bench.peers import choose_tables
    >>> choose_tables(["contree-bank", "contree-wilt"], "contree", "wilt")
    ('contree-wilt',)
    """
    full = {name.removeprefix(f"{suite}-"): name for name in names}
    chosen = tuple(full.get(word, word) for word in words(wanted))
    among("--tables", chosen, names)
    return chosen or tuple(names)


def choose_peers(suite: str, wanted: str, price: float = 0.0) -> tuple[str, ...]:
    """Return the peers a comma-separated choice names; those of the suite when empty.

    Examples
    --------
    >>> from provetree.bench.peers import choose_peers
    >>> choose_peers("contree", "")
    ('pycontree',)
    """
    if not (price >= 0.0 and math.isfinite(price)):
        raise ValueError(f"--price must be 0 or more. Got {price} instead.")
    usual = PRICED_PEERS if price and suite == "cp4im" else SUITE_PEERS.get(suite, ())
    names = words(wanted) or usual
    known = [name for name in SOLVERS if name != OURS]
    if not names:
        raise ValueError(
            f"No peer is known for the suite '{suite}': --peers must name some of "
            f"{', '.join(known)}."
        )
    among("--peers", names, known)
    for name in names:
        if price and SOLVERS[name].priced == "no":
            raise ValueError(f"The peer '{name}' knows no price per leaf; leave out --price.")
        if not price and SOLVERS[name].priced == "must":
            raise ValueError(f"The peer '{name}' needs a price per leaf: give --price.")
    return names


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench peers``; the exit status is 1 where something is wrong on our side.

    That is a proof that disagrees with a peer's without an explanation, or a crash.
    """
    names = choose_tables(suite_tables(arguments.suite), arguments.suite, arguments.tables)
    peers = choose_peers(arguments.suite, arguments.peers, arguments.price)
    part: Part = arguments.part
    core = default_core() if arguments.core is None else arguments.core
    if hasattr(os, "sched_getaffinity"):
        among("--core", (core,), sorted(os.sched_getaffinity(0)))

    depth, limit, repeat, price = (
        getattr(arguments, name) for name in ("depth", "limit", "repeat", "price")
    )
    in_process = partial(
        run_worker, depth=depth, limit=limit, repeat=repeat, core=core, price=price
    )
    versions = {name: SOLVERS[name].version for name in (OURS, *peers)}
    print(", ".join(f"{name} {version or '(not installed)'}" for name, version in versions.items()))
    print(
        f"suite {arguments.suite}, {part} tables, depth {depth}, limit {limit:g} s, one core, "
        f"best of up to {repeat} rounds for runs under {SHORT_RUN:g} s"
        + (f", errors + {price:g} x rows per leaf" if price else "")
    )
    comparisons = []
    for name in names:
        comparison = compare(load_table(name, part), peers, limit, repeat, in_process, depth)
        comparisons.append(comparison)
        for peer in peers:
            print("  ".join(_cells(comparison, peer)), file=sys.stderr, flush=True)
        if arguments.output is not None:
            # Written after every table: a long run that is stopped keeps what it measured.
            _write(arguments, peers, versions, comparisons)
    for peer in peers:
        print(f"\n{OURS} against {peer}")
        print(format_comparisons(comparisons, peer))
    wrong = any(c.disagreement or c.ours.outcome in ("killed", "crashed") for c in comparisons)
    return 1 if wrong else 0


def _write(
    arguments: argparse.Namespace,
    peers: Sequence[str],
    versions: dict[str, str | None],
    comparisons: Sequence[Comparison],
) -> None:
    document = {
        "format": "provetree-bench-peers",
        "version": 1,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "machine": machine(),
        "solvers": versions,
        "settings": {
            key: getattr(arguments, key)
            for key in ("suite", "depth", "part", "limit", "repeat", "price")
        },
        "tables": [asdict(comparison) for comparison in comparisons],
        "summary": {peer: asdict(summarize(comparisons, peer)) for peer in peers},
    }
    arguments.output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
