"""Near-optimal trees in the report: their number, the columns they need, and trees to choose from.

The facts are gathered once, as plain JSON; the part of the page is written from them alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from provetree.export.words import cost_number, rate_words
from provetree.report.markup import table

if TYPE_CHECKING:
    from provetree.selection.near_optimal import NearOptimalTree, NearOptimalTrees

__all__ = ["near_optimal_facts", "near_optimal_part", "near_optimal_sentences"]

#: Costs, and columns that no tree asks about, that are listed one by one.
_MOST_COSTS, _MOST_UNUSED = 12, 30
#: Columns that are named on a screen.
_MOST_NAMED = 8
_SHARE = 0.5  # of the time that is left, for each answer


def near_optimal_facts(found: NearOptimalTrees, seconds: float | None = None) -> dict[str, Any]:
    """Return what near-optimal trees have in common, as plain JSON.

    Numbers of trees are text: they may have forty digits. What takes longer than `seconds` in all
    is not proven, and says so.

    Examples
    --------
    >>> from provetree import near_optimal_trees
    >>> from provetree.report.near_optimal_section import near_optimal_facts
    >>> X, y = [[1, 7], [2, 5], [3, 8], [4, 6]], [0, 0, 1, 1]
    >>> facts = near_optimal_facts(near_optimal_trees(X, y, slack=1, max_depth=1))
    >>> facts["sentence"], facts["columns"][0]["use"], facts["agreed"]
    ('5 trees of depth 1 make at most 1 error; the best makes 0.', 'some', 0.0)
    """
    end = math.inf if seconds is None else time.monotonic() + seconds

    def allowed() -> float | None:
        left = end - time.monotonic()
        return None if math.isinf(left) else max(_SHARE * left, 1e-3)

    facts: dict[str, Any] = {
        "sentence": found.sentence,
        "trees": str(found.n_trees),
        "complete": found.is_complete,
        "slack": found.slack,
        "counts": [[cost, str(count)] for cost, count in found.counts.items()],
    }
    if not found.counts:
        return facts
    facts["columns"] = [
        {
            "name": use.name,
            "use": use.use,
            "share": use.share,
            "with": use.extra_with,
            "without": use.extra_without,
            "without_at_least": use.extra_without_at_least,
        }
        for use in found.columns(allowed())
    ]
    if not found.is_complete:
        return facts
    facts["agreed"] = found.agreement().share_agreed
    chosen = found.fewest_columns(allowed()), found.widest_margins(), found.most_stable()
    facts["choices"] = [_choice(each) for each in chosen]
    return facts


def _choice(found: NearOptimalTree) -> dict[str, Any]:
    return {
        "why": found.why,
        "value": None if math.isnan(found.value) else found.value,
        "proven": found.proven,
        "cost": found.cost,
        "extra": found.extra,
        "tree": found.tree.to_text(legend=False),
    }


def near_optimal_sentences(facts: Mapping[str, Any]) -> list[str]:
    """Return the facts in a few sentences.

    Examples
    --------
    >>> from provetree.report.near_optimal_section import near_optimal_sentences
    >>> near_optimal_sentences({"sentence": "There are two.", "columns": [], "agreed": 0.5})
    ['There are two.', 'They agree on 50.0 % of the training rows.']
    """
    sentences = [facts["sentence"]]
    for use, words in (("all", "All of them ask about"), ("some", "Some of them ask about")):
        names = [each["name"] for each in facts.get("columns", ()) if each["use"] == use]
        if names:
            more = ", ..." if len(names) > _MOST_NAMED else ""
            sentences.append(f"{words} {', '.join(names[:_MOST_NAMED])}{more}.")
    if "agreed" in facts:
        sentences.append(f"They agree on {rate_words(facts['agreed'])} of the training rows.")
    return sentences


def near_optimal_part(facts: Mapping[str, Any]) -> str:
    """Return the part of the page.

    Examples
    --------
    >>> from provetree import near_optimal_trees
    >>> from provetree.report.near_optimal_section import near_optimal_facts, near_optimal_part
    >>> found = near_optimal_trees([[1], [2], [3]], [0, 1, 1], slack=1, max_depth=1)
    >>> near_optimal_part(near_optimal_facts(found)).count("<table")
    2
    """
    body = (
        f"<p>{escape(facts['sentence'])} Thresholds that divide the training rows alike are one "
        "tree.</p>"
    )
    if facts["counts"]:
        shown = facts["counts"][:_MOST_COSTS]
        rows = [[cost_number(cost), f"{int(count):,}"] for cost, count in shown]
        body += table(["training errors", "trees"], rows, "How many trees there are")
    if facts.get("columns"):
        body += _columns(facts)
    if "agreed" in facts:
        body += (
            f"<p>All of these trees predict the same for {rate_words(facts['agreed'])} of the "
            "training rows.</p>"
        )
    for choice in facts.get("choices", ()):
        body += (
            f"<details><summary>{escape(_choice_words(choice))}</summary>"
            f"<pre>{escape(choice['tree'])}</pre></details>"
        )
    return body


_USES = {"all": "all", "some": "some", "none": "none", "unknown": "not known"}


def _columns(facts: Mapping[str, Any]) -> str:
    """Return the table of columns; those that no tree asks about are named below it."""
    asked = [column for column in facts["columns"] if column["use"] != "none"]
    asked.sort(key=lambda column: -column["share"])
    rows = [
        [
            escape(column["name"]),
            _USES[column["use"]],
            f'<span class="importance" style="width:{120 * column["share"]:.0f}px"></span> '
            f"{100 * column['share']:.1f} %",
            _more(column["with"], column["with"]),
            _more(column["without"], column["without_at_least"]),
        ]
        for column in asked
    ]
    header = ["column", "in how many", "share of the trees", "best with it", "best without it"]
    body = table(header, rows, "Which columns these trees ask about", words=[1, 2])
    unused = [column["name"] for column in facts["columns"] if column["use"] == "none"]
    if unused:
        names = ", ".join(unused[:_MOST_UNUSED]) + (", ..." if len(unused) > _MOST_UNUSED else "")
        body += f"<p class='soft'>In none of them: {escape(names)}.</p>"
    return body


def _more(extra: float | None, at_least: float | None) -> str:
    """Return by how much a tree costs more than the best."""
    if extra is None or at_least is None:
        return "beyond the slack"
    if extra == 0:
        return "no worse"
    if at_least < extra:
        return f"+{cost_number(at_least)} to +{cost_number(extra)}"
    return f"+{cost_number(extra)}"


def _choice_words(choice: Mapping[str, Any]) -> str:
    known: dict[str, Callable[[float], str]] = {
        "asks about the fewest columns": lambda value: f"{value:.0f} of them",
        "has the widest margins": lambda value: f"at least {value:.1%} of a column's spread",
        "stays nearly optimal most often when rows are drawn anew": (
            lambda value: f"in {value:.0%} of the draws"
        ),
    }
    value = choice["value"]
    figure = "" if value is None else f" ({known[choice['why']](value)})"
    proof = "" if choice["proven"] else ", of those looked at"
    return (
        f"The tree that {choice['why']}{figure}{proof}: {_more(choice['extra'], choice['extra'])}"
    )
