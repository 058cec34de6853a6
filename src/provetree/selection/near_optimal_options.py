"""What may be asked of near-optimal trees; the rest is refused in one sentence."""

from __future__ import annotations

import math
import numbers

import numpy as np

from provetree import _core
from provetree.options import TREE_OPTIONS, ParameterError, validate
from provetree.problem.problem import Problem
from provetree.problem.weights import as_decimal

__all__ = ["OWNER", "check_number", "check_options", "check_time_limit", "whole_slack"]

OWNER = "near_optimal_trees"
_TIME_LIMIT = tuple(option for option in TREE_OPTIONS if option.name == "time_limit")


def check_number(value: object, least: int, name: str, owner: str) -> None:
    """Refuse what is not a whole number of at least so much."""
    is_int = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_int or int(value) < least:  # type: ignore[call-overload]
        raise ParameterError(
            f"The {name!r} of {owner} must be an int in the range [{least}, inf). "
            f"Got {value!r} instead."
        )


def check_time_limit(value: object, question: str) -> None:
    """Refuse a limit of a question about the trees that is no positive number, nor None."""
    validate(_TIME_LIMIT, {"time_limit": value}, question)


def check_options(
    slack: object, max_depth: object, alpha: object, redundant_splits: object
) -> None:
    """Refuse parameters that mean nothing, one sentence each."""

    def refuse(name: str, allowed: str, given: object) -> ParameterError:
        return ParameterError(
            f"The {name!r} parameter of {OWNER} must be {allowed}. Got {given!r} instead."
        )

    is_int = isinstance(slack, numbers.Integral) and not isinstance(slack, (bool, np.bool_))
    is_share = isinstance(slack, (float, np.floating)) and 0 <= float(slack) < 1
    if not is_share and not (is_int and int(slack) >= 0):  # type: ignore[call-overload]
        errors = "an int in the range [0, inf), errors"
        share = "a float in the range [0.0, 1.0), a share of the rows"
        raise refuse("slack", f"{errors}, or {share}", slack)
    deepest = _core.DEEPEST_COUNTED
    is_int = isinstance(max_depth, numbers.Integral) and not isinstance(max_depth, bool)
    if not is_int or not 1 <= int(max_depth) <= deepest:  # type: ignore[call-overload]
        raise refuse("max_depth", f"an int in the range [1, {deepest}]", max_depth)
    is_number = isinstance(alpha, numbers.Real) and not isinstance(alpha, bool)
    if not is_number or not 0 <= float(alpha) <= 1:  # type: ignore[arg-type]
        raise refuse("alpha", "a float in the range [0.0, 1.0]", alpha)
    if not isinstance(redundant_splits, (bool, np.bool_)):
        raise refuse("redundant_splits", "a bool", redundant_splits)


def whole_slack(problem: Problem, slack: float) -> int:
    """Return a slack in units of cost: errors, or a share of the weight of the rows."""
    if isinstance(slack, numbers.Integral):
        units = int(slack) * problem.weight_scale
    else:
        units = as_decimal(float(slack)) * int(problem.weights.sum())
    # No tree costs as much as this, so a larger slack means the same.
    most = problem.error_scale * int(problem.weights.sum()) + 7 * problem.split_penalty
    return min(math.floor(units * problem.error_scale), most)
