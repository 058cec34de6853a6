"""What users say about single actions: prices and budgets, as a dict by name or as an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from provetree.number_types import Float
from provetree.problem.inputs import is_missing

__all__ = ["read_action_costs", "read_budget"]


def read_action_costs(given: Any, actions: Sequence[object], owner: str) -> Float:
    """Return the price of each action; actions that a dict leaves out cost nothing.

    Examples
    --------
    >>> from provetree.problem.actions import read_action_costs
    >>> read_action_costs({"treat": 2}, ["wait", "treat"], "OptimalPolicyTree").tolist()
    [0.0, 2.0]
    """
    what = f"The 'action_costs' of {owner}"
    costs = [0.0 if cost is None else cost for cost in _by_action(given, actions, what)]
    for action, cost in zip(actions, costs, strict=True):
        if not np.isfinite(cost):
            raise ValueError(f"{what} must be finite. Got {cost} for the action {action!r}.")
    return np.array(costs)


def read_budget(given: Any, actions: Sequence[object], owner: str) -> Float:
    """Return the largest share of the rows that each action may get; infinite without a limit.

    Examples
    --------
    >>> from provetree.problem.actions import read_budget
    >>> read_budget({"treat": 0.3}, ["wait", "treat"], "OptimalPolicyTree").tolist()
    [inf, 0.3]
    >>> read_budget([0.5, 0.3], ["wait", "treat"], "OptimalPolicyTree")
    Traceback (most recent call last):
        ...
    ValueError: The 'budget' of OptimalPolicyTree must leave at least one action without a limit, \
for the rows that get no other. Got a share below 1 for each of the 2 actions.
    """
    what = f"The 'budget' of {owner}"
    shares = [1.0 if share is None else share for share in _by_action(given, actions, what)]
    for action, share in zip(actions, shares, strict=True):
        if not 0.0 <= share <= 1.0:
            raise ValueError(
                f"{what} must hold shares of the rows in the range [0.0, 1.0]. "
                f"Got {share:g} for the action {action!r}."
            )
    if all(share < 1.0 for share in shares):
        raise ValueError(
            f"{what} must leave at least one action without a limit, for the rows that get no "
            f"other. Got a share below 1 for each of the {len(actions)} actions."
        )
    return np.array([share if share < 1.0 else np.inf for share in shares])


def _by_action(given: Any, actions: Sequence[object], what: str) -> list[float | None]:
    """Return the number of each action, None where nothing is said about it."""
    if given is None:
        return [None] * len(actions)
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in actions]
        if unknown:
            raise ValueError(
                f"{what} must name actions ({', '.join(map(repr, actions[:10]))}"
                f"{', ...' if len(actions) > 10 else ''}). Got {unknown[0]!r}."
            )
        numbers = [given.get(action) for action in actions]
    else:
        shape = np.shape(given)
        if shape != (len(actions),):
            raise ValueError(
                f"{what} must be a dict of actions, or hold a number for each of the "
                f"{len(actions)} actions, shape ({len(actions)},). Got shape {shape}."
            )
        numbers = list(given)
    return [_number(number, what) for number in numbers]


def _number(given: Any, what: str) -> float | None:
    if is_missing(given):
        return None
    if not isinstance(given, Real) or isinstance(given, (bool, np.bool_)):
        raise ValueError(f"{what} must hold numbers. Got {given!r}.")
    return float(given)
