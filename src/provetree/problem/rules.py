"""Rules for trees as users write them, read and checked against a table.

A node is named by its path from the root: "" is the root, "L" its left side, "LR" the right side of
that. :func:`read_rules` turns names into positions, and says in one sentence what cannot be meant.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from provetree.number_types import Bool, Float

__all__ = [
    "RULE_NAMES",
    "FixedSplit",
    "Rules",
    "blanked",
    "read_columns",
    "read_forbidden",
    "read_rules",
    "rules_given",
]

#: The parameters of estimators that are rules.
RULE_NAMES = (
    "fixed_splits",
    "forbidden_columns",
    "interaction_cst",
    "monotonic_cst",
    "column_costs",
)

_FORMS = (
    '{"column": name, "threshold": number}, {"column": name, "categories": list} or {"leaf": True}'
)


@dataclass(frozen=True)
class FixedSplit:
    """A split that stays, or a leaf that stays one.

    Parameters
    ----------
    column : int
        The column; -1 for a leaf.
    threshold : float
        Numbers up to it go left.
    codes : tuple of int
        The codes of the categories that go left, for a column of categories.
    missing : {"left", "right"} or None
        Where missing numbers go; None is where it is better.
    """

    column: int = -1
    threshold: float = math.nan
    codes: tuple[int, ...] = ()
    missing: str | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether the node stays a leaf."""
        return self.column < 0

    def goes_left(self, values: Float, n_levels: int, missing_left: bool) -> Bool:
        """Tell which values go left."""
        if self.codes:
            codes = np.where(np.isnan(values), n_levels, values)
            return np.isin(codes, self.codes)
        return np.where(np.isnan(values), missing_left, values <= self.threshold)


@dataclass(frozen=True)
class Rules:
    """What a tree must keep to, by the positions of columns."""

    fixed: Mapping[str, FixedSplit] = field(default_factory=dict)
    forbidden: Mapping[str, frozenset[int]] = field(default_factory=dict)  # at a node and below it
    groups: tuple[frozenset[int], ...] | None = None  # the columns of a path are in one of these
    directions: tuple[int, ...] | None = None  # -1, 0 or 1 for each column
    prices: Mapping[int, float] = field(default_factory=dict)  # once for the tree
    path_prices: Mapping[int, float] = field(default_factory=dict)  # once for each path
    sentences: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        below = any(path for path in self.forbidden)
        prices = self.prices or self.path_prices
        return bool(self.fixed or below or self.groups or self.directions or prices)

    def forbidden_at(self, path: str) -> frozenset[int]:
        """Return the columns that must not be asked at a node."""
        found: frozenset[int] = frozenset()
        for above, columns in self.forbidden.items():
            if path.startswith(above):
                found |= columns
        return found


def rules_given(estimator: Any) -> list[str]:
    """Return the names of the rules that an estimator was given.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier
    >>> from provetree.problem.rules import rules_given
    >>> rules_given(OptimalTreeClassifier(monotonic_cst=[1, 0]))
    ['monotonic_cst']
    """
    return [name for name in RULE_NAMES if getattr(estimator, name, None) is not None]


def blanked(encoded: Float, columns: Iterable[int]) -> Float:
    """Return a table in which some columns are missing in all rows: no split can be about them.

    Examples
    --------
    >>> import numpy as np
    >>> from provetree.problem.rules import blanked
    >>> blanked(np.array([[1.0, 2.0]]), [1]).tolist()
    [[1.0, nan]]
    """
    found = encoded.copy()  # it may be the user's own array
    found[:, sorted(columns)] = np.nan
    return found


def read_columns(
    given: Iterable[Any], names: Sequence[str] | None, n_features: int, what: str
) -> list[int]:
    """Return the positions of columns that are given by name or position.

    Examples
    --------
    >>> from provetree.problem.rules import read_columns
    >>> read_columns(["b", 0], ["a", "b"], 2, "the 'forbidden_columns'")
    [1, 0]
    """
    place = {name: at for at, name in enumerate(names or ())}
    found = []
    for each in given:
        at = place.get(each, -1) if isinstance(each, str) else -1
        if isinstance(each, (int, np.integer)) and not isinstance(each, bool):
            at = int(each)
        if not 0 <= at < n_features:
            raise ValueError(f"{what} must name columns of the table. Got {each!r}.")
        found.append(at)
    return found


def read_forbidden(
    given: Any, names: Sequence[str] | None, n_features: int, owner: str
) -> dict[str, frozenset[int]]:
    """Return the columns that must not be asked, by the path of the node they are forbidden from.

    Examples
    --------
    >>> from provetree.problem.rules import read_forbidden
    >>> read_forbidden({"": ["a"], "L": [1]}, ["a", "b"], 2, "the tree")
    {'': frozenset({0}), 'L': frozenset({1})}
    """
    if given is None:
        return {}
    what = f"The 'forbidden_columns' parameter of {owner}"
    by_path = given if isinstance(given, Mapping) else {"": given}
    found = {}
    for path, columns in by_path.items():
        _check_path(path, what)
        if not _is_list(columns):
            raise ValueError(
                f"{what} must be a list of columns, or a dict of paths and such lists. "
                f"Got {columns!r}."
            )
        found[path] = frozenset(read_columns(columns, names, n_features, what))
    return found


def read_rules(
    given: Mapping[str, Any],
    names: Sequence[str] | None,
    levels: Sequence[Sequence[object] | None],
    owner: str,
) -> Rules:
    """Read the parameters of an estimator that are rules.

    Examples
    --------
    >>> from provetree.problem.rules import read_rules
    >>> given = {"fixed_splits": {"": {"column": "age", "threshold": 40}}}
    >>> rules = read_rules(given, ["age", "debt"], [None, None], "the tree")
    >>> rules.fixed[""].threshold, rules.sentences
    (40.0, ('The root asks age <= 40.',))
    """
    if all(given.get(name) is None for name in RULE_NAMES):
        return Rules()  # an eighth of the time of a small fit went into reading nothing
    called = list(names) if names is not None else [f"x{i}" for i in range(len(levels))]
    forbidden = read_forbidden(given.get("forbidden_columns"), names, len(levels), owner)
    fixed = _read_fixed(given.get("fixed_splits"), names, levels, owner)
    groups = _read_groups(given.get("interaction_cst"), names, len(levels), owner)
    directions = _read_directions(given.get("monotonic_cst"), names, levels, owner)
    prices = _read_prices(given.get("column_costs"), names, len(levels), owner)
    rules = Rules(fixed, forbidden, groups, directions, prices["tree"], prices["path"])
    _check_together(rules, called, owner)
    return replace(rules, sentences=tuple(_sentences(rules, called, levels)))


def _is_list(given: Any) -> bool:
    """Tell whether it is a list of columns, and not the name of one."""
    return isinstance(given, Iterable) and not isinstance(given, (str, bytes))


def _check_path(path: Any, what: str) -> None:
    if not isinstance(path, str) or set(path) - {"L", "R"}:
        raise ValueError(
            f"{what} must name nodes by paths of the letters L and R, such as '' for the root and "
            f"'LR'. Got {path!r}."
        )


def _read_fixed(
    given: Any,
    names: Sequence[str] | None,
    levels: Sequence[Sequence[object] | None],
    owner: str,
) -> dict[str, FixedSplit]:
    if given is None:
        return {}
    what = f"The 'fixed_splits' parameter of {owner}"
    if not isinstance(given, Mapping):
        raise ValueError(f"{what} must be a dict of paths and splits. Got {given!r}.")
    found = {}
    for path in sorted(given, key=lambda path: (len(str(path)), str(path))):
        _check_path(path, what)
        found[path] = _read_split(given[path], names, levels, f"{what}, at {path!r},")
        for end in range(len(path)):
            if path[:end] not in found:
                raise ValueError(
                    f"{what} must have every split above a split. Got {path!r} without "
                    f"{path[:end]!r}."
                )
            if found[path[:end]].is_leaf:
                raise ValueError(f"{what} has a split at {path!r}, below the leaf {path[:end]!r}.")
    return found


def _read_split(
    given: Any,
    names: Sequence[str] | None,
    levels: Sequence[Sequence[object] | None],
    what: str,
) -> FixedSplit:
    if not isinstance(given, Mapping):
        raise ValueError(f"{what} must be {_FORMS}. Got {given!r}.")
    keys = set(given)
    if keys == {"leaf"} and given["leaf"] is True:
        return FixedSplit()
    if "column" not in keys or keys - {"column", "threshold", "categories", "missing"}:
        raise ValueError(f"{what} must be {_FORMS}. Got {dict(given)!r}.")
    (column,) = read_columns([given["column"]], names, len(levels), what)
    known = levels[column]
    if known is not None:
        if keys != {"column", "categories"} or isinstance(given["categories"], str):
            raise ValueError(
                f"{what} is about categories, and must be "
                f'{{"column": name, "categories": list}}. Got {dict(given)!r}.'
            )
        codes = []
        for name in given["categories"]:
            if name is None:
                codes.append(len(known))
            elif name in known:
                codes.append(list(known).index(name))
            else:
                raise ValueError(
                    f"{what} must have categories of the column. Got {name!r}, which no training "
                    "row has."
                )
        if not codes:
            raise ValueError(f"{what} must have at least one category. Got none.")
        return FixedSplit(column, codes=tuple(sorted(set(codes))))
    threshold, missing = given.get("threshold", ""), given.get("missing")
    if threshold is None:  # the question is whether it is missing
        threshold, missing = math.nan, "left"
        return FixedSplit(column, threshold, missing=missing)
    number = isinstance(threshold, (int, float, np.number)) and not isinstance(threshold, bool)
    if "categories" in keys or not number or math.isnan(float(threshold)):
        raise ValueError(
            f"{what} is about numbers, and must be "
            f'{{"column": name, "threshold": number}}. Got {dict(given)!r}.'
        )
    if missing not in (None, "left", "right"):
        raise ValueError(f"{what} must send missing values 'left' or 'right'. Got {missing!r}.")
    return FixedSplit(column, float(threshold), missing=missing)


def _read_groups(
    given: Any, names: Sequence[str] | None, n_features: int, owner: str
) -> tuple[frozenset[int], ...] | None:
    """Return the groups of columns that may be on one path; columns in none are one more group."""
    if given is None:
        return None
    what = f"The 'interaction_cst' parameter of {owner}"
    every = range(n_features)
    if isinstance(given, str):
        if given == "no_interactions":
            return tuple(frozenset([column]) for column in every)
        if given == "pairwise":
            pairs = tuple(frozenset(pair) for pair in combinations(every, 2))
            return pairs or (frozenset(every),)
    elif isinstance(given, Iterable):
        groups = []
        for group in given:
            if not _is_list(group):
                break
            groups.append(frozenset(read_columns(group, names, n_features, what)))
        else:
            rest = frozenset(every) - frozenset().union(*groups)
            return tuple(dict.fromkeys([*groups, *([rest] if rest else [])]))
    raise ValueError(
        f"{what} must be 'pairwise', 'no_interactions', a list of groups of columns, or None. "
        f"Got {given!r}."
    )


def _read_directions(
    given: Any,
    names: Sequence[str] | None,
    levels: Sequence[Sequence[object] | None],
    owner: str,
) -> tuple[int, ...] | None:
    if given is None:
        return None
    what = f"The 'monotonic_cst' parameter of {owner}"
    found = [0] * len(levels)
    if isinstance(given, Mapping):
        for name, direction in given.items():
            (column,) = read_columns([name], names, len(levels), what)
            found[column] = direction
    else:
        found = list(np.asarray(given).ravel().tolist())
        if len(found) != len(levels):
            raise ValueError(
                f"{what} must have one number for each of the {len(levels)} columns. "
                f"Got {len(found)}."
            )
    for column, direction in enumerate(found):
        if direction not in (-1, 0, 1) or isinstance(direction, bool):
            raise ValueError(f"{what} must hold -1, 0 and 1. Got {direction!r}.")
        if direction and levels[column] is not None:
            called = names[column] if names is not None else f"x{column}"
            raise ValueError(
                f"{what} must be 0 for columns of categories, which have no order. "
                f"Got {direction} for {called!r}."
            )
    whole = tuple(int(direction) for direction in found)
    return whole if any(whole) else None


def _read_prices(
    given: Any, names: Sequence[str] | None, n_features: int, owner: str
) -> dict[str, dict[int, float]]:
    """Return the prices that are paid once for the tree, and those paid once for each path."""
    found: dict[str, dict[int, float]] = {"tree": {}, "path": {}}
    if given is None:
        return found
    what = f"The 'column_costs' parameter of {owner}"
    if not isinstance(given, Mapping):
        raise ValueError(f"{what} must be a dict of columns and their prices. Got {given!r}.")
    for name, asked in given.items():
        (column,) = read_columns([name], names, n_features, what)
        price, per = asked, "tree"
        if isinstance(asked, (tuple, list)):
            if len(asked) != 2 or asked[1] not in ("tree", "path"):
                raise ValueError(
                    f"{what} must hold prices, or pairs of a price and 'tree' or 'path'. "
                    f"Got {asked!r} for {name!r}."
                )
            price, per = asked
        number = isinstance(price, (int, float, np.number)) and not isinstance(price, bool)
        if not number or not 0 <= float(price) < math.inf:
            raise ValueError(f"{what} must hold prices from 0 up. Got {price!r} for {name!r}.")
        if price > 0:
            found[per][column] = float(price)
    return found


def _check_together(rules: Rules, called: Sequence[str], owner: str) -> None:
    """Refuse fixed splits that other rules do not allow."""
    for path, split in rules.fixed.items():
        if split.is_leaf:
            continue
        where = f"The 'fixed_splits' of {owner} ask for {called[split.column]!r} at {path!r}"
        if split.column in rules.forbidden_at(path):
            raise ValueError(f"{where}, where it is one of the 'forbidden_columns'.")
        asked = {rules.fixed[path[:end]].column for end in range(len(path) + 1)}
        if rules.groups is not None and not any(asked <= group for group in rules.groups):
            raise ValueError(f"{where}, which 'interaction_cst' keeps from the splits above it.")
    for path in rules.forbidden:
        above = [path[:end] for end in range(len(path))]
        if any(each not in rules.fixed or rules.fixed[each].is_leaf for each in above):
            raise ValueError(
                f"The 'forbidden_columns' of {owner} name the node {path!r}, and need the splits "
                "above it in 'fixed_splits'."
            )


def _sentences(
    rules: Rules, called: Sequence[str], levels: Sequence[Sequence[object] | None]
) -> Iterable[str]:
    """Say the rules, one sentence each."""

    def place(path: str) -> str:
        return "the root" if not path else f"node {path}"

    def listed(columns: Iterable[int]) -> str:
        return ", ".join(called[column] for column in sorted(columns))

    for path, split in rules.fixed.items():
        who = place(path)[0].upper() + place(path)[1:]
        if split.is_leaf:
            yield f"{who} is a leaf."
        elif split.codes:
            known = [*map(str, levels[split.column] or ()), "missing"]
            group = ", ".join(known[code] for code in split.codes)
            yield f"{who} asks whether {called[split.column]} is {group}."
        else:
            missing = math.isnan(split.threshold)
            asks = "is missing" if missing else f"<= {split.threshold:g}"
            yield f"{who} asks {called[split.column]} {asks}."
    for path, columns in rules.forbidden.items():
        if columns:
            where = f" from {place(path)} on" if path else ""
            yield f"No split asks about {listed(columns)}{where}."
    if rules.groups is not None:
        if len(rules.groups) > 6:
            yield f"The columns of each path are in one of {len(rules.groups)} groups."
        else:
            words = "; ".join(listed(group) for group in rules.groups)
            yield f"The columns of each path are in one of these groups: {words}."
    for column, direction in enumerate(rules.directions or ()):
        if direction:
            way = "falls" if direction > 0 else "rises"
            yield f"The prediction never {way} as {called[column]} rises."
    for column, price in rules.prices.items():
        yield f"A tree that asks about {called[column]} costs {price:g} more."
    for column, price in rules.path_prices.items():
        yield f"Each path that asks about {called[column]} costs {price:g} more."
