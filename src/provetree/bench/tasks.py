"""``provetree bench tasks``: what other tasks than counting errors cost, and what they bring.

Groups: squared error on raw thresholds, tables with categories, purity, policies, ten bins beside
STreeD's regression, and R² on new rows. Every solve runs in a process of its own on one core.
Beside the times stands what is asked of them, where something is.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from provetree.bench.arguments import among, numbers, words
from provetree.bench.data import data_folder, suite_tables, table_names
from provetree.bench.numbers_on_new_rows import Scores, score_split, summary
from provetree.bench.process import default_core
from provetree.bench.report import format_seconds, read_results, titled_table, write_results
from provetree.bench.task_solvers import STREED_TASKS, Measured, Request, missing_peer, solve
from provetree.bench.task_tables import read_with_target

__all__ = ["GROUPS", "Case", "run"]


@dataclass(frozen=True)
class Case:
    """One fit of a benchmark: the table, the criterion, the depth, and the seconds asked for.

    Examples
    --------
    >>> from provetree.bench.tasks import Case
    >>> Case(("numbers", "boston"), "squared_error", 3, 0.06).title
    'boston (numbers)'
    """

    table: tuple[Any, ...]
    criterion: str
    depth: int
    asked: float | None = None
    known: float | None = None  # the cost of the best tree, where another program told it
    solver: str = "provetree"

    @property
    def title(self) -> str:
        """The table in a word or two."""
        kind, *rest = self.table
        if kind == "mixed":
            return f"mixed, noise {rest[2]:g}"
        if kind == "rewards":
            return f"rewards, signal {rest[3]:g}" if rest[3] else "rewards, noise"
        return f"{rest[0].removeprefix('contree-')} ({kind})"


#: Seconds asked for at depths two, three and four (inf: a proof is), and the least squared errors
#: where they are known from another program.
_SQUARED: Mapping[str, tuple[tuple[float, float | None], ...]] = {
    "boston": ((0.001, 12761.29161), (0.06, 5720.169911), (6.9, 3692.797832)),
    "concrete": ((0.001, 146217.1499), (0.05, 98165.53615), (5.5, 68407.68585)),
    "college": ((0.004, 4971061308.0), (0.47, 3613237088.0), (math.inf, None)),
    "car-prices": ((0.001, 2.04259438e10), (0.008, 7084888245.0), (0.21, 4898901399.0)),
    "wage": ((0.001, 4786510.643), (0.005, 4725129.171), (0.14, 4652162.739)),
    "bikeshare": ((0.001, 84184215.55), (0.12, 59993820.85), (6.1, 38791184.7)),
    "diamonds": ((0.007, 1.476050784e11), (1.6, 1.107752227e11)),
}
_CATEGORIES = ("college", "wage", "bikeshare", "diamonds", "sacramento", "ames")
_GINI = {
    "contree-bank": 0.016,
    "contree-raisin": 0.41,
    "contree-wilt": 0.13,
    "pima-indians-diabetes": 0.15,
    "contree-rice": 1.5,
    "contree-magic": 6.0,
}
#: Costs at depth three that are known from another program.
_KNOWN_PURITY: Mapping[tuple[str, str], float] = {
    ("contree-rice", "gini"): 399.6995022,
    ("contree-rice", "entropy"): 683.9315173,
    ("contree-rice", "pessimistic"): 269.4346589,
    ("contree-magic", "gini"): 5091.982592,
}
#: How many times Gini's seconds the other criteria may take.
_TIMES_GINI = {"gini": 1.0, "entropy": 2.0, "pessimistic": 4.0}
_BINNED = ("concrete", "boston", "bikeshare", "college", "car-prices")
#: How many times as fast as STreeD.
_TIMES_STREED = 15.0
#: What a report says where two proofs disagree, or one has another cost than is known.
DIFFERENT = "DIFFERENT"
#: R² more than CART's, on average.
_GAIN = 0.02


def _squared(quick: bool) -> Iterable[Case]:
    for depth in (2,) if quick else (2, 3, 4):
        for name, by_depth in _SQUARED.items():
            if depth - 2 < len(by_depth):
                yield Case(("numbers", name), "squared_error", depth, *by_depth[depth - 2])


def _categories(quick: bool) -> Iterable[Case]:
    for depth in (2,) if quick else (2, 3):
        for name in _CATEGORIES:
            yield Case(("all", name), "squared_error", depth)
    if not quick:
        for noise in (0.3, 1.0):
            yield Case(("mixed", 15_000, 27, noise), "squared_error", 3, 60.0)


def _purity(quick: bool) -> Iterable[Case]:
    for name, asked in _GINI.items():
        for criterion, times in _TIMES_GINI.items():
            if quick:
                yield Case(("classes", name), criterion, 2)
            else:
                known = _KNOWN_PURITY.get((name, criterion))
                yield Case(("classes", name), criterion, 3, times * asked, known)


def _policies(quick: bool) -> Iterable[Case]:
    if quick:
        yield Case(("rewards", 500, 5, 3, 1.0), "policy", 2)
        yield Case(("rewards", 500, 5, 3, 0.0), "policy", 2)
        return
    yield Case(("rewards", 10_000, 30, 20, 1.0), "policy", 2, 0.5)
    yield Case(("rewards", 10_000, 30, 20, 0.2), "policy", 2, 0.5)
    yield Case(("rewards", 10_000, 30, 20, 0.0), "policy", 2, 10.0)
    yield Case(("rewards", 2_000, 10, 3, 1.0), "policy", 3, 10.0)
    yield Case(("rewards", 100_000, 200, 20, 1.0), "policy", 2, 120.0)


def _bins(quick: bool) -> Iterable[Case]:
    for depth in (2,) if quick else (4, 5):
        for name in _BINNED:
            for solver in ("provetree", *STREED_TASKS):
                yield Case(("bins", name), "squared_error", depth, solver=solver)


def _report_times(found: Sequence[tuple[Case, Measured]]) -> str:
    rows = []
    for case, got in found:
        asked = None if case.asked is None else f"{case.asked:g} s"
        rows.append(
            (
                case.title,
                got.shape,
                case.criterion,
                case.depth,
                got.seconds,
                got.search,
                "proven" if asked == "inf s" else asked,
                got.cost,
                _proof(got, case.known),
            )
        )
    header = (
        "table | size | criterion | depth | fit [time] | search [time] | asked | cost [.6g] | proof"
    )
    return titled_table("Times", header, rows)


def _proof(got: Measured, known: float | None = None) -> str:
    if got.proven and known and not math.isclose(got.cost or 0.0, known, rel_tol=1e-7):
        return f"{DIFFERENT}: {known!r} is known"
    if got.proven or got.message:
        return got.message or "proven"
    return "time limit" if got.bound is None else f"bound {got.bound:.6g}"


def _report_purity(found: Sequence[tuple[Case, Measured]]) -> str:
    """Return the times, and those of the criteria beside each other."""
    rows = []
    for title in dict.fromkeys(case.title for case, _ in found):
        own = {case.criterion: (case, got) for case, got in found if case.title == title}
        case, gini = own["gini"]
        ratios = [
            None if not (got.proven and gini.proven) else (got.seconds or 0) / (gini.seconds or 1)
            for got in (own[name][1] for name in ("entropy", "pessimistic"))
        ]
        times = [own[name][1].seconds if own[name][1].proven else None for name in _TIMES_GINI]
        rows.append((title, gini.shape, case.depth, *times, case.asked, *ratios))
    header = (
        "table | size | depth | Gini [time] | entropy [time] | pessimistic [time] | "
        "Gini asked [time] | entropy/Gini [.1f] | pessimistic/Gini [.1f]"
    )
    asked = "Purity: entropy is asked to take at most 2, pessimistic errors 4 times Gini's time"
    return f"{_report_times(found)}\n\n{titled_table(asked, header, rows)}"


def _report_bins(found: Sequence[tuple[Case, Measured]]) -> str:
    got = dict(found)
    rows = []
    for case, ours in found:
        if case.solver != "provetree":
            continue
        peers = [
            got.get(replace(case, solver=name), Measured(message=f"{name} not run"))
            for name in STREED_TASKS
        ]
        cells = [cell for peer in peers for cell in (peer.seconds, _ratio(ours, peer))]
        row = (case.title, ours.shape, case.depth, ours.seconds, *cells)
        rows.append((*row, _same_cost(ours, peers)))
    header = (
        "table | size | depth | provetree [time] | STreeD [time] | ratio | "
        "its default task [time] | ratio | cost"
    )
    title = f"Ten bins: {_TIMES_STREED:g} times as fast as STreeD's regression is asked for"
    return titled_table(title, header, rows)


def _ratio(ours: Measured, peer: Measured) -> str | None:
    if not (ours.proven and ours.seconds and peer.seconds):
        return None
    return f"{'' if peer.proven else '> '}{peer.seconds / ours.seconds:.1f}"


def _same_cost(ours: Measured, peers: Sequence[Measured]) -> str:
    """Return the cost, or what is not alike: two proofs of one table must have one cost."""
    if ours.cost is None or not ours.proven:
        return _proof(ours)
    proven = [peer.cost for peer in peers if peer.proven and peer.cost is not None]
    if not all(math.isclose(cost, ours.cost, rel_tol=1e-6) for cost in proven):
        return f"{DIFFERENT}: {ours.cost!r}, {proven}"
    why = ", ".join(
        dict.fromkeys(peer.message or "not proven" for peer in peers if not peer.proven)
    )
    return f"{ours.cost:.6g}{f' (alone: {why})' if not proven else ''}"


@dataclass(frozen=True)
class Group:
    """Some fits and how they are shown.

    Examples
    --------
    >>> from provetree.bench.tasks import GROUPS
    >>> GROUPS["policies"].text
    'actions to take'
    """

    text: str
    cases: Callable[[bool], Iterable[Case]]
    report: Callable[[Sequence[tuple[Case, Measured]]], str] = _report_times


GROUPS: Mapping[str, Group] = {
    "squared": Group("squared error on columns of numbers", _squared),
    "categories": Group("squared error on tables with categories", _categories),
    "purity": Group("Gini index, entropy and pessimistic errors", _purity, _report_purity),
    "policies": Group("actions to take", _policies),
    "bins": Group("ten bins, beside STreeD", _bins, _report_bins),
}
"""What is timed, by name; the group "new-rows" is another kind."""

NEW_ROWS = "new-rows"


def run(arguments: argparse.Namespace) -> int:
    """Run ``provetree bench tasks``; the exit status is 1 where two proofs disagree."""
    known = (*GROUPS, NEW_ROWS)
    chosen = words(arguments.groups) or known
    among("--groups", chosen, known)
    tables = words(arguments.tables)
    if tables:
        among("--tables", tables, table_names())
    kept = _Kept(arguments.output)
    texts = []
    for name in chosen:
        if name == NEW_ROWS:
            texts.append(_new_rows(arguments, tables, kept))
        else:
            texts.append(_timed(name, arguments, tables, kept))
    print("\n\n".join(texts))
    return 1 if any(DIFFERENT in text for text in texts) else 0


class _Kept:
    """Results by what was asked, in a file if there is one: a second run goes on from it."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.results = read_results(path)

    def get(self, asked: Mapping[str, Any], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        for known in self.results:
            if all(known.get(name) == value for name, value in asked.items()):
                return known
        self.results.append({**asked, **make()})
        write_results(self.path, self.results)
        return self.results[-1]


def _timed(name: str, arguments: argparse.Namespace, tables: Sequence[str], kept: _Kept) -> str:
    """Run the fits of a group and return its report."""
    found = []
    notes = []
    for case in GROUPS[name].cases(arguments.quick):
        if tables and case.table[1] not in tables:
            continue
        if case.depth > arguments.most_depth:
            continue
        missing = missing_peer(case.solver)
        if missing:
            notes += [] if missing in notes else [missing]
            continue
        got = _measured(case, arguments, kept)
        line = f"{case.title}, {case.criterion}, depth {case.depth}, {case.solver}"
        print(f"{line}: {format_seconds(got.seconds)}, {_proof(got)}", flush=True)
        found.append((case, got))
    report = GROUPS[name].report(found) if found else "(nothing asked for)"
    return "\n".join([f"## {name}: {GROUPS[name].text}", "", *notes, report])


def _measured(case: Case, arguments: argparse.Namespace, kept: _Kept) -> Measured:
    core = default_core() if arguments.core is None else arguments.core
    request = Request(case.table, case.criterion, case.depth, arguments.limit, case.solver, core)
    asked = {**asdict(request), "table": list(case.table)}
    result = kept.get(asked, lambda: asdict(solve(request)))
    return Measured(**{name: result[name] for name in asdict(Measured())})


def _new_rows(arguments: argparse.Namespace, tables: Sequence[str], kept: _Kept) -> str:
    """Compare both kinds of trees on new rows and return the report."""
    data_folder()
    names = [name for name in suite_tables("regression") if not tables or name in tables]
    sizes = (4,) if arguments.quick else numbers(arguments.leaves, int, "--leaves")
    scores = []
    for name in names[:2] if arguments.quick else names:
        for leaves in sizes:
            for split in range(min(2, arguments.splits) if arguments.quick else arguments.splits):
                asked = {
                    "new_rows": name,
                    "split": split,
                    "leaves": leaves,
                    "fit_limit": arguments.fit_limit,
                    "train_rows": arguments.train_rows,
                }
                scores.append(_scores(asked, kept))
            own = [one for one in scores if (one.table, one.leaves) == (name, leaves)]
            gain = sum(one.gain for one in own) / len(own)
            print(f"{name}, {leaves} leaves, {len(own)} splits: {gain:+.3f}", flush=True)
    header = (
        "table | leaves | splits | CART, same depth [.3f] | CART, any depth [.3f] | "
        "searched [.3f] | gain [+.3f] | gain, any depth [+.3f]"
    )
    title = f"R² on new rows, all tuned; a mean gain of {_GAIN:+g} is asked for"
    return f"## {NEW_ROWS}\n\n{titled_table(title, header, summary(scores))}"


def _scores(asked: dict[str, Any], kept: _Kept) -> Scores:
    def make() -> dict[str, Any]:
        table = read_with_target(asked["new_rows"])
        got = score_split(
            table, asked["split"], asked["leaves"], asked["fit_limit"], asked["train_rows"]
        )
        return {"cart": got.cart, "deep_cart": got.deep_cart, "optimal": got.optimal}

    result = kept.get(asked, make)
    figures = (result[name] for name in ("cart", "deep_cart", "optimal"))
    return Scores(asked["new_rows"], asked["split"], asked["leaves"], *figures)
