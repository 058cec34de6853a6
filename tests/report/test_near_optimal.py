"""Near-optimal trees in the report, on the command line and as a picture."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from provetree import OptimalTreeClassifier, near_optimal_trees, write_report
from provetree.report.near_optimal_section import near_optimal_facts, near_optimal_part

mpl.use("agg")


@pytest.fixture(scope="module")
def rows() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a <b>", "b", "never"])
    X["never"] = 1.0
    y = np.where((X["a <b>"] > 0.2) ^ (X["b"] > 1) ^ (rng.random(120) < 0.1), "yes", "no")
    return X, y


def test_the_report_says_what_the_trees_need(
    rows: tuple[pd.DataFrame, np.ndarray], tmp_path: Path
) -> None:
    X, y = rows
    found = near_optimal_trees(X, y, slack=1, max_depth=2)
    facts = json.loads(json.dumps(near_optimal_facts(found)))
    assert facts["trees"] == str(found.n_trees)
    assert sum(int(count) for _, count in facts["counts"]) == found.n_trees
    assert [column["use"] for column in facts["columns"]][2] == "none"
    assert facts["agreed"] == found.agreement().share_agreed
    assert [choice["cost"] >= found.optimum for choice in facts["choices"]] == [True] * 3
    clf = OptimalTreeClassifier(max_depth=2).fit(X, y)
    write_report(clf, tmp_path / "report.html", X, y, near_optimal=found)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert found.sentence in page
    assert "All trees that are nearly as good" in page
    assert "a &lt;b&gt;" in page
    assert "In none of them: never." in page


def test_a_count_that_ended_early_claims_nothing_more(
    rows: tuple[pd.DataFrame, np.ndarray],
) -> None:
    found = near_optimal_trees(*rows, slack=3, max_depth=2, max_memory=1000)
    facts = near_optimal_facts(found)
    assert "agreed" not in facts
    assert "choices" not in facts
    part = near_optimal_part(facts)
    assert "At least " in part
    assert "The memory limit ended the count." in part


def test_the_picture_has_a_bar_for_each_column(rows: tuple[pd.DataFrame, np.ndarray]) -> None:
    found = near_optimal_trees(*rows, slack=1, max_depth=2)
    ax = found.plot()
    assert sorted(label.get_text() for label in ax.get_yticklabels()) == ["a <b>", "b", "never"]
    assert ax.get_title(loc="left") == found.sentence


def test_the_command_line_counts_them(
    rows: tuple[pd.DataFrame, np.ndarray], tmp_path: Path
) -> None:
    pytest.importorskip("polars")
    from provetree.cli.commands import app

    X, y = rows
    file = tmp_path / "table.csv"
    X.assign(y=y).to_csv(file, index=False)
    model, page = tmp_path / "model.json", tmp_path / "report.html"
    fit = ["fit", str(file), "-t", "y", "--depth", "2", "--no-tune", "--test-share", "0"]

    def run(*words: str) -> str:
        result = CliRunner().invoke(app, list(words))
        assert result.exception is None, result.output
        return result.output

    found = near_optimal_trees(X, y, slack=0.01, max_depth=2)
    said = run(*fit, "--near-optimal", "1%", "--save", str(model), "--quiet")
    assert found.sentence in said
    assert "training rows." in said
    facts = json.loads(run(*fit, "--near-optimal", "1%", "--json"))["near_optimal"]
    assert facts["trees"] == str(found.n_trees)
    run("report", str(model), str(file), "--near-optimal", "1", "-o", str(page))
    one = near_optimal_trees(X, y, slack=1, max_depth=2)
    assert one.sentence in page.read_text(encoding="utf-8")
    for words, sentence in (
        ([*fit, "--near-optimal", "much"], "--near-optimal must be a whole number of errors"),
        ([*fit, "--near-optimal", "-1"], "Got '-1' instead."),
        ([*fit, "--near-optimal", "150%"], "Got '150%' instead."),
        ([*fit[:5], "4", "--near-optimal", "1"], "counts trees of up to depth 3"),
        ([*fit, "--near-optimal", "1", "--criterion", "gini"], "--near-optimal is about errors"),
        (["report", str(model), "--near-optimal", "1"], "give DATA as well"),
    ):
        result = CliRunner().invoke(app, words)
        assert sentence in str(result.exception), (words, result.output)
