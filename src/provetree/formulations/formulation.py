"""What all formulations of trees share: the rows they see, their settings, points and trees.

A formulation builds the model of a problem, reads a tree from a solver's point (``decode``) and
writes a tree as a full point (``encode``). Costs are in integer units of weight: the weight of the
misclassified rows plus ``penalty`` for each split.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from provetree.formulations.side_constraints import add_side_constraints
from provetree.number_types import Bool, Float, Int, Int32
from provetree.problem.problem import Problem
from provetree.problem.side_constraints import SideConstraints
from provetree.solvers.model import Expression, Index, Model, ModelBuilder
from provetree.tree.layout import Layout, PlacedTree, placed_to_tree
from provetree.tree.tree import Tree

__all__ = ["Formulation", "ModelRows", "Settings", "model_rows"]


Scaling = Literal["minmax", "rank"]
#: Weights above this are divided by their mean.
LARGE_WEIGHT = 1000


@dataclass(frozen=True)
class Settings:
    """What is asked of a model, besides the rows.

    Parameters
    ----------
    depth : int
        Depth of the complete tree the model is laid out on.
    min_samples_leaf : int
        Least number of rows in a leaf that is not empty.
    max_splits : int or None
        Most splits; None for no constraint on them.
    penalty : Fraction
        Cost of a split, in integer units of weight.
    baseline : int
        What OCT divides errors by, in integer units of weight. It scales the objective only.
    scaling : {"minmax", "rank"}
        Columns scaled to 0..1 by their values, as published, or by their ranks: every gap is then
        alike, and none is too small for a solver. The trees are the same.
    merge_rows : bool
        One row of the model for all equal rows of a class; otherwise one for each.
    tighten : bool
        Replace constraints by stronger ones, and cut off copies of trees.
    exact_weights : bool
        Keep weights as the whole numbers they are. Otherwise large ones are divided by their mean:
        solvers work with an absolute tolerance.
    side : SideConstraints or None
        What else the tree must keep to.
    max_columns : int or None
        Most columns of a split of OCT-H; None for all.
    gap : float
        Mu of OCT-H: the gap between the two sides of a split.

    Examples
    --------
    >>> from provetree.formulations.formulation import Settings
    >>> Settings(depth=2).scaling
    'minmax'
    """

    depth: int
    min_samples_leaf: int = 1
    max_splits: int | None = None
    penalty: Fraction = field(default_factory=Fraction)
    baseline: int = 1
    scaling: Scaling = "minmax"
    merge_rows: bool = True
    tighten: bool = False
    exact_weights: bool = False
    side: SideConstraints | None = None
    max_columns: int | None = None
    gap: float = 0.005


@dataclass(frozen=True, eq=False)
class ModelRows:
    """The rows that a model sees.

    ``source`` is the row of the problem behind each, ``counts`` the number of table rows.

    Examples
    --------
    >>> from provetree import build_problem
    >>> problem = build_problem([[1.0], [2.0], [2.0]], [0, 1, 1], n_classes=2, max_depth=1)
    >>> sorted(model_rows(problem, merge=True).weights.tolist())
    [1.0, 2.0]
    >>> model_rows(problem, merge=False).weights.tolist()
    [1.0, 1.0, 1.0]
    """

    source: Int
    ranks: NDArray[np.uint32]
    classes: Int32
    weights: Float
    counts: Float

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.classes)

    def amounts(self, of_problem: Int) -> Float:
        """Return amounts of the rows of the problem as amounts of the rows of the model.

        Equal rows go the same way, so the first of them may carry the amount of all.
        """
        amounts = np.zeros(self.n)
        rows, first = np.unique(self.source, return_index=True)
        amounts[first] = of_problem[rows]
        return amounts


def model_rows(problem: Problem, *, merge: bool) -> ModelRows:
    """Return the rows of a problem for a model, merged or one by one."""
    if merge:
        source = np.arange(problem.n_rows)
        weights, counts = problem.weights, problem.counts
    else:
        source = np.repeat(np.arange(problem.n_rows), problem.counts)
        # Equal rows go the same way: how a total is shared out among them changes nothing.
        place = np.arange(len(source)) - np.repeat(
            np.cumsum(problem.counts) - problem.counts, problem.counts
        )
        each, rest = np.divmod(problem.weights, problem.counts)
        weights = each[source] + (place < rest[source])
        counts = np.ones(len(source), dtype=np.int64)
    return ModelRows(
        source,
        problem.ranks if merge else problem.ranks[:, source],
        problem.classes[source],
        weights.astype(np.float64),
        counts.astype(np.float64),
    )


class Formulation(ABC):
    """A published model of the tree of a problem."""

    #: Its name in the options.
    name: ClassVar[str]
    #: Its title in model files.
    title: ClassVar[str]

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.problem = problem
        self.settings = settings
        self.layout = Layout(settings.depth)
        rows = self._model_rows()
        #: One unit of weight in the model, in integer units of weight.
        self.unit = 1.0
        if not settings.exact_weights and rows.weights.max() > LARGE_WEIGHT:
            self.unit = float(rows.weights.mean())
        self.rows = replace(rows, weights=rows.weights / self.unit)
        self.n_classes = problem.n_classes
        self.penalty = settings.penalty
        self._counted: list[tuple[Index, Index, Index, Float]] = []
        self._builder = ModelBuilder(self.title)
        self._build(self._builder)
        if settings.side is not None:
            add_side_constraints(settings.side, self, self._builder)

    @cached_property
    def model(self) -> Model:
        """The model."""
        model = self._builder.build()
        del self._builder  # the functions that filled the matrix hold arrays of their own
        return model

    #: The objective of the model is ``scale`` times the cost in units of the model.
    scale: float = 1.0

    def cost(self, objective: float) -> float:
        """Return the cost that an objective (or a bound on it) of the model stands for."""
        return objective / self.scale * self.unit

    @property
    def model_penalty(self) -> float:
        """The cost of a split in units of the model."""
        return float(self.penalty) / self.unit

    @property
    def total_weight(self) -> float:
        """Weight of all rows, in units of the model."""
        return float(self.rows.weights.sum())

    @cached_property
    def class_weights(self) -> Float:
        """Weight of the rows of each class."""
        totals = np.bincount(self.rows.classes, self.rows.weights, self.n_classes)
        return totals.astype(np.float64)

    def _model_rows(self) -> ModelRows:
        return model_rows(self.problem, merge=self.settings.merge_rows)

    @abstractmethod
    def _build(self, builder: ModelBuilder) -> None:
        """Add the variables and constraints of the paper."""

    @abstractmethod
    def decode(self, point: Float) -> PlacedTree:
        """Read the tree from a point of the model."""

    @abstractmethod
    def encode(self, placed: PlacedTree) -> Float:
        """Write a tree, whose leaves all hold rows, as a point of the model."""

    def tree_at(self, point: Float, *, keep_labels: bool) -> Tree:
        """Return the tree of a point; without `keep_labels` leaves predict their heaviest class."""
        # A model may have to split where nothing is gained: BinOCT always does.
        placed = self.decode(point)
        return placed_to_tree(self.problem, placed, keep_labels=keep_labels, collapse=True)

    def charged(self, tree: Tree) -> int:
        """Return how many penalties a tree pays: one for each split."""
        return tree.n_splits

    @property
    def most_charged(self) -> int:
        """The most penalties that a tree can pay."""
        return self.layout.n_branches

    @abstractmethod
    def predicted(self, builder: ModelBuilder, name: str, amounts: Float, label: int) -> Expression:
        """Return the total amount of the rows that are predicted to be of a class.

        Variables and constraints that the expression needs are added to the builder under the name.
        """

    @abstractmethod
    def uses(self, columns: Bool) -> Expression:
        """Return the number of splits on some of the ordered columns."""

    def _predicted_by_leaf(
        self, builder: ModelBuilder, name: str, z: Index, c: Index, amounts: Float
    ) -> Expression:
        """Count rows by leaf: a variable per leaf that is their amount if the leaf has a class.

        `z` is one where a row is in a leaf, `c` where a leaf has the class.
        """
        counted = np.flatnonzero(amounts)
        amounts, z = amounts[counted], z[counted]
        total, n_leaves = float(amounts.sum()), len(c)
        q = builder.variables(f"q_{name}", n_leaves, upper=total, step=1.0)
        here = ((q, 1.0), (z.T, -amounts))
        builder.add(
            f"side: {name} at most what is here",
            n_leaves,
            *here,
            upper=0,
            meaning="counted rows are in the leaf",
        )
        builder.add(
            f"side: {name} none without the class",
            n_leaves,
            (q, 1.0),
            (c, -total),
            upper=0,
            meaning="counted rows are of the class",
        )
        builder.add(
            f"side: {name} all with the class",
            n_leaves,
            *here,
            (c, -total),
            lower=-total,
            meaning="all rows of the class are counted",
        )
        self._counted.append((q, z, c, amounts))
        return Expression(q, np.ones(n_leaves))

    def _placed(self, column: Int, rank: Int, of_leaves: Int) -> PlacedTree:
        """Return a tree whose rows go right where nothing splits, with the classes of leaves."""
        n_branches = self.layout.n_branches
        label = np.append(np.full(n_branches, -1, dtype=np.int64), of_leaves)
        for unsplit in reversed(np.flatnonzero(column < 0).tolist()):
            label[unsplit] = label[2 * unsplit + 2]
        return PlacedTree(self.layout, column, rank, label)

    def _leaf_at(self, node: Int) -> Int:
        """Return the leaf of rows that end at a node: they go right where nothing splits."""
        n_nodes = self.layout.n_branches + self.layout.n_leaves
        return np.array([self.layout.rightmost_leaf(t) for t in range(n_nodes)])[node]

    def _limit_splits(self, builder: ModelBuilder, number: str, splits: Index) -> None:
        """Add the limit on splits, if there is one."""
        most = self.settings.max_splits
        if most is not None:
            builder.add(number, (), (splits, 1.0), upper=most, meaning="limit on splits")

    def _encode_counts(self, point: Float) -> None:
        """Set the variables of :meth:`_predicted_by_leaf` at a point."""
        for q, z, c, amounts in self._counted:
            point[q] = (amounts @ point[z]) * point[c]
