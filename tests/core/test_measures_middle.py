"""Problems of other losses that are too large for the naive twin.

Every kernel, whatever is switched off and with however many threads, must come to one cost; the
tree must have that cost; and no tree of CART within the same limits may be better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from testkit.core_calls import ALL_OFF, EAGER_IMPROVEMENT, KERNELS, OFF
from testkit.measure_calls import (
    TESTING,
    measure_search,
    measure_table,
    penalty_units,
    tolerance,
)
from testkit.naive_depth_two import NaiveDepthTwo
from testkit.naive_measures import CLASS_LOSSES, LOSSES, Leaves, MeasureCase, walk_measured_tree
from testkit.random_measures import clear_case, middle_case

QUICK = 3
BLOCK = 20
BLOCKS = 10


def runs(seed: int) -> Iterator[tuple[str, int, int]]:
    """Kernel, switches and threads: each kernel as it is, and parts off with one of them."""
    for kernel in KERNELS:
        yield kernel, 0, 1
    rng = np.random.default_rng(seed)
    for turn, bit in enumerate((*OFF.values(), ALL_OFF, *TESTING)):
        if rng.random() < 0.5:
            yield KERNELS[(seed + turn) % len(KERNELS)], bit, 1
    yield "auto", 0, 3


def cart_cost(case: MeasureCase, unit_penalty: float) -> float:
    """The least cost of some trees that CART grows within the limits."""
    leaves = Leaves(case)
    least = math.inf
    limits = {
        "max_depth": case.max_depth,
        "max_leaf_nodes": case.max_splits + 1,
        "min_samples_leaf": case.min_samples_leaf,
        "random_state": 0,
    }
    if case.loss in CLASS_LOSSES:
        models = [DecisionTreeClassifier(criterion=c, **limits) for c in ("gini", "entropy")]
    else:
        criteria = ["squared_error", *(["absolute_error"] * (case.loss == "absolute_error"))]
        models = [DecisionTreeRegressor(criterion=c, **limits) for c in criteria]
    X = case.ranks.T.astype(np.float32)
    y = case.classes if case.targets is None else case.targets - case.targets.mean(axis=0)
    for model in models:
        ends = model.fit(X, y, sample_weight=case.weights).apply(X)
        groups = [np.flatnonzero(ends == end).tolist() for end in np.unique(ends)]
        cost = math.fsum(leaves.cost(rows) for rows in groups)
        least = min(least, cost + unit_penalty * (len(groups) - 1))
    return least


def check(loss: str, seed: int) -> None:
    case = middle_case(loss, seed)
    table = measure_table(case)
    unit, penalty = float(table.cost_unit), penalty_units(case, table)
    costs = set()
    for kernel, switches, n_jobs in runs(seed):
        found = measure_search(case, table, kernel=kernel, switches=switches, n_jobs=n_jobs)
        where = f"{loss} {seed}, kernel {kernel}, switches {switches:b}, {n_jobs} threads"
        assert found["status"] == "optimal", where
        assert found["lower_bound"] == found["cost"], where
        leaves, splits = walk_measured_tree(case, found)
        own = leaves + splits * penalty * unit
        assert abs(own - found["cost"] * unit) <= tolerance(case), where
        costs.add(found["cost"])
        assert len(costs) == 1, where
    greedy = cart_cost(case, penalty * unit)
    assert costs.pop() * unit <= greedy + tolerance(case), (loss, seed)


@pytest.mark.parametrize("loss", LOSSES)
def test_kernels_switches_and_threads_agree_and_cart_is_no_better(loss: str) -> None:
    for seed in range(QUICK):
        check(loss, seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("loss", LOSSES)
def test_more_of_them(loss: str, block: int) -> None:
    for seed in range(QUICK + block * BLOCK, QUICK + (block + 1) * BLOCK):
        check(loss, seed)


#: Absolute error has no running sums.
RUNNING = tuple(loss for loss in LOSSES if loss != "absolute_error")


def check_depth_two(loss: str, seed: int) -> None:
    case = clear_case(loss, seed) if seed % 2 else middle_case(loss, seed, max_depth=2)
    table = measure_table(case)
    unit, penalty = float(table.cost_unit), penalty_units(case, table)
    least = NaiveDepthTwo(case, penalty * unit).solve()
    for kernel in KERNELS:
        cost = measure_search(case, table, kernel=kernel)["cost"] * unit
        assert cost == pytest.approx(least, rel=0, abs=tolerance(case)), (loss, seed, kernel)


@pytest.mark.parametrize("loss", RUNNING)
def test_depth_two_equals_all_pairs_of_splits(loss: str) -> None:
    """Two hundred rows and more: sums are taken over blocks of rows, which smaller tables lack."""
    for seed in range(2):
        check_depth_two(loss, seed)


def test_best_splits_at_the_end_of_a_run_of_equal_targets() -> None:
    check_depth_two("squared_error", 73)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(10))
@pytest.mark.parametrize("loss", RUNNING)
def test_more_depth_twos(loss: str, block: int) -> None:
    for seed in range(2 + 100 * block, 2 + 100 * (block + 1)):
        check_depth_two(loss, seed)


def binary_case(seed: int) -> MeasureCase:
    """Squared error on columns of few values, as STreeD can have them."""
    case = middle_case("squared_error", seed)
    ranks = np.minimum(case.ranks, 5)
    assert case.targets is not None
    return replace(
        case,
        ranks=ranks,
        values=tuple(
            values[: int(own.max()) + 1] for own, values in zip(ranks, case.values, strict=True)
        ),
        targets=np.ascontiguousarray(case.targets[:, :1]),
        weights=np.ones(case.n_rows, dtype=np.int64),
        max_splits=2**case.max_depth - 1,
        min_samples_leaf=1,
        penalty=0.0,
    )


@pytest.mark.fuzz
def test_streed_is_never_better_and_nearly_always_as_good() -> None:
    """Another program on the same splits; on one of these tables its tree is not the best."""
    pystreed = pytest.importorskip("pystreed")
    alike = 0
    for seed in range(100):
        case = binary_case(seed)
        assert case.targets is not None
        y = case.targets[:, 0]
        spread = y.std() or 1.0
        X = [own <= rank for own in case.ranks for rank in np.unique(own)[:-1]]
        model = pystreed.STreeDRegressor("regression", max_depth=case.max_depth)
        predicted = model.fit(np.array(X, dtype=np.int32).T, (y - y.mean()) / spread).predict(
            np.array(X, dtype=np.int32).T
        )
        theirs = float((((y - y.mean()) / spread - predicted) ** 2).sum()) * spread**2
        table = measure_table(case)
        ours = measure_search(case, table)["cost"] * float(table.cost_unit)
        rounding = 1e-6 * theirs + 1e-9 * spread**2 * len(y)
        assert ours <= theirs + rounding, seed
        alike += ours >= theirs - rounding
    assert alike >= 98


@pytest.mark.parametrize("loss", LOSSES)
def test_the_bound_from_targets_holds(loss: str) -> None:
    """Whenever the work is over, the bound is at most the optimum, which the whole proof tells."""
    used = raised = 0
    for seed in range(8):
        case = middle_case(loss, seed, max_depth=3)
        table = measure_table(case)
        switches = OFF["bits"] | OFF["improvement"]
        whole = measure_search(case, table, switches=switches, max_work=20_000_000)
        if whole["status"] != "optimal":
            continue
        for work in (2_000, 20_000, 100_000, 500_000):
            switches = EAGER_IMPROVEMENT | OFF["bits"] | OFF["start"]
            found = measure_search(case, table, switches=switches, max_work=work)
            assert found["lower_bound"] <= whole["cost"] <= found["cost"], (seed, work)
            assert (found["status"] == "optimal") == (found["lower_bound"] == found["cost"])
            used += found["counters"]["targets"] > 0
            raised += found["status"] == "work_limit" and found["lower_bound"] > 0
    assert used >= 5
    assert raised >= 1


@pytest.mark.parametrize(("loss", "depth"), [("gini", 4), ("squared_error", 4), ("gini", 5)])
def test_a_deep_proof_has_a_bound_long_before_it_ends(loss: str, depth: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 1000))
    score = X[0] * X[1] + rng.normal(size=1000)
    numbers = loss == "squared_error"
    case = replace(
        middle_case(loss, 0),
        ranks=np.ascontiguousarray(X.argsort().argsort().astype(np.uint32)),
        values=tuple(np.sort(X)),
        classes=np.zeros(1000, np.int32) if numbers else (score > 0).astype(np.int32),
        weights=np.ones(1000, dtype=int),
        counts=np.ones(1000, dtype=np.int64),
        n_classes=1 if numbers else 2,
        targets=score[:, None] if numbers else None,
        max_depth=depth,
        max_splits=2**depth - 1,
        min_samples_leaf=1,
        penalty=0.0,
    )
    found = measure_search(case, measure_table(case), max_work=200_000_000)
    assert found["status"] == "work_limit"
    assert found["counters"]["targets"] >= 1
    assert found["cost"] // 100 <= found["lower_bound"] < found["cost"]
