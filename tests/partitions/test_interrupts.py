"""Ctrl-C: the best tree so far with a valid bound, wherever it comes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from provetree import (
    ExactSearch,
    Limits,
    PartitionTreeClassifier,
    _core,
    improved_greedy_partition,
)
from provetree.partitions import refinement as module
from provetree.partitions.refinement import PartitionSearch
from testkit.interrupts import ctrl_c_within
from testkit.partition_cases import build, by_search


def hard(n=600):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 6)), rng.integers(0, 2, n)


@pytest.mark.parametrize("refinement_kind", ["heuristic", "exact"])
def test_ctrl_c_in_a_search_keeps_the_best_tree(refinement_kind):
    X, y = hard()
    clf = PartitionTreeClassifier(refinement=refinement_kind, max_depth=4)
    search = module._Run, "solution"
    with ctrl_c_within(*search, 0.6), pytest.warns(ConvergenceWarning, match="interrupted"):
        clf.fit(X, y)
    assert clf.status_ == "interrupted"
    assert 0 <= clf.lower_bound_ <= clf.objective_ < 300
    assert (clf.predict(X) != y).sum() == clf.objective_


def test_ctrl_c_between_the_parts(monkeypatch):
    X, y = hard(60)
    problem, table = build(X, y, 2, depth=2)

    def press(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "post_process", press)
    found = PartitionSearch(table, by_search).solve(problem, Limits(10.0))
    assert found.status == "interrupted"
    assert found.lower_bound <= ExactSearch().solve(problem).cost <= found.cost


def test_ctrl_c_while_rows_are_clustered():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20000, 12)), rng.integers(0, 2, 20000)
    with ctrl_c_within(_core.partitions, "partition", 0.3), pytest.raises(KeyboardInterrupt):
        improved_greedy_partition(X, y)


def test_ctrl_c_in_the_clustering_of_the_engine(monkeypatch):
    X, y = hard(60)
    problem, table = build(X, y, 2, depth=2)
    nothing = np.empty(0, dtype=np.int64)
    monkeypatch.setattr(
        module, "cluster_points", lambda *a, **k: (np.arange(60), nothing, "interrupted")
    )
    found = PartitionSearch(table, by_search, "crm").solve(problem)
    assert found.status == "interrupted"
    assert found.tree.n_splits == 0
    assert found.lower_bound <= found.cost == problem.root_error
