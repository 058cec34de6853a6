"""Folders of Parquet files: ``provetree fit`` on tables larger than memory, and ``predict``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from provetree.cli.errors import UserError
from provetree.cli.options import untuned
from provetree.cli.tables import read_table
from provetree.export.model_file import StoredModel
from provetree.export.words import counted, proof_sentence

if TYPE_CHECKING:
    from polars import DataFrame

    from provetree.cli.screen import Screen

__all__ = ["fit_folder", "is_folder", "tables_of"]

#: Flags of ``fit`` that need the rows in memory.
_OF_FILES = ("report", "certificate", "test", "recall", "precision", "cost_ratio", "scoring")


def is_folder(name: str) -> bool:
    """Tell whether a name is that of a folder."""
    return name != "-" and Path(name).is_dir()


def _files(folder: str) -> list[Path]:
    files = sorted(Path(folder).glob("*.parquet"))
    if not files:
        raise UserError(f"There are no Parquet files in the folder '{folder}': *.parquet.")
    return files


def tables_of(folder: str) -> Iterator[DataFrame]:
    """Read the tables of a folder, one after the other; empty ones are left out."""
    import polars

    for file in _files(folder):
        if polars.scan_parquet(file).select(polars.len()).collect().item():
            yield read_table(str(file))


def fit_folder(flags: dict[str, Any], parameters: dict[str, Any], screen: Screen) -> bool:
    """Fit one tree to a folder of Parquet files, and tell whether it is proven optimal."""
    for name in _OF_FILES:
        if flags[name] is not None:
            flag = "--" + name.replace("_", "-")
            raise UserError(f"{flag} needs a table in one file. '{flags['data']}' is a folder.")
    if flags["asks_to_tune"]:
        raise UserError(f"--tune needs a table in one file. '{flags['data']}' is a folder.")
    if flags["task"] == "regression":
        raise UserError("A folder of files can be learned for classes, not for numbers.")
    try:
        import dask.dataframe
    except ImportError:
        raise UserError(
            "A folder of files needs the package 'dask': install it with "
            "pip install 'provetree[dask]'."
        ) from None
    files = _files(flags["data"])
    table = dask.dataframe.read_parquet([str(file) for file in files], split_row_groups=False)
    target = flags["target"]
    for name in (target, *flags["ignore"]):
        if name not in table.columns:
            names = ", ".join(map(str, table.columns))
            raise UserError(f"There is no column '{name}' in '{flags['data']}'. It has: {names}.")
    labels = table[target]
    rows = table.drop(columns=[target, *flags["ignore"]])
    screen.note(f"{flags['data']}: {counted(len(files), 'file')}")
    from provetree.estimators.optimal_tree import OptimalTreeClassifier

    given = {name: x for name, x in untuned(parameters).items() if x is not None}
    given["time_limit"] = parameters["time_limit"]
    with screen.progress() as (show, stage):
        stage("searching")
        estimator = OptimalTreeClassifier(**given).fit(rows, labels, on_progress=show)
    model = StoredModel.of(estimator, target=target)
    if flags["save"]:
        model.save(flags["save"])
    proof = model.proof
    assert proof is not None
    if flags["as_json"]:
        found = {
            "target": target,
            "status": proof.status,
            "cost": proof.cost,
            "lower_bound": proof.lower_bound,
            "gap": proof.gap,
            "rows": proof.n_rows,
            "sentence": proof_sentence(proof),
            "tree": model.tree.to_dict(),
        }
        click.echo(json.dumps(found, ensure_ascii=False))
    else:
        screen.out.print(model.tree.to_text(legend=False), markup=False)
        screen.out.print()
        screen.out.print(proof_sentence(proof), style="bold", markup=False)
        if flags["save"]:
            screen.note(f"The model is in {flags['save']}.")
    return proof.status == "optimal"
