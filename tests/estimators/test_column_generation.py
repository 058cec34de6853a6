"""ColumnGenerationClassifier: its face, its constraints on real predictions, bad input."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.tree import DecisionTreeClassifier

from provetree import ColumnGenerationClassifier, OptimalTreeClassifier, verify
from provetree.errors import InfeasibleError
from provetree.export.sklearn import UnsupportedTreeError
from provetree.options import ParameterError
from testkit.sklearn_checks import all_checks


@pytest.mark.filterwarnings("default")
@all_checks(
    ColumnGenerationClassifier(max_depth=2, sample_runs=20, start_runs=5),
    ColumnGenerationClassifier(
        max_depth=2, variant="original", sample_runs=20, alpha=0.01, max_leaf_nodes=3
    ),
)
def test_all_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def depth_three(cancer):
    return ColumnGenerationClassifier(max_depth=3).fit(*cancer)


def test_never_worse_than_cart_and_never_better_than_the_optimum(cancer, depth_three):
    X, y = cancer
    fits = [ColumnGenerationClassifier(max_depth=depth).fit(X, y) for depth in (1, 2)]
    for depth, clf in enumerate([*fits, depth_three], start=1):
        cart = DecisionTreeClassifier(max_depth=depth, random_state=0).fit(X, y)
        optimal = OptimalTreeClassifier(max_depth=depth).fit(X, y)
        assert clf.candidate_optimal_
        assert optimal.objective_ <= clf.objective_ <= (cart.predict(X) != y).sum()
        assert clf.objective_ == (clf.predict(X) != y).sum() == clf.candidate_bound_
        assert clf.lower_bound_ <= optimal.objective_
        assert clf.status_ in ("candidate_optimal", "optimal")
        assert clf.master_value_ <= clf.objective_ + 1e-6
        assert clf.candidate_gap_ == 0.0


def test_the_result_tells_what_was_done(cancer):
    X, y = cancer
    clf = ColumnGenerationClassifier(max_depth=3, master_method="simplex").fit(X, y)
    proof = clf.proof_
    assert proof.iterations == len(clf.history_) > 1
    assert proof.n_columns > 8
    assert {"sampling", "master", "pricing", "cuts"} <= set(proof.seconds)
    assert clf.history_[-1].master_bound == pytest.approx(clf.master_bound_, abs=1e-4)
    bounds = [point.master_bound for point in clf.history_]
    assert bounds == sorted(bounds)
    assert clf.history_[-1].n_columns <= proof.n_columns
    assert pickle.loads(pickle.dumps(clf)).proof_.n_columns == proof.n_columns


def test_recall_false_positives_and_leaves_are_kept(cancer, depth_three):
    X, y = cancer
    clf = ColumnGenerationClassifier(
        max_depth=3,
        min_recall={0: 0.97},
        max_false_positive_rate={0: 0.1},
        max_leaf_nodes=5,
        min_samples_leaf=10,
    ).fit(X, y)
    predicted = clf.predict(X)
    assert (predicted[y == 0] == 0).mean() >= 0.97
    assert (predicted[y == 1] == 0).mean() <= 0.1
    assert clf.get_n_leaves() <= 5
    assert clf.tree_.n_samples[clf.tree_.feature < 0].min() >= 10
    assert clf.candidate_optimal_
    assert depth_three.objective_ <= clf.objective_
    report = verify(clf.tree_, X, y, max_leaf_nodes=5, min_samples_leaf=10)
    assert report.ok
    assert report.cost == clf.objective_


def test_one_floor_for_all_classes_and_a_leaf_against_its_majority():
    X = np.zeros((10, 1))
    X[8:] = 1.0
    y = np.array([0] * 7 + [1] + [0, 1])
    clf = ColumnGenerationClassifier(max_depth=1, min_recall={1: 0.5}).fit(X, y)
    assert (clf.predict(X)[y == 1] == 1).mean() >= 0.5
    strict = ColumnGenerationClassifier(max_depth=1, min_recall={1: 1.0}).fit(X, y)
    assert (strict.predict(X)[y == 1] == 1).all()
    # Eight of class 0 and two of class 1, and all must be called 1: no split is of use.
    assert strict.predict([[0.0]])[0] == 1
    assert strict.export_text() == "1: 20.0% of 10 rows [8, 2]"
    with pytest.raises(UnsupportedTreeError, match="predicts another one"):
        strict.to_sklearn()
    for again in (
        type(strict.tree_).from_json(strict.tree_.to_json()),
        type(strict.tree_).from_text(strict.tree_.to_text()),
        pickle.loads(pickle.dumps(strict.tree_)),
    ):
        assert again == strict.tree_
        assert again.predict([[0.0]]).tolist() == [1]


def test_parity_between_groups_with_weights_missing_values_and_categories():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 300
    group = rng.choice(["a", "b", "c"], n)
    x = rng.normal(size=n) + (group == "a")
    x[rng.random(n) < 0.1] = np.nan
    colour = pd.Categorical(rng.choice(["red", "green"], n))
    y = np.where(np.nan_to_num(x) + rng.normal(size=n) > 0.3, "yes", "no")
    weight = rng.integers(1, 4, n) / 2
    table = pd.DataFrame({"x": x, "colour": colour, "z": rng.integers(0, 4, n)})

    def gap(clf):
        said = clf.predict(table) == "yes"
        rates = [np.average(said[group == g], weights=weight[group == g]) for g in "abc"]
        return max(rates) - min(rates)

    free = ColumnGenerationClassifier(max_depth=2).fit(table, y, weight)
    fair = ColumnGenerationClassifier(max_depth=2, max_parity_gap=0.1)
    fair.fit(table, y, weight, sensitive_features=group)
    assert gap(free) > 0.1
    assert gap(fair) <= 0.1 + 1e-12
    assert fair.candidate_optimal_
    assert fair.objective_ >= free.objective_


def test_seeds_threads_and_order_of_rows():
    X, y = load_wine(return_X_y=True)
    one = ColumnGenerationClassifier(random_state=3).fit(X, y)
    two = ColumnGenerationClassifier(random_state=3, n_jobs=2).fit(X, y)
    assert one.tree_ == two.tree_
    order = np.random.default_rng(0).permutation(len(y))
    assert ColumnGenerationClassifier(random_state=3).fit(X[order], y[order]).tree_ == one.tree_


def test_own_candidates_by_name_and_node():
    pd = pytest.importorskip("pandas")
    X, y = load_wine(return_X_y=True, as_frame=True)
    assert isinstance(X, pd.DataFrame)
    clf = ColumnGenerationClassifier(
        max_depth=2,
        candidates={0: [("proline", 755.0), ("flavanoids", 1.6)], 1: [(12, 500)], 2: [(6, 2.1)]},
    ).fit(X, y)
    used = {clf.tree_.feature_names[f] for f in clf.tree_.feature if f >= 0}
    assert used <= {"proline", "flavanoids"}
    assert clf.candidate_optimal_


def test_own_candidates_of_columns_that_repeat_others():
    # The problem leaves out copies, mirror images and splits of earlier columns.
    few = np.random.default_rng(0).integers(0, 3, 50).astype(float)
    some = (few > 0).astype(float)
    for X in (np.c_[few, some], np.c_[some, some], np.c_[1 - some, some]):
        clf = ColumnGenerationClassifier(max_depth=1, candidates=[(1, 0.5)]).fit(X, some)
        assert clf.objective_ == 0
        assert clf.tree_.feature[0] == 1


def test_own_candidates_of_categories():
    pd = pytest.importorskip("pandas")
    colour = pd.Categorical(["red", "green", "blue", "red"] * 5)
    X, y = pd.DataFrame({"colour": colour, "x": np.arange(20.0)}), colour == "green"
    clf = ColumnGenerationClassifier(max_depth=1, candidates=[("colour", "green")]).fit(X, y)
    assert clf.objective_ == 0
    clf = ColumnGenerationClassifier(max_depth=1, candidates=[("colour", "pink"), ("x", 3.0)])
    words = r"a category of feature 'colour' .*: 'blue', 'green', 'red'\. Got 'pink' instead"
    with pytest.raises(ValueError, match=words):
        clf.fit(X, y)
    twice = X.set_axis(["x", "x"], axis=1)
    with pytest.raises(ValueError, match=r"must name one feature\. Got 'x', the name of 2 columns"):
        ColumnGenerationClassifier(candidates=[("x", 3.0)]).fit(twice, y)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"variant": "new"}, "must be the str 'revised' or the str 'original'"),
        ({"min_recall": 1.5}, "a float in the range"),
        ({"min_recall": {0: -1}}, "numbers in the range"),
        ({"min_recall": {7: 0.5}}, "must name labels of y. Got 7"),
        ({"max_false_positive_rate": 0.5}, "must be a dict by label where y has 3 labels"),
        ({"candidates": [(99, 1.0)]}, "must name features of the table"),
        ({"candidates": [(0, "high")]}, "must give numbers as thresholds"),
        ({"candidates": {99: [(0, 1.0)]}}, "must name nodes from 0 to 6"),
        ({"candidates": [3]}, "must hold pairs"),
        ({"candidates": 3}, "a collection of splits"),
        ({"candidates": iter([(0, 1.0)])}, "a collection of splits"),
        ({"candidates": {0: None}}, "a collection of pairs .* Got None for node 0"),
        ({"candidates": {True: [(0, 1.0)]}}, "must name nodes from 0 to 6"),
        ({"candidates": [(True, 1.0)]}, "must name features of the table"),
        ({"n_jobs": 0}, "an int other than 0"),
        ({"max_depth": 13}, r"range \[0, 12\]"),
        ({"pricing": "cpsat", "row_constraints": "extra"}, "cannot price routes"),
        ({"max_parity_gap": 0.1}, "belong together"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    X, y = load_wine(return_X_y=True)
    with pytest.raises((ParameterError, ValueError), match=words):
        ColumnGenerationClassifier(**parameters).fit(X, y)


def test_bad_groups_are_named():
    X, y = load_wine(return_X_y=True)
    clf = ColumnGenerationClassifier(max_parity_gap=0.5)
    with pytest.raises(ValueError, match="one entry per row"):
        clf.fit(X, y, sensitive_features=[1, 2])
    for missing in (np.nan, None):
        with pytest.raises(ValueError, match=f"must not hold missing values. Got {missing}."):
            clf.fit(X, y, sensitive_features=[missing, *["a"] * (len(y) - 1)])
    with pytest.raises(ValueError, match=r"numbers or strings\. Got a dict"):
        clf.fit(X, y, sensitive_features=[{}] * len(y))


@pytest.mark.parametrize("as_given", [list, lambda names: np.array(names, dtype=object)])
def test_a_number_and_its_text_are_two_groups(as_given):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    clf = ColumnGenerationClassifier(max_depth=1, min_recall=1.0, max_parity_gap=0.5)
    with pytest.raises(InfeasibleError, match="between groups 1 and '1'"):
        clf.fit(X, y, sensitive_features=as_given([1, 1, "1", "1"]))
    # 1 and 1.0 are one group, and so is a table of a single one: nothing to keep.
    assert clf.fit(X, y, sensitive_features=as_given([1, 1, 1.0, 1.0])).objective_ == 0


def test_constraints_that_cannot_be_met(cancer):
    X, y = cancer
    clf = ColumnGenerationClassifier(max_depth=1, min_recall=1.0)
    with pytest.raises(
        InfeasibleError, match=r"No tree of the candidate splits .* recall of class"
    ):
        clf.fit(X, y)


def test_constraints_are_named_by_the_users_labels_and_groups():
    X, y = [[0.0], [0.0], [1.0], [1.0]], ["no", "yes", "no", "yes"]
    clf = ColumnGenerationClassifier(max_depth=1, min_recall={"yes": 1.0, "no": 0.5})
    with pytest.raises(InfeasibleError, match="recall of class 'yes', recall of class 'no'"):
        clf.fit(X, y)
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    clf = ColumnGenerationClassifier(
        max_depth=1, min_recall=1.0, max_parity_gap=0.1, min_samples_leaf=2
    )
    words = r"parity of class 1 between groups 'a' and 'b', at least 2 rows per leaf"
    with pytest.raises(InfeasibleError, match=words):
        clf.fit(X, y, sensitive_features=["a", "a", "b", "b"])


def test_empty_candidate_sets_are_told():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    for candidates, nodes in (([], "0, 1, 2"), ({0: [(0, 0.5)], 2: [(0, 99.0)]}, "2")):
        with pytest.warns(ConvergenceWarning, match=f"no split for node {nodes} that tells"):
            clf = ColumnGenerationClassifier(max_depth=2, candidates=candidates).fit(X, y)
        assert clf.candidate_optimal_
        assert (clf.predict(X) != y).sum() == clf.objective_
    assert clf.proof_.unsplit_nodes == (1, 2)  # node 1 was left out on purpose


def test_weights_too_far_apart_are_told():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    with pytest.warns(ConvergenceWarning, match="rounded weights"):
        clf = ColumnGenerationClassifier(max_depth=1).fit(X, y, sample_weight=[1e9, 1e-9, 1e9, 1e9])
    assert clf.objective_ == pytest.approx(0, abs=10)
    assert clf.predict([[0.0], [3.0]]).tolist() == [0, 1]


def test_a_missing_cpsat_is_said_before_any_work(monkeypatch):
    from provetree.solvers import cpsat

    monkeypatch.setattr(cpsat, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'provetree\[cpsat\]'"):
        ColumnGenerationClassifier(pricing="cpsat").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ImportError, match=r"pip install 'provetree\[cpsat\]'"):
        ColumnGenerationClassifier(row_constraints="extra", separation="cpsat").fit([[0.0]], [0])


def test_a_master_in_trouble_is_said(monkeypatch, cancer):
    from provetree.colgen.master import Master, MasterError

    def broken(self, time_limit=np.inf):
        raise MasterError("HiGHS ended with status 'Unknown'.")

    monkeypatch.setattr(Master, "solve", broken)
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match="HiGHS ended"):
        clf = ColumnGenerationClassifier(max_depth=2, master_method="simplex").fit(X, y)
    assert clf.status_ == "feasible" or clf.candidate_optimal_
    assert (clf.predict(X) != y).sum() == clf.objective_


def test_a_master_that_is_solved_again_is_said(monkeypatch, cancer):
    import highspy

    from provetree.colgen import master

    class Faltering(highspy.Highs):
        """Cannot say how its first two solves ended."""

        runs = 0

        def run(self):
            self.runs += 1
            return super().run()

        def getModelStatus(self):
            if self.runs <= 2:
                return highspy.HighsModelStatus.kUnknown
            return super().getModelStatus()

    X, y = cancer
    wanted = ColumnGenerationClassifier(max_depth=2, master_method="simplex").fit(X, y)
    monkeypatch.setattr(master.highspy, "Highs", Faltering)
    with pytest.warns(ConvergenceWarning, match=r"solved again from scratch \(2 times\)"):
        clf = ColumnGenerationClassifier(max_depth=2, master_method="simplex").fit(X, y)
    assert clf.proof_.resolves == 2
    assert clf.master_value_ == pytest.approx(wanted.master_value_)
    assert clf.tree_ == wanted.tree_


def test_cp_sat_prices_the_same_tree():
    from importlib.util import find_spec

    if find_spec("ortools") is None:
        pytest.skip("needs ortools")
    X, y = load_wine(return_X_y=True)
    X, y = X[::3], y[::3]
    own = ColumnGenerationClassifier(max_depth=2, sample_runs=30).fit(X, y)
    for settings in (
        {"pricing": "cpsat"},
        {"row_constraints": "extra", "separation": "cpsat", "integer_step": "mip"},
    ):
        clf = ColumnGenerationClassifier(max_depth=2, sample_runs=30, **settings).fit(X, y)
        assert clf.objective_ == own.objective_
        assert clf.master_value_ == pytest.approx(own.master_value_, abs=1e-3)


def test_interrupted_fits_warn():
    program = (
        "import warnings\n"
        "from sklearn.datasets import load_breast_cancer\n"
        "from provetree import ColumnGenerationClassifier\n"
        "from provetree.colgen.run import Run\n"
        "from testkit.interrupts import ctrl_c_within\n"
        "X, y = load_breast_cancer(return_X_y=True)\n"
        "clf = ColumnGenerationClassifier(max_depth=4, candidate_factor=20)\n"
        "warned = warnings.catch_warnings(record=True)\n"
        "with ctrl_c_within(Run, 'solve', 1.5), warned as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    clf.fit(X, y)\n"
        "assert clf.status_ in ('interrupted', 'candidate_optimal', 'optimal'), clf.status_\n"
        "assert (clf.predict(X) != y).sum() == clf.objective_\n"
        "told = any('interrupted' in str(w.message) for w in seen)\n"
        "assert (clf.status_ == 'interrupted') == told\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr


def test_no_warning_without_trouble(cancer):
    X, y = cancer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ColumnGenerationClassifier(max_depth=2).fit(X, y)
