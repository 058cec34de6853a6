"""Folders of Parquet files: ``provetree fit`` on tables larger than memory, and ``predict``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from provetree.cli.errors import UserError
from provetree.cli.options import untuned
from provetree.cli.rules import rule_parameters
from provetree.cli.tables import read_table
from provetree.export.model_file import StoredModel
from provetree.export.words import counted, proof_sentence

if TYPE_CHECKING:
    from polars import DataFrame

    from provetree.cli.screen import Screen

__all__ = ["fit_folder", "is_folder", "tables_of"]

#: Flags of ``fit`` that need the rows in memory.
_OF_FILES = (
    *("report", "certificate", "test", "recall", "precision", "cost_ratio", "scoring"),
    *("positive", "near_optimal", "categorical"),
)
#: What programs call the index of a table that they write beside its columns.
_INDEX = "__"


def is_folder(name: str) -> bool:
    """Tell whether a name is that of a folder."""
    return name != "-" and Path(name).is_dir()


def _files(folder: str) -> dict[Path, list[str]]:
    """Return the files of a folder with their columns, which must be the same."""
    import polars

    files: dict[Path, list[str]] = {}
    for file in sorted(Path(folder).glob("*.parquet")):
        try:
            names = list(polars.read_parquet_schema(file))
        except Exception as error:  # polars has no common class for damaged files
            why = str(error).strip().splitlines()[0].removesuffix(".")
            raise UserError(f"'{file}' is a damaged Parquet file: {why}.") from None
        files[file] = names
        first, expected = next(iter(files.items()))
        if _columns(names) != _columns(expected):
            raise UserError(
                f"All files of a folder must have the same columns: '{file}' has "
                f"{', '.join(names)}, and '{first}' has {', '.join(expected)}."
            )
    if not files:
        raise UserError(f"There are no Parquet files in the folder '{folder}': *.parquet.")
    return files


def _columns(names: list[str]) -> set[str]:
    return {name for name in names if not name.startswith(_INDEX)}


def tables_of(folder: str) -> Iterator[DataFrame]:
    """Return the tables of a folder, one after the other, with their columns in one order.

    Empty ones are left out.
    """
    import polars

    files = _files(folder)
    filled = [
        file for file in files if polars.scan_parquet(file).select(polars.len()).collect().item()
    ]
    if not filled:
        raise UserError(f"The tables in the folder '{folder}' have no rows.")
    shared = set.intersection(*map(set, files.values()))
    order = [name for name in files[filled[0]] if name in shared]
    return (read_table(str(file)).select(order) for file in filled)


def fit_folder(flags: dict[str, Any], parameters: dict[str, Any], screen: Screen) -> bool:
    """Fit one tree to a folder of Parquet files, and tell whether it is proven optimal."""
    for name in _OF_FILES:
        if flags[name] not in (None, ()):
            flag = "--" + name.replace("_", "-")
            raise UserError(f"{flag} needs a table in one file. '{flags['data']}' is a folder.")
    if flags["holds_out"]:
        raise UserError(f"--test-share needs a table in one file. '{flags['data']}' is a folder.")
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
    table = dask.dataframe.read_parquet([*map(str, files)], split_row_groups=False)
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
    given |= rule_parameters(flags, tunes=False)
    with screen.progress() as (show, stage):
        stage("searching")
        try:
            estimator = OptimalTreeClassifier(**given).fit(rows, labels, on_progress=show)
        except TypeError as error:  # a column of values that are neither numbers nor text
            raise UserError(str(error)) from None
        except ValueError as error:
            if "continuous" not in str(error):
                raise
            raise UserError(
                f"The column '{target}' holds numbers with fractions: a folder of files can be "
                "learned for classes only."
            ) from None
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
