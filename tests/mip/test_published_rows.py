"""The four models constraint by constraint, written down as a reader would do it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from provetree import build_problem
from provetree.formulations.formulation import Settings
from provetree.formulations.thresholds import scale_columns
from provetree.mip.engine import formulation_class

INF = np.inf


def random_problem(seed, n=7, p=2, n_classes=3, **options):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, p)).astype(float)
    y = rng.integers(0, n_classes, n)
    return build_problem(X, y, n_classes=n_classes, max_depth=2, **options)


def found_rows(model):
    """The rows of a model: terms by name, lower and upper bound."""
    names, matrix = model.variable_names(), model.matrix.tocsr()
    rows = []
    for r in range(model.n_constraints):
        part = slice(matrix.indptr[r], matrix.indptr[r + 1])
        terms = zip(matrix.indices[part].tolist(), matrix.data[part].tolist(), strict=True)
        named = {names[c]: v for c, v in terms if v}
        rows.append((named, float(model.row_lower[r]), float(model.row_upper[r])))
    return rows


def sortable(rows):
    return sorted(
        (sorted((v, round(c, 10)) for v, c in terms.items() if c), round(low, 10), round(high, 10))
        for terms, low, high in rows
    )


def tree_of(depth):
    """Branches and leaves as the papers number them, and who is left and right above a leaf."""
    n_branches = 2**depth - 1
    leaves = range(n_branches + 1, 2 ** (depth + 1))
    left = {t: [a for a in ancestors(t) if goes_left(t, a)] for t in leaves}
    right = {t: [a for a in ancestors(t) if not goes_left(t, a)] for t in leaves}
    return range(1, n_branches + 1), leaves, left, right


def ancestors(t):
    return [t >> k for k in range(1, t.bit_length())]


def goes_left(t, ancestor):
    while t // 2 != ancestor:
        t //= 2
    return t % 2 == 0


def scaled_rows(problem):
    """The rows in the scale of both papers, and the least distance of two values of each column."""
    values = scale_columns(problem, "minmax").values
    columns = range(len(problem.columns))
    rows = [[values[j][problem.ranks[j, i]] for j in columns] for i in range(problem.n_rows)]
    return rows, [min(np.diff(v)) for v in values]


def oct_by_loops(problem, depth, least):
    """Model (9) of the thesis: constraints (1) to (7), and those of its own."""
    n, p, n_classes = problem.n_rows, len(problem.columns), problem.n_classes
    x, eps = scaled_rows(problem)
    small, large = min(eps), max(eps)
    branches, leaves, left, right = tree_of(depth)
    weights = [float(weight) for weight in problem.weights]
    total = sum(weights)
    rows = []
    for t in leaves:
        leaf = t - len(branches)
        z = [f"z_{i + 1}_{leaf}" for i in range(n)]
        loss = {f"L_{leaf}": 1, f"N_{leaf}": -1}
        for k in range(n_classes):
            of_class = {f"N_k_{k + 1}_{leaf}": 1}
            rows.append((loss | of_class | {f"c_{k + 1}_{leaf}": -total}, -total, INF))
            rows.append((loss | of_class, -INF, 0))
            members = [i for i in range(n) if problem.classes[i] == k]
            rows.append((of_class | {z[i]: -weights[i] for i in members}, 0, 0))
        rows.append(({f"N_{leaf}": 1} | {z[i]: -weights[i] for i in range(n)}, 0, 0))
        classes = {f"c_{k + 1}_{leaf}": 1 for k in range(n_classes)}
        rows.append((classes | {f"l_{leaf}": -1}, 0, 0))  # (6)
        counts = {z[i]: float(problem.counts[i]) for i in range(n)}
        rows.append((counts | {f"l_{leaf}": -float(least)}, 0, INF))  # (3)
        for i in range(n):
            rows.append(({z[i]: 1, f"l_{leaf}": -1}, -INF, 0))  # (3)
            for a in right[t]:  # (5)
                terms = {f"a_{j + 1}_{a}": x[i][j] for j in range(p)}
                rows.append((terms | {f"b_{a}": -1, z[i]: -1}, -1, INF))
            for a in left[t]:  # (5)
                terms = {f"a_{j + 1}_{a}": x[i][j] + eps[j] - small for j in range(p)}
                terms |= {f"b_{a}": -1, z[i]: 1 + large}
                rows.append((terms, -INF, 1 + large - small))
    places = range(1, len(leaves) + 1)
    rows += [({f"z_{i + 1}_{leaf}": 1 for leaf in places}, 1, 1) for i in range(n)]  # (4)
    rows.append(({"C": 1} | {f"d_{t}": -1 for t in branches}, 0, 0))  # (7)
    for t in branches:
        rows.append(({f"a_{j + 1}_{t}": 1 for j in range(p)} | {f"d_{t}": -1}, 0, 0))  # (1)
        rows.append(({f"b_{t}": 1, f"d_{t}": -1}, -INF, 0))  # (1)
        if t > 1:
            rows.append(({f"d_{t}": 1, f"d_{t // 2}": -1}, -INF, 0))  # (2)
    return rows


def p_by_loops(problem, depth, gamma):
    """Constraints (1) to (12) of Ales et al., section 2.1."""
    n, p, n_classes = problem.n_rows, len(problem.columns), problem.n_classes
    x, mu = scaled_rows(problem)
    least, most = min(mu), max(mu)
    branches, leaves, left, right = tree_of(depth)
    place = {t: t - len(branches) for t in leaves}
    z = {(i, t): f"z_{i + 1}_{place[t]}" for i in range(n) for t in leaves}
    rows = []
    for t in branches:
        rows.append(({f"a_{j + 1}_{t}": 1 for j in range(p)} | {f"d_{t}": -1}, 0, 0))  # (1)
        rows.append(({f"b_{t}": 1, f"d_{t}": -1}, -INF, 0))  # (2)
        if t > 1:
            rows.append(({f"d_{t}": 1, f"d_{t // 2}": -1}, -INF, 0))  # (3)
    rows.append(({f"d_{t}": 1 for t in branches}, -INF, gamma))  # (4)
    for t in leaves:
        classes = {f"c_{k + 1}_{place[t]}": 1 for k in range(n_classes)}
        rows.append((classes | {f"l_{place[t]}": -1}, 0, 0))  # (5)
        counts = {z[i, t]: float(problem.counts[i]) for i in range(n)}
        rows.append((counts | {f"l_{place[t]}": -1}, 0, INF))  # (6)
        rows += [({z[i, t]: 1, f"l_{place[t]}": -1}, -INF, 0) for i in range(n)]  # (7)
        rows += [({f"l_{place[t]}": 1, f"d_{a}": -1}, -INF, 0) for a in left[t]]  # (8)
    rows += [({z[i, t]: 1 for t in leaves}, 1, 1) for i in range(n)]  # (9)
    for i in range(n):
        for t in leaves:
            for a in left[t]:  # (10)
                terms = {f"a_{j + 1}_{a}": x[i][j] + mu[j] - least for j in range(p)}
                terms |= {f"b_{a}": -1, z[i, t]: 1 + most}
                rows.append((terms, -INF, 1 + most - least))
            for a in right[t]:  # (11)
                terms = {f"a_{j + 1}_{a}": x[i][j] for j in range(p)}
                rows.append((terms | {f"b_{a}": -1, z[i, t]: -1}, -1, INF))
            for k in range(n_classes):  # (12)
                theta, c = f"theta_{i + 1}_{k + 1}_{place[t]}", f"c_{k + 1}_{place[t]}"
                rows.append(({theta: 1, c: -1, z[i, t]: -1}, -1, INF))
    return rows


def binoct_by_loops(problem, depth):
    """BinOCT: a column per node, a leaf per row, a class per leaf, ranges, ends, errors."""
    n, n_classes = problem.n_rows, problem.n_classes
    branches, leaves, left, right = tree_of(depth)
    place = {t: t - len(branches) for t in leaves}
    p = len(problem.columns)
    rows = [({f"f_{t}_{j + 1}": 1 for j in range(p)}, 1, 1) for t in branches]
    rows += [({f"l_{i + 1}_{place[t]}": 1 for t in leaves}, 1, 1) for i in range(n)]
    rows += [({f"p_{place[t]}_{k + 1}": 1 for k in range(n_classes)}, 1, 1) for t in leaves]

    def flow(members, t, side):
        return {
            f"l_{i + 1}_{place[leaf]}": 1 for i in members for leaf in leaves if t in side[leaf]
        }

    def halve(j, low, high, digits):
        """All halvings of the thresholds low..high; digit 1 takes the lower half."""
        if low >= high:
            return
        middle = (low + high) // 2
        ranks = problem.ranks[j].astype(int)
        for t in branches:
            here = f"t_{t}_{len(digits) + 1}"
            # With the upper half, rows up to its first threshold go left.
            members = np.flatnonzero((ranks >= low + 1) & (ranks <= middle + 1)).tolist()
            terms = {f"f_{t}_{j + 1}": len(members), here: -len(members)} | flow(members, t, right)
            for d, digit in enumerate(digits):
                if digit == 0:
                    terms[f"t_{t}_{d + 1}"] = -len(members)
            rows.append((terms, -INF, len(members)))
            # With the lower half, rows above its last threshold go right.
            members = np.flatnonzero((ranks >= middle + 1) & (ranks <= high)).tolist()
            terms = {f"f_{t}_{j + 1}": len(members), here: len(members)} | flow(members, t, left)
            ones = [d for d, digit in enumerate(digits) if digit == 1]
            terms |= {f"t_{t}_{d + 1}": len(members) for d in ones}
            rows.append((terms, -INF, len(members) * (2 + len(ones))))
        halve(j, low, middle, [*digits, 1])
        halve(j, middle + 1, high, [*digits, 0])

    for j, column in enumerate(problem.columns):
        n_thresholds = len(column.values) - 1
        halve(j, 0, n_thresholds - 1, [])
        lowest = np.flatnonzero(problem.ranks[j] == 0).tolist()
        highest = np.flatnonzero(problem.ranks[j] == n_thresholds).tolist()
        for t in branches:
            ends = len(lowest) + len(highest)
            terms = {f"f_{t}_{j + 1}": ends} | flow(highest, t, left) | flow(lowest, t, right)
            rows.append((terms, -INF, ends))
    for t in leaves:
        for k in range(n_classes):
            of_class = np.flatnonzero(problem.classes == k).tolist()
            terms = {f"l_{i + 1}_{place[t]}": float(problem.weights[i]) for i in of_class}
            terms |= {
                f"p_{place[t]}_{k + 1}": -float(problem.weights[of_class].sum()),
                f"e_{place[t]}_{k + 1}": -1,
            }
            rows.append((terms, -INF, 0))
    return rows


def flowoct_by_loops(problem, depth):
    """FlowOCT over one binary column per threshold: 1 where a row lies above it."""
    n, n_classes = problem.n_rows, problem.n_classes
    branches, leaves, _, _ = tree_of(depth)
    nodes = [*branches, *leaves]
    above = [
        (problem.ranks[j] > k).tolist()
        for j, column in enumerate(problem.columns)
        for k in range(len(column.values) - 1)
    ]
    n_columns = len(above)
    rows = []
    for t in nodes:
        terms = {f"p_{m}": 1 for m in [t, *ancestors(t)]}
        if t in branches:
            terms |= {f"b_{t}_{f + 1}": 1 for f in range(n_columns)}
        rows.append((terms, 1, 1))  # branch, predict, or lie below a node that predicts
        rows.append(({f"w_{t}_{k + 1}": 1 for k in range(n_classes)} | {f"p_{t}": -1}, 0, 0))
    for i in range(n):
        rows.append(({f"z_s_{i + 1}": 1}, -INF, 1))  # at most one unit leaves the source
        for t in nodes:
            come = f"z_s_{i + 1}" if t == 1 else f"z_{'lr'[t % 2]}_{i + 1}_{t // 2}"
            terms = {come: 1, f"z_t_{i + 1}_{t}": -1}
            if t in branches:
                terms |= {f"z_l_{i + 1}_{t}": -1, f"z_r_{i + 1}_{t}": -1}
            rows.append((terms, 0, 0))  # flow is kept
            label = int(problem.classes[i]) + 1
            rows.append(({f"z_t_{i + 1}_{t}": 1, f"w_{t}_{label}": -1}, -INF, 0))
        for t in branches:
            for side, value in (("l", False), ("r", True)):
                sends = {f"b_{t}_{f + 1}": -1 for f in range(n_columns) if above[f][i] == value}
                rows.append(({f"z_{side}_{i + 1}_{t}": 1} | sends, -INF, 0))
    return rows


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", ["p", "binoct", "flowoct"])
def test_every_published_constraint_is_there_and_no_other(name, seed, depth):
    problem = random_problem(seed)
    if name == "p":
        model = formulation_class(name)(problem, Settings(depth, max_splits=2)).model
        wanted = p_by_loops(problem, depth, 2)
    else:
        model = formulation_class(name)(problem, Settings(depth)).model
        by_loops = binoct_by_loops if name == "binoct" else flowoct_by_loops
        wanted = by_loops(problem, depth)
    assert sortable(found_rows(model)) == sortable(wanted)


@pytest.mark.parametrize("depth", [1, 2])
def test_oct_is_the_model_of_the_thesis(depth):
    problem = random_problem(1, p=3, min_samples_leaf=2)
    settings = Settings(depth, min_samples_leaf=2, penalty=Fraction(1, 2), baseline=5)
    model = formulation_class("oct")(problem, settings).model
    assert sortable(found_rows(model)) == sortable(oct_by_loops(problem, depth, 2))
    costs = dict(zip(model.variable_names(), model.objective.tolist(), strict=True))
    expected = {f"L_{leaf}": 1 / 5 for leaf in range(1, 2**depth + 1)} | {"C": 0.1}
    assert {v: c for v, c in costs.items() if c} == pytest.approx(expected)
