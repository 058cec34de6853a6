"""The classifier of mixed-integer models: parameters, limits, side constraints, files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.tree import DecisionTreeClassifier

from provetree import (
    ColumnGenerationClassifier,
    MIPTreeClassifier,
    OptimalTreeClassifier,
    Progress,
)
from provetree.errors import InfeasibleError
from provetree.mip.engine import NoTreeError
from provetree.mip.options import MIP_OPTIONS
from provetree.options import ParameterError
from provetree.solvers import highs
from provetree.solvers.highs import Highs
from provetree.solvers.solver import Outcome, SolverError
from testkit.interrupts import ctrl_c_within
from testkit.mip_cases import StartOnly
from testkit.sklearn_checks import all_checks

FORMULATIONS = ("oct", "p", "binoct", "flowoct")


@pytest.mark.filterwarnings("default")
@all_checks(MIPTreeClassifier("oct", warm_start="search", solver=StartOnly(), scaling="rank"))
def test_all_checks_pass(estimator, check):
    check(estimator)


def table(seed=0, n=24):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 3)), 1)
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(scale=0.5, size=n) > 0).astype(int)
    return X, y


def test_parameters_are_those_of_the_table():
    defaults = MIPTreeClassifier().get_params()
    assert defaults == {option.name: option.default for option in MIP_OPTIONS}
    assert "formulation : " in MIPTreeClassifier.__doc__


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_all_formulations_find_the_optimum(formulation):
    X, y = table()
    truth = OptimalTreeClassifier(max_depth=1).fit(X, y)
    clf = MIPTreeClassifier(formulation, max_depth=1, tighten=True).fit(X, y)
    assert clf.status_ == "optimal"
    assert int((clf.predict(X) != y).sum()) == truth.objective_
    assert clf.history_[-1].lower_bound == pytest.approx(clf.lower_bound_)
    assert isinstance(clf.history_[0], Progress)
    assert clf.counters_["variables"] > 0


def test_categories_missing_values_and_weights():
    import pandas as pd

    rng = np.random.default_rng(2)
    n = 20
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "size": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 4, n)),
        }
    )
    y = np.where(frame["colour"] == "green", "yes", "no")
    y[:3] = "yes"
    weight = rng.integers(0, 4, n) / 2
    truth = OptimalTreeClassifier(max_depth=2).fit(frame, y, weight)
    for formulation in FORMULATIONS:
        clf = MIPTreeClassifier(formulation, max_depth=2, tighten=True).fit(frame, y, weight)
        errors = weight[clf.predict(frame) != y].sum()
        assert errors == pytest.approx(truth.objective_), formulation
        assert clf.status_ == "optimal"


def test_alpha_is_a_share_of_the_baseline():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    y = np.array([0, 0, 0, 1, 1])
    # Largest class 3 rows, error of a single leaf 2 rows, one split saves 2.
    assert MIPTreeClassifier(max_depth=1, alpha=0.6).fit(X, y).get_depth() == 1
    assert MIPTreeClassifier(max_depth=1, alpha=0.7).fit(X, y).get_depth() == 0
    clf = MIPTreeClassifier(max_depth=1, alpha=0.9, baseline="error").fit(X, y)
    assert (clf.get_depth(), clf.objective_) == (1, pytest.approx(1.8))


@pytest.mark.parametrize("formulation", ["oct", "binoct", "flowoct"])
def test_no_alpha_is_rounded_away(formulation):
    # One split settles all rows; a second one would be free if the penalty were lost.
    X = np.array([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0]])
    y = np.array([0, 0, 1, 1])
    for alpha in (1e-5, 0.000123456):
        clf = MIPTreeClassifier(formulation, max_depth=2, alpha=alpha, tighten=True).fit(X, y)
        assert (clf.status_, clf.tree_.n_splits) == ("optimal", 1)
        assert clf.objective_ == clf.lower_bound_ == 2 * alpha
    # Finer than any solver's tolerance: nothing is claimed, and the bound is one.
    clf = MIPTreeClassifier(formulation, max_depth=2, alpha=1e-12, tighten=True).fit(X, y)
    assert clf.status_ == "gap_limit"
    assert 0 <= clf.lower_bound_ <= 2e-12 <= clf.objective_


def test_time_limit_gives_the_best_tree_and_a_valid_bound():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 2, 120)
    truth = OptimalTreeClassifier(max_depth=2).fit(X, y)
    clf = MIPTreeClassifier(max_depth=2, scaling="rank", time_limit=1.0).fit(X, y)
    assert clf.status_ == "time_limit"
    assert clf.lower_bound_ <= truth.objective_ <= clf.objective_
    assert clf.objective_ == (clf.predict(X) != y).sum()
    assert 0 < clf.gap_ <= 1


def test_ctrl_c_gives_the_best_tree_and_a_valid_bound():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 2, 120)
    warned = pytest.warns(ConvergenceWarning, match="MIPTreeClassifier keeps the best tree so far")
    with ctrl_c_within(highs, "interrupts", 1.0), warned:
        clf = MIPTreeClassifier(max_depth=2, scaling="rank", time_limit=600).fit(X, y)
    assert clf.status_ == "interrupted"
    assert clf.lower_bound_ <= clf.objective_ == (clf.predict(X) != y).sum()


def test_progress_is_shown(capsys):
    X, y = table()
    MIPTreeClassifier("flowoct", max_depth=1, verbose=1).fit(X, y)
    assert "provetree: " in capsys.readouterr().err


def test_starts():
    X, y = table()
    start = OptimalTreeClassifier(max_depth=1).fit(X, y)
    for warm_start in (None, "cart", "search", start, start.tree_):
        clf = MIPTreeClassifier("flowoct", max_depth=1, warm_start=warm_start).fit(X, y)
        assert clf.objective_ == start.objective_
        assert clf.counters_["warm_started"] == (warm_start is not None)
    deep = OptimalTreeClassifier(max_depth=3).fit(X, y)
    assert deep.get_depth() == 3
    with pytest.raises(ValueError, match=r"start tree does not keep to the limits: Its depth is 3"):
        MIPTreeClassifier(max_depth=1, warm_start=deep.tree_).fit(X, y)
    with pytest.raises(ValueError, match="The start tree has 3 features and 2 classes, and the"):
        MIPTreeClassifier(max_depth=1, warm_start=start.tree_).fit(X[:, :2], y)


@pytest.mark.parametrize("tighten", [False, True])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_start_is_a_point_of_its_model(formulation, tighten):
    class Look:
        def solve(self, model, *, start, limits, on_progress):
            assert model.violation(start).size < 1e-9
            self.seen = True
            return Outcome("time_limit", start, model.value(start), -np.inf)

    X, y = table()
    # Grown for other labels: leaves predict rare classes here, and siblings predict the same.
    for seed, most in ((0, None), (1, None), (2, 5)):
        other = np.random.default_rng(seed).permutation(y)
        grown = DecisionTreeClassifier(max_depth=2, max_leaf_nodes=most, random_state=0)
        grown.fit(X, other)
        look = Look()
        clf = MIPTreeClassifier(
            formulation, max_depth=2, tighten=tighten, warm_start=grown, solver=look
        ).fit(X, y)
        assert look.seen
        leaf, best = grown.apply(X), 0
        for node in np.unique(leaf):
            best += np.bincount(y[leaf == node]).max()
        assert int((clf.predict(X) != y).sum()) == len(y) - best


def test_groups_and_recall():
    X, y = table(4)
    group = np.where(X[:, 0] > 0, "b", "a")
    clf = MIPTreeClassifier(
        "flowoct", max_depth=1, max_parity_gap=0.25, min_recall={1: 0.5}, tighten=True
    ).fit(X, y, sensitive_features=group)
    positive = clf.predict(X) == 1
    rates = [positive[group == g].mean() for g in ("a", "b")]
    assert abs(rates[0] - rates[1]) <= 0.25 + 1e-12
    assert positive[y == 1].mean() >= 0.5
    free = MIPTreeClassifier("flowoct", max_depth=1, tighten=True).fit(X, y)
    assert clf.objective_ >= free.objective_


def test_false_positives_and_columns():
    X, y = table(5)
    clf = MIPTreeClassifier(
        max_depth=1, max_false_positive_rate=0.0, max_column_uses={0: 0}, tighten=True
    ).fit(X, y)
    assert (clf.predict(X)[y == 0] == 0).all()
    assert 0 not in clf.tree_.feature
    twins = np.column_stack([X[:, 0], X[:, 0]])  # the second may be used, the first may not
    clf = MIPTreeClassifier(max_depth=1, max_column_uses={0: 0}, tighten=True).fit(twins, y)
    assert clf.tree_.feature[0] == 1
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["one", "two", "three"])
    clf = MIPTreeClassifier(
        "flowoct", max_depth=2, max_column_uses={("one", "two"): 1, "three": 0}, tighten=True
    ).fit(frame, y)
    assert clf.tree_.n_splits <= 1


def test_infeasible_constraints_give_an_error():
    X = np.array([[1.0], [1.0]])
    y = np.array(["a", "b"])
    with pytest.raises(InfeasibleError, match=r"keeps to the side constraints \(min_recall\)"):
        MIPTreeClassifier(max_depth=1, min_recall=1.0).fit(X, y)
    # What was asked for stands in the message, not what is left of it in a tightened model.
    with pytest.raises(InfeasibleError, match="No tree of at most depth 3 and 1 split keeps"):
        MIPTreeClassifier(max_depth=3, max_splits=1, tighten=True, min_recall=1.0).fit(X, y)


def test_no_tree_in_time():
    class Idle:
        def solve(self, model, *, start=None, limits=None, on_progress=None):
            return Outcome("time_limit", None, np.inf, -np.inf)

    X, y = table()
    clf = MIPTreeClassifier(max_depth=1, min_recall=0.9, warm_start=None, solver=Idle())
    with pytest.raises(NoTreeError, match="before it found a tree that keeps to the side"):
        clf.fit(X, y)
    lazy = MIPTreeClassifier(max_depth=1, warm_start=None, solver=Idle()).fit(X, y)
    assert (lazy.status_, lazy.lower_bound_, lazy.get_depth()) == ("time_limit", 0, 0)


def test_a_wrong_answer_of_a_solver_is_not_believed():
    class Liar(Highs):
        def __init__(self, change):
            super().__init__()
            self.change = change

        def solve(self, model, **rest):
            return self.change(super().solve(model, **rest))

    def better(outcome):
        return Outcome("optimal", outcome.point, outcome.objective - 0.1, outcome.bound - 0.1)

    def tighter(outcome):
        return Outcome("optimal", outcome.point, outcome.objective, outcome.bound + 0.1)

    def impossible(outcome):
        return Outcome("infeasible", None, np.inf, np.inf)

    def unbounded(outcome):
        return Outcome("unbounded", None, -np.inf, -np.inf)

    X, y = table()
    for change, words in (
        (better, "and the solver says"),
        (tighter, "says that no tree costs less than"),
        (impossible, "says that no tree keeps to the constraints"),
        (unbounded, "says that the model is unbounded, which no model of a tree is"),
    ):
        with pytest.raises(SolverError, match=words):
            MIPTreeClassifier(max_depth=1, solver=Liar(change)).fit(X, y)


@pytest.mark.parametrize("ending", ["lp", "mps"])
def test_write_model(tmp_path, ending):
    X, y = table()
    clf = MIPTreeClassifier("p", max_depth=1)
    path = tmp_path / f"model.{ending}"
    with pytest.raises(NotFittedError):
        clf.write_model(path)
    with pytest.raises(ValueError, match="needs y as well"):
        clf.write_model(path, X)
    clf.write_model(path, X, y)
    text = path.read_text()
    assert "theta_1_1_1" in text
    clf.fit(X, y).write_model(path)
    assert path.read_text() == text
    with pytest.raises(ValueError, match="has no training rows with it"):
        pickle.loads(pickle.dumps(clf)).write_model(path)


def test_pickle_and_clone():
    X, y = table()
    clf = MIPTreeClassifier("flowoct", max_depth=1, min_recall=0.3).fit(X, y)
    again = pickle.loads(pickle.dumps(clf))
    assert np.array_equal(again.predict(X), clf.predict(X))
    assert clone(clf).get_params()["min_recall"] == 0.3


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"formulation": "nope"}, "The 'formulation' parameter of MIPTreeClassifier must be the"),
        ({"solver": "cplex"}, "The 'solver' parameter .* must be the str 'highs', the str 'gur"),
        ({"warm_start": "warm"}, "a fitted tree, None or False. Got 'warm' instead"),
        ({"mip_gap": 1.0}, r"a float in the range \[0.0, 1.0\)"),
        ({"formulation": "p", "alpha": 0.1}, "must be 0 with formulation 'p'"),
        ({"min_recall": {2: 0.5}}, "'min_recall' parameter .* must name labels of y. Got 2"),
        ({"min_recall": {1: 1.5}}, r"must hold numbers in the range \[0.0, 1.0\]. Got 1.5"),
        ({"min_recall": {1: "all"}}, r"must hold numbers in the range \[0.0, 1.0\]. Got 'all'"),
        ({"max_column_uses": {7: 1}}, "must name columns of the table. Got 7"),
        ({"max_column_uses": {0: -1}}, r"must hold ints in the range \[0, inf\). Got -1"),
        ({"positive_label": 9, "max_false_positive_rate": 0.1}, "must name labels of y. Got 9"),
    ],
)
def test_bad_parameters(parameters, words):
    X, y = table()
    with pytest.raises(ParameterError, match=words):
        MIPTreeClassifier(**{"max_depth": 1, **parameters}).fit(X, y)


def test_bad_groups():
    X, y = table()
    clf = MIPTreeClassifier(max_depth=1, max_parity_gap=0.1)
    with pytest.raises(ValueError, match="give fit sensitive_features"):
        clf.fit(X, y)
    with pytest.raises(ValueError, match=r"one entry per row, shape \(24,\). Got shape \(2,\)"):
        clf.fit(X, y, sensitive_features=["a", "b"])
    with pytest.raises(ValueError, match="'sensitive_features' must not hold missing values"):
        clf.fit(X, y, sensitive_features=[None, *"a" * (len(y) - 1)])
    y3 = np.arange(len(y)) % 3
    with pytest.raises(ValueError, match="needs to know the positive class of 3"):
        clf.fit(X, y3, sensitive_features=y)


def test_groups_of_different_types_are_different_groups():
    X, y = table()
    one, other = [1, "1"] * (len(y) // 2), ["a", "b"] * (len(y) // 2)
    clf = MIPTreeClassifier(max_depth=1, max_parity_gap=0.0)
    mixed = clf.fit(X, y, sensitive_features=one).objective_
    assert mixed == clf.fit(X, y, sensitive_features=other).objective_


def test_a_gap_ends_the_search():
    X, y = table(7, 40)
    clf = MIPTreeClassifier("flowoct", max_depth=2, mip_gap=0.99, tighten=True).fit(X, y)
    assert clf.status_ in ("gap_limit", "optimal")
    assert (clf.status_ == "optimal") == (clf.lower_bound_ == clf.objective_)
    truth = OptimalTreeClassifier(max_depth=2).fit(X, y)
    assert clf.lower_bound_ <= truth.objective_ <= clf.objective_


def test_each_fit_may_have_its_own_number_of_threads():
    """HiGHS gave up when a second solve of a process asked for another number of threads."""
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    for n_jobs in (1, 2, None, -1, 1):
        assert MIPTreeClassifier(max_depth=1, n_jobs=n_jobs).fit(X, y).objective_ == 0
        assert ColumnGenerationClassifier(max_depth=1).fit(X, y).objective_ == 0
