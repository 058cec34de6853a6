"""The options of ``provetree bench``, written down without loading a benchmark.

The parser answers helps and wrong words at once; a benchmark is imported when it runs. Numbers out
of range and names of solvers are refused here; names of tables and data sets by the benchmark,
which knows its data.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from provetree import __version__

__all__ = ["BENCHMARKS", "among", "build_parser", "numbers", "words"]

#: Papers with a benchmark, by the name of their module in :mod:`provetree.bench.papers`.
PAPERS = {
    "dl85": "Aglin, Nijssen, Schaus 2020: DL8 and DL8.5",
    "oct": "Vääräniemi 2023: OCT; and model (P) of Ales et al. 2024",
    "oct-h": "Bertsimas, Dunn 2017: OCT-H, in the experiments of Vääräniemi 2023",
    "patel": "Patel, Desaulniers, Lodi 2023: revised column generation",
    "firat": "Firat et al. 2020: column generation",
    "ales": "Ales, Huré, Lambert 2024: data-partitions",
}
#: Whole proofs that threads are measured on: table and depth.
PROOFS = "magic:3,eeg:3,rice:4"


def words(text: str) -> tuple[str, ...]:
    """Return the words of a comma-separated option.

    Examples
    --------
    >>> from provetree.bench.arguments import words
    >>> words("iris, wine,")
    ('iris', 'wine')
    """
    return tuple(word.strip() for word in text.split(",") if word.strip())


def numbers(text: str, kind: type, option: str) -> list[Any]:
    """Return the numbers of a comma-separated option.

    Examples
    --------
    >>> from provetree.bench.arguments import numbers
    >>> numbers("1, 2.5", float, "--seconds")
    [1.0, 2.5]
    """
    try:
        found = [kind(word) for word in text.split(",") if word.strip()]
    except ValueError:
        found = []
    if not found or not all(0 < number < math.inf for number in found):
        raise ValueError(f"{option} must be a list of numbers above 0. Got {text!r} instead.")
    return found


def among(option: str, asked: Iterable[object], known: Iterable[object]) -> None:
    """Raise if something is asked for that is not known.

    Examples
    --------
    >>> from provetree.bench.arguments import among
    >>> among("--datasets", ["irs"], ["iris", "wine"])
    Traceback (most recent call last):
        ...
    ValueError: --datasets must be among iris, wine. Got irs instead.
    """
    allowed = tuple(known)
    for one in asked:
        if one not in allowed:
            choice = ", ".join(str(each) for each in allowed)
            raise ValueError(f"{option} must be among {choice}. Got {one} instead.")


def _number(kind: type, least: float, above: bool = False) -> Callable[[str], Any]:
    """Return what reads a number from `least` on, or above it."""

    def read(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if (number > least if above else number >= least) and number < math.inf:
            return number
        what = "a whole number" if kind is int else "a number"
        limit = f"above {least:g}" if above else f"of at least {least:g}"
        raise argparse.ArgumentTypeError(f"must be {what} {limit}. Got {text!r} instead.")

    return read


_COUNT = _number(int, 1)
_SECONDS = _number(float, 0.0, above=True)


class _OldName(argparse.Action):
    """An old name of a flag: it works for one version more."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        warnings.warn(
            f"{option_string} is the old name of --{self.dest}, and the next version will not "
            "know it.",
            FutureWarning,
            stacklevel=2,
        )
        setattr(namespace, self.dest, values)


class _Option:
    """One option: its flag, its help, and other settings of argparse; an old name may work, too."""

    def __init__(self, flag: str, help: str, old_flag: str | None = None, **settings: Any) -> None:
        self.flag, self.old_flag = flag, old_flag
        self.settings = {"help": help, **settings}

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add it to a parser."""
        # The old and the new name together are refused.
        group = parser if self.old_flag is None else parser.add_mutually_exclusive_group()
        group.add_argument(self.flag, **self.settings)
        if self.old_flag is not None:
            name = self.flag.removeprefix("--")
            group.add_argument(self.old_flag, dest=name, action=_OldName, help=argparse.SUPPRESS)


def _names(flag: str, help: str, default: str = "", metavar: str = "A,B", **more: Any) -> _Option:
    return _Option(flag, help, default=default, metavar=metavar, **more)


def _count(flag: str, help: str, default: int) -> _Option:
    return _Option(flag, help, default=default, type=_COUNT)


def _seconds(flag: str, help: str, default: float) -> _Option:
    return _Option(flag, help, default=default, type=_SECONDS)


def _path(flag: str, help: str, metavar: str | None = None) -> _Option:
    return _Option(flag, help, type=Path, metavar=metavar)


def _figures(chart: str) -> tuple[_Option, ...]:
    output = _path("--output", "JSON file of the figures; goes on from it")
    return output, _path("--chart", f"{chart} (extra: plot)")


_PEERS = (
    _Option("--suite", "suite of tables (default: contree)", default="contree"),
    _count("--depth", "maximum depth of the trees (default: 3)", 3),
    _names("--tables", "only these tables of the suite, by full or short name"),
    _names("--peers", "peers to run (default: those of the suite)"),
    _Option(
        "--part",
        "all rows or the train part (default: full)",
        choices=("full", "train"),
        default="full",
    ),
    _seconds("--limit", "time limit per solve in seconds (default: 120)", 120.0),
    _count("--repeat", "rounds for short runs, best time counts (default: 3)", 3),
    _Option(
        "--price",
        "price per leaf as a share of the rows, for the peers that charge one (default: 0)",
        default=0.0,
        type=float,
    ),
    _Option("--core", "core to pin every solve to (default: the last one)", type=_number(int, 0)),
    _path("--output", "also write the results as JSON", "FILE"),
)
_KNOWN = (
    _Option("--depth", "only this depth (default: all)", type=int),
    _names("--tables", "only these tables, by short name"),
    _seconds("--limit", "time limit per solve in seconds (default: 600)", 600.0),
)
_PAPER = (
    _Option(
        "--paper",
        "; ".join(f"{name}: {text}" for name, text in PAPERS.items()),
        required=True,
        metavar="NAME",
    ),
    _Option("--time-limit", "seconds per solve (default: 60)", default=60.0, type=float),
    _Option("--splits", "splits per data set (all)", type=int),
    _names("--datasets", "only these data sets"),
    _names("--tables", "only these tables, figures", metavar="2,3"),
    _names("--depths", "only these depths", metavar="2,3"),
    _path("--figures", "folder to draw figures into"),
    _path("--cells", "file that keeps cells, to resume after a stop"),
    _Option("--fresh", "forget the cells of earlier runs", action="store_true"),
)
_ANYTIME = (
    _names("--tables", "tables (default: all eight)"),
    _names("--depths", "depths (default: 5)", "5", "D,D"),
    _names("--seconds", "moments to look at (default: 1,5,15)", "1,5,15", "S,S"),
    _names(
        "--jobs",
        "measure whole proofs with these numbers of threads instead",
        metavar="N,N",
        old_flag="--threads",
    ),
    _names("--proofs", f"the proofs (default: {PROOFS})", PROOFS, "T:D,T:D"),
    _count("--repeat", "runs of each proof (default: 3)", 3),
    *_figures("draw best and bound over time into this file"),
)
_SCALING = (
    _names(
        "--rows",
        "numbers of rows (default: 1000 to 1000000)",
        "1000,3000,10000,30000,100000,300000,1000000",
        "N,N",
    ),
    _count("--row-columns", "columns of these tables", 10),
    _names(
        "--columns",
        "numbers of columns (default: 10 to 10000)",
        "10,30,100,300,1000,3000,10000",
        "N,N",
    ),
    _count("--column-rows", "rows of these tables", 1000),
    _names("--depths", "depths (default: 2,3)", "2,3", "D,D"),
    _names("--noise", "shares of changed classes", "0.01,0.2", "S,S"),
    _seconds("--limit", "seconds of one fit", 30.0),
    _names("--solvers", "solvers to measure", "provetree,pycontree"),
    *_figures("draw a picture into this file"),
)
_LIMITS = (
    _count("--rows", "rows of the table (default: 20000)", 20_000),
    _count("--columns", "columns of the table (default: 10)", 10),
    _count("--depth", "depth for overshoot and latency (default: 6)", 6),
    _count("--memory-depth", "depth for the memory (default: 3)", 3),
    _seconds("--memory-limit", "time limit of that fit in seconds (default: 120)", 120.0),
    _count("--repeat", "runs per figure, the worst counts (default: 3)", 3),
)
_CLUSTER = (
    _Option("--table", "table to search (default: contree-rice)", default="contree-rice"),
    _count("--depth", "depth of the trees (default: 4)", 4),
    _Option(
        "--workers",
        "how many workers a search is run with (default: 1 4 16 64)",
        type=_number(int, 1),
        nargs="+",
        default=[1, 4, 16, 64],
    ),
    _Option(
        "--simulate",
        "how many workers are simulated from recorded tasks (default: 16 64 256 1024 4096)",
        type=_number(int, 1),
        nargs="+",
        default=[16, 64, 256, 1024, 4096],
    ),
    _path("--durations", "seconds of tasks as JSON, to simulate from without a search", "FILE"),
    _path("--record", "write the seconds of all tasks as JSON", "FILE"),
    _path("--chart", "draw how busy workers and the client are (extra: plot)", "FILE"),
    _seconds("--seconds", "work after which a search is cut off (default: 120)", 120.0),
    _seconds("--client-ms", "what a group of tasks takes of the client (default: 1.4)", 1.4),
    _seconds("--latency-ms", "time between client and worker (default: 5)", 5.0),
)
_START = (
    _names("--commands", "only these commands (default: all)"),
    _count("--repeat", "runs of each, the median counts (default: 7)", 7),
)
_NEW_ROWS = (
    _names("--tables", "only these tables (default: all of the suites)"),
    _names("--methods", "only these methods (default: all but cart-sums and sparse-linear)"),
    _names("--leaves", "most leaves of single trees (default: 8,16)", metavar="4,8"),
    _count("--splits", "seeded splits of each table (default: 10)", 10),
    _Option("--part", "the i-th of n parts, as i/n (default: 1/1)", default="1/1", metavar="I/N"),
    _count("--jobs", "fits at once, each on one core (default: 1)", 1),
    _seconds("--limit", "seconds of a fit, for methods that keep a limit (default: 60)", 60.0),
    _Option("--stop-after", "begin no further fit after so many seconds", type=_SECONDS),
    _Option(
        "--results",
        "folder of the results (default: provetree-new-rows)",
        type=Path,
        default=Path("provetree-new-rows"),
    ),
    _Option("--papers", "the papers' own splits instead of seeded ones", action="store_true"),
    _path("--summary", "fit nothing, and write the page of the results", "FILE.md"),
)
_TASKS = (
    _names("--groups", "squared, categories, purity, policies, bins, new-rows (default: all)"),
    _names("--tables", "only these tables"),
    _count("--most-depth", "leave out deeper trees (default: 9)", 9),
    _seconds("--limit", "time limit per solve in seconds (default: 120)", 120.0),
    _names("--leaves", "most leaves of the trees for new rows (default: 8,16)", "8,16", "N,N"),
    _count("--splits", "splits of each table for new rows (default: 10)", 10),
    _seconds("--fit-limit", "seconds for a tuned tree, for new rows (default: 600)", 600.0),
    _count("--train-rows", "most rows to train on for new rows (default: 4000)", 4000),
    _Option("--core", "core to pin every solve to (default: the last one)", type=_number(int, 0)),
    _Option("--quick", "a minute's worth: shallow trees, few splits", action="store_true"),
    _path("--output", "JSON file of the figures; goes on from it"),
)

_NEAR_OPTIMAL = (
    _names("--tables", "only these tables (default: all)"),
    _count("--depth", "depth of the trees (default: 3)", 3),
    _Option("--slack", "share of the rows (default: 0.01)", default=0.01, type=_number(float, 0)),
    _Option(
        "--price",
        "price per leaf beside peers, as a share of the rows (default: 0.01)",
        default=0.01,
        type=_number(float, 0),
    ),
    _names(
        "--peers", "treefarms, tree-praxis (default: both; '' for none)", "treefarms,tree-praxis"
    ),
    _Option(
        "--python",
        "interpreter that has these packages (default: this one)",
        default=sys.executable,
    ),
    _seconds("--limit", "time limit per count in seconds (default: 60)", 60.0),
    _count("--repeat", "runs of short counts, the best counts (default: 3)", 3),
    _path("--output", "also write the results as JSON", "FILE"),
)

_RULES = (
    _names("--tables", "only these tables (default: eight of contree)"),
    _names("--rules", "only these rules (default: all)"),
    _count("--depth", "depth of the trees (default: 3)", 3),
    _seconds("--limit", "time limit per fit in seconds (default: 60)", 60.0),
    _count("--repeat", "runs of short fits, the least time counts (default: 5)", 5),
    _path("--output", "also write the results as JSON", "FILE"),
)
_CERTIFICATES = (
    _Option("--suite", "suite of tables (default: contree)", default="contree"),
    _count("--depth", "maximum depth of the trees (default: 3)", 3),
    _names("--tables", "only these tables of the suite, by full or short name"),
    _seconds("--limit", "time limit per fit in seconds (default: 60)", 60.0),
    _seconds("--check-limit", "seconds of the processor for each checker (default: 300)", 300.0),
    _count("--repeat", "rounds for short fits, the least time counts (default: 3)", 3),
    _path("--compiled", "the compiled checker (default: only the one in Python runs)", "PROGRAM"),
    _path("--keep", "folder to keep the certificates in", "FOLDER"),
)
_DATA = (
    _Option(
        "folder", "folder to build; what it holds already is kept", type=Path, metavar="FOLDER"
    ),
    _names("--tables", "only these tables (default: all)"),
)

#: Benchmarks whose module has another name: `bench.data` reads the tables.
_MODULES = {"data": "make-data"}

#: Each benchmark: what it does, and its options. It is run by ``run`` of its module.
BENCHMARKS: dict[str, tuple[str, tuple[_Option, ...]]] = {
    "peers": ("time, errors and proof beside other exact solvers", _PEERS),
    "known": ("check the known optima of the benchmark tables", _KNOWN),
    "paper": ("the tables of a paper, published numbers beside ours", _PAPER),
    "anytime": ("how good trees get within seconds, and what threads bring", _ANYTIME),
    "scaling": ("how time and memory grow with rows and with columns", _SCALING),
    "tasks": ("other tasks: squared error, purity, policies, and R² on new rows", _TASKS),
    "new-rows": ("accuracy on new rows beside CART and others, all tuned", _NEW_ROWS),
    "near-optimal": ("count all trees that are nearly as good, beside others", _NEAR_OPTIMAL),
    "rules": ("what each rule costs in time, beside fits without it", _RULES),
    "limits": ("time-limit overshoot, Ctrl-C latency and memory", _LIMITS),
    "certificates": ("what certificates take to write and to check", _CERTIFICATES),
    "cluster": (
        "proofs on more workers than there are: the real search, a made-up clock",
        _CLUSTER,
    ),
    "start": ("processor time that short commands take, most of it imports", _START),
    "data": ("build a folder of benchmark tables from packages and from OpenML", _DATA),
}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of ``provetree bench``.

    Returns
    -------
    argparse.ArgumentParser
        The parser; a parsed command carries the name of its benchmark as ``benchmark``.

    Examples
    --------
    >>> from provetree.bench.arguments import build_parser
    >>> parsed = build_parser().parse_args(["bench", "peers", "--depth", "2"])
    >>> parsed.benchmark, parsed.depth
    ('peers', 2)
    """
    parser = argparse.ArgumentParser(
        prog="provetree", description="Classification trees with a proof of optimality."
    )
    parser.add_argument("--version", action="version", version=f"provetree {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")
    bench = commands.add_parser("bench", help="run a benchmark", description="Run a benchmark.")
    benchmarks = bench.add_subparsers(title="benchmarks", required=True, metavar="benchmark")
    for name, (text, options) in BENCHMARKS.items():
        benchmark = benchmarks.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}."
        )
        for option in options:
            option.add_to(benchmark)
        benchmark.set_defaults(benchmark=_MODULES.get(name, name))
    return parser
