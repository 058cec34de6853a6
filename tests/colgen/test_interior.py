"""Interior points: against scipy on small linear programs, against the full LP over all paths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csc_array, random_array

from provetree import _core
from provetree.colgen import generation as generation_module
from provetree.colgen import interior as interior_module
from provetree.colgen.cuts import Cuts
from provetree.colgen.engine import ColumnGeneration
from provetree.colgen.generation import Clock, Generation
from provetree.colgen.integer_step import recursion
from provetree.colgen.interior import Pull, solve_interior
from provetree.colgen.master import Master, TimeUpError
from provetree.colgen.pricing import Allowed, ExactPricing
from provetree.colgen.proximal import Proximal
from provetree.problem.problem import build_problem
from testkit.colgen_cases import cases, full_lp, small_case


def test_the_gram_matrix_is_that_of_numpy():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        matrix = csc_array(random_array((7, 12), density=0.4, rng=rng))
        weights = rng.uniform(0, 2, 12)
        out = np.zeros((7, 7))
        matrix.sort_indices()
        starts, rows = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
        _core.colgen.add_gram(starts, rows, matrix.data, weights, out)
        dense = matrix.toarray()
        assert np.allclose(np.triu(out), np.triu(dense @ np.diag(weights) @ dense.T))
        with pytest.raises(ValueError, match="rise"):
            _core.colgen.add_gram(starts, rows[::-1].copy(), matrix.data, weights, out)


def test_small_linear_programs_have_the_value_that_scipy_finds():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(1, 8)), int(rng.integers(8, 20))
        matrix = rng.integers(-1, 3, (m, n)).astype(float)
        matrix[-1] = 1.0  # bounded
        if m > 2 and seed % 3 == 0:
            matrix[0] = matrix[1]  # a row that follows from another
        right = matrix @ (rng.uniform(0, 2, n) * (rng.random(n) < 0.5))  # degenerate now and then
        cost = rng.integers(-5, 6, n).astype(float)
        wanted = linprog(cost, A_eq=matrix, b_eq=right, bounds=(0, None))
        assert wanted.status == 0
        point = solve_interior(csc_array(matrix), right, cost, gap=1e-7)
        assert point.accurate, seed
        assert cost @ point.x == pytest.approx(wanted.fun, abs=1e-4), seed
        assert right @ point.multiplier == pytest.approx(wanted.fun, abs=1e-4), seed


def test_dense_columns_change_nothing(monkeypatch):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        matrix = rng.integers(-1, 3, (5, 30)).astype(float)
        matrix[-1] = 1.0
        right, cost = matrix @ rng.uniform(0, 2, 30), rng.integers(-5, 6, 30).astype(float)
        values = []
        for share in (0.0, 0.7, 2.0):  # all columns, some, none
            monkeypatch.setattr(interior_module, "_HEAVY", share)
            monkeypatch.setattr(interior_module, "_BLOCK", 4)
            point = solve_interior(csc_array(matrix), right, cost, gap=1e-7)
            assert point.accurate
            values.append(cost @ point.x)
        assert values == pytest.approx([values[0]] * 3, abs=1e-5), seed


def test_a_pull_gives_the_optimum_of_the_quadratic_program():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(1, 6)), int(rng.integers(6, 20))
        matrix = rng.integers(-1, 3, (m, n)).astype(float)
        matrix[-1] = 1.0
        right, cost = matrix @ rng.uniform(0, 2, n), rng.integers(-5, 6, n).astype(float)
        pull = Pull(rng.normal(size=m), 10 ** rng.uniform(-2, 1, m))
        point = solve_interior(csc_array(matrix), right, cost, gap=1e-9, pull=pull)
        assert point.accurate, seed
        # The optimality conditions of max right @ y - strength @ (y - centre)**2 / 2.
        moved = pull.strength * (point.multiplier - pull.centre)
        assert np.allclose(matrix @ point.x + moved, right, atol=1e-4), seed
        assert np.all(cost - matrix.T @ point.multiplier >= -1e-4), seed
        assert point.x @ (cost - matrix.T @ point.multiplier) == pytest.approx(0, abs=1e-3), seed
        # From another start the multipliers are the same; they are unique here.
        for x in (point.x, point.x + rng.uniform(0, 0.1, n)):
            near = Pull(pull.centre, pull.strength, x, 10 ** rng.uniform(-4, -1))
            again = solve_interior(csc_array(matrix), right, cost, gap=1e-9, pull=near)
            assert again.accurate, seed
            assert np.allclose(again.multiplier, point.multiplier, atol=1e-3), seed


def test_a_larger_error_may_be_allowed():
    rng = np.random.default_rng(0)
    matrix = np.vstack([rng.integers(-1, 3, (4, 30)), np.ones((1, 30))]).astype(float)
    right, cost = matrix @ rng.uniform(0, 2, 30), rng.integers(-5, 6, 30).astype(float)
    for error in (1e-2, 1e-6):
        point = solve_interior(csc_array(matrix), right, cost, gap=1.0, error=error)
        missed = np.linalg.norm(right - matrix @ point.x) / (1 + np.linalg.norm(right))
        assert point.accurate
        assert missed <= error


def test_bounds_of_the_proximal_method_are_valid_and_close():
    close = tried = 0
    for seed, case in cases(40, depth=2):
        generation = interior_generation(case, "upper")
        if generation is None:
            continue
        bound = Proximal(generation, Allowed.everything(case.model)).run(1e-4, 0.0)
        bound *= case.model.unit
        wanted = full_lp(case, "upper")
        size = max(1.0, abs(wanted), case.model.whole)
        assert bound >= wanted - 1e-6 * size, seed
        tried += 1
        close += bound <= wanted + 1e-3 * size
    assert tried > 20
    assert close >= 0.9 * tried


def interior_generation(case, form, separation="routes"):
    model = case.model
    start = recursion(model, Allowed.everything(model))
    if start is None:
        return None
    master = Master(model)
    master.add_paths(model.tree_paths(start))
    cuts = Cuts(model, form, separation)
    cuts.start(master)
    return Generation(model, master, cuts, ExactPricing(model, 3), None, Clock(None))


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("form", ["none", "lower", "upper", "equality", "all"])
def test_the_master_has_the_value_of_the_full_lp(form, listed, monkeypatch):
    if not listed:  # columns and cuts one by one, as for large candidate sets
        monkeypatch.setattr(generation_module, "LISTED_PATHS", 0)
        monkeypatch.setattr(generation_module, "MOST_START_CUTS", 0)
    tried = gave_up = 0
    for seed, case in cases(25, depth=2):
        generation = interior_generation(case, form)
        result = generation.solve_interior(Allowed.everything(case.model))
        if result is None:
            gave_up += 1
            continue
        wanted = full_lp(case, form)
        size = 1e-5 * max(1.0, abs(wanted), case.model.whole)
        assert result.solution.value * case.model.unit == pytest.approx(wanted, abs=size), seed
        assert result.bound * case.model.unit >= wanted - size / 10, seed
        assert result.bound * case.model.unit == pytest.approx(wanted, abs=size), seed
        tried += 1
    assert tried > 15
    assert gave_up <= 2


def test_the_engine_proves_the_same_with_both_methods():
    for seed in range(12):
        case = small_case(seed, depth=2)
        if case is None:
            continue
        found = [
            ColumnGeneration(
                candidates="quantiles", quantiles=3, master_method=method, start_runs=3
            ).solve(case.problem)
            for method in ("simplex", "interior")
        ]
        first, second = found
        assert first.cost == second.cost, seed
        assert first.proof.candidate_optimal
        assert second.proof.candidate_optimal
        size = 1e-5 * max(1.0, case.problem.n_samples * float(case.problem.weights.max()))
        assert second.proof.master_value == pytest.approx(first.proof.master_value, abs=size), seed


@pytest.mark.parametrize("listed", [False, True])
def test_a_tree_with_the_value_of_the_relaxation_is_its_solution(listed, monkeypatch):
    if not listed:
        monkeypatch.setattr(generation_module, "LISTED_PATHS", 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = ((X[:, 0] > 0) & (X[:, 1] > 0)).astype(int)
    problem = build_problem(X, y, n_classes=2, max_depth=2)
    found = ColumnGeneration(master_method="interior").solve(problem)
    assert found.proof.master_solved
    assert found.proof.master_integral
    assert found.proof.master_value == found.cost == 1


def test_interior_points_heed_the_time():
    case = small_case(3, depth=2)
    generation = interior_generation(case, "upper")
    generation.clock = Clock(0.0)
    with pytest.raises(TimeUpError):
        generation.solve_interior(Allowed.everything(case.model))


def test_rounding_hands_over_to_simplex(monkeypatch):
    case = small_case(3, depth=2)
    monkeypatch.setattr(Master, "solve_interior", lambda self, *limits: None)
    found = ColumnGeneration(candidates="quantiles", master_method="interior").solve(case.problem)
    assert found.proof.master_solved
    assert found.proof.resolves == 1
