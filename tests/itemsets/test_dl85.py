"""DL8 and DL8.5 against the paper's example, against their naive twins, and against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from provetree import DL85Classifier, ExactSearch, Tree, build_problem, verify
from testkit.naive_itemsets import NaiveItemsets, tree_cost
from testkit.random_itemsets import RandomDatabase, random_database

# Table 1 of the paper: A, B, C, class.
PAPER = np.array(
    [
        (0, 1, 1, 0),
        (1, 0, 1, 1),
        (0, 0, 1, 1),
        (0, 1, 0, 0),
        (1, 0, 0, 1),
        (0, 0, 0, 0),
        (0, 0, 1, 0),
        (1, 1, 0, 1),
        (0, 0, 0, 1),
        (0, 0, 1, 0),
        (0, 0, 0, 1),
    ]
)
ORDERS = ("information_gain", "information_gain_ascending", "data_order")


def shape_of(tree: Tree, node: int = 0) -> Any:
    if tree.feature[node] < 0:
        return None
    return (
        int(tree.feature[node]),
        shape_of(tree, int(tree.left[node])),
        shape_of(tree, int(tree.right[node])),
    )


def fitted(database: RandomDatabase, **options: Any) -> DL85Classifier:
    model = DL85Classifier(
        max_depth=database.max_depth,
        min_support=database.min_support,
        cost_matrix=database.cost_matrix,
        **options,
    )
    return model.fit(database.X, database.y, sample_weight=database.weights)


class TestTheExampleOfThePaper:
    def fit(self, algorithm: str, depth: int = 3) -> DL85Classifier:
        model = DL85Classifier(
            depth, branching="data_order", algorithm=algorithm, count_itemsets=True
        )
        return model.fit(PAPER[:, :3], PAPER[:, 3])

    def test_dl85_finds_the_tree_of_figure_1(self) -> None:
        # Row by row: a is pure, b is pure below not a, and c parts the rest.
        model = self.fit("dl8.5")
        assert shape_of(model.tree_) == (0, (1, (2, None, None), None), None)
        assert model.objective_ == 2
        assert model.status_ == "optimal"

    def test_dl85_visits_17_itemsets(self) -> None:
        # The paper counts distinct itemsets of the lattice, the empty one included.
        assert self.fit("dl8.5").counters_["itemsets_visited"] == 17

    def test_dl8_visits_the_lattice_but_for_the_itemset_no_row_has(self) -> None:
        # The lattice of Figure 2 has 27 itemsets; "abc", which no row has, is pruned.
        model = self.fit("dl8")
        assert model.counters_["itemsets_visited"] == 3**3 - 1
        assert model.objective_ == 2

    def test_the_bounds_of_figure_3(self) -> None:
        # At "not c" within a bound of 1, attribute a gives a tree of one error and b none.
        twin = naive_of_the_paper()
        below = twin._dl85(frozenset({(2, 0)}), 1)
        assert below[1:] == ((0, (1, None, None), None), 1)
        assert twin.cache[frozenset({(1, 0), (2, 0)})][1] == "no tree"

    def test_the_reuse_of_a_bound(self) -> None:
        # "not a, c" is first met with a bound of zero from "not a", and again from "c".
        twin = naive_of_the_paper()
        twin.dl85()
        itemset = frozenset({(0, 0), (2, 1)})
        assert twin.cache[itemset][:2] == (0, "no tree")
        assert twin.calls.count(itemset) == 2


def naive_of_the_paper() -> NaiveItemsets:
    classes = PAPER[:, 3].tolist()

    def errors(inside: list[int]) -> float:
        ones = sum(classes[i] for i in inside)
        return min(ones, len(inside) - ones)

    return NaiveItemsets(PAPER[:, :3].tolist(), classes, [1] * 11, 2, 3, 1, errors)


def check_against_the_twin(seed: int, **options: Any) -> None:
    rng = np.random.default_rng(seed)
    database = random_database(seed)
    algorithm = str(rng.choice(["dl8.5", "dl8"], p=[0.7, 0.3]))
    branching = str(rng.choice(ORDERS))
    partial = bool(rng.random() < 0.7)
    model = fitted(
        database,
        algorithm=algorithm,
        branching=branching,
        cache_partial_results=partial,
        count_itemsets=seed % 2 == 0,  # without, calls at the greatest depth take a short cut
        **options,
    )
    twin = database.naive(branching=branching, cache_partial_results=partial)
    cost, shape = twin.dl8() if algorithm == "dl8" else twin.dl85()
    scale = database.matrix_scale if database.matrix is not None else 1
    assert model.status_ == "optimal"
    assert model.objective_ == cost / scale == model.lower_bound_
    assert cost == twin.brute_force()
    if "memory_limit" not in options:
        assert shape_of(model.tree_) == shape
        assert model.counters_["calls"] == len(twin.calls)
        if seed % 2 == 0:
            assert model.counters_["itemsets_visited"] == len(set(twin.calls))
        assert model.counters_["cache_hits"] == twin.hits
        assert model.counters_["cached"] == len(twin.cache)
        assert model.counters_["evicted"] == 0
    assert tree_cost(shape_of(model.tree_), twin.rows, twin.leaf_cost) == cost


@pytest.mark.parametrize("block", range(15))
def test_same_search_as_the_twin(block: int) -> None:
    for seed in range(100 * block, 100 * (block + 1)):
        check_against_the_twin(seed)


@pytest.mark.parametrize("memory_limit", [0, 700, 2000, 5000])
def test_a_full_cache_changes_nothing(memory_limit: int) -> None:
    for seed in range(150):
        check_against_the_twin(10_000 + seed, memory_limit=memory_limit)


def test_entries_are_evicted() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (120, 12)), rng.integers(0, 2, 120)
    whole = DL85Classifier(4).fit(X, y)
    assert whole.counters_["evicted"] == 0
    for limit in (4_000, 20_000, 60_000):
        for algorithm in ("dl8.5", "dl8"):
            small = DL85Classifier(4, algorithm=algorithm, memory_limit=limit).fit(X, y)
            assert small.counters_["evicted"] > 0
            assert small.counters_["memory_peak"] <= limit
            assert (small.objective_, small.status_) == (whole.objective_, "optimal")


def test_same_cost_as_the_exact_search() -> None:
    # Larger tables than the twin stands, all switches.
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n_classes = int(rng.integers(2, 5))
        X = (rng.random((int(rng.integers(40, 150)), 9)) < rng.random(9)).astype(float)
        y = rng.integers(0, n_classes, len(X))
        y[:n_classes] = np.arange(n_classes)
        weights = rng.integers(1, 5, len(X)) if seed % 3 == 0 else None
        depth, support = int(rng.integers(2, 5)), int(rng.choice([1, 1, 5]))
        problem = build_problem(
            X,
            y,
            n_classes=n_classes,
            max_depth=depth,
            sample_weight=weights,
            min_samples_leaf=support,
        )
        optimum = ExactSearch().solve(problem)
        for branching in ORDERS:
            for algorithm, partial in (("dl8.5", True), ("dl8.5", False), ("dl8", True)):
                model = DL85Classifier(depth, support, branching, partial, algorithm)
                model.fit(X, y, sample_weight=weights)
                assert model.objective_ == optimum.cost
                report = verify(
                    model.tree_,
                    X,
                    y,
                    sample_weight=weights,
                    max_depth=depth,
                    min_samples_leaf=support,
                )
                assert report.ok
                assert report.cost == optimum.cost


def test_rows_that_cannot_be_parted_are_a_leaf() -> None:
    # Algorithm 2 as printed has no tree at all for such a table.
    for algorithm in ("dl8.5", "dl8"):
        model = DL85Classifier(2, algorithm=algorithm).fit([[1], [1], [1]], [0, 1, 1])
        assert (model.objective_, model.tree_.n_leaves, model.status_) == (1, 1, "optimal")


def test_no_limit_on_depth() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (40, 6))
    y = X.sum(axis=1) % 2
    assert DL85Classifier(5).fit(X, y).objective_ > 0
    model = DL85Classifier(None).fit(X, y)
    assert model.objective_ == 0
    assert DL85Classifier(None, min_support=8).fit(X, y).tree_.n_samples.min() >= 8


def test_sample_weights_are_copies_of_rows() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (30, 5)), rng.integers(0, 3, 30)
        counts = rng.integers(0, 3, 30)
        counts[np.unique(y, return_index=True)[1]] = 1
        one = DL85Classifier(3).fit(X, y, sample_weight=counts)
        other = DL85Classifier(3).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
        assert one.objective_ == other.objective_
        assert shape_of(one.tree_) == shape_of(other.tree_)
