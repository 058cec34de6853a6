"""``bench new-rows``: rows to train on and new ones, measures, statistics, resuming, the page."""

from __future__ import annotations

import gzip
import json
import os
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn import metrics

from provetree.bench.new_rows import results as results_module
from provetree.bench.new_rows.measures import measure
from provetree.bench.new_rows.methods import METHODS, Fitted, Method
from provetree.bench.new_rows.page import write_page
from provetree.bench.new_rows.papers import paper_work, relative_gaps
from provetree.bench.new_rows.results import (
    Key,
    Result,
    Work,
    all_work,
    part_of,
    read_failures,
    read_results,
    score,
)
from provetree.bench.new_rows.statistics import alike_groups, mean_ranks, signed_rank_test
from provetree.bench.new_rows.tables import ClassTable, Preparation, largest_first, split_rows
from provetree.bench.papers.ales import TABLE_7
from provetree.cli import main

#: The package of each method that needs one more.
PACKAGES = {
    "hs-tree": "imodels",
    "streed": "pystreed",
    "licketysplit": "licketysplit",
    "lightgbm": "lightgbm",
    "ebm": "interpret",
}
#: imodels compiles itself for a minute when it is first imported, and an EBM takes as long.
QUICK = [name for name in METHODS if name not in ("hs-tree", "ebm")]


def made_up(n: int = 80, seed: int = 0) -> ClassTable:
    """A column of numbers, one of categories, and missing cells in both."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 3, n)])
    y = ((X[:, 0] > 0.2) | (X[:, 1] == 2) | (rng.random(n) < 0.1)).astype(int)
    X[rng.random((n, 2)) < 0.1] = np.nan
    return ClassTable("made up", X, y, (1,))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with two small tables, one of them with a rare class."""
    rng = np.random.default_rng(0)
    facts = {"rows": 60, "features": 2, "suites": ["everyday"]}
    for name, cut in (("common", 0.5), ("rare", 0.9)):
        cells = [
            f"{a:.3f},{'xy'[int(b)]},{('no', 'yes')[int(c)]}"
            for a, b, c in zip(
                rng.random(60), rng.random(60) > 0.5, rng.random(60) > cut, strict=True
            )
        ]
        text = "\n".join(["size,colour,target", *cells]).encode()
        (tmp_path / f"{name}.csv.gz").write_bytes(gzip.compress(text))
    (tmp_path / "manifest.json").write_text(json.dumps({"common": facts, "rare": facts}))
    monkeypatch.setenv("PROVETREE_DATA", str(tmp_path))
    results_module.read_class_table.cache_clear()
    return tmp_path


# -- no new row is seen ----------------------------------------------------------------------------


def learned(method: Method, table: ClassTable, train: Any, new: Any) -> Any:
    """The shares that a method gives to fixed rows after it was scored on a split."""
    probes = np.array([[a, b] for a in np.linspace(-2, 2, 9) for b in (0.0, 1.0, 2.0, np.nan)])
    fitted: list[Fitted] = []

    def fit(rows: ClassTable, *settings: Any) -> Fitted:
        fitted.append(method.fit(rows, *settings))
        return fitted[-1]

    with pytest.MonkeyPatch.context() as patch:
        spied = Method(method.label, method.short, method.kind, fit)
        patch.setattr(results_module, "METHODS", {"spied": spied})
        parts = (table.rows(train), table.rows(new))
        patch.setattr(results_module, "_parts", lambda *key: parts)
        # So much time that the limit, which no two runs meet at the same step, is not met.
        found = score(Work(Key("made up", 0, "spied", 8), 600.0))
    assert "error" not in found
    return fitted[0].shares(probes, 2)


def sees_new_rows(make: Any) -> bool:
    """Whether a method, made for a table, learns something else if new rows are others."""
    table = made_up()
    order = np.random.default_rng(1).permutation(len(table.y))
    train, new = order[:60], order[60:]
    X, y = table.X.copy(), table.y.copy()
    X[new], y[new] = X[new] * 5 + 1, 1 - y[new]
    other = ClassTable("made up", X, y, (1,))
    before, after = (learned(make(each), each, train, new) for each in (table, other))
    return not np.array_equal(before, after)


@pytest.mark.parametrize("name", QUICK)
def test_no_method_sees_a_new_row(name: str) -> None:
    if name in PACKAGES and find_spec(PACKAGES[name]) is None:
        pytest.skip(f"{PACKAGES[name]} is not installed")
    assert not sees_new_rows(lambda table: METHODS[name])


@pytest.mark.parametrize("kind", ["rows", "medians"])
def test_a_planted_leak_is_found(kind: str) -> None:
    def leaky(table: ClassTable) -> Method:
        def fit(train: ClassTable, *settings: Any) -> Fitted:
            if kind == "rows":
                return METHODS["cart"].fit(table, *settings)
            from sklearn.tree import DecisionTreeClassifier

            prepare = Preparation(table)  # medians of all rows, new ones included
            model = DecisionTreeClassifier(random_state=0).fit(prepare(train.X), train.y)
            return Fitted(lambda X: model.predict_proba(prepare(X)), model.classes_)

        return Method("leaky", "leaky", "rival", fit)

    assert sees_new_rows(leaky)


def test_splits_are_seeded_and_keep_shares() -> None:
    table = ClassTable("made up", np.arange(40.0)[:, None], np.repeat([0, 1], [32, 8]))
    train, new = split_rows(table, 3)
    again, _ = split_rows(table, 3)
    np.testing.assert_array_equal(train.X, again.X)
    assert (len(train.y), len(new.y), int(new.y.sum())) == (30, 10, 2)
    assert not set(train.X[:, 0]) & set(new.X[:, 0])
    assert not np.array_equal(train.X, split_rows(table, 4)[0].X)


def test_a_class_of_one_row_is_split_all_the_same() -> None:
    table = ClassTable("made up", np.arange(9.0)[:, None], np.array([0] * 8 + [1]))
    assert [len(part.y) for part in split_rows(table, 0)] == [6, 3]


# -- measures and statistics -----------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "seed"), list(product((2, 3), range(4))))
def test_measures_are_those_of_scikit_learn(n_classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, 40)]
    shares = rng.multinomial(4, np.ones(n_classes) / n_classes, len(y)) / 4  # ties and zeros
    given = shares.argmax(axis=1)
    labels = list(range(n_classes))
    if n_classes == 2:
        auc = metrics.roc_auc_score(y, shares[:, 1])
    else:
        auc = metrics.roc_auc_score(y, shares, multi_class="ovr", labels=labels)
    expected = {
        "accuracy": metrics.accuracy_score(y, given),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, given),
        "auc": auc,
        "log_loss": metrics.log_loss(y, shares, labels=labels),
    }
    assert measure(shares, y) == pytest.approx(expected)


def naive_signed_rank_test(differences: np.ndarray) -> float:
    """Try all signs: how often is the sum of ranks as far from its middle as that found?"""
    ranks = rankdata(np.abs(differences))
    middle = ranks.sum() / 2
    found = abs(ranks[differences > 0].sum() - middle)
    sums = [ranks[np.array(signs)].sum() for signs in product((False, True), repeat=len(ranks))]
    return float(np.mean([abs(total - middle) >= found - 1e-9 for total in sums]))


@pytest.mark.parametrize("seed", range(5))
def test_the_signed_rank_test_counts_signs(seed: int) -> None:
    differences = np.random.default_rng(seed).normal(0.4, 1.0, size=8)
    p = signed_rank_test(np.r_[differences, 0.0])  # equal scores are left out
    assert p == pytest.approx(naive_signed_rank_test(differences))


def test_ranks_share_ties_and_need_all_methods() -> None:
    scores = {
        "a": {"one": 0.9, "two": 0.5, "three": 0.1},
        "b": {"one": 0.8, "two": 0.5},
        "c": {"one": 0.7, "two": 0.6},
    }
    assert mean_ranks(scores) == ({"a": 1.75, "b": 2.25, "c": 2.0}, 2)


def test_methods_that_differ_are_in_no_common_group() -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.01, size=(4, 30))
    levels = {"a": 0.9, "b": 0.9, "c": 0.8, "d": 0.8}
    scores = {
        name: {f"table {k}": level + noise[row, k] for k in range(30)}
        for row, (name, level) in enumerate(levels.items())
    }
    assert sorted(map(sorted, alike_groups(scores))) == [["a", "b"], ["c", "d"]]


def test_gaps_are_those_of_the_paper() -> None:
    rows = [figures[2:] for figures in TABLE_7.values()]  # TAO and GUIDE had other rows
    assert [f"{gap:.1f}" for gap in relative_gaps(rows)] == ["5.2", "3.2", "1.4", "1.6", "3.4"]


# -- parts, resuming, failures ---------------------------------------------------------------------


def test_parts_are_all_the_work_and_nothing_twice() -> None:
    work = paper_work(["iris", "magic04"], ["optimal", "cart-tuned"], 1.0)
    parts = [one for k in range(1, 4) for one in part_of(work, f"{k}/3")]
    assert sorted(one.key for one in parts) == sorted(one.key for one in work)


def test_a_split_begins_with_its_largest_table(folder: Path) -> None:
    sizes = {"common": (60, 2), "long": (10**7, 1), "rare": (60, 2), "wide": (19_000, 2)}
    facts = {name: {"rows": rows, "features": each} for name, (rows, each) in sizes.items()}
    (folder / "manifest.json").write_text(json.dumps(facts))
    # Of the rows of a long table 20,000 are measured.
    assert largest_first(["common", "long", "rare", "wide"]) == ("wide", "long", "common", "rare")
    work = all_work(largest_first(facts), ["cart"], range(2), 1.0, [8])
    assert [(one.key.split, one.key.table) for one in work[3:5]] == [(0, "rare"), (1, "wide")]


def test_a_later_call_goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["bench", "new-rows", "--methods", "cart,cart-balanced", "--splits", "2"]
    call += ["--results", str(folder / "results")]
    assert main([*call, "--part", "1/2"]) == 0
    assert "6 fits to make" in capsys.readouterr().err
    kept = folder / "results" / "part-1-of-2.jsonl"
    lines = kept.read_text().splitlines()
    kept.write_text("\n".join([*lines[:-1], lines[-1][:20]]))  # killed while it wrote
    assert main(call) == 0
    assert "7 fits to make" in capsys.readouterr().err
    found = read_results(folder / "results")
    assert len(found) == 12
    assert {key.table for key in found if key.method == "cart-balanced"} == {"rare"}
    assert main(call) == 0
    assert "0 fits to make" in capsys.readouterr().err


def test_several_at_once_find_the_same(folder: Path) -> None:
    call = ["bench", "new-rows", "--methods", "cart", "--splits", "2"]
    assert main([*call, "--results", str(folder / "one")]) == 0
    assert main([*call, "--jobs", "2", "--results", str(folder / "two")]) == 0
    one, two = (read_results(folder / name) for name in ("one", "two"))
    assert {key: found.measures for key, found in one.items()} == {
        key: found.measures for key, found in two.items()
    }


@pytest.mark.parametrize("how", ["raises", "ends the process"])
def test_a_failure_is_kept_and_tried_again(
    how: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fit(*words: Any) -> Fitted:
        if how == "raises":
            raise ValueError("no tree today\nbecause of this")
        os._exit(1)

    broken = Method("CART", "CART", "rival", fit, own_process=how != "raises")
    found = {}
    with monkeypatch.context() as patch:
        patch.setattr(results_module, "METHODS", {"cart": broken})
        found = score(Work(Key("common", 0, "cart", 8), 5.0))
    words = {"raises": "ValueError: no tree today", "ends the process": "its process ended"}
    assert words[how] in found["error"]
    (folder / "kept.jsonl").write_text(json.dumps(found))
    assert read_results(folder) == {}
    assert list(read_failures(folder).values()) == [found["error"]]


# -- the page --------------------------------------------------------------------------------------


def test_the_page_says_what_was_asked_and_what_was_found(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    found = {}
    for k, split, method, leaves in product(
        range(12), range(2), ("cart", "cart-tuned", "optimal-cv"), (8, 16)
    ):
        key = Key(f"table-of-a-long-name-{k:02}", split, method, leaves)
        level = 0.8 + 0.03 * (method == "optimal-cv") + rng.normal(0, 0.002)
        values = {
            "accuracy": level,
            "balanced_accuracy": level,
            "auc": level,
            "log_loss": 1 - level,
        }
        found[key] = Result(key, values, leaves, 0.1, 3.0 + 4.0 * split, limit=7.0)
    failed = {Key(f"no-tree-{k}", 0, "streed", 16): "its process ended" for k in range(9)}
    write_page(found, failed, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert (tmp_path / "images" / "page.svg").is_file()
    assert "Fits of optimal trees end after 7 s" in text
    assert "took 5.0 s of it on average, with 0.1 s of the processor; 50 % of them" in text
    assert "STreeD failed in 9 fits, by table and most leaves: no-tree-0 (16), " in text
    assert max(map(len, text.splitlines())) <= 120
    asked = next(line for line in text.splitlines() if line.startswith("| accuracy, mean points"))
    least, measured, reached = (cell.strip() for cell in asked.split("|")[2:5])
    assert (least, reached) == ("+2.0", "yes")
    assert 2.8 < float(measured) < 3.2
    halves = [line for line in text.splitlines() if "half" in line and line.startswith("|")]
    assert [line.split("|")[2].strip() for line in halves] == ["6"] * 4
