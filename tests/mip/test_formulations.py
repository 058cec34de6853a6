"""The models: their sizes, their constraints, points and trees, and optima against the search."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from provetree import ExactSearch, Limits, build_problem
from provetree.formulations.formulation import Settings
from provetree.formulations.thresholds import SickColumnError, scale_columns
from provetree.mip.check import TreeLimits, check_tree
from provetree.mip.engine import FORMULATIONS, MIPSearch, formulation_class
from provetree.mip.starts import cart
from provetree.problem.constrained import RawRows, constrained
from provetree.problem.rows import problem_rows, representatives
from provetree.solvers.highs import Highs
from provetree.tree.layout import Layout, PlacedTree, place_tree, placed_to_tree
from provetree.tree.start_tree import StartTree, start_tree_of
from testkit.mip_cases import small_case

#: OCT-H has hyperplanes, and tests of its own.
NAMES = sorted(set(FORMULATIONS) - {"oct-h"})


def random_problem(seed, n=9, p=3, n_classes=3, **options):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, p)).astype(float)
    y = rng.integers(0, n_classes, n)
    return build_problem(X, y, n_classes=n_classes, max_depth=3, **options)


# -- sizes and constraints ---------------------------------------------------------------------


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_sizes_are_those_of_the_papers(name, depth, merge):
    problem = random_problem(4, n=14)
    made = formulation_class(name)(problem, Settings(depth, merge_rows=merge))
    n = problem.n_rows if merge else 14
    p, k = len(problem.columns), problem.n_classes
    b = 2**depth - 1
    leaves = 2**depth
    cuts = [len(column.values) - 1 for column in problem.columns]
    digits = int(np.ceil(np.log2(max(cuts))))
    ranges = sum(cuts) - p
    expected = {
        "oct": (
            p * b + 2 * b + n * leaves + 3 * leaves + 2 * k * leaves + 1,
            n * depth * leaves + n * leaves + n + 3 * k * leaves + 3 * leaves + max(3 * b, 1),
        ),
        "p": (
            p * b + 2 * b + k * leaves + leaves + n * leaves + n * k * leaves,
            max(3 * b, 1)
            + 2 * leaves
            + n * leaves
            + depth * leaves // 2
            + n
            + n * depth * leaves
            + n * k * leaves,
        ),
        "binoct": (
            p * b + digits * b + n * leaves + 2 * k * leaves,
            b + n + leaves + (2 * ranges + p) * b + k * leaves,
        ),
        "flowoct": (
            sum(cuts) * b + (k + 1) * (b + leaves) + n * (1 + 3 * b + leaves),
            2 * (b + leaves) + n * (1 + 4 * b + 2 * leaves),
        ),
    }
    assert (made.model.n_variables, made.model.n_constraints) == expected[name]
    matrix = made.model.matrix.copy()
    matrix.sum_duplicates()
    assert matrix.nnz == made.model.matrix.nnz, "no variable stands twice in a constraint"


def test_split_limit_of_section_3_4():
    problem = random_problem(2)
    model = formulation_class("oct")(problem, Settings(2, max_splits=2)).model
    assert "C" not in model.variable_names()
    row = model.constraint("(7) at most").rows
    assert model.row_upper[row].tolist() == [2]
    names = model.variable_names()
    assert {names[c] for c in model.matrix[row].indices} == {"d_1", "d_2", "d_3"}


def test_p_counts_errors_first():
    problem = random_problem(3)
    made = formulation_class("p")(problem, Settings(2, max_splits=2))
    assert made.penalty == Fraction(1, 3)
    costs = dict(zip(made.model.variable_names(), made.model.objective.tolist(), strict=True))
    assert costs["d_1"] == pytest.approx(1 / 3)
    first = int(problem.classes[0]) + 1
    assert [costs[f"theta_1_{k}_1"] for k in (1, 2, 3)] == [
        0.0 if k == first else float(problem.weights[0]) for k in (1, 2, 3)
    ]
    for number in range(1, 13):
        assert any(group.number.startswith(f"({number})") for group in made.model.constraints)


# -- points and trees --------------------------------------------------------------------------


def random_tree(problem, layout, rng):
    """A tree without empty leaves, with the majority in each leaf."""
    column = np.full(layout.n_branches, -1)
    rank = np.zeros(layout.n_branches, dtype=np.int64)
    label = np.full(layout.n_branches + layout.n_leaves, -1)
    waiting = [(0, np.arange(problem.n_rows))]
    while waiting:
        node, rows = waiting.pop()
        least = problem.min_samples_leaf
        options = []
        if node < layout.n_branches and rng.random() < 0.8:
            for c in range(len(problem.columns)):
                ranks = problem.ranks[c, rows]
                for k in np.unique(ranks)[:-1]:
                    counts = problem.counts[rows]
                    left = int(counts[ranks <= k].sum())
                    if left >= least and counts.sum() - left >= least:
                        options.append((c, int(k)))
        if not options:
            totals = np.bincount(problem.classes[rows], problem.weights[rows], problem.n_classes)
            label[node] = totals.argmax()
            continue
        column[node], rank[node] = options[rng.integers(len(options))]
        goes_left = problem.ranks[column[node], rows] <= rank[node]
        waiting += [(2 * node + 1, rows[goes_left]), (2 * node + 2, rows[~goes_left])]
    return PlacedTree(layout, column, rank, label)


@pytest.mark.parametrize("tighten", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_trees_are_points_of_every_model_and_back(name, tighten):
    rng = np.random.default_rng(11)
    for seed in range(60):
        case = small_case(seed)
        problem = case.problem
        depth = case.depth if problem.columns else 0
        settings = Settings(
            depth,
            min_samples_leaf=problem.min_samples_leaf,
            penalty=case.penalty,
            scaling="rank",
            merge_rows=bool(rng.integers(2)),
            tighten=tighten,
            baseline=max(1, problem.root_error),
        )
        made = formulation_class(name)(problem, settings)
        placed = random_tree(problem, made.layout, rng)
        tree = placed_to_tree(problem, placed, keep_labels=True)
        point = made.encode(placed)
        violation = made.model.violation(point)
        # The tightened models cut off trees with two equal leaves below a split.
        if not (tighten and violation.where.startswith("constraint tight: siblings")):
            assert violation.size < 1e-9, (seed, violation)
        cost = check_tree(tree, case.rows, TreeLimits(depth)).cost(made.penalty)
        claimed = made.cost(made.model.value(point))
        assert claimed == pytest.approx(float(cost), rel=1e-9, abs=1e-9), seed
        back = placed_to_tree(problem, made.decode(point), keep_labels=True)
        if name == "binoct":  # it splits at every node, into equal leaves where there is no need
            assert np.array_equal(back.predict(case.rows.X), tree.predict(case.rows.X)), seed
        else:
            assert back == tree, seed


def test_any_tree_can_be_placed():
    for seed in range(40):
        case = small_case(seed)
        problem, rows = case.problem, case.rows
        tree = ExactSearch().solve(case.priced).tree
        at = problem_rows(problem, rows.X, rows.classes)
        assert (at >= 0).all()
        assert np.array_equal(np.bincount(at, minlength=problem.n_rows), problem.counts)
        table = rows.X[representatives(problem, at)]
        placed = place_tree(problem, tree, table, Layout(max(tree.depth, 1)))
        again = placed_to_tree(problem, placed, keep_labels=False)
        assert np.array_equal(again.apply(rows.X), tree.apply(rows.X)), seed
        leaf = placed.route(problem.ranks)
        assert len(np.unique(leaf)) == tree.n_leaves
        if tree.depth > 0:
            with pytest.raises(ValueError, match="deeper than the 0 levels"):
                place_tree(problem, tree, table, Layout(0))


def test_a_start_on_a_feature_that_was_left_out():
    x = np.array([1.0, 2.0, 3.0, 4.0])
    X = np.column_stack([x, -x])  # the second is the first backwards
    problem = build_problem(X, [0, 0, 1, 1], n_classes=2, max_depth=1)
    only_second = build_problem(
        np.column_stack([np.zeros(4), -x]), [0, 0, 1, 1], n_classes=2, max_depth=1
    )
    tree = ExactSearch().solve(only_second).tree
    assert tree.feature[0] == 1
    table = X[representatives(problem, problem_rows(problem, X, np.array([0, 0, 1, 1])))]
    placed = place_tree(problem, tree, table, Layout(1))
    assert (placed.column.tolist(), placed.rank.tolist()) == ([0], [1])
    assert placed.label.tolist() == [-1, 0, 1], "the sides are swapped"


def test_cart_keeps_limits_and_is_pruned_exactly():
    for seed in range(60):
        case = small_case(seed)
        depth = case.depth if case.problem.columns else 0
        least = case.problem.min_samples_leaf
        placed = cart(
            case.problem,
            Layout(depth),
            min_samples_leaf=least,
            penalty=case.penalty,
            max_splits=case.max_splits,
        )
        tree = placed_to_tree(case.problem, placed, keep_labels=True)
        checked = check_tree(tree, case.rows, TreeLimits(depth, least, case.max_splits))
        assert checked.broken == ()
        assert checked.cost(case.penalty) <= case.problem.root_error
        assert not tree.has_other_labels


# -- optima ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_proven_optima_are_those_of_the_exact_search(name):
    proven = 0
    for seed in range(30):
        case = small_case(seed)
        if case.problem.weights.max() > 1000:
            continue  # costs there are finer than the tolerances of solvers
        rng = np.random.default_rng(seed)
        penalty = case.penalty_of(name)
        truth = ExactSearch().solve(case.problem.with_penalty(penalty)).tree
        cost = check_tree(truth, case.rows, TreeLimits(case.depth)).cost(penalty)
        start = start_tree_of(case.problem, truth, case.rows.X)
        engine = MIPSearch(
            name,
            baseline=int(rng.integers(1, 20)),
            warm_start=[None, "cart", ExactSearch(), start][rng.integers(4)],
            scaling="rank",
            merge_rows=bool(rng.integers(2)),
            tighten=bool(rng.integers(2)),
        )
        solution = engine.solve(case.asked(name), Limits(30.0))
        limits = TreeLimits(case.depth, case.problem.min_samples_leaf, case.max_splits)
        checked = check_tree(solution.tree, case.rows, limits)
        assert checked.broken == (), seed
        scale = case.problem.weight_scale
        assert solution.lower_bound <= float(cost / scale) + 1e-9, seed
        if solution.status == "optimal":
            proven += 1
            assert checked.cost(penalty) == cost, seed
            assert solution.cost == pytest.approx(float(cost / scale)), seed
    assert proven >= 20


@pytest.mark.parametrize("random_seed", range(12))
def test_presolve_cuts_off_no_optimum(random_seed):
    # HiGHS 1.14 and 1.15 called the leaf optimal here, and the model without a start infeasible.
    problem = build_problem(
        np.repeat([[1.0], [1.0], [0.0], [0.0]], [3, 1, 4, 1], axis=0),
        np.repeat([2, 1, 0, 2], [3, 1, 4, 1]),
        n_classes=3,
        max_depth=2,
        categories=[["a", "b"]],
    )
    leaf = StartTree((-1,), (0,), (0,), 0, problem.n_samples)
    for start in (leaf, None):
        engine = MIPSearch("oct", Highs({"random_seed": random_seed}), warm_start=start)
        found = engine.solve(constrained(problem, depth=2))
        assert (found.cost, found.lower_bound, found.status) == (2, 2, "optimal")


def test_heavy_weights_are_not_called_optimal_beyond_tolerance():
    # One unit in 10^8 is finer than any solver's tolerance; the bound must stay below the truth.
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    y = np.array([0, 1, 0, 1])
    weight = np.array([3e8, 1.0, 2e8, 1e8])
    problem = build_problem(X, y, n_classes=2, max_depth=1, sample_weight=weight)
    truth = ExactSearch().solve(problem)
    solution = MIPSearch("oct", scaling="rank").solve(problem)
    assert solution.lower_bound <= truth.cost <= solution.cost * (1 + 1e-6)


# -- building ----------------------------------------------------------------------------------


@pytest.mark.parametrize("tighten", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_building_takes_less_than_twice_the_memory_of_the_matrix(name, tighten):
    rng = np.random.default_rng(0)
    n = 2000
    X = rng.normal(size=(n, 6)).round(1 if name in ("binoct", "flowoct") else 6)
    problem = build_problem(X, rng.integers(0, 2, n), n_classes=2, max_depth=4)
    tracemalloc.start()
    made = formulation_class(name)(problem, Settings(4, scaling="rank", tighten=tighten))
    matrix = made.model.matrix
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * (matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)


def test_scaling():
    X = np.array([[0.0, 0.0], [1.0, -np.inf], [5.0, 1.0], [np.nan, 3.0]])
    problem = build_problem(X, [0, 1, 0, 1], n_classes=2, max_depth=1)
    scaled = scale_columns(problem, "minmax")
    kinds = [column.kind for column in problem.columns]
    assert kinds == ["missing_first", "missing_last", "numeric"]
    first, last, infinite = (v.tolist() for v in scaled.values)
    assert first == pytest.approx([0, 0.5 / 1.5, 0.7 / 1.5, 1])
    assert last == pytest.approx([0, 0.2 / 1.5, 1 / 1.5, 1])
    assert infinite == pytest.approx([0, 0.5 / 1.5, (0.5 + 1 / 3) / 1.5, 1])
    assert scaled.epsilon == pytest.approx([np.diff(v).min() for v in scaled.values])
    ranks = scale_columns(problem, "rank")
    assert ranks.step == pytest.approx(1 / 3)
    assert ranks.values[0].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1])


def test_extreme_values_are_scaled_without_overflow():
    X = np.array([[-1.7e308], [0.0], [1.7e308]])
    problem = build_problem(X, [0, 1, 0], n_classes=2, max_depth=1)
    assert scale_columns(problem, "minmax").values[0].tolist() == [0.0, 0.5, 1.0]
    X = np.array([[0.0], [5e-324], [1e-323]])
    problem = build_problem(X, [0, 1, 0], n_classes=2, max_depth=1)
    assert scale_columns(problem, "minmax").values[0].tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize("tighten", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_sick_column_is_named_or_does_no_harm(name, tighten):
    for low, next_up, high in ((0.0, 1e-12, 1.0), (1.0, 1.0 + 1e-12, 2.0)):
        X = np.array([[low, 1.0], [next_up, 2.0], [high, 3.0], [low, 4.0]])
        y = np.array([0, 1, 0, 0])
        problem = build_problem(
            X, y, n_classes=2, max_depth=2, feature_names=["sick", "sound"], max_leaf_nodes=3
        )
        rows = RawRows(X, y, np.ones(4, dtype=np.int64))
        problem = constrained(problem, depth=2, max_splits=2, rows=rows)
        settings = {"tighten": tighten}
        if name in ("oct", "p"):  # thresholds are numbers there
            with pytest.raises(SickColumnError, match="column 'sick' differ by 1e-12 of its range"):
                MIPSearch(name, **settings).solve(problem)
            settings["scaling"] = "rank"
        solution = MIPSearch(name, **settings).solve(problem)
        assert solution.status == "optimal"
        assert np.array_equal(solution.tree.predict(X), y)


def test_too_many_entries_are_refused():
    rng = np.random.default_rng(0)
    problem = build_problem(
        rng.normal(size=(20_000, 5)), rng.integers(0, 2, 20_000), n_classes=2, max_depth=2
    )
    with pytest.raises(ValueError, match='"flowoct" chooses among all 99995 thresholds'):
        MIPSearch("flowoct").solve(problem)
    with pytest.raises(ValueError, match=r"20000 rows would have about 3.4e\+10 entries"):
        MIPSearch("binoct").solve(constrained(problem, depth=11))


def test_ctrl_c_in_the_search_for_a_start():
    class Interrupted(ExactSearch):
        def solve(self, *arguments):
            return replace(super().solve(*arguments), status="interrupted")

    problem = random_problem(0, n=40)
    solution = MIPSearch(warm_start=Interrupted()).solve(problem)
    assert solution.cost > 0
    assert (solution.status, solution.lower_bound) == ("interrupted", 0)
    assert solution.cost == ExactSearch().solve(problem).cost


@pytest.mark.parametrize(
    ("solver", "package"), [("gurobi", "gurobipy"), ("scip", "pyscipopt"), ("cp-sat", "ortools")]
)
def test_other_solvers_prove_the_same(solver, package):
    pytest.importorskip(package, reason=f"the solver {solver} is not installed")
    for seed, name in enumerate(NAMES * 2):
        case = small_case(20 + seed)
        if case.problem.weights.max() > 1000:
            continue
        penalty = case.penalty_of(name)
        truth = ExactSearch().solve(case.problem.with_penalty(penalty)).tree
        cost = check_tree(truth, case.rows, TreeLimits(case.depth)).cost(penalty)
        solution = MIPSearch(name, solver, scaling="rank", tighten=seed % 2 == 0).solve(
            case.asked(name), Limits(30.0)
        )
        assert solution.status == "optimal", (name, seed)
        checked = check_tree(solution.tree, case.rows, TreeLimits(case.depth))
        assert checked.cost(penalty) == cost, (name, seed)


def test_too_deep_a_model_is_refused():
    with pytest.raises(ValueError, match="choose a smaller max_depth or fewer rows"):
        MIPSearch().solve(constrained(random_problem(0), depth=40))
