"""Trees as text that people can read and that can be read back exactly.

Each split is written twice, as the condition of its left and of its right side, with the branch
indented below. A leaf shows its class, the share of that class, its rows, and in brackets the
total weight of every class. A leaf of numbers shows them with their spread, a leaf of an action
what that brings or costs per row; the brackets hold all digits. The legend names the classes (or
outputs, or actions) and features in full.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from provetree.problem.combinations import Combination
from provetree.tree.serialise import (
    FORMAT,
    check_stamp,
    read_name,
    smoothing_of,
    tree_of_nodes,
    version_of,
    write_name,
)
from provetree.tree.tree import MOST_FEATURES, Tree
from provetree.tree.values import Actions, Numbers

_STEP = "|   "
_OR_MISSING = " or missing"
#: Between the categories of a group, and what stands for a missing value there: neither is a name,
#: as names with such letters are quoted.
_OR, _MISSING = " | ", "<missing>"
#: Names made of words of these letters are written as they are; others are quoted as in JSON.
_WORD = r"[\w()\[\]{}.,:;/%&+*'$€£°²³^~@!?-]+"
_PLAIN_NAME = re.compile(f"{_WORD}( {_WORD})*")
_SIGN = re.compile(r" (<=|>|=|!=|is) ")
_LEAF = re.compile(r"(?P<label>.*): \S+% of (?P<rows>\d+) rows? \[(?P<value>[^\[\]]*)\]")
_STAMP = re.compile(r"(\S+) version (\d+)")
_LEGEND_LINE = re.compile(r"(classes|features|categories): (.*)")
#: The same for trees with smoothed probabilities, which only version 4 has.
_LEGEND_LINE_4 = re.compile(r"(classes|smoothing|features|categories): (.*)")
#: The same for trees of numbers and of actions, which only version 3 has.
_LEGEND_LINE_3 = re.compile(r"(outputs|statistic|splits|actions|rewards|features|categories): (.*)")
#: The same for trees with combinations of columns or groups of categories, from version 5 on.
_LEGEND_LINE_5 = re.compile(
    r"(classes|smoothing|outputs|statistic|splits|actions|rewards|features|categories|combinations)"
    r": (.*)"
)
_LEAF_3 = re.compile(r"(?P<label>.*): .*\b(?P<rows>\d+) rows? \[(?P<value>[^\[\]]*)\]")


def to_text(tree: Tree, *, legend: bool = True) -> str:
    """Return the tree as text, with or without the stamp and the legend."""
    lines = list(_lines(tree))
    if legend:
        lines = [f"{FORMAT} version {version_of(tree)}", *lines, *_legend(tree)]
    return "\n".join(lines)


def from_text(text: str) -> Tree:
    """Return the tree that :func:`to_text` wrote with its legend."""
    lines = text.strip("\n").split("\n")
    stamp = _STAMP.fullmatch(lines[0].strip())
    if stamp is None:
        raise ValueError(f"A stored tree must start with the line '{FORMAT} version 1'.")
    check_stamp(stamp[1], int(stamp[2]))
    try:
        return _reader_of(int(stamp[2]), lines[1:])(lines[1:]).read()
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"The stored tree is damaged: {type(error).__name__}: {error}.") from None


def conditions(tree: Tree, node: int) -> tuple[str, str]:
    """Return the conditions of both sides of a split: "age <= 3 or missing", "age > 3"."""
    return _conditions(tree, _labels(tree), node)


def _class_label(names: Sequence[object] | None, index: int) -> str:
    return str(index) if names is None else _quoted(names[index])


def number(x: float) -> str:
    """Return the shortest digits that read back as exactly ``x``: "3", "2.45", "1e+300"."""
    return repr(float(x)).removesuffix(".0")


def _lines(tree: Tree) -> Iterator[str]:
    labels = _labels(tree)
    # A stack instead of recursion: trees may be deeper than Python's limit.
    waiting: list[tuple[int, int, str]] = [(0, 0, "")]
    while waiting:
        node, level, condition = waiting.pop()
        if level > 0:
            yield _STEP * (level - 1) + condition
        if tree.feature[node] < 0:
            yield _STEP * level + _leaf(tree, node)
            continue
        left, right = _conditions(tree, labels, node)
        waiting.append((int(tree.right[node]), level + 1, right))
        waiting.append((int(tree.left[node]), level + 1, left))


def _listed(numbers: Sequence[float]) -> str:
    return ", ".join(number(x) for x in numbers)


def few_digits(x: float, apart: float = 0.0) -> str:
    """Return a number with five digits that count, or as many as tell numbers so far apart.

    Examples
    --------
    >>> from provetree.tree.text import few_digits
    >>> few_digits(10 / 3), few_digits(1e9 + 10 / 3, apart=2.0)
    ('3.3333', '1000000003.33')
    """
    digits = 5
    if apart > 0 and x != 0:
        digits = min(max(digits, math.ceil(math.log10(abs(x) / apart)) + 3), 17)
    return number(float(f"{x:.{digits}g}"))


def shown_numbers(values: Numbers, node: int) -> list[str]:
    """Return the number of each output of a node, with digits that tell the nodes apart."""
    pairs = zip(values.value[node].tolist(), values.spread[0].tolist(), strict=True)
    return [few_digits(x, apart) for x, apart in pairs]


def number_words(values: Numbers, node: int) -> str:
    """Return the numbers of a node with their spread: "22.533 +- 3.1", for each output."""
    pairs = zip(shown_numbers(values, node), values.spread[node].tolist(), strict=True)
    return ", ".join(f"{shown} +- {few_digits(spread)}" for shown, spread in pairs)


def _leaf(tree: Tree, node: int) -> str:
    values, rows = tree.values, int(tree.n_samples[node])
    if isinstance(values, Numbers):
        exact = _node_digits(values, node)
        return f"{number_words(values, node)}: {rows} row{'' if rows == 1 else 's'} [{exact}]"
    if isinstance(values, Actions):
        label, weight = int(tree.label[node]), float(values.weight[node])
        each = few_digits(float(values.value[node, label]) / weight) if weight > 0 else "0"
        exact = f"{_listed(values.value[node].tolist())}; {number(weight)}"
        return (
            f"{_class_label(tree.class_names, label)}: {each} each of "
            f"{rows} row{'' if rows == 1 else 's'} [{exact}]"
        )
    share = tree.label_share(node)
    totals = ", ".join(number(x) for x in tree.value[node].tolist())
    return (
        f"{_class_label(tree.class_names, int(tree.label[node]))}: {share:.1%} of "
        f"{rows} row{'' if rows == 1 else 's'} [{totals}]"
    )


def _node_digits(values: Numbers, node: int) -> str:
    """Return value, spread and weight of a node, all digits."""
    return (
        f"{_listed(values.value[node].tolist())}; {_listed(values.spread[node].tolist())}; "
        f"{number(float(values.weight[node]))}"
    )


def _conditions(tree: Tree, labels: list[str], node: int) -> tuple[str, str]:
    feature = int(tree.feature[node])
    name = labels[feature]
    codes = tree.codes_left(node)
    levels = tree.levels_of(feature)
    if codes and levels is not None:
        if codes == (len(levels),):
            return f"{name} is missing", f"{name} is present"
        known = [*_category_labels(levels), _MISSING]
        group = _OR.join(known[code] for code in codes)
        return f"{name} = {group}", f"{name} != {group}"
    threshold = float(tree.threshold[node])
    to_left, seen = bool(tree.missing_left[node]), bool(tree.missing_seen[node])
    if seen and to_left and math.isnan(threshold):
        return f"{name} is missing", f"{name} is present"
    if seen and not to_left and threshold == math.inf:
        return f"{name} is present", f"{name} is missing"
    left, right = f"{name} <= {number(threshold)}", f"{name} > {number(threshold)}"
    if not seen:
        return left, right
    return (f"{left} or missing", right) if to_left else (left, f"{right} or missing")


def _labels(tree: Tree) -> list[str]:
    return _feature_labels(tree.feature_names, tree.n_features, tree.combinations)


def _feature_labels(
    names: Sequence[str] | None, n_features: int, combinations: Sequence[Combination] = ()
) -> list[str]:
    if names is None:
        names = [f"x{feature}" for feature in range(n_features)]
    sums = [each.words(names) for each in combinations]
    return _told_apart([_quoted(name) for name in (*names, *sums)])


def _category_labels(levels: Sequence[object]) -> list[str]:
    return _told_apart([_quoted(name) for name in levels])


def _told_apart(labels: list[str]) -> list[str]:
    """Return the labels, with their position added where two are the same."""
    count = Counter(labels)
    return [
        label if count[label] == 1 else f"{label} #{position}"
        for position, label in enumerate(labels)
    ]


def _quoted(name: object) -> str:
    # A lone "is" is quoted too: it would read as part of the condition.
    if isinstance(name, str) and _PLAIN_NAME.fullmatch(name) and " is " not in f" {name} ":
        return name
    return _json(write_name(name))


def _json(data: object) -> str:
    text = json.dumps(data, ensure_ascii=False)
    # Escape characters that would break a line or be invisible.
    return text if text.isprintable() else json.dumps(data)


def _legend(tree: Tree) -> Iterator[str]:
    def listed(names: tuple[Any, ...]) -> str:
        return _json([write_name(name) for name in names])

    values = tree.values
    thing = {"classes": "classes", "numbers": "outputs", "actions": "actions"}[tree.kind]
    yield f"{thing}: " + (
        str(tree.n_classes) if tree.class_names is None else listed(tree.class_names)
    )
    if isinstance(values, Numbers):
        yield f"statistic: {_json(values.statistic)}"
        splits = [n for n in range(tree.n_nodes) if tree.feature[n] >= 0]
        yield f"splits: {_json([_node_digits(values, n) for n in splits])}"
    elif isinstance(values, Actions):
        yield f"rewards: {_json(values.rewards)}"
    elif (smoothing := smoothing_of(tree)) is not None:
        yield f"smoothing: {_json(smoothing.stored())}"
    yield "features: " + (
        str(tree.n_features) if tree.feature_names is None else listed(tree.feature_names)
    )
    levels = {
        str(feature): [write_name(name) for name in level]
        for feature, level in enumerate(tree.categories)
        if level is not None
    }
    if levels:
        yield "categories: " + _json(levels)
    if tree.combinations:
        yield "combinations: " + _json([each.stored() for each in tree.combinations])


class _Reader:
    """Reads the lines below the stamp."""

    legend_line = _LEGEND_LINE

    def __init__(self, lines: list[str]) -> None:
        legend: dict[str, Any] = {}
        pattern = self.legend_line
        while lines and (entry := pattern.fullmatch(lines[-1])) and entry[1] not in legend:
            legend[entry[1]] = json.loads(entry[2])
            lines = lines[:-1]
        self.legend = legend
        classes, features = self.named_things(), legend["features"]
        self.lines = lines
        self.class_names = None if isinstance(classes, int) else [read_name(x) for x in classes]
        self.n_classes = classes if isinstance(classes, int) else len(classes)
        self.feature_names = None if isinstance(features, int) else features
        self.n_features = features if isinstance(features, int) else len(features)
        if not 0 <= self.n_features <= MOST_FEATURES:
            raise ValueError(f"The stored tree is damaged: it has {features} features.")
        self.levels: list[list[object] | None] = [None] * self.n_features
        for feature, level in legend.get("categories", {}).items():
            self.levels[int(feature)] = [read_name(name) for name in level]
        self.combinations = [Combination.read(x) for x in legend.get("combinations", ())]
        self.levels += [None] * len(self.combinations)
        labels = _feature_labels(self.feature_names, self.n_features, self.combinations)
        self.by_label = {label: feature for feature, label in enumerate(labels)}

    def named_things(self) -> Any:
        """Return the names of what leaves predict, or their number."""
        return self.legend["classes"]

    def about(self, nodes: list[dict[str, Any]]) -> dict[str, Any]:
        """Return what the values of the tree are; where splits have values, add them."""
        return {}

    def read(self) -> Tree:
        nodes: list[dict[str, Any]] = []
        # What is expected, next item last: a branch at some level, or the right side of a split.
        expected: list[tuple[int, dict[str, Any] | None]] = [(0, None)]
        for line in self.lines:
            if not expected:
                raise _damaged(line)
            level, split = expected.pop()
            if not line.startswith(_STEP * level):
                raise _damaged(line)
            text = line[len(_STEP) * level :]
            label, sign, rest = _parts(text)
            if split is not None:
                self._read_right(split, sign, rest, line)
            elif sign == "":
                nodes.append(self._read_leaf(text))
            else:
                split = self._read_left(self.by_label[label], sign, rest, line)
                nodes.append(split)
                expected += [(level + 1, None), (level, split), (level + 1, None)]
        if expected:
            raise ValueError("The stored tree is damaged: it ends before its last leaf.")
        return tree_of_nodes(
            nodes,
            self.n_classes,
            self.about(nodes),
            n_features=self.n_features,
            feature_names=self.feature_names,
            class_names=self.class_names,
            categories=self.levels[: self.n_features],
            combinations=self.combinations,
        )

    def _read_leaf(self, text: str) -> dict[str, Any]:
        leaf = _LEAF.fullmatch(text)
        if leaf is None:
            raise _damaged(text)
        value = [float(x) for x in leaf["value"].split(",")]
        if len(value) != self.n_classes:
            raise _damaged(text)
        # The class is written out. If it has not the largest total, it is looked up.
        names = [_class_label(self.class_names, index) for index in range(self.n_classes)]
        label = value.index(max(value))
        if names[label] != leaf["label"]:
            label = names.index(leaf["label"])
        return {"value": value, "n_samples": int(leaf["rows"]), "label": label}

    def _read_left(self, feature: int, sign: str, rest: str, line: str) -> dict[str, Any]:
        node: dict[str, Any] = {"feature": feature, "sign": sign, "rest": rest}
        levels = self.levels[feature]
        if sign == "is":
            missing = rest == "missing"
            if levels is not None:
                node["category"] = len(levels)
            else:
                node["threshold"] = math.nan if missing else math.inf
                node["missing_seen"] = True
                node["missing_left"] = missing
        elif sign == "=" and levels is not None:
            known = [*_category_labels(levels), _MISSING]
            if rest in known:
                node["category"] = known.index(rest)
            else:
                node["group"] = [known.index(one) for one in _listed_names(rest)]
        elif sign == "<=":
            node["missing_left"] = node["missing_seen"] = rest.endswith(_OR_MISSING)
            node["rest"] = rest.removesuffix(_OR_MISSING)
            node["threshold"] = float(node["rest"])
        else:
            raise _damaged(line)
        return node

    def _read_right(self, split: dict[str, Any], sign: str, rest: str, line: str) -> None:
        if split["sign"] == "<=" and rest.endswith(_OR_MISSING):
            split["missing_seen"] = True
            rest = rest.removesuffix(_OR_MISSING)
        if split["sign"] == "is":
            fits = sign == "is" and {rest, split["rest"]} == {"missing", "present"}
        else:
            fits = sign == {"<=": ">", "=": "!="}[split["sign"]] and rest == split["rest"]
        if not fits:
            raise _damaged(line)


class _ReaderOfCombinations(_Reader):
    """Reads trees of classes that ask about two columns."""

    legend_line = _LEGEND_LINE_5


class _ReaderOfSmoothed(_Reader):
    """Reads trees whose probabilities are smoothed."""

    legend_line = _LEGEND_LINE_4

    def about(self, nodes: list[dict[str, Any]]) -> dict[str, Any]:
        return {"smoothing": self.legend["smoothing"]}


class _ReaderOfValues(_Reader):
    """Reads trees of numbers and of actions."""

    legend_line = _LEGEND_LINE_3

    def named_things(self) -> Any:
        return self.legend["outputs" if "outputs" in self.legend else "actions"]

    def about(self, nodes: list[dict[str, Any]]) -> dict[str, Any]:
        if "actions" in self.legend:
            return {"kind": "actions", "rewards": self.legend["rewards"]}
        splits = [node for node in nodes if "feature" in node]
        for node, digits in zip(splits, self.legend["splits"], strict=True):
            node.update(self._numbers(digits))
        return {"kind": "numbers", "statistic": self.legend["statistic"]}

    def _numbers(self, digits: str) -> dict[str, Any]:
        value, spread, weight = digits.split(";")
        return {
            "value": [float(x) for x in value.split(",")],
            "spread": [float(x) for x in spread.split(",")],
            "weight": float(weight),
        }

    def _read_leaf(self, text: str) -> dict[str, Any]:
        leaf = _LEAF_3.fullmatch(text)
        if leaf is None:
            raise _damaged(text)
        found: dict[str, Any] = {"n_samples": int(leaf["rows"])}
        if "actions" in self.legend:
            value, weight = leaf["value"].split(";")
            names = [_class_label(self.class_names, index) for index in range(self.n_classes)]
            found |= {"value": [float(x) for x in value.split(",")], "weight": float(weight)}
            found["label"] = names.index(leaf["label"])
        else:
            found |= self._numbers(leaf["value"])
        if len(found["value"]) != self.n_classes:
            raise _damaged(text)
        return found


class _SmoothedWithCombinations(_ReaderOfSmoothed):
    """Reads trees with smoothed probabilities that ask about two columns."""

    legend_line = _LEGEND_LINE_5


class _ValuesWithCombinations(_ReaderOfValues):
    """Reads trees of numbers and of actions that ask about two columns."""

    legend_line = _LEGEND_LINE_5


def _reader_of(version: int, lines: Sequence[str]) -> type[_Reader]:
    """Return the reader of a version; what those from 5 on hold is said by their legend."""
    if version < 5:
        return {3: _ReaderOfValues, 4: _ReaderOfSmoothed}.get(version, _Reader)
    legend = {entry[1] for line in lines if (entry := _LEGEND_LINE_5.fullmatch(line))}
    if legend & {"outputs", "actions"}:
        return _ValuesWithCombinations
    return _SmoothedWithCombinations if "smoothing" in legend else _ReaderOfCombinations


def _listed_names(text: str) -> list[str]:
    """Return the names of a group; quoted ones may hold what stands between names."""
    found: list[str] = []
    while True:
        start = json.JSONDecoder().raw_decode(text)[1] if text.startswith('"') else 0
        end = text.find(_OR, start)
        if end < 0:
            return [*found, text]
        found.append(text[:end])
        text = text[end + len(_OR) :]


def _parts(text: str) -> tuple[str, str, str]:
    """Label, sign and rest of a condition; the sign of a leaf is empty."""
    start = json.JSONDecoder().raw_decode(text)[1] if text.startswith('"') else 0
    sign = _SIGN.search(text, start)
    if sign is None:
        return text, "", ""
    return text[: sign.start()], sign[1], text[sign.end() :]


def _damaged(line: str) -> ValueError:
    return ValueError(f"The stored tree is damaged at the line {line!r}.")
