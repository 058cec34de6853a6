"""The sentences of the studio."""

from __future__ import annotations

import math
import re

from provetree.export.words import cost_number
from provetree.studio.version import FAILED, SEARCHING, Best, Version, cost_of_rules

__all__ = [
    "costs_words",
    "errors_words",
    "failure_words",
    "leaves_words",
    "place_words",
    "proof_words",
    "rules_words",
]


def errors_words(cost: float) -> str:
    """Return a number of errors: "1 error", "2 errors"."""
    return f"{cost_number(cost)} error" + ("" if cost == 1 else "s")


def leaves_words(n: int) -> str:
    """Return a number of leaves: "1 leaf", "2 leaves"."""
    return "1 leaf" if n == 1 else f"{n} leaves"


def proof_words(version: Version) -> str:
    """Return what is proven about a version.

    Examples
    --------
    >>> from provetree.studio.version import Version
    >>> from provetree.studio.wishes import Wishes
    >>> from provetree.studio.words import proof_words
    >>> print(proof_words(Version(1, None, "", Wishes(), status="optimal", cost=9, bound=9)))
    9 errors, and no tree of depth 3 makes fewer.
    >>> print(proof_words(Version(1, None, "", Wishes(), status="time_limit", cost=9, bound=5)))
    9 errors so far. No tree of depth 3 makes fewer than 5, but the time was up before more was \
proven.
    """
    if version.status == FAILED:
        return failure_words(version.failure or "No tree keeps these rules.")
    if version.status == SEARCHING:
        return "Searching."
    wishes = version.wishes
    trees = f"no tree of depth {wishes.max_depth}"
    if wishes.max_leaf_nodes is not None:
        trees += f" with at most {leaves_words(wishes.max_leaf_nodes)}"
    if wishes.min_samples_leaf != 1:
        trees += f" and {wishes.min_samples_leaf} rows in each leaf"
    if not wishes.is_free:
        trees += " that keeps your rules"
    cost = errors_words(version.cost)
    if version.is_proven:
        return f"{cost}, and {trees} makes fewer."
    why = "the time was up" if version.status == "time_limit" else "the search was ended"
    return (
        f"{cost} so far. {trees[0].upper()}{trees[1:]} makes fewer than "
        f"{cost_number(version.bound)}, but {why} before more was proven."
    )


def failure_words(text: str) -> str:
    """Return why no tree keeps some rules in the words of the page, which has no paths.

    Examples
    --------
    >>> from provetree.studio.words import failure_words
    >>> failure_words("No tree keeps the fixed split at 'L': no training row of its 5 goes right.")
    'No tree keeps the question after yes: no training row of its 5 answers no.'
    """
    text = re.sub("fixed split at '([LR]*)'", lambda at: f"question {place_words(at[1])}", text)
    return text.replace("goes left", "answers yes").replace("goes right", "answers no")


def place_words(path: str) -> str:
    """Return where a node is, in words.

    Examples
    --------
    >>> from provetree.studio.words import place_words
    >>> place_words(""), place_words("LR")
    ('at the top', 'after yes, no')
    """
    if not path:
        return "at the top"
    return "after " + ", ".join("yes" if side == "L" else "no" for side in path)


def rules_words(version: Version, best: Best | None) -> str | None:
    """Return what the rules of a version cost, as a sentence; None where there are none."""
    found = cost_of_rules(version, best)
    if version.wishes.is_free or found is None:
        return None
    return f"Your rules cost {costs_words(*found)}."


def costs_words(least: float, most: float) -> str:
    """Return what rules cost, in words.

    Examples
    --------
    >>> from provetree.studio.words import costs_words
    >>> costs_words(4, 4), costs_words(0, 0), costs_words(0, 3), costs_words(1, 3)
    ('4 errors', 'nothing', 'at most 3 errors', '1 to 3 errors')
    """
    if most <= 0:
        return "nothing"
    if math.isclose(least, most):
        return errors_words(most)
    return ("at most " if least <= 0 else f"{cost_number(least)} to ") + errors_words(most)
