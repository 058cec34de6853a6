"""CART tuned over leaves, least leaf, criterion, pruning and class weights by cross-validation.

The choice is that of scikit-learn's ``GridSearchCV``, with a fraction of the fits. CART with a
limit on the leaves grows its best split first. So the tree of few leaves is the beginning of the
tree of many, and a pruned tree is a part of it: one fit for each criterion, least leaf and class
weight holds all sizes and all prices.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from provetree.bench.new_rows.tables import ClassTable, Preparation

__all__ = ["best_setting", "grid", "prune_ends", "tuned_cart"]

FOLDS = 5
#: Of CART, which it needs for ties between columns.
SEED = 0

Grid: TypeAlias = Mapping[str, tuple[Any, ...]]


def grid(leaves: int, class_weights: tuple[Any, ...] = (None,)) -> dict[str, tuple[Any, ...]]:
    """Return what is tried, the names in the order of ``ParameterGrid``.

    Examples
    --------
    >>> from provetree.bench.new_rows.tuned_cart import grid
    >>> grid(8)["max_leaf_nodes"]
    (2, 3, 4, 5, 6, 7, 8)
    """
    return {
        "ccp_alpha": (0.0, 0.0003, 0.001, 0.003, 0.01, 0.03),
        "class_weight": class_weights,
        "criterion": ("gini", "entropy"),
        "max_leaf_nodes": tuple(range(2, leaves + 1)),
        "min_samples_leaf": (1, 5, 20),
    }


def tuned_cart(
    table: ClassTable, leaves: int, *, balanced: bool = False, seed: int = 0
) -> tuple[Any, Preparation]:
    """Return CART of the best setting on all rows of a table, and how its rows are prepared.

    With `balanced`, class weights are tuned too, and the best balanced accuracy counts.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.bench.new_rows.tables import ClassTable
    >>> from provetree.bench.new_rows.tuned_cart import tuned_cart
    >>> table = ClassTable("tiny", np.arange(100.0)[:, None], np.repeat([0, 1], 50))
    >>> int(tuned_cart(table, 8)[0].get_n_leaves())
    2
    """
    from sklearn.tree import DecisionTreeClassifier

    weights = (None, _between(table.y), "balanced") if balanced else (None,)
    score = _balanced_accuracy if balanced else _accuracy
    setting = best_setting(table, grid(leaves, weights), score, seed)
    prepare = Preparation(table)
    cart = DecisionTreeClassifier(random_state=SEED, **setting)
    return cart.fit(prepare(table.X), table.y), prepare


def _between(y: NDArray[np.int64]) -> dict[int, float]:
    """Return class weights between none and "balanced": the roots of the latter."""
    counts = np.bincount(y)
    weights = np.sqrt(len(y) / (len(counts) * np.maximum(counts, 1)))
    return dict(enumerate(weights.tolist()))


def best_setting(
    table: ClassTable,
    tried: Grid,
    score: Callable[[NDArray[Any], NDArray[Any]], float],
    seed: int,
) -> dict[str, Any]:
    """Return the setting with the best mean score over the folds, the first of equal ones."""
    from sklearn.model_selection import StratifiedKFold

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class with fewer rows than folds
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        scores = np.column_stack(
            [
                _of_fold(table.rows(train), table.rows(test), tried, score)
                for train, test in folds.split(table.X, table.y)
            ]
        )
    # The mean of each row, as GridSearchCV takes it: equal to the last bit, for the sake of ties.
    best = int(np.average(scores, axis=1).argmax())
    values = list(product(*tried.values()))[best]
    return dict(zip(tried, values, strict=True))


def _of_fold(
    train: ClassTable,
    test: ClassTable,
    tried: Grid,
    score: Callable[[NDArray[Any], NDArray[Any]], float],
) -> list[float]:
    """Return the score of each setting, in the order of the product of `tried`."""
    from sklearn.tree import DecisionTreeClassifier

    prepare = Preparation(train)
    X, X_test = (prepare(part.X).astype(np.float32) for part in (train, test))
    sizes, prices = tried["max_leaf_nodes"], tried["ccp_alpha"]
    scores: dict[tuple[Any, ...], float] = {}
    growth = [tried[name] for name in ("class_weight", "criterion", "min_samples_leaf")]
    for number, weight in enumerate(growth[0]):
        for criterion, least in product(*growth[1:]):
            cart = DecisionTreeClassifier(
                max_leaf_nodes=max(sizes),
                class_weight=weight,
                criterion=criterion,
                min_samples_leaf=least,
                random_state=SEED,
            )
            tree = cart.fit(X, train.y, check_input=False).tree_
            classes = cart.classes_[tree.value[:, 0, :].argmax(axis=1)]
            reached = tree.apply(X_test)
            known: dict[bytes, float] = {}  # most settings end in one of few trees
            for leaves in sizes:
                for price, ends in zip(prices, prune_ends(tree, leaves, prices), strict=True):
                    key = ends.tobytes()
                    if key not in known:
                        known[key] = score(test.y, classes[ends][reached])
                    scores[price, number, criterion, leaves, least] = known[key]
    numbers = range(len(growth[0]))
    return [scores[key] for key in product(prices, numbers, growth[1], sizes, growth[2])]


def prune_ends(tree: Any, leaves: int, prices: tuple[float, ...]) -> list[NDArray[np.intp]]:
    """Return, for each price per leaf, the node in which the rows of each node end.

    `tree` is that of CART grown best split first; of it so many leaves are kept, and then the
    weakest links are cut while they are worth no more than the price, as scikit-learn does.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from provetree.bench.new_rows.tuned_cart import prune_ends
    >>> X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 0, 1])
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=4).fit(X, y).tree_
    >>> [len(set(ends[tree.apply(X.astype("f4"))])) for ends in prune_ends(tree, 4, (0.0, 0.1))]
    [4, 2]
    """
    pruned = _Pruned(tree, leaves)
    found = {}
    for price in sorted(prices):
        if price > 0:  # scikit-learn cuts nothing at a price of zero
            pruned.cut_links(price)
        found[price] = pruned.ends()
    return [found[price] for price in prices]


class _Pruned:
    """A tree of the first leaves of CART, which loses its weakest links."""

    def __init__(self, tree: Any, leaves: int) -> None:
        self._n_nodes = tree.node_count
        kept = min(self._n_nodes, 2 * leaves - 1)  # two nodes for each split, in their order
        self._children = [
            pair if max(pair) < kept else (-1, -1)
            for pair in zip(tree.children_left.tolist(), tree.children_right.tolist(), strict=True)
        ]
        self._parent = [-1] * self._n_nodes
        for node, pair in enumerate(zip(tree.children_left, tree.children_right, strict=True)):
            for child in pair:
                if child >= 0:
                    self._parent[child] = node
        weights = tree.weighted_n_node_samples
        self._cost: list[float] = (weights * tree.impurity / weights[0]).tolist()
        self._below, self._count = list(self._cost), [1] * self._n_nodes  # of the leaves below
        self._splits = [node for node, pair in enumerate(self._children) if pair[0] >= 0]
        for node in reversed(self._splits):  # children come after their parents
            left, right = self._children[node]
            self._below[node] = self._below[left] + self._below[right]
            self._count[node] = self._count[left] + self._count[right]

    def cut_links(self, price: float) -> None:
        """Make leaves of the splits that are worth no more than the price, the weakest first."""
        while self._splits:
            worth, node = min(
                ((self._cost[node] - self._below[node]) / (self._count[node] - 1), node)
                for node in self._splits
            )
            if worth > price:
                return
            self._cut(node)

    def _cut(self, node: int) -> None:
        loss, fewer = self._cost[node] - self._below[node], self._count[node] - 1
        gone = {node}
        for other in self._splits:
            if self._parent[other] in gone:
                gone.add(other)
        self._splits = [other for other in self._splits if other not in gone]
        while node >= 0:
            self._below[node] += loss
            self._count[node] -= fewer
            node = self._parent[node]

    def ends(self) -> NDArray[np.intp]:
        """Return the node in which the rows of each node of the grown tree end."""
        ends, splits = list(range(self._n_nodes)), set(self._splits)
        for node in range(1, self._n_nodes):
            above = self._parent[node]
            if above not in splits:
                ends[node] = ends[above]
        return np.array(ends)


def _accuracy(y: NDArray[Any], given: NDArray[Any]) -> float:
    return float(np.mean(given == y))


def _balanced_accuracy(y: NDArray[Any], given: NDArray[Any]) -> float:
    right = given == y
    return float(np.mean([right[y == each].mean() for each in np.unique(y)]))
