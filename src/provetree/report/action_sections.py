"""The parts of a report that are about actions: what a policy is worth, and what it does."""

from __future__ import annotations

from html import escape

import numpy as np

from provetree.export.model_file import StoredModel
from provetree.export.words import prediction_text, short_number
from provetree.report.markup import table
from provetree.tree.values import Actions

__all__ = ["action_leaves", "action_quality"]

_PARTS = (("test", "rows the policy has not seen"), ("train", "training rows"))


def action_quality(model: StoredModel) -> str:
    """Return what the policy brings or costs a row, beside always taking one action."""
    tree, facts = model.tree, model.facts
    assert isinstance(tree.values, Actions)  # for the type checker
    rewards = tree.values.rewards
    verb = "brings" if rewards else "costs"
    names = [str(label) for label in tree.labels]
    body = ""
    for name, words in _PARTS:
        part = facts.get(name)
        if not part:
            continue
        alone = part["alone"]
        single = int(np.argmax(alone) if rewards else np.argmin(alone))
        body += (
            f"<h3>On the {part['rows']} {words}: it {verb} {_digits(part['value'])} a row</h3>"
            f"<p>Always to take {escape(names[single])}, the best single action, {verb} "
            f"{_digits(alone[single])}; whoever knew the outcome of every row before could have "
            f"{_digits(part['possible'])}.</p>"
        )
        rows = [
            [escape(action), f"{100 * share:.1f} %", _digits(each)]
            for action, share, each in zip(names, part["shares"], alone, strict=True)
        ]
        header = ["action", "share of the rows", f"what it alone {verb}"]
        body += table(header, rows, "How often the policy takes each action")
    return body


def action_leaves(model: StoredModel) -> str:
    """Return the leaves of a policy: the action of each, and what every action does there."""
    tree = model.tree
    names = [str(label) for label in tree.labels]
    rows = []
    for number, leaf in enumerate(np.flatnonzero(tree.feature < 0).tolist(), start=1):
        weight = float(tree.weight[leaf]) or 1.0
        each = [_digits(float(total) / weight) for total in tree.value[leaf].tolist()]
        count = str(int(tree.n_samples[leaf]))
        rows.append([str(number), escape(prediction_text(tree, leaf)), count, *each])
    header = ["leaf", "action", "rows", *(f"mean of {escape(name)}" for name in names)]
    return table(header, rows, "The leaves, from left to right", words=[1])


def _digits(x: float) -> str:
    return short_number(float(f"{x:.4g}"))
