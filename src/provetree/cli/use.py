"""``provetree predict``, ``explain``, ``export`` and ``report``: what to do with a model file."""

from __future__ import annotations

import gzip
import json
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import click
import numpy as np

from provetree.cli.columns import OTHER, Task, use_columns
from provetree.cli.errors import UserError
from provetree.cli.folder import is_folder, tables_of
from provetree.cli.near_optimal import counted_facts, read_slack
from provetree.cli.tables import find_source, read_table, write_file, write_text
from provetree.export.model_file import InputColumn, ModelFileError, StoredModel, load_model
from provetree.export.words import counted, leaf_detail, prediction_text, spread_text
from provetree.tree.values import Numbers

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
    laplace: float | None,
    only: bool,
    as_json: bool,
) -> None:
    """Run ``provetree predict``: write the predictions for a table, or for a folder of tables."""
    model = open_model(model_file)
    if is_folder(data):
        _predict_folder(model, model_file, data, output, proba, laplace, only, as_json)
        return
    written = _with_predictions(model, model_file, read_table(data), proba, laplace, only)
    text = written.write_csv()
    if as_json:
        text = json.dumps(written.to_dicts(), ensure_ascii=False, default=str) + "\n"
    write_text(text, output)


def _predict_folder(
    model: StoredModel,
    model_file: str,
    folder: str,
    output: str,
    proba: bool,
    laplace: float | None,
    only: bool,
    as_json: bool,
) -> None:
    """Predict the files of a folder one after the other, into one CSV file."""
    if as_json:
        raise UserError("--json is for the rows of one file. Predictions of a folder are CSV.")
    tables = tables_of(folder)
    try:
        with _opened(output) as to:
            for number, table in enumerate(tables):
                written = _with_predictions(model, model_file, table, proba, laplace, only)
                to.write(written.write_csv(include_header=number == 0))
    except OSError as error:
        raise UserError(f"'{output}' could not be written: {error.strerror}.") from None


def _opened(output: str) -> AbstractContextManager[TextIO]:
    if output == "-":
        return nullcontext(sys.stdout)
    if output.endswith(".gz"):
        return gzip.open(output, "wt", encoding="utf-8")
    return open(output, "w", encoding="utf-8")


def _with_predictions(
    model: StoredModel,
    model_file: str,
    table: DataFrame,
    proba: bool,
    laplace: float | None,
    only: bool,
) -> DataFrame:
    """Return a table with its predictions, or these alone."""
    import polars

    encoded = model.encoder().transform(rows_for(model, table))
    name = _free("prediction" if model.target is None else f"predicted {model.target}", table)
    if model.tree.kind == "classes" or not (proba or laplace is not None):
        found = dict(zip(_named(name, model, table), _predicted(model, encoded), strict=True))
    else:
        raise UserError(
            f"--proba and --laplace are for classes. '{model_file}' predicts {model.tree.kind}."
        )
    if proba or laplace is not None:
        shares = model.tree.predict_proba(encoded, laplace)
        for i, label in enumerate(model.labels.tolist()):
            found[_free(f"probability {label}", table)] = shares[:, i].tolist()
    added = polars.DataFrame(found, strict=False)
    return added if only else table.hstack(added)


def _predicted(model: StoredModel, encoded: Any) -> list[list[Any]]:
    """Return the predictions as columns: one, or one for each output of numbers."""
    predicted = model.tree.predict(encoded)
    if model.tree.kind == "numbers":
        return [column.tolist() for column in predicted.reshape(len(encoded), -1).T]
    return [model.labels[predicted].tolist()]


def _named(name: str, model: StoredModel, table: DataFrame) -> list[str]:
    """Return the names of the columns of predictions."""
    if model.tree.kind != "numbers" or len(model.labels) == 1:
        return [name]
    return [_free(f"predicted {output}", table) for output in model.labels.tolist()]


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
    answer = _explained(model, leaf)
    if as_json:
        row_of = {"table": data, "row": number, "prediction": answer.prediction, "because": lines}
        figures = {"leaf": leaf, "rows": int(model.tree.n_samples[leaf]), **answer.figures}
        click.echo(json.dumps(row_of | figures, ensure_ascii=False))
        return
    where = "" if data == "-" else f" of {Path(data).name}"
    click.echo(f"Row {number}{where}: {what} is predicted to be {answer.words}")
    for i, line in enumerate(lines):
        stop = "." if i == len(lines) - 1 else ""
        click.echo(f"  {'because' if i == 0 else '    and'} {line}{stop}")
    click.echo(answer.sentence if lines else f"The model predicts {answer.words} for every row.")


class _Explained(NamedTuple):
    """What a leaf predicts, in words, and how sure that is."""

    prediction: Any
    words: str
    figures: dict[str, Any]
    sentence: str


def _explained(model: StoredModel, leaf: int) -> _Explained:
    tree, values = model.tree, model.tree.values
    rows, words = int(tree.n_samples[leaf]), prediction_text(tree, leaf)
    if isinstance(values, Numbers):
        numbers, spread = values.value[leaf].tolist(), values.spread[leaf].tolist()
        alone = len(numbers) == 1
        sentence = (
            f"The {counted(rows, 'training row')} like this have the {values.statistic} {words}, "
            f"with a spread of {spread_text(tree, leaf)}."
        )
        figures = {"spread": spread[0] if alone else spread}
        return _Explained(numbers[0] if alone else numbers, words, figures, sentence)
    label = model.labels[tree.label[leaf]]
    plain = label.item() if hasattr(label, "item") else label
    names = [str(name) for name in model.labels.tolist()]
    if tree.kind == "actions":
        each = (tree.value[leaf] / (float(tree.weight[leaf]) or 1.0)).tolist()
        sentence = f"In the {counted(rows, 'training row')} like this: {leaf_detail(tree, leaf)}."
        return _Explained(plain, words, {"means": dict(zip(names, each, strict=True))}, sentence)
    shares = tree.shares()[leaf].tolist()
    share = 100 * shares[int(tree.label[leaf])]
    sentence = f"Of the {counted(rows, 'training row')} like this, {share:.1f} % are {label}."
    return _Explained(
        plain, str(label), {"shares": dict(zip(names, shares, strict=True))}, sentence
    )


def _write_rules(model: StoredModel, as_json: bool) -> None:
    from provetree.report.sentences import rules

    found = rules(model.tree)
    if not as_json:
        click.echo("\n".join(rule.sentence for rule in found))
        return
    names = {"conditions": "if", "label": "then"}
    answer = [
        {names.get(name, name): value for name, value in vars(rule).items() if value is not None}
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
    used = model.tree.columns_used
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

        from provetree.export.sklearn import to_sklearn, to_sklearn_regressor
        from provetree.export.sklearn_pipeline import to_sklearn_pipeline

        plain = tree.categories.count(None) == len(tree.categories) and not tree.combinations
        if tree.kind == "numbers" and plain:
            return pickle.dumps(to_sklearn_regressor(tree))
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


def report(model_file: str, data: str | None, output: str, near_optimal: str | None = None) -> None:
    """Run ``provetree report``: write the report of a model, judged on a table if there is one."""
    from dataclasses import replace

    from provetree.report.page import report_html

    slack = None if near_optimal is None else read_slack(near_optimal)
    if slack is not None and data is None:
        raise UserError("--near-optimal counts the trees of a table: give DATA as well.")
    model = open_model(model_file)
    if data is not None:
        if model.target is None:
            raise UserError(
                f"'{model_file}' does not say what it predicts, so no rows can judge it."
            )
        table = read_table(data)
        model = replace(model, facts={**model.facts, **_judged(model, table, data)})
        if slack is not None:
            counted = _counted(model, table, slack)
            model = replace(model, facts={**model.facts, "near_optimal": counted})
    write_file(report_html(model).encode(), output)
    click.echo(f"The report is in {output}.", err=True)


def _counted(model: StoredModel, table: DataFrame, slack: float) -> dict[str, Any]:
    """Return the facts about the near-optimal trees of a table, of the depth of a model."""
    from provetree.cli.columns import learn_target

    if model.tree.kind != "classes":
        raise UserError("--near-optimal is about trees that predict classes.")
    found = learn_target(table, str(model.target), "classification")
    limits = {"max_depth": model.tree.depth}
    return counted_facts(rows_for(model, found.rows), found.values, slack, limits, 60.0)


def _judged(model: StoredModel, table: DataFrame, name: str) -> dict[str, Any]:
    """Return the facts of a report about how a model does on the rows of a table."""
    from provetree.cli.columns import learn_target
    from provetree.problem.inputs import label_codes
    from provetree.report.evidence import Rows, judge, residual_facts

    tree, target = model.tree, str(model.target)
    if tree.kind == "actions":
        raise UserError(f"A policy is judged by rewards, and '{name}' holds none.")
    task: Task = "regression" if tree.kind == "numbers" else "classification"
    found = learn_target(table, target, task)
    encoded = model.encoder().transform(rows_for(model, found.rows))
    if task == "regression":
        targets = np.array(found.values, dtype=np.float64)[:, None]
        rows = Rows(encoded, np.zeros(len(encoded), dtype=np.intp), targets)
        more = residual_facts(tree, {"test": rows})
        both = {part: {**model.facts.get(part, {}), **own} for part, own in more.items()}
        if "cart" in model.facts:  # it is not stored, and cannot be judged on these rows
            both["cart"] = {key: x for key, x in model.facts["cart"].items() if key != "test"}
        return {"test": judge(tree, rows, tree), **both}
    codes = label_codes(model.labels, found.values)
    if (codes < 0).any():
        strange = found.values[int(np.argmax(codes < 0))]
        raise UserError(f"'{name}' has the label {strange!r}, which the model does not know.")
    return {"test": judge(tree, Rows(encoded, codes), tree)}


def _free(name: str, table: DataFrame) -> str:
    """Return a name that no column of a table has."""
    while name in table.columns:
        name += "_"
    return name
