"""Branch-and-price and the whole engine against trying every tree and every labeling."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from provetree import ExactSearch, Limits, build_problem
from provetree.colgen.branch_and_price import BranchAndPrice
from provetree.colgen.candidates import CandidateSet
from provetree.colgen.cuts import Cuts
from provetree.colgen.engine import ColumnGeneration
from provetree.colgen.generation import Clock, Generation
from provetree.colgen.master import Master
from provetree.colgen.pricing import ExactPricing
from provetree.colgen.tree_columns import TreeColumns
from provetree.errors import InfeasibleError
from provetree.problem.constrained import constrained
from provetree.problem.side_constraints import SideConstraints
from testkit.colgen_cases import best_by_trying, best_plain_by_trying, cases, small_case


def search_of(case, *, form="upper", use_recursion=True, trees=False):
    model = case.model
    master = Master(model)
    cuts = Cuts(model, form)
    cuts.start(master)
    generation = Generation(
        model, master, cuts, ExactPricing(model, 2), None, Clock(None), cut_every=2
    )
    columns = TreeColumns(model, generation.clock) if trees else None
    return BranchAndPrice(generation, use_recursion=use_recursion, trees=columns)


@cache
def best_of_seed(seed, limits):
    """The optimum by trying everything, once for all ways to find it."""
    return best_by_trying(small_case(seed, depth=2, most=3, coupling=True, limits=limits))


def is_small(case, most=20_000):
    trees = float(np.prod(case.candidates.sizes.astype(float)))
    return trees * case.model.n_targets**case.candidates.n_leaves <= most


@pytest.mark.parametrize("form", ["none", "upper", "extra", "trees"])
@pytest.mark.parametrize("limits", [False, True])
def test_the_best_tree_under_coupling_constraints(form, limits):
    feasible = infeasible = branched = 0
    for seed, case in cases(70, depth=2, most=3, coupling=True, limits=limits):
        if not is_small(case, 4000):
            continue
        trees = form == "trees"
        search = search_of(case, form="none" if trees else form, trees=trees)
        search.run()
        wanted = best_of_seed(seed, limits)
        assert search.best_worth == wanted, seed
        assert search.proven, seed
        feasible += wanted is not None
        infeasible += wanted is None
        branched += search.nodes > 1
    assert feasible > 20
    assert infeasible >= 1
    assert branched > 5


def test_branch_and_price_alone_agrees_with_the_recursion():
    # The recursion is not used to bound, so that branching itself must find the tree.
    branched = 0
    for seed, case in cases(40, depth=2, most=4, limits=True):
        search = search_of(case, form="none", use_recursion=False)
        search.run()
        assert search.best_worth == best_plain_by_trying(case), seed
        branched += search.nodes > 1
    assert branched > 5


def test_the_bound_is_valid_at_every_moment():
    for seed, case in cases(40, depth=2, most=3, coupling=True):
        if not is_small(case, 5000):
            continue
        wanted = best_by_trying(case)
        if wanted is None:
            continue
        search = search_of(case, form="none", trees=seed % 2 == 0)
        seen = []
        process = search._process

        def watched(allowed, bound, process=process, search=search, seen=seen):
            seen.append(search.bound)
            return process(allowed, bound)

        search._process = watched
        search.run()
        assert min(seen, default=np.inf) >= wanted - 1e-6, seed


def engine_cases(n):
    for seed in range(n):
        rng = np.random.default_rng(seed)
        rows = int(rng.integers(6, 30))
        X = rng.integers(0, 5, (rows, 3)).astype(float)
        y = rng.integers(0, 2, rows)
        yield seed, X, y


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"variant": "original"},
        {"row_constraints": "extra"},
        {"row_constraints": "extra", "separation": "search"},
        {"integer_step": "mip"},
        {"integer_step": "diving"},
        {"heuristic": "random"},
        {"heuristic": "pool", "variant": "original"},
        {"merge_rows": False},
        {"candidates": "quantiles", "quantiles": 2},
    ],
    ids=str,
)
def test_every_way_proves_the_same_tree_of_the_candidates(settings):
    for seed, X, y in engine_cases(6):
        problem = build_problem(X, y, n_classes=2, max_depth=2)
        plain = {k: v for k, v in settings.items() if k in ("candidates", "quantiles")}
        wanted = ColumnGeneration(solve_master=False, **plain).solve(problem)
        found = ColumnGeneration(**settings).solve(problem)
        assert found.cost == wanted.cost, seed
        assert found.proof.candidate_optimal, seed
        assert found.proof.candidate_bound == found.cost
        assert found.lower_bound <= ExactSearch().solve(problem).cost
        assert found.status in ("candidate_optimal", "optimal")
        predicted = found.tree.predict(X)
        assert (predicted != y).sum() == found.cost


def test_all_splits_as_candidates_prove_the_optimum_of_all_trees():
    for seed, X, y in engine_cases(8):
        options = {"max_depth": 2, "n_classes": 2}
        if seed % 2:
            options |= {"alpha": 0.05, "min_samples_leaf": 2, "max_leaf_nodes": 3}
        problem = build_problem(X, y, **options)
        solution = ColumnGeneration(candidates="all", row_constraints="extra").solve(problem)
        assert solution.status == "optimal", seed
        assert solution.cost == solution.lower_bound == ExactSearch().solve(problem).cost, seed


def test_without_all_splits_nothing_is_claimed_about_all_trees():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    problem = build_problem(X, y, n_classes=2, max_depth=2)
    solution = ColumnGeneration(candidates=[(0, 0.0), (1, 0.0)]).solve(problem)
    optimum = ExactSearch().solve(problem).cost
    assert solution.cost > optimum
    assert solution.status == "candidate_optimal"
    assert solution.lower_bound <= optimum
    assert solution.proof.candidate_bound == solution.cost


def test_a_time_limit_keeps_a_tree_and_a_valid_bound():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    best = ColumnGeneration(solve_master=False, candidate_factor=3).solve(problem)
    for limit in (1e-6, 0.05):
        solution = ColumnGeneration(candidate_factor=3).solve(problem, Limits(time_limit=limit))
        assert solution.cost >= best.cost
        assert solution.proof.candidate_bound <= best.cost
        assert (solution.tree.predict(X) != y).sum() == solution.cost
    assert ColumnGeneration().solve(problem, Limits(time_limit=1e-6)).status == "time_limit"


def test_own_candidates_have_a_tree_at_any_moment():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    own = [(0, float(t)) for t in np.linspace(-1, 1, 9)]
    for least in (1, 30):
        problem = build_problem(X, y, n_classes=2, max_depth=3, min_samples_leaf=least)
        engine = ColumnGeneration(candidates=own)
        stopped = engine.solve(problem, Limits(time_limit=1e-9))
        assert stopped.status == "time_limit"
        assert stopped.proof.candidate_bound <= engine.solve(problem).cost <= stopped.cost


def test_a_mip_that_is_cut_off_is_told():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    problem = build_problem(X, y, n_classes=2, max_depth=3)
    settings = {"integer_step": "mip", "prove": False, "row_constraints": "none"}
    for ended, status in (
        ("solved", "feasible"),
        ("time_limit", "time_limit"),
        ("interrupted", "interrupted"),
    ):

        def without_tree(self, time_limit, ended=ended):
            return None, ended

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("provetree.colgen.master.Master.integer_solution", without_tree)
            solution = ColumnGeneration(**settings).solve(problem)
        assert solution.status == status
        assert not solution.proof.candidate_optimal


def test_ctrl_c_keeps_the_best_tree():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    problem = build_problem(X, y, n_classes=2, max_depth=2)

    def interrupted(*_):
        raise KeyboardInterrupt

    solution = ColumnGeneration().solve(problem, on_progress=interrupted)
    assert solution.status == "interrupted"
    best = ColumnGeneration().solve(problem)
    assert solution.proof.candidate_bound <= best.cost <= solution.cost


def test_constraints_that_cannot_be_met_are_named():
    X, y = np.zeros((4, 1)), np.array([0, 0, 1, 1])
    X[3] = 1.0
    problem = build_problem(X, y, n_classes=2, max_depth=1)
    asked = SideConstraints({1: Fraction(1)}, {1: Fraction(0)})
    with pytest.raises(InfeasibleError, match=r"recall of class 1, false positives of class 1"):
        ColumnGeneration().solve(constrained(problem, side=asked))


def test_one_class_one_row_and_no_columns():
    for X, y in (
        (np.zeros((3, 1)), np.array([0, 0, 0])),
        (np.array([[1.0]]), np.array([0])),
        (np.zeros((3, 1)), np.array([0, 1, 1])),
    ):
        problem = build_problem(X, y, n_classes=int(y.max()) + 1, max_depth=3)
        solution = ColumnGeneration().solve(problem)
        assert solution.status == "optimal"
        assert solution.cost == solution.lower_bound == problem.root_error
        assert solution.tree.n_splits == 0


def test_empty_candidate_sets_do_not_split():
    X, y = np.arange(8.0)[:, None], np.array([0, 1, 0, 1, 0, 1, 0, 1])
    problem = build_problem(X, y, n_classes=2, max_depth=2)
    solution = ColumnGeneration(candidates={1: [(0, 0.5)]}).solve(problem)
    assert solution.tree.n_splits == 1
    assert solution.proof.candidate_optimal
    assert ColumnGeneration(candidates=[]).solve(problem).tree.n_splits == 0


def test_unsplit_nodes_are_the_same_in_the_core():
    assert CandidateSet.of(1, [[]]).splits == (((-1, 0),),)
