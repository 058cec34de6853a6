"""The tree in sentences: its rules, its questions, and the way of one row in words.

Conditions on one column are drawn together: "age > 20" and "age <= 37.5" are one condition, and so
are the categories that a way leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from provetree.export.words import counted, leaf_detail, prediction_text, short_number
from provetree.tree.tree import Tree

__all__ = ["Rule", "cart_words", "conditions_of", "explain_row", "question", "rules", "way_of"]


@dataclass
class _Condition:
    """What a way through the tree says about one column."""

    low: float = -math.inf
    high: float = math.inf
    missing: bool = True
    #: Whether a split of the way learned from missing values.
    missing_matters: bool = False
    only: list[int] | None = None
    without: list[int] = field(default_factory=list)

    def take(self, tree: Tree, node: int, left: bool) -> None:
        """Add the side of a split."""
        codes = tree.codes_left(node)
        if codes:
            if left:
                self.only = [code for code in codes if self.only is None or code in self.only]
            else:
                self.without += codes
            return
        threshold = float(tree.threshold[node])
        to_left = bool(tree.missing_left[node])
        self.missing_matters |= bool(tree.missing_seen[node])
        self.missing &= to_left == left
        if left:
            # Every number goes right of a threshold of NaN.
            self.high = -math.inf if math.isnan(threshold) else min(self.high, threshold)
        elif not math.isnan(threshold):
            self.low = max(self.low, threshold)

    def words(self, tree: Tree, feature: int) -> str:
        """Say the condition."""
        name = tree.question_names[feature]
        levels = tree.levels_of(feature)
        if levels is not None:
            return f"{name} {self._category_words(levels)}"
        or_missing = " or is missing" if self.missing and self.missing_matters else ""
        if self.high == -math.inf:
            return f"{name} is missing"
        if self.low == math.inf:
            return f"{name} is missing" if self.missing else f"{name} is impossible"
        if self.low == -math.inf and self.high == math.inf:
            return f"{name} is anything" if self.missing else f"{name} is not missing"
        parts = []
        if self.low > -math.inf:
            parts.append(f"above {short_number(self.low)}")
        if self.high < math.inf:
            parts.append(f"at most {short_number(self.high)}")
        return f"{name} is {' and '.join(parts)}{or_missing}"

    def _category_words(self, levels: Sequence[object]) -> str:
        def called(code: int) -> str:
            return "missing" if code == len(levels) else str(levels[code])

        if self.only is not None:
            names = [called(code) for code in self.only if code not in self.without]
            return f"is {_listed(names, 'or')}" if names else "is impossible"
        names = [called(code) for code in self.without]
        return f"is not {names[0]}" if len(names) == 1 else f"is none of {_listed(names, 'and')}"


def _listed(names: Sequence[str], last: str) -> str:
    """Return names in a row: "a", "a or b", "a, b or c"."""
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


@dataclass(frozen=True)
class Rule:
    """One leaf as a sentence.

    Examples
    --------
    >>> from provetree.report.sentences import Rule
    >>> print(Rule(3, ("age is above 20", "port is C"), "yes", 0.8, 10).sentence)
    If age is above 20 and port is C, then yes (80.0% of 10 rows).
    """

    leaf: int
    conditions: tuple[str, ...]  # one for each column on the way
    label: str
    share: float | None  # of the label among the training rows of the leaf, where it is a class
    rows: int
    detail: str | None = None  # how sure a number or an action is, in words

    @property
    def sentence(self) -> str:
        """The rule as a sentence."""
        sure = self.detail
        if sure is None:
            sure = f"{self.share or 0.0:.1%} of {counted(self.rows, 'row')}"
        end = f"{self.label} ({sure})."
        if not self.conditions:
            return f"Always {end}"
        return f"If {' and '.join(self.conditions)}, then {end}"


def rules(tree: Tree) -> list[Rule]:
    """Return the leaves of a tree as rules, from left to right.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.report.sentences import rules
    >>> clf = OptimalTreeClassifier().fit([[1.0], [2.0], [3.0]], ["no", "yes", "no"])
    >>> for rule in rules(clf.tree_):
    ...     print(rule.sentence)
    If x0 is at most 1.5, then no (100.0% of 1 row).
    If x0 is above 1.5 and at most 2.5, then yes (100.0% of 1 row).
    If x0 is above 2.5, then no (100.0% of 1 row).
    """
    found = []
    for leaf in np.flatnonzero(tree.feature < 0).tolist():
        words, rows = tuple(conditions_of(tree, leaf)), int(tree.n_samples[leaf])
        label = prediction_text(tree, leaf)
        if tree.kind == "classes":
            found.append(Rule(leaf, words, label, tree.label_share(leaf), rows))
        else:
            found.append(Rule(leaf, words, label, None, rows, leaf_detail(tree, leaf)))
    return found


def way_of(tree: Tree, node: int) -> list[tuple[int, bool]]:
    """Return the splits above a node and whether the way to it goes left at each."""
    parent = {}
    for above in np.flatnonzero(tree.feature >= 0).tolist():
        parent[int(tree.left[above])] = (above, True)
        parent[int(tree.right[above])] = (above, False)
    way = []
    while node in parent:
        way.append(parent[node])
        node = parent[node][0]
    return way[::-1]


def conditions_of(tree: Tree, node: int) -> list[str]:
    """Return what the rows of a node have in common, one condition for each column on the way."""
    by_feature: dict[int, _Condition] = {}
    for split, left in way_of(tree, node):
        by_feature.setdefault(int(tree.feature[split]), _Condition()).take(tree, split, left)
    return [condition.words(tree, feature) for feature, condition in by_feature.items()]


def question(tree: Tree, node: int) -> str:
    """Return what a split asks: "Is age at most 25?"; "yes" goes left."""
    condition = _Condition()
    condition.take(tree, node, True)
    words = condition.words(tree, int(tree.feature[node]))
    name, _, rest = words.partition(" is ")
    return f"Is {name} {rest.removesuffix(' or is missing')}?"


def explain_row(tree: Tree, encoded: Any) -> tuple[list[str], int]:
    """Return the way of one encoded row in words, and the leaf it ends in.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.report.sentences import explain_row
    >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0]], ["no", "yes"])
    >>> explain_row(clf.tree_, [22.0])
    (['x0 is 22, which is at most 25'], 1)
    """
    row = np.asarray(encoded, dtype=np.float64).reshape(1, -1)
    leaf = int(tree.apply(row)[0])
    row = tree.with_combinations(row)
    lines = []
    for node, left in way_of(tree, leaf):
        feature = int(tree.feature[node])
        name = tree.question_names[feature]
        x = float(row[0, feature])
        lines.append(f"{name} is {_value_words(tree, feature, x)}{_reason(tree, node, left, x)}")
    return lines, leaf


def _value_words(tree: Tree, feature: int, x: float) -> str:
    if math.isnan(x):
        return "missing"
    levels = tree.levels_of(feature)
    if levels is None:
        return short_number(x)
    return str(levels[int(x)]) if 0 <= x < len(levels) else "a value not known from training"


def _reason(tree: Tree, node: int, left: bool, x: float) -> str:
    """Say why a value takes its side; nothing to say where the value speaks for itself."""
    codes, threshold = tree.codes_left(node), float(tree.threshold[node])
    if codes:
        wanted = [str(name) for name in tree.names_left(node)]
        wanted += ["missing"] if tree.missing_left[node] else []
        if left:
            return "" if len(wanted) == 1 else f", one of {_listed(wanted, 'and')}"
        return f", not {_listed(wanted, 'or')}"
    if math.isnan(x):
        if math.isnan(threshold) or math.isinf(threshold):
            return ""
        side = "at most" if left else "above"
        why = "as in training" if tree.missing_seen[node] else "the side of more training rows"
        return f", which counts as {side} {short_number(threshold)} ({why})"
    if math.isnan(threshold) or threshold == math.inf:
        return ", not missing"
    return f", which is {'at most' if left else 'above'} {short_number(threshold)}"


def cart_words(tree: Tree) -> str:
    """Say what CART is, and what it had in common with a tree.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.report.sentences import cart_words
    >>> cart_words(OptimalTreeClassifier().fit([[1], [2]], [0, 1]).tree_).rpartition(". ")[2]
    'It had the same rows, the same depth and the same kinds of questions.'
    """
    words = "CART is the usual way to grow a tree: one split at a time, never looking back. It had "
    if tree.combinations or any(tree.groups or ()):
        return f"{words}the same rows and depth, and asked about one column or category at a time."
    return f"{words}the same rows, the same depth and the same kinds of questions."
