"""Reads the command line of ``provetree`` and hands over to the command it names."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from provetree.cli.errors import UserError
from provetree.errors import ClusterError

#: Packages that the commands for people need, and ``provetree bench`` does not.
_PACKAGES = ("click", "polars", "rich")


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
            return _run_benchmark(words)
        if arguments is None:
            from provetree.cli.deferred import defer_unused_packages

            defer_unused_packages()
        return _run_command(words)
    except (UserError, ValueError, ClusterError) as error:
        print(f"provetree: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("provetree: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of a pipe has seen enough; the interpreter must not try to flush to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run_benchmark(words: list[str]) -> int:
    from provetree.bench.arguments import build_parser

    parsed = build_parser().parse_args(words)
    from provetree.bench.data import DataNotFoundError

    try:
        module = parsed.benchmark.replace("-", "_")
        status: int = import_module(f"provetree.bench.{module}").run(parsed)
    except DataNotFoundError as error:
        raise UserError(str(error)) from None
    return status


def _run_command(words: list[str]) -> int:
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise UserError(
            f"This command needs the package '{missing[0]}': install it with "
            "pip install 'provetree[cli]'. Only 'provetree bench' works without."
        )
    import click

    from provetree.cli.commands import app

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
