"""Keeps rules by solving the open parts of a tree one by one; each is a problem of its own."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from provetree.errors import InfeasibleError
from provetree.estimators.optimal_tree import OptimalTreeClassifier
from provetree.problem.prepare import Prepared, prepare_for
from provetree.selection.frontier import solve_frontier
from provetree.selection.runner_up import of_columns
from provetree.solution import Limits, Progress, Solution
from provetree.studio.jobs import Job
from provetree.studio.splits import goes_left
from provetree.studio.table import StudioTable
from provetree.studio.wishes import Split, Wishes
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree

Part = tuple[float, float, list[dict[str, Any]]]  # cost, bound, nodes in preorder


def fit_with_rules(
    table: StudioTable,
    wishes: Wishes,
    seconds: float | None,
    job: Job,
    X: Any,
    y: Any,
    tell: Callable[[Progress], None],
) -> Any:
    """Fit a classifier that keeps fixed questions and forbidden columns."""
    clf = OptimalTreeClassifier(**table.settings, **wishes.without_rules().parameters())
    prepared = prepare_for(clf, X, y, None)
    solver = _Solver(prepared, wishes, seconds, job, tell, table.names)
    started = time.monotonic()
    cost, bound, nodes = solver.curve("", np.arange(len(prepared.encoded)))[-1]
    if prepared.weights is None:
        cost, bound = int(cost), int(bound)
    whole = prepared.problem
    tree = Tree(
        **{name: [node[name] for node in nodes] for name in nodes[0]},
        n_features=whole.n_features,
        feature_names=whole.feature_names,
        class_names=whole.class_names,
        categories=whole.categories,
    )
    status = "optimal" if bound >= cost else "time_limit"
    clf._told_in_fit = {}
    found = clf._finished(prepared, Solution(tree, cost, min(bound, cost), status))  # type: ignore[arg-type]
    clf._search_seconds = time.monotonic() - started
    return found


class _Solver:
    def __init__(
        self,
        prepared: Prepared,
        wishes: Wishes,
        seconds: float | None,
        job: Job,
        tell: Any,
        names: Any,
    ) -> None:
        self.prepared, self.wishes, self.job, self.tell, self.names = (
            prepared,
            wishes,
            job,
            tell,
            names,
        )
        self.end = math.inf if seconds is None else time.monotonic() + seconds
        self.most = wishes.max_leaf_nodes

    def curve(self, path: str, rows: Any) -> list[Part]:
        """Return the best part for 1, 2, ... leaves, or just one where leaves are not counted."""
        self.job.check()
        split = self.wishes.fixed.get(path)
        if split is None:
            return self._open(path, rows)
        if "leaf" in split:
            return [self._part(self._problem(path, rows, 0))] * (self.most or 1)
        return self._fixed(path, split, rows)

    def _problem(self, path: str, rows: Any, depth: int) -> Any:
        least = self.prepared.problem.min_samples_leaf
        problem = self.prepared.problem_of(
            rows, max_depth=depth, min_samples_leaf=least, keep_duplicates=True
        )
        allowed = [
            c for c, col in enumerate(problem.columns) if col.feature not in self.wishes.forbidden
        ]
        return of_columns(problem, allowed)

    def _part(self, problem: Any) -> Part:
        tree = build_tree(problem, [-1], [0])
        cost = problem.to_user_cost(problem.root_error)
        return cost, cost, _nodes(tree)

    def _open(self, path: str, rows: Any) -> list[Part]:
        from provetree.search.engine import ExactSearch

        depth = self.wishes.max_depth - len(path)
        problem = self._problem(path, rows, depth)
        left = None if math.isinf(self.end) else max(self.end - time.monotonic(), 0.01)
        if self.most is None:
            found = ExactSearch().solve(problem, Limits(left), self.tell)
            return [(found.cost, found.lower_bound, _nodes(found.tree))]
        points = solve_frontier(problem, self.most, left, on_tick=self.job.check)
        return [(p.cost, p.lower_bound, _nodes(p.tree)) for p in points]

    def _fixed(self, path: str, split: Split, rows: Any) -> list[Part]:
        encoded, levels = self.prepared.encoded, self.prepared.encoder.categories
        x = encoded[rows, int(split["column"])]
        has_missing = bool(np.isnan(x).any()) and "threshold" in split
        sides = [split["missing"]] if "missing" in split else ["left", "right"]
        best: list[Part] | None = None
        for side in sides if has_missing else ["right"]:
            left = goes_left({**split, "missing": side}, encoded[rows], levels)
            name = self.names[int(split["column"])]
            if not left.any() or left.all():
                continue
            if min(left.sum(), (~left).sum()) < self.prepared.problem.min_samples_leaf:
                raise InfeasibleError(
                    f"A fixed question about '{name}' leaves too few rows on one side."
                )
            parts = self._joined(
                self._root(split, side, has_missing),
                self.curve(path + "L", rows[left]),
                self.curve(path + "R", rows[~left]),
            )
            better = [a if a[0] <= b[0] else b for a, b in zip(best or parts, parts, strict=True)]
            least = [min(a[1], b[1]) for a, b in zip(best or parts, parts, strict=True)]
            best = [
                (cost, bound, nodes) for (cost, _, nodes), bound in zip(better, least, strict=True)
            ]
        if best is None:
            name = self.names[int(split["column"])]
            raise InfeasibleError(f"No row passes one side of the fixed question about '{name}'.")
        return best

    def _root(self, split: Split, side: str, has_missing: bool) -> dict[str, Any]:
        column = int(split["column"])
        code = -1
        if "categories" in split:
            levels = list(self.prepared.encoder.categories[column] or ())
            chosen = split["categories"][0]
            code = len(levels) if chosen is None else levels.index(chosen)
        return {
            "feature": column,
            "threshold": split.get("threshold", math.nan),
            "category": code,
            "missing_left": has_missing and side == "left",
            "missing_seen": has_missing,
            "value": np.zeros(self.prepared.problem.n_classes),
            "n_samples": 0,
            "label": -1,
        }

    def _joined(self, root: dict[str, Any], left: list[Part], right: list[Part]) -> list[Part]:
        def joined(a: Part, b: Part) -> Part:
            return a[0] + b[0], a[1] + b[1], [root, *a[2], *b[2]]

        if self.most is None:
            return [joined(left[0], right[0])]
        nothing: Part = (math.inf, 0.0, [])
        found: list[Part] = [nothing]
        for leaves in range(2, self.most + 1):
            ways = [joined(left[k - 1], right[leaves - k - 1]) for k in range(1, leaves)]
            cheapest = min(ways, key=lambda part: (part[0], len(part[2])))
            found.append((cheapest[0], min(part[1] for part in ways), cheapest[2]))
        return found


def _nodes(tree: Tree) -> list[dict[str, Any]]:
    names = (
        "feature",
        "threshold",
        "category",
        "missing_left",
        "missing_seen",
        "value",
        "n_samples",
        "label",
    )
    return [{name: getattr(tree, name)[node] for name in names} for node in range(tree.n_nodes)]
