"""Reports of trees that predict numbers or actions: the facts, the page, and a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.tree import DecisionTreeRegressor

from provetree import (
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    OptimalTreeRegressorCV,
    StoredModel,
    Tree,
    runner_up_splits,
    stability,
    tuning_path,
    write_report,
)
from provetree.report.evidence import evidence_of, read_rows, tree_facts
from provetree.report.page import report_html
from provetree.tree.values import Actions
from testkit.browser import chromium, why_not


def table(n: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size </script>": rng.integers(20, 90, n).astype(float)})
    X["port"] = rng.choice(["S", "C", "a <b>"], n).astype(object)
    X.loc[rng.random(n) < 0.1, "size </script>"] = np.nan
    y = X["size </script>"].fillna(40) * (1 + (X["port"] == "C")) + rng.normal(0, 5, n)
    return X, y.round(2).to_numpy()


@pytest.fixture(scope="module")
def fitted() -> tuple[OptimalTreeRegressor, pd.DataFrame, Any]:
    X, y = table(150, 0)
    return OptimalTreeRegressor(max_depth=2).fit(X, y), X, y


def test_facts_are_scikit_learns(fitted: Any) -> None:
    reg, X, y = fitted
    X_test, y_test = table(80, 1)
    facts = evidence_of(reg, X, y, X_test=X_test, y_test=y_test)
    for name, rows, targets in (("train", X, y), ("test", X_test, y_test)):
        predicted = reg.predict(rows)
        assert facts[name]["r2"] == pytest.approx(r2_score(targets, predicted))
        assert facts[name]["mae"] == pytest.approx(mean_absolute_error(targets, predicted))
        leaves, apart = reg.apply(rows), targets - predicted
        for leaf, (count, mean, spread) in facts["leaf_residuals"][name].items():
            own = apart[leaves == int(leaf)]
            assert (count, mean, spread) == pytest.approx((len(own), own.mean(), own.std()))
        assert len(facts["points"][name]) == len(rows)
    assert facts["cart"]["leaves"] <= 4
    assert facts["cart"]["train"]["r2"] <= facts["train"]["r2"] + 1e-12


def test_cart_is_scikit_learns_own_with_the_limits_of_the_tree() -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(90, 3)), rng.normal(size=90)
    reg = OptimalTreeRegressorCV(max_depth=2, min_samples_leaf=[9], cv=2).fit(X, y)
    limits = {"max_leaf_nodes": max(2, reg.n_leaves_), "min_samples_leaf": 9}
    cart = DecisionTreeRegressor(max_depth=2, random_state=0, **limits).fit(X, y)
    facts = evidence_of(reg, X, y)
    if reg.n_leaves_ > 1:
        assert facts["cart"]["train"]["r2"] == pytest.approx(cart.score(X, y))
    else:
        assert facts["cart"]["leaves"] == 1


def test_targets_that_are_all_the_same_have_no_r2() -> None:
    reg = OptimalTreeRegressor(max_depth=1).fit([[1.0], [2.0]], [3.0, 3.0])
    facts = evidence_of(reg, [[1.0], [2.0]], [3.0, 3.0])
    assert facts["train"]["r2"] is None
    assert "R² -" in report_html(StoredModel.of(reg, facts=facts))


def policy() -> tuple[StoredModel, Any, Any]:
    """A policy by hand: wait below, act above."""
    X = np.arange(6.0)[:, None]
    rewards = np.array([[2.0, 0.0]] * 3 + [[0.0, 3.0]] * 3)
    values = Actions([[0, 0], [6, 0], [0, 9]], [0, 3, 3])
    tree = Tree(
        feature=[0, -1, -1],
        threshold=[2.5, 0, 0],
        n_samples=[0, 3, 3],
        n_features=1,
        value=values,
        class_names=["wait <b>", "act"],
    )
    facts = tree_facts(tree, read_rows(tree, X, rewards, None))
    return StoredModel(tree, target="what to do", facts=facts), X, rewards


def test_facts_of_a_policy() -> None:
    model, _, _ = policy()
    assert model.facts["train"] == {
        "rows": 6,
        "value": 2.5,
        "shares": [0.5, 0.5],
        "alone": [1.0, 1.5],
        "possible": 2.5,
    }
    page = report_html(model)
    assert "it brings 2.5 a row" in page
    assert "Always to take act, the best single action, brings 1.5" in page
    assert "wait <b>" not in page.partition("<script")[0]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


def opened(browser: Any, path: Path) -> tuple[Any, list[str]]:
    problems: list[str] = []
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console",
        lambda told: problems.append(told.text) if told.type in ("error", "warning") else None,
    )
    page.goto(path.as_uri())
    return page, problems


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_the_page_of_numbers_in_a_browser(browser: Any, fitted: Any, tmp_path: Path) -> None:
    reg, X, y = fitted
    X_test, y_test = table(60, 1)
    write_report(
        reg,
        tmp_path / "report.html",
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        target="price",
        frontier=tuning_path(X, y, criterion="squared_error", max_depth=1, cv=2),
        runner_up=runner_up_splits(reg, X, y, time_limit=1.0),
        stability=stability(reg, X, y, n_refits=2),
    )
    page, problems = opened(browser, tmp_path / "report.html")
    anchors = [section.get_attribute("id") for section in page.query_selector_all("section")]
    expected = ["tree", "questionnaire", "rules", "quality", "residuals", "splits", "proof"]
    assert anchors == [*expected, "columns", "frontier", "alternatives", "data"]
    rows = [
        {name: None if value is None or value != value else value for name, value in row.items()}
        for row in X_test.to_dict("records")
    ]
    said = page.evaluate("(rows) => rows.map((row) => window.provetree.predict(row))", rows)
    assert said == reg.predict(X_test).tolist()
    assert page.locator("#quality circle").count() == len(X) + len(X_test)
    page.click("#tree .node.leaf >> nth=0")
    assert "mean" in page.inner_text("#picked")
    text = page.inner_text("main")
    assert "one part in a billion" in text
    assert "of R²" in text or "costs nothing" in text
    assert problems == []


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
def test_the_page_of_a_policy_in_a_browser(browser: Any, tmp_path: Path) -> None:
    model, X, _ = policy()
    (tmp_path / "report.html").write_text(report_html(model), encoding="utf-8")
    page, problems = opened(browser, tmp_path / "report.html")
    said = [page.evaluate("(x) => window.provetree.predict({x0: x})", x) for x in X[:, 0].tolist()]
    assert said == ["wait <b>"] * 3 + ["act"] * 3
    assert problems == []


def test_the_report_of_a_policy_tree(tmp_path: Path) -> None:
    """Rewards are told as rewards, not as costs below zero."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"risk": rng.random(80).round(2)})
    rewards = pd.DataFrame({"wait": np.zeros(80), "treat": np.where(X["risk"] > 0.6, 3.0, -1.0)})
    policy = OptimalPolicyTree(max_depth=1).fit(X, rewards)
    write_report(policy, tmp_path / "report.html", X, rewards, X_test=X, y_test=rewards)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "reward of this tree" in page
    assert f"it brings {policy.value_:.4g} a row" in page
    assert f"<b>{policy.value_ * 80:.6g}</b>" in page


def test_what_targets_have_in_common_hides_nothing(tmp_path: Path) -> None:
    """CART lost the digits of targets near 1e9, and so did the chart and the residuals."""
    rng = np.random.default_rng(0)
    X, offset = rng.normal(size=(120, 2)), 1e9
    y = np.round(3 * X[:, 0] + rng.normal(size=120), 2)
    pages, facts = [], []
    for more in (0.0, offset):
        reg = OptimalTreeRegressor(max_depth=2).fit(X[:80], y[:80] + more)
        path = tmp_path / "report.html"
        test = {"X_test": X[80:], "y_test": y[80:] + more}
        write_report(reg, path, X[:80], y[:80] + more, **test)
        pages.append(path.read_text(encoding="utf-8"))
        facts.append(evidence_of(reg, X[:80], y[:80] + more, **test))
    near, far = facts
    assert far["cart"]["train"]["r2"] == pytest.approx(near["cart"]["train"]["r2"], abs=1e-6)
    assert np.allclose(np.array(far["points"]["test"]) - offset, near["points"]["test"], atol=1e-3)
    ticks = re.findall(r'class="tick"[^>]*>(\d{9,})<', pages[1])
    assert len(set(ticks)) >= 4
    held_out = re.compile(r"<td>([-\d.]+)</td><td>[\d.]+</td></tr>")
    assert held_out.findall(pages[1]) == held_out.findall(pages[0]) != []


def test_cart_is_not_said_to_have_asked_what_it_did_not(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    path = tmp_path / "report.html"
    for splits, words in (("columns", "the same kinds of questions"), ("pairs", "one column or")):
        clf = OptimalTreeClassifier(max_depth=1, splits=splits).fit(X, X.sum(axis=1) > 0)
        write_report(clf, path, X, X.sum(axis=1) > 0)
        assert words in path.read_text(encoding="utf-8")
