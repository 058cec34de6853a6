"""The page of a report: one HTML file that needs nothing else.

It is written from a stored model and nothing else; what the model says was gathered before.
"""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from provetree.export._colours import class_colour
from provetree.export.model_file import StoredModel
from provetree.export.words import class_name, proof_sentence, rate_words
from provetree.report.sections import sections
from provetree.report.sentences import conditions_of, question
from provetree.tree.serialise import write_float

__all__ = ["report_html"]


def report_html(model: StoredModel, *, title: str | None = None) -> str:
    """Return the report of a model as the text of an HTML file.

    Examples
    --------
    >>> from provetree import OptimalTreeClassifier, StoredModel
    >>> from provetree.report.page import report_html
    >>> clf = OptimalTreeClassifier().fit([[20.0], [30.0]], ["no", "yes"])
    >>> page = report_html(StoredModel.of(clf, target="answer"))
    >>> "<h1>A decision tree for answer</h1>" in page
    True
    """
    from provetree import __version__

    if title is None:
        title = "A decision tree" + ("" if model.target is None else f" for {model.target}")
    parts = sections(model)
    links = "".join(f'<a href="#{part.anchor}">{escape(part.short)}</a>' for part in parts)
    bodies = "\n".join(
        f'<section id="{part.anchor}" aria-labelledby="{part.anchor}-title">'
        f'<h2 id="{part.anchor}-title">{escape(part.title)}</h2>{part.body}</section>'
        for part in parts
    )
    # What stands in a script element must not end it.
    data = json.dumps(_page_data(model), allow_nan=False).replace("<", "\\u003c")
    fields = {
        "title": escape(title),
        "style": _resource("report.css"),
        "lead": _lead(model),
        "links": links,
        "sections": bodies,
        "foot": f"Written by provetree {escape(__version__)}. This file holds everything it shows; "
        "it loads nothing and sends nothing.",
        "data": data,
        "script": _resource("report.js"),
    }
    # In one pass, so that nothing the user wrote is taken for a field.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: fields[found[1]], _resource("template.html"))


def _lead(model: StoredModel) -> str:
    tree, facts = model.tree, model.facts
    what = model.target or "the class"
    questions = f"at most {tree.depth} question{'' if tree.depth == 1 else 's'}"
    if tree.depth == 0:
        sentence = f"This tree asks nothing: it always predicts {class_name(tree, 0)}."
    else:
        sentence = f"This tree predicts {what} with {questions}."
    if "train" in facts:
        sentence += (
            f" It is right for {rate_words(facts['train']['accuracy'])} of the "
            f"{facts['train']['rows']} rows it was trained on"
        )
        if facts.get("test"):
            sentence += (
                f" and for {rate_words(facts['test']['accuracy'])} of {facts['test']['rows']} rows "
                "it has not seen"
            )
        sentence += "."
    parts = [f'<p class="lead">{escape(sentence)}</p>']
    if model.proof is not None:
        proven = model.proof.status == "optimal"
        badge = "Proven optimal" if proven else "Not proven"
        words = proof_sentence(model.proof)
        parts.append(
            f'<p><span class="badge {"proven" if proven else "open"}">{badge}</span> '
            f"{escape(words.removeprefix('Proven optimal: '))}</p>"
        )
    return "".join(parts)


def _page_data(model: StoredModel) -> dict[str, Any]:
    """Return what the script of the page needs."""
    tree = model.tree
    names = model.column_names
    if len(set(names)) < len(names):  # the page knows columns by their names
        names = tuple(f"{name} #{feature}" for feature, name in enumerate(names))
    shares = tree.shares()
    nodes = []
    for node in range(tree.n_nodes):
        data: dict[str, Any] = {
            "rows": int(tree.n_samples[node]),
            "value": [_plain_number(x) for x in tree.value[node].tolist()],
            # Rounded here, so that all numbers of the page are rounded by one rule.
            "percent": [f"{100 * share:.1f} %" for share in shares[node].tolist()],
            "label": int(tree.label[node]),
            "conditions": conditions_of(tree, node),
        }
        if tree.feature[node] >= 0:
            feature, code = int(tree.feature[node]), int(tree.category[node])
            levels = tree.categories[feature]
            data |= {
                "column": names[feature],
                "left": int(tree.left[node]),
                "right": int(tree.right[node]),
                "missingLeft": bool(tree.missing_left[node]),
                "question": question(tree, node),
            }
            if levels is None:
                data["threshold"] = write_float(float(tree.threshold[node]))
            else:
                # The category after the last is "missing", which no value is equal to.
                data["category"] = None if code == len(levels) else _plain(levels[code])
        nodes.append(data)
    columns: dict[str, Any] = {}
    known = {fact["name"]: fact for fact in model.facts.get("columns", ())}
    for feature in np.unique(tree.feature[tree.feature >= 0]).tolist():
        name, levels = names[feature], tree.categories[feature]
        info: dict[str, Any] = {}
        if levels is not None:
            info["categories"] = [_plain(level) for level in levels]
        elif "low" in known.get(name, {}):
            info |= {"low": known[name]["low"], "high": known[name]["high"]}
        columns[name] = info
    return {
        "target": model.target or "prediction",
        "labels": [_plain(label) for label in model.labels.tolist()],
        "colours": [class_colour(label) for label in range(tree.n_classes)],
        "columns": columns,
        "nodes": nodes,
    }


def _plain(value: object) -> object:
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _plain_number(x: float) -> float | str:
    return int(x) if x == int(x) else float(f"{x:.6g}")


def _resource(name: str) -> str:
    return files("provetree.report").joinpath(name).read_text(encoding="utf-8")
