"""The relaxation against the full LP over all paths, its multipliers, its bound, its cuts."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from provetree.colgen.cpsat import separate_rows
from provetree.colgen.cuts import Cuts
from provetree.colgen.generation import Clock, Generation, is_integral, tree_of
from provetree.colgen.integer_step import recursion
from provetree.colgen.master import Master
from provetree.colgen.pricing import (
    Allowed,
    ExactPricing,
    dual_bound,
    reduced_costs,
)
from testkit.colgen_cases import (
    all_paths,
    cases,
    cpsat_solver,
    full_lp,
    needs_cpsat,
    rows_of_path,
    small_case,
)


def generation_of(case, form, separation="routes", *, best=2):
    model = case.model
    everything = Allowed.everything(model)
    start = recursion(model, everything)
    if start is None:
        return None
    master = Master(model)
    master.add_paths(model.tree_paths(start))
    cuts = Cuts(model, form, separation)
    cuts.start(master)
    pricing = ExactPricing(model, best)
    return Generation(model, master, cuts, pricing, None, Clock(None), cut_every=2)


@pytest.mark.parametrize("form", ["none", "lower", "upper", "equality", "all"])
def test_the_master_has_the_value_of_the_full_lp(form):
    tried = 0
    for seed, case in cases(40, depth=2):
        generation = generation_of(case, form)
        result = generation.solve(Allowed.everything(case.model))
        wanted = full_lp(case, form)
        value = result.solution.value * case.model.unit
        size = 1e-6 * max(1.0, abs(wanted))
        assert value == pytest.approx(wanted, abs=size), seed
        assert result.bound * case.model.unit >= wanted - size, seed
        assert result.bound * case.model.unit == pytest.approx(wanted, abs=100 * size), seed
        tried += 1
    assert tried > 25


@pytest.mark.parametrize("limits", [False, True])
def test_the_master_with_coupling_rows_has_the_value_of_the_full_lp(limits):
    feasible = infeasible = 0
    for seed, case in cases(60, depth=2, coupling=True, limits=limits):
        generation = generation_of(case, "upper")
        if generation is None:
            continue
        result = generation.solve(Allowed.everything(case.model))
        wanted = full_lp(case, "upper")
        if wanted is None:
            assert result.status == "infeasible", seed
            infeasible += 1
        else:
            assert result.status == "optimal", seed
            value = result.solution.value * case.model.unit
            assert value == pytest.approx(wanted, rel=1e-6, abs=1e-6), seed
            feasible += 1
    assert feasible > 15
    assert infeasible > 3


def test_at_the_end_no_path_of_all_has_a_positive_reduced_cost():
    for seed, case in cases(30, depth=2):
        generation = generation_of(case, "equality")
        result = generation.solve(Allowed.everything(case.model))
        cost = reduced_costs(case.model, result.solution.duals, all_paths(case.model))
        assert cost.max() <= 1e-5, seed
        # Columns in use have reduced cost zero.
        used = generation.master.paths.take(result.solution.x > 1e-6)
        assert reduced_costs(case.model, result.solution.duals, used) == pytest.approx(0, abs=1e-5)


def test_the_bound_of_any_multipliers_is_above_every_tree():
    rng = np.random.default_rng(3)
    for seed, case in cases(25, depth=2):
        generation = generation_of(case, "upper")
        everything = Allowed.everything(case.model)
        duals = generation.solve(everything).solution.duals
        best = case.model.evaluate(recursion(case.model, everything))[0]
        for _ in range(5):
            noise = rng.normal(size=len(duals.gamma)) * 3
            shifted = type(duals)(
                duals.alpha,
                duals.gamma + noise,
                duals.item_price,
                duals.route_price,
                duals.coupling,
                duals.offset,
                False,
            )
            # Straight from the definition, over all paths.
            cost = reduced_costs(case.model, shifted, all_paths(case.model))
            leaves = all_paths(case.model).leaf
            largest = np.array(
                [cost[leaves == leaf].max() for leaf in range(2**case.candidates.depth)]
            )
            link = generation.master.link_candidate
            bound = dual_bound(case.model, shifted, largest, link, everything)
            assert bound * case.model.unit >= best - 1e-6, seed


def test_an_integral_solution_without_row_constraints_keeps_them():
    # Theorem 3.2: (1c) is implied by (1b), (1d) and integrality.
    seen = 0
    for seed, case in cases(60, depth=2):
        generation = generation_of(case, "none")
        result = generation.solve(Allowed.everything(case.model))
        x, ended = generation.master.integer_solution(np.inf)
        assert ended == "solved", seed
        tree = tree_of(case.model, generation.master, x)
        assert tree is not None, seed
        paths = case.model.tree_paths(tree)
        follows = np.zeros(case.problem.n_rows, dtype=int)
        for leaf, path in zip(paths.leaf.tolist(), paths.candidates.tolist(), strict=True):
            follows[rows_of_path(case, leaf, path)] += 1
        assert (follows == 1).all(), seed
        seen += is_integral(result.solution)
    assert seen > 5


@pytest.mark.parametrize("separation", ["routes", "search", "cpsat"])
def test_extra_cuts_are_valid_and_close_the_gap(separation):
    if separation == "cpsat":
        needs_cpsat()
    improved = 0
    for seed, case in cases(30 if separation != "cpsat" else 12, depth=3, most=3):
        if case.candidates.n_paths > 3000:
            continue
        best = case.model.evaluate(recursion(case.model, Allowed.everything(case.model)))[0]
        without = generation_of(case, "none").solve(Allowed.everything(case.model))
        generation = generation_of(case, "extra", separation)
        if separation == "cpsat":
            generation.cuts.with_cpsat = partial(separate_rows, solver=cpsat_solver())
        result = generation.solve(Allowed.everything(case.model))
        value = result.solution.value * case.model.unit
        size = 1e-6 * max(1, abs(best))
        assert value >= best - size, seed  # no cut takes a tree away
        assert value <= without.solution.value * case.model.unit + size
        improved += value < without.solution.value * case.model.unit - size
        if separation == "routes":
            # With all routes the relaxation is the convex hull of the trees.
            assert value == pytest.approx(best, rel=1e-6, abs=1e-6), seed
    assert improved > 2


def test_routes_follow_one_path_of_every_tree():
    rng = np.random.default_rng(5)
    for seed, case in cases(25, depth=3, most=3):
        generation = generation_of(case, "extra")
        generation.solve(Allowed.everything(case.model))
        core = case.model.items.core
        if core.n_routes == 0:
            continue
        for _ in range(20):
            chosen = np.array([rng.integers(0, n) for n in case.candidates.sizes], dtype=np.int32)
            leaves = np.arange(case.candidates.n_leaves, dtype=np.int32)
            paths = np.ascontiguousarray(chosen[case.candidates.path_nodes])
            _, routes = core.route_incidence(leaves, paths, 0)
            assert np.array_equal(np.sort(routes), np.arange(core.n_routes)), seed


def test_own_separation_search_finds_the_optimum_of_model_8():
    needs_cpsat()
    compared = 0
    for seed, case in cases(24, depth=3, most=4):
        generation = generation_of(case, "none")
        result = generation.solve(Allowed.everything(case.model))
        positive = result.solution.x > 0
        paths = generation.master.paths.take(positive)
        values = np.ascontiguousarray(result.solution.x[positive])
        own = generation.cuts.search_rows(paths, values)
        theirs = separate_rows(case.model, paths, values, solver=cpsat_solver())
        assert bool(own["rows"]) == bool(theirs), seed
        if theirs:
            places = generation.cuts._places
            buckets = places.buckets(case.candidates, np.array([theirs[-1], own["rows"][0]]))
            first = case.model.items.add_unlabelled(buckets)
            activity, _ = case.model.items.core.activity(paths.leaf, paths.candidates, values)
            assert activity[first] == pytest.approx(activity[first + 1], abs=1e-4), seed
            assert activity[first + 1] == pytest.approx(own["values"][0], abs=1e-9), seed
            compared += 1
    assert compared > 3


def test_numerical_trouble_is_solved_from_scratch_and_counted():
    case = small_case(3, depth=2)
    generation = generation_of(case, "upper")
    wanted = generation.solve(Allowed.everything(case.model)).solution.value
    generation.master.forget_basis()
    assert generation.master.resolves == 1
    again = generation.solve(Allowed.everything(case.model))
    assert again.solution.value == pytest.approx(wanted)
