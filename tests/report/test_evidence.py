"""The facts of a report: gathered in one place, so that all who write them agree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from sklearn.tree import DecisionTreeClassifier

from provetree import (
    DL85Classifier,
    MIPTreeClassifier,
    OptimalTreeClassifier,
    StoredModel,
    load_model,
)
from provetree.cli.main import main
from provetree.report.evidence import TrainingRows, evidence_of
from provetree.report.judged import part_facts
from provetree.report.page import report_html


def uneven_table(n: int = 120) -> tuple[polars.DataFrame, list[str]]:
    """A rare class that only class weights make worth a leaf, and a column of categories."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(n, 2)).round(2)
    rare = x[:, 0] + rng.normal(0, 0.8, n) > 1.3
    table = polars.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": rng.choice(["u", "v", "w"], n)})
    return table, np.where(rare, "rare", "usual").tolist()


@pytest.mark.parametrize(
    ("flags", "parameters"),
    [
        ([], {}),
        (["--class-weight", "balanced"], {"class_weight": "balanced"}),
        (["--leaves", "3", "--min-leaf", "5"], {"max_leaf_nodes": 3, "min_samples_leaf": 5}),
    ],
)
def test_cart_is_the_same_on_the_command_line_and_in_a_report(
    tmp_path: Path, flags: list[str], parameters: dict[str, Any]
) -> None:
    """Class weights reached CART on the command line, and not in reports."""
    table, labels = uneven_table()
    table.with_columns(polars.Series("y", labels)).write_csv(tmp_path / "data.csv")
    model = tmp_path / "model.json"
    command = ["fit", str(tmp_path / "data.csv"), "-t", "y", "--test-share", "0", "-q", *flags]
    command.append("--no-tune")
    assert main([*command, "--depth", "2", "--save", str(model)]) == 0
    clf = OptimalTreeClassifier(max_depth=2, **parameters).fit(table, labels)
    told = _timeless(load_model(model).facts)
    assert told.pop("left_out") == []
    assert _timeless(evidence_of(clf, table, labels)) == told


def _timeless(facts: Any) -> Any:
    facts = json.loads(json.dumps(facts))
    del facts["cart"]["seconds"]
    for column in facts["columns"]:
        column.pop("note", None)
    return facts


@pytest.mark.parametrize("class_weight", ["balanced", {"rare": 9.0}])
def test_class_weights_reach_cart(class_weight: Any) -> None:
    table, labels = uneven_table()
    numbers = table.select("a", "b")
    train = TrainingRows.read(numbers, labels)
    found = train.cart({"max_depth": 2, "class_weight": class_weight}).predict(train.rows.encoded)
    plain = DecisionTreeClassifier(max_depth=2, class_weight=class_weight, random_state=0)
    expected = plain.fit(numbers.to_numpy(), labels).predict(numbers.to_numpy())
    assert train.classes[found].tolist() == expected.tolist()
    unweighted = train.cart({"max_depth": 2}).predict(train.rows.encoded)
    assert unweighted.tolist() != found.tolist()


def test_cart_keeps_the_limits_whatever_they_are_called() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    y = X[:, 0] ^ X[:, 1]
    mip = MIPTreeClassifier(max_depth=2, max_splits=1).fit(X, y)
    assert evidence_of(mip, X, y)["cart"]["leaves"] <= 2
    free = DL85Classifier(max_depth=None).fit(X, y)
    assert evidence_of(free, X, y)["cart"]["train"]["errors"] == 0
    assert evidence_of(DL85Classifier(min_support=15).fit(X, y), X, y)["cart"]["leaves"] == 1


def test_labels_that_training_never_saw_are_errors() -> None:
    table, labels = uneven_table()
    train = TrainingRows.read(table, labels)
    test = train.others(table[:3], [*labels[:2], "new"])
    assert test.codes.tolist()[-1] == -1
    facts = part_facts(train.rows.codes[:3], test.codes, 2)
    assert (facts["rows"], facts["errors"], np.sum(facts["confusion"])) == (3, 1, 2)


def test_nothing_is_fitted_for_a_page() -> None:
    """A page is written from a stored model and nothing else: not even scikit-learn is loaded."""
    table, labels = uneven_table()
    clf = OptimalTreeClassifier(max_depth=2).fit(table, labels)
    model = StoredModel.of(clf, facts=evidence_of(clf, table, labels, X_test=table, y_test=labels))
    program = (
        "import sys; from provetree.export.model_file import StoredModel; "
        "from provetree.report.page import report_html; "
        "sys.stdout.write(report_html(StoredModel.from_json(sys.stdin.buffer.read()))); "
        "assert 'sklearn' not in sys.modules"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        input=model.to_json().encode(),
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    assert ran.stdout.decode() == report_html(model)


def test_facts_that_are_not_there_are_left_out() -> None:
    table, labels = uneven_table()
    clf = OptimalTreeClassifier(max_depth=1).fit(table, labels)
    assert evidence_of(clf) == {}
    assert list(evidence_of(clf, X_test=table, y_test=labels)) == ["test", "calibration"]
    with pytest.raises(ValueError, match="labels known from training"):
        evidence_of(clf, table, ["new"] * len(labels))
