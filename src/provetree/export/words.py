"""The words of pictures, reports and the command line: for splits, nodes, proofs and numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from provetree.tree.text import few_digits, number, shown_numbers
from provetree.tree.tree import Tree
from provetree.tree.values import Actions, Numbers

if TYPE_CHECKING:
    from provetree.export.model_file import Proof

__all__ = [
    "certificate_sentence",
    "class_name",
    "cost_number",
    "cost_words",
    "counted",
    "leaf_detail",
    "leaf_lines",
    "limit_words",
    "mean_outcome",
    "places_across",
    "prediction_text",
    "proof_sentence",
    "rate_words",
    "score_words",
    "short_number",
    "sides",
    "split_text",
    "spread_text",
]

#: What a proof that is none begins with, by status.
_NOT_PROVEN = {
    "candidate_optimal": "Proven the best among the candidate splits, not among all trees",
    "feasible": "Not proven, and not searched for a proof",
    "time_limit": "Not proven within the time limit",
    "work_limit": "Not proven within the work limit",
    "interrupted": "Not proven when it was interrupted",
    "gap_limit": "Not proven further than the gap that was asked for",
}
#: What costs are called, and the words for a lower one, by the loss.
_MEASURED = {
    "squared_error": ("squared errors", "has less"),
    "absolute_error": ("absolute errors", "has less"),
    "gini": ("Gini impurity", "has less"),
    "entropy": ("entropy", "has less"),
    "pessimistic": ("pessimistic errors", "has less"),
    "linear": ("costs", "costs less"),
}
#: Numbers of more characters than this are shortened in pictures; the text form writes them out.
_LONGEST = 9


def split_text(tree: Tree, node: int) -> str:
    """Return the question a split asks; "yes" goes left.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.export.words import split_text
    >>> nan = float("nan")
    >>> split_text(Tree(feature=[0, -1, -1], threshold=[37.5, nan, nan], n_features=1,
    ...                 value=[[0], [1], [1]], n_samples=[0, 1, 1]), 0)
    'x0 <= 37.5'
    """
    feature = int(tree.feature[node])
    name = tree.question_names[feature]
    codes, threshold = tree.codes_left(node), float(tree.threshold[node])
    if codes:
        if len(codes) > 1:
            missing = ("missing",) if tree.missing_left[node] else ()
            return f"{name} in {{{', '.join(map(str, (*tree.names_left(node), *missing)))}}}"
        if tree.missing_left[node]:
            return f"{name} is missing"
        return f"{name} = {tree.names_left(node)[0]}"
    if math.isnan(threshold):
        return f"{name} is missing"
    if threshold == math.inf:
        return f"{name} is not missing" if not tree.missing_left[node] else f"{name} is anything"
    return f"{name} <= {short_number(threshold)}"


def sides(tree: Tree, node: int) -> tuple[tuple[int, str], tuple[int, str]]:
    """Return the children of a split, each with the text for its side."""
    left, right = int(tree.left[node]), int(tree.right[node])
    by_number = tree.category[node] < 0 and math.isfinite(tree.threshold[node])
    if not (tree.missing_seen[node] and by_number):
        return (left, "yes"), (right, "no")
    if tree.missing_left[node]:
        return (left, "yes or missing"), (right, "no")
    return (left, "yes"), (right, "no or missing")


def places_across(tree: Tree) -> list[float]:
    """Return where nodes stand: leaves at 0, 1, ..., a split over the middle of its children."""
    across = np.cumsum(tree.feature < 0) - 1.0  # preorder meets the leaves from left to right
    for node in reversed(np.flatnonzero(tree.feature >= 0).tolist()):
        across[node] = (across[tree.left[node]] + across[tree.right[node]]) / 2
    return [float(x) for x in across]


def class_name(tree: Tree, node: int) -> str:
    """Return the name of the class of a node."""
    return str(tree.labels[int(tree.label[node])])


def prediction_text(tree: Tree, node: int) -> str:
    """Return what a leaf predicts: its class, its action, or its number for each output.

    Examples
    --------
    >>> from provetree import Tree
    >>> from provetree.export.words import prediction_text
    >>> from provetree.tree.values import Numbers
    >>> leaf = Tree(feature=[-1], threshold=[0], n_samples=[4], n_features=1,
    ...             value=Numbers([[2.5, 10 / 3]], [4], [[1.0, 0.0]]))
    >>> prediction_text(leaf, 0)
    '2.5, 3.3333'
    """
    if tree.kind != "numbers":
        return class_name(tree, node)
    assert isinstance(tree.values, Numbers)  # for the type checker
    return ", ".join(shown_numbers(tree.values, node))


def spread_text(tree: Tree, node: int) -> str:
    """Return how far the rows of a node lie from its number, for each output: "± 1.2"."""
    assert isinstance(tree.values, Numbers)  # for the type checker
    return "± " + ", ".join(few_digits(spread) for spread in tree.values.spread[node].tolist())


def leaf_detail(tree: Tree, node: int) -> str:
    """Return how sure a leaf is, and its rows: "80.0% of 10 rows", "± 1.2, 10 rows".

    For actions it is the mean reward or cost of the action of the leaf.
    """
    rows = counted(int(tree.n_samples[node]), "row")
    if isinstance(tree.values, Numbers):
        return f"{spread_text(tree, node)}, {rows}"
    if isinstance(tree.values, Actions):
        each = mean_outcome(tree, node)
        return f"{'reward' if tree.values.rewards else 'cost'} {few_digits(each)}, {rows}"
    return f"{tree.label_share(node):.1%} of {rows}"


def mean_outcome(tree: Tree, node: int) -> float:
    """Return what the action of a node brings or costs a row, on average."""
    weight = float(tree.weight[node])
    return float(tree.value[node, tree.label[node]]) / weight if weight > 0 else 0.0


def leaf_lines(tree: Tree, node: int) -> list[str]:
    """Return the text of a leaf: what it predicts, how sure that is, and its rows."""
    return [prediction_text(tree, node), leaf_detail(tree, node)]


def short_number(x: float) -> str:
    """Return a number in few digits, for pictures and sentences.

    Examples
    --------
    >>> from provetree.export.words import short_number
    >>> short_number(0.30000000000000004), short_number(37.5), short_number(1700000000.25)
    ('0.3', '37.5', '1700000000.2')
    """
    text = number(x)
    if len(text) <= _LONGEST:
        return text
    # Six digits, and all digits before the point, so that dates in seconds stay distinct.
    return f"{x:.1f}" if 1e6 <= abs(x) < 1e15 else f"{x:.6g}"


def certificate_sentence(certificate: Mapping[str, Any]) -> str:
    """Return where a certificate is and how it is checked.

    Examples
    --------
    >>> from provetree.export.words import certificate_sentence
    >>> print(certificate_sentence({"file": "p.ptc", "sha256": "ab12", "table": "data.csv"}))
    The certificate is p.ptc (SHA-256 ab12). Check it by: provetree check p.ptc data.csv
    """
    file = certificate["file"]
    return (
        f"The certificate is {file} (SHA-256 {certificate['sha256']}). Check it by: "
        f"provetree check {file} {certificate['table']}"
    )


def cluster_sentence(cluster: Mapping[str, Any]) -> str:
    """Return where a tree was proven.

    Examples
    --------
    >>> from provetree.export.words import cluster_sentence
    >>> print(cluster_sentence({"workers": 8, "tasks": 412, "lost": 1}))
    Searched on a Dask cluster of 8 workers: 412 tasks, 1 group of them given out again.
    """
    again = f", {counted(cluster['lost'], 'group')} of them given out again"
    return (
        f"Searched on a Dask cluster of {counted(cluster['workers'], 'worker')}: "
        f"{counted(cluster['tasks'], 'task')}{again if cluster['lost'] else ''}."
    )


def proof_sentence(proof: Proof) -> str:
    """Return what a proof says.

    Examples
    --------
    >>> from provetree.export.model_file import Proof
    >>> from provetree.export.words import proof_sentence
    >>> print(proof_sentence(Proof("optimal", 12, 12, parameters={"max_depth": 3})))
    Proven optimal: 12 training errors, and no tree of depth 3 makes fewer.
    >>> print(proof_sentence(Proof("optimal", 2.5, 2.5, parameters={"criterion": "squared_error"})))
    Proven optimal: squared errors of 2.5 in all, and no tree of this size has less (to one part \
in a billion).
    >>> print(proof_sentence(Proof("time_limit", 12, 9, parameters={"max_depth": 3})))
    Not proven within the time limit: 12 training errors, and no tree of depth 3 makes fewer \
than 9 (gap 25.0 %).
    >>> print(proof_sentence(Proof("time_limit", 12, 0, parameters={"max_depth": 3})))
    Not proven within the time limit: 12 training errors, and no bound yet for trees of depth 3 \
(gap 100.0 %).
    >>> print(proof_sentence(Proof("time_limit", -15.0, -20.0, method="OptimalPolicyTree")))
    Not proven within the time limit: a reward of 15 in all, and no tree of this size brings more \
than 20 (gap 25.0 %).
    """
    what, fewer = cost_words(proof)
    limits = limit_words(proof)
    if proof.status == "optimal":
        exact = " (to one part in a billion)" if proof.loss != "errors" else ""
        return f"Proven optimal: {what}, and no tree {limits} {fewer}{exact}."
    at_least = -proof.lower_bound if proof.of_rewards else proof.lower_bound
    bound = f"no tree {limits} {fewer} than {cost_number(at_least)}"
    if proof.lower_bound <= 0 and not proof.of_rewards:
        bound = f"no bound yet for trees {limits}"
    return f"{_NOT_PROVEN[proof.status]}: {what}, and {bound} (gap {100 * proof.gap:.1f} %)."


def cost_words(proof: Proof) -> tuple[str, str]:
    """Return the cost of a tree in words, and the words for a lower one."""
    parameters = proof.parameters
    if proof.of_rewards:
        penalties = " less penalties for splits" if parameters.get("alpha") else ""
        prices = " at the prices of its budget" if parameters.get("budget") is not None else ""
        return f"a reward of {cost_number(-proof.cost)} in all{penalties}{prices}", "brings more"
    if proof.loss != "errors":
        what, fewer = _MEASURED[proof.loss]
        splits = ", penalties for splits included" if parameters.get("alpha") else ""
        return f"{what} of {cost_number(proof.cost)} in all{splits}", fewer
    weighted = parameters.get("class_weight") is not None or not isinstance(proof.cost, int)
    if parameters.get("alpha"):
        return f"cost {cost_number(proof.cost)} (errors and penalties for splits)", "costs less"
    if weighted:
        return f"training errors of weight {cost_number(proof.cost)}", "makes less"
    errors = "error" if proof.cost == 1 else "errors"
    return f"{cost_number(proof.cost)} training {errors}", "makes fewer"


def limit_words(proof: Proof) -> str:
    """Return the limits of the search in words: "of depth 3 with at most 6 leaves"."""
    parameters = proof.parameters
    most = parameters.get("max_leaf_nodes")
    if most == 1:
        return "of a single leaf"
    words = f"of depth {parameters['max_depth']}" if "max_depth" in parameters else "of this size"
    if most is not None:
        words += f" with at most {most} leaves"
    if parameters.get("min_samples_leaf", 1) != 1:
        least = parameters["min_samples_leaf"]
        shown = f"{100 * least:g} % of the" if isinstance(least, float) else str(least)
        words += f"{' with' if most is None else ' and'} at least {shown} rows in each leaf"
    if parameters.get("splits") in ("pairs", "ratios"):
        among = parameters.get("pair_columns")
        words += " on columns and sums of two"
        words += " and ratios of two" if parameters["splits"] == "ratios" else ""
        words += f" of {len(among)} of them" if among is not None else ""
    if parameters.get("category_splits") == "groups":
        words += " with groups of categories"
    if parameters.get("rules"):
        words += " that keeps the rules"
    return words


def counted(n: int, thing: str) -> str:
    """Return a number of things: "1 row", "2 rows"."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def rate_words(rate: float | None) -> str:
    """Return a share as a percentage: "94.2 %", or "-" for None."""
    return "-" if rate is None else f"{100 * rate:.1f} %"


def score_words(score: float | None) -> str:
    """Return R² or D² in three decimals, or "-" for None."""
    return "-" if score is None else f"{score:.3f}"


def cost_number(x: float) -> str:
    """Return a cost in digits: all of them for whole numbers, six for others."""
    return str(x) if isinstance(x, int) else f"{x:.6g}"
