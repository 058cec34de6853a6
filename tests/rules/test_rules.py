"""Rules that the search keeps, against brute force over all trees that keep them."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from provetree import (
    InfeasibleError,
    OptimalPolicyTree,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    Tree,
    fixed_splits_of,
    runner_up_splits,
    verify,
)
from provetree.problem.rules import RULE_NAMES, rules_given
from testkit.naive_rules import (
    NaiveRules,
    NaiveSplit,
    leaf_totals,
    naive_splits,
    ruled_cost,
    whole,
)
from testkit.random_rules import random_ruled_table

N_FEW, N_MANY, CHUNK = 250, 100_000, 50
UNITS = 20  # of a weight: prices are quarters of it, penalties fifths and twentieths
RULES = ("forbidden", "fixed", "groups", "prices", "path_prices")


def random_rules(case: dict[str, Any], names: tuple[str, ...]) -> tuple[dict[str, Any], NaiveRules]:
    """Rules as users write them, and for the naive twin."""
    rng, X = case["rng"], case["X"]
    p, depth = X.shape[1], case["limits"]["max_depth"]
    given: dict[str, Any] = {}
    naive = NaiveRules()
    if "fixed" in names:
        given["fixed_splits"], naive.fixed = random_fixed(case, depth)
    if "forbidden" in names:
        paths = [""]
        if naive.fixed:
            paths += [path + side for path, way in naive.fixed.items() if way for side in "LR"]
        some = {path: rng.permutation(p)[: rng.integers(0, p)].tolist() for path in paths[:3]}
        given["forbidden_columns"] = some if len(paths) > 1 else some[""]
        naive.forbidden = some
    if "groups" in names:
        word = rng.choice(["no_interactions", "pairwise", "list", "shared"])
        naive.groups = [[c] for c in range(p)]
        given["interaction_cst"] = str(word)
        if word == "pairwise":
            naive.groups = list(combinations(range(p), 2))
        if word == "shared":
            some = [rng.permutation(p)[: rng.integers(1, p + 1)].tolist() for _ in range(3)]
            rest = set(range(p)) - set().union(*some)
            given["interaction_cst"], naive.groups = some, [*some, *([rest] if rest else [])]
        if word == "list":
            cut = int(rng.integers(1, p))
            order = rng.permutation(p).tolist()
            given["interaction_cst"] = [set(order[:cut])]  # the rest is a group of its own
            naive.groups = [order[:cut], order[cut:]]
    if "prices" in names:
        priced = rng.permutation(p)[: rng.integers(1, p + 1)].tolist()
        prices = {c: float(rng.choice([0.5, 1.0, 2.0])) for c in priced}
        given["column_costs"] = prices
        naive.prices = {c: Fraction(price) for c, price in prices.items()}
    if "path_prices" in names:
        priced = [c for c in rng.permutation(p).tolist() if c not in naive.prices][:3]
        prices = {c: float(rng.choice([0.25, 0.5, 1.0, 1.0, 2.0])) for c in priced}
        given.setdefault("column_costs", {}).update({c: (x, "path") for c, x in prices.items()})
        naive.path_prices = {c: Fraction(price) for c, price in prices.items()}
    return given, naive


def random_fixed(case: dict[str, Any], depth: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits from the root down, some of which no tree can keep."""
    rng, X, whole = case["rng"], case["X"], case["weights"]
    present = np.ones(len(X), bool) if whole is None else whole > 0
    given: dict[str, Any] = {}
    naive: dict[str, Any] = {}
    for path in ("", str(rng.choice(["L", "R"]))):
        if len(path) >= depth or (path and rng.random() < 0.4):
            break
        if path and rng.random() < 0.2:
            given[path], naive[path] = {"leaf": True}, None
            break
        column = int(rng.integers(X.shape[1]))
        values = X[present, column]
        known = np.unique(X[~np.isnan(X[:, column]), column])
        if not len(known):
            break
        if case["categorical"][column]:
            names: list[Any] = rng.permutation(known)[: rng.integers(1, len(known) + 1)].tolist()
            left = np.isin(values, names)
            if rng.random() < 0.3:
                names.append(None)
                left |= np.isnan(values)
            given[path] = {"column": column, "categories": names}
            naive[path] = [NaiveSplit(column, bits(left))]
            continue
        threshold = float(rng.choice(known)) + float(rng.choice([0.0, 0.25]))
        split: dict[str, Any] = {"column": column, "threshold": threshold}
        low, missing = values <= threshold, np.isnan(values)
        ways = [low, low | missing]
        if rng.random() < 0.5:
            side = int(rng.integers(2))
            split["missing"] = ("right", "left")[side]
            ways = [ways[side]]
        given[path], naive[path] = split, [NaiveSplit(column, bits(way)) for way in ways]
    return given, naive


def bits(holds: Any) -> int:
    return sum(1 << i for i, one in enumerate(holds) if one)


def check(seed: int, names: tuple[str, ...]) -> Tree | None:
    """Fit a random table under rules, and compare with brute force."""
    case = random_ruled_table(seed)
    given, naive = random_rules(case, names)
    X, y, weights, limits = case["X"], case["y"], case["weights"], case["limits"]
    each = np.ones(len(X)) if weights is None else weights
    present = each > 0
    columns = [[None if math.isnan(x) else x for x in column] for column in X[present].T.tolist()]
    labels = y[present].tolist()
    totals_of = leaf_totals(labels, [whole(w) * UNITS for w in each[present]])

    def leaf(rows: int) -> int:
        totals = totals_of(rows).values()
        return sum(totals) - max(totals)

    everything = (1 << len(labels)) - 1
    penalty = whole(Fraction(repr(case["alpha"])) * leaf(everything))
    splits = naive_splits(columns, case["categorical"])
    expected = ruled_cost(
        splits, everything, leaf, naive.in_units(UNITS), penalty=penalty, **limits
    )
    model = OptimalTreeClassifier(
        **limits, alpha=case["alpha"], categorical_features=case["categorical"], **given
    )
    if expected is None:
        with pytest.raises(ValueError, match=r"No tree|where it is one of|keeps from the splits"):
            model.fit(X, y, weights)
        return None
    model.fit(X, y, weights)
    assert model.status_ == "optimal", seed
    assert model.objective_ == pytest.approx(expected / UNITS, abs=1e-9), seed
    assert model.lower_bound_ == model.objective_, seed
    keeps(model, naive, X, seed)
    found = verify(model.tree_, X, y, sample_weight=weights, **limits)
    prices = sum(naive.prices.get(c, 0) for c in model.tree_.columns_used)
    prices += paid_by_paths(model.tree_, naive.path_prices)
    total = found.cost + penalty * model.tree_.n_splits / UNITS + float(prices)
    assert total == pytest.approx(expected / UNITS, abs=1e-9), seed
    assert found.ok, (seed, found.violations)
    return model.tree_


def paid_by_paths(tree: Tree, prices: Any) -> Fraction:
    """What the splits of a tree pay that ask about a column first on their path."""
    paid, waiting = Fraction(0), [(0, frozenset[int]())]
    while waiting:
        node, asked = waiting.pop()
        column = int(tree.feature[node])
        if column < 0:
            continue
        paid += 0 if column in asked else prices.get(column, 0)
        now = asked | {column}
        waiting += [(int(tree.left[node]), now), (int(tree.right[node]), now)]
    return paid


def keeps(model: Any, naive: NaiveRules, X: Any, seed: int) -> None:
    """The tree itself keeps the rules."""
    tree = model.tree_
    waiting: list[tuple[int, str, frozenset[int]]] = [(0, "", frozenset())]
    while waiting:
        node, path, asked = waiting.pop()
        column = int(tree.feature[node])
        if path in naive.fixed:
            ways = naive.fixed[path]
            assert (column < 0) == (ways is None), seed
            assert ways is None or column == ways[0].column, seed
        if column < 0:
            continue
        for above, some in naive.forbidden.items():
            assert not (path.startswith(above) and column in list(some)), seed
        asked |= {column}
        if naive.groups is not None:
            assert any(asked <= frozenset(group) for group in naive.groups), seed
        waiting += [(int(tree.left[node]), path + "L", asked)]
        waiting += [(int(tree.right[node]), path + "R", asked)]


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("chunk", range(N_FEW // CHUNK // 5))
def test_each_rule_alone(name: str, chunk: int) -> None:
    trees = [check(seed, (name,)) for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK)]
    assert sum(tree is not None and tree.n_splits > 0 for tree in trees) > CHUNK // 3


@pytest.mark.parametrize("chunk", range(N_FEW // CHUNK // 3))
def test_all_rules_together(chunk: int) -> None:
    for seed in range(1000 + chunk * CHUNK, 1000 + (chunk + 1) * CHUNK):
        names = tuple(name for i, name in enumerate(RULES) if seed % 11 % (i + 2))
        check(seed, names)


@pytest.mark.fuzz
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("chunk", range(N_FEW // CHUNK, N_MANY // CHUNK))
def test_each_rule_alone_on_many_tables(name: str, chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        check(seed, (name,))


@pytest.mark.parametrize("seed", range(30))
def test_trees_of_numbers_and_actions(seed: int) -> None:
    case = random_ruled_table(seed)
    case["weights"] = None
    given, naive = random_rules(case, ("fixed", "prices"))
    rng, X, limits = case["rng"], case["X"], case["limits"]
    columns = [[None if math.isnan(x) else x for x in column] for column in X.T.tolist()]
    splits = naive_splits(columns, case["categorical"])
    everything = (1 << len(X)) - 1
    y = rng.integers(0, 6, len(X))
    gains = rng.integers(0, 5, (len(X), 3))

    def squares(rows: int) -> Fraction:
        own = [Fraction(int(x)) for i, x in enumerate(y) if rows >> i & 1]
        mean = sum(own, Fraction(0)) / len(own)
        return sum(((x - mean) ** 2 for x in own), Fraction(0))

    def lost(rows: int) -> Fraction:
        own = [row for i, row in enumerate(gains.tolist()) if rows >> i & 1]
        return -Fraction(max(sum(column) for column in zip(*own, strict=True)))

    shared = {**limits, **given, "categorical_features": case["categorical"]}
    for make, target, leaf in (
        (OptimalTreeRegressor, y, squares),
        (OptimalPolicyTree, gains, lost),
    ):
        expected = ruled_cost(splits, everything, leaf, naive, **limits)
        model = make(**shared)
        if expected is None:
            with pytest.raises(InfeasibleError):
                model.fit(X, target)
            continue
        model.fit(X, target)
        keeps(model, naive, X, seed)
        if make is OptimalTreeRegressor:
            assert model.objective_ == pytest.approx(float(expected), abs=1e-7), seed
            continue
        rows = np.arange(len(X))
        prices = sum(naive.prices.get(c, 0) for c in model.tree_.columns_used)
        brought = gains[rows, model.tree_.predict(model.encode(X))].sum()
        assert brought - float(prices) == pytest.approx(-float(expected)), seed


@pytest.mark.parametrize("alpha", [0.4, 0.5, 1.0, 3.0])
def test_penalties_leave_fixed_splits_and_those_below_them(alpha: float) -> None:
    """Guards the limit of 1 / alpha splits: a tree with fixed splits cannot be a single leaf."""
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    fixed = {"": {"column": 0, "threshold": 0.0}}
    model = OptimalTreeClassifier(max_depth=2, alpha=alpha, fixed_splits=fixed).fit(X, y)
    # Two errors as a leaf. Each split costs 2 * alpha; those below the root save an error each.
    expected = 2 * alpha + 2 * min(1, 2 * alpha)
    assert model.status_ == "optimal"
    assert model.objective_ == pytest.approx(expected)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_splits_are_fixed_where_nothing_is_left_to_save(criterion: str) -> None:
    """Guards targets that are all alike, where no tree needs a split."""
    fixed = {"": {"column": 0, "threshold": 1.0}}
    model = OptimalTreeRegressor(max_depth=1, criterion=criterion, fixed_splits=fixed)
    model.fit([[1.0], [2.0]], [3.0, 3.0])
    assert (model.status_, model.objective_, model.get_n_leaves()) == ("optimal", 0, 2)


@pytest.mark.parametrize("rule", [{"interaction_cst": "no_interactions"}, {"column_costs": {0: 1}}])
def test_a_leaf_under_rules_predicts_the_cheapest_class(rule: dict[str, Any]) -> None:
    """Guards costs that one class saves in full: the leaf predicted the class of more rows."""
    X, y, costs = [[4.0], [1.0], [0.5]], [1, 0, 0], [[2.5, 2.5], [1, 1], [1, 0]]
    model = OptimalTreeClassifier(max_depth=1, **rule).fit(X, y, sample_costs=costs)
    assert model.objective_ == 3.5
    assert model.predict(X).tolist() == [1, 1, 1]


def test_the_splits_of_a_tree_can_be_given_back() -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 6, (80, 4)).astype(float)
    X[rng.random(X.shape) < 0.1] = math.nan
    y = rng.integers(0, 2, 80)
    first = OptimalTreeClassifier(max_depth=3).fit(X, y)
    again = OptimalTreeClassifier(max_depth=3, fixed_splits=fixed_splits_of(first.tree_)).fit(X, y)
    assert again.objective_ == first.objective_
    assert again.tree_.threshold.tolist() == pytest.approx(
        first.tree_.threshold.tolist(), nan_ok=True
    )
    top = fixed_splits_of(first.tree_, [""])
    assert list(top) == [""]
    assert OptimalTreeClassifier(max_depth=3, fixed_splits=top).fit(X, y).objective_ == (
        first.objective_
    )


@pytest.mark.parametrize("seed", range(10))
def test_prices_of_paths_on_a_hundred_rows(seed: int) -> None:
    """Panels hold second splits of several prices; columns asked before are free."""
    rng = np.random.default_rng(seed)
    n, n_classes = int(rng.integers(90, 150)), 2 + seed % 2
    X = rng.integers(0, 4, (n, 3)).astype(float)
    y = (X[:, 0] + X[:, 1] > 3).astype(int) + (X[:, 2] > 1) * (n_classes - 2)
    y = np.where(rng.random(n) < 0.15, rng.integers(0, n_classes, n), y)
    prices = {0: 2.0, 1: 2.0, 2: float(rng.choice([1.0, 3.5]))}
    limits = {"max_depth": 2 + seed % 3 % 2, "min_samples_leaf": int(rng.choice([1, 9]))}
    naive = NaiveRules(path_prices={c: Fraction(price) for c, price in prices.items()})

    def leaf(rows: int) -> Fraction:
        own = [int(y[i]) for i in range(n) if rows >> i & 1]
        return Fraction(len(own) - max(own.count(c) for c in range(n_classes)))

    splits = naive_splits(X.T.tolist(), [False] * 3)
    expected = ruled_cost(splits, (1 << n) - 1, leaf, naive, **limits)
    model = OptimalTreeClassifier(
        **limits, column_costs={c: (price, "path") for c, price in prices.items()}
    ).fit(X, y)
    assert model.status_ == "optimal"
    assert model.objective_ == expected
    per_tree = OptimalTreeClassifier(**limits, column_costs=prices).fit(X, y)
    assert per_tree.objective_ <= model.objective_


def test_the_two_kinds_of_prices_are_told_apart() -> None:
    """Both sides of the first split ask about the last column, which is paid once or twice."""
    X = [[a, b, c] for a in (0.0, 1.0) for b in (0.0, 1.0) for c in (0.0, 1.0)] * 4
    y = [int(b) ^ int(c) if a else int(c) for a, b, c in X]
    top = {"": {"column": 0, "threshold": 0.5}}
    per_tree = OptimalTreeClassifier(fixed_splits=top, column_costs={2: 1}).fit(X, y)
    per_path = OptimalTreeClassifier(fixed_splits=top, column_costs={2: (1, "path")}).fit(X, y)
    assert (per_tree.objective_, per_path.objective_) == (1, 2)
    assert per_path.rules_[-1] == "Each path that asks about x2 costs 1 more."


def test_forbidden_columns_do_not_change_the_table() -> None:
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]])
    before = X.copy()
    OptimalTreeClassifier(forbidden_columns=[0]).fit(X, [0, 1, 0])
    assert (before == X).all()


BAD = {
    "unknown": ({"forbidden_columns": ["zip"]}, "must name columns of the table. Got 'zip'"),
    "position": ({"column_costs": {7: 1.0}}, "must name columns of the table. Got 7"),
    "price": ({"column_costs": {0: -1}}, "prices from 0 up. Got -1"),
    "path price": ({"column_costs": {0: (-1, "path")}}, "prices from 0 up. Got -1"),
    "per": ({"column_costs": {0: (1, "row")}}, "'tree' or 'path'. Got (1, 'row') for 0"),
    "long price": ({"column_costs": {0: (1e-9, "path")}}, "must be decimals so short"),
    "measured": (
        {"column_costs": {0: (1, "path")}, "criterion": "gini"},
        "must be prices per tree unless errors are counted",
    ),
    "above": (
        {"fixed_splits": {"L": {"column": 0, "threshold": 1.5}}},
        "Got 'L' without ''",
    ),
    "letters": ({"fixed_splits": {"left": {"leaf": True}}}, "letters L and R"),
    "form": ({"fixed_splits": {"": {"column": 0}}}, "is about numbers, and must be"),
    "word": ({"interaction_cst": [3]}, "'pairwise', 'no_interactions', a list of groups"),
    "below": ({"forbidden_columns": {"L": [0]}}, "need the splits above it in 'fixed_splits'"),
    "forbidden": (
        {"fixed_splits": {"": {"column": 0, "threshold": 1.5}}, "forbidden_columns": [0]},
        "ask for 'x0' at '', where it is one of the 'forbidden_columns'",
    ),
    "apart": (
        {
            "fixed_splits": {
                "": {"column": 0, "threshold": 1.5},
                "L": {"column": 1, "threshold": 1.5},
            },
            "interaction_cst": "no_interactions",
        },
        "which 'interaction_cst' keeps from the splits above it",
    ),
    "nobody": (
        {"fixed_splits": {"": {"column": 0, "threshold": 99}}},
        "No tree keeps the fixed split at '': no training row of its 4 goes right.",
    ),
    "deep": (
        {"fixed_splits": {"": {"column": 0, "threshold": 2.5}}, "max_depth": 0},
        "No tree of depth 0 keeps the 'fixed_splits', which are 1 deep.",
    ),
    "small": (
        {"fixed_splits": {"": {"column": 0, "threshold": 1.5}}, "min_samples_leaf": 2},
        "a side with 1 rows, fewer than 'min_samples_leaf'",
    ),
    "leaves": (
        {"fixed_splits": {"": {"column": 0, "threshold": 2.5}}, "max_leaf_nodes": 1},
        "No tree of 1 leaves",
    ),
    "start": (
        {"fixed_splits": {"": {"column": 0, "threshold": 2.5}}, "checkpoint": "x"},
        "'checkpoint' of OptimalTreeClassifier is for a search without rules",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_meant_is_said_in_one_sentence(name: str) -> None:
    given, words = BAD[name]
    X, y = [[1.0, 1.0], [2.0, 1.0], [3.0, 2.0], [4.0, 2.0]], [0, 1, 0, 1]
    with pytest.raises(ValueError, match=re.escape(words)) as error:
        OptimalTreeClassifier(**given).fit(X, y)
    assert "\n" not in str(error.value)


def test_a_column_of_categories_without_any_can_be_forbidden() -> None:
    X = np.array([[None, 1.0], [None, 2.0], [None, 3.0]], dtype=object)
    model = OptimalTreeClassifier(categorical_features=[0], interaction_cst="no_interactions")
    assert model.fit(X, [0, 1, 1]).objective_ == 0


def test_paths_pay_for_at_most_64_columns() -> None:
    """The last of 64 prices is kept like the others; one more is refused."""
    X = np.random.default_rng(5).integers(0, 2, (60, 65)).astype(float)
    y = X[:, 63].astype(int)
    prices = {c: (1 + c % 2, "path") for c in range(64)}
    model = OptimalTreeClassifier(max_depth=2, column_costs=prices).fit(X, y)
    assert model.status_ == "optimal"
    assert (model.objective_, sorted(model.tree_.columns_used)) == (2, [63])
    with pytest.raises(ValueError, match=r"at most 64 prices per path\. Got 65"):
        OptimalTreeClassifier(column_costs={**prices, 64: (1, "path")}).fit(X, y)


ONE_OF_EACH: dict[str, Any] = {
    "fixed_splits": {"": {"leaf": True}},
    "forbidden_columns": {"": [0]},
    "interaction_cst": "pairwise",
    "monotonic_cst": [1, 0],
    "column_costs": {0: 1.0},
}


@pytest.mark.parametrize("name", RULE_NAMES)
def test_what_knows_no_rules_refuses_each_of_them(name: str, tmp_path: Path) -> None:
    X, y = [[1.0, 1.0], [2.0, 1.0], [3.0, 2.0], [4.0, 2.0]], [0, 1, 0, 1]
    rule = {name: ONE_OF_EACH[name]}
    assert rules_given(OptimalTreeClassifier(**rule)) == [name]
    with pytest.raises(ValueError, match=f"must be False with '{name}'"):
        OptimalTreeClassifier(splits="pairs", refine_pairs=True, **rule).fit(X, y)
    with pytest.raises(ValueError, match=f"the '{name}' must be None"):
        OptimalTreeClassifier(**rule).certify(X, y, tmp_path / "certificate")
    with pytest.raises(ValueError, match=f"was fitted with '{name}'"):
        runner_up_splits(OptimalTreeClassifier(**rule).fit(X, y), X, y)
