"""Small candidate problems, and their naive twins: all paths, all trees, the full LP by scipy."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from provetree.colgen.candidates import CandidateSet, all_candidates
from provetree.colgen.items import build_items
from provetree.colgen.paths import CandidateTree, PathModel, Paths
from provetree.problem.problem import Problem, build_problem
from provetree.problem.side_constraints import SideConstraints
from provetree.solvers.cpsat import CpSat
from testkit.random_problems import random_table


def needs_cpsat() -> None:
    """Skip where ortools is not installed; importing it here would clash with highspy."""
    if find_spec("ortools") is None:
        pytest.skip("needs ortools")


@cache
def cpsat_solver() -> CpSat:
    """One process for all tests: starting one takes seconds."""
    solver = CpSat(keep_process=True)
    atexit.register(solver.close)
    return solver


@dataclass
class Case:
    problem: Problem
    candidates: CandidateSet
    model: PathModel
    coupling: SideConstraints


def small_case(
    seed: int, *, depth: int = 2, most: int = 3, limits: bool = False, coupling: bool = False
) -> Case | None:
    """The candidate problem of a seed; None where the table allows no split."""
    rng = np.random.default_rng(10_000 + seed)
    table = random_table(seed, max_depth=depth)
    options = dict(table.options)
    if not limits:
        options |= {"max_leaf_nodes": None, "min_samples_leaf": 1, "alpha": 0.0}
    problem = build_problem(table.X, table.y, **options)
    if problem.max_depth < 1 or problem.n_classes < 1:
        return None
    splits = [s for s in all_candidates(problem).splits[0] if s[0] >= 0]
    chosen = [
        [splits[i] for i in rng.permutation(len(splits))[: rng.integers(0, most + 1)]]
        for _ in range(2**problem.max_depth - 1)
    ]
    candidates = CandidateSet.of(problem.max_depth, chosen, with_pass=limits)
    groups = None
    asked = SideConstraints()
    if coupling:
        n_groups = int(rng.integers(2, 4))
        groups = np.zeros((problem.n_rows, n_groups), dtype=np.int64)
        groups[np.arange(problem.n_rows), rng.integers(0, n_groups, problem.n_rows)] = (
            problem.weights
        )
        share = [Fraction(int(rng.integers(0, 11)), 10) for _ in range(3)]
        c = int(rng.integers(0, problem.n_classes))
        asked = SideConstraints(
            min_recall={c: share[0]} if rng.random() < 0.6 else {},
            max_false_positive_rate={c: share[1]} if rng.random() < 0.5 else {},
            max_parity_gap=share[2] if rng.random() < 0.5 else None,
        )
    items = build_items(problem, candidates, merge=bool(rng.random() < 0.7), group_weights=groups)
    return Case(problem, candidates, PathModel(problem, items, asked), asked)


def cases(n: int, **options: Any) -> Iterator[tuple[int, Case]]:
    for seed in range(n):
        case = small_case(seed, **options)
        if case is not None:
            yield seed, case


def all_paths(model: PathModel) -> Paths:
    """Every path, with every target."""
    found = []
    for leaf, nodes in enumerate(model.candidates.path_nodes.tolist()):
        sizes = [range(model.candidates.sizes[j]) for j in nodes]
        for path in product(*sizes):
            found += [(leaf, path, t) for t in range(model.n_targets)]
    return Paths.of([f[0] for f in found], [f[1] for f in found], [f[2] for f in found])


def rows_of_path(case: Case, leaf: int, path: list[int]) -> np.ndarray:
    """Rows of the problem on a path, by walking down with the ranks."""
    depth = case.candidates.depth
    rows = np.arange(case.problem.n_rows)
    for level, (j, a) in enumerate(
        zip(case.candidates.path_nodes[leaf].tolist(), path, strict=True)
    ):
        column, rank = case.candidates.splits[j][a]
        left = np.ones(len(rows), bool)
        if column >= 0:
            left = case.problem.ranks[column, rows] <= rank
        right = (leaf >> (depth - 1 - level)) & 1
        rows = rows[~left if right else left]
    return rows


def best_by_trying(case: Case) -> int | None:
    """The largest worth of all trees and labelings that keep everything; None if none does."""
    model = case.model
    best: int | None = None
    for splits in product(*(range(n) for n in case.candidates.sizes)):
        chosen = np.array(splits, dtype=np.int32)
        for targets in product(range(model.n_targets), repeat=case.candidates.n_leaves):
            worth, keeps = model.evaluate(CandidateTree(chosen, np.array(targets, dtype=np.int32)))
            if keeps and (best is None or worth > best):
                best = worth
    return best


def best_plain_by_trying(case: Case) -> int | None:
    """The same without coupling constraints: each leaf takes its best target by itself."""
    model = case.model
    best: int | None = None
    for splits in product(*(range(n) for n in case.candidates.sizes)):
        chosen = np.array(splits, dtype=np.int32)
        blank = CandidateTree(chosen, np.zeros(case.candidates.n_leaves, dtype=np.int32))
        totals = model.totals(model.tree_paths(blank))
        targets = (totals.weights @ model.profit).argmax(axis=1).astype(np.int32)
        worth, keeps = model.evaluate(CandidateTree(chosen, targets))
        if keeps and (best is None or worth > best):
            best = worth
    return best


def full_lp(case: Case, form: str) -> float | None:
    """Value of the master over all paths, written down again for scipy; None if infeasible."""
    model, candidates = case.model, case.candidates
    paths = all_paths(model)
    totals = model.totals(paths)
    paths = paths.take(model.allowed(totals))
    totals = model.totals(paths)
    n, n_rho = len(paths), int(candidates.offsets[-1])
    equal, right = [], []
    for leaf, nodes in enumerate(candidates.path_nodes.tolist()):
        row = np.zeros(n + n_rho)
        row[:n] = paths.leaf == leaf
        equal.append(row)
        right.append(1.0)
        for level, j in enumerate(nodes):
            for a in range(candidates.sizes[j]):
                row = np.zeros(n + n_rho)
                row[:n] = (paths.leaf == leaf) & (paths.candidates[:, level] == a)
                row[n + candidates.offsets[j] + a] = -1
                equal.append(row)
                right.append(0.0)
    upper, most = [], []
    if form != "none":
        on_path = [
            set(rows_of_path(case, leaf, path).tolist())
            for leaf, path in zip(paths.leaf.tolist(), paths.candidates.tolist(), strict=True)
        ]
        for r in range(case.problem.n_rows):
            row = np.zeros(n + n_rho)
            row[:n] = [r in rows for rows in on_path]
            if form in ("equality", "all"):
                equal.append(row)
                right.append(1.0)
            else:
                sign = 1.0 if form == "upper" else -1.0
                upper.append(sign * row)
                most.append(sign)
    for coupling in model.rows:
        row = np.zeros(n + n_rho)
        row[:n] = model.row_value(coupling, paths, totals)
        size = max(1.0, float(np.abs(row).max()))  # weights may be as large as 2**29
        if coupling.has_high:
            upper.append(row / size)
            most.append(coupling.high / size)
        if coupling.has_low:
            upper.append(-row / size)
            most.append(-coupling.low / size)
    scale = max(1, model.whole)
    worth = np.concatenate([-model.worths(paths, totals) / scale, np.zeros(n_rho)])
    done = linprog(
        worth,
        A_ub=np.array(upper) if upper else None,
        b_ub=most if upper else None,
        A_eq=np.array(equal),
        b_eq=right,
        bounds=(0, None),
    )
    return None if done.status == 2 else -float(done.fun) * scale
