"""What leaves the studio: the model, its report, and Python code that gives the same tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from provetree.export.model_file import StoredModel
from provetree.report.evidence import evidence_of
from provetree.report.page import report_html
from provetree.studio.session import Session
from provetree.studio.wishes import Split

__all__ = ["SAVED", "Saved", "code_of", "model_of", "report_of"]


def model_of(session: Session, number: int) -> StoredModel:
    """Return the model of a version, with the facts of its report."""
    table = session.table
    clf = session.classifier(number)
    tests = {"X_test": table.test, "y_test": table.y_test} if table.n_test_rows else {}
    facts = evidence_of(clf, table.train, table.y_train, **tests)
    if table.notes:
        notes = dict(table.notes)
        facts["columns"] = [
            {**fact, "note": notes[fact["name"]]} if fact["name"] in notes else fact
            for fact in facts["columns"]
        ]
    model = StoredModel.of(clf, target=table.target, columns=table.columns, facts=facts)
    source = None if table.source is None else table.source.path.name
    return replace(model, tree=table.whole(model.tree), source=source)


def report_of(session: Session, number: int) -> str:
    """Return the report of a version."""
    return report_html(model_of(session, number))


def code_of(session: Session, number: int) -> str:
    """Return Python code that gives the tree of a version again.

    Examples
    --------
    >>> from provetree.studio.saving import code_of
    >>> from provetree.studio.session import Session
    >>> from provetree.studio.table import StudioTable
    >>> session = Session(StudioTable([[1.0], [2.0]], ["no", "yes"]))
    >>> _ = session.wait_for_proof()
    >>> print(code_of(session, 1))
    from provetree import OptimalTreeClassifier
    <BLANKLINE>
    # X, y: the table of the studio
    clf = OptimalTreeClassifier(
        max_depth=3,
    )
    clf.fit(X, y)
    print(clf.export_text())
    <BLANKLINE>
    """
    table, version = session.table, session.version(number)
    given = {**table.settings, **version.wishes.parameters()}
    plain = {"max_leaf_nodes": None, "min_samples_leaf": 1}
    lines = [
        f"    {name}={_code(session, name, value)},"
        for name, value in given.items()
        if name not in plain or value != plain[name]
    ]
    words = [
        "from provetree import OptimalTreeClassifier",
        *table.imports,
        "",
        *table.loading,
        "clf = OptimalTreeClassifier(",
        *lines,
        ")",
        "clf.fit(X, y)",
        "print(clf.export_text())",
        "",
    ]
    return "\n".join(words)


def _code(session: Session, name: str, value: Any) -> str:
    """Return a parameter as Python; columns are named where they have names."""
    has_names = session.table.prepared.names is not None

    def column(number: int) -> str:
        return repr(session.table.names[number] if has_names else number)

    def split(given: Split) -> str:
        parts = [
            f"{key!r}: {column(x) if key == 'column' else _number(x)}" for key, x in given.items()
        ]
        return "{" + ", ".join(parts) + "}"

    if name == "fixed_splits":
        inner = "".join(f"        {path!r}: {split(s)},\n" for path, s in value.items())
        return "{\n" + inner + "    }"
    if name == "forbidden_columns":
        return "[" + ", ".join(column(c) for c in value) + "]"
    if name == "monotonic_cst":
        return "{" + ", ".join(f"{column(c)}: {way}" for c, way in value.items()) + "}"
    return repr(value)


def _number(x: Any) -> str:
    """Return a value as Python writes it, infinite numbers too."""
    if isinstance(x, float) and (x != x or x in (float("inf"), float("-inf"))):
        return f"float({str(x)!r})"
    return repr(x)


@dataclass(frozen=True)
class Saved:
    """A form in which a version can be saved."""

    text: Callable[[Session, int], str]
    media_type: str


SAVED = {
    "model": Saved(lambda session, number: model_of(session, number).to_json(), "application/json"),
    "report": Saved(report_of, "text/html"),
    "code": Saved(code_of, "text/x-python"),
}
