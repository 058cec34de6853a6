"""What is proven about a tree, in a sentence or two that anyone can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provetree.export.model_file import Proof

__all__ = ["cost_words", "counted", "limit_words", "proof_sentence", "rate_words"]

#: What a proof that is none begins with, by status.
_NOT_PROVEN = {
    "candidate_optimal": "Proven the best among the candidate splits, not among all trees",
    "feasible": "Not proven, and not searched for a proof",
    "time_limit": "Not proven within the time limit",
    "work_limit": "Not proven within the work limit",
    "interrupted": "Not proven when it was interrupted",
    "gap_limit": "Not proven further than the gap that was asked for",
}


def proof_sentence(proof: Proof) -> str:
    """Return what a proof says.

    Examples
    --------
    >>> from provetree.export.model_file import Proof
    >>> from provetree.report.words import proof_sentence
    >>> print(proof_sentence(Proof("optimal", 12, 12, parameters={"max_depth": 3})))
    Proven optimal: 12 training errors, and no tree of depth 3 makes fewer.
    >>> print(proof_sentence(Proof("time_limit", 12, 9, parameters={"max_depth": 3})))
    Not proven within the time limit: 12 training errors, and no tree of depth 3 makes fewer \
than 9 (gap 25.0 %).
    >>> print(proof_sentence(Proof("time_limit", 12, 0, parameters={"max_depth": 3})))
    Not proven within the time limit: 12 training errors, and no bound yet for trees of depth 3 \
(gap 100.0 %).
    """
    what, fewer = cost_words(proof)
    limits = limit_words(proof)
    if proof.status == "optimal":
        return f"Proven optimal: {what}, and no tree {limits} {fewer}."
    if proof.lower_bound <= 0:
        return (
            f"{_NOT_PROVEN[proof.status]}: {what}, and no bound yet for trees {limits} "
            f"(gap {100 * proof.gap:.1f} %)."
        )
    return (
        f"{_NOT_PROVEN[proof.status]}: {what}, and no tree {limits} {fewer} than "
        f"{_number(proof.lower_bound)} (gap {100 * proof.gap:.1f} %)."
    )


def cost_words(proof: Proof) -> tuple[str, str]:
    """Return the cost of a tree in words, and the words for a lower one."""
    parameters = proof.parameters
    weighted = parameters.get("class_weight") is not None or not isinstance(proof.cost, int)
    if parameters.get("alpha"):
        return f"cost {_number(proof.cost)} (errors and penalties for splits)", "costs less"
    if weighted:
        return f"training errors of weight {_number(proof.cost)}", "makes less"
    errors = "error" if proof.cost == 1 else "errors"
    return f"{_number(proof.cost)} training {errors}", "makes fewer"


def limit_words(proof: Proof) -> str:
    """Return the limits of the search in words: "of depth 3 with at most 6 leaves"."""
    parameters = proof.parameters
    words = f"of depth {parameters['max_depth']}" if "max_depth" in parameters else "of this size"
    if parameters.get("max_leaf_nodes") is not None:
        most = parameters["max_leaf_nodes"]
        words += f" with at most {most} {'leaf' if most == 1 else 'leaves'}"
    if parameters.get("min_samples_leaf", 1) != 1:
        least = parameters["min_samples_leaf"]
        shown = f"{100 * least:g} % of the" if isinstance(least, float) else str(least)
        words += f" with at least {shown} rows in each leaf"
    return words


def counted(n: int, thing: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> from provetree.report.words import counted
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def rate_words(rate: float | None) -> str:
    """Return a share as a percentage.

    Examples
    --------
    >>> from provetree.report.words import rate_words
    >>> rate_words(0.9417), rate_words(None)
    ('94.2 %', '-')
    """
    return "-" if rate is None else f"{100 * rate:.1f} %"


def _number(x: float) -> str:
    return str(x) if isinstance(x, int) else f"{x:.6g}"
