"""Sums that are too many to be kept: the same optimum as the search that keeps them all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import provetree.estimators.optimal_tree as estimator
from provetree import OptimalTreeClassifier, Progress, _core, verify
from provetree.problem.pairs import ranked_sums
from provetree.problem.prepare import Prepared, prepare
from provetree.problem.ratios import ranked_ratios
from provetree.search.engine import ExactSearch
from provetree.search.streamed import StreamedSearch
from provetree.solution import Limits
from testkit.core_calls import KERNELS
from testkit.pair_cases import check, random_case


@pytest.mark.parametrize("chunk", range(8))
def test_streamed_trees_are_the_best_of_the_family(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimator, "MOST_CELLS", 0)
    monkeypatch.setitem(StreamedSearch.__init__.__kwdefaults__, "few", 1 + chunk % 3)
    monkeypatch.setitem(StreamedSearch.__init__.__kwdefaults__, "room", (0, 200, 2**20)[chunk % 3])
    seeds = [s for s in range(chunk * 50, chunk * 50 + 50) if is_flat(s)]
    trees = [check(seed) for seed in seeds]
    assert len(seeds) > 30
    assert sum(len(tree.combinations) for tree in trees) > 5


def is_flat(seed: int) -> bool:
    return bool(random_case(seed)["limits"]["max_depth"] <= 2)


def table_of(seed: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """A table with ties, missing values and weights; large enough for several rounds."""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(30, 250)), int(rng.integers(3, 7))
    X = rng.integers(0, int(rng.choice([6, 50, 1000])), (n, p)) / rng.choice([1.0, 10.0, 0.04], p)
    y = (X[:, 0] / X[:, 0].max() > X[:, 1] / X[:, 1].max()).astype(int)
    y = np.where(rng.random(n) < 0.3, rng.integers(0, int(rng.choice([2, 3])), n), y)
    if seed % 3 == 0:
        X[rng.random(X.shape) < 0.1] = np.nan
    options = {
        "max_depth": 2,
        "splits": ["pairs", "ratios"][seed % 2],
        "max_leaf_nodes": 3 if seed % 7 == 0 else None,
        "min_samples_leaf": 5 if seed % 5 == 0 else 1,
        "alpha": 0.02 if seed % 4 == 0 else 0.0,
        "sample_weight": rng.integers(1, 4, n).astype(float) if seed % 4 == 1 else None,
    }
    return X, y, options


def in_a_stream(seed: int) -> tuple[Prepared, Prepared]:
    X, y, options = table_of(seed)
    kept, aside = prepare(X, y, **options), prepare(X, y, **options, most_cells=0)
    assert aside.aside
    assert not aside.problem.combinations
    return kept, aside


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("switches", [0, _core.SWITCHES["lipschitz"]])
def test_the_same_cost_and_size_as_with_all_sums_kept(seed: int, switches: int) -> None:
    kept, aside = in_a_stream(seed)
    whole = ExactSearch().solve(kept.problem)
    options = {
        "few": 1 + seed % 4,
        "room": (0, 3000)[seed % 2],
        "sample": (9, 2**13)[seed // 2 % 2],
    }
    search = StreamedSearch(aside, **options, switches=switches)
    found = search.solve(aside.problem)
    assert found.status == "optimal"
    assert (found.cost, found.lower_bound) == (whole.cost, whole.cost)
    assert found.tree.n_splits == whole.tree.n_splits
    assert found.counters["sums"] == len(aside.aside) >= len(search.searched.combinations)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_takes_the_same_steps(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name in (kernel, "baseline"):
        monkeypatch.setenv("PROVETREE_KERNEL", name)
        aside = in_a_stream(3)[1]
        found.append(StreamedSearch(aside, few=1).solve(aside.problem))
    assert found[0].tree == found[1].tree
    assert found[0].counters == found[1].counters


@pytest.mark.parametrize("seed", range(30))
def test_sums_are_ranked_as_python_ranks_them(seed: int) -> None:
    """The stump of each column says whether rows that are equal but for rounding are."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    X = rng.integers(1, 5, (n, 3)) / 10  # 0.1 + 0.2 is 0.3
    if seed % 3 == 0:  # about as much as rounding
        X[:, 0] += rng.integers(0, 3, n) * 10.0 ** rng.integers(-17, -9)
    if seed % 4 == 0:
        X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, 2, n)
    X[0], X[1] = [0.1, 0.2, 0.3], [0.3, 0.1, 0.2]
    aside = prepare(X, y, max_depth=2, splits="ratios", most_cells=0)
    search = _Look(aside)
    for errors, about in zip(*search.stumps(), strict=True):
        if about >= 0:
            assert errors in search.expected(about), (seed, about)


class _Look:
    """The stumps of all sums, by the core and from the ranks that Python gives them."""

    def __init__(self, aside: Prepared) -> None:
        from provetree.search.streamed import _Run

        self.aside = aside
        self.run = _Run(StreamedSearch(aside), aside.problem, Limits(), None)

    def stumps(self) -> tuple[list[int], list[int]]:
        relaxed, _, about = _core.sum_stumps(
            self.aside.problem.table, self.run.sums, min_samples_leaf=1, time_limit=60.0
        )
        return relaxed.tolist(), about.tolist()

    def expected(self, about: int) -> set[int]:
        """The fewest errors with missing sums first, and with them last."""
        problem, one = self.aside.problem, self.aside.aside[about]
        rank = ranked_ratios if "Ratio" in type(one).__name__ else ranked_sums
        ranked = rank(self.run.rows, [one])
        ranks = ranked.ranks[0].astype(int)
        orders = [ranks]
        if ranked.has_missing[0]:
            orders.append(np.where(ranks == ranks.max(), -1, ranks))
        return {self._fewest(order, problem.classes, problem.weights) for order in orders}

    @staticmethod
    def _fewest(order: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> int:
        fewest = np.iinfo(np.int32).max // 2
        for rank in np.unique(order)[:-1]:
            sides = [np.bincount(classes[m], weights[m]) for m in (order <= rank, order > rank)]
            fewest = min(fewest, int(sum(side.sum() - side.max() for side in sides)))
        return fewest


def large() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(1500, 12))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int) ^ (rng.random(1500) < 0.3)


def test_a_proof_that_is_stopped_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = large()
    monkeypatch.setattr(estimator, "MOST_CELLS", 0)
    best = OptimalTreeClassifier(max_depth=2, splits="pairs").fit(X, y)
    assert best.status_ == "optimal"
    assert best.history_[-1].lower_bound == best.objective_
    for limit in (1e-6, 1e-3, 0.05, 0.2):
        cut = OptimalTreeClassifier(max_depth=2, splits="pairs", time_limit=limit).fit(X, y)
        assert cut.lower_bound_ <= best.objective_ <= cut.objective_
        flat = OptimalTreeClassifier(max_depth=1, splits="pairs", time_limit=limit).fit(X, y)
        assert flat.lower_bound_ <= flat.objective_
        assert cut.status_ == ("optimal" if cut.gap_ == 0 else "time_limit")


def test_progress_tells_bounds_of_all_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = large()
    monkeypatch.setattr(estimator, "MOST_CELLS", 0)
    moments: list[Progress] = []
    clf = OptimalTreeClassifier(max_depth=2, splits="pairs").fit(X, y, on_progress=moments.append)
    assert clf.status_ == "optimal"
    for told in (moments, clf.history_):
        assert told[-1].cost == told[-1].lower_bound == clf.objective_
        assert max(now.lower_bound for now in told) == clf.objective_
        costs = [now.cost for now in told]
        assert costs == sorted(costs, reverse=True)


def test_a_proof_may_be_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pure noise: the proof takes fifty times as long as until it first tells of itself."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(5000, 20)), rng.integers(0, 2, 5000)
    monkeypatch.setattr(estimator, "MOST_CELLS", 0)
    monkeypatch.setitem(StreamedSearch.__init__.__kwdefaults__, "few", 1)

    def stop(now: Progress) -> None:
        if now.lower_bound > 0:  # only a proof of all sums has bounds
            raise KeyboardInterrupt

    clf = OptimalTreeClassifier(max_depth=2, splits="pairs")
    with pytest.warns(match="interrupted"):
        clf.fit(X, y, on_progress=stop)
    assert clf.status_ == "interrupted"
    assert 0 < clf.lower_bound_ < clf.objective_
    # What is told is the cost of a tree that is at hand.
    assert clf.history_[-1].cost == clf.objective_ == verify(clf.tree_, X, y).cost


def test_what_needs_all_sums_at_once_keeps_them(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table_of(2)[:2]
    monkeypatch.setattr(estimator, "MOST_CELLS", 0)
    plain = OptimalTreeClassifier(max_depth=2, splits="pairs").fit(X, y)
    for options in ({"max_work": 10**9}, {"refine_pairs": True}, {"max_depth": 3}):
        kept = OptimalTreeClassifier(**{"max_depth": 2, "splits": "pairs"} | options).fit(X, y)
        assert "rounds" not in kept.counters_
        assert kept.objective_ <= plain.objective_
    assert "rounds" in plain.counters_
