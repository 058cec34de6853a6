"""``provetree studio``: opens the page on which people shape a tree of a table file by hand."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from provetree.cli.errors import UserError
from provetree.cli.tables import read_table
from provetree.cli.training import Data, Settings, prepare, with_whole_dates
from provetree.export.words import counted

__all__ = ["studio", "table_of"]


def studio(flags: dict[str, Any]) -> None:
    """Run ``provetree studio`` with its flags, until Ctrl-C."""
    try:
        from provetree.studio.serve import open_studio
        from provetree.studio.wishes import Wishes
    except ImportError as error:
        raise UserError(str(error)) from None
    table = table_of(flags)
    wishes = Wishes(flags["max_depth"], flags["max_leaf_nodes"], flags["min_samples_leaf"])
    session = flags["session"]
    if session is None and flags["data"] != "-":
        session = Path(flags["data"]).with_suffix(".studio.json")
    try:
        opened, note = open_studio(
            table, wishes, seconds=flags["time_limit"], port=flags["port"], session_file=session
        )
    except ImportError as error:
        raise UserError(str(error)) from None
    with opened:
        click.echo(
            f"{flags['data']}: {counted(table.n_rows, 'row')}, {table.n_test_rows} to test on"
        )
        if note is not None:
            click.echo(note)
        click.echo(f"The studio is at {opened.url}")
        kept = "" if session is None else f", and the session stays in '{session}'"
        click.echo(f"Ctrl-C stops it{kept}.")
        if flags["browser"]:
            opened.open()
        try:
            opened.wait()
        except KeyboardInterrupt:
            click.echo("Stopped.")


def table_of(flags: dict[str, Any]) -> Any:
    """Return the table of the studio that the flags name."""
    from provetree.studio.table import Source, StudioTable

    settings = Settings.of({**flags, "task": flags["task"]})
    source = None if flags["data"] == "-" else Source.of(flags["data"])
    data = prepare(read_table(flags["data"]), settings)
    if data.task != "classification":
        raise UserError(
            f"The studio shapes trees that predict classes, and '{settings.target}' is a number to "
            "predict: --task classification takes each value for a class."
        )
    tested = {"test": data.test, "y_test": data.y_test} if data.test.height else {}
    chosen = {} if flags["class_weight"] is None else {"class_weight": flags["class_weight"]}
    return StudioTable(
        data.train,
        data.y_train,
        **tested,
        target=settings.target,
        settings=chosen,
        source=source,
        columns=data.learned.columns,
        notes=data.learned.notes,
        whole=partial(_with_whole_dates, data),
        imports=(
            "from provetree.cli.tables import read_table",
            "from provetree.cli.training import Settings, prepare",
        ),
        loading=(
            f"settings = {_settings_code(settings)}",
            f"data = prepare(read_table({flags['data']!r}), settings)",
            "X, y = data.train, data.y_train",
        ),
    )


def _with_whole_dates(data: Data, tree: Any) -> Any:
    return with_whole_dates(tree, data.learned.columns)


def _settings_code(settings: Settings) -> str:
    usual = Settings(settings.target)
    given = [
        f"{name}={value!r}"
        for name, value in vars(settings).items()
        if name != "target" and value != getattr(usual, name)
    ]
    return f"Settings({', '.join([repr(settings.target), *given])})"
