"""The result of column generation: the tree, and what is proven for the candidate splits.

A proof of column generation is one for the candidate set. It is separate from ``status`` and
``lower_bound`` of a Solution, which are about all trees over all thresholds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from provetree import _core
from provetree.colgen.candidates import CandidateSet
from provetree.colgen.paths import CandidateTree
from provetree.problem.problem import Problem
from provetree.solution import Progress, Solution, relative_gap
from provetree.tree.build import build_tree
from provetree.tree.tree import Tree


@dataclass(frozen=True)
class GenerationProgress(Progress):
    """Where column generation stood after one iteration.

    Parameters
    ----------
    seconds, cost, lower_bound : float
        As in :class:`~provetree.solution.Progress`; ``lower_bound`` is that of all trees.
    master_value : float
        Cost that belongs to the value of the restricted master.
    master_bound : float
        No tree of the candidate splits costs less.
    n_columns, n_cuts : int
        Size of the restricted master.

    Examples
    --------
    >>> from provetree.colgen.result import GenerationProgress
    >>> GenerationProgress(1.0, 20, 0, 18.5, 18, 300, 10).master_bound
    18
    """

    master_value: float
    master_bound: float
    n_columns: int
    n_cuts: int


@dataclass(frozen=True)
class CandidateProof:
    """What column generation found out about the candidate set.

    Parameters
    ----------
    candidate_optimal : bool
        Whether the tree is proven to be the best of all trees of the candidate splits.
    candidate_bound : int or float
        No tree of the candidate splits costs less.
    master_value, master_bound : float
        Cost of the last restricted master, and the bound that its pricing proves. With the
        relaxation solved to the end they are equal up to rounding. Infinite and minus infinite
        where there is none.
    master_solved : bool
        Whether the linear relaxation was solved to the end.
    master_integral : bool
        Whether its solution is a tree.
    iterations, n_columns, n_row_cuts, n_extra_cuts, n_branch_nodes : int
        What was done.
    n_paths : int
        Number of paths of the candidate set.
    unsplit_nodes : tuple of int
        Nodes without a candidate split, which do not split (0 is the root, the children of j are
        2j + 1 and 2j + 2).
    resolves : int
        How often the master had to be solved from scratch because of numerical trouble.
    seconds : mapping of str to float
        Time of each part.
    trouble : tuple of str
        Sentences about what did not go as it should.
    covers_all_trees : bool
        Whether the candidates include every split, so that the proof is one for all trees.

    Examples
    --------
    >>> from provetree import ColumnGenerationClassifier
    >>> clf = ColumnGenerationClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], [0, 1, 0])
    >>> clf.proof_.candidate_optimal
    True
    """

    candidate_optimal: bool
    candidate_bound: float
    master_value: float
    master_bound: float
    master_solved: bool
    master_integral: bool
    iterations: int
    n_columns: int
    n_row_cuts: int
    n_extra_cuts: int
    n_branch_nodes: int
    n_paths: int
    unsplit_nodes: tuple[int, ...]
    resolves: int
    seconds: Mapping[str, float]
    trouble: tuple[str, ...]
    covers_all_trees: bool


@dataclass(frozen=True)
class GenerationSolution(Solution):
    """A solution together with the proof for the candidate set.

    Examples
    --------
    >>> from provetree import ColumnGenerationClassifier
    >>> clf = ColumnGenerationClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], [0, 1, 0])
    >>> clf.solution_.candidate_gap
    0.0
    """

    proof: CandidateProof = field(kw_only=True)
    candidates: CandidateSet | None = field(default=None, kw_only=True)

    @property
    def candidate_gap(self) -> float:
        """Share of the cost that is not proven for the candidate set."""
        return relative_gap(self.cost, self.proof.candidate_bound)


#: Column, rank, label and children of a node.
_Node: TypeAlias = "tuple[int, int, int, list[_Node]]"


def finished_tree(
    problem: Problem, candidates: CandidateSet, chosen: CandidateTree
) -> tuple[Tree, int]:
    """Return a candidate tree as a tree of the problem, and its integer cost.

    Splits with an empty side are removed, and splits whose two leaves predict the same class.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.colgen.candidates import CandidateSet
    >>> from provetree.colgen.paths import CandidateTree
    >>> X, y = np.arange(4.0)[:, None], np.array([0, 0, 1, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1)
    >>> chosen = CandidateTree(np.array([0], dtype=np.int32), np.array([0, 1], dtype=np.int32))
    >>> tree, cost = finished_tree(problem, CandidateSet.of(1, [[(0, 1)]]), chosen)
    >>> tree.n_splits, cost
    (1, 0)
    """

    def grow(j: int, level: int, rows: np.typing.NDArray[np.intp]) -> _Node:
        if level == candidates.depth:
            return (-1, 0, int(chosen.targets[j - candidates.n_nodes]), [])
        column, rank = candidates.splits[j][int(chosen.candidates[j])]
        left = np.ones(len(rows), dtype=np.bool_)
        if column >= 0:
            left = problem.ranks[column, rows] <= rank
        if left.all() or not left.any():
            return grow(2 * j + (1 if left.all() else 2), level + 1, rows)
        children = [
            grow(2 * j + 1, level + 1, rows[left]),
            grow(2 * j + 2, level + 1, rows[~left]),
        ]
        if all(child[0] < 0 for child in children) and children[0][2] == children[1][2]:
            return children[0]
        return (column, rank, -1, children)

    nodes: list[_Node] = []

    def write(node: _Node) -> None:
        nodes.append(node)
        for child in node[3]:
            write(child)

    write(grow(0, 0, np.arange(problem.n_rows)))
    columns, ranks, labels = (np.array([node[i] for node in nodes]) for i in range(3))
    at_leaves = columns < 0
    totals = _core.route_rows(problem.table, columns.tolist(), ranks.tolist())["weights"]
    right = int(totals[at_leaves, labels[at_leaves]].sum())
    cost = problem.error_scale * (int(problem.weights.sum()) - right)
    cost += problem.split_penalty * int((~at_leaves).sum())
    return build_tree(problem, columns, ranks, labels), cost
