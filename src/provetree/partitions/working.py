"""The partition inside the engine: clusters of the merged rows of a problem.

Equal rows of one class are one row here, and clusters weigh what their rows weigh, in the whole
units of the problem. Costs are whole numbers too: ``(gamma + 1) * wrong weight + splits`` orders
trees as the papers' ``wrong weight + splits / (gamma + 1)`` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from provetree.number_types import Bool, Float, Int
from provetree.partitions.partition import barycentres
from provetree.problem.problem import Problem, build_problem
from provetree.tree.tree import Tree

__all__ = ["WorkingPartition", "whole_unit_cost"]


def whole_unit_cost(wrong: int, splits: int, gamma: int) -> int:
    """Return ``wrong + splits / (gamma + 1)`` in units of ``1 / (gamma + 1)``.

    Examples
    --------
    >>> from provetree.partitions.working import whole_unit_cost
    >>> whole_unit_cost(wrong=4, splits=2, gamma=3)
    18
    """
    return (gamma + 1) * wrong + splits


@dataclass(frozen=True, eq=False)
class WorkingPartition:
    """Clusters of the rows of a problem, numbered from 0 without gaps.

    Examples
    --------
    >>> from provetree import build_problem
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> problem = build_problem(X, y, n_classes=2, max_depth=1, merge=False)
    >>> partition = WorkingPartition(problem, X, np.array([0, 0, 1, 1]))
    >>> partition.labels.tolist(), partition.weights.tolist()
    ([0, 1], [2, 2])
    >>> partition.representatives.tolist()
    [[0.5], [4.5]]
    """

    problem: Problem
    table: Float
    clusters: Int

    @cached_property
    def count(self) -> int:
        """Number of clusters."""
        return int(self.clusters.max()) + 1

    @cached_property
    def _votes(self) -> Int:
        votes = np.zeros((self.count, self.problem.n_classes), dtype=np.int64)
        np.add.at(votes, (self.clusters, self.problem.classes), self.problem.weights)
        return votes

    @cached_property
    def labels(self) -> Int:
        """The class that weighs most in each cluster."""
        return np.asarray(self._votes.argmax(axis=1))

    @cached_property
    def weights(self) -> Int:
        """The weight of each cluster."""
        return np.asarray(self._votes.sum(axis=1))

    @property
    def is_homogeneous(self) -> bool:
        """Whether every row has the class of its cluster."""
        return bool((self.problem.classes == self.labels[self.clusters]).all())

    @cached_property
    def representatives(self) -> Float:
        """The barycentres.

        In columns of categories, and where members miss a value or have an infinite one, it takes
        the value of most weight. Members in one leaf have their representative there as well:
        the rows on one side of a threshold on columns or on sums of columns are a convex set.
        """
        weights = self.problem.weights.astype(np.float64)
        places = barycentres(self.table, self.clusters, self.count, weights)
        for j, levels in enumerate(self.problem.categories):
            x = self.table[:, j]
            odd = np.ones(len(x), dtype=np.bool_) if levels is not None else ~np.isfinite(x)
            for g in np.unique(self.clusters[odd]).tolist():
                members = self.clusters == g
                values, inverse = np.unique(x[members], return_inverse=True)
                mass = np.bincount(inverse.reshape(-1), weights[members])
                places[g, j] = values[mass.argmax()]
        return places

    def representative_problem(self, max_depth: int, max_splits: int) -> Problem:
        """Return the problem of the representatives, weighted by their clusters."""
        return build_problem(
            self.representatives,
            self.labels,
            n_classes=self.problem.n_classes,
            max_depth=max_depth,
            categories=self.problem.categories,
            sample_weight=self.weights,
            max_leaf_nodes=max_splits + 1,
            feature_names=self.problem.feature_names,
            class_names=self.problem.class_names,
            combinations=self.problem.combinations,
        )

    # -- what trees do to it -------------------------------------------------------------------

    def cut_by(self, leaf: Int) -> Bool:
        """Return which clusters have rows in more than one leaf."""
        first = np.zeros(self.count, dtype=np.int64)
        first[self.clusters[::-1]] = leaf[::-1]
        cut = np.zeros(self.count, dtype=np.bool_)
        cut[self.clusters[leaf != first[self.clusters]]] = True
        return cut

    def divided(self, leaf: Int) -> WorkingPartition:
        """Return the partition with every cluster divided by the leaves of its rows."""
        pairs = self.clusters * (int(leaf.max()) + 1) + leaf
        clusters = np.unique(pairs, return_inverse=True)[1].reshape(-1)
        return WorkingPartition(self.problem, self.table, clusters.astype(np.int64))

    def errors(self, tree: Tree) -> int:
        """Return E(T): the weight of the rows that a tree gets wrong."""
        wrong = tree.predict(self.table) != self.problem.classes
        return int(self.problem.weights[wrong].sum())

    def representative_errors(self, tree: Tree) -> int:
        """Return the error of (DP): the weight of the clusters whose representative is wrong."""
        return int(self.weights[tree.predict(self.representatives) != self.labels].sum())

    def chosen_members(self, tree: Tree) -> tuple[Int, Bool]:
        """Return a member for each cluster, a right one where there is one, and if it is right."""
        right = tree.predict(self.table) == self.labels[self.clusters]
        chosen = self.members_where(right)
        return chosen, right[chosen]

    def members_where(self, wanted: Bool) -> Int:
        """Return the first wanted member of each cluster, the first of all where none is."""
        chosen = np.full(self.count, -1, dtype=np.int64)
        for rows in (np.flatnonzero(~wanted)[::-1], np.flatnonzero(wanted)[::-1]):
            chosen[self.clusters[rows]] = rows
        return chosen

    def any_member_errors(self, tree: Tree) -> int:
        """Return the error of (DP'): the weight of the clusters without a right member."""
        return int(self.weights[~self.chosen_members(tree)[1]].sum())

    def whole_cluster_errors(self, leaf: Int) -> int:
        """Return the least weight of clusters that are whole in a leaf of another class."""
        whole = ~self.cut_by(leaf)
        end = np.zeros(self.count, dtype=np.int64)
        end[self.clusters] = leaf
        totals = np.zeros((int(leaf.max()) + 1, self.problem.n_classes), dtype=np.int64)
        np.add.at(totals, (end[whole], self.labels[whole]), self.weights[whole])
        return int(totals.sum() - totals.max(axis=1).sum())
