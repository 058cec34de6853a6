"""The page of a report: one HTML file that needs nothing else.

It is written from a stored model and nothing else; what the model says was gathered before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from provetree.export._colours import class_colour
from provetree.export.model_file import StoredModel
from provetree.export.words import prediction_text, proof_sentence, rate_words
from provetree.report.sections import sections
from provetree.report.sentences import conditions_of, question
from provetree.tree.serialise import write_float
from provetree.tree.text import few_digits
from provetree.tree.tree import Tree
from provetree.tree.values import Numbers

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
    tree = model.tree
    what = model.target or _WHAT[tree.kind]
    questions = f"at most {tree.depth} question{'' if tree.depth == 1 else 's'}"
    if tree.depth == 0:
        sentence = f"This tree asks nothing: it always predicts {prediction_text(tree, 0)}."
    else:
        sentence = f"This tree predicts {what} with {questions}."
    sentence += _quality_words(model)
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


_WHAT = {"classes": "the class", "numbers": "a number", "actions": "an action"}


def _quality_words(model: StoredModel) -> str:
    """Return how good the tree is on training and test rows, as a sentence; nothing if unknown."""
    train, test = (model.facts.get(name) for name in ("train", "test"))
    if train is None:
        return ""
    if model.tree.kind == "numbers":
        words = f" It explains {_explained(train)} of the {train['rows']} rows it was trained on"
        end = f" and {_explained(test)} of {test['rows']} rows it has not seen" if test else ""
    elif model.tree.kind == "actions":
        words = (
            f" It is worth {train['value']:.4g} a row on the {train['rows']} rows it was trained on"
        )
        end = f" and {test['value']:.4g} on {test['rows']} rows it has not seen" if test else ""
    else:
        words = (
            f" It is right for {rate_words(train['accuracy'])} of the {train['rows']} rows it was "
            "trained on"
        )
        end = ""
        if test:
            share = rate_words(test["accuracy"])
            end = f" and for {share} of {test['rows']} rows it has not seen"
    return f"{words}{end}."


def _explained(part: Mapping[str, Any]) -> str:
    return f"{rate_words(part['r2'])} of the variance (R²)"


def _page_data(model: StoredModel) -> dict[str, Any]:
    """Return what the script of the page needs."""
    tree = model.tree
    names = model.column_names
    if len(set(names)) < len(names):  # the page knows columns by their names
        names = tuple(f"{name} #{feature}" for feature, name in enumerate(names))
    shares = tree.shares().tolist() if tree.kind == "classes" else None
    nodes = []
    for node in range(tree.n_nodes):
        data: dict[str, Any] = {
            "rows": int(tree.n_samples[node]),
            "label": int(tree.label[node]),
            "conditions": conditions_of(tree, node),
        }
        # Rounded here, so that all numbers of the page are rounded by one rule.
        if shares is None:
            data |= {"answer": _answer(tree, node), "table": _node_table(tree, node)}
        else:
            data["value"] = [_plain_number(x) for x in tree.value[node].tolist()]
            data["percent"] = [f"{100 * share:.1f} %" for share in shares[node]]
        if tree.feature[node] >= 0:
            feature = int(tree.feature[node])
            levels = tree.levels_of(feature)
            data |= {
                "columns": [names[column] for column in tree.columns_of(feature)],
                "left": int(tree.left[node]),
                "right": int(tree.right[node]),
                "missingLeft": bool(tree.missing_left[node]),
                "question": question(tree, node),
            }
            if levels is None:
                data["threshold"] = write_float(float(tree.threshold[node]))
            else:
                # Missing values have a side of their own.
                data["categories"] = [_plain(level) for level in tree.names_left(node)]
            combination = tree.combination_of(feature)
            if combination is not None:
                data["coefficients"] = list(combination.coefficients)
        nodes.append(data)
    columns: dict[str, Any] = {}
    known = {fact["name"]: fact for fact in model.facts.get("columns", ())}
    for feature in tree.columns_used:
        name, levels = names[feature], tree.categories[feature]
        info: dict[str, Any] = {}
        if levels is not None:
            info["categories"] = [_plain(level) for level in levels]
        elif "low" in known.get(name, {}):
            info |= {"low": known[name]["low"], "high": known[name]["high"]}
        columns[name] = info
    return {
        "target": model.target or "prediction",
        "kind": tree.kind,
        "labels": [_plain(label) for label in model.labels.tolist()],
        "colours": [class_colour(label) for label in range(tree.n_classes)],
        "columns": columns,
        "nodes": nodes,
    }


def _answer(tree: Tree, node: int) -> object:
    """Return what a node predicts: a number or a list of them with all digits, or an action."""
    if tree.kind == "actions":
        return _plain(tree.labels[int(tree.label[node])])
    numbers = tree.value[node].tolist()
    return numbers[0] if len(numbers) == 1 else numbers


def _node_table(tree: Tree, node: int) -> list[list[str | None]]:
    """Return what the page tells about a node: colour, name and figures of each line."""
    values = tree.values
    if isinstance(values, Numbers):
        outputs = zip(values.value[node].tolist(), values.spread[node].tolist(), strict=True)
        named = zip(tree.labels, outputs, strict=True)
        alone = values.value.shape[1] == 1
        return [
            [None, values.statistic if alone else str(name), few_digits(x), f"± {few_digits(s)}"]
            for name, (x, s) in named
        ]
    weight = float(tree.weight[node]) or 1.0
    return [
        [class_colour(k), str(name), few_digits(float(total) / weight), "a row"]
        for k, (name, total) in enumerate(zip(tree.labels, tree.value[node].tolist(), strict=True))
    ]


def _plain(value: object) -> object:
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _plain_number(x: float) -> float | str:
    return int(x) if x == int(x) else float(f"{x:.6g}")


def _resource(name: str) -> str:
    return files("provetree.report").joinpath(name).read_text(encoding="utf-8")
