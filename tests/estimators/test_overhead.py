"""What a fit costs beside the problem and the search."""

from __future__ import annotations

import time

import numpy as np

from provetree import OptimalTreeClassifier
from provetree.estimators import optimal_tree


def test_the_estimator_itself_is_cheap(monkeypatch):
    # The smallest benchmark table is solved in about a millisecond: a tenth of that is measured
    # here, and the limit leaves room for a busy machine.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1372, 4)), rng.integers(0, 2, 1372)
    build_problem, problems = optimal_tree.build_problem, []

    def build_once(*arguments, **options):
        if not problems:
            problems.append(build_problem(*arguments, **options))
        return problems[0]

    class Known:
        def solve(self, *arguments):
            return solution

    solution = OptimalTreeClassifier(max_depth=2).fit(X, y).solution_
    monkeypatch.setattr(optimal_tree, "build_problem", build_once)
    monkeypatch.setattr(optimal_tree, "ExactSearch", Known)
    clf = OptimalTreeClassifier()
    times = []
    for _ in range(50):
        start = time.perf_counter()
        clf.fit(X, y)
        times.append(time.perf_counter() - start)
    assert min(times) < 1e-3
