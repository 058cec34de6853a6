"""Pricing against all paths: the core's enumeration, CP-SAT's models, and the heuristics."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from provetree.colgen.candidates import (
    CandidateSet,
    all_candidates,
    quantile_candidates,
    run_cart,
)
from provetree.colgen.cpsat import CpSatPricing
from provetree.colgen.cuts import Cuts
from provetree.colgen.integer_step import recursion
from provetree.colgen.items import build_items
from provetree.colgen.master import Duals, Master, TimeUpError
from provetree.colgen.paths import PathModel
from provetree.colgen.pricing import (
    Allowed,
    ExactPricing,
    PoolPricing,
    RandomPricing,
    reduced_costs,
)
from provetree.problem.problem import build_problem
from provetree.problem.side_constraints import SideConstraints
from testkit.colgen_cases import (
    Case,
    all_paths,
    best_plain_by_trying,
    cases,
    cpsat_solver,
    needs_cpsat,
)


def random_duals(case, rng, *, routes=True):
    """Multipliers as a master could have them, and some of each kind."""
    model = case.model
    sizes = case.candidates.sizes[case.candidates.path_nodes]
    size = model.whole / model.unit / 4 + 1
    item_price = rng.normal(size=model.items.n_items) * size / 8
    item_price[rng.random(len(item_price)) < 0.6] = 0.0
    n_routes = model.items.core.n_routes if routes else 0
    route_price = np.where(rng.random(n_routes) < 0.5, 0, rng.normal(size=n_routes) * size / 8)
    coupling = np.array(
        [
            rng.normal()
            if row.has_low and row.has_high
            else abs(rng.normal()) * (1 if row.has_high else -1)
            for row in model.rows
        ]
    )
    return Duals(
        rng.normal(size=case.candidates.n_leaves) * size / 4,
        rng.normal(size=int(sizes.sum())) * size / 4,
        item_price,
        route_price,
        coupling.reshape(len(model.rows)),
        0.0,
        False,
    )


def random_allowed(case, rng):
    everything = Allowed.everything(case.model)
    candidate, target = everything.candidate.copy(), everything.target.copy()
    offsets = case.candidates.offsets
    for low, high in pairwise(offsets.tolist()):
        off = rng.random(high - low) < 0.3
        off[rng.integers(0, high - low)] = False
        candidate[low:high][off] = 0
    for row in target:
        off = rng.random(len(row)) < 0.3
        off[rng.integers(0, len(row))] = False
        row[off] = 0
    return Allowed(candidate, target)


def add_some_routes(case, rng):
    """Routes from a random fractional solution."""
    paths = all_paths(case.model)
    some = paths.take(rng.random(len(paths)) < 0.5)
    if len(some):
        case.model.items.core.separate_routes(
            some.leaf, some.candidates, rng.random(len(some)), 0, 0.0, 5
        )


def best_of_all_paths(case, duals, allowed):
    """Largest reduced cost of each leaf, straight from the definition."""
    paths = all_paths(case.model)
    totals = case.model.totals(paths)
    usable = case.model.allowed(totals) & (allowed.target[paths.leaf, paths.target] != 0)
    nodes = case.candidates.path_nodes[paths.leaf]
    flat = case.candidates.offsets[nodes] + paths.candidates
    usable &= (allowed.candidate[flat] != 0).all(axis=1)
    cost = np.where(usable, reduced_costs(case.model, duals, paths), -np.inf)
    return paths, cost


@pytest.mark.parametrize("per_target", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_enumeration_finds_the_best_paths(depth, per_target):
    compared = 0
    for seed, case in cases(30, depth=depth, most=4, limits=True, coupling=True):
        if case.candidates.n_paths > 3000:
            continue
        rng = np.random.default_rng(seed)
        add_some_routes(case, rng)
        for allowed in (Allowed.everything(case.model), random_allowed(case, rng)):
            duals = random_duals(case, rng)
            priced = ExactPricing(case.model, 3, per_target).price(duals, allowed)
            paths, cost = best_of_all_paths(case, duals, allowed)
            size = 1e-9 * max(1.0, case.model.whole / case.model.unit)
            for leaf in range(case.candidates.n_leaves):
                most = float(cost[paths.leaf == leaf].max())
                found = float(priced.largest[leaf])
                assert found == pytest.approx(max(most, 1e-6), abs=size), seed
                # The best few are really the best, each path once.
                if not per_target:
                    of_leaf = paths.leaf == leaf
                    keys = [tuple(p) for p in paths.candidates[of_leaf].tolist()]
                    by_path: dict[tuple[int, ...], float] = {}
                    for key, value in zip(keys, cost[of_leaf].tolist(), strict=True):
                        by_path[key] = max(by_path.get(key, -np.inf), value)
                    wanted = sorted((v for v in by_path.values() if v > 1e-6), reverse=True)[:3]
                    got = np.sort(priced.reduced_cost[priced.paths.leaf == leaf])[::-1]
                    assert got == pytest.approx(wanted, abs=size), seed
            # What is claimed of a path is what it costs.
            again = reduced_costs(case.model, duals, priced.paths)
            assert priced.reduced_cost == pytest.approx(again, abs=size), seed
            compared += 1
    assert compared > 20


@pytest.mark.parametrize("per_target", [False, True])
def test_cp_sat_and_the_enumeration_find_the_same_reduced_cost(per_target):
    needs_cpsat()
    compared = 0
    for seed, case in cases(14, depth=2, most=3, limits=True, coupling=True):
        rng = np.random.default_rng(seed)
        if case.model.unit > 1:  # weights of 2**29 do not fit the papers' scaling
            continue
        allowed = random_allowed(case, rng)
        duals = random_duals(case, rng, routes=False)
        own = ExactPricing(case.model, 1, per_target).price(duals, allowed)
        pricing = CpSatPricing(case.model, per_target, solver=cpsat_solver())
        theirs = pricing.price(duals, allowed)
        for leaf in range(case.candidates.n_leaves):
            mine = own.reduced_cost[own.paths.leaf == leaf]
            other = theirs.reduced_cost[theirs.paths.leaf == leaf]
            assert max(mine, default=0.0) == pytest.approx(max(other, default=0.0), abs=2e-3), seed
            assert theirs.largest[leaf] >= max(mine, default=0.0) - 1e-6, seed
        compared += 1
    assert compared > 5


def test_heuristics_find_paths_of_positive_reduced_cost_only():
    found = 0
    for seed, case in cases(15, depth=2, most=4):
        rng = np.random.default_rng(seed)
        duals = random_duals(case, rng, routes=False)
        allowed = random_allowed(case, rng)
        pool = PoolPricing(case.model, rng)
        for pricing in (RandomPricing(case.model, rng), pool, pool):
            priced = pricing.price(duals, allowed)
            assert priced.largest is None
            again = reduced_costs(case.model, duals, priced.paths)
            assert (again > 0).all()
            assert again == pytest.approx(priced.reduced_cost)
            nodes = case.candidates.path_nodes[priced.paths.leaf]
            flat = case.candidates.offsets[nodes] + priced.paths.candidates
            assert (allowed.candidate[flat] != 0).all()
            assert (allowed.target[priced.paths.leaf, priced.paths.target] != 0).all()
            found += len(priced.paths)
        assert pool._pool is None or len(pool._pool) <= pool.pool_size
    assert found > 50


def test_pricing_and_recursion_stop_when_no_time_is_left():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 4)), rng.integers(0, 2, 3000)
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    cart = run_cart(problem, 1, 1.0, 0)
    candidates = quantile_candidates(problem, cart, per_column=10)
    items = build_items(problem, candidates)
    model = PathModel(problem, items, SideConstraints())
    case = Case(problem, candidates, model, SideConstraints())
    everything = Allowed.everything(model)
    with pytest.raises(TimeUpError):
        ExactPricing(model, 1).price(random_duals(case, rng), everything, 0.0)
    with pytest.raises(TimeUpError):
        recursion(model, everything, 0.0)


def test_the_recursion_finds_the_best_tree_of_all():
    compared = infeasible = 0
    for seed, case in cases(120, depth=2, most=3, limits=True):
        tree = recursion(case.model, Allowed.everything(case.model))
        wanted = best_plain_by_trying(case)
        if wanted is None:
            assert tree is None, seed
            infeasible += 1
            continue
        worth, keeps = case.model.evaluate(tree)
        assert keeps, seed
        assert worth == wanted, seed
        compared += 1
    assert compared > 60


def test_the_recursion_at_depth_three():
    compared = 0
    for seed, case in cases(60, depth=3, most=2, limits=True):
        if np.prod(case.candidates.sizes.astype(float)) > 3000:
            continue
        tree = recursion(case.model, Allowed.everything(case.model))
        assert case.model.evaluate(tree) == (best_plain_by_trying(case), True), seed
        compared += 1
    assert compared > 15


def test_columns_and_cuts_added_in_place_give_the_same_master_as_a_new_one():
    for seed, case in cases(20, depth=2):
        model = case.model
        paths = all_paths(model)
        rng = np.random.default_rng(seed)
        items = rng.permutation(model.items.n_items)[:4].tolist()
        tree = recursion(model, Allowed.everything(model))
        one, two = Master(model), Master(model)
        one.add_paths(model.tree_paths(tree))
        one.add_cuts(items[:2], [], "upper")
        one.solve()
        one.add_paths(paths)
        one.add_cuts(items[2:], [], "upper")
        two.add_cuts(items, [], "upper")
        two.add_paths(model.tree_paths(tree))
        two.add_paths(paths)
        assert one.n_columns == two.n_columns
        assert one.solve().value == pytest.approx(two.solve().value), seed
        assert Cuts(model, "all").start(two) is None


@pytest.mark.parametrize("options", [{}, {"min_samples_leaf": 4}, {"alpha": 0.05}])
def test_the_recursion_over_many_thresholds_of_few_columns(options):
    # What nearby thresholds were found to be worth bounds the next one.
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 2)).round(1)
        y = (X[:, 0] * X[:, 1] + rng.normal(size=40) > 0).astype(np.int64)
        weight = rng.integers(1, 4, 40).astype(float) if seed % 2 else None
        problem = build_problem(X, y, n_classes=2, max_depth=2, sample_weight=weight, **options)
        splits = [split for split in all_candidates(problem).splits[0] if split[0] >= 0]
        chosen = [[splits[i] for i in rng.permutation(len(splits))[:9]] for _ in range(3)]
        candidates = CandidateSet.of(2, chosen, with_pass=bool(options))
        model = PathModel(problem, build_items(problem, candidates), SideConstraints())
        case = Case(problem, candidates, model, SideConstraints())
        tree = recursion(model, Allowed.everything(model))
        assert model.evaluate(tree) == (best_plain_by_trying(case), True), seed
