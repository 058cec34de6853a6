"""FlowOCT of Aghaei, Gómez and Vayanos (2021): rows flow through the tree to be counted.

The model knows binary columns only: here every threshold of every ordered column is one, 0 for the
rows at or below it. A row whose flow reaches the sink is classified correctly; a node either
branches (b), predicts (p, with class w), or lies below a node that predicts.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from provetree.formulations.cuts import add_side_rows, cuts_of
from provetree.formulations.formulation import Formulation
from provetree.number_types import Bool, Float
from provetree.solvers.model import Expression, Index, ModelBuilder
from provetree.tree.layout import PlacedTree

__all__ = ["FlowOCT"]


class FlowOCT(Formulation):
    """The model FlowOCT.

    With n rows, F binary columns, K classes, B branches and T = B + 1 leaves, it has
    ``FB + (K + 1)(B + T) + n(1 + 3B + T)`` variables and
    ``2(B + T) + n(1 + 4B + 2T)`` constraints.

    The published model minimises ``1 - lambda`` times the errors plus ``lambda`` times the splits;
    lambda follows from the penalty. It does not know where rows go that are classified wrongly. A
    least number of rows, false positives and rates of groups need that: there is then a sink for
    each class, as in the authors' later work on fair trees, and every row reaches one.

    Examples
    --------
    >>> from provetree import build_problem
    >>> from provetree.formulations.flowoct import FlowOCT
    >>> from provetree.formulations.formulation import Settings
    >>> problem = build_problem([[1.0], [2.0], [5.0]], [0, 1, 0], n_classes=2, max_depth=1)
    >>> model = FlowOCT(problem, Settings(depth=1)).model
    >>> model.n_variables, model.n_constraints
    (29, 33)
    """

    name: ClassVar[str] = "flowoct"
    title: ClassVar[str] = "FlowOCT"

    def _build(self, builder: ModelBuilder) -> None:
        settings, rows, layout = self.settings, self.rows, self.layout
        n, n_classes = rows.n, self.n_classes
        n_branches = layout.n_branches
        n_nodes = n_branches + layout.n_leaves
        self.cuts = cuts_of(self.problem)
        side = settings.side
        #: Every row reaches the sink of a class: not the published model.
        self.class_sinks = settings.min_samples_leaf > 1 or (
            side is not None and side.counts_wrong_rows
        )
        # The published objective is (1 - lambda) errors + lambda splits.
        self.scale = 1.0 / (1.0 + self.model_penalty)
        whole = not settings.tighten  # b, p and w settle every flow

        cost = self.model_penalty * self.scale  # lambda; 1 - scale would lose digits
        self.b = builder.variables("b", (n_branches, self.cuts.n), upper=1, integer=True, cost=cost)
        self.p = builder.variables("p", n_nodes, upper=1, integer=True)
        self.w = builder.variables("w", (n_nodes, n_classes), upper=1, integer=True)
        flow: dict[str, Any] = {"upper": 1, "integer": whole, "step": 1.0}
        self.z_source = builder.variables("z_s", n, **flow)
        self.z_left = builder.variables("z_l", (n, n_branches), **flow)
        self.z_right = builder.variables("z_r", (n, n_branches), **flow)
        gain = -self.scale * rows.weights
        if self.class_sinks:
            right = rows.classes[:, np.newaxis] == np.arange(n_classes)
            costs = np.where(right, gain[:, np.newaxis], 0.0)[:, np.newaxis]
            shape: tuple[int, ...] = (n, n_nodes, n_classes)
        else:
            costs, shape = gain[:, np.newaxis], (n, n_nodes)
        self.z_sink = builder.variables("z_t", shape, cost=costs, **flow)
        builder.offset = self.scale * self.total_weight

        self._shape_constraints(builder)
        self._flow_constraints(builder)
        self._sink_constraints(builder)
        self._limit_splits(builder, "extension: splits", self.b.reshape(-1))
        if settings.min_samples_leaf > 1:
            builder.add(
                "extension: least rows",
                n_nodes,
                (
                    self.z_sink.transpose(1, 0, 2).reshape(n_nodes, -1),
                    np.repeat(rows.counts, n_classes),
                ),
                (self.p, -float(settings.min_samples_leaf)),
                lower=0,
                meaning="a leaf has enough rows",
            )

    def _shape_constraints(self, builder: ModelBuilder) -> None:
        """Add that a node branches, predicts, or has an ancestor that predicts."""
        for level in range(self.layout.depth + 1):
            nodes = self.layout.branches_at(level)
            above = ((nodes[:, np.newaxis] + 1) >> np.arange(1, level + 1)) - 1
            branching = [(self.b[nodes], 1.0)] if level < self.layout.depth else []
            builder.add(
                f"branch or predict, level {level + 1}",
                len(nodes),
                (self.p[nodes], 1.0),
                (self.p[above], 1.0),
                *branching,
                equals=1,
                meaning="a node branches, predicts, or lies below one that does",
            )
        builder.add(
            "labels",
            len(self.p),
            (self.w, 1.0),
            (self.p, -1.0),
            equals=0,
            meaning="a node that predicts has one class",
        )

    def _incoming(self) -> Index:
        """Return the flow that comes into each node, shape (n, n_nodes)."""
        n_nodes = self.layout.n_branches + self.layout.n_leaves
        incoming = np.empty((self.rows.n, n_nodes), dtype=np.int32)
        incoming[:, 0] = self.z_source
        incoming[:, 1::2] = self.z_left
        incoming[:, 2::2] = self.z_right
        return incoming

    def _flow_constraints(self, builder: ModelBuilder) -> None:
        """Add that flow is kept, and that it follows the branches."""
        n, n_branches, n_leaves = self.rows.n, self.layout.n_branches, self.layout.n_leaves
        incoming = self._incoming()
        sinks = self.z_sink.reshape(n, n_branches + n_leaves, -1)
        builder.add(
            "flow, branches",
            (n, n_branches),
            (incoming[:, :n_branches], 1.0),
            (self.z_left, -1.0),
            (self.z_right, -1.0),
            (sinks[:, :n_branches], -1.0),
            equals=0,
            meaning="what flows in flows out",
        )
        builder.add(
            "flow, leaves",
            (n, n_leaves),
            (incoming[:, n_branches:], 1.0),
            (sinks[:, n_branches:], -1.0),
            equals=0,
            meaning="what flows in flows out",
        )
        builder.add(
            "source",
            n,
            (self.z_source, 1.0),
            lower=1 if self.class_sinks else -np.inf,
            upper=1,
            meaning="each row flows once" if self.class_sinks else "each row flows at most once",
        )
        above = self.cuts.above(self.rows)
        for side, edges, allowed in (("left", self.z_left, ~above), ("right", self.z_right, above)):
            add_side_rows(
                builder,
                side,
                edges.T,
                self.b,
                allowed,
                meaning=f"rows flow {side} where the branching sends them",
            )

    def _sink_constraints(self, builder: ModelBuilder) -> None:
        """Add that flow reaches the sink where the class is predicted."""
        labels = self.w if self.class_sinks else self.w[:, self.rows.classes].T
        builder.at_most("sink", self.z_sink, labels, "a sink takes the predicted class")

    # -- points and trees ------------------------------------------------------------------

    def decode(self, point: Float) -> PlacedTree:
        """Read the tree from a point."""
        layout = self.layout
        chosen = point[self.b]
        used = chosen.max(axis=1, initial=0.0) > 0.5
        cut = chosen.argmax(axis=1) if chosen.size else np.zeros(layout.n_branches, np.int64)
        column = np.full(layout.n_branches, -1, dtype=np.int64)
        rank = np.zeros(layout.n_branches, dtype=np.int64)
        column[used], rank[used] = self.cuts.column[cut[used]], self.cuts.rank[cut[used]]
        label = np.where(point[self.p] > 0.5, point[self.w].argmax(axis=1), -1)
        return PlacedTree(layout, column, rank, label)

    def encode(self, placed: PlacedTree) -> Float:
        """Write a tree as a point."""
        rows, layout = self.rows, self.layout
        point = np.zeros(self.model.n_variables)
        branches = np.flatnonzero(placed.column >= 0)
        cuts = self.cuts.first[placed.column[branches]] + placed.rank[branches]
        point[self.b[branches, cuts]] = 1.0
        reached = np.zeros(layout.n_branches + layout.n_leaves, dtype=np.bool_)
        reached[0] = True
        for branch in branches.tolist():  # a node comes before its children
            reached[2 * branch + 1 : 2 * branch + 3] = reached[branch]
        split = np.append(placed.column >= 0, np.zeros(layout.n_leaves, dtype=np.bool_))
        ends = np.flatnonzero(reached & ~split)
        point[self.p[ends]] = 1.0
        point[self.w[ends, np.maximum(placed.label[ends], 0)]] = 1.0

        node = placed.route(rows.ranks)
        predicted = placed.label[node]
        correct = predicted == rows.classes
        flowing = np.arange(rows.n) if self.class_sinks else np.flatnonzero(correct)
        if self.class_sinks:
            point[self.z_sink[flowing, node, predicted]] = 1.0
        else:
            point[self.z_sink[flowing, node[flowing]]] = 1.0
        point[self.z_source[flowing]] = 1.0
        at = node[flowing]
        while len(flowing):
            inside = at > 0
            flowing, at = flowing[inside], at[inside]
            parent, is_right = (at - 1) // 2, at % 2 == 0
            edges = np.where(is_right, self.z_right[flowing, parent], self.z_left[flowing, parent])
            point[edges] = 1.0
            at = parent
        return point

    def uses(self, columns: Bool) -> Expression:
        """Return the number of splits on some of the ordered columns."""
        places = self.b[:, columns[self.cuts.column]].reshape(-1)
        return Expression(places, np.ones(len(places)))

    def predicted(self, builder: ModelBuilder, name: str, amounts: Float, label: int) -> Expression:
        """Return the amount predicted to be of a class; see :class:`Formulation`."""
        counted = np.flatnonzero(amounts)
        if self.class_sinks:
            places = self.z_sink[counted, :, label]
        else:
            if (self.rows.classes[counted] != label).any():
                raise ValueError("FlowOCT without sinks of classes counts correct rows only.")
            places = self.z_sink[counted]
        each = np.repeat(amounts[counted], places.shape[1])
        return Expression(places.reshape(-1), each)
