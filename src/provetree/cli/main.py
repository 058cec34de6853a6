"""Reads the command line of ``provetree`` and hands over to the command it names."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from provetree import __version__
from provetree.bench import anytime, known, limits, paper, peers, scaling
from provetree.bench.data import DataNotFoundError
from provetree.cli.errors import UserError


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of ``provetree bench``.

    Returns
    -------
    argparse.ArgumentParser
        The parser; a parsed command carries its function as ``run``.

    Examples
    --------
    >>> from provetree.cli.main import build_parser
    >>> build_parser().parse_args(["bench", "peers", "--depth", "2"]).depth
    2
    """
    parser = argparse.ArgumentParser(
        prog="provetree", description="Classification trees with a proof of optimality."
    )
    parser.add_argument("--version", action="version", version=f"provetree {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")

    bench = commands.add_parser("bench", help="run a benchmark", description="Run a benchmark.")
    benchmarks = bench.add_subparsers(title="benchmarks", required=True, metavar="benchmark")
    for module, name, text in (
        (peers, "peers", "time, errors and proof beside other exact solvers"),
        (known, "known", "check the known optima of the benchmark tables"),
        (paper, "paper", "the tables of a paper, published numbers beside ours"),
        (anytime, "anytime", "how good trees get within seconds, and what threads bring"),
        (scaling, "scaling", "how time and memory grow with rows and with columns"),
        (limits, "limits", "time-limit overshoot, Ctrl-C latency and memory"),
    ):
        benchmark = benchmarks.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}."
        )
        module.add_arguments(benchmark)
        benchmark.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the ``provetree`` command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``provetree``; those of the process when not given.

    Returns
    -------
    int
        Exit status: 0 when all went well, 1 when a benchmark found something wrong, 2 for a wrong
        command or wrong data, 3 when ``--require-proof`` found no proof, 130 after Ctrl-C.

    Examples
    --------
    >>> from provetree.cli import main
    >>> main(["bench", "peers", "--peers", "nobody"])
    2
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        # Benchmarks need nothing beyond the package itself, so they have a parser of their own.
        if words[:1] == ["bench"]:
            parsed = build_parser().parse_args(words)
            status: int = parsed.run(parsed)
            return status
        return _run_app(words)
    except (DataNotFoundError, UserError, ValueError) as error:
        print(f"provetree: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("provetree: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of a pipe has seen enough; the interpreter must not try to flush to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run_app(words: list[str]) -> int:
    try:
        import click
        import polars  # noqa: F401
        import rich  # noqa: F401
    except ImportError as error:
        raise UserError(
            f"This command needs the package '{error.name}': install it with "
            "pip install 'provetree[cli]'. Only 'provetree bench' works without."
        ) from None
    from provetree.cli.app import app

    if not words:
        print(click.Context(app, info_name="provetree").get_help(), file=sys.stderr)
        raise SystemExit(2)
    try:
        status: int | None = app.main(words, prog_name="provetree", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    return 0 if status is None else int(status)
