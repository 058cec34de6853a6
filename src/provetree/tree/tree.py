"""The tree: immutable arrays in preorder, prediction, and other forms.

A tree works on an encoded table of float64: numbers as they are, categories as their codes
0, 1, ..., missing values as NaN. The two children of a split follow from the preorder, and
the class totals of a split are the sums over its leaves, so neither can contradict the rest.
What nodes hold is a type of its own: classes, numbers or actions (:mod:`provetree.tree.values`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provetree.number_types import Bool, Float, Int, Int32
from provetree.problem.combinations import Combination, checked_combinations
from provetree.tree.arrays import (
    Name,
    add_up_children,
    check_lengths,
    completed_groups,
    is_missing_code,
    named,
    named_levels,
    node_array,
    preorder_links,
)
from provetree.tree.questions import Questions
from provetree.tree.smoothing import Smoothing, row_shares, smoothed_shares
from provetree.tree.values import ClassTotals, Kind, Values, completed_values, node_labels

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


#: More than any table has; a damaged file with a larger number must not exhaust the memory.
MOST_FEATURES = 2**24
#: What a column of the values is counted as.
_COUNTED = {"classes": "n_classes", "numbers": "n_outputs", "actions": "n_actions"}


class Tree(Questions):
    """An immutable tree that predicts classes, numbers or actions.

    The nodes are numbered in preorder: the root is 0, the left child of a split is the node
    after it. A row goes from the root to a leaf; at each split

    - a number goes left when ``x <= threshold``;
    - a category goes left when its code is ``category``, or one of the split's ``groups``, right
      otherwise;
    - a missing value (NaN) goes left when ``missing_left``.

    A threshold of NaN sends every number right and of +inf every number left; so
    "NaN, missing left" is the split "is it missing?" even where -inf is a value.

    Parameters
    ----------
    feature : array of int, shape (n_nodes,)
        The feature each node splits on, -1 for a leaf. From `n_features` on they are
        `combinations`.
    threshold : array of float, shape (n_nodes,)
        Thresholds of the splits on numbers; NaN is stored at leaves and category splits.
    value : array of float, shape (n_nodes, n_classes), or Numbers or Actions
        Total weight of each class in each leaf. Rows of splits are ignored: they are the
        sums over the leaves below. Trees that predict numbers or actions are given
        :class:`~provetree.tree.values.Numbers` or :class:`~provetree.tree.values.Actions`.
    n_samples : array of int, shape (n_nodes,)
        Number of training rows in each leaf; entries of splits are ignored.
    n_features : int
        Width of the table.
    category : array of int, optional
        The category code that goes left, -1 for a split on a number (and for leaves).
    missing_left : array of bool, optional
        Where missing values go at a split on a number. It is used only where ``missing_seen``;
        elsewhere nothing was learned, and missing values follow the heavier side. At a category
        split a missing value is the category after the last.
    missing_seen : array of bool, optional
        Whether a split on a number learned from training rows where missing values go.
    feature_names : sequence of str, optional
        Names for the text form.
    class_names : sequence, optional
        Names of the classes, the actions or the outputs; plain values are kept, others become
        strings.
    categories : sequence, optional
        For each feature None (numbers) or the values its category codes stand for; a
        missing value has the code after the last of them. Category splits need it.
    label : array of int, optional
        The class each leaf predicts, -1 for the one of the largest total; entries of splits are
        ignored. By default every leaf predicts the class with the largest total, the first on a
        tie. Costs other than errors may need another class.
    combinations : sequence of Combination, optional
        Weighted sums of two or more columns; the feature ``n_features + k`` is the k-th of them.
    groups : sequence of sequences of int, optional
        For each node the codes of the categories that go left together, where there are two or
        more; empty for all others. Where there are no such nodes it is empty.

    Examples
    --------
    >>> from provetree import Tree
    >>> tree = Tree(
    ...     feature=[0, -1, -1],
    ...     threshold=[2.45, float("nan"), float("nan")],
    ...     value=[[0, 0], [50, 0], [1, 49]],
    ...     n_samples=[0, 50, 50],
    ...     n_features=1,
    ...     feature_names=["petal length"],
    ...     class_names=["setosa", "other"],
    ... )
    >>> tree.predict([[1.0], [3.0]]).tolist()
    [0, 1]
    >>> tree.depth, tree.n_leaves
    (1, 2)
    """

    __slots__ = (
        "_hash",
        "categories",
        "category",
        "class_names",
        "combinations",
        "feature",
        "feature_names",
        "groups",
        "label",
        "left",
        "missing_left",
        "missing_seen",
        "n_features",
        "n_samples",
        "node_depth",
        "right",
        "threshold",
        "value",
        "values",
    )

    threshold: Float
    category: Int32
    missing_left: Bool
    missing_seen: Bool
    left: Int32
    right: Int32
    value: Float
    values: Values
    n_samples: Int
    label: Int32
    node_depth: Int32
    class_names: tuple[Name, ...] | None
    _hash: int | None

    def __init__(
        self,
        *,
        feature: ArrayLike,
        threshold: ArrayLike,
        value: ArrayLike | Values,
        n_samples: ArrayLike,
        n_features: int,
        category: ArrayLike | None = None,
        missing_left: ArrayLike | None = None,
        missing_seen: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Iterable[object] | None = None,
        categories: Sequence[Iterable[object] | None] | None = None,
        label: ArrayLike | None = None,
        combinations: Iterable[Combination] | None = None,
        groups: Sequence[Iterable[int]] | None = None,
    ) -> None:
        n_features = int(n_features)
        if not 0 <= n_features <= MOST_FEATURES:
            raise ValueError(
                "The 'n_features' of a tree must be an int in the range "
                f"[0, {MOST_FEATURES}]. Got {n_features} instead."
            )
        features = node_array("feature", feature, np.int32)
        n_nodes = len(features)
        split = features >= 0
        levels = (None,) * n_features if categories is None else named_levels(categories)
        sums = checked_combinations(combinations, levels)
        left, right, depth = preorder_links(features, n_features + len(sums))
        thresholds = node_array("threshold", threshold, np.float64, n_nodes)
        codes = node_array("category", category, np.int32, n_nodes, default=-1)
        seen = node_array("missing_seen", missing_seen, np.bool_, n_nodes, default=False)
        to_left = node_array("missing_left", missing_left, np.bool_, n_nodes, default=False)
        counts = node_array("n_samples", n_samples, np.int64, n_nodes)
        values = completed_values(value, split, left, right)
        codes = np.where(split, codes, -1).astype(np.int32)
        several = completed_groups(groups, codes, split)
        if np.any(counts[~split] < 0):
            raise ValueError("The 'n_samples' array of a tree must hold ints >= 0.")
        names, classes = named(feature_names, class_names)
        check_lengths(n_features, values.value.shape[1], levels, names, classes)
        by_category = codes != -1
        thresholds[~split | by_category | np.isnan(thresholds)] = np.nan  # one NaN of the many
        seen &= split & ~by_category

        add_up_children(counts, left, right)
        weight = values.weight
        heavier_left = np.zeros(n_nodes, dtype=np.bool_)
        heavier_left[split] = weight[left[split]] >= weight[right[split]]
        to_left = np.where(seen, to_left, heavier_left) & split
        for node in np.flatnonzero(by_category).tolist():
            of_feature = int(features[node])
            level = levels[of_feature] if of_feature < n_features else None
            own = several[node] if several and several[node] else (int(codes[node]),)
            are_missing = [is_missing_code(code, level) for code in own]  # each is checked
            to_left[node] = any(are_missing)

        fields: dict[str, object] = {
            "feature": features,
            "threshold": thresholds,
            "category": codes,
            "missing_left": to_left,
            "missing_seen": seen,
            "left": left,
            "right": right,
            "value": values.value,
            "values": values,
            "n_samples": counts,
            "label": node_labels(values, label, split),
            "node_depth": depth,
            "n_features": n_features,
            "feature_names": names,
            "class_names": classes,
            "categories": levels,
            "combinations": sums,
            "groups": several,
            "_hash": None,
        }
        self._set(fields)

    @classmethod
    def _completed(
        cls,
        *,
        feature_names: Sequence[str] | None,
        class_names: Iterable[object] | None,
        values: Values,
        **fields: object,
    ) -> Tree:
        """Return a tree from arrays that are already checked and complete.

        For trees from the core on tables of numbers: checking them can take longer than the search.
        """
        tree = cls.__new__(cls)
        names, classes = named(feature_names, class_names)
        fields |= {"value": values.value, "values": values, "_hash": None}
        tree._set({**fields, "feature_names": names, "class_names": classes})
        return tree

    def _set(self, fields: Mapping[str, object]) -> None:
        keep = object.__setattr__
        for name, field in fields.items():
            if type(field) is np.ndarray:
                field.setflags(write=False)
            keep(self, name, field)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A Tree cannot be changed: tried to set {name!r}.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"A Tree cannot be changed: tried to delete {name!r}.")

    # -- shape ---------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def kind(self) -> Kind:
        """What a leaf predicts: "classes" (one of them), "numbers" or "actions" (one of them)."""
        return self.values.kind

    @property
    def weight(self) -> Float:
        """The weight of the training rows of each node."""
        return self.values.weight

    @property
    def n_classes(self) -> int:
        """Number of classes, of outputs, or of actions."""
        return int(self.value.shape[1])

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return self.n_nodes // 2

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.n_nodes - self.n_splits

    @property
    def depth(self) -> int:
        """Number of splits on the longest path from the root to a leaf."""
        return int(self.node_depth.max())

    @property
    def labels(self) -> tuple[Name, ...]:
        """The labels of the classes, outputs or actions; 0, 1, ... where they have none."""
        return self.class_names or tuple(range(self.n_classes))

    def replaced(self, **changes: Any) -> Tree:
        """Return the tree with other values for some of its parameters.

        Examples
        --------
        >>> from provetree import Tree
        >>> leaf = Tree(feature=[-1], threshold=[0], value=[[3, 1]], n_samples=[4], n_features=2)
        >>> leaf.replaced(feature_names=["age", "income"]).column_names
        ('age', 'income')
        """
        return Tree(**{**self._state(), **changes})

    # -- prediction ----------------------------------------------------------------------

    def apply(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the leaf each row of the encoded table ends in.

        Parameters
        ----------
        X : array-like of float, shape (n_rows, n_features)

        Returns
        -------
        array of int, shape (n_rows,)

        Examples
        --------
        >>> from provetree import Tree
        >>> tree = Tree(feature=[0, -1, -1], threshold=[3.0, 0, 0], n_features=1,
        ...             value=[[0, 0], [3, 1], [0, 2]], n_samples=[0, 4, 2])
        >>> tree.apply([[3.0], [3.1], [float("nan")]]).tolist()
        [1, 2, 1]
        """
        node = np.zeros(len(table := self.with_combinations(X)), dtype=np.intp)
        rows = np.arange(len(table))
        for _ in range(self.depth):
            rows = rows[self.feature[node[rows]] >= 0]
            at = node[rows]
            node[rows] = np.where(self._goes_left(table, rows, at), self.left[at], self.right[at])
        return node

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return what is predicted for each row of the encoded table.

        A tree of classes or actions gives their index; a tree of numbers gives numbers, with one
        column per output where there are several. The class of a leaf is the one with the largest
        total, the first on a tie, unless the tree was given another one.

        Examples
        --------
        >>> from provetree import Tree
        >>> tree = Tree(feature=[0, -1, -1], threshold=[3.0, 0, 0], n_features=1,
        ...             value=[[0, 0], [3, 1], [0, 2]], n_samples=[0, 4, 2])
        >>> tree.predict([[3.0], [3.1]]).tolist()
        [0, 1]
        """
        leaves = self.apply(X)
        if self.kind == "numbers":
            found = self.value[leaves]
            return found[:, 0] if self.n_classes == 1 else found
        return self.label[leaves].astype(np.intp)

    def predict_proba(self, X: ArrayLike, laplace: float | None = None) -> Float:
        """Return the probability of each class for each row, shape (n_rows, n_classes).

        They are those of :meth:`probabilities` in the leaf of the row. A number as `laplace` takes
        the place of the tree's own smoothing: the weight added to every class of a leaf.

        Examples
        --------
        >>> from provetree import Tree
        >>> tree = Tree(feature=[0, -1, -1], threshold=[3.0, 0, 0], n_features=1,
        ...             value=[[0, 0], [3, 1], [0, 2]], n_samples=[0, 4, 2])
        >>> tree.predict_proba([[3.0], [3.1]]).tolist()
        [[0.75, 0.25], [0.0, 1.0]]
        """
        each = self.probabilities() if laplace is None else self.shares(laplace)
        return each[self.apply(X)]

    def decision_path(self, X: ArrayLike) -> csr_matrix:
        """Return which nodes each row passes, as a sparse indicator matrix.

        Returns
        -------
        scipy.sparse.csr_matrix, shape (n_rows, n_nodes)

        Examples
        --------
        >>> from provetree import Tree
        >>> tree = Tree(feature=[0, -1, -1], threshold=[3.0, 0, 0], n_features=1,
        ...             value=[[0, 0], [3, 1], [0, 2]], n_samples=[0, 4, 2])
        >>> tree.decision_path([[3.0], [3.1]]).toarray().tolist()
        [[1, 1, 0], [1, 0, 1]]
        """
        from scipy.sparse import csr_matrix

        leaves = self.apply(X)
        ways = self._ways()
        lengths = np.array([len(way) for way in ways], dtype=np.intp)[leaves]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        indices = np.concatenate([ways[leaf] for leaf in leaves] or [np.empty(0, dtype=np.intp)])
        data = np.ones(len(indices), dtype=np.int64)
        return csr_matrix((data, indices, starts), shape=(len(leaves), self.n_nodes))

    def _goes_left(self, table: Float, rows: NDArray[np.intp], at: NDArray[np.intp]) -> Bool:
        x = table[rows, self.feature[at]]
        code = self.category[at]
        # Comparisons with NaN are false, and so is a NaN threshold for every number.
        by_value = np.where(code >= 0, x == code, x <= self.threshold[at])
        if self.groups:
            for node in np.unique(at).tolist():
                if self.groups[node]:
                    here = at == node
                    by_value[here] = np.isin(x[here], self.groups[node])
        return np.where(np.isnan(x), self.missing_left[at], by_value)

    @property
    def has_other_labels(self) -> bool:
        """Whether a leaf predicts another class or action than its best one."""
        return bool(np.any(self.label != self.values.best()))

    def shares(self, laplace: float = 0.0) -> Float:
        """Return the share of each class in each node.

        Parameters
        ----------
        laplace : float, default=0.0
            Laplace's correction: this much weight is first added to every class of a node, so
            that small leaves are less certain.

        Returns
        -------
        array of float, shape (n_nodes, n_classes)

        Examples
        --------
        >>> from provetree import Tree
        >>> leaf = Tree(feature=[-1], threshold=[0], value=[[3, 0]], n_samples=[3], n_features=1)
        >>> leaf.shares().tolist(), leaf.shares(laplace=1.0).tolist()
        ([[1.0, 0.0]], [[0.8, 0.2]])
        """
        self._totals()
        return row_shares(self.value, laplace)

    def probabilities(self) -> Float:
        """Return the probability of each class in each node: its share, smoothed if it is asked.

        All exports give these, and so does :meth:`predict_proba`. Shape (n_nodes, n_classes).
        """
        smoothing = self._totals().smoothing
        shares = smoothed_shares(self.value, self.label, self.left, self.right, smoothing)
        if smoothing is None or not smoothing.directions or self.n_classes != 2:
            return shares
        from provetree.tree.ordered_shares import ordered_shares

        return ordered_shares(self, shares, smoothing.directions)

    def with_smoothing(self, smoothing: Smoothing | None) -> Tree:
        """Return the tree with probabilities that are smoothed; predictions stay as they are.

        Examples
        --------
        >>> from provetree import Tree
        >>> from provetree.tree.smoothing import Smoothing
        >>> leaf = Tree(feature=[-1], threshold=[0], value=[[3, 0]], n_samples=[3], n_features=1)
        >>> leaf.with_smoothing(Smoothing("laplace", 1.0)).probabilities().tolist()
        [[0.8, 0.2]]
        """
        return self.replaced(value=ClassTotals(self._totals().value, smoothing))

    def _totals(self) -> ClassTotals:
        if isinstance(self.values, ClassTotals):
            return self.values
        raise ValueError(f"Only trees of classes have class shares. This one has {self.kind}.")

    def label_share(self, node: int) -> float:
        """Return the share of the predicted class in a node, 0.0 where there are no rows."""
        total = float(self.value[node].sum())
        return float(self.value[node, self.label[node]]) / total if total > 0 else 0.0

    def _ways(self) -> list[NDArray[np.intp]]:
        """Return the nodes from the root to each node, both included."""
        ways = [np.zeros(1, dtype=np.intp)] * self.n_nodes
        for node in range(self.n_nodes):
            if self.feature[node] >= 0:
                for child in (self.left[node], self.right[node]):
                    ways[child] = np.append(ways[node], np.intp(child))
        return ways

    # -- other forms ---------------------------------------------------------------------

    def to_text(self, *, legend: bool = True) -> str:
        """Return the tree as text that people can read and :meth:`from_text` reads back.

        Parameters
        ----------
        legend : bool
            Whether to write the version stamp and the lists of classes and features, which
            reading back needs.

        Examples
        --------
        >>> from provetree import Tree
        >>> nan = float("nan")
        >>> tree = Tree(feature=[0, -1, -1], threshold=[37.5, nan, nan],
        ...             value=[[0, 0], [8, 2], [1, 9]], n_samples=[0, 10, 10],
        ...             n_features=1, feature_names=["age"], class_names=["no", "yes"])
        >>> print(tree.to_text(legend=False))
        age <= 37.5
        |   no: 80.0% of 10 rows [8, 2]
        age > 37.5
        |   yes: 90.0% of 10 rows [1, 9]
        >>> Tree.from_text(tree.to_text()) == tree
        True
        """
        from provetree.tree.text import to_text

        return to_text(self, legend=legend)

    @classmethod
    def from_text(cls, text: str) -> Tree:
        """Read a tree back from what :meth:`to_text` wrote with its legend."""
        from provetree.tree.text import from_text

        return from_text(text)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain lists and dicts, stamped with a format version.

        Examples
        --------
        >>> from provetree import Tree
        >>> leaf = Tree(feature=[-1], threshold=[0], value=[[3, 1]], n_samples=[4], n_features=2)
        >>> leaf.to_dict()["format"], leaf.to_dict()["version"]
        ('provetree-tree', 1)
        >>> Tree.from_dict(leaf.to_dict()) == leaf
        True
        """
        from provetree.tree.serialise import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Tree:
        """Read a tree back from what :meth:`to_dict` gave."""
        from provetree.tree.serialise import from_dict

        return from_dict(data)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return :meth:`to_dict` as strict JSON; every number round-trips exactly."""
        from provetree.tree.serialise import to_json

        return to_json(self, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> Tree:
        """Read a tree back from what :meth:`to_json` wrote."""
        from provetree.tree.serialise import from_json

        return from_json(text)

    # -- identity ------------------------------------------------------------------------

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (
            self.feature,
            self.threshold + 0.0,  # -0.0 and 0.0 are the same threshold
            self.category,
            self.missing_left,
            self.missing_seen,
            self.n_samples,
            self.label,
        )

    def _names(self) -> tuple[object, ...]:
        names = (self.n_features, self.feature_names, self.class_names, self.categories)
        return (*names, self.combinations, self.groups)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            self.value.shape == other.value.shape
            and self._names() == other._names()
            and self.values == other.values
            and all(
                np.array_equal(mine, theirs, equal_nan=mine.dtype == np.float64)
                for mine, theirs in zip(self._arrays(), other._arrays(), strict=True)
            )
        )

    def __hash__(self) -> int:
        known = self._hash
        if known is None:
            known = hash((self._names(), self.feature.tobytes(), self.n_samples.tobytes()))
            object.__setattr__(self, "_hash", known)
        return known

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self._state(),))

    def _state(self) -> dict[str, Any]:
        """Return the parameters of the tree."""
        derived = ("_hash", "left", "right", "node_depth", "values")
        state = {name: getattr(self, name) for name in self.__slots__ if name not in derived}
        return {**state, "value": self.values}

    def __repr__(self) -> str:
        return (
            f"Tree(depth={self.depth}, n_leaves={self.n_leaves}, "
            f"n_features={self.n_features}, {_COUNTED[self.kind]}={self.n_classes})"
        )


def _rebuild(state: dict[str, Any]) -> Tree:
    return Tree(**state)
