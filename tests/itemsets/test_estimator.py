"""The face of DL85Classifier: input, options, limits, and scikit-learn's checks."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas as pd
import polars as pl
import pytest

from provetree import DL85Classifier, ItemsetSearch, build_problem
from provetree.options import ParameterError
from testkit.sklearn_checks import all_checks

NOT_BOOLEAN = "DL85Classifier needs columns of booleans, or of 0 and 1, and column"


@pytest.mark.filterwarnings("default")
@all_checks(DL85Classifier())
def test_checks_pass_or_meet_numbers(estimator: Any, check: Any) -> None:
    # The checks fit tables of numbers; the one sentence that points to the binarizer is all
    # that may go wrong.
    failure: BaseException | None = None
    try:
        check(estimator)
    except SkipTest:
        raise
    except Exception as error:
        failure = error
        words = [str(failure)]
        while failure := failure.__cause__ or failure.__context__:
            words.append(str(failure))
        assert NOT_BOOLEAN in " ".join(words)


def table(seed: int = 0, n: int = 400, columns: int = 40) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, columns))
    return X, (X[:, 0] ^ X[:, 1] ^ (rng.random(n) < 0.3)).astype(int)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[0.5], [1.0]], "column 0 holds 0.5: use provetree.Binarizer"),
        ([[0.0], [np.nan]], "column 0 holds missing values"),
        ([["a"], ["b"]], "column 0 holds 'a'"),
        (pd.DataFrame({"age": [1, 2]}), "column 'age' holds 2.0"),
        ([[0, -1], [1, 1]], "column 1 holds -1.0"),
    ],
)
def test_other_columns_are_refused(X: Any, words: str) -> None:
    with pytest.raises(ValueError, match=f"{NOT_BOOLEAN.removesuffix(' column')} {words}"):
        DL85Classifier().fit(X, [0, 1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_depth", -1),
        ("min_support", 0),
        ("branching", "gini"),
        ("algorithm", "dl9"),
        ("cache_partial_results", "yes"),
        ("leaf_cost", 3),
        ("memory_limit", -1),
        ("time_limit", 0),
    ],
)
def test_bad_parameters(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of DL85Classifier must be"):
        DL85Classifier(**{name: value}).fit([[0], [1]], [0, 1])


def test_booleans_of_all_libraries() -> None:
    rows = [[True, False], [False, True], [True, True], [False, False]]
    y = ["a", "b", "b", "a"]
    tables = [
        np.array(rows),
        np.array(rows, dtype=float),
        pd.DataFrame(rows, columns=["p", "q"]),
        pd.DataFrame(rows, columns=["p", "q"]).astype("boolean"),
        pl.DataFrame(rows, schema=["p", "q"], orient="row"),
        rows,
    ]
    for X in tables:
        model = DL85Classifier(1).fit(X, y)
        assert model.objective_ == 0
        assert model.predict(X).tolist() == y
    assert model.export_text().splitlines()[0] == "x1 <= 0.5"


def test_min_support_as_a_share() -> None:
    X, y = table(1, n=50, columns=6)
    assert DL85Classifier(3, min_support=0.2).fit(X, y).tree_.n_samples.min() >= 10


def test_class_weight() -> None:
    X, y = [[0], [0], [0], [1]], [0, 0, 1, 1]
    assert DL85Classifier(1).fit(X, y).predict([[0]]).tolist() == [0]
    heavy = DL85Classifier(1, class_weight={1: 3}).fit(X, y)
    assert (heavy.predict([[0]]).tolist(), heavy.objective_) == ([1], 2)


@pytest.mark.parametrize("algorithm", ["dl8.5", "dl8"])
def test_time_limit_gives_a_tree_and_a_bound(algorithm: str) -> None:
    X, y = table()
    model = DL85Classifier(6, algorithm=algorithm, time_limit=0.2).fit(X, y)
    assert model.status_ == "time_limit"
    assert model.objective_ == (model.predict(X) != y).sum()
    assert model.objective_ < min(np.bincount(y))
    assert 0 <= model.lower_bound_ <= model.objective_
    assert model.history_[-1].cost == model.objective_


def test_the_bound_of_rows_that_are_alike() -> None:
    # Equal rows of both classes cannot be parted: known before any search.
    X, y = table(2, n=300, columns=30)
    X, y = np.vstack([X, X[:40]]), np.concatenate([y, 1 - y[:40]])
    model = DL85Classifier(5, time_limit=0.05).fit(X, y)
    assert 40 <= model.lower_bound_ <= model.objective_


INTERRUPT = """
import time, warnings
import numpy as np
from provetree import DL85Classifier, _core
from testkit.interrupts import ctrl_c_within
rng = np.random.default_rng(0)
X = rng.integers(0, 2, (3000, 40))
y = X[:, 0] ^ X[:, 1] ^ (rng.random(3000) < 0.3)
DL85Classifier(1).fit(X, y)

def slow(weights):
    time.sleep(0.001)
    return float(weights.sum() - weights.max())

with ctrl_c_within(_core, "itemset_search"), warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    clf = DL85Classifier(6, leaf_cost=LEAF_COST, time_limit=3600).fit(X, y)
assert clf.status_ == "interrupted", clf.status_
assert "The search was interrupted" in str(caught[0].message)
assert (clf.predict(X) != y).sum() == clf.objective_
assert clf.lower_bound_ <= clf.objective_
"""


@pytest.mark.parametrize("leaf_cost", ["None", "slow"])
def test_ctrl_c_ends_the_search_not_the_program(leaf_cost: str) -> None:
    # A process of its own: not every way to run the tests lets signals through.
    code = INTERRUPT.replace("LEAF_COST", leaf_cost)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr.decode()


def test_two_fits_at_once() -> None:
    X, y = table(3, n=200, columns=14)
    expected = DL85Classifier(4).fit(X, y)
    found: list[DL85Classifier] = []
    threads = [
        threading.Thread(target=lambda: found.append(DL85Classifier(4).fit(X, y))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [model.tree_ for model in found] == [expected.tree_] * 3


def test_progress_and_its_errors() -> None:
    X, y = table()
    problem = build_problem(X, y, n_classes=2, max_depth=4, merge=False)
    seen: list[Any] = []
    from provetree import Limits

    ItemsetSearch().solve(problem, Limits(0.3), seen.append)
    assert seen
    assert all(moment.lower_bound <= moment.cost for moment in seen)

    def fail(moment: Any) -> None:
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        ItemsetSearch().solve(problem, Limits(5.0), fail)


def test_merged_problems_give_the_same() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (40, 4)), rng.integers(0, 2, 40)
        weights = rng.integers(1, 4, 40) if seed % 2 else None
        given = {"n_classes": 2, "max_depth": 3, "min_samples_leaf": 3, "sample_weight": weights}
        one, other = (build_problem(X, y, merge=merge, **given) for merge in (True, False))
        assert one.n_rows < other.n_rows
        assert ItemsetSearch().solve(one).cost == ItemsetSearch().solve(other).cost


def test_problems_of_other_kinds_are_refused() -> None:
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])
    with pytest.raises(
        ValueError, match=r"two values, and column 0 has 3: use provetree\.Binarizer"
    ):
        ItemsetSearch().solve(build_problem(X, y, n_classes=2, max_depth=2))
    X, y = table(n=50, columns=4)
    for option in ({"alpha": 0.1}, {"max_leaf_nodes": 3}):
        problem = build_problem(X, y, n_classes=2, max_depth=3, **option)
        with pytest.raises(ValueError, match="no penalty for splits and no limit on leaves"):
            ItemsetSearch().solve(problem)
