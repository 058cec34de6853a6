"""The commands for people, put together: ``provetree fit``, ``predict`` and the others."""

from __future__ import annotations

from typing import Any

import click

from provetree import __version__
from provetree.cli.compare import compare
from provetree.cli.fit import fit
from provetree.cli.use import explain, export, predict, report

__all__ = ["app"]


#: The backspace tells click to leave the lines of the paragraph as they are.
_HELP = """Classification trees with a proof of optimality.

\b
provetree fit data.csv --target churn --report report.html --save model.json
provetree predict model.json new.csv -o out.csv
provetree explain model.json new.csv --row 17
"""


@click.group(
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="provetree", message="%(prog)s %(version)s")
def app() -> None:
    """Hold the commands together."""


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def bench(words: tuple[str, ...]) -> Any:
    """Run a benchmark: peers, known, paper, anytime, limits."""
    from provetree.cli.main import main

    return main(["bench", *words])


for command in (fit, predict, explain, report, export, compare, bench):
    app.add_command(command)
