"""The bound of bins: true for every table, exact where bins lose nothing, and not tried in vain."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from provetree import OptimalTreeClassifier
from provetree.large import binned as large_binned
from provetree.large import search as large_search
from provetree.large.binned import Binned, bins_for, search_on_bins
from provetree.large.bins import ColumnBins, Sketch, cuts_of, sketched
from provetree.large.passes import Reading
from provetree.large.table import DaskTable
from provetree.problem.prepare import prepare
from testkit.bins import most_rerouted_by_trying


def random_column(rng: np.random.Generator) -> tuple[Any, Any]:
    """Ties, heavy values, missing values and infinities, with whole weights."""
    n = int(rng.integers(1, 60))
    column = rng.normal(size=n).round(int(rng.integers(0, 3)))
    column[rng.random(n) < 0.3 * rng.random()] = 0.5
    column[rng.random(n) < 0.2 * rng.random()] = np.nan
    column[rng.random(n) < 0.05] = np.inf
    column[rng.random(n) < 0.05] = -np.inf
    return column, rng.integers(1, 5, n).astype(float)


def test_no_threshold_reroutes_more_than_is_said() -> None:
    nothing = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        column, weights = random_column(rng)
        if np.isnan(column).all():
            continue
        halves = [rng.random(len(column)) < 0.5, None]
        halves[1] = ~halves[0]
        n_bins = int(rng.integers(1, 9))
        most = int(rng.integers(2, 12))
        cuts = cuts_of([sketched(column[h], weights[h], most) for h in halves if h.any()], n_bins)
        parts = [ColumnBins.counted(cuts, column[h], weights[h]) for h in halves]
        bins = ColumnBins.together(parts)
        tried = most_rerouted_by_trying(column, weights, cuts)
        assert tried <= bins.most_rerouted, seed
        assert bins.most_rerouted <= max(weights[~np.isnan(column)].sum() / 2, 0), seed
        nothing += bins.most_rerouted == 0
    assert 20 < nothing < 280


def test_heavy_values_are_bins_of_their_own() -> None:
    column = np.concatenate([np.full(500, 3.0), np.linspace(0, 10, 500)])
    cuts = cuts_of([sketched(column, np.ones(1000), 50)], 20)
    bins = ColumnBins.counted(cuts, column, np.ones(1000))
    assert bins.weights.max() >= 500
    assert bins.most_rerouted <= 1000 / 20 / 2 + 10


def test_a_part_whose_values_are_all_missing() -> None:
    nothing = sketched(np.full(3, np.nan), np.ones(3), 4)
    cuts = cuts_of([nothing, Sketch(np.array([1.0]), np.array([2.0]))], 4)
    assert cuts.tolist() == [1.0]


def random_table(seed: int) -> tuple[pd.DataFrame, pd.Series, pd.Series | None]:
    """Columns of few and of many values, categories, missing values, perhaps weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 120))
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(int(rng.integers(0, 4))),
            "b": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 4, n)),
            "c": rng.choice(["red", "green", "blue"], n),
        }
    )
    if seed % 3 == 0:
        X.loc[rng.random(n) < 0.1, "c"] = None
    labels = ["no", "yes", "maybe"][: 2 + seed % 2]
    y = np.digitize(X["a"] + rng.normal(size=n) * rng.random(), [0.0, 0.8][: 1 + seed % 2])
    w = pd.Series(rng.integers(0, 4, n).astype(float)) if rng.random() < 0.4 else None
    return X, pd.Series(np.array(labels)[y], name="y"), w


def searched(seed: int, n_bins: int) -> tuple[Binned, Any]:
    X, y, w = random_table(seed)
    exact = OptimalTreeClassifier(max_depth=1 + seed % 3, max_leaf_nodes=2 + seed % 6)
    exact.fit(X, y, w)
    cut = len(X) // 3
    parts = [
        dd.from_map(lambda p: p, [table.iloc[:cut], table.iloc[cut:]], meta=table.iloc[:0])
        for table in (X, y, *([] if w is None else [w]))
    ]
    table = DaskTable(parts[0], parts[1], parts[2] if w is not None else None, "test")
    prepared = prepare(X, y, w, max_depth=1)
    limits = {"max_depth": 1 + seed % 3, "max_leaf_nodes": 2 + seed % 6}
    found = search_on_bins(
        table,
        Reading(prepared.encoder, prepared.classes),
        limits,
        n_bins,
        most_rows=10_000,
        until=math.inf,
        n_jobs=1,
    )
    assert found is not None
    return found, (exact, X, y, w)


def check_bins(seeds: range) -> list[float]:
    """Bounds hold; where nothing is lost they are the optimum. Returns bounds without the loss."""
    over = []
    for seed in seeds:
        found, (exact, X, y, w) = searched(seed, n_bins=2 + seed % 7)
        assert found.bound <= exact.objective_, seed
        wrong = found.tree.predict(exact.encoder_.transform(X)) != np.searchsorted(
            exact.classes_, y
        )
        errors = wrong.sum() if w is None else w.to_numpy()[wrong].sum()
        assert errors >= exact.objective_, seed
        # The tree of the bins makes on the rows the errors that it makes on the bins.
        assert errors - found.rerouted == pytest.approx(found.bound) or found.bound == 0, seed
        if found.rerouted == 0:
            assert found.bound == exact.objective_ == errors, seed
        over.append(found.bound + found.rerouted - exact.objective_)
    return over


def test_bounds_on_bins_are_true() -> None:
    over = check_bins(range(40))
    assert max(over) > 0  # what bins may lose has to be taken off
    assert min(over) == 0


@pytest.mark.fuzz
def test_thousands_of_bounds_on_bins_are_true() -> None:
    check_bins(range(40, 4000))


def test_too_many_rows_are_left() -> None:
    X, y, _ = random_table(1)
    table = DaskTable(dd.from_pandas(X, npartitions=2), dd.from_pandas(y, npartitions=2), None, "t")
    prepared = prepare(X, y, max_depth=1)
    reading = Reading(prepared.encoder, prepared.classes)
    options: dict[str, Any] = {"until": math.inf, "n_jobs": 1}
    assert search_on_bins(table, reading, {"max_depth": 1}, 8, most_rows=3, **options) is None


def of_few_values(n: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n, 4)).astype(float)
    return X, ((X[:, 0] > 2) ^ (X[:, 1] > 3)) ^ (rng.random(n) < 0.1)


def test_a_table_of_few_values_is_solved_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows merge, so blocks are not needed."""

    def never(*_: Any) -> None:
        raise AssertionError("blocks are of no use")

    monkeypatch.setattr(large_search, "solve_blocks", never)
    X, y = of_few_values(20_000)
    exact = OptimalTreeClassifier(max_depth=2).fit(X, y)
    large = OptimalTreeClassifier(max_depth=2, max_memory="1MB")
    large.fit(da.from_array(X, chunks=(3000, 2)), da.from_array(y, chunks=3000))
    assert large.status_ == "optimal"
    assert large.objective_ == exact.objective_ == large.lower_bound_
    assert large.counters_["merged_rows"] <= 2 * 6**4
    assert large.counters_["rerouted"] == 0


def test_bins_close_a_gap_that_blocks_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of few rows prove little; one column has many values, and rows merge in bins."""
    monkeypatch.setattr(large_search, "_BLOCK", {})
    monkeypatch.setattr(large_search, "_DEEP_BLOCK", 40)
    monkeypatch.setattr(large_binned, "FEW_VALUES", 50)
    X, y = of_few_values(20_000)
    X = X[:, :2]
    X[:, 1] += np.random.default_rng(1).random(len(X))
    exact = OptimalTreeClassifier(max_depth=2).fit(X, y)
    large = OptimalTreeClassifier(max_depth=2, max_memory="1MB")
    told: list[float] = []
    arrays = da.from_array(X, chunks=(3000, 2)), da.from_array(y, chunks=3000)
    large.fit(*arrays, on_progress=lambda now: told.append(now.lower_bound))
    assert large.counters_["rerouted"] > 0
    assert large.lower_bound_ <= exact.objective_ <= large.objective_
    assert told == sorted(told)
    assert large.gap_ < 0.3 * (1 - told[1] / large.objective_)


def test_bins_that_cannot_help_are_not_tried() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 6))
    prepared = prepare(X, rng.integers(0, 2, 3000), max_depth=2)
    assert bins_for(prepared, 3, 1e6, gap=None) is None  # too many values
    assert bins_for(prepared, 3, 1e6, gap=1e4) is None  # rows do not merge
    assert bins_for(prepared, 3, 1e6, gap=1.0) is None  # more bins than there may be
    assert bins_for(prepared, 3, 1e6, gap=0.0) is None
    few = prepare(X[:, :1].round(1), rng.integers(0, 2, 3000), max_depth=2)
    assert bins_for(few, 3, 1e6, gap=None) is not None
