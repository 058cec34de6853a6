"""The commands for people, from a table file to predictions, explanations, exports and reports."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import pickle
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from provetree import load_model
from provetree.bench.data import DataNotFoundError, data_folder
from provetree.cli import main
from provetree.cli.compare import METHODS, Compared, available_methods, run_method
from provetree.cli.extras import kept_for_extras, with_extras
from provetree.cli.tables import read_table
from provetree.cli.training import Settings, _date_up_to, _search_seconds, prepare, train
from provetree.cli.use import rows_for


def write_table(path: Path, n: int = 200, seed: int = 0) -> Path:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n)
    port = rng.choice(["S", "C", "Q"], n)
    left = np.where((age > 40) ^ (port == "C"), "yes", "no")
    lines = ["id,age,port,note,left"]
    for i in range(n):
        shown = "NA" if rng.random() < 0.1 else str(age[i])
        lines.append(f"{i},{shown},{port[i] if rng.random() > 0.05 else ''},n{i},{left[i]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_table(tmp_path / "data.csv")


@pytest.fixture
def model(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "model.json"
    words = ["fit", str(data), "--target", "left", "--save", str(path), "--quiet", "--no-tune"]
    assert main(words) == 0
    capsys.readouterr()
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    status = main([str(word) for word in words])
    told = capsys.readouterr()
    return status, told.out, told.err


def test_fit_tells_what_it_did(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "fit", data, "--target", "left", "--depth", 2, "--no-tune")
    assert status == 0
    assert "id      left out: it numbers the rows" in err
    assert "note    left out: text with 200 different values in 200 rows" in err
    assert "number, " in err
    assert "missing" in err
    assert "category with 3 values" in err
    assert "Proven optimal: " in out
    assert "no tree of depth 2 makes fewer" in out
    assert "port = C" in out
    assert "CART" in out


def test_fit_as_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "fit", data, "-t", "left", "--json", "--no-tune")
    found = json.loads(out)
    assert (status, err) == (0, "")
    assert found["status"] == "optimal"
    assert found["cost"] == found["lower_bound"] == found["train"]["errors"]
    assert found["train"]["errors"] <= found["cart"]["train"]["errors"]
    assert found["train"]["rows"] + found["test"]["rows"] == 200


def test_fit_from_a_pipe_and_predict_into_one(data: Path, tmp_path: Path) -> None:
    model = tmp_path / "m.json"
    provetree = [sys.executable, "-m", "provetree.cli"]
    text = data.read_bytes()
    subprocess.run(
        [*provetree, "fit", "-", "-t", "left", "--save", model, "-q", "--no-tune"],
        input=text,
        check=True,
        capture_output=True,
    )
    done = subprocess.run(
        [*provetree, "predict", model, "-", "--only"], input=text, check=True, capture_output=True
    )
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "predicted left"
    assert len(lines) == 201


def test_a_single_leaf_stands_beside_a_single_leaf(data: Path, capsys: Any) -> None:
    for flag, value in (("--depth", 0), ("--leaves", 1)):
        words = ["fit", data, "-t", "left", "--json", "--no-tune", flag, value]
        found = json.loads(run(capsys, *words)[1])
        assert found["cart"]["leaves"] == found["leaves"] == 1
        assert found["cart"]["train"]["errors"] == found["train"]["errors"]
    assert "no tree of a single leaf makes fewer" in found["sentence"]


def test_many_columns_alike_are_told_in_one_line(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "wide.csv"
    rng = np.random.default_rng(0)
    table = {f"c{i}": rng.random(70) for i in range(100)}
    polars.DataFrame({**table, "fixed": ["1"] * 70, "y": ["a", "b"] * 35}).write_csv(path)
    _, _, err = run(capsys, "fit", path, "-t", "y", "--depth", 1)
    assert "c0 ... c99 (100 columns)  number" in err
    assert "fixed                     left out: always 1" in err
    assert len(err.splitlines()) == 5


def test_all_rows_and_a_test_file(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fit", data, "-t", "left", "--json", "--no-tune"]
    _, out, _ = run(capsys, *words, "--test-share", 0)
    assert json.loads(out)["test"] is None
    other = write_table(tmp_path / "test.csv", 50, 1)
    _, out, _ = run(capsys, *words, "--test", other)
    found = json.loads(out)
    assert (found["train"]["rows"], found["test"]["rows"]) == (200, 50)


def test_proof_can_be_required(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fit", data, "-t", "left", "-q", "--no-tune", "--require-proof")[0] == 0
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(3000, 12)), rng.integers(0, 2, 3000)])
    hard = data.with_name("hard.csv")
    np.savetxt(hard, X, delimiter=",", header=",".join([*"abcdefghijkl", "y"]), comments="")
    words = ["fit", hard, "-t", "y", "-q", "--no-tune", "--depth", 6, "--time-limit", 0.2]
    status, out, _ = run(capsys, *words, "--require-proof")
    assert status == 3
    assert "Not proven within the time limit" in out


def test_predict(model: Path, data: Path, tmp_path: Path, capsys: Any) -> None:
    target = tmp_path / "out.csv"
    assert run(capsys, "predict", model, data, "-o", target, "--proba")[0] == 0
    found = polars.read_csv(target)
    assert found.columns[-3:] == ["predicted left", "probability no", "probability yes"]
    stored = load_model(model)
    frame = prepare(
        polars.read_csv(data, infer_schema=False, null_values=["NA", ""]),
        Settings("left", test_share=0.0),
    ).train
    assert found["predicted left"].to_list() == stored.predict(frame).tolist()


def test_columns_are_found_by_name(model: Path, data: Path, tmp_path: Path, capsys: Any) -> None:
    table = polars.read_csv(data, infer_schema=False, null_values=["NA", ""])
    mixed = tmp_path / "mixed.csv"
    table.select("port", "left", "age").write_csv(mixed)
    straight = run(capsys, "predict", model, data, "--only")[1]
    assert run(capsys, "predict", model, mixed, "--only")[1] == straight


@pytest.mark.parametrize("form", ["csv.gz", "parquet", "arrow", "stream", "semicolon", "latin"])
def test_other_formats_give_the_same(
    form: str, model: Path, data: Path, tmp_path: Path, capsys: Any
) -> None:
    table = polars.read_csv(data, null_values=["NA", ""])
    path = tmp_path / f"table.{form}"
    if form == "csv.gz":
        path.write_bytes(gzip.compress(data.read_bytes()))
    elif form == "parquet":
        table.write_parquet(path)
    elif form == "arrow":
        table.write_ipc(path)
    elif form == "stream":
        stream = io.BytesIO()
        table.write_ipc_stream(stream)
        path.write_bytes(stream.getvalue())
    elif form == "semicolon":
        table.write_csv(path, separator=";", include_bom=True)
    else:
        named = table.with_columns(polars.lit("Zürich").alias("città"))
        path.write_bytes(named.write_csv().encode("latin-1"))
    expected = run(capsys, "predict", model, data, "--only")
    assert expected[0] == 0
    assert run(capsys, "predict", model, path, "--only")[1] == expected[1]


def test_explain(model: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "explain", model, data, "--row", 17)
    assert status == 0
    assert out.startswith("Row 17 of data.csv: left is predicted to be ")
    assert "because " in out
    found = json.loads(run(capsys, "explain", model, data, "--row", 17, "--json")[1])
    assert found["prediction"] in ("yes", "no")
    assert found["because"]
    rules = run(capsys, "explain", model)[1].splitlines()
    assert len(rules) == load_model(model).tree.n_leaves
    assert all(rule.startswith("If ") for rule in rules)


def test_explain_remembers_the_table(
    model: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    assert load_model(model).source == "data.csv"
    expected = run(capsys, "explain", model, data, "--row", 17)
    assert run(capsys, "explain", model, "--row", 17) == expected
    # The path starts at the model file, wherever the command is run.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run(capsys, "explain", "../model.json", "--row", 17) == expected
    moved = elsewhere / "model.json"
    words = ["fit", data, "-t", "left", "-q", "--no-tune", "--save", moved]
    assert run(capsys, *words)[0] == 0
    assert load_model(moved).source == "../data.csv"
    assert run(capsys, "explain", "model.json", "--row", 17) == expected


@pytest.mark.parametrize(
    "form", ["sklearn", "onnx", "sql", "python", "c", "dot", "json", "text", "pmml"]
)
def test_export(form: str, model: Path, data: Path, tmp_path: Path, capsys: Any) -> None:
    pytest.importorskip("onnx")
    path = tmp_path / "out"
    assert run(capsys, "export", model, "--to", form, "-o", path) == (0, "", "")
    if form == "sklearn":
        stored = load_model(model)
        rows = rows_for(stored, read_table(str(data)))
        found = pickle.loads(path.read_bytes()).predict(rows)
        assert found.tolist() == stored.predict(rows).tolist()
    assert path.stat().st_size > 100
    if form not in ("sklearn", "onnx"):
        assert run(capsys, "export", model, "--to", form)[1] == path.read_text(encoding="utf-8")


def test_exports_say_how_columns_are_read(tmp_path: Path, capsys: Any) -> None:
    rng = np.random.default_rng(0)
    city = rng.choice([f"c{i:02d}" for i in range(90)], 3000)
    since = [f"{d}.{m}.2024" for d, m in zip(*rng.integers(1, 13, (2, 3000)), strict=True)]
    late = np.array([int(day.split(".")[1]) > 6 for day in since])
    labels = np.where(late & (city > "c20"), "yes", "no")
    table = polars.DataFrame({"city": city, "since": since, "share": ["5 %"] * 3000, "y": labels})
    data, model = tmp_path / "data.csv", tmp_path / "model.json"
    table.write_csv(data)
    assert main(["fit", str(data), "-t", "y", "--save", str(model), "--quiet"]) == 0
    capsys.readouterr()
    status, out, err = run(capsys, "export", model, "--to", "sql")
    assert status == 0
    assert "'since' is the number YYYYMMDD" in err
    assert all(line.startswith(("-- '", "CASE", "  ", "END")) for line in out.splitlines())
    status, out, _ = run(capsys, "export", model, "--to", "python")
    names: dict[str, Any] = {}
    exec(out, names)
    read = rows_for(load_model(model), table)
    predictions = run(capsys, "predict", model, data, "--only", "--json")[1]
    assert [row["predicted y"] for row in json.loads(predictions)] == [
        names["predict"](row) for row in read.to_dicts()
    ]


def test_report(model: Path, data: Path, tmp_path: Path, capsys: Any) -> None:
    plain, judged = tmp_path / "plain.html", tmp_path / "judged.html"
    assert run(capsys, "report", model, "-o", plain)[0] == 0
    assert run(capsys, "report", model, data, "-o", judged)[0] == 0
    assert "A decision tree for left" in plain.read_text(encoding="utf-8")
    assert "On the 200 rows the tree has not seen" in judged.read_text(encoding="utf-8")


def test_fit_writes_a_whole_report(data: Path, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "report.html"
    assert run(capsys, "fit", data, "-t", "left", "-q", "--depth", 2, "--report", path)[0] == 0
    text = path.read_text(encoding="utf-8")
    for anchor in ("tree", "questionnaire", "rules", "quality", "proof", "frontier", "data"):
        assert f'<section id="{anchor}"' in text


def test_compare(data: Path, tmp_path: Path, capsys: Any) -> None:
    picture = tmp_path / "compare.png"
    words = ["compare", data, "-t", "left", "--depth", 1, "--time-limit", 20]
    status, out, _ = run(capsys, *words, "-q", "--plot", picture)
    assert status == 0
    assert out.splitlines()[1].startswith("CART")
    for method in available_methods():
        assert f"\n{method}" in out
    assert picture.stat().st_size > 1000
    found = {row["method"]: row for row in json.loads(run(capsys, *words, "--json")[1])}
    assert list(found) == ["CART", *available_methods()]
    assert set(available_methods()) <= set(METHODS)
    # No method is left out of a table like this one, and none beats the proven optimum.
    assert [row["problem"] for row in found.values()] == [None] * len(found)
    best = found["exact search"]
    assert best["status"] == "optimal"
    assert all(row["train_errors"] >= best["train_errors"] for row in found.values())
    assert found["MIP"]["lower_bound"] == found["MIP"]["train_errors"] == best["train_errors"]
    assert found["DL8.5"]["lower_bound"] is None  # it knows nothing of other thresholds


@pytest.mark.parametrize("method", ["exact search", "MIP"])
def test_compare_asks_the_same_of_all_methods(method: str, data: Path) -> None:
    table = polars.read_csv(data, infer_schema=False, null_values=["NA", ""])
    parts = prepare(table, Settings("left"))
    flags: dict[str, Any] = {
        "max_depth": 2,
        "max_leaf_nodes": 2,
        "min_samples_leaf": 20,
        "alpha": 0.3,
        "class_weight": "balanced",
        "time_limit": 30.0,
    }
    found = run_method(method, available_methods()[method], parts, flags)
    exact = run_method("exact search", available_methods()["exact search"], parts, flags)
    assert found.problem is None
    assert found.status == "optimal"
    assert found.lower_bound == pytest.approx(exact.lower_bound)
    assert found.leaves == exact.leaves


@pytest.mark.parametrize("method", ["exact search", "DL8.5"])
def test_compare_without_rows_to_test_on(method: str) -> None:
    """Guards the binarizer, which takes no table without rows."""
    table = polars.DataFrame({"x": ["1", "2", "3", "4"], "left": ["no", "yes", "no", "yes"]})
    parts = prepare(table, Settings("left", test_share=0.0))
    flags = {"max_depth": 2, "max_leaf_nodes": None, "min_samples_leaf": 1, "alpha": 0.0}
    flags |= {"class_weight": None, "time_limit": 30.0}
    found = run_method(method, available_methods()[method], parts, flags)
    assert (found.problem, found.train_errors, found.test_accuracy) == (None, 0, None)


def test_compare_says_why_a_method_is_left_out(data: Path) -> None:
    from provetree import OptimalTreeClassifier

    class Narrow(OptimalTreeClassifier):
        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {"max_depth": 3}

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            raise ValueError("binary columns are needed")

    table = polars.read_csv(data, infer_schema=False)
    parts = prepare(table, Settings("left"))
    flags: dict[str, Any] = {
        "max_depth": 3,
        "max_leaf_nodes": 4,
        "min_samples_leaf": 1,
        "alpha": 0.0,
        "class_weight": None,
        "time_limit": 1.0,
    }
    found = run_method("narrow", Narrow, parts, flags)
    assert found == Compared("narrow", problem="left out: it has no 'max_leaf_nodes'")
    found = run_method("narrow", Narrow, parts, {**flags, "max_leaf_nodes": None})
    assert found.problem == "left out: binary columns are needed"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fit", "nowhere.csv", "-t", "y"], "There is no file 'nowhere.csv'."),
        (["fit", "{data}", "-t", "Left"], "Did you mean 'left'?"),
        (["fit", "{data}", "-t", "note"], "has 200 different values"),
        (["fit", "{data}", "-t", "left", "--ignore", "nobody"], "--ignore names 'nobody'"),
        (["fit", "{data}", "-t", "left", "--save", "no/such/m.json"], "--save needs a file in"),
        (["fit", "{folder}", "-t", "left"], "There are no Parquet files in the folder"),
        (["fit", "{empty}", "-t", "left"], "There is nothing in"),
        (["fit", "{zip}", "-t", "left"], "is a damaged gzip file"),
        (["fit", "{binary}", "-t", "left"], "is no table this program can read"),
        (["fit", "{constant}", "-t", "y"], "is 'a' in all rows"),
        (
            ["predict", "{data}", "{data}"],
            "could not be read as a model. A model file must be JSON",
        ),
        (["predict", "{model}", "{constant}"], "The table has no column 'age'"),
        (["predict", "{model}", "{wrong}"], "must hold a number in each row. Got 'old' in row 2"),
        (["explain", "{model}", "{data}", "--row", "999"], "--row must be at most 200"),
        (["explain", "{nowhere}", "--row", "1"], "does not say which table it was made from"),
        (["explain", "{gone}", "--row", "1"], "'{folder}/gone.csv' that the model was made from"),
        (["report", "{model}", "{strange}"], "has the label 'perhaps'"),
    ],
)
def test_errors_are_one_sentence(
    words: list[str], sentence: str, model: Path, data: Path, tmp_path: Path, capsys: Any
) -> None:
    files = {
        "empty": b"",
        "zip": b"\x1f\x8bnothing",
        "binary": b"\x00\x01\x02" * 9,
        "constant": b"x,y\n1,a\n2,a\n",
        "wrong": b"age,port\n3,S\nold,S\n",
        "strange": b"age,port,left\n3,S,perhaps\n4,S,yes\n",
    }
    names = {"data": str(data), "model": str(model), "folder": str(tmp_path)}
    for name, source in (("nowhere", None), ("gone", "gone.csv")):
        names[name] = str(tmp_path / f"{name}.json")
        replace(load_model(model), source=source).save(names[name])
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        names[name] = str(tmp_path / name)
    status, out, err = run(capsys, *(word.format(**names) for word in words))
    assert (status, out) == (2, "")
    assert sentence.format(**names) in err
    assert err.startswith("provetree: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--depth", "-1"),
        ("--min-leaf", "0"),
        ("--alpha", "x"),
        ("--time-limit", "0"),
        ("--max-memory", "lots"),
        ("--class-weight", "heavy"),
    ],
)
def test_a_wrong_flag_says_what_is_allowed(flag: str, value: str, data: Path, capsys: Any) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["fit", str(data), "-t", "left", flag, value])
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert f"Invalid value for '{flag}': must be " in err
    assert f"Got '{value}' instead." in err


@pytest.mark.parametrize("name", ["titanic", "german-credit", "adult"])
@pytest.mark.slow
def test_real_tables_with_no_flags_but_the_target(name: str, capsys: Any) -> None:
    try:
        path = data_folder() / f"{name}.csv.gz"
    except DataNotFoundError as error:
        pytest.skip(str(error))
    words = ["fit", path, "--target", "target", "--json"]
    if name != "titanic":
        words += ["--time-limit", "5"]  # whatever it can do by then must beat CART
    status, out, _ = run(capsys, *words, "--no-tune")
    found = json.loads(out)
    assert status == 0
    assert found["train"]["errors"] < found["cart"]["train"]["errors"]
    assert found["lower_bound"] <= found["cost"]
    status, out, _ = run(capsys, *words)
    assert status == 0
    assert json.loads(out)["tuning"]["reason"]


def test_fit_tunes_by_default(data: Path, tmp_path: Path, capsys: Any) -> None:
    report, model = tmp_path / "report.html", tmp_path / "model.json"
    words = ["fit", data, "-t", "left", "--leaves", 4, "--min-leaf", 5, "--time-limit", "none"]
    status, out, _ = run(capsys, *words, "--report", report, "--save", model)
    assert status == 0
    assert "Chosen by cross-validation: " in out
    assert "on rows held out in" in out
    assert "What was chosen, and why" in report.read_text(encoding="utf-8")
    stored = load_model(model)
    assert stored.proof is not None
    assert stored.proof.parameters["min_samples_leaf"] == 5
    assert stored.facts["tuning"]["tried"][0]["outcome"]


def test_fit_tunes_for_a_score(data: Path, capsys: Any) -> None:
    words = ["fit", data, "-t", "left", "--json", "--scoring", "balanced_accuracy", "--leaves", 3]
    found = json.loads(run(capsys, *words, "--time-limit", "none")[1])
    assert found["tuning"]["score"] == "balanced_accuracy"
    recalls = [line[code] / sum(line) for code, line in enumerate(found["test"]["confusion"])]
    assert found["tuning"]["test"][0] == pytest.approx(np.mean(recalls))
    recalls = [line[c] / sum(line) for c, line in enumerate(found["cart"]["test"]["confusion"])]
    assert found["tuning"]["test"][1] == pytest.approx(np.mean(recalls))
    assert all("balanced" in tried["setting"] for tried in found["tuning"]["tried"])


@pytest.mark.parametrize(("flags", "positive"), [([], "yes"), (["--positive", "no"], "no")])
def test_a_score_of_one_class_is_that_of_a_label(
    flags: list[str], positive: str, data: Path, capsys: Any
) -> None:
    words = ["fit", data, "-t", "left", "--json", "--scoring", "recall", "--leaves", 2, *flags]
    found = json.loads(run(capsys, *words)[1])
    assert found["tuning"]["score"] == f"recall of '{positive}'"
    code = ["no", "yes"].index(positive)
    line = found["test"]["confusion"][code]
    assert found["tuning"]["test"][0] == pytest.approx(line[code] / sum(line))


def test_a_missed_class_is_told(tmp_path: Path, capsys: Any) -> None:
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(300) < 0.05, "rare", "usual")
    path = tmp_path / "rare.csv"
    polars.DataFrame({"x": rng.random(300), "y": labels}).write_csv(path)
    words = ["fit", path, "-t", "y", "-q", "--depth", 1, "--min-leaf", 5]
    assert "--recall 0.8 --positive rare asks for a share of them" in run(capsys, *words)[1]
    assert "alike" not in run(capsys, *words, "--scoring", "balanced_accuracy")[1]


def test_extras_keep_to_the_time_limit(data: Path, tmp_path: Path) -> None:
    flags = {"report": "r.html", "extras": True}
    assert kept_for_extras(flags, 10.0, tunes=False) == 4.0
    assert kept_for_extras({**flags, "extras": False}, 10.0, tunes=True) == 0.0
    parameters = {"max_depth": 2, "criterion": None, "class_weight": None, "alpha": 0.0}
    parameters |= {"max_leaf_nodes": None, "min_samples_leaf": 1, "time_limit": 5.0}
    now = time.monotonic()
    trained = train(
        prepare(read_table(data), Settings("left")), parameters, "left", started=now, begun=now
    )
    stages: list[str] = []
    # The command began long ago, so that no time is left.
    late = with_extras(trained, parameters, True, now - 60.0, stages.append)
    assert stages == []
    assert "runner_up" not in late.model.facts
    whole = with_extras(trained, {**parameters, "time_limit": None}, True, now, stages.append)
    assert {"frontier", "runner_up", "stability"} <= set(whole.model.facts)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--alpha", "0.1"], "--alpha is for one search: it needs --no-tune."),
        (["--max-memory", "1GB"], "--max-memory is for one search: it needs --no-tune."),
        (["--scoring", "f1", "--no-tune"], "--scoring is what tuning looks for"),
        (["--scoring", "f1", "--recall", "0.9"], "--scoring and --recall exclude each other."),
        (["--scoring", "luck"], "must be the name of a scorer of scikit-learn"),
        (["--scoring", "r2"], "The 'scoring' parameter of OptimalTreeCV, r2, cannot score"),
        (["--scoring", "f1", "--positive", "so"], "--positive must be no or yes. Got so instead."),
        (["--scoring", "roc_auc", "--positive", "no"], "--positive does not go with --scoring"),
    ],
)
def test_flags_that_do_not_go_together(
    flags: list[str], words: str, data: Path, capsys: Any
) -> None:
    status, out, err = run(capsys, "fit", data, "-t", "left", "-q", *flags)
    assert (status, out) == (2, "")
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_an_interrupted_search_still_gives_its_tree(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from provetree import ExactSearch, Solution

    whole = ExactSearch.solve

    def interrupted(self: Any, *arguments: Any) -> Solution:
        found = whole(self, *arguments)
        return Solution(found.tree, found.cost, 0, "interrupted")

    monkeypatch.setattr(ExactSearch, "solve", interrupted)
    for tuning in ("--tune", "--no-tune"):
        status, out, _ = run(capsys, "fit", data, "-t", "left", "-q", "--depth", 1, tuning)
        assert status == 0
        assert "Not proven when it was interrupted: " in out


def test_the_search_has_what_the_rest_leaves() -> None:
    small, large = np.zeros((10, 2)), np.broadcast_to(0.0, (1_000_000, 20))
    assert _search_seconds(None, 5.0, 2.0, small) is None
    # Starting up took three seconds, reading and CART two; half as much comes after the search.
    assert _search_seconds(20.0, 5.0, 2.0, small) == 14.0
    assert _search_seconds(20.0, 5.0, 2.0, large) == pytest.approx(8.0)
    # Where the machine was too slow for all this, a first tree is all that there is time for.
    assert _search_seconds(20.0, 30.0, 25.0, small) == pytest.approx(0.2)


def test_thresholds_of_dates_are_dates() -> None:
    day = datetime.date(1999, 11, 28)
    dates = [day + datetime.timedelta(days=i) for i in range(800)]
    numbers = [10000 * d.year + 100 * d.month + d.day for d in dates]
    for i, (low, high) in enumerate(zip(numbers, numbers[5:], strict=False)):
        # What is up to any number between two dates is up to a date that the calendar has.
        for number in (low, low + 0.5, (low + high) / 2, high - 0.5):
            found = _date_up_to(number)
            assert found == max(n for n in numbers[: i + 6] if n <= number)
    assert _date_up_to(-5.0) == -5.0
