"""The report in a real browser: it loads clean, and what people do in it agrees with the model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from provetree import (
    OptimalTreeClassifier,
    StoredModel,
    near_optimal_trees,
    runner_up_splits,
    stability,
    tuning_path,
    write_report,
)
from testkit.browser import chromium, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

# Names that would break a page put together carelessly.
NASTY = "age </script><b>&\"'"


def table(n: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    income = np.round(rng.lognormal(8, 0.5, n))
    port = rng.choice(["S", "C", "Q", "a <b>"], n)
    y = np.where((age > 40) ^ (port == "C"), "yes", "no")
    y = np.where((income > 4000) & (rng.random(n) < 0.6), "may be", y)
    frame = pd.DataFrame({NASTY: age, "income": income, "port": port.astype(object)})
    frame.loc[rng.random(n) < 0.1, NASTY] = np.nan
    frame.loc[rng.random(n) < 0.1, "port"] = None
    return frame, y


@pytest.fixture(scope="module")
def fitted() -> tuple[OptimalTreeClassifier, pd.DataFrame, Any]:
    X, y = table(500, 0)
    return OptimalTreeClassifier(max_depth=4).fit(X, y), X, y


@pytest.fixture(scope="module")
def path(
    tmp_path_factory: pytest.TempPathFactory,
    fitted: tuple[OptimalTreeClassifier, pd.DataFrame, Any],
) -> Path:
    clf, X, y = fitted
    X_test, y_test = table(200, 1)
    file = tmp_path_factory.mktemp("report") / "report.html"
    write_report(
        clf,
        file,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        target="an <i>answer</i>",
        frontier=tuning_path(X, y, max_depth=2, cv=3),
        runner_up=runner_up_splits(clf, X, y, time_limit=1.0),
        stability=stability(OptimalTreeClassifier(max_depth=2).fit(X, y), X, y, n_refits=3),
        near_optimal=near_optimal_trees(X, y, slack=1, max_depth=1),
    )
    return file


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Any, path: Path) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.problems = []
    page.requests = []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on(
        "console",
        lambda told: page.problems.append(told.text) if told.type in ("error", "warning") else None,
    )
    page.on("request", lambda request: page.requests.append(request.url))
    page.goto(path.as_uri())
    yield page
    assert page.problems == []
    assert page.requests == [path.as_uri()], "the report must not load anything"
    page.close()


def test_loads_and_shows_all_parts(page: Any) -> None:
    anchors = [section.get_attribute("id") for section in page.query_selector_all("section")]
    assert anchors == [
        "tree",
        "questionnaire",
        "rules",
        "quality",
        "calibration",
        "proof",
        "columns",
        "frontier",
        "alternatives",
        "near-optimal",
        "data",
    ]
    assert page.inner_text("h1") == "A decision tree for an <i>answer</i>"
    assert page.query_selector("h1 i") is None


def test_closing_and_opening_branches(page: Any, fitted: Any) -> None:
    tree = fitted[0].tree_
    shown = "#tree .node:not(.hidden)"
    assert len(page.query_selector_all(shown)) == tree.n_nodes
    left = int(tree.left[0])
    page.click(f'.toggle[data-node="{left}"]')
    below = int(tree.right[0]) - left - 1
    assert len(page.query_selector_all(shown)) == tree.n_nodes - below
    assert page.get_attribute(f'.node[data-node="{left}"]', "aria-expanded") == "false"
    page.click("#close-all")
    assert len(page.query_selector_all(shown)) == 3
    page.click("#open-all")
    assert len(page.query_selector_all(shown)) == tree.n_nodes
    page.click("#zoom-fit")
    boxes = [box.bounding_box() for box in page.query_selector_all("#tree .node .box")]
    assert not any(_overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])


def _overlap(a: Any, b: Any) -> bool:
    across = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
    down = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
    return bool(across > 0.5 and down > 0.5)


def test_hovering_tells_rows_and_shares(page: Any, fitted: Any) -> None:
    tree = fitted[0].tree_
    for node in (0, tree.n_nodes - 1):
        page.hover(f'.node[data-node="{node}"] .name')
        told = page.inner_text("#tip")
        assert f"{tree.n_samples[node]} training row" in told
        for share in tree.shares()[node]:
            assert f"{100 * share:.1f} %" in told


def test_a_click_marks_the_way(page: Any, fitted: Any) -> None:
    tree = fitted[0].tree_
    leaf = tree.n_nodes - 1
    page.click(f'.node[data-node="{leaf}"] .name')
    marked = {int(g.get_attribute("data-node")) for g in page.query_selector_all(".node.on-path")}
    assert marked == set(tree._ways()[leaf].tolist())
    assert "Rows here:" in page.inner_text("#picked")
    page.click(f'.node[data-node="{leaf}"] .name')
    assert page.query_selector_all(".node.on-path") == []


def test_zoom(page: Any) -> None:
    page.click("#zoom-fit")
    before = page.query_selector("#tree svg").bounding_box()["width"]
    assert before <= page.query_selector("#stage").bounding_box()["width"]
    page.click("#zoom-in")
    assert page.query_selector("#tree svg").bounding_box()["width"] > before
    page.click("#zoom-fit")
    assert page.query_selector("#tree svg").bounding_box()["width"] == pytest.approx(before, abs=2)


def test_keyboard_alone(page: Any, fitted: Any) -> None:
    tree = fitted[0].tree_
    page.focus("#close-all")
    page.keyboard.press("Tab")
    focused = "() => document.activeElement.dataset.node"
    assert page.evaluate(focused) == "0"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == str(tree.left[0])
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == str(tree.right[0])
    page.keyboard.press("-")
    right = f'.node[data-node="{tree.right[0]}"]'
    assert page.get_attribute(right, "aria-expanded") == "false"
    page.keyboard.press("+")
    assert page.get_attribute(right, "aria-expanded") == "true"
    page.keyboard.press("Enter")
    assert page.get_attribute(right, "aria-selected") == "true"
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == "0"
    # And on through the questionnaire: an answer and Enter lead to the next question.
    page.focus("#answer")
    column = page.get_attribute("#question-area form", "data-column")
    if page.evaluate("document.getElementById('answer').tagName") == "INPUT":
        page.keyboard.type("30")
    else:
        page.select_option("#answer", "c0")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.inner_text("#answers li").startswith(f"{column}:")


# Answers the questionnaire through its own fields and buttons, as fast as the page can.
ANSWER = """
(row) => {
  document.getElementById("restart").click();
  for (let i = 0; i < 50 && !document.getElementById("decision"); i++) {
    const form = document.querySelector("#question-area form"), value = row[form.dataset.column];
    const field = document.getElementById("answer");
    if (field.tagName === "SELECT") {
      const option = [...field.options].find((o) =>
        value === null ? o.value === "missing" : o.value.startsWith("c") && o.text === value);
      field.value = option ? option.value : "other";
      form.requestSubmit();
    } else if (value === null) document.getElementById("unknown").click();
    else { field.value = String(value); form.requestSubmit(); }
  }
  return JSON.parse(document.getElementById("decision").dataset.label);
}
"""


def rows_for_the_page() -> tuple[pd.DataFrame, list[dict[str, Any]]]:
    X, _ = table(200, 7)
    X.loc[X.index % 17 == 0, "port"] = "never seen"
    plain = [
        {k: None if v is None or v != v else v for k, v in row.items()}
        for row in X.to_dict("records")
    ]
    return X, plain


def test_questionnaire_gives_the_models_own_predictions(page: Any, fitted: Any) -> None:
    X, rows = rows_for_the_page()
    expected = fitted[0].predict(X).tolist()
    assert [page.evaluate(ANSWER, row) for row in rows] == expected
    assert len(set(expected)) == 3
    in_script = page.evaluate("(rows) => rows.map((row) => window.provetree.predict(row))", rows)
    assert in_script == expected


def test_questionnaire_by_hand(page: Any, fitted: Any) -> None:
    X, rows = rows_for_the_page()
    for i in range(5):
        page.click("#restart")
        while page.query_selector("#decision") is None:
            value = rows[i][page.get_attribute("#question-area form", "data-column")]
            if page.query_selector("select#answer"):
                known = value in ("S", "C", "Q", "a <b>")
                other = "another value" if value else "missing or not known"
                page.select_option("#answer", label=value if known else other)
            elif value is None:
                page.click("#unknown")
                continue
            else:
                page.fill("#answer", str(value))
            page.click("text=Next")
        assert (
            json.loads(page.get_attribute("#decision", "data-label"))
            == fitted[0].predict(X.iloc[[i]]).item()
        )
    page.click("#back")
    assert page.query_selector("#decision") is None


def test_a_wrong_answer_is_told(page: Any) -> None:
    page.click("#restart")
    while page.query_selector("select#answer"):
        page.click("text=Next")
        assert page.inner_text("#fault") == "Choose an answer first."
        page.select_option("#answer", "c0")
        page.click("text=Next")
    page.fill("#answer", "many")
    page.click("text=Next")
    assert "is a number" in page.inner_text("#fault")


def test_colours_can_be_switched_and_follow_the_system(browser: Any, path: Path) -> None:
    ink = "getComputedStyle(document.body).color"
    shades = {}
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(path.as_uri())
        shades[scheme] = page.evaluate(ink)
        page.click("#theme")
        switched = page.evaluate(ink)
        assert switched != shades[scheme]
        page.close()
    assert shades["light"] != shades["dark"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility_rules(browser: Any, path: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = browser.new_page(color_scheme=scheme)
    page.goto(path.as_uri())
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    page.close()


def test_prints(page: Any) -> None:
    page.emulate_media(media="print")
    assert not page.is_visible("nav")
    assert not page.is_visible("#questionnaire")
    assert page.is_visible("#rules")
    assert len(page.pdf(prefer_css_page_size=True)) > 10_000


def test_without_scripts_everything_is_there(browser: Any, path: Path, fitted: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert len(page.query_selector_all("#tree .node")) == fitted[0].tree_.n_nodes
    assert "scripts are switched off" in page.inner_text("#tree")
    context.close()


@pytest.mark.parametrize("depth", [0, 1])
def test_the_smallest_trees(browser: Any, tmp_path: Path, depth: int) -> None:
    X, y = table(60, 3)
    clf = OptimalTreeClassifier(max_depth=depth).fit(X, y)
    file = tmp_path / "small.html"
    write_report(clf, file, X, y)
    page = browser.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(file.as_uri())
    assert page.evaluate("window.provetree.predict({})") in clf.classes_.tolist()
    page.close()
    assert problems == []
    assert not math.isnan(StoredModel.of(clf).tree.value.sum())
