"""The options of ``provetree bench``, written down without loading a benchmark.

The parser answers helps and wrong words at once; a benchmark is imported when it runs. Numbers out
of range and names of solvers are refused here; names of tables and data sets by the benchmark,
which knows its data.
"""

from __future__ import annotations

import argparse
import math
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
    for name, (text, add_options) in BENCHMARKS.items():
        benchmark = benchmarks.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}."
        )
        add_options(benchmark)
        benchmark.set_defaults(benchmark=name)
    return parser


def _peers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--suite", default="contree", help="suite of tables (default: contree)")
    parser.add_argument(
        "--depth", type=_COUNT, default=3, help="maximum depth of the trees (default: 3)"
    )
    parser.add_argument(
        "--tables",
        default="",
        metavar="A,B",
        help="only these tables of the suite, by full or short name",
    )
    parser.add_argument(
        "--peers", default="", metavar="A,B", help="peers to run (default: those of the suite)"
    )
    parser.add_argument(
        "--part",
        choices=("full", "train"),
        default="full",
        help="all rows or the train part (default: full)",
    )
    _add_limit(parser, 120)
    parser.add_argument(
        "--repeat",
        type=_COUNT,
        default=3,
        help="rounds for short runs, best time counts (default: 3)",
    )
    parser.add_argument(
        "--price",
        type=float,
        default=0.0,
        help="price per leaf as a share of the rows, for the peers that charge one (default: 0)",
    )
    parser.add_argument(
        "--core",
        type=_number(int, 0),
        default=None,
        help="core to pin every solve to (default: the last one)",
    )
    parser.add_argument(
        "--output", type=Path, default=None, metavar="FILE", help="also write the results as JSON"
    )


def _known(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--depth", type=int, default=None, help="only this depth (default: all)")
    parser.add_argument(
        "--tables", default="", metavar="A,B", help="only these tables, by short name"
    )
    _add_limit(parser, 600)


def _paper(parser: argparse.ArgumentParser) -> None:
    papers = "; ".join(f"{name}: {text}" for name, text in PAPERS.items())
    parser.add_argument("--paper", required=True, metavar="NAME", help=papers)
    parser.add_argument(
        "--time-limit", type=float, default=60.0, help="seconds per solve (default: 60)"
    )
    parser.add_argument("--splits", type=int, default=None, help="splits per data set (all)")
    parser.add_argument("--datasets", default="", metavar="A,B", help="only these data sets")
    parser.add_argument("--tables", default="", metavar="2,3", help="only these tables, figures")
    parser.add_argument("--depths", default="", metavar="2,3", help="only these depths")
    parser.add_argument("--figures", type=Path, default=None, help="folder to draw figures into")
    parser.add_argument(
        "--cells", type=Path, default=None, help="file that keeps cells, to resume after a stop"
    )
    parser.add_argument("--fresh", action="store_true", help="forget the cells of earlier runs")


class _OldName(argparse.Action):
    """An old name of a flag: it goes on working for one version."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        warnings.warn(
            f"{option_string} is the old name of --{self.dest}, and the next version will not "
            "know it.",
            FutureWarning,
            stacklevel=2,
        )
        setattr(namespace, self.dest, values)


def _anytime(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tables", default="", metavar="A,B", help="tables (default: all eight)")
    parser.add_argument("--depths", default="5", metavar="D,D", help="depths (default: 5)")
    parser.add_argument(
        "--seconds", default="1,5,15", metavar="S,S", help="moments to look at (default: 1,5,15)"
    )
    jobs = parser.add_mutually_exclusive_group()
    jobs.add_argument(
        "--jobs",
        default="",
        metavar="N,N",
        help="measure whole proofs with these numbers of threads instead",
    )
    jobs.add_argument("--threads", dest="jobs", action=_OldName, help=argparse.SUPPRESS)
    parser.add_argument(
        "--proofs", default=PROOFS, metavar="T:D,T:D", help=f"the proofs (default: {PROOFS})"
    )
    parser.add_argument("--repeat", type=_COUNT, default=3, help="runs of each proof (default: 3)")
    _add_figures(parser, "draw best and bound over time into this file (extra: plot)")


def _scaling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rows",
        default="1000,3000,10000,30000,100000,300000,1000000",
        metavar="N,N",
        help="numbers of rows (default: 1000 to 1000000)",
    )
    parser.add_argument("--row-columns", type=_COUNT, default=10, help="columns of these tables")
    parser.add_argument(
        "--columns",
        default="10,30,100,300,1000,3000,10000",
        metavar="N,N",
        help="numbers of columns (default: 10 to 10000)",
    )
    parser.add_argument("--column-rows", type=_COUNT, default=1000, help="rows of these tables")
    parser.add_argument("--depths", default="2,3", metavar="D,D", help="depths (default: 2,3)")
    parser.add_argument(
        "--noise", default="0.01,0.2", metavar="S,S", help="shares of changed classes"
    )
    parser.add_argument("--limit", type=_SECONDS, default=30.0, help="seconds of one fit")
    parser.add_argument(
        "--solvers", default="provetree,pycontree", metavar="A,B", help="solvers to measure"
    )
    _add_figures(parser, "draw a picture into this file (extra: plot)")


def _limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rows", type=_COUNT, default=20_000, help="rows of the table (default: 20000)"
    )
    parser.add_argument(
        "--columns", type=_COUNT, default=10, help="columns of the table (default: 10)"
    )
    parser.add_argument(
        "--depth", type=_COUNT, default=6, help="depth for overshoot and latency (default: 6)"
    )
    parser.add_argument(
        "--memory-depth", type=_COUNT, default=3, help="depth for the memory (default: 3)"
    )
    parser.add_argument(
        "--memory-limit",
        type=_SECONDS,
        default=120.0,
        help="time limit of that fit in seconds (default: 120)",
    )
    parser.add_argument(
        "--repeat", type=_COUNT, default=3, help="runs per figure, the worst counts (default: 3)"
    )


def _start(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--commands", default="", metavar="A,B", help="only these commands (default: all)"
    )
    parser.add_argument(
        "--repeat", type=_COUNT, default=7, help="runs of each, the median counts (default: 7)"
    )


def _add_limit(parser: argparse.ArgumentParser, seconds: int) -> None:
    parser.add_argument(
        "--limit",
        type=_SECONDS,
        default=float(seconds),
        help=f"time limit per solve in seconds (default: {seconds})",
    )


def _add_figures(parser: argparse.ArgumentParser, chart: str) -> None:
    parser.add_argument("--output", type=Path, help="JSON file of the figures; goes on from it")
    parser.add_argument("--chart", type=Path, help=chart)


#: Each benchmark: what it does, and its options. It is run by ``run`` of its module.
BENCHMARKS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "peers": ("time, errors and proof beside other exact solvers", _peers),
    "known": ("check the known optima of the benchmark tables", _known),
    "paper": ("the tables of a paper, published numbers beside ours", _paper),
    "anytime": ("how good trees get within seconds, and what threads bring", _anytime),
    "scaling": ("how time and memory grow with rows and with columns", _scaling),
    "limits": ("time-limit overshoot, Ctrl-C latency and memory", _limits),
    "start": ("processor time that short commands take, most of it imports", _start),
}
