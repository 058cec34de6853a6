"""``provetree predict``, ``explain``, ``export`` and ``report``: what to do with a model file."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from provetree.cli.columns import OTHER, use_columns
from provetree.cli.errors import UserError
from provetree.cli.tables import find_source, read_table, write_file, write_text
from provetree.export.model_file import InputColumn, ModelFileError, StoredModel, load_model
from provetree.export.words import counted

if TYPE_CHECKING:
    from polars import DataFrame

__all__ = ["explain", "export", "predict", "reading_notes", "report"]


def open_model(name: str) -> StoredModel:
    """Read a model file, or say in one sentence why it cannot be read."""
    try:
        return load_model(name)
    except FileNotFoundError:
        raise UserError(f"There is no file '{name}'.") from None
    except OSError as error:
        raise UserError(f"'{name}' could not be read: {error.strerror}.") from None
    except ModelFileError as error:
        raise UserError(f"'{name}' could not be read as a model. {error}") from None


def rows_for(model: StoredModel, table: DataFrame) -> DataFrame:
    """Return the columns of a table that a model needs, read as in training."""
    columns = model.columns or tuple(
        InputColumn(name, "number" if levels is None else "category")
        for name, levels in zip(model.column_names, model.tree.categories, strict=True)
    )
    return use_columns(table, columns)


def predict(
    model_file: str,
    data: str,
    output: str,
    proba: bool,
    laplace: float,
    only: bool,
    as_json: bool,
) -> None:
    """Run ``provetree predict``: write the predictions for a table."""
    import polars

    model = open_model(model_file)
    table = read_table(data)
    encoded = model.encoder().transform(rows_for(model, table))
    name = _free("prediction" if model.target is None else f"predicted {model.target}", table)
    found = {name: model.labels[model.tree.predict(encoded)].tolist()}
    if proba or laplace:
        shares = model.tree.predict_proba(encoded, laplace)
        for i, label in enumerate(model.labels.tolist()):
            found[_free(f"probability {label}", table)] = shares[:, i].tolist()
    added = polars.DataFrame(found, strict=False)
    written = added if only else table.hstack(added)
    text = written.write_csv()
    if as_json:
        text = json.dumps(written.to_dicts(), ensure_ascii=False, default=str) + "\n"
    write_text(text, output)


def explain(model_file: str, data: str | None, row: int | None, as_json: bool) -> None:
    """Run ``provetree explain``: say why a row is predicted as it is, or write all rules."""
    from provetree.report.sentences import explain_row

    model = open_model(model_file)
    what = model.target or "prediction"
    if data is None and row is not None:
        data = find_source(model.source, model_file)
    if data is None:
        _write_rules(model, as_json)
        return
    table = read_table(data)
    number = 1 if row is None else row
    if number > table.height:
        raise UserError(
            f"--row must be at most {table.height}, the rows of '{data}'. Got {number}."
        )
    encoded = model.encoder().transform(rows_for(model, table.slice(number - 1, 1)))
    lines, leaf = explain_row(model.tree, encoded[0])
    label = model.labels[model.tree.label[leaf]]
    shares = model.tree.shares()[leaf]
    n_rows = int(model.tree.n_samples[leaf])
    if as_json:
        answer = {
            "table": data,
            "row": number,
            "prediction": label.item() if hasattr(label, "item") else label,
            "because": lines,
            "leaf": leaf,
            "rows": n_rows,
            "shares": dict(zip(map(str, model.labels.tolist()), shares.tolist(), strict=True)),
        }
        click.echo(json.dumps(answer, ensure_ascii=False))
        return
    where = "" if data == "-" else f" of {Path(data).name}"
    click.echo(f"Row {number}{where}: {what} is predicted to be {label}")
    for i, line in enumerate(lines):
        stop = "." if i == len(lines) - 1 else ""
        click.echo(f"  {'because' if i == 0 else '    and'} {line}{stop}")
    share = float(shares[model.tree.label[leaf]])
    click.echo(
        f"Of the {counted(n_rows, 'training row')} like this, {100 * share:.1f} % are {label}."
        if lines
        else f"The model predicts {label} for every row."
    )


def _write_rules(model: StoredModel, as_json: bool) -> None:
    from provetree.report.sentences import rules

    found = rules(model.tree)
    if not as_json:
        click.echo("\n".join(rule.sentence for rule in found))
        return
    names = {"conditions": "if", "label": "then"}
    answer = [
        {names.get(name, name): value for name, value in vars(rule).items()}
        | {"sentence": rule.sentence}
        for rule in found
    ]
    click.echo(json.dumps(answer, ensure_ascii=False))


def reading_notes(model: StoredModel) -> list[str]:
    """Say which columns of the tree are not read as they stand in a table file.

    Model files know how to read such columns; other forms of the tree take them as read.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.cli.use import reading_notes
    >>> from provetree.export.model_file import InputColumn, StoredModel
    >>> clf = OptimalTreeClassifier().fit([[20240131.0], [20231201.0]], ["no", "yes"])
    >>> model = StoredModel.of(clf, columns=[InputColumn("since", "date", order="dmy")])
    >>> reading_notes(model)
    ["'since' is the number YYYYMMDD, 20240131 for 31 January 2024"]
    """
    notes = []
    used = set(model.tree.feature[model.tree.feature >= 0].tolist())
    for feature, column in enumerate(model.columns):
        if feature not in used:
            continue
        if column.kind == "date":
            notes.append(f"'{column.name}' is the number YYYYMMDD, 20240131 for 31 January 2024")
        elif column.known is not None:
            kept = ", ".join(repr(word) for word in column.known)
            notes.append(f"'{column.name}' is '{OTHER}' for every value but {kept}")
        elif column.comma is not None or column.sign is not None:
            notes.append(f"'{column.name}' is a number, without signs and commas for thousands")
    return notes


#: How a line of a comment begins in the forms that have comments.
_COMMENTS = {"sql": "-- ", "python": "# ", "c": "// ", "dot": "// "}


#: Format to the module of the package that writes it, and its function.
_WRITERS = {
    "onnx": ("onnx", "to_onnx"),
    "sql": ("sql", "to_sql"),
    "python": ("python_code", "to_python"),
    "c": ("c_code", "to_c"),
    "dot": ("graphviz", "to_graphviz"),
    "pmml": ("pmml", "to_pmml"),
}


def _written(model: StoredModel, form: str, options: dict[str, Any]) -> str | bytes:
    """Return a model in another form. Bytes are files; text may also go to the screen."""
    tree = model.tree
    if form in ("json", "text"):
        return (tree.to_json(indent=1) if form == "json" else tree.to_text(legend=False)) + "\n"
    if form == "sklearn":
        import pickle

        from provetree.export.sklearn import to_sklearn
        from provetree.export.sklearn_pipeline import to_sklearn_pipeline

        plain = all(levels is None for levels in tree.categories)
        return pickle.dumps(
            (to_sklearn if plain else to_sklearn_pipeline)(tree, classes=model.labels)
        )
    home, function = _WRITERS[form]
    data: str | bytes = getattr(import_module(f"provetree.export.{home}"), function)(
        tree, **options
    )
    return data if isinstance(data, bytes) or data.endswith("\n") else data + "\n"


def export(model_file: str, form: str, output: str, dialect: str, table: str | None) -> None:
    """Run ``provetree export``: write a model in another form."""
    from provetree.export.sklearn import UnsupportedTreeError

    model = open_model(model_file)
    try:
        options: dict[str, dict[str, Any]] = {
            "sql": {"dialect": dialect, "table": table},
            "pmml": {"target": model.target or "target"},
        }
        data = _written(model, form, options.get(form, {}))
    except (UnsupportedTreeError, ImportError) as error:
        raise UserError(str(error)) from None
    notes = [] if form in ("json", "text") else reading_notes(model)
    if isinstance(data, str) and form in _COMMENTS:
        data = "".join(f"{_COMMENTS[form]}{' '.join(note.split())}\n" for note in notes) + data
    for note in notes:
        click.echo(f"{form} takes columns as they are read: {note}.", err=True)
    if output == "-":
        if isinstance(data, str):
            click.echo(data, nl=False)
        elif sys.stdout.isatty():
            raise UserError(f"{form} is no text: name a file with --output.")
        else:
            sys.stdout.buffer.write(data)
        return
    write_file(data.encode() if isinstance(data, str) else data, output)


def report(model_file: str, data: str | None, output: str) -> None:
    """Run ``provetree report``: write the report of a model, judged on a table if there is one."""
    from dataclasses import replace

    from provetree.problem.inputs import label_codes
    from provetree.report.evidence import part_facts
    from provetree.report.page import report_html

    model = open_model(model_file)
    if data is not None:
        if model.target is None:
            raise UserError(
                f"'{model_file}' does not say what it predicts, so no rows can judge it."
            )
        from provetree.cli.columns import learn_target

        rows, labels = learn_target(read_table(data), model.target)
        codes = label_codes(model.labels, labels)
        if (codes < 0).any():
            strange = labels[int(np.argmax(codes < 0))]
            raise UserError(f"'{data}' has the label {strange!r}, which the model does not know.")
        encoded = model.encoder().transform(rows_for(model, rows))
        found = part_facts(model.tree.predict(encoded), codes, model.tree.n_classes)
        model = replace(model, facts={**model.facts, "test": found})
    write_file(report_html(model).encode(), output)
    click.echo(f"The report is in {output}.", err=True)


def _free(name: str, table: DataFrame) -> str:
    """Return a name that no column of a table has."""
    while name in table.columns:
        name += "_"
    return name
