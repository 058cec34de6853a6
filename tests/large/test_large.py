"""Tables of Dask: true bounds, exact counts, the same reading as in memory, and clear messages."""

from __future__ import annotations

import itertools
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from provetree import (
    ClusterError,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
)
from provetree.large import fit as large_fit
from provetree.large import search as large_search

#: No table fits into so little memory, so that the search goes part by part.
TINY = 1


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows, so that small tables have many of them."""
    monkeypatch.setattr(large_search, "_BLOCK", {})
    monkeypatch.setattr(large_search, "_DEEP_BLOCK", 15)
    monkeypatch.setattr(large_fit, "_SAMPLE", 40)


def random_table(seed: int) -> tuple[pd.DataFrame, pd.Series, pd.Series | None]:
    """Numbers with ties and missing values, categories that few rows have, perhaps weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 90))
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n).round(1),
            "b": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 6, n)),
            "c": rng.choice(["red", "green", "blue", "rare"], n, p=[0.4, 0.3, 0.28, 0.02]),
        }
    )
    if rng.random() < 0.3:
        X["c"] = X["c"].astype("category")
    y = pd.Series(np.where((X["a"] > 0) ^ (rng.random(n) < 0.2), "yes", "no"), name="y")
    w = pd.Series(rng.integers(0, 4, n).astype(float)) if rng.random() < 0.4 else None
    return X, y, w


def parts(table: Any, seed: int) -> Any:
    """A table of Dask; one of its partitions may be empty."""
    n = len(table)
    cuts = [0, n // 3, n // 3 if seed % 3 == 0 else n // 2, n]
    made = [table.iloc[a:b] for a, b in itertools.pairwise(cuts)]
    return dd.from_map(lambda part: part, made, meta=table.iloc[:0])


def errors_of(model: Any, X: Any, y: Any, w: Any) -> float:
    wrong = model.predict(X) != y.to_numpy()
    return float(wrong.sum() if w is None else w.to_numpy()[wrong].sum())


@pytest.mark.usefixtures("small_blocks")
def test_bounds_are_true_and_errors_are_counted_exactly() -> None:
    gaps = []
    for seed in range(30):
        X, y, w = random_table(seed)
        options = {"max_depth": 1 + seed % 3, "min_samples_leaf": 1 + 3 * (seed % 2)}
        exact = OptimalTreeClassifier(**options).fit(X, y, w)
        weights = None if w is None else parts(w, seed)
        large = OptimalTreeClassifier(max_memory=TINY, **options)
        large.fit(parts(X, seed), parts(y, seed), weights)
        assert large.lower_bound_ <= exact.objective_ <= large.objective_, seed
        assert large.status_ in ("optimal", "feasible")
        assert large.status_ == "feasible" or large.objective_ == exact.objective_, seed
        assert errors_of(large, X, y, w) == large.objective_, seed
        assert large.encoder_.categories == exact.encoder_.categories, seed
        counts = large.tree_.n_samples[large.tree_.feature < 0]
        assert counts.min() >= options["min_samples_leaf"], seed
        assert counts.sum() == (len(X) if w is None else int((w > 0).sum())), seed
        gaps.append(large.gap_)
    assert min(gaps) < 0.3


@pytest.mark.fuzz
@pytest.mark.usefixtures("small_blocks")
def test_thousands_of_bounds_are_true() -> None:
    for seed in range(30, 3000):
        X, y, w = random_table(seed)
        exact = OptimalTreeClassifier(max_depth=1 + seed % 3).fit(X, y, w)
        weights = None if w is None else parts(w, seed)
        large = OptimalTreeClassifier(max_depth=1 + seed % 3, max_memory=TINY)
        large.fit(parts(X, seed), parts(y, seed), weights)
        assert large.lower_bound_ <= exact.objective_ <= large.objective_, seed
        assert errors_of(large, X, y, w) == large.objective_, seed


def test_a_table_that_fits_has_the_tree_of_memory() -> None:
    for seed in range(4):
        X, y, w = random_table(seed)
        weights = None if w is None else parts(w, seed)
        large = OptimalTreeClassifier(max_depth=2).fit(parts(X, seed), parts(y, seed), weights)
        exact = OptimalTreeClassifier(max_depth=2).fit(X, y, w)
        assert large.status_ == "optimal"
        assert large.export_text() == exact.export_text()


def test_a_planted_tree_is_found_in_parts() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    truth = np.where(X[:, 0] <= 0.3, X[:, 1] > -0.2, X[:, 2] <= 0.5)
    y = truth ^ (rng.random(4000) < 0.1)
    large = OptimalTreeClassifier(max_depth=2, max_memory=TINY, n_jobs=2)
    large.fit(da.from_array(X, chunks=(900, 2)), da.from_array(y, chunks=500))
    exact = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert large.lower_bound_ <= exact.objective_ <= large.objective_
    assert large.objective_ <= 1.005 * exact.objective_


@pytest.mark.usefixtures("small_blocks")
def test_moving_splits_on_all_rows_improves_a_tree() -> None:
    """The sample says little, and all rows say more."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=3000), "b": rng.normal(size=3000)})
    y = pd.Series((X["a"] > 0.5) ^ (rng.random(3000) < 0.05))
    costs: list[float] = []
    large = OptimalTreeClassifier(max_depth=1, max_memory=TINY)
    large.fit(
        dd.from_pandas(X, npartitions=3),
        dd.from_pandas(y, npartitions=3),
        on_progress=lambda now: costs.append(now.cost),
    )
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0]


def test_predictions_of_dask_tables_are_arrays_of_dask() -> None:
    X, y, _ = random_table(0)
    model = OptimalTreeClassifier(max_depth=2).fit(X, y)
    far = parts(X, 0)
    assert isinstance(model.predict(far), da.Array)
    np.testing.assert_array_equal(model.predict(far).compute(), model.predict(X))
    np.testing.assert_array_equal(model.predict_proba(far).compute(), model.predict_proba(X))
    np.testing.assert_array_equal(model.apply(far).compute(), model.apply(X))
    numbers = X[["a", "b"]].to_numpy()
    other = OptimalTreeClassifier(max_depth=2).fit(numbers, y)
    array = da.from_array(numbers, chunks=(20, 1))
    assert other.predict(array).shape == (len(X),)
    np.testing.assert_array_equal(other.predict(array).compute(), other.predict(numbers))
    np.testing.assert_array_equal(
        other.predict_proba(array).compute(), other.predict_proba(numbers)
    )


def frames(*tables: pd.DataFrame) -> Any:
    return dd.from_map(
        lambda part: part, list(tables), meta=tables[0].iloc[:0], enforce_metadata=False
    )


LABELS = frames(*[pd.DataFrame({"y": [0, 1]})] * 2)["y"]
NUMBERS = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (
            frames(NUMBERS, NUMBERS.rename(columns={"b": "z"})),
            LABELS,
            "the partition 1 has a, z, and the partition 0 has a, b",
        ),
        (
            frames(NUMBERS, NUMBERS.astype({"b": str})),
            LABELS,
            "column 'b' holds category values in the partition 1, and number values",
        ),
        (
            frames(NUMBERS, NUMBERS),
            frames(*[pd.DataFrame({"y": [0.0, 1.0]}), pd.DataFrame({"y": [np.nan, 1.0]})])["y"],
            "Labels are missing in the partition 1 of y",
        ),
        (frames(NUMBERS, NUMBERS, NUMBERS), LABELS, "'y' must have the partitions of X, 3 of them"),
        (
            frames(NUMBERS, NUMBERS),
            frames(pd.DataFrame({"y": [0]}), pd.DataFrame({"y": [1]}))["y"],
            "The partition 0 has 2 rows of X and 1 labels",
        ),
        (frames(NUMBERS.iloc[:0], NUMBERS.iloc[:0]), LABELS, "."),
    ],
)
def test_bad_parts_are_named(X: Any, y: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        OptimalTreeClassifier().fit(X, y)


@pytest.mark.parametrize("memory", [None, TINY])
def test_a_part_may_have_nothing_of_a_column(memory: Any) -> None:
    """Then it says nothing of its type, whatever pandas calls it."""
    X, y, _ = random_table(1)
    n = len(X)
    for name, nothing in (("a", None), ("c", np.nan)):
        first, second = X.iloc[: n // 2], X.iloc[n // 2 :].astype({name: object})
        second = second.assign(**{name: nothing})
        labels = frames(*[pd.DataFrame({"y": part}) for part in (y[: n // 2], y[n // 2 :])])["y"]
        for parts_of in ([first, second], [second, first]):
            rows = frames(*parts_of)
            model = OptimalTreeClassifier(max_depth=1, max_memory=memory).fit(rows, labels)
            assert model.encoder_.categories[0] is None
            assert model.encoder_.categories[2] is not None
            assert model.score(rows, labels) == pytest.approx(1 - model.objective_ / n)


def test_tables_of_other_kinds_are_told() -> None:
    flat = da.from_array(np.arange(4.0), chunks=2)
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array instead"):
        OptimalTreeClassifier().fit(flat, flat > 1)
    words = frames(*[pd.DataFrame({"w": ["much", "more"]})] * 2)["w"]
    with pytest.raises(ValueError, match="The partition 0 has weights that are not numbers"):
        OptimalTreeClassifier().fit(frames(NUMBERS, NUMBERS), LABELS, words)
    with pytest.raises(TypeError, match="table of Dask was passed for X, but OptimalTreeRegressor"):
        OptimalTreeRegressor().fit(frames(NUMBERS, NUMBERS), LABELS)
    far = OptimalTreeClassifier(executor="dask", max_memory=TINY)
    with pytest.raises(ClusterError, match="needs an active client"):
        far.fit(frames(NUMBERS, NUMBERS), LABELS)


def test_numbers_and_actions_of_dask_tables_are_arrays_of_dask() -> None:
    rewards = pd.DataFrame({"wait": [1.0, 0.0], "act": [0.0, 1.0]})
    for model in (
        OptimalTreeRegressor(max_depth=1).fit(NUMBERS, [0.0, 1.0]),
        OptimalTreeRegressor(max_depth=1).fit(NUMBERS, [[0.0, 1.0], [1.0, 0.0]]),
        OptimalPolicyTree(max_depth=1).fit(NUMBERS, rewards),
    ):
        found = model.predict(frames(NUMBERS, NUMBERS))
        assert isinstance(found, da.Array)
        np.testing.assert_array_equal(found.compute(), np.concatenate([model.predict(NUMBERS)] * 2))


def test_labels_must_be_of_dask_too() -> None:
    with pytest.raises(TypeError, match="'y' must be a table or array of Dask where X is one"):
        OptimalTreeClassifier().fit(frames(NUMBERS), [0, 1])


@pytest.mark.parametrize(("name", "value"), [("alpha", 0.1), ("criterion", "gini")])
def test_what_needs_memory_says_so(name: str, value: Any) -> None:
    model = OptimalTreeClassifier(max_memory=TINY).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"The '{name}' parameter .* does not fit into memory"):
        model.fit(frames(NUMBERS, NUMBERS), LABELS)
