"""Near-optimal trees against a naive twin that writes every tree down, and their questions."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from provetree import ExactSearch, _core, build_problem, near_optimal_trees
from provetree.problem.prepare import prepare
from provetree.selection.near_optimal import NearOptimalTrees
from provetree.selection.near_optimal_columns import _cheapest_hitting
from provetree.selection.near_optimal_count import count_trees_of
from provetree.selection.tree_levels import NumberedTrees, random_below
from testkit.naive_near_optimal import NaiveTree, all_trees

#: Bits that switch parts of the count off: what is closed between splits, and the count on bits.
LIPSCHITZ, BITS = _core.SWITCHES["lipschitz"], _core.SWITCHES["bits"]
NESTED = _core.SWITCHES["inheritance"]


@dataclasses.dataclass
class Case:
    """A small random table and what is asked of it."""

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    categories: list[bool]
    depth: int
    min_leaf: int
    redundant: bool
    alpha: float
    slack: int
    switches: int

    @property
    def table(self) -> pd.DataFrame:
        columns = {}
        for feature, is_category in enumerate(self.categories):
            column = self.X[:, feature]
            if is_category:
                named = [None if np.isnan(x) else "abcdefgh"[int(x)] for x in column]
                columns[f"c{feature}"] = pd.Categorical(named, categories=list("abcdefgh"))
            else:
                columns[f"c{feature}"] = column
        return pd.DataFrame(columns)


def random_case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    depth = int(rng.integers(1, 4))
    n = int(rng.integers(1, 7 if depth == 3 else 10))
    p = int(rng.integers(1, 3 if depth == 3 else 4))
    X = rng.integers(0, rng.integers(2, 7), (n, p)).astype(float)
    if rng.random() < 0.3:
        X *= rng.random(p)
    categories = [bool(rng.random() < 0.3) for _ in range(p)]
    X[:, categories] = np.floor(X[:, categories] * 7) % 8
    if p > 1 and rng.random() < 0.2:
        X[:, 1], categories[1] = X[:, 0], categories[0]  # the same column twice
    if rng.random() < 0.4:
        X[rng.random((n, p)) < 0.25] = np.nan
    weights = rng.integers(0, 4, n).astype(float) if rng.random() < 0.4 else np.ones(n)
    weights[int(rng.integers(n))] = 1.0
    return Case(
        X,
        rng.integers(0, rng.integers(1, 4), n),
        weights,
        categories,
        depth,
        int(rng.integers(1, 3)) if rng.random() < 0.3 else 1,
        bool(rng.random() < 0.3),
        float(rng.choice([0.25, 0.5, 1.0])) if rng.random() < 0.3 else 0.0,
        int(rng.integers(0, 4)),
        (LIPSCHITZ * bool(rng.random() < 0.3))
        | (NESTED * bool(rng.random() < 0.3))
        | (BITS * bool(rng.random() < 0.5)),
    )


def naive_trees(case: Case, found: NearOptimalTrees) -> list[tuple[int, NaiveTree]]:
    """Return the trees within the limit with their whole costs, written down one by one."""
    problem = found.problem
    trees = all_trees(
        case.X,
        _codes(case),
        case.weights,
        case.categories,
        case.depth,
        min_leaf=problem.min_samples_leaf,
        redundant=case.redundant,
    )
    costs = (
        (
            round(Fraction(tree.errors) * problem.weight_scale) * problem.error_scale
            + problem.split_penalty * tree.n_splits,
            tree,
        )
        for tree in trees
    )
    limit = found._limit
    return [(cost, tree) for cost, tree in costs if cost <= limit]


def _codes(case: Case) -> np.ndarray:
    return np.unique(case.y, return_inverse=True)[1].reshape(-1)


def found_of(case: Case) -> NearOptimalTrees:
    prepared = prepare(
        case.table,
        case.y,
        case.weights,
        max_depth=case.depth,
        min_samples_leaf=case.min_leaf,
        alpha=case.alpha,
        merge=False,
    )
    return count_trees_of(
        prepared,
        case.slack,
        case.depth,
        redundant_splits=case.redundant,
        switches=case.switches,
    )


def check_count(case: Case, found: NearOptimalTrees, naive: list[tuple[int, NaiveTree]]) -> None:
    """The number of trees by cost, in all and with each column, is that of the naive twin."""
    numbered = found._numbered
    assert found.is_complete
    assert numbered.counts == dict(sorted(Counter(cost for cost, _ in naive).items()))
    assert found.n_trees == len(naive)
    for feature in range(case.X.shape[1]):
        with_it = Counter(cost for cost, tree in naive if feature in tree.features)
        assert numbered.root.with_feature.get(feature, {}) == dict(with_it)


def check_trees(case: Case, found: NearOptimalTrees, naive: list[tuple[int, NaiveTree]]) -> None:
    """Every number is another tree, of the cost it is said to have, and no tree is left out."""
    numbered = found._numbered
    n = min(found.n_trees, 300)
    shapes = [numbered.shape(number) for number in range(n)]
    assert len(set(shapes)) == n
    costs = [numbered.cost(number) for number in range(n)]
    assert costs == sorted(costs)
    codes, present = _codes(case), case.weights > 0
    encoded = found._prepared.encoded
    want = Counter((cost, tree.predictions) for cost, tree in naive)
    got: Counter[tuple[int, object]] = Counter()
    for number in range(n):
        tree = found[number].tree
        predicted = tree.predict(encoded)
        errors = Fraction(float(case.weights[predicted != codes].sum()))
        cost = errors * found.problem.weight_scale * found.problem.error_scale
        assert cost + found.problem.split_penalty * tree.n_splits == costs[number]
        rows = np.flatnonzero(present).tolist()
        got[costs[number], tuple((i, int(predicted[i])) for i in rows)] += 1
    want = Counter()
    for cost, tree in naive:
        want[cost, tuple(sorted(tree.predictions))] += 1
    assert all(got[key] <= want[key] for key in got)
    if n == found.n_trees:
        assert got == want


def check_rows(case: Case, found: NearOptimalTrees, naive: list[tuple[int, NaiveTree]]) -> None:
    """What all trees predict for a training row is what the naive trees do."""
    votes = np.zeros((len(case.y), int(_codes(case).max()) + 1))
    for _, tree in naive:
        for row, label in tree.predictions:
            votes[row, label] += 1
    agreement = found.agreement()
    present = case.weights > 0
    assert np.allclose(agreement.shares[present] * len(naive), votes[present], rtol=1e-9, atol=0)
    assert np.array_equal(agreement.all_agree[present], (votes[present] > 0).sum(axis=1) == 1)
    assert np.isnan(agreement.shares[~present]).all()


def check_choices(case: Case, found: NearOptimalTrees, naive: list[tuple[int, NaiveTree]]) -> None:
    """The best with and without a column, the fewest and cheapest columns, the widest margins."""
    problem = found.problem
    whole = problem.to_whole_cost
    for use in found.columns():
        with_it = [cost for cost, tree in naive if use.feature in tree.features]
        without = [cost for cost, tree in naive if use.feature not in tree.features]
        assert use.use == ("none" if not with_it else "some" if without else "all")
        best = found.best_with(use.feature)
        assert (best is None) == (not with_it)
        if best is not None:
            assert whole(best.cost) == min(with_it)
            assert use.feature in best.tree.columns_used
            assert use.extra_with == best.extra
        other = found.best_without(use.feature)
        assert use.feature not in other.tree.columns_used
        assert use.extra_without == other.extra
        if without:
            assert whole(other.cost) == min(without)
        else:
            assert whole(other.cost) > found._limit
    fewest = found.fewest_columns()
    assert (fewest.value, whole(fewest.cost)) == min((len(t.features), cost) for cost, t in naive)
    prices = {f"c{f}": 1.5 * f for f in range(case.X.shape[1])}
    cheapest = found.cheapest(prices)
    assert (cheapest.value, whole(cheapest.cost)) == min(
        (sum(1.5 * f for f in tree.features), cost) for cost, tree in naive
    )
    grown = [tree.margin for _, tree in naive if tree.n_splits]
    widest = found.widest_margins()
    if grown:
        assert widest.value == pytest.approx(max(grown), rel=1e-9)
        assert widest.tree.n_splits > 0


def check(seed: int, *, whole: bool = True) -> None:
    case = random_case(seed)
    found = found_of(case)
    naive = naive_trees(case, found)
    check_count(case, found, naive)
    if whole:
        check_trees(case, found, naive)
        check_rows(case, found, naive)
        check_choices(case, found, naive)


@pytest.mark.parametrize("block", range(8))
def test_counts_trees_and_choices_are_those_of_the_naive_twin(block: int) -> None:
    for seed in range(25 * block, 25 * (block + 1)):
        check(seed)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(200))
def test_many_counts_are_those_of_the_naive_twin(block: int) -> None:
    for seed in range(1000 + 100 * block, 1000 + 100 * (block + 1)):
        check(seed, whole=seed % 10 == 0)


def _naive_counts(problem: object, depth: int, redundant: bool) -> Counter[int]:
    """Return how many trees of numeric columns there are of each cost, by plain recursion."""
    ranks, classes, weights = problem.ranks, problem.classes, problem.weights
    least = problem.min_samples_leaf

    def trees(rows: np.ndarray, depth: int) -> tuple[Counter[int], int, int]:
        totals = np.bincount(classes[rows], weights[rows], problem.n_classes)
        label, leaf = int(totals.argmax()), int(totals.sum() - totals.max())
        counts = Counter({leaf: 1})
        if depth:
            for column in ranks:
                for rank in np.unique(column[rows])[:-1]:
                    sides = rows[column[rows] <= rank], rows[column[rows] > rank]
                    if min(map(len, sides)) < least:
                        continue
                    left, right = (trees(side, depth - 1) for side in sides)
                    for a, b in itertools.product(left[0], right[0]):
                        counts[a + b] += left[0][a] * right[0][b]
                    if left[2] == right[2] and not redundant:
                        counts[left[1] + right[1]] -= 1
        return counts, leaf, label

    return trees(np.arange(len(classes)), depth)[0]


@pytest.mark.parametrize("seed", range(6))
def test_larger_tables_of_numbers_are_counted_alike(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, depth = (14, 3) if seed % 2 else (40, 2)
    X = rng.normal(size=(n, 3)).round(1 if seed < 4 else 6)
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int) + (seed == 5) * (X[:, 1] > 0.5)
    problem = build_problem(X, y, n_classes=3, max_depth=depth, merge=False)
    best = int(ExactSearch().solve(problem).cost)
    naive = _naive_counts(problem, depth, redundant=seed == 2)
    want = {c: k for c, k in sorted(naive.items()) if c <= best + 3 and k}
    for switches in (0, LIPSCHITZ, NESTED, BITS, LIPSCHITZ | NESTED | BITS):
        trees = NumberedTrees(
            problem, depth, best + 3, redundant_splits=seed == 2, switches=switches
        )
        assert trees.counts == want


@pytest.mark.parametrize("seed", range(6))
def test_few_rows_may_cost_more_where_leaves_need_several(seed: int) -> None:
    """Guards what splits say of their neighbours: three rows may have no split where four have."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (9, 3)).astype(float)
    y, weights = rng.integers(0, 2, 9), rng.integers(1, 9, 9)
    problem = build_problem(
        X, y, n_classes=2, sample_weight=weights, min_samples_leaf=2, max_depth=3, merge=False
    )
    best = int(ExactSearch().solve(problem).cost)
    naive = _naive_counts(problem, 3, redundant=False)
    want = {c: k for c, k in sorted(naive.items()) if c <= best + 1 and k}
    for switches in (0, LIPSCHITZ, NESTED, BITS, BITS | LIPSCHITZ):
        assert NumberedTrees(problem, 3, best + 1, switches=switches).counts == want


def test_every_slack_gives_the_beginning_of_the_next() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    few, many = (near_optimal_trees(X[:200, :5], y[:200], slack=slack) for slack in (1, 3))
    assert few.optimum == many.optimum
    assert list(few.counts.items()) == list(many.counts.items())[: len(few.counts)]
    assert few.n_trees == sum(few.counts.values())
    assert few._numbered.shape(few.n_trees - 1) == many._numbered.shape(few.n_trees - 1)


def test_bits_and_sweeps_tell_the_same() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (150, 8)).astype(float)
    y = ((X[:, 0] > 0) ^ (X[:, 1] == 2) ^ (rng.random(150) < 0.15)).astype(int)
    problem = build_problem(X, y, n_classes=2, max_depth=3, merge=False)
    limit = int(ExactSearch().solve(problem).cost) + 4
    fast, slow = (NumberedTrees(problem, 3, limit, switches=s) for s in (0, BITS))
    assert fast.counts == slow.counts
    assert fast.root.with_feature == slow.root.with_feature
    assert fast.root.splits == slow.root.splits


def test_a_share_is_of_the_weight_of_the_rows() -> None:
    X, y = np.arange(100.0).reshape(-1, 1), (np.arange(100) % 7 == 0).astype(int)
    share = near_optimal_trees(X, y, slack=0.07, max_depth=2)
    errors = near_optimal_trees(X, y, slack=7, max_depth=2)
    assert share.slack == errors.slack == 7
    assert share.counts == errors.counts
    half = near_optimal_trees(X, y, np.full(100, 0.5), slack=0.07, max_depth=2)
    assert half.slack == 3.5
    assert list(half.counts.values()) == list(share.counts.values())


def test_a_sample_is_uniform() -> None:
    found = near_optimal_trees([[1], [2], [3], [4], [5]], [0, 1, 0, 1, 1], slack=1, max_depth=2)
    n = found.n_trees
    places = {found._numbered.shape(i): i for i in range(n)}
    shapes = Counter(
        (each.cost, each.tree.threshold.tolist().__repr__()) for each in found.sample(200 * n)
    )
    assert len(shapes) == n == len(places)
    assert min(shapes.values()) > 130
    assert max(shapes.values()) < 280


def test_numbers_below_a_limit_of_any_size() -> None:
    rng = np.random.default_rng(0)
    assert {random_below(rng, 3) for _ in range(100)} == {0, 1, 2}
    assert random_below(rng, 1) == 0
    drawn = [random_below(rng, 2**200 // 3) for _ in range(200)]
    assert max(drawn) < 2**200 // 3
    assert max(drawn) > 2**198


def test_hitting_sets_are_the_cheapest() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        among = set(range(6))
        needs = [frozenset(np.flatnonzero(rng.random(6) < 0.4).tolist()) for _ in range(4)]
        needs = [need for need in needs if need]
        prices = {f: Fraction(int(rng.integers(1, 5))) for f in among}
        naive = min(
            sum(prices[f] for f in chosen)
            for size in range(7)
            for chosen in itertools.combinations(sorted(among), size)
            if all(need & set(chosen) for need in needs)
        )
        assert sum(prices[f] for f in _cheapest_hitting(needs, among, prices)) == naive


def test_weights_of_many_digits_keep_to_the_limits() -> None:
    # Nearly every tree has a cost of its own, so that sums of costs grow as long as the set.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = ((X[:, 0] > 0) ^ (X[:, 1] > 0.5) ^ (rng.random(150) < 0.15)).astype(int)
    weights = rng.random(150)
    found = near_optimal_trees(X, y, weights, slack=0.02, max_memory="2MB")
    assert found.status == "memory_limit"
    assert found.n_trees > 1
    assert sum(found.counts.values()) == found.n_trees
    numbered = found._numbered
    assert numbered.root._found["entries"] <= 2**20 // 256 + 10_000
    last = found[found.n_trees - 1]  # what was counted can be found
    assert last.cost <= found.limit
    for use in found.columns():
        assert use.use in ("some", "unknown")
    stopped = near_optimal_trees(X, y, weights, slack=0.3, max_memory="1MB")
    assert stopped.n_trees == 1  # the optimum, whatever else there is
    with pytest.raises(ValueError, match="the count ended before those of a first split"):
        stopped[0]


def test_limits_end_the_count_with_what_there_is_at_least() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    whole = near_optimal_trees(X[:, :4], y, slack=3, max_depth=2)
    small = near_optimal_trees(X[:, :4], y, slack=3, max_depth=2, max_memory=2000)
    assert small.status == "memory_limit"
    assert 1 <= small.n_trees < whole.n_trees
    assert small.sentence.startswith("At least ")
    assert small.sentence.endswith("The memory limit ended the count.")
    assert {use.use for use in small.columns()} <= {"some", "unknown"}
    with pytest.raises(ValueError, match="A uniform sample needs all trees counted"):
        small.sample(3)
    with pytest.raises(ValueError, match="known once all are counted"):
        small.agreement()
    late = near_optimal_trees(X, y, slack=3, max_depth=3, time_limit=1e-6)
    assert late.status == "time_limit"
    assert late.n_trees == 1
    assert late.sentence.startswith("The optimum of depth 3 is not proven, so no tree was counted")
    with pytest.raises(ValueError, match="the time limit ended before the optimum was proven"):
        late[0]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"slack": -1}, "The 'slack' parameter of near_optimal_trees must be an int in the range"),
        ({"slack": 1.5}, "or a float in the range [0.0, 1.0), a share of the rows. Got 1.5"),
        ({"slack": "1%"}, "Got '1%' instead."),
        ({"slack": True}, "Got True instead."),
        ({"slack": float("nan")}, "Got nan instead."),
        ({"max_depth": 4}, "The 'max_depth' parameter of near_optimal_trees must be an int in"),
        ({"max_depth": 2.0}, "Got 2.0 instead."),
        ({"alpha": 2.0}, "must be a float in the range [0.0, 1.0]. Got 2.0 instead."),
        ({"redundant_splits": 1}, "must be a bool. Got 1 instead."),
        ({"time_limit": -1.0}, "The 'time_limit' parameter of near_optimal_trees must be"),
        ({"max_memory": "much"}, "The 'max_memory' parameter of near_optimal_trees must be"),
        ({"min_samples_leaf": 0}, "The 'min_samples_leaf' parameter of near_optimal_trees must"),
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(changes: dict, sentence: str) -> None:
    with pytest.raises((ValueError, TypeError)) as refusal:
        near_optimal_trees([[1], [2], [3]], [0, 1, 0], **changes)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_bad_questions_are_refused_in_one_sentence() -> None:
    found = near_optimal_trees([[1, 2], [2, 1], [3, 3]], [0, 1, 0], slack=1)
    with pytest.raises(ValueError, match="The 'column' must be one of 'x0', 'x1', or a number"):
        found.best_with("age")
    with pytest.raises(ValueError, match=r"finite numbers of at least zero\. Got -1 for 'x0'"):
        found.cheapest({"x0": -1})
    with pytest.raises(TypeError, match="must be a mapping of columns to numbers"):
        found.cheapest([1, 2])
    with pytest.raises(IndexError, match="must be an int from 0 to"):
        found[found.n_trees]
    with pytest.raises(IndexError, match="must be an int from 0 to"):
        found[0:2]
    with pytest.raises(ValueError, match="The 'n' of sample must be an int"):
        found.sample(-1)
    with pytest.raises(ValueError, match="The 'n_resamples' of most_stable must be an int"):
        found.most_stable(0)


@pytest.mark.parametrize("limit", [-1, 0, math.nan, "1", True])
def test_limits_of_questions_are_positive_numbers_or_none(limit: object) -> None:
    found = near_optimal_trees([[1, 2], [2, 1], [3, 3]], [0, 1, 0], slack=1)
    questions = {
        "columns": found.columns,
        "best_without": partial(found.best_without, "x0"),
        "fewest_columns": found.fewest_columns,
        "cheapest": partial(found.cheapest, {"x0": 1}),
    }
    for name, asked in questions.items():
        sentence = f"The 'time_limit' parameter of {name} must be a float in the range (0.0, inf]"
        with pytest.raises(ValueError, match=re.escape(sentence)):
            asked(time_limit=limit)
        assert asked(time_limit=1) == asked()


def test_too_many_trees_are_refused_in_one_sentence() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    found = near_optimal_trees(X, y, slack=60, max_depth=2)
    assert found.is_complete  # every tree of two levels
    with pytest.raises(ValueError, match=r"must ask for at most 2\*\*128 trees, and 7 asks for"):
        _refused_as_too_many(X, y)


def _refused_as_too_many(X: np.ndarray, y: np.ndarray) -> None:
    """Count trees with a core that says there are too many."""
    with pytest.MonkeyPatch.context() as patch:
        count = _core.count_trees
        patch.setattr(
            _core, "count_trees", lambda **given: {**count(**given), "status": "too_many"}
        )
        near_optimal_trees(X, y, slack=7, max_depth=1)


def test_the_most_stable_tree_is_one_of_them() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    found = near_optimal_trees(X.iloc[:, :6], y, slack=2, max_depth=2)
    stable = found.most_stable(50, n_candidates=100)
    assert found.optimum <= stable.cost <= found.limit
    assert 0 < stable.value <= 1
    assert stable.proven == (found.n_trees <= 100)
    again = found.most_stable(50, n_candidates=100)
    assert again.tree.threshold.tolist() == pytest.approx(
        stable.tree.threshold.tolist(), nan_ok=True
    )
    clf = found.classifier(stable)
    assert (clf.predict(X.iloc[:, :6]) != y).sum() == stable.cost
    others = found.agreement(X.iloc[:20, :6], n_sampled=50)
    assert others.n_judges == 50
    assert not others.exact
    assert others.shares.sum(axis=1) == pytest.approx(np.ones(20))
