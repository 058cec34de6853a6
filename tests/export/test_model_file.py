"""Model files: they round-trip, follow their schema, run nothing, and say what is wrong."""

from __future__ import annotations

import contextlib
import inspect
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provetree import MIPTreeClassifier, OptimalTreeClassifier, StoredModel, Tree, load_model
from provetree.export import InputColumn, ModelFileError, Proof, model_schema
from provetree.export.words import proof_sentence
from provetree.report.page import report_html
from provetree.solution import USER_STATUSES, Progress, Status
from testkit.tree_strategies import trees

FILES = Path(__file__).parent / "files"


def model() -> StoredModel:
    X = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, np.nan], [4.0, 1.0]])
    clf = OptimalTreeClassifier(max_depth=2).fit(X, ["no", "yes", "no", "yes"])
    return StoredModel.of(clf, target="answer", facts={"train": {"rows": 4}})


@settings(deadline=None, max_examples=30)
@given(trees())
def test_every_tree_round_trips_and_follows_the_schema(tree: Tree) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    stored = StoredModel(
        tree, "target", (), Proof("time_limit", 3.5, 0, history=(Progress(0.1, 4, 0),))
    )
    text = stored.to_json()
    assert StoredModel.from_json(text) == stored
    jsonschema.validate(json.loads(text), model_schema())


def test_an_estimator_can_be_saved(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    X, y = np.arange(20.0).reshape(-1, 2), [0, 1] * 5
    clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    clf.save(path, target="y")
    again = load_model(path)
    assert again.tree == clf.tree_
    assert again.proof is not None
    assert (again.proof.status, again.proof.cost) == (clf.status_, clf.objective_)
    np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_the_file_of_version_one_still_loads() -> None:
    stored = load_model(FILES / "model-v1.json")
    assert stored.target == "left"
    assert stored.columns == (
        InputColumn("age", "number"),
        InputColumn("amount", "number", comma="decimal"),
        InputColumn("since", "date"),
        InputColumn("port", "category", known=("C", "S")),
    )
    assert stored.predict([[30.0, 1.0, 20240101.0, "C"]]).tolist() == ["yes"]


def test_a_file_with_old_names_of_parameters_still_loads() -> None:
    """Version 0.1 had max_rate_difference for max_parity_gap, and threads for n_jobs."""
    stored = load_model(FILES / "model-v1-old-names.json")
    assert stored.proof is not None
    assert stored.proof.method == "MIPTreeClassifier"
    assert (stored.proof.parameters["max_parity_gap"], stored.proof.parameters["n_jobs"]) == (1, 1)
    known = set(inspect.signature(MIPTreeClassifier).parameters)
    since = {"max_columns_per_split", "split_gap"}  # parameters that version 0.1 did not have
    assert set(stored.proof.parameters) == known - since
    assert stored.predict([[1.0], [4.0]]).tolist() == ["no", "yes"]


def damaged() -> list[tuple[str, Any]]:
    """Ways to damage a file, by the words that must be told."""

    def change(**entries: Any) -> Any:
        return lambda data: {**data, **entries}

    def within(part: str, **entries: Any) -> Any:
        return lambda data: {**data, part: {**data[part], **entries}}

    return [
        ("must hold a JSON object. Got a list", lambda data: [data]),
        ("must have the format 'provetree-model'", change(format="pickle")),
        ("reads model files up to version 1. Got version 99", change(version=99)),
        ("Got version '1'", change(version="1")),
        ("it has no 'tree'", lambda data: {k: v for k, v in data.items() if k != "tree"}),
        ("its 'target' is no text", change(target=3)),
        ("its 'facts' are no object", change(facts=[1])),
        ("A stored tree must have the format", change(tree={"format": "x"})),
        (
            "its 'columns' are not those of its tree",
            change(columns=[{"name": "a", "kind": "number"}]),
        ),
        (
            "must be one of 'number', 'category', 'date'",
            change(columns=[{"name": "a", "kind": "x"}]),
        ),
        ("must be one of 'optimal', 'candidate_optimal'", within("proof", status="sure")),
        ("an optimal tree must cost its lower bound", within("proof", cost=5, lower_bound=0)),
        ("is no number", within("proof", cost=None)),
        ("damaged", within("proof", history=[[1]])),
        ("damaged", within("tree", nodes=[])),
        ("damaged", within("tree", nodes=[{"feature": 0}])),
        ("damaged", within("tree", categories="none")),
    ]


@pytest.mark.parametrize("case", range(len(damaged())))
def test_damage_is_told_in_one_sentence(case: int) -> None:
    words, damage = damaged()[case]
    data = json.loads(model().to_json())
    with pytest.raises(ModelFileError) as told:
        StoredModel.from_json(json.dumps(damage(data)))
    assert words in str(told.value)
    assert "\n" not in str(told.value)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_no_damage_gets_past(data: st.DataObject) -> None:
    """Any cut or changed byte gives a model or the one error, never another exception."""
    text = bytearray((FILES / "model-v1.json").read_bytes())
    kind = data.draw(st.sampled_from(["cut", "change", "drop"]))
    at = data.draw(st.integers(0, len(text) - 1))
    if kind == "cut":
        text = text[:at]
    elif kind == "change":
        text[at] = data.draw(st.integers(0, 255))
    else:
        del text[at : at + data.draw(st.integers(1, 40))]
    with contextlib.suppress(ModelFileError):
        StoredModel.from_json(bytes(text))


@settings(deadline=None, max_examples=100)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(["columns", "tree", "proof", "facts", "target"]),
)
def test_anything_in_the_place_of_a_part(anything: Any, part: str) -> None:
    data = json.loads(model().to_json())
    with contextlib.suppress(ModelFileError):
        StoredModel.from_json(json.dumps({**data, part: anything}))


def test_deep_nesting_is_no_crash() -> None:
    with pytest.raises(ModelFileError, match="must be JSON"):
        StoredModel.from_json("[" * 100_000)


def test_loading_needs_no_scikit_learn(tmp_path: Path) -> None:
    import subprocess
    import sys

    path = tmp_path / "model.json"
    model().save(path)
    code = (
        "import sys, provetree; m = provetree.load_model(sys.argv[1]); "
        "print(m.predict([[1.0, 0.0]])[0], 'sklearn' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["no", "False"]


@pytest.mark.parametrize("status", USER_STATUSES)
def test_models_of_every_status_can_be_read_and_told(status: Status) -> None:
    # Column generation and mixed-integer models end in ways that the exact search does not know.
    jsonschema = pytest.importorskip("jsonschema")
    first = model()
    assert first.proof is not None
    bound = first.proof.cost if status == "optimal" else 0
    proof = replace(first.proof, status=status, lower_bound=bound)
    stored = replace(first, proof=proof, facts={})
    again = StoredModel.from_json(stored.to_json())
    assert again == stored
    jsonschema.validate(json.loads(stored.to_json()), model_schema())
    assert ("Proven optimal" in proof_sentence(proof)) == (status == "optimal")
    assert "<html" in report_html(again)
