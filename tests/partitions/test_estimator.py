"""PartitionTreeClassifier as users meet it: scikit-learn's checks, options, bad input, tables."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.datasets import load_iris

from provetree import (
    DataPartition,
    OptimalTreeClassifier,
    PartitionTreeClassifier,
    greedy_partition,
    improved_greedy_partition,
    load_model,
    verify,
)
from provetree.options import ParameterError
from provetree.partitions.options import PARTITION_OPTIONS
from testkit.sklearn_checks import all_checks


@pytest.mark.filterwarnings("default")
@all_checks(
    PartitionTreeClassifier(),
    PartitionTreeClassifier(partition="crm", refinement="exact", max_depth=2),
)
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


def test_the_signature_is_the_table_of_options():
    parameters = inspect.signature(PartitionTreeClassifier).parameters
    assert list(parameters) == [option.name for option in PARTITION_OPTIONS]
    for option in PARTITION_OPTIONS:
        assert parameters[option.name].default == option.default
        assert option.documentation() in inspect.getdoc(PartitionTreeClassifier)


@pytest.mark.parametrize("partition", ["gp", "igp", "crm"])
@pytest.mark.parametrize("refinement", ["heuristic", "exact"])
def test_iris(partition, refinement):
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    clf = PartitionTreeClassifier(partition, refinement=refinement, max_depth=3).fit(X, names)
    best = OptimalTreeClassifier(max_depth=3).fit(X, names)
    assert clf.objective_ >= best.objective_ >= clf.lower_bound_
    if refinement == "exact":
        assert clf.status_ == "optimal"
        assert clf.objective_ == best.objective_
    assert (clf.predict(X) != names).sum() == clf.objective_
    assert verify(clf.tree_, X, names, max_depth=3).cost == clf.objective_
    assert clf.clusters_.shape == (150,)
    assert clf.clusters_.min() == 0
    assert len(np.unique(clf.last_clusters_)) >= len(np.unique(clf.clusters_))
    assert len(clf.rounds_) == clf.counters_["rounds"]


def test_a_partition_of_one_s_own_and_the_limit_on_splits():
    X, y = load_iris(return_X_y=True)
    for made in (greedy_partition(X, y, 0.1), improved_greedy_partition(X, y)):
        clf = PartitionTreeClassifier(made, max_depth=3, max_splits=2).fit(X, y)
        assert clf.tree_.n_splits <= 2
        # Two of iris' rows are equal and of one class: they share a cluster here.
        assert len(np.unique(clf.clusters_)) <= made.n_clusters
    with pytest.raises(ValueError, match=r"of the 149 training rows\. Got one of 150 rows"):
        PartitionTreeClassifier(made).fit(X[1:], y[1:])
    mixed = DataPartition(X, y, np.zeros(150, dtype=int))
    with pytest.raises(ValueError, match="homogeneous"):
        PartitionTreeClassifier(mixed, refinement="exact").fit(X, y)


def test_categories_missing_values_and_weights():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 80
    colour = rng.choice(["red", "green", "blue"], n)
    size = rng.normal(size=n)
    size[rng.random(n) < 0.2] = np.nan
    y = np.where((colour == "red") | (size > 1), "yes", "no")
    X = pandas.DataFrame({"colour": colour, "size": size})
    weights = rng.integers(0, 3, n)
    clf = PartitionTreeClassifier(refinement="exact", max_depth=2).fit(X, y, weights)
    best = OptimalTreeClassifier(max_depth=2).fit(X, y, weights)
    assert clf.status_ == "optimal"
    assert clf.objective_ == best.objective_
    assert (clf.clusters_[weights == 0] == -1).all()
    assert (clf.clusters_[weights > 0] >= 0).all()
    assert clf.predict(X).shape == (n,)


def test_a_model_file_keeps_it(tmp_path):
    X, y = load_iris(return_X_y=True)
    clf = PartitionTreeClassifier(max_depth=2).fit(X, y)
    clf.save(tmp_path / "model.json")
    stored = load_model(tmp_path / "model.json")
    assert stored.proof.status == "feasible"


# -- bad input ----------------------------------------------------------------------------------


def test_one_class():
    clf = PartitionTreeClassifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    assert clf.status_ == "optimal"
    assert clf.objective_ == 0
    assert clf.tree_.n_splits == 0


@pytest.mark.parametrize("refinement", ["heuristic", "exact"])
def test_equal_rows_with_different_labels(refinement):
    X, y = [[1.0, 2.0]] * 5, [0, 1, 1, 0, 1]
    clf = PartitionTreeClassifier(refinement=refinement).fit(X, y)
    assert clf.status_ == "optimal"
    assert clf.objective_ == clf.lower_bound_ == 2
    X, y = [[1.0], [1.0], [2.0], [2.0], [3.0]], [0, 1, 1, 1, 0]
    clf = PartitionTreeClassifier(refinement=refinement, max_depth=2).fit(X, y)
    assert clf.status_ == "optimal"
    assert clf.objective_ == 1


@pytest.mark.parametrize(
    ("name", "bad", "sentence"),
    [
        ("partition", "kmeans", "'gp', the str 'igp', the str 'crm' or a DataPartition"),
        ("rho", 0.0, r"a float in the range \(0.0, 1.0\). Got 0.0"),
        ("rho", 1, r"a float in the range \(0.0, 1.0\). Got 1 "),
        ("refinement", "both", "'heuristic' or the str 'exact'"),
        ("inner", "lp", "'search' or the str 'milp'"),
        ("max_splits", -1, r"an int in the range \[0, inf\) or None. Got -1"),
        ("time_limit", 0, r"\(0.0, inf\]"),
        ("improved", 1, "a bool"),
        ("n_jobs", 0, r"an int other than 0 or None"),
    ],
)
def test_bad_parameters(name, bad, sentence):
    clf = PartitionTreeClassifier(**{name: bad})
    with pytest.raises(ParameterError, match=f"'{name}' parameter of PartitionTree.*{sentence}"):
        clf.fit([[0.0], [1.0]], [0, 1])


def test_no_splits_allowed():
    clf = PartitionTreeClassifier(max_splits=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    assert clf.tree_.n_splits == 0
    assert clf.objective_ == 1
    clf = PartitionTreeClassifier(max_depth=0, refinement="exact", inner="milp")
    assert clf.fit([[0.0], [1.0], [2.0]], [0, 1, 1]).status_ == "optimal"


def test_the_order_of_rows_does_not_matter():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    for partition in ("gp", "igp", "crm"):
        plain = PartitionTreeClassifier(partition, max_depth=2).fit(X, y)
        shuffled = PartitionTreeClassifier(partition, max_depth=2).fit(X[order], y[order])
        assert plain.tree_ == shuffled.tree_
        assert plain.rounds_[0].n_clusters == shuffled.rounds_[0].n_clusters
        pairs = set(zip(plain.clusters_[order].tolist(), shuffled.clusters_.tolist(), strict=True))
        assert len(pairs) == len(np.unique(plain.clusters_))
