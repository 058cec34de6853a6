"""The tuning path."""

from __future__ import annotations

import math
import multiprocessing
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from provetree import OptimalTreeClassifier, tuning_path
from provetree.selection import path, time_shares


def table(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    X["d"] = rng.choice(["u", "v", "w"], n)
    X.loc[::9, "a"] = np.nan
    noise = rng.random(n) < 0.15
    y = np.where((X["b"] > 0) ^ (X["d"] == "u") ^ noise, "yes", "no")
    return X, y


def test_scores_are_those_of_separate_fits() -> None:
    X, y = table()
    path = tuning_path(X, y, max_depth=2, cv=4)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    assert [point.n_leaves for point in path.points] == [1, 2, 3, 4]
    for point in path.points:
        clf = OptimalTreeClassifier(max_depth=2, max_leaf_nodes=point.n_leaves)
        scores = cross_val_score(clf, X, y, cv=folds)
        assert point.cv_score == pytest.approx(scores.mean())
        assert point.cv_error == pytest.approx(scores.std(ddof=1) / 2)
        fitted = clf.fit(X, y)
        assert (point.errors, point.status) == (fitted.objective_, "optimal")
        assert point.tree == fitted.tree_
        assert point.train_score == pytest.approx(fitted.score(X, y))


def test_choices() -> None:
    X, y = table()
    path = tuning_path(X, y, max_depth=3, cv=5)
    best = max(point.cv_score for point in path.points)
    assert path.best.cv_score == best
    least = best - path.best.cv_error
    chosen = path.one_standard_error
    assert chosen.cv_score >= least
    assert all(p.cv_score < least for p in path.points if p.n_leaves < chosen.n_leaves)
    assert chosen.n_leaves <= path.best.n_leaves


def test_without_cross_validation() -> None:
    path = tuning_path(*table(), max_depth=2, cv=None)
    assert all(math.isnan(point.cv_score) for point in path.points)
    assert path.n_folds == 0


def test_weights_count_in_training_and_scores() -> None:
    X, y = table()
    doubled = tuning_path(X, y, np.full(len(y), 2.0), max_depth=2, cv=KFold(3))
    single = tuning_path(X, y, max_depth=2, cv=KFold(3))
    for two, one in zip(doubled.points, single.points, strict=True):
        assert two.errors == 2 * one.errors
        assert two.cv_score == pytest.approx(one.cv_score)


def test_processes_give_the_same() -> None:
    X, y = table()
    alone = tuning_path(X, y, max_depth=2, cv=3)
    with joblib.parallel_config(backend="loky", n_jobs=2):
        spread = tuning_path(X, y, max_depth=2, cv=3)
    assert spread == alone


@pytest.mark.parametrize("late", [False, True])
def test_processes_start_before_the_time_is_shared(
    late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that take too long are not waited for: one search comes after the other."""
    waited: list[float] = []

    class Starts:
        def __init__(self, n_jobs: int, timeout: float) -> None:
            waited.append(timeout)

        def __call__(self, tasks: Any) -> None:
            assert [task[0] for task in tasks] == [time_shares._load] * 2
            if late:
                raise multiprocessing.TimeoutError

    asked: list[int | None] = []

    class InTurn(joblib.Parallel):
        def __init__(self, n_jobs: int | None) -> None:
            asked.append(n_jobs)
            super().__init__(n_jobs=1)

    monkeypatch.setattr(time_shares, "Parallel", Starts)
    monkeypatch.setattr(path, "Parallel", InTurn)
    X, y = table()
    found = tuning_path(X, y, max_depth=1, cv=3, time_limit=600.0, n_jobs=2)
    assert (waited, asked) == ([pytest.approx(200.0)], [1 if late else 2])
    assert found == tuning_path(X, y, max_depth=1, cv=3)


def test_on_a_dask_cluster_of_processes() -> None:
    distributed = pytest.importorskip("distributed")
    X, y = table()
    alone = tuning_path(X, y, max_depth=2, cv=3)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        with joblib.parallel_config(backend="dask"):
            spread = tuning_path(X, y, max_depth=2, cv=3)
        workers = len(client.scheduler_info()["workers"])
    assert spread == alone
    assert workers == 2
