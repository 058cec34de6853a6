"""The command line where the target is a number: every command follows the task."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from sklearn.metrics import mean_absolute_error, r2_score

from provetree import OptimalTreeRegressor, load_model
from provetree.cli.main import main


@pytest.fixture
def cars(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    km, port = rng.integers(1, 200, 160), rng.choice(["S", "C", "Q"], 160)
    price = (30000 - 100 * km + 4000 * (port == "C") + rng.normal(0, 900, 160)).round(2)
    table = polars.DataFrame({"km": km, "port": port, "price": [f"${x}" for x in price]})
    table.write_csv(tmp_path / "cars.csv")
    return tmp_path / "cars.csv"


def told(capsys: Any, *words: str) -> tuple[str, str]:
    capsys.readouterr()
    assert main(list(words)) == 0
    found = capsys.readouterr()
    return found.out, found.err


def test_fit_sees_the_number_and_says_so(cars: Path, capsys: Any) -> None:
    out, err = told(capsys, "fit", str(cars), "-t", "price", "--depth", "2", "--no-tune")
    assert "'price' is a number to predict (160 different values): --task classification" in err
    assert "Proven optimal: squared errors of" in out
    assert "training R²" in out


def test_fit_chooses_how_trees_of_numbers_are_grown(
    cars: Path, tmp_path: Path, capsys: Any
) -> None:
    report = tmp_path / "report.html"
    flags = ["--depth", "2", "--min-leaf", "5", "--report", str(report), "--no-extras"]
    out, _ = told(capsys, "fit", str(cars), "-t", "price", *flags)
    assert "Chosen by cross-validation: at least 5 rows in a leaf" in out
    assert "and at least 5 rows in each leaf" in out
    assert "What was chosen, and why" in report.read_text(encoding="utf-8")


def test_a_model_keeps_its_task(cars: Path, tmp_path: Path, capsys: Any) -> None:
    """Fit, predict, explain, report and export agree with the regressor itself."""
    model = str(tmp_path / "model.json")
    flags = ["--depth", "2", "--min-leaf", "5", "--save", model, "--json"]
    told_data = json.loads(told(capsys, "fit", str(cars), "-t", "price", *flags)[0])
    assert told_data["task"] == "regression"
    stored = load_model(model)
    assert stored.tree.kind == "numbers"

    predictions = tmp_path / "out.csv"
    told(capsys, "predict", model, str(cars), "--only", "-o", str(predictions))
    found = polars.read_csv(predictions)["predicted price"].to_numpy()
    table = polars.read_csv(cars)
    price = table["price"].str.strip_prefix("$").cast(polars.Float64).to_numpy()
    test = told_data["test"]
    assert test["rows"] == 40
    assert r2_score(price, found) > 0.8

    said, _ = told(capsys, "explain", model, str(cars), "--row", "3")
    assert "price is predicted to be" in said
    assert "with a spread of ±" in said
    row = json.loads(told(capsys, "explain", model, str(cars), "--row", "3", "--json")[0])
    assert row["prediction"] == pytest.approx(found[2])
    rules = json.loads(told(capsys, "explain", model, "--json")[0])
    assert all("±" in rule["sentence"] and "share" not in rule for rule in rules)

    page = tmp_path / "judged.html"
    told(capsys, "report", model, str(cars), "-o", str(page))
    mean_error = f"{mean_absolute_error(price, found):.4g}"
    assert f"R² {r2_score(price, found):.3f}, mean error {mean_error}" in page.read_text()

    numbers = tmp_path / "numbers.csv"
    polars.DataFrame({"x": np.arange(80) / 7, "y": np.arange(80) ** 1.5}).write_csv(numbers)
    words = ["--test-share", "0", "--save", model, "--depth", "3", "-q"]
    told(capsys, "fit", str(numbers), "-t", "y", *words)
    told(capsys, "export", model, "--to", "sklearn", "-o", str(tmp_path / "tree.pickle"))
    tree = pickle.loads((tmp_path / "tree.pickle").read_bytes())
    assert type(tree).__name__ == "DecisionTreeRegressor"


def test_fit_is_the_regressor(cars: Path, tmp_path: Path, capsys: Any) -> None:
    model = str(tmp_path / "model.json")
    words = ["-t", "price", "--depth", "2", "--criterion", "absolute_error", "--test-share", "0"]
    told(capsys, "fit", str(cars), *words, "--save", model, "-q", "--no-tune")
    table = polars.read_csv(cars)
    price = table["price"].str.strip_prefix("$").cast(polars.Float64).to_numpy()
    reg = OptimalTreeRegressor(2, "absolute_error").fit(table.select("km", "port"), price)
    proof = load_model(model).proof
    assert proof is not None
    assert proof.cost == pytest.approx(reg.objective_)
    assert load_model(model).tree == reg.tree_


def test_the_task_can_be_chosen(tmp_path: Path, capsys: Any) -> None:
    """Whole numbers are classes or numbers, as the user wants it."""
    stars = tmp_path / "stars.csv"
    polars.DataFrame(
        {"x": [i / 7 for i in range(90)], "stars": [i // 18 for i in range(90)]}
    ).write_csv(stars)
    for flags, task in (([], "classification"), (["--task", "regression"], "regression")):
        data = told(capsys, "fit", str(stars), "-t", "stars", "--json", *flags)[0]
        assert json.loads(data)["task"] == task
    gini = told(capsys, "fit", str(stars), "-t", "stars", "--criterion", "gini", "--depth", "2")[0]
    assert "Gini impurity of" in gini


def test_compare_follows(cars: Path, tmp_path: Path, capsys: Any) -> None:
    plot = tmp_path / "compare.png"
    words = ["-t", "price", "--depth", "1", "--json", "--plot", str(plot)]
    rows = json.loads(told(capsys, "compare", str(cars), *words)[0])
    assert [row["method"] for row in rows] == [
        "CART",
        "CART, tuned",
        "exact search",
        "exact search, tuned",
    ]
    by_name = {row["method"]: row for row in rows}
    assert by_name["exact search"]["train_r2"] >= by_name["CART"]["train_r2"] - 1e-12
    assert by_name["exact search"]["status"] == "optimal"
    assert plot.stat().st_size > 0
    assert "test mean error" in told(capsys, "compare", str(cars), *words[:4], "-q")[0]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--task", "classification"], "needs at most 50 classes"),
        (["--task", "regression", "--criterion", "gini"], "--criterion must be one of squared"),
        (["--class-weight", "balanced"], "--class-weight is for classes"),
        (["-t", "port", "--task", "regression"], "must hold numbers for --task regression"),
    ],
)
def test_one_sentence_for_what_cannot_be(
    cars: Path, capsys: Any, flags: list[str], message: str
) -> None:
    assert main(["fit", str(cars), "-t", "price", "-q", *flags]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_shares_are_for_classes(cars: Path, tmp_path: Path, capsys: Any) -> None:
    model = str(tmp_path / "model.json")
    assert main(["fit", str(cars), "-t", "price", "--depth", "1", "-q", "--save", model]) == 0
    assert main(["predict", model, str(cars), "--proba"]) == 2
    assert "--proba and --laplace are for classes" in capsys.readouterr().err
