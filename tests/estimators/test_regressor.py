"""OptimalTreeRegressor: answers against the naive twin, scikit-learn's conventions, bad input."""

from __future__ import annotations

import inspect
import math
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.tree import DecisionTreeRegressor

from provetree import OptimalTreeClassifier, OptimalTreeRegressor, verify
from provetree.options import REGRESSOR_OPTIONS, ParameterError
from testkit.sklearn_checks import all_checks

RNG = np.random.default_rng(3)
X = RNG.integers(0, 9, size=(60, 3)).astype(float)
Y = np.round(np.where(X[:, 0] > 4, 3.0, -1.0) * X[:, 1] + RNG.normal(size=60), 2)


@pytest.mark.filterwarnings("default")
@all_checks(
    OptimalTreeRegressor(max_depth=2),
    OptimalTreeRegressor(max_depth=2, alpha=0.01, max_leaf_nodes=3),
    OptimalTreeRegressor(max_depth=2, criterion="absolute_error"),
)
def test_all_checks_pass(estimator, check):
    check(estimator)


def test_the_signature_and_the_docstring_are_the_table():
    parameters = inspect.signature(OptimalTreeRegressor).parameters
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        option.name: option.default for option in REGRESSOR_OPTIONS
    }
    assert list(parameters) == [option.name for option in REGRESSOR_OPTIONS]
    for option in REGRESSOR_OPTIONS:
        assert option.documentation() in inspect.getdoc(OptimalTreeRegressor)


def least_of_stumps(loss, x, y, w):
    """What the best tree of one split costs, by trying all of them."""

    def cost(rows):
        if loss == "squared_error":
            centre = np.average(y[rows], weights=w[rows], axis=0)
            return float((w[rows, None] * (y[rows] - centre) ** 2).sum())
        return sum(
            min(float((w[rows] * abs(of - middle)).sum()) for middle in of) for of in y[rows].T
        )

    everything = np.ones(len(x), dtype=bool)
    splits = [x[:, c] <= t for c in range(x.shape[1]) for t in np.unique(x[:, c])[:-1]]
    return min([cost(everything)] + [cost(left) + cost(~left) for left in splits])


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_stump(criterion, outputs, weighted):
    y = RNG.normal(size=(60, outputs)) + X[:, :1]
    w = RNG.integers(1, 4, 60) / 4 if weighted else np.ones(60)
    reg = OptimalTreeRegressor(max_depth=1, criterion=criterion)
    reg.fit(X, y if outputs > 1 else y[:, 0], sample_weight=w if weighted else None)
    assert reg.status_ == "optimal"
    assert reg.objective_ == reg.lower_bound_
    assert reg.gap_ == 0.0
    assert reg.objective_ == pytest.approx(least_of_stumps(criterion, X, y, w), rel=1e-12)
    checked = verify(reg.tree_, X, y, sample_weight=w, max_depth=1)
    assert checked.ok
    assert checked.cost == pytest.approx(reg.objective_, rel=1e-12)
    assert reg.predict(X).shape == ((60, outputs) if outputs > 1 else (60,))
    assert reg.n_outputs_ == outputs


def test_never_worse_than_greedy():
    for depth in (2, 3):
        greedy = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X, Y)
        best = OptimalTreeRegressor(max_depth=depth).fit(X, Y)
        assert best.objective_ <= ((greedy.predict(X) - Y) ** 2).sum() * (1 + 1e-9)
        assert best.score(X, Y) >= greedy.score(X, Y) - 1e-12


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_alpha_is_a_share_of_the_cost_of_a_single_leaf(criterion):
    root = OptimalTreeRegressor(max_depth=0, criterion=criterion).fit(X, Y).objective_
    free = OptimalTreeRegressor(max_depth=2, criterion=criterion).fit(X, Y)
    for scale in (1.0, 1e6):
        penalised = OptimalTreeRegressor(max_depth=2, criterion=criterion, alpha=0.05)
        penalised.fit(X, scale * Y)
        unit = scale**2 if criterion == "squared_error" else scale
        splits = penalised.tree_.n_splits
        leaves = verify(penalised.tree_, X, scale * Y, alpha=0.05)
        assert penalised.objective_ == pytest.approx(leaves.cost, rel=1e-9)
        assert leaves.errors + 0.05 * unit * root * splits == pytest.approx(leaves.cost)
        assert penalised.objective_ <= unit * (free.objective_ + 3 * 0.05 * root) * (1 + 1e-9)
    dear = OptimalTreeRegressor(max_depth=2, criterion=criterion, alpha=1.0).fit(X, Y)
    assert dear.get_n_leaves() == 1


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("offset", [1e9, -1e12])
def test_large_offsets_stay_right(criterion, offset):
    small = np.round(Y * 64) / 64  # exact beside the offset
    plain = OptimalTreeRegressor(max_depth=2, criterion=criterion).fit(X, small)
    moved = OptimalTreeRegressor(max_depth=2, criterion=criterion).fit(X, small + offset)
    assert moved.status_ == "optimal"
    assert moved.objective_ == pytest.approx(plain.objective_, rel=1e-12)
    assert moved.apply(X).tolist() == plain.apply(X).tolist()
    assert moved.predict(X) - offset == pytest.approx(plain.predict(X), abs=2e-4)


def test_constant_targets_are_one_leaf():
    reg = OptimalTreeRegressor().fit(X, np.full(60, 7.25))
    assert (reg.status_, reg.objective_, reg.get_n_leaves()) == ("optimal", 0.0, 1)
    assert reg.predict(X[:2]).tolist() == [7.25, 7.25]


@pytest.mark.parametrize("scale", [1e-100, 1e-30, 1e30, 1e100])
def test_targets_of_any_size(scale):
    plain = OptimalTreeRegressor(max_depth=2).fit(X, Y)
    scaled = OptimalTreeRegressor(max_depth=2).fit(X, Y * scale)
    assert scaled.objective_ / scale / scale == pytest.approx(plain.objective_, rel=1e-9)
    assert scaled.status_ == "optimal"


def test_weights_are_repeated_rows():
    w = RNG.integers(0, 4, 60)
    for criterion in ("squared_error", "absolute_error"):
        weighted = OptimalTreeRegressor(max_depth=2, criterion=criterion)
        weighted.fit(X, Y, sample_weight=w)
        repeated = OptimalTreeRegressor(max_depth=2, criterion=criterion)
        repeated.fit(np.repeat(X, w, axis=0), np.repeat(Y, w))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-12)
        assert weighted.predict(X).tolist() == repeated.predict(X).tolist()


def test_the_order_of_the_rows_does_not_matter():
    order = RNG.permutation(60)
    one = OptimalTreeRegressor(max_depth=2).fit(X, Y)
    other = OptimalTreeRegressor(max_depth=2).fit(X[order], Y[order])
    assert one.tree_ == other.tree_
    assert one.objective_ == other.objective_


def test_tables_with_categories_and_missing_values():
    frame = pd.DataFrame(
        {
            "size": np.where(RNG.random(60) < 0.2, np.nan, X[:, 0]),
            "town": pd.Categorical(np.array(["a", "b", "c"])[(X[:, 1] % 3).astype(int)]),
        }
    )
    y = pd.DataFrame({"price": Y, "rent": Y * 2})
    reg = OptimalTreeRegressor(max_depth=2).fit(frame, y)
    assert reg.status_ == "optimal"
    assert reg.tree_.class_names == ("price", "rent")
    assert verify(reg.tree_, frame, y.to_numpy()).cost == pytest.approx(reg.objective_)
    of_polars = pl.DataFrame(
        {"size": frame["size"].to_list(), "town": frame["town"].astype(str).to_list()}
    )
    again = OptimalTreeRegressor(max_depth=2).fit(of_polars, pl.DataFrame(y.to_dict("list")))
    assert again.predict(of_polars).tolist() == reg.predict(frame).tolist()


def test_what_a_fitted_regressor_has(tmp_path):
    reg = OptimalTreeRegressor(max_depth=2, n_jobs=2, checkpoint=tmp_path / "proof").fit(X, Y)
    assert reg.solution_.cost == reg.objective_
    assert reg.history_[-1].lower_bound <= reg.objective_ * (1 + 1e-9)
    assert reg.counters_["nodes"] >= 0
    assert reg.decision_path(X).shape == (60, reg.tree_.n_nodes)
    assert reg.feature_importances_.sum() == pytest.approx(1.0)
    again = pickle.loads(pickle.dumps(reg))
    assert again.predict(X).tolist() == reg.predict(X).tolist()
    assert again.tree_ == reg.tree_


def test_limits_leave_a_valid_bound():
    best = OptimalTreeRegressor(max_depth=3).fit(X, Y)
    short = OptimalTreeRegressor(max_depth=3, max_work=20_000).fit(X, Y)
    assert short.lower_bound_ <= best.objective_ <= short.objective_ * (1 + 1e-9)
    if short.status_ != "optimal":
        assert short.gap_ > 0


@pytest.mark.parametrize(
    ("criterion", "work"), [("squared_error", 4_000), ("absolute_error", 9_000)]
)
def test_a_proof_continues_from_its_file(criterion, work, tmp_path):
    file = tmp_path / "proof"
    whole = OptimalTreeRegressor(max_depth=3, criterion=criterion).fit(X, Y)
    short = OptimalTreeRegressor(max_depth=3, criterion=criterion, checkpoint=file, max_work=work)
    assert short.fit(X, Y).status_ == "work_limit"
    assert file.exists()
    again = OptimalTreeRegressor(max_depth=3, criterion=criterion, checkpoint=file)
    with pytest.raises(ValueError, match="belongs to another table or other limits"):
        again.fit(X, Y + X[:, 0])
    assert again.fit(X, Y).tree_ == whole.tree_
    assert not file.exists()
    several = OptimalTreeRegressor(max_depth=3, criterion=criterion, n_jobs=2).fit(X, Y)
    assert several.tree_ == whole.tree_


def test_a_tree_to_begin_with():
    greedy = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, Y)
    short = OptimalTreeRegressor(max_depth=3, max_work=1).fit(X, Y, initial_tree=greedy)
    assert short.objective_ <= ((greedy.predict(X) - Y) ** 2).sum() * (1 + 1e-9)
    again = OptimalTreeRegressor(max_depth=3).fit(X, Y, initial_tree=short.tree_)
    assert again.objective_ <= short.objective_
    sentence = "must be a fitted tree of provetree or of scikit-learn, a Tree or None. Got str"
    with pytest.raises(ValueError, match=sentence):
        OptimalTreeRegressor().fit(X, Y, initial_tree="cart")
    with pytest.raises(ValueError, match="must be a fitted tree classifier"):
        OptimalTreeClassifier().fit(X, Y > 0, initial_tree=greedy)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (np.where(np.arange(60) == 3, np.inf, Y), "must hold finite numbers. Got infinity"),
        (np.where(np.arange(60) == 3, np.nan, Y), "must hold no missing values"),
        (np.where(np.arange(60) == 3, None, Y), "must hold no missing values. Got None"),
        (["low"] * 60, "must hold numbers. Got 'low'"),
        ([*Y[:-1], "1.5"], "must hold numbers"),
        (np.arange(60).astype("datetime64[D]"), "must hold numbers. Got datetime64"),
        (Y * 1j, "Complex data not supported"),
        (2**53 + np.arange(60), r"ints of at most 2\*\*53 in size"),
        ([2**70] * 60, r"ints of at most 2\*\*53 in size.* Got 1180591620717411303424"),
        (Y * 1e200, "at most 1e.140 in size"),
        (Y * 1e-200, "range is 0 or at least 1e-140"),
        (Y[:-1], "inconsistent numbers of samples: X has 60 rows and y has 59"),
        (Y.reshape(60, 1, 1), r"one number for each row.* Got an array of shape \(60, 1, 1\)"),
        (np.empty((60, 0)), "one number for each row"),
        ([[1.0]] * 59 + [[1.0, 2.0]], "rows of equal length"),
        (None, "requires y to be passed"),
    ],
)
def test_targets_that_are_refused(y, sentence):
    with pytest.raises(ValueError, match=sentence) as told:
        OptimalTreeRegressor().fit(X, y)
    assert "\n" not in str(told.value)


def test_targets_that_are_no_data_yet():
    import scipy.sparse

    with pytest.raises(TypeError, match=r"must be data. Got a lazy table: use collect\(\)"):
        OptimalTreeRegressor().fit(X, pl.DataFrame({"y": Y}).lazy())
    with pytest.raises(TypeError, match=r"must be a dense array. Got sparse data: use toarray"):
        OptimalTreeRegressor().fit(X, scipy.sparse.csr_matrix(Y[:, None]))
    foreign = type("Foreign", (), {"shape": (3, 1), "columns": (Y,)})()  # a table of Arrow
    with pytest.raises(TypeError, match="must be an array, a list, or a table of pandas or polars"):
        OptimalTreeRegressor().fit(X, foreign)


def test_targets_of_other_types():
    expected = OptimalTreeRegressor(max_depth=1).fit(X, np.round(Y)).predict(X).tolist()
    for y in (
        np.round(Y).astype(int),
        [Decimal(int(v)) for v in np.round(Y)],
        pd.Series(np.round(Y), dtype="Float64"),
        pl.Series(np.round(Y)),
        np.round(Y)[:, None],
    ):
        assert OptimalTreeRegressor(max_depth=1).fit(X, y).predict(X).tolist() == expected


@pytest.mark.parametrize("criterion", ["gini", "entropy", "errors", "friedman_mse", None, 3])
def test_a_criterion_of_another_kind(criterion):
    sentence = "must be the str 'squared_error' or the str 'absolute_error'. Got"
    with pytest.raises(ParameterError, match=sentence):
        OptimalTreeRegressor(criterion=criterion).fit(X, Y)


def test_a_single_row():
    reg = OptimalTreeRegressor().fit([[1.0]], [3.5])
    assert reg.predict([[math.nan]]).tolist() == [3.5]
