"""What rows cost in the leaves of a tree, added up one by one as exact fractions.

This is the part of :func:`provetree.verify` that knows losses; it shares nothing with engines. A
tree of numbers costs what its own numbers are off by, squared for means; a tree of actions what its
actions cost, or the rewards they bring with the other sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from provetree.tree.tree import Tree

__all__ = ["Judge", "judge_of", "plain_label"]


class Judge:
    """Adds up the errors of a tree of classes.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from provetree import Tree
    >>> from provetree.tree.judges import Judge
    >>> leaf = Tree(feature=[-1], threshold=[0], value=[[2, 1]], n_samples=[3], n_features=1)
    >>> judge = Judge(leaf)
    >>> judge.see(0, 1, Fraction(5, 2))
    >>> judge.cost(), judge.n_errors
    (Fraction(5, 2), 1)
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.labels: list[object] = list(tree.labels)
        self.errors = Fraction(0)
        self.n_errors = 0
        self.least = Fraction(0)  # what no choice of leaves can save
        self.totals: dict[object, Fraction] = {}

    def see(self, leaf: int, truth: Any, weight: Fraction) -> None:
        """Take note of a row."""
        name = plain_label(truth)
        self.totals[name] = self.totals.get(name, Fraction(0)) + weight
        if name != self.labels[int(self.tree.label[leaf])]:
            self.errors += weight
            self.n_errors += 1

    def cost(self) -> Fraction:
        """Return what the leaves cost."""
        return self.errors

    def root_error(self) -> Fraction:
        """Return what the best single leaf would cost."""
        return sum(self.totals.values(), Fraction(0)) - max(
            self.totals.values(), default=Fraction(0)
        )


class _JudgeOfPurity(Judge):
    """Adds up the impurity of the leaves, by their weight."""

    def __init__(self, tree: Tree, impurity: Callable[[list[Fraction]], Fraction]) -> None:
        super().__init__(tree)
        self.impurity = impurity
        self.leaves: dict[int, dict[object, Fraction]] = {}

    def see(self, leaf: int, truth: Any, weight: Fraction) -> None:
        super().see(leaf, truth, weight)
        totals = self.leaves.setdefault(leaf, {})
        name = plain_label(truth)
        totals[name] = totals.get(name, Fraction(0)) + weight

    def cost(self) -> Fraction:
        each = (self.impurity(list(totals.values())) for totals in self.leaves.values())
        return sum(each, Fraction(0))

    def root_error(self) -> Fraction:
        return self.impurity(list(self.totals.values()))


def _gini(totals: list[Fraction]) -> Fraction:
    whole = sum(totals, Fraction(0))
    return whole - sum((total * total for total in totals), Fraction(0)) / whole


def _entropy(totals: list[Fraction]) -> Fraction:
    whole = sum(totals)
    return Fraction(-math.fsum(float(n) * math.log(float(n / whole)) for n in totals))


def _pessimistic(totals: list[Fraction]) -> Fraction:
    """Return the errors of a leaf and those that C4.5 adds at its confidence of 0.25."""
    rows = float(sum(totals))
    wrong = rows - float(max(totals))
    if wrong < 1e-6:
        return Fraction(rows * (1 - 0.25 ** (1 / rows)))
    if wrong + 0.5 >= rows:
        return Fraction(wrong + 0.67 * (rows - wrong))
    z = 0.6744897501960817  # a normal variable is above this with probability 0.25
    seen = wrong + 0.5
    spread = z * math.sqrt(seen * (1 - seen / rows) + z * z / 4)
    return Fraction(rows * (seen + z * z / 2 + spread) / (rows + z * z))


_IMPURITIES = {"gini": _gini, "entropy": _entropy, "pessimistic": _pessimistic}


class _JudgeOfNumbers(Judge):
    """Adds up squares, or distances where the numbers are medians."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self.squared = getattr(tree.values, "statistic", "mean") == "mean"
        self.seen: list[tuple[list[Fraction], Fraction]] = []

    def see(self, leaf: int, truth: Any, weight: Fraction) -> None:
        target = [Fraction(float(x)) for x in _as_row(truth)]
        self.seen.append((target, weight))
        cost = self._cost(target, [Fraction(x) for x in self.tree.value[leaf].tolist()])
        self.errors += weight * cost
        self.n_errors += cost > 0

    def _cost(self, target: list[Fraction], value: list[Fraction]) -> Fraction:
        apart = [x - v for x, v in zip(target, value, strict=True)]
        return sum((d * d if self.squared else abs(d) for d in apart), Fraction(0))

    def root_error(self) -> Fraction:
        whole = sum((weight for _, weight in self.seen), Fraction(0))
        centre = []
        for output in range(self.tree.n_classes):
            ranked = sorted((target[output], weight) for target, weight in self.seen)
            if self.squared:
                centre.append(sum((x * weight for x, weight in ranked), Fraction(0)) / whole)
                continue
            reached = Fraction(0)
            for x, weight in ranked:
                reached += weight
                if 2 * reached >= whole:
                    centre.append(x)
                    break
        return sum((weight * self._cost(x, centre) for x, weight in self.seen), Fraction(0))


class _JudgeOfActions(Judge):
    """Adds up the costs of the chosen actions; rewards are costs of the other sign."""

    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self.sign = -1 if getattr(tree.values, "rewards", False) else 1
        self.each = [Fraction(0)] * tree.n_classes

    def see(self, leaf: int, truth: Any, weight: Fraction) -> None:
        costs = [self.sign * Fraction(float(x)) for x in self.costs_of(truth)]
        chosen = costs[int(self.tree.label[leaf])]
        self.errors += weight * chosen
        self.n_errors += chosen > min(costs)
        self.least += weight * min(costs)
        self.each = [total + weight * x for total, x in zip(self.each, costs, strict=True)]

    def costs_of(self, truth: Any) -> list[Any]:
        """Return what each action brings or costs."""
        return _as_row(truth)

    def root_error(self) -> Fraction:
        return min(self.each)


class _JudgeOfPredictions(_JudgeOfActions):
    """Adds up what the predictions of a tree of classes cost, by the true class."""

    def __init__(self, tree: Tree, cost_matrix: Any) -> None:
        super().__init__(tree)
        self.matrix = cost_matrix if isinstance(cost_matrix, Mapping) else _rows_of(cost_matrix)

    def costs_of(self, truth: Any) -> list[Any]:
        name = plain_label(truth)
        if isinstance(self.matrix, Mapping):
            return [self.matrix.get((name, other), int(name != other)) for other in self.labels]
        return list(self.matrix[self.labels.index(name)])


def judge_of(tree: Tree, criterion: str, cost_matrix: Any, *, by_row: bool) -> Judge:
    """Return who adds up the costs of a tree; `by_row` where each row comes with its costs."""
    if tree.kind == "numbers":
        return _JudgeOfNumbers(tree)
    if tree.kind == "actions" or by_row:
        return _JudgeOfActions(tree)
    if cost_matrix is not None:
        return _JudgeOfPredictions(tree, cost_matrix)
    if criterion == "errors":
        return Judge(tree)
    if criterion not in _IMPURITIES:
        known = ", ".join(map(repr, ("errors", *_IMPURITIES)))
        raise ValueError(f"The 'criterion' must be one of {known}. Got {criterion!r} instead.")
    return _JudgeOfPurity(tree, _IMPURITIES[criterion])


def plain_label(name: Any) -> object:
    """Return a label as trees store it: a plain value, or its text."""
    if hasattr(name, "item"):
        name = name.item()
    return name if isinstance(name, (bool, int, float, str)) else str(name)


def _as_row(truth: Any) -> list[Any]:
    return list(truth) if hasattr(truth, "__len__") else [truth]


def _rows_of(matrix: Any) -> list[Any]:
    rows = matrix.to_numpy() if hasattr(matrix, "to_numpy") else matrix
    return [_as_row(row) for row in rows]
